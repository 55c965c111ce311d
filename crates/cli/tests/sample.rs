//! `porf cc` and `porf sample` on the programs of corpus/sample.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const PORF: &str = env!("CARGO_BIN_EXE_porf");

fn corpus() -> PathBuf {
    porf_corpus::expected::folder("sample")
}

fn expected() -> &'static toml::Table {
    static TABLE: OnceLock<toml::Table> = OnceLock::new();
    TABLE.get_or_init(|| porf_corpus::expected::expected("sample"))
}

fn directory() -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sample");
    std::fs::create_dir_all(&path).expect("the target directory is writable");
    path
}

fn build(source: &Path, name: &str) -> PathBuf {
    build_with(source, name, &[])
}

fn build_with(source: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let program = directory().join(name);
    let verb = if source.extension().is_some_and(|extension| extension == "cpp") { "c++" } else { "cc" };
    let mut command = Command::new(PORF);
    command.args([verb, "-O1", "-w"]).args(flags).arg(source).arg("-o").arg(&program);
    let status = command.status();
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

fn has(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok()
}

/// Small programs with their right answers, built by both compilers.
#[test]
fn small_programs_get_their_right_answers() {
    for (name, row) in expected()["answers"].as_table().expect("a table") {
        let only = row.get("compiler").and_then(|only| only.as_str());
        for compiler in ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)) {
            if only.is_none_or(|only| only == compiler) {
                check_answers(name, row, compiler);
            }
        }
    }
}

fn check_answers(name: &str, row: &toml::Value, compiler: &str) {
    let number = |key: &str| row.get(key).map(|value| value.as_integer().expect("a number"));
    let source = row.get("source").map_or(name, |source| source.as_str().expect("a name"));
    let source = corpus().join("answers").join(format!("{source}.c"));
    let flags = row.get("flags").and_then(|flags| flags.as_array()).into_iter().flatten();
    let flags: Vec<&str> = flags.map(|flag| flag.as_str().expect("an option")).collect();
    let program = directory().join(format!("{name}_{compiler}"));
    let build = |more: &[&str], output: PathBuf| {
        let mut command = Command::new(PORF);
        command.env("PORF_CC", compiler).args(["cc", "-O1", "-w"]).args(&flags).args(more);
        let status = command.arg(&source).arg("-o").arg(output).status();
        assert!(status.expect("porf runs").success(), "{name} does not compile");
    };
    build(&[], program.clone());
    if row.get("library").is_some() {
        build(&["-DLIBRARY", "-shared", "-fPIC"], directory().join(format!("{name}_{compiler}.so")));
    }
    let executions = number("executions").unwrap_or(100).to_string();
    let timeout = row.get("timeout").map_or("3".to_string(), |seconds| seconds.to_string());
    let listing = number("cases").map_or_else(
        || "-".to_string(),
        |_| {
            let output = Command::new(&program).output().expect("it runs");
            String::from_utf8(output.stdout).expect("names")
        },
    );
    assert!(listing.lines().count() as i64 >= number("cases").unwrap_or(1), "{name}: {listing}");
    for case in listing.lines() {
        let report = sample(&program, &["--executions", &executions, "--timeout", &timeout], &[case]);
        let what = format!("{compiler} {name} {case}: {report}");
        assert_eq!(report["executions"].to_string(), executions, "{what}");
        assert!(report["violating"].as_u64() <= report["executions"].as_u64(), "{what}");
        if let Some(most) = number("megabytes") {
            let megabytes = report["peak_memory_bytes"].as_u64().expect("a number") >> 20;
            assert!(megabytes <= most as u64, "{megabytes} MB: {what}");
        }
        let findings = report["findings"].as_array().expect("findings");
        match row.get("finds").and_then(|finds| finds.as_str()) {
            Some(title) => {
                let all = findings.iter().all(|finding| finding["title"] == title);
                assert!(!findings.is_empty() && all, "no {title}: {what}");
                let frame = &findings[0]["stacks"][0]["frames"][0];
                assert!(title != "data race" || frame["line"].as_u64() > Some(0), "no line: {what}");
            }
            None => assert_eq!(report["verdict"], "safe", "{what}"),
        }
    }
}

