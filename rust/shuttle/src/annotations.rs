//! Names of objects for Shuttle's viewer. They are accepted.

use std::sync::{Barrier, Condvar, Mutex, Once, RwLock};

/// What can have a name.
pub trait WithName: Sized {
    fn with_name_and_kind(self, _name: Option<&str>, _kind: Option<&str>) -> Self {
        self
    }

    fn with_name(self, _name: &str) -> Self {
        self
    }

    fn with_kind(self, _kind: &str) -> Self {
        self
    }
}

impl<T> WithName for Mutex<T> {}
impl<T> WithName for RwLock<T> {}
impl WithName for Barrier {}
impl WithName for Condvar {}
impl WithName for Once {}

macro_rules! atomics {
    ($($name:ident)*) => {
        $(impl WithName for std::sync::atomic::$name {})*
    };
}

atomics! {
    AtomicBool AtomicI8 AtomicI16 AtomicI32 AtomicI64 AtomicIsize AtomicU8 AtomicU16 AtomicU32 AtomicU64 AtomicUsize
}

impl<T> WithName for std::sync::atomic::AtomicPtr<T> {}
