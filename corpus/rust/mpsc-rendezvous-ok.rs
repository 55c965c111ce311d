// expect: safe
use std::sync::mpsc::sync_channel;
use std::thread;
pub fn main() {
    let (sender, receiver) = sync_channel(0);
    let t = thread::spawn(move || sender.send(7).unwrap());
    assert_eq!(receiver.recv(), Ok(7));
    t.join().unwrap();
}
