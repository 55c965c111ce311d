//! Threads: creation, end, joining, cancellation, thread-specific data; POSIX and C11.

use crate::call::caller;
use crate::fiber;
use crate::finding;
use crate::interpose;
use crate::openmp::Member;
use crate::real;
use crate::repeat;
use crate::sys::{self, Global};
use crate::unwind::leave;
use crate::world::{
    Fiber, State, Step, block, give_way_as, is_running, run_other, visible, visible_as, world,
};
use libc::{EDEADLK, EINVAL, ESRCH, pthread_t};
use porf_event::ThreadId;
use porf_sample::protocol::Did;
use porf_sample::scheduler::Scheduler;
use porf_sample::scheduler::systematic::Op;
use std::ffi::c_void;

#[derive(Clone, Copy)]
pub enum Start {
    Posix(extern "C" fn(usize) -> usize),
    C11(extern "C" fn(usize) -> i32),
}

const STACK: usize = 8 << 20;
pub const JOINING: &str = "for a thread to end";
const CANCELED: usize = usize::MAX;

/// There are to be threads: executions begin if they did not yet.
pub fn begin() {
    if !crate::world::is_initialised() {
        crate::process::init_late();
    }
    if !is_running() {
        repeat::begin();
    }
}

/// Creates a thread of a team.
pub fn create_member(function: extern "C" fn(usize) -> usize, member: Member) {
    let mut thread: pthread_t = 0;
    create(&mut thread, Start::Posix(function), 0, true, 0, member);
}

/// Creates a thread; `out` is written before it can run.
fn create(
    out: *mut pthread_t,
    start: Start,
    argument: usize,
    detached: bool,
    stack_size: usize,
    member: Member,
) {
    begin();
    let pc = caller();
    // SAFETY: running.
    let w = unsafe { world() };
    let index = w.fiber_count;
    if index >= usize::from(u16::MAX) {
        crate::world::give_up("porf: more than 65,534 threads in one execution\n");
    }
    if w.lenders.iter().all(|lender| lender.used) {
        repeat::need_lender();
    }
    // SAFETY: running.
    let w = unsafe { world() };
    let lender = w.lenders.iter().position(|lender| !lender.used).expect("there is one now");
    w.lenders[lender].used = true;
    w.lenders[lender].renew();
    // The first thread is alone again: what it waited for before is over.
    if w.lenders.iter().filter(|lender| lender.used).count() == 1 {
        (w.awaited, w.haste) = (0, 0);
    }
    if index == w.fibers.len() {
        w.fibers.push(Fiber::new());
    }
    if w.fibers[index].stack_size < stack_size.max(STACK) {
        // A smaller one of an earlier execution is left alone: it is backed only where it was used.
        w.fibers[index].stack_size = stack_size.max(STACK).next_multiple_of(4096);
        w.fibers[index].stack = sys::map(w.fibers[index].stack_size) as usize;
    }
    w.changed();
    crate::trace::event(w, Did::Start, index);
    let thread = w.engine.create_thread(w.current);
    debug_assert_eq!(thread.as_usize(), index);
    w.fiber_count += 1;
    let fs = w.lenders[lender].fs;
    let mask = w.fiber().mask;
    let (frames, depth) = finding::frames(w, w.current, pc);
    let fiber = &mut w.fibers[index];
    fiber.reset();
    fiber.fs = fs;
    fiber.mask = mask;
    fiber.lender = lender;
    fiber.start = Some(start);
    fiber.argument = argument;
    fiber.detached = detached;
    fiber.member = member;
    fiber.life = (w.steps, u64::MAX);
    fiber.created.extend_from_slice(&frames[..depth]);
    // SAFETY: the stack is the fiber's own.
    fiber.context = unsafe { fiber::prepare(fiber.stack + fiber.stack_size, run, index) };
    w.runnable.push(thread);
    w.refresh();
    // SAFETY: one kernel thread; `out` is the caller's.
    unsafe {
        *out = fs as pthread_t;
        *crate::call::CALLER.get() = pc;
    }
    // SAFETY: running.
    if unsafe { world() }.scheduler.created() {
        visible(Step::Other);
    }
}

