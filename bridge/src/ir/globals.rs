//! What modules define beside functions: variables, constants and labels.

use super::{Module, Type, Value, c_string, listed, wrap};
use crate::sys::core::*;
use crate::sys::prelude::LLVMValueRef;
use crate::sys::{self, LLVMLinkage, LLVMThreadLocalMode};
use std::ffi::CStr;

impl<'m> Module<'m> {
    /// Whether a function, a variable or an alias has this name.
    pub fn has_global(self, name: &str) -> bool {
        let name = c_string(name);
        let (text, length) = (name.as_ptr(), name.as_bytes().len());
        // SAFETY: the module is live; the names are passed with their lengths.
        unsafe {
            !LLVMGetNamedFunction(self.0, text).is_null()
                || !LLVMGetNamedGlobal(self.0, text).is_null()
                || !LLVMGetNamedGlobalAlias(self.0, text, length).is_null()
                || !LLVMGetNamedGlobalIFunc(self.0, text, length).is_null()
        }
    }

    /// The function or variable with this name.
    pub fn global(self, name: &str) -> Option<Value<'m>> {
        let name = c_string(name);
        // SAFETY: the module is live.
        unsafe {
            wrap(LLVMGetNamedFunction(self.0, name.as_ptr()))
                .or_else(|| wrap(LLVMGetNamedGlobal(self.0, name.as_ptr())))
                .map(Value::from_raw)
        }
    }

    /// The variables in a section, each with its size in bytes.
    pub fn globals_in_section(self, section: &str) -> Vec<(Value<'m>, u64)> {
        let mut found = Vec::new();
        // SAFETY: the module is live; the list is walked with llvm-c's own iterators; a section is
        // a C string of the global's.
        unsafe {
            for global in listed(LLVMGetFirstGlobal(self.0), LLVMGetNextGlobal) {
                let of = wrap(LLVMGetSection(global).cast_mut()).map(|of| CStr::from_ptr(of));
                if of.is_some_and(|of| of.to_bytes() == section.as_bytes()) {
                    let ty = Type::from_raw(LLVMGlobalGetValueType(global));
                    found.push((Value::from_raw(global), self.size_of(ty).1));
                }
            }
        }
        found
    }

    /// A global with an initial value.
    fn add_global(self, name: &str, value: Value<'m>, linkage: LLVMLinkage) -> LLVMValueRef {
        let name = c_string(name);
        // SAFETY: the module is live; the value is a constant of its context.
        unsafe {
            let global = LLVMAddGlobal(self.0, LLVMTypeOf(value.0), name.as_ptr());
            LLVMSetInitializer(global, value.0);
            LLVMSetLinkage(global, linkage);
            global
        }
    }

    /// A private global with an initial value, aligned to 8.
    pub fn private_global(self, name: &str, value: Value<'m>, constant: bool) -> Value<'m> {
        let global = self.add_global(name, value, LLVMLinkage::LLVMPrivateLinkage);
        // SAFETY: the global was just made; the alignment is a power of two.
        unsafe {
            LLVMSetGlobalConstant(global, i32::from(constant));
            LLVMSetUnnamedAddress(global, sys::LLVMUnnamedAddr::LLVMGlobalUnnamedAddr);
            LLVMSetAlignment(global, 8);
            Value::from_raw(global)
        }
    }

    /// A private, writable global in a section, which no pass may take for constant.
    pub fn section_record(self, name: &str, section: &str, value: Value<'m>) -> Value<'m> {
        let global = self.private_global(name, value, false);
        let section = c_string(section);
        // SAFETY: the global was just made.
        unsafe {
            LLVMSetUnnamedAddress(global.0, sys::LLVMUnnamedAddr::LLVMNoUnnamedAddr);
            LLVMSetSection(global.0, section.as_ptr());
            sys::mfb_keep(global.0, false);
        }
        global
    }

    /// The same, which the linker keeps though nobody refers to it.
    pub fn retained_record(self, name: &str, section: &str, value: Value<'m>) {
        let record = self.section_record(name, section, value);
        // SAFETY: the global was just made.
        unsafe { sys::mfb_keep(record.0, true) }
    }

    /// A private constant with the given bytes, aligned to 8.
    pub fn private_bytes(self, name: &str, bytes: &[u8]) -> Value<'m> {
        self.private_global(name, self.constant_bytes(bytes, false), true)
    }

    /// A constant with the given bytes in a section, aligned to 8. It is private, or `shared`
    /// between modules that define the same under this name.
    pub fn section_bytes(self, name: &str, section: &str, bytes: &[u8], shared: bool) -> Value<'m> {
        let data = self.constant_bytes(bytes, false);
        let global = self.add_global(name, data, LLVMLinkage::LLVMPrivateLinkage);
        let section = c_string(section);
        // SAFETY: the global was just made; llvm-c copies the name.
        unsafe {
            LLVMSetGlobalConstant(global, 1);
            LLVMSetSection(global, section.as_ptr());
            LLVMSetAlignment(global, 8);
            if shared {
                sys::mfb_share(global);
            }
            Value::from_raw(global)
        }
    }

    /// A private constant with the given bytes in a section, which the linker keeps though nobody
    /// refers to it.
    pub fn retained_bytes(self, name: &str, section: &str, bytes: &[u8]) {
        let global = self.section_bytes(name, section, bytes, false);
        // SAFETY: it is a global of the module; the alignment is a power of two.
        unsafe {
            LLVMSetAlignment(global.0, 1);
            sys::mfb_keep(global.0, true);
        }
    }

    /// A thread-local pointer, null at first. It is internal, or `shared` between modules that
    /// define the same under this name.
    pub fn thread_local_pointer(self, name: &str, shared: bool) -> Value<'m> {
        let null = self.pointer_type().null();
        let global = self.add_global(name, null, LLVMLinkage::LLVMInternalLinkage);
        // SAFETY: the global was just made.
        unsafe {
            LLVMSetThreadLocalMode(global, LLVMThreadLocalMode::LLVMGeneralDynamicTLSModel);
            if shared {
                sys::mfb_share(global);
            }
            Value::from_raw(global)
        }
    }

    /// The declaration of a variable of the runtime.
    pub fn runtime_variable(self, name: &str, ty: Type<'m>) -> Value<'m> {
        let name = c_string(name);
        // SAFETY: the module is live; an existing variable of this name is returned as it is.
        unsafe {
            let existing = wrap(LLVMGetNamedGlobal(self.0, name.as_ptr()));
            Value::from_raw(existing.unwrap_or_else(|| LLVMAddGlobal(self.0, ty.0, name.as_ptr())))
        }
    }

    /// The declaration of a thread-local variable of the runtime, of the program's own where code
    /// is for an executable. In a library it is reached by one load of its offset.
    pub fn runtime_thread_variable(self, name: &str, ty: Type<'m>) -> Value<'m> {
        let variable = self.runtime_variable(name, ty);
        let model = match self.is_for_library() {
            true => LLVMThreadLocalMode::LLVMInitialExecTLSModel,
            false => LLVMThreadLocalMode::LLVMLocalExecTLSModel,
        };
        // SAFETY: the variable is a global of the module.
        unsafe { LLVMSetThreadLocalMode(variable.0, model) };
        variable
    }

    /// The address of a label of the module's own assembly.
    pub fn label(self, name: &str) -> Value<'m> {
        // No target may put its prefix before it.
        let name = c_string(&format!("\u{1}{name}"));
        // SAFETY: the module is live.
        unsafe {
            let label = LLVMAddGlobal(self.0, self.int_type(8).0, name.as_ptr());
            LLVMSetVisibility(label, sys::LLVMVisibility::LLVMHiddenVisibility);
            Value::from_raw(label)
        }
    }

    /// A private constant C string.
    pub fn c_string(self, text: &str) -> Value<'m> {
        let data = self.constant_bytes(c_string(text).as_bytes(), true);
        self.private_global("midflight.text", data, true)
    }

    /// A constant array of bytes, with a zero at its end or not.
    fn constant_bytes(self, bytes: &[u8], zero: bool) -> Value<'m> {
        let (text, length) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: the context is live; llvm-c copies the bytes.
        Value::from_raw(unsafe {
            LLVMConstStringInContext2(self.context(), text, length, i32::from(!zero))
        })
    }

    /// A constant structure, laid out as C does.
    pub fn constant_struct(self, fields: &[Value<'m>]) -> Value<'m> {
        let (list, count) = (Value::list(fields), fields.len() as u32);
        // SAFETY: all fields are constants of the module's context.
        Value::from_raw(unsafe { LLVMConstStructInContext(self.context(), list, count, 0) })
    }

    /// A constant array of elements of one type.
    pub fn constant_array(self, element: Type<'m>, values: &[Value<'m>]) -> Value<'m> {
        let (list, count) = (Value::list(values), values.len() as u64);
        // SAFETY: all values are constants of the element type.
        Value::from_raw(unsafe { LLVMConstArray2(element.0, list, count) })
    }
}
