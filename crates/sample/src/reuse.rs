//! A list whose items keep their memory when they are dropped, and are filled anew where they lie.
//!
//! Stores and blocks of a history come and go with every few events. Their clocks may have memory of their own, and
//! moving them costs as much as what they are made for.

use std::ops::{Deref, DerefMut};

/// A list; behind its end lie items that were dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reused<T> {
    items: Vec<T>,
    count: usize,
}

impl<T: Default> Reused<T> {
    /// One more at the end, which the caller fills in: it may hold what one that was dropped did.
    #[inline]
    pub fn next(&mut self) -> &mut T {
        if self.count == self.items.len() {
            self.lengthen();
        }
        self.count += 1;
        &mut self.items[self.count - 1]
    }

    #[cold]
    fn lengthen(&mut self) {
        // Most lists have one or two items: no room for more is made before they come.
        if self.count == self.items.capacity() {
            self.items.reserve_exact(self.count.max(1));
        }
        self.items.push(T::default());
    }

    /// Drops all items.
    #[inline]
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Keeps the items at these places, which ascend.
    pub fn keep(&mut self, places: impl Iterator<Item = usize>) {
        let mut kept = 0;
        for place in places {
            if place != kept {
                self.items.swap(place, kept);
            }
            kept += 1;
        }
        self.count = kept;
    }
}

impl<T> Deref for Reused<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.items[..self.count]
    }
}

impl<T> DerefMut for Reused<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items[..self.count]
    }
}
