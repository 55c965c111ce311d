//! `<math.h>`, and the absolute values of `<stdlib.h>`.

use super::table::{Call, KEEPS, Lowered, Row, USES, row};
use porf_ir::{Instr, IntOp, MathOp, Operand, Precision, Width};

pub const FUNCTIONS: &[Row] = &[
    row(&["abs"], USES, |c| math(c, MathOp::Integer(IntOp::Abs, Width::W32))),
    row(&["labs", "llabs"], USES, |c| math(c, MathOp::Integer(IntOp::Abs, Width::W64))),
    row(
        &[
            "fabs",
            "sqrt",
            "floor",
            "ceil",
            "trunc",
            "round",
            "rint",
            "nearbyint",
            "fmin",
            "fmax",
            "copysign",
            "pow",
            "exp",
            "exp2",
            "log",
            "log2",
            "log10",
            "sin",
            "cos",
            "tan",
            "fmod",
            "atan2",
        ],
        KEEPS,
        |c| float(c, c.name, Precision::Double),
    ),
    // Names end in `f` for single precision.
    row(
        &[
            "fabsf",
            "sqrtf",
            "floorf",
            "ceilf",
            "truncf",
            "roundf",
            "rintf",
            "nearbyintf",
            "fminf",
            "fmaxf",
            "copysignf",
            "powf",
            "expf",
            "exp2f",
            "logf",
            "log2f",
            "log10f",
            "sinf",
            "cosf",
            "tanf",
            "fmodf",
            "atan2f",
        ],
        KEEPS,
        |c| float(c, &c.name[..c.name.len() - 1], Precision::Single),
    ),
    // And in `l` for `long double`.
    row(
        &[
            "fabsl",
            "sqrtl",
            "floorl",
            "ceill",
            "truncl",
            "roundl",
            "rintl",
            "nearbyintl",
            "fminl",
            "fmaxl",
            "copysignl",
            "powl",
            "expl",
            "exp2l",
            "logl",
            "log2l",
            "log10l",
            "sinl",
            "cosl",
            "tanl",
            "fmodl",
            "atan2l",
        ],
        KEEPS,
        extended,
    ),
];

fn extended(c: &mut Call<'_, '_, '_>) -> Lowered {
    let op = crate::translate::float_operation(&c.name[..c.name.len() - 1])
        .ok_or_else(|| format!("a call of {}", c.name))?;
    // Each argument has two words.
    let (a, b) = c.args.split_at_checked(2).ok_or_else(|| format!("a call of {} with no number", c.name))?;
    c.body.extended_arithmetic(op, a, if b.is_empty() { a } else { b })
}

fn float(c: &mut Call<'_, '_, '_>, name: &str, precision: Precision) -> Lowered {
    let op = crate::translate::float_operation(name).ok_or_else(|| format!("a call of {name}"))?;
    math(c, MathOp::Float(op, precision))
}

fn math(c: &mut Call<'_, '_, '_>, op: MathOp) -> Lowered {
    let a = c.arg(0);
    let b: Operand = c.args.get(1).copied().unwrap_or(a);
    let dst = c.body.b.register("");
    c.push(Instr::Math { dst, op, a, b });
    Ok(vec![dst.into()])
}
