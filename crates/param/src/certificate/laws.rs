//! The laws of a certificate: what must be shown of them, and what they say of a state.
//!
//! A law is about all processes. An obligation names some of them, and the *stranger* of each law: one process more, which
//! may be there or not. Names are given in this order: the certain processes, the witnesses of quantifiers, the
//! strangers, each law's only where the law needs a process that has no name yet. So every state gives such names, and
//! a stranger differs from all before it.
//!
//! Laws are over cells that no buffer holds, so commits do not touch them. Each is inductive by itself:
//!
//! - *Count*: at the start every process weighs nothing and the left side is the total. A step changes the left side as much as
//!   the weights of its parameters, and the weight of no other process.
//! - *Witness*: if the variable has such a value after a step, some named process is in the set then: a parameter, or the
//!   process that was the witness before.

use super::cube::Cell;
use super::machine::{Machine, Write};
use super::scene::Scene;
use super::term::Term;
use crate::law::{Count, Law};
use crate::system::Formula;
use crate::typing::has_quantifier;

/// The laws speak of what no buffer holds, of symbols as they are, and of processes that are all alike.
pub fn fit(machine: &Machine<'_>, laws: &[Law]) -> Result<(), String> {
    if machine.system.named && !laws.is_empty() {
        return Err("laws are for systems whose processes have no names".into());
    }
    for law in laws {
        law.fits(machine.system)?;
        if let Some(symbol) = law.symbols().into_iter().find(|symbol| machine.buffered[*symbol]) {
            let name = &machine.system.symbols[symbol].name;
            return Err(format!("a law speaks of `{name}`, which a store buffer may hold"));
        }
    }
    Ok(())
}

/// Whether a law can matter to these formulas and symbols: a count if one of its counters is among them, a witness if
/// somebody is asked for who is none.
pub fn is_about(law: &Law, formulas: &[&Formula], symbols: &[usize]) -> bool {
    match law {
        Law::Count(count) => count.counters.iter().any(|(counter, _)| {
            let mut found = symbols.contains(counter);
            for formula in formulas {
                formula.accesses(&mut |access| found |= access.symbol == *counter);
            }
            found
        }),
        Law::Witness(_) => formulas.iter().any(|formula| has_quantifier(formula)),
    }
}

/// What a law says of the state of a scene. The processes before its stranger are the named ones; without a
/// stranger there is no room for one.
pub fn holds(scene: &mut Scene<'_>, law: &Law, named: u8, stranger: Option<u8>) -> Vec<Term> {
    let inside = |scene: &mut Scene<'_>, process: u8, array: usize, set: u64| {
        let cell = scene.cell(Cell::new(array, &[process]));
        Term::and([scene.exists(process), one_of(&cell, set)])
    };
    match law {
        Law::Count(count) => {
            let mut before = |_: &mut Scene<'_>, _: Cell, old: Term| old;
            let left = left(scene, count, &mut before);
            let mut terms = vec![(1, left)];
            for process in 0..named {
                let weight = weight_of(scene, count, process, &mut before);
                terms.push((-1, scene.exists(process).ite(weight, Term::Number(0))));
            }
            let rest = Term::sum(terms, -count.total);
            let mut facts = Vec::new();
            for sign in [-1, 1] {
                let (low, high) = (rest.clone(), Term::Number(0));
                let outside = if sign < 0 { low.lt(high) } else { high.lt(low) };
                match (count.with_sign(sign), stranger) {
                    (0, _) => facts.push(outside.not()),
                    (set, Some(stranger)) => {
                        let one = inside(scene, stranger, count.array, set);
                        facts.push(outside.implies(one));
                    }
                    (_, None) => {}
                }
            }
            facts
        }
        Law::Witness(witness) => {
            let Some(stranger) = stranger else { return Vec::new() };
            let variable = scene.cell(Cell::new(witness.variable, &[]));
            let some: Vec<Term> = (0..named)
                .chain([stranger])
                .map(|process| inside(scene, process, witness.array, witness.set))
                .collect();
            vec![one_of(&variable, witness.values).implies(Term::or(some))]
        }
    }
}

