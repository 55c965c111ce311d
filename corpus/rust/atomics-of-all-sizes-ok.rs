// expect: safe
use std::sync::atomic::*;
use std::sync::atomic::Ordering::*;
macro_rules! check {
    ($($atomic:ident $integer:ident)*) => { $({
        let cell = $atomic::new($integer::MAX - 1);
        assert_eq!(cell.fetch_add(1, AcqRel), $integer::MAX - 1);
        assert_eq!(cell.fetch_add(1, AcqRel), $integer::MAX);
        assert_eq!(cell.swap(6, SeqCst), $integer::MIN);
        assert_eq!(cell.fetch_nand(3, Relaxed), 6);
        assert_eq!(cell.load(Acquire), !2);
        cell.store(12, Release);
        assert_eq!(cell.fetch_max(40, AcqRel), 12);
        assert_eq!(cell.fetch_min(5, AcqRel), 40);
        assert_eq!(cell.fetch_xor(1, AcqRel), 5);
        assert_eq!(cell.compare_exchange(4, 9, AcqRel, Acquire), Ok(4));
        assert_eq!(cell.compare_exchange(4, 1, AcqRel, Acquire), Err(9));
        assert_eq!(cell.into_inner(), 9);
    })* };
}
pub fn main() {
    check!(AtomicU8 u8 AtomicU16 u16 AtomicU32 u32 AtomicU64 u64 AtomicUsize usize
        AtomicI8 i8 AtomicI16 i16 AtomicI32 i32 AtomicI64 i64 AtomicIsize isize);
    let flag = AtomicBool::new(true);
    assert!(flag.fetch_and(false, AcqRel));
    assert!(!flag.fetch_or(true, AcqRel));
    assert!(flag.fetch_not(AcqRel));
    let (mut a, mut b) = (1, 2);
    let pointer = AtomicPtr::new(&raw mut a);
    let old = pointer.swap(&raw mut b, AcqRel);
    assert_eq!(unsafe { (*old, *pointer.load(Acquire)) }, (1, 2));
}
