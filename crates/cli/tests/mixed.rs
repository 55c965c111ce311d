//! Accesses of different sizes to the same memory: non-atomic ones are taken in pieces, atomic ones to a part are
//! made on the whole.

use std::path::PathBuf;
use std::process::{Command, Output};

const THREADS: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdint.h>\n\
    #include <string.h>\n";

#[test]
fn a_structure_copied_as_a_whole_and_used_by_field() {
    let source = "struct s { int a, b, c; } shared;\nvoid *f(void *p) { shared.a = 1; shared.b = 2; shared.c = 3; return 0; }\n\
        int main(void) {\n  pthread_t t;\n  pthread_create(&t, 0, f, 0);\n  pthread_join(t, 0);\n\
          struct s copy;\n  memcpy(&copy, (char *)&shared, sizeof copy);\n  assert(copy.a + copy.b + copy.c == 6);\n}\n";
    check("copy.c", source, 0, "");
}

#[test]
fn halves_of_a_word() {
    let source = "union { uint64_t whole; uint32_t half[2]; uint8_t byte[8]; } u;\n\
        void *f(void *p) { u.half[1] = 0x01020304; u.byte[0] = 7; return 0; }\n\
        int main(void) {\n  pthread_t t;\n  u.whole = 0xff00;\n  pthread_create(&t, 0, f, 0);\n  pthread_join(t, 0);\n\
          assert(u.whole == 0x010203040000ff07);\n  u.whole = 5;\n  assert(u.half[1] == 0 && u.byte[0] == 5);\n}\n";
    check("halves.c", source, 0, "");
    let wrong = source.replace("0000ff07", "0000ff08");
    check("halves-wrong.c", &wrong, 1, "assertion");
}

#[test]
fn a_race_between_a_word_and_half_of_it() {
    let source = "union { uint64_t whole; uint32_t half[2]; } u;\nvoid *f(void *p) { u.half[1] = 1; return 0; }\n\
        int main(void) {\n  pthread_t t;\n  pthread_create(&t, 0, f, 0);\n  uint64_t x = u.whole;\n  pthread_join(t, 0);\n\
          return x != 0;\n}\n";
    check("race.c", source, 1, "data race");
}

#[test]
fn initialisers_of_a_vector() {
    let source = "#include <cassert>\n#include <thread>\n#include <vector>\nint main() {\n  std::vector<int> v{1, 2, 3};\n\
        std::thread t([&] { v[1] += 5; });\n  t.join();\n  assert(v[0] + v[1] + v[2] == 11);\n}\n";
    check("vector.cpp", source, 0, "");
}

#[test]
fn parts_of_atomics_are_made_on_the_whole() {
    let source = "union { _Atomic uint64_t whole; _Atomic uint32_t half[2]; } u;\n\
        void *f(void *p) { atomic_store(&u.half[1], 1); return 0; }\n\
        int main(void) {\n  pthread_t t;\n  pthread_create(&t, 0, f, 0);\n  uint64_t x = atomic_load(&u.whole);\n\
          pthread_join(t, 0);\n  assert(x == 0 || x == 1ull << 32);\n}\n";
    check("whole.c", source, 0, "accesses to parts of u are accesses to the whole of it");
    let source = source.replace("x == 0 || ", "");
    check("part.c", &source, 1, "assertion");
}

