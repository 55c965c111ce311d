//! Every system of the corpus gets its verdict, every *safe* a certificate that z3 confirms, every *unsafe* a
//! run whose steps are steps of the instance, and every mutation changes a verdict.

use porf_param::certificate::Certificate;
use porf_param::explore::{Cut, Instance, Limits, Trace, explore};
use porf_param::{Memory, Request, certificate, load, prove};
use porf_verdict::Verdict;
use serde::Deserialize;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

#[derive(Deserialize)]
struct Expectations {
    system: Vec<Expectation>,
}

#[derive(Deserialize)]
struct Expectation {
    file: String,
    broken: Option<String>,
    sc: Option<String>,
    tso: Option<String>,
    pso: Option<String>,
    why: String,
}

impl Expectation {
    fn of(&self, memory: Memory) -> Option<&str> {
        match memory {
            Memory::Sc => self.sc.as_deref(),
            Memory::Tso => self.tso.as_deref(),
            Memory::Pso => self.pso.as_deref(),
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

#[test]
fn every_system_gets_its_verdict() {
    let z3 = Command::new("z3").arg("--version").output().is_ok();
    if !z3 {
        eprintln!("z3 is not installed: certificates are not checked");
    }
    let mut wrong = Vec::new();
    let (mut expected_safe, mut checked) = (0, 0);
    for expectation in expectations() {
        let source =
            std::fs::read_to_string(folder().join(&expectation.file)).expect("a system of the corpus");
        let system = load(&source).unwrap_or_else(|error| panic!("{}: {error}", expectation.file));
        for memory in Memory::ALL {
            let Some(expected) = expectation.of(memory) else { continue };
            expected_safe += usize::from(expected == "safe");
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
            if found == "safe" && z3 {
                // Through the text, as a user would.
                let written = Certificate { memory, order: answer.order, cubes: answer.invariant.clone() };
                let text = certificate::write(&system, &written);
                let certificate = certificate::read(&system, &text).expect("a certificate is read back");
                let script = certificate::smt(&system, &certificate).expect("obligations");
                script.judge(&solve(&script.text)).unwrap_or_else(|why| panic!("{name}: {why}"));
                checked += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    eprintln!("{checked} certificates confirmed by z3");
    assert!(!z3 || (checked == expected_safe && checked > 100), "a safe system without its certificate");
}

/// The expectations, held against the explorer alone: what it reaches is unsafe, and what is unsafe it reaches.
#[test]
fn exploration_of_small_instances_agrees() {
    for expectation in expectations() {
        assert!(!expectation.why.is_empty(), "{} has no reason", expectation.file);
        let source =
            std::fs::read_to_string(folder().join(&expectation.file)).expect("a system of the corpus");
        let system = load(&source).unwrap_or_else(|error| panic!("{}: {error}", expectation.file));
        let most = system.number_procs.unwrap_or(3).min(3);
        for memory in Memory::ALL {
            let limits = Limits { states: 60_000, buffer: 3, initial: 20_000 };
            let found = (1..=most).any(|n| explore(&system, memory, n, limits).trace.is_some());
            let name = format!("{} under {}", expectation.file, memory.word());
            match expectation.of(memory) {
                Some("unsafe") => assert!(found, "{name}: no unsafe state with up to {most} processes"),
                _ => assert!(!found, "{name}: an unsafe state is reachable"),
            }
        }
    }
}

/// Several pre-images at once: another order of cubes, the same verdicts, certificates that hold.
#[test]
fn several_jobs_give_the_same_verdicts() {
    let z3 = Command::new("z3").arg("--version").output().is_ok();
    for expectation in expectations() {
        let source =
            std::fs::read_to_string(folder().join(&expectation.file)).expect("a system of the corpus");
        let system = load(&source).unwrap_or_else(|error| panic!("{}: {error}", expectation.file));
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
            if z3 && (1..40).contains(&answer.invariant.len()) {
                let certificate = Certificate { memory, order: answer.order, cubes: answer.invariant };
                let script = certificate::smt(&system, &certificate).expect("obligations");
                script.judge(&solve(&script.text)).unwrap_or_else(|why| panic!("{name}: {why}"));
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
    if Command::new("z3").arg("--version").output().is_err() {
        eprintln!("skipped: z3 is not installed");
        return;
    }
    let source = std::fs::read_to_string(folder().join("naive-mutex.cub")).expect("naive-mutex.cub");
    let system = load(&source).expect("naive-mutex.cub");
    for memory in Memory::ALL {
        let answer = prove(&system, Request { memory, ..Request::default() }).expect("an answer");
        assert!(answer.invariant.len() > 1);
        // Without any one of its cubes the invariant is no longer one.
        for left_out in 0..answer.invariant.len() {
            let mut cubes = answer.invariant.clone();
            cubes.remove(left_out);
            let certificate = Certificate { memory, order: answer.order, cubes };
            let script = certificate::smt(&system, &certificate).expect("obligations");
            assert!(script.judge(&solve(&script.text)).is_err(), "{memory:?} without cube {left_out}");
        }
        // The certificate of the system does not fit its broken version.
        let broken =
            std::fs::read_to_string(folder().join("naive-mutex-nofence.cub")).expect("the broken version");
        let broken = load(&broken).expect("the broken version");
        let written = Certificate { memory, order: answer.order, cubes: answer.invariant.clone() };
        let text = certificate::write(&system, &written);
        let certificate = certificate::read(&broken, &text).expect("the same names");
        let script = certificate::smt(&broken, &certificate).expect("obligations");
        assert_eq!(script.judge(&solve(&script.text)).is_err(), memory != Memory::Sc, "{memory:?}");
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

fn solve(script: &str) -> String {
    let mut child = Command::new("z3")
        .args(["-in", "-smt2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3 starts");
    let mut stdin = child.stdin.take().expect("z3 reads its input");
    let script = script.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
    let output = child.wait_with_output().expect("z3 ends");
    drop(writer.join());
    String::from_utf8_lossy(&output.stdout).into_owned()
}
