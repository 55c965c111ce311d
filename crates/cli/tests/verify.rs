//! `porf verify` on what it cannot take: a clear message, the right exit code, no panic.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[test]
fn a_program_that_does_not_compile_shows_the_compilers_words() {
    let output = check("broken.c", b"int main(void) { return x; }", 2);
    assert!(errors(&output).contains("use of undeclared identifier 'x'"), "{}", errors(&output));
}

#[test]
fn malformed_bitcode() {
    let output = check("bad.bc", b"BC\xc0\xde and then nothing that makes sense", 2);
    assert!(errors(&output).contains("bad.bc"), "{}", errors(&output));
    check("bad.ll", b"define i32 @main( {", 2);
    check("empty.bc", b"", 2);
}

#[test]
fn mutated_bitcode_is_refused_or_verified() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let source = root.join("corpus/programs/ttaslock.c");
    let bitcode = porf_frontend_llvm::compile(&source, &porf_frontend_llvm::Options::default()).unwrap();
    let directory = std::env::temp_dir().join(format!("porf-mutants-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("mutant.bc");
    // A generator that gives the same mutants everywhere.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let full = std::env::var_os("PORF_FULL").is_some_and(|value| value != "0");
    for number in 0..if full { 2000 } else { 60 } {
        let mut mutant = bitcode.clone();
        for _ in 0..1 << next(4) {
            let at = next(mutant.len());
            match next(4) {
                0 => mutant.truncate(at.max(8)),
                1 => drop(mutant.drain(at..(at + 4).min(mutant.len()))),
                _ => mutant[at] = next(256) as u8,
            }
        }
        std::fs::write(&path, mutant).unwrap();
        let output = porf(&["verify", "--budget", "2000", path.to_str().unwrap()]);
        let code = output.status.code();
        assert!(matches!(code, Some(0..=3)), "mutant {number}: {code:?} {}", errors(&output));
        assert!(!errors(&output).contains("panicked"), "mutant {number}: {}", errors(&output));
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn litmus_tests() {
    let sb = |order: &str, question: &str| {
        let thread = |number: u8, mine: &str, other: &str| {
            format!(
                "P{number} (atomic_int* x, atomic_int* y) {{\n  atomic_store_explicit({mine}, 1, memory_order_{order});\n\
                 int r0 = atomic_load_explicit({other}, memory_order_{order});\n}}\n"
            )
        };
        format!("C SB\n{{}}\n{}{}{question} (0:r0=0 /\\ 1:r0=0)\n", thread(0, "x", "y"), thread(1, "y", "x"))
    };
    check("exists.litmus", sb("relaxed", "exists").as_bytes(), 0);
    check("exists-not.litmus", sb("seq_cst", "exists").as_bytes(), 1);
    check("never.litmus", sb("seq_cst", "~exists").as_bytes(), 0);
    let output = check("never-not.litmus", sb("relaxed", "~exists").as_bytes(), 1);
    assert!(String::from_utf8_lossy(&output.stdout).contains("how it happens"));
    check("wrong.litmus", b"C wrong\n{}\nP0 {", 2);
}

#[test]
fn deep_recursion_is_inconclusive() {
    let output =
        check("deep.c", b"int f(int n) { return f(n + 1) + 1; }\nint main(void) { return f(0); }", 3);
    assert!(String::from_utf8_lossy(&output.stdout).contains("nest deeper"));
}

#[test]
fn the_smallest_witness_is_shown() {
    // The second writer has nothing to do with it; with it, there is one thread more.
    let source = b"#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\natomic_int x, y;\n\
        void *one(void *p) { x = 1; return 0; }\nvoid *two(void *p) { y = 1; return 0; }\n\
        void *three(void *p) { int b = y, a = x; assert(a == 0); return (void *)(long)b; }\n\
        int main(void) {\n  pthread_t t[3];\n  pthread_create(&t[0], 0, one, 0);\n  pthread_create(&t[1], 0, two, 0);\n\
        pthread_create(&t[2], 0, three, 0);\n  return 0;\n}\n";
    let directory = std::env::temp_dir().join(format!("porf-smallest-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("smallest.c");
    std::fs::write(&path, source).unwrap();
    for schedule in ["left", "right", "fewest"] {
        let output = porf(&["verify", "--format", "json", "--schedule", schedule, path.to_str().unwrap()]);
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let threads = answer["violation"]["witness"]["threads"].as_array().unwrap();
        assert_eq!(threads.len(), 3, "{schedule}: {threads:?}");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn no_main() {
    let output = check("nomain.c", b"int f(void) { return 0; }", 2);
    assert!(errors(&output).contains("no function main"), "{}", errors(&output));
}

#[test]
fn unsupported_constructs_are_named_with_their_line() {
    let output = check("asm.c", b"int main(void) {\n  __asm__ volatile(\"hlt\");\n  return 0;\n}", 2);
    assert!(errors(&output).contains("hlt") && errors(&output).contains(":2:"), "{}", errors(&output));
    let output = check("extern.c", b"int unknown(int);\nint main(void) {\n  return unknown(3);\n}", 2);
    assert!(errors(&output).contains("unknown") && errors(&output).contains(":3:"), "{}", errors(&output));
}

#[test]
fn too_much_memory_and_endless_loops_are_inconclusive() {
    let output = check(
        "big.c",
        b"#include <stdlib.h>\nint main(void) { char *p = malloc(8ull << 30); return p == 0; }",
        3,
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("limit"));
    check("loop.c", b"int main(void) { for (volatile unsigned i = 0;; i++) {} }", 3);
}

/// Addresses have room for 128 threads, the first one included.
#[test]
fn more_threads_than_addresses_have_room_for_are_inconclusive() {
    let program = |threads: usize| {
        format!(
            "#include <pthread.h>\n#include <stdlib.h>\n
             static void *run(void *p) {{ int *q = malloc(4); *q = 7; free(q); return p; }}
             int main(void) {{
                 for (int i = 0; i < {threads}; i++) {{
                     pthread_t t; pthread_create(&t, 0, run, 0); pthread_join(t, 0);
                 }}
             }}"
        )
    };
    check("threads.c", program(127).as_bytes(), 0);
    let output = check("threads.c", program(128).as_bytes(), 3);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("more than 128 threads"), "{told}");
}

#[test]
fn a_violation_can_be_replayed() {
    let directory = std::env::temp_dir().join(format!("porf-replay-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let source = directory.join("wrong.c");
    std::fs::write(
        &source,
        "#include <assert.h>\nint x;\nint main(void) {\n  x = 2;\n  assert(x == 1);\n}\n",
    )
    .unwrap();
    let witness = directory.join("witness.json");
    let output = porf(&["verify", source.to_str().unwrap(), "--witness", witness.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let output = porf(&["replay", witness.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("x := 2") && text.contains("assertion `x == 1` fails"), "{text}");
    let output = porf(&["replay", "--format", "json", witness.to_str().unwrap()]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["schema"], &report["command"]), (&1.into(), &"replay".into()), "{report}");
    assert_eq!(report["verdict"], "violated", "{report}");
    assert_eq!(report["violation"]["kind"], "assertion", "{report}");
    assert!(!report["events"].as_array().expect("a list").is_empty(), "{report}");
    // The program has changed: the witness is no longer one of it.
    std::fs::write(&source, "int x;\nint main(void) {\n  x = 3;\n}\n").unwrap();
    assert_eq!(porf(&["replay", witness.to_str().unwrap()]).status.code(), Some(2));
    std::fs::remove_dir_all(&directory).unwrap();
}

fn check(name: &str, contents: &[u8], code: i32) -> Output {
    let directory: PathBuf = std::env::temp_dir().join(format!("porf-verify-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join(name);
    std::fs::write(&path, contents).unwrap();
    let output = porf(&["verify", path.to_str().unwrap()]);
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(output.status.code(), Some(code), "{name}: {}", errors(&output));
    assert!(!errors(&output).contains("panicked"), "{name}: {}", errors(&output));
    output
}

fn porf(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_porf")).args(args).output().unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn loops_of_one_execution_that_never_end_are_inconclusive() {
    let source = b"#include <pthread.h>\n#include <stdatomic.h>\natomic_int x;\n\
        void *f(void *a) { for (;;) atomic_fetch_add(&x, 1); }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); }\n";
    let output = check("endless.c", source, 3);
    assert!(String::from_utf8_lossy(&output.stdout).contains("does a loop end?"));
}

#[test]
fn a_spin_lock_that_resets_what_it_expects_waits() {
    // `expected` is in memory, is changed by the failed exchange and put back.
    let source =
        b"#include <atomic>\n#include <cassert>\n#include <thread>\nstd::atomic<int> held{0};\nint data;\n\
        void lock() { int expected = 0; while (!held.compare_exchange_strong(expected, 1)) expected = 0; }\n\
        int main() {\n  auto f = [] { lock(); data++; held.store(0); };\n  std::thread a(f), b(f);\n\
          a.join();\n  b.join();\n  assert(data == 2);\n}\n";
    let output = check("spinlock.cpp", source, 0);
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("2 executions"),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

/// The process ends with its first thread. That others hang then is no violation, but said.
#[test]
fn threads_that_hang_and_that_nobody_joins_are_named() {
    let program = |then: &str| {
        format!(
            "#include <pthread.h>\n#include <stdatomic.h>\natomic_int x;\n\
             void *f(void *a) {{ while (!x); return 0; }}\n\
             int main(void) {{ pthread_t t; pthread_create(&t, 0, f, 0); {then} }}\n"
        )
    };
    let said = "nobody joins them";
    let left = check("left.c", program("return 0;").as_bytes(), 0);
    assert!(errors(&left).contains(said), "{}", errors(&left));
    let woken = check("woken.c", program("x = 1;").as_bytes(), 0);
    assert!(!errors(&woken).contains(said), "{}", errors(&woken));
    check("joined.c", program("pthread_join(t, 0);").as_bytes(), 1);
}

#[test]
#[cfg(unix)]
fn an_interrupted_search_says_so() {
    let directory = std::env::temp_dir().join(format!("porf-interrupt-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("long.c");
    let threads: String = (0..9).map(|t| format!("pthread_create(&t, 0, f, (void *){t}L);")).collect();
    let source = format!(
        "#include <pthread.h>\n#include <stdatomic.h>\natomic_int x;\nvoid *f(void *a) {{ x = (long)a; x = 1; return 0; }}\n\
         int main(void) {{ pthread_t t; {threads} }}\n"
    );
    std::fs::write(&file, source).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_porf"))
        .arg("verify")
        .arg(&file)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_secs(3));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("interrupted"), "{text}");
}

/// Message passing with a pair of words: the C standard allows the assertion to fail unless the store of the flag
/// releases and its load acquires.
#[test]
fn atomics_of_16_bytes_are_as_weak_as_they_say() {
    let source = |store: &str, load: &str| {
        format!(
            "#include <stdatomic.h>\n#include <pthread.h>\n#include <assert.h>\n\
            typedef struct {{ long a, b; }} pair;\n_Atomic pair x, y;\n\
            void *write_both(void *_) {{\n    pair p = {{1, 1}};\n\
            atomic_store_explicit(&x, p, memory_order_relaxed);\n\
            atomic_store_explicit(&y, p, memory_order_{store});\n    return 0;\n}}\n\
            int main(void) {{\n    pthread_t t;\n    pthread_create(&t, 0, write_both, 0);\n\
            pair r = atomic_load_explicit(&y, memory_order_{load});\n\
            pair p = atomic_load_explicit(&x, memory_order_relaxed);\n\
            assert(!(r.b == 1 && p.a == 0));\n    pthread_join(t, 0);\n}}\n"
        )
    };
    let output = check("wide.c", source("relaxed", "acquire").as_bytes(), 1);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("y → {1, 1}") && text.contains("x → {0, 0}"), "{text}");
    let output = check("wide_ok.c", source("release", "acquire").as_bytes(), 0);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("safe") && !text.contains("whole"), "{text}");
}

/// The C standard allows the assertion to fail; the lock does not show that, and the verdict says what it shows.
#[test]
fn atomics_without_an_event_are_named_in_the_verdict() {
    let source = b"#include <stdatomic.h>\n#include <pthread.h>\n#include <assert.h>\n\
        typedef struct { long a, b, c; } triple;\n_Atomic triple x;\n_Atomic int y;\n\
        void *write_both(void *_) {\n    triple p = {1, 1, 1};\n\
        atomic_store_explicit(&x, p, memory_order_relaxed);\n\
        atomic_store_explicit(&y, 1, memory_order_relaxed);\n    return 0;\n}\n\
        int main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, write_both, 0);\n\
        int r = atomic_load_explicit(&y, memory_order_relaxed);\n\
        triple p = atomic_load_explicit(&x, memory_order_relaxed);\n\
        assert(!(r == 1 && p.a == 0));\n    pthread_join(t, 0);\n}\n";
    let output = check("odd.c", source, 0);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("ordered as by a lock") && text.contains("odd.c:"), "{text}");
}

/// A relaxed update of a floating-point number does not publish what comes after it.
#[test]
fn updates_of_floating_point_numbers_are_as_weak_as_they_say() {
    let source = br#"
@x = global float 0.0
@y = global i32 0
declare i32 @pthread_create(i64*, i8*, i8* (i8*)*, i8*)
declare void @__VERIFIER_assert(i32)
define i8* @add(i8* %argument) {
  %old = atomicrmw fadd float* @x, float 2.5 monotonic
  store atomic i32 1, i32* @y monotonic, align 4
  ret i8* null
}
define i32 @main() {
  %thread = alloca i64
  %created = call i32 @pthread_create(i64* %thread, i8* null, i8* (i8*)* @add, i8* null)
  %flag = load atomic i32, i32* @y monotonic, align 4
  %sum = load atomic float, float* @x monotonic, align 4
  %set = icmp eq i32 %flag, 1
  %old = fcmp une float %sum, 2.5
  %weak = and i1 %set, %old
  %right = xor i1 %weak, true
  %word = zext i1 %right to i32
  call void @__VERIFIER_assert(i32 %word)
  ret i32 0
}
"#;
    check("float.ll", source, 1);
    let ordered = String::from_utf8_lossy(source)
        .replace("store atomic i32 1, i32* @y monotonic", "store atomic i32 1, i32* @y release")
        .replace("load atomic i32, i32* @y monotonic", "load atomic i32, i32* @y acquire");
    check("ordered.ll", ordered.as_bytes(), 0);
}

/// An execution that ends in an error nobody looks for has no end that is right.
#[test]
fn errors_that_are_not_looked_for_are_named() {
    let source = b"#include <assert.h>\n#include <pthread.h>\nint x, *p;\n\
        void *set(void *_) { x = 1; return 0; }\nint main(void) {\n    pthread_t t;\n\
        pthread_create(&t, 0, set, 0);\n    if (x == 1) {\n        *p = 1;\n        assert(0);\n    }\n\
        pthread_join(t, 0);\n}\n";
    let path = std::env::temp_dir().join(format!("porf-unsought-{}.c", std::process::id()));
    std::fs::write(&path, source).unwrap();
    let file = path.to_str().unwrap();
    let output = porf(&["verify", "--model", "sc", "--check", "assertion", file]);
    assert_eq!(output.status.code(), Some(0));
    let text = errors(&output);
    assert!(
        text.contains("not looked for") && text.contains("null pointer") && text.contains(":9"),
        "{text}"
    );
    let output = porf(&["verify", "--model", "sc", file]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!errors(&output).contains("not looked for"), "{}", errors(&output));
    std::fs::remove_file(&path).unwrap();
}

/// A search that is cut short has seen executions that end, and not only threads that wait for a lock.
#[test]
fn a_short_search_sees_executions_that_end() {
    let source = b"#include <pthread.h>\n#include \"porf.h\"\n\
        pthread_mutex_t global = PTHREAD_MUTEX_INITIALIZER, each[4];\nint x[4];\n\
        static void change(int i) { pthread_mutex_lock(&global); x[i]++; pthread_mutex_unlock(&global); }\n\
        void *work(void *unused) {\n    for (int i = 0; i < 4; i++) {\n        pthread_mutex_lock(&each[i]);\n\
        if (porf_choose(2)) change(i);\n        pthread_mutex_unlock(&each[i]);\n    }\n    return 0;\n}\n\
        int main(void) {\n    pthread_t t[2];\n    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);\n\
        work(0);\n    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);\n}\n";
    let path = std::env::temp_dir().join(format!("porf-short-{}.c", std::process::id()));
    std::fs::write(&path, source).unwrap();
    let output = porf(&["verify", "--budget", "2000", "--format", "json", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3), "{}", errors(&output));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(answer["executions"].as_u64().unwrap() >= 1000, "{answer}");
    std::fs::remove_file(&path).unwrap();
}
