//! What is not understood is named, with its place.

use porf_frontend_litmus::parse;

#[track_caller]
fn check(text: &str, expected: &str) {
    match parse("t.litmus", text) {
        Ok(_) => panic!("accepted"),
        Err(diagnostic) => assert_eq!(diagnostic.to_string(), expected),
    }
}

#[test]
fn heads() {
    check("", "t.litmus:1:1: expected an architecture ('C', 'AArch64', 'PPC', …), found the end of the file");
    check("MIPS a\n{}\n", "t.litmus:1:1: architecture 'MIPS' is not supported");
    check("C a\n", "t.litmus:2:1: the test has no initial state '{ … }'");
    check("C a\n{ x=1;\n", "t.litmus:3:1: the initial state has no end '}'");
    check("C a\n{ float x; }\n", "t.litmus:2:3: type 'float' is not supported");
    check("PPC a\n{ 1:r1=x; }\n P0 ;\n li r1,1 ;\nexists (0:r1=1)", "t.litmus:2:3: there is no thread 1");
}

/// Columns count characters: `ü` is one, and two bytes.
#[test]
fn columns_behind_other_characters() {
    check("C a\n{ (* ü *) float x; }\n", "t.litmus:2:11: type 'float' is not supported");
    check(
        "C a\n{}\nP0(int *x) {\n  /* größer */ goto end;\n}\nexists (x=1)\n",
        "t.litmus:4:16: 'goto' is not supported",
    );
}

#[test]
fn c() {
    let c = |code: &str| format!("C a\n{{}}\nP0(int *x) {{\n  {code}\n}}\nexists (x=1)\n");
    check(
        &c("r0 = foo(x);"),
        "t.litmus:4:8: 'foo' is not supported: no primitive of C11 or the Linux kernel",
    );
    check(&c("READ_ONCE(x);"), "t.litmus:4:13: expected a place in memory, '*x'");
    check(&c("goto end;"), "t.litmus:4:3: 'goto' is not supported");
    check(&c("r0 = x[1];"), "t.litmus:4:9: arrays are not supported in C code");
    check(&c("r0 = x->f;"), "t.litmus:4:9: structures are not supported");
    check(&c("r0 = *x && 1;"), "t.litmus:4:8: '&&' and '||' of memory accesses are not supported");
    check(&c("atomic_load(x, 1);"), "t.litmus:4:3: 'atomic_load' takes 1 arguments");
    check(
        &c("atomic_store_explicit(x, 1, seq_cst);"),
        "t.litmus:4:31: expected a memory order, 'memory_order_…'",
    );
    check(&c("r0++;"), "t.litmus:4:5: '++', '--', '+=' and '-=' are not supported");
    check(&c("r0 = 1"), "t.litmus:5:1: expected ';', found '}'");
}

#[test]
fn assembly() {
    let arm = |row: &str| format!("AArch64 a\n{{ 0:X1=x; }}\n P0 ;\n {row} ;\nexists (x=1)\n");
    check(&arm("LDXP X0,X1,[X2]"), "t.litmus:4:2: instruction 'LDXP' is not supported");
    check(&arm("LDR W40,[X1]"), "t.litmus:4:6: expected a register, found 'W40'");
    check(&arm("B L0"), "t.litmus:4:4: label 'L0' is not defined");
    check(&arm("DMB FOO"), "t.litmus:4:6: 'foo' is no option of a barrier");
    check(&arm("MOV W0,#1 W2"), "t.litmus:4:12: expected the end of the instruction, found 'W2'");
    check(&arm("B.EQ L0"), "t.litmus:4:9: nothing has been compared before this condition");
    check("X86 a\n{}\n P0 | P2 ;\nexists (x=1)\n", "t.litmus:3:9: expected thread P1, found 'P2'");
}

#[test]
fn conditions() {
    let with = |condition: &str| format!("C a\n{{}}\nP0(int *x) {{ *x = 1; }}\n{condition}\n");
    check(&with("exists (x=)"), "t.litmus:4:11: expected a value: a number or a variable, found ')'");
    check(&with("exists (x 1)"), "t.litmus:4:11: expected '=' or '!=', found '1'");
    check(&with("exists (1:r0=1)"), "t.litmus:4:9: there is no thread 1");
    check(&with("exists (x=1) x"), "t.litmus:4:14: expected the end of the test, found 'x'");
    check(&with("exists (fault(P0))"), "t.litmus:4:9: faults are not supported");
    let deep = format!("exists {}x=1", "(".repeat(1000));
    check(&with(&deep), "t.litmus:4:108: nested too deeply");
}
