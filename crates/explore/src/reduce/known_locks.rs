//! What a search found out about locks in earlier attempts.

use serde::{Deserialize, Serialize};

/// A lock, and how it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownLock {
    /// Where it is.
    pub address: u64,
    /// What threads do with it.
    pub by: LockUse,
}

/// How a lock is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LockUse {
    /// A thread tries so often to take it, and it matters whether it fails.
    Tried {
        /// The thread.
        thread: u16,
        /// How often.
        times: u16,
    },
    /// It is kept while others are taken, and the order in which threads have it matters.
    Ordered,
}

/// What is known of locks. Empty at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnownLocks([Option<KnownLock>; KnownLocks::MOST]);

impl KnownLocks {
    /// How many facts it has at most.
    pub const MOST: usize = 16;

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = KnownLock> + '_ {
        self.0.iter().copied().flatten()
    }

    /// Adds a fact, in the place of an older one about the same.
    pub fn set(&mut self, lock: KnownLock) {
        let is_same = |other: &KnownLock| {
            other.address == lock.address
                && match (other.by, lock.by) {
                    (LockUse::Tried { thread, .. }, LockUse::Tried { thread: other, .. }) => thread == other,
                    (one, other) => one == other,
                }
        };
        let known = |other: &Option<KnownLock>| other.as_ref().is_none_or(is_same);
        if let Some(place) = self.0.iter_mut().find(|other| known(other)) {
            *place = Some(lock);
        }
    }

    /// Whether there is no room for more.
    pub fn is_full(&self) -> bool {
        self.0.iter().all(Option::is_some)
    }

    /// Whether a lock is known to be [`LockUse::Ordered`].
    pub fn is_ordered(&self, address: u64) -> bool {
        self.iter().any(|lock| lock.address == address && lock.by == LockUse::Ordered)
    }
}
