//! Signals: masks are the threads' own, dispositions are put back between executions.
//!
//! All threads share one kernel thread, so its mask is changed with the running fiber ([`adopt`]). A signal
//! sent to a thread waits with the fiber until that one runs and does not block it.

use crate::entry;
use crate::real;
use crate::sys;
use crate::world::{block, give_way, is_running, world};
use libc::{EINVAL, pthread_t, sigset_t, timespec};
use porf_sample::protocol::HANG_SIGNAL;

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

/// Raises the signals sent to the thread that now runs and does not block them.
#[inline]
pub fn deliver() {
    // SAFETY: running.
    if !unsafe { world() }.fiber().pending_signals.is_empty() {
        deliver_now();
    }
}

#[cold]
fn deliver_now() {
    loop {
        // SAFETY: running; reacquired after each handler.
        let fiber = unsafe { world() }.fiber();
        let mask = fiber.mask;
        let open = fiber.pending_signals.iter().position(|&signal| mask & bit(signal) == 0);
        let Some(place) = open else { return };
        let signal = fiber.pending_signals.remove(place);
        // SAFETY: sends to this very thread.
        unsafe {
            let process = sys::syscall(libc::SYS_getpid, [0; 6]) as usize;
            let thread = sys::syscall(libc::SYS_gettid, [0; 6]) as usize;
            sys::syscall(libc::SYS_tgkill, [process, thread, signal as usize, 0, 0, 0]);
        }
    }
}

unsafe extern "C" fn kill_thread(thread: pthread_t, signal: i32) -> i32 {
    if !is_running() {
        return unsafe { real!(pthread_kill(t: pthread_t = thread, s: i32 = signal) -> i32) };
    }
    let Some(index) = crate::thread::find(thread) else { return libc::ESRCH };
    if !(0..=SIGNALS).contains(&signal) {
        return EINVAL;
    }
    if signal == 0 {
        return 0;
    }
    // SAFETY: running.
    let w = unsafe { world() };
    w.fibers[index].pending_signals.push(signal);
    if index == w.current as usize {
        deliver();
    }
    0
}

fn changed_mask(result: i32) -> i32 {
    if is_running() {
        // SAFETY: running.
        let w = unsafe { world() };
        w.mask_changed = true;
        w.fiber().mask = current();
        deliver();
    }
    result
}

unsafe extern "C" fn thread_mask(how: i32, set: *const sigset_t, old: *mut sigset_t) -> i32 {
    let result = unsafe {
        real!(pthread_sigmask(h: i32 = how, s: *const sigset_t = set, o: *mut sigset_t = old) -> i32)
    };
    changed_mask(result)
}

unsafe extern "C" fn process_mask(how: i32, set: *const sigset_t, old: *mut sigset_t) -> i32 {
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
        return unsafe { real!(sigwait(s: *const sigset_t = set, o: *mut i32 = out) -> i32) };
    }
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
    unsafe { signal_timed_wait(set, info, std::ptr::null()) }
}

unsafe extern "C" fn signal_timed_wait(set: *const sigset_t, info: usize, time: *const timespec) -> i32 {
    if !is_running() {
        return unsafe {
            real!(sigtimedwait(s: *const sigset_t = set, i: usize = info, t: *const timespec = time) -> i32)
        };
    }
    let deadline = (!time.is_null()).then(|| unsafe { crate::time::deadline_after(time) });
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

fn note_change() {
    if is_running() {
        // SAFETY: running.
        unsafe { world() }.actions_changed = true;
    }
}

unsafe extern "C" fn set_action(signal: i32, new: usize, old: usize) -> i32 {
    note_change();
    unsafe { real!(sigaction(s: i32 = signal, n: usize = new, o: usize = old) -> i32) }
}

unsafe extern "C" fn set_handler(number: i32, handler: usize) -> usize {
    note_change();
    unsafe { real!(signal(s: i32 = number, h: usize = handler) -> usize) }
}

entry! {
    pthread_kill => kill_thread; pthread_sigmask => thread_mask; sigprocmask => process_mask;
    sigwait => signal_wait; sigwaitinfo => signal_wait_info; sigtimedwait => signal_timed_wait;
    sigaction => set_action; signal => set_handler; bsd_signal => set_handler;
}
