//! Where an address is: in the heap, on a thread's stack, in a variable. For debuggers and programs that ask.
//!
//! Cost: a walk through the heap, or through the symbols of a file.

use crate::heap;
use crate::modules;
use crate::sys;
use crate::world::{is_initialised, world};
use porf_event::ThreadId;
use std::ffi::{CStr, c_char};

/// Memory that belongs together.
pub struct Region {
    pub sort: &'static CStr,
    pub start: usize,
    pub size: usize,
    /// Whose stack it is.
    pub thread: Option<ThreadId>,
    pub name: String,
}

/// The region of an address; None if nothing is known of it.
pub fn region(address: usize) -> Option<Region> {
    if let Some((start, size)) = heap::block_at(address) {
        return Some(Region { sort: c"heap", start, size, thread: None, name: String::new() });
    }
    if let Some((start, size, thread)) = stack_at(address) {
        return Some(Region { sort: c"stack", start, size, thread: Some(thread), name: String::new() });
    }
    let (file, place) = modules::file_at(address)?;
    let (name, offset, size) = variable_at(&file, place).unwrap_or_default();
    Some(Region { sort: c"global", start: address - offset, size, thread: None, name })
}

/// The stack of a thread; of the first thread, what the kernel calls so.
fn stack_at(address: usize) -> Option<(usize, usize, ThreadId)> {
    if is_initialised() {
        // SAFETY: initialised.
        let w = unsafe { world() };
        for thread in w.threads().skip(1) {
            let fiber = &w.fibers[thread.as_usize()];
            if (fiber.stack..fiber.stack + fiber.stack_size).contains(&address) {
                return Some((fiber.stack, fiber.stack_size, thread));
            }
        }
    }
    let text = String::from_utf8(sys::read_file("/proc/self/maps")?).ok()?;
    let line = text.lines().find(|line| line.ends_with("[stack]"))?;
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    let [start, end] = [start, end].map(|number| usize::from_str_radix(number, 16).unwrap_or(0));
    (start..end).contains(&address).then_some((start, end - start, ThreadId(0)))
}

/// The variable at a place of a file: its name, how far into it the place is, and its size. From the file's table of
/// symbols (ELF, 64 bits).
fn variable_at(file: &str, place: usize) -> Option<(String, usize, usize)> {
    const SYMBOLS: u32 = 2;
    const OBJECT: u8 = 1;
    const ENTRY: usize = 24;
    let bytes = sys::read_file(file)?;
    let number = |at: usize, length: usize| -> Option<usize> {
        let part = bytes.get(at..at + length)?;
        Some(part.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte)))
    };
    let (sections, size, count) = (number(40, 8)?, number(58, 2)?, number(60, 2)?);
    let section = |index: usize| {
        let at = sections + index * size;
        // Type, beginning, length, and the section that it refers to.
        Some((number(at + 4, 4)? as u32, number(at + 24, 8)?, number(at + 32, 8)?, number(at + 40, 4)?))
    };
    let (_, start, length, strings) = (0..count).filter_map(section).find(|&(sort, ..)| sort == SYMBOLS)?;
    let (_, names, ..) = section(strings)?;
    (start..start + length).step_by(ENTRY).find_map(|at| {
        let (name, sort) = (number(at, 4)?, number(at + 4, 1)? as u8 & 15);
        let (value, size) = (number(at + 8, 8)?, number(at + 16, 8)?);
        if sort != OBJECT || !(value..value + size).contains(&place) {
            return None;
        }
        let name = CStr::from_bytes_until_nul(bytes.get(names + name..)?).ok()?;
        Some((name.to_string_lossy().into_owned(), place - value, size))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_locate_address(
    address: usize,
    name: *mut u8,
    room: usize,
    start: *mut usize,
    size: *mut usize,
) -> *const c_char {
    let Some(region) = region(address) else { return c"".as_ptr() };
    // SAFETY: the caller's pointers, and its array of so many bytes.
    unsafe {
        if !name.is_null() && room > 0 {
            let length = region.name.len().min(room - 1);
            std::ptr::copy_nonoverlapping(region.name.as_ptr(), name, length);
            *name.add(length) = 0;
        }
        if !start.is_null() {
            *start = region.start;
        }
        if !size.is_null() {
            *size = region.size;
        }
    }
    region.sort.as_ptr()
}

/// By whom the block was allocated that an address lies in: how many calls are told, and the thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_get_alloc_stack(
    address: usize,
    trace: *mut usize,
    room: usize,
    thread: *mut i32,
    system: *mut u64,
) -> i32 {
    let Some(allocation) = heap::allocation_at(address) else { return 0 };
    let calls = allocation.calls.iter().take_while(|&&call| call != 0).take(room);
    // SAFETY: the caller's pointers, and its array of so many places.
    unsafe {
        calls.clone().enumerate().for_each(|(place, &call)| *trace.add(place) = call);
        *thread = i32::from(allocation.thread.0);
        *system = crate::identity::number_of(allocation.thread) as u64;
    }
    calls.count() as i32
}
