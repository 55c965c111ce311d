//! What functions of libc read and write for their caller: one table.
//!
//! `porf cc` redirects the calls of instrumented code from `strlen` to `__porf_strlen` and so on, so nothing
//! that libraries do among themselves comes here. A row names a function, its arguments, and the bytes it
//! accesses: before the call those that do not depend on its result, after it those that do. A program that
//! defines a function of such a name keeps its own.
//!
//! Limits: calls that the compiler expands in place are seen as the accesses it instruments, or not at all.

use crate::call::{CALLER, caller};
use crate::format::{printed, scanned};
use crate::plain;
use crate::real;
use crate::world::{is_running, world};
use porf_sample::protocol::REDIRECTED;
use porf_sample::race::Kind;
use std::ffi::{CStr, c_char};

/// The program, or libc for it, accesses these bytes.
pub fn touch(start: usize, length: usize, kind: Kind) {
    if is_watched() {
        // SAFETY: running.
        unsafe { plain::any_range(start, length, kind) };
    }
}

/// Whether the accesses of the running call are looked at: the program makes it, and there are threads.
fn is_watched() -> bool {
    // SAFETY: running.
    is_running() && unsafe { world() }.is_called_by_program()
}

/// The length of a string with its end.
pub unsafe fn text(start: usize) -> usize {
    // SAFETY: the caller passes a string to libc.
    unsafe { CStr::from_ptr(start as *const c_char) }.count_bytes() + 1
}

/// The same, of at most so many bytes.
pub unsafe fn text_within(start: usize, most: usize) -> usize {
    // SAFETY: as above, or that many bytes without an end.
    (0..most).find(|&at| unsafe { *((start + at) as *const u8) } == 0).map_or(most, |end| end + 1)
}

/// The bytes of a pointer that is written unless it is null.
fn pointer(to: usize) -> usize {
    if to == 0 { 0 } else { 8 }
}

/// The bytes that a call counts which answers with a negative number when it fails.
fn count_of(count: usize) -> usize {
    (count as isize).max(0) as usize
}

/// The bytes of what is written unless the call fails.
fn unless<T>(failed: usize) -> usize {
    if failed as i32 == 0 { size_of::<T>() } else { 0 }
}

/// The bytes of two descriptors unless the call that opens them fails.
unsafe fn both_opened(ends: usize, failed: usize) -> usize {
    if failed as i32 == 0 {
        // SAFETY: the call has written them.
        for end in unsafe { *(ends as *const [i32; 2]) } {
            crate::descriptor::opened(end);
        }
    }
    unless::<[i32; 2]>(failed)
}

/// The bytes of a formatted string with its end, of which the function tells the length.
fn written(length: usize) -> usize {
    if (length as i32) < 0 { 0 } else { length as i32 as usize + 1 }
}

/// The bytes of an internet address.
fn address(family: usize) -> usize {
    if family as i32 == libc::AF_INET6 { 16 } else { 4 }
}

