//! `--sarif` of the verbs beside `porf verify`: one result for each thing that is wrong, at its place.

use porf_corpus::expected::folder;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

const PORF: &str = env!("CARGO_BIN_EXE_porf");

/// Runs `porf ARGS --sarif FILE REST`, which finds something, and gives the results.
fn results(name: &str, args: &[&str], rest: &[&str]) -> Vec<Value> {
    let path = directory().join(format!("{name}.sarif"));
    let mut command = Command::new(PORF);
    command.args(args).arg("--sarif").arg(&path).args(rest);
    let output = command.output().expect("porf runs");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let log: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("a log")).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    log["runs"][0]["results"].as_array().expect("a list").clone()
}

fn directory() -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sarif");
    std::fs::create_dir_all(&path).expect("the target directory is writable");
    path
}

fn line(place: &Value) -> u64 {
    place["physicalLocation"]["region"]["startLine"].as_u64().expect("a line")
}

#[test]
fn an_unsafe_state_of_a_system() {
    let file = folder("prove/dekker-nofence.cub");
    let text = std::fs::read_to_string(&file).expect("the system");
    let unsafes = text.lines().position(|line| line.starts_with("unsafe")).expect("an unsafe state");
    let results = results("prove", &["prove", file.to_str().unwrap(), "--model", "tso"], &[]);
    let [result] = results.as_slice() else { panic!("one result: {results:?}") };
    assert_eq!(result["ruleId"], "unsafe");
    assert_eq!(line(&result["locations"][0]), unsafes as u64 + 1);
    // A flow for each process; together the steps are numbered.
    let flows = result["codeFlows"][0]["threadFlows"].as_array().expect("flows");
    assert_eq!(flows.len(), 2, "{flows:?}");
    let steps: Vec<&Value> =
        flows.iter().flat_map(|flow| flow["locations"].as_array().expect("steps")).collect();
    let mut order: Vec<u64> =
        steps.iter().map(|step| step["executionOrder"].as_u64().expect("a number")).collect();
    order.sort();
    assert_eq!(order, (1..=steps.len() as u64).collect::<Vec<_>>());
    for step in steps {
        let text = text.lines().nth(line(&step["location"]) as usize - 1).expect("a line");
        assert!(text.trim_start().starts_with("transition"), "{text}");
    }
}

#[test]
fn a_condition_that_fails() {
    let file = directory().join("fails.litmus");
    std::fs::write(&file, "C fails\n{}\nP0(int *x) { *x = 1; }\nforall (x=2)\n").expect("writable");
    let results = results("litmus", &["litmus", file.to_str().unwrap()], &[]);
    let [result] = results.as_slice() else { panic!("one result: {results:?}") };
    assert_eq!(result["ruleId"], "condition");
    let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, &format!("file://{}", file.to_str().unwrap()));
}

#[test]
fn a_race_of_a_native_program() {
    let (source, program) = (directory().join("race.c"), directory().join("race"));
    let text = "#include <pthread.h>\nint x;\nvoid *run(void *a) {\n  x++;\n  return a;\n}\n\
                int main(void) {\n  pthread_t t;\n  pthread_create(&t, 0, run, 0);\n  run(0);\n  \
                pthread_join(t, 0);\n}\n";
    std::fs::write(&source, text).expect("writable");
    let built = Command::new(PORF).arg("cc").args(["-g", "-o"]).args([&program, &source]).status();
    assert!(built.expect("porf runs").success());
    let results = results("sample", &["sample", "--executions", "20"], &["--", program.to_str().unwrap()]);
    assert!(!results.is_empty());
    for result in results {
        assert_eq!(result["ruleId"], "race");
        assert_eq!((line(&result["locations"][0]), line(&result["relatedLocations"][0])), (4, 4));
    }
}

#[test]
fn no_answer_is_a_notification() {
    let path = directory().join("inconclusive.sarif");
    let source = folder("../examples/message.c");
    let output = Command::new(PORF)
        .args(["verify", "--model", "sc", "--budget", "1", "--sarif"])
        .args([&path, &source])
        .output()
        .expect("porf runs");
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stdout));
    let log: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("a log")).expect("JSON");
    let run = &log["runs"][0];
    assert_eq!(run["results"], serde_json::json!([]));
    let notes = run["invocations"][0]["toolExecutionNotifications"].as_array().expect("a list");
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0]["descriptor"]["id"], "inconclusive");
}
