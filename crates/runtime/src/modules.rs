//! Which code is the program's: every instrumented file refers to `__tsan_init`, and calls it when it is loaded.
//!
//! What other libraries allocate and free stays between them and their own locks, which nobody sees, and is
//! not checked for races. The C++ library is an exception: its `operator new` and `delete` act for the program.

use crate::call::caller;
use crate::entry;
use crate::world::{World, is_initialised, world};
use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;

#[derive(Default)]
pub struct Modules {
    checked: Vec<Range<usize>>,
    /// How many there were when the executions began.
    before: usize,
    /// How many files had been loaded when they were last looked at.
    loads: u64,
}

impl Modules {
    /// Executions begin: what was loaded until now stays.
    pub fn begin(&mut self) {
        each(|name, range| {
            if name.contains("libstdc++.so") || name.contains("libc++.so") {
                self.checked.push(range);
            }
            false
        });
        self.before = self.checked.len();
    }

    pub fn reset(&mut self) {
        self.checked.truncate(self.before);
        self.loads = 0;
    }

    /// Whether code at this address acts for the program. Without an announcement all code does.
    #[inline]
    pub fn act_for_program(&self, pc: usize) -> bool {
        self.checked.is_empty() || self.checked.iter().any(|range| range.contains(&pc))
    }
}

impl World {
    /// Whether the running call comes from the program.
    pub fn is_called_by_program(&self) -> bool {
        self.modules.act_for_program(caller())
    }
}

/// An instrumented file says so when its constructors run, but not always who it is: the call may be a jump. So all
/// files that are new are looked at.
extern "C" fn announce() {
    if !is_initialised() {
        return;
    }
    // SAFETY: initialised; one kernel thread.
    let modules = &mut unsafe { world() }.modules;
    let mut loads = 0;
    each_file(|info| {
        loads = info.dlpi_adds;
        true
    });
    if modules.loads == loads {
        return;
    }
    modules.loads = loads;
    each_file(|info| {
        let range = addresses(info);
        if !modules.checked.contains(&range) && names(info, b"\0__tsan_init\0") {
            modules.checked.push(range);
        }
        false
    });
}

/// Whether the file has this symbol, its own or another's.
fn names(info: &libc::dl_phdr_info, symbol: &[u8]) -> bool {
    const STRINGS: i64 = 5;
    const STRINGS_SIZE: i64 = 10;
    // SAFETY: the loader's description of a file that is loaded, with its dynamic section.
    unsafe {
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
        let Some(header) = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC) else {
            return false;
        };
        let mut entry = (info.dlpi_addr + header.p_vaddr) as *const [i64; 2];
        let (mut start, mut size) = (0usize, 0usize);
        while (*entry)[0] != 0 {
            match *entry {
                [STRINGS, address] => start = address as usize,
                [STRINGS_SIZE, length] => size = length as usize,
                _ => {}
            }
            entry = entry.add(1);
        }
        if start == 0 || size < symbol.len() {
            return false;
        }
        // Most loaders relocate the address.
        let start = if start < info.dlpi_addr as usize { start + info.dlpi_addr as usize } else { start };
        let strings = std::slice::from_raw_parts(start as *const u8, size);
        strings.windows(symbol.len()).any(|part| part == symbol)
    }
}

entry! { __tsan_init => announce; }

/// The full program counter of which `short` has the low 32 bits, counted from `base`: the one that lies
/// in a loaded file.
pub fn complete(base: usize, short: u32) -> Option<usize> {
    let mut found = None;
    each(|_, range| {
        let first = range.start.wrapping_sub(base);
        let mut at = (first & !0xffff_ffff) | short as usize;
        if at < first {
            at += 1 << 32;
        }
        let pc = base.wrapping_add(at);
        if range.contains(&pc) {
            found = Some(pc);
        }
        found.is_some()
    });
    found
}

/// The file that has this address, and the address in it.
pub fn file_at(pc: usize) -> Option<(String, usize)> {
    let mut found = None;
    each_file(|info| {
        if addresses(info).contains(&pc) {
            // SAFETY: the loader's name of a file.
            let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy().into_owned();
            // The loader has no name for the program. In another process the link would be another file.
            let name = if name.is_empty() { program() } else { name };
            found = Some((name, pc - info.dlpi_addr as usize));
        }
        found.is_some()
    });
    found
}

/// The file of the program.
fn program() -> String {
    const LINK: &str = "/proc/self/exe";
    std::fs::read_link(LINK).map_or_else(|_| LINK.to_string(), |path| path.to_string_lossy().into_owned())
}

/// A number for the program counter that does not depend on where its file was loaded.
pub fn stable(pc: usize) -> u64 {
    let mut number = pc as u64;
    each(|name, range| {
        let inside = range.contains(&pc);
        if inside {
            let name = name.bytes().fold(0u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
            number = (name << 40) ^ (pc - range.start) as u64;
        }
        inside
    });
    number
}

/// Calls `visit` with the name and the addresses of every loaded file until it answers true.
fn each(mut visit: impl FnMut(&str, Range<usize>) -> bool) {
    each_file(|info| {
        // SAFETY: the loader's name of a file.
        let name = if info.dlpi_name.is_null() { c"" } else { unsafe { CStr::from_ptr(info.dlpi_name) } };
        visit(name.to_str().unwrap_or(""), addresses(info))
    });
}

fn addresses(info: &libc::dl_phdr_info) -> Range<usize> {
    let (mut first, mut end) = (usize::MAX, 0);
    // SAFETY: the loader's description of a file.
    for header in unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) } {
        if header.p_type == libc::PT_LOAD {
            let start = info.dlpi_addr as usize + header.p_vaddr as usize;
            first = first.min(start);
            end = end.max(start + header.p_memsz as usize);
        }
    }
    first..end
}

fn each_file<F: FnMut(&libc::dl_phdr_info) -> bool>(mut visit: F) {
    unsafe extern "C" fn one<F: FnMut(&libc::dl_phdr_info) -> bool>(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        visit: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader's description of a file, valid during the call; `visit` is the caller's closure.
        unsafe { c_int::from((*visit.cast::<F>())(&*info)) }
    }
    // SAFETY: calls `one` with the closure, before it returns.
    unsafe { libc::dl_iterate_phdr(Some(one::<F>), (&raw mut visit).cast()) };
}
