//! Which fences make a system safe: the smallest sets of them, and those in the text that are superfluous.
//!
//! A *barrier* is a fence before a transition (`fence()` in its guard), or the lock of a transition that only writes
//! weak memory (`lock()`: as an exchange instead of a store). Barriers only take runs away, so safety is monotone, and
//! a run that reaches an unsafe state tells which barriers would have stopped it: a set that makes the system safe
//! has one of them. The smallest sets are therefore found as minimal hitting sets of the runs seen so far: a set that
//! hits them all is given to the prover, which proves it or adds a run. This is the implicit hitting set method of
//! Reiter's diagnosis (1987); for fences, Kuperstein, Vechev and Yahav (2010) collect the same constraints.
//!
//! Claims: a set that is reported is safe by the prover's invariant, and a barrier that is called needed comes with
//! the run without it. That no smaller set exists rests on runs alone. A set on which the prover has no answer is
//! listed as undecided; the sets found are then those of least size among what was decided.
//!
//! Cost: one call of the prover for each set that is tried.

use crate::answer::{Request, prove};
use crate::explore::{Step, Trace};
use crate::syntax::span::error_at;
use crate::syntax::{Diagnostic, Span};
use crate::system::System;
use crate::{Memory, ProofAnswer};
use porf_verdict::Verdict;
use std::collections::HashMap;

/// The two ways to hold a step back until the writes before it, or its own, have reached memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// `fence()`: the buffer is empty before the step.
    Fence,
    /// `lock()`: the buffer is empty before the step and after it.
    Lock,
}

/// A fence or a lock at a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Barrier {
    /// An index into [`System::transitions`].
    pub transition: usize,
    /// Which of the two.
    pub kind: Kind,
}

/// What is known of the barriers of a system.
pub struct Advice {
    /// The answer for the system as it is written.
    pub as_written: ProofAnswer,
    /// The barriers that the text has.
    pub written: Vec<Barrier>,
    /// Those without which an unsafe state is reached, all others kept, with the run's length and processes.
    pub needed: Vec<(Barrier, Trace)>,
    /// Those without which the system is safe as well, one at a time.
    pub superfluous: Vec<Barrier>,
    /// Of a safe system: the smallest parts of what is written that are enough.
    pub kept: Vec<Vec<Barrier>>,
    /// Of an unsafe system: the smallest sets that make it safe if they are added.
    pub added: Vec<Vec<Barrier>>,
    /// The smallest sets that make the system safe, whatever is written.
    pub smallest: Vec<Vec<Barrier>>,
    /// A run that no barrier stops: the system is unsafe under sc as well.
    pub hopeless: Option<(Trace, usize)>,
    /// Sets on which the prover has no answer.
    pub undecided: Vec<Vec<Barrier>>,
    /// The search for sets ended before it was complete.
    pub cut: bool,
    /// Variants of the system that were given to the prover.
    pub variants: usize,
}

/// A set of barriers: one bit for each.
type Set = u128;

/// Barriers beyond this have no bit.
const MOST: usize = 128;
/// Steps of work for one variant, unless the system as it is written needed more than a tenth of it.
const WORK: u64 = 20_000_000;
/// Variants that are given to the prover, and sets of one size that are listed.
const VARIANTS: usize = 400;
const LISTED: usize = 16;
/// Sets without an answer after which no more are tried: every larger one would be next.
const UNDECIDED: usize = 8;

