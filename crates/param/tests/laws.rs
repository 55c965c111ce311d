//! What the prover says of all processes at once, and what claims and assumptions are good for.

use porf_param::prove::laws;
use porf_param::{Approximation, Memory, Request, load, prove};
use porf_verdict::Verdict;

fn corpus(name: &str) -> String {
    let path = format!("{}/../../corpus/prove/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("a system of the corpus")
}

fn words(name: &str) -> Vec<String> {
    let system = load(&corpus(name)).expect("a system");
    laws(&system, Memory::Sc).expect("laws").iter().map(|law| law.words(&system)).collect()
}

#[test]
fn counters_follow_the_places_of_processes() {
    for (name, law) in [
        ("rw-counter.cub", "Count = #(PC = R) - #(PC = W)"),
        ("refcount.cub", "Count + [Linked = False] = #(PC = Use) + 1"),
        ("barrier-counter.cub", "Parties - Count = #(PC = Before)"),
        ("readers-count.cub", "Count = #(PC = First) + #(PC = Read) + #(PC = Leave)"),
        ("german-data.cub", "if Granted = True, then some process has Sharer = True"),
    ] {
        let found = words(name);
        assert!(found.iter().any(|other| other == law), "{name}: {found:?}");
    }
}

/// A step that forgets to count leaves no law.
#[test]
fn a_counter_that_is_wrong_once_has_no_law() {
    let text = corpus("rw-counter.cub")
        .replace("PC[i] := Out; Count := Count - 1", "PC[i] := Out; Count := Count - 2");
    let system = load(&text).expect("a system");
    assert_eq!(laws(&system, Memory::Sc).expect("laws"), []);
}

/// Initial states obey the assumptions: there is one process of kind A, so no two are at L.
#[test]
fn initiation_uses_assumptions() {
    let system = |assumption: &str| {
        format!(
            "type kind = A | B\ntype loc = L | M\nconst Kind[proc] : kind\narray PC[proc] : loc\n{assumption}\
             init (i) {{ (Kind[i] = A && PC[i] = L) || (Kind[i] = B && PC[i] = M) }}\n\
             unsafe (i j) {{ PC[i] = L && PC[j] = L }}\n\
             transition stay (i) requires {{ PC[i] = M }} {{ PC[i] := M }}\n"
        )
    };
    let verdict = |text: String| {
        prove(&load(&text).expect("a system"), Request { memory: Memory::Sc, ..Request::default() })
    };
    let with = verdict(system("assume (i j) { Kind[i] = A && Kind[j] = A }\n")).expect("an answer");
    assert!(matches!(with.verdict, Verdict::Safe(_)), "{:?}", with.verdict);
    let without = verdict(system("")).expect("an answer");
    assert!(matches!(without.verdict, Verdict::Violated(_)), "{:?}", without.verdict);
}

/// Claims are proved along, and one that is wrong is dropped: the exact search alone does not end without them.
#[test]
fn claims_are_proved_along() {
    let claims = "invariant (i j) { (PC[i] = Wait || PC[i] = CS) && (PC[j] = Wait || PC[j] = CS) && My[i] = My[j] }\n\
        invariant (i) { (PC[i] = Wait || PC[i] = CS) && i@Next <= My[i] }\n\
        invariant (i j) { (PC[j] = Wait || PC[j] = CS) && My[j] < i@Serving }\n\
        invariant (i) { (PC[i] = Wait || PC[i] = CS) && My[i] < i@Serving }\n\
        invariant (i j) { PC[i] = CS && (PC[j] = Wait || PC[j] = CS) && My[j] < My[i] }\n\
        invariant (i) { i@Next < i@Serving }\n";
    let text = |more: &str| corpus("ticket-lock-plain.cub").replace("unsafe ", &format!("{more}unsafe "));
    let request = Request {
        memory: Memory::Tso,
        approximation: Approximation::Never,
        explore_first: false,
        max_work: 20_000_000,
        ..Request::default()
    };
    let answer = |text: String| prove(&load(&text).expect("a system"), request).expect("an answer");
    let with = answer(text(claims));
    assert!(matches!(with.verdict, Verdict::Safe(_)), "{:?}", with.verdict);
    assert_eq!(with.statistics.dropped_lemmas, 0);
    let wrong = answer(text(&format!("{claims}invariant (i) {{ PC[i] = Wait }}\n")));
    assert!(matches!(wrong.verdict, Verdict::Safe(_)), "{:?}", wrong.verdict);
    assert_eq!(wrong.statistics.dropped_lemmas, 1);
    assert!(matches!(answer(text("")).verdict, Verdict::Inconclusive(_)));
}