extern "C" fn run(index: usize) -> ! {
    if crate::signal::are_waiting() {
        crate::signal::deliver();
    }
    // SAFETY: running, as this fiber.
    let (start, argument) = unsafe {
        let fiber = &world().fibers[index];
        (fiber.start, fiber.argument)
    };
    let result = match start.expect("a fiber is created with its function") {
        Start::Posix(function) => function(argument),
        Start::C11(function) => function(argument) as isize as usize,
    };
    finish(result)
}

/// Ends the running thread.
pub fn finish(result: usize) -> ! {
    run_destructors();
    crate::annotate::check_ended();
    // SAFETY: running.
    let keeps_locks = !unsafe { world() }.fiber().held.is_empty();
    visible_as(Step::Other, if keeps_locks { Op::Any } else { Op::Local });
    // SAFETY: running.
    let w = unsafe { world() };
    let current = w.current;
    w.changed();
    w.abandon_locks(current);
    crate::trace::event(w, Did::End, 0);
    w.engine.finish_thread(current);
    let steps = w.steps;
    let fiber = w.fiber();
    fiber.life.1 = steps;
    fiber.result = result;
    fiber.state = State::Finished;
    let (detached, lender) = (fiber.detached, fiber.lender);
    if detached && lender != usize::MAX {
        w.lenders[lender].used = false;
    }
    w.runnable.retain(|&thread| thread != current);
    for thread in w.threads() {
        if w.fibers[thread.as_usize()].waiting == JOINING {
            w.wake(thread);
        }
    }
    if (0..w.fiber_count).all(|thread| w.fibers[thread].state == State::Finished) {
        // The last thread ends the process.
        w.fiber().state = State::Runnable;
        w.runnable.push(current);
        // SAFETY: as at the end of main.
        unsafe { libc::exit(0) };
    }
    run_other();
    unreachable!("a finished thread is never scheduled")
}

/// The program ends: threads that have ended and were neither joined nor detached keep their memory for ever.
pub fn find_leaks() {
    // SAFETY: running.
    let w = unsafe { world() };
    for thread in w.threads().skip(1) {
        let fiber = &w.fibers[thread.as_usize()];
        if fiber.state == State::Finished && !fiber.joined && !fiber.detached {
            finding::leak(w, thread);
        }
    }
}

/// What the thread asked to be done at its end: C++ thread_local destructors, then thread-specific data.
fn run_destructors() {
    // SAFETY: running; reacquired after each call.
    while let Some((function, object)) = unsafe { world() }.fiber().destructors.pop() {
        // SAFETY: registered as such a function.
        let function: extern "C" fn(usize) = unsafe { std::mem::transmute(function) };
        function(object);
    }
    for _ in 0..4 {
        let mut any = false;
        for key in 0..KEYS {
            // SAFETY: one kernel thread.
            let destructor = unsafe { (*TABLE.get())[key].destructor };
            let value = get_value(key);
            if value != 0 && destructor != 0 {
                set_value(key, 0);
                any = true;
                // SAFETY: registered as such a function.
                let function: extern "C" fn(usize) = unsafe { std::mem::transmute(destructor) };
                function(value);
            }
        }
        if !any {
            break;
        }
    }
}

pub fn find(thread: pthread_t) -> Option<usize> {
    // SAFETY: running.
    let w = unsafe { world() };
    (0..w.fiber_count).rev().find(|&index| {
        let fiber = &w.fibers[index];
        fiber.fs as pthread_t == thread
            && !fiber.joined
            && !(fiber.detached && fiber.state == State::Finished)
    })
}

