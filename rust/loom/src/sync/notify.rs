//! loom's `Notify`: one thread waits until another tells it to go on.

use crate::porf_intrinsics as porf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Remembers one notification, for one thread that waits.
#[derive(Debug, Default)]
pub struct Notify {
    notified: AtomicBool,
}

impl Notify {
    pub fn new() -> Notify {
        Notify::default()
    }

    pub fn notify(&self) {
        self.notified.store(true, Ordering::Release);
    }

    #[track_caller]
    pub fn wait(&self) {
        while !self.notified.load(Ordering::Relaxed) {
            porf::wait();
        }
        self.notified.swap(false, Ordering::Acquire);
    }
}
