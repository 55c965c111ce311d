//! How `porf verify` shows a violation: what is left out, in which order, and what things are called.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Reads a pointer published by another thread without acquiring it.
const PUBLISHED: &str = r#"#include <atomic>
#include <cassert>
#include <thread>
#include <vector>
namespace cache {
struct Entry { int value; };
std::atomic<Entry *> newest{nullptr};
}
int main() {
    std::vector<int> unrelated;
    unrelated.push_back(1);
    std::thread reader([] {
        if (auto *entry = cache::newest.load(std::memory_order_relaxed))
            assert(entry->value == 7);
    });
    std::thread writer([] { cache::newest.store(new cache::Entry{7}, std::memory_order_release); });
    reader.join();
    writer.join();
}
"#;

#[test]
fn a_condition_variable_is_shown_as_who_waits() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/language/signal_one.c");
    let text = verify("signal.c", &std::fs::read_to_string(path).expect("the program"), &["--", "-DWRONG"]);
    assert!(text.contains("21: opened := waiting: T1 T2, woken: T"), "{text}");
    assert!(!text.contains("0x"), "{text}");
}

#[test]
fn a_violation_of_cpp_speaks_of_the_users_code() {
    let text = verify("published.cpp", PUBLISHED, &[]);
    let (before, execution) = text.split_once("how it happens").expect("an execution");
    assert!(before.contains("published.cpp:14:"), "the user's line, not a header's: {text}");
    assert!(!text.contains("_Z") && !text.contains("/include/"), "names and places of the library: {text}");
    assert!(execution.contains("13: cache::newest → &heap(T2."), "{text}");
    assert!(execution.contains("events left out"), "{text}");
    assert!(!execution.contains("vtable"), "the start of threads explains nothing: {text}");
    let line = |part: &str| execution.lines().position(|line| line.contains(part)).expect(part);
    assert!(line("cache::newest :=") < line("cache::newest →"), "a read comes after its write: {text}");
}

#[test]
fn a_violation_as_a_page() {
    let page = std::env::temp_dir().join(format!("porf-page-{}.html", std::process::id()));
    verify("page.cpp", PUBLISHED, &["--html", page.to_str().unwrap()]);
    let html = std::fs::read_to_string(&page).unwrap();
    std::fs::remove_file(&page).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
    assert!(html.contains("\"rf\":\"T2."), "reads name what they read from");
    assert!(html.contains("assert(entry->value == 7);"), "the source");
    assert!(!html.contains("src=") && !html.contains("href="), "nothing is loaded from elsewhere");
}

#[test]
fn variables_on_a_stack_have_their_names() {
    let source = "#include <pthread.h>\nvoid *f(void *p) { *(int *)p = 1; return 0; }\n\
        int main(void) {\n  int shared = 0;\n  pthread_t t;\n  pthread_create(&t, 0, f, &shared);\n\
          return shared;\n}\n";
    let text = verify("variable.c", source, &[]);
    assert!(text.contains("data race on shared"), "{text}");
}

fn verify(name: &str, source: &str, more: &[&str]) -> String {
    let directory = std::env::temp_dir().join(format!("porf-shown-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path: PathBuf = directory.join(name);
    std::fs::write(&path, source).unwrap();
    let output = Command::new(Path::new(env!("CARGO_BIN_EXE_porf")))
        .arg("verify")
        .arg(&path)
        .args(more)
        .output()
        .unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}