/// Advice on the fences of a system under the memory of the request.
pub fn advise(system: &System, request: Request<'_>) -> Result<Advice, Diagnostic> {
    if request.memory == Memory::Sc || !system.has_weak() {
        let message = "fences mean nothing here: the memory is sc, or no variable is weak";
        return Err(error_at(Span::default(), message).help("ask with --model tso or --model pso"));
    }
    let barriers = barriers(system);
    if barriers.len() > MOST {
        let message = format!("{} places for a fence are too many: {MOST} are supported", barriers.len());
        return Err(error_at(Span::default(), message));
    }
    let all = |keep: &dyn Fn(&Barrier) -> bool| -> Set {
        (barriers.iter().enumerate()).filter(|(_, b)| keep(b)).fold(0, |set, (bit, _)| set | 1 << bit)
    };
    let written = all(&|barrier| {
        let transition = &system.transitions[barrier.transition];
        match barrier.kind {
            Kind::Fence => transition.fence && !transition.locked,
            Kind::Lock => transition.locked,
        }
    });
    let universe = all(&|_| true);
    let mut search =
        Search { system, request, barriers, runs: Vec::new(), tried: HashMap::new(), undecided: Vec::new() };
    let as_written = prove(system, request)?;
    let mut advice = Advice {
        written: search.list(written),
        needed: Vec::new(),
        superfluous: Vec::new(),
        kept: Vec::new(),
        added: Vec::new(),
        smallest: Vec::new(),
        hopeless: None,
        undecided: Vec::new(),
        cut: false,
        variants: 0,
        as_written,
    };
    search.note(written, &advice.as_written);
    let enough = (10 * advice.as_written.statistics.work).max(WORK);
    search.request.max_work = request.max_work.min(enough);
    match &advice.as_written.verdict {
        Verdict::Safe(_) => {
            for bit in bits(written) {
                match search.test(written & !(1 << bit))? {
                    Outcome::Safe => advice.superfluous.push(search.barriers[bit]),
                    Outcome::Unsafe(run) => advice.needed.push((search.barriers[bit], run)),
                    Outcome::Unknown => {}
                }
            }
            advice.kept = search.smallest(written, 0, &mut advice.cut)?;
        }
        Verdict::Violated(_) => {
            advice.added = search.smallest(universe & !written, written, &mut advice.cut)?
        }
        Verdict::Inconclusive(_) => {}
    }
    advice.smallest = search.smallest(universe, 0, &mut advice.cut)?;
    if search.runs.contains(&0) {
        advice.hopeless = advice.as_written.trace.clone();
    }
    advice.undecided = search.undecided.iter().map(|set| search.list(*set)).collect();
    advice.variants = search.tried.len();
    Ok(advice)
}

/// Every place for a barrier, fences first. A step that reads and writes is locked as it is.
fn barriers(system: &System) -> Vec<Barrier> {
    let free = || system.transitions.iter().enumerate().filter(|(_, t)| t.acting.is_some() && !t.swaps);
    let writes = |index: usize| {
        system.transitions[index].updates.iter().any(|update| system.symbols[update.symbol].weak)
    };
    let fences = free().map(|(transition, _)| Barrier { transition, kind: Kind::Fence });
    let locks = free()
        .filter(|(index, _)| writes(*index))
        .map(|(transition, _)| Barrier { transition, kind: Kind::Lock });
    fences.chain(locks).collect()
}

fn bits(set: Set) -> impl Iterator<Item = usize> {
    (0..MOST).filter(move |bit| set >> bit & 1 == 1)
}

/// What the prover says of a set.
#[derive(Clone)]
enum Outcome {
    Safe,
    Unsafe(Trace),
    Unknown,
}

struct Search<'a> {
    system: &'a System,
    request: Request<'a>,
    barriers: Vec<Barrier>,
    /// For each run that was seen, the barriers that would have stopped it.
    runs: Vec<Set>,
    tried: HashMap<Set, Outcome>,
    undecided: Vec<Set>,
}

