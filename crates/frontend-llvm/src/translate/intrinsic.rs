//! LLVM's intrinsic functions.

use super::extended::is_extended;
use super::function::{Body, is_wide, mask};
use super::types::{self, Unsupported};
use crate::library::Treatment;
use crate::llvm::{TypeKind, Value};
use porf_event::{ReadMode, WriteMode};
use porf_ir::{BinOp, CmpOp, FaultKind, FloatOp, Instr, IntOp, MathOp, Operand, Precision, WideOp, Width};

impl<'m> Body<'_, 'm> {
    pub fn intrinsic(&mut self, i: Value<'m>, name: &str) -> Result<(), Unsupported> {
        let args = i.arguments();
        // "llvm.memcpy.p0.p0.i64" -> "memcpy"; "llvm.sadd.with.overflow.i32" -> "sadd"
        let parts: Vec<&str> = name.split('.').skip(1).collect();
        match parts.as_slice() {
            ["dbg" | "assume" | "donothing" | "prefetch" | "var" | "invariant" | "annotation", ..]
            | ["experimental", "noalias", ..]
            | ["va_end", ..]
            | ["x86", "sse2", "pause"]
            | ["stackrestore", ..] => Ok(()),
            ["stacksave", ..] => {
                self.set(i, vec![Operand::Const(0)]);
                Ok(())
            }
            ["lifetime", "start", ..] => self.begin_scope(args[args.len() - 1]),
            ["lifetime", "end", ..] => self.end_scope(args[args.len() - 1], i),
            ["memcpy" | "memmove", ..] => {
                let (to, from, length) = (self.word(args[0])?, self.word(args[1])?, self.word(args[2])?);
                let align = if self.tr.is_rust { copy_alignment(i, 2) } else { 8 };
                self.copy(to, from, length, &args[..2], align)
            }
            ["memset", ..] => {
                let (to, byte, length) = (self.word(args[0])?, self.word(args[1])?, self.word(args[2])?);
                let align = if self.tr.is_rust { copy_alignment(i, 1) } else { 8 };
                self.fill(to, byte, length, &args[..1], align)
            }
            ["trap" | "ubsantrap", ..] => {
                self.fail(FaultKind::Abort, "the program traps");
                Ok(())
            }
            ["debugtrap", ..] => Ok(()),
            ["expect" | "launder" | "strip" | "ssa", ..] => {
                let words = self.words(args[0])?;
                self.set(i, words);
                Ok(())
            }
            ["objectsize", ..] => {
                // "unknown"
                let least = self.tr.constant_word(args[1])? != 0;
                self.set(i, vec![Operand::Const(if least { 0 } else { u64::MAX })]);
                Ok(())
            }
            ["is", "constant", ..] => {
                self.set(i, vec![Operand::Const(0)]);
                Ok(())
            }
            ["threadlocal", "address", ..] => {
                let words = self.words(args[0])?;
                self.set(i, words);
                Ok(())
            }
            ["returnaddress" | "frameaddress", ..] => {
                self.set(i, vec![Operand::Const(0)]);
                Ok(())
            }
            ["eh", "typeid", "for", ..] => {
                let number = self.type_number(args[0])?;
                self.set(i, vec![number]);
                Ok(())
            }
            ["va_start", ..] => self.va_start(args[0]),
            ["va_copy", ..] => {
                let (to, from) = (self.word(args[0])?, self.word(args[1])?);
                for (offset, size) in [(0, 4), (4, 4), (8, 8), (16, 8)] {
                    let (source, target) = (self.add(from, offset), self.add(to, offset));
                    let dst = self.b.register("");
                    self.b.push(Instr::Load { dst, address: source, size, mode: ReadMode::Plain });
                    self.b.push(Instr::Store {
                        address: target,
                        value: dst.into(),
                        size,
                        mode: WriteMode::Plain,
                    });
                }
                Ok(())
            }
            ["ctpop", ..] => self.integer(i, IntOp::PopCount),
            ["ctlz", ..] => self.integer(i, IntOp::LeadingZeros),
            ["cttz", ..] => self.integer(i, IntOp::TrailingZeros),
            ["bswap", ..] => self.integer(i, IntOp::ByteSwap),
            ["bitreverse", ..] => self.integer(i, IntOp::BitReverse),
            ["abs", ..] => self.integer(i, IntOp::Abs),
            ["smax", ..] => self.integer(i, IntOp::SMax),
            ["smin", ..] => self.integer(i, IntOp::SMin),
            ["umax", ..] => self.integer(i, IntOp::UMax),
            ["umin", ..] => self.integer(i, IntOp::UMin),
            ["uadd", "sat", ..] => self.integer(i, IntOp::UAddSat),
            ["sadd", "sat", ..] => self.integer(i, IntOp::SAddSat),
            ["usub", "sat", ..] => self.integer(i, IntOp::USubSat),
            ["ssub", "sat", ..] => self.integer(i, IntOp::SSubSat),
            ["uadd", "with", ..] => self.overflow(i, BinOp::Add, IntOp::UAddOverflows),
            ["sadd", "with", ..] => self.overflow(i, BinOp::Add, IntOp::SAddOverflows),
            ["usub", "with", ..] => self.overflow(i, BinOp::Sub, IntOp::USubOverflows),
            ["ssub", "with", ..] => self.overflow(i, BinOp::Sub, IntOp::SSubOverflows),
            ["umul", "with", ..] => self.overflow(i, BinOp::Mul, IntOp::UMulOverflows),
            ["smul", "with", ..] => self.overflow(i, BinOp::Mul, IntOp::SMulOverflows),
            ["ucmp", ..] => self.three_way(i, CmpOp::Ult),
            ["scmp", ..] => self.three_way(i, CmpOp::Slt),
            ["fshl" | "fshr", ..] => self.funnel(i, parts[0] == "fshl"),
            ["fptosi" | "fptoui", "sat", ..] => self.saturating_cast(i, parts[0] == "fptosi"),
            ["powi", ..] => self.integer_power(i),
            ["fmuladd" | "fma", ..] => self.multiply_add(i),
            [math, ..] => match float_operation(math) {
                Some(op) => self.float_call(i, op),
                None => Err(format!("intrinsic {name}")),
            },
            [] => Err(format!("intrinsic {name}")),
        }
    }

    fn va_start(&mut self, list: Value<'m>) -> Result<(), Unsupported> {
        let list = self.word(list)?;
        let area = self.varargs.ok_or("va_start outside a variadic function")?;
        // Both register areas count as used up: every argument is on the stack.
        for (offset, size, value) in [
            (0, 4, Operand::Const(48)),
            (4, 4, Operand::Const(176)),
            (8, 8, area.into()),
            (16, 8, Operand::Const(0)),
        ] {
            let address = self.add(list, offset);
            self.b.push(Instr::Store { address, value, size, mode: WriteMode::Plain });
        }
        Ok(())
    }

    fn integer(&mut self, i: Value<'m>, op: IntOp) -> Result<(), Unsupported> {
        let args = i.arguments();
        if is_wide(i) {
            return self.wide_integer(i, op);
        }
        let word = types::scalar(self.tr.module, types::lane(i.ty()))?;
        let a = self.words(args[0])?;
        let b = match op {
            // Their second argument is a flag.
            IntOp::LeadingZeros | IntOp::TrailingZeros | IntOp::Abs => a.clone(),
            _ if args.len() > 1 => self.words(args[1])?,
            _ => a.clone(),
        };
        let row = self.fresh(i);
        for ((dst, a), b) in row.iter().zip(a).zip(b) {
            let dst = super::instruction::register(*dst);
            self.b.push(Instr::Math { dst, op: MathOp::Integer(op, word.width()), a, b });
        }
        self.set(i, row);
        Ok(())
    }

    fn overflow(&mut self, i: Value<'m>, op: BinOp, overflows: IntOp) -> Result<(), Unsupported> {
        let args = i.arguments();
        if is_wide(args[0]) {
            return self.wide_overflow(i, overflows);
        }
        let width = self.scalar(args[0])?.width();
        let (a, b) = (self.word(args[0])?, self.word(args[1])?);
        let result = self.bin(op, width, a, b);
        let flag = self.b.register("");
        self.b.push(Instr::Math { dst: flag, op: MathOp::Integer(overflows, width), a, b });
        self.set(i, vec![result, flag.into()]);
        Ok(())
    }

    /// -1, 0 or 1.
    fn three_way(&mut self, i: Value<'m>, less: CmpOp) -> Result<(), Unsupported> {
        let args = i.arguments();
        let to = self.scalar(i)?.width();
        let (below, above) = if is_wide(args[0]) {
            let (a, b) = (self.wide_argument(args[0])?, self.wide_argument(args[1])?);
            (self.wide_op(less, a, b)[0], self.wide_op(less, b, a)[0])
        } else {
            let width = self.scalar(args[0])?.width();
            let (a, b) = (self.word(args[0])?, self.word(args[1])?);
            let (below, above) = (self.b.register(""), self.b.register(""));
            self.b.push(Instr::Cmp { dst: below, op: less, width, a, b });
            self.b.push(Instr::Cmp { dst: above, op: less, width, a: b, b: a });
            (below.into(), above.into())
        };
        let result = self.bin(BinOp::Sub, to, above, below);
        self.set(i, vec![result]);
        Ok(())
    }

    /// Shifts two words as one and takes the upper (left) or lower (right) half.
    fn funnel(&mut self, i: Value<'m>, left: bool) -> Result<(), Unsupported> {
        if is_wide(i) {
            return self.wide_funnel(i, left);
        }
        let args = i.arguments();
        let width = self.scalar(i)?.width();
        let (high, low, by) = (self.word(args[0])?, self.word(args[1])?, self.word(args[2])?);
        let bits = Operand::Const(width.0.into());
        let by = self.bin(BinOp::URem, width, by, bits);
        let rest = self.bin(BinOp::Sub, Width::W64, bits, by);
        // Shifted in two steps, since a shift by all bits is not defined.
        let (shift, back) = if left { (BinOp::Shl, BinOp::LShr) } else { (BinOp::LShr, BinOp::Shl) };
        let (main, other) = if left { (high, low) } else { (low, high) };
        let rest = self.bin(BinOp::Sub, Width::W64, rest, Operand::Const(1));
        let main = self.bin(shift, width, main, by);
        let other = self.bin(back, width, other, Operand::Const(1));
        let other = self.bin(back, width, other, rest);
        let result = self.bin(BinOp::Or, width, main, other);
        self.set(i, vec![result]);
        Ok(())
    }

    /// Towards zero, to the nearest integer of the type; what is no number is 0. Rust's `as` does that.
    fn saturating_cast(&mut self, i: Value<'m>, signed: bool) -> Result<(), Unsupported> {
        let argument = i.arguments()[0];
        let (TypeKind::Int(bits @ ..=128), Some(precision)) = (i.ty().kind(), self.scalar(argument)?.float)
        else {
            return Err(format!("conversion from {} to {}", argument.ty().print(), i.ty().print()));
        };
        let word = self.word(argument)?;
        let zero = [Operand::Const(0); 2];
        // To 128 bits it saturates already.
        let op = if signed { WideOp::ToSigned(precision) } else { WideOp::ToUnsigned(precision) };
        let mut value = self.wide_op(op, [word, zero[0]], zero);
        if bits < 128 {
            let (least, most) = if signed {
                let most = i128::MAX >> (128 - bits);
                (!most as u128, most as u128)
            } else {
                (0, u128::MAX >> (128 - bits))
            };
            let halves = |bound: u128| [Operand::Const(bound as u64), Operand::Const((bound >> 64) as u64)];
            let less = if signed { CmpOp::Slt } else { CmpOp::Ult };
            value = self.wide_choose(less, halves(most), value, halves(most), value);
            value = self.wide_choose(less, value, halves(least), halves(least), value);
        }
        let words = match types::words(self.tr.module, i.ty())?.as_slice() {
            [word] => vec![self.bin(BinOp::And, Width::W64, value[0], Operand::Const(mask(word.width())))],
            [_, high] => {
                vec![value[0], self.bin(BinOp::And, Width::W64, value[1], Operand::Const(mask(high.width())))]
            }
            _ => return Err(format!("a value of type {} here", i.ty().print())),
        };
        self.set(i, words);
        Ok(())
    }

    /// To an integral power, whose precision LLVM leaves open.
    fn integer_power(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let args = i.arguments();
        let precision = self.precision(i)?;
        let from = self.scalar(args[1])?.width();
        let (a, by) = (self.word(args[0])?, self.word(args[1])?);
        let (power, dst) = (self.b.register(""), self.b.register(""));
        let op = MathOp::FromSigned(from, precision);
        self.b.push(Instr::Math { dst: power, op, a: by, b: by });
        self.b.push(Instr::Math { dst, op: MathOp::Float(FloatOp::Pow, precision), a, b: power.into() });
        self.set(i, vec![dst.into()]);
        Ok(())
    }

    /// As two operations: clang lets the machine choose, and x86-64 without FMA does the same.
    fn multiply_add(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        if is_extended(i) {
            return self.extended_multiply_add(i);
        }
        let args = i.arguments();
        let precision = self.precision(i)?;
        let (a, b, c) = (self.words(args[0])?, self.words(args[1])?, self.words(args[2])?);
        let row = self.fresh(i);
        for (((dst, a), b), c) in row.iter().zip(a).zip(b).zip(c) {
            let product = self.b.register("");
            self.b.push(Instr::Math { dst: product, op: MathOp::Float(FloatOp::Mul, precision), a, b });
            let dst = super::instruction::register(*dst);
            let op = MathOp::Float(FloatOp::Add, precision);
            self.b.push(Instr::Math { dst, op, a: product.into(), b: c });
        }
        self.set(i, row);
        Ok(())
    }

    fn float_call(&mut self, i: Value<'m>, op: FloatOp) -> Result<(), Unsupported> {
        let args = i.arguments();
        if is_extended(i) {
            return self.extended_float(i, op, &args);
        }
        let precision = self.precision(i)?;
        let a = self.words(args[0])?;
        let b = if args.len() > 1 { self.words(args[1])? } else { a.clone() };
        let row = self.fresh(i);
        for ((dst, a), b) in row.iter().zip(a).zip(b) {
            let dst = super::instruction::register(*dst);
            self.b.push(Instr::Math { dst, op: MathOp::Float(op, precision), a, b });
        }
        self.set(i, row);
        Ok(())
    }

    fn precision(&self, i: Value<'m>) -> Result<Precision, Unsupported> {
        match types::lane(i.ty()).kind() {
            TypeKind::Float => Ok(Precision::Single),
            TypeKind::Double => Ok(Precision::Double),
            _ => Err(format!("floating-point type {}", i.ty().print())),
        }
    }
}

