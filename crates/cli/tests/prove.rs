//! `porf prove` as its user meets it: exit codes, diagnostics, certificates, interruption.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn corpus(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/prove").join(file)
}

fn porf() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_porf"));
    command.arg("prove");
    command
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn exit_codes_follow_the_verdict() {
    for (file, model, code) in
        [("dekker.cub", "pso", 0), ("dekker-nofence.cub", "tso", 1), ("dekker-nofence.cub", "sc", 0)]
    {
        let output = porf().arg(corpus(file)).args(["--model", model]).output().expect("porf runs");
        assert_eq!(output.status.code(), Some(code), "{file} under {model}: {}", text(&output));
    }
    let output = porf().arg(corpus("mcs-lock.cub")).args(["--budget", "1"]).output().expect("porf runs");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
}

#[test]
fn errors_point_at_the_text() {
    let folder = std::env::temp_dir().join(format!("porf-prove-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("wrong.cub");
    std::fs::write(&file, "var X : bool\ninit { X = Treu }\nunsafe { X = False }\n").expect("a file");
    let output = porf().arg(&file).output().expect("porf runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(2), "{shown}");
    assert!(shown.contains("wrong.cub:2:12") && shown.contains("init { X = Treu }"), "{shown}");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

#[test]
fn an_instance_is_no_larger_than_the_system() {
    let output = porf().arg(corpus("peterson.cub")).args(["--instance", "3"]).output().expect("porf runs");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("at most 2 processes"), "{}", text(&output));
}

#[test]
fn an_interrupted_search_says_so() {
    let child = porf()
        .arg(corpus("mcs-lock.cub"))
        .args(["--budget", "300"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("porf starts");
    std::thread::sleep(Duration::from_secs(2));
    // SAFETY: a signal to the child of this test, which has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    let output = child.wait_with_output().expect("porf ends");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output));
    let shown = text(&output);
    assert!(shown.contains("interrupted") && shown.contains("nodes"), "{shown}");
}