/// Waits for the end of a thread; its result, or an error.
fn join(thread: pthread_t, deadline: Option<u64>, only_try: bool) -> Result<usize, i32> {
    let waits = deadline.is_none() && !only_try;
    visible_as(Step::Other, if waits { Op::Local } else { Op::Any });
    let index = find(thread).ok_or(ESRCH)?;
    loop {
        // SAFETY: running.
        let w = unsafe { world() };
        if index == w.current.as_usize() {
            return Err(EDEADLK);
        }
        if w.fibers[index].detached {
            return Err(EINVAL);
        }
        if w.fibers[index].state == State::Finished {
            let lender = w.fibers[index].lender;
            if lender != usize::MAX {
                w.lenders[lender].used = false;
            }
            w.fibers[index].joined = true;
            crate::trace::event(w, Did::Join, index);
            w.engine.join_thread(w.current, ThreadId(index as u16));
            w.refresh();
            return Ok(w.fibers[index].result);
        }
        if only_try {
            return Err(libc::EBUSY);
        }
        if deadline.is_none() && !w.fiber().cancelled {
            w.engine.await_thread(w.current);
        }
        if !block(JOINING, deadline) {
            return Err(libc::ETIMEDOUT);
        }
        // SAFETY: running.
        unsafe { world() }.fiber().waiting = "";
        test_cancel();
    }
}

fn answer(result: Result<usize, i32>, out: *mut usize) -> i32 {
    match result {
        Ok(value) => {
            if !out.is_null() {
                // SAFETY: the caller's.
                unsafe { *out = value };
            }
            0
        }
        Err(error) => error,
    }
}

unsafe extern "C" fn posix_create(
    out: *mut pthread_t,
    attr: *const libc::pthread_attr_t,
    start: extern "C" fn(usize) -> usize,
    argument: usize,
) -> i32 {
    let (mut detached, mut stack_size) = (0, 0);
    if !attr.is_null() {
        // SAFETY: the caller's attribute object.
        unsafe {
            pthread_attr_getdetachstate(attr, &mut detached);
            libc::pthread_attr_getstacksize(attr, &mut stack_size);
        }
    }
    let detached = detached == libc::PTHREAD_CREATE_DETACHED;
    create(out, Start::Posix(start), argument, detached, stack_size, Member::default());
    0
}

unsafe extern "C" fn posix_join(thread: pthread_t, out: *mut usize) -> i32 {
    if !is_running() {
        return ESRCH;
    }
    answer(join(thread, None, false), out)
}

unsafe extern "C" fn posix_tryjoin(thread: pthread_t, out: *mut usize) -> i32 {
    if !is_running() {
        return ESRCH;
    }
    answer(join(thread, None, true), out)
}

unsafe extern "C" fn posix_timedjoin(
    thread: pthread_t,
    out: *mut usize,
    until: *const libc::timespec,
) -> i32 {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { posix_clockjoin(thread, out, libc::CLOCK_REALTIME, until) }
}

unsafe extern "C" fn posix_clockjoin(
    thread: pthread_t,
    out: *mut usize,
    clock: i32,
    until: *const libc::timespec,
) -> i32 {
    if !is_running() {
        return ESRCH;
    }
    // SAFETY: the caller's pointer, which the C function requires to be valid.
    let deadline = (!until.is_null()).then(|| unsafe { crate::time::deadline_of(clock, until) });
    answer(join(thread, deadline, false), out)
}

unsafe extern "C" fn posix_detach(thread: pthread_t) -> i32 {
    if !is_running() {
        return 0;
    }
    let Some(index) = find(thread) else { return ESRCH };
    // SAFETY: running.
    let w = unsafe { world() };
    let fiber = &mut w.fibers[index];
    if fiber.detached {
        return EINVAL;
    }
    fiber.detached = true;
    if fiber.state == State::Finished && fiber.lender != usize::MAX {
        let lender = fiber.lender;
        w.lenders[lender].used = false;
    }
    0
}

