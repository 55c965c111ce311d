//! Input: values that nothing in the program determines.

use super::table::{Call, KEEPS, Lowered, Row, USES, row};
use porf_ir::{InputType, Instr, Operand, Reg};

pub const FUNCTIONS: &[Row] = &[
    row(&["__VERIFIER_nondet_*", "nondet_*"], KEEPS, |c| {
        let name = c.name.trim_start_matches("__VERIFIER_").trim_start_matches("nondet_");
        match input_type(name) {
            Some(kind) => input(c, kind),
            None => Err(format!("{}, input of a type that is not known,", c.name)),
        }
    }),
    row(&["rand", "random", "rand_r"], USES, |c| input(c, InputType::Integer { bits: 31, signed: false })),
    row(&["getchar", "getc", "fgetc", "getchar_unlocked", "getc_unlocked"], USES, character),
    // For parts of the library in C: any text.
    row(&["__porf_text"], KEEPS, |c| Ok(vec![text(c).into()])),
    row(&["getenv", "secure_getenv"], KEEPS, variable),
];

/// The type that a name stands for.
fn input_type(name: &str) -> Option<InputType> {
    let (bits, signed) = match name {
        "bool" | "_Bool" => (1, false),
        "char" | "S8" | "s8" | "int8_t" => (8, true),
        "uchar" | "unsigned_char" | "U8" | "u8" | "uint8_t" => (8, false),
        "short" | "S16" | "s16" | "int16_t" => (16, true),
        "ushort" | "unsigned_short" | "U16" | "u16" | "uint16_t" => (16, false),
        "int" | "S32" | "s32" | "int32_t" => (32, true),
        "uint" | "unsigned" | "unsigned_int" | "U32" | "u32" | "uint32_t" => (32, false),
        "long" | "longlong" | "long_long" | "loff_t" | "ssize_t" | "S64" | "s64" | "int64_t" => (64, true),
        "ulong" | "ulonglong" | "unsigned_long" | "size_t" | "sector_t" | "U64" | "u64" | "uint64_t" => {
            (64, false)
        }
        // An address: null, or one where nothing is.
        "pointer" => (64, false),
        "float" => return Some(InputType::Float),
        "double" => return Some(InputType::Double),
        _ => return None,
    };
    Some(InputType::Integer { bits, signed })
}

fn asked(c: &mut Call<'_, '_, '_>, kind: InputType) -> Reg {
    let dst = c.body.b.register("input");
    c.push(Instr::Input { dst, kind, values: [].into() });
    dst
}

fn input(c: &mut Call<'_, '_, '_>, kind: InputType) -> Lowered {
    Ok(vec![asked(c, kind).into()])
}

/// A byte, or `EOF`.
fn character(c: &mut Call<'_, '_, '_>) -> Lowered {
    let is_end = asked(c, InputType::Integer { bits: 1, signed: false });
    let byte = asked(c, InputType::Integer { bits: 8, signed: false });
    let dst = c.body.b.register("character");
    c.push(Instr::Select { dst, cond: is_end.into(), a: Operand::Const(u32::MAX.into()), b: byte.into() });
    Ok(vec![dst.into()])
}

fn text(c: &mut Call<'_, '_, '_>) -> Reg {
    let values = c.body.tr.texts().into();
    let dst = c.body.b.register("text");
    c.push(Instr::Input { dst, kind: InputType::Text, values });
    dst
}

/// A variable of the environment: any text, or none. Rust's std asks for some of its own; none of these is set.
fn variable(c: &mut Call<'_, '_, '_>) -> Lowered {
    if c.body.tr.is_rust {
        return Ok(vec![Operand::Const(0)]);
    }
    let is_set = asked(c, InputType::Integer { bits: 1, signed: false });
    let (dst, set, end) = (c.body.b.register("variable"), c.body.b.label(), c.body.b.label());
    c.push(Instr::Move { dst, src: Operand::Const(0) });
    c.body.b.branch(is_set, set, end);
    c.body.b.bind(set);
    let text = text(c);
    c.push(Instr::Move { dst, src: text.into() });
    c.body.b.bind(end);
    Ok(vec![dst.into()])
}
