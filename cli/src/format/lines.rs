//! Source lines as ranges.

/// Lines as people write them: `12-14 17 12`, where lines that follow each other are a range.
pub fn ranges(lines: &[u32]) -> String {
    words(lines).join(" ")
}

/// As [`ranges`], with at most `most` of them, the first and the last.
pub fn shortened(lines: &[u32], most: usize) -> String {
    let words = words(lines);
    if words.len() <= most {
        return words.join(" ");
    }
    let last = most / 2;
    let head = words[..most - last].join(" ");
    let tail = words[words.len() - last..].join(" ");
    format!("{head} … {tail}")
}

fn words(lines: &[u32]) -> Vec<String> {
    let follows = |a: &u32, b: &u32| a.checked_add(1) == Some(*b);
    lines
        .chunk_by(follows)
        .filter_map(|run| match run {
            [] => None,
            [line] => Some(line.to_string()),
            [first, .., last] => Some(format!("{first}-{last}")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{ranges, shortened};

    #[test]
    fn lines_that_follow_each_other_are_a_range() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[7]), "7");
        assert_eq!(ranges(&[7, 8, 9, 12, 11, 12]), "7-9 12 11-12");
        assert_eq!(ranges(&[3, 2, 1]), "3 2 1");
        assert_eq!(ranges(&[u32::MAX, 0]), "4294967295 0");
    }

    #[test]
    fn many_ranges_are_shortened_in_the_middle() {
        let lines = [1, 3, 5, 6, 8, 10, 12];
        assert_eq!(shortened(&lines, 6), "1 3 5-6 8 10 12");
        assert_eq!(shortened(&lines, 5), "1 3 5-6 … 10 12");
    }
}
