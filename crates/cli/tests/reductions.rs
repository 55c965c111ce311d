//! Barriers, interchangeable threads and attempts to lock in C and C++ programs: as many executions as there need be,
//! the same verdicts; and how many executions are expected.

use std::path::PathBuf;
use std::process::Command;

const BARRIER: &str = r#"
#include <assert.h>
#include <pthread.h>
static pthread_barrier_t barrier;
static int data[N];
static void *run(void *argument) {
    long me = (long)argument;
    for (int round = 0; round < ROUNDS; round++) {
#ifdef BUG
        if (me == 0 && round == 1) data[1]++;
#endif
        data[me]++;
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < N; i++) assert(data[i] == round + 1);
        pthread_barrier_wait(&barrier);
    }
    return 0;
}
int main(void) {
    pthread_t threads[N];
    pthread_barrier_init(&barrier, 0, COUNT);
    for (long i = 0; i < N; i++) pthread_create(&threads[i], 0, run, (void *)i);
    for (int i = 0; i < N; i++) pthread_join(threads[i], 0);
    pthread_barrier_destroy(&barrier);
    return 0;
}
"#;

const AINC: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int counter;
static void *run(void *unused) {
#ifdef BUG
    atomic_store(&counter, atomic_load(&counter) + 1);
#else
    atomic_fetch_add(&counter, 1);
#endif
    return 0;
}
int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++) pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < N; i++) pthread_join(threads[i], 0);
    assert(counter == N);
    return 0;
}
"#;

const BOTH_LOCKS: &str = r#"
#include <cassert>
#include <mutex>
#include <thread>
std::mutex a, b;
int shared;
int main() {
    std::thread one([] { std::scoped_lock both(a, b); shared++; });
    std::thread two([] { std::scoped_lock both(b, a); shared++; });
    one.join();
    two.join();
    assert(shared == 2);
}
"#;

const CPP_BARRIER: &str = r#"
#include <barrier>
#include <cassert>
#include <thread>
int data[4];
int main() {
    std::barrier all(4);
    auto run = [&](int me) {
        for (int round = 1; round <= 2; round++) {
            data[me]++;
#ifdef BUG
            if (me == 1) data[0]++;
#endif
            all.arrive_and_wait();
            for (int other : data) assert(other == round);
            all.arrive_and_wait();
        }
    };
    std::thread threads[3];
    for (int i = 0; i < 3; i++) threads[i] = std::thread(run, i);
    run(3);
    for (std::thread &thread : threads) thread.join();
}
"#;

/// As SV-COMP's programs on weak memory are written: every access is in a section, which they define themselves, and
/// threads give back what nobody looks at.
const SECTIONS: &str = r#"
#include <assert.h>
#include <pthread.h>
void __VERIFIER_assume(int);
int taken;
void __VERIFIER_atomic_begin() { __VERIFIER_assume(taken == 0); taken = 1; return; }
void __VERIFIER_atomic_end() { __VERIFIER_assume(taken == 1); taken = 0; return; }
#define SECTION(what) __VERIFIER_atomic_begin(); what; __VERIFIER_atomic_end()
int x, y, done, seen, all;
void *one(void *unused) { SECTION(seen = y); SECTION(); SECTION(x = 1); SECTION(done = done + 1); return (void *)__VERIFIER_nondet_pointer(); }
void *two(void *unused) { SECTION(x = 2); SECTION(y = 1); SECTION(); SECTION(done = done + 1); return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, one, 0);
    pthread_create(&t, 0, two, 0);
    SECTION(all = done == 2);
    __VERIFIER_assume(all);
#ifdef BUG
    SECTION(all = !(x == 2 && seen == 0));
#else
    SECTION(all = !(x == 2 && seen == 1));
#endif
    assert(all);
    return 0;
}
"#;

fn source(name: &str, text: &str) -> PathBuf {
    let extension = if text.contains("std::") { "cpp" } else { "c" };
    let file =
        std::env::temp_dir().join(format!("porf-reductions-{}-{name}.{extension}", std::process::id()));
    std::fs::write(&file, text).unwrap();
    file
}

