//! What a program asks about a finding while `__tsan_on_report` tells it of one, as debuggers do too.
//!
//! The report is the record of the finding. The program's function runs outside of the execution: nothing that it
//! does is scheduled or checked. Of the earlier access of a race the place is known, not yet its calls.
//!
//! Limits: who created a thread, locks that were held and calls of `sleep` are not told.

use crate::allocation::DEPTH;
use crate::hooks;
use crate::locate::{self, Region};
use crate::sys::Global;
use crate::world::{HOT, IDLE, State, world};
use porf_event::ThreadId;
use porf_sample::protocol::{ALLOCATION, Finding, FindingKind, NO_ACCESS, Stack};
use porf_sample::race::Kind;
use std::ffi::{CStr, c_char};

/// The finding that the program is being told of.
static CURRENT: Global<usize> = Global::new(0);

/// Tells the program of a finding, if it wants to know.
pub fn tell(finding: *const Finding) {
    let Some(function) = hooks::on_report() else { return };
    // SAFETY: one kernel thread; nothing is scheduled until the state is back.
    unsafe {
        if *CURRENT.get() != 0 {
            return;
        }
        *CURRENT.get() = finding as usize;
        let state = std::mem::replace(&mut (*HOT.get()).state, IDLE);
        function(finding as usize);
        (*HOT.get()).state = state;
        *CURRENT.get() = 0;
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __tsan_get_current_report() -> usize {
    // SAFETY: one kernel thread.
    unsafe { *CURRENT.get() }
}

/// ThreadSanitizer's word for a sort of finding.
fn description(finding: &Finding) -> &'static CStr {
    let message = CStr::from_bytes_until_nul(&finding.message).unwrap_or_default().to_bytes();
    match FindingKind::from_number(finding.kind) {
        Some(FindingKind::Race) => c"data-race",
        Some(FindingKind::UseAfterFree) => c"heap-use-after-free",
        Some(FindingKind::Leak) => c"thread-leak",
        Some(FindingKind::Order) => c"lock-order-inversion",
        Some(FindingKind::Signal) if message.ends_with(b"errno") => c"errno-in-signal-handler",
        Some(FindingKind::Signal) => c"signal-unsafe-call",
        Some(FindingKind::Lock) if message.starts_with(b"destruction") => c"locked-mutex-destroy",
        Some(FindingKind::Lock) if message.starts_with(b"use of") => c"mutex-invalid-access",
        Some(FindingKind::Lock) => c"mutex-bad-unlock",
        _ => c"other",
    }
}

impl Report<'_> {
    fn stacks(&self) -> &[Stack] {
        &self.0.stacks[..self.0.stack_count as usize]
    }

    fn accesses(&self) -> impl Iterator<Item = &Stack> {
        self.stacks().iter().filter(|stack| !matches!(stack.access, NO_ACCESS | ALLOCATION))
    }

    /// The threads, each once.
    fn threads(&self) -> Vec<ThreadId> {
        let mut threads: Vec<ThreadId> = Vec::new();
        for stack in self.stacks() {
            if !threads.contains(&stack.thread) {
                threads.push(stack.thread);
            }
        }
        threads
    }

    fn region(&self) -> Option<Region> {
        let address = self.0.address as usize;
        (address != 0).then(|| locate::region(address)).flatten()
    }
}

struct Report<'a>(&'a Finding);

unsafe fn report<'a>(report: *const Finding) -> Report<'a> {
    // SAFETY: the caller got it from us.
    Report(unsafe { &*report })
}

/// Writes where the caller wants it, if it does.
unsafe fn put<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: the caller's pointer.
        unsafe { *to = value };
    }
}

unsafe fn put_trace(to: *mut usize, room: usize, frames: &[u64]) {
    // SAFETY: the caller's array of so many places.
    unsafe {
        if !to.is_null() {
            for place in 0..room {
                *to.add(place) = frames.get(place).map_or(0, |&frame| frame as usize);
            }
        }
    }
}

fn frames(stack: &Stack) -> &[u64] {
    &stack.frames[..stack.length as usize]
}

