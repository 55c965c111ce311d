//! Atomics of std with loom's methods beside theirs.

use std::fmt;
use std::ops::{Deref, DerefMut};

pub use std::sync::atomic::{compiler_fence, fence, Ordering};

/// As loom: lets others run.
pub fn spin_loop_hint() {
    std::thread::yield_now();
}

/// What all atomics have. Other methods are std's, by `Deref`.
macro_rules! common {
    ($name:ident $(<$param:ident>)?, $value:ty) => {
        impl $(<$param>)? $name $(<$param>)? {
            pub const fn new(value: $value) -> Self {
                $name(std::sync::atomic::$name::new(value))
            }

            /// Reads without being atomic.
            ///
            /// # Safety
            /// Nobody may write at the same time: that is a race.
            pub unsafe fn unsync_load(&self) -> $value {
                self.0.as_ptr().read()
            }

            pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $value) -> R) -> R {
                f(self.0.get_mut())
            }

            pub fn into_inner(self) -> $value {
                self.0.into_inner()
            }

            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                self.0.load(order)
            }

            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                self.0.store(value, order)
            }

            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.0.swap(value, order)
            }

            #[allow(deprecated)]
            pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
                self.0.compare_and_swap(current, new, order)
            }

            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange(current, new, success, failure)
            }

            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange_weak(current, new, success, failure)
            }

            pub fn fetch_update<F>(&self, set: Ordering, fetch: Ordering, f: F) -> Result<$value, $value>
            where
                F: FnMut($value) -> Option<$value>,
            {
                self.0.fetch_update(set, fetch, f)
            }
        }

        impl $(<$param>)? From<$value> for $name $(<$param>)? {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }

        impl $(<$param>)? fmt::Debug for $name $(<$param>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl $(<$param>)? Default for $name $(<$param>)? {
            fn default() -> Self {
                $name(Default::default())
            }
        }

        impl $(<$param>)? Deref for $name $(<$param>)? {
            type Target = std::sync::atomic::$name $(<$param>)?;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl $(<$param>)? DerefMut for $name $(<$param>)? {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.0
            }
        }
    };
}

/// Operations that read, compute and write.
macro_rules! operations {
    ($name:ident, $value:ty: $($operation:ident),*) => {
        impl $name {
            $(pub fn $operation(&self, value: $value, order: Ordering) -> $value {
                self.0.$operation(value, order)
            })*
        }
    };
}

macro_rules! integers {
    ($($name:ident $value:ty,)*) => {
        $(
            #[repr(transparent)]
            pub struct $name(std::sync::atomic::$name);
            common!($name, $value);
            operations!($name, $value: fetch_add, fetch_sub, fetch_and, fetch_nand, fetch_or, fetch_xor, fetch_max, fetch_min);
        )*
    };
}

integers! {
    AtomicU8 u8,
    AtomicU16 u16,
    AtomicU32 u32,
    AtomicU64 u64,
    AtomicUsize usize,
    AtomicI8 i8,
    AtomicI16 i16,
    AtomicI32 i32,
    AtomicI64 i64,
    AtomicIsize isize,
}

#[repr(transparent)]
pub struct AtomicBool(std::sync::atomic::AtomicBool);
common!(AtomicBool, bool);
operations!(AtomicBool, bool: fetch_and, fetch_nand, fetch_or, fetch_xor);

#[repr(transparent)]
pub struct AtomicPtr<T>(std::sync::atomic::AtomicPtr<T>);
common!(AtomicPtr<T>, *mut T);
