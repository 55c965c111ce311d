//! A module: reading it, linking, checking, running passes, looking things up.

use super::api::{Api, CStrRef, Layout, ModuleRef, Ptr};
use super::find::{api, llvm};
use super::ty::Type;
use super::value::Value;
use crate::Error;
use std::collections::HashSet;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{NonNull, null_mut};

/// What one translation reads.
pub struct Module {
    pub(super) api: &'static Api,
    pub(super) context: Ptr,
    module: NonNull<c_void>,
}

impl Module {
    /// Reads bitcode or textual IR.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Module, Error> {
        let api = api()?;
        // SAFETY: a new context; the handler needs nothing of us.
        let context = unsafe {
            let context = (api.raw().LLVMContextCreate)();
            (api.raw().LLVMContextSetDiagnosticHandler)(context, Some(ignore), null_mut());
            context
        };
        match read(api, context, name, bytes) {
            Ok(module) => Ok(Module { api, context, module }),
            Err(error) => {
                // SAFETY: nothing is left in it.
                unsafe { (api.raw().LLVMContextDispose)(context) };
                Err(error)
            }
        }
    }

    /// Adds the contents of a second file, parsed into the same context.
    pub fn link(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let other = read(self.api, self.context, name, bytes)?;
        // SAFETY: two modules of one context; linking ends the second whether or not it succeeds.
        let clash = unsafe { (self.api.raw().LLVMLinkModules2)(self.pointer(), other.as_ptr()) != 0 };
        match clash {
            true => {
                let reason = "its symbols clash with those of the other files".to_string();
                Err(Error::Bitcode { file: name.to_string(), reason })
            }
            false => Ok(()),
        }
    }

    /// Checks the module as a whole: afterwards its instructions are well-formed.
    pub fn verify(&self, name: &str) -> Result<(), Error> {
        let mut message: *mut c_char = null_mut();
        // SAFETY: 2 is LLVMReturnStatusAction; the message is ours to dispose.
        let (broken, reason) = unsafe {
            let broken = (self.api.raw().LLVMVerifyModule)(self.pointer(), 2, &mut message) != 0;
            (broken, self.api.take(message))
        };
        let first = reason.lines().next().unwrap_or("no reason given");
        let reason = format!("LLVM's verifier rejects its code: {first}");
        if broken { Err(Error::Bitcode { file: name.to_string(), reason }) } else { Ok(()) }
    }

    /// Runs a pipeline of passes.
    pub fn run_passes(&mut self, passes: &str) -> Result<(), Error> {
        let passes = CString::new(passes).expect("pass names have no zero");
        let raw = self.api.raw();
        // SAFETY: no target machine is needed by the passes that we name; the error, if any, is
        // consumed by LLVMGetErrorMessage.
        unsafe {
            let options = (raw.LLVMCreatePassBuilderOptions)();
            let error = (raw.LLVMRunPasses)(self.pointer(), passes.as_ptr(), null_mut(), options);
            (raw.LLVMDisposePassBuilderOptions)(options);
            if error.is_null() {
                return Ok(());
            }
            let message = (raw.LLVMGetErrorMessage)(error);
            let reason = CStr::from_ptr(message).to_string_lossy().into_owned();
            (raw.LLVMDisposeErrorMessage)(message);
            Err(Error::Library(reason))
        }
    }

    /// Passes the addresses of local variables to a function of that name, so that no pass can turn them
    /// into registers: the number of the function and of the instruction in it.
    pub fn keep_in_memory(&mut self, keeper: &CStr, variables: &[(usize, usize)]) {
        if variables.is_empty() {
            return;
        }
        let wanted: HashSet<(usize, usize)> = variables.iter().copied().collect();
        let mut places = Vec::new();
        for (number, function) in self.functions().enumerate() {
            let instructions = function.blocks().flat_map(|block| block.instructions());
            for (at, instruction) in instructions.enumerate() {
                if wanted.contains(&(number, at))
                    && let Some(next) = llvm().LLVMGetNextInstruction(instruction)
                {
                    places.push((instruction.pointer(), next.pointer()));
                }
            }
        }
        let raw = self.api.raw();
        // SAFETY: types and a function of this context; the builder stands before an instruction of the
        // module, right behind the variable whose address the call takes.
        unsafe {
            let mut pointer = (raw.LLVMPointerTypeInContext)(self.context, 0);
            let void = (raw.LLVMVoidTypeInContext)(self.context);
            let ty = (raw.LLVMFunctionType)(void, &mut pointer, 1, 0);
            let function = (raw.LLVMAddFunction)(self.pointer(), keeper.as_ptr(), ty);
            let builder = (raw.LLVMCreateBuilderInContext)(self.context);
            for (mut variable, next) in places {
                (raw.LLVMPositionBuilderBefore)(builder, next);
                (raw.LLVMBuildCall2)(builder, ty, function, &mut variable, 1, c"".as_ptr());
            }
            (raw.LLVMDisposeBuilder)(builder);
        }
    }

    pub fn function(&self, name: &str) -> Option<Value<'_>> {
        let name = CString::new(name).ok()?;
        llvm().LLVMGetNamedFunction(self.handle(), CStrRef::new(&name))
    }

    /// Whether it has code of Rust's.
    pub fn is_rust(&self) -> bool {
        self.function("rust_eh_personality").is_some()
    }

    /// Makes a function one that other modules can name: what nobody names may be removed.
    pub fn export(&mut self, name: &str) {
        if let Some(function) = self.function(name) {
            let function = function.pointer();
            // SAFETY: a function of this module; 0 is external linkage and default visibility.
            unsafe {
                (self.api.raw().LLVMSetVisibility)(function, 0);
                (self.api.raw().LLVMSetLinkage)(function, 0);
            }
        }
    }

    pub fn functions(&self) -> impl Iterator<Item = Value<'_>> {
        let first = llvm().LLVMGetFirstFunction(self.handle());
        std::iter::successors(first, |at| llvm().LLVMGetNextFunction(*at))
    }

    pub fn globals(&self) -> impl Iterator<Item = Value<'_>> {
        let first = llvm().LLVMGetFirstGlobal(self.handle());
        std::iter::successors(first, |at| llvm().LLVMGetNextGlobal(*at))
    }

    pub fn global(&self, name: &str) -> Option<Value<'_>> {
        let name = CString::new(name).ok()?;
        llvm().LLVMGetNamedGlobal(self.handle(), CStrRef::new(&name))
    }

    /// The distance between two elements of a type in an array.
    pub fn size_of(&self, ty: Type<'_>) -> u64 {
        llvm().LLVMABISizeOfType(self.layout(), ty)
    }

    pub fn align_of(&self, ty: Type<'_>) -> u64 {
        llvm().LLVMABIAlignmentOfType(self.layout(), ty).into()
    }

    pub fn offset_of(&self, ty: Type<'_>, element: u32) -> u64 {
        llvm().LLVMOffsetOfElement(self.layout(), ty, element)
    }

    /// The data layout as LLVM writes it: `e-m:e-p:32:32-…`.
    pub fn data_layout(&self) -> String {
        // SAFETY: the module's own string, which ends with a zero.
        unsafe { string((self.api.raw().LLVMGetDataLayoutStr)(self.pointer())) }
    }

    /// The target that the module was compiled for: `x86_64-pc-linux-gnu`.
    pub fn target(&self) -> String {
        // SAFETY: as above.
        unsafe { string((self.api.raw().LLVMGetTarget)(self.pointer())) }
    }

    fn layout(&self) -> Layout<'_> {
        llvm().LLVMGetModuleDataLayout(self.handle())
    }

    fn handle(&self) -> ModuleRef<'_> {
        // SAFETY: the handle borrows from `self`, and only methods that take `&mut self` change it.
        unsafe { ModuleRef::new(self.module) }
    }

    pub(super) fn pointer(&self) -> Ptr {
        self.module.as_ptr()
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: no handle outlives the module that it borrows from.
        unsafe {
            (self.api.raw().LLVMDisposeModule)(self.pointer());
            (self.api.raw().LLVMContextDispose)(self.context);
        }
    }
}

