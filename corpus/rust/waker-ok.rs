// expect: safe
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
struct Unpark(Thread);
impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}
struct Flag(Arc<AtomicBool>, Option<thread::JoinHandle<()>>);
impl Future for Flag {
    type Output = u32;
    fn poll(mut self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u32> {
        if self.1.is_none() {
            let (flag, waker) = (self.0.clone(), cx.waker().clone());
            self.1 = Some(thread::spawn(move || {
                flag.store(true, Release);
                waker.wake();
            }));
        }
        if self.0.load(Acquire) { Poll::Ready(7) } else { Poll::Pending }
    }
}
pub fn main() {
    let flag = Flag(Arc::new(AtomicBool::new(false)), None);
    assert_eq!(block_on(async { flag.await + 1 }), 8);
}
