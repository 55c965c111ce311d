//! Raw system calls and the real libc functions behind the ones defined here.

use std::arch::asm;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A system call without libc: no errno, no interposition. Negative results are errors.
///
/// # Safety
/// As the system call.
#[inline]
pub unsafe fn syscall(number: i64, args: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the kernel preserves all registers but rax, rcx and r11.
    unsafe {
        asm!("syscall", inlateout("rax") number as isize => result,
            in("rdi") args[0], in("rsi") args[1], in("rdx") args[2],
            in("r10") args[3], in("r8") args[4], in("r9") args[5],
            lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    result
}

/// Everything the runtime maps for itself lies between these addresses, away from where programs and
/// libraries go, so that a snapshot can leave it out.
pub const OWN: std::ops::Range<usize> = 0x1000_0000_0000..0x5000_0000_0000;

static NEXT: Global<usize> = Global::new(OWN.start);

/// Lazily backed zeroed memory of our own.
pub fn map(length: usize) -> *mut u8 {
    let length = length.next_multiple_of(4096);
    loop {
        // SAFETY: one kernel thread.
        let at = unsafe {
            let at = *NEXT.get();
            *NEXT.get() = at + length + 4096;
            at
        };
        if at + length > OWN.end {
            fail("porf: cannot reserve memory\n");
        }
        // NEXT is rolled back between executions: what is taken already is skipped.
        if let Some(memory) = map_at(at, length) {
            return memory;
        }
    }
}

/// [`map`] right behind what ends there, if that was mapped last: to the kernel it is one mapping.
pub fn map_behind(end: usize, length: usize) -> Option<*mut u8> {
    // SAFETY: one kernel thread.
    unsafe {
        let next = NEXT.get();
        if *next != end + 4096 || end + length > OWN.end {
            return None;
        }
        let memory = map_at(end, length)?;
        *next = end + length + 4096;
        Some(memory)
    }
}

/// Lazily backed zeroed memory at a given place; None if something is there.
pub fn map_at(at: usize, length: usize) -> Option<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let prot = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new anonymous mapping touches nothing that exists.
    let result =
        unsafe { syscall(libc::SYS_mmap, [at, length, prot as usize, flags as usize, usize::MAX, 0]) };
    match result {
        _ if result as usize == at => Some(result as *mut u8),
        _ if result == -(libc::EEXIST as isize) => None,
        _ => fail("porf: cannot reserve memory\n"),
    }
}

/// Writes a message to standard error and ends the process.
pub fn fail(message: &str) -> ! {
    write_error(message);
    exit_now(70)
}

pub fn write_error(message: &str) {
    // SAFETY: the buffer is valid for its length.
    unsafe { syscall(libc::SYS_write, [2, message.as_ptr() as usize, message.len(), 0, 0, 0]) };
}

pub fn exit_now(status: i32) -> ! {
    loop {
        // SAFETY: ends the process.
        unsafe { syscall(libc::SYS_exit_group, [status as usize, 0, 0, 0, 0, 0]) };
    }
}

/// What a file holds, by system calls: the functions of libc are ours.
pub fn read_file(path: &str) -> Option<Vec<u8>> {
    let name = std::ffi::CString::new(path).ok()?;
    let mut bytes = Vec::new();
    // SAFETY: plain system calls on a buffer of ours.
    unsafe {
        let flags = (libc::O_RDONLY | libc::O_CLOEXEC) as usize;
        let file = syscall(libc::SYS_open, [name.as_ptr() as usize, flags, 0, 0, 0, 0]);
        if file < 0 {
            return None;
        }
        let mut buffer = [0u8; 4096];
        loop {
            let part = [file as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0];
            let count = syscall(libc::SYS_read, part);
            if count <= 0 {
                break;
            }
            bytes.extend_from_slice(&buffer[..count as usize]);
        }
        syscall(libc::SYS_close, [file as usize, 0, 0, 0, 0, 0]);
    }
    Some(bytes)
}

pub fn set_errno(error: i32) {
    // SAFETY: errno of the current (borrowed) thread.
    unsafe { *libc::__errno_location() = error };
}

/// The next definition of a symbol after ours, looked up once.
pub struct Real {
    name: &'static CStr,
    address: AtomicUsize,
}

impl Real {
    pub const fn new(name: &'static CStr) -> Real {
        Real { name, address: AtomicUsize::new(0) }
    }

    pub fn address(&self) -> usize {
        let known = self.address.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        // SAFETY: dlsym with a valid name; it may call our malloc, which needs no initialisation.
        let found = unsafe { dlsym(usize::MAX as *mut c_void, self.name.as_ptr()) } as usize;
        if found == 0 {
            write_error("porf: libc lacks ");
            write_error(self.name.to_str().unwrap_or("?"));
            fail("\n");
        }
        self.address.store(found, Ordering::Relaxed);
        found
    }
}

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// `real!(fn name(args) -> result)` calls libc's own definition.
#[macro_export]
macro_rules! real {
    ($name:ident ( $($arg:ident : $ty:ty = $value:expr),* $(,)? ) $(-> $ret:ty)?) => {{
        static REAL: $crate::sys::Real = $crate::sys::Real::new(
            match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!(),
            });
        // The address is libc's function of this name and signature; calling it is the caller's `unsafe`.
        let function: unsafe extern "C" fn($($ty),*) $(-> $ret)? = std::mem::transmute(REAL.address());
        function($($value),*)
    }};
}

/// State that only the one running kernel thread touches.
pub struct Global<T>(std::cell::UnsafeCell<T>);

// SAFETY: fibers share one kernel thread; parked threads run nothing.
unsafe impl<T> Sync for Global<T> {}

impl<T> Global<T> {
    pub const fn new(value: T) -> Global<T> {
        Global(std::cell::UnsafeCell::new(value))
    }

    #[inline(always)]
    pub fn get(&self) -> *mut T {
        self.0.get()
    }
}
