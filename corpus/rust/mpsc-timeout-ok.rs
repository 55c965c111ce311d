// expect: safe
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
pub fn main() {
    let (sender, receiver) = channel::<u32>();
    assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    drop(sender);
}
