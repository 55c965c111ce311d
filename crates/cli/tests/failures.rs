//! `--format json` prints an object for every outcome: here for everything that can go wrong before there is an answer.

use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// The arguments, and the verb that the object names.
fn failures() -> Vec<(Vec<String>, &'static str)> {
    let file = |name: &str, text: &str| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("failures");
        std::fs::create_dir_all(&folder).expect("the target directory is writable");
        let path = folder.join(name);
        std::fs::write(&path, text).expect("writable");
        path.to_str().unwrap().to_string()
    };
    let wrong_c = file("wrong.c", "int main(void) { return nothing; }\n");
    let odd_c = file("odd.c", "int main(void) { __asm__ volatile(\"hlt\"); return 0; }\n");
    let odd_kind = file("odd.kind", "");
    let wrong_bc = file("wrong.bc", "BC no bitcode");
    let wrong_litmus = file("wrong.litmus", "C wrong\n{}\nP0(int *x) { *x = ; }\nexists (x=1)\n");
    let good_litmus = file("good.litmus", "C good\n{}\nP0(int *x) { *x = 1; }\nexists (x=1)\n");
    let wrong_cat = file("wrong.cat", "let x = \n");
    let wrong_cub = file("wrong.cub", "type t = A |\n");
    let wrong_json = file("wrong.json", "{");
    let no_witness = file("no-witness.json", "{}");
    let cases: Vec<(Vec<&str>, &'static str)> = vec![
        (vec!["verify", "no-such-file.c"], "verify"),
        (vec!["verify", &wrong_c], "verify"),
        (vec!["verify", &odd_c], "verify"),
        (vec!["verify", &odd_kind], "verify"),
        (vec!["verify", &wrong_bc], "verify"),
        (vec!["verify", &wrong_litmus], "verify"),
        (vec!["verify", "--model", "nonsense", &good_litmus], "verify"),
        (vec!["verify", "--html", "/no/such/folder/x.html", &good_litmus], "verify"),
        (vec!["verify", "--no-such-option"], "verify"),
        (vec!["advise", "no-such-file.c"], "advise"),
        (vec!["advise", &wrong_c], "advise"),
        (vec!["litmus", "no-such-file.litmus"], "litmus"),
        (vec!["litmus", "--model", "nonsense", &good_litmus], "litmus"),
        (vec!["litmus", "--model", &wrong_cat, &good_litmus], "litmus"),
        (vec!["litmus", "--html", "/no/such/folder/x.html", &good_litmus], "litmus"),
        (vec!["prove", "no-such-file.cub"], "prove"),
        (vec!["prove", &wrong_cub], "prove"),
        (vec!["replay", "no-such-file.json"], "replay"),
        (vec!["replay", &wrong_json], "replay"),
        (vec!["replay", &no_witness], "replay"),
        (vec!["sample", "--", "/no/such/program"], "sample"),
        (vec!["sample", "--", "/bin/true"], "sample"),
        (vec!["models", "nonsense"], "models"),
    ];
    let owned = |args: Vec<&str>| args.into_iter().map(str::to_string).collect();
    cases.into_iter().map(|(args, verb)| (owned(args), verb)).collect()
}

#[test]
fn every_failure_is_an_object() {
    for (args, verb) in failures() {
        let (options, rest): (Vec<_>, Vec<_>) = match args.iter().position(|arg| arg == "--") {
            Some(at) => (args[..at].to_vec(), args[at..].to_vec()),
            None => (args.clone(), Vec::new()),
        };
        let mut command = Command::new(env!("CARGO_BIN_EXE_porf"));
        let output =
            command.args(&options).args(["--format", "json"]).args(&rest).output().expect("porf runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<&str> = text.lines().collect();
        let last = lines.last().unwrap_or_else(|| panic!("{args:?}: nothing on stdout"));
        let object: Value =
            serde_json::from_str(last).unwrap_or_else(|error| panic!("{args:?}: {error}: {text}"));
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert_eq!(object["schema"], 1, "{args:?}: {text}");
        assert_eq!(object["command"], verb, "{args:?}: {text}");
        let message = object["error"]["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty(), "{args:?}: {text}");
    }
}

#[test]
fn a_test_that_cannot_be_read_is_a_line() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("unreadable.litmus");
    std::fs::write(&file, "C wrong\n{}\nP0(int *x) { *x = ; }\nexists (x=1)\n").expect("writable");
    for more in [vec![], vec!["--against", "sc"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_porf"));
        let output =
            command.args(["litmus", "--format", "json"]).arg(&file).args(&more).output().expect("porf runs");
        let object: Value = serde_json::from_slice(&output.stdout).expect("an object");
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(object["error"]["line"], 3, "{object}");
    }
}

#[test]
fn other_verbs_as_junit() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let corpus = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let message = corpus.join("examples/message.c");
    let system = corpus.join("corpus/prove/dekker-nofence.cub");
    let cases = [
        (vec!["verify"], &message, 1, "failures=\"1\" errors=\"0\""),
        (vec!["verify", "--model", "sc"], &message, 0, "failures=\"0\" errors=\"0\""),
        (vec!["verify", "--model", "sc", "--budget", "1"], &message, 3, "failures=\"0\" errors=\"1\""),
        (vec!["prove", "--model", "tso"], &system, 1, "failures=\"1\" errors=\"0\""),
    ];
    for (args, file, code, counts) in cases {
        let report = folder.join("verbs.xml");
        let mut command = Command::new(env!("CARGO_BIN_EXE_porf"));
        let output = command.args(&args).arg(file).arg("--junit").arg(&report).output().expect("porf runs");
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        let text = std::fs::read_to_string(report).expect("a report");
        assert!(text.contains("tests=\"1\"") && text.contains(counts), "{args:?}: {text}");
    }
}

#[test]
fn a_folder_as_junit() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("junit");
    std::fs::create_dir_all(&folder).expect("the target directory is writable");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("writable");
    write("good.litmus", "C good\n{}\nP0(int *x) { *x = 1; }\nforall (x=1)\n");
    write("bad.litmus", "C bad\n{}\nP0(int *x) { *x = 1; }\nforall (x=2)\n");
    write("broken.litmus", "C broken\n{}\nP0(int *x) { *x = ; }\nforall (x=2)\n");
    let report = folder.join("report.xml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_porf"));
    let output = command.arg("litmus").arg(&folder).arg("--junit").arg(&report).output().expect("porf runs");
    assert_eq!(output.status.code(), Some(2));
    let text = std::fs::read_to_string(report).expect("a report");
    assert!(text.contains("tests=\"3\" failures=\"1\" errors=\"1\""), "{text}");
    assert!(text.contains("<testcase classname=\"rc11\" name=\"good\""), "{text}");
    assert!(text.contains("the condition fails: forall ([x]=2)"), "{text}");
}
