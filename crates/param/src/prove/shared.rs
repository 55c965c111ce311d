//! What several searches need alike: the states behind their candidates. The first that asks explores, and the others wait.

use super::oracle::Behind;
use super::turns::Turns;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most processes of an instance, and the most states.
pub type Asked = (u8, usize);

/// What was asked for, and what is known of it: nothing, as long as a search explores it.
#[derive(Default)]
pub struct Shared {
    known: Mutex<HashMap<Asked, Option<Arc<Behind>>>>,
}

/// What a search that asks has to do.
pub enum Explored<'a> {
    /// Nothing.
    Known(Arc<Behind>),
    /// Wait.
    ByOther,
    /// Explore it.
    ByAsker(Errand<'a>),
}

/// The duty to explore. If it ends without being done, the next search that asks has it.
pub struct Errand<'a> {
    turns: &'a Turns,
    asked: Asked,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, HashMap<Asked, Option<Arc<Behind>>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turns {
    /// Asks for the states of an instance.
    pub fn ask(&self, asked: Asked) -> Explored<'_> {
        use std::collections::hash_map::Entry;
        match self.shared.lock().entry(asked) {
            Entry::Vacant(entry) => {
                entry.insert(None);
                Explored::ByAsker(Errand { turns: self, asked })
            }
            Entry::Occupied(entry) => match entry.get() {
                Some(behind) => Explored::Known(behind.clone()),
                None => Explored::ByOther,
            },
        }
    }
}

impl Errand<'_> {
    /// What was asked for.
    pub fn done(self, behind: Arc<Behind>) {
        self.turns.shared.lock().insert(self.asked, Some(behind));
    }
}

impl Drop for Errand<'_> {
    fn drop(&mut self) {
        let mut known = self.turns.shared.lock();
        if let Some(None) = known.get(&self.asked) {
            known.remove(&self.asked);
        }
        drop(known);
        self.turns.found();
    }
}
