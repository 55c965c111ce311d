//! Each way to search a system alone, and the work that it needs.

use porf_param::Memory;
use porf_param::explore::replay;
use porf_param::prove::{Candidates, Options, Order, Outcome, search};
use porf_param::system::System;

/// The ways of a search for unsafe states: name, order, candidates, slices.
const WAYS: [(&str, Order, Candidates, bool); 6] = [
    ("coherence", Order::Coherence, Candidates::None, false),
    ("issue", Order::Issue, Candidates::None, false),
    ("bold", Order::Issue, Candidates::Bold, false),
    ("careful", Order::Issue, Candidates::Careful, false),
    ("cores", Order::Issue, Candidates::Cores, false),
    ("slices", Order::Issue, Candidates::Cores, true),
];

/// The ways that have an answer within `most` steps, and what each needs. A robust system may also be searched under
/// sequential consistency, once it is known to be robust: ask only where the default has found that it is.
pub fn alone(system: &System, memory: Memory, robust: bool, most: u64) -> Vec<(u64, String)> {
    let mut answers = under(system, memory, memory, most);
    let asks = [Candidates::None, Candidates::Bold].into_iter().filter(|_| robust);
    let known = asks.filter_map(|candidates| {
        one(
            system,
            memory,
            memory,
            Options { candidates, robust: true, max_work: most, ..Options::default() },
        )
    });
    if let Some(first) = known.min() {
        let then = under(system, memory, Memory::Sc, most.saturating_sub(first));
        answers.extend(then.into_iter().map(|(work, name)| (first + work, format!("{name}, robust"))));
    }
    answers
}

/// All ways, for a system under `memory` that is searched under another one.
fn under(system: &System, memory: Memory, searched: Memory, max_work: u64) -> Vec<(u64, String)> {
    let ways = WAYS.into_iter().filter_map(|(name, order, candidates, sliced)| {
        let options = Options { order, candidates, sliced, max_work, ..Options::default() };
        Some((one(system, memory, searched, options)?, name.to_owned()))
    });
    ways.collect()
}

/// What one way needs, if it answers.
fn one(system: &System, memory: Memory, searched: Memory, options: Options<'_>) -> Option<u64> {
    let found = search(system, Options { memory: searched, ..options }).expect("a system");
    let answered = match &found.outcome {
        Outcome::Safe(_) | Outcome::Reached(_) | Outcome::Robust(_) => true,
        // A run of the prover's is an answer if it is one of the system.
        Outcome::Unsafe(run) => replay(system, memory, run.processes, &run.steps).is_some(),
        Outcome::Unknown(_) => false,
    };
    // An exploration that the limit cuts short looks at what it has, and may find a run there.
    (answered && found.statistics.work <= options.max_work).then_some(found.statistics.work)
}