type Out<T> = *mut T;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_get_report_data(
    of: *const Finding,
    text: Out<*const c_char>,
    count: Out<i32>,
    stacks: Out<i32>,
    accesses: Out<i32>,
    locations: Out<i32>,
    mutexes: Out<i32>,
    threads: Out<i32>,
    unique: Out<i32>,
    sleep: Out<usize>,
    room: usize,
) -> i32 {
    // SAFETY: a report, and the caller's pointers.
    unsafe {
        let report = report(of);
        put(text, description(report.0).as_ptr());
        put(count, 0);
        let own = report.stacks().iter().filter(|stack| stack.access == NO_ACCESS).count();
        put(stacks, own as i32);
        put(accesses, report.accesses().count() as i32);
        put(locations, report.region().is_some() as i32);
        put(mutexes, 0);
        put(threads, report.threads().len() as i32);
        put(unique, report.threads().len() as i32);
        put_trace(sleep, room, &[]);
    }
    1
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_get_report_tag(_: *const Finding, tag: Out<usize>) -> i32 {
    // SAFETY: the caller's pointer.
    unsafe { put(tag, 0) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_get_report_stack(
    of: *const Finding,
    index: usize,
    trace: Out<usize>,
    room: usize,
) -> i32 {
    // SAFETY: a report, and the caller's array.
    unsafe {
        let report = report(of);
        let own = report.stacks().iter().filter(|stack| stack.access == NO_ACCESS).nth(index);
        put_trace(trace, room, own.map_or(&[], frames));
        own.is_some() as i32
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_get_report_mop(
    of: *const Finding,
    index: usize,
    thread: Out<i32>,
    address: Out<usize>,
    size: Out<i32>,
    writes: Out<i32>,
    atomic: Out<i32>,
    trace: Out<usize>,
    room: usize,
) -> i32 {
    // SAFETY: a report, and the caller's pointers.
    unsafe {
        let report = report(of);
        let Some(stack) = report.accesses().nth(index) else { return 0 };
        let kind = Kind::from_number(stack.access);
        put(thread, i32::from(stack.thread.0));
        put(address, report.0.address as usize);
        put(size, report.0.size as i32);
        put(writes, kind.writes() as i32);
        put(atomic, kind.is_atomic() as i32);
        put_trace(trace, room, frames(stack));
    }
    1
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_get_report_loc(
    of: *const Finding,
    index: usize,
    sort: Out<*const c_char>,
    address: Out<usize>,
    start: Out<usize>,
    size: Out<usize>,
    thread: Out<i32>,
    descriptor: Out<i32>,
    suppressable: Out<i32>,
    trace: Out<usize>,
    room: usize,
) -> i32 {
    // SAFETY: a report, and the caller's pointers.
    unsafe {
        let report = report(of);
        let Some(region) = report.region().filter(|_| index == 0) else { return 0 };
        put(sort, region.sort.as_ptr());
        put(address, report.0.address as usize);
        put(start, region.start);
        put(size, region.size);
        put(thread, region.thread.map_or(0, |thread| i32::from(thread.0)));
        put(descriptor, -1);
        put(suppressable, 0);
        let allocation = crate::heap::allocation_at(report.0.address as usize);
        let calls = allocation.map_or([0; DEPTH], |allocation| allocation.calls.map(|call| call as u64));
        put_trace(trace, room, &calls);
    }
    1
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_get_report_loc_object_type(
    _: *const Finding,
    _: usize,
    text: Out<*const c_char>,
) -> i32 {
    // SAFETY: the caller's pointer.
    unsafe { put(text, c"".as_ptr()) };
    1
}

/// There are none, see above.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_get_report_mutex(
    _: *const Finding,
    _: usize,
    _: Out<usize>,
    _: Out<usize>,
    _: Out<i32>,
    _: Out<usize>,
    _: usize,
) -> i32 {
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_get_report_thread(
    of: *const Finding,
    index: usize,
    thread: Out<i32>,
    system: Out<u64>,
    running: Out<i32>,
    name: Out<*const c_char>,
    parent: Out<i32>,
    trace: Out<usize>,
    room: usize,
) -> i32 {
    // SAFETY: a report, and the caller's pointers; initialised.
    unsafe {
        let report = report(of);
        let Some(&which) = report.threads().get(index) else { return 0 };
        let fiber = &world().fibers[which.as_usize()];
        put(thread, i32::from(which.0));
        put(system, u64::from(which.0));
        put(running, (fiber.state != State::Finished) as i32);
        put(name, c"".as_ptr());
        put(parent, 0);
        let created: Vec<u64> = fiber.created.iter().map(|&frame| frame as u64).collect();
        put_trace(trace, room, &created);
    }
    1
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_get_report_unique_tid(
    of: *const Finding,
    index: usize,
    thread: Out<i32>,
) -> i32 {
    // SAFETY: a report, and the caller's pointer.
    unsafe {
        let threads = report(of).threads();
        let Some(which) = threads.get(index) else { return 0 };
        put(thread, i32::from(which.0));
    }
    1
}
