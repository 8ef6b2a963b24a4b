//! Trees as text: a line a node, further to the right the deeper it is.

/// Below so many levels nodes are not indented any further: trees are as deep as recursion is.
const DEEP: u32 = 40;

/// What stands before the name of a node that is so deep: for each level `width` spaces, and the
/// level itself in brackets where that would be too many.
pub fn indent(level: u32, width: usize) -> String {
    let spaces = " ".repeat(level.min(DEEP) as usize * width);
    if level <= DEEP { spaces } else { format!("{spaces}[{level}] ") }
}
