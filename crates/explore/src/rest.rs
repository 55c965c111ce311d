//! What is left of a search, as plain data, and how it is cut into parts.
//!
//! A part is some of the tasks, with all that must be the same in every part: the numbers of created threads,
//! how accesses are cut, and which reductions are not made. Whoever searches a part gives back what is left of
//! it. Two parts may give different numbers to new threads; then the later one is not taken back, and has to be
//! searched again with the numbers of the earlier one.
//!
//! The search for executions with cycles in po | rf has parts, too: some of the graphs that it begins at. One
//! execution may be found from several of them. So whoever searches such a part gives back hashes of what it
//! has shown, and each counts once. Such a part is not cut further, and a violation that is found in it does not
//! travel: a task cannot have a cycle.

use crate::reduce::{Flag, KnownLock};
use crate::task::Task;
use porf_ir::Split;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet};

/// A graph that executions with cycles in po | rf begin at, and a hash that tells what begins there from others.
pub type Beginning = (u64, Task);

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
    pub(crate) cycles: Option<BTreeSet<u64>>,
    /// Where these begin; `None` if that is not known of all.
    #[serde(default)]
    pub(crate) sources: Option<Vec<Beginning>>,
    /// How accesses of the program are cut in this search.
    #[serde(default)]
    pub(crate) cuts: Vec<Vec<Split>>,
    /// The names of reductions that are not made in this search.
    #[serde(default)]
    pub(crate) without: Vec<String>,
    /// What variables are taken for in this search.
    #[serde(default)]
    pub(crate) flags: Vec<Flag>,
    /// What is known of locks in this search.
    #[serde(default)]
    pub(crate) locks: Vec<KnownLock>,
}

/// With more of them, the search for executions with cycles goes through the whole program.
const MOST_SOURCES: usize = 20_000;

impl Rest {
    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.cycles.is_none()
    }

    /// How accesses of the program are made to fit in this search.
    pub fn cuts(&self) -> &[Vec<Split>] {
        &self.cuts
    }

    /// A search that has not begun.
    pub fn whole() -> Rest {
        Rest { tasks: vec![Task::default()], ..Rest::default() }
    }

    /// Some of its tasks, for somebody else.
    pub fn part(&self, tasks: Vec<Task>) -> Rest {
        Rest { tasks, created: self.created.clone(), ..self.alike() }
    }

    /// What is the same in all parts of a search, however far it is.
    pub(crate) fn alike(&self) -> Rest {
        Rest {
            cuts: self.cuts.clone(),
            without: self.without.clone(),
            flags: self.flags.clone(),
            locks: self.locks.clone(),
            ..Rest::default()
        }
    }

    /// Where executions with cycles begin, if nothing else is left to do and that is known.
    pub fn beginnings(&self) -> &[Beginning] {
        match (&self.cycles, &self.sources) {
            (Some(_), Some(sources)) if self.tasks.is_empty() => sources,
            _ => &[],
        }
    }

    /// The search for executions with cycles from some of its beginnings, for somebody else.
    pub fn part_from(&self, beginnings: &[Beginning]) -> Rest {
        let sources = Some(beginnings.to_vec());
        Rest { cycles: Some(BTreeSet::new()), sources, ..self.part(Vec::new()) }
    }

    /// Takes back what is left of a part, without its tasks. `false` if it has to be searched again, because
    /// others have given other numbers to threads.
    pub fn take_back(&mut self, left: &Rest) -> bool {
        if !self.take_numbers(left) {
            return false;
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

    /// Takes back a part that was searched from some beginnings to its end. Gives how many complete and how many
    /// blocked executions were found that nobody had found before; `None` if it has to be searched again.
    pub fn take_cycles(&mut self, from: &[Beginning], left: &Rest) -> Option<(u64, u64)> {
        if !self.take_numbers(left) {
            return None;
        }
        let shown = self.cycles.get_or_insert_default();
        let (mut complete, mut blocked) = (0, 0);
        for hash in left.cycles.iter().flatten().filter(|hash| shown.insert(**hash)) {
            *(if is_blocked(*hash) { &mut blocked } else { &mut complete }) += 1;
        }
        let sources = self.sources.get_or_insert_default();
        sources.retain(|(hash, _)| from.iter().all(|(done, _)| done != hash));
        if sources.is_empty() {
            (self.cycles, self.sources) = (None, None);
        }
        Some((complete, blocked))
    }

    /// These beginnings come first.
    pub fn prefer(&mut self, beginnings: &[Beginning]) {
        let first = |hash: u64| beginnings.iter().any(|(one, _)| *one == hash);
        self.sources.iter_mut().for_each(|sources| sources.sort_by_key(|(hash, _)| !first(*hash)));
    }

    /// Takes over the numbers of new threads, unless others have given other ones.
    fn take_numbers(&mut self, left: &Rest) -> bool {
        if self.created.iter().zip(&left.created).any(|(known, new)| known != new) {
            return false;
        }
        if left.created.len() > self.created.len() {
            self.created.clone_from(&left.created);
        }
        true
    }
}

/// The hash of an execution with whether it is blocked, in its last bit.
pub(crate) fn marked(hash: u64, blocked: bool) -> u64 {
    hash & !1 | u64::from(blocked)
}

fn is_blocked(hash: u64) -> bool {
    hash & 1 == 1
}

/// Each once; `None` if there are too many.
pub(crate) fn merged(known: Vec<Beginning>, new: Vec<Beginning>) -> Option<Vec<Beginning>> {
    let mut seen = HashSet::new();
    let mut all: Vec<Beginning> = known.into_iter().chain(new).collect();
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
            cycles: Some(BTreeSet::new()),
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

    #[test]
    fn an_execution_with_a_cycle_counts_once() {
        let beginnings: Vec<Beginning> = (1..=3).map(|hash| (hash, Task::default())).collect();
        let mut rest = Rest { cycles: Some(BTreeSet::new()), sources: Some(beginnings), ..Rest::default() };
        let all = rest.beginnings().to_vec();
        let shown =
            |hashes: &[u64]| Rest { cycles: Some(hashes.iter().copied().collect()), ..Rest::default() };
        rest.prefer(&all[2..]);
        assert_eq!(rest.beginnings()[0].0, 3);
        // Odd hashes are those of blocked executions.
        assert_eq!(rest.take_cycles(&all[..1], &shown(&[2, 4, 5])), Some((2, 1)));
        assert_eq!(rest.take_cycles(&all[1..2], &shown(&[4, 5, 6])), Some((1, 0)));
        assert_eq!(rest.beginnings().len(), 1);
        assert_eq!(rest.take_cycles(&all[2..], &shown(&[])), Some((0, 0)));
        assert!(rest.is_empty());
    }
}
