// expect: safe
use std::sync::mpsc::{TrySendError, sync_channel};
pub fn main() {
    let (send, receive) = sync_channel(1);
    assert_eq!(send.try_send(1), Ok(()));
    assert_eq!(send.try_send(2), Err(TrySendError::Full(2)));
    assert_eq!(receive.recv(), Ok(1));
    assert_eq!(send.try_send(3), Ok(()));
    assert_eq!(receive.try_iter().collect::<Vec<_>>(), [3]);
    drop(receive);
    assert_eq!(send.try_send(4), Err(TrySendError::Disconnected(4)));
}
