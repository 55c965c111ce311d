//! Every system of the corpus gets its verdict, every *safe* a certificate that solvers confirm, every *unsafe* a
//! run whose steps are steps of the instance, and every mutation changes a verdict.

use porf_param::certificate::{Refusal, Solver};
use porf_param::explore::{Cut, Instance, Limits, Trace, explore};
use porf_param::system::System;
use porf_param::{Memory, Request, certificate, load, prove};
use porf_verdict::Verdict;
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Deserialize)]
struct Expectations {
    system: Vec<Expectation>,
}

#[derive(Deserialize)]
struct Expectation {
    file: String,
    broken: Option<String>,
    /// Its proof takes seconds: proved once, and certified with `PORF_FULL=1`.
    #[serde(default)]
    slow: bool,
    sc: Option<String>,
    tso: Option<String>,
    pso: Option<String>,
    ra: Option<String>,
    why: String,
}

impl Expectation {
    fn of(&self, memory: Memory) -> Option<&str> {
        match memory {
            Memory::Sc => self.sc.as_deref(),
            Memory::Tso => self.tso.as_deref(),
            Memory::Pso => self.pso.as_deref(),
            Memory::Ra => self.ra.as_deref(),
        }
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/prove")
}

fn expectations() -> Vec<Expectation> {
    let text = std::fs::read_to_string(folder().join("expected.toml")).expect("corpus/prove/expected.toml");
    toml::from_str::<Expectations>(&text).expect("expected.toml is well formed").system
}

fn system(file: &str) -> System {
    let source = std::fs::read_to_string(folder().join(file)).expect("a system of the corpus");
    load(&source).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// z3, and all solvers; without z3 certificates are not checked.
fn solvers() -> (Vec<Solver>, Vec<Solver>) {
    let all = Solver::installed();
    let z3: Vec<Solver> = all.iter().filter(|solver| solver.name() == "z3").cloned().collect();
    if z3.is_empty() {
        eprintln!("z3 is not installed: certificates are not checked");
    }
    (z3, all)
}

#[test]
fn every_system_gets_its_verdict() {
    let mut wrong = Vec::new();
    for expectation in expectations() {
        let system = system(&expectation.file);
        for memory in Memory::ALL {
            let Some(expected) = expectation.of(memory) else { continue };
            let name = format!("{} under {}", expectation.file, memory.word());
            let answer = prove(&system, Request { memory, ..Request::default() })
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let found = match &answer.verdict {
                Verdict::Safe(_) => "safe",
                Verdict::Violated(_) => "unsafe",
                Verdict::Inconclusive(_) => "inconclusive",
            };
            if found != expected {
                wrong.push(format!("{name}: {found}, expected {expected}"));
            }
            assert_eq!(answer.trace.is_some(), found == "unsafe", "{name}: an unsafe answer has its run");
            if let Some((trace, property)) = &answer.trace {
                let instance = Instance::new(&system, memory, trace.processes);
                assert!(is_run(&instance, trace), "{name}: the trace is no run");
                let last = trace.steps.last().map_or(&trace.initial, |(_, state)| state);
                assert!(
                    instance.some_instance(&system.unsafes[*property], last),
                    "{name}: the trace ends safely"
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every safe system has a certificate over the store-buffer machine; small ones go to every solver.
#[test]
fn every_safe_system_has_a_certificate() {
    let (z3, all) = solvers();
    if z3.is_empty() {
        return;
    }
    let (mut expected, mut both) = (0, 0);
    let full = std::env::var_os("PORF_FULL").is_some();
    for expectation in expectations().into_iter().filter(|expectation| full || !expectation.slow) {
        let system = system(&expectation.file);
        for memory in Memory::BUFFERED.into_iter().filter(|memory| expectation.of(*memory) == Some("safe")) {
            let name = format!("{} under {}", expectation.file, memory.word());
            expected += 1;
            let request = Request { memory, certifiable: true, explore_first: false, ..Request::default() };
            let answer = prove(&system, request).unwrap_or_else(|error| panic!("{name}: {error}"));
            let written = certificate::of(memory, &answer).expect("the order of certificates");
            // Through the text, as a user would.
            let text = certificate::write(&system, &written);
            let read = certificate::read(&system, &text).expect("a certificate is read back");
            assert_eq!(read, written, "{name}");
            let obligations = certificate::obligations(&system, memory, &read)
                .unwrap_or_else(|why| panic!("{name}: {why:?}"));
            let solvers = if obligations.len() <= 60 { &all } else { &z3 };
            let confirmed =
                certificate::refute(&obligations, solvers).unwrap_or_else(|why| panic!("{name}: {why:?}"));
            // Every solver refutes every obligation of a small one.
            assert!(confirmed.solvers.iter().all(|(_, count)| *count == confirmed.obligations), "{name}");
            both += usize::from(solvers.len() > 1);
        }
    }
    eprintln!("{expected} certificates confirmed by z3, {both} of them by every solver");
    assert!(expected > 70, "a corpus with few proofs");
}

/// The expectations, held against the explorer alone: what it reaches is unsafe, and what is unsafe it reaches.
#[test]
fn exploration_of_small_instances_agrees() {
    for expectation in expectations() {
        assert!(!expectation.why.is_empty(), "{} has no reason", expectation.file);
        let system = system(&expectation.file);
        for memory in Memory::ALL {
            // With messages and views two processes have as many states as three with buffers.
            let few = memory == Memory::Ra && expectation.of(memory) != Some("unsafe");
            let most = system.number_procs.unwrap_or(3).min(if few { 2 } else { 3 });
            let limits = Limits { states: 60_000, buffer: 3, initial: 20_000, ..Limits::default() };
            let found = (1..=most).any(|n| explore(&system, memory, n, limits).trace.is_some());
            let name = format!("{} under {}", expectation.file, memory.word());
            match expectation.of(memory) {
                Some("unsafe") => assert!(found, "{name}: no unsafe state with up to {most} processes"),
                // Without a weak variable there is one memory.
                None if memory != Memory::Sc && !system.has_weak() => {}
                // No reason for an answer is known.
                None if memory == Memory::Ra => {}
                _ => assert!(!found, "{name}: an unsafe state is reachable"),
            }
        }
    }
}

/// Several pre-images at once: another order of cubes, the same verdicts.
#[test]
fn several_jobs_give_the_same_verdicts() {
    for expectation in expectations().into_iter().filter(|expectation| !expectation.slow) {
        let system = system(&expectation.file);
        for memory in Memory::ALL {
            let Some(expected) = expectation.of(memory) else { continue };
            let request = Request { memory, jobs: 3, explore_first: false, ..Request::default() };
            let name = format!("{} under {} with three jobs", expectation.file, memory.word());
            let answer = prove(&system, request).unwrap_or_else(|error| panic!("{name}: {error}"));
            match &answer.verdict {
                Verdict::Safe(_) => assert_eq!(expected, "safe", "{name}"),
                Verdict::Violated(_) => assert_eq!(expected, "unsafe", "{name}"),
                // Without exploration first, a universal guard may leave a trace that does not replay.
                Verdict::Inconclusive(limit) => assert_eq!(expected, "unsafe", "{name}: {limit}"),
            }
        }
    }
}

#[test]
fn every_mutation_changes_a_verdict() {
    let all = expectations();
    let mut correct: Vec<&str> = Vec::new();
    for broken in all.iter().filter(|e| e.broken.is_some()) {
        let original = all.iter().find(|e| Some(&e.file) == broken.broken.as_ref());
        let original = original.unwrap_or_else(|| panic!("{}: its original is missing", broken.file));
        let flips = Memory::ALL
            .into_iter()
            .any(|memory| original.of(memory) == Some("safe") && broken.of(memory) == Some("unsafe"));
        assert!(flips, "{} changes nothing", broken.file);
        correct.push(&original.file);
    }
    for system in all.iter().filter(|e| e.broken.is_none()) {
        assert!(correct.contains(&system.file.as_str()), "{} has no broken version", system.file);
    }
}

#[test]
fn a_wrong_certificate_is_rejected() {
    let (z3, _) = solvers();
    if z3.is_empty() {
        return;
    }
    let right = system("naive-mutex.cub");
    let broken = system("naive-mutex-nofence.cub");
    for memory in Memory::BUFFERED {
        let request = Request { memory, certifiable: true, ..Request::default() };
        let answer = prove(&right, request).expect("an answer");
        let whole = certificate::of(memory, &answer).expect("a certificate");
        let least = certificate::minimise(&right, memory, whole, &z3).expect("a smaller certificate");
        assert!(least.cubes.len() > 1);
        certificate::check(&right, memory, &least, &z3).expect("the smaller certificate is confirmed");
        // Without any one of its cubes the invariant is no longer one.
        for left_out in 0..least.cubes.len() {
            let mut less = least.clone();
            less.cubes.remove(left_out);
            let result = certificate::check(&right, memory, &less, &z3);
            assert!(matches!(result, Err(Refusal::Obligation(_))), "{memory:?} without cube {left_out}");
        }
        // The certificate of the system does not fit its broken version.
        let text = certificate::write(&right, &least);
        let read = certificate::read(&broken, &text).expect("the same names");
        let result = certificate::check(&broken, memory, &read, &z3);
        assert_eq!(result.is_err(), memory != Memory::Sc, "{memory:?}: {result:?}");
        // Nor does it answer for another memory.
        let other = if memory == Memory::Tso { Memory::Pso } else { Memory::Tso };
        let result = certificate::check(&right, other, &least, &z3);
        assert!(matches!(result, Err(Refusal::Certificate(_))), "{memory:?}: {result:?}");
    }
}

/// Whether each state follows from the one before by the step between them.
fn is_run(instance: &Instance<'_>, trace: &Trace) -> bool {
    let mut cut = Cut::default();
    let mut state = trace.initial.clone();
    if !instance.is_initial(&state) {
        return false;
    }
    trace.steps.iter().all(|(step, next)| {
        let mut found = false;
        instance
            .successors(&state, 32, &mut cut, &mut |other, after| found |= other == *step && after == *next);
        state = next.clone();
        found
    })
}
