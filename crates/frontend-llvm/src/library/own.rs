//! What the parts of the library that are written in C and C++ (`runtime/`) ask for.

use super::table::{KEEPS, Row, nothing, row};
use porf_ir::Instr;

pub const FUNCTIONS: &[Row] = &[
    // The text is a constant: what the program wants.
    row(&["__porf_unsupported"], KEEPS, |c| {
        Err(c.body.tr.text_at(c.arg(0)).unwrap_or_else(|| "a call of the library".to_string()))
    }),
    row(&["__porf_unwind"], KEEPS, |c| {
        c.body.unwind(c.arg(0));
        nothing(c)
    }),
    row(&["__porf_exit_thread"], KEEPS, |c| {
        c.push(Instr::ExitThread { value: c.arg(0) });
        nothing(c)
    }),
];
