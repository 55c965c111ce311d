//! Time, the environment, `errno`. Time stands still.

use super::table::{Call, KEEPS, Lowered, Row, USES, row, zero};
use porf_event::WriteMode;
use porf_ir::{Instr, Operand};

pub const FUNCTIONS: &[Row] = &[
    row(
        &[
            "sched_yield",
            "usleep",
            "sleep",
            "pthread_yield",
            "thrd_yield",
            "thrd_sleep",
            "srand",
            "signal",
            "alarm",
            "clock",
            "getenv",
            "secure_getenv",
        ],
        KEEPS,
        zero,
    ),
    row(&["nanosleep", "time"], USES, zero),
    row(&["clock_gettime"], USES, |c| now(c, c.arg(1))),
    row(&["gettimeofday"], USES, |c| now(c, c.arg(0))),
    row(&["__errno_location"], USES, |c| {
        let index = c.body.tr.library_local("errno", 4);
        let dst = c.body.b.register("errno");
        c.push(Instr::ThreadLocalAddress { dst, index });
        Ok(vec![dst.into()])
    }),
];

/// Stores the present time, two words.
fn now(c: &mut Call<'_, '_, '_>, place: Operand) -> Lowered {
    for offset in [0, 8] {
        let address = c.body.add(place, offset);
        c.push(Instr::Store { address, value: Operand::Const(0), size: 8, mode: WriteMode::Plain });
    }
    zero(c)
}
