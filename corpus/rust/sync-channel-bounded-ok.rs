// expect: safe
use std::sync::mpsc::sync_channel;
use std::thread;
pub fn main() {
    let (send, receive) = sync_channel(1);
    let t = thread::spawn(move || {
        for i in 0..2 {
            send.send(i).unwrap();
        }
    });
    assert_eq!(receive.recv(), Ok(0));
    assert_eq!(receive.recv(), Ok(1));
    assert!(receive.recv().is_err());
    t.join().unwrap();
}
