//! The heap: allocation with any alignment, and `realloc`, which has to know how large an object is.
//!
//! Programs that use `realloc` keep the size of every object in a cell of its own
//! ([`layout::FIRST_SIZE`]): an ordinary write after the allocation, an ordinary read by `realloc`.
//! `realloc` always moves.

use super::asm::Asm;
use super::table::{Call, KEEPS, Lowered, Row, USES, invoke, row, zero};
use super::{constant, memory};
use crate::translate::{Body, Translator};
use porf_event::{ReadMode, WriteMode};
use porf_ir::{AllocKind, BinOp, CmpOp, FaultKind, FunctionId, Instr, IntOp, MathOp, Operand, Width, layout};

const EINVAL: u64 = 22;
/// The largest alignment; what is not known before the program runs gets it.
const MAX_ALIGN: u64 = 4096;

pub const FUNCTIONS: &[Row] = &[
    row(&["malloc", "_Znwm", "_Znam", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t"], KEEPS, |c| {
        allocate(c.body, c.arg(0), Operand::Const(1), AllocKind::Heap)
    }),
    row(&["valloc"], KEEPS, |c| allocate(c.body, c.arg(0), Operand::Const(4096), AllocKind::Heap)),
    row(&["calloc"], KEEPS, |c| {
        let size = product(c, c.arg(0), c.arg(1));
        allocate(c.body, size, Operand::Const(1), AllocKind::Zeroed)
    }),
    row(&["realloc"], KEEPS, |c| c.same(realloc)),
    row(&["reallocarray"], KEEPS, |c| {
        let size = product(c, c.arg(1), c.arg(2));
        c.routine(realloc, &[c.arg(0), size])
    }),
    row(&["memalign"], KEEPS, |c| allocate(c.body, c.arg(1), c.arg(0), AllocKind::Heap)),
    // C17 7.22.3.1: an alignment that is none gives a null pointer.
    row(&["aligned_alloc"], KEEPS, |c| {
        let (size, _) = size_if_aligned(c, c.arg(1), c.arg(0), 1);
        allocate(c.body, size, c.arg(0), AllocKind::Heap)
    }),
    row(&["_ZnwmSt11align_val_t", "_ZnamSt11align_val_t"], KEEPS, |c| {
        allocate(c.body, c.arg(0), c.arg(1), AllocKind::Heap)
    }),
    row(&["posix_memalign"], USES, |c| {
        let (size, valid) = size_if_aligned(c, c.arg(2), c.arg(1), 8);
        let value = allocate(c.body, size, c.arg(1), AllocKind::Heap)?[0];
        c.push(Instr::Store { address: c.arg(0), value, size: 8, mode: WriteMode::Plain });
        let dst = c.body.b.register("");
        c.push(Instr::Select { dst, cond: valid, a: Operand::Const(0), b: Operand::Const(EINVAL) });
        Ok(vec![dst.into()])
    }),
    row(&["mmap", "mmap64"], KEEPS, map),
    row(&["munmap"], KEEPS, |c| {
        if !c.body.tr.is_rust {
            c.push(Instr::Free { address: c.arg(0), kind: AllocKind::Heap });
        }
        zero(c)
    }),
    row(&["strdup", "__strdup"], KEEPS, |c| c.same(strdup)),
    row(
        &[
            "free",
            "_ZdlPv",
            "_ZdaPv",
            "_ZdlPvm",
            "_ZdaPvm",
            "_ZdlPvSt11align_val_t",
            "_ZdlPvmSt11align_val_t",
            "_ZdaPvSt11align_val_t",
            "_ZdaPvmSt11align_val_t",
            "__VERIFIER_hp_free",
        ],
        KEEPS,
        |c| {
            c.push(Instr::Free { address: c.arg(0), kind: AllocKind::Heap });
            zero(c)
        },
    ),
];

/// Anonymous memory is an object of the heap. Rust's library can do without any.
fn map(c: &mut Call<'_, '_, '_>) -> Lowered {
    const MAP_ANONYMOUS: u64 = 0x20;
    const PAGE: Operand = Operand::Const(4096);
    if c.body.tr.is_rust {
        return Ok(vec![Operand::Const(u64::MAX)]);
    }
    match constant(c.arg(3)) {
        Some(flags) if flags & MAP_ANONYMOUS != 0 => allocate(c.body, c.arg(1), PAGE, AllocKind::Zeroed),
        _ => Err("mapping a file (mmap)".to_string()),
    }
}

/// The size of an array; one that no object has where the product is too large.
fn product(c: &mut Call<'_, '_, '_>, count: Operand, size: Operand) -> Operand {
    let exact = constant(count).zip(constant(size)).and_then(|(count, size)| count.checked_mul(size));
    if let Some(exact) = exact {
        return Operand::Const(exact);
    }
    let size_of_all = c.body.bin(BinOp::Mul, Width::W64, count, size);
    let (overflows, dst) = (c.body.b.register(""), c.body.b.register(""));
    let op = MathOp::Integer(IntOp::UMulOverflows, Width::W64);
    c.push(Instr::Math { dst: overflows, op, a: count, b: size });
    c.push(Instr::Select { dst, cond: overflows.into(), a: Operand::Const(u64::MAX), b: size_of_all });
    dst.into()
}

