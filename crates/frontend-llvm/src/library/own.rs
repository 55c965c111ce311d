//! What the parts of the library that are written in C and C++ (`runtime/`) ask for.

use super::table::{KEEPS, Row, nothing, row};
use porf_ir::Operand;

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
        c.exit_thread();
        nothing(c)
    }),
    // Whether a thread may leave a `std::barrier` for good: see `include/barrier`.
    row(&["__porf_drops"], KEEPS, |c| {
        let mut names = c.body.tr.module.functions().map(|function| function.name());
        let drops =
            names.any(|name| name.starts_with("_ZNSt7barrierI") && name.ends_with("15arrive_and_dropEv"));
        Ok(vec![Operand::Const(drops.into())])
    }),
];
