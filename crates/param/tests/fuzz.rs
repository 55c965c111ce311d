//! Random small systems: the prover and the explicit explorer never contradict each other.
//!
//! For every system and model: *safe* means that no instance of one, two or three processes reaches an unsafe
//! state; *unsafe* comes with steps that replay, unless a universal guard, a read in the unsafe formula or a racy
//! location in the order of issue makes the prover approximate; a behaviour of a stronger model is one of the weaker
//! (release–acquire is weaker than TSO, and neither weaker nor stronger than PSO).
//! `PORF_FULL=1` runs 6,000 systems instead of 240, and 6,000 with counters, orders and marks instead of 90;
//! `PORF_SEEDS=240-1000` those of a range. The laws of a system hold in every state that is explored.

mod generator;
mod seeds;

use generator::{Generator, Shape};
use porf_param::explore::{Instance, Limits, State, explore, replay};
use porf_param::law::Law;
use porf_param::prove::{Candidates, Options, Order, Outcome, laws, search};
use porf_param::{Memory, load};
use std::time::Duration;

#[derive(Default, Debug)]
struct Tally {
    safe: usize,
    /// Proved without some symbols.
    sliced: usize,
    refuted: usize,
    spurious: usize,
    unknown: usize,
}

fn range(few: u64) -> std::ops::Range<u64> {
    match seeds::asked_for() {
        Some(range) => range,
        None if std::env::var_os("PORF_FULL").is_some() => 0..6_000,
        None => 0..few,
    }
}

#[test]
fn prover_and_explorer_agree() {
    let mut tally: [Tally; 4] = Default::default();
    for seed in range(240) {
        check(seed, Shape::ALL[seed as usize % Shape::ALL.len()], 3, &mut tally);
    }
    show(&tally);
    if std::env::var_os("PORF_SEEDS").is_some() {
        return; // a part says nothing of the whole
    }
    // The generator must keep producing systems that decide something.
    assert!(
        tally[0].refuted < tally[1].refuted && tally[1].refuted < tally[2].refuted,
        "the models do not differ"
    );
    for tally in &tally {
        assert!(tally.safe > 20 && tally.refuted > 20, "the random systems have become trivial: {tally:?}");
        assert!(tally.sliced > 0, "no system is safe without some of its symbols");
    }
}

#[test]
fn prover_and_explorer_agree_on_all_processes_at_once() {
    let mut tally: [Tally; 4] = Default::default();
    for seed in range(90) {
        check(seed, Shape::OF_ALL[seed as usize % Shape::OF_ALL.len()], 4, &mut tally);
    }
    show(&tally);
    for tally in tally.iter().filter(|_| std::env::var_os("PORF_SEEDS").is_none()) {
        assert!(tally.safe > 20 && tally.refuted > 20, "the random systems have become trivial: {tally:?}");
    }
}

fn show(tally: &[Tally; 4]) {
    for (memory, tally) in Memory::ALL.into_iter().zip(tally) {
        eprintln!("{} {tally:?}", memory.word());
    }
}

