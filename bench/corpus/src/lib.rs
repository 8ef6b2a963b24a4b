//! Empty: only the dependencies matter.
