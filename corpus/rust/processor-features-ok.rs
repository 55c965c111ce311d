// expect: safe
// Code that asks which extensions the processor has takes the way without them.
use std::arch::x86_64::{__cpuid, __cpuid_count};

pub fn main() {
    // SAFETY: every x86-64 processor has the instruction.
    let (first, features) = unsafe { (__cpuid(0), __cpuid_count(7, 0)) };
    assert!(first.eax == 0 && features.ebx == 0);
    assert!(!std::is_x86_feature_detected!("avx2"));
}
