//! The watched system of a certificate that is about sequential consistency, made by code of the checker's own.
//!
//! # What is claimed
//!
//! A certificate under TSO or PSO may be one of the *watched* system under sequential consistency. The watched system is
//! the system with one more array, `pending`, and with more unsafe states. A process p is marked in `pending` by a step
//! in which it writes weak memory through its buffer. Its mark goes when it drains its buffer (a fence or a locked
//! step), when it reads weak memory, and when any other process takes a step. Unsafe is what the system calls unsafe, and a
//! marked process that could take an *exposed* step: one that does not drain the buffer and reads weak memory or,
//! under PSO, writes it.
//!
//! If the watched system is safe under sequential consistency, then the system is safe under the memory.
//!
//! # Why
//!
//! A transition accesses plain cells of the process that acts, constants and weak memory, and nothing else
//! ([`crate::typing`]). A step that reads and writes weak memory is a locked one there, so a step that writes through its
//! buffer reads no weak memory. Steps that change nothing can be taken out of a run, so take them to be out of all.
//!
//! *Runs without exposed steps.* Let a step happen while its process has writes pending although it does not drain
//! the buffer. If it is not exposed, it reads no weak memory, so it depends on its own plain cells alone. Give each step a
//! time: to a write through the buffer the time of its commit; to another step that is taken with writes pending the time of
//! the last commit among them; to every other step its own. Along each process times do not decrease: TSO keeps the order
//! of a buffer, and under PSO a buffer without exposed steps has one group at most. Steps whose time does not come because
//! their commit does not are at the end of their process. Leave them out, and run the others in the order of their times
//! under sequential consistency. Each finds its plain cells as before. A step that reads weak memory has nothing pending
//! and keeps its place, and memory is what the commits up to there have made of it, as before. So this is a run, and ends
//! with the memory of the state, and with its plain cells for each process that has nothing pending.
//!
//! *There is no exposed step.* Else take a run up to its first, of process p in state s. Leave out all steps without a
//! time, as above, then take those of p again, in order: they read no weak memory, so they happen as before. In the state
//! now reached, p has the plain cells that it has in s. A location that p has pending in s holds the newest of its
//! pending writes, and every other what memory holds in s. That is what p reads in s, so the guard of the exposed step
//! holds. The last steps were all of p, begin with a write through the buffer, and none of them drains it, so p is marked.
//! This state of the watched system is unsafe.
//!
//! *No state is unsafe.* Let s be a state of the system. Let all that is pending reach memory: that changes no plain cell, nor
//! any location that no buffer ever holds. Now each step has its time, so the state is one of sequential consistency. The
//! unsafe formulas speak of nothing else (what a buffer may hold is refused here), so s would be unsafe there too.

use crate::Memory;
use crate::syntax::Comparison;
use crate::system::*;

/// The name of the array; no text can declare it.
const MARKS: &str = "pending";

