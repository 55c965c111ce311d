//! Signals: masks are the threads' own, dispositions are put back between executions.
//!
//! All threads share one kernel thread, so its mask is changed with the running fiber ([`adopt`]). A signal
//! sent to a thread waits with the fiber until that one runs and does not block it. The kernel delivers at
//! any moment; handlers run between two steps ([`deliver`]), as calls of the thread.

use crate::call::caller;
use crate::interpose;
use crate::real;
use crate::sys::{self, Global};
use crate::world::{State, Step, World, block, give_way, is_running, visible, world};
use libc::{EINVAL, pthread_t, sigset_t, timespec};
use porf_event::ThreadId;
use porf_sample::protocol::{FindingKind, HANG_SIGNAL};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The kernel's signal set.
pub type Mask = u64;
const SIGNALS: i32 = 64;

fn bit(signal: i32) -> Mask {
    1 << (signal - 1)
}

/// The running kernel thread takes over a fiber's mask. The watchdog's signal always comes through.
pub fn adopt(mask: Mask) {
    let mask = mask & !bit(HANG_SIGNAL);
    // SAFETY: reads the mask.
    unsafe {
        let set = libc::SIG_SETMASK as usize;
        sys::syscall(libc::SYS_rt_sigprocmask, [set, &raw const mask as usize, 0, size_of::<Mask>(), 0, 0]);
    }
}

pub fn current() -> Mask {
    let mut mask: Mask = 0;
    // SAFETY: writes the mask.
    unsafe {
        sys::syscall(libc::SYS_rt_sigprocmask, [0, 0, &raw mut mask as usize, size_of::<Mask>(), 0, 0])
    };
    mask
}

/// Whether a signal ended a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Interrupted {
    #[default]
    No,
    /// The handler was installed with SA_RESTART.
    Restarts,
    Returns,
}

/// What the program wants to be done about a signal.
#[derive(Clone, Copy)]
struct Action {
    handler: usize,
    flags: i32,
    mask: Mask,
}

/// Rolled back with the program.
static ACTIONS: Global<[Action; SIGNALS as usize + 1]> =
    Global::new([Action { handler: 0, flags: 0, mask: 0 }; SIGNALS as usize + 1]);

/// Signals that came at any moment and wait for one at which the runtime can be entered, and what the
/// kernel said about the last of each.
static ARRIVED: AtomicU64 = AtomicU64::new(0);
static NEWS: Global<[MaybeUninit<libc::siginfo_t>; SIGNALS as usize + 1]> =
    Global::new([MaybeUninit::zeroed(); SIGNALS as usize + 1]);
/// Nothing is between two steps: a handler can run at once.
static AT_ONCE: AtomicBool = AtomicBool::new(false);

fn action(signal: i32) -> Action {
    // SAFETY: one kernel thread.
    unsafe { (*ACTIONS.get())[signal as usize] }
}

/// Whether the program has a handler of any signal.
pub fn has_handlers() -> bool {
    (1..=SIGNALS).any(|signal| action(signal).handler > libc::SIG_IGN)
}

/// What the kernel calls for every signal that the program handles. Instrumented handlers enter the runtime:
/// they must wait until nobody is in it.
extern "C" fn arrive(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    const FAULTS: [i32; 6] =
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS];
    // SAFETY: the kernel's arguments.
    let is_fault = FAULTS.contains(&signal) && unsafe { (*info).si_code } > 0;
    if !is_running() || is_fault || AT_ONCE.load(Ordering::Relaxed) {
        // SAFETY: the kernel set the mask for the handler.
        return unsafe { call(signal, info, context) };
    }
    // SAFETY: one kernel thread.
    unsafe { (*NEWS.get())[signal as usize] = MaybeUninit::new(*info) };
    ARRIVED.fetch_or(bit(signal), Ordering::Relaxed);
}

