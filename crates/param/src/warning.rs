//! What an answer rests on beside the text of the system, and what may be wrong with the system itself.

use crate::Memory;
use crate::explore::{Cut, Exploration, Instance, Limits, explore_while};
use crate::syntax::Span;
use crate::system::System;

/// Something that the reader of an answer must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// A weak memory was asked for and no variable is weak: the answer is one under sequential consistency.
    NothingWeak,
    /// `number_procs`: the answer is about that many processes at most (exactly, where processes have names).
    Processes {
        /// The number in the text.
        most: u8,
        /// Fewer are not covered either.
        exactly: bool,
    },
    /// An invariant over constants, which is assumed and not proved.
    Assumed {
        /// Where the invariant is written.
        span: Span,
    },
    /// No state is initial, so nothing is ever reached.
    NoInitialState {
        /// How many were tried at most.
        processes: u8,
        /// There would be one without the assumptions.
        assumptions: bool,
    },
    /// A transition that no run of up to so many processes takes.
    NeverHappens {
        /// An index into [`System::transitions`].
        transition: usize,
        /// How many were tried at most.
        processes: u8,
    },
    /// What the system leaves out of the program that it was made from, in words.
    OfProgram {
        /// A sentence.
        message: String,
    },
    /// A claimed invariant that is none, and was not used.
    NoInvariant {
        /// How many claims were dropped.
        count: usize,
    },
}

impl Warning {
    /// The answer holds only if this does.
    pub fn is_assumption(&self) -> bool {
        matches!(self, Warning::Assumed { .. } | Warning::OfProgram { .. })
    }
}

/// What the text alone tells.
pub(crate) fn of_text(system: &System, memory: Memory) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if memory != Memory::Sc && !system.has_weak() {
        warnings.push(Warning::NothingWeak);
    }
    if let Some(most) = system.number_procs {
        warnings.push(Warning::Processes { most, exactly: system.named });
    }
    warnings.extend(system.axioms().map(|axiom| Warning::Assumed { span: axiom.span }));
    warnings
}

/// Whether no state is initial: with these processes none is, and none was left out.
pub(crate) fn of_initial_states(system: &System, memory: Memory, processes: u8) -> Option<Warning> {
    let is_empty = |system: &System| {
        let mut cut = Cut::default();
        let states = Instance::new(system, memory, processes).initial_states(INITIAL, &mut cut);
        states.is_empty() && !cut.initial
    };
    if !is_empty(system) {
        return None;
    }
    let assumptions = system.axioms().next().is_some() && {
        let mut free = system.clone();
        free.invariants.clear();
        !is_empty(&free)
    };
    Some(Warning::NoInitialState { processes, assumptions })
}

/// The transitions that never happen, after an exploration with so many processes in which nothing was cut off but
/// long buffers. Those that need one process more get one more.
pub(crate) fn of_runs(
    system: &System,
    memory: Memory,
    processes: u8,
    explored: &Exploration,
    go_on: &dyn Fn() -> bool,
) -> Vec<Warning> {
    let whole = |explored: &Exploration| {
        let Cut { numbers, buffers: _, states, initial, stopped } = explored.cut;
        !(numbers || states || initial || stopped) && explored.trace.is_none() && !explored.states.is_empty()
    };
    let idle = |explored: &Exploration| -> Vec<usize> {
        (0..system.transitions.len()).filter(|index| !explored.happened[*index]).collect()
    };
    let mut found = idle(explored);
    if found.is_empty() || !whole(explored) {
        return Vec::new();
    }
    let mut most = processes;
    if system.number_procs.is_none_or(|bound| processes < bound) {
        let limits = Limits { states: STATES, buffer: 2, initial: INITIAL, stop_at_unsafe: false };
        let more = explore_while(system, memory, processes + 1, limits, go_on);
        found.retain(|index| !more.happened[*index]);
        if !whole(&more) {
            return Vec::new();
        }
        most = processes + 1;
    }
    found.into_iter().map(|transition| Warning::NeverHappens { transition, processes: most }).collect()
}

/// States and initial states that are looked at for a warning.
const STATES: usize = 20_000;
const INITIAL: usize = 5_000;
