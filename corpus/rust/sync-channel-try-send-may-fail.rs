// expect: panic 7
use std::sync::mpsc::sync_channel;
use std::thread;
pub fn main() {
    let (send, receive) = sync_channel(1);
    let other = send.clone();
    let t = thread::spawn(move || other.try_send(1).unwrap());
    // There may be no room.
    let _ = send.try_send(2);
    t.join().unwrap();
    drop(receive);
}
