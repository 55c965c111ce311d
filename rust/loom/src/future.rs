//! What futures need.

use crate::porf_intrinsics as porf;
use std::cell::UnsafeCell;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

/// Whether the task was woken since it was polled last.
#[derive(Default)]
struct Woken(AtomicBool);

/// The data is a `Woken` in an `Arc`. loom does not see how many wakers own it, nor who drops the last one. Here each
/// order in which threads drop theirs would be an execution, so they are counted only where [`porf::frees`] says so.
static WAKER: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

unsafe fn clone(data: *const ()) -> RawWaker {
    if porf::frees() {
        // SAFETY: the waker that is cloned owns an `Arc`.
        unsafe { Arc::increment_strong_count(data.cast::<Woken>()) };
    }
    RawWaker::new(data, &WAKER)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: the waker is there until it is dropped.
    unsafe {
        wake_by_ref(data);
        drop_waker(data);
    }
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: a waker keeps what it points to.
    unsafe { &*data.cast::<Woken>() }.0.store(true, Ordering::Release);
}

unsafe fn drop_waker(data: *const ()) {
    if porf::frees() {
        // SAFETY: the waker owns an `Arc`.
        drop(unsafe { Arc::from_raw(data.cast::<Woken>()) });
    }
}

/// Polls a future each time it is woken, until it is ready.
#[track_caller]
pub fn block_on<F>(f: F) -> F::Output
where
    F: Future,
{
    let mut f = pin!(f);
    let woken = Arc::into_raw(Arc::new(Woken::default()));
    // SAFETY: this waker owns the `Arc`, if it is counted.
    let waker = unsafe { Waker::from_raw(RawWaker::new(woken.cast(), &WAKER)) };
    // SAFETY: the waker is there as long as this function runs.
    let woken = unsafe { &*woken };
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
#[derive(Default)]
pub struct AtomicWaker {
    /// Whether a thread looks at the waker.
    taken: AtomicBool,
    waker: UnsafeCell<Option<Waker>>,
}

// SAFETY: only the thread that has set `taken` looks at the waker.
unsafe impl Send for AtomicWaker {}
// SAFETY: as above.
unsafe impl Sync for AtomicWaker {}

impl AtomicWaker {
    pub fn new() -> AtomicWaker {
        AtomicWaker::default()
    }

    /// As loom's and futures': while another thread takes the waker, the new one is woken at once. This thread then
    /// goes on when the other is done: until then it could only poll again and again.
    pub fn register(&self, waker: Waker) {
        if !self.taken.swap(true, Ordering::Acquire) {
            // SAFETY: this thread has set `taken`.
            let before = unsafe { (*self.waker.get()).replace(waker) };
            self.taken.store(false, Ordering::Release);
            drop(before);
        } else {
            waker.wake();
            while self.taken.load(Ordering::Relaxed) {
                porf::wait();
            }
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
        while self.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            porf::wait();
        }
        // SAFETY: this thread has set `taken`.
        let waker = unsafe { (*self.waker.get()).take() };
        self.taken.store(false, Ordering::Release);
        waker
    }
}

impl std::fmt::Debug for AtomicWaker {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AtomicWaker").finish_non_exhaustive()
    }
}
