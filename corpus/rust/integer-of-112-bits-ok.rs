// expect: safe
// What is returned in two registers is cut out of one integer.
use std::hint::black_box;
#[derive(Clone, Copy, PartialEq, Debug)]
struct Header {
    a: u64,
    b: u32,
    c: u16,
}
#[inline(never)]
fn next(header: Header) -> Header {
    Header { a: header.a + 1, b: header.b + 2, c: header.c + 3 }
}
pub fn main() {
    let header = next(black_box(Header { a: 1 << 60, b: 20, c: 30 }));
    assert_eq!(header, Header { a: (1 << 60) + 1, b: 22, c: 33 });
    let bytes: [u8; 14] = black_box([7; 14]);
    let copy = black_box(bytes);
    assert_eq!(copy.iter().map(|byte| u32::from(*byte)).sum::<u32>(), 98);
}