unsafe fn call(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    let action = action(signal);
    // SAFETY: the program installed this function.
    unsafe {
        if action.flags & libc::SA_SIGINFO != 0 {
            let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void) =
                std::mem::transmute(action.handler);
            handler(signal, info, context);
        } else if action.handler > libc::SIG_IGN {
            let handler: extern "C" fn(i32) = std::mem::transmute(action.handler);
            handler(signal);
        }
    }
}

/// Whether a signal may have to be delivered.
#[inline(always)]
pub fn are_waiting() -> bool {
    // SAFETY: running.
    ARRIVED.load(Ordering::Relaxed) != 0 || !unsafe { world() }.fiber().pending_signals.is_empty()
}

/// Gives a signal for the process to one of its threads: one that pauses for it, else the running one or
/// the main thread, else any that does not block it. None if all do.
pub fn send_to_process(w: &mut World, signal: i32, to_running: bool) -> bool {
    let open = |w: &World, thread: usize| {
        w.fibers[thread].state != State::Finished && w.fibers[thread].mask & bit(signal) == 0
    };
    let current = w.current.as_usize();
    let pausing = (0..w.fiber_count).find(|&thread| w.fibers[thread].pauses && open(w, thread));
    let first = if to_running { [current, 0] } else { [0, current] };
    let target = pausing
        .or_else(|| first.into_iter().find(|&thread| open(w, thread)))
        .or_else(|| (0..w.fiber_count).find(|&thread| open(w, thread)));
    match target {
        Some(thread) => send(w, thread, signal),
        None => {
            ARRIVED.fetch_or(bit(signal), Ordering::Relaxed);
        }
    }
    target.is_some()
}

/// The signal waits with the thread until that one runs; if it is blocked, it runs for the handler.
fn send(w: &mut World, thread: usize, signal: i32) {
    let fiber = &mut w.fibers[thread];
    fiber.pending_signals.push(signal);
    let action = action(signal);
    let waits = fiber.state == State::Blocked || fiber.asks.is_some();
    if waits && fiber.mask & bit(signal) == 0 && action.handler > libc::SIG_IGN {
        fiber.interrupted = if action.flags & libc::SA_RESTART != 0 && !fiber.pauses {
            Interrupted::Restarts
        } else {
            Interrupted::Returns
        };
        w.wake(ThreadId(thread as u16));
    }
}

/// As [`deliver`], at a moment at which the thread does not expect it: what a handler must not do then is reported.
#[cold]
pub fn interrupt() {
    // SAFETY: running.
    unsafe { world() }.fiber().handlers += 1;
    deliver();
    // SAFETY: as above.
    let fiber = unsafe { world() }.fiber();
    fiber.handlers = fiber.handlers.saturating_sub(1);
}

/// The program jumps, perhaps out of a handler.
extern "C" fn jumps() {
    if is_running() {
        // SAFETY: running.
        unsafe { world() }.fiber().handlers = 0;
    }
}

/// A function that a handler must not call is called.
pub fn unsafe_call(name: &str) {
    // SAFETY: running.
    let w = unsafe { world() };
    if w.is_called_by_program() {
        let message = format!("a signal handler calls {name}, which it may have interrupted");
        crate::finding::event(w, FindingKind::Signal, caller(), &message);
    }
}

/// Runs the handlers of the signals sent to the thread that now runs and does not block them; says whether
/// there were any.
#[cold]
pub fn deliver() -> bool {
    let mut any = false;
    loop {
        // SAFETY: running; reacquired after each handler.
        let w = unsafe { world() };
        let mut arrived = ARRIVED.swap(0, Ordering::Relaxed);
        while arrived != 0 {
            let signal = arrived.trailing_zeros() as i32 + 1;
            arrived &= arrived - 1;
            send_to_process(w, signal, false);
        }
        let fiber = w.fiber();
        let mask = fiber.mask;
        let open = fiber.pending_signals.iter().position(|&signal| mask & bit(signal) == 0);
        let Some(place) = open else { return any };
        let signal = fiber.pending_signals.remove(place);
        any |= handle(signal);
    }
}

