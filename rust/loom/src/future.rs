//! What futures need.

use crate::porf_intrinsics as porf;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// Whether the task was woken since it was polled last.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// Polls a future each time it is woken, until it is ready.
#[track_caller]
pub fn block_on<F>(f: F) -> F::Output
where
    F: Future,
{
    let mut f = pin!(f);
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = f.as_mut().poll(&mut context) {
            return value;
        }
        while !woken.0.load(Ordering::Relaxed) {
            porf::wait();
        }
        woken.0.swap(false, Ordering::Acquire);
    }
}

/// Keeps the waker of one task.
#[derive(Debug, Default)]
pub struct AtomicWaker {
    waker: Mutex<Option<Waker>>,
}

impl AtomicWaker {
    pub fn new() -> AtomicWaker {
        AtomicWaker::default()
    }

    /// As loom's and futures': while another thread takes the waker, the new one is woken at once.
    pub fn register(&self, waker: Waker) {
        match self.waker.try_lock() {
            Ok(mut kept) => *kept = Some(waker),
            Err(_) => waker.wake(),
        }
    }

    pub fn register_by_ref(&self, waker: &Waker) {
        self.register(waker.clone());
    }

    pub fn wake(&self) {
        if let Some(waker) = self.take_waker() {
            waker.wake();
        }
    }

    pub fn take_waker(&self) -> Option<Waker> {
        self.waker.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }
}