/// What an initial state with one process must not be.
pub fn fails_at_start(scene: &mut Scene<'_>, law: &Law) -> Term {
    let mut before = |_: &mut Scene<'_>, _: Cell, old: Term| old;
    match law {
        Law::Count(count) => {
            let left = left(scene, count, &mut before).eq(Term::Number(count.total));
            let weight = weight_of(scene, count, 0, &mut before).eq(Term::Number(0));
            Term::and([left, weight]).not()
        }
        Law::Witness(witness) => {
            let variable = scene.cell(Cell::new(witness.variable, &[]));
            let cell = scene.cell(Cell::new(witness.array, &[0]));
            Term::and([one_of(&variable, witness.values), one_of(&cell, witness.set).not()])
        }
    }
}

/// What a step of the first `params` processes must not do.
pub fn fails_after(scene: &mut Scene<'_>, law: &Law, writes: &[Write], params: u8) -> Term {
    let mut before = |_: &mut Scene<'_>, _: Cell, old: Term| old;
    let mut after = |_: &mut Scene<'_>, cell: Cell, old: Term| changed(writes, cell, old);
    match law {
        Law::Count(count) => {
            let mut terms = vec![(1, left(scene, count, &mut after)), (-1, left(scene, count, &mut before))];
            for process in 0..params {
                terms.push((-1, weight_of(scene, count, process, &mut after)));
                terms.push((1, weight_of(scene, count, process, &mut before)));
            }
            Term::sum(terms, 0).eq(Term::Number(0)).not()
        }
        Law::Witness(witness) => {
            let variable = Cell::new(witness.variable, &[]);
            let variable = changed(writes, variable, scene.cell(variable));
            let mut parts = vec![one_of(&variable, witness.values)];
            for process in 0..scene.processes() {
                let cell = Cell::new(witness.array, &[process]);
                let cell = changed(writes, cell, scene.cell(cell));
                parts.push(Term::and([scene.exists(process), one_of(&cell, witness.set)]).not());
            }
            Term::and(parts)
        }
    }
}

/// What a step must not do to a process that is no parameter: change its weight.
pub fn fails_for_others(scene: &mut Scene<'_>, count: &Count, writes: &[Write], other: u8) -> Term {
    let old = weight_of(scene, count, other, &mut |_, _, old| old);
    let new = weight_of(scene, count, other, &mut |_, cell, old| changed(writes, cell, old));
    old.eq(new).not()
}

type Value<'v> = &'v mut dyn FnMut(&mut Scene<'_>, Cell, Term) -> Term;

fn left(scene: &mut Scene<'_>, count: &Count, value: Value<'_>) -> Term {
    let mut terms = Vec::new();
    for (symbol, factor) in &count.counters {
        let cell = Cell::new(*symbol, &[]);
        let old = scene.cell(cell);
        terms.push((*factor, value(scene, cell, old)));
    }
    for (symbol, weights) in &count.flags {
        let cell = Cell::new(*symbol, &[]);
        let old = scene.cell(cell);
        terms.push((1, weight(&value(scene, cell, old), weights)));
    }
    Term::sum(terms, 0)
}

fn weight_of(scene: &mut Scene<'_>, count: &Count, process: u8, value: Value<'_>) -> Term {
    let cell = Cell::new(count.array, &[process]);
    let old = scene.cell(cell);
    weight(&value(scene, cell, old), &count.weights)
}

fn weight(term: &Term, weights: &[i64]) -> Term {
    (weights.iter().enumerate())
        .filter(|(_, weight)| **weight != 0)
        .fold(Term::Number(0), |rest, (value, weight)| {
            term.clone().eq(Term::Number(value as i64)).ite(Term::Number(*weight), rest)
        })
}

fn one_of(term: &Term, set: u64) -> Term {
    Term::or((0..64).filter(|i| set >> i & 1 == 1).map(|i| term.clone().eq(Term::Number(i))))
}

/// What a cell is after the step.
fn changed(writes: &[Write], cell: Cell, old: Term) -> Term {
    match writes.iter().find(|write| write.cell == cell) {
        Some(write) => write.happens.clone().ite(write.value.clone(), old),
        None => old,
    }
}
