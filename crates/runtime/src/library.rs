//! What functions of libc read and write for their caller: one table.
//!
//! `porf cc` redirects the calls of instrumented code from `strlen` to `__porf_strlen` and so on, so nothing
//! that libraries do among themselves comes here. A row names a function, its arguments, and the bytes it
//! accesses: before the call those that do not depend on its result, after it those that do. A program that
//! defines a function of such a name keeps its own.
//!
//! Limits: calls that the compiler expands in place are seen as the accesses it instruments, or not at all.

use crate::call::{CALLER, caller};
use crate::plain;
use crate::real;
use crate::world::{is_running, world};
use porf_sample::protocol::REDIRECTED;
use porf_sample::race::Kind;
use std::ffi::{CStr, c_char};

/// The program, or libc for it, accesses these bytes.
pub fn touch(start: usize, length: usize, kind: Kind) {
    // SAFETY: running.
    if is_running() && unsafe { world() }.is_called_by_program() {
        // SAFETY: as above.
        unsafe { plain::any_range(start, length, kind) };
    }
}

/// The length of a string with its end.
unsafe fn text(start: usize) -> usize {
    // SAFETY: the caller passes a string to libc.
    unsafe { CStr::from_ptr(start as *const c_char) }.count_bytes() + 1
}

/// The same, of at most so many bytes.
unsafe fn text_within(start: usize, most: usize) -> usize {
    // SAFETY: as above, or that many bytes without an end.
    (0..most).find(|&at| unsafe { *((start + at) as *const u8) } == 0).map_or(most, |end| end + 1)
}

/// How many bytes of two strings must be read to compare them.
unsafe fn compared(a: usize, b: usize, most: usize, fold: bool) -> usize {
    let byte = |start: usize, at: usize| {
        // SAFETY: as above: no further than the first end or difference.
        let byte = unsafe { *((start + at) as *const u8) };
        if fold { byte.to_ascii_lowercase() } else { byte }
    };
    (0..most).find(|&at| byte(a, at) != byte(b, at) || byte(a, at) == 0).map_or(most, |at| at + 1)
}

macro_rules! library {
    ($($name:ident($($arg:ident),*)
        $(before { $($bk:ident $bp:expr, $bn:expr;)* })?
        $(after $result:ident { $($ak:ident $ap:expr, $an:expr;)* })?;)*) => {
        mod inner {
            use super::*;
            $(pub unsafe extern "C" fn $name($($arg: usize),*) -> usize {
                // SAFETY: the program's own call of the function of this name.
                unsafe {
                    let pc = caller();
                    $($(touch($bp, $bn, Kind::$bk);)*)?
                    let outcome = real!($name($($arg: usize = $arg),*) -> usize);
                    $(let $result = outcome;
                    *CALLER.get() = pc;
                    $(touch($ap, $an, Kind::$ak);)*)?
                    let _ = pc;
                    outcome
                }
            })*
        }
        $(std::arch::global_asm!(
            ".text",
            concat!(".weak __porf_", stringify!($name)),
            concat!(".type __porf_", stringify!($name), ",@function"),
            concat!("__porf_", stringify!($name), ":"),
            "mov r11, [rsp]",
            "mov [rip + {caller}], r11",
            "jmp {inner}",
            caller = sym CALLER,
            inner = sym inner::$name,
        );)*
        const ROWS: &[&str] = &[$(stringify!($name)),*];
    };
}

