//! Robustness: no run of the store-buffer machine shows more than one of sequential consistency.
//!
//! Source: Owens, "Reasoning about the implementation of concurrency abstractions on x86-TSO", ECOOP 2010 (triangular
//! races); Bouajjani, Derevenetc, Meyer, "Checking and enforcing robustness against TSO", ESOP 2013. Here for systems
//! with any number of processes, and only as far as safety needs it.
//!
//! A step is *exposed* if it reads weak memory without draining its buffer, while a write of its own process is
//! pending; under PSO also if it writes then, since the later write may reach memory first. If no run has an exposed
//! step, then all writes that are pending in a state could have been issued later: at their commits. So with its
//! buffers drained, which changes no plain variable, the state is one of sequential consistency
//! (`certificate/robust.rs` has the argument).
//!
//! Whether a step is exposed is asked under sequential consistency too. The first exposed step of a run follows on a run
//! of the process alone: it writes, does what reads no weak memory, and then takes the step. So the *watched*
//! system marks the process that wrote, until it drains its buffer or another process takes a step, and a state is
//! unsafe if a marked process could take such a step. Steps that change nothing are left out: a loop that looks at a
//! lock again is no look that counts.
//!
//! Limits: systems whose unsafe formulas read what a buffer may hold are left to the other searches.

use super::work::Work;
use crate::Memory;
use crate::explore::{Limits, explore_while};
use crate::syntax::Comparison;
use crate::system::*;

/// How much of an instance is looked at to refute robustness.
const LIMITS: Limits = Limits { states: 1_000, buffer: 0, initial: 100, stop_at_unsafe: true };
/// Steps of work that a state is worth.
const STATE: u64 = 32;
/// `True` and `False` among the values of `bool`.
const YES: Term = Term::Enum(0);
const NO: Term = Term::Enum(1);

/// The watched system: what it must not reach under sequential consistency are exposed steps. `None`: beyond the limits.
pub fn watched(system: &System, memory: Memory) -> Option<System> {
    if !matches!(memory, Memory::Tso | Memory::Pso) || !system.weak_errors.is_empty() || observes(system) {
        return None;
    }
    let mark = system.symbols.len();
    let marked = |process: Proc| Access { symbol: mark, indices: vec![process], by: None };
    let is = |process: Proc, value: Term| {
        Formula::Compare(BOOL, Term::Access(marked(process)), Comparison::Eq, value)
    };
    let mut watched = system.clone();
    watched.symbols.push(Symbol { name: "pending".into(), ty: BOOL, dims: 1, weak: false, constant: false });
    let init = &mut watched.init;
    if init.params.is_empty() {
        init.params.push("p".into());
    }
    init.body = Formula::And(vec![init.body.clone(), is(Proc::Slot(0), NO)]);
    watched.invariants.retain(|set| system.only_constants(&set.body));
    watched.unsafes.clear();
    watched.transitions.retain(|transition| !idles(system, transition));
    for transition in &mut watched.transitions {
        let acting = Proc::Slot(transition.acting? as u8);
        let drains = transition.locked || transition.fence;
        let reads = reads(system, transition);
        let writes = transition.updates.iter().any(|update| system.symbols[update.symbol].weak);
        if !drains && (reads || (writes && memory == Memory::Pso)) {
            let body = Formula::And(vec![is(acting, YES), without_all(&transition.guard, true)]);
            let (params, span) = (transition.params.clone(), transition.span);
            watched.unsafes.push(StateSet { name: Some(transition.name.clone()), params, body, span });
        }
        let slot = free_slot(transition)?;
        let own = Formula::Compare(PROC, Term::Proc(Proc::Slot(slot)), Comparison::Eq, Term::Proc(acting));
        let cases = if writes && !transition.locked {
            vec![(own, YES), (Formula::True, NO)]
        } else if drains || reads {
            vec![(Formula::True, NO)]
        } else {
            vec![(own, Term::Access(marked(Proc::Slot(slot)))), (Formula::True, NO)]
        };
        let (indices, value) = (vec![Index::Bound(slot)], UpdateValue::Cases(cases));
        transition.updates.push(Update { symbol: mark, indices, value });
    }
    Some(watched)
}

