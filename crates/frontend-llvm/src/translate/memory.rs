//! Memory: variables, loads and stores, atomics, copies.

use super::function::{Body, is_wide};
use super::moves;
use super::types::{self, Unsupported, Word};
use super::wide::{WIDE, pair};
use crate::Volatile;
use crate::library::slow;
use crate::llvm::{Opcode, Ordering, Type, TypeKind, Value, ValueKind};
use porf_event::{FenceMode, ReadMode, RmwKind, WriteMode};
use porf_ir::{AllocKind, BinOp, CmpOp, FloatOp, Instr, Operand, Precision, Reg, RmwOp, Width};

impl<'m> Body<'_, 'm> {
    pub fn alloca(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let each = self.tr.module.size_of(i.allocated_type());
        let count = self.word(i.operand(0))?;
        let size = self.bin(BinOp::Mul, Width::W64, count, Operand::Const(each));
        let shared = size != Operand::Const(0) && self.tr.escapes.escapes(i);
        let dst = self.result(i);
        if !shared {
            self.b.push(Instr::Local { dst, size });
            return Ok(());
        }
        self.b.local(dst);
        // Optimised code, as Rust's std is, computes addresses inside of a variable before its scope begins.
        let scoped = !self.tr.is_rust && i.users().any(|user| is_scope_begin(user));
        if scoped && matches!(size, Operand::Const(_)) {
            // Made where its scope begins.
            self.scoped.insert(i);
            return Ok(());
        }
        let align = i.alignment().max(1);
        self.b.push(Instr::Alloc { dst, size, align, kind: AllocKind::Stack });
        // When the entry function returns, the program ends. A variable of a block inside the
        // function is made anew each time and ends with its last instance.
        let in_first_block = i.function().blocks().next() == Some(i.block());
        if !self.is_entry && in_first_block {
            self.shared_locals.push(dst);
        }
        Ok(())
    }

    /// The scope of a local variable begins.
    pub fn begin_scope(&mut self, variable: Value<'m>) -> Result<(), Unsupported> {
        if variable.opcode() != Opcode::Alloca {
            return Ok(());
        }
        let size = Operand::Const(self.tr.module.size_of(variable.allocated_type()));
        match self.word(variable)? {
            Operand::Reg(dst) if self.scoped.contains(&variable) => {
                let align = variable.alignment().max(1);
                let count = self.word(variable.operand(0))?;
                let size = self.bin(BinOp::Mul, Width::W64, count, size);
                self.b.push(Instr::Alloc { dst, size, align, kind: AllocKind::Stack });
            }
            address => self.b.push(Instr::Forget { address, length: size }),
        }
        Ok(())
    }

    /// The scope of a local variable ends.
    pub fn end_scope(&mut self, variable: Value<'m>, end: Value<'m>) -> Result<(), Unsupported> {
        if variable.opcode() != Opcode::Alloca {
            return Ok(());
        }
        match self.word(variable)? {
            // When the entry function returns, the program ends.
            Operand::Reg(_) if self.scoped.contains(&variable) && self.is_entry && is_at_return(end) => {}
            Operand::Reg(dst) if self.scoped.contains(&variable) => {
                self.b.push(Instr::Free { address: dst.into(), kind: AllocKind::Stack });
                self.b.push(Instr::Move { dst, src: Operand::Const(0) });
            }
            address => self.b.push(Instr::Expire { address }),
        }
        Ok(())
    }

    pub fn load(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let address = self.word(i.operand(0))?;
        let words = types::words(self.tr.module, i.ty())?;
        let mut mode = read_mode(i.ordering());
        if mode.is_atomic() && is_wide(i) {
            let halves = self.wide_load(address, mode);
            self.set(i, halves.to_vec());
            return Ok(());
        }
        if mode.is_atomic() && words.len() != 1 {
            return Err(format!("an atomic access of type {}", i.ty().print()));
        }
        if mode == ReadMode::Plain && i.is_volatile() {
            mode = match self.tr.volatile {
                Volatile::Plain => ReadMode::Plain,
                Volatile::Relaxed => ReadMode::Relaxed,
                Volatile::AcqRel => ReadMode::Acquire,
            };
        }
        let is_move = if self.tr.is_rust { self.may_be_undefined(i) } else { moves::only_moves(i) };
        let row = match mode == ReadMode::Plain && is_move {
            true => self.move_words(address, &words)?,
            false => self.load_words(address, &words, mode)?,
        };
        self.set(i, row);
        Ok(())
    }

    /// Whether a load of Rust's may find bytes that were never written: all of std's, and those that the
    /// user's code only hands on. Values travel in registers before it is known whether they are there, as
    /// the contents of a `None` do.
    fn may_be_undefined(&self, load: Value<'m>) -> bool {
        let is_std = load.function().file().is_some_and(|(directory, file)| is_rust_std(directory, file));
        is_std || moves::only_hands_on(load)
    }

    pub fn store(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let values = self.words(i.operand(0))?;
        let address = self.word(i.operand(1))?;
        let words = types::words(self.tr.module, i.operand(0).ty())?;
        let mut mode = write_mode(i.ordering());
        if mode.is_atomic() && is_wide(i.operand(0)) {
            self.wide_store(address, pair(values)?, mode);
            return Ok(());
        }
        if mode.is_atomic() && words.len() != 1 {
            return Err(format!("an atomic access of type {}", i.operand(0).ty().print()));
        }
        if mode == WriteMode::Plain && i.is_volatile() {
            mode = match self.tr.volatile {
                Volatile::Plain => WriteMode::Plain,
                Volatile::Relaxed => WriteMode::Relaxed,
                Volatile::AcqRel => WriteMode::Release,
            };
        }
        // A store of an undefined value leaves what is there, which is as good as any.
        if i.operand(0).is_undef() && !mode.is_atomic() {
            return Ok(());
        }
        self.store_words(address, &words, &values, mode)
    }

    pub fn load_words(
        &mut self,
        address: Operand,
        words: &[Word],
        mode: ReadMode,
    ) -> Result<Vec<Operand>, Unsupported> {
        let mut row = Vec::new();
        for word in words {
            row.push(self.load_word(address, *word, mode, false)?);
        }
        Ok(row)
    }

    /// As `load_words`, of memory that need not have been written.
    pub fn move_words(&mut self, address: Operand, words: &[Word]) -> Result<Vec<Operand>, Unsupported> {
        let mut row = Vec::new();
        for word in words {
            row.push(self.load_word(address, *word, ReadMode::Plain, true)?);
        }
        Ok(row)
    }

    /// Loads a word, in parts where its size is no power of two.
    fn load_word(
        &mut self,
        address: Operand,
        word: Word,
        mode: ReadMode,
        is_move: bool,
    ) -> Result<Operand, Unsupported> {
        let mut sum: Option<Operand> = None;
        for part in word.parts(mode.is_atomic())? {
            let at = self.add(address, word.offset + part.offset);
            let dst = self.b.register("");
            let load = Instr::Load { dst, address: at, size: part.size, mode };
            if is_move {
                self.b.push_move(load)
            } else {
                self.b.push(load)
            }
            let shifted = self.shifted(BinOp::Shl, dst.into(), part.offset * 8);
            sum = Some(match sum {
                Some(sum) => self.bin(BinOp::Or, Width::W64, sum, shifted),
                None => shifted,
            });
        }
        sum.ok_or_else(|| "an empty word".to_string())
    }

    fn shifted(&mut self, op: BinOp, value: Operand, bits: u64) -> Operand {
        if bits == 0 { value } else { self.bin(op, Width::W64, value, Operand::Const(bits)) }
    }

    pub fn store_words(
        &mut self,
        address: Operand,
        words: &[Word],
        values: &[Operand],
        mode: WriteMode,
    ) -> Result<(), Unsupported> {
        for (word, value) in words.iter().zip(values) {
            for part in word.parts(mode.is_atomic())? {
                let address = self.add(address, word.offset + part.offset);
                let value = self.shifted(BinOp::LShr, *value, part.offset * 8);
                self.b.push(Instr::Store { address, value, size: part.size, mode });
            }
        }
        Ok(())
    }

    pub fn gep(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let mut address = self.word(i.operand(0))?;
        let mut ty = i.gep_source_type();
        let mut constant = 0u64;
        for at in 1..i.operand_count() {
            let operand = i.operand(at);
            if at > 1 && ty.kind() == TypeKind::Struct {
                let index = self.tr.constant_word(operand)? as u32;
                constant = constant.wrapping_add(self.tr.module.offset_of(ty, index));
                ty = ty.field(index);
                continue;
            }
            if at > 1 {
                ty = ty.element();
            }
            let size = self.tr.module.size_of(ty);
            let width = self.scalar(operand)?.width();
            match self.word(operand)? {
                Operand::Const(index) => {
                    constant = constant.wrapping_add((width.signed(index) as u64).wrapping_mul(size));
                }
                index => {
                    let index = if width.0 < 64 {
                        let dst = self.b.register("");
                        self.b.push(Instr::SignExtend { dst, from: width, src: index });
                        dst.into()
                    } else {
                        index
                    };
                    let scaled = match size {
                        1 => index,
                        size => self.bin(BinOp::Mul, Width::W64, index, Operand::Const(size)),
                    };
                    address = self.bin(BinOp::Add, Width::W64, address, scaled);
                }
            }
        }
        let address = self.add(address, constant);
        self.set(i, vec![address]);
        Ok(())
    }

    pub fn fence(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        if i.is_single_thread() {
            return Ok(());
        }
        let mode = match i.ordering() {
            Ordering::Acquire => FenceMode::Acquire,
            Ordering::Release => FenceMode::Release,
            Ordering::AcqRel => FenceMode::AcqRel,
            Ordering::SeqCst => FenceMode::SeqCst,
            Ordering::NotAtomic | Ordering::Relaxed => return Ok(()),
        };
        self.b.push(Instr::Fence { mode });
        Ok(())
    }

    pub fn cmpxchg(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        if self.shortens() && slow::fast_path(i).is_some() {
            self.take_lock(i)?;
            self.set(i, vec![Operand::Const(0), Operand::Const(1)]);
            return Ok(());
        }
        let (success, failure, weak) = i.cmpxchg_parts();
        let address = self.word(i.operand(0))?;
        let wide = is_wide(i.operand(1));
        let (expected, new, size, width) = if wide {
            let (expected, new) = (self.wide_number(i.operand(1))?, self.wide_number(i.operand(2))?);
            (expected, new, WIDE, Width::W64)
        } else {
            let word = self.scalar(i.operand(1))?;
            (self.word(i.operand(1))?, self.word(i.operand(2))?, word.size()?, word.width())
        };
        let old = self.b.register("");
        let cas = Instr::Cas {
            dst: old,
            address,
            expected,
            new,
            size,
            read: read_mode(success),
            write: write_mode(success),
            failure: read_mode(failure),
            weak: false,
            kind: RmwKind::Amo,
        };
        let same = self.b.register("");
        let compare = Instr::Cmp { dst: same, op: CmpOp::Eq, width, a: old.into(), b: expected };
        let results = |body: &mut Self, same: Reg| {
            let old = if wide { body.wide_value(old.into()).to_vec() } else { vec![old.into()] };
            body.set(i, old.into_iter().chain([same.into()]).collect());
        };
        if !(weak && self.tr.spurious) {
            self.b.push(cas);
            self.b.push(compare);
            results(self, same);
            return Ok(());
        }
        // It succeeds, or it is a read, whatever that finds.
        let succeeds = self.b.register("succeeds");
        let (then, otherwise, end) = (self.b.label(), self.b.label(), self.b.label());
        self.b.push(Instr::Nondet { dst: succeeds, options: 2 });
        self.b.branch(succeeds, then, otherwise);
        self.b.bind(then);
        self.b.push(cas);
        self.b.push(compare);
        self.b.push(Instr::Assume { cond: same.into() });
        self.b.jump(end);
        self.b.bind(otherwise);
        self.b.push(Instr::Load { dst: old, address, size, mode: read_mode(failure) });
        self.b.bind(end);
        results(self, succeeds);
        Ok(())
    }

    pub fn atomicrmw(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let wide = is_wide(i);
        let word = if wide { None } else { Some(self.scalar(i.operand(1))?) };
        let precision = word.and_then(|word| word.float).unwrap_or(Precision::Double);
        let float = |op| RmwOp::Float(op, precision);
        let op = match i.rmw_operation() {
            0 => RmwOp::Exchange,
            1 => RmwOp::Add,
            2 => RmwOp::Sub,
            3 => RmwOp::And,
            4 => RmwOp::Nand,
            5 => RmwOp::Or,
            6 => RmwOp::Xor,
            7 => RmwOp::SMax,
            8 => RmwOp::SMin,
            9 => RmwOp::UMax,
            10 => RmwOp::UMin,
            11 => float(FloatOp::Add),
            12 => float(FloatOp::Sub),
            13 => float(FloatOp::Max),
            14 => float(FloatOp::Min),
            _ => return Err(format!("instruction {}", i.print())),
        };
        let address = self.word(i.operand(0))?;
        let (operand, size) = match word {
            Some(word) => (self.word(i.operand(1))?, word.size()?),
            None => (self.wide_number(i.operand(1))?, WIDE),
        };
        let dst = if wide { self.b.register("") } else { self.result(i) };
        let (read, write) = (read_mode(i.ordering()), write_mode(i.ordering()));
        self.b.push(Instr::Rmw { dst, op, address, operand, size, read, write, kind: RmwKind::Amo });
        if wide {
            let old = self.wide_value(dst.into());
            self.set(i, old.to_vec());
        }
        Ok(())
    }

    /// Copies `length` bytes; where that goes through shared memory, cell by cell.
    ///
    /// `hints` are values that may tell the type of what is copied, and so the size of the cells.
    pub fn copy(
        &mut self,
        to: Operand,
        from: Operand,
        length: Operand,
        hints: &[Value<'m>],
        align: u64,
    ) -> Result<(), Unsupported> {
        let done = self.b.label();
        self.b.try_copy(to, from, length, done);
        match length {
            Operand::Const(length) if length <= 4096 => {
                let cells = self.cells(hints, length, align)?;
                // All reads before all writes: the ranges may overlap.
                let values = self.move_words(from, &cells)?;
                self.store_words(to, &cells, &values, WriteMode::Plain)?;
            }
            _ => {
                let function = crate::library::memory::move_bytes(self.tr);
                let args = [to, from, length].into();
                self.b.push(Instr::Call { function, args, dst: None });
            }
        }
        self.b.bind(done);
        Ok(())
    }

    pub fn fill(
        &mut self,
        to: Operand,
        byte: Operand,
        length: Operand,
        hints: &[Value<'m>],
        align: u64,
    ) -> Result<(), Unsupported> {
        let done = self.b.label();
        self.b.try_fill(to, byte, length, done);
        match (length, byte) {
            (Operand::Const(length), Operand::Const(byte)) if length <= 4096 => {
                let pattern = (byte & 0xff) * 0x0101_0101_0101_0101;
                for cell in self.cells(hints, length, align)? {
                    let value = Operand::Const(cell.width().truncate(pattern));
                    self.store_words(to, &[cell], &[value], WriteMode::Plain)?;
                }
            }
            _ => {
                let function = crate::library::memory::set_bytes(self.tr);
                let args = [to, byte, length].into();
                self.b.push(Instr::Call { function, args, dst: None });
            }
        }
        self.b.bind(done);
        Ok(())
    }

    /// How to cut a range of `length` bytes into cells.
    fn cells(&self, hints: &[Value<'m>], length: u64, align: u64) -> Result<Vec<Word>, Unsupported> {
        // Rust's variables have no types in LLVM: they are bytes, whatever they hold.
        let hints = if self.tr.is_rust { &[] } else { hints };
        for hint in hints {
            for ty in pointed_types(*hint) {
                if let Some(cells) = self.cells_of(ty, length) {
                    return Ok(cells);
                }
            }
        }
        let mut cells = Vec::new();
        let mut offset = 0;
        while offset < length {
            let mut size = align.clamp(1, 8);
            while size > length - offset || !offset.is_multiple_of(size) {
                size /= 2;
            }
            cells.push(Word { offset, bits: (size * 8) as u8, float: None });
            offset += size;
        }
        Ok(cells)
    }

    /// The cells of a type, or of an array of it, that is `length` bytes long.
    fn cells_of(&self, ty: Type<'m>, length: u64) -> Option<Vec<Word>> {
        if !matches!(ty.kind(), TypeKind::Struct | TypeKind::Array) {
            return None;
        }
        let size = self.tr.module.size_of(ty);
        if size == 0 || size > 4096 {
            return None;
        }
        let each = types::words(self.tr.module, ty).ok()?;
        if size < length && length.is_multiple_of(size) {
            return Some((0..length / size).flat_map(|n| shifted(&each, n * size)).collect());
        }
        // The first field may be what is copied.
        let mut inner = ty;
        while self.tr.module.size_of(inner) > length {
            inner = match inner.kind() {
                TypeKind::Struct if inner.length() > 0 => inner.field(0),
                TypeKind::Array => return Some(each.into_iter().filter(|w| w.offset < length).collect()),
                _ => return None,
            };
        }
        (self.tr.module.size_of(inner) == length)
            .then(|| each.into_iter().filter(|word| word.offset < length).collect())
    }

    /// A new private object with a copy of what `from` points to.
    pub fn by_value(&mut self, from: Value<'m>, ty: Type<'m>) -> Result<Operand, Unsupported> {
        let length = Operand::Const(self.tr.module.size_of(ty));
        let source = self.word(from)?;
        let dst: Reg = self.b.register("");
        self.b.push(Instr::Local { dst, size: length });
        let done = self.b.label();
        self.b.try_copy(dst.into(), source, length, done);
        let cells = types::words(self.tr.module, ty)?;
        let values = self.move_words(source, &cells)?;
        self.store_words(dst.into(), &cells, &values, WriteMode::Plain)?;
        self.b.bind(done);
        Ok(dst.into())
    }
}

/// Whether a source file is one of Rust's own libraries.
fn is_rust_std(directory: &str, file: &str) -> bool {
    [directory, file]
        .iter()
        .any(|path| path.starts_with("/rustc/") || path.contains("/lib/rustlib/src/rust/"))
}

fn is_scope_begin(user: Value<'_>) -> bool {
    user.opcode() == Opcode::Call
        && user.callee().kind() == ValueKind::Function
        && user.callee().name().starts_with("llvm.lifetime.start")
}

/// Whether nothing but the end of variables and the return comes behind an instruction.
fn is_at_return(instruction: Value<'_>) -> bool {
    let mut block = instruction.block();
    let mut rest: Vec<Value<'_>> = block.instructions().skip_while(|i| *i != instruction).skip(1).collect();
    for _ in 0..64 {
        for i in &rest {
            match i.opcode() {
                Opcode::Ret => return true,
                Opcode::Load if i.operand(0).opcode() == Opcode::Alloca => {}
                Opcode::BitCast | Opcode::Br | Opcode::Phi => {}
                Opcode::Call if i.callee().kind() == ValueKind::Function => {
                    if !i.callee().name().starts_with("llvm.lifetime.end") {
                        return false;
                    }
                }
                _ => return false,
            }
        }
        match block.terminator().successors().as_slice() {
            [next] => block = *next,
            _ => return false,
        }
        rest = block.instructions().collect();
    }
    false
}

pub fn read_mode(ordering: Ordering) -> ReadMode {
    match ordering {
        Ordering::NotAtomic => ReadMode::Plain,
        Ordering::Relaxed | Ordering::Release => ReadMode::Relaxed,
        Ordering::Acquire | Ordering::AcqRel => ReadMode::Acquire,
        Ordering::SeqCst => ReadMode::SeqCst,
    }
}

pub fn write_mode(ordering: Ordering) -> WriteMode {
    match ordering {
        Ordering::NotAtomic => WriteMode::Plain,
        Ordering::Relaxed | Ordering::Acquire => WriteMode::Relaxed,
        Ordering::Release | Ordering::AcqRel => WriteMode::Release,
        Ordering::SeqCst => WriteMode::SeqCst,
    }
}

/// Types that an address is known to point to.
fn pointed_types(address: Value<'_>) -> Vec<Type<'_>> {
    match address.kind() {
        ValueKind::GlobalVariable => vec![address.value_type()],
        ValueKind::Instruction | ValueKind::ConstantExpression => match address.opcode() {
            Opcode::Alloca => vec![address.allocated_type()],
            Opcode::GetElementPtr => gep_result(address).into_iter().collect(),
            Opcode::BitCast | Opcode::AddrSpaceCast => pointed_types(address.operand(0)),
            _ => users_types(address),
        },
        ValueKind::Argument => users_types(address),
        _ => Vec::new(),
    }
}

/// What other uses of a pointer take it for.
fn users_types(address: Value<'_>) -> Vec<Type<'_>> {
    address
        .users()
        .filter(|user| {
            user.kind() == ValueKind::Instruction
                && user.opcode() == Opcode::GetElementPtr
                && user.operand(0) == address
        })
        .map(|user| user.gep_source_type())
        .filter(|ty| ty.kind() == TypeKind::Struct)
        .collect()
}

/// What the result of a GEP points to.
pub fn gep_result(gep: Value<'_>) -> Option<Type<'_>> {
    let mut ty = gep.gep_source_type();
    for at in 2..gep.operand_count() {
        ty = match ty.kind() {
            TypeKind::Struct => ty.field(gep.operand(at).as_integer()? as u32),
            TypeKind::Array | TypeKind::Vector => ty.element(),
            _ => return None,
        };
    }
    Some(ty)
}

fn shifted(words: &[Word], by: u64) -> Vec<Word> {
    words.iter().map(|word| Word { offset: word.offset + by, ..*word }).collect()
}
