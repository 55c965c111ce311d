// expect: leak 4
// check: leak
pub fn main() {
    std::mem::forget(Box::new(1));
}
