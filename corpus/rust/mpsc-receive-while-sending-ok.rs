// expect: safe
use std::sync::mpsc::channel;
use std::thread;
pub fn main() {
    let (sender, receiver) = channel();
    let t = thread::spawn(move || sender.send(1).unwrap());
    assert_eq!(receiver.recv(), Ok(1));
    assert!(receiver.recv().is_err());
    t.join().unwrap();
}
