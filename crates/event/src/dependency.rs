//! Syntactic dependencies of an event on earlier reads of its thread.

use smallvec::SmallVec;

/// A set of events of one thread, by their index; sorted.
///
/// A value that was picked by a condition (Arm's `CSEL`, the result of a `CAS` that succeeded) depends
/// on the condition more weakly than on its data: such reads are in the set as *picks*.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DepSet(SmallVec<[u32; 4]>);

/// What the address, the data and the very execution of an event depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dependencies {
    pub addr: DepSet,
    pub data: DepSet,
    pub ctrl: DepSet,
    /// Of the read of a compare-and-swap: the value that it compares with.
    pub cas: DepSet,
}

/// Marks a pick.
const PICK: u32 = 1 << 31;

impl DepSet {
    pub fn new() -> DepSet {
        DepSet::default()
    }

    pub fn single(index: u32) -> DepSet {
        DepSet(SmallVec::from_slice(&[index]))
    }

    pub fn insert(&mut self, index: u32) {
        if let Err(at) = self.0.binary_search(&index) {
            self.0.insert(at, index);
        }
    }

    pub fn union_with(&mut self, other: &DepSet) {
        for &index in &other.0 {
            self.insert(index);
        }
    }

    pub fn contains(&self, index: u32) -> bool {
        self.0.binary_search(&index).is_ok()
    }

    /// The events that it depends on in earnest.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied().take_while(|index| index & PICK == 0)
    }

    /// The events that it was only picked by.
    pub fn picks(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().map(|index| index & !PICK).skip(self.iter().count())
    }

    /// Makes everything in `condition` a pick of this set.
    pub fn pick(&mut self, condition: &DepSet) {
        for index in condition.iter().chain(condition.picks()) {
            self.insert(index | PICK);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl FromIterator<u32> for DepSet {
    fn from_iter<I: IntoIterator<Item = u32>>(indices: I) -> DepSet {
        let mut set = DepSet::new();
        for index in indices {
            set.insert(index);
        }
        set
    }
}

impl Dependencies {
    /// All of them, whatever their kind, picks included.
    pub fn all(&self) -> impl Iterator<Item = u32> + '_ {
        let sets = [&self.addr, &self.data, &self.ctrl, &self.cas];
        sets.into_iter().flat_map(|set| set.iter().chain(set.picks()))
    }

    pub fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }
}
