//! Loops that look at a clock.
//!
//! Time stands still in Porf (in the year 2001), but not on a machine: such a loop ends there, so it is no endless wait.
//! An answer names it, because what happens after a time-out is not explored. C17 7.27 and POSIX say that clocks go on.

use porf::{Input, LoadOptions, Model, Request, verify};
use porf_verdict::{Coverage, Limit, Verdict};

const BEFORE: &str = "
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
static atomic_int flag;
static void *set(void *arg) { (void)arg; atomic_store(&flag, 1); return 0; }
static int look(void) { return time(0) >= 2000000000; }
";

/// A program whose `main` is `body`, in the last line.
fn answer(name: &str, body: &str) -> Verdict {
    let path = std::env::temp_dir().join(format!("porf-clock-{}-{name}.c", std::process::id()));
    std::fs::write(&path, format!("{BEFORE}int main(void) {{ {body} return 0; }}")).expect("a file");
    let input = Input::load(std::slice::from_ref(&path), &LoadOptions::default()).expect("a program");
    let answer = verify(&input, &Request::new(Model::Rc11)).expect("an answer");
    let _ = std::fs::remove_file(path);
    answer.verdict
}

const START: &str = "pthread_t t; pthread_create(&t, 0, set, 0);";
const JOIN: &str = "pthread_join(t, 0);";

/// Whether the verdict is safe, and the lines of the loops in which no time passes.
fn is_safe_without_time(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Safe(Coverage::Bounded { clocks, .. }) if clocks.len() == 1 && clocks[0].line == 8)
}

#[test]
fn a_loop_that_gives_up_by_the_clock_is_no_endless_wait() {
    for (name, body) in [
        ("break", "while (!atomic_load(&flag)) if (time(0) >= 2000000000) break;"),
        ("first", "while (time(0) < 2000000000 && !atomic_load(&flag)) {}"),
        ("calls", "while (!atomic_load(&flag)) if (look()) break;"),
        (
            "lock",
            "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; for (;;) { pthread_mutex_lock(&m); int f = flag; pthread_mutex_unlock(&m); if (f || look()) break; }",
        ),
    ] {
        let alone = answer(name, body);
        let is_incomplete =
            |limit: &Limit| matches!(limit, Limit::Incomplete { clocks, .. } if clocks.len() == 1);
        assert!(matches!(&alone, Verdict::Inconclusive(limit) if is_incomplete(limit)), "{name}: {alone:?}");
        let helped = answer(name, &format!("{START} {body} {JOIN}"));
        assert!(is_safe_without_time(&helped), "{name}: {helped:?}");
    }
}

#[test]
fn the_loops_around_it_and_inside_of_it_do_not_matter() {
    // The inner loop reads and does not look; the outer one looks.
    let body = "for (;;) { int n = 0; for (int i = 0; i < 2; i++) n += atomic_load(&flag); if (n || look()) break; }";
    let verdict = answer("inner", &format!("{START} {body} {JOIN}"));
    assert!(is_safe_without_time(&verdict), "{verdict:?}");
}

#[test]
fn a_loop_that_does_not_look_still_waits_for_ever() {
    for (name, body) in [
        ("before", "int late = look(); while (!late && !atomic_load(&flag)) {}"),
        ("after", "while (!atomic_load(&flag)) {} look();"),
        ("around", "do { while (!atomic_load(&flag)) {} } while (look());"),
        ("never", "while (!atomic_load(&flag)) {}"),
    ] {
        let verdict = answer(name, body);
        assert!(
            matches!(&verdict, Verdict::Violated(violation) if violation.kind == porf_verdict::ViolationKind::Liveness),
            "{name}: {verdict:?}"
        );
    }
}

#[test]
fn a_loop_that_nobody_waits_in_is_not_named() {
    let verdict = answer("ended", "atomic_store(&flag, 1); while (!atomic_load(&flag)) if (look()) break;");
    assert_eq!(verdict, Verdict::Safe(Coverage::Exhaustive));
}
