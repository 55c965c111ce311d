//! Every program of `corpus/programs` gives the verdict, the line and the number of executions that
//! `expected.toml` says, under every model, whatever thread moves first, whichever clang compiled it.

use porf_frontend_llvm::{Options, compile, find_clang};
use std::path::Path;
use std::process::Command;

#[test]
fn programs_give_what_is_expected() {
    let root = porf_corpus::expected::folder("programs");
    let expected: toml::Table = porf_corpus::expected::expected("programs");
    let cases = expected["case"].as_array().unwrap();
    assert!(cases.len() > 100);
    let directory = std::env::temp_dir().join(format!("porf-programs-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let compilers = compilers();
    let full = porf_corpus::full();
    let mut wrong = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let case = case.as_table().unwrap();
        let file = case["file"].as_str().unwrap();
        let flags = case.get("flags").map_or("", |flags| flags.as_str().unwrap());
        let permutes = file.ends_with(".c") && case.get("permuted").is_none();
        // The compilers take turns, or all compile everything: what they make of a program must not matter.
        let turn = [compilers[at % compilers.len()].clone()];
        for clang in if full { compilers.as_slice() } else { &turn } {
            for order in if permutes { &[Order::Written, Order::Permuted][..] } else { &[Order::Written] } {
                let bitcode = directory.join(format!("{at}-{clang}-{order:?}.bc"));
                std::fs::write(&bitcode, compiled(&root.join(file), flags, clang, *order)).unwrap();
                for (model, schedule, jobs) in order.runs() {
                    let Some(wanted) = expectation(case, model) else { continue };
                    let wanted = wanted.as_str().map_or_else(|| wanted.to_string(), str::to_string);
                    // Debug builds check every step: large state spaces only in the long suite.
                    if wanted.parse::<u64>().is_ok_and(|executions| executions > 1000) && !full {
                        continue;
                    }
                    let what = format!("{file} {flags} {clang} {order:?} {model} ({schedule}, {jobs})");
                    let found = verify(&bitcode, model, schedule, jobs, "all");
                    if !agrees(&found, &wanted, *order) {
                        wrong.push(format!("{what}: {found}, not {wanted}"));
                    }
                    // Reductions change no verdict, and never add an execution.
                    if REDUCED.contains(&(*model, *schedule, *jobs)) {
                        let fewer = verify(&bitcode, model, schedule, jobs, "");
                        let (most, count) = (wanted.parse::<u64>(), fewer.parse::<u64>());
                        let fits = match (&most, &count) {
                            (Ok(most), Ok(count)) => count <= most,
                            // Which side of a race comes second depends on the order too.
                            _ => agrees(&fewer, &wanted, Order::Permuted),
                        };
                        if !fits {
                            wrong.push(format!("{what}: {fewer} with reductions, not {wanted}"));
                        }
                    }
                }
            }
        }
    }
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Up to values the verdicts are the same, and there are no more executions.
#[test]
fn programs_up_to_values() {
    let root = porf_corpus::expected::folder("programs");
    let expected: toml::Table = porf_corpus::expected::expected("programs");
    let directory = std::env::temp_dir().join(format!("porf-values-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let clang = find_clang().expect("the tests need clang");
    let (mut safe, mut violated, mut wrong) = (0, 0, Vec::new());
    for (at, case) in expected["case"].as_array().unwrap().iter().enumerate() {
        let Some(wanted) = case.get("sc") else { continue };
        if wanted.as_integer().is_some_and(|executions| executions > 1000) && !porf_corpus::full() {
            continue;
        }
        let file = case["file"].as_str().unwrap();
        let flags = case.get("flags").map_or("", |flags| flags.as_str().unwrap());
        let bitcode = directory.join(format!("{at}.bc"));
        std::fs::write(&bitcode, compiled(&root.join(file), flags, &clang, Order::Written)).unwrap();
        let found = verify_with(&bitcode, &["--model", "sc", "--equivalence", "values"]);
        let fits = match (wanted.as_integer(), wanted.as_str()) {
            (Some(most), _) => {
                safe += 1;
                found.parse::<i64>().is_ok_and(|count| count <= most)
            }
            (_, wanted) => {
                violated += 1;
                // Which of two accesses comes second depends on the order.
                agrees(&found, wanted.unwrap(), Order::Permuted)
            }
        };
        if !fits {
            wrong.push(format!("{file} {flags}: {found}, not {wanted}"));
        }
    }
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(safe >= 60 && violated >= 20, "{safe} safe, {violated} violated");
}

/// Runs that are made with reductions too.
const REDUCED: [(&str, &str, &str); 4] =
    [("rc11", "left", "1"), ("rc11", "left", "2"), ("sc", "fewest", "1"), ("ra", "right", "2")];

/// Compiled for machines that do not keep program order, what is right in C is right.
#[test]
fn right_programs_are_right_on_machines() {
    let root = porf_corpus::expected::folder("programs");
    let expected: toml::Table = porf_corpus::expected::expected("programs");
    let directory = std::env::temp_dir().join(format!("porf-machines-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let clang = find_clang().expect("the tests need clang");
    let full = porf_corpus::full();
    let machines = ["armv8", "armv7", "power", "riscv"];
    let (mut safe, mut wrong) = (0, Vec::new());
    for (at, case) in expected["case"].as_array().unwrap().iter().enumerate() {
        // The cat files are slow: small programs only.
        if case.get("rc11").and_then(|wanted| wanted.as_integer()).is_none_or(|wanted| wanted > 60) {
            continue;
        }
        let file = case["file"].as_str().unwrap();
        let flags = case.get("flags").map_or("", |flags| flags.as_str().unwrap());
        let bitcode = directory.join(format!("{at}.bc"));
        std::fs::write(&bitcode, compiled(&root.join(file), flags, &clang, Order::Written)).unwrap();
        for model in if full { &machines[..] } else { &machines[at % 4..=at % 4] } {
            let found = verify(&bitcode, model, "left", "1", "");
            if found.parse::<u64>().is_ok() {
                safe += 1;
            } else if !found.contains("allocated memory") {
                wrong.push(format!("{file} {flags} {model}: {found}"));
            }
        }
    }
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{safe} runs");
    assert!(safe >= 25, "only {safe} programs were explored");
}

/// Under pso it is as under tso, under imm as under rc11 where nothing else is said.
fn expectation<'c>(case: &'c toml::Table, model: &str) -> Option<&'c toml::Value> {
    case.get(model).or_else(|| match model {
        "pso" => case.get("tso"),
        "imm" => case.get("rc11"),
        _ => None,
    })
}

/// The order in which the program starts its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Written,
    Permuted,
}

impl Order {
    /// Models, schedules and numbers of workers.
    fn runs(self) -> &'static [(&'static str, &'static str, &'static str)] {
        match self {
            Order::Written => &[
                ("rc11", "left", "1"),
                ("rc11", "right", "1"),
                ("rc11", "left", "2"),
                ("imm", "left", "1"),
                ("imm", "right", "2"),
                ("sc", "fewest", "1"),
                ("tso", "right", "1"),
                ("pso", "left", "1"),
                ("ra", "left", "1"),
                ("ra", "right", "2"),
            ],
            Order::Permuted => &[("rc11", "left", "1"), ("sc", "right", "1")],
        }
    }
}

fn compiled(file: &Path, flags: &str, clang: &str, order: Order) -> Vec<u8> {
    let permuted = (order == Order::Permuted).then_some("-DPERMUTED");
    let flags = flags.split_whitespace().chain(permuted).map(str::to_string).collect();
    compile(file, &Options { flags, clang: Some(clang.to_string()), ..Options::default() }).unwrap()
}

/// Whether what was found ("kind:line+other") is what is wanted, which may leave out lines. Which of two
/// waiting threads is named first depends on their order.
fn agrees(found: &str, wanted: &str, order: Order) -> bool {
    let lines = |text: &str| {
        let (kind, lines) = text.split_once(':').unwrap_or((text, ""));
        let lines: Vec<String> =
            lines.split('+').filter(|line| !line.is_empty()).map(str::to_string).collect();
        (kind.to_string(), lines)
    };
    let ((kind, found), (wanted_kind, wanted)) = (lines(found), lines(wanted));
    kind == wanted_kind
        && (found.starts_with(&wanted)
            || order == Order::Permuted && wanted.iter().all(|line| found.contains(line)))
}

/// The clang that is found, and one of another release if there is one.
fn compilers() -> Vec<String> {
    let runs = |name: &String| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    let found = find_clang().expect("the tests need clang");
    [found, "clang-22".to_string()].into_iter().filter(runs).collect()
}

/// "kind:line+other" of the violation, or the number of executions, without some reductions.
fn verify(file: &Path, model: &str, schedule: &str, jobs: &str, without: &str) -> String {
    let mut options = vec!["--model", model, "--schedule", schedule, "--jobs", jobs];
    if !without.is_empty() {
        options.extend(["--no-reduce", without]);
    }
    verify_with(file, &options)
}

fn verify_with(file: &Path, options: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_porf"))
        .args(["verify", "--format", "json"])
        .args(options)
        .arg(file)
        .output()
        .unwrap();
    let Ok(answer) = serde_json::from_slice::<serde_json::Value>(&output.stdout) else {
        return String::from_utf8_lossy(&output.stderr).into_owned();
    };
    match answer["verdict"].as_str() {
        Some("safe") => {
            assert_eq!(output.status.code(), Some(0));
            answer["executions"].to_string()
        }
        Some("violated") => {
            assert_eq!(output.status.code(), Some(1));
            let violation = &answer["violation"];
            let kind = violation["kind"].as_str().unwrap_or("?");
            let related = violation["related"].as_array().unwrap().iter();
            let others = related.map(|one| format!("+{}", one["stack"][0]["line"])).collect::<String>();
            format!("{kind}:{}{others}", violation["location"]["line"])
        }
        _ => answer.to_string(),
    }
}
