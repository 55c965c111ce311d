//! Functions that a program may define for ThreadSanitizer to call.

use std::ffi::c_char;

/// `name = "symbol": type;`: the program's function of this name, if it has one.
macro_rules! optional {
    ($($name:ident = $symbol:literal: $ty:ty;)*) => {
        $(std::arch::global_asm!(concat!(".weak ", $symbol));)*
        $(pub fn $name() -> Option<$ty> {
            let function: usize;
            // SAFETY: reads an address that the linker wrote; null is None.
            unsafe {
                std::arch::asm!(concat!("mov {}, [rip + ", $symbol, "@GOTPCREL]"), out(reg) function);
                std::mem::transmute(function)
            }
        })*
    };
}

type Text = extern "C" fn() -> *const c_char;

optional! {
    default_options = "__tsan_default_options": Text;
    default_suppressions = "__tsan_default_suppressions": Text;
    on_initialize = "__tsan_on_initialize": extern "C" fn();
    on_finalize = "__tsan_on_finalize": extern "C" fn(i32) -> i32;
    on_report = "__tsan_on_report": extern "C" fn(usize);
    on_fork = "__tsan_test_only_on_fork": extern "C" fn();
    malloc_hook = "__sanitizer_malloc_hook": extern "C" fn(usize, usize);
    // `__tsan::OnPotentiallyBlockingRegionBegin` and `…End`: a static object may be waited for.
    may_block = "_ZN6__tsan32OnPotentiallyBlockingRegionBeginEv": extern "C" fn();
    has_blocked = "_ZN6__tsan30OnPotentiallyBlockingRegionEndEv": extern "C" fn();
    free_hook = "__sanitizer_free_hook": extern "C" fn(usize);
}
