// expect: panic 7
use std::sync::mpsc::channel;
use std::thread;
pub fn main() {
    let (sender, receiver) = channel();
    let t = thread::spawn(move || sender.send(1).unwrap());
    receiver.try_recv().unwrap();
    t.join().unwrap();
}
