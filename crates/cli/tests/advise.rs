//! `porf advise` and the hints of `porf verify`, through the command line.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn porf(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_porf")).args(arguments).output().expect("porf runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("an object")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A program in a file of its own.
fn file(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("a file");
    path.display().to_string()
}

const BUFFERING: &str = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
int a, b;
void *left(void *p) {
    atomic_store(&x, 1);
    a = atomic_load(&y);
    return p;
}
void *right(void *p) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    b = atomic_load_explicit(&x, memory_order_seq_cst);
    return p;
}
int main(void) {
    pthread_t l, r;
    pthread_create(&l, 0, left, 0);
    pthread_create(&r, 0, right, 0);
    pthread_join(l, 0);
    pthread_join(r, 0);
    assert(a || b);
}
";

#[test]
fn a_violation_comes_with_the_line_to_change() {
    let message = root().join("examples/message.c").display().to_string();
    let output = porf(&["verify", &message]);
    assert_eq!(output.status.code(), Some(1));
    let hint = "help: memory_order_release for the store at";
    let text = stdout(&output);
    assert!(text.contains(hint) && text.contains("message.c:12:5 makes the program safe"), "{text}");
    let repair = &json(&porf(&["verify", "--format", "json", &message]))["repair"];
    assert_eq!(repair[0][0]["to"], "memory_order_release", "{repair}");
    let without = json(&porf(&["verify", "--no-hints", "--format", "json", &message]));
    assert_eq!(without["repair"], Value::Null);
}

#[test]
fn a_patch_repairs_the_program() {
    let wrong = file("buffering.c", BUFFERING);
    let output = porf(&["advise", "--patch", &wrong]);
    assert_eq!(output.status.code(), Some(1));
    let diff = stdout(&output);
    assert!(diff.contains("-    atomic_store_explicit(&y, 1, memory_order_relaxed);"), "{diff}");
    assert!(diff.contains("+    atomic_store_explicit(&y, 1, memory_order_seq_cst);"), "{diff}");
    let repaired = BUFFERING.replace("memory_order_relaxed", "memory_order_seq_cst");
    let repaired = file("buffering-repaired.c", &repaired);
    assert_eq!(porf(&["verify", &repaired]).status.code(), Some(0));
}

#[test]
fn advice_weakens_what_is_too_strong() {
    let text = BUFFERING.replace("assert(a || b)", "assert(a <= 1)");
    let right = file("buffering-right.c", &text);
    let output = porf(&["advise", "--format", "json", &right]);
    assert_eq!(output.status.code(), Some(0));
    let advice = json(&output);
    let places = advice["places"].as_array().expect("places");
    assert_eq!(places.len(), 4);
    assert!(places.iter().all(|place| place["to"] == "memory_order_relaxed"), "{advice}");
    // A call without an ordering gets one.
    let diff = stdout(&porf(&["advise", "--patch", &right]));
    assert!(diff.contains("+    atomic_store_explicit(&x, 1, memory_order_relaxed);"), "{diff}");
    assert!(diff.contains("+    a = atomic_load_explicit(&y, memory_order_relaxed);"), "{diff}");
    assert!(diff.contains("+    b = atomic_load_explicit(&x, memory_order_relaxed);"), "{diff}");
}

#[test]
fn the_program_stays_safe_under_each_model() {
    let right = file("buffering-seq.c", &BUFFERING.replace("memory_order_relaxed", "memory_order_seq_cst"));
    let output = porf(&["advise", "--model", "rc11,armv8", "--format", "json", &right]);
    assert_eq!(output.status.code(), Some(0));
    let advice = json(&output);
    assert_eq!(advice["models"], serde_json::json!(["rc11", "armv8"]));
    let places = advice["places"].as_array().expect("places");
    assert!(places.iter().all(|place| place["to"] == "memory_order_seq_cst"), "{advice}");
}

/// In C++ the ordering is an argument of a call.
#[test]
fn orderings_of_cpp_are_advised() {
    let right = file(
        "message.cpp",
        "#include <atomic>
#include <cassert>
#include <thread>
std::atomic<int> flag{0};
int message = 0;
int main() {
    std::thread sender([] {
        message = 42;
        flag.store(1);
    });
    if (flag.load()) assert(message == 42);
    sender.join();
}
",
    );
    let output = porf(&["advise", "--patch", &right]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let diff = stdout(&output);
    assert!(diff.contains("+        flag.store(1, std::memory_order_release);"), "{diff}");
    assert!(diff.contains("+    if (flag.load(std::memory_order_acquire)) assert(message == 42);"), "{diff}");
}

/// So it is in Rust, where orderings have other names.
#[test]
fn orderings_of_rust_are_patched() {
    let wrong = file(
        "message.rs",
        "use std::sync::atomic::{AtomicUsize, Ordering};
static MESSAGE: AtomicUsize = AtomicUsize::new(0);
static FLAG: AtomicUsize = AtomicUsize::new(0);
fn main() {
    let sender = std::thread::spawn(|| {
        MESSAGE.store(42, Ordering::Relaxed);
        FLAG.store(1, Ordering::Relaxed);
    });
    if FLAG.load(Ordering::Acquire) == 1 {
        assert_eq!(MESSAGE.load(Ordering::Relaxed), 42);
    }
    sender.join().unwrap();
}
",
    );
    let output = porf(&["advise", "--patch", &wrong]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let diff = stdout(&output);
    assert!(diff.contains("+        FLAG.store(1, Ordering::Release);"), "{diff}");
}

#[test]
fn a_litmus_test_gets_no_advice() {
    let test = root().join("corpus/litmus/c11/SB+rlx+rlx.litmus").display().to_string();
    let output = porf(&["advise", &test]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("advice is for programs"), "{output:?}");
}
