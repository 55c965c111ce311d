//! IMM up to rf: each class of executions that differ by co alone once, on random programs.
//!
//! The classes are those of the search up to mo, which `weave.rs` compares with brute force. The search up to rf may
//! give up only where po | rf may have a cycle, or in programs with seq_cst, which are not tried here.

mod support;

use porf_explore::{Equivalence, Error, Model, Options, Schedule, Visit, explore};
use porf_graph::CanonicalKey;
use porf_ir::Program;
use std::collections::HashSet;
use std::ops::ControlFlow;
use support::budget;
use support::generate::{Modes, program, waiting_program};

/// What is complete, by events and rf; whether cycles were looked for.
fn classes(
    program: &Program,
    equivalence: Equivalence,
    schedule: Schedule,
) -> Result<(HashSet<CanonicalKey>, bool), Error> {
    let mut found = HashSet::new();
    let options = Options { schedule, ..Options::default() };
    let statistics = explore(program, Model::Imm, equivalence, &options, &mut |visit: Visit<'_, '_>| {
        if let Visit::Complete(execution) = visit {
            let is_new = found.insert(CanonicalKey::of(execution.graph, false));
            assert!(is_new || equivalence == Equivalence::Mo, "twice\n{}", porf_ir::print(program));
        }
        ControlFlow::Continue(())
    })?;
    Ok((found, statistics.buffering))
}

fn compare(kind: u64, count: u64, program: impl Fn(u64) -> Program) {
    let mut compared = 0;
    for at in 0..count {
        let program = program((kind << 40) + at);
        let (up_to_mo, buffering) = classes(&program, Equivalence::Mo, Schedule::LeftToRight).unwrap();
        for schedule in [Schedule::LeftToRight, Schedule::RightToLeft, Schedule::Hash(at)] {
            match classes(&program, Equivalence::Rf, schedule) {
                Ok((found, _)) => {
                    assert!(found == up_to_mo, "{schedule:?}\n{}", porf_ir::print(&program));
                    compared += 1;
                }
                Err(Error::Undecided) => assert!(buffering, "gives up\n{}", porf_ir::print(&program)),
                Err(error) => panic!("{error}"),
            }
        }
    }
    println!("{compared} comparisons");
    assert!(compared > count);
}

#[test]
fn random_programs() {
    compare(1, budget(300), |seed| program(seed, 6, Modes::Weak));
    compare(2, budget(200), |seed| waiting_program(seed, 6, Modes::Weak));
}
