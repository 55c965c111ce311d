//! What is found, and what is left out.

use crate::support::{PORF, build_text, check, directory, sample, two};
use std::process::Command;

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
    let held = "void __tsan_check_no_mutexes_held(void); pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;";
    let asks = "pthread_mutex_lock(&m); __tsan_check_no_mutexes_held(); pthread_mutex_unlock(&m);";
    check("held", &two(held, asks, "__tsan_check_no_mutexes_held();"), "lock", "a lock is held");
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
    // By the names of the variables.
    std::fs::write(&file, "race:^racy$\nrace:^other$\n").expect("the target directory is writable");
    let alone = Command::new(&program).env("TSAN_OPTIONS", format!("suppressions='{path}'")).status();
    assert_eq!(alone.expect("it runs").code(), Some(0));
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

/// Memory from the heap is told with the calls by which it was allocated.
#[test]
fn allocations_are_told() {
    let source = two(
        "_Atomic(int *) shared; static int *make(void) { return malloc(24); }",
        "int *p = make(); *p = 1; atomic_store_explicit(&shared, p, memory_order_relaxed); *p = 2;",
        "int *p = atomic_load_explicit(&shared, memory_order_relaxed); if (p) *p = 3;",
    );
    let report = sample(&build_text("allocated", &source), &["--executions", "100"], &[]);
    let findings = report["findings"].as_array().expect("findings");
    let told = findings.iter().any(|finding| {
        let stack = &finding["stacks"][2];
        let title = stack["what"].as_str().unwrap_or("");
        title.contains("24 bytes") && stack["frames"][0]["line"].as_u64() > Some(0)
    });
    assert!(told, "{report}");
}