#[test]
fn a_witness_of_a_program_with_cut_accesses_replays() {
    let source = "union { uint64_t whole; uint32_t half[2]; } u;\nvoid *f(void *p) { u.half[1] = 1; return 0; }\n\
        int main(void) {\n  pthread_t t;\n  pthread_create(&t, 0, f, 0);\n  pthread_join(t, 0);\n\
          assert(u.whole == 1);\n}\n";
    let file = write("replayed.c", &format!("{THREADS}{source}"));
    let witness = file.with_extension("json");
    let output = porf(&["verify", file.to_str().unwrap(), "--witness", witness.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let output = porf(&["replay", witness.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::remove_dir_all(file.parent().unwrap()).unwrap();
}

#[test]
fn padding_may_be_copied() {
    let source = "#include <cassert>\n#include <optional>\n#include <thread>\nstruct empty {};\nint use(empty, int x) { return x; }\n\
        int main() {\n  std::optional<int> o;\n  std::thread t([&] { o = use(empty(), 2); });\n  t.join();\n\
          assert(*o == 2);\n}\n";
    check("padding.cpp", source, 0, "");
    let source = "int main(void) {\n  int *p = __builtin_malloc(8);\n  return p[0] + p[1] > 1;\n}\n";
    check("never.c", source, 1, "never written");
    let source = "struct s { int a, b; } g;\nvoid use(struct s *p);\nint main(void) {\n  struct s s;\n  struct s *volatile p = &s;\n\
        p->a = 1;\n  g = *p;\n  return p->b > 1;\n}\n";
    check("field.c", source, 1, "never written");
}

fn check(name: &str, source: &str, code: i32, says: &str) -> Output {
    let source = if name.ends_with(".c") { format!("{THREADS}{source}") } else { source.to_string() };
    let file = write(name, &source);
    let output = match name.ends_with(".cpp") {
        true => porf(&["verify", file.to_str().unwrap(), "--", "-std=c++17"]),
        false => porf(&["verify", file.to_str().unwrap()]),
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{name}: {text}{errors}");
    assert!(text.contains(says), "{name}: {text}");
    std::fs::remove_dir_all(file.parent().unwrap()).unwrap();
    output
}

fn write(name: &str, source: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("porf-mixed-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join(name);
    std::fs::write(&file, source).unwrap();
    file
}

fn porf(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_porf")).args(arguments).output().unwrap()
}

/// A search that goes on in another process: values of 16 bytes have numbers there, too, before anybody writes them.
#[test]
fn values_of_16_bytes_outlive_the_process() {
    let directory = std::env::temp_dir().join(format!("porf-mixed-wide-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let source = "struct pair { long low, high; };\n_Atomic struct pair x;\natomic_long y[4];\n\
        void *f(void *p) {\n  long n = (long)p;\n  struct pair mine = {n, n}, old;\n\
        old = atomic_exchange_explicit(&x, mine, memory_order_relaxed);\n\
        assert(old.low == old.high && old.low != n);\n\
        atomic_store_explicit(&y[old.high], n, memory_order_relaxed);\n  return 0;\n}\n\
        int main(void) {\n  pthread_t t[3];\n\
        for (long n = 0; n < 3; n++) pthread_create(&t[n], 0, f, (void *)(n + 1));\n\
        struct pair last = atomic_load_explicit(&x, memory_order_relaxed);\n  assert(last.low == last.high);\n\
        for (int n = 0; n < 3; n++) pthread_join(t[n], 0);\n}\n";
    let path = directory.join("wide.c");
    std::fs::write(&path, format!("{THREADS}{source}")).unwrap();
    let verify = |options: &[&str]| {
        let command = &mut Command::new(env!("CARGO_BIN_EXE_porf"));
        let output =
            command.arg("verify").args(options).arg("wide.c").current_dir(&directory).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let counts = text.lines().last().and_then(|line| line.split(';').next()).unwrap_or("").to_string();
        (output.status.code(), counts)
    };
    let whole = verify(&["--no-reduce", "symmetry"]);
    assert_eq!(whole.0, Some(0), "{whole:?}");
    let mut runs = 0;
    let parts = loop {
        runs += 1;
        let part = verify(&["--no-reduce", "symmetry", "--budget", "5", "--checkpoint", "rest.json"]);
        if part.0 != Some(3) || runs > 50 {
            break part;
        }
    };
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(parts, whole);
    assert!(runs > 2, "the search went on in another process");
}