/// Reads bitcode or textual IR into a context.
fn read(api: &Api, context: Ptr, name: &str, bytes: &[u8]) -> Result<NonNull<c_void>, Error> {
    let c_name = CString::new(name.replace('\0', "?")).expect("no zero is left");
    let mut module = null_mut();
    let mut message: *mut c_char = null_mut();
    // SAFETY: the buffer is copied and then owned by the parser; both out-parameters are valid; the
    // message is ours to dispose.
    let reason = unsafe {
        let buffer = (api.raw().LLVMCreateMemoryBufferWithMemoryRangeCopy)(
            bytes.as_ptr().cast(),
            bytes.len(),
            c_name.as_ptr(),
        );
        (api.raw().LLVMParseIRInContext)(context, buffer, &mut module, &mut message);
        api.take(message)
    };
    NonNull::new(module).ok_or(Error::Bitcode { file: name.to_string(), reason })
}

/// Errors reach us as return values; LLVM need not print them.
unsafe extern "C" fn ignore(_info: Ptr, _context: Ptr) {}

/// # Safety
///
/// Null, or a string that ends with a zero.
unsafe fn string(text: *const c_char) -> String {
    match text.is_null() {
        true => String::new(),
        // SAFETY: the caller's promise.
        false => unsafe { CStr::from_ptr(text).to_string_lossy().into_owned() },
    }
}