library! {
    strlen(s) before { Read s, text(s); };
    strnlen(s, n) before { Read s, text_within(s, n); };
    strcpy(to, from) before { Read from, text(from); Write to, text(from); };
    stpcpy(to, from) before { Read from, text(from); Write to, text(from); };
    strncpy(to, from, n) before { Read from, text_within(from, n); Write to, n; };
    strcat(to, from) before { Read from, text(from); Read to, text(to); Write to + text(to) - 1, text(from); };
    strncat(to, from, n) before {
        Read from, text_within(from, n);
        Read to, text(to);
        Write to + text(to) - 1, text_within(from, n).min(n) + 1;
    };
    strcmp(a, b) before { Read a, compared(a, b, usize::MAX, false); Read b, compared(a, b, usize::MAX, false); };
    strncmp(a, b, n) before { Read a, compared(a, b, n, false); Read b, compared(a, b, n, false); };
    strcasecmp(a, b) before { Read a, compared(a, b, usize::MAX, true); Read b, compared(a, b, usize::MAX, true); };
    strncasecmp(a, b, n) before { Read a, compared(a, b, n, true); Read b, compared(a, b, n, true); };
    strchr(s, c) after found { Read s, if found == 0 { text(s) } else { found - s + 1 }; };
    strrchr(s, c) before { Read s, text(s); };
    strstr(s, part) before { Read s, text(s); Read part, text(part); };
    strspn(s, set) before { Read s, text(s); Read set, text(set); };
    strcspn(s, set) before { Read s, text(s); Read set, text(set); };
    strpbrk(s, set) before { Read s, text(s); Read set, text(set); };
    strdup(s) before { Read s, text(s); };
    strndup(s, n) before { Read s, text_within(s, n); };
    memcmp(a, b, n) before { Read a, n; Read b, n; };
    bcmp(a, b, n) before { Read a, n; Read b, n; };
    memchr(s, c, n) after found { Read s, if found == 0 { n } else { found - s + 1 }; };
    memrchr(s, c, n) before { Read s, n; };
    memmem(s, n, part, m) before { Read s, n; Read part, m; };
    mempcpy(to, from, n) before { Read from, n; Write to, n; };
    bcopy(from, to, n) before { Read from, n; Write to, n; };
    bzero(to, n) before { Write to, n; };
    puts(s) before { Read s, text(s); };
    fputs(s, file) before { Read s, text(s); };
    fwrite(from, size, n, file) before { Read from, size * n; };
    fread(to, size, n, file) after count { Write to, size * count; };
    fgets(to, n, file) after line { Write to, if line == 0 { 0 } else { text(to) }; };
    fopen(path, mode) before { Read path, text(path); Read mode, text(mode); };
    fdopen(fd, mode) before { Read mode, text(mode); };
    stat(path, status) before { Read path, text(path); } after failed {
        Write status, if failed as i32 == 0 { size_of::<libc::stat>() } else { 0 };
    };
    fstat(fd, status) after failed { Write status, if failed as i32 == 0 { size_of::<libc::stat>() } else { 0 }; };
    unlink(path) before { Read path, text(path); };
    access(path, mode) before { Read path, text(path); };
    getcwd(to, n) after result { Write to, if to == 0 || result == 0 { 0 } else { text(to) }; };
    realpath(path, to) before { Read path, text(path); } after result {
        Write to, if to == 0 || result == 0 { 0 } else { text(to) };
    };
    qsort(base, n, size, order) before { Write base, n * size; };
    __xpg_strerror_r(error, to, n) after failed { Write to, if failed as i32 != 0 { 0 } else { text_within(to, n) }; };
    localtime_r(time, to) before { Read time, 8; Write to, size_of::<libc::tm>(); };
    gmtime_r(time, to) before { Read time, 8; Write to, size_of::<libc::tm>(); };
    mktime(time) before { Write time, size_of::<libc::tm>(); };
    setenv(name, value, replace) before { Read name, text(name); Read value, text(value); };
    getenv(name) before { Read name, text(name); };
    vsnprintf(to, n, format, arguments) before { Read format, text(format); } after length {
        Write to, (length as i32).max(-1).wrapping_add(1).max(0).min(n.min(1 << 30) as i32) as usize;
    };
    vsprintf(to, format, arguments) before { Read format, text(format); } after length {
        Write to, (length as i32).max(-1).wrapping_add(1) as usize;
    };
}

// ---- functions with a variable number of arguments ----

/// Hands the arguments, from the number of named ones on, to an inner function as a `va_list`, in rcx.
macro_rules! variadic {
    ($($name:literal, $named:literal => $inner:ident;)*) => {
        $(std::arch::global_asm!(
            ".text",
            concat!(".weak __porf_", $name),
            concat!(".type __porf_", $name, ",@function"),
            concat!("__porf_", $name, ":"),
            "mov r11, [rsp]",
            "mov [rip + {caller}], r11",
            "push rbp",
            "mov rbp, rsp",
            "sub rsp, 208",
            "mov [rsp], rdi",
            "mov [rsp + 8], rsi",
            "mov [rsp + 16], rdx",
            "mov [rsp + 24], rcx",
            "mov [rsp + 32], r8",
            "mov [rsp + 40], r9",
            "test al, al",
            "je 2f",
            "movaps [rsp + 48], xmm0",
            "movaps [rsp + 64], xmm1",
            "movaps [rsp + 80], xmm2",
            "movaps [rsp + 96], xmm3",
            "movaps [rsp + 112], xmm4",
            "movaps [rsp + 128], xmm5",
            "movaps [rsp + 144], xmm6",
            "movaps [rsp + 160], xmm7",
            "2:",
            concat!("mov dword ptr [rsp + 176], ", stringify!($named), " * 8"),
            "mov dword ptr [rsp + 180], 48",
            "lea rax, [rbp + 16]",
            "mov [rsp + 184], rax",
            "mov [rsp + 192], rsp",
            "lea rcx, [rsp + 176]",
            "call {inner}",
            "leave",
            "ret",
            caller = sym CALLER,
            inner = sym $inner,
        );)*
        const VARIADIC: &[&str] = &[$($name),*];
    };
}

unsafe extern "C" fn print_within(to: usize, n: usize, format: usize, arguments: usize) -> usize {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { inner::vsnprintf(to, n, format, arguments) }
}

unsafe extern "C" fn print_to(to: usize, format: usize, _: usize, arguments: usize) -> usize {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { inner::vsprintf(to, format, arguments) }
}

variadic! { "snprintf", 3 => print_within; "sprintf", 2 => print_to; }

/// `porf cc` redirects exactly the functions of these tables.
const _: () = {
    assert!(REDIRECTED.len() == ROWS.len() + VARIADIC.len());
    let mut index = 0;
    while index < REDIRECTED.len() {
        let row = if index < ROWS.len() { ROWS[index] } else { VARIADIC[index - ROWS.len()] };
        let (row, redirected) = (row.as_bytes(), REDIRECTED[index].as_bytes());
        assert!(row.len() == redirected.len());
        let mut at = 0;
        while at < row.len() {
            assert!(row[at] == redirected[at]);
            at += 1;
        }
        index += 1;
    }
};
