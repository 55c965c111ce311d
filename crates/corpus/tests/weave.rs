//! The architectures' litmus tests on the exploring engine: herd's answers, as on the oracle.
//!
//! By default one test in sixteen of the public corpora, where they lie beside the repository; all of them
//! with `PORF_FULL=1`.

use porf::{Axioms, Engine, litmus};
use porf_corpus::check::check;
use porf_corpus::herd::{self, Corpus};

#[test]
fn architectures_agree_with_herd() {
    let Some(folder) = herd::folder() else {
        eprintln!("skipped: no corpora beside the repository");
        return;
    };
    let every = if porf_corpus::full() { 1 } else { 16 };
    let mut compared = 0;
    let mut wrong = Vec::new();
    for (name, models) in herd::list(&folder).expect("a readable folder") {
        let models = models
            .iter()
            .filter(|model| ["aarch64", "arm", "ppc", "riscv", "lkmm"].contains(&model.as_str()));
        for model in models {
            let corpus = Corpus::load(&folder, &name).expect("a readable archive");
            let report = check(&folder, &corpus, model, Engine::Explore { unroll: 2 }, |path| {
                herd::sampled(path, every)
            });
            println!("{}", report.line());
            compared += report.rows();
            for (path, what) in report.differ.iter().chain(&report.unanswered) {
                wrong.push(format!("{name} {model} {path}: {what}"));
            }
            wrong.extend(
                report.stale.iter().map(|path| format!("{name} {model} {path}: agrees, but is listed")),
            );
        }
    }
    assert!(compared >= 1_000, "only {compared} rows were compared");
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

/// Executions of load buffering: 4, with a dependency on one side 4, on both sides 3.
#[test]
fn load_buffering() {
    let lb = |first: &str, second: &str| {
        format!(
            "C LB\n{{ x=0; y=0; }}\n\
             P0(atomic_int *x, atomic_int *y) {{ int r0 = atomic_load_explicit(x, memory_order_relaxed); \
             atomic_store_explicit(y, {first}, memory_order_relaxed); }}\n\
             P1(atomic_int *x, atomic_int *y) {{ int r0 = atomic_load_explicit(y, memory_order_relaxed); \
             atomic_store_explicit(x, {second}, memory_order_relaxed); }}\n\
             exists (0:r0=1 /\\ 1:r0=1)\n"
        )
    };
    let free = "1";
    let dependent = "1 + (r0 & 8)";
    let model = Axioms::load("imm").expect("a shipped model");
    for (first, second, executions) in
        [(free, free, 4), (dependent, free, 4), (free, dependent, 4), (dependent, dependent, 3)]
    {
        let test = porf_frontend_litmus::parse("LB", &lb(first, second)).expect("a test");
        let found = litmus(&test, &model, Engine::Explore { unroll: 2 }).expect("an answer");
        assert_eq!(found.engine, "explore");
        assert_eq!(found.outcome.positive + found.outcome.negative, executions, "{first} | {second}");
    }
}

/// A thread may read early what its own store-exclusive wrote: the search cannot build the circle, says so,
/// and brute force answers.
#[test]
fn store_exclusives_that_are_read_early() {
    let text = "AArch64 LB+exclusive-rfi\n\
        { 0:X1=x; 0:X2=y; 0:X3=z; 1:X1=x; 1:X2=y; }\n\
        \x20P0 | P1 ;\n\
        \x20LDR W0,[X1] | LDR W0,[X2] ;\n\
        \x20STR W0,[X3] | STR W0,[X1] ;\n\
        \x20LDXR W4,[X3] | ;\n\
        \x20MOV W5,#1 | ;\n\
        \x20STXR W6,W5,[X3] | ;\n\
        \x20LDR W7,[X3] | ;\n\
        \x20STR W7,[X2] | ;\n\
        exists (0:X0=1 /\\ 1:X0=1)\n";
    let test = porf_frontend_litmus::parse("LB", text).expect("a test");
    let model = Axioms::load("armv8").expect("a shipped model");
    let ask = |engine| litmus(&test, &model, engine).expect("an answer");
    let (explored, enumerated) = (ask(Engine::Explore { unroll: 2 }), ask(Engine::Oracle { unroll: 2 }));
    assert!(enumerated.outcome.positive > 0, "armv8 allows it");
    assert_eq!(explored.outcome.states, enumerated.outcome.states);
}
