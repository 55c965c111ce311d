//! Kernel threads that lend their thread-local storage to fibers.
//!
//! "Thread context borrowing" (the C11Tester paper, §6.4), without running the lenders: each is created
//! once on memory of ours, blocks every signal and parks forever; a fiber then runs with the lender's FS
//! base, on a copy of the storage as it was when the lender parked. glibc's `pthread_self`, errno,
//! `thread_local` and stack protector work unchanged.

use crate::real;
use crate::sys;
use crate::world::World;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

pub struct Lender {
    /// The thread control block: also the `pthread_t` of the fiber that borrows it.
    pub fs: usize,
    /// The storage as the lender left it, and where it belongs.
    image: Vec<u8>,
    start: usize,
    pub used: bool,
    /// Nobody borrowed it in this execution.
    pub fresh: bool,
}

/// The stack of a lender without its storage: it only parks.
const STACK: usize = 1 << 17;
static PARKED: AtomicU32 = AtomicU32::new(0);
static PARKED_FS: AtomicUsize = AtomicUsize::new(0);
static PARKED_SP: AtomicUsize = AtomicUsize::new(0);
static PARKED_TID: AtomicU32 = AtomicU32::new(0);

impl Lender {
    /// Makes the storage that of a new thread.
    pub fn renew(&mut self) {
        // SAFETY: the memory is the lender's stack, owned by us; the lender sleeps in the kernel. The vector
        // is glibc's, of the thread that borrowed the storage before and has ended.
        unsafe {
            let vector = (self.fs + VECTOR) as *mut *mut Entry;
            let current = *vector;
            std::ptr::copy_nonoverlapping(self.image.as_ptr(), self.start as *mut u8, self.image.len());
            if !std::mem::take(&mut self.fresh) {
                // The vector may have grown and moved since.
                *vector = current;
                forget_libraries(current);
                // What the ended thread did to its storage is over.
                crate::heap::forget(self.start, self.image.len());
            }
        };
    }
}

/// Where glibc's thread control block points to the vector of the thread's storage per library.
const VECTOR: usize = 8;

/// An entry of that vector. The one before the first holds their number.
#[repr(C)]
struct Entry {
    storage: usize,
    /// Set if the storage was allocated when the thread first used it, as for libraries opened later.
    allocated: usize,
}

/// The storage of libraries that the ended thread used is not the next thread's.
unsafe fn forget_libraries(vector: *mut Entry) {
    const UNALLOCATED: usize = usize::MAX;
    // SAFETY: the vector has as many entries as it says.
    unsafe {
        let count = (*vector.sub(1)).storage;
        for index in 1..=count {
            let entry = &mut *vector.add(index);
            if entry.allocated != 0 {
                crate::heap::free_quietly(entry.allocated);
                *entry = Entry { storage: UNALLOCATED, allocated: 0 };
            }
        }
    }
}

/// An upper bound of the storage of all libraries that are loaded.
fn storage() -> usize {
    unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _size: usize, sum: *mut c_void) -> i32 {
        // SAFETY: the loader's description of a file, and a number of the caller.
        unsafe {
            for header in std::slice::from_raw_parts((*info).dlpi_phdr, (*info).dlpi_phnum.into()) {
                if header.p_type == libc::PT_TLS {
                    *sum.cast::<usize>() += header.p_memsz as usize + header.p_align as usize;
                }
            }
        }
        0
    }
    let mut sum = 0usize;
    // SAFETY: calls `add` with the number, before it returns.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut sum).cast()) };
    sum.next_multiple_of(4096)
}

/// Creates `count` more lenders. Only while no fiber but the main one exists.
pub fn lend(world: &mut World, count: usize) {
    for _ in 0..count {
        let lender = create();
        world.lenders.push(lender);
    }
}

fn create() -> Lender {
    let size = STACK + storage();
    let stack = sys::map(size) as usize;
    PARKED.store(0, Ordering::Relaxed);
    // SAFETY: a thread on memory of ours that never touches anything else.
    unsafe {
        let mut attr: libc::pthread_attr_t = std::mem::zeroed();
        real!(pthread_attr_init(a: *mut libc::pthread_attr_t = &mut attr) -> i32);
        real!(pthread_attr_setstack(a: *mut libc::pthread_attr_t = &mut attr, s: usize = stack, n: usize = size) -> i32);
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut old: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        real!(pthread_sigmask(h: i32 = libc::SIG_SETMASK, s: *const libc::sigset_t = &all, o: *mut libc::sigset_t = &mut old) -> i32);
        let mut id: libc::pthread_t = 0;
        let error = real!(pthread_create(
            t: *mut libc::pthread_t = &mut id,
            a: *const libc::pthread_attr_t = &attr,
            f: extern "C" fn(*mut c_void) -> *mut c_void = park,
            p: *mut c_void = std::ptr::null_mut()
        ) -> i32);
        real!(pthread_sigmask(h: i32 = libc::SIG_SETMASK, s: *const libc::sigset_t = &old, o: *mut libc::sigset_t = std::ptr::null_mut()) -> i32);
        if error != 0 {
            sys::fail("porf: cannot create a thread to borrow thread-local storage from\n");
        }
        while PARKED.load(Ordering::Acquire) == 0 {
            sys::syscall(libc::SYS_futex, [PARKED.as_ptr() as usize, libc::FUTEX_WAIT as usize, 0, 0, 0, 0]);
        }
    }
    let fs = PARKED_FS.load(Ordering::Relaxed);
    let start = (PARKED_SP.load(Ordering::Relaxed) - 1024) & !15;
    adopt_thread_id(fs);
    let length = stack + size - start;
    // SAFETY: the upper part of the lender's stack: its last frame, its storage, its control block.
    let image = unsafe { std::slice::from_raw_parts(start as *const u8, length) }.to_vec();
    Lender { fs, image, start, used: false, fresh: true }
}

extern "C" fn park(_: *mut c_void) -> *mut c_void {
    let here = 0u8;
    PARKED_FS.store(crate::fiber::fs_base(), Ordering::Relaxed);
    PARKED_SP.store(&raw const here as usize, Ordering::Relaxed);
    // SAFETY: plain system calls.
    unsafe {
        PARKED_TID.store(sys::syscall(libc::SYS_gettid, [0; 6]) as u32, Ordering::Relaxed);
        PARKED.store(1, Ordering::Release);
        sys::syscall(libc::SYS_futex, [PARKED.as_ptr() as usize, libc::FUTEX_WAKE as usize, 1, 0, 0, 0]);
        static NEVER: AtomicU32 = AtomicU32::new(0);
        loop {
            sys::syscall(libc::SYS_futex, [NEVER.as_ptr() as usize, libc::FUTEX_WAIT as usize, 0, 0, 0, 0]);
        }
    }
}

/// Lets the control block name the thread that really runs, so that `raise` reaches the program.
fn adopt_thread_id(fs: usize) {
    // SAFETY: glibc's struct pthread is larger than this and holds the kernel's thread id once.
    unsafe {
        let own = sys::syscall(libc::SYS_gettid, [0; 6]) as u32;
        let lender = PARKED_TID.load(Ordering::Relaxed);
        for offset in (0x200..0x500).step_by(4) {
            let field = (fs + offset) as *mut u32;
            if *field == lender {
                *field = own;
                return;
            }
        }
    }
}
