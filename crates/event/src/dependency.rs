//! Syntactic dependencies of an event on earlier reads of its thread.
//!
//! Cost: a word for threads of up to 64 events; a list on the heap for those that are longer.

/// A set of events of one thread, by their index.
///
/// A condition can pick a value: Arm's `CSEL`, the result of a `CAS` that succeeded. Such a value depends
/// on the condition more weakly than on its data. Reads behind the condition are in the set as *picks*.
///
/// Each register of each state of a thread has such a set. The first 64 events are bits, so that joining
/// and copying a set takes a few instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DepSet {
    reads: u64,
    picks: u64,
    /// Later events, sorted; picks are marked and come last. `None` if there are none.
    #[expect(clippy::box_collection, reason = "rare, and one word shorter for each register")]
    later: Option<Box<Vec<u32>>>,
}

/// What the address, the data and the execution of an event depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dependencies {
    /// What the address was computed from.
    pub addr: DepSet,
    /// What the value was computed from.
    pub data: DepSet,
    /// What decided that the event happens.
    pub ctrl: DepSet,
    /// For the read of a compare-and-swap: what the value that it compares with was computed from.
    pub cas: DepSet,
}

/// Marks a pick among the later events.
const PICK: u32 = 1 << 31;

impl DepSet {
    /// The empty set.
    pub fn new() -> DepSet {
        DepSet::default()
    }

    /// The set of one event.
    pub fn single(index: u32) -> DepSet {
        let mut set = DepSet::new();
        set.insert(index);
        set
    }

    /// Adds an event as a full dependency.
    #[inline]
    pub fn insert(&mut self, index: u32) {
        match index {
            0..64 => self.reads |= 1 << index,
            _ => self.insert_later(index),
        }
    }

    /// The set as bits, if it has only some of the first 64 events and no picks.
    #[inline]
    pub fn as_bits(&self) -> Option<u64> {
        (self.picks == 0 && self.later.is_none()).then_some(self.reads)
    }

    /// Inserts some of the first 64 events.
    #[inline]
    pub fn insert_bits(&mut self, bits: u64) {
        self.reads |= bits;
    }

    /// Adds everything in `other`; picks stay picks.
    #[inline]
    pub fn union_with(&mut self, other: &DepSet) {
        self.reads |= other.reads;
        self.picks |= other.picks;
        other.later().iter().for_each(|&index| self.insert_later(index));
    }

    /// Whether the event is a full dependency.
    pub fn contains(&self, index: u32) -> bool {
        match index {
            0..64 => self.reads >> index & 1 != 0,
            _ => self.later().binary_search(&index).is_ok(),
        }
    }

    /// The full dependencies, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let later = self.later().iter().copied();
        bits(self.reads).chain(later.take_while(|index| index & PICK == 0))
    }

    /// The picks, in order.
    pub fn picks(&self) -> impl Iterator<Item = u32> + '_ {
        let later = self.later().iter().copied();
        bits(self.picks).chain(later.skip_while(|index| index & PICK == 0).map(|index| index & !PICK))
    }

    /// Adds everything in `condition` as a pick.
    pub fn pick(&mut self, condition: &DepSet) {
        self.picks |= condition.reads | condition.picks;
        condition.later().iter().for_each(|&index| self.insert_later(index | PICK));
    }

    /// Whether the event is a pick.
    pub fn is_picked_by(&self, index: u32) -> bool {
        match index {
            0..64 => self.picks >> index & 1 != 0,
            _ => self.later().binary_search(&(index | PICK)).is_ok(),
        }
    }

    /// Adds everything in `other`, including its picks, as full dependencies.
    pub fn include(&mut self, other: &DepSet) {
        self.reads |= other.reads | other.picks;
        other.later().iter().for_each(|&index| self.insert_later(index & !PICK));
    }

    /// Whether there are neither dependencies nor picks.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.reads == 0 && self.picks == 0 && self.later.is_none()
    }

    /// Keeps the full dependencies for which `keep` is true; drops the others and all picks.
    pub fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) {
        self.picks = 0;
        self.reads = bits(self.reads).filter(|&index| keep(index)).fold(0, |word, index| word | 1 << index);
        if let Some(later) = &mut self.later {
            later.retain(|&index| index & PICK == 0 && keep(index));
            if later.is_empty() {
                self.later = None;
            }
        }
    }

    /// About how many bytes the set has on the heap.
    pub fn heap_bytes(&self) -> usize {
        4 * self.later().len()
    }

    #[inline]
    fn later(&self) -> &[u32] {
        self.later.as_ref().map_or(&[], |later| later.as_slice())
    }

    #[cold]
    fn insert_later(&mut self, index: u32) {
        let later = self.later.get_or_insert_default();
        if let Err(at) = later.binary_search(&index) {
            later.insert(at, index);
        }
    }
}

/// The numbers of the bits that are set, in order.
fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lowest = word.trailing_zeros();
        word &= word.checked_sub(1)?;
        Some(lowest)
    })
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
    /// The dependencies of every kind, including picks.
    pub fn all(&self) -> impl Iterator<Item = u32> + '_ {
        let sets = [&self.addr, &self.data, &self.ctrl, &self.cas];
        sets.into_iter().flat_map(|set| set.iter().chain(set.picks()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }
}
