//! `midflight report`: the hottest cyclic paths, for people.
//!
//! [`rank`] orders functions by the work seen in them, [`sequences`] picks the multi-iteration paths
//! worth showing, [`source`] finds the text of lines, [`print`](mod@print) writes, with the
//! dictionary of acyclic paths from [`paths`] and the loops from [`loops`].

pub mod loops;
pub mod paths;
pub mod print;
pub mod rank;
pub mod sequences;
pub mod source;
pub mod tree;