/// Waits until a stream has input, as far as other threads allow; 0.
unsafe fn input(file: usize) -> usize {
    // SAFETY: a stream of libc's, which begins with its flags, the next byte of its buffer and the end of it.
    unsafe {
        let [_, next, end] = *(file as *const [usize; 3]);
        let fd = libc::fileno(file as *mut libc::FILE);
        if next >= end && fd >= 0 {
            let pc = caller();
            crate::io::until_ready(fd, libc::POLLIN);
            *CALLER.get() = pc;
        }
    }
    0
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
                    $(if is_watched() {
                        $(touch($bp, $bn, Kind::$bk);)*
                    })?
                    let outcome = real!($name($($arg: usize = $arg),*) -> usize);
                    *CALLER.get() = pc;
                    $(if is_watched() {
                        let $result = outcome;
                        $(touch($ap, $an, Kind::$ak);)*
                    })?
                    outcome
                }
            })*
        }
        $(std::arch::global_asm!(
            ".text",
            concat!(".weak __porf_", stringify!($name)),
            concat!(".type __porf_", stringify!($name), ",@function"),
            concat!("__porf_", stringify!($name), ":"),
            // A program with a function of this name calls ours by this one.
            concat!(".globl __interceptor_", stringify!($name)),
            concat!("__interceptor_", stringify!($name), ":"),
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
    // Strings.
    strlen(s) before { Read s, text(s); };
    strnlen(s, n) before { Read s, text_within(s, n); };
    strcpy(to, from) before { Read from, text(from); Write to, text(from); };
    __strcpy_chk(to, from, room) before { Read from, text(from); Write to, text(from); };
    stpcpy(to, from) before { Read from, text(from); Write to, text(from); };
    __stpcpy_chk(to, from, room) before { Read from, text(from); Write to, text(from); };
    strncpy(to, from, n) before { Read from, text_within(from, n); Write to, n; };
    __strncpy_chk(to, from, n, room) before { Read from, text_within(from, n); Write to, n; };
    stpncpy(to, from, n) before { Read from, text_within(from, n); Write to, n; };
    strcat(to, from) before { Read from, text(from); Read to, text(to); Write to + text(to) - 1, text(from); };
    __strcat_chk(to, from, room) before {
        Read from, text(from);
        Read to, text(to);
        Write to + text(to) - 1, text(from);
    };
    strncat(to, from, n) before {
        Read from, text_within(from, n);
        Read to, text(to);
        Write to + text(to) - 1, text_within(from, n).min(n) + 1;
    };
    __strncat_chk(to, from, n, room) before {
        Read from, text_within(from, n);
        Read to, text(to);
        Write to + text(to) - 1, text_within(from, n).min(n) + 1;
    };
    strcmp(a, b) before { Read a, compared(a, b, usize::MAX, false); Read b, compared(a, b, usize::MAX, false); };
    strncmp(a, b, n) before { Read a, compared(a, b, n, false); Read b, compared(a, b, n, false); };
    strcasecmp(a, b) before { Read a, compared(a, b, usize::MAX, true); Read b, compared(a, b, usize::MAX, true); };
    strncasecmp(a, b, n) before { Read a, compared(a, b, n, true); Read b, compared(a, b, n, true); };
    strcoll(a, b) before { Read a, text(a); Read b, text(b); };
    strchr(s, c) after found { Read s, if found == 0 { text(s) } else { found - s + 1 }; };
    strchrnul(s, c) after found { Read s, found - s + 1; };
    strrchr(s, c) before { Read s, text(s); };
    strstr(s, part) before { Read s, text(s); Read part, text(part); };
    strcasestr(s, part) before { Read s, text(s); Read part, text(part); };
    strspn(s, set) before { Read s, text(s); Read set, text(set); };
    strcspn(s, set) before { Read s, text(s); Read set, text(set); };
    strpbrk(s, set) before { Read s, text(s); Read set, text(set); };
    strtok_r(s, set, rest) before {
        Write s, if s == 0 { 0 } else { text(s) };
        Read set, text(set);
        Write rest, 8;
    };
    strdup(s) before { Read s, text(s); };
    strndup(s, n) before { Read s, text_within(s, n); };
    atoi(s) before { Read s, text(s); };
    atol(s) before { Read s, text(s); };
    atoll(s) before { Read s, text(s); };
    strtol(s, end, base) before { Read s, text(s); Write end, pointer(end); };
    strtoul(s, end, base) before { Read s, text(s); Write end, pointer(end); };
    strtoll(s, end, base) before { Read s, text(s); Write end, pointer(end); };
    strtoull(s, end, base) before { Read s, text(s); Write end, pointer(end); };
    strtoimax(s, end, base) before { Read s, text(s); Write end, pointer(end); };
    strtoumax(s, end, base) before { Read s, text(s); Write end, pointer(end); };
    // Memory.
    __memcpy_chk(to, from, n, room) before { Read from, n; Write to, n; };
    __memmove_chk(to, from, n, room) before { Read from, n; Write to, n; };
    __memset_chk(to, value, n, room) before { Write to, n; };
    memcmp(a, b, n) before { Read a, n; Read b, n; };
    bcmp(a, b, n) before { Read a, n; Read b, n; };
    memchr(s, c, n) after found { Read s, if found == 0 { n } else { found - s + 1 }; };
    memrchr(s, c, n) before { Read s, n; };
    memmem(s, n, part, m) before { Read s, n; Read part, m; };
    mempcpy(to, from, n) before { Read from, n; Write to, n; };
    __mempcpy_chk(to, from, n, room) before { Read from, n; Write to, n; };
    memccpy(to, from, c, n) after end {
        Read from, if end == 0 { n } else { end - to };
        Write to, if end == 0 { n } else { end - to };
    };
    bcopy(from, to, n) before { Read from, n; Write to, n; };
    bzero(to, n) before { Write to, n; };
    explicit_bzero(to, n) before { Write to, n; };
    qsort(base, n, size, order) before { Write base, n * size; };
    qsort_r(base, n, size, order, argument) before { Write base, n * size; };
    rand_r(seed) before { Write seed, 4; };
    getrandom(to, n, flags) after count { Write to, count_of(count); };
    getentropy(to, n) before { Write to, n; };
    // Files.
    puts(s) before { Read s, text(s); };
    fputs(s, file) before { Read s, text(s); };
    perror(s) before { Read s, if s == 0 { 0 } else { text(s) }; };
    fwrite(from, size, n, file) before { Read from, size * n; };
    fwrite_unlocked(from, size, n, file) before { Read from, size * n; };
    fread(to, size, n, file) before { Read 0, input(file); } after count { Write to, size * count; };
    fread_unlocked(to, size, n, file) after count { Write to, size * count; };
    __fread_chk(to, room, size, n, file) after count { Write to, size * count; };
    fgets(to, n, file) before { Read 0, input(file); } after line { Write to, if line == 0 { 0 } else { text(to) }; };
    __fgets_chk(to, room, n, file) after line { Write to, if line == 0 { 0 } else { text(to) }; };
    fgetc(file) before { Read 0, input(file); };
    getc(file) before { Read 0, input(file); };
    getline(line, room, file) before { Read 0, input(file); } after count {
        Write line, 8;
        Write room, 8;
        Write *(line as *const usize), if count as isize > 0 { count + 1 } else { 0 };
    };
    getdelim(line, room, end, file) before { Read 0, input(file); } after count {
        Write line, 8;
        Write room, 8;
        Write *(line as *const usize), if count as isize > 0 { count + 1 } else { 0 };
    };
    __getdelim(line, room, end, file) before { Read 0, input(file); } after count {
        Write line, 8;
        Write room, 8;
        Write *(line as *const usize), if count as isize > 0 { count + 1 } else { 0 };
    };
    fopen(path, mode) before { Read path, text(path); Read mode, text(mode); };
    fdopen(fd, mode) before { Read mode, text(mode); };
    opendir(path) before { Read path, text(path); };
    stat(path, status) before { Read path, text(path); } after failed { Write status, unless::<libc::stat>(failed); };
    lstat(path, status) before { Read path, text(path); } after failed { Write status, unless::<libc::stat>(failed); };
    fstat(fd, status) after failed { Write status, unless::<libc::stat>(failed); };
    unlink(path) before { Read path, text(path); };
    remove(path) before { Read path, text(path); };
    rename(from, to) before { Read from, text(from); Read to, text(to); };
    mkdir(path, mode) before { Read path, text(path); };
    rmdir(path) before { Read path, text(path); };
    chdir(path) before { Read path, text(path); };
    access(path, mode) before { Read path, text(path); };
    readlink(path, to, n) before { Read path, text(path); } after count { Write to, count_of(count); };
    __readlink_chk(path, to, n, room) before { Read path, text(path); } after count { Write to, count_of(count); };
    getcwd(to, n) after result { Write to, if to == 0 || result == 0 { 0 } else { text(to) }; };
    __getcwd_chk(to, n, room) after result { Write to, if to == 0 || result == 0 { 0 } else { text(to) }; };
    realpath(path, to) before { Read path, text(path); } after result {
        Write to, if to == 0 || result == 0 { 0 } else { text(to) };
    };
    __realpath_chk(path, to, room) before { Read path, text(path); } after result {
        Write to, if to == 0 || result == 0 { 0 } else { text(to) };
    };
    pipe(ends) after failed { Write ends, both_opened(ends, failed); };
    pipe2(ends, flags) after failed { Write ends, both_opened(ends, failed); };
    socketpair(domain, sort, protocol, ends) after failed { Write ends, both_opened(ends, failed); };
    // The system.
    __xpg_strerror_r(error, to, n) after failed { Write to, if failed as i32 != 0 { 0 } else { text_within(to, n) }; };
    strerror_r(error, to, n) after result { Write to, if result != to { 0 } else { text_within(to, n) }; };
    gethostname(to, n) after failed { Write to, if failed as i32 != 0 { 0 } else { text_within(to, n) }; };
    uname(to) after failed { Write to, unless::<libc::utsname>(failed); };
    getrusage(who, to) after failed { Write to, unless::<libc::rusage>(failed); };
    getrlimit(which, to) after failed { Write to, unless::<libc::rlimit>(failed); };
    times(to) before { Write to, if to == 0 { 0 } else { size_of::<libc::tms>() }; };
    setenv(name, value, replace) before { Read name, text(name); Read value, text(value); };
    unsetenv(name) before { Read name, text(name); };
    getenv(name) before { Read name, text(name); };
    inet_pton(family, s, to) before { Read s, text(s); } after good {
        Write to, if good as i32 == 1 { address(family) } else { 0 };
    };
    inet_ntop(family, from, to, n) before { Read from, address(family); } after result {
        Write to, if result == 0 { 0 } else { text(to) };
    };
    getaddrinfo(node, service, hints, out) before {
        Read node, if node == 0 { 0 } else { text(node) };
        Read service, if service == 0 { 0 } else { text(service) };
    } after failed { Write out, unless::<usize>(failed); };
    // Times.
    localtime(time) before { Read time, 8; };
    gmtime(time) before { Read time, 8; };
    ctime(time) before { Read time, 8; };
    localtime_r(time, to) before { Read time, 8; Write to, size_of::<libc::tm>(); };
    gmtime_r(time, to) before { Read time, 8; Write to, size_of::<libc::tm>(); };
    mktime(time) before { Write time, size_of::<libc::tm>(); };
    timegm(time) before { Write time, size_of::<libc::tm>(); };
    strftime(to, n, format, time) before { Read format, text(format); Read time, size_of::<libc::tm>(); } after length {
        Write to, if length == 0 { 0 } else { length + 1 };
    };
    asctime_r(time, to) before { Read time, size_of::<libc::tm>(); } after result {
        Write to, if result == 0 { 0 } else { text(to) };
    };
    ctime_r(time, to) before { Read time, 8; } after result { Write to, if result == 0 { 0 } else { text(to) }; };
    // Formats: those with a list of arguments; the others end up here.
    vprintf(format, list) before { Read format, printed(format, list); };
    vfprintf(file, format, list) before { Read format, printed(format, list); };
    vdprintf(fd, format, list) before { Read format, printed(format, list); };
    vasprintf(out, format, list) before { Read format, printed(format, list); Write out, 8; };
    vsnprintf(to, n, format, list) before { Read format, printed(format, list); } after length {
        Write to, written(length).min(n);
    };
    vsprintf(to, format, list) before { Read format, printed(format, list); } after length { Write to, written(length); };
    __vprintf_chk(flag, format, list) before { Read format, printed(format, list); };
    __vfprintf_chk(file, flag, format, list) before { Read format, printed(format, list); };
    __vdprintf_chk(fd, flag, format, list) before { Read format, printed(format, list); };
    __vasprintf_chk(out, flag, format, list) before { Read format, printed(format, list); Write out, 8; };
    __vsnprintf_chk(to, n, flag, room, format, list) before { Read format, printed(format, list); } after length {
        Write to, written(length).min(n);
    };
    __vsprintf_chk(to, flag, room, format, list) before { Read format, printed(format, list); } after length {
        Write to, written(length);
    };
    vsscanf(s, format, list) before { Read s, text(s); Read format, text(format); } after count {
        Write 0, scanned(format, list, count);
    };
    vfscanf(file, format, list) before { Read format, text(format); } after count {
        Write 0, scanned(format, list, count);
    };
    vscanf(format, list) before { Read format, text(format); } after count { Write 0, scanned(format, list, count); };
    __isoc99_vsscanf(s, format, list) before { Read s, text(s); Read format, text(format); } after count {
        Write 0, scanned(format, list, count);
    };
    __isoc99_vfscanf(file, format, list) before { Read format, text(format); } after count {
        Write 0, scanned(format, list, count);
    };
    __isoc99_vscanf(format, list) before { Read format, text(format); } after count {
        Write 0, scanned(format, list, count);
    };
}

// ---- functions with a variable number of arguments ----

/// A function with named arguments and others: it continues as the row that takes a list, which is passed in the
/// place of the others.
macro_rules! variadic {
    ($($name:literal($($arg:ident)*), $named:literal => $row:ident;)*) => {
        mod listed {
            $(pub unsafe extern "C" fn $row(named: &[usize; 6], list: usize) -> usize {
                let [$($arg,)* ..] = *named;
                // SAFETY: the contract of this function is that of the one it calls.
                unsafe { super::inner::$row($($arg,)* list) }
            })*
        }
        $(std::arch::global_asm!(
            ".text",
            concat!(".weak __porf_", $name),
            concat!(".type __porf_", $name, ",@function"),
            concat!("__porf_", $name, ":"),
            concat!(".globl __interceptor_", $name),
            concat!("__interceptor_", $name, ":"),
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
            "mov rdi, rsp",
            "lea rsi, [rsp + 176]",
            "call {inner}",
            "leave",
            "ret",
            caller = sym CALLER,
            inner = sym listed::$row,
        );)*
        const VARIADIC: &[&str] = &[$($name),*];
    };
}

variadic! {
    "printf"(format), 1 => vprintf;
    "fprintf"(file format), 2 => vfprintf;
    "dprintf"(fd format), 2 => vdprintf;
    "asprintf"(out format), 2 => vasprintf;
    "snprintf"(to n format), 3 => vsnprintf;
    "sprintf"(to format), 2 => vsprintf;
    "__printf_chk"(flag format), 2 => __vprintf_chk;
    "__fprintf_chk"(file flag format), 3 => __vfprintf_chk;
    "__dprintf_chk"(fd flag format), 3 => __vdprintf_chk;
    "__asprintf_chk"(out flag format), 3 => __vasprintf_chk;
    "__snprintf_chk"(to n flag room format), 5 => __vsnprintf_chk;
    "__sprintf_chk"(to flag room format), 4 => __vsprintf_chk;
    "sscanf"(s format), 2 => vsscanf;
    "fscanf"(file format), 2 => vfscanf;
    "scanf"(format), 1 => vscanf;
    "__isoc99_sscanf"(s format), 2 => __isoc99_vsscanf;
    "__isoc99_fscanf"(file format), 2 => __isoc99_vfscanf;
    "__isoc99_scanf"(format), 1 => __isoc99_vscanf;
}

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
