// expect: safe
// To show a u128 takes arithmetic on 256 bits.
use std::hint::black_box;

pub fn main() {
    let most = "340282366920938463463374607431768211455";
    assert_eq!(black_box(u128::MAX).to_string(), most);
    assert_eq!(black_box(i128::MIN).to_string(), "-170141183460469231731687303715884105728");
    assert_eq!(black_box(12345678901234567890123456789_u128).to_string(), "12345678901234567890123456789");
    assert_eq!(black_box(0_u128).to_string(), "0");
    assert_eq!(black_box(most).parse(), Ok(u128::MAX));
}
