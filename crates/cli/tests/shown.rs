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

#[test]
fn fields_and_elements_are_written_as_in_the_source() {
    let source = "#include <pthread.h>\n#include <stdlib.h>\n\
        struct slot { int data; int seq; };\n\
        struct queue { int head; int tail; };\n\
        struct slot slots[4];\nint which = 2;\n\
        void push(struct queue *q) { q->tail++; }\n\
        void mark(int i) { slots[i].seq = i; }\n\
        void *first(void *p) { push(p); return 0; }\n\
        void *second(void *p) { mark(which); return p; }\n\
        int main(void) {\n  struct queue *own = calloc(1, sizeof *own);\n  pthread_t t;\n  \
          pthread_create(&t, 0, RUN, own);\n  RUN(own);\n  pthread_join(t, 0);\n}\n";
    let text = verify("heap.c", source, &["--", "-DRUN=first"]);
    assert!(text.contains("data race on q->tail"), "{text}");
    assert!(!text.contains("+4"), "{text}");
    let text = verify("elements.c", source, &["--", "-DRUN=second"]);
    assert!(text.contains("data race on slots[2].seq"), "{text}");
}

/// Parts of global variables have their own names, whatever pointer leads there, and so have their addresses.
#[test]
fn parts_of_global_variables_have_their_names() {
    let source = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
        typedef struct { atomic_int v; } word;\n\
        struct node { struct node *_Atomic next; word locked; };\nstruct node nodes[3];\n\
        struct node *_Atomic tail;\n\
        static void set(word *w) { atomic_store(&w->v, 1); }\n\
        void *run(void *p) {\n  struct node *mine = p;\n  set(&mine->locked);\n  \
          atomic_store(&mine->next, &nodes[1]);\n  atomic_store(&tail, mine);\n  return 0;\n}\n\
        int main(void) {\n  pthread_t t;\n  pthread_create(&t, 0, run, &nodes[2]);\n  \
          assert(!atomic_load(&tail));\n}\n";
    let text = verify("parts.c", source, &["--no-hints"]);
    for name in ["nodes[2].locked := 1", "nodes[2].next := &nodes[1]", "tail := &nodes[2]"] {
        assert!(text.contains(name), "{name}: {text}");
    }
}

/// Pointers that calls return, and members of unions.
#[test]
fn what_has_no_name_of_its_own_is_written_as_in_the_source() {
    let source = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
        struct queue { atomic_int head, tail; union { atomic_int word; atomic_uint other; } u; };\n\
        static struct queue *all;\nstatic struct queue *get(void) { return all; }\n\
        void *run(void *p) {\n  atomic_store(&get()->tail, 1);\n  struct queue *q = p;\n  \
          atomic_store(&q->u.word, 1);\n  return 0;\n}\n\
        int main(void) {\n  all = calloc(1, sizeof *all);\n  pthread_t t;\n  \
          pthread_create(&t, 0, run, all);\n  assert(!atomic_load(&all->u.word));\n}\n";
    let text = verify("calls.c", source, &["--no-hints"]);
    assert!(text.contains("get()->tail := 1 sc") && text.contains("q->u.word := 1 sc"), "{text}");
}

#[test]
fn a_narrow_terminal_folds_columns() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/message.c");
    let run = |columns: &str, locale: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_porf"))
            .args(["verify", "--explain"])
            .arg(&example)
            .env("COLUMNS", columns)
            .env("LC_ALL", locale)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (_, execution) = text.split_once("how it happens:").expect("an execution");
        let (execution, _) = execution.split_once("rc11 allows it").expect("an explanation");
        (execution.to_string(), text)
    };
    let (wide, _) = run("120", "C.UTF-8");
    assert!(wide.contains("T0 main  "), "{wide}");
    let (narrow, _) = run("40", "C.UTF-8");
    assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
    assert!(narrow.contains("\n        T1 writer\nT1.0    11: message := 42 rlx\n"), "{narrow}");
    let (plain, text) = run("120", "C");
    assert!(text.is_ascii(), "{text}");
    assert!(plain.contains("18: flag -> 1 acq <- T1.1"), "{plain}");
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