fn check(seed: u64, shape: Shape, most: u8, tally: &mut [Tally; 4]) {
    // Two processes may write one location.
    let racy = matches!(shape, Shape::Shared | Shape::Litmus | Shape::Orders);
    let text = Generator::new(seed).system(shape);
    let system = load(&text).unwrap_or_else(|error| panic!("seed {seed}: {error} in\n{text}"));
    let mut unsafes: Vec<Memory> = Vec::new();
    for (memory, tally) in Memory::ALL.into_iter().zip(tally) {
        // Without weak variables there is one memory.
        if memory != Memory::Sc && !system.has_weak() {
            continue;
        }
        let stronger = match memory {
            Memory::Sc => None,
            Memory::Tso => Some(Memory::Sc),
            Memory::Pso | Memory::Ra => Some(Memory::Tso),
        };
        let stronger_unsafe = stronger.is_some_and(|stronger| unsafes.contains(&stronger));
        let limits = Limits { states: 8_000, buffer: 3, initial: 2_000, ..Limits::default() };
        let laws = laws(&system, memory).expect("a system");
        // With messages and views an instance of three processes has more states than one of four with buffers.
        let most = if memory == Memory::Ra { most.min(3) } else { most };
        let found = (1..=most).any(|n| {
            let exploration = explore(&system, memory, n, limits);
            let instance = Instance::new(&system, memory, n);
            for law in &laws {
                let broken = exploration.states.iter().find(|state| !holds(law, &instance, state));
                assert_eq!(broken, None, "seed {seed}, {memory:?}: {}\n{text}", law.words(&system));
            }
            exploration.trace.is_some()
        });
        let mut proved_unsafe = found;
        let ways = [
            (Order::Coherence, Candidates::None, false),
            (Order::Issue, Candidates::None, false),
            (Order::Issue, Candidates::Bold, false),
            (Order::Issue, Candidates::Careful, false),
            (Order::Issue, Candidates::Cores, false),
            (Order::Issue, Candidates::Cores, true),
        ];
        for (order, candidates, sliced) in ways {
            // Under SC and release–acquire there is one order.
            let one = matches!(memory, Memory::Sc | Memory::Ra);
            if one && order == Order::Issue && candidates == Candidates::None {
                continue;
            }
            // Work, not time: the same systems are decided on every machine.
            let options = Options {
                memory,
                order,
                candidates,
                small: (3, 6_000),
                sliced,
                max_nodes: 100,
                max_work: 20_000_000,
                max_time: Duration::MAX,
                ..Options::default()
            };
            let result =
                search(&system, options).unwrap_or_else(|error| panic!("seed {seed}: {error} in\n{text}"));
            match result.outcome {
                Outcome::Safe(_) => {
                    assert!(
                        !found,
                        "seed {seed}, {memory:?}, {order:?}, {candidates:?}: safe, but the explorer refutes it\n{text}"
                    );
                    assert!(
                        !stronger_unsafe,
                        "seed {seed}, {memory:?}, {order:?}, {candidates:?}: safe, but unsafe under a stronger model\n{text}"
                    );
                    *if sliced { &mut tally.sliced } else { &mut tally.safe } += 1;
                }
                Outcome::Unsafe(trace) => {
                    let real = trace.processes <= 4
                        && replay(&system, memory, trace.processes, &trace.steps).is_some();
                    let exact = !text.contains("forall")
                        && !text.contains('@')
                        && (!racy
                            || memory == Memory::Sc // (release–acquire forgets some of the coherence order)
                            || (memory == Memory::Tso && order == Order::Coherence));
                    assert!(
                        real || !exact || trace.processes > 4,
                        "seed {seed}, {memory:?}, {order:?}: {trace:?} does not replay\n{text}"
                    );
                    if real {
                        tally.refuted += 1
                    } else {
                        tally.spurious += 1
                    }
                    proved_unsafe |= real;
                }
                Outcome::Reached(_) => {
                    tally.refuted += 1;
                    proved_unsafe = true;
                }
                Outcome::Robust(_) => panic!("seed {seed}: nobody asked"),
                // Most systems need all they have.
                Outcome::Unknown(_) => tally.unknown += usize::from(!sliced),
            }
        }
        unsafes.extend((proved_unsafe || stronger_unsafe).then_some(memory));
    }
}

/// Whether a state satisfies a law.
fn holds(law: &Law, instance: &Instance<'_>, state: &State) -> bool {
    let value = |symbol: usize, at: &[u8]| state.cells[instance.cell(symbol, at.iter().copied())];
    match law {
        Law::Count(count) => {
            let counters: i64 = count.counters.iter().map(|(c, k)| k * i64::from(value(*c, &[]))).sum();
            let flags: i64 = count.flags.iter().map(|(f, weights)| weights[value(*f, &[]) as usize]).sum();
            let cells = (0..instance.processes).map(|p| count.weights[value(count.array, &[p]) as usize]);
            counters + flags == count.total + cells.sum::<i64>()
        }
        Law::Witness(witness) => {
            let inside = |p: u8| witness.set >> value(witness.array, &[p]) & 1 == 1;
            witness.values >> value(witness.variable, &[]) & 1 == 0 || (0..instance.processes).any(inside)
        }
    }
}