/// Every case of the program does the same natively and in every execution under the sampler.
fn threads(name: &str, source: &str, flags: &[&str]) {
    let source = corpus().join("threads").join(source);
    let is_cxx = source.extension().is_some_and(|extension| extension == "cpp");
    let native = directory().join(format!("{name}_native"));
    let mut command = Command::new(if is_cxx { "g++" } else { "gcc" });
    command.args(["-O1", "-w", "-pthread"]).args(flags).arg(&source).arg("-o").arg(&native);
    assert!(command.arg("-latomic").status().expect("gcc runs").success(), "{name} does not compile");
    let program = build_with(&source, name, flags);
    let listing = Command::new(&native).output().expect("the program runs by itself");
    let executions = expected()["threads"][name]["executions"].as_integer().expect("a number").to_string();
    let cases = String::from_utf8(listing.stdout).expect("names");
    assert!(cases.lines().count() >= 5);
    for case in cases.lines() {
        let alone = Command::new(&native).arg(case).output().expect("the program runs by itself");
        assert!(alone.status.success(), "{name} {case} natively: {alone:?}");
        let report = sample(&program, &["--executions", &executions], &[case]);
        assert_eq!(report["verdict"], "safe", "{name} {case}: {report}");
        assert_eq!(report["executions"].to_string(), executions, "{name} {case}");
    }
}

#[test]
fn posix_threads_behave_as_natively() {
    threads("posix", "posix.c", &[]);
}

#[test]
fn c11_threads_behave_as_natively() {
    threads("c11", "c11.c", &[]);
}

#[test]
fn cxx_threads_behave_as_natively() {
    threads("cxx", "cxx.cpp", &[]);
}

