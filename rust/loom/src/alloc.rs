//! Memory.

pub use std::alloc::{alloc, alloc_zeroed, dealloc, Layout};

/// A value whose leak loom looks for.
#[derive(Debug)]
pub struct Track<T> {
    value: T,
}

impl<T> Track<T> {
    pub fn new(value: T) -> Track<T> {
        Track { value }
    }

    pub fn get_ref(&self) -> &T {
        &self.value
    }

    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    pub fn into_inner(self) -> T {
        self.value
    }
}
