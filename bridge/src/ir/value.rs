//! Values: constants, arguments, instructions.

use super::{Block, Function, Inst, Type, Value, copied, name_of, taken, wrap};
use crate::sys;
use crate::sys::core::*;

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Home<'m> {
    /// It is null, or an instruction that was not inserted.
    Nowhere,
    /// It is a constant, or another value that does not belong to a function.
    Module,
    /// It is an argument or an instruction of this function.
    Function(Function<'m>),
}

impl<'m> Value<'m> {
    /// True for the constants `undef` and `poison`.
    pub fn is_undefined(self) -> bool {
        // SAFETY: the value is live.
        unsafe { LLVMIsUndef(self.0) != 0 }
    }

    /// Its type.
    pub fn ty(self) -> Type<'m> {
        // SAFETY: the value is live.
        Type::from_raw(unsafe { LLVMTypeOf(self.0) })
    }

    /// Where it is.
    pub fn home(self) -> Home<'m> {
        if self.0.is_null() {
            return Home::Nowhere;
        }
        // SAFETY: the value is live; each step asks what the former gave before it uses it.
        unsafe {
            if !LLVMIsAArgument(self.0).is_null() {
                return Home::Function(Function::from_raw(LLVMGetParamParent(self.0)));
            }
            if LLVMIsAInstruction(self.0).is_null() {
                return Home::Module;
            }
            let block = LLVMGetInstructionParent(self.0);
            if block.is_null() || LLVMGetBasicBlockParent(block).is_null() {
                return Home::Nowhere;
            }
            Home::Function(Block::from_raw(block).function())
        }
    }

    /// What it is in a message, with the function that it is in: two functions may both have a
    /// `%5`.
    pub fn described(self) -> String {
        let function = match self.home() {
            Home::Nowhere if self.0.is_null() => return "null".to_string(),
            Home::Nowhere => return "an instruction that is in no function".to_string(),
            Home::Module => return self.constant_text(),
            Home::Function(function) => function,
        };
        let results = function.blocks().flat_map(|block| block.instructions());
        let results = results.filter(|inst| inst.facts().has_result()).map(Inst::value);
        let mut named = function.arguments().chain(results).zip(function.value_names());
        let name = named.find(|&(value, _)| value == self).map(|(_, name)| name);
        let name = name.unwrap_or_else(|| "an instruction without a result".to_string());
        format!("{name} of '{}'", function.name())
    }

    /// A constant as an operand.
    fn constant_text(self) -> String {
        // SAFETY: the value is live; the name is its own, the text is ours to free.
        unsafe {
            if !LLVMIsAGlobalValue(self.0).is_null() {
                return format!("@{}", name_of(self.0));
            }
            taken(LLVMPrintValueToString(self.0)).expect("it has a text")
        }
    }

    /// A constant as an operand in the IR, with its type.
    pub fn operand_text(self) -> String {
        // SAFETY: the value is live.
        let is_global = unsafe { !LLVMIsAGlobalValue(self.0).is_null() };
        if is_global { format!("ptr {}", self.constant_text()) } else { self.text() }
    }

    /// As in the IR, with its type: an instruction or a global variable with all that it is.
    pub fn text(self) -> String {
        // SAFETY: the value is live; the text is made for the caller.
        let text = unsafe { taken(LLVMPrintValueToString(self.0)) };
        text.expect("it has a text").trim().to_string()
    }

    /// True for a block, the operand of a terminator.
    pub fn is_block(self) -> bool {
        // SAFETY: the value is live.
        unsafe { LLVMValueIsBasicBlock(self.0) != 0 }
    }

    /// True for constants, functions and global variables.
    pub fn is_constant(self) -> bool {
        // SAFETY: the value is live.
        unsafe { LLVMIsConstant(self.0) != 0 }
    }

    /// Makes all that uses this global use another one.
    pub fn replace_global(self, other: Value<'m>) {
        // SAFETY: both are live globals, which are pointers.
        unsafe { LLVMReplaceAllUsesWith(self.0, other.0) }
    }

    /// True for a global that has a value or a body here.
    pub fn is_defined_global(self) -> bool {
        // SAFETY: it is a live global.
        unsafe { LLVMIsDeclaration(self.0) == 0 }
    }

    /// True for a global whose name begins so.
    pub fn is_global_of(self, prefix: &str) -> bool {
        // SAFETY: the value is live; the name is its own.
        unsafe { !LLVMIsAGlobalValue(self.0).is_null() && name_of(self.0).starts_with(prefix) }
    }

    /// The address that an integer constant is.
    pub fn as_pointer(self) -> Value<'m> {
        // SAFETY: the value is a live integer constant; the type is of its context.
        unsafe {
            let pointer = LLVMPointerTypeInContext(LLVMGetTypeContext(LLVMTypeOf(self.0)), 0);
            Value::from_raw(LLVMConstIntToPtr(self.0, pointer))
        }
    }

    /// True for an integer constant, or a null pointer.
    pub fn is_plain(self) -> bool {
        // SAFETY: the value is live.
        unsafe { !LLVMIsAConstantInt(self.0).is_null() || LLVMIsNull(self.0) != 0 }
    }

    /// For the address of a place in a global variable, or just behind that: the variable, and how
    /// many bytes behind its beginning. Two such addresses are the same just if these are, or poison
    /// together, as behind the end of a variable that is only declared.
    pub fn address_in_global(self) -> Option<(Value<'m>, i64)> {
        let mut offset = 0;
        // SAFETY: the value is live; the offset can be written to.
        let global = unsafe { crate::sys::mfb_address_in_global(self.0, &mut offset) };
        Some((Value::from_raw(wrap(global)?), offset))
    }

    /// Itself as an instruction, if it is one that is in a function.
    pub fn as_inst(self) -> Option<Inst<'m>> {
        // SAFETY: the value is live where it has a home.
        let is_inst = matches!(self.home(), Home::Function(_))
            && unsafe { !LLVMIsAInstruction(self.0).is_null() };
        is_inst.then(|| Inst::from_raw(self.0))
    }

    /// The instruction that it is the result of.
    pub fn as_instruction(self) -> Option<Inst<'m>> {
        // SAFETY: the value is live.
        wrap(unsafe { LLVMIsAInstruction(self.0) }).map(Inst::from_raw)
    }

    /// The value of an integer constant of at most 64 bits.
    pub fn as_integer(self) -> Option<i64> {
        // SAFETY: the value is live; the value is asked for of integers only.
        unsafe {
            let is_small = !LLVMIsAConstantInt(self.0).is_null()
                && LLVMGetIntTypeWidth(LLVMTypeOf(self.0)) <= 64;
            is_small.then(|| LLVMConstIntGetSExtValue(self.0))
        }
    }

    /// Itself as a function with a body, if it is one.
    pub fn as_defined_function(self) -> Option<Function<'m>> {
        // SAFETY: the value is live where it has a home.
        let is_function =
            self.home() == Home::Module && unsafe { !LLVMIsAFunction(self.0).is_null() };
        is_function.then(|| Function::from_raw(self.0)).filter(|f| f.is_definition())
    }

    /// The name of the global variable that a constant address is in, and how many bytes behind its
    /// beginning that is.
    pub fn constant_place(self) -> Option<(String, i64)> {
        let mut offset = 0;
        // SAFETY: the value is live and a pointer; the offset can be written.
        let global = unsafe { crate::sys::mfb_constant_place(self.0, &mut offset) };
        // SAFETY: a global is a value that is live.
        wrap(global).map(|global| (unsafe { super::name_of(global) }, offset))
    }

    /// The characters of a constant C string that it points to, as the literal of a source.
    pub fn c_text(self) -> Option<String> {
        // SAFETY: the value is live; each step asks what the former gave before it uses it.
        unsafe {
            let global =
                wrap(LLVMIsAGlobalVariable(self.0)).filter(|&g| LLVMIsGlobalConstant(g) != 0)?;
            let data = wrap(LLVMIsAConstantDataSequential(wrap(LLVMGetInitializer(global))?))
                .filter(|&data| LLVMIsConstantString(data) != 0)?;
            let mut length = 0;
            let text = LLVMGetAsString(data, &mut length);
            let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length);
            let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(length);
            Some(copied(text, end))
        }
    }

    /// Gives a function or a variable that name, or one like it if the name is taken.
    pub fn rename_global(self, name: &str) {
        // SAFETY: the value is live; the name is passed with its length, and copied.
        unsafe { LLVMSetValueName2(self.0, name.as_ptr().cast(), name.len()) }
    }

    /// Removes a variable from its module. Nothing may refer to it any more.
    pub fn erase_global(self) {
        // SAFETY: the variable is live; the caller does not use it again.
        unsafe { LLVMDeleteGlobal(self.0) }
    }
}

shim! { Value {
    /// True if it is neither poison nor undefined in any run without undefined behaviour.
    is_well_defined = mfb_is_well_defined -> bool;
} }
