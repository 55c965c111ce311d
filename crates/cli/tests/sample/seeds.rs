//! An execution is a function of its seed, and a finding can be shown again.

use crate::support::{PORF, build, build_text, corpus, directory, sample, two};
use serde_json::Value;
use std::process::Command;

#[test]
fn an_execution_is_a_function_of_its_seed() {
    let program = build(&corpus().join("bugs/seqlock.c"), "seqlock_seed");
    let all = sample(&program, &["--executions", "200"], &[]);
    let again = sample(&program, &["--executions", "200"], &[]);
    let forked = sample(&program, &["--executions", "200", "--isolation", "fork"], &[]);
    for field in ["violating", "distinct", "events", "findings"] {
        assert_eq!(all[field], again[field], "{field} in a second run");
        assert_eq!(all[field], forked[field], "{field} by fork");
    }
    assert_eq!(forked["isolation"], "fork");
    let seed = all["findings"][0]["first_seed"].to_string();
    let one = sample(&program, &["--executions", "1", "--seed", &seed], &[]);
    assert_eq!(one["violating"], 1, "the seed of a finding shows it at once");
}

#[test]
fn a_pct_execution_is_a_function_of_its_seed() {
    let program = build(&corpus().join("bugs/seqlock.c"), "seqlock_pct_seed");
    for isolation in ["in-process", "fork"] {
        let options = ["--scheduler", "pct", "--isolation", isolation];
        let all = sample(&program, &[&options[..], &["--executions", "400"]].concat(), &[]);
        let seed = all["findings"][0]["first_seed"].to_string();
        let one = sample(&program, &[&options[..], &["--executions", "1", "--seed", &seed]].concat(), &[]);
        assert_eq!(one["violating"], 1, "the seed {seed} of a finding shows it at once");
    }
}

#[test]
fn pct_finds_the_seqlock_bug_too() {
    let program = build(&corpus().join("bugs/seqlock.c"), "seqlock_pct");
    let report = sample(&program, &["--executions", "2000", "--scheduler", "pct"], &[]);
    assert_eq!(report["verdict"], "violated");
}

#[test]
fn a_witness_is_replayed() {
    let program = build(&corpus().join("bugs/rwlock.c"), "rwlock_witness");
    let witness = directory().join("rwlock.witness");
    for scheduler in ["random", "pct"] {
        let path = witness.to_str().expect("a path");
        let options = ["--scheduler", scheduler, "--executions", "500", "--witness", path];
        let all = sample(&program, &options, &[]);
        let output =
            Command::new(PORF).args(["replay", "--format", "json", path]).output().expect("porf runs");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(report["executions"], 1);
        let seen = |report: &Value| report["findings"][0]["message"].clone();
        assert_eq!(seen(&report), seen(&all));
    }
    std::fs::write(&witness, r#"{"schema": 1, "kind": "witness", "command": "sample"}"#).expect("writable");
    let output = Command::new(PORF).arg("replay").arg(&witness).output().expect("porf runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("names no program"));
}

#[test]
fn findings_are_made_smaller_and_can_be_shown_again() {
    // The second thread must read the old value of x, after it has seen y: one weak read, two switches.
    let work = "for (int i = 0; i < 8; i++) atomic_fetch_add(&noise, 1);";
    let source = format!(
        "#include <assert.h>\n{}",
        two(
            "atomic_int noise, x, y;",
            &format!(
                "{work} atomic_store_explicit(&x, 1, memory_order_relaxed); atomic_store_explicit(&y, 1, memory_order_relaxed); {work}"
            ),
            &format!(
                "{work} if (atomic_load_explicit(&y, memory_order_relaxed)) assert(atomic_load_explicit(&x, memory_order_relaxed)); {work}"
            ),
        )
    );
    let program = build_text("noisy", &source);
    let witness = directory().join("noisy.json");
    for isolation in ["in-process", "fork", "restart"] {
        let options =
            ["--executions", "200", "--isolation", isolation, "--witness", &witness.display().to_string()];
        let report = sample(&program, &options, &[]);
        let finding = &report["findings"][0];
        assert_eq!(finding["kind"], "assertion", "{report}");
        let minimised = &finding["minimised"];
        assert_eq!(minimised["minimal"], true, "{finding}");
        assert_eq!(minimised["weak_reads"], 1, "{finding}");
        // The main thread waits, and each of the two runs once.
        assert_eq!(minimised["switches"], 2, "{finding}");
        assert!(minimised["first_switches"].as_u64() > Some(4), "{finding}");
        let replay = Command::new(PORF).args(["replay", "--format", "json"]).arg(&witness).output();
        let again: Value = serde_json::from_slice(&replay.expect("porf runs").stdout).expect("a report");
        assert_eq!(again["findings"][0]["message"], finding["message"], "{again}");
        let seed = finding["first_seed"].to_string();
        let one = sample(&program, &["--executions", "1", "--seed", &seed, "--minimise", "0"], &[]);
        assert_eq!(one["findings"][0]["message"], finding["message"], "{one}");
        assert_eq!(one["findings"][0]["minimised"], Value::Null, "{one}");
    }
    // The same where all executions are run, in which no seed counts.
    let options = ["--systematic", "3000", "--first", "--witness", &witness.display().to_string()];
    let program = build_text("not_noisy", &source.replace(work, ""));
    let report = sample(&program, &options, &[]);
    assert_eq!(report["findings"][0]["minimised"]["weak_reads"], 1, "{report}");
    let replay = Command::new(PORF).args(["replay"]).arg(&witness).output().expect("porf runs");
    assert_eq!(replay.status.code(), Some(1), "{replay:?}");
}

/// The scheduler that learns: what it finds is a function of the seed that it tells, and it finds the race of
/// dekker_fences more often than the default.
#[test]
fn a_learnt_execution_is_a_function_of_its_seed() {
    let program = build(&corpus().join("bugs/dekker_fences.c"), "dekker_learnt");
    for isolation in ["in-process", "fork"] {
        let options = ["--scheduler", "learning", "--isolation", isolation, "--minimise", "0"];
        let all = sample(&program, &[&options[..], &["--executions", "1000"]].concat(), &[]);
        let usual =
            sample(&program, &["--isolation", isolation, "--minimise", "0", "--executions", "1000"], &[]);
        assert!(all["violating"].as_u64() > usual["violating"].as_u64(), "{all}");
        let seed = all["findings"][0]["first_seed"].to_string();
        let one = sample(&program, &[&options[..], &["--executions", "1", "--seed", &seed]].concat(), &[]);
        assert_eq!(one["violating"], 1, "the seed {seed} of a finding shows it at once");
    }
}
