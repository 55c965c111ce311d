//! Call stacks: the compilers announce every function's entry and exit.
//!
//! Also the way in for all callbacks that need to know their caller: [`entry!`] keeps the return
//! address, which Rust cannot ask for, in [`CALLER`].

use crate::sys::Global;
use crate::world::{HOT, World};
use porf_event::ThreadId;

/// Calls remembered per thread; deeper ones are counted, not kept.
pub const DEPTH: usize = 1024;

/// Where the last callback was called from.
pub static CALLER: Global<usize> = Global::new(0);

/// The main thread's calls: rolled back with it.
static MAIN: Global<[usize; DEPTH]> = Global::new([0; DEPTH]);

/// `entry!(name => inner)`: a C function that notes its return address and continues as `inner`.
#[macro_export]
macro_rules! entry {
    ($($name:ident => $inner:path;)*) => {$(
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub extern "C" fn $name() {
            std::arch::naked_asm!(
                "mov r11, [rsp]",
                "mov [rip + {caller}], r11",
                "jmp {inner}",
                caller = sym $crate::call::CALLER,
                inner = sym $inner,
            )
        }
    )*};
}

/// As [`entry!`], for functions of libc: a volatile access that waits to be completed is completed first,
/// whatever the function does with the memory.
#[macro_export]
macro_rules! interpose {
    ($($name:ident => $inner:path;)*) => {$(
        // A program with a function of this name calls ours by this one.
        std::arch::global_asm!(
            concat!(".globl __interceptor_", stringify!($name)),
            concat!(".set __interceptor_", stringify!($name), ", ", stringify!($name)),
        );
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
                "jmp {inner}",
                caller = sym $crate::call::CALLER,
                hot = sym $crate::world::HOT,
                pending = const $crate::world::PENDING,
                inner = sym $inner,
            )
        }
    )*};
}

// Completes the pending access and keeps every register that may hold an argument.
std::arch::global_asm!(
    ".text",
    ".hidden porf_settle",
    ".globl porf_settle",
    ".type porf_settle,@function",
    "porf_settle:",
    "push rdi",
    "push rsi",
    "push rdx",
    "push rcx",
    "push r8",
    "push r9",
    "push rax",
    "sub rsp, 136",
    "movups [rsp], xmm0",
    "movups [rsp + 16], xmm1",
    "movups [rsp + 32], xmm2",
    "movups [rsp + 48], xmm3",
    "movups [rsp + 64], xmm4",
    "movups [rsp + 80], xmm5",
    "movups [rsp + 96], xmm6",
    "movups [rsp + 112], xmm7",
    "call {settle}",
    "movups xmm0, [rsp]",
    "movups xmm1, [rsp + 16]",
    "movups xmm2, [rsp + 32]",
    "movups xmm3, [rsp + 48]",
    "movups xmm4, [rsp + 64]",
    "movups xmm5, [rsp + 80]",
    "movups xmm6, [rsp + 96]",
    "movups xmm7, [rsp + 112]",
    "add rsp, 136",
    "pop rax",
    "pop r9",
    "pop r8",
    "pop rcx",
    "pop rdx",
    "pop rsi",
    "pop rdi",
    "ret",
    ".size porf_settle, .-porf_settle",
    settle = sym settle,
);

extern "C" fn settle() {
    // SAFETY: called while an access is pending, hence while running.
    unsafe { crate::plain::complete_pending() };
}

#[inline(always)]
pub fn caller() -> usize {
    // SAFETY: one kernel thread.
    unsafe { *CALLER.get() }
}

pub fn init() {
    // SAFETY: before the program's own code runs.
    unsafe {
        let main = MAIN.get().cast::<usize>();
        (*HOT.get()).calls = main;
        (*HOT.get()).calls_limit = main.add(DEPTH);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_func_entry(pc: usize) {
    // SAFETY: one kernel thread; the write is within the buffer.
    unsafe {
        let hot = HOT.get();
        let calls = (*hot).calls;
        if calls < (*hot).calls_limit {
            *calls = pc;
        }
        (*hot).calls = calls.wrapping_add(1);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_func_exit() {
    // SAFETY: one kernel thread.
    unsafe { (*HOT.get()).calls = (*HOT.get()).calls.wrapping_sub(1) };
}

/// The calls of a thread, innermost first, below `pc`.
pub fn stack_of(world: &World, thread: ThreadId, pc: usize, mut frame: impl FnMut(usize)) {
    if pc != 0 {
        frame(pc);
    }
    calls_of(world, thread).iter().rev().for_each(|&call| frame(call));
}

/// The same for as many as there is room for; how many that are.
pub fn innermost(world: &World, thread: ThreadId, pc: usize, room: &mut [usize]) -> usize {
    let first = (pc != 0).then_some(pc);
    let calls = first.into_iter().chain(calls_of(world, thread).iter().rev().copied());
    let mut count = 0;
    for (to, call) in room.iter_mut().zip(calls) {
        *to = call;
        count += 1;
    }
    count
}

/// The calls of a thread, outermost first.
fn calls_of(world: &World, thread: ThreadId) -> &[usize] {
    // SAFETY: within the thread's buffer.
    unsafe {
        let hot = HOT.get();
        let fiber = &world.fibers[thread.as_usize()];
        let start = if thread == ThreadId(0) { MAIN.get() as usize } else { fiber.calls.as_ptr() as usize };
        let top = if thread == world.current { (*hot).calls as usize } else { fiber.calls_top };
        // The calls of a fiber of the program's own lie elsewhere.
        let (start, top) = crate::coroutine::calls(fiber.coroutine, start, top);
        let depth = (top.saturating_sub(start) / size_of::<usize>()).min(DEPTH);
        std::slice::from_raw_parts(start as *const usize, depth)
    }
}