/// The size, or one that no object has where the alignment is no power of two or below `least`; and whether
/// it is one.
fn size_if_aligned(
    c: &mut Call<'_, '_, '_>,
    size: Operand,
    align: Operand,
    least: u64,
) -> (Operand, Operand) {
    let below = c.body.bin(BinOp::Sub, Width::W64, align, Operand::Const(1));
    let rest = c.body.bin(BinOp::And, Width::W64, align, below);
    let (single, large, valid) = (c.body.b.register(""), c.body.b.register(""), c.body.b.register(""));
    let zero = Operand::Const(0);
    c.push(Instr::Cmp { dst: single, op: CmpOp::Eq, width: Width::W64, a: rest, b: zero });
    c.push(Instr::Cmp { dst: large, op: CmpOp::Ule, width: Width::W64, a: Operand::Const(least), b: align });
    c.push(Instr::Select { dst: valid, cond: single.into(), a: large.into(), b: zero });
    let dst = c.body.b.register("");
    c.push(Instr::Select { dst, cond: valid.into(), a: size, b: Operand::Const(u64::MAX) });
    (dst.into(), valid.into())
}

/// A new object.
fn allocate(body: &mut Body<'_, '_>, size: Operand, align: Operand, kind: AllocKind) -> Lowered {
    let align = match constant(align) {
        Some(align) if align > MAX_ALIGN => return Err(format!("an alignment of {align} bytes")),
        Some(align) => align.max(1),
        None => {
            let function = check_alignment(body.tr);
            invoke(body, function, &[align])?;
            MAX_ALIGN
        }
    };
    if needs_sizes(body.tr) {
        let function = sized(body.tr, align, kind);
        return invoke(body, function, &[size]);
    }
    let dst = body.b.register("");
    body.b.push(Instr::Alloc { dst, size, align, kind });
    Ok(vec![dst.into()])
}

pub fn realloc(tr: &mut Translator<'_>) -> FunctionId {
    let (allocate, copy) = (sized(tr, 1, AllocKind::Heap), memory::move_bytes(tr));
    tr.routine("realloc", |_| {
        let mut a = Asm::new("realloc", &["object", "size"]);
        let (object, size) = (a.param(0), a.param(1));
        a.unless(object, |a| {
            let new = a.call(allocate, &[size]);
            a.give(new);
        });
        a.when(size, |a| {
            let cell = size_cell(a, object);
            let before = a.load(cell, 8, ReadMode::Plain);
            let new = a.call(allocate, &[size]);
            a.unless(new, |a| a.give(0));
            let grows = a.cmp(CmpOp::Ult, before, size);
            let length = a.reg();
            a.b.push(Instr::Select { dst: length, cond: grows, a: before, b: size });
            a.call(copy, &[new, object, length.into()]);
            a.b.push(Instr::Free { address: object, kind: AllocKind::Heap });
            a.give(new);
        });
        a.b.push(Instr::Free { address: object, kind: AllocKind::Heap });
        a.give(0);
        a.finish()
    })
}

pub fn strdup(tr: &mut Translator<'_>) -> FunctionId {
    let (length, copy) = (memory::strlen(tr), memory::move_bytes(tr));
    let allocate = needs_sizes(tr).then(|| sized(tr, 1, AllocKind::Heap));
    tr.routine("strdup", |_| {
        let mut a = Asm::new("strdup", &["text"]);
        let text = a.param(0);
        let length = a.call(length, &[text]);
        let size = a.add(length, 1);
        let new = match allocate {
            Some(allocate) => a.call(allocate, &[size]),
            None => {
                let dst = a.reg();
                a.b.push(Instr::Alloc { dst, size, align: 1, kind: AllocKind::Heap });
                dst.into()
            }
        };
        a.call(copy, &[new, text, size]);
        a.give(new);
        a.finish()
    })
}

fn needs_sizes(tr: &Translator<'_>) -> bool {
    ["realloc", "reallocarray"].iter().any(|name| tr.module.function(name).is_some())
}

/// Allocates and notes the size.
fn sized(tr: &mut Translator<'_>, align: u64, kind: AllocKind) -> FunctionId {
    tr.routine(&format!("allocate {align} {kind:?}"), |_| {
        let mut a = Asm::new("malloc", &["size"]);
        let size = a.param(0);
        let dst = a.reg();
        a.b.push(Instr::Alloc { dst, size, align, kind });
        a.when(dst.into(), |a| {
            let cell = size_cell(a, dst.into());
            a.store(cell, size, 8, WriteMode::Plain);
        });
        a.give(dst);
        a.finish()
    })
}

/// Where the size of an object is.
fn size_cell(a: &mut Asm, object: Operand) -> Operand {
    let number = a.bin(BinOp::LShr, object, layout::OBJECT_SHIFT);
    let number = a.bin(BinOp::And, number, layout::OBJECT_MASK);
    let offset = a.bin(BinOp::Mul, number, 8);
    a.add(offset, layout::FIRST_SIZE)
}

fn check_alignment(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("alignment", |_| {
        let mut a = Asm::new("alignment", &["bytes"]);
        let bytes = a.param(0);
        let fits = a.cmp(CmpOp::Ule, bytes, MAX_ALIGN);
        a.unless(fits, |a| {
            a.fail(FaultKind::Unsupported, "an alignment of more than 4096 bytes is not supported")
        });
        a.give(0);
        a.finish()
    })
}
