//! Tables in Markdown.

/// Lays out rows below a header; the first column is text, the others are numbers.
pub fn markdown(header: &[&str], rows: &[Vec<String>]) -> String {
    // The rule of a column of numbers has a dash and a colon.
    let mut widths: Vec<usize> = header.iter().map(|cell| cell.chars().count().max(2)).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        format!("| {} |\n", padded.collect::<Vec<_>>().join(" | "))
    };
    let rule = widths.iter().enumerate().map(|(column, &width)| {
        if column == 0 { "-".repeat(width) } else { format!("{}:", "-".repeat(width - 1)) }
    });
    let header: Vec<String> = header.iter().map(|cell| cell.to_string()).collect();
    let mut text = line(&header) + &line(&rule.collect::<Vec<_>>());
    rows.iter().for_each(|row| text.push_str(&line(row)));
    text
}

#[cfg(test)]
mod tests {
    use super::markdown;

    #[test]
    fn a_narrow_column_has_a_rule() {
        assert_eq!(markdown(&["a", "k"], &[]), "| a  |  k |\n| -- | -: |\n");
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [vec!["bzip2".to_string(), "1.04".to_string()]];
        let text = markdown(&["program", "k=1"], &rows);
        assert_eq!(text, "| program |  k=1 |\n| ------- | ---: |\n| bzip2   | 1.04 |\n");
    }
}