/// Does what the program wants to be done about a signal.
fn handle(signal: i32) -> bool {
    let action = action(signal);
    if action.handler <= libc::SIG_IGN {
        // SAFETY: sends to this very thread: the kernel does what it does by default.
        unsafe {
            let process = sys::syscall(libc::SYS_getpid, [0; 6]) as usize;
            let thread = sys::syscall(libc::SYS_gettid, [0; 6]) as usize;
            AT_ONCE.store(true, Ordering::Relaxed);
            sys::syscall(libc::SYS_tgkill, [process, thread, signal as usize, 0, 0, 0]);
            AT_ONCE.store(false, Ordering::Relaxed);
        }
        return false;
    }
    // SAFETY: running; the structures are as the kernel would pass them.
    unsafe {
        let pc = caller();
        let w = world();
        w.engine.acquire(w.current, &w.installed);
        w.refresh();
        let before = world().fiber().mask;
        let own = if action.flags & libc::SA_NODEFER != 0 { 0 } else { bit(signal) };
        set_mask(before | action.mask | own);
        let mut info = (*NEWS.get())[signal as usize].assume_init();
        info.si_signo = signal;
        let mut context: libc::ucontext_t = std::mem::zeroed();
        let errno = *libc::__errno_location();
        let marks = crate::annotate::suspend();
        call(signal, &mut info, (&raw mut context).cast());
        crate::annotate::resume(marks);
        if world().fiber().handlers > 0 && *libc::__errno_location() != errno && signal != libc::SIGTERM {
            // A handler of SIGTERM often ends the program by another signal, which has not come yet.
            let message = format!("the handler of signal {signal} changes errno");
            crate::finding::event(world(), FindingKind::Signal, action.handler + 1, &message);
        }
        set_mask(before);
        *crate::call::CALLER.get() = pc;
    }
    true
}

/// The running thread blocks these signals.
fn set_mask(mask: Mask) {
    // SAFETY: running.
    let w = unsafe { world() };
    if w.fiber().mask != mask {
        w.mask_changed = true;
        w.fiber().mask = mask;
        adopt(mask);
    }
}

/// Makes a call with the thread's mask replaced, if the caller says by which. A signal that waited only for that
/// ends the call before it begins.
pub unsafe fn masked(set: usize, call: impl FnOnce() -> i32) -> i32 {
    if set == 0 {
        return call();
    }
    // SAFETY: running; the caller's set, which begins with the kernel's.
    unsafe {
        let before = world().fiber().mask;
        set_mask(*(set as *const Mask));
        let result = if are_waiting() && deliver() {
            sys::set_errno(libc::EINTR);
            -1
        } else {
            call()
        };
        set_mask(before);
        result
    }
}

unsafe extern "C" fn kill_thread(thread: pthread_t, signal: i32) -> i32 {
    if !is_running() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(pthread_kill(t: pthread_t = thread, s: i32 = signal) -> i32) };
    }
    visible(Step::Other);
    let Some(index) = crate::thread::find(thread) else { return libc::ESRCH };
    send_to(index, signal)
}

/// Sends a signal to a thread of the program by its place in the list of threads; what went wrong.
pub fn send_to(index: usize, signal: i32) -> i32 {
    if !(0..=SIGNALS).contains(&signal) {
        return EINVAL;
    }
    if signal == 0 {
        return 0;
    }
    // SAFETY: running.
    let w = unsafe { world() };
    send(w, index, signal);
    if index == w.current.as_usize() {
        deliver();
    }
    0
}

/// A signal to the process itself is delivered when the call returns.
unsafe extern "C" fn kill_process(process: i32, signal: i32) -> i32 {
    // SAFETY: the program's own call, passed on with its arguments.
    let result = unsafe { real!(kill(p: i32 = process, s: i32 = signal) -> i32) };
    if is_running() && are_waiting() {
        deliver();
    }
    result
}

