//! Explicit-state search of one finite instance: breadth first, every state once.
//!
//! The prover's oracle. It finds shortest counterexamples, gives the approximation its reachable states, and
//! replays the prover's traces. What it finds is real; that it finds nothing means something only if
//! [`Exploration::cut`] says that nothing was left out.

mod instance;
mod messages;
mod release_acquire;
mod replay;

pub use instance::{Cut, Group, Instance, State, Step, Value};
pub use messages::{Message, Messages, View};
pub use release_acquire::Accesses;
pub use replay::{replay, replay_while};

use crate::Memory;
use crate::system::System;
use std::collections::HashMap;

/// How much of an instance is explored.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// States visited.
    pub states: usize,
    /// Groups pending in one store buffer; under release–acquire, messages of a location beside two.
    pub buffer: usize,
    /// Initial states tried.
    pub initial: usize,
    /// Whether the first unsafe state ends the search; otherwise all states are wanted.
    pub stop_at_unsafe: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { states: 200_000, buffer: 3, initial: 100_000, stop_at_unsafe: true }
    }
}

/// What an exploration has found.
pub struct Exploration {
    /// All states that were reached.
    pub states: Vec<State>,
    /// A path to an unsafe state, and which `unsafe` it satisfies.
    pub trace: Option<(Trace, usize)>,
    /// What was left out.
    pub cut: Cut,
    /// Per transition, whether it happened.
    pub happened: Vec<bool>,
}

/// A run of an instance: where it starts, then each step and the state after it.
#[derive(Clone, Debug)]
pub struct Trace {
    /// How many take part.
    pub processes: u8,
    /// Where it starts.
    pub initial: State,
    /// Each step, and the state after it.
    pub steps: Vec<(Step, State)>,
}

/// Searches the instance with `processes` processes.
pub fn explore(system: &System, memory: Memory, processes: u8, limits: Limits) -> Exploration {
    explore_while(system, memory, processes, limits, &|| true)
}

/// The same, for as long as `go_on` says so: it is asked before each state is expanded.
pub fn explore_while(
    system: &System,
    memory: Memory,
    processes: u8,
    limits: Limits,
    go_on: &dyn Fn() -> bool,
) -> Exploration {
    let instance = Instance::new(system, memory, processes);
    let mut cut = Cut::default();
    let mut happened = vec![false; system.transitions.len()];
    let mut states: Vec<State> = Vec::new();
    let mut from: Vec<Option<(usize, Step)>> = Vec::new();
    let mut known: HashMap<State, usize> = HashMap::new();
    let mut found: Option<usize> = None;
    let mut push = |state: State, origin: Option<(usize, Step)>, states: &mut Vec<State>| {
        if let std::collections::hash_map::Entry::Vacant(entry) = known.entry(state) {
            states.push(entry.key().clone());
            from.push(origin);
            entry.insert(states.len() - 1);
        }
    };
    for state in instance.initial_states(limits.initial, &mut cut) {
        push(state, None, &mut states);
    }
    let mut at = 0;
    while at < states.len() {
        if found.is_none() && instance.unsafe_in(&states[at]).is_some() {
            found = Some(at);
            if limits.stop_at_unsafe {
                break;
            }
        }
        if states.len() >= limits.states {
            cut.states = true;
            break;
        }
        if !go_on() {
            cut.stopped = true;
            break;
        }
        let state = states[at].clone();
        instance.successors(&state, limits.buffer, &mut cut, &mut |step, next| {
            if let Step::Transition { index, .. } = step {
                happened[index] = true;
            }
            push(next, Some((at, step)), &mut states);
        });
        at += 1;
    }
    // What was not expanded is still checked.
    if found.is_none() {
        found = (at..states.len()).find(|&i| instance.unsafe_in(&states[i]).is_some());
    }
    let trace = found.and_then(|end| {
        let property = instance.unsafe_in(&states[end])?;
        let mut steps = Vec::new();
        let mut here = end;
        while let Some((previous, step)) = &from[here] {
            steps.push((step.clone(), states[here].clone()));
            here = *previous;
        }
        steps.reverse();
        Some((Trace { processes, initial: states[here].clone(), steps }, property))
    });
    Exploration { states, trace, cut, happened }
}
