//! Ctrl-C: the first asks a verb to end and say what it has; the second ends it at once.

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on the first Ctrl-C only asks.
pub fn watch() {
    // SAFETY: a handler that sets a flag and a signal's disposition, both of which a handler may do.
    unsafe { libc::signal(libc::SIGINT, handler as *const () as usize) };
}

/// What the first Ctrl-C sets, for those who look at it themselves.
pub fn flag() -> &'static AtomicBool {
    &INTERRUPTED
}

/// Whether the user asked for the end.
pub fn requested() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

extern "C" fn handler(_: i32) {
    INTERRUPTED.store(true, Ordering::Relaxed);
    // SAFETY: as above.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
}
