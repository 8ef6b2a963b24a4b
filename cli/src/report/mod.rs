//! `midflight report`: the hottest cyclic paths, for people.
//!
//! [`rank`] orders functions by the work seen in them, [`sequences`] picks the multi-iteration
//! paths worth showing, [`source`] finds the text of lines, [`print`](mod@print) writes, with the
//! dictionary of acyclic paths from [`paths`], the loops from [`loops`] and branches that go many
//! ways from [`dispatch`]; [`memory`] tells where counts are too low. [`flat`] is a line a
//! function.

pub mod dispatch;
pub mod flat;
pub mod loops;
pub mod memory;
pub mod paths;
pub mod print;
pub mod rank;
pub mod sequences;
pub mod source;
pub mod tree;
