//! The memory shared with the sampled program.

use porf_sample::protocol::{Finding, MAGIC, Options, Shared};
use porf_sample::scheduler::script::Decision;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::Ordering;

pub struct Channel {
    file: OwnedFd,
    shared: *mut Shared,
}

impl Channel {
    pub fn new(options: Options) -> io::Result<Channel> {
        // SAFETY: a new anonymous file, inherited by the program on purpose, mapped for its whole length.
        unsafe {
            let descriptor = libc::memfd_create(c"porf-sample".as_ptr(), 0);
            if descriptor < 0 {
                return Err(io::Error::last_os_error());
            }
            let file = OwnedFd::from_raw_fd(descriptor);
            if libc::ftruncate(descriptor, size_of::<Shared>() as i64) != 0 {
                return Err(io::Error::last_os_error());
            }
            let prot = libc::PROT_READ | libc::PROT_WRITE;
            let memory =
                libc::mmap(std::ptr::null_mut(), size_of::<Shared>(), prot, libc::MAP_SHARED, descriptor, 0);
            if memory == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let shared = memory.cast::<Shared>();
            (*shared).magic = MAGIC;
            (*shared).options = options;
            Ok(Channel { file, shared })
        }
    }

    /// The execution is to follow these decisions.
    pub fn follow(&mut self, decisions: &[Decision]) {
        // SAFETY: mapped until drop; the program has not been started.
        unsafe { (*self.shared).minimiser.set_best(decisions) };
    }

    pub fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// What was found so far.
    pub fn findings(&self) -> &[Finding] {
        let count = self.shared().progress.finding_count.load(Ordering::Acquire) as usize;
        &self.shared().findings[..count]
    }

    /// How many findings have all their stacks, or never will.
    pub fn complete_findings(&self) -> usize {
        self.findings().iter().filter(|finding| finding.complete != 0).count()
    }

    pub fn shared(&self) -> &Shared {
        // SAFETY: mapped until drop; the other side changes counters through atomics, and findings are read
        // after it has ended.
        unsafe { &*self.shared }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length.
        unsafe { libc::munmap(self.shared.cast(), size_of::<Shared>()) };
    }
}
