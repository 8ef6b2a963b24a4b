//! Reading lcov tracefiles: counts of lines.

use std::collections::BTreeMap;

/// Counts of lines, by file and line.
pub type LineCounts = BTreeMap<String, BTreeMap<u32, u64>>;

/// Reads the line counts of a tracefile; what stands in it besides is passed over.
pub fn parse(text: &str) -> LineCounts {
    let mut counts = LineCounts::new();
    let mut file = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("SF:") {
            file = plain_name(name);
        } else if let Some((number, count)) = line.strip_prefix("DA:").and_then(data) {
            *counts.entry(file.clone()).or_default().entry(number).or_default() += count;
        }
    }
    counts
}

/// A file's name without `.` and, where that is safe to tell, without `..`.
pub fn plain_name(name: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in name.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

fn data(text: &str) -> Option<(u32, u64)> {
    let mut fields = text.split(',');
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_made_plain() {
        assert_eq!(super::plain_name("/a/./b/../c.h"), "/a/c.h");
        assert_eq!(super::plain_name("../c.h"), "../c.h");
    }

    #[test]
    fn counts_are_read_by_file() {
        let counts =
            super::parse("TN:\nSF:/a.c\nFN:1,f\nDA:3,5\nDA:4,0\nend_of_record\nSF:/b.c\nDA:3,1\n");
        assert_eq!(counts["/a.c"][&3], 5);
        assert_eq!(counts["/a.c"][&4], 0);
        assert_eq!(counts["/b.c"].len(), 1);
    }
}
