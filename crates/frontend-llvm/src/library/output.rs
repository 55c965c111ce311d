//! Formatted output: silent unless the interpreter is asked to show it.

use super::table::{Call, KEEPS, Lowered, Row, USES, row, zero};
use crate::translate::Body;
use porf_event::{ReadMode, WriteMode};
use porf_ir::{BinOp, Instr, IntOp, MathOp, Operand, Reg, Width};

pub const FUNCTIONS: &[Row] = &[
    row(&["printf"], USES, |c| print(c.body, c.arg(0), c.arg(1))),
    row(&["fprintf"], USES, |c| print(c.body, c.arg(1), c.arg(2))),
    row(&["vprintf"], USES, |c| {
        let area = variable_arguments(c.body, c.arg(1));
        print(c.body, c.arg(0), area)
    }),
    row(&["vfprintf"], USES, |c| {
        let area = variable_arguments(c.body, c.arg(2));
        print(c.body, c.arg(1), area)
    }),
    row(&["puts", "perror"], USES, |c| print_word(c, "%s\n")),
    row(&["fputs"], USES, |c| print_word(c, "%s")),
    row(&["putchar", "putc", "fputc"], KEEPS, |c| print_word(c, "%c")),
    row(&["snprintf"], USES, |c| format(c.body, c.arg(0), c.arg(1), c.arg(2), c.arg(3))),
    row(&["sprintf"], USES, |c| format(c.body, c.arg(0), Operand::Const(u64::MAX), c.arg(1), c.arg(2))),
    row(&["vsnprintf"], USES, |c| {
        let area = variable_arguments(c.body, c.arg(3));
        format(c.body, c.arg(0), c.arg(1), c.arg(2), area)
    }),
    row(&["fflush", "setbuf", "setvbuf", "fclose"], KEEPS, zero),
];

/// Where the arguments behind a `va_list` are: see `va_start`.
fn variable_arguments(body: &mut Body<'_, '_>, list: Operand) -> Operand {
    let address = body.add(list, 8);
    let dst = body.b.register("");
    body.b.push(Instr::Load { dst, address, size: 8, mode: ReadMode::Plain });
    dst.into()
}

fn print(body: &mut Body<'_, '_>, format: Operand, args: Operand) -> Lowered {
    let dst = body.b.register("");
    body.b.push(Instr::Print { dst, format, args });
    Ok(vec![dst.into()])
}

/// Prints the first argument by a format of our own.
fn print_word(c: &mut Call<'_, '_, '_>, format: &'static str) -> Lowered {
    let format = c.body.tr.literal(format);
    let area = c.body.b.register("");
    c.push(Instr::Local { dst: area, size: Operand::Const(8) });
    c.push(Instr::Store { address: area.into(), value: c.arg(0), size: 8, mode: WriteMode::Plain });
    print(c.body, format, area.into())
}

/// Formats into a private object and copies at most `limit` bytes of it to `to`.
fn format(body: &mut Body<'_, '_>, to: Operand, limit: Operand, template: Operand, args: Operand) -> Lowered {
    let row = body.b.register_row(2, "");
    body.b.push(Instr::Format { dst: row, format: template, args });
    let length: Operand = Reg(row.0 + 1).into();
    let (some, done) = (body.b.label(), body.b.label());
    body.b.branch(limit, some, done);
    body.b.bind(some);
    // As much as fits, then the zero.
    let room = body.bin(BinOp::Sub, Width::W64, limit, Operand::Const(1));
    let count = body.b.register("");
    let op = MathOp::Integer(IntOp::UMin, Width::W64);
    body.b.push(Instr::Math { dst: count, op, a: room, b: length });
    body.copy(to, row.into(), count.into(), &[], 1)?;
    let end = body.bin(BinOp::Add, Width::W64, to, count.into());
    body.b.push(Instr::Store { address: end, value: Operand::Const(0), size: 1, mode: WriteMode::Plain });
    body.b.bind(done);
    Ok(vec![length])
}
