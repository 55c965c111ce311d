// expect: panic 4
pub fn main() {
    let v: Vec<u32> = Vec::new();
    v.first().unwrap();
}
