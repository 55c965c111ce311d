//! `cargo porf` as a command, on small crates.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A crate of its own, among the files of this test.
struct Crate(PathBuf);

impl Crate {
    fn new(name: &str, files: &[(&str, &str)]) -> Crate {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cargo-porf").join(name);
        let _ = std::fs::remove_file(directory.join("Cargo.lock"));
        for (file, text) in files {
            let path = directory.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Crate(directory)
    }

    fn porf(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-porf"));
        command.arg("porf").args(arguments).arg("--offline").current_dir(&self.0);
        command.env("XDG_CACHE_HOME", self.0.join("cache")).env_remove("RUSTFLAGS");
        command
    }
}

/// The lines about tests, and the code of the exit.
fn lines(output: &Output) -> (Vec<String>, Option<i32>) {
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<String> =
        text.lines().filter(|line| line.starts_with("test ")).map(str::to_string).collect();
    assert!(!lines.is_empty(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    (lines, output.status.code())
}

#[test]
fn tests_of_a_crate() {
    let manifest = "[package]\nname = 'small'\nversion = '0.1.0'\nedition = '2021'\n[workspace]\n\
        [package.metadata.porf]\nbudget = '2m'\n[package.metadata.porf.test.\"bounded\"]\nunroll = 2\n\
        [package.metadata.porf.test.\"panics_at_the_end\"]\nbudget = '1'\n";
    let library = include_str!("rust/small.rs");
    let krate = Crate::new(
        "small",
        &[
            ("Cargo.toml", manifest),
            ("src/lib.rs", library),
            ("src/main.rs", "fn main() {\n    small::add();\n}\n"),
            ("examples/shown.rs", "fn main() {\n    small::add();\n}\n"),
        ],
    );
    let (said, code) = lines(&krate.porf(&["test", "--lib", "--jobs", "2"]));
    let outcome = |name: &str| {
        let line = said.iter().find(|line| line.starts_with(&format!("test {name} ... ")));
        line.unwrap_or_else(|| panic!("{said:?}")).split(" ... ").nth(1).unwrap().to_string()
    };
    assert_eq!(outcome("right"), "ok (2 executions)");
    assert_eq!(outcome("wrong"), "FAILED");
    assert_eq!(outcome("panics"), "ok (1 execution)");
    assert!(outcome("panics_at_the_end").starts_with("inconclusive: limit of 1 "), "{said:?}");
    assert_eq!(outcome("ignored"), "ignored");
    assert!(outcome("bounded").starts_with("inconclusive"), "{said:?}");
    assert_eq!(said.last().unwrap().split(';').next(), Some("test result: FAILED. 2 passed"));
    assert_eq!(code, Some(101));

    let output = krate.porf(&["test", "--lib", "--format", "json", "right", "--exact"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["test"], &json["outcome"]), (&"right".into(), &"ok".into()));
    assert_eq!(json["answer"]["executions"], 2);
    assert_eq!(output.status.code(), Some(0));

    for what in [["verify", "--bin", "small"], ["verify", "--example", "shown"]] {
        let output = krate.porf(&what);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.starts_with("safe"), "{text}{}", String::from_utf8_lossy(&output.stderr));
    }

    // The same natively, with LLVM's instrumentation and the sampler.
    for (name, outcome, code) in [("right", "ok", 0), ("wrong", "FAILED", 101)] {
        let output = krate.porf(&["sample", "test", "--lib", "--exact", name]);
        let (said, exit) = lines(&output);
        assert_eq!((said[0].as_str(), exit), (format!("test {name} ... {outcome}").as_str(), Some(code)));
    }
}

/// A crate with one test has one test.
#[test]
fn one_test() {
    let manifest = "[package]\nname = 'one'\nversion = '0.1.0'\nedition = '2021'\n[workspace]\n";
    let library = "#[test]\nfn only() {\n    panic!();\n}\n";
    let krate = Crate::new("one", &[("Cargo.toml", manifest), ("src/lib.rs", library)]);
    let (said, code) = lines(&krate.porf(&["test", "--lib"]));
    assert_eq!(said[0], "test only ... FAILED");
    assert_eq!(code, Some(101));
}

/// `cargo porf test | head -1` ends, although tests are left.
#[test]
fn nobody_reads_on() {
    let manifest = "[package]\nname = 'several'\nversion = '0.1.0'\nedition = '2021'\n[workspace]\n";
    let library: String = (0..8).map(|at| format!("#[test]\nfn number_{at}() {{}}\n")).collect();
    let krate = Crate::new("several", &[("Cargo.toml", manifest), ("src/lib.rs", &library)]);
    let mut command = krate.command(&["test", "--lib"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::with_capacity(1, child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("test ") {
        line.clear();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "it says something of a test");
    }
    drop(out);
    assert_eq!(child.wait().unwrap().code(), None, "it ends by the signal");
}

/// Models of loom and Shuttle as they are, and no file of the crate changes.
#[test]
fn models() {
    let loom = expected(
        "loom",
        "loom = { version = '0.7.1', features = ['futures', 'checkpoint'] }",
        include_str!("rust/loom.rs"),
    );
    let shuttle = expected("shuttle", "shuttle = '0.8'", include_str!("rust/shuttle.rs"));
    for krate in [loom, shuttle] {
        assert!(!krate.0.join("Cargo.lock").exists(), "there was no lock file before");
    }
}

/// Tests with the crate `porf-test`.
#[test]
fn choices_and_assumptions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("rust/porf-test");
    let dependency = format!("porf-test = {{ path = {folder:?} }}");
    let krate = expected("api", &dependency, include_str!("rust/api.rs"));
    // Natively they do nothing.
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["test", "--offline", "--lib", "natively"]).current_dir(&krate.0).env_remove("RUSTFLAGS");
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Explores a library that says of each test what is expected.
fn expected(name: &str, dependency: &str, library: &str) -> Crate {
    let manifest = format!(
        "[package]\nname = 'models-of-{name}'\nversion = '0.1.0'\nedition = '2021'\n[workspace]\n\
         [dev-dependencies]\n{dependency}\n"
    );
    let krate = Crate::new(name, &[("Cargo.toml", &manifest), ("src/lib.rs", library)]);
    let (said, _) = lines(&krate.porf(&["test", "--lib", "--jobs", "2"]));
    let expected = library.lines().filter_map(|line| line.trim().strip_prefix("// expect: "));
    let tests = library.lines().skip_while(|line| *line != "mod tests {");
    let names = tests.filter_map(|line| line.strip_prefix("    fn ")?.strip_suffix("() {"));
    let (names, expected): (Vec<&str>, Vec<&str>) = (names.collect(), expected.collect());
    assert_eq!(names.len(), expected.len(), "each test of {name} says what is expected");
    for (name, expected) in names.into_iter().zip(expected) {
        let line = format!("test tests::{name} ... {expected}");
        assert!(said.iter().any(|said| said.starts_with(&line)), "{line}, not {said:#?}");
    }
    krate
}