unsafe extern "C" fn raise_here(signal: i32) -> i32 {
    if !is_running() || !(1..=SIGNALS).contains(&signal) {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(raise(s: i32 = signal) -> i32) };
    }
    // SAFETY: running.
    let w = unsafe { world() };
    send(w, w.current.as_usize(), signal);
    deliver();
    0
}

/// Waits until a handler has run.
fn pause_until_handled() -> i32 {
    if !deliver() {
        // SAFETY: running.
        let w = unsafe { world() };
        w.fiber().pauses = true;
        if w.runnable.len() > 1 || w.next_deadline != u64::MAX {
            while !{
                block("for a signal", None);
                // SAFETY: running.
                unsafe { world() }.fiber().interrupted != Interrupted::No
            } {
                crate::thread::test_cancel();
            }
        } else {
            // Nobody else can send one: it must come from outside.
            // SAFETY: waits with the thread's mask.
            unsafe { sys::syscall(libc::SYS_pause, [0; 6]) };
        }
        // SAFETY: as above.
        unsafe { world() }.fiber().pauses = false;
        deliver();
    }
    crate::thread::test_cancel();
    sys::set_errno(libc::EINTR);
    -1
}

unsafe extern "C" fn pause_here() -> i32 {
    if !is_running() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(pause() -> i32) };
    }
    visible(Step::Other);
    pause_until_handled()
}

unsafe extern "C" fn suspend(set: *const sigset_t) -> i32 {
    if !is_running() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(sigsuspend(s: *const sigset_t = set) -> i32) };
    }
    visible(Step::Other);
    // SAFETY: running; the caller's set, which begins with the kernel's.
    unsafe {
        let before = world().fiber().mask;
        set_mask(*set.cast::<Mask>());
        let result = pause_until_handled();
        set_mask(before);
        result
    }
}

fn changed_mask(result: i32) -> i32 {
    if is_running() {
        // SAFETY: running.
        let w = unsafe { world() };
        w.mask_changed = true;
        w.fiber().mask = current();
        if are_waiting() {
            deliver();
        }
    }
    result
}

unsafe extern "C" fn thread_mask(how: i32, set: *const sigset_t, old: *mut sigset_t) -> i32 {
    // SAFETY: the program's own call, passed on with its arguments.
    let result = unsafe {
        real!(pthread_sigmask(h: i32 = how, s: *const sigset_t = set, o: *mut sigset_t = old) -> i32)
    };
    changed_mask(result)
}

unsafe extern "C" fn process_mask(how: i32, set: *const sigset_t, old: *mut sigset_t) -> i32 {
    // SAFETY: the program's own call, passed on with its arguments.
    let result =
        unsafe { real!(sigprocmask(h: i32 = how, s: *const sigset_t = set, o: *mut sigset_t = old) -> i32) };
    changed_mask(result)
}

