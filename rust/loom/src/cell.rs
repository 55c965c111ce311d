//! Cells.
//!
//! Porf sees races by the accesses themselves. loom counts more as an access: that a closure or a guard has
//! the pointer, whatever it does with it. A mark beside the value, written or read where loom begins or ends
//! such an access, makes Porf see these, too.

pub use std::cell::Cell;

/// `std::cell::UnsafeCell` with loom's methods.
#[derive(Debug)]
pub struct UnsafeCell<T: ?Sized> {
    mark: Mark,
    data: std::cell::UnsafeCell<T>,
}

/// Read or written for the sake of races.
#[derive(Debug)]
struct Mark(std::cell::UnsafeCell<u8>);

impl Mark {
    const fn new() -> Mark {
        Mark(std::cell::UnsafeCell::new(0))
    }

    fn read(&self) {
        // SAFETY: it is there as long as the cell is. A race is what we want to see.
        unsafe { std::hint::black_box(self.0.get().read()) };
    }

    fn write(&self) {
        // SAFETY: as above.
        unsafe { self.0.get().write(0) };
    }
}

/// A read access to a cell, as long as it lives.
#[derive(Debug)]
pub struct ConstPtr<T: ?Sized> {
    mark: *const Mark,
    pointer: *const T,
}

/// A write access to a cell, as long as it lives.
#[derive(Debug)]
pub struct MutPtr<T: ?Sized> {
    mark: *const Mark,
    pointer: *mut T,
}

impl<T> UnsafeCell<T> {
    pub const fn new(data: T) -> UnsafeCell<T> {
        UnsafeCell { mark: Mark::new(), data: std::cell::UnsafeCell::new(data) }
    }

    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        self.mark.read();
        f(self.data.get())
    }

    pub fn with_mut<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        self.mark.write();
        f(self.data.get())
    }

    pub fn get(&self) -> ConstPtr<T> {
        self.mark.read();
        ConstPtr { mark: &self.mark, pointer: self.data.get() }
    }

    pub fn get_mut(&self) -> MutPtr<T> {
        self.mark.write();
        MutPtr { mark: &self.mark, pointer: self.data.get() }
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    fn default() -> UnsafeCell<T> {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(data: T) -> UnsafeCell<T> {
        UnsafeCell::new(data)
    }
}

impl<T: ?Sized> ConstPtr<T> {
    /// # Safety
    /// As of a pointer's `&*`.
    pub unsafe fn deref(&self) -> &T {
        &*self.pointer
    }

    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        f(self.pointer)
    }
}

impl<T: ?Sized> MutPtr<T> {
    /// # Safety
    /// As of a pointer's `&mut *`.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn deref(&self) -> &mut T {
        &mut *self.pointer
    }

    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        f(self.pointer)
    }
}

impl<T: ?Sized> Drop for ConstPtr<T> {
    fn drop(&mut self) {
        // SAFETY: loom asks for a guard not to outlive its cell. Porf sees it if it does.
        unsafe { (*self.mark).read() };
    }
}

impl<T: ?Sized> Drop for MutPtr<T> {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { (*self.mark).write() };
    }
}
