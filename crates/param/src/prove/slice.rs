//! Systems that speak of fewer symbols and do at least what the whole one does.
//!
//! A symbol is left out: what guards say of it is taken to hold, and what is written to it is forgotten. Every run of
//! the system is then, without the symbol, a run of the slice, under each memory: buffers and messages lose the
//! writes to it, and a step that was locked for its sake alone is an ordinary one. So cubes that are never reached in the
//! slice are never reached in the system, and the invariant of a slice is one of the system. A run of a slice says
//! nothing.
//!
//! This is the localisation reduction (Kurshan 1994), by symbols. Which symbols are left out is a guess: a slice that
//! a small instance refutes is given up. Handshakes with more flags than the property needs (the third version of
//! Goeman's arbiter) are proved in this way.
//!
//! Limits: a symbol that the unsafe formulas mention stays, and so does what its new values depend on.

use super::work::Work;
use crate::Memory;
use crate::explore::{Limits, explore_while};
use crate::system::{Formula, System, Term, UpdateValue};

/// How much of an instance is looked at to refute a slice.
const LIMITS: Limits = Limits { states: 30_000, buffer: 2, initial: 2_000, stop_at_unsafe: true };
/// Steps of work that a state is worth.
const STATE: u64 = 32;

/// Sets of symbols that may be left out: as many as no small instance speaks against, then each alone.
pub fn sets(system: &System, memory: Memory, work: &Work<'_>) -> Vec<Vec<usize>> {
    let mut most: Vec<usize> = Vec::new();
    let mut alone: Vec<Vec<usize>> = Vec::new();
    // What is declared last is most often what was added last.
    for symbol in (0..system.symbols.len()).rev() {
        if most.contains(&symbol) {
            continue;
        }
        let Some(set) = with_dependents(system, symbol) else { continue };
        let more: Vec<usize> = most.iter().copied().chain(set.iter().copied()).collect();
        if !refuted(&without(system, &more), memory, work) {
            most = more;
        }
        alone.push(set);
        if work.is_over() {
            return Vec::new();
        }
    }
    most.sort_unstable();
    most.dedup();
    if most.is_empty() {
        return Vec::new();
    }
    alone.retain(|set| *set != most && set.iter().all(|symbol| most.contains(symbol)));
    alone.insert(0, most);
    alone
}

/// The symbol and all whose new values depend on it; `None` if one of them has to stay, or if it does nothing.
fn with_dependents(system: &System, symbol: usize) -> Option<Vec<usize>> {
    let stays = |symbol: usize| {
        let mut mentioned = system.symbols[symbol].constant;
        for set in &system.unsafes {
            set.body.accesses(&mut |access| mentioned |= access.symbol == symbol);
        }
        mentioned
    };
    let updates = || system.transitions.iter().flat_map(|transition| &transition.updates);
    if !updates().any(|update| update.symbol == symbol) {
        return None;
    }
    let mut set = vec![symbol];
    loop {
        if set.iter().any(|symbol| stays(*symbol)) {
            return None;
        }
        let depends = |value: &UpdateValue| match value {
            UpdateValue::Any => false,
            UpdateValue::Cases(cases) => {
                cases.iter().any(|(when, then)| mentions(when, &set) || of_term(then, &set))
            }
        };
        let new = updates().find(|update| !set.contains(&update.symbol) && depends(&update.value));
        match new.map(|update| update.symbol) {
            Some(symbol) => set.push(symbol),
            None => {
                set.sort_unstable();
                return Some(set);
            }
        }
    }
}

/// Whether a small instance reaches an unsafe state. What is unsafe under sc is so under every memory, and has the
/// fewest states there.
fn refuted(slice: &System, memory: Memory, work: &Work<'_>) -> bool {
    let most = slice.number_procs.unwrap_or(u8::MAX);
    let instances = [(Memory::Sc, 2), (Memory::Sc, 3), (memory, 2)];
    instances.into_iter().filter(|(_, processes)| *processes <= most).any(|(memory, processes)| {
        explore_while(slice, memory, processes, LIMITS, &|| work.spend(STATE)).trace.is_some()
    })
}

/// The system without these symbols. They are still declared, with their first values.
pub fn without(system: &System, dropped: &[usize]) -> System {
    let mut slice = system.clone();
    for transition in &mut slice.transitions {
        transition.guard = weaker(&transition.guard, dropped, true);
        transition.updates.retain(|update| !dropped.contains(&update.symbol));
        transition.locked &= transition.updates.iter().any(|update| system.symbols[update.symbol].weak);
    }
    slice.transitions.retain(|transition| !transition.updates.is_empty());
    slice.invariants.retain(|set| !mentions(&set.body, dropped));
    slice
}

/// What follows from the formula and does not speak of the symbols; what it follows from, unless `positive`.
fn weaker(formula: &Formula, dropped: &[usize], positive: bool) -> Formula {
    let all = |parts: &[Formula]| parts.iter().map(|part| weaker(part, dropped, positive)).collect();
    let constant = if positive { Formula::True } else { Formula::False };
    match formula {
        Formula::True | Formula::False => formula.clone(),
        Formula::Compare(..) if mentions(formula, dropped) => constant,
        Formula::Compare(..) => formula.clone(),
        Formula::Not(inner) => Formula::Not(Box::new(weaker(inner, dropped, !positive))),
        Formula::And(parts) => Formula::And(all(parts)),
        Formula::Or(parts) => Formula::Or(all(parts)),
        Formula::If(when, then, otherwise) => {
            let branches = [then, otherwise].map(|branch| weaker(branch, dropped, positive));
            match (mentions(when, dropped), branches) {
                (true, branches) if positive => Formula::Or(branches.into()),
                (true, branches) => Formula::And(branches.into()),
                (false, [then, otherwise]) => Formula::If(when.clone(), Box::new(then), Box::new(otherwise)),
            }
        }
        Formula::Forall(quantified) | Formula::Exists(quantified) => {
            let mut quantified = quantified.clone();
            quantified.body = Box::new(weaker(&quantified.body, dropped, positive));
            match formula {
                Formula::Forall(_) => Formula::Forall(quantified),
                _ => Formula::Exists(quantified),
            }
        }
    }
}

fn mentions(formula: &Formula, symbols: &[usize]) -> bool {
    let mut found = false;
    formula.accesses(&mut |access| found |= symbols.contains(&access.symbol));
    found
}

fn of_term(term: &Term, symbols: &[usize]) -> bool {
    let mut found = false;
    term.accesses(&mut |access| found |= symbols.contains(&access.symbol));
    found
}
