//! Types and basic blocks.

use super::find::llvm;
use super::kinds::TypeKind;
use super::module::Module;
use super::value::Value;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::NonNull;

#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Type<'m>(NonNull<c_void>, PhantomData<&'m Module>);

#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Block<'m>(NonNull<c_void>, PhantomData<&'m Module>);

impl<'m> Type<'m> {
    pub fn kind(self) -> TypeKind {
        match self.number() {
            0 => TypeKind::Void,
            2 => TypeKind::Float,
            3 => TypeKind::Double,
            4 => TypeKind::Extended,
            8 => TypeKind::Int(llvm().LLVMGetIntTypeWidth(self)),
            9 => TypeKind::Function,
            10 => TypeKind::Struct,
            11 => TypeKind::Array,
            12 => TypeKind::Pointer,
            13 => TypeKind::Vector,
            other => TypeKind::Other(other),
        }
    }

    pub fn print(self) -> String {
        // SAFETY: a new string that is ours.
        unsafe { llvm().take(llvm().LLVMPrintTypeToString(self)) }
    }

    /// Of an array or vector.
    pub fn element(self) -> Type<'m> {
        llvm().LLVMGetElementType(self)
    }

    /// Elements of an array, vector or struct.
    pub fn length(self) -> u64 {
        match self.kind() {
            TypeKind::Array => llvm().LLVMGetArrayLength2(self),
            TypeKind::Vector => llvm().LLVMGetVectorSize(self).into(),
            TypeKind::Struct => llvm().LLVMCountStructElementTypes(self).into(),
            _ => 0,
        }
    }

    pub fn field(self, index: u32) -> Type<'m> {
        llvm().LLVMStructGetTypeAtIndex(self, index)
    }

    pub fn is_variadic(self) -> bool {
        llvm().LLVMIsFunctionVarArg(self) != 0
    }

    /// Of a function.
    pub fn param_count(self) -> u32 {
        llvm().LLVMCountParamTypes(self)
    }

    /// Of a function.
    pub fn returned(self) -> Type<'m> {
        llvm().LLVMGetReturnType(self)
    }

    /// Its kind as LLVM numbers it.
    pub(super) fn number(self) -> i32 {
        llvm().LLVMGetTypeKind(self)
    }

    pub(super) fn is_sized(self) -> bool {
        llvm().LLVMTypeIsSized(self) != 0
    }

    pub(super) fn has_field(self, index: u32) -> bool {
        self.kind() == TypeKind::Struct && u64::from(index) < self.length()
    }
}

impl<'m> Block<'m> {
    pub fn instructions(self) -> impl Iterator<Item = Value<'m>> {
        let first = llvm().LLVMGetFirstInstruction(self);
        std::iter::successors(first, |at| llvm().LLVMGetNextInstruction(*at))
    }

    pub fn terminator(self) -> Value<'m> {
        llvm().LLVMGetBasicBlockTerminator(self).expect("LLVM's verifier asks for a terminator")
    }
}
