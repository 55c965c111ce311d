//! The few words that every instrumented access looks at.

use crate::sys::Global;
use porf_event::ThreadId;

/// Nothing is tracked: the program has no second thread yet, or has none any more.
pub const IDLE: u32 = 0;
pub const RUNNING: u32 = 1;
/// Running, and a volatile access waits to be completed at the next callback.
pub const PENDING: u32 = 2;
/// Running, and the thread's plain accesses are not to be checked.
pub const IGNORING: u32 = 3;

#[repr(C)]
pub struct Hot {
    /// First: [`crate::interpose!`] reads it.
    pub state: u32,
    pub thread: ThreadId,
    /// The running thread's clock.
    pub now: u32,
    /// Plain accesses left before the thread gives way: it may wait for one.
    pub patience: u32,
    /// The running thread's atomics and locks order something, see [`crate::annotate`].
    pub orders: bool,
    /// The end of the running thread's call stack, see [`crate::call`].
    pub calls: *mut usize,
    pub calls_limit: *mut usize,
}

pub static HOT: Global<Hot> = Global::new(Hot {
    state: IDLE,
    thread: ThreadId(0),
    now: 0,
    patience: PATIENCE,
    orders: true,
    calls: std::ptr::null_mut(),
    calls_limit: std::ptr::null_mut(),
});

/// So many plain accesses in a row, and the thread may be waiting on a plain variable.
pub const PATIENCE: u32 = 20_000;

#[inline(always)]
pub fn is_running() -> bool {
    // SAFETY: one kernel thread.
    unsafe { (*HOT.get()).state != IDLE }
}

/// The running thread's plain accesses are not to be checked.
pub fn is_ignoring() -> bool {
    // SAFETY: one kernel thread.
    unsafe { (*HOT.get()).state == IGNORING }
}
