//! LLVM does not survive all malformed bitcode: some of it ends in a segmentation fault or in `abort`.
//! While a [`Guard`] lives, these end the process as bad input does: with a message and exit code 2.

use crate::options::Format;
use porf_report::diagnostic;
use porf_verdict::Diagnostic;
use std::sync::OnceLock;

const SIGNALS: [libc::c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, libc::SIGILL];

/// The message, and where it goes. It is made in advance, because a signal handler may not allocate.
static MESSAGE: OnceLock<(libc::c_int, String)> = OnceLock::new();

pub struct Guard([libc::sigaction; SIGNALS.len()]);

impl Guard {
    /// Watches over the reading of `what` for a command.
    pub fn new(command: &str, what: &str, format: Format) -> Guard {
        MESSAGE.get_or_init(|| {
            let message = format!("{what}: malformed: LLVM could not read it and gave up");
            match format {
                Format::Text => (libc::STDERR_FILENO, format!("error: {message}\n")),
                Format::Json => {
                    let wrong = Diagnostic::about("", message);
                    let object = diagnostic::failure(command, Some(what), &wrong);
                    (libc::STDOUT_FILENO, format!("{object}\n"))
                }
            }
        });
        // SAFETY: an all-zero sigaction is a valid one (no flags, empty mask); the handler only does what
        // a signal handler may. Rust gives the main thread a stack for signals, which SA_ONSTACK uses.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = give_up as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_ONSTACK;
            let mut before: [libc::sigaction; SIGNALS.len()] = std::mem::zeroed();
            for (signal, before) in SIGNALS.iter().zip(&mut before) {
                libc::sigaction(*signal, &action, before);
            }
            Guard(before)
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        for (signal, before) in SIGNALS.iter().zip(&self.0) {
            // SAFETY: what `new` found there.
            unsafe { libc::sigaction(*signal, before, std::ptr::null_mut()) };
        }
    }
}

extern "C" fn give_up(_: libc::c_int) {
    let (file, message) =
        MESSAGE.get().map_or((libc::STDERR_FILENO, ""), |(file, text)| (*file, text.as_str()));
    // SAFETY: write and _exit are async-signal-safe; the message is not changed any more.
    unsafe {
        libc::write(file, message.as_ptr().cast(), message.len());
        libc::_exit(2);
    }
}
