//! Threads.
//!
//! loom's threads take turns on one thread of the system, so that what they run need not be `Send`. Here they
//! are threads; whether they share what they must not is for Porf to see.

use std::{fmt, io};

pub use std::thread::{
    current, panicking, park, scope, yield_now, AccessError, LocalKey, Scope, ScopedJoinHandle, Thread,
    ThreadId,
};

/// What goes to another thread, whether it may or not.
struct Sent<T>(T);

// SAFETY: none that the compiler could check: see above.
unsafe impl<T> Send for Sent<T> {}

impl<T> Sent<T> {
    /// As a method, so that closures capture the whole.
    fn get(self) -> T {
        self.0
    }
}

/// The right to join a thread.
pub struct JoinHandle<T>(std::thread::JoinHandle<Sent<T>>);

impl<T> JoinHandle<T> {
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        self.0.join().map(Sent::get)
    }

    pub fn thread(&self) -> &Thread {
        self.0.thread()
    }
}

impl<T: fmt::Debug> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish()
    }
}

/// Starts a thread.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    let f = Sent(f);
    JoinHandle(std::thread::spawn(move || Sent(f.get()())))
}

/// How a thread is started.
#[derive(Debug)]
pub struct Builder(std::thread::Builder);

impl Builder {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Builder {
        Builder(std::thread::Builder::new())
    }

    pub fn name(self, name: String) -> Builder {
        Builder(self.0.name(name))
    }

    pub fn stack_size(self, size: usize) -> Builder {
        Builder(self.0.stack_size(size))
    }

    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + 'static,
        T: 'static,
    {
        let f = Sent(f);
        self.0.spawn(move || Sent(f.get()())).map(JoinHandle)
    }
}
