//! All executions of a small program.

use crate::support::{PORF, build_text, directory, sample, two};
use serde_json::Value;
use std::process::Command;

/// Two threads, and `r1` and `r2` at the end; `OUTCOME` is what must not be, for `porf verify`.
fn litmus(globals: &str, first: &str, second: &str) -> String {
    let head = "#include <assert.h>\n#include <stdio.h>\n#define R memory_order_relaxed\nint r1, r2;\n";
    let end = "\n#ifdef OUTCOME\nassert(!(OUTCOME));\n#else\nprintf(\"r1==%d&&r2==%d\\n\", r1, r2);\n#endif\nreturn 0; }";
    format!("{head}{}", two(globals, first, second).replace("return 0; }", end))
}

/// What all executions print, and the report.
fn every_outcome(name: &str, source: &str, isolation: &str) -> (Vec<String>, Value) {
    let program = build_text(name, source);
    let run = |format: &[&str]| {
        let mut command = Command::new(PORF);
        command.args(["sample", "--systematic", "10000", "--isolation", isolation]).args(format);
        let output = command.arg("--").arg(&program).output().expect("porf runs");
        String::from_utf8(output.stdout).expect("text")
    };
    let shown = run(&["--output", "all"]);
    let mut lines: Vec<String> =
        shown.lines().filter(|line| line.starts_with("r1==")).map(str::to_string).collect();
    lines.sort();
    lines.dedup();
    (lines, serde_json::from_str(run(&["--format", "json"]).trim()).expect("a report"))
}

/// Whether `porf verify` has an execution with this outcome.
fn verify_has(name: &str, outcome: &str) -> bool {
    let source = directory().join(format!("{name}.c"));
    let mut command = Command::new(PORF);
    command.args(["verify", "--model", "c20", "--check", "assertion"]).arg(&source);
    let status = command.args(["--", &format!("-DOUTCOME={outcome}")]).output().expect("porf runs").status;
    match status.code() {
        Some(0) => false,
        Some(1) => true,
        other => panic!("{name}, {outcome}: {other:?}"),
    }
}

/// Every execution by the sampler has the outcomes that `porf verify` finds.
#[test]
fn all_executions_have_the_outcomes_of_verify() {
    let store = |x: &str, order: &str| format!("atomic_store_explicit(&{x}, 1, {order});");
    let load = |r: &str, x: &str, order: &str| format!("{r} = atomic_load_explicit(&{x}, {order});");
    let (release, acquire) = ("memory_order_release", "memory_order_acquire");
    let fence = "atomic_thread_fence(memory_order_seq_cst);";
    let xy = "atomic_int x, y;";
    let rows = [
        (
            "sb",
            litmus(
                xy,
                &(store("x", "R") + &load("r1", "y", "R")),
                &(store("y", "R") + &load("r2", "x", "R")),
            ),
            4,
        ),
        (
            "sb_fences",
            litmus(
                xy,
                &(store("x", "R") + fence + &load("r1", "y", "R")),
                &(store("y", "R") + fence + &load("r2", "x", "R")),
            ),
            3,
        ),
        (
            "mp",
            litmus(
                xy,
                &(store("x", "R") + &store("y", "R")),
                &(load("r1", "y", "R") + &load("r2", "x", "R")),
            ),
            4,
        ),
        (
            "mp_ordered",
            litmus(
                xy,
                &(store("x", "R") + &store("y", release)),
                &(load("r1", "y", acquire) + &load("r2", "x", "R")),
            ),
            3,
        ),
        (
            "corr",
            litmus("atomic_int x;", &store("x", "R"), &(load("r1", "x", "R") + &load("r2", "x", "R"))),
            3,
        ),
        (
            "added",
            litmus(
                "atomic_int x;",
                "r1 = atomic_fetch_add_explicit(&x, 1, R);",
                "r2 = atomic_fetch_add_explicit(&x, 1, R);",
            ),
            2,
        ),
        (
            "swapped",
            litmus(
                "atomic_int x;",
                "int e = 0; r1 = atomic_compare_exchange_strong(&x, &e, 1);",
                "int e = 0; r2 = atomic_compare_exchange_strong(&x, &e, 1);",
            ),
            2,
        ),
        (
            "locked",
            litmus(
                "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int n;",
                "pthread_mutex_lock(&m); r1 = n++; pthread_mutex_unlock(&m);",
                "pthread_mutex_lock(&m); r2 = n++; pthread_mutex_unlock(&m);",
            ),
            2,
        ),
    ];
    for (name, source, count) in rows {
        let (outcomes, report) = every_outcome(name, &source, "auto");
        assert_eq!(outcomes.len(), count, "{name}: {outcomes:?}");
        assert_eq!(report["coverage"]["kind"], "systematic", "{report}");
        assert_eq!(report["coverage"]["complete"], true, "{report}");
        assert_eq!(report["verdict"], "safe", "{report}");
        for outcome in &outcomes {
            assert!(verify_has(name, outcome), "{name}: {outcome} is not an outcome of verify");
        }
        let others: Vec<String> = outcomes.iter().map(|outcome| format!("!({outcome})")).collect();
        assert!(!verify_has(name, &others.join("&&")), "{name}: verify has more than {outcomes:?}");
    }
}

#[test]
fn all_executions_are_the_same_by_every_isolation() {
    let lock = "pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m);";
    let source = litmus(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int n;",
        &format!("{lock}{lock}{lock}"),
        &format!("{lock}{lock}{lock}"),
    );
    for isolation in ["in-process", "fork", "restart"] {
        let (_, report) = every_outcome("three_locks", &source, isolation);
        // As many as there are orders of three and three.
        assert_eq!(report["executions"], 20, "{report}");
        assert_eq!(report["coverage"]["complete"], true, "{report}");
        assert_eq!(report["coverage"]["spins"], Value::Null, "{report}");
    }
}

#[test]
fn waiting_loops_end_and_are_told() {
    let source = two(
        "atomic_int x; int d;",
        "d = 1; atomic_store_explicit(&x, 1, memory_order_release);",
        "while (!atomic_load_explicit(&x, memory_order_acquire)) ; d++;",
    );
    let program = build_text("waits_in_a_loop", &source);
    let report = sample(&program, &["--systematic", "1000"], &[]);
    assert_eq!(report["verdict"], "safe", "{report}");
    assert_eq!(report["coverage"]["complete"], true, "{report}");
    assert_eq!(report["coverage"]["spins"], 4, "{report}");
    let broken = source.replace("memory_order_acquire", "memory_order_relaxed");
    let program = build_text("waits_in_a_loop_relaxed", &broken);
    let report = sample(&program, &["--systematic", "1000"], &[]);
    assert_eq!(report["findings"][0]["title"], "data race", "{report}");
    let few = sample(&build_text("cut_short", &source), &["--systematic", "2"], &[]);
    assert_eq!(few["verdict"], "inconclusive", "{few}");
    assert_eq!(few["limit"], "limit of 2 executions reached", "{few}");
}