unsafe extern "C" fn posix_exit(result: usize) -> ! {
    if !is_running() {
        // The only thread: the process ends.
        // SAFETY: ends the process, as the C function does for its last thread.
        unsafe { libc::exit(0) };
    }
    leave(result)
}

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attr: *const libc::pthread_attr_t, state: *mut i32) -> i32;
}

unsafe extern "C" fn register_cancel(buffer: usize) {
    if is_running() {
        // SAFETY: running.
        unsafe { world() }.fiber().cleanups.push(buffer);
    }
}

unsafe extern "C" fn unregister_cancel(_buffer: usize) {
    if is_running() {
        // SAFETY: running.
        unsafe { world() }.fiber().cleanups.pop();
    }
}

unsafe extern "C" fn unwind_next(_buffer: usize) -> ! {
    // SAFETY: a thread is being unwound, so it is running.
    let result = unsafe { world() }.fiber().result;
    leave(result)
}

unsafe extern "C" fn posix_cancel(thread: pthread_t) -> i32 {
    if !is_running() {
        return ESRCH;
    }
    let Some(index) = find(thread) else { return ESRCH };
    // SAFETY: running.
    let w = unsafe { world() };
    w.fibers[index].cancelled = true;
    w.wake(ThreadId(index as u16));
    0
}

unsafe extern "C" fn posix_setcancelstate(state: i32, old: *mut i32) -> i32 {
    if !is_running() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(pthread_setcancelstate(s: i32 = state, o: *mut i32 = old) -> i32) };
    }
    // SAFETY: running; the caller's pointer.
    unsafe {
        let fiber = world().fiber();
        if !old.is_null() {
            *old = i32::from(fiber.cancel_disabled);
        }
        fiber.cancel_disabled = state == 1;
    }
    0
}

unsafe extern "C" fn posix_testcancel() {
    if is_running() {
        test_cancel();
    }
}

/// Ends the running thread if another cancelled it.
pub fn test_cancel() {
    // SAFETY: running.
    let fiber = unsafe { world() }.fiber();
    if fiber.is_cancelled() {
        fiber.cancelled = false;
        leave(CANCELED);
    }
}

unsafe extern "C" fn yield_now() -> i32 {
    if is_running() {
        give_way_as(Op::Local);
    }
    0
}

// ---- thread-specific data ----

const KEYS: usize = 1024;

#[derive(Clone, Copy)]
struct Key {
    used: bool,
    destructor: usize,
}

/// Rolled back with the program, as are the main thread's values.
static TABLE: Global<[Key; KEYS]> = Global::new([Key { used: false, destructor: 0 }; KEYS]);
static MAIN_VALUES: Global<[usize; KEYS]> = Global::new([0; KEYS]);

fn get_value(key: usize) -> usize {
    // SAFETY: one kernel thread.
    unsafe {
        if !is_running() || world().current == ThreadId(0) {
            return (&*MAIN_VALUES.get())[key];
        }
        world().fiber().specific.get(key).copied().unwrap_or(0)
    }
}

fn set_value(key: usize, value: usize) {
    // SAFETY: one kernel thread.
    unsafe {
        if !is_running() || world().current == ThreadId(0) {
            (&mut *MAIN_VALUES.get())[key] = value;
            return;
        }
        let specific = &mut world().fiber().specific;
        if specific.len() <= key {
            specific.resize(key + 1, 0);
        }
        specific[key] = value;
    }
}

unsafe extern "C" fn key_create(out: *mut u32, destructor: usize) -> i32 {
    // SAFETY: one kernel thread; the caller's pointer.
    unsafe {
        let table = &mut *TABLE.get();
        let Some(key) = table.iter().position(|key| !key.used) else { return libc::EAGAIN };
        table[key] = Key { used: true, destructor };
        set_value(key, 0);
        *out = key as u32;
    }
    0
}

unsafe extern "C" fn key_delete(key: u32) -> i32 {
    if key as usize >= KEYS {
        return EINVAL;
    }
    // SAFETY: one kernel thread.
    unsafe { (&mut *TABLE.get())[key as usize] = Key { used: false, destructor: 0 } };
    0
}

