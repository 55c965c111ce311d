//! Memory that only one thread sees: its local variables whose address is taken but stays with it,
//! and its thread-local variables.
//!
//! Objects lie one behind the other in an arena of pages, and know their size and which of their
//! bytes were ever written. Pages are shared between snapshots until one of them writes, so a
//! snapshot costs one reference count and the first write after it one page.

use crate::FaultKind;
use porf_event::{ThreadId, Value, wide};
use porf_ir::layout::{self, FIRST_OFFSET, MAX_OBJECT, MAX_SLOTS, Region};
use smallvec::SmallVec;
use std::ops::RangeInclusive;
use std::sync::Arc;

const PAGE: usize = 256;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Private {
    objects: SmallVec<[Object; 4]>,
    pages: SmallVec<[Arc<Page>; 2]>,
    /// A sum over the words of the pages: equal contents have equal sums, and different ones have equal
    /// sums with a probability of 2⁻⁶⁴.
    sum: u64,
    /// Locks that the thread holds, and how often.
    pub held: SmallVec<[(u64, u32); 2]>,
    /// What the thread printed, where that is wanted.
    pub output: Vec<u8>,
}

/// A piece of the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Object {
    start: u32,
    size: u32,
    /// It is a variable whose scope has ended.
    over: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Page {
    bytes: [u8; PAGE],
    /// One bit per byte that was written.
    written: [u64; PAGE / 64],
}

/// What is wrong with an access.
pub(crate) type Wrong = (FaultKind, String);

impl Private {
    /// About how many bytes are its own: pages are shared until they are written.
    pub fn bytes(&self) -> usize {
        let page = if self.pages.is_empty() { 0 } else { size_of::<Page>() };
        size_of::<Private>() + self.objects.len() * size_of::<Object>() + self.output.len() + page
    }

    /// How many objects there are: what [`Private::forget_above`] goes back to.
    pub fn mark(&self) -> u32 {
        self.objects.len() as u32
    }

    /// A new object, and its address.
    pub fn add(&mut self, thread: ThreadId, size: u64) -> Result<u64, Wrong> {
        if size > MAX_OBJECT || self.objects.len() as u64 >= MAX_SLOTS {
            return Err((
                FaultKind::OutOfMemory,
                format!("local memory of {size} bytes is more than the limit"),
            ));
        }
        let start = self.objects.last().map_or(0, |last| (last.start + last.size).next_multiple_of(16));
        let end = start as usize + size as usize;
        if end > 64 << 20 {
            return Err((FaultKind::StackOverflow, "more than 64 MiB of local variables".to_string()));
        }
        while self.pages.len() * PAGE < end {
            self.pages.push(Arc::new(Page { bytes: [0; PAGE], written: [0; PAGE / 64] }));
        }
        self.objects.push(Object { start, size: size as u32, over: false });
        for at in start as usize..end {
            self.set_byte(at, None);
        }
        Ok(Region::Private.address(thread, self.objects.len() as u64 - 1, FIRST_OFFSET))
    }

    /// Ends the objects made since the mark.
    pub fn forget_above(&mut self, mark: u32) {
        self.objects.truncate(mark as usize);
    }

    /// Begins or ends the scope of the variable at an address.
    pub fn set_scope(&mut self, address: u64, begins: bool) {
        if let Some(object) = self.objects.get_mut(layout::slot(address) as usize) {
            object.over = !begins;
        }
    }

