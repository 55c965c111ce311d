//! C programs compiled for machines, and what a model allows that another one forbids.

use std::process::Command;

const HEAD: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
    #define load(x, m) atomic_load_explicit(&x, memory_order_##m)\n\
    #define store(x, v, m) atomic_store_explicit(&x, v, memory_order_##m)\n";
const MAIN: &str = "int main(void) { pthread_t s, t; pthread_create(&s, 0, p, 0); pthread_create(&t, 0, q, 0);\n\
    pthread_join(s, 0); pthread_join(t, 0); CHECK }\n";
const MACHINES: [&str; 4] = ["armv8", "armv7", "power", "riscv"];

/// Two threads, each with its code, and what must hold at the end.
fn two(globals: &str, p: &str, q: &str, check: &str) -> String {
    let main = MAIN.replace("CHECK", check);
    format!(
        "{HEAD}{globals}\nvoid *p(void *u) {{ {p} return 0; }}\nvoid *q(void *u) {{ {q} return 0; }}\n{main}"
    )
}

fn load_buffering(first: &str, second: &str) -> String {
    two(
        "atomic_int x, y; int a, b;",
        &format!("int r = load(x, relaxed); store(y, {first}, relaxed); a = r;"),
        &format!("int r = load(y, relaxed); store(x, {second}, relaxed); b = r;"),
        "assert(!(a == 1 && b == 1));",
    )
}

#[test]
fn loads_are_buffered_where_nothing_depends_on_them() {
    for model in MACHINES {
        check(&load_buffering("1", "1"), &["--model", model], 1);
        check(&load_buffering("r", "1"), &["--model", model], 1);
        check(&load_buffering("r", "r"), &["--model", model], 0);
    }
    check(&load_buffering("1", "1"), &["--model", "tso"], 0);
}

#[test]
fn messages_are_passed_by_release_and_acquire() {
    let program = |write: &str, read: &str| {
        two(
            "int data; atomic_int flag;",
            &format!("data = 42; store(flag, 1, {write});"),
            &format!("if (load(flag, {read})) assert(data == 42);"),
            "",
        )
    };
    for model in MACHINES.into_iter().chain(["pso"]) {
        check(&program("release", "acquire"), &["--model", model], 0);
        check(&program("relaxed", "acquire"), &["--model", model], 1);
    }
    for model in MACHINES {
        check(&program("release", "relaxed"), &["--model", model], 1);
    }
}

#[test]
fn locks_exclude_and_publish() {
    let body = "pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m);";
    let program = two("pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int n;", body, body, "assert(n == 2);");
    for model in MACHINES.into_iter().chain(["tso", "pso"]) {
        check(&program, &["--model", model], 0);
    }
}

#[test]
fn updates_are_atomic() {
    let add = "atomic_fetch_add_explicit(&n, 1, memory_order_relaxed);";
    let program = two("atomic_int n;", add, add, "assert(n == 2);");
    let swap = "int e = load(n, relaxed); while (!atomic_compare_exchange_strong_explicit(&n, &e, e + 1, \
                memory_order_relaxed, memory_order_relaxed)) ;";
    let loops = two("atomic_int n;", swap, swap, "assert(n == 2);");
    for model in MACHINES {
        check(&program, &["--model", model], 0);
        check(&loops, &["--model", model], 0);
    }
}

#[test]
fn sequential_consistency_is_kept() {
    let program = |order: &str| {
        two(
            "atomic_int x, y; int a, b;",
            &format!("store(x, 1, {order}); a = load(y, {order});"),
            &format!("store(y, 1, {order}); b = load(x, {order});"),
            "assert(a || b);",
        )
    };
    for model in MACHINES.into_iter().chain(["tso", "pso"]) {
        check(&program("seq_cst"), &["--model", model], 0);
        check(&program("relaxed"), &["--model", model], 1);
    }
}

#[test]
fn models_are_compared() {
    let program = load_buffering("1", "1");
    let text = check(&program, &["--model", "armv8", "--against", "rc11"], 1);
    assert!(text.contains("1 of 4 executions under armv8 are forbidden by rc11"), "{text}");
    let text = check(&program, &["--model", "rc11", "--against", "armv8"], 0);
    assert!(text.contains("0 of 3 executions under rc11 are forbidden by armv8"), "{text}");
    // Acquire and release forbid it everywhere.
    let kept = program.replace("store(y, 1, relaxed)", "store(y, 1, release)");
    let kept = kept.replace("store(x, 1, relaxed)", "store(x, 1, release)");
    check(&kept, &["--model", "power", "--against", "rc11"], 0);
    // Where an assertion fails, too.
    let buffering = two(
        "atomic_int x, y; int a, b;",
        "store(x, 1, relaxed); a = load(y, relaxed);",
        "store(y, 1, relaxed); b = load(x, relaxed);",
        "assert(a || b);",
    );
    let text = check(&buffering, &["--model", "tso", "--against", "sc"], 1);
    assert!(text.contains("1 of 4 executions under tso are forbidden by sc"), "{text}");
    let fenced = buffering.replace("1, relaxed);", "1, relaxed); atomic_thread_fence(memory_order_seq_cst);");
    for model in MACHINES {
        let text = check(&buffering, &["--model", model, "--against", "tso"], 0);
        assert!(text.contains("0 of 4"), "{text}");
        let text = check(&fenced, &["--model", model, "--against", "sc"], 0);
        assert!(text.contains("0 of 3"), "{text}");
    }
    let json = check(&buffering, &["--model", "tso", "--against", "sc", "--format", "json"], 1);
    let answer: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&answer["executions"], &answer["forbidden"]), (&4.into(), &1.into()));
    assert!(answer["witness"]["events"].as_array().is_some_and(|events| !events.is_empty()));
}

#[test]
fn what_cannot_be_done_is_said() {
    let program = load_buffering("1", "1");
    let text = check(&program, &["--model", "itanium"], 2);
    assert!(text.contains("no model 'itanium'") && text.contains("armv8"), "{text}");
}

fn check(program: &str, args: &[&str], code: i32) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let directory = std::env::temp_dir().join(format!("porf-hardware-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let source = directory.join("program.c");
    std::fs::write(&source, program).unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_porf")).arg("verify").args(args).arg(&source).output().unwrap();
    let _ = std::fs::remove_dir_all(&directory);
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {text}\n{program}");
    text
}