/// The watched system, or why it proves nothing.
pub fn watched(system: &System, memory: Memory) -> Result<System, String> {
    if !matches!(memory, Memory::Tso | Memory::Pso) {
        return Err(format!("a certificate of the watched system proves nothing under {}", memory.word()));
    }
    if let Some(error) = system.weak_errors.first() {
        return Err(format!("processes share what is not weak: {}", error.message));
    }
    let mut result = system.clone();
    let marks = result.symbols.len();
    result.symbols.push(Symbol { name: MARKS.into(), ty: BOOL, dims: 1, weak: false, constant: false });
    let values = system.constructors(BOOL);
    let value = |name: &str| values.iter().position(|value| value == name).map(|at| Term::Enum(at as u8));
    let (Some(yes), Some(no)) = (value("True"), value("False")) else { return Err("no truth values".into()) };
    let holds = |process: Proc, value: &Term| {
        let cell = Term::Access(Access { symbol: marks, indices: vec![process], by: None });
        Formula::Compare(BOOL, cell, Comparison::Eq, value.clone())
    };
    for set in &system.unsafes {
        let mut held = None;
        set.body.accesses(&mut |access| held = held.or(may_be_pending(system, access.symbol)));
        if let Some(symbol) = held {
            let name = &system.symbols[symbol].name;
            return Err(format!("an unsafe formula reads `{name}`, which a buffer may hold"));
        }
    }
    // No process is marked at the start.
    if result.init.params.is_empty() {
        result.init.params.push("p".into());
    }
    let unmarked = holds(Proc::Slot(0), &no);
    result.init.body = Formula::And(vec![unmarked, result.init.body]);
    result.transitions.clear();
    for step in system.transitions.iter().filter(|step| !changes_nothing(system, step)) {
        let acting = step.acting.ok_or_else(|| format!("no process acts in `{}`", step.name))? as u8;
        let (mut reads, drains) = (false, step.fence || step.locked);
        every_access(step, &mut |access| reads |= system.symbols[access.symbol].weak);
        let writes = step.updates.iter().any(|update| system.symbols[update.symbol].weak);
        if !drains && (reads || (memory == Memory::Pso && writes)) {
            result.unsafes.push(StateSet {
                name: Some(format!("an exposed {}", step.name)),
                params: step.params.clone(),
                body: Formula::And(vec![step.guard.clone(), holds(Proc::Slot(acting), &yes)]),
                span: step.span,
            });
        }
        // Marks after the step: of the acting process, which may keep its own, and nobody else's.
        let bound = bound_slots(step);
        if bound >= 16 {
            return Err(format!("`{}` has too many variables", step.name));
        }
        let is_acting = Formula::Compare(
            PROC,
            Term::Proc(Proc::Slot(bound)),
            Comparison::Eq,
            Term::Proc(Proc::Slot(acting)),
        );
        let own = match (writes && !step.locked, drains || reads) {
            (true, _) => yes.clone(),
            (false, true) => no.clone(),
            (false, false) => {
                Term::Access(Access { symbol: marks, indices: vec![Proc::Slot(bound)], by: None })
            }
        };
        let value = UpdateValue::Cases(vec![(is_acting, own), (Formula::True, no.clone())]);
        let mut step = step.clone();
        step.updates.push(Update { symbol: marks, indices: vec![Index::Bound(bound)], value });
        result.transitions.push(step);
    }
    Ok(result)
}

/// The symbol, if a buffer may hold it.
fn may_be_pending(system: &System, symbol: usize) -> Option<usize> {
    let buffers =
        |step: &Transition| !step.locked && step.updates.iter().any(|update| update.symbol == symbol);
    (system.symbols[symbol].weak && system.transitions.iter().any(buffers)).then_some(symbol)
}

fn every_access(step: &Transition, visit: &mut dyn FnMut(&Access)) {
    step.guard.accesses(&mut |access| visit(access));
    for update in &step.updates {
        let UpdateValue::Cases(cases) = &update.value else { continue };
        for (condition, value) in cases {
            condition.accesses(&mut |access| visit(access));
            value.accesses(&mut |access| visit(access));
        }
    }
}

/// Whether each update writes a plain cell with the value that a conjunct of the guard says it has.
fn changes_nothing(system: &System, step: &Transition) -> bool {
    let mut conjuncts = vec![&step.guard];
    let mut equations: Vec<(&Term, &Term)> = Vec::new();
    while let Some(formula) = conjuncts.pop() {
        match formula {
            Formula::And(parts) => conjuncts.extend(parts),
            Formula::Compare(_, left, Comparison::Eq, right) => {
                equations.extend([(left, right), (right, left)]);
            }
            _ => {}
        }
    }
    step.updates.iter().all(|update| {
        let at: Option<Vec<Proc>> = (update.indices.iter())
            .map(|index| match index {
                Index::Fixed(process) => Some(*process),
                Index::Bound(_) => None,
            })
            .collect();
        let (Some(indices), UpdateValue::Cases(cases)) = (at, &update.value) else { return false };
        let cell = Term::Access(Access { symbol: update.symbol, indices, by: None });
        match cases.as_slice() {
            [(Formula::True, value)] => {
                !system.symbols[update.symbol].weak && equations.contains(&(&cell, value))
            }
            _ => false,
        }
    })
}

/// The first slot above all that the transition uses.
fn bound_slots(step: &Transition) -> u8 {
    let mut next = step.params.len() as u8;
    let mut formulas = vec![&step.guard];
    while let Some(formula) = formulas.pop() {
        match formula {
            Formula::True | Formula::False | Formula::Compare(..) => {}
            Formula::Not(inner) => formulas.push(inner),
            Formula::And(parts) | Formula::Or(parts) => formulas.extend(parts),
            Formula::If(a, b, c) => formulas.extend([&**a, &**b, &**c]),
            Formula::Forall(quantified) | Formula::Exists(quantified) => {
                next = next.max(quantified.slot + 1);
                formulas.push(&quantified.body);
            }
        }
    }
    for index in step.updates.iter().flat_map(|update| &update.indices) {
        if let Index::Bound(slot) = index {
            next = next.max(slot + 1);
        }
    }
    next
}
