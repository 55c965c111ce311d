//! Tasks: each is polled by a thread of its own.

use crate::porf_intrinsics as porf;
use std::fmt;
use std::future::Future;
use std::pin::{pin, Pin};
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
pub fn block_on<F: Future>(f: F) -> F::Output {
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

/// What a task has come to.
struct Shared<T> {
    result: Option<T>,
    aborted: bool,
    waker: Option<Waker>,
}

/// The right to wait for a task.
pub struct JoinHandle<T>(Arc<Mutex<Shared<T>>>);

/// Why a task has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinError {
    Cancelled,
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("task was cancelled")
    }
}

impl std::error::Error for JoinError {}

fn with<T, R>(shared: &Mutex<Shared<T>>, f: impl FnOnce(&mut Shared<T>) -> R) -> R {
    f(&mut shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
}

/// Starts a task.
pub fn spawn<F>(f: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawn_local(f)
}

/// What goes to another thread, whether it may or not.
struct Sent<T>(T);

// SAFETY: none that the compiler could check. Porf sees what races.
unsafe impl<T> Send for Sent<T> {}

impl<T> Sent<T> {
    /// As a method, so that closures capture the whole.
    fn get(self) -> T {
        self.0
    }
}

/// Starts a task that need not be `Send`. It gets a thread all the same.
pub fn spawn_local<F>(f: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let shared = Arc::new(Mutex::new(Shared { result: None, aborted: false, waker: None }));
    let task = Sent((shared.clone(), f));
    std::thread::spawn(move || {
        let (task, f) = task.get();
        let value = block_on(f);
        let waker = with(&task, |shared| {
            shared.result = Some(value);
            shared.waker.take()
        });
        if let Some(waker) = waker {
            waker.wake();
        }
    });
    JoinHandle(shared)
}

/// What can be aborted, whatever its result.
trait Abort {
    fn is_over(&self) -> bool;
    fn abort(&self);
}

impl<T> Abort for Mutex<Shared<T>> {
    fn is_over(&self) -> bool {
        with(self, |shared| shared.aborted || shared.result.is_some())
    }

    fn abort(&self) {
        let waker = with(self, |shared| {
            shared.aborted = true;
            shared.waker.take()
        });
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// The right to abort a task.
#[derive(Clone)]
pub struct AbortHandle(Arc<dyn Abort>);

// SAFETY: the result of the task is never taken through it.
unsafe impl Send for AbortHandle {}
// SAFETY: the same.
unsafe impl Sync for AbortHandle {}

impl AbortHandle {
    /// Whether the task has ended, or was aborted.
    pub fn is_finished(&self) -> bool {
        self.0.is_over()
    }

    /// As [`JoinHandle::abort`].
    pub fn abort(&self) {
        self.0.abort();
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("AbortHandle { .. }")
    }
}

impl<T> JoinHandle<T> {
    /// Whether the task has ended, or was aborted.
    pub fn is_finished(&self) -> bool {
        self.0.is_over()
    }

    /// The same right without that to the result.
    pub fn abort_handle(&self) -> AbortHandle
    where
        T: 'static,
    {
        AbortHandle(self.0.clone())
    }

    /// Nobody gets the task's result. The task itself goes on to its end.
    pub fn abort(&self) {
        self.0.abort();
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        with(&self.0, |shared| match shared.result.take() {
            _ if shared.aborted => Poll::Ready(Err(JoinError::Cancelled)),
            Some(value) => Poll::Ready(Ok(value)),
            None => {
                shared.waker = Some(context.waker().clone());
                Poll::Pending
            }
        })
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("JoinHandle { .. }")
    }
}

/// Lets others go on.
pub async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}
