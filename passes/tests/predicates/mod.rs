//! What LLVM's comparisons of integers say, after its language reference.

/// Whether a predicate holds of two numbers, which are given without and with their signs.
pub fn holds<U: Ord, S: Ord>(name: &str, (a, b): (U, U), (x, y): (S, S)) -> bool {
    match name {
        "eq" => a == b,
        "ne" => a != b,
        "ult" => a < b,
        "ule" => a <= b,
        "ugt" => a > b,
        "uge" => a >= b,
        "slt" => x < y,
        "sle" => x <= y,
        "sgt" => x > y,
        "sge" => x >= y,
        other => panic!("unknown predicate {other}"),
    }
}
