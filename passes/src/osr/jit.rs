//! Points in code that a JIT makes.
//!
//! In a linked program the runtime finds the records of points by the bounds of their section,
//! which the linker gives names. A JIT does not, so its module gets a function that tells them: the
//! host looks it up as any other function of the module, and hands its address to the runtime
//! (`midflight_osr_register_code`), and again before it frees the code
//! (`midflight_osr_unregister_code`). That needs nothing of the JIT: neither that it resolves
//! symbols of the process, nor that it runs constructors, nor that it tells of sections.
//!
//! Places of patch points are in a section as well, in one piece for each of them, as linkers want
//! it. [`emit_registration`] gathers them in one piece between two labels.

use midflight_abi::osr::{OSR_PATCH_SECTION, OSR_SECTION};
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::{Function, Inst, Module, Opcode, Value};

/// On the function that tells of a module's points.
const MARK: &str = "midflight-osr-registration";

/// Why a module gets no function that tells of its points.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistrationError {
    /// It has one.
    #[error(
        "telling the runtime of a module's points by '{name}': '{known}' tells of them already; \
         emit it once, after the last point"
    )]
    Twice {
        /// The name that was asked for
        name: String,
        /// The function that the module has
        known: String,
    },
    /// Something else has the name.
    #[error("telling the runtime of a module's points by '{0}': the module has this name already")]
    NameTaken(String),
}

/// Adds the function `void NAME(void visit(void *, void *, const void *, const void *))` to a
/// module that a JIT compiles. It calls `visit`, which is to do what `midflight_osr_register` does,
/// for the record of each function with points. To be called after the last point of the module was
/// inserted.
///
/// # Errors
/// [`RegistrationError`]; then the module is as it was.
///
/// ```no_run
/// use midflight_passes::osr::api::{Module, emit_registration};
///
/// # fn example(module: Module<'_>) -> Result<(), Box<dyn std::error::Error>> {
/// emit_registration(module, "my_points")?;
/// // Then compile, look `my_points` up, and give it to midflight_osr_register_code.
/// # Ok(())
/// # }
/// ```
pub fn emit_registration<'m>(
    module: Module<'m>,
    name: &str,
) -> Result<Function<'m>, RegistrationError> {
    if let Some(known) = module.functions().find(|f| f.is_marked(MARK)) {
        let (name, known) = (name.to_string(), known.name());
        return Err(RegistrationError::Twice { name, known });
    }
    if module.has_global(name) {
        return Err(RegistrationError::NameTaken(name.to_string()));
    }
    let pointer = module.pointer_type();
    let (start, stop) = gather_places(module, name).unwrap_or((pointer.null(), pointer.null()));
    let records = module.globals_in_section(OSR_SECTION);
    let function = module.define(name, module.void_type().function(&[pointer]));
    function.mark(MARK);
    let builder = Builder::new(module, function);
    builder.at_end(function.add_block("entry"));
    if let Some(visit) = function.arguments().next() {
        let visitor = module.void_type().function(&[pointer; 4]);
        for (record, bytes) in records {
            let end = builder.offset(record, bytes);
            builder.call_pointer(visit, visitor, &[record, end, start, stop]);
        }
    }
    builder.ret_void();
    Ok(function)
}

/// Puts the places of all patch points of the module in one piece; returns its bounds. None if
/// there are none.
fn gather_places<'m>(module: Module<'m>, name: &str) -> Option<(Value<'m>, Value<'m>)> {
    let own_piece = format!("\t.pushsection {OSR_PATCH_SECTION},");
    // Pieces of one section are in the order of their numbers.
    let piece =
        |number: u32| format!("\t.pushsection {OSR_PATCH_SECTION}, {number}, \"a\", @progbits");
    let gathered = |text: &str| -> String {
        let line = |line: &str| match line.starts_with(&own_piece) {
            true => piece(1),
            false => line.to_string(),
        };
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    };
    let is_patch = |inst: &Inst<'m>| {
        inst.opcode() == Opcode::CallBr
            && inst.assembly().is_some_and(|text| text.contains(&own_piece))
    };
    let points: Vec<Inst<'m>> = module
        .functions()
        .flat_map(|f| f.blocks())
        .map(|block| block.terminator())
        .filter(is_patch)
        .collect();
    if points.is_empty() {
        return None;
    }
    for point in points {
        let text = point.assembly().unwrap_or_default();
        point.set_assembly(&gathered(&text));
    }
    let (start, stop) = (label("start", name), label("stop", name));
    for (number, label) in [(0, &start), (2, &stop)] {
        module
            .append_assembly(&format!("{}\n\t.balign 8\n{label}:\n\t.popsection\n", piece(number)));
    }
    Some((module.label(&start), module.label(&stop)))
}

/// A label that is local to the object file, and one of its own for each name.
fn label(what: &str, name: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => char::from(byte).to_string(),
        _ => format!("${byte:02x}"),
    };
    format!(".Lmidflight_osr_places_{what}_{}", name.bytes().map(byte).collect::<String>())
}
