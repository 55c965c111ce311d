// expect: safe
use std::sync::mpsc::channel;
pub fn main() {
    let (sender, receiver) = channel();
    drop(receiver);
    assert!(sender.send(1).is_err());
}
