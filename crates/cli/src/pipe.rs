//! Output that nobody reads any more.

/// `porf … | head` and `cargo porf … | head` end as other tools do, not with a panic on a failed write: Rust
/// ignores SIGPIPE unless told otherwise.
pub fn end_quietly_when_closed() {
    #[cfg(unix)]
    // SAFETY: sets a signal's disposition to the default before any thread is started.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}
