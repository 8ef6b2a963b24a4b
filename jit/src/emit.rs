//! From a version's module to code in memory.

use crate::perf;
use midflight_bridge::slice::Owned;
use midflight_orc::{Machine, Session};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The pipeline that versions are optimized by.
const PIPELINE: &str = "default<O2>";

/// Addresses of what a module refers to, by their names.
pub type Symbols = BTreeMap<String, u64>;

/// Functions of a version, of which some may not be there: by their names, or their addresses.
pub type Parts<T> = [T; 4];

/// Code in memory, which stays.
pub struct Code {
    /// Addresses of what was asked for; 0 of what was not
    pub addresses: Parts<u64>,
    /// Bytes of the object file
    pub size: u64,
}

/// The process's code generator.
struct Jit {
    machine: Machine,
    session: Session,
}

static JIT: OnceLock<Result<Jit, String>> = OnceLock::new();

/// Optimizes and compiles a module, with what the processor has if `for_host`, and puts it into
/// memory. Returns the addresses of functions in it, which others may call from now on.
///
/// # Errors
/// LLVM's message.
pub fn emit(
    module: Owned,
    symbols: Symbols,
    names: &Parts<Option<String>>,
    label: &str,
    for_host: bool,
) -> Result<Code, String> {
    let jit = JIT.get_or_init(Jit::new).as_ref().map_err(String::clone)?;
    if for_host {
        jit.machine.use_host_features(module.module());
    }
    jit.machine.optimize(module.module(), PIPELINE)?;
    let object = jit.machine.object(module.module())?;
    drop(module);
    let (size, sizes) = (object.bytes().len() as u64, perf::sizes(object.bytes()));
    let library = jit.session.add(label, symbols, object)?;
    let mut addresses = [0; 4];
    for (address, name) in addresses.iter_mut().zip(names) {
        let Some(name) = name else { continue };
        *address = jit.session.address(library, name)?;
        perf::note(name, *address, &sizes);
    }
    Ok(Code { addresses, size })
}

impl Jit {
    fn new() -> Result<Self, String> {
        // In this order: the session uses what the machine has initialized.
        Ok(Jit { machine: Machine::new()?, session: Session::new()? })
    }
}
