// expect: safe
// What else there is on integers of 128 bits.
use std::cmp::Ordering;
use std::hint::black_box;

pub fn main() {
    let bit: u128 = black_box(1 << 70);
    assert_eq!((bit.leading_zeros(), bit.trailing_zeros(), bit.count_ones()), (57, 70, 1));
    assert_eq!((black_box(5u128).leading_zeros(), black_box(0u128).trailing_zeros()), (125, 128));
    assert_eq!((bit.rotate_left(60), bit.rotate_right(71), bit.rotate_left(0)), (4, 1 << 127, 1 << 70));
    assert_eq!((black_box(0x0102u128).swap_bytes(), bit.reverse_bits()), (0x0201 << 112, 1 << 57));
    assert_eq!((bit.cmp(&5), black_box(-5i128).cmp(&5)), (Ordering::Greater, Ordering::Less));
    assert_eq!((bit.cmp(&(1 << 70)), bit.max(3), bit.min(3)), (Ordering::Equal, 1 << 70, 3));
    assert_eq!((black_box(-7i128).max(3), black_box(-7i128).min(3), black_box(-7i128).abs()), (3, -7, 7));
    assert_eq!((bit.saturating_add(u128::MAX), bit.saturating_sub(1 << 71)), (u128::MAX, 0));
    let least: i128 = black_box(i128::MIN);
    assert_eq!((least.saturating_sub(1), least.saturating_add(-1)), (i128::MIN, i128::MIN));
    assert_eq!((black_box(7i128).saturating_sub(least), least.saturating_add(1)), (i128::MAX, i128::MIN + 1));
}
