//! Memory as the sampler has it.

use crate::support::{PORF, build_text, directory, sample, two};
use std::process::Command;

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
fn acquire_release_volatiles_do_not_race() {
    let program = build_text("volatile", &two("volatile int f; int d;", "d = 1; f = 1;", "if (f) d++;"));
    let report = sample(&program, &["--executions", "300", "--volatile", "acqrel"], &[]);
    assert_eq!(report["verdict"], "safe", "{report}");
}

#[test]
fn volatile_accesses_may_be_plain() {
    let program = build_text("volatile_plain", &two("volatile int x;", "x = 1;", "x = 2;"));
    assert_eq!(sample(&program, &["--executions", "20"], &[])["verdict"], "safe");
    let report = sample(&program, &["--executions", "20", "--volatile", "plain"], &[]);
    assert_eq!(report["findings"][0]["kind"], "race", "{report}");
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
