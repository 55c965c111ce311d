// expect: safe
use std::mem::MaybeUninit;
pub fn main() {
    let mut slots: [MaybeUninit<u32>; 4] = [const { MaybeUninit::uninit() }; 4];
    slots[2].write(7);
    let copy = slots;
    assert_eq!(unsafe { copy[2].assume_init() }, 7);
}
