// expect: panic 9
use std::sync::mpsc::channel;
use std::thread;
pub fn main() {
    let (sender, receiver) = channel();
    let other = sender.clone();
    let t = thread::spawn(move || other.send(1).unwrap());
    sender.send(2).unwrap();
    assert_eq!(receiver.recv(), Ok(1));
    t.join().unwrap();
}