/// Waits for one of the signals; Err is an error number.
unsafe fn wait_for(set: *const sigset_t, info: usize, deadline: Option<u64>) -> Result<i32, i32> {
    crate::atomic::tracked();
    // SAFETY: the caller's set, which begins with the kernel's.
    let wanted = unsafe { *set.cast::<Mask>() };
    loop {
        // SAFETY: running.
        let fiber = unsafe { world() }.fiber();
        if let Some(place) = fiber.pending_signals.iter().position(|&signal| wanted & bit(signal) != 0) {
            return Ok(fiber.pending_signals.remove(place));
        }
        let arrived = ARRIVED.load(Ordering::Relaxed) & wanted;
        if arrived != 0 {
            let signal = arrived.trailing_zeros() as i32 + 1;
            ARRIVED.fetch_and(!bit(signal), Ordering::Relaxed);
            return Ok(signal);
        }
        let at_once = timespec { tv_sec: 0, tv_nsec: 0 };
        let take = |time: usize| {
            // SAFETY: the caller's set and information.
            unsafe {
                sys::syscall(libc::SYS_rt_sigtimedwait, [set as usize, info, time, size_of::<Mask>(), 0, 0])
            }
        };
        let result = take(&raw const at_once as usize);
        if result > 0 {
            return Ok(result as i32);
        }
        // SAFETY: running.
        let w = unsafe { world() };
        if deadline.is_some_and(|deadline| w.time >= deadline) {
            return Err(libc::EAGAIN);
        }
        if w.runnable.len() > 1 {
            give_way();
            continue;
        }
        match (deadline, w.next_deadline) {
            (None, u64::MAX) => match take(0) {
                result if result > 0 => return Ok(result as i32),
                result => return Err(-result as i32),
            },
            (deadline, next) => {
                block("for a signal", Some(deadline.unwrap_or(u64::MAX).min(next)));
            }
        }
    }
}

unsafe extern "C" fn signal_wait(set: *const sigset_t, out: *mut i32) -> i32 {
    if !is_running() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(sigwait(s: *const sigset_t = set, o: *mut i32 = out) -> i32) };
    }
    // SAFETY: the caller's pointer, which the C function requires to be valid.
    match unsafe { wait_for(set, 0, None) } {
        Ok(signal) => {
            // SAFETY: the caller's.
            unsafe { *out = signal };
            0
        }
        Err(error) => error,
    }
}

unsafe extern "C" fn signal_wait_info(set: *const sigset_t, info: usize) -> i32 {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { signal_timed_wait(set, info, std::ptr::null()) }
}

unsafe extern "C" fn signal_timed_wait(set: *const sigset_t, info: usize, time: *const timespec) -> i32 {
    if !is_running() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe {
            real!(sigtimedwait(s: *const sigset_t = set, i: usize = info, t: *const timespec = time) -> i32)
        };
    }
    // SAFETY: the caller's pointer, which the C function requires to be valid.
    let deadline = (!time.is_null()).then(|| unsafe { crate::time::deadline_after(time) });
    // SAFETY: the caller's pointer, which the C function requires to be valid.
    unsafe { wait_for(set, info, deadline) }.unwrap_or_else(|error| {
        sys::set_errno(error);
        -1
    })
}

// ---- dispositions ----

/// glibc's and the kernel's structures differ; we only put back what the kernel gave us.
type KernelAction = [u64; 4];

/// What the signals did when the first thread was created.
pub struct Dispositions {
    actions: Vec<KernelAction>,
    mask: Mask,
}

impl Dispositions {
    pub fn note() -> Dispositions {
        let actions = (1..=SIGNALS)
            .map(|signal| {
                let mut action: KernelAction = [0; 4];
                // SAFETY: the kernel's structure for x86-64 has this size.
                unsafe { rt_sigaction(signal, 0, &raw mut action as usize) };
                action
            })
            .collect();
        Dispositions { actions, mask: current() }
    }

    /// Undoes what an execution changed.
    pub fn restore(&self) {
        // SAFETY: between executions.
        let w = unsafe { world() };
        if std::mem::take(&mut w.actions_changed) {
            for (signal, action) in (1..=SIGNALS).zip(&self.actions) {
                // SAFETY: an action that was in force before.
                unsafe { rt_sigaction(signal, action as *const KernelAction as usize, 0) };
            }
        }
        if std::mem::take(&mut w.mask_changed) {
            self.drop_pending();
            adopt(self.mask);
            w.fibers[0].mask = self.mask;
        }
    }

    /// Takes away the signals that an execution left blocked and pending.
    fn drop_pending(&self) {
        let all: Mask = !0;
        let at_once = timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: a wait that returns at once.
        while unsafe {
            sys::syscall(
                libc::SYS_rt_sigtimedwait,
                [&raw const all as usize, 0, &raw const at_once as usize, size_of::<Mask>(), 0, 0],
            )
        } > 0
        {}
    }
}

