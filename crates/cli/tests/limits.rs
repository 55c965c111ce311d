//! Each line of docs/limits.md for `porf verify` and `porf prove` that a program can show is true.
//!
//! The programs are in `limits.toml`: what they are given, and what porf says to them.

mod support;

use serde::Deserialize;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::Folder;

#[derive(Deserialize)]
struct Table {
    limit: Vec<Limit>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    /// Words of the line.
    line: String,
    file: String,
    #[serde(default)]
    args: Vec<String>,
    code: i32,
    says: Vec<String>,
    text: String,
}

#[test]
fn limits_are_what_they_are_said_to_be() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table: Table =
        toml::from_str(&std::fs::read_to_string(here.join("tests/limits.toml")).unwrap()).unwrap();
    let page = std::fs::read_to_string(here.join("../../docs/limits.md")).unwrap();
    let page: String = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(limit) = table.limit.get(at) else { break };
                    if !page.contains(&limit.line) {
                        wrong.lock().unwrap().push(format!("no longer in limits.md: {}", limit.line));
                    }
                    if let Some(what) = check(at, limit) {
                        wrong.lock().unwrap().push(format!("{}: {what}", limit.line));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(table.limit.len() >= 50, "only {} programs", table.limit.len());
}

/// What is not as the line says.
fn check(at: usize, limit: &Limit) -> Option<String> {
    let folder = Folder::new(&format!("limit-{at}"), &limit.file, &limit.text);
    let file = folder.path(&limit.file);
    let verb = if limit.file.ends_with(".cub") { "prove" } else { "verify" };
    let args: Vec<&str> =
        [verb, file.as_str()].into_iter().chain(limit.args.iter().map(String::as_str)).collect();
    let (code, told) = folder.porf(&args);
    let marked = limit.text.lines().position(|line| line.contains("/* here */"));
    let place = marked.map(|at| format!("{}:{}", limit.file, at + 1));
    let is_said = limit.says.iter().chain(&place).all(|what| told.contains(what));
    (code != limit.code || !is_said).then(|| format!("exit code {code}, {told}"))
}
