//! How large a function is.

/// What Table 5.6 of the thesis reports of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Instructions, phis among them
    pub instructions: usize,
    /// Phis
    pub phis: usize,
}

/// Counts the instructions of all functions in the text of a module.
///
/// LLVM's writer begins an instruction with two blanks, and lines that continue one with more, but
/// for the bracket that ends a switch.
pub fn count(text: &str) -> Size {
    let mut size = Size::default();
    let mut inside = false;
    for line in text.lines() {
        match line.strip_prefix("  ") {
            Some(instruction) if inside && !instruction.starts_with([' ', ']']) => {
                size.instructions += 1;
                size.phis += usize::from(instruction.contains(" = phi "));
            }
            _ => inside = line.starts_with("define ") || (inside && line != "}"),
        }
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_over_several_lines_count_once() {
        let text = r#"
@text = constant [3 x i8] c"abc"

define i32 @f(i32 %0) personality ptr @p {
  switch i32 %0, label %4 [
    i32 1, label %2
    i32 2, label %3
  ]

2:                                                ; preds = %1
  br label %4

3:                                                ; preds = %1
  invoke void @g()
          to label %4 unwind label %6

4:                                                ; preds = %3, %2, %1
  %5 = phi i32 [ 0, %1 ], [ 1, %2 ], [ 2, %3 ]
  ret i32 %5

6:                                                ; preds = %3
  %7 = landingpad { ptr, i32 }
          cleanup
  resume { ptr, i32 } %7
}

declare void @g()
"#;
        assert_eq!(count(text), Size { instructions: 7, phis: 1 });
    }
}
