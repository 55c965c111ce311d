// expect: panic 16
// What is transmuted to an enum is checked as an integer of 128 bits.
use std::hint::black_box;

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
enum Status {
    Incomplete = 0,
    Running = 1,
    Complete = 2,
}

fn status(from: u8) -> Status {
    // SAFETY: none. Nothing is lost but the program.
    #[allow(unnecessary_transmutes)]
    unsafe { std::mem::transmute(from) }
}

pub fn main() {
    assert_eq!(status(black_box(2)), Status::Complete);
    status(black_box(3));
}
