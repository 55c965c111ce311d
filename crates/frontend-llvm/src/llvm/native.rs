//! Native code from a module, for x86-64: what makes it is looked up in the library when it is wanted.

use super::api::Ptr;
use super::module::Module;
use crate::Error;
use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;

/// The place of a function's own attributes.
const FUNCTION: c_uint = c_uint::MAX;

const TRIPLE: &CStr = c"x86_64-unknown-linux-gnu";

impl Module {
    /// Gives an attribute to every function that has a body.
    pub fn add_attribute(&mut self, name: &str) {
        let bodies = self.functions().filter(|function| !function.is_declaration());
        let functions: Vec<Ptr> = bodies.map(|function| function.pointer()).collect();
        let raw = self.api.raw();
        let kind = self.api.attribute_kind(name);
        // SAFETY: an attribute of this context, and functions of this module.
        unsafe {
            let attribute = (raw.LLVMCreateEnumAttribute)(self.context, kind, 0);
            for function in functions {
                (raw.LLVMAddAttributeAtIndex)(function, FUNCTION, attribute);
            }
        }
    }

    /// Writes an object file, position-independent and not optimised.
    pub fn write_object(&mut self, path: &Path) -> Result<(), Error> {
        type Prepare = unsafe extern "C" fn();
        type FindTarget = unsafe extern "C" fn(*const c_char, *mut Ptr, *mut *mut c_char) -> c_int;
        type MakeMachine = unsafe extern "C" fn(
            Ptr,
            *const c_char,
            *const c_char,
            *const c_char,
            c_int,
            c_int,
            c_int,
        ) -> Ptr;
        type Emit = unsafe extern "C" fn(Ptr, Ptr, *const c_char, c_int, *mut *mut c_char) -> c_int;
        const NOT_OPTIMISED: c_int = 0;
        const POSITION_INDEPENDENT: c_int = 2;
        const ANY_DISTANCE: c_int = 0;
        const OBJECT: c_int = 1;

        let api = self.api;
        let failed = |message: *mut c_char| {
            // SAFETY: LLVM's message, which is ours to give back.
            let reason = unsafe { api.take(message) };
            Error::Bitcode { file: path.display().to_string(), reason }
        };
        let file = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| Error::Library("a path with a zero".to_string()))?;
        // SAFETY: the signatures are those of LLVM's C headers. The target's parts are registered before it is
        // asked for; the machine is disposed of after its only use.
        unsafe {
            for part in ["TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser"] {
                api.optional::<Prepare>(&format!("LLVMInitializeX86{part}"))?();
            }
            let (mut target, mut message) = (null_mut(), null_mut());
            let find = api.optional::<FindTarget>("LLVMGetTargetFromTriple")?;
            if find(TRIPLE.as_ptr(), &mut target, &mut message) != 0 {
                return Err(failed(message));
            }
            let make = api.optional::<MakeMachine>("LLVMCreateTargetMachine")?;
            let emit = api.optional::<Emit>("LLVMTargetMachineEmitToFile")?;
            let dispose = api.optional::<unsafe extern "C" fn(Ptr)>("LLVMDisposeTargetMachine")?;
            let (processor, features) = (c"x86-64".as_ptr(), c"".as_ptr());
            let machine = make(
                target,
                TRIPLE.as_ptr(),
                processor,
                features,
                NOT_OPTIMISED,
                POSITION_INDEPENDENT,
                ANY_DISTANCE,
            );
            let wrong = emit(machine, self.pointer(), file.as_ptr(), OBJECT, &mut message) != 0;
            dispose(machine);
            if wrong { Err(failed(message)) } else { Ok(()) }
        }
    }
}
