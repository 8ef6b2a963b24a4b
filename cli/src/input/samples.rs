//! `--perf`: samples of a run, taken by Linux's perf, as the cost of blocks.
//!
//! Instructions are a measure of time that knows nothing of caches and mispredictions; samples do.
//! Counts and samples are of different runs: samples are best taken of the program without
//! instrumentation. What ties them together is source lines, as the optimizer inlines functions and
//! moves code: the samples of a line are shared out among the blocks that have the line, in
//! proportion to the instructions that they executed, and what has no line, in the same way, among
//! the blocks of the function that it is in.

use crate::analysis::edge_counts::recover;
use crate::format::names::{base_name, readable};
use crate::input::file::{self, Unreadable};
use crate::input::function::Function;
use rustc_hash::FxHashMap;
use std::path::Path;
use std::process::Command;

/// What perf writes files of samples with.
const MAGIC: &[u8] = b"PERFILE2";
/// What `perf script` is to print: where the program was, without callers.
const SCRIPT: [&str; 5] = ["script", "--no-inline", "-G", "-F", "ip,sym,srcline"];
/// Costs are in so small parts of a sample: an execution of a block costs little.
pub const PARTS: f64 = 1e9;

/// Samples by places.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    by_line: FxHashMap<(String, u32), u64>,
    by_symbol: FxHashMap<String, u64>,
    /// All of them
    pub total: u64,
}

/// Samples cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SamplesError {
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    #[error(
        "reading the samples '{0}': running 'perf script': {1}; install perf, or give \
         what it prints elsewhere"
    )]
    NoPerf(String, std::io::Error),
    /// `perf` complains of the file, in this line first.
    #[error("reading the samples '{0}': perf says: {1}")]
    Refused(String, String),
    /// The file is something else, as is seen in this line, from 1.
    #[error(
        "reading the samples '{0}': line {1} is not an address and a symbol; give a perf.data \
         file, or what 'perf script -G -F ip,sym,srcline' prints"
    )]
    Malformed(String, usize),
    #[error("reading the samples '{0}': there are none")]
    None(String),
}

/// A function, a block of it, and how much of something falls to it.
type Part = (usize, usize, f64);

impl Samples {
    /// Reads a `perf.data` file by way of `perf script`, or what `perf script -G -F ip,sym,srcline`
    /// has printed.
    pub(crate) fn read(path: &Path) -> Result<Samples, SamplesError> {
        let name = || path.display().to_string();
        let bytes = file::read("the samples", path)?;
        let text = if bytes.starts_with(MAGIC) { script(path)? } else { bytes };
        let text = String::from_utf8_lossy(&text);
        let samples = parse(&text).map_err(|line| SamplesError::Malformed(name(), line))?;
        if samples.total == 0 {
            return Err(SamplesError::None(name()));
        }
        Ok(samples)
    }

