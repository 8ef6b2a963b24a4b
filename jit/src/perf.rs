//! Where versions are, for `perf`: the map of a JIT's code that it reads, `/tmp/perf-PID.map`,
//! written if `MIDFLIGHT_JIT_PERF` is set. A line for each function: address, size, name.

use object::{Object, ObjectSymbol};
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

/// Turns the map on.
const VARIABLE: &str = "MIDFLIGHT_JIT_PERF";

/// `O_NOFOLLOW` of Linux: the folder is everybody's.
const NO_FOLLOW: i32 = if cfg!(target_arch = "aarch64") { 0o100_000 } else { 0o400_000 };

/// The sizes of the functions in an object file, by their names; none if nobody wants to know.
pub fn sizes(object: &[u8]) -> HashMap<String, u64> {
    if std::env::var_os(VARIABLE).is_none_or(|value| value.is_empty()) {
        return HashMap::new();
    }
    let Ok(file) = object::File::parse(object) else { return HashMap::new() };
    let sized = |symbol: object::Symbol<'_, '_>| Some((symbol.name().ok()?.into(), symbol.size()));
    file.symbols().filter_map(sized).collect()
}

/// Adds a function to the map, if its size is known. A map that cannot be written is no reason to
/// do without the version.
pub fn note(name: &str, address: u64, sizes: &HashMap<String, u64>) {
    let Some(size) = sizes.get(name) else { return };
    let path = format!("/tmp/perf-{}.map", std::process::id());
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o600).custom_flags(NO_FOLLOW);
    if let Ok(mut file) = options.open(path) {
        let _ = writeln!(file, "{address:x} {size:x} {name}");
    }
}
