//! `pthread_exit` and cancellation unwind the stack: C++ destructors and C cleanup handlers run, innermost
//! first.
//!
//! As in glibc: a forced unwind, whose stop function looks at every frame. Handlers of C code that was
//! compiled without exceptions sit behind jump buffers, which are jumped to when their frame's turn comes.

use crate::finding;
use crate::process::{self, Outcome};
use crate::world::world;
use porf_sample::protocol::FindingKind;
use std::arch::asm;
use std::ffi::c_void;

/// The unwinder's exception object; libgcc asks for this layout and alignment.
#[repr(C, align(16))]
struct Exception {
    class: u64,
    cleanup: Option<extern "C" fn(i32, *mut Exception)>,
    private: [u64; 2],
}

/// The exception with which a thread ends, in memory that does not move.
pub struct Exit(Box<Exception>);

impl Default for Exit {
    fn default() -> Exit {
        Exit(Box::new(Exception { class: 0, cleanup: Some(swallowed), private: [0; 2] }))
    }
}

// Not "C-unwind": frames of ours that a thread's end passes through need no landing pads, which in this
// crate (panic = abort) would end the process.
unsafe extern "C" {
    fn _Unwind_ForcedUnwind(exception: *mut Exception, stop: Stop, argument: *mut c_void) -> i32;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
    fn _longjmp(buffer: usize, value: i32) -> !;
}

type Stop = unsafe extern "C" fn(i32, i32, u64, *mut Exception, *mut c_void, *mut c_void) -> i32;

/// Ends the running thread from within its calls.
pub fn leave(result: usize) -> ! {
    // SAFETY: running; the stop function never lets the unwinder pass the thread's first frame.
    unsafe {
        let fiber = world().fiber();
        fiber.result = result;
        let exception: *mut Exception = &mut *fiber.exit.0;
        _Unwind_ForcedUnwind(exception, stop, std::ptr::null_mut());
        // Frames without unwind tables: their destructors are not known; the cleanup handlers are.
        if let Some(buffer) = world().fiber().cleanups.pop() {
            _longjmp(buffer, 1);
        }
    }
    crate::thread::finish(result)
}

/// Called for every frame before it is unwound.
unsafe extern "C" fn stop(
    _version: i32,
    actions: i32,
    _class: u64,
    _exception: *mut Exception,
    context: *mut c_void,
    _argument: *mut c_void,
) -> i32 {
    const END_OF_STACK: i32 = 16;
    const GO_ON: i32 = 0;
    let ends = actions & END_OF_STACK != 0;
    // SAFETY: running; a jump buffer that the program filled in a function still active.
    unsafe {
        let fiber = world().fiber();
        if let Some(&buffer) = fiber.cleanups.last()
            && (ends || _Unwind_GetCFA(context) >= stack_pointer(buffer))
        {
            fiber.cleanups.pop();
            _longjmp(buffer, 1);
        }
        if ends {
            let result = fiber.result;
            crate::thread::finish(result);
        }
    }
    GO_ON
}

/// The stack pointer in a jump buffer, which glibc keeps mangled.
unsafe fn stack_pointer(buffer: usize) -> usize {
    const RSP: usize = 6;
    // SAFETY: glibc's layout; its pointer guard is at fs:0x30.
    unsafe {
        let mut pointer = *(buffer as *const usize).add(RSP);
        asm!("ror {0}, 0x11", "xor {0}, fs:[0x30]", inout(reg) pointer, options(nostack, readonly));
        pointer
    }
}

/// A handler caught everything and did not throw on: natively the process ends with a message.
extern "C" fn swallowed(_reason: i32, _exception: *mut Exception) {
    let message = "the exception that ends a thread was caught and not rethrown";
    // SAFETY: running.
    finding::event(unsafe { world() }, FindingKind::Abort, 0, message);
    process::finish(Outcome::Aborted);
}
