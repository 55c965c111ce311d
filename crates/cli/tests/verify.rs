//! `porf verify` on what it cannot take: a clear message, the right exit code, no panic.

use std::path::PathBuf;
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
fn no_main() {
    let output = check("nomain.c", b"int f(void) { return 0; }", 2);
    assert!(errors(&output).contains("no function main"), "{}", errors(&output));
}

#[test]
fn unsupported_constructs_are_named_with_their_line() {
    let output = check("asm.c", b"int main(void) {\n  __asm__ volatile(\"cpuid\" ::: \"eax\", \"ebx\", \"ecx\", \"edx\");\n  return 0;\n}", 2);
    assert!(errors(&output).contains("cpuid") && errors(&output).contains(":2:"), "{}", errors(&output));
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
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("x := 2") && text.contains("assertion `x == 1` fails"), "{text}");
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
