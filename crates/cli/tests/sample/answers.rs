//! The programs of corpus/sample: known bugs, right answers, and threads as natively.

use crate::support::{PORF, build, build_with, corpus, directory, expected, has, sample};
use std::path::PathBuf;
use std::process::Command;

#[test]
fn known_bugs_are_found_as_often_as_promised() {
    for (name, row) in expected()["bugs"].as_table().expect("a table") {
        let program = build(&corpus().join("bugs").join(format!("{name}.c")), name);
        let executions = row["executions"].as_integer().expect("a number");
        let report = sample(&program, &["--executions", &executions.to_string()], &[]);
        let rate = report["violating"].as_f64().expect("a number") / executions as f64;
        let least = row["rate"].as_float().expect("a number");
        assert!(rate >= least, "{name}: {rate} of the executions, expected {least}");
        let finding = &report["findings"][0];
        assert_eq!(finding["kind"].as_str(), row["kind"].as_str(), "{name}");
        let file = finding["location"]["file"].as_str().unwrap_or("");
        assert!(file.ends_with(&format!("{name}.c")), "{name} is found in {file}");
        if finding["kind"] == "race" {
            for stack in finding["stacks"].as_array().expect("two stacks") {
                let frames = stack["frames"].as_array().expect("frames");
                assert!(
                    !frames.is_empty() && frames.iter().all(|frame| frame["line"] != 0),
                    "{name}: {stack}"
                );
            }
        }
    }
}

/// Small programs with their right answers, built by both compilers.
#[test]
fn small_programs_get_their_right_answers() {
    for (name, row) in expected()["answers"].as_table().expect("a table") {
        let only = row.get("compiler").and_then(|only| only.as_str());
        for compiler in ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)) {
            if only.is_none_or(|only| only == compiler) {
                check_answers(name, row, compiler);
            }
        }
    }
}

/// A program of answers/, built by a compiler, and the names of its cases.
pub fn build_answer(name: &str, row: &toml::Value, compiler: &str) -> (PathBuf, Vec<String>) {
    let source = row.get("source").map_or(name, |source| source.as_str().expect("a name"));
    let source = corpus().join("answers").join(format!("{source}.c"));
    let flags = row.get("flags").and_then(|flags| flags.as_array()).into_iter().flatten();
    let flags: Vec<&str> = flags.map(|flag| flag.as_str().expect("an option")).collect();
    let program = directory().join(format!("{name}_{compiler}"));
    let build = |more: &[&str], output: PathBuf| {
        let mut command = Command::new(PORF);
        command.env("PORF_CC", compiler).args(["cc", "-O1", "-w"]).args(&flags).args(more);
        let status = command.arg(&source).arg("-o").arg(output).status();
        assert!(status.expect("porf runs").success(), "{name} does not compile");
    };
    build(&[], program.clone());
    if row.get("library").is_some() {
        build(&["-DLIBRARY", "-shared", "-fPIC"], directory().join(format!("{name}_{compiler}.so")));
    }
    let Some(least) = number(row, "cases") else { return (program, vec!["-".to_string()]) };
    let output = Command::new(&program).output().expect("it runs");
    let cases: Vec<String> =
        String::from_utf8(output.stdout).expect("names").lines().map(str::to_string).collect();
    assert!(cases.len() as i64 >= least, "{name}: {cases:?}");
    (program, cases)
}

/// The options of a row.
pub fn options(row: &toml::Value) -> (i64, String) {
    let timeout = row.get("timeout").map_or("3".to_string(), |seconds| seconds.to_string());
    (number(row, "executions").unwrap_or(100), timeout)
}

fn number(row: &toml::Value, key: &str) -> Option<i64> {
    row.get(key).map(|value| value.as_integer().expect("a number"))
}

fn check_answers(name: &str, row: &toml::Value, compiler: &str) {
    let (program, cases) = build_answer(name, row, compiler);
    let (executions, timeout) = options(row);
    let executions = executions.to_string();
    for case in &cases {
        let mut arguments = vec!["--executions", &executions, "--timeout", &timeout];
        let more = row.get("options").and_then(|options| options.as_array()).into_iter().flatten();
        arguments.extend(more.map(|option| option.as_str().expect("an option")));
        let report = sample(&program, &arguments, &[case]);
        let what = format!("{compiler} {name} {case}: {report}");
        assert_eq!(report["executions"].to_string(), executions, "{what}");
        assert!(report["violating"].as_u64() <= report["executions"].as_u64(), "{what}");
        if let Some(most) = number(row, "megabytes") {
            let megabytes = report["peak_memory_bytes"].as_u64().expect("a number") >> 20;
            assert!(megabytes <= most as u64, "{megabytes} MB: {what}");
        }
        let findings = report["findings"].as_array().expect("findings");
        match row.get("finds").and_then(|finds| finds.as_str()) {
            Some(title) => {
                let all = findings.iter().all(|finding| finding["title"] == title);
                assert!(!findings.is_empty() && all, "no {title}: {what}");
                let frame = &findings[0]["stacks"][0]["frames"][0];
                assert!(title != "data race" || frame["line"].as_u64() > Some(0), "no line: {what}");
            }
            None => assert_eq!(report["verdict"], "safe", "{what}"),
        }
    }
}

/// Every case of the program does the same natively and in every execution under the sampler.
fn threads(name: &str, source: &str, flags: &[&str]) {
    let source = corpus().join("threads").join(source);
    let is_cxx = source.extension().is_some_and(|extension| extension == "cpp");
    let native = directory().join(format!("{name}_native"));
    let mut command = Command::new(if is_cxx { "g++" } else { "gcc" });
    command.args(["-O1", "-w", "-pthread"]).args(flags).arg(&source).arg("-o").arg(&native);
    assert!(command.arg("-latomic").status().expect("gcc runs").success(), "{name} does not compile");
    let program = build_with(&source, name, flags);
    let listing = Command::new(&native).output().expect("the program runs by itself");
    let executions = expected()["threads"][name]["executions"].as_integer().expect("a number").to_string();
    let cases = String::from_utf8(listing.stdout).expect("names");
    assert!(cases.lines().count() >= 5);
    for case in cases.lines() {
        let alone = Command::new(&native).arg(case).output().expect("the program runs by itself");
        assert!(alone.status.success(), "{name} {case} natively: {alone:?}");
        let report = sample(&program, &["--executions", &executions], &[case]);
        assert_eq!(report["verdict"], "safe", "{name} {case}: {report}");
        assert_eq!(report["executions"].to_string(), executions, "{name} {case}");
    }
}

#[test]
fn posix_threads_behave_as_natively() {
    threads("posix", "posix.c", &[]);
}

#[test]
fn c11_threads_behave_as_natively() {
    threads("c11", "c11.c", &[]);
}

#[test]
fn cxx_threads_behave_as_natively() {
    threads("cxx", "cxx.cpp", &[]);
}

#[test]
fn cxx20_threads_behave_as_natively() {
    threads("cxx20", "cxx20.cpp", &["-std=c++20"]);
}
