//! The Rust heap of the runtime: memory that is not rolled back between executions.
//!
//! Powers of two from a reserved region, one free list each. Never returned to the system.

use crate::sys::{self, Global};
use std::alloc::{GlobalAlloc, Layout};

struct Keep;

#[global_allocator]
static HEAP: Keep = Keep;

const RESERVED: usize = 1 << 36;

/// Bookkeeping lives at the start of the region itself: `.bss` is rolled back.
#[repr(C)]
struct Region {
    next: usize,
    end: usize,
    free: [usize; 48],
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

fn class(layout: Layout) -> usize {
    layout.size().max(layout.align()).max(16).next_power_of_two().trailing_zeros() as usize
}

// SAFETY: blocks are disjoint, aligned to their power-of-two size class, and one kernel thread uses them.
unsafe impl GlobalAlloc for Keep {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let class = class(layout);
        let region = own_region();
        // SAFETY: see the implementation's note.
        unsafe {
            let head = (*region).free[class];
            if head != 0 {
                (*region).free[class] = *(head as *const usize);
                return head as *mut u8;
            }
            let start = (*region).next.next_multiple_of((1 << class).min(4096));
            if start + (1 << class) > (*region).end {
                sys::fail("porf: the sampler's own memory is exhausted\n");
            }
            (*region).next = start + (1 << class);
            start as *mut u8
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let class = class(layout);
        let region = own_region();
        // SAFETY: the block came from `alloc` with the same class.
        unsafe {
            *block.cast::<usize>() = (*region).free[class];
            (*region).free[class] = block as usize;
        }
    }
}
