// expect: deadlock 7
use std::sync::mpsc::channel;
use std::thread;
pub fn main() {
    let (sender, receiver) = channel::<u32>();
    let t = thread::spawn(move || {
        receiver.recv()
    });
    let _ = t.join();
    drop(sender);
}
