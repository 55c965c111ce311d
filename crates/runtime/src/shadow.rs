//! From an address of the program to its shadow cell.
//!
//! One table entry per GiB of address space, each pointing to lazily backed shadow for that GiB.

use crate::sys::{self, Global};
use porf_sample::race::Cell;

const GIB: usize = 1 << 30;
const ENTRIES: usize = 1 << 17;

static TABLE: Global<*mut *mut Cell> = Global::new(std::ptr::null_mut());

pub fn init() {
    // SAFETY: one kernel thread; called once before any access is tracked.
    unsafe { *TABLE.get() = sys::map(ENTRIES * size_of::<*mut Cell>()).cast() };
}

/// The cell of the four bytes around `address`.
#[inline(always)]
pub fn cell(address: usize) -> *mut Cell {
    // SAFETY: the table covers every user-space address; `init` ran before tracking began.
    unsafe {
        let entry = (*TABLE.get()).add((address >> 30) & (ENTRIES - 1));
        let mut region = *entry;
        if region.is_null() {
            region = reserve(entry);
        }
        region.add((address & (GIB - 1)) >> 2)
    }
}

/// Calls `f` with every cell that overlaps `length` bytes from `address`, and the mask of bytes in it.
#[inline]
pub fn for_each(address: usize, length: usize, mut f: impl FnMut(*mut Cell, u8)) {
    let mut at = address;
    let end = address + length;
    while at < end {
        let low = at & 3;
        let count = (4 - low).min(end - at);
        f(cell(at), (((1u16 << count) - 1) << low) as u8);
        at += count;
    }
}

#[cold]
unsafe fn reserve(entry: *mut *mut Cell) -> *mut Cell {
    let region: *mut Cell = sys::map(GIB / 4 * size_of::<Cell>()).cast();
    // SAFETY: `entry` is within the table.
    unsafe { *entry = region };
    region
}
