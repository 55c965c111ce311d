// expect: panic 4
extern "C" fn never_unwinds() {
    // It cannot unwind out of here: the process aborts.
    panic!("too far");
}
pub fn main() {
    let _ = std::panic::catch_unwind(|| never_unwinds());
}
