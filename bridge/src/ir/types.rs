//! Types.

use super::{Type, Value};
use crate::sys;
use crate::sys::LLVMTypeKind;
use crate::sys::core::*;

/// What a type is, as far as hosts know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// `void`
    Void,
    /// An integer
    Integer,
    /// An IEEE binary floating-point number
    Float,
    /// A pointer
    Pointer,
    /// Any other
    Other,
}

impl<'m> Type<'m> {
    /// What it is.
    pub fn kind(self) -> TypeKind {
        // SAFETY: the type is live.
        match unsafe { LLVMGetTypeKind(self.0) } {
            LLVMTypeKind::LLVMVoidTypeKind => TypeKind::Void,
            LLVMTypeKind::LLVMIntegerTypeKind => TypeKind::Integer,
            LLVMTypeKind::LLVMHalfTypeKind
            | LLVMTypeKind::LLVMFloatTypeKind
            | LLVMTypeKind::LLVMDoubleTypeKind
            | LLVMTypeKind::LLVMFP128TypeKind => TypeKind::Float,
            LLVMTypeKind::LLVMPointerTypeKind => TypeKind::Pointer,
            _ => TypeKind::Other,
        }
    }

    /// True for a vector, and for an array or a structure that has one.
    pub fn has_vector(self) -> bool {
        // SAFETY: the type is live; elements are asked for of what has them.
        unsafe {
            match LLVMGetTypeKind(self.0) {
                LLVMTypeKind::LLVMVectorTypeKind | LLVMTypeKind::LLVMScalableVectorTypeKind => true,
                LLVMTypeKind::LLVMArrayTypeKind => {
                    Type::from_raw(LLVMGetElementType(self.0)).has_vector()
                }
                LLVMTypeKind::LLVMStructTypeKind => {
                    let count = LLVMCountStructElementTypes(self.0);
                    (0..count)
                        .any(|i| Type::from_raw(LLVMStructGetTypeAtIndex(self.0, i)).has_vector())
                }
                _ => false,
            }
        }
    }

    /// How many bits an integer type has; 0 for other types.
    pub fn bits(self) -> u32 {
        if self.kind() != TypeKind::Integer {
            return 0;
        }
        // SAFETY: the type is a live integer type.
        unsafe { LLVMGetIntTypeWidth(self.0) }
    }

    /// True if its size is known at run time only: a scalable vector, or a structure with one.
    pub fn is_scalable(self) -> bool {
        // SAFETY: the type is live.
        unsafe { sys::mfb_is_scalable(self.0) }
    }

    /// The constant of this integer type.
    pub fn constant(self, value: u64) -> Value<'m> {
        // SAFETY: the type is a live integer type; llvm-c truncates the value to it.
        Value::from_raw(unsafe { LLVMConstInt(self.0, value, 0) })
    }

    /// The null or zero value of this type.
    pub fn null(self) -> Value<'m> {
        // SAFETY: the type is live.
        Value::from_raw(unsafe { LLVMConstNull(self.0) })
    }

    /// `poison` of this type.
    pub fn poison(self) -> Value<'m> {
        // SAFETY: the type is live.
        Value::from_raw(unsafe { LLVMGetPoison(self.0) })
    }

    /// The type of arrays of so many of it.
    pub fn array(self, count: u64) -> Type<'m> {
        // SAFETY: the type is live and sized.
        Type::from_raw(unsafe { LLVMArrayType2(self.0, count) })
    }

    /// The type of functions from `parameters` to this type.
    pub fn function(self, parameters: &[Type<'m>]) -> Type<'m> {
        let (types, count) = (Type::list(parameters), parameters.len() as u32);
        // SAFETY: all types are live and of one context; llvm-c copies the array.
        Type::from_raw(unsafe { LLVMFunctionType(self.0, types, count, 0) })
    }
}
