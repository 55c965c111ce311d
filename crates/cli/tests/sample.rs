//! `porf cc` and `porf sample` on the programs of corpus/sample.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const PORF: &str = env!("CARGO_BIN_EXE_porf");

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/sample")
}

fn expected() -> &'static toml::Table {
    static TABLE: OnceLock<toml::Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let text = std::fs::read_to_string(corpus().join("expected.toml")).expect("expected.toml is there");
        text.parse().expect("expected.toml is TOML")
    })
}

fn directory() -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sample");
    std::fs::create_dir_all(&path).expect("the target directory is writable");
    path
}

fn build(source: &Path, name: &str) -> PathBuf {
    let program = directory().join(name);
    let verb = if source.extension().is_some_and(|extension| extension == "cpp") { "c++" } else { "cc" };
    let status = Command::new(PORF).args([verb, "-O1", "-w"]).arg(source).arg("-o").arg(&program).status();
    assert!(status.expect("porf runs").success(), "{} does not compile", source.display());
    program
}

fn build_text(name: &str, source: &str) -> PathBuf {
    let path = directory().join(format!("{name}.c"));
    std::fs::write(&path, source).expect("the target directory is writable");
    build(&path, name)
}

fn sample(program: &Path, options: &[&str], arguments: &[&str]) -> Value {
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

#[test]
fn known_bugs_are_found_as_often_as_promised() {
    for (name, row) in expected()["bugs"].as_table().expect("a table") {
        let program = build(&corpus().join("bugs").join(format!("{name}.c")), name);
        let executions = row["executions"].as_integer().expect("a number");
        let report = sample(&program, &["--executions", &executions.to_string()], &[]);
        let rate = report["violating"].as_f64().expect("a number") / executions as f64;
        let least = row["rate"].as_float().expect("a number");
        assert!(rate >= least, "{name}: {rate} of the executions, expected {least}");
        let finding = &report["findings"][0];
        assert_eq!(finding["kind"].as_str(), row["kind"].as_str(), "{name}");
        let file = finding["location"]["file"].as_str().unwrap_or("");
        assert!(file.ends_with(&format!("{name}.c")), "{name} is found in {file}");
        if finding["kind"] == "race" {
            for stack in finding["stacks"].as_array().expect("two stacks") {
                let frames = stack["frames"].as_array().expect("frames");
                assert!(
                    !frames.is_empty() && frames.iter().all(|frame| frame["line"] != 0),
                    "{name}: {stack}"
                );
            }
        }
    }
}

fn threads(name: &str, source: &str) {
    let program = build(&corpus().join("threads").join(source), name);
    let listing = Command::new(&program).output().expect("the program runs by itself");
    let executions = expected()["threads"][name]["executions"].as_integer().expect("a number").to_string();
    let cases = String::from_utf8(listing.stdout).expect("names");
    assert!(cases.lines().count() >= 5);
    for case in cases.lines() {
        let report = sample(&program, &["--executions", &executions], &[case]);
        assert_eq!(report["verdict"], "safe", "{name} {case}: {report}");
        assert_eq!(report["executions"].to_string(), executions, "{name} {case}");
    }
}

#[test]
fn posix_threads_behave_as_natively() {
    threads("posix", "posix.c");
}

#[test]
fn c11_threads_behave_as_natively() {
    threads("c11", "c11.c");
}

#[test]
fn cxx_threads_behave_as_natively() {
    threads("cxx", "cxx.cpp");
}

#[test]
fn an_execution_is_a_function_of_its_seed() {
    let program = build(&corpus().join("bugs/seqlock.c"), "seqlock_seed");
    let all = sample(&program, &["--executions", "200"], &[]);
    let again = sample(&program, &["--executions", "200"], &[]);
    let forked = sample(&program, &["--executions", "200", "--isolation", "fork"], &[]);
    for field in ["violating", "distinct", "events", "findings"] {
        assert_eq!(all[field], again[field], "{field} in a second run");
        assert_eq!(all[field], forked[field], "{field} by fork");
    }
    assert_eq!(forked["isolation"], "fork");
    let seed = all["findings"][0]["first_seed"].to_string();
    let one = sample(&program, &["--executions", "1", "--seed", &seed], &[]);
    assert_eq!(one["violating"], 1, "the seed of a finding shows it at once");
}

const HEAD: &str = "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n";

/// A program of two threads.
fn two(globals: &str, first: &str, second: &str) -> String {
    format!(
        "{HEAD}{globals}\nstatic void *a(void *u) {{ {first} return u; }}\nstatic void *b(void *u) {{ {second} return u; }}\n\
         int main(void) {{ pthread_t p, q; pthread_create(&p, 0, a, 0); pthread_create(&q, 0, b, 0);\n\
         pthread_join(p, 0); pthread_join(q, 0); return 0; }}\n"
    )
}

fn check(name: &str, source: &str, kind: &str, message: &str) {
    let report = sample(&build_text(name, source), &["--executions", "100", "--timeout", "3"], &[]);
    let found = report["findings"].as_array().expect("findings").iter().any(|finding| {
        finding["kind"] == kind && format!("{} {}", finding["title"], finding["message"]).contains(message)
    });
    assert!(found, "{name}: no {kind} \"{message}\" in {report}");
}

#[test]
fn kinds_of_findings() {
    let locks = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;";
    let lock = |x: &str, y: &str| {
        format!(
            "pthread_mutex_lock(&{x}); pthread_mutex_lock(&{y}); pthread_mutex_unlock(&{y}); pthread_mutex_unlock(&{x});"
        )
    };
    check("deadlock", &two(locks, &lock("m", "n"), &lock("n", "m")), "deadlock", "for a mutex");
    let publish = "int *x = malloc(4); *x = 1; atomic_store(&p, x); free(x);";
    let use_it = "int *x = atomic_load(&p); if (x) atomic_store(&done, *x);";
    check("freed", &two("_Atomic(int *) p; atomic_int done;", publish, use_it), "memory", "use after free");
    check(
        "twice",
        &two("char *volatile p;", "p = malloc(8); free(p); free(p);", ""),
        "memory",
        "double free",
    );
    let set = "atomic_store(&x, 1);";
    check(
        "crash",
        &two("int *p; atomic_int x;", set, "if (atomic_load(&x)) *p = 1;"),
        "trap",
        "segmentation fault",
    );
    check("aborts", &two("atomic_int x;", set, "if (atomic_load(&x)) abort();"), "panic", "abort");
    check("status", &two("atomic_int x;", set, "if (atomic_load(&x)) _exit(3);"), "assertion", "status 3");
    check(
        "copied",
        &two("char from[16], to[16];", "memcpy(to, from, sizeof to);", "to[3] = 1;"),
        "race",
        "data race",
    );
    check("flag", &two("volatile int f; int d;", "d = 1; f = 1;", "if (f) d++;"), "race", "data race");
}

#[test]
fn neighbouring_byte_atomics_are_apart() {
    let put = "d[0] = 1; atomic_store_explicit(&s[1], 1, memory_order_release); atomic_store(&s[0], 1);";
    let get = "atomic_store(&s[2], 1); if (atomic_load_explicit(&s[1], memory_order_acquire)) d[0]++;";
    let program = build_text("bytes", &two("_Atomic unsigned char s[4]; int d[1];", put, get));
    let report = sample(&program, &["--executions", "300"], &[]);
    assert_eq!(report["verdict"], "safe", "{report}");
    assert!(report["distinct"].as_u64() > Some(1));
}

#[test]
fn livelocks_and_hangs() {
    let spin = build_text(
        "livelock",
        &two("atomic_int x;", "atomic_store(&x, 1);", "while (atomic_load(&x) != 2) ;"),
    );
    let report = sample(&spin, &["--executions", "1"], &[]);
    assert_eq!(report["findings"][0]["title"], "livelock", "{report}");
    let read =
        build_text("hang", &two("int ends[2];", "char c; if (pipe(ends) == 0) read(ends[0], &c, 1);", ""));
    let report = sample(&read, &["--executions", "1", "--timeout", "1"], &[]);
    assert_eq!(report["findings"][0]["title"], "hang", "{report}");
    let top = report["findings"][0]["stacks"][0]["frames"][0]["function"].as_str().unwrap_or("");
    assert!(top.contains("read"), "the call is {top}");
}

#[test]
fn acquire_release_volatiles_do_not_race() {
    let program = build_text("volatile", &two("volatile int f; int d;", "d = 1; f = 1;", "if (f) d++;"));
    let report = sample(&program, &["--executions", "300", "--volatile", "acqrel"], &[]);
    assert_eq!(report["verdict"], "safe", "{report}");
}

#[test]
fn memory_stays_bounded_on_long_runs() {
    let program = build(&corpus().join("ring.c"), "ring");
    let report = sample(&program, &["--executions", "2", "--max-events", "10000000"], &["50000"]);
    assert_eq!(report["verdict"], "safe", "{report}");
    let kept = report["peak_stores"].as_u64().expect("a number");
    assert!(kept < 10_000, "{kept} stores kept");
}

#[test]
fn a_program_built_otherwise_is_refused() {
    let output = Command::new(PORF).args(["sample", "--", "/bin/true"]).output().expect("porf runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("was not built by `porf cc`"));
}

#[test]
fn pct_finds_the_seqlock_bug_too() {
    let program = build(&corpus().join("bugs/seqlock.c"), "seqlock_pct");
    let report = sample(&program, &["--executions", "2000", "--scheduler", "pct"], &[]);
    assert_eq!(report["verdict"], "violated");
}