unsafe fn rt_sigaction(signal: i32, new: usize, old: usize) {
    // SAFETY: as the system call.
    unsafe { sys::syscall(libc::SYS_rt_sigaction, [signal as usize, new, old, size_of::<Mask>(), 0, 0]) };
}

/// What a signal does is about to change. A handler sees what was done before it was installed.
fn note_change() {
    if is_running() {
        // SAFETY: running.
        let w = unsafe { world() };
        w.actions_changed = true;
        w.engine.release(w.current, &mut w.installed);
        w.refresh();
    }
}

/// glibc's structure: the handler, the set of signals, the flags.
unsafe extern "C" fn set_action(signal: i32, new: *const libc::sigaction, old: *mut libc::sigaction) -> i32 {
    note_change();
    if !(1..=SIGNALS).contains(&signal) {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe {
            real!(sigaction(s: i32 = signal, n: *const libc::sigaction = new, o: *mut libc::sigaction = old) -> i32)
        };
    }
    let before = action(signal);
    // SAFETY: the caller's structures; one kernel thread.
    unsafe {
        let mut given = std::ptr::null();
        let mut ours: libc::sigaction;
        if !new.is_null() {
            ours = *new;
            if ours.sa_sigaction > libc::SIG_IGN {
                ours.sa_sigaction = arrive as *const () as usize;
                ours.sa_flags |= libc::SA_SIGINFO;
            }
            given = &raw const ours;
        }
        let result = real!(sigaction(s: i32 = signal, n: *const libc::sigaction = given, o: *mut libc::sigaction = old) -> i32);
        if result != 0 {
            return result;
        }
        if !old.is_null() && (*old).sa_sigaction == arrive as *const () as usize {
            ((*old).sa_sigaction, (*old).sa_flags) = (before.handler, before.flags);
        }
        if !new.is_null() {
            let mask = *(&raw const (*new).sa_mask).cast::<Mask>();
            (*ACTIONS.get())[signal as usize] =
                Action { handler: (*new).sa_sigaction, flags: (*new).sa_flags, mask };
        }
        0
    }
}

unsafe extern "C" fn set_handler(number: i32, handler: usize) -> usize {
    // SAFETY: locals.
    unsafe {
        let mut new: libc::sigaction = std::mem::zeroed();
        let mut old: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = handler;
        new.sa_flags = libc::SA_RESTART;
        if set_action(number, &new, &mut old) != 0 { libc::SIG_ERR } else { old.sa_sigaction }
    }
}

/// `jump!(name)`: tells of the jump, then jumps.
macro_rules! jump {
    ($($name:ident $address:ident;)*) => {$(
        extern "C" fn $address() -> usize {
            jumps();
            static REAL: sys::Real = sys::Real::new(
                match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!(),
                });
            REAL.address()
        }
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub extern "C" fn $name() {
            std::arch::naked_asm!(
                "push rdi",
                "push rsi",
                "sub rsp, 8",
                "call {address}",
                "add rsp, 8",
                "pop rsi",
                "pop rdi",
                "jmp rax",
                address = sym $address,
            )
        }
    )*};
}

jump! {
    longjmp longjmp_address; _longjmp plain_longjmp_address; siglongjmp siglongjmp_address;
    __longjmp_chk checked_longjmp_address;
}

interpose! {
    pthread_kill => kill_thread; pthread_sigmask => thread_mask; sigprocmask => process_mask;
    sigwait => signal_wait; sigwaitinfo => signal_wait_info; sigtimedwait => signal_timed_wait;
    sigaction => set_action; signal => set_handler; bsd_signal => set_handler;
    kill => kill_process; raise => raise_here; pause => pause_here; sigsuspend => suspend;
}
