//! Random programs in which threads allocate a node, write to it and push it on a stack, in a loop.
//!
//! Others take the node from there, or know it from a pointer in disguise, and read it or write to it, with all
//! orderings. The text form has no allocations, so these are put in afterwards, and the globals become those of C.

use super::Source;
use super::support::generate::Random;
use porf_ir::{AllocKind, Instr, Operand, Program};
use std::fmt::Write;

/// Stands for a new node.
const NEW: u64 = 7_777;

fn pushing(random: &mut Random, name: &str) -> String {
    let first = random.pick(&["rlx", "acq", "sc"]);
    let both = random.pick(&["rel", "rel", "rel", "acqrel", "sc", "rlx"]);
    let failure = random.pick(&["rlx", "acq"]);
    let store = random.pick(&["na", "na", "rlx", "rel"]);
    let load = random.pick(&["rlx", "na"]);
    let take = format!("t.cas(r, n, {both}, {failure})");
    let fill = match random.below(6) {
        0..3 => format!("*n.{store} = (r >> 36) + 3;"),
        3 => format!("*n.{store} = (r >> 36) + 3; *m.{store} = 1;"),
        // Not in every iteration.
        4 => format!("if r != 0 {{ *n.{store} = (r >> 36) + 3 }}"),
        _ => format!("d = *m.{load}; *m.{store} = (r >> 36) + 3; *n.{store} = d;"),
    };
    let again = random.pick(&["r = o;", "r = t.rlx;", "r = t.acq;"]);
    let fence = random.pick(&["", "", "", "fence rel;", "fence sc;"]);
    // Others may know where the node is before it is pushed.
    let shown = match random.below(4) {
        0 => random.pick(&["u.rel = n * 2;", "u.rlx = n * 2;", "u.rel = n;"]),
        _ => "",
    };
    let start = random.pick(&["", "*n.rlx = 1;", "*n.na = 1;"]);
    format!(
        "fn {name}() {{ d = 0; n = {NEW}; m = n + 4; *m.na = 2; {start} {shown} r = t.{first}; {fill} {fence} \
         o = {take}; while o != r {{ {again} {fill} {fence} o = {take} }} return r }}\n"
    )
}

fn looking(random: &mut Random) -> String {
    let find = random.pick(&["rlx", "acq", "acq", "acq", "sc"]);
    let load = random.pick(&["rlx", "rlx", "na", "acq"]);
    let store = random.pick(&["rlx", "na", "rel"]);
    let known = random.pick(&["p = t", "p = t", "p = u"]);
    let half = if known == "p = u" { "/ 2" } else { "" };
    let then = match random.below(6) {
        0..3 => format!("b = *p.{load}"),
        3 => format!("b = *p.{load}; c = *p.{load}"),
        4 => format!("*p.{store} = 9"),
        _ => format!("p = p + 4; b = *p.{load}"),
    };
    match random.below(4) {
        0..3 => format!("{known}.{find} {half}; if p != 0 {{ {then} }} "),
        _ => format!("p = t.{find}; if p != 0 {{ c = t.cas(p, 0, acqrel, rlx); if c == p {{ {then} }} }} "),
    }
}

fn text(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = format!("program nodes{seed}\nglobal t: 8, u: 8\n");
    let mut code = String::new();
    let threads = random.pick(&[2, 2, 3]);
    for thread in 0..threads {
        write!(code, "thread P{thread} {{ a = 0; b = 0; c = 0; p = 0; ").unwrap();
        let pushes = thread == 0 || random.below(2) == 0;
        if pushes {
            text.push_str(&pushing(&mut random, &format!("f{thread}")));
            write!(code, "a = f{thread}(); ").unwrap();
        }
        if !pushes || random.below(4) == 0 {
            code.push_str(&looking(&mut random));
        }
        if !pushes && random.below(4) == 0 {
            write!(code, "t.{} = 0", random.pick(&["rlx", "rel"])).unwrap();
        }
        code.push_str("}\n");
    }
    text + &code
}

/// Gives the program the globals of C, and nodes.
fn as_in_c(program: &mut Program) {
    let mut moved = Vec::new();
    for global in std::mem::take(&mut program.globals) {
        let bytes = vec![0; global.size as usize].into();
        moved.push((global.address, program.add_static(&global.name, false, 8, bytes)));
    }
    for instr in program.functions.iter_mut().flat_map(|function| &mut function.code) {
        match instr {
            Instr::Load { address, .. }
            | Instr::Store { address, .. }
            | Instr::Rmw { address, .. }
            | Instr::Cas { address, .. } => {
                if let Operand::Const(old) = *address {
                    let (_, new) = moved.iter().find(|(known, _)| *known == old).expect("a global");
                    *address = Operand::Const(*new);
                }
            }
            Instr::Move { dst, src: Operand::Const(NEW) } => {
                let (size, align) = (Operand::Const(8), 8);
                *instr = Instr::Alloc { dst: *dst, size, align, kind: AllocKind::Heap };
            }
            _ => {}
        }
    }
}

pub fn source(seed: u64, _: u64) -> Source {
    let text = text(seed);
    let mut program = porf_ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    as_in_c(&mut program);
    (program, text, 3)
}