/// The least alignment of the first arguments, which are pointers.
fn copy_alignment(call: Value<'_>, pointers: u32) -> u64 {
    (0..pointers).map(|at| call.param_number(at, "align").unwrap_or(1)).min().unwrap_or(1)
}

/// What an intrinsic does with its pointer arguments.
pub fn treatment(name: &str) -> Treatment {
    match name.split('.').nth(1).unwrap_or("") {
        "memcpy" | "memmove" | "memset" | "lifetime" | "dbg" | "va_start" | "va_end" | "va_copy"
        | "assume" | "objectsize" | "invariant" | "prefetch" | "is" => Treatment::Uses,
        "launder" | "strip" | "expect" | "threadlocal" | "ptr" => Treatment::Returns,
        _ => Treatment::Keeps,
    }
}

/// The operation with this name, in LLVM and in C's `<math.h>`.
pub fn float_operation(name: &str) -> Option<FloatOp> {
    Some(match name {
        "fabs" => FloatOp::Abs,
        "sqrt" => FloatOp::Sqrt,
        "floor" => FloatOp::Floor,
        "ceil" => FloatOp::Ceil,
        "trunc" => FloatOp::Trunc,
        "round" => FloatOp::Round,
        "rint" | "nearbyint" | "roundeven" => FloatOp::RoundEven,
        "minnum" | "fmin" => FloatOp::Min,
        "maxnum" | "fmax" => FloatOp::Max,
        "copysign" => FloatOp::CopySign,
        "pow" => FloatOp::Pow,
        "exp" => FloatOp::Exp,
        "exp2" => FloatOp::Exp2,
        "log" => FloatOp::Log,
        "log2" => FloatOp::Log2,
        "log10" => FloatOp::Log10,
        "sin" => FloatOp::Sin,
        "cos" => FloatOp::Cos,
        "tan" => FloatOp::Tan,
        "fmod" => FloatOp::Rem,
        "atan2" => FloatOp::Atan2,
        _ => return None,
    })
}