#[test]
fn cxx20_threads_behave_as_natively() {
    threads("cxx20", "cxx20.cpp", &["-std=c++20"]);
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

#[test]
fn a_pct_execution_is_a_function_of_its_seed() {
    let program = build(&corpus().join("bugs/seqlock.c"), "seqlock_pct_seed");
    for isolation in ["in-process", "fork"] {
        let options = ["--scheduler", "pct", "--isolation", isolation];
        let all = sample(&program, &[&options[..], &["--executions", "400"]].concat(), &[]);
        let seed = all["findings"][0]["first_seed"].to_string();
        let one = sample(&program, &[&options[..], &["--executions", "1", "--seed", &seed]].concat(), &[]);
        assert_eq!(one["violating"], 1, "the seed {seed} of a finding shows it at once");
    }
}

#[test]
fn an_inconclusive_report_says_why() {
    let program = build_text(
        "many_events",
        "#include <pthread.h>\n#include <stdatomic.h>\natomic_int x;\n\
         void *run(void *a) { for (int i = 0; i < 100; i++) x++; return a; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); run(0); pthread_join(t, 0); }\n",
    );
    let report = sample(&program, &["--executions", "4", "--max-events", "10"], &[]);
    assert_eq!(report["verdict"], "inconclusive");
    assert_eq!(report["limit"], "every execution reached --max-events");
    let report = sample(&program, &["--executions", "4"], &[]);
    assert_eq!((&report["verdict"], report.get("limit")), (&Value::from("safe"), None));
}

#[test]
fn a_witness_is_replayed() {
    let program = build(&corpus().join("bugs/rwlock.c"), "rwlock_witness");
    let witness = directory().join("rwlock.witness");
    for scheduler in ["random", "pct"] {
        let path = witness.to_str().expect("a path");
        let options = ["--scheduler", scheduler, "--executions", "500", "--witness", path];
        let all = sample(&program, &options, &[]);
        let output =
            Command::new(PORF).args(["replay", "--format", "json", path]).output().expect("porf runs");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(report["executions"], 1);
        let seen = |report: &Value| report["findings"][0]["message"].clone();
        assert_eq!(seen(&report), seen(&all));
    }
    std::fs::write(&witness, r#"{"schema": 1, "kind": "witness", "command": "sample"}"#).expect("writable");
    let output = Command::new(PORF).arg("replay").arg(&witness).output().expect("porf runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("names no program"));
}

#[test]
fn annotations_order_and_silence() {
    let declarations = "void __tsan_acquire(void *); void __tsan_release(void *);\n\
        void AnnotateHappensBefore(const char *, int, void *); void AnnotateHappensAfter(const char *, int, void *);\n\
        void AnnotateBenignRaceSized(const char *, int, void *, long, const char *);\n\
        void AnnotateIgnoreWritesBegin(const char *, int); void AnnotateIgnoreWritesEnd(const char *, int);\n\
        int d, e; atomic_int f;";
    let store = "atomic_store_explicit(&f, 1, memory_order_relaxed);";
    let load = "atomic_load_explicit(&f, memory_order_relaxed)";
    let silent = [
        (
            format!("d = 1; __tsan_release(&f); {store}"),
            format!("if ({load}) {{ __tsan_acquire(&f); d++; }}"),
        ),
        (
            format!("d = 1; AnnotateHappensBefore(\"\", 0, &e); {store}"),
            format!("if ({load}) {{ AnnotateHappensAfter(\"\", 0, &e); d++; }}"),
        ),
        (
            "AnnotateBenignRaceSized(\"\", 0, &d, 4, \"\"); d = 1;".into(),
            "AnnotateBenignRaceSized(\"\", 0, &d, 4, \"\"); d = 2;".into(),
        ),
        (
            "AnnotateIgnoreWritesBegin(\"\", 0); d = 1; AnnotateIgnoreWritesEnd(\"\", 0);".into(),
            "d = 2;".into(),
        ),
    ];
    for (index, (first, second)) in silent.into_iter().enumerate() {
        let program = build_text(&format!("annotated{index}"), &two(declarations, &first, &second));
        let report = sample(&program, &["--executions", "200"], &[]);
        assert_eq!(report["verdict"], "safe", "{index}: {report}");
    }
    // The same without, and after the end of the stretch.
    check(
        "unannotated",
        &two(declarations, &format!("d = 1; {store}"), &format!("if ({load}) d++;")),
        "race",
        "",
    );
    let after = "AnnotateIgnoreWritesBegin(\"\", 0); AnnotateIgnoreWritesEnd(\"\", 0); d = 1;";
    check("after_ignoring", &two(declarations, after, "d = 2;"), "race", "");
}

#[test]
fn wide_atomics_of_clang_are_seen() {
    if Command::new("clang").arg("--version").output().is_err() {
        eprintln!("skipped: no clang");
        return;
    }
    let globals = "typedef struct { long a, b; } pair; _Atomic pair p; int d;";
    let publish = "d = 1; atomic_store_explicit(&p, ((pair){1, 2}), memory_order_release);";
    let consume =
        "pair q = atomic_load_explicit(&p, memory_order_acquire); if (q.b == 2) d++; else if (q.a) abort();";
    let weak = consume.replace("acquire", "relaxed");
    for (name, second, verdict) in [("wide_ordered", consume, "safe"), ("wide_racy", &weak, "violated")] {
        let path = directory().join(format!("{name}.c"));
        std::fs::write(&path, two(globals, publish, second)).expect("the target directory is writable");
        let program = directory().join(name);
        let status = Command::new(PORF)
            .env("PORF_CC", "clang")
            .args(["cc", "-w"])
            .arg(&path)
            .arg("-o")
            .arg(&program)
            .status();
        assert!(status.expect("porf runs").success());
        let report = sample(&program, &["--executions", "300"], &[]);
        assert_eq!(report["verdict"], verdict, "{name}: {report}");
        assert!(report["distinct"].as_u64() > Some(1), "the atomics are not seen: {report}");
    }
}

#[test]
fn memory_mapped_again_has_no_past() {
    // Each thread maps, writes and unmaps; the kernel gives out the same address again.
    let body = "char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); p[0] = 1;\n\
        atomic_fetch_add_explicit(&x, 1, memory_order_relaxed); munmap(p, 4096);";
    let source = format!("#include <sys/mman.h>\n{}", two("atomic_int x;", body, body));
    let report = sample(&build_text("mapped", &source), &["--executions", "200"], &[]);
    assert_eq!(report["verdict"], "safe", "{report}");
}

#[test]
fn allocation_does_not_gather_in_one_execution() {
    // Nodes with atomics that come and go: what is known of them must go too.
    let body = "for (int i = 0; i < 60000; i++) { atomic_long *n = malloc(64); atomic_store(n, i); atomic_load(n + 1); free(n); }";
    let program = build_text("nodes", &two("", body, ""));
    let report = sample(&program, &["--executions", "1", "--max-events", "10000000"], &[]);
    assert_eq!(report["verdict"], "safe", "{report}");
    let megabytes = report["peak_memory_bytes"].as_u64().expect("a number") >> 20;
    assert!(megabytes < 200, "{megabytes} MB for 60,000 short-lived nodes");
}

#[test]
fn executions_leave_nothing_behind() {
    let program = build(&corpus().join("threads/posix.c"), "posix_leaks");
    let peak = |executions: &str| {
        let report = sample(&program, &["--executions", executions], &["leaks"]);
        assert_eq!(report["verdict"], "safe", "{report}");
        report["peak_memory_bytes"].as_u64().expect("a number")
    };
    let (few, many) = (peak("50"), peak("2000"));
    assert!(many < few + (1 << 20), "{few} bytes after 50 executions, {many} after 2,000");
}

/// A word whose last store in modification order is not the one done last: whoever waits must see it.
#[test]
fn a_futex_waits_for_the_last_value_in_modification_order() {
    let source = "#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int word = 1;
static void *waker(void *unused) {
    atomic_store_explicit(&word, 0, memory_order_relaxed);
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, waker, 0);
    if (atomic_exchange_explicit(&word, 2, memory_order_relaxed) == 1)
        while (atomic_load_explicit(&word, memory_order_relaxed) == 2)
            syscall(SYS_futex, &word, FUTEX_WAIT, 2, 0, 0, 0);
    return pthread_join(thread, 0);
}";
    let program = build_text("futex_order", source);
    let report = sample(&program, &["--executions", "2000"], &[]);
    assert_eq!(report["verdict"], "safe", "{report}");
}

/// Store buffering with a fence in one thread only, and with `membarrier` there.
#[test]
fn membarrier_is_a_fence_in_every_thread() {
    let source = "#include <assert.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int x, y;
static int r, s;
static void *reader(void *unused) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    r = atomic_load_explicit(&y, memory_order_relaxed);
    return unused;
}
int main(int argc, char **argv) {
    pthread_t thread;
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    pthread_create(&thread, 0, reader, 0);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    if (argc > 1) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    else atomic_thread_fence(memory_order_seq_cst);
    s = atomic_load_explicit(&x, memory_order_relaxed);
    pthread_join(thread, 0);
    assert(r || s);
    return 0;
}";
    let program = build_text("membarrier", source);
    assert_eq!(sample(&program, &["--executions", "2000"], &[])["verdict"], "violated");
    let report = sample(&program, &["--executions", "2000"], &["membarrier"]);
    assert_eq!(report["verdict"], "safe", "{report}");
}

/// A program that stops after a second takes as many events as the tick says.
#[test]
fn a_longer_tick_ends_timed_programs_sooner() {
    let source = "#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int stop, count;
static void *work(void *unused) {
    while (!atomic_load(&stop)) atomic_fetch_add(&count, 1);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    sleep(1);
    atomic_store(&stop, 1);
    return pthread_join(thread, 0);
}";
    let program = build_text("timed", source);
    let events = |tick: &str| {
        let report = sample(&program, &["--executions", "1", "--tick", tick], &[]);
        assert_eq!(report["verdict"], "safe", "{report}");
        report["events"].as_u64().expect("a number")
    };
    let (long, short) = (events("10000"), events("100000"));
    assert!(long > 90_000 && short < 12_000, "{long} and {short} events");
}

/// Two reads of one epoch, of which the second is the one that races: the stack of the earlier access is looked
/// for until it is found, and no longer than an execution.
#[test]
fn the_stack_of_a_repeated_access_is_found_or_given_up() {
    let source = "#include <pthread.h>
#include <stdatomic.h>
static int data[2];
static atomic_int sum;
__attribute__((noinline)) static int first(void) { return data[0]; }
__attribute__((noinline)) static int second(void) { return data[0]; }
static void *reader(void *unused) {
    int all = first() + second() + first();
    atomic_store_explicit(&sum, all, memory_order_relaxed);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, reader, 0);
    data[0] = 1;
    return pthread_join(thread, 0);
}";
    let program = build_text("repeated", source);
    let report = sample(&program, &["--executions", "20"], &[]);
    assert_eq!(report["findings"][0]["kind"], "race", "{report}");
    assert_eq!(report["executions"], 20, "{report}");
}