    /// Whether there is nothing in it, and no lock is held.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.held.is_empty()
    }

    /// Whether two threads find the same in their memory. The newest variables differ first.
    pub fn is_like(&self, other: &Private) -> bool {
        self.held == other.held
            && self.objects.len() == other.objects.len()
            && self.objects.iter().zip(&other.objects).rev().all(|(object, others)| {
                object == others && (object.over || self.holds_the_same(other, object))
            })
    }

    /// Whether an object that both have holds the same.
    fn holds_the_same(&self, other: &Private, object: &Object) -> bool {
        let (start, end) = (object.start as usize, (object.start + object.size) as usize);
        (start / PAGE..end.div_ceil(PAGE)).all(|number| {
            let (own, others) = (&self.pages[number], &other.pages[number]);
            if Arc::ptr_eq(own, others) || own == others {
                return true;
            }
            let mut bytes = start.max(number * PAGE)..end.min((number + 1) * PAGE);
            bytes.all(|at| self.byte(at) == other.byte(at))
        })
    }

    /// A fingerprint of the contents.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    pub fn read(&self, address: u64, size: u8) -> Result<Value, Wrong> {
        let at = self.place(address, size.into())?;
        let mut bytes = [0; 16];
        let (page, first) = (at / PAGE, at % PAGE);
        if first + usize::from(size) <= PAGE {
            let page = &self.pages[page];
            for (i, byte) in bytes[..usize::from(size)].iter_mut().enumerate() {
                if !page.is_written(first + i) {
                    return Err(uninitialised());
                }
                *byte = page.bytes[first + i];
            }
        } else {
            for (i, byte) in bytes[..usize::from(size)].iter_mut().enumerate() {
                *byte = self.byte(at + i).ok_or_else(uninitialised)?;
            }
        }
        Ok(wide::held(u128::from_le_bytes(bytes), size))
    }

    pub fn write(&mut self, address: u64, size: u8, value: Value) -> Result<(), Wrong> {
        let at = self.place(address, size.into())?;
        let bytes = &wide::bytes(value, size)[..usize::from(size)];
        let (number, first) = (at / PAGE, at % PAGE);
        if first + bytes.len() <= PAGE && first / 64 == (first + bytes.len() - 1) / 64 {
            let bits = u64::MAX >> (64 - bytes.len()) << (first % 64);
            let range = first..first + bytes.len();
            let page = &self.pages[number];
            let changed = page.written[first / 64] & bits != bits || page.bytes[range.clone()] != *bytes;
            if changed {
                let page = Arc::make_mut(&mut self.pages[number]);
                let words = first / 8..=(first + bytes.len() - 1) / 8;
                let before: u64 = page.sum(number, words.clone());
                page.bytes[range].copy_from_slice(bytes);
                page.written[first / 64] |= bits;
                self.sum = self.sum.wrapping_sub(before).wrapping_add(page.sum(number, words));
            }
        } else {
            for (i, byte) in bytes.iter().enumerate() {
                self.set_byte(at + i, Some(*byte));
            }
        }
        Ok(())
    }

    /// The bytes of a range, `None` for those never written.
    pub fn range(&self, address: u64, length: u64) -> Result<Vec<Option<u8>>, Wrong> {
        let at = self.place(address, length)?;
        Ok((at..at + length as usize).map(|at| self.byte(at)).collect())
    }

    pub fn set_range(&mut self, address: u64, bytes: &[Option<u8>]) -> Result<(), Wrong> {
        let at = self.place(address, bytes.len() as u64)?;
        for (i, byte) in bytes.iter().enumerate() {
            self.set_byte(at + i, *byte);
        }
        Ok(())
    }

    /// Where a range begins in the arena.
    fn place(&self, address: u64, size: u64) -> Result<usize, Wrong> {
        let Some(object) = self.objects.get(layout::slot(address) as usize) else {
            return Err((
                FaultKind::UseAfterFree,
                "access to a local variable after its function returned".into(),
            ));
        };
        if object.over {
            let message = "access to a local variable outside of its scope";
            return Err((FaultKind::UseAfterFree, message.into()));
        }
        match layout::offset(address).checked_sub(FIRST_OFFSET) {
            Some(offset) if offset + size <= u64::from(object.size) => {
                Ok(object.start as usize + offset as usize)
            }
            _ => {
                let offset = layout::offset(address) as i64 - FIRST_OFFSET as i64;
                Err(out_of_bounds(size, offset, object.size.into()))
            }
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        let page = &self.pages[at / PAGE];
        page.is_written(at % PAGE).then(|| page.bytes[at % PAGE])
    }

    fn set_byte(&mut self, at: usize, byte: Option<u8>) {
        if self.byte(at) == byte {
            return;
        }
        let page = Arc::make_mut(&mut self.pages[at / PAGE]);
        let (word, bit) = (at % PAGE / 64, at % 64);
        let words = at % PAGE / 8..=at % PAGE / 8;
        let before = page.sum(at / PAGE, words.clone());
        match byte {
            Some(byte) => {
                page.bytes[at % PAGE] = byte;
                page.written[word] |= 1 << bit;
            }
            None => {
                page.bytes[at % PAGE] = 0;
                page.written[word] &= !(1 << bit);
            }
        }
        self.sum = self.sum.wrapping_sub(before).wrapping_add(page.sum(at / PAGE, words));
    }
}