unsafe extern "C" fn get_specific(key: u32) -> usize {
    if key as usize >= KEYS { 0 } else { get_value(key as usize) }
}

unsafe extern "C" fn set_specific(key: u32, value: usize) -> i32 {
    if key as usize >= KEYS {
        return EINVAL;
    }
    set_value(key as usize, value);
    0
}

// ---- C11 ----

unsafe extern "C" fn c11_create(
    out: *mut pthread_t,
    start: extern "C" fn(usize) -> i32,
    argument: usize,
) -> i32 {
    create(out, Start::C11(start), argument, false, 0, Member::default());
    0
}

unsafe extern "C" fn c11_join(thread: pthread_t, out: *mut i32) -> i32 {
    let mut result = 0usize;
    // SAFETY: the contract of this function, and a local for the result.
    let error = unsafe { posix_join(thread, &mut result) };
    if error == 0 && !out.is_null() {
        // SAFETY: the caller's.
        unsafe { *out = result as i32 };
    }
    crate::lock::c11(error)
}

unsafe extern "C" fn c11_exit(result: i32) -> ! {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { posix_exit(result as isize as usize) }
}

unsafe extern "C" fn c11_detach(thread: pthread_t) -> i32 {
    // SAFETY: the contract of this function is that of the one it calls.
    crate::lock::c11(unsafe { posix_detach(thread) })
}

unsafe extern "C" fn c11_key_create(out: *mut u32, destructor: usize) -> i32 {
    // SAFETY: the contract of this function is that of the one it calls.
    crate::lock::c11(unsafe { key_create(out, destructor) })
}

unsafe extern "C" fn c11_key_delete(key: u32) {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { key_delete(key) };
}

/// The bounds of the stack that the thread runs on.
unsafe extern "C" fn get_attributes(thread: pthread_t, attr: *mut libc::pthread_attr_t) -> i32 {
    let index = if is_running() { find(thread) } else { None };
    // SAFETY: running, if a thread was found; the caller's attribute object.
    unsafe {
        let Some(fiber) = index.filter(|&index| index > 0).map(|index| &world().fibers[index]) else {
            return real!(pthread_getattr_np(t: pthread_t = thread, a: *mut libc::pthread_attr_t = attr) -> i32);
        };
        libc::pthread_attr_init(attr);
        let state =
            if fiber.detached { libc::PTHREAD_CREATE_DETACHED } else { libc::PTHREAD_CREATE_JOINABLE };
        libc::pthread_attr_setdetachstate(attr, state);
        libc::pthread_attr_setstack(attr, fiber.stack as *mut c_void, fiber.stack_size)
    }
}

unsafe extern "C" fn set_name(_thread: pthread_t, _name: *const c_void) -> i32 {
    0
}

interpose! {
    pthread_create => posix_create; pthread_join => posix_join; pthread_tryjoin_np => posix_tryjoin;
    pthread_timedjoin_np => posix_timedjoin; pthread_clockjoin_np => posix_clockjoin;
    pthread_detach => posix_detach; pthread_exit => posix_exit; pthread_cancel => posix_cancel;
    pthread_setcancelstate => posix_setcancelstate; pthread_testcancel => posix_testcancel;
    __pthread_register_cancel => register_cancel; __pthread_unregister_cancel => unregister_cancel;
    __pthread_unwind_next => unwind_next;
    sched_yield => yield_now; pthread_yield => yield_now; thrd_yield => yield_now;
    pthread_key_create => key_create; pthread_key_delete => key_delete;
    pthread_getspecific => get_specific; pthread_setspecific => set_specific;
    thrd_create => c11_create; thrd_join => c11_join; thrd_exit => c11_exit; thrd_detach => c11_detach;
    tss_create => c11_key_create; tss_delete => c11_key_delete; tss_get => get_specific; tss_set => set_specific;
    pthread_setname_np => set_name; pthread_getattr_np => get_attributes;
}
