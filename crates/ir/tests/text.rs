//! The text form: what is written is read, what is printed is read back, errors have a place.

use porf_ir::{Program, parse, print};

const EXAMPLE: &str = r#"
program example
global x, y = 7, table[4], big: 8, m
fn worker(limit) {
    i = 0
    while i < limit {
        lock m
        v = x.na
        x.na = v + 1
        unlock m
        i = i + 1
    }
    return i * 2
}
fn wait(n) {
    r = y.acq
    while r != n { r = y.acq }
    if r == 3 && x.rlx > 0 { fence sc } else if !r { assume 0 } else { big.rel = 0x10 }
    old = x.fetch_add(1, acqrel)
    was = table[old % 4].cas(0, 1, sc, rlx)
    p = &table[2]
    *(p + 4).rlx = 5
    q = *p.rlx
    assert q != was || old == 0, "no \"luck\""
}
thread P0 {
    t = spawn worker(2)
    n = worker(1) + nondet(3)
    join t
    y.rel = n; fence acq
    got = trylock m
}
thread P1 = wait(3)
"#;

fn without_places(mut program: Program) -> Program {
    for function in &mut program.functions {
        function.spans = vec![Default::default(); function.code.len()];
    }
    program
}

#[test]
fn what_is_printed_is_read_back() {
    let program = parse(EXAMPLE).unwrap();
    assert_eq!(program.threads.len(), 2);
    assert_eq!(program.functions.len(), 3);
    let printed = print(&program);
    assert!(!printed.contains("no text form"), "{printed}");
    let again = parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(without_places(program), without_places(again));
}

#[track_caller]
fn fails(text: &str, expected: &str) {
    assert_eq!(parse(text).unwrap_err().to_string(), expected);
}

#[test]
fn errors_have_a_place() {
    fails(
        "global x\nthread P0 { x.foo = 1 }",
        "2:15: foo is no access: na, rlx, acq, sc, fetch_add(…), cas(…), …",
    );
    fails("thread P0 { r = z }", "1:17: z has no value yet");
    fails("global x, x", "1:11: x is defined twice");
    fails(
        "thread P0 { fence strong }",
        "1:19: strong is not a fence: acq, rel, acqrel, sc, mfence, sfence, lfence, isb, sync, lwsync, isync, eieio, mb, rmb, wmb",
    );
    fails("thread P0 {", "1:11: expected an expression");
    fails("thread P0 { r = spawn f(1) }", "1:23: there is no function f");
    fails("global x\nthread P0 { x.rlx = ä }", "2:21: ä has no value yet");
    fails("global x\nthread P0 { assert 1 == 1, \"größer\"; r = z }", "2:42: z has no value yet");
    fails("thread P0 { r = \"x }", "1:17: this text has no end");
}
