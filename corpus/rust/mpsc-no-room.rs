// expect: deadlock 7
use std::sync::mpsc::sync_channel;
use std::thread;
pub fn main() {
    let (sender, receiver) = sync_channel(1);
    let t = thread::spawn(move || {
        (0..2).for_each(|message| sender.send(message).unwrap());
    });
    t.join().unwrap();
    drop(receiver);
}
