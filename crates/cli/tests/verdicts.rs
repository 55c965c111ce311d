//! Every program of `corpus/verdicts` gives what the C and C++ standards and POSIX say of it.
//!
//! The first lines of a program tell: `// expect: safe`, or `// expect: KIND LINE` for each violation that
//! it has (porf shows one of them); `// refused: TEXT` for a program that is refused with such a text.
//! `// models: …` names the models to run it under. Where there is no such line these are all models that the
//! standards' words hold for: the language's own, and the machines' that it is compiled to. `// options: …` are
//! options of `porf verify`, and `// flags: …` of clang. The first model is asked on the command line, the others
//! through the library, which compiles a program once.
//!
//! `porf sample` does not contradict that: a program that is right has no finding, and the findings of another
//! are of the kinds that it has. One threaded program in six is built and sampled.
//!
//! With `PORF_FULL=1` all threaded programs are sampled, and power and armv7 are asked, too.

use porf::{Budget, Input, LoadOptions, Request};
use porf_verdict::Verdict;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[test]
fn programs_give_what_the_standards_say() {
    let programs = programs();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = programs.get(number) else { break };
                    let mut found = check(path);
                    wrong.lock().unwrap().append(&mut found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    let right = programs.iter().filter(|path| expectations(path).iter().any(|one| one == "safe")).count();
    assert!(programs.len() >= 300, "only {} programs", programs.len());
    assert!(right * 2 >= programs.len(), "only {right} of {} are right", programs.len());
}

/// What `porf sample` finds is among what the standards say.
#[test]
fn sampling_contradicts_nothing() {
    let every = if full() { 1 } else { 6 };
    let folder = std::env::temp_dir().join(format!("porf-verdicts-sampled-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (mut wrong, mut sampled) = (Vec::new(), 0);
    for path in programs().iter().step_by(every) {
        let text = std::fs::read_to_string(path).unwrap();
        let expected = expectations(path);
        // What only `porf verify` knows: its own functions and options, bounds. The sampler takes over where a
        // program creates its first thread.
        let verifies = ["// options:", "// flags:", "// refused:", "__VERIFIER", "porf.h", "lkmm.h"];
        let threads = ["pthread_create(", "thrd_create(", "std::thread", "std::jthread", "std::async"];
        let contains = |what: &&str| text.contains(*what);
        if verifies.iter().any(contains) || !threads.iter().any(contains) {
            continue;
        }
        let Some(found) = sample(path, &folder) else { continue };
        sampled += 1;
        let name = path.file_name().unwrap().to_string_lossy();
        for (kind, message) in found {
            // A thread that nobody joins is told of, as ThreadSanitizer does; that is no error of the program.
            if kind == "leak" && message.contains("nobody joins") {
                continue;
            }
            if !expected.iter().any(|one| is_of_kind(&kind, one)) {
                wrong.push(format!("{name}: {kind} ({message}), not {}", expected.join(" or ")));
            }
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(sampled > 15, "only {sampled} programs");
}

/// Whether a finding of the sampler is what `KIND LINE` says. Where the behaviour is undefined anything may
/// happen; what waits forever is not told apart.
fn is_of_kind(found: &str, expected: &str) -> bool {
    let expected = expected.split_whitespace().next().unwrap_or_default();
    let waits = |kind: &str| matches!(kind, "deadlock" | "liveness");
    found == expected
        || matches!(expected, "race" | "memory" | "trap" | "lock")
        || (waits(found) && waits(expected))
}

/// The kinds and messages of what the sampler finds; `None` if the program cannot be built for it.
fn sample(path: &Path, folder: &Path) -> Option<Vec<(String, String)>> {
    let cpp = path.extension().is_some_and(|extension| extension == "cpp");
    let (verb, standard, model) =
        if cpp { ("c++", "-std=c++20", "c20") } else { ("cc", "-std=gnu17", "rc11") };
    let program = folder.join(path.file_stem().unwrap());
    let mut build = Command::new(env!("CARGO_BIN_EXE_porf"));
    build.args([verb, "-O0", "-g", "-w", standard]).arg(path).arg("-o").arg(&program);
    if !build.output().unwrap().status.success() {
        return None;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_porf"));
    command.args(["sample", "--format", "json", "-n", "50", "--first", "--model", model, "--"]).arg(&program);
    let output = command.output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    let findings = report["findings"].as_array().into_iter().flatten();
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
    Some(findings.map(|finding| (word(&finding["kind"]), word(&finding["message"]))).collect())
}

fn programs() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("corpus/verdicts");
    let mut programs: Vec<PathBuf> =
        std::fs::read_dir(directory).unwrap().flatten().map(|entry| entry.path()).collect();
    programs.sort();
    programs
}

fn full() -> bool {
    std::env::var_os("PORF_FULL").is_some()
}

/// What is wrong about the answers for a program.
fn check(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let expected = expectations(path);
    assert!(!expected.is_empty(), "{name} says what it expects");
    let words = |key: &str, otherwise: &str| -> Vec<String> {
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or(otherwise);
        line.split_whitespace().map(str::to_string).collect()
    };
    let (mut models, options) = (words("// models:", ""), words("// options:", ""));
    let flags = words("// flags:", standard(path));
    if models.is_empty() {
        // What the standards say of a program holds of what a compiler makes of it. Races are errors of the
        // language only.
        let racy = expected.iter().any(|one| one.starts_with("race"));
        let languages = ["rc11", "sc", "c20", "imm"];
        let machines = if racy { &[][..] } else { &["tso", "pso", "armv8", "riscv"] };
        // There the search asks the cat file, which takes long.
        let slow = if racy || !full() { &[][..] } else { &["power", "armv7"] };
        models = languages.iter().chain(machines).chain(slow).map(|model| model.to_string()).collect();
    }
    let is_refused = expected.iter().any(|one| one.starts_with("refused "));
    let is_plain = options.is_empty() && flags == [standard(path)];
    let input = (is_plain && !is_refused && models.len() > 1).then(|| load(path));
    let mut wrong = Vec::new();
    for (at, model) in models.iter().enumerate() {
        let found = match &input {
            Some(input) if at > 0 => ask(input, model),
            _ => verify(path, model, &options, &flags),
        };
        let agrees = expected.iter().any(|one| match one.strip_prefix("refused ") {
            Some(wanted) => found.contains(wanted),
            None => *one == found,
        });
        if !agrees {
            wrong.push(format!("{name} under {model}: {found}, not {}", expected.join(" or ")));
        }
    }
    wrong
}

fn expectations(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let expect = text.lines().filter_map(|line| line.strip_prefix("// expect: ")).map(str::to_string);
    let refused = text.lines().filter_map(|line| line.strip_prefix("// refused: "));
    expect.chain(refused.map(|line| format!("refused {line}"))).collect()
}

/// How much is allowed for one answer.
const SECONDS: u64 = 60;

fn standard(path: &Path) -> &'static str {
    let cpp = path.extension().is_some_and(|extension| extension == "cpp");
    if cpp { "-std=c++20" } else { "-std=gnu17" }
}

fn load(path: &Path) -> Input {
    let options = LoadOptions { flags: vec![standard(path).to_string()], ..LoadOptions::default() };
    Input::load(&[path.to_path_buf()], &options).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What the library says, in the same words as [`verify`].
fn ask(input: &Input, model: &str) -> String {
    let budget = Budget { time: Some(Duration::from_secs(SECONDS)), ..Budget::default() };
    let request = Request { budget, ..Request::new(model.parse().expect("a model")) };
    match porf::verify(input, &request).map(|answer| answer.verdict) {
        Ok(Verdict::Safe(_)) => "safe".to_string(),
        Ok(Verdict::Violated(violation)) => {
            let line = violation.location.as_ref().map_or(0, |location| location.line);
            format!("{} {line}", violation.kind.word())
        }
        Ok(Verdict::Inconclusive(limit)) => format!("inconclusive: {limit}"),
        Err(error) => error.to_string(),
    }
}

/// `safe`, the kind and line of a violation, or what else porf says.
fn verify(path: &Path, model: &str, options: &[String], flags: &[String]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_porf"));
    let budget = format!("{SECONDS}s");
    command.args(["verify", "--format", "json", "--no-hints", "--budget", &budget, "--model", model]);
    let output = command.args(options).arg(path).arg("--").args(flags).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let Ok(answer) = serde_json::from_str::<serde_json::Value>(&told) else {
        return format!("{told}{}", String::from_utf8_lossy(&output.stderr)).trim().to_string();
    };
    match answer["verdict"].as_str() {
        Some("safe") => "safe".to_string(),
        Some("violated") => {
            let violation = &answer["violation"];
            let kind = violation["kind"].as_str().unwrap_or("?");
            format!("{kind} {}", violation["location"]["line"])
        }
        _ => told.trim().to_string(),
    }
}
