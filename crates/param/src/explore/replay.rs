//! Replaying a list of transition instances on a finite instance.
//!
//! Under SC the list is run as it stands. Under a weak model the prover's order of steps is one among many
//! that agree on each process's own order, so the steps of each process are kept in order and everything
//! else (how processes interleave, when buffered writes reach memory) is searched.

use super::{Cut, Instance, State, Step, Trace};
use crate::Memory;
use crate::system::System;
use std::collections::HashSet;

/// States visited before a replay is given up.
const MAX_STATES: usize = 400_000;

/// Runs `steps` (transition index and processes) from some initial state to an unsafe state.
///
/// The prover's names say nothing of the order of processes, and a variable may start with a process that does
/// nothing: renamings and one more process are tried too. Returns the run and the `unsafe` it reaches, or
/// `None` if no such run exists or the search was too long.
pub fn replay(
    system: &System,
    memory: Memory,
    processes: u8,
    steps: &[(usize, Vec<u8>)],
) -> Option<(Trace, usize)> {
    replay_while(system, memory, processes, steps, &|| true)
}

/// The same, for as long as `go_on` says so: it is asked at each state.
pub fn replay_while(
    system: &System,
    memory: Memory,
    processes: u8,
    steps: &[(usize, Vec<u8>)],
    go_on: &dyn Fn() -> bool,
) -> Option<(Trace, usize)> {
    let room = system.number_procs.is_none_or(|max| processes < max);
    for count in [processes, processes + 1].into_iter().take(1 + usize::from(room)) {
        let mut names: Vec<u8> = (0..processes).collect();
        loop {
            let rename = |procs: &[u8]| procs.iter().map(|p| names[*p as usize]).collect();
            let renamed: Vec<_> = steps.iter().map(|(index, procs)| (*index, rename(procs))).collect();
            if let Some(found) = replay_named(system, memory, count, &renamed, go_on) {
                return Some(found);
            }
            if processes > MAX_RENAMED || system.named || !go_on() || !next_injection(&mut names, count) {
                break;
            }
        }
    }
    None
}

/// Processes beyond which renamings are not tried.
const MAX_RENAMED: u8 = 4;

/// The next sequence of distinct numbers below `count`, in lexicographic order.
fn next_injection(names: &mut [u8], count: u8) -> bool {
    let free = |p: &u8, before: &[u8]| !before.contains(p);
    for at in (0..names.len()).rev() {
        if let Some(next) = (names[at] + 1..count).find(|p| free(p, &names[..at])) {
            names[at] = next;
            for later in at + 1..names.len() {
                let Some(first) = (0..count).find(|p| free(p, &names[..later])) else { return false };
                names[later] = first;
            }
            return true;
        }
    }
    false
}

fn replay_named(
    system: &System,
    memory: Memory,
    processes: u8,
    steps: &[(usize, Vec<u8>)],
    go_on: &dyn Fn() -> bool,
) -> Option<(Trace, usize)> {
    let instance = Instance::new(system, memory, processes);
    let mut threads: Vec<Vec<(usize, Vec<u8>)>> = vec![Vec::new(); processes as usize];
    for (index, procs) in steps {
        let thread = match (instance.memory, system.transitions[*index].acting) {
            (Memory::Sc, _) | (_, None) => 0,
            (_, Some(slot)) => procs[slot] as usize,
        };
        threads[thread].push((*index, procs.clone()));
    }
    let mut search = Search {
        instance: &instance,
        threads,
        buffer: steps.len().max(1),
        visited: HashSet::new(),
        path: Vec::new(),
        cut: Cut::default(),
        go_on,
    };
    for initial in instance.initial_states(100_000, &mut Cut::default()) {
        let mut positions = vec![0; processes as usize];
        if let Some(property) = search.from(&initial, &mut positions) {
            return Some((Trace { processes, initial, steps: search.path }, property));
        }
    }
    None
}

struct Search<'a> {
    instance: &'a Instance<'a>,
    threads: Vec<Vec<(usize, Vec<u8>)>>,
    buffer: usize,
    visited: HashSet<(Vec<usize>, State)>,
    path: Vec<(Step, State)>,
    cut: Cut,
    go_on: &'a dyn Fn() -> bool,
}

impl Search<'_> {
    fn from(&mut self, state: &State, positions: &mut Vec<usize>) -> Option<usize> {
        if self.visited.len() > MAX_STATES
            || !(self.go_on)()
            || !self.visited.insert((positions.clone(), state.clone()))
        {
            return None;
        }
        let done = positions.iter().zip(&self.threads).all(|(at, thread)| *at == thread.len());
        if done && let Some(property) = self.instance.unsafe_in(state) {
            return Some(property);
        }
        for thread in 0..self.threads.len() {
            let Some((index, procs)) = self.threads[thread].get(positions[thread]).cloned() else { continue };
            let mut env = [0; 16];
            env[..procs.len()].copy_from_slice(&procs);
            positions[thread] += 1;
            for next in self.instance.apply(index, &env, state, self.buffer, &mut self.cut) {
                let step = Step::Transition { index, procs: procs.clone() };
                if let Some(property) = self.step(step, next, positions) {
                    return Some(property);
                }
            }
            positions[thread] -= 1;
        }
        let mut commits = Vec::new();
        self.instance.commits(state, &mut |step, next| commits.push((step, next)));
        commits.into_iter().find_map(|(step, next)| self.step(step, next, positions))
    }

    fn step(&mut self, step: Step, next: State, positions: &mut Vec<usize>) -> Option<usize> {
        self.path.push((step, next.clone()));
        let found = self.from(&next, positions);
        if found.is_none() {
            self.path.pop();
        }
        found
    }
}
