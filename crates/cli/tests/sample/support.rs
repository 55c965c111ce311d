//! Building and sampling small programs.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

pub const PORF: &str = env!("CARGO_BIN_EXE_porf");

pub fn corpus() -> PathBuf {
    porf_corpus::expected::folder("sample")
}

pub fn expected() -> &'static toml::Table {
    static TABLE: OnceLock<toml::Table> = OnceLock::new();
    TABLE.get_or_init(|| porf_corpus::expected::expected("sample"))
}

pub fn directory() -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sample");
    std::fs::create_dir_all(&path).expect("the target directory is writable");
    path
}

pub fn build(source: &Path, name: &str) -> PathBuf {
    build_with(source, name, &[])
}

pub fn build_with(source: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let program = directory().join(name);
    let verb = if source.extension().is_some_and(|extension| extension == "cpp") { "c++" } else { "cc" };
    let mut command = Command::new(PORF);
    command.args([verb, "-O1", "-w"]).args(flags).arg(source).arg("-o").arg(&program);
    let status = command.status();
    assert!(status.expect("porf runs").success(), "{} does not compile", source.display());
    program
}

pub fn build_text(name: &str, source: &str) -> PathBuf {
    let path = directory().join(format!("{name}.c"));
    std::fs::write(&path, source).expect("the target directory is writable");
    build(&path, name)
}

pub fn sample(program: &Path, options: &[&str], arguments: &[&str]) -> Value {
    let mut command = Command::new(PORF);
    command.args(["sample", "--format", "json"]).args(options).arg("--").arg(program).args(arguments);
    let output = command.output().expect("porf runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let report: Value = serde_json::from_str(text.trim()).unwrap_or_else(|error| {
        panic!("{}: {error}: {text}{}", program.display(), String::from_utf8_lossy(&output.stderr))
    });
    let code = match report["verdict"].as_str() {
        Some("safe") => 0,
        Some("violated") => 1,
        _ => 3,
    };
    assert_eq!(output.status.code(), Some(code), "{report}");
    report
}

pub fn has(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok()
}

pub const HEAD: &str = "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n";

/// A program of two threads.
pub fn two(globals: &str, first: &str, second: &str) -> String {
    format!(
        "{HEAD}{globals}\nstatic void *a(void *u) {{ {first} return u; }}\nstatic void *b(void *u) {{ {second} return u; }}\n\
         int main(void) {{ pthread_t p, q; pthread_create(&p, 0, a, 0); pthread_create(&q, 0, b, 0);\n\
         pthread_join(p, 0); pthread_join(q, 0); return 0; }}\n"
    )
}

pub fn check(name: &str, source: &str, kind: &str, message: &str) {
    let report = sample(&build_text(name, source), &["--executions", "100", "--timeout", "3"], &[]);
    let found = report["findings"].as_array().expect("findings").iter().any(|finding| {
        finding["kind"] == kind && format!("{} {}", finding["title"], finding["message"]).contains(message)
    });
    assert!(found, "{name}: no {kind} \"{message}\" in {report}");
}
