// expect: safe
// As crates for atomics of 16 bytes ask for features of the processor: there is none.
use std::arch::asm;
fn features() -> u32 {
    let ecx: u32;
    unsafe {
        asm!(
            "mov r8, rbx",
            "cpuid",
            "xchg r8, rbx",
            out("r8") _,
            inout("eax") 1 => _,
            inout("ecx") 0 => ecx,
            out("edx") _,
            options(nostack, preserves_flags),
        );
    }
    ecx
}
pub fn main() {
    assert_eq!(features() & (1 << 13), 0);
}
