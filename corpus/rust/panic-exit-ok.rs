// expect: safe
use std::process;
use std::thread;
pub fn main() {
    thread::spawn(|| loop {
        thread::park();
    });
    process::exit(0);
}
