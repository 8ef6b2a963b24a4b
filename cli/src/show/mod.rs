//! `midflight show`: everything, as text or JSON.

pub mod edges;
pub mod json;
pub mod tables;
pub mod text;
