//! What is said of executions in which threads wait for each other.

use porf_explore::{Equivalence, Model, Options, Visit, explore};
use std::ops::ControlFlow;

/// Executions, blocked ones, and how many of those wait for ever.
fn count(text: &str, model: Model, equivalence: Equivalence) -> (u64, u64, u64) {
    let program = porf_ir::parse(text).unwrap();
    let mut stuck = 0;
    let statistics =
        explore(&program, model, equivalence, &Options::default(), &mut |visit: Visit<'_, '_>| {
            if let Visit::Blocked(execution) = visit {
                stuck += u64::from(execution.stuck().is_some());
            }
            ControlFlow::Continue(())
        });
    let statistics = statistics.unwrap();
    (statistics.executions, statistics.blocked, stuck)
}

const EVERYWHERE: [(Model, Equivalence); 8] = [
    (Model::Sc, Equivalence::Mo),
    (Model::Tso, Equivalence::Mo),
    (Model::Ra, Equivalence::Mo),
    (Model::Sra, Equivalence::Mo),
    (Model::Rc11, Equivalence::Mo),
    (Model::Ra, Equivalence::Rf),
    (Model::Rc11, Equivalence::Rf),
    (Model::Wrc11, Equivalence::Rf),
];

/// Two threads wait for values that each of them could miss; not both can be the last one, and who
/// goes on wakes the other.
#[test]
fn two_waiting_threads_do_not_both_see_the_last_write() {
    let text = "program both
global x
thread P0 { x.rlx = 1 }
thread P1 { x.rlx = 2 }
thread P2 { while x.rlx != 2 { } x.rlx = 1 }
thread P3 { while x.rlx != 1 { } x.rlx = 2 }";
    for (model, equivalence) in EVERYWHERE {
        assert_eq!(count(text, model, equivalence).2, 0, "{model} {equivalence}");
        let text = text.replace("rlx", "sc");
        assert_eq!(count(&text, model, equivalence).2, 0, "{model} {equivalence}, sc");
    }
}

#[test]
fn nobody_sets_the_flag() {
    for (model, equivalence) in EVERYWHERE {
        let text = "program spin\nglobal flag\nthread waiter { while flag.sc == 0 { } }";
        assert_eq!(count(text, model, equivalence), (0, 1, 1), "{model} {equivalence}");
    }
}
