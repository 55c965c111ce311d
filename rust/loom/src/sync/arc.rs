//! `std::sync::Arc` with loom's methods.

use std::borrow::Borrow;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc as Std;

/// A shared value.
#[derive(Debug)]
pub struct Arc<T: ?Sized>(Std<T>);

impl<T> Arc<T> {
    pub fn new(value: T) -> Arc<T> {
        Arc(Std::new(value))
    }

    pub fn pin(value: T) -> Pin<Arc<T>> {
        // SAFETY: what an `Arc` points to does not move.
        unsafe { Pin::new_unchecked(Arc::new(value)) }
    }

    pub fn try_unwrap(this: Arc<T>) -> Result<T, Arc<T>> {
        Std::try_unwrap(this.0).map_err(Arc)
    }
}

impl<T: ?Sized> Arc<T> {
    /// # Panics
    /// If there is another owner.
    #[track_caller]
    pub fn from_std(mut std: Std<T>) -> Arc<T> {
        assert!(Std::get_mut(&mut std).is_some(), "Arc provided to `from_std` is not unique");
        Arc(std)
    }

    pub fn strong_count(this: &Arc<T>) -> usize {
        Std::strong_count(&this.0)
    }

    /// # Safety
    /// As of `std::sync::Arc`.
    pub unsafe fn increment_strong_count(pointer: *const T) {
        Std::increment_strong_count(pointer);
    }

    /// # Safety
    /// As of `std::sync::Arc`.
    pub unsafe fn decrement_strong_count(pointer: *const T) {
        Std::decrement_strong_count(pointer);
    }

    pub fn get_mut(this: &mut Arc<T>) -> Option<&mut T> {
        Std::get_mut(&mut this.0)
    }

    pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        Std::ptr_eq(&this.0, &other.0)
    }

    pub fn into_raw(this: Arc<T>) -> *const T {
        Std::into_raw(this.0)
    }

    pub fn as_ptr(this: &Arc<T>) -> *const T {
        Std::as_ptr(&this.0)
    }

    /// # Safety
    /// As of `std::sync::Arc`.
    pub unsafe fn from_raw(pointer: *const T) -> Arc<T> {
        Arc(Std::from_raw(pointer))
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    fn clone(&self) -> Arc<T> {
        Arc(self.0.clone())
    }
}

impl<T: Default> Default for Arc<T> {
    fn default() -> Arc<T> {
        Arc::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    fn from(value: T) -> Arc<T> {
        Arc::new(value)
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}
