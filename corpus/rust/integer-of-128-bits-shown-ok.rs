// expect: safe
// To show a u128 takes arithmetic on 256 bits, which Porf has not: it is not reached here.
pub fn main() {
    let wide = std::hint::black_box(1_u128 << 100);
    if wide == 3 {
        panic!("{wide}");
    }
}
