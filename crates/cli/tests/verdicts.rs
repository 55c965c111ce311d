//! Every program of `corpus/verdicts` gives what the C and C++ standards and POSIX say of it.
//!
//! The first lines of a program tell: `// expect: safe`, or `// expect: KIND LINE` for each violation that
//! it has (porf shows one of them); `// refused: TEXT` for a program that is refused with such a text.
//! `// models: …` names the models to run it under (where there is no such line: rc11 and sc, and for one
//! program in five another one), and `// options: …` options of `porf verify`.
//!
//! `porf sample` does not contradict that: a program that is right has no finding, and the findings of another
//! are of the kinds that it has. One program in ten is built and sampled. With `PORF_FULL=1` all programs run under all models, and
//! all are sampled.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

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
                    let mut found = check(path, number);
                    wrong.lock().unwrap().append(&mut found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    let right = programs.iter().filter(|path| expectations(path).iter().any(|one| one == "safe")).count();
    assert!(programs.len() >= 300, "only {} programs", programs.len());
    assert!(right * 5 >= programs.len() * 2, "only {right} of {} are right", programs.len());
}

/// What `porf sample` finds is among what the standards say.
#[test]
fn sampling_contradicts_nothing() {
    let every = if full() { 1 } else { 10 };
    let folder = std::env::temp_dir().join(format!("porf-verdicts-sampled-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (mut wrong, mut sampled) = (Vec::new(), 0);
    for path in programs().iter().step_by(every) {
        let text = std::fs::read_to_string(path).unwrap();
        let expected = expectations(path);
        // What only `porf verify` knows: its own functions and options, bounds.
        if ["// options:", "// refused:", "__VERIFIER", "porf.h", "lkmm.h"]
            .iter()
            .any(|what| text.contains(what))
        {
            continue;
        }
        let Some(found) = sample(path, &folder) else { continue };
        sampled += 1;
        let name = path.file_name().unwrap().to_string_lossy();
        for (kind, message) in found {
            if !expected.iter().any(|one| is_of_kind(&kind, one)) {
                wrong.push(format!("{name}: {kind} ({message}), not {}", expected.join(" or ")));
            }
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(sampled > 20, "only {sampled} programs");
}

/// Whether a finding of the sampler is what `KIND LINE` says. It sees what an error does: a wild access may be a
/// crash, and what waits for ever is not told apart.
fn is_of_kind(found: &str, expected: &str) -> bool {
    let expected = expected.split_whitespace().next().unwrap_or_default();
    let waits = |kind: &str| matches!(kind, "deadlock" | "liveness");
    let crashes = |kind: &str| matches!(kind, "memory" | "trap" | "lock");
    found == expected || (waits(found) && waits(expected)) || (crashes(found) && crashes(expected))
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
fn check(path: &Path, number: usize) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let expected = expectations(path);
    assert!(!expected.is_empty(), "{name} says what it expects");
    let words = |key: &str, otherwise: &str| -> Vec<String> {
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or(otherwise);
        line.split_whitespace().map(str::to_string).collect()
    };
    let (mut models, options) = (words("// models:", ""), words("// options:", ""));
    if models.is_empty() {
        models = ["rc11", "sc"].map(str::to_string).to_vec();
        // What the standards say of a program holds of what a compiler makes of it. Races are errors of the
        // language only.
        let racy = expected.iter().any(|one| one.starts_with("race"));
        let others: &[&str] = if racy { &["c20", "imm"] } else { &["c20", "imm", "tso", "pso", "armv8"] };
        if full() {
            models.extend(others.iter().map(|model| model.to_string()));
        } else if number % 5 == 0 {
            models.push(others[number / 5 % others.len()].to_string());
        }
    }
    let mut wrong = Vec::new();
    for model in models {
        let found = verify(path, &model, &options);
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

/// `safe`, the kind and line of a violation, or what else porf says.
fn verify(path: &Path, model: &str, options: &[String]) -> String {
    let cpp = path.extension().is_some_and(|extension| extension == "cpp");
    let standard = if cpp { "-std=c++20" } else { "-std=gnu17" };
    let mut command = Command::new(env!("CARGO_BIN_EXE_porf"));
    command.args(["verify", "--format", "json", "--budget", "60s", "--model", model]).args(options);
    let output = command.arg(path).args(["--", standard]).output().unwrap();
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
