//! `porf verify` on parts of C, C++ and their libraries: each program is safe as it is written, and
//! wrong when compiled with `-DWRONG`; what is not supported is named with its line.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[test]
fn programs_are_safe_and_their_mutants_are_not() {
    let mut checked = 0;
    for path in programs() {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if text.contains("// refused: ") {
            continue;
        }
        let output = verify(&path, &[]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", all(&output));
        let output = verify(&path, &["-DWRONG"]);
        assert_eq!(output.status.code(), Some(1), "{name} -DWRONG: {}", all(&output));
        let kind =
            text.lines().find_map(|line| line.strip_prefix("// wrong: ")).expect("a kind of violation");
        assert!(all(&output).contains(kind), "{name} -DWRONG: {}", all(&output));
        checked += 1;
    }
    assert!(checked >= 15, "the programs are there");
}

#[test]
fn what_is_not_supported_is_named_with_its_line() {
    let mut checked = 0;
    for path in programs() {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(wanted) = text.lines().find_map(|line| line.strip_prefix("// refused: ")) else { continue };
        let line = 1 + text.lines().position(|line| line.contains("/* here */")).expect("a marked line");
        let output = verify(&path, &[]);
        assert_eq!(output.status.code(), Some(2), "{name}: {}", all(&output));
        let told = all(&output);
        assert!(told.contains(wanted) && told.contains(&format!(":{line}:")), "{name}: {told}");
        checked += 1;
    }
    assert!(checked >= 3, "the programs are there");
}

fn programs() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/language");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(directory).unwrap().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn verify(path: &Path, flags: &[&str]) -> Output {
    let standard =
        if path.extension().is_some_and(|extension| extension == "cpp") { "c++20" } else { "gnu17" };
    let mut command = Command::new(env!("CARGO_BIN_EXE_porf"));
    command.args(["verify", "--leaks"]).arg(path).arg("--").arg(format!("-std={standard}")).args(flags);
    command.output().unwrap()
}

fn all(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
