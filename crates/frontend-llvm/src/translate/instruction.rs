//! Instructions one by one.

use super::extended::is_extended;
use super::function::{Body, is_wide, mask};
use super::large::{self, is_large};
use super::types::{self, Unsupported};
use crate::llvm::{Block, Opcode, TypeKind, Value};
use porf_ir::{
    BinOp, CmpOp, FaultKind, FloatOp, FloatOutcomes, Instr, MathOp, Operand, Precision, Reg, WideOp, Width,
};

impl<'m> Body<'_, 'm> {
    /// Translates one instruction; `next` is the block that comes behind this one.
    pub fn instruction(&mut self, i: Value<'m>, next: Option<Block<'m>>) -> Result<(), Unsupported> {
        match i.opcode() {
            Opcode::Ret => {
                let words = if i.operand_count() == 0 { Vec::new() } else { self.words(i.operand(0))? };
                self.give_back(words);
                Ok(())
            }
            Opcode::Br => self.branch(i, next),
            Opcode::Switch => self.switch(i),
            Opcode::Unreachable => {
                self.fail(FaultKind::Abort, "reached code that the compiler took for unreachable");
                Ok(())
            }
            Opcode::Add => self.binary(i, BinOp::Add),
            Opcode::Sub => self.binary(i, BinOp::Sub),
            Opcode::Mul => self.binary(i, BinOp::Mul),
            Opcode::UDiv => self.binary(i, BinOp::UDiv),
            Opcode::SDiv => self.binary(i, BinOp::SDiv),
            Opcode::URem => self.binary(i, BinOp::URem),
            Opcode::SRem => self.binary(i, BinOp::SRem),
            Opcode::Shl => self.binary(i, BinOp::Shl),
            Opcode::LShr => self.binary(i, BinOp::LShr),
            Opcode::AShr => self.binary(i, BinOp::AShr),
            Opcode::And => self.binary(i, BinOp::And),
            Opcode::Or => self.binary(i, BinOp::Or),
            Opcode::Xor => self.binary(i, BinOp::Xor),
            Opcode::FAdd => self.float(i, FloatOp::Add),
            Opcode::FSub => self.float(i, FloatOp::Sub),
            Opcode::FMul => self.float(i, FloatOp::Mul),
            Opcode::FDiv => self.float(i, FloatOp::Div),
            Opcode::FRem => self.float(i, FloatOp::Rem),
            Opcode::FNeg => self.float(i, FloatOp::Neg),
            Opcode::ICmp => self.icmp(i),
            Opcode::FCmp => self.fcmp(i),
            Opcode::Trunc => self.convert(i, |body, from, to, word| {
                let _ = from;
                body.bin(BinOp::And, Width::W64, word, Operand::Const(mask(to.width())))
            }),
            Opcode::ZExt => self.extend(i, false),
            Opcode::SExt => self.extend(i, true),
            Opcode::FPToUI => self.math_cast(i, |from, to| match from.float {
                Some(precision) => MathOp::ToUnsigned(precision, to.width()),
                None => MathOp::Extend,
            }),
            Opcode::FPToSI => self.math_cast(i, |from, to| match from.float {
                Some(precision) => MathOp::ToSigned(precision, to.width()),
                None => MathOp::Extend,
            }),
            Opcode::UIToFP => self.math_cast(i, |from, to| MathOp::FromUnsigned(from.width(), precision(to))),
            Opcode::SIToFP => self.math_cast(i, |from, to| MathOp::FromSigned(from.width(), precision(to))),
            Opcode::FPTrunc => self.math_cast(i, |_, _| MathOp::Narrow),
            Opcode::FPExt => self.math_cast(i, |_, _| MathOp::Extend),
            Opcode::PtrToInt | Opcode::IntToPtr | Opcode::PtrToAddr => {
                self.convert(i, |body, from, to, word| {
                    if to.bits < from.bits {
                        return body.bin(BinOp::And, Width::W64, word, Operand::Const(mask(to.width())));
                    }
                    word
                })
            }
            Opcode::BitCast => self.bitcast(i),
            Opcode::Freeze | Opcode::AddrSpaceCast => {
                let words = self.words(i.operand(0))?;
                self.set(i, words);
                Ok(())
            }
            Opcode::Select => self.select(i),
            Opcode::ExtractValue => {
                let (start, count) = self.path(i.operand(0), &i.indices())?;
                let words = self.words(i.operand(0))?[start..start + count].to_vec();
                self.set(i, words);
                Ok(())
            }
            Opcode::InsertValue => {
                let (start, count) = self.path(i.operand(0), &i.indices())?;
                let mut words = self.words(i.operand(0))?;
                let new = self.words(i.operand(1))?;
                words[start..start + count].copy_from_slice(&new);
                self.set(i, words);
                Ok(())
            }
            Opcode::ExtractElement | Opcode::InsertElement => self.element(i),
            Opcode::ShuffleVector => {
                let each = types::words(self.tr.module, i.ty().element())?.len();
                let mut all = self.words(i.operand(0))?;
                all.extend(self.words(i.operand(1))?);
                let lanes = i.mask().into_iter().flat_map(|lane| {
                    let start = usize::try_from(lane).unwrap_or(0) * each;
                    all[start..start + each].to_vec()
                });
                let words = lanes.collect();
                self.set(i, words);
                Ok(())
            }
            Opcode::Alloca => self.alloca(i),
            Opcode::Load => self.load(i),
            Opcode::Store => self.store(i),
            Opcode::GetElementPtr => self.gep(i),
            Opcode::Fence => self.fence(i),
            Opcode::CmpXchg => self.cmpxchg(i),
            Opcode::AtomicRmw => self.atomicrmw(i),
            Opcode::Call => {
                self.call(i)?;
                self.pad_for_jumps();
                Ok(())
            }
            Opcode::Invoke => {
                self.call(i)?;
                let normal = i.normal_destination();
                match i.unwind_destination() {
                    Some(pad) if self.b.ends_in_call() => self.invoke(i, pad, normal, next),
                    _ => self.go(i.block(), normal, next),
                }
                Ok(())
            }
            Opcode::LandingPad if i.function().unwinds() => self.landing_pad(i),
            Opcode::Resume if i.function().unwinds() => {
                let exception = self.words(i.operand(0))?[0];
                self.unwind(exception);
                Ok(())
            }
            Opcode::LandingPad | Opcode::Resume => Err("throwing an exception".to_string()),
            Opcode::IndirectBr => self.computed_goto(i),
            Opcode::Phi | Opcode::Other => Err(format!("instruction {}", i.print())),
        }
    }

    /// Behind a call: where it goes on, and where when it is unwound.
    fn invoke(&mut self, i: Value<'m>, pad: Block<'m>, normal: Block<'m>, next: Option<Block<'m>>) {
        let landing = pad.instructions().find(|i| i.opcode() == Opcode::LandingPad);
        let (exception, catches) = match landing {
            Some(landing) => (register(self.landing(landing)), landing.catches()),
            None => return self.go(i.block(), normal, next),
        };
        let (labels, stubs) = self.edges(i.block(), &[pad]);
        self.b.pad(labels[0], exception, catches);
        self.go(i.block(), normal, if stubs.is_empty() { next } else { None });
        self.place(stubs);
    }

    fn branch(&mut self, i: Value<'m>, next: Option<Block<'m>>) -> Result<(), Unsupported> {
        let targets = i.successors();
        if let [only] = targets.as_slice() {
            self.go(i.block(), *only, next);
            return Ok(());
        }
        let cond = self.word(i.operand(0))?;
        let (labels, stubs) = self.edges(i.block(), &targets);
        self.b.branch(cond, labels[0], labels[1]);
        self.place(stubs);
        Ok(())
    }

    fn switch(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        if is_wide(i.operand(0)) {
            return self.wide_switch(i);
        }
        let value = self.word(i.operand(0))?;
        // The default comes first.
        let targets = i.successors();
        let mut cases = Vec::new();
        for index in 1..targets.len() as u32 {
            cases.push(self.tr.constant_word(i.case_value(index))?);
        }
        let (labels, stubs) = self.edges(i.block(), &targets);
        let cases: Vec<_> = cases.into_iter().zip(labels[1..].iter().copied()).collect();
        self.b.switch(value, &cases, labels[0]);
        self.place(stubs);
        Ok(())
    }

    /// A `goto` to an address: a switch over the labels that it may go to.
    fn computed_goto(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let value = self.word(i.operand(0))?;
        let targets = i.successors();
        let mut addresses = Vec::new();
        for target in &targets {
            addresses.push(self.tr.label_address(i.function(), *target)?);
        }
        let (labels, stubs) = self.edges(i.block(), &targets);
        let cases: Vec<_> = addresses.into_iter().zip(labels).collect();
        let other = self.b.label();
        self.b.switch(value, &cases, other);
        self.place(stubs);
        self.b.bind(other);
        self.fail(FaultKind::BadCall, "a goto to what is no label here");
        Ok(())
    }

    /// On an integer of two words: case by case. Rust checks so what is transmuted to an `enum`.
    fn wide_switch(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let targets = i.successors();
        let mut comparisons = Vec::new();
        for index in 1..targets.len() as u32 {
            let words = [self.words(i.operand(0))?, self.words(i.case_value(index))?].concat();
            let operands = <[Operand; 4]>::try_from(words)
                .map_err(|_| format!("a switch on {}", i.operand(0).ty().print()))?;
            comparisons.push(Box::new(operands));
        }
        let (labels, stubs) = self.edges(i.block(), &targets);
        for (operands, label) in comparisons.into_iter().zip(&labels[1..]) {
            let (same, next) = (self.b.register(""), self.b.label());
            self.b.push(Instr::Wide { dst: same, op: CmpOp::Eq.into(), operands });
            self.b.branch(same, *label, next);
            self.b.bind(next);
        }
        self.b.jump(labels[0]);
        self.place(stubs);
        Ok(())
    }

    fn binary(&mut self, i: Value<'m>, op: BinOp) -> Result<(), Unsupported> {
        let (a, b) = (self.words(i.operand(0))?, self.words(i.operand(1))?);
        if is_large(i) {
            return self.large(i, op, &a, &b);
        }
        if is_wide(i) {
            return self.wide(i, op.into(), &a, &b);
        }
        let word = types::scalar(self.tr.module, types::lane(i.ty()))?;
        let row = self.fresh(i);
        for ((dst, a), b) in row.iter().zip(a).zip(b) {
            self.b.push(Instr::Bin { dst: register(*dst), op, width: word.width(), a, b });
        }
        self.set(i, row);
        Ok(())
    }

    fn wide(&mut self, i: Value<'m>, op: WideOp, a: &[Operand], b: &[Operand]) -> Result<(), Unsupported> {
        let unsupported = || Err(format!("arithmetic on {}", i.operand(0).ty().print()));
        let TypeKind::Int(bits @ 65..=128) = i.operand(0).ty().kind() else { return unsupported() };
        use BinOp::{AShr, Add, Mul, SDiv, SRem, Shl, Sub};
        use CmpOp::{Sle, Slt};
        use WideOp::{Bin, Cmp};
        let (mut a, mut b) = (a.to_vec(), b.to_vec());
        // Narrower ones are kept without a sign.
        if bits < 128 && matches!(op, Bin(AShr | SDiv | SRem) | Cmp(Sle | Slt)) {
            a = self.large_signed(a, bits);
            if op != Bin(AShr) {
                b = self.large_signed(b, bits);
            }
        }
        let mut row = self.fresh(i);
        let operands = Box::new([a[0], a[1], b[0], b[1]]);
        self.b.push(Instr::Wide { dst: register(row[0]), op, operands });
        if bits < 128 && matches!(op, Bin(Add | Mul | Shl | Sub | AShr | SDiv | SRem)) {
            row = self.large_cut(row, bits);
        }
        self.set(i, row);
        Ok(())
    }

    fn float(&mut self, i: Value<'m>, op: FloatOp) -> Result<(), Unsupported> {
        if is_extended(i) {
            let operands: Vec<Value<'m>> = (0..i.operand_count()).map(|at| i.operand(at)).collect();
            return self.extended_float(i, op, &operands);
        }
        let a = self.words(i.operand(0))?;
        let b = if i.operand_count() > 1 { self.words(i.operand(1))? } else { a.clone() };
        let word = types::scalar(self.tr.module, types::lane(i.ty()))?;
        let op = MathOp::Float(op, precision(word));
        let row = self.fresh(i);
        for ((dst, a), b) in row.iter().zip(a).zip(b) {
            self.b.push(Instr::Math { dst: register(*dst), op, a, b });
        }
        self.set(i, row);
        Ok(())
    }

    fn icmp(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let (mut a, mut b) = (self.words(i.operand(0))?, self.words(i.operand(1))?);
        // LLVM's numbers: eq ne ugt uge ult ule sgt sge slt sle, from 32.
        let (op, swap) = match i.icmp_predicate() {
            32 => (CmpOp::Eq, false),
            33 => (CmpOp::Ne, false),
            34 => (CmpOp::Ult, true),
            35 => (CmpOp::Ule, true),
            36 => (CmpOp::Ult, false),
            37 => (CmpOp::Ule, false),
            38 => (CmpOp::Slt, true),
            39 => (CmpOp::Sle, true),
            40 => (CmpOp::Slt, false),
            _ => (CmpOp::Sle, false),
        };
        if swap {
            std::mem::swap(&mut a, &mut b);
        }
        if is_large(i.operand(0)) {
            return self.large_compare(i, op, &a, &b);
        }
        if is_wide(i.operand(0)) {
            return self.wide(i, op.into(), &a, &b);
        }
        let word = types::scalar(self.tr.module, types::lane(i.operand(0).ty()))?;
        let row = self.fresh(i);
        for ((dst, a), b) in row.iter().zip(a).zip(b) {
            self.b.push(Instr::Cmp { dst: register(*dst), op, width: word.width(), a, b });
        }
        self.set(i, row);
        Ok(())
    }

    fn fcmp(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        if is_extended(i.operand(0)) {
            return self.extended_compare(i);
        }
        let (a, b) = (self.words(i.operand(0))?, self.words(i.operand(1))?);
        let word = types::scalar(self.tr.module, types::lane(i.operand(0).ty()))?;
        // LLVM's numbering is this very mask: 1 equal, 2 greater, 4 less, 8 unordered.
        let op = MathOp::Compare(FloatOutcomes(i.fcmp_predicate() as u8), precision(word));
        let row = self.fresh(i);
        for ((dst, a), b) in row.iter().zip(a).zip(b) {
            self.b.push(Instr::Math { dst: register(*dst), op, a, b });
        }
        self.set(i, row);
        Ok(())
    }

    /// Casts lane by lane.
    fn convert(
        &mut self,
        i: Value<'m>,
        each: impl Fn(&mut Self, types::Word, types::Word, Operand) -> Operand,
    ) -> Result<(), Unsupported> {
        let words = self.words(i.operand(0))?;
        if is_wide(i) {
            // Of a pointer the other words are 0.
            let bits = large::bits(i);
            let words = self.large_extend(words, bits.div_ceil(64) as usize, false);
            let words = self.large_cut(words, bits);
            self.set(i, words);
            return Ok(());
        }
        let to = types::scalar(self.tr.module, types::lane(i.ty()))?;
        if is_wide(i.operand(0)) {
            let from = types::Word { offset: 0, bits: 64, float: None };
            let low = each(self, from, to, words[0]);
            self.set(i, vec![low]);
            return Ok(());
        }
        let from = types::scalar(self.tr.module, types::lane(i.operand(0).ty()))?;
        let result = words.into_iter().map(|word| each(self, from, to, word)).collect();
        self.set(i, result);
        Ok(())
    }

    fn extend(&mut self, i: Value<'m>, signed: bool) -> Result<(), Unsupported> {
        let words = self.words(i.operand(0))?;
        let wide = is_wide(i);
        let bits = if wide { 64 } else { types::scalar(self.tr.module, types::lane(i.ty()))?.bits };
        if is_wide(i.operand(0)) {
            let (from, to) = (large::bits(i.operand(0)), large::bits(i));
            let words = if signed { self.large_signed(words, from) } else { words };
            let words = self.large_extend(words, to.div_ceil(64) as usize, signed);
            let words = self.large_cut(words, to);
            self.set(i, words);
            return Ok(());
        }
        let from = types::scalar(self.tr.module, types::lane(i.operand(0).ty()))?;
        let mut result = Vec::new();
        for word in words {
            if !signed {
                // Registers hold zero-extended values.
                result.push(word);
                continue;
            }
            let dst = self.b.register("");
            self.b.push(Instr::SignExtend { dst, from: from.width(), src: word });
            result.push(match bits {
                64 => dst.into(),
                bits => self.bin(BinOp::And, Width::W64, dst.into(), Operand::Const(mask(Width(bits)))),
            });
        }
        if wide {
            let bits = large::bits(i);
            result = self.large_extend(result, bits.div_ceil(64) as usize, signed);
            result = self.large_cut(result, bits);
        }
        self.set(i, result);
        Ok(())
    }

    fn math_cast(
        &mut self,
        i: Value<'m>,
        op: impl Fn(types::Word, types::Word) -> MathOp,
    ) -> Result<(), Unsupported> {
        if is_extended(i) || is_extended(i.operand(0)) {
            return self.extended_cast(i);
        }
        if is_wide(i) || is_wide(i.operand(0)) {
            return self.wide_cast(i);
        }
        let from = types::scalar(self.tr.module, types::lane(i.operand(0).ty()))?;
        let to = types::scalar(self.tr.module, types::lane(i.ty()))?;
        let op = op(from, to);
        let words = self.words(i.operand(0))?;
        let row = self.fresh(i);
        for (dst, a) in row.iter().zip(words) {
            self.b.push(Instr::Math { dst: register(*dst), op, a, b: Operand::Const(0) });
        }
        self.set(i, row);
        Ok(())
    }

    /// Between 128-bit integers and floating point.
    fn wide_cast(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let (integer, other) = if is_wide(i) { (i, i.operand(0)) } else { (i.operand(0), i) };
        let precision = types::scalar(self.tr.module, other.ty())?.float;
        let (TypeKind::Int(128), Some(precision)) = (integer.ty().kind(), precision) else {
            return Err(format!("conversion from {} to {}", i.operand(0).ty().print(), i.ty().print()));
        };
        let op = match i.opcode() {
            Opcode::FPToSI => WideOp::ToSigned(precision),
            Opcode::FPToUI => WideOp::ToUnsigned(precision),
            Opcode::SIToFP => WideOp::FromSigned(precision),
            _ => WideOp::FromUnsigned(precision),
        };
        let zero = Operand::Const(0);
        let words = self.words(i.operand(0))?;
        let operands = Box::new([words[0], words.get(1).copied().unwrap_or(zero), zero, zero]);
        let row = self.fresh(i);
        self.b.push(Instr::Wide { dst: register(row[0]), op, operands });
        self.set(i, row);
        Ok(())
    }

    /// The same bits, cut into words differently where the types differ in that.
    fn bitcast(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let from = types::words(self.tr.module, i.operand(0).ty())?;
        let to = types::words(self.tr.module, i.ty())?;
        let words = self.words(i.operand(0))?;
        if from.iter().map(|word| word.bits).eq(to.iter().map(|word| word.bits)) {
            self.set(i, words);
            return Ok(());
        }
        let mut result = Vec::new();
        let mut at = 0u32;
        for target in &to {
            let (start, end) = (at, at + u32::from(target.bits));
            let mut value = Operand::Const(0);
            let mut source_at = 0u32;
            for (source, word) in from.iter().zip(&words) {
                let source_end = source_at + u32::from(source.bits);
                if source_end > start && source_at < end {
                    let shifted = if source_at >= start {
                        self.bin(BinOp::Shl, Width::W64, *word, Operand::Const((source_at - start).into()))
                    } else {
                        self.bin(BinOp::LShr, Width::W64, *word, Operand::Const((start - source_at).into()))
                    };
                    value = self.bin(BinOp::Or, Width::W64, value, shifted);
                }
                source_at = source_end;
            }
            let bits = Operand::Const(mask(target.width()));
            result.push(self.bin(BinOp::And, Width::W64, value, bits));
            at = end;
        }
        self.set(i, result);
        Ok(())
    }

    fn select(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let cond = self.words(i.operand(0))?;
        let (a, b) = (self.words(i.operand(1))?, self.words(i.operand(2))?);
        let row = self.fresh(i);
        for (at, ((dst, a), b)) in row.iter().zip(a).zip(b).enumerate() {
            let cond = cond[at % cond.len()];
            self.b.push(Instr::Select { dst: register(*dst), cond, a, b });
        }
        self.set(i, row);
        Ok(())
    }

    /// Which words of an aggregate a path of indices names.
    fn path(&self, aggregate: Value<'m>, indices: &[u32]) -> Result<(usize, usize), Unsupported> {
        let mut ty = aggregate.ty();
        let mut start = 0;
        for index in indices {
            let (before, field) = types::field(self.tr.module, ty, *index)?;
            start += before;
            ty = field;
        }
        Ok((start, types::words(self.tr.module, ty)?.len()))
    }

    fn element(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let insert = i.opcode() == Opcode::InsertElement;
        let mut words = self.words(i.operand(0))?;
        let index = i.operand(if insert { 2 } else { 1 });
        let each = types::words(self.tr.module, i.operand(0).ty().element())?.len();
        match index.as_integer() {
            Some(at) => {
                let start = at as usize * each;
                let range = words.get(start..start + each).ok_or("an index behind the end of a vector")?;
                if insert {
                    let new = self.words(i.operand(1))?;
                    words[start..start + each].copy_from_slice(&new);
                    self.set(i, words);
                } else {
                    let range = range.to_vec();
                    self.set(i, range);
                }
                Ok(())
            }
            None if each == 1 => {
                let index = self.word(index)?;
                let new = if insert { Some(self.word(i.operand(1))?) } else { None };
                let mut found = Operand::Const(0);
                for (at, word) in words.iter_mut().enumerate() {
                    let is = self.b.register("");
                    let b = Operand::Const(at as u64);
                    self.b.push(Instr::Cmp { dst: is, op: CmpOp::Eq, width: Width::W64, a: index, b });
                    let dst = self.b.register("");
                    let (a, b) = if let Some(new) = new { (new, *word) } else { (*word, found) };
                    self.b.push(Instr::Select { dst, cond: is.into(), a, b });
                    if insert {
                        *word = dst.into();
                    } else {
                        found = dst.into();
                    }
                }
                self.set(i, if insert { words } else { vec![found] });
                Ok(())
            }
            None => Err("a variable index into a vector of 128-bit integers".to_string()),
        }
    }
}

/// The register of a word that is one.
pub fn register(word: Operand) -> Reg {
    match word {
        Operand::Reg(reg) => reg,
        Operand::Const(_) => unreachable!("fresh words are registers"),
    }
}

fn precision(word: types::Word) -> Precision {
    word.float.unwrap_or(Precision::Double)
}
