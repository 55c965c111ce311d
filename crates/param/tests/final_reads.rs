//! Reads in an unsafe formula happen when the run ends: fences and locked steps of all processes are over by then.
//! Taken back in coherence order alone, the read could be placed before them, and the trace did not replay.

use porf_param::{Memory, Request, load, prove};
use porf_verdict::Verdict;

fn check(text: &str, expected: [bool; 3]) {
    let system = load(text).unwrap_or_else(|error| panic!("{error}"));
    for (memory, safe) in Memory::ALL.into_iter().zip(expected) {
        let answer = prove(&system, Request { memory, ..Request::default() }).expect("an answer");
        match answer.verdict {
            Verdict::Safe(_) => assert!(safe, "{memory:?}"),
            Verdict::Violated(_) => assert!(!safe, "{memory:?}"),
            Verdict::Inconclusive(limit) => panic!("{memory:?}: {limit}"),
        }
    }
}

#[test]
fn a_locked_step_is_over() {
    check(
        "type loc = A | B\narray PC[proc] : loc\nweak var X : bool\n\
         init (i) { PC[i] = A && X = False }\n\
         unsafe (i j) { PC[i] = B && j@X = False }\n\
         transition t ([i]) requires { PC[i] = A && X = False } { PC[i] := B; X := True }\n",
        [true, true, true],
    );
}

#[test]
fn a_fence_is_over() {
    check(
        "type loc = A | B | C\narray PC[proc] : loc\nweak var X : bool\n\
         init (i) { PC[i] = A && X = False }\n\
         unsafe (i j) { PC[i] = C && j@X = False }\n\
         transition s ([i]) requires { PC[i] = A } { PC[i] := B; X := True }\n\
         transition f ([i]) requires { PC[i] = B && fence() } { PC[i] := C }\n",
        [true, true, true],
    );
}

#[test]
fn a_buffered_write_need_not_be() {
    check(
        "type loc = A | B\narray PC[proc] : loc\nweak var X : bool\n\
         init (i) { PC[i] = A && X = False }\n\
         unsafe (i j) { PC[i] = B && j@X = False }\n\
         transition s ([i]) requires { PC[i] = A } { PC[i] := B; X := True }\n",
        [true, false, false],
    );
}