impl Search<'_> {
    fn list(&self, set: Set) -> Vec<Barrier> {
        let mut list: Vec<Barrier> = bits(set).map(|bit| self.barriers[bit]).collect();
        list.sort();
        list
    }

    /// What is at least as strong: a lock holds back what a fence does.
    fn closed(&self, set: Set) -> Set {
        let fence = |lock: &Barrier| Barrier { kind: Kind::Fence, ..*lock };
        bits(set).fold(set, |closed, bit| {
            let place = self.barriers.iter().position(|barrier| *barrier == fence(&self.barriers[bit]));
            place.map_or(closed, |place| closed | 1 << place)
        })
    }

    /// The system with these barriers and no others.
    fn variant(&self, set: Set) -> System {
        let mut system = self.system.clone();
        for transition in &mut system.transitions {
            transition.fence = false;
            transition.locked = transition.swaps;
        }
        for bit in bits(set) {
            let Barrier { transition, kind } = self.barriers[bit];
            match kind {
                Kind::Fence => system.transitions[transition].fence = true,
                Kind::Lock => system.transitions[transition].locked = true,
            }
        }
        system
    }

    fn test(&mut self, set: Set) -> Result<Outcome, Diagnostic> {
        if let Some(known) = self.tried.get(&set) {
            return Ok(known.clone());
        }
        let answer = prove(&self.variant(set), self.request)?;
        Ok(self.note(set, &answer))
    }

    fn note(&mut self, set: Set, answer: &ProofAnswer) -> Outcome {
        let outcome = match (&answer.verdict, &answer.trace) {
            (Verdict::Safe(_), _) => Outcome::Safe,
            (_, Some((trace, _))) => {
                let stops = self.stops(trace);
                if !self.runs.contains(&stops) {
                    self.runs.push(stops);
                }
                Outcome::Unsafe(trace.clone())
            }
            _ => {
                self.undecided.push(set);
                Outcome::Unknown
            }
        };
        self.tried.insert(set, outcome.clone());
        outcome
    }

    /// The barriers without which the run is possible, so that a set without all of them is unsafe. A lock is counted
    /// unless its write reaches memory in the very next step. Under release–acquire a barrier in any step of the run may
    /// stop it.
    fn stops(&self, trace: &Trace) -> Set {
        let mut stops = 0;
        let mut before = &trace.initial;
        for (at, (step, after)) in trace.steps.iter().enumerate() {
            if let Step::Transition { index, procs } = step
                && let Some(acting) = self.system.transitions[*index].acting
            {
                let process = procs[acting];
                let pending = before.buffers.get(process as usize).is_none_or(|buffer| !buffer.is_empty());
                let at_once = match trace.steps.get(at + 1) {
                    Some((Step::Commit { process: other, .. }, _)) => *other == process,
                    _ => false,
                };
                for (bit, barrier) in self.barriers.iter().enumerate() {
                    let stopped = match barrier.kind {
                        Kind::Fence => pending,
                        Kind::Lock => pending || !at_once,
                    };
                    if barrier.transition == *index && stopped {
                        stops |= 1 << bit;
                    }
                }
            }
            before = after;
        }
        stops
    }

    /// The smallest parts of `universe` that make the system safe together with `fixed`.
    fn smallest(
        &mut self,
        universe: Set,
        fixed: Set,
        cut: &mut bool,
    ) -> Result<Vec<Vec<Barrier>>, Diagnostic> {
        let mut safe: Vec<Set> = Vec::new();
        // Sets without an answer: nothing but a larger one is left to try.
        let mut open: Vec<Set> = Vec::new();
        for size in 0..=universe.count_ones() as usize {
            while let Some(set) = self.hitting(fixed, universe, size, &safe, &open) {
                if self.tried.len() >= VARIANTS || safe.len() >= LISTED || self.undecided.len() >= UNDECIDED {
                    *cut = true;
                    break;
                }
                match self.test(set)? {
                    Outcome::Safe => safe.push(set),
                    Outcome::Unsafe(_) => {}
                    Outcome::Unknown => open.push(set),
                }
            }
            if !safe.is_empty() || *cut || self.runs.contains(&0) {
                break;
            }
        }
        // A fence where a lock was tried first.
        let weaker = |a: Set, b: Set| a != b && a & !self.closed(b) == 0;
        let least = safe.iter().filter(|set| !safe.iter().any(|other| weaker(*other, **set)));
        Ok(least.map(|set| self.list(set & !fixed)).collect())
    }

    /// A set of at most `size` more that stops all runs, is no `safe` one with more in it, and is not among the
    /// `open` ones. Branches on the barriers that stop the first run that is left.
    fn hitting(&self, set: Set, universe: Set, size: usize, safe: &[Set], open: &[Set]) -> Option<Set> {
        if safe.iter().any(|known| known & !self.closed(set) == 0) {
            return None;
        }
        let left = self.runs.iter().find(|stops| *stops & set == 0).copied();
        let choices = match left {
            Some(stops) => stops & universe,
            None if open.contains(&set) => universe & !set,
            None => return Some(set),
        };
        if size == 0 {
            return None;
        }
        bits(choices).find_map(|bit| self.hitting(set | 1 << bit, universe, size - 1, safe, open))
    }
}