impl Page {
    /// What some words of this page, the one with this number, add to the sum of all.
    fn sum(&self, number: usize, words: RangeInclusive<usize>) -> u64 {
        let word = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&self.bytes[8 * at..8 * at + 8]);
            let place = (number * PAGE / 8 + at + 1) as u64;
            // Two rounds of multiplication spread every bit of the word and of its place.
            let mixed = (u64::from_le_bytes(bytes) ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15))
                .wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (mixed ^ mixed >> 31).wrapping_mul(0x94d0_49bb_1331_11eb)
        };
        words.map(word).fold(0, u64::wrapping_add)
    }

    fn is_written(&self, at: usize) -> bool {
        self.written[at / 64] >> (at % 64) & 1 != 0
    }
}

pub(crate) fn out_of_bounds(size: u64, offset: i64, object: u64) -> Wrong {
    let message = format!("access of {size} bytes at offset {offset} of an object of {object} bytes");
    (FaultKind::OutOfBounds, message)
}

fn uninitialised() -> Wrong {
    (FaultKind::Uninitialised, "read of memory that was never written".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_bounds_and_contents() {
        let mut memory = Private::default();
        let a = memory.add(ThreadId(0), 4).unwrap();
        let b = memory.add(ThreadId(0), 600).unwrap();
        assert_eq!(memory.read(a, 4).unwrap_err().0, FaultKind::Uninitialised);
        let empty = memory.sum();
        memory.write(a, 4, 0x01020304).unwrap();
        let once = memory.sum();
        memory.write(a, 4, 0x01020304).unwrap();
        assert!(memory.sum() == once && once != empty);
        memory.write(a + 1, 1, 7).unwrap();
        assert_ne!(memory.sum(), once);
        memory.write(a, 2, 0x0304).unwrap();
        assert_eq!(memory.sum(), once, "the same contents, written in other pieces");
        assert_eq!(memory.read(a, 2), Ok(0x0304));
        assert_eq!(memory.read(a + 1, 4).unwrap_err().0, FaultKind::OutOfBounds);
        assert_eq!(memory.read(a - 1, 1).unwrap_err().0, FaultKind::OutOfBounds);
        let snapshot = memory.clone();
        // Across the border of two pages.
        memory.write(b + 240 - 4, 8, u64::MAX - 1).unwrap();
        assert_eq!(memory.read(b + 240 - 4, 8), Ok(u64::MAX - 1));
        assert!(snapshot.read(b + 240 - 4, 8).is_err());
        memory.forget_above(1);
        assert_eq!(memory.read(b, 1).unwrap_err().0, FaultKind::UseAfterFree);
    }

    #[test]
    fn like_in_what_is_there() {
        let mut one = Private::default();
        let variables: Vec<u64> = [4, 600, 8].map(|size| one.add(ThreadId(0), size).unwrap()).to_vec();
        let other = one.clone();
        for &variable in &variables {
            let mut changed = other.clone();
            changed.write(variable, 4, 1).unwrap();
            assert!(!changed.is_like(&other) && !other.is_like(&changed));
            one.write(variable, 4, 1).unwrap();
            // What is over counts no more, but that it is over does.
            changed.set_scope(variable, false);
            assert!(!changed.is_like(&other));
            let mut over = other.clone();
            over.set_scope(variable, false);
            assert!(changed.is_like(&over));
        }
        // At the end of an object that is longer than a page.
        let mut changed = one.clone();
        changed.write(variables[1] + 596, 4, 1).unwrap();
        assert!(!changed.is_like(&one) && one.is_like(&one.clone()));
        // What a function leaves behind that has returned does not count.
        let last = one.add(ThreadId(0), 8).unwrap();
        one.write(last, 8, 3).unwrap();
        assert!(!one.is_like(&changed));
        one.forget_above(3);
        changed.write(variables[1] + 596, 4, 0).unwrap();
        assert!(!one.is_like(&changed), "what was never written differs from a zero");
    }
}
