// expect: safe
// Powers with integral exponents.
use std::hint::black_box;

pub fn main() {
    assert_eq!((black_box(1.5f64).powi(3), black_box(2f32).powi(-2)), (3.375, 0.25));
    assert_eq!(black_box(-2f64).powi(3), -8.0);
}
