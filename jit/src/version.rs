//! A version, from the request to its code.

use crate::custom;
use crate::emit::{self, Code, Symbols};
use crate::request::{self, Carried};
use midflight_abi::open::{
    OPEN_EXIT_SYMBOL, OPEN_FUNCTION, OPEN_GUARD_SYMBOL, OPEN_LINK_PREFIX, OPEN_SYMBOL,
    OpenAssumption, OpenRequest,
};
use midflight_bridge::ir::Module;
use midflight_bridge::slice::Owned;
use midflight_passes::osr::open::generator::Generator;
use midflight_passes::osr::open::specialize::{Custom, Specialization};
use midflight_passes::osr::open::version::{self, NoVersion};
use std::cell::RefCell;
use std::ffi::c_void;

/// The function whose address the key is.
const BODY: &str = "midflight.body";

/// A version in memory.
pub struct Made {
    /// See `OpenAnswer`
    pub target: *const c_void,
    /// See `OpenAnswer`
    pub next: *const c_void,
    /// See `OpenAnswer`
    pub entry: *const c_void,
    /// Bytes of code and data
    pub size: u64,
    /// Guards
    pub guards: u32,
    /// What it relies on. Versions are never freed.
    pub assumptions: &'static [OpenAssumption],
}

/// Makes a version.
///
/// # Errors
/// Why there is none.
///
/// # Safety
/// The request is one of the runtime's.
pub unsafe fn make(request: &OpenRequest) -> Result<Made, NoVersion> {
    // SAFETY: the caller's.
    let (asked, code, body) = unsafe {
        (request::read(request)?, Carried::read(&request.code), Carried::read(&request.body))
    };
    let owned = Owned::read(code.bytes).map_err(NoVersion::Failed)?;
    let module = owned.module();
    let mut symbols = Symbols::new();
    let links = bind(module, &code, "", &mut symbols);
    let mut callee = None;
    if asked.generator == Generator::InlineCallee && !body.bytes.is_empty() {
        let other = owned.read_more(body.bytes).map_err(NoVersion::Failed)?;
        let of_body = bind(other.module(), &body, "body.", &mut symbols);
        if let Some(function) = other.module().function(OPEN_FUNCTION) {
            function.rename(BODY);
        }
        module.link(other).map_err(NoVersion::Failed)?;
        unite(module, &links, &of_body);
        callee = module.function(BODY);
    }
    if let Some(callee) = callee {
        callee.set_linkage_internal();
        callee.add_always_inline();
    }
    let user = request.user;
    let custom = request.make.map(|make| {
        // SAFETY: the caller's.
        move |plan: &mut Specialization<'_, '_>| unsafe { custom::run(make, user, plan) }
    });
    let custom = custom.as_ref().map(|custom| custom as Custom<'_, '_>);
    let assumptions = RefCell::new(Vec::new());
    let read = |global: &str, offset: i64| {
        let start = symbols.get(global).copied().filter(|&start| start != 0)?;
        let address = start.wrapping_add_signed(offset) as *const i64;
        // The same at each use.
        let mut known = assumptions.borrow_mut();
        if let Some(known) = known.iter().find(|it: &&OpenAssumption| it.address == address) {
            return Some(known.value);
        }
        let mut value = 0;
        // SAFETY: the request's function, of the runtime; code that the request has reads it there.
        let status = unsafe { (request.read)(request.made, address, &raw mut value) };
        (status == 0).then(|| known.push(OpenAssumption { address, value }))?;
        Some(value)
    };
    let made = version::make(module, &asked, callee, custom, &read)?;
    // SAFETY: the caller's.
    let (function, point) =
        unsafe { (request::text(request.function), request::text(request.point)) };
    let parts = [
        (Some(made.target), ".enter"),
        (Some(made.next), ""),
        (made.entry, ".entry"),
        (made.exit, ".exit"),
    ];
    let names = parts.map(|(part, suffix)| {
        let name = format!("{function}.jit{suffix}");
        part.map(|part| part.make_external(&name)).map(|()| name)
    });
    let guards = made.guards as u32;
    if let Some(problem) = module.verify() {
        return Err(NoVersion::Failed(format!(
            "it does not verify, a defect of midflight: {}",
            problem.trim().replace('\n', " ")
        )));
    }
    for (name, function) in [
        (OPEN_SYMBOL, request.open),
        (OPEN_EXIT_SYMBOL, request.left),
        (OPEN_GUARD_SYMBOL, request.guard),
    ] {
        symbols.insert(name.to_string(), function as u64);
    }
    let label = format!("{function}@{point}[{}]", asked.generator.name());
    let for_host = asked.generator == Generator::Reoptimize;
    let Code { addresses, size } =
        emit::emit(owned, symbols, &names, &label, for_host).map_err(NoVersion::Failed)?;
    let [target, next, entry, _] = addresses.map(|address| address as *const c_void);
    // A version for all keys reads what others assume.
    let assumptions = if asked.is_generic { Vec::new() } else { assumptions.into_inner() };
    let assumptions = Vec::leak(assumptions);
    Ok(Made { target, next, entry, size, guards, assumptions })
}

/// A name of a global, and its address.
type Link = (String, u64);

/// Gives the links of a slice names that no other slice has, and notes their addresses.
fn bind(module: Module<'_>, code: &Carried<'_>, of: &str, symbols: &mut Symbols) -> Vec<Link> {
    let restored = module.restore_names();
    let mut links = Vec::new();
    for (number, &address) in code.links.iter().enumerate() {
        let link = format!("{OPEN_LINK_PREFIX}{number}");
        let known = restored.iter().find(|(before, _)| *before == link);
        let name = match known {
            Some((_, name)) => name.clone(),
            None => {
                let name = format!("{OPEN_LINK_PREFIX}{of}{number}");
                if name != link
                    && let Some(global) = module.global(&link)
                {
                    global.rename_global(&name);
                }
                name
            }
        };
        symbols.entry(name.clone()).or_insert(address);
        links.push((name, address));
    }
    links
}

/// Makes one global of two links that lead to one address: LLVM takes two globals for two objects.
/// The one that has a value or a body stays.
fn unite(module: Module<'_>, links: &[Link], others: &[Link]) {
    for (other, address) in others.iter().filter(|(_, address)| *address != 0) {
        let same = links.iter().find(|(name, known)| known == address && name != other);
        let Some((name, _)) = same else { continue };
        let (Some(one), Some(two)) = (module.global(name), module.global(other)) else { continue };
        if two.is_defined_global() && !one.is_defined_global() {
            one.replace_global(two);
        } else {
            two.replace_global(one);
        }
    }
}
