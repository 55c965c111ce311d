// expect: safe
// Products of signed integers of 128 bits, with a check for overflow.
use std::hint::black_box;

pub fn main() {
    let (least, most): (i128, i128) = (black_box(i128::MIN), black_box(i128::MAX));
    assert_eq!(black_box(-5i128) * 7, -35);
    assert_eq!((least.checked_mul(-1), most.checked_mul(-1)), (None, Some(-i128::MAX)));
    assert_eq!((least.checked_mul(1), least.checked_mul(0)), (Some(i128::MIN), Some(0)));
    assert_eq!(black_box(1i128 << 63).checked_mul(1 << 63), Some(1 << 126));
    assert_eq!(black_box(1i128 << 64).checked_mul(1 << 63), None);
    assert_eq!(black_box(-1i128 << 64).checked_mul(1 << 63), Some(i128::MIN));
    assert_eq!(black_box(-1i128 << 64).checked_mul(-1 << 63), None);
    assert_eq!((most.checked_mul(2), least.checked_mul(least)), (None, None));
    assert_eq!(black_box(-3i128).checked_mul(-4), Some(12));
}
