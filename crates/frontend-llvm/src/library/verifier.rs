//! What verifiers offer to the programs they check.

use super::constant;
use super::table::{Call, KEEPS, Lowered, Row, USES, nothing, row};
use porf_event::FenceMode;
use porf_ir::{FaultKind, Instr, Operand, Reg};

pub const FUNCTIONS: &[Row] = &[
    row(&["__VERIFIER_assume", "__CPROVER_assume", "__ESBMC_assume", "__goblint_assume"], KEEPS, assume),
    // SV-COMP's programs define these two. An assumption that does not hold aborts there, which is no error.
    row(&["assume_abort_if_not"], KEEPS, assume).replacing(),
    // The bodies of spin loops that a program marks. The end carries the condition to leave: where that
    // does not hold, an iteration that changed nothing waits for one of its reads to change.
    row(&["__VERIFIER_spin_start"], KEEPS, |c| {
        let (effects, memory) = spin(c);
        c.push(Instr::Move { dst: effects, src: Operand::Const(u64::MAX) });
        c.push(Instr::LoopHead { effects, memory, variables: [].into() });
        nothing(c)
    }),
    row(&["__VERIFIER_spin_end"], KEEPS, |c| {
        let (effects, memory) = spin(c);
        let (cond, b) = (c.arg(0), &mut c.body.b);
        let (on, wait) = (b.label(), b.label());
        b.branch(cond, on, wait);
        b.bind(wait);
        b.push(Instr::LoopHead { effects, memory, variables: [].into() });
        b.bind(on);
        nothing(c)
    }),
    row(
        &["__VERIFIER_loop_begin", "__VERIFIER_loop_bound", "__VERIFIER_opt_begin", "__ESBMC_yield"],
        KEEPS,
        nothing,
    ),
    // Hints for an analysis by abstraction, which loses what we do not lose.
    row(
        &["__goblint_assume_join", "__goblint_bounded", "__goblint_globalize", "__goblint_split_*"],
        USES,
        nothing,
    ),
    row(&["reach_error"], KEEPS, error).replacing(),
    row(&["__VERIFIER_error"], KEEPS, error),
    // C programs that leave out the header call a function by the name of the macro.
    row(&["__VERIFIER_assert", "__goblint_assert", "__goblint_check", "assert"], KEEPS, |c| {
        let message = format!("{} fails", c.name).into();
        c.push(Instr::Assert { cond: c.arg(0), message });
        nothing(c)
    }),
    row(&["__CPROVER_assert", "__ESBMC_assert"], KEEPS, |c| {
        let text = c.body.tr.text_at(c.arg(1)).unwrap_or_else(|| c.name.to_string());
        c.push(Instr::Assert { cond: c.arg(0), message: format!("assertion `{text}` fails").into() });
        nothing(c)
    }),
    // An atomic section excludes other atomic sections; whoever looks at executions sees to single accesses. Some of
    // SV-COMP's programs define the two functions by a global variable and assumptions about it. Its rules say what
    // they mean, and as sections they can be left unordered.
    row(&["__VERIFIER_atomic_begin", "__CPROVER_atomic_begin", "__ESBMC_atomic_begin"], KEEPS, |c| {
        let address = section(c);
        c.push(Instr::Lock { address });
        nothing(c)
    })
    .replacing(),
    row(&["__VERIFIER_atomic_end", "__CPROVER_atomic_end", "__ESBMC_atomic_end"], KEEPS, |c| {
        let address = section(c);
        c.push(Instr::Unlock { address });
        nothing(c)
    })
    .replacing(),
    row(&["porf_choose"], KEEPS, |c| match constant(c.arg(0)) {
        Some(options @ 1..=0xffff) => choose(c, options as u32),
        _ => Err("porf_choose of a number that is no constant between 1 and 65535".to_string()),
    }),
    row(&["__porf_keep"], USES, nothing),
    row(&["__sync_synchronize"], KEEPS, |c| {
        c.push(Instr::Fence { mode: FenceMode::SeqCst });
        nothing(c)
    }),
];

fn assume(c: &mut Call<'_, '_, '_>) -> Lowered {
    c.push(Instr::Assume { cond: c.arg(0) });
    nothing(c)
}

fn error(c: &mut Call<'_, '_, '_>) -> Lowered {
    c.body.fail(FaultKind::Assertion, &format!("{}() is reached", c.name));
    nothing(c)
}

fn choose(c: &mut Call<'_, '_, '_>, options: u32) -> Lowered {
    let dst = c.body.b.register("choice");
    c.push(Instr::Nondet { dst, options });
    Ok(vec![dst.into()])
}

/// Where the function notes what was when an iteration began.
fn spin(c: &mut Call<'_, '_, '_>) -> (Reg, Reg) {
    let body = &mut *c.body;
    *body.spin.get_or_insert_with(|| (body.b.register(""), body.b.register("")))
}

/// The name of the lock of atomic sections.
pub const SECTION: &str = "atomic section";

/// The lock of atomic sections.
fn section(c: &mut Call<'_, '_, '_>) -> Operand {
    Operand::Const(c.body.tr.library_global(SECTION, 4))
}
