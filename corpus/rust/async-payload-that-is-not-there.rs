// expect: safe
// `Closed` has no payload: moving it through futures copies bytes that nobody has written.
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
#[derive(Debug)]
pub enum RecvError { Closed, Lagged(u64) }
struct Recv<'a>(&'a mut u32);
impl<'a> Future for Recv<'a> {
    type Output = Result<&'static str, RecvError>;
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let n = *self.0;
        *self.0 += 1;
        match n {
            0 | 3 => Poll::Ready(Ok("x")),
            1 => Poll::Pending,
            2 => Poll::Ready(Err(RecvError::Lagged(2))),
            _ => Poll::Ready(Err(RecvError::Closed)),
        }
    }
}
fn cooperative<F: Future>(fut: F) -> impl Future<Output = F::Output> { async move { fut.await } }
struct R(u32);
impl R {
    async fn recv(&mut self) -> Result<&'static str, RecvError> { cooperative(Recv(&mut self.0)).await }
}
pub fn main() {
    let mut r = R(0);
    let mut f = std::pin::pin!(async {
        let mut num = 0;
        loop {
            match r.recv().await {
                Ok(_) => num += 1,
                Err(RecvError::Closed) => break,
                Err(RecvError::Lagged(n)) => num += n as usize,
            }
        }
        assert_eq!(num, 4);
    });
    let mut cx = Context::from_waker(Waker::noop());
    while f.as_mut().poll(&mut cx).is_pending() {}
}
