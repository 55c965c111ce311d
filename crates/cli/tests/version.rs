//! `porf --version`.

use std::process::Command;

#[test]
fn the_llvm_that_reads_programs_is_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_porf")).arg("--version").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (first, second) = text.split_once('\n').unwrap();
    assert_eq!(first, concat!("porf ", env!("CARGO_PKG_VERSION")));
    assert!(second.starts_with("LLVM ") && second.contains("libLLVM"), "{second}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn completions_know_verbs_and_models() {
    let output = Command::new(env!("CARGO_BIN_EXE_porf")).args(["completions", "bash"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for word in ["verify", "replay", "c++", "wrc11", "armv8"] {
        assert!(text.contains(word), "{word}");
    }
}

#[test]
fn every_verb_has_help_with_examples() {
    for verb in [
        "verify",
        "advise",
        "replay",
        "litmus",
        "prove",
        "sample",
        "cc",
        "c++",
        "models",
        "completions",
        "man",
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_porf")).args(["help", verb]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("Examples:") && text.contains("porf "), "{verb}: {text}");
    }
}

#[test]
fn the_help_of_the_compilers_names_the_whole_command() {
    for verb in ["cc", "c++"] {
        let output = Command::new(env!("CARGO_BIN_EXE_porf")).args([verb, "--help"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(&format!("Usage: porf {verb} [ARGUMENTS]")), "{verb}: {text}");
    }
}
