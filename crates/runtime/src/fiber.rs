//! Fibers: saved stacks to switch between, and their thread-local storage.
//!
//! A switch saves the callee-saved registers on the old stack and takes them from the new one; the FS
//! base, which thread-local storage depends on, is changed by the caller with [`set_fs_base`].

use crate::sys;
use std::arch::{asm, global_asm};
use std::sync::atomic::{AtomicU8, Ordering};

unsafe extern "C" {
    /// Saves the current context, its stack pointer to `*save`, and continues the one saved as `resume`.
    pub fn porf_switch(save: *mut usize, resume: usize);
    /// Where a new fiber begins: calls the function in rbx with rbp as argument.
    fn porf_fiber_start();
}

global_asm!(
    ".text",
    ".hidden porf_switch",
    ".globl porf_switch",
    ".type porf_switch,@function",
    "porf_switch:",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "sub rsp, 8",
    "stmxcsr [rsp]",
    "fnstcw [rsp + 4]",
    "mov eax, [rsp]",
    "mov cx, [rsp + 4]",
    "mov [rdi], rsp",
    "mov rsp, rsi",
    // Loading the control registers is slow, and they hardly ever differ.
    "cmp eax, [rsp]",
    "je 2f",
    "ldmxcsr [rsp]",
    "2:",
    "cmp cx, [rsp + 4]",
    "je 3f",
    "fldcw [rsp + 4]",
    "3:",
    "add rsp, 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    "ret",
    ".size porf_switch, .-porf_switch",
    ".hidden porf_fiber_start",
    ".globl porf_fiber_start",
    ".type porf_fiber_start,@function",
    "porf_fiber_start:",
    ".cfi_startproc",
    ".cfi_undefined rip", // unwinding ends here
    "mov rdi, rbp",
    "xor ebp, ebp",
    "call rbx",
    "ud2",
    ".cfi_endproc",
    ".size porf_fiber_start, .-porf_fiber_start",
);

/// Prepares a stack so that switching to the result calls `entry(argument)`, which must not return.
///
/// # Safety
/// `top` is the end of a writable stack.
pub unsafe fn prepare(top: usize, entry: extern "C" fn(usize) -> !, argument: usize) -> usize {
    let top = top & !15;
    let mut control: [u32; 2] = [0x1f80, 0x037f];
    // SAFETY: stores the two control registers.
    unsafe { asm!("stmxcsr [{0}]", "fnstcw [{0} + 4]", in(reg) control.as_mut_ptr()) };
    let frame = [
        u64::from(control[0]) | (u64::from(control[1]) << 32),
        0,
        0,
        0,
        0,
        entry as *const () as u64,
        argument as u64,
        porf_fiber_start as *const () as u64,
    ];
    // At `porf_fiber_start` the stack must be 16-aligned: the frame ends 16 below the top.
    let start = top - 16 - size_of_val(&frame);
    // SAFETY: within the stack.
    unsafe { std::ptr::copy_nonoverlapping(frame.as_ptr(), start as *mut u64, frame.len()) };
    start
}

/// 0 unknown, 1 by instruction, 2 by system call.
static FS_MODE: AtomicU8 = AtomicU8::new(0);

/// # Safety
/// `base` is the thread control block of the main or of a lent thread.
#[inline]
pub unsafe fn set_fs_base(base: usize) {
    if FS_MODE.load(Ordering::Relaxed) == 1 {
        // SAFETY: the kernel announced user-space FSGSBASE.
        unsafe { asm!("wrfsbase {}", in(reg) base, options(nostack, preserves_flags)) };
    } else {
        const ARCH_SET_FS: usize = 0x1002;
        // SAFETY: as above, by system call.
        unsafe { sys::syscall(libc::SYS_arch_prctl, [ARCH_SET_FS, base, 0, 0, 0, 0]) };
    }
}

pub fn fs_base() -> usize {
    let base: usize;
    // SAFETY: the thread control block begins with a pointer to itself.
    unsafe { asm!("mov {}, fs:[0]", out(reg) base, options(nostack, preserves_flags, readonly)) };
    base
}

/// Finds out how the FS base can be set.
pub fn init() {
    const HWCAP2_FSGSBASE: u64 = 2;
    // SAFETY: reads the auxiliary vector.
    let available = unsafe { libc::getauxval(libc::AT_HWCAP2) } & HWCAP2_FSGSBASE != 0;
    FS_MODE.store(if available { 1 } else { 2 }, Ordering::Relaxed);
}
