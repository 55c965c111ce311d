//! What is said of executions in which threads wait for each other.

use porf_explore::{Equivalence, Model, Options, Visit, explore};
use porf_ir::{Machine, Program};
use std::ops::ControlFlow;

/// Executions, blocked ones, and how many of those wait forever.
fn count(text: &str, model: Model, equivalence: Equivalence) -> (u64, u64, u64) {
    count_in(&porf_ir::parse(text).unwrap(), model, equivalence)
}

fn count_in(program: &Program, model: Model, equivalence: Equivalence) -> (u64, u64, u64) {
    let mut stuck = 0;
    let statistics =
        explore(program, model, equivalence, &Options::default(), &mut |visit: Visit<'_, '_>| {
            if let Visit::Blocked(execution) = visit {
                stuck += u64::from(execution.stuck().is_some());
            }
            ControlFlow::Continue(())
        });
    let statistics = statistics.unwrap();
    (statistics.executions, statistics.blocked, stuck)
}

const EVERYWHERE: [(Model, Equivalence); 10] = [
    (Model::Sc, Equivalence::Mo),
    (Model::Tso, Equivalence::Mo),
    (Model::Ra, Equivalence::Mo),
    (Model::Sra, Equivalence::Mo),
    (Model::Rc11, Equivalence::Mo),
    (Model::Sc, Equivalence::Rf),
    (Model::Tso, Equivalence::Rf),
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

/// Iterations of a loop that read and write, but write what was there.
const KEEPING: [&str; 8] = [
    "while l.exchange(1, rlx) != 0 { }",
    "while l.exchange(1, sc) == 1 { }",
    "while l.fetch_or(1, acqrel) != 0 { }",
    "while l.fetch_and(1, acq) != 0 { }",
    "while l.fetch_add(0, rlx) != 0 { }",
    "while l.fetch_umax(1, rel) != 0 { }",
    "while l.cas(1, 1, sc, sc) == 1 { }",
    "while l.cas(0, 1, acqrel, rlx) != 0 { }",
];

#[test]
fn nobody_gives_the_lock_back() {
    for (model, equivalence) in EVERYWHERE {
        for waits in KEEPING {
            let text = format!("program alone\nglobal l = 1\nthread waiter {{ {waits} }}");
            assert_eq!(count(&text, model, equivalence), (0, 1, 1), "{model} {equivalence} {waits}");
        }
    }
}

/// Several threads whose read-modify-writes follow each other.
#[test]
fn many_wait_for_one_lock() {
    for (model, equivalence) in EVERYWHERE {
        for waits in KEEPING {
            let text = format!(
                "program many\nglobal l = 1\nfn waiter() {{ {waits} }}
thread A = waiter()\nthread B = waiter()\nthread C {{ while l.acq != 0 {{ }} }}"
            );
            let (executions, blocked, stuck) = count(&text, model, equivalence);
            assert!(executions == 0 && stuck > 0, "{model} {equivalence} {waits}: {stuck} of {blocked}");
        }
    }
}

#[test]
fn the_lock_is_given_back() {
    for (model, equivalence) in EVERYWHERE {
        for waits in KEEPING {
            let text =
                format!("program released\nglobal l = 1\nthread A {{ {waits} }}\nthread B {{ l.rel = 0 }}");
            let (executions, _, stuck) = count(&text, model, equivalence);
            assert!(executions > 0 && stuck == 0, "{model} {equivalence} {waits}");
        }
    }
}

#[test]
fn two_locks_in_opposite_order() {
    for (model, equivalence) in EVERYWHERE {
        for take in ["exchange(1, acqrel)", "fetch_or(1, acqrel)", "cas(0, 1, acqrel, rlx)"] {
            let text = format!(
                "program ABBA\nglobal a, b
thread P0 {{ while a.{take} != 0 {{ }} while b.{take} != 0 {{ }} b.rel = 0; a.rel = 0 }}
thread P1 {{ while b.{take} != 0 {{ }} while a.{take} != 0 {{ }} a.rel = 0; b.rel = 0 }}"
            );
            let (executions, _, stuck) = count(&text, model, equivalence);
            assert!(executions > 0 && stuck > 0, "{model} {equivalence} {take}");
            let ordered = text.replace(
                &format!("while b.{take} != 0 {{ }} while a.{take} != 0 {{ }} a.rel = 0; b.rel = 0"),
                &format!("while a.{take} != 0 {{ }} while b.{take} != 0 {{ }} b.rel = 0; a.rel = 0"),
            );
            assert_eq!(count(&ordered, model, equivalence).2, 0, "{model} {equivalence} {take}");
        }
    }
}

/// One iteration looks at two variables.
#[test]
fn two_variables_in_one_loop() {
    let text = "program two
global a = 1, b = 1
thread A {
    go = 1
    while go == 1 { go = a.exchange(1, rlx); if go == 1 { go = b.fetch_or(1, rlx) } }
}";
    let released = format!("{text}\nthread B {{ b.rlx = 0 }}");
    for (model, equivalence) in EVERYWHERE {
        let (executions, _, stuck) = count(text, model, equivalence);
        assert!(executions == 0 && stuck == 1, "{model} {equivalence}");
        let (executions, _, stuck) = count(&released, model, equivalence);
        assert!(executions > 0 && stuck == 0, "{model} {equivalence}");
    }
}

/// A weak compare-and-swap that fails for no reason is not repeated forever.
#[test]
fn a_weak_compare_and_swap_need_not_fail() {
    for (model, equivalence) in EVERYWHERE {
        let text = "program weak\nglobal l
thread A { ok = 0; while ok == 0 { was = l.cas_weak(0, 1, acqrel, rlx); ok = l.rlx } }";
        let (executions, _, stuck) = count(text, model, equivalence);
        assert!(executions > 0 && stuck == 0, "{model} {equivalence}");
    }
}

/// The same on machines, which keep less of program order.
#[test]
fn machines() {
    for machine in [Machine::Armv8, Machine::Armv7, Machine::Power, Machine::Riscv] {
        let model = match machine {
            Machine::Armv8 => Model::Armv8,
            Machine::Armv7 => Model::Armv7,
            Machine::Power => Model::Power,
            _ => Model::Riscv,
        };
        for waits in KEEPING {
            let text = format!("program alone\nglobal l = 1\nthread A {{ {waits} }}\nthread B {{ {waits} }}");
            let program = porf_ir::parse(&text).unwrap().compiled_to(machine).unwrap();
            let (executions, _, stuck) = count_in(&program, model, Equivalence::Mo);
            assert!(executions == 0 && stuck > 0, "{model} {waits}");
            let text = format!("{text}\nthread C {{ l.rel = 0 }}");
            let program = porf_ir::parse(&text).unwrap().compiled_to(machine).unwrap();
            let for_ever = |_: &str| count_in(&program, model, Equivalence::Mo).2;
            // One of the two takes the lock and keeps it, unless nobody takes it by writing 1.
            let keeps =
                !waits.contains("fetch_and") && !waits.contains("fetch_add") && !waits.contains("cas(1");
            assert_eq!(for_ever(waits) > 0, keeps, "{model} {waits}");
        }
    }
}