    /// For each function, what an execution of each of its blocks costs, in parts of a sample; see
    /// [`PARTS`].
    pub fn costs(&self, functions: &[Function<'_>]) -> Vec<Vec<u64>> {
        let counts: Vec<Vec<u64>> = functions.iter().map(|f| recover(f).blocks).collect();
        let mut samples: Vec<Vec<f64>> = counts.iter().map(|c| vec![0.0; c.len()]).collect();
        for (number, block, share) in self.shares(functions, &counts) {
            samples[number][block] += share;
        }
        let cost = |(samples, &count): (f64, &u64)| match count {
            0 => 0,
            count => (samples / count as f64 * PARTS).round() as u64,
        };
        samples
            .into_iter()
            .zip(&counts)
            .map(|(s, c)| s.into_iter().zip(c).map(cost).collect())
            .collect()
    }

    /// All samples in parts.
    fn shares(&self, functions: &[Function<'_>], counts: &[Vec<u64>]) -> Vec<Part> {
        // The blocks of each place, with what they executed there.
        let mut of_line: FxHashMap<(&str, u32), Vec<Part>> = FxHashMap::default();
        let mut of_symbol: FxHashMap<String, Vec<Part>> = FxHashMap::default();
        for (number, (function, counts)) in functions.iter().zip(counts).enumerate() {
            let table = function.table;
            for (index, (block, &count)) in table.blocks.iter().zip(counts).enumerate() {
                let executed = count as f64 * f64::from(block.instructions);
                if executed == 0.0 {
                    continue;
                }
                for name in [table.name.clone(), readable(&table.name)] {
                    of_symbol.entry(name).or_default().push((number, index, executed));
                }
                for loc in &block.locs {
                    let file = table.files.get(loc.file as usize).map_or("", String::as_str);
                    let part = executed / block.locs.len() as f64;
                    of_line
                        .entry((base_name(file), loc.line))
                        .or_default()
                        .push((number, index, part));
                }
            }
        }
        let lines =
            self.by_line.iter().map(|((file, line), n)| (of_line.get(&(&file[..], *line)), n));
        let symbols = self.by_symbol.iter().map(|(name, n)| (of_symbol.get(name), n));
        let mut shares = Vec::new();
        for (blocks, &number) in lines.chain(symbols) {
            let Some(blocks) = blocks else { continue };
            // A function without a mangled name is there twice, which changes no share.
            let all: f64 = blocks.iter().map(|(_, _, executed)| executed).sum();
            let share = |&(f, b, executed): &Part| (f, b, number as f64 * executed / all);
            shares.extend(blocks.iter().map(share));
        }
        // Sums do not depend on the order of hash maps.
        shares.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        shares
    }

    /// A sample of the symbol, if there is one, at a line, if that is known.
    fn add(&mut self, symbol: Option<&str>, place: Option<(&str, u32)>) {
        let Some(symbol) = symbol else { return };
        let count = match place {
            Some((file, line)) => self.by_line.entry((file.to_string(), line)).or_default(),
            None => self.by_symbol.entry(symbol.to_string()).or_default(),
        };
        *count += 1;
        self.total += 1;
    }
}

/// What perf prints of a file.
fn script(path: &Path) -> Result<Vec<u8>, SamplesError> {
    let name = || path.display().to_string();
    let output = Command::new("perf")
        .args(SCRIPT)
        .arg("-i")
        .arg(path)
        .output()
        .map_err(|error| SamplesError::NoPerf(name(), error))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
    Err(SamplesError::Refused(name(), said.trim().to_string()))
}

/// Each sample is a line `ADDRESS SYMBOL`, and perhaps a second one, `FILE:LINE`. If callers are
/// there too, samples are paragraphs, and the first line of each is where the program was. The
/// error is the number of a line that is nothing of that.
fn parse(text: &str) -> Result<Samples, usize> {
    let chains = text.lines().any(|line| line.trim().is_empty());
    let mut samples = Samples::default();
    // The sample whose line may follow.
    let mut open: Option<&str> = None;
    let mut within = false;
    for (line, number) in text.lines().zip(1usize..) {
        if line.trim().is_empty() {
            samples.add(open.take(), None);
            within = false;
        } else if let Some(symbol) = symbol_of(line) {
            samples.add(open.take(), None);
            open = (!chains || !std::mem::replace(&mut within, true)).then_some(symbol);
        } else if open.is_some() {
            samples.add(open.take(), place_of(line));
        } else if !within {
            return Err(number);
        }
    }
    samples.add(open, None);
    Ok(samples)
}

/// The symbol of `ADDRESS SYMBOL`, without what compilers append to the names of a function's
/// parts.
fn symbol_of(line: &str) -> Option<&str> {
    let (address, symbol) = line.trim().split_once(' ')?;
    u64::from_str_radix(address, 16).ok()?;
    let symbol = symbol.trim();
    let parts = [".cold", ".llvm.", ".part.", ".constprop.", ".isra."];
    let end = parts.iter().filter_map(|part| symbol.find(part)).min().unwrap_or(symbol.len());
    Some(&symbol[..end])
}

/// The file's name, without its folder, and the line; none if that is 0, as in code that the
/// optimizer made, or where there is no debug information.
fn place_of(line: &str) -> Option<(&str, u32)> {
    let (file, line) = line.trim().rsplit_once(':')?;
    let line = line.parse().ok().filter(|&line| line > 0)?;
    Some((base_name(file), line))
}

#[cfg(test)]
mod tests {
    use super::parse;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_text_is_samples_or_refused_with_a_line(
            lines in prop::collection::vec(
                prop_oneof![
                    "[ \t]?[0-9a-f]{1,17} [a-z.:_()]{0,9}( |\\.cold|\\.llvm\\.)?",
                    " {0,2}[a-z/é]{0,9}:[0-9]{0,11}",
                    "[ \t]{0,3}",
                    ".{0,20}",
                ],
                0..20,
            ),
        ) {
            match parse(&lines.join("\n")) {
                Ok(samples) => prop_assert!(samples.total <= lines.len() as u64),
                Err(line) => prop_assert!((1..=lines.len()).contains(&line)),
            }
        }
    }

    #[test]
    fn a_sample_has_a_line_or_a_symbol() {
        let text = " 55d0 sum\n  src/sum.c:7\n 55d4 sum.cold.1\n  sum.c:0\nffff foo::bar(int)\n";
        let samples = parse(text).unwrap();
        assert_eq!(samples.total, 3);
        assert_eq!(samples.by_line[&("sum.c".to_string(), 7)], 1);
        assert_eq!((samples.by_symbol["sum"], samples.by_symbol["foo::bar(int)"]), (1, 1));
    }

    #[test]
    fn callers_are_no_samples() {
        let text = "\t55d0 sum\n  sum.c:7\n\t1234 main\n  main.c:1\n\n\t55d4 main\n\n\n\t55d0 sum\n  sum.c:7\n";
        let samples = parse(text).unwrap();
        assert_eq!((samples.total, samples.by_symbol["main"]), (3, 1));
        assert_eq!(samples.by_line[&("sum.c".to_string(), 7)], 2);
        assert_eq!(samples.by_line.len(), 1);
    }

    #[test]
    fn other_text_is_refused_with_its_line() {
        assert_eq!(parse("55d0 sum\nsum.c:5\nsum 55d0\n").unwrap_err(), 3);
        assert_eq!(parse("55d0\n").unwrap_err(), 1);
        assert_eq!(parse("").unwrap().total, 0);
    }
}
