//! `operator new` and `operator delete`: a program may be linked with another allocator (jemalloc), whose operators and
//! functions belong together. As `malloc` is ours, so must the operators be.
//!
//! A program's own operators come first. Without memory, `new` throws what libstdc++ throws; there is no new-handler. The
//! operators leave no frame of ours behind: what is thrown is thrown where `new` was called.

use crate::heap::{delete, new, new_aligned};

// Null in a program that is not C++.
std::arch::global_asm!(".weak _ZSt17__throw_bad_allocv");

/// `name => function, first register, second register`: a call of the function, which throws if it returns null.
macro_rules! throwing {
    ($($name:ident => $inner:path;)*) => {$(
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub extern "C" fn $name() {
            std::arch::naked_asm!(
                "mov r11, [rsp]",
                "mov [rip + {caller}], r11",
                "cmp dword ptr [rip + {hot}], {pending}",
                "jne 2f",
                "call porf_settle",
                "2:",
                "sub rsp, 8",
                "call {inner}",
                "add rsp, 8",
                "test rax, rax",
                "jz 3f",
                "ret",
                "3:",
                "mov r11, [rip + _ZSt17__throw_bad_allocv@GOTPCREL]",
                "test r11, r11",
                "jz 4f",
                "jmp r11",
                "4:",
                "ud2",
                caller = sym crate::call::CALLER,
                hot = sym crate::world::HOT,
                pending = const crate::world::PENDING,
                inner = sym $inner,
            )
        }
    )*};
}

throwing! {
    _Znwm => new; _Znam => new;
    _ZnwmSt11align_val_t => new_aligned; _ZnamSt11align_val_t => new_aligned;
}

crate::interpose! {
    _ZnwmRKSt9nothrow_t => new; _ZnamRKSt9nothrow_t => new;
    _ZnwmSt11align_val_tRKSt9nothrow_t => new_aligned; _ZnamSt11align_val_tRKSt9nothrow_t => new_aligned;
    _ZdlPv => delete; _ZdaPv => delete; _ZdlPvm => delete; _ZdaPvm => delete;
    _ZdlPvRKSt9nothrow_t => delete; _ZdaPvRKSt9nothrow_t => delete;
    _ZdlPvSt11align_val_t => delete; _ZdaPvSt11align_val_t => delete;
    _ZdlPvmSt11align_val_t => delete; _ZdaPvmSt11align_val_t => delete;
    _ZdlPvSt11align_val_tRKSt9nothrow_t => delete; _ZdaPvSt11align_val_tRKSt9nothrow_t => delete;
}
