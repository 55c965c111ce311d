//! Formatted output: silent unless the interpreter is asked to show it.

use super::memory;
use super::table::{Call, KEEPS, Lowered, Row, USES, row, zero};
use crate::translate::Body;
use crate::translate::types::Unsupported;
use porf_event::{ReadMode, WriteMode};
use porf_ir::{BinOp, Instr, IntOp, MathOp, Operand, Reg, Width};

pub const FUNCTIONS: &[Row] = &[
    row(&["printf"], USES, |c| print(c, c.arg(0), c.arg(1))),
    row(&["fprintf"], USES, |c| print(c, c.arg(1), c.arg(2))),
    row(&["vprintf"], USES, |c| {
        let area = variable_arguments(c.body, c.arg(1));
        print(c, c.arg(0), area)
    }),
    row(&["vfprintf"], USES, |c| {
        let area = variable_arguments(c.body, c.arg(2));
        print(c, c.arg(1), area)
    }),
    row(&["puts"], USES, |c| print_word(c, "%s\n")),
    // A null pointer says nothing.
    row(&["perror"], USES, zero),
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

fn print(c: &mut Call<'_, '_, '_>, format: Operand, args: Operand) -> Lowered {
    if let Some(text) = c.body.tr.text_at(format) {
        read_strings(c, &text, args)?;
    }
    let dst = c.body.b.register("");
    c.push(Instr::Print { dst, format, args });
    Ok(vec![dst.into()])
}

/// Reads the strings that a format asks for, as printing them does. Each argument has 8 bytes.
fn read_strings(c: &mut Call<'_, '_, '_>, format: &str, args: Operand) -> Result<(), Unsupported> {
    let load = |c: &mut Call<'_, '_, '_>, index: u64| {
        let address = c.body.add(args, 8 * index);
        let dst = c.body.b.register("");
        c.push(Instr::Load { dst, address, size: 8, mode: ReadMode::Plain });
        Operand::Reg(dst)
    };
    let mut next = 0;
    for directive in directives(format) {
        let first = next;
        next += directive.stars + u64::from(directive.conversion != '%');
        match directive.conversion {
            'n' => return Err("printf conversion %n".to_string()),
            's' => {
                let text = load(c, first + directive.stars);
                let limit = match directive.precision {
                    None => Operand::Const(u64::MAX),
                    Some(Precision::Number(number)) => Operand::Const(number),
                    Some(Precision::Star) => load(c, first + directive.stars - 1),
                };
                c.routine(memory::strnlen, &[text, limit])?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// One `%…` of a format.
struct Directive {
    /// How many `*` it has: arguments before its own.
    stars: u64,
    precision: Option<Precision>,
    conversion: char,
}

enum Precision {
    Number(u64),
    Star,
}

fn directives(format: &str) -> Vec<Directive> {
    let mut found = Vec::new();
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            continue;
        }
        let (mut stars, mut precision) = (0, None);
        for c in rest.by_ref() {
            match c {
                '.' => precision = Some(Precision::Number(0)),
                '*' => {
                    stars += 1;
                    precision = precision.map(|_| Precision::Star);
                }
                '0'..='9' => {
                    if let Some(Precision::Number(number)) = &mut precision {
                        *number = 10 * *number + u64::from(c as u8 - b'0');
                    }
                }
                '-' | '+' | ' ' | '#' | 'h' | 'l' | 'z' | 'j' | 't' | 'q' | 'L' => {}
                conversion => {
                    found.push(Directive { stars, precision, conversion });
                    break;
                }
            }
        }
    }
    found
}

/// Prints the first argument by a format of our own.
fn print_word(c: &mut Call<'_, '_, '_>, format: &'static str) -> Lowered {
    let format = c.body.tr.literal(format);
    let area = c.body.b.register("");
    c.push(Instr::Local { dst: area, size: Operand::Const(8) });
    c.push(Instr::Store { address: area.into(), value: c.arg(0), size: 8, mode: WriteMode::Plain });
    print(c, format, area.into())
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
