// expect: safe
// An executor for two tasks in one thread; another thread wakes one of them.
use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
static READY: AtomicBool = AtomicBool::new(false);
static WAKER: Mutex<Option<Waker>> = Mutex::new(None);
struct Unpark(Thread, AtomicBool);
impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.1.store(true, Release);
        self.0.unpark();
    }
}
type Task<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;
fn run(mut tasks: Vec<Task<'_>>) {
    let unpark = Arc::new(Unpark(thread::current(), AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&unpark));
    while !tasks.is_empty() {
        if unpark.1.swap(false, Acquire) {
            tasks.retain_mut(|task| task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        } else {
            thread::park();
        }
    }
}
pub fn main() {
    let t = thread::spawn(|| {
        READY.store(true, Release);
        if let Some(waker) = WAKER.lock().unwrap().take() {
            waker.wake();
        }
    });
    let log = RefCell::new(Vec::new());
    let waits = async {
        poll_fn(|context| {
            *WAKER.lock().unwrap() = Some(context.waker().clone());
            if READY.load(Acquire) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        log.borrow_mut().push(1);
    };
    let runs = async { log.borrow_mut().push(2) };
    run(vec![Box::pin(waits), Box::pin(runs)]);
    t.join().unwrap();
    assert_eq!(log.borrow().len(), 2);
}