/// Whether a small instance has an exposed step.
pub fn refuted(watched: &System, work: &Work<'_>) -> bool {
    let most = watched.number_procs.unwrap_or(2).min(2);
    let go_on = || work.spend(STATE);
    explore_while(watched, Memory::Sc, most, LIMITS, &go_on).trace.is_some()
}

/// Whether an unsafe formula reads what a buffer may hold.
fn observes(system: &System) -> bool {
    let held = |symbol: usize| {
        let writes =
            |transition: &Transition| transition.updates.iter().any(|update| update.symbol == symbol);
        system.symbols[symbol].weak && system.transitions.iter().any(|t| !t.locked && writes(t))
    };
    let mut found = false;
    for set in &system.unsafes {
        set.body.accesses(&mut |access| found |= held(access.symbol));
    }
    found
}

/// Whether the step reads weak memory.
fn reads(system: &System, transition: &Transition) -> bool {
    let mut found = false;
    transition.accesses(&mut |access| found |= system.symbols[access.symbol].weak);
    found
}

/// Whether a step changes nothing: each update writes what the guard asks the cell to hold.
fn idles(system: &System, transition: &Transition) -> bool {
    transition.updates.iter().all(|update| {
        let UpdateValue::Cases(cases) = &update.value else { return false };
        let [(Formula::True, value)] = cases.as_slice() else { return false };
        let is_cell = |term: &Term| match term {
            Term::Access(access) => {
                access.symbol == update.symbol
                    && (access.indices.iter().map(|process| Index::Fixed(*process)))
                        .eq(update.indices.clone())
            }
            _ => false,
        };
        !system.symbols[update.symbol].weak && asks(&transition.guard, &is_cell, value)
    })
}

/// Whether some conjunct says that the cell holds the value.
fn asks(guard: &Formula, is_cell: &dyn Fn(&Term) -> bool, value: &Term) -> bool {
    match guard {
        Formula::And(parts) => parts.iter().any(|part| asks(part, is_cell, value)),
        Formula::Compare(_, left, Comparison::Eq, right) => {
            (is_cell(left) && right == value) || (is_cell(right) && left == value)
        }
        _ => false,
    }
}

/// What follows from the formula (what it follows from, unless `positive`) and asks nothing of all processes.
fn without_all(formula: &Formula, positive: bool) -> Formula {
    let all = |parts: &[Formula]| parts.iter().map(|part| without_all(part, positive)).collect();
    let constant = if positive { Formula::True } else { Formula::False };
    match formula {
        Formula::True | Formula::False | Formula::Compare(..) => formula.clone(),
        Formula::Not(inner) => Formula::Not(Box::new(without_all(inner, !positive))),
        Formula::And(parts) => Formula::And(all(parts)),
        Formula::Or(parts) => Formula::Or(all(parts)),
        Formula::If(when, then, otherwise) => {
            // Either branch, with its condition.
            let branch = |condition: Formula, value: &Formula| {
                Formula::And(vec![without_all(&condition, positive), without_all(value, positive)])
            };
            let not = Formula::Not(when.clone());
            match positive {
                true => Formula::Or(vec![branch((**when).clone(), then), branch(not, otherwise)]),
                false => constant,
            }
        }
        Formula::Forall(_) | Formula::Exists(_) => constant,
    }
}

/// A slot that no variable of the transition has.
fn free_slot(transition: &Transition) -> Option<u8> {
    fn bound(formula: &Formula) -> u8 {
        match formula {
            Formula::True | Formula::False | Formula::Compare(..) => 0,
            Formula::Not(inner) => bound(inner),
            Formula::And(parts) | Formula::Or(parts) => parts.iter().map(bound).max().unwrap_or(0),
            Formula::If(a, b, c) => bound(a).max(bound(b)).max(bound(c)),
            Formula::Forall(quantified) | Formula::Exists(quantified) => {
                bound(&quantified.body).max(quantified.slot + 1)
            }
        }
    }
    let indices = transition.updates.iter().flat_map(|update| &update.indices);
    let of_index = |index: &Index| match index {
        Index::Bound(slot) => slot + 1,
        Index::Fixed(_) => 0,
    };
    let free = (transition.params.len() as u8).max(bound(&transition.guard));
    let free = indices.map(of_index).fold(free, u8::max);
    (free < 16).then_some(free)
}
