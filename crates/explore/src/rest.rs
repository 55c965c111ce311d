//! What is left of a search, as plain data, and how it is cut into parts.
//!
//! A part is some of the tasks, with all that must be the same in every part: the numbers of created threads,
//! how accesses are cut, and which reductions are not made. Whoever searches a part gives back what is left of
//! it. Two parts may give different numbers to new threads; then the later one is not taken back, and has to be
//! searched again with the numbers of the earlier one.

use crate::task::Task;
use porf_ir::Split;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Where a search was broken off: all that is left to do, as plain data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rest {
    /// Parts of the main search, the oldest choices first.
    pub tasks: Vec<Task>,
    /// Which event created which thread: the numbers are part of what threads have seen.
    pub(crate) created: Vec<(u16, u32)>,
    /// Executions with cycles in po | rf are to be searched for when there are no tasks any more; hashes of those
    /// that were already shown.
    #[serde(default)]
    pub(crate) cycles: Option<Vec<u64>>,
    /// Where these begin, each with a hash that tells it from others; `None` if that is not known of all.
    #[serde(default)]
    pub(crate) sources: Option<Vec<(u64, Task)>>,
    /// How accesses of the program are cut in this search.
    #[serde(default)]
    pub(crate) cuts: Vec<Vec<Split>>,
    /// The names of reductions that are not made in this search.
    #[serde(default)]
    pub(crate) without: Vec<String>,
}

/// With more of them, the search for executions with cycles goes through the whole program.
const MOST_SOURCES: usize = 20_000;

impl Rest {
    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.cycles.is_none()
    }

    /// A search that has not begun.
    pub fn whole() -> Rest {
        Rest { tasks: vec![Task::default()], ..Rest::default() }
    }

    /// Some of its tasks, for somebody else.
    pub fn part(&self, tasks: Vec<Task>) -> Rest {
        Rest {
            tasks,
            created: self.created.clone(),
            cuts: self.cuts.clone(),
            without: self.without.clone(),
            ..Rest::default()
        }
    }

    /// Takes back what is left of a part, without its tasks. `false` if it has to be searched again, because
    /// others have given other numbers to threads.
    pub fn take_back(&mut self, left: &Rest) -> bool {
        if self.created.iter().zip(&left.created).any(|(known, new)| known != new) {
            return false;
        }
        if left.created.len() > self.created.len() {
            self.created.clone_from(&left.created);
        }
        if left.cycles.is_some() {
            let begun = self.cycles.is_some();
            self.cycles.get_or_insert_default();
            self.sources = match (self.sources.take(), &left.sources) {
                (known, Some(new)) if known.is_some() || !begun => {
                    merged(known.unwrap_or_default(), new.clone())
                }
                _ => None,
            };
        }
        true
    }
}

/// Each once; `None` if there are too many.
pub(crate) fn merged(known: Vec<(u64, Task)>, new: Vec<(u64, Task)>) -> Option<Vec<(u64, Task)>> {
    let mut seen = HashSet::new();
    let mut all: Vec<(u64, Task)> = known.into_iter().chain(new).collect();
    all.retain(|(hash, _)| seen.insert(*hash));
    (all.len() <= MOST_SOURCES).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_threads_agree() {
        let mut rest = Rest { created: vec![(0, 1)], ..Rest::whole() };
        let part = rest.part(Vec::new());
        let (mut one, mut other) = (part.clone(), part.clone());
        one.created.push((0, 2));
        other.created.push((0, 3));
        assert!(rest.take_back(&one) && rest.take_back(&one));
        assert!(!rest.take_back(&other));
        other.created = vec![(0, 1), (0, 2), (0, 3)];
        assert!(rest.take_back(&other) && rest.take_back(&part));
        assert_eq!(rest.created, other.created);
    }

    #[test]
    fn beginnings_of_cycles_are_all_known_or_none() {
        let found = |hashes: &[u64]| Rest {
            cycles: Some(Vec::new()),
            sources: Some(hashes.iter().map(|hash| (*hash, Task::default())).collect()),
            ..Rest::default()
        };
        let hashes = |rest: &Rest| {
            rest.sources.as_ref().map(|list| list.iter().map(|(hash, _)| *hash).collect::<Vec<_>>())
        };
        let mut rest = Rest::whole();
        assert!(rest.take_back(&found(&[1, 2])) && rest.take_back(&found(&[2, 3])));
        assert_eq!(hashes(&rest), Some(vec![1, 2, 3]));
        assert!(rest.take_back(&Rest { sources: None, ..found(&[]) }));
        assert!(rest.take_back(&found(&[4])));
        assert_eq!(hashes(&rest), None);
    }
}