/// What an execution leaves open is closed before the next: the numbers of descriptors do not grow.
#[test]
fn executions_leave_no_descriptors_open() {
    let source = "#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
static void *work(void *unused) {
    int ends[2], pair[2];
    for (int i = 0; i < 5; i++) assert(open(\"/dev/null\", O_RDONLY) >= 0);
    assert(!pipe(ends) && !socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    int last = epoll_create1(0);
    assert(last >= 0 && last < 64);
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}";
    let program = build_text("descriptors", source);
    for isolation in ["in-process", "fork"] {
        let report = sample(&program, &["--executions", "1000", "--isolation", isolation], &[]);
        assert_eq!(report["verdict"], "safe", "{isolation}: {report}");
        assert_eq!(report["executions"], 1000, "{isolation}");
    }
}

/// Without `porf sample`: the findings with their places, and status 66 unless another is asked for.
#[test]
fn a_program_by_itself_ends_with_66() {
    let program = build_text("by_itself", &two("int x;", "x = 1;", "x = 2;"));
    let run = |options: &str| {
        let output = Command::new(&program).env("PORF_OPTIONS", options).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text) = run("");
    assert_eq!(code, Some(66), "{text}");
    assert!(text.contains("data race") && text.contains("by_itself.c:"), "{text}");
    assert_eq!(run("exitcode=0").0, Some(0));
    assert_eq!(run("verbosity=1:exitcode=7").0, Some(7));
    assert_eq!(run("halt_on_error=1").0, Some(66));
    let right = build_text("by_itself_right", &two("atomic_int x;", "x = 1;", "x = 2;"));
    assert_eq!(Command::new(&right).status().expect("it runs").code(), Some(0));
}

#[test]
fn executions_end_at_a_time() {
    let program = build_text("until", &two("atomic_int x;", "x = 1;", "if (x) x = 2;"));
    let report = sample(&program, &["--until", "0.3s"], &[]);
    assert_eq!(report["verdict"], "safe", "{report}");
    assert!(report["executions"].as_u64() > Some(100), "{report}");
    // Two threads with three outcomes: nothing new is to be expected after so many.
    assert!(report["unseen"].as_f64() < Some(0.01), "{report}");
}

#[test]
fn volatile_accesses_may_be_plain() {
    let program = build_text("volatile_plain", &two("volatile int x;", "x = 1;", "x = 2;"));
    assert_eq!(sample(&program, &["--executions", "20"], &[])["verdict"], "safe");
    let report = sample(&program, &["--executions", "20", "--volatile", "plain"], &[]);
    assert_eq!(report["findings"][0]["kind"], "race", "{report}");
}

/// A library that every execution loads anew: its own functions come before the program's of the same name, and its
/// race is one finding, with the line in the library.
#[test]
fn a_loaded_library_is_itself() {
    let library = directory().join("plugin.c");
    let text = "int shared; int helper(void) { return 2; } int ask(void) { return helper(); }\n\
        void touch(void) { shared++; }\n";
    std::fs::write(&library, text).expect("the target directory is writable");
    let library = build_with(&library, "plugin.so", &["-shared", "-fPIC"]);
    let source = format!(
        "#include <dlfcn.h>\n#include <pthread.h>\n#include <stdlib.h>\nint helper(void) {{ return 1; }}\n\
         static void *work(void *touch) {{ ((void (*)(void))touch)(); return 0; }}\n\
         static void *load(void *out) {{ return *(void **)out = dlopen(\"{}\", RTLD_NOW); }}\n\
         int main(void) {{ pthread_t a, b; void *library;\n\
         pthread_create(&a, 0, load, &library); pthread_join(a, 0); if (!library) abort();\n\
         int (*ask)(void) = (int (*)(void))dlsym(library, \"ask\"); if (ask() != 2 || helper() != 1) abort();\n\
         void *touch = dlsym(library, \"touch\"); pthread_create(&a, 0, work, touch);\n\
         pthread_create(&b, 0, work, touch); pthread_join(a, 0); pthread_join(b, 0); return 0; }}\n",
        library.display()
    );
    let program = build_text("plugin_user", &source);
    for isolation in ["in-process", "fork"] {
        let report = sample(&program, &["--executions", "100", "--isolation", isolation], &[]);
        let findings = report["findings"].as_array().expect("findings");
        assert_eq!(findings.len(), 1, "{isolation}: {report}");
        assert_eq!(
            (&findings[0]["title"], &findings[0]["count"]),
            (&Value::from("data race"), &Value::from(100))
        );
        let file = findings[0]["location"]["file"].as_str().unwrap_or("");
        assert!(file.ends_with("plugin.c"), "{isolation}: {report}");
    }
}

/// How many processes run this program.
fn running(program: &Path) -> usize {
    let program = program.canonicalize().expect("it was built");
    let entries = std::fs::read_dir("/proc").expect("it is mounted").flatten();
    let runs = |folder: &Path| std::fs::read_link(folder.join("exe")).is_ok_and(|exe| exe == program);
    entries.filter(|entry| runs(&entry.path())).count()
}

/// Waits until as many processes as wanted run the program; false if that does not happen.
fn wait_for(program: &Path, wanted: fn(usize) -> bool) -> bool {
    (0..6000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        wanted(running(program))
    })
}

/// Children that the program forks and leaves, theirs too, and the program itself when `porf` is killed.
#[test]
fn no_process_is_left_behind() {
    let leaves = "if (fork() == 0) { if (fork() == 0) for (;;) pause(); for (;;) pause(); }";
    let program = build_text("left_behind", &two("atomic_int x;", leaves, "x = 1;"));
    for isolation in ["in-process", "fork", "restart"] {
        let report = sample(&program, &["--executions", "10", "--isolation", isolation], &[]);
        assert_eq!(report["verdict"], "safe", "{isolation}: {report}");
        assert_eq!(running(&program), 0, "{isolation}");
    }
    let program =
        build_text("never_ends", &two("", "if (fork() == 0) for (;;) pause();", "for (;;) pause();"));
    for isolation in ["in-process", "fork", "restart"] {
        let options = ["sample", "--timeout", "1000", "--isolation", isolation, "--"];
        let mut porf = Command::new(PORF).args(options).arg(&program).spawn().expect("porf runs");
        assert!(wait_for(&program, |count| count > 0), "{isolation}");
        porf.kill().expect("it runs");
        porf.wait().expect("it ends");
        assert!(wait_for(&program, |count| count == 0), "{isolation}");
    }
}

/// Suppressions by a file, by the environment and by the program itself; with `porf sample` and without.
#[test]
fn suppressed_findings_are_not_told() {
    let globals = "int racy, other;\n\
        __attribute__((noinline)) static void quiet(void) { racy++; }\n\
        __attribute__((noinline)) static void loud(void) { other++; }";
    let program = build_text("suppressed", &two(globals, "quiet(); loud();", "quiet(); loud();"));
    let file = directory().join("suppressed.supp");
    let path = file.to_str().expect("a path");
    let findings = |rules: &str| {
        std::fs::write(&file, rules).expect("the target directory is writable");
        let report = sample(&program, &["--executions", "20", "--suppressions", path], &[]);
        let number = report["findings"].as_array().expect("findings").len();
        assert_eq!(report["violating"].as_u64(), Some(if number > 0 { 20 } else { 0 }), "{report}");
        number
    };
    assert_eq!(findings("# nothing\nmutex:quiet\n"), 2);
    assert_eq!(findings("race:quiet\n"), 1);
    assert_eq!(findings("race:^racy$\n"), 1);
    assert_eq!(findings("race_top:^loud\nrace:suppressed.c\n"), 0);
    assert_eq!(findings("race_top:^a$\n"), 2);
    std::fs::write(&file, "race:quiet\nrace:loud\n").expect("the target directory is writable");
    let alone = Command::new(&program).env("TSAN_OPTIONS", format!("suppressions='{path}'")).status();
    assert_eq!(alone.expect("it runs").code(), Some(0));
    assert_eq!(Command::new(&program).status().expect("it runs").code(), Some(66));
    std::fs::write(&file, "races:quiet\n").expect("the target directory is writable");
    let output = Command::new(PORF).args(["sample", "--suppressions", path, "--"]).arg(&program).output();
    let output = output.expect("porf runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("line 1"), "{output:?}");
    let own = "const char *__tsan_default_suppressions(void) { return \"race:quiet\"; }";
    let program = build_text("suppressed_own", &two(&format!("{globals}\n{own}"), "quiet();", "quiet();"));
    assert_eq!(sample(&program, &["--executions", "20"], &[])["verdict"], "safe");
    assert_eq!(Command::new(&program).status().expect("it runs").code(), Some(0));
}

/// Two threads, and `r1` and `r2` at the end; `OUTCOME` is what must not be, for `porf verify`.
fn litmus(globals: &str, first: &str, second: &str) -> String {
    let head = "#include <assert.h>\n#include <stdio.h>\n#define R memory_order_relaxed\nint r1, r2;\n";
    let end = "\n#ifdef OUTCOME\nassert(!(OUTCOME));\n#else\nprintf(\"r1==%d&&r2==%d\\n\", r1, r2);\n#endif\nreturn 0; }";
    format!("{head}{}", two(globals, first, second).replace("return 0; }", end))
}

/// What all executions print, and the report.
fn every_outcome(name: &str, source: &str, isolation: &str) -> (Vec<String>, Value) {
    let program = build_text(name, source);
    let run = |format: &[&str]| {
        let mut command = Command::new(PORF);
        command.args(["sample", "--systematic", "10000", "--isolation", isolation]).args(format);
        let output = command.arg("--").arg(&program).output().expect("porf runs");
        String::from_utf8(output.stdout).expect("text")
    };
    let shown = run(&["--output", "all"]);
    let mut lines: Vec<String> =
        shown.lines().filter(|line| line.starts_with("r1==")).map(str::to_string).collect();
    lines.sort();
    lines.dedup();
    (lines, serde_json::from_str(run(&["--format", "json"]).trim()).expect("a report"))
}

/// Whether `porf verify` has an execution with this outcome.
fn verify_has(name: &str, outcome: &str) -> bool {
    let source = directory().join(format!("{name}.c"));
    let mut command = Command::new(PORF);
    command.args(["verify", "--model", "c20", "--check", "assertion"]).arg(&source);
    let status = command.args(["--", &format!("-DOUTCOME={outcome}")]).output().expect("porf runs").status;
    match status.code() {
        Some(0) => false,
        Some(1) => true,
        other => panic!("{name}, {outcome}: {other:?}"),
    }
}

/// Every execution by the sampler has the outcomes that `porf verify` finds.
#[test]
fn all_executions_have_the_outcomes_of_verify() {
    let store = |x: &str, order: &str| format!("atomic_store_explicit(&{x}, 1, {order});");
    let load = |r: &str, x: &str, order: &str| format!("{r} = atomic_load_explicit(&{x}, {order});");
    let (release, acquire) = ("memory_order_release", "memory_order_acquire");
    let fence = "atomic_thread_fence(memory_order_seq_cst);";
    let xy = "atomic_int x, y;";
    let rows = [
        (
            "sb",
            litmus(
                xy,
                &(store("x", "R") + &load("r1", "y", "R")),
                &(store("y", "R") + &load("r2", "x", "R")),
            ),
            4,
        ),
        (
            "sb_fences",
            litmus(
                xy,
                &(store("x", "R") + fence + &load("r1", "y", "R")),
                &(store("y", "R") + fence + &load("r2", "x", "R")),
            ),
            3,
        ),
        (
            "mp",
            litmus(
                xy,
                &(store("x", "R") + &store("y", "R")),
                &(load("r1", "y", "R") + &load("r2", "x", "R")),
            ),
            4,
        ),
        (
            "mp_ordered",
            litmus(
                xy,
                &(store("x", "R") + &store("y", release)),
                &(load("r1", "y", acquire) + &load("r2", "x", "R")),
            ),
            3,
        ),
        (
            "corr",
            litmus("atomic_int x;", &store("x", "R"), &(load("r1", "x", "R") + &load("r2", "x", "R"))),
            3,
        ),
        (
            "added",
            litmus(
                "atomic_int x;",
                "r1 = atomic_fetch_add_explicit(&x, 1, R);",
                "r2 = atomic_fetch_add_explicit(&x, 1, R);",
            ),
            2,
        ),
        (
            "swapped",
            litmus(
                "atomic_int x;",
                "int e = 0; r1 = atomic_compare_exchange_strong(&x, &e, 1);",
                "int e = 0; r2 = atomic_compare_exchange_strong(&x, &e, 1);",
            ),
            2,
        ),
        (
            "locked",
            litmus(
                "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int n;",
                "pthread_mutex_lock(&m); r1 = n++; pthread_mutex_unlock(&m);",
                "pthread_mutex_lock(&m); r2 = n++; pthread_mutex_unlock(&m);",
            ),
            2,
        ),
    ];
    for (name, source, count) in rows {
        let (outcomes, report) = every_outcome(name, &source, "auto");
        assert_eq!(outcomes.len(), count, "{name}: {outcomes:?}");
        assert_eq!(report["coverage"]["kind"], "systematic", "{report}");
        assert_eq!(report["coverage"]["complete"], true, "{report}");
        assert_eq!(report["verdict"], "safe", "{report}");
        for outcome in &outcomes {
            assert!(verify_has(name, outcome), "{name}: {outcome} is not an outcome of verify");
        }
        let others: Vec<String> = outcomes.iter().map(|outcome| format!("!({outcome})")).collect();
        assert!(!verify_has(name, &others.join("&&")), "{name}: verify has more than {outcomes:?}");
    }
}

#[test]
fn all_executions_are_the_same_by_every_isolation() {
    let lock = "pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m);";
    let source = litmus(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int n;",
        &format!("{lock}{lock}{lock}"),
        &format!("{lock}{lock}{lock}"),
    );
    for isolation in ["in-process", "fork", "restart"] {
        let (_, report) = every_outcome("three_locks", &source, isolation);
        // As many as there are orders of three and three.
        assert_eq!(report["executions"], 20, "{report}");
        assert_eq!(report["coverage"]["complete"], true, "{report}");
        assert_eq!(report["coverage"]["spins"], Value::Null, "{report}");
    }
}

#[test]
fn waiting_loops_end_and_are_told() {
    let source = two(
        "atomic_int x; int d;",
        "d = 1; atomic_store_explicit(&x, 1, memory_order_release);",
        "while (!atomic_load_explicit(&x, memory_order_acquire)) ; d++;",
    );
    let program = build_text("waits_in_a_loop", &source);
    let report = sample(&program, &["--systematic", "1000"], &[]);
    assert_eq!(report["verdict"], "safe", "{report}");
    assert_eq!(report["coverage"]["complete"], true, "{report}");
    assert_eq!(report["coverage"]["spins"], 4, "{report}");
    let broken = source.replace("memory_order_acquire", "memory_order_relaxed");
    let program = build_text("waits_in_a_loop_relaxed", &broken);
    let report = sample(&program, &["--systematic", "1000"], &[]);
    assert_eq!(report["findings"][0]["title"], "data race", "{report}");
    let few = sample(&build_text("cut_short", &source), &["--systematic", "2"], &[]);
    assert_eq!(few["verdict"], "inconclusive", "{few}");
    assert_eq!(few["limit"], "limit of 2 executions reached", "{few}");
}

#[test]
fn findings_are_made_smaller_and_can_be_shown_again() {
    // The second thread must read the old value of x, after it has seen y: one weak read, two switches.
    let work = "for (int i = 0; i < 8; i++) atomic_fetch_add(&noise, 1);";
    let source = format!(
        "#include <assert.h>\n{}",
        two(
            "atomic_int noise, x, y;",
            &format!(
                "{work} atomic_store_explicit(&x, 1, memory_order_relaxed); atomic_store_explicit(&y, 1, memory_order_relaxed); {work}"
            ),
            &format!(
                "{work} if (atomic_load_explicit(&y, memory_order_relaxed)) assert(atomic_load_explicit(&x, memory_order_relaxed)); {work}"
            ),
        )
    );
    let program = build_text("noisy", &source);
    let witness = directory().join("noisy.json");
    for isolation in ["in-process", "fork", "restart"] {
        let options =
            ["--executions", "200", "--isolation", isolation, "--witness", &witness.display().to_string()];
        let report = sample(&program, &options, &[]);
        let finding = &report["findings"][0];
        assert_eq!(finding["kind"], "assertion", "{report}");
        let minimised = &finding["minimised"];
        assert_eq!(minimised["minimal"], true, "{finding}");
        assert_eq!(minimised["weak_reads"], 1, "{finding}");
        // The main thread waits, and each of the two runs once.
        assert_eq!(minimised["switches"], 2, "{finding}");
        assert!(minimised["first_switches"].as_u64() > Some(4), "{finding}");
        let replay = Command::new(PORF).args(["replay", "--format", "json"]).arg(&witness).output();
        let again: Value = serde_json::from_slice(&replay.expect("porf runs").stdout).expect("a report");
        assert_eq!(again["findings"][0]["message"], finding["message"], "{again}");
        let seed = finding["first_seed"].to_string();
        let one = sample(&program, &["--executions", "1", "--seed", &seed, "--minimise", "0"], &[]);
        assert_eq!(one["findings"][0]["message"], finding["message"], "{one}");
        assert_eq!(one["findings"][0]["minimised"], Value::Null, "{one}");
    }
    // The same where all executions are run, in which no seed counts.
    let options = ["--systematic", "3000", "--first", "--witness", &witness.display().to_string()];
    let program = build_text("not_noisy", &source.replace(work, ""));
    let report = sample(&program, &options, &[]);
    assert_eq!(report["findings"][0]["minimised"]["weak_reads"], 1, "{report}");
    let replay = Command::new(PORF).args(["replay"]).arg(&witness).output().expect("porf runs");
    assert_eq!(replay.status.code(), Some(1), "{replay:?}");
}

#[test]
fn one_bug_is_one_finding() {
    let source = two(
        "struct { int a, b, c; } shared; int other;",
        "shared.a = 1; \n shared.b = 1; \n shared.c = 1; \n other = 1;",
        "shared.a = 2; \n shared.b = 2; \n shared.c = 2; \n other = 2;",
    );
    let report = sample(&build_text("one_cause", &source), &["--executions", "20"], &[]);
    let findings = report["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), 2, "{report}");
    let of = |name: &str| findings.iter().find(|finding| finding["object"] == name).expect("a variable");
    assert_eq!(of("shared")["elsewhere"].as_array().map(Vec::len), Some(2), "{report}");
    assert_eq!(of("other")["elsewhere"].as_array().map(Vec::len), Some(0), "{report}");
}
