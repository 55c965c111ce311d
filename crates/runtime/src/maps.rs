//! The program's own mappings: undone between executions, and their shadow is fresh.
//!
//! Only calls of the program itself come here, not libc's inner ones. Mapped files that are shared with
//! the outside keep what was written to them.

use crate::call::caller;
use crate::interpose;
use crate::plain;
use crate::real;
use crate::sys;
use crate::world::{is_ignoring, is_running, world};
use porf_sample::race::Kind;
use std::ops::Range;

const PAGE: usize = 4096;

/// What an execution mapped and unmapped so far.
#[derive(Default)]
pub struct Maps {
    /// Mapped by this execution and still there, disjoint.
    mapped: Vec<Range<usize>>,
    /// Unmapped by it: the addresses may be given out again, with other contents.
    unmapped: Vec<Range<usize>>,
    /// Unmapped by it, but there when the executions began: only made inaccessible.
    hidden: Vec<Range<usize>>,
    /// Mapped by it in place of what was there when the executions began: the next one needs memory there.
    replaced: Vec<Range<usize>>,
}

impl Maps {
    /// Removes what the execution mapped, and brings back what it unmapped.
    pub fn undo(&mut self) {
        // SAFETY: memory that only the finished execution knew; memory that was accessible when it began.
        unsafe {
            for range in self.mapped.drain(..) {
                sys::syscall(libc::SYS_munmap, [range.start, range.len(), 0, 0, 0, 0]);
            }
            for range in self.replaced.drain(..) {
                let access = (libc::PROT_READ | libc::PROT_WRITE) as usize;
                let flags = (libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as usize;
                sys::syscall(libc::SYS_mmap, [range.start, range.len(), access, flags, usize::MAX, 0]);
            }
            for range in self.hidden.drain(..) {
                let access = (libc::PROT_READ | libc::PROT_WRITE) as usize;
                sys::syscall(libc::SYS_mprotect, [range.start, range.len(), access, 0, 0, 0]);
            }
        }
        self.unmapped.clear();
    }

    fn add(&mut self, new: Range<usize>) {
        cut(&mut self.mapped, &new);
        self.mapped.push(new.clone());
        for old in &self.unmapped {
            let (start, end) = (old.start.max(new.start), old.end.min(new.end));
            if start < end {
                // Other memory now: its past accesses race with nothing.
                crate::heap::forget(start, end - start);
            }
        }
        cut(&mut self.unmapped, &new);
    }

    /// Whether a mapping at this place would replace what was there when the executions began.
    fn would_replace(&self, range: &Range<usize>) -> bool {
        let mut resident = vec![0u8; range.len() / PAGE];
        let place = [range.start, range.len(), resident.as_mut_ptr() as usize, 0, 0, 0];
        // SAFETY: one byte for each page.
        let is_there = unsafe { sys::syscall(libc::SYS_mincore, place) } == 0;
        is_there && !self.is_own(range)
    }

    /// Whether all of the range was mapped by this execution.
    fn is_own(&self, range: &Range<usize>) -> bool {
        let covered: usize = self
            .mapped
            .iter()
            .map(|own| own.end.min(range.end).saturating_sub(own.start.max(range.start)))
            .sum();
        covered == range.len()
    }

    fn remove(&mut self, old: Range<usize>) {
        cut(&mut self.mapped, &old);
        self.unmapped.push(old);
    }
}

/// Takes a range out of a list of ranges.
fn cut(list: &mut Vec<Range<usize>>, gone: &Range<usize>) {
    let mut rest = Vec::new();
    list.retain(|range| {
        let apart = range.end <= gone.start || gone.end <= range.start;
        if !apart {
            rest.push(range.start..gone.start.min(range.end));
            rest.push(gone.end.max(range.start)..range.end);
        }
        apart
    });
    list.extend(rest.into_iter().filter(|range| range.start < range.end));
}

fn pages(address: usize, length: usize) -> Range<usize> {
    address..(address + length).next_multiple_of(PAGE)
}

unsafe extern "C" fn map(
    address: usize,
    length: usize,
    access: i32,
    flags: i32,
    fd: i32,
    offset: i64,
) -> usize {
    let pc = caller();
    plain::takes_time(crate::world::PATIENCE);
    let range = pages(address, length);
    // SAFETY: running, where it is asked.
    let replaces =
        is_running() && flags & libc::MAP_FIXED != 0 && unsafe { world() }.maps.would_replace(&range);
    // SAFETY: the program's own call, passed on with its arguments.
    let result = unsafe {
        real!(mmap(a: usize = address, l: usize = length, p: i32 = access, f: i32 = flags, d: i32 = fd, o: i64 = offset) -> usize)
    };
    if is_running() && result != usize::MAX {
        // SAFETY: running.
        let w = unsafe { world() };
        if !replaces {
            w.maps.add(pages(result, length));
        } else if !w.maps.replaced.contains(&range) {
            w.maps.replaced.push(range);
        }
        // As to allocate is to write (see `crate::heap`), so is to map.
        if w.modules.act_for_program(pc) && !is_ignoring() {
            plain::range(result, length.min(WRITTEN), Kind::Write, pc);
        }
    }
    result
}

/// So much of new memory is written at most.
const WRITTEN: usize = 1 << 16;

unsafe extern "C" fn unmap(address: usize, length: usize) -> i32 {
    if !is_running() || length == 0 || !address.is_multiple_of(PAGE) {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(munmap(a: usize = address, l: usize = length) -> i32) };
    }
    let range = pages(address, length);
    // SAFETY: running.
    let maps = unsafe { &mut world().maps };
    if maps.is_own(&range) {
        maps.remove(range);
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(munmap(a: usize = address, l: usize = length) -> i32) };
    }
    // Memory from before the executions: the next one needs it again.
    maps.hidden.push(range);
    // SAFETY: the program gave the memory up.
    unsafe { real!(mprotect(a: usize = address, l: usize = length, p: i32 = libc::PROT_NONE) -> i32) }
}

unsafe extern "C" fn remap(old: usize, old_length: usize, length: usize, flags: i32, new: usize) -> usize {
    // SAFETY: the program's own call, passed on with its arguments.
    let result = unsafe {
        real!(mremap(a: usize = old, l: usize = old_length, n: usize = length, f: i32 = flags, w: usize = new) -> usize)
    };
    if is_running() && result != usize::MAX {
        // SAFETY: running.
        let maps = unsafe { &mut world().maps };
        maps.remove(pages(old, old_length));
        maps.add(pages(result, length));
    }
    result
}

interpose! { mmap => map; mmap64 => map; munmap => unmap; mremap => remap; }
