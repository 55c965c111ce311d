//! What `printf` reads and `scanf` writes: the arguments that a format asks for.
//!
//! The list of arguments is that of the System V calling convention for x86-64, read without taking anything from
//! it. A format with numbered arguments (`%1$s`) or wide strings is not looked at further.

use crate::library::{text, text_within, touch};
use porf_sample::race::Kind;
use std::ffi::{CStr, c_char};

/// A `va_list`.
#[repr(C)]
#[derive(Clone, Copy)]
struct List {
    /// Where in `saved` the next argument of each kind is.
    general: u32,
    floating: u32,
    overflow: usize,
    saved: usize,
}

const GENERAL_END: u32 = 48;
const FLOATING_END: u32 = 176;

impl List {
    unsafe fn word(&mut self) -> usize {
        // SAFETY: the format asks for an argument of this kind, so the caller passed one.
        unsafe {
            if self.general < GENERAL_END {
                self.general += 8;
                return *((self.saved + self.general as usize - 8) as *const usize);
            }
            self.overflow += 8;
            *((self.overflow - 8) as *const usize)
        }
    }

    fn skip_double(&mut self) {
        if self.floating < FLOATING_END {
            self.floating += 16;
        } else {
            self.overflow += 8;
        }
    }

    fn skip_long_double(&mut self) {
        self.overflow = self.overflow.next_multiple_of(16) + 16;
    }
}

/// One conversion of a format.
struct Conversion {
    letter: u8,
    /// `hh` is 1, `h` 2, none 4, `l` and the like 8, `L` 16.
    size: usize,
    width: Number,
    precision: Number,
    /// Of scanf: `*`, nothing is stored; of both: `m` before a string allocates it.
    flags: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum Number {
    None,
    Given(usize),
    /// The next argument says it.
    Argument,
}

const SUPPRESSED: u32 = 1;
const ALLOCATES: u32 = 2;

/// The conversions of a format, in order; it ends early at what is not understood.
struct Conversions<'a> {
    rest: &'a [u8],
    scans: bool,
}

impl Conversions<'_> {
    fn next_byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn peek(&self) -> u8 {
        self.rest.first().copied().unwrap_or(0)
    }

    fn number(&mut self) -> Number {
        if !self.scans && self.peek() == b'*' {
            self.next_byte();
            return Number::Argument;
        }
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        std::str::from_utf8(number)
            .ok()
            .and_then(|text| text.parse().ok())
            .map_or(Number::None, Number::Given)
    }
}

impl Iterator for Conversions<'_> {
    type Item = Conversion;

    fn next(&mut self) -> Option<Conversion> {
        while self.next_byte()? != b'%' {}
        let mut flags = 0;
        if self.scans {
            while matches!(self.peek(), b'*' | b'\'') {
                flags |= if self.next_byte() == Some(b'*') { SUPPRESSED } else { 0 };
            }
        } else {
            while matches!(self.peek(), b'-' | b'+' | b' ' | b'#' | b'0' | b'\'' | b'I') {
                self.next_byte();
            }
        }
        let width = self.number();
        let mut precision = Number::None;
        if self.peek() == b'.' {
            self.next_byte();
            precision = match self.number() {
                Number::None => Number::Given(0),
                given => given,
            };
        }
        if self.scans && self.peek() == b'm' {
            self.next_byte();
            flags |= ALLOCATES;
        }
        let mut size = 4;
        loop {
            size = match (self.peek(), size) {
                (b'h', 2) => 1,
                (b'h', _) => 2,
                (b'l' | b'q' | b'j' | b'z' | b't', _) => 8,
                (b'L', _) => 16,
                _ => break,
            };
            self.next_byte();
        }
        let letter = self.next_byte()?;
        if letter == b'[' {
            // The set ends at the first bracket that is not its first member.
            let negated = usize::from(self.peek() == b'^');
            let end = self.rest.iter().skip(negated + 1).position(|&byte| byte == b']')?;
            self.rest = &self.rest[negated + end + 2..];
        }
        (letter != b'$').then_some(Conversion { letter, size, width, precision, flags })
    }
}

unsafe fn conversions<'a>(format: usize, scans: bool) -> Conversions<'a> {
    // SAFETY: the caller passes a format, which outlives the call.
    Conversions { rest: unsafe { CStr::from_ptr(format as *const c_char) }.to_bytes(), scans }
}

/// Notes what printing by this format reads and writes; the length of the format with its end.
pub unsafe fn printed(format: usize, list: usize) -> usize {
    // SAFETY: the caller passes both to libc.
    unsafe {
        let mut list = *(list as *const List);
        for conversion in conversions(format, false) {
            if conversion.width == Number::Argument {
                list.word();
            }
            let most = match conversion.precision {
                Number::None => usize::MAX,
                Number::Given(most) => most,
                Number::Argument => usize::try_from(list.word() as i32).unwrap_or(usize::MAX),
            };
            match conversion.letter {
                b'%' | b'm' => {}
                b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' if conversion.size == 16 => {
                    list.skip_long_double();
                }
                b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => list.skip_double(),
                b's' if conversion.size == 4 => {
                    let string = list.word();
                    if string != 0 {
                        touch(string, text_within(string, most), Kind::Read);
                    }
                }
                b'n' => touch(list.word(), conversion.size.min(8), Kind::Write),
                b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b'C' | b'p' | b's' | b'S' => {
                    list.word();
                }
                _ => break,
            }
        }
        text(format)
    }
}

/// Notes what scanning by this format has written, `count` conversions of it; 0.
pub unsafe fn scanned(format: usize, list: usize, count: usize) -> usize {
    // SAFETY: the caller passed both to libc, which stored so many results.
    unsafe {
        let mut list = *(list as *const List);
        let mut left = (count as i32).max(0);
        for conversion in conversions(format, true) {
            if conversion.letter == b'%' || conversion.flags & SUPPRESSED != 0 {
                continue;
            }
            if left == 0 {
                break;
            }
            let to = list.word();
            let width = if let Number::Given(width) = conversion.width { width } else { 1 };
            let size = match conversion.letter {
                _ if conversion.flags & ALLOCATES != 0 => 8,
                b's' | b'[' if conversion.size == 4 => text(to),
                b'c' if conversion.size == 4 => width,
                b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'n' => conversion.size.min(8),
                b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => conversion.size,
                b'p' => 8,
                _ => break,
            };
            left -= i32::from(conversion.letter != b'n');
            touch(to, size, Kind::Write);
        }
        0
    }
}
