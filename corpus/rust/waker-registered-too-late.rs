// expect: deadlock 35
// The future looks before it registers its waker: a wake-up in between is lost.
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
static READY: AtomicBool = AtomicBool::new(false);
static WAKER: Mutex<Option<Waker>> = Mutex::new(None);
struct Unpark(Thread);
impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
pub fn main() {
    let t = thread::spawn(|| {
        READY.store(true, Release);
        if let Some(waker) = WAKER.lock().unwrap().take() {
            waker.wake();
        }
    });
    let mut future = pin!(poll_fn(|context: &mut Context<'_>| {
        if READY.load(Acquire) {
            return Poll::Ready(());
        }
        *WAKER.lock().unwrap() = Some(context.waker().clone());
        Poll::Pending
    }));
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    while future.as_mut().poll(&mut context).is_pending() {
        // Nobody wakes it.
        thread::park();
    }
    t.join().unwrap();
}
