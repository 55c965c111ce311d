//! A search ends where its limits say, also within a single pre-image or comparison of two cubes.
//!
//! The systems have few cubes that are hard to handle: without a count of the work inside, 100 cubes of any of them
//! take minutes, and neither a limit, nor the clock, nor an interrupt was looked at in between.

use porf_param::prove::{Candidates, Options, Order, Outcome, Search, search};
use porf_param::{Memory, Request, load, prove};
use porf_verdict::{Limit, Verdict};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Cubes with many processes in a partial order: very many renamings. X counts nobody, because of the
/// last step.
const ORDERED: &str = "
type loc = A | B | C
array PC[proc] : loc
array N[proc] : int
var X : int
var Y : int
var T : proc
array U[proc] : proc
init (p) { PC[p] = A && N[p] = 0 && X = 0 && Y = 1 && U[p] = p }
unsafe (p) { X > 0 && PC[p] = C }
transition t0 (p) requires { PC[p] = A && Y <> 1 && X < 1 } { PC[p] := B; T := p }
transition t1 (p q) requires { PC[p] = B && N[p] < Y + 2 && X < 3 && Y < 4 && N[p] < 4 } { PC[p] := A; U[p] := q; Y := N[p] + 1 }
transition t2 (p q) requires { PC[p] = C && X < 3 && p < q && Y < 4 && N[p] < 4 } { PC[p] := B; X := X + 1 }
transition t3 (p) requires { PC[p] = C && X < -100 } { PC[p] := A }";

/// An update of a whole array: alternatives for each process of a cube.
const WHOLE_ARRAY: &str = "
type loc = A | B | C
array PC[proc] : loc
array N[proc] : int
var X : int
var Y : int
var T : proc
init (p) { PC[p] = A && N[p] = 0 && X = 0 && Y = 1 }
unsafe (p) { X > 1 && PC[p] = C }
transition t0 (p) requires { PC[p] = A && Y <> 2 } { PC[p] := A; T := p; X := 0; Y := X }
transition t1 (p) requires { PC[p] = B && N[p] < Y && Y <> 2 } { PC[p] := A; N[j] := case | j = p : Y | N[j] = X : 0 | _ : N[j]; Y := 2 }
transition t2 (p) requires { PC[p] = C && X = N[p] } { PC[p] := A; X := X + 1 }";

/// A write that many waiting reads may take, miss or come after.
const RACY: &str = "
type loc = A | B1 | C1 | D1 | B2 | C2 | D2
type val = Zero | One
array PC[proc] : loc
weak var X : val
weak var Y : val
init (p) { PC[p] = A && X = Zero && Y = Zero }
unsafe (p q) { PC[p] = D1 && PC[q] = D2 }
transition b1 ([p] q) requires { PC[p] = A } { PC[p] := B1; X := One }
transition c1 ([p] q) requires { PC[p] = B1 && Y = One } { PC[p] := C1 }
transition d1 ([p] q) requires { PC[p] = C1 && Y = Zero } { PC[p] := D1 }
transition b2 ([p] q) requires { PC[p] = A } { PC[p] := B2; Y := One }
transition c2 ([p] q) requires { PC[p] = B2 && Y = One } { PC[p] := C2 }
transition d2 ([p] q) requires { PC[p] = C2 } { PC[p] := D2; X := One; Y := One }";

const UNLIMITED: Options<'_> = Options {
    memory: Memory::Pso,
    order: Order::Issue,
    candidates: Candidates::None,
    small: (3, 6_000),
    sliced: false,
    robust: false,
    jobs: 1,
    max_nodes: usize::MAX,
    max_work: u64::MAX,
    max_time: Duration::MAX,
    max_restarts: usize::MAX,
    interrupt: None,
};

fn run(text: &str, options: Options<'_>) -> Search {
    let system = load(text).unwrap_or_else(|error| panic!("{error} in {text}"));
    // Without weak variables there is one memory.
    let options = Options { memory: if system.has_weak() { options.memory } else { Memory::Sc }, ..options };
    search(&system, options).unwrap_or_else(|error| panic!("{error} in {text}"))
}

fn limit(search: &Search) -> Limit {
    match &search.outcome {
        Outcome::Unknown(limit) => limit.clone(),
        _ => panic!("not ended by a limit"),
    }
}

#[test]
fn a_hundred_cubes_are_no_more_than_so_much_work() {
    // Symmetry and early checks: with neither these took minutes.
    for text in [WHOLE_ARRAY, RACY] {
        let found = run(text, Options { max_nodes: 100, ..UNLIMITED });
        assert!(matches!(found.outcome, Outcome::Unknown(_)));
        assert!(found.statistics.work < 50_000_000, "{} steps for\n{text}", found.statistics.work);
    }
}

#[test]
fn the_limit_of_work_ends_a_search_at_the_same_place() {
    for text in [ORDERED, RACY] {
        let options = Options { max_work: 3_000_000, ..UNLIMITED };
        let (once, again) = (run(text, options), run(text, options));
        assert_eq!(limit(&once), Limit::Other("limit of 3000000 steps of work reached".into()));
        assert_eq!(
            (once.statistics.nodes, once.statistics.work),
            (again.statistics.nodes, again.statistics.work)
        );
        // Work is counted in portions.
        assert!((3_000_000..3_100_000).contains(&once.statistics.work), "{}", once.statistics.work);
    }
}

#[test]
fn candidates_are_work_too() {
    let options = Options { candidates: Candidates::Bold, max_work: 10_000, ..UNLIMITED };
    assert_eq!(limit(&run(RACY, options)), Limit::Other("limit of 10000 steps of work reached".into()));
}

#[test]
fn the_clock_ends_a_search() {
    for text in [ORDERED, RACY] {
        let found = run(text, Options { max_time: Duration::from_millis(50), ..UNLIMITED });
        assert_eq!(limit(&found), Limit::Time { seconds: 0 });
    }
}

#[test]
fn an_interrupt_ends_a_search() {
    let flag = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            flag.store(true, Ordering::Relaxed);
        });
        let found = run(ORDERED, Options { interrupt: Some(&flag), ..UNLIMITED });
        assert_eq!(limit(&found), Limit::Interrupted);
    });
    // Set from the beginning, it leaves no time for anything.
    let system = load(RACY).expect("a system");
    let request = Request { memory: Memory::Tso, interrupt: Some(&flag), ..Request::default() };
    let answer = prove(&system, request).expect("an answer");
    assert!(matches!(answer.verdict, Verdict::Inconclusive(Limit::Interrupted)));
}

#[test]
fn the_whole_answer_names_the_whole_limit() {
    let system = load(WHOLE_ARRAY).expect("a system");
    let request = Request { memory: Memory::Sc, max_work: 1_000, ..Request::default() };
    let answer = prove(&system, request).expect("an answer");
    let Verdict::Inconclusive(limit) = answer.verdict else { panic!("decided with a thousand steps") };
    assert_eq!(limit.to_string(), "limit of 1000 steps of work reached");
}
