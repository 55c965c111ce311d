//! Which code is the program's: every instrumented file announces itself by `__tsan_init`.
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

extern "C" fn announce() {
    if !is_initialised() {
        return;
    }
    let pc = caller();
    // SAFETY: initialised; one kernel thread.
    let modules = &mut unsafe { world() }.modules;
    if !modules.checked.is_empty() && modules.act_for_program(pc) {
        return;
    }
    each(|_, range| {
        let found = range.contains(&pc);
        if found {
            modules.checked.push(range);
        }
        found
    });
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
fn each<F: FnMut(&str, Range<usize>) -> bool>(mut visit: F) {
    unsafe extern "C" fn one<F: FnMut(&str, Range<usize>) -> bool>(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        visit: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader's description of a file, valid during the call; `visit` is the caller's closure.
        unsafe {
            let info = &*info;
            let (mut first, mut end) = (usize::MAX, 0);
            for header in std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) {
                if header.p_type == libc::PT_LOAD {
                    let start = info.dlpi_addr as usize + header.p_vaddr as usize;
                    first = first.min(start);
                    end = end.max(start + header.p_memsz as usize);
                }
            }
            let name = if info.dlpi_name.is_null() { c"" } else { CStr::from_ptr(info.dlpi_name) };
            c_int::from((*visit.cast::<F>())(name.to_str().unwrap_or(""), first..end))
        }
    }
    // SAFETY: calls `one` with the closure, before it returns.
    unsafe { libc::dl_iterate_phdr(Some(one::<F>), (&raw mut visit).cast()) };
}
