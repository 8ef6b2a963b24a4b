//! Parts of a whole.

/// `part` of `whole`, from 0 to 1; 0 of nothing.
pub fn share(part: impl Into<u128>, whole: impl Into<u128>) -> f64 {
    let whole = whole.into();
    if whole == 0 { 0.0 } else { part.into() as f64 / whole as f64 }
}
