// expect: safe
// `as` takes the nearest integer of the type, towards zero, and 0 for what is no number.
use std::hint::black_box;

pub fn main() {
    assert_eq!((black_box(3.7f64) as i32, black_box(-3.7f32) as i8), (3, -3));
    assert_eq!((black_box(-3.7f64) as u8, black_box(300.5f32) as u8), (0, 255));
    assert_eq!((black_box(f64::NAN) as i64, black_box(f32::NAN) as u16), (0, 0));
    assert_eq!((black_box(1e30f64) as u64, black_box(-1e30f64) as i64), (u64::MAX, i64::MIN));
    assert_eq!((black_box(1e30f64) as i16, black_box(f64::INFINITY) as u32), (i16::MAX, u32::MAX));
    assert_eq!((black_box(1e20f64) as u128, black_box(-1e20f64) as i128), (10u128.pow(20), -(10i128.pow(20))));
    assert_eq!((black_box(-1f32) as u128, black_box(f64::INFINITY) as i128), (0, i128::MAX));
}
