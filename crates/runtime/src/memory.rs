//! The Rust heap of the runtime: memory that is not rolled back between executions.
//!
//! Size classes as in the program's heap ([`crate::heap::class`]), from a reserved region, one free list each. Small
//! blocks are never returned to the system. The pages of a large block are, when it is freed, and when it grows they
//! are moved, not copied: a table with an entry for every object of the program costs no more than its entries.

use crate::heap::{CLASSES, class};
use crate::sys::{self, Global};
use std::alloc::{GlobalAlloc, Layout};

struct Keep;

#[global_allocator]
static HEAP: Keep = Keep;

const RESERVED: usize = 1 << 38;
const PAGE: usize = 4096;
/// Blocks of at least so many bytes consist of pages.
const LARGE: usize = 1 << 20;

/// Bookkeeping lives at the start of the region itself: `.bss` is rolled back.
#[repr(C)]
struct Region {
    next: usize,
    end: usize,
    free: [usize; CLASSES],
    /// For what needs more than 16 bytes of alignment: powers of two.
    free_aligned: [usize; 48],
}

static REGION: Global<*mut Region> = Global::new(std::ptr::null_mut());

fn own_region() -> *mut Region {
    // SAFETY: one kernel thread.
    unsafe {
        if (*REGION.get()).is_null() {
            let region = sys::map(RESERVED).cast::<Region>();
            (*region).next = region as usize + size_of::<Region>().next_multiple_of(64);
            (*region).end = region as usize + RESERVED;
            *REGION.get() = region;
        }
        *REGION.get()
    }
}

/// The free list for such blocks, their size and their alignment.
unsafe fn list(region: *mut Region, layout: Layout) -> (*mut usize, usize, usize) {
    // SAFETY: indices of the region's own lists.
    unsafe {
        if layout.align() > 16 {
            let room = layout.size().max(layout.align()).next_power_of_two();
            let list = &raw mut (*region).free_aligned[room.trailing_zeros() as usize];
            return (list, room, room.min(PAGE));
        }
        let (class, room) = class(layout.size());
        (&raw mut (*region).free[class], room, if room >= LARGE { PAGE } else { 16 })
    }
}

// SAFETY: blocks are disjoint and aligned as asked for, and one kernel thread uses them.
unsafe impl GlobalAlloc for Keep {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let region = own_region();
        // SAFETY: see the implementation's note.
        unsafe {
            let (list, room, align) = list(region, layout);
            let head = *list;
            if head != 0 {
                *list = *(head as *const usize);
                return head as *mut u8;
            }
            let start = (*region).next.next_multiple_of(align);
            if start + room > (*region).end {
                sys::fail("porf: the sampler's own memory is exhausted\n");
            }
            (*region).next = start + room;
            start as *mut u8
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block came from `alloc` with the same layout.
        unsafe {
            let (list, room, _) = list(own_region(), layout);
            if room >= LARGE && layout.align() <= PAGE {
                let gone = libc::MADV_DONTNEED as usize;
                sys::syscall(libc::SYS_madvise, [block as usize, room, gone, 0, 0, 0]);
            }
            *block.cast::<usize>() = *list;
            *list = block as usize;
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: both blocks are ours; whole pages move from the old one to the new one, which is larger.
        unsafe {
            let Ok(wanted) = Layout::from_size_align(size, layout.align()) else {
                return std::ptr::null_mut();
            };
            let (old, old_room, _) = list(own_region(), layout);
            let (new, new_room, _) = list(own_region(), wanted);
            if old == new {
                return block;
            }
            let moved = self.alloc(wanted);
            if old_room >= LARGE && new_room >= old_room && layout.align() <= 16 {
                let flags = (libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED) as usize;
                let pages = [block as usize, old_room, old_room, flags, moved as usize, 0];
                if sys::syscall(libc::SYS_mremap, pages) == moved as isize {
                    if sys::map_at(block as usize, old_room).is_none() {
                        sys::fail("porf: the sampler's own memory is lost\n");
                    }
                    *block.cast::<usize>() = *old;
                    *old = block as usize;
                    return moved;
                }
            }
            std::ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
            self.dealloc(block, layout);
            moved
        }
    }
}
