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
