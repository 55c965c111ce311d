//! What `lazy_static!` makes.

use std::fmt;
use std::sync::OnceLock;

pub use std::thread::{panicking, yield_now, AccessError};

/// A value that is made on first use.
pub struct Lazy<T> {
    value: OnceLock<T>,
    init: fn() -> T,
}

// SAFETY: loom's is, whatever its value: its threads are all one. A race on the value is seen by Porf.
unsafe impl<T> Sync for Lazy<T> {}

impl<T> Lazy<T> {
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Lazy<T> {
        Lazy { value: OnceLock::new(), init }
    }

    pub fn get(&'static self) -> &'static T {
        self.value.get_or_init(self.init)
    }
}

impl<T> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Lazy { .. }")
    }
}
