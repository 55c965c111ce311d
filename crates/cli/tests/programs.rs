//! Every program of `corpus/programs` gives the verdict, the line and the number of executions that
//! `expected.toml` says, under every model, whatever thread moves first, whichever clang compiled it.

use porf_frontend_llvm::{Options, compile, find_clang};
use std::path::Path;
use std::process::Command;

#[test]
fn programs_give_what_is_expected() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("corpus/programs");
    let text = std::fs::read_to_string(root.join("expected.toml")).unwrap();
    let expected: toml::Table = text.parse().unwrap();
    let cases = expected["case"].as_array().unwrap();
    assert!(cases.len() > 100);
    let directory = std::env::temp_dir().join(format!("porf-programs-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let compilers = compilers();
    let full = std::env::var_os("PORF_FULL").is_some_and(|value| value != "0");
    let mut wrong = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let case = case.as_table().unwrap();
        let file = case["file"].as_str().unwrap();
        let flags = case.get("flags").map_or("", |flags| flags.as_str().unwrap());
        // The compilers take turns: what they make of a program must not matter.
        let options = Options {
            flags: flags.split_whitespace().map(str::to_string).collect(),
            clang: Some(compilers[at % compilers.len()].clone()),
            ..Options::default()
        };
        let bitcode = directory.join(format!("{at}.bc"));
        std::fs::write(&bitcode, compile(&root.join(file), &options).unwrap()).unwrap();
        for (model, schedule) in
            [("rc11", "left"), ("rc11", "right"), ("sc", "fewest"), ("tso", "right"), ("ra", "left")]
        {
            let Some(wanted) = case.get(model) else { continue };
            let wanted = wanted.as_str().map_or_else(|| wanted.to_string(), str::to_string);
            // Debug builds check every step: large state spaces only in the long suite.
            if wanted.parse::<u64>().is_ok_and(|executions| executions > 1000) && !full {
                continue;
            }
            let found = verify(&bitcode, model, schedule);
            // Without a line, where that is in a header of the compiler's.
            let kind = found.split(':').next().unwrap_or_default();
            if found != wanted && kind != wanted {
                wrong.push(format!("{file} {flags} {model} ({schedule}): {found}, not {wanted}"));
            }
        }
    }
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The clang that is found, and one of another release if there is one.
fn compilers() -> Vec<String> {
    let runs = |name: &String| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    let found = find_clang().expect("the tests need clang");
    [found, "clang-22".to_string()].into_iter().filter(runs).collect()
}

/// "kind:line" of the violation, or the number of executions.
fn verify(file: &Path, model: &str, schedule: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_porf"))
        .args(["verify", "--format", "json", "--model", model, "--schedule", schedule])
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
            format!("{}:{}", violation["kind"].as_str().unwrap_or("?"), violation["location"]["line"])
        }
        _ => answer.to_string(),
    }
}
