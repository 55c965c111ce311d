//! From an address of the program to its shadow cell.
//!
//! One table entry per GiB of address space, each pointing to lazily backed shadow for that GiB.

use crate::sys::{self, Global};
use porf_sample::race::Cell;

const GIB: usize = 1 << 30;
const ENTRIES: usize = 1 << 17;

const PAGE: usize = 4096;
/// Bytes of the shadow of one GiB.
const LENGTH: usize = GIB / 4 * size_of::<Cell>();
/// Bytes of the program whose shadow is a page.
const COVERED: usize = PAGE / size_of::<Cell>() * 4;
/// So many pages are looked at together.
const CHUNK: usize = 1024;

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

/// Calls `f` with the cells of `length` bytes from `address`, in rows of which the access has the same bytes: one mask
/// for all cells of a row.
#[inline]
pub fn for_each_row(address: usize, length: usize, mut f: impl FnMut(&mut [Cell], u8)) {
    let mut at = address;
    let end = address + length;
    while at < end {
        let low = at & 3;
        let whole = (end.min((at / GIB + 1) * GIB) - at) / 4;
        let (count, bytes) = if low == 0 && whole > 0 { (whole, 4) } else { (1, (4 - low).min(end - at)) };
        // SAFETY: one kernel thread; the cells of one GiB are adjacent, and nobody else has a reference.
        let row = unsafe { std::slice::from_raw_parts_mut(cell(at), count) };
        f(row, (((1u16 << bytes) - 1) << low) as u8);
        at += bytes + 4 * (count - 1);
    }
}

/// Makes the cells of a long range untouched and gives their memory back. Before that, `forget` gets the parts of the
/// range that have a shadow at all.
pub fn discard(start: usize, length: usize, mut forget: impl FnMut(usize, usize)) {
    let (first, last) = (start.next_multiple_of(COVERED), (start + length) / COVERED * COVERED);
    forget(start, first.min(start + length) - start);
    let mut at = first;
    while at < last {
        let end = last.min(at + CHUNK * COVERED).min((at / GIB + 1) * GIB);
        // SAFETY: pages of the shadow, which are ours; zeroed cells are untouched ones.
        unsafe {
            if !(*(*TABLE.get()).add((at >> 30) & (ENTRIES - 1))).is_null() {
                let (shadow, pages) = (cell(at) as usize, (end - at) / COVERED);
                let resident = resident(shadow, pages);
                for page in (0..pages).filter(|&page| resident[page] & 1 != 0) {
                    forget(at + page * COVERED, COVERED);
                }
                give_back(shadow, pages);
            }
        }
        at = end;
    }
    if last >= first {
        forget(last, start + length - last);
    }
}

/// Calls `f` with the cells of each page of the shadow that may have been touched, and gives the page back if the answer is
/// that none of them is.
pub fn for_each_page(f: &mut dyn FnMut(&mut [Cell]) -> bool) {
    // SAFETY: one kernel thread; the table covers all, and nobody else has a reference to a cell.
    unsafe {
        for entry in 0..ENTRIES {
            let region = *(*TABLE.get()).add(entry);
            if region.is_null() {
                continue;
            }
            for chunk in (0..LENGTH / PAGE).step_by(CHUNK) {
                let start = region as usize + chunk * PAGE;
                let resident = resident(start, CHUNK);
                for page in (0..CHUNK).filter(|&page| resident[page] & 1 != 0) {
                    let first = (start + page * PAGE) as *mut Cell;
                    let cells = std::slice::from_raw_parts_mut(first, PAGE / size_of::<Cell>());
                    if !f(cells) {
                        give_back(first as usize, 1);
                    }
                }
            }
        }
    }
}

/// Makes all cells untouched.
pub fn clear() {
    // SAFETY: one kernel thread; the shadow of every GiB is as long.
    unsafe {
        for entry in 0..ENTRIES {
            let region = *(*TABLE.get()).add(entry);
            if !region.is_null() {
                give_back(region as usize, LENGTH / PAGE);
            }
        }
    }
}

/// Which pages are there, from `start` on.
unsafe fn resident(start: usize, pages: usize) -> [u8; CHUNK] {
    let mut resident = [0u8; CHUNK];
    let vector = resident.as_mut_ptr() as usize;
    // SAFETY: asks about pages of the shadow.
    unsafe { sys::syscall(libc::SYS_mincore, [start, pages * PAGE, vector, 0, 0, 0]) };
    resident
}

/// These pages are all zeros from now on.
unsafe fn give_back(start: usize, pages: usize) {
    let gone = libc::MADV_DONTNEED as usize;
    // SAFETY: pages of the shadow, which are ours; zeroed cells are untouched ones.
    unsafe { sys::syscall(libc::SYS_madvise, [start, pages * PAGE, gone, 0, 0, 0]) };
}

/// The end of the shadow that was reserved last.
static LAST_END: Global<usize> = Global::new(0);

#[cold]
unsafe fn reserve(entry: *mut *mut Cell) -> *mut Cell {
    // SAFETY: one kernel thread; `entry` is within the table.
    unsafe {
        // Some programs count their mappings.
        let region = sys::map_behind(*LAST_END.get(), LENGTH).unwrap_or_else(|| sys::map(LENGTH));
        *LAST_END.get() = region as usize + LENGTH;
        *entry = region.cast();
        region.cast()
    }
}
