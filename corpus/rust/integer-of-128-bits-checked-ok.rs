// expect: safe
// Arithmetic on integers of 128 bits says where it overflows.
use std::hint::black_box;

pub fn main() {
    let (a, b): (u128, u128) = (black_box(3 << 70), black_box(5));
    assert_eq!((a + b, a - b, a * b), ((3 << 70) + 5, (3 << 70) - 5, 15 << 70));
    let most: u128 = black_box(u128::MAX);
    assert_eq!((most.checked_add(1), most.checked_add(0)), (None, Some(most)));
    assert_eq!((b.checked_sub(6), b.checked_sub(5)), (None, Some(0)));
    assert_eq!((a.checked_mul(1 << 57), a.checked_mul(1 << 56)), (None, Some(3 << 126)));
    assert_eq!((black_box(0u128).checked_mul(most), most.checked_mul(0)), (Some(0), Some(0)));
    let least: i128 = black_box(i128::MIN);
    assert_eq!((least.checked_add(-1), least.checked_add(1)), (None, Some(i128::MIN + 1)));
    assert_eq!((least.checked_sub(1), least.checked_sub(-1)), (None, Some(i128::MIN + 1)));
    assert_eq!(black_box(-1i128).checked_sub(least), Some(i128::MAX));
    assert_eq!(black_box(0i128).checked_sub(least), None);
}
