//! Ctrl-C and SIGTERM: the first asks a verb to end and say what it has; the second ends it at once.

use std::sync::atomic::{AtomicBool, Ordering};

const SIGNALS: [libc::c_int; 2] = [libc::SIGINT, libc::SIGTERM];

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on the first of these signals only asks.
pub fn watch() {
    for signal in SIGNALS {
        // SAFETY: a handler that sets a flag and a signal's disposition, both of which a handler may do.
        unsafe { libc::signal(signal, handler as *const () as usize) };
    }
}

/// What the first signal sets, for those who look at it themselves.
pub fn flag() -> &'static AtomicBool {
    &INTERRUPTED
}

/// Whether the user asked for the end.
pub fn requested() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

extern "C" fn handler(_: i32) {
    INTERRUPTED.store(true, Ordering::Relaxed);
    for signal in SIGNALS {
        // SAFETY: as above.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}