fn verify(file: &PathBuf, flags: &[&str], arguments: &[&str]) -> serde_json::Value {
    let output = Command::new(env!("CARGO_BIN_EXE_porf"))
        .args(["verify", "--format", "json"])
        .args(arguments)
        .arg(file)
        .arg("--")
        .args(flags)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn counts(answer: &serde_json::Value) -> (u64, u64) {
    assert_eq!(answer["verdict"], "safe", "{answer}");
    (answer["executions"].as_u64().unwrap(), answer["blocked"].as_u64().unwrap())
}

#[test]
fn threads_at_barriers_have_one_execution() {
    let file = source("barrier", BARRIER);
    for model in ["rc11", "sc", "tso", "pso", "ra"] {
        for (threads, rounds) in [("2", "1"), ("4", "1"), ("4", "2"), ("5", "1")] {
            let flags =
                [format!("-DN={threads}"), format!("-DROUNDS={rounds}"), format!("-DCOUNT={threads}")];
            let flags = flags.each_ref().map(String::as_str);
            for jobs in ["1", "2"] {
                let answer = verify(&file, &flags, &["--model", model, "--jobs", jobs]);
                assert_eq!(counts(&answer), (1, 0), "{model}, {threads} threads, {rounds} rounds");
            }
        }
    }
    let all = verify(&file, &["-DN=2", "-DROUNDS=1", "-DCOUNT=2"], &["--no-reduce", "barriers"]);
    assert!(counts(&all).0 > 1);
    let bug = verify(&file, &["-DN=3", "-DROUNDS=2", "-DCOUNT=3", "-DBUG"], &[]);
    assert_eq!(bug["verdict"], "violated", "{bug}");
    // One thread too few: all wait.
    let few = verify(&file, &["-DN=2", "-DROUNDS=1", "-DCOUNT=3"], &[]);
    assert_eq!(few["violation"]["kind"], "deadlock", "{few}");
    // One too many: two of three go on, and who they are is a choice.
    for arguments in [&[][..], &["--no-reduce", "barriers"]] {
        let many = verify(&file, &["-DN=3", "-DROUNDS=1", "-DCOUNT=2"], arguments);
        assert_eq!(many["verdict"], "violated", "{many}");
    }
    std::fs::remove_file(file).unwrap();
}

/// Programs that ask for the result of a barrier only to see that it is no error do not tell threads apart (GenMC has
/// one execution of its tests that do so). Those that want one of the threads do.
#[test]
fn results_of_barriers_that_are_not_told_apart() {
    let wait = "pthread_barrier_wait(&barrier);";
    let checked = "{ int rc = pthread_barrier_wait(&barrier); if (rc != 0 && rc != PTHREAD_BARRIER_SERIAL_THREAD) abort(); }";
    let told = "if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) serial++;";
    let begin = "#include <stdlib.h>\nstatic int serial;\n";
    let flags = ["-DN=3", "-DROUNDS=2", "-DCOUNT=3"];
    let file = source("checked", &(begin.to_string() + &BARRIER.replace(wait, checked)));
    assert_eq!(counts(&verify(&file, &flags, &[])), (1, 0));
    std::fs::remove_file(file).unwrap();
    let file = source("told", &(begin.to_string() + &BARRIER.replace(wait, told)));
    assert!(counts(&verify(&file, &["-DN=2", "-DROUNDS=1", "-DCOUNT=2"], &[])).0 > 1);
    std::fs::remove_file(file).unwrap();
}

/// Also where threads are started through pointers, as std::thread does.
#[test]
fn threads_at_barriers_of_cpp_have_one_execution() {
    let file = source("cpp-barrier", CPP_BARRIER);
    for model in ["c20", "sc", "tso"] {
        let answer = verify(&file, &["-std=c++20"], &["--model", model]);
        assert_eq!(counts(&answer), (1, 0), "{model}");
    }
    let bug = verify(&file, &["-std=c++20", "-DBUG"], &[]);
    assert_eq!(bug["violation"]["kind"], "race", "{bug}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn interchangeable_threads_have_one_order() {
    let file = source("ainc", AINC);
    for model in ["rc11", "sc", "tso", "pso", "ra"] {
        let answer = verify(&file, &["-DN=8"], &["--model", model]);
        assert_eq!(counts(&answer), (1, 0), "{model}");
        assert_eq!(answer["reduced"]["symmetry"], 40_319, "{model}");
        let answer = verify(&file, &["-DN=4"], &["--model", model, "--no-reduce", "symmetry"]);
        assert_eq!(counts(&answer), (24, 0), "{model}");
        let bug = verify(&file, &["-DN=3", "-DBUG"], &["--model", model]);
        assert_eq!(bug["violation"]["kind"], "assertion", "{bug}");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_porf"));
    let output = command.arg("verify").arg(&file).args(["--", "-DN=8"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("1 of about 40320 executions, up to symmetry"), "{text}");
    std::fs::remove_file(file).unwrap();
}

/// An attempt to take both locks that fails is not followed. No flag is needed for C++17.
#[test]
fn two_locks_are_taken_in_two_ways() {
    let file = source("both", BOTH_LOCKS);
    for model in ["c20", "rc11", "sc", "tso", "pso", "ra", "sra"] {
        let answer = verify(&file, &[], &["--model", model]);
        assert_eq!(counts(&answer).0, 2, "{model}");
        assert!(answer["reduced"]["net-effect"].as_u64() > Some(0), "{model}: {answer}");
        assert!(answer["peak_bytes"].as_u64() < Some(600 << 20), "{model}: {answer}");
    }
    let all = verify(&file, &[], &["--unroll", "1", "--no-reduce", "all"]);
    assert_eq!(all["verdict"], "safe", "{all}");
    std::fs::remove_file(file).unwrap();
}

/// What `one` reads of y, which x comes first and who is done first are three choices. If `one` reads 1, its x comes
/// after that of `two`: six executions.
#[test]
fn sections_that_a_program_defines_are_sections() {
    let file = source("sections", SECTIONS);
    let answer = verify(&file, &[], &["--model", "sc"]);
    assert_eq!(counts(&answer).0, 6, "{answer}");
    let bug = verify(&file, &["-DBUG"], &["--model", "sc"]);
    assert_eq!(bug["violation"]["kind"], "assertion", "{bug}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn estimates_have_an_interval() {
    let file = source("estimate", AINC);
    let exact = verify(&file, &["-DN=8"], &["--estimate"]);
    assert_eq!((&exact["estimate"], &exact["standard_error"]), (&1.0.into(), &0.0.into()), "{exact}");
    let rough = verify(&file, &["-DN=8"], &["--estimate", "--no-reduce", "symmetry"]);
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or_else(|| panic!("{rough}"));
    let (low, high) = (number(&rough["interval"][0]), number(&rough["interval"][1]));
    assert!(low <= number(&rough["estimate"]) && number(&rough["estimate"]) <= high, "{rough}");
    assert!((20_000.0..80_000.0).contains(&number(&rough["estimate"])), "{rough}, not 40,320");
    std::fs::remove_file(file).unwrap();
}
