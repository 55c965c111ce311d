//! `__sanitizer_symbolize_pc` and `__sanitizer_symbolize_global`: what is at an address, in the caller's format.
//!
//! Of the format's letters, `%%`, `%n` (0), `%p` (the address), `%m` (file of the program or library), `%o` (place in it),
//! `%f` (function), `%F` (`in` function), `%s` (source file), `%l` (line), `%S` and `%L` (file and line, or file and place),
//! and `%g` (variable) are known; `%c` (column) is 0, which stands for a column that is not known. Calls that were inlined
//! are told innermost first, each a string, and an empty one ends them.
//!
//! Limits: needs binutils' `addr2line`, without which there are no functions and lines.

use crate::locate;
use crate::modules;
use crate::standalone::ask;
use std::ffi::{CStr, c_char};

/// What is known of an address.
#[derive(Default)]
struct Place {
    address: usize,
    module: String,
    offset: usize,
    function: String,
    file: String,
    line: String,
}

fn written(format: &str, place: &Place) -> String {
    let mut text = String::new();
    let mut letters = format.chars();
    let source = || match place.file.as_str() {
        "" => format!("({}+{:#x})", place.module, place.offset),
        file => format!("{file}:{}", place.line),
    };
    while let Some(letter) = letters.next() {
        if letter != '%' {
            text.push(letter);
            continue;
        }
        match letters.next() {
            Some('n' | 'c') => text.push('0'),
            Some('p') => text.push_str(&format!("{:#x}", place.address)),
            Some('m') => text.push_str(&place.module),
            Some('o') => text.push_str(&format!("{:#x}", place.offset)),
            Some('f' | 'g') => text.push_str(&place.function),
            Some('F') => text.push_str(&format!("in {}", place.function)),
            Some('s') => text.push_str(&place.file),
            Some('l') => text.push_str(&place.line),
            Some('S' | 'L') => text.push_str(&source()),
            Some(other) => text.push(other),
            None => {}
        }
    }
    text
}

/// The functions at an address of the program, inlined ones first.
fn places(address: usize) -> Vec<Place> {
    let Some((module, offset)) = modules::file_at(address) else { return Vec::new() };
    let answer = ask(&["addr2line", "-Cfie", &module, &format!("{offset:#x}")]).unwrap_or_default();
    let lines: Vec<&str> = answer.lines().collect();
    let mut places: Vec<Place> = lines
        .chunks_exact(2)
        .map(|pair| {
            let (file, line) = pair[1].rsplit_once(':').unwrap_or((pair[1], "0"));
            let line = line.split(' ').next().unwrap_or("0");
            let (file, line) = if file == "??" { ("", "0") } else { (file, line) };
            let function = if pair[0] == "??" { "" } else { pair[0] };
            Place {
                address,
                module: module.clone(),
                offset,
                function: function.to_string(),
                file: file.to_string(),
                line: line.to_string(),
            }
        })
        .collect();
    if places.is_empty() {
        places.push(Place { address, module, offset, ..Place::default() });
    }
    places
}

/// Writes strings one after the other, each ended, and an empty one at the end.
unsafe fn put(strings: &[String], to: *mut u8, room: usize) {
    if room == 0 {
        return;
    }
    let mut bytes: Vec<u8> = strings.iter().flat_map(|text| text.bytes().chain([0])).collect();
    // The last string is cut, not its end.
    bytes.truncate(room.saturating_sub(2));
    bytes.extend([0, 0]);
    bytes.truncate(room);
    // SAFETY: the caller's buffer of so many bytes.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sanitizer_symbolize_pc(
    address: usize,
    format: *const c_char,
    to: *mut u8,
    room: usize,
) {
    // SAFETY: the caller's string and buffer.
    unsafe {
        let format = CStr::from_ptr(format).to_string_lossy();
        // As for a return address: the call is before it.
        let places = places(address.wrapping_sub(1));
        let told = |mut place: Place| {
            place.address = address;
            written(&format, &place)
        };
        let mut strings: Vec<String> = places.into_iter().map(told).collect();
        if strings.is_empty() {
            strings.push("<can't symbolize>".to_string());
        }
        put(&strings, to, room);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sanitizer_symbolize_global(
    address: usize,
    format: *const c_char,
    to: *mut u8,
    room: usize,
) {
    // SAFETY: the caller's string and buffer.
    unsafe {
        let format = CStr::from_ptr(format).to_string_lossy();
        let name =
            locate::region(address).filter(|region| region.sort == c"global").map(|region| region.name);
        let (module, offset) = modules::file_at(address).unwrap_or_default();
        let place = Place { address, module, offset, function: name.unwrap_or_default(), ..Place::default() };
        put(&[written(&format, &place)], to, room);
    }
}
