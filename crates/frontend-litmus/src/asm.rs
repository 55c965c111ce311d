//! What the assembly dialects share: the table of code, labels, operands, comparisons.
//!
//! Code is a table: a head `P0 | P1 ;` and rows of one instruction per thread, `… | … ;`. A cell may
//! begin with a label or be empty.

use crate::Diagnostic;
use crate::condition;
use crate::memory::Memory;
use crate::source::{Comments, Cursor, is_word};
use crate::thread::{Thread, ThreadBuilder};
use porf_event::{FenceMode, ReadMode, WriteMode};
use porf_ir::{BinOp, CmpOp, Instr, JumpLabel, Operand, Reg, Width};

/// One assembly language.
pub(crate) trait InstructionSet {
    /// The canonical name and the size in bytes of a register, if it is one.
    fn register(&self, name: &str) -> Option<(String, u8)>;

    /// Reads the operands of `mnemonic` (in lower case) and writes its instructions.
    fn instruction(&self, asm: &mut Asm<'_, '_>, mnemonic: &str) -> Result<(), Diagnostic>;
}

/// The thread and the cell that is being read.
pub(crate) struct Asm<'a, 'm> {
    pub cursor: Cursor<'a>,
    pub thread: ThreadBuilder,
    pub memory: &'m mut Memory,
    machine: &'m dyn InstructionSet,
    labels: Vec<CodeLabel<'a>>,
    /// The operands of the last comparison, per condition register.
    compared: [Option<(Reg, Reg, Width)>; 8],
}

struct CodeLabel<'a> {
    name: &'a str,
    label: JumpLabel,
    bound: bool,
    used: usize,
}

/// A condition on the last comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cond {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Unsigned.
    Lo,
    Ls,
    Hi,
    Hs,
}

/// The threads, up to the condition.
pub(crate) fn parse(
    cursor: &mut Cursor<'_>,
    memory: &mut Memory,
    machine: &dyn InstructionSet,
) -> Result<Vec<Thread>, Diagnostic> {
    cursor.comments = Comments::Both;
    let rows = rows(cursor)?;
    let Some((head, rows)) = rows.split_first() else { return Err(cursor.error("the test has no thread")) };
    let mut threads = Vec::new();
    for (column, cell) in head.iter().enumerate() {
        check_head(column, cell.clone())?;
        let mut asm = Asm {
            cursor: cell.clone(),
            thread: ThreadBuilder::new(column),
            memory,
            machine,
            labels: Vec::new(),
            compared: [None; 8],
        };
        for row in rows {
            if let Some(cell) = row.get(column) {
                asm.cell(cell.clone())?;
            }
        }
        threads.push(asm.finish()?);
    }
    if let Some(cell) = rows.iter().find_map(|row| row.get(head.len())) {
        return Err(cell.error("more columns than threads"));
    }
    cursor.comments = Comments::Caml;
    Ok(threads)
}

/// Cuts the table into cells.
fn rows<'a>(cursor: &mut Cursor<'a>) -> Result<Vec<Vec<Cursor<'a>>>, Diagnostic> {
    let mut rows = Vec::new();
    while !condition::begins(cursor)? {
        let mut row = Vec::new();
        let mut start = cursor.at;
        loop {
            cursor.skip()?;
            let byte = cursor.byte();
            if matches!(byte, b'|' | b';') {
                let mut cell = cursor.clone();
                (cell.at, cell.end) = (start, cursor.at);
                row.push(cell);
                cursor.at += 1;
                start = cursor.at;
                if byte == b';' {
                    break;
                }
            } else if cursor.at_end() {
                return Err(cursor.error("a row of code has no end ';'"));
            } else {
                let rest = cursor.rest();
                cursor.at += rest.chars().next().map_or(0, char::len_utf8);
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

/// `P0`, perhaps with an annotation `P0:…` that only other tools understand.
fn check_head(column: usize, mut cell: Cursor<'_>) -> Result<(), Diagnostic> {
    let name = cell.expect_word("a thread 'P0'")?;
    if name.strip_prefix('P').and_then(|number| number.parse().ok()) != Some(column) {
        return Err(cell.error(format!("expected thread P{column}, found '{name}'")));
    }
    cell.skip()?;
    if cell.at_end() { Ok(()) } else { Err(cell.expected("'|' or ';'")) }
}

impl<'a> Asm<'a, '_> {
    fn cell(&mut self, cell: Cursor<'a>) -> Result<(), Diagnostic> {
        self.cursor = cell;
        loop {
            self.cursor.skip()?;
            if self.cursor.at_end() {
                return Ok(());
            }
            let start = self.cursor.clone();
            let Some(word) = self.cursor.word_with(|c| c == '.')? else {
                return Err(self.cursor.expected("an instruction"));
            };
            if self.cursor.peek()? == b':' {
                self.cursor.at += 1;
                self.bind(word, &start)?;
                continue;
            }
            self.thread.code.at(start.span());
            let machine = self.machine;
            match machine.instruction(self, &word.to_ascii_lowercase()) {
                Ok(()) => {}
                // The place of the instruction is more helpful than that of its first operand.
                Err(mut diagnostic) if diagnostic.message == UNKNOWN => {
                    diagnostic = start.error(format!("instruction '{word}' is not supported"));
                    return Err(diagnostic);
                }
                Err(diagnostic) => return Err(diagnostic),
            }
            self.cursor.skip()?;
            return if self.cursor.at_end() {
                Ok(())
            } else {
                Err(self.cursor.expected("the end of the instruction"))
            };
        }
    }

    fn finish(self) -> Result<Thread, Diagnostic> {
        match self.labels.iter().find(|label| !label.bound) {
            Some(label) => {
                Err(self.cursor.source.error(label.used, format!("label '{}' is not defined", label.name)))
            }
            None => Ok(self.thread.finish()),
        }
    }

    fn bind(&mut self, name: &'a str, start: &Cursor<'a>) -> Result<(), Diagnostic> {
        let at = self.label_index(name, start.at);
        if self.labels[at].bound {
            return Err(start.error(format!("label '{name}' is defined twice")));
        }
        self.labels[at].bound = true;
        self.thread.code.bind(self.labels[at].label);
        Ok(())
    }

    fn label_index(&mut self, name: &'a str, used: usize) -> usize {
        match self.labels.iter().position(|label| label.name == name) {
            Some(at) => at,
            None => {
                let label = self.thread.code.label();
                self.labels.push(CodeLabel { name, label, bound: false, used });
                self.labels.len() - 1
            }
        }
    }

    /// A place in the code, as an operand.
    pub fn label(&mut self) -> Result<JumpLabel, Diagnostic> {
        self.cursor.skip()?;
        let used = self.cursor.at;
        match self.cursor.word_with(|c| c == '.')? {
            Some(name) => {
                let at = self.label_index(name, used);
                Ok(self.labels[at].label)
            }
            None => Err(self.cursor.expected("a label")),
        }
    }

    /// The machine has no such mnemonic.
    pub fn unknown(&self) -> Diagnostic {
        self.cursor.error(UNKNOWN)
    }

    pub fn comma(&mut self) -> Result<(), Diagnostic> {
        self.cursor.expect(",")
    }

    /// A register if one comes next: its canonical name and its size. Symbolic registers (`%x`) are
    /// registers of their own.
    pub fn try_register(&mut self) -> Result<Option<(String, u8)>, Diagnostic> {
        self.cursor.skip()?;
        let rest = self.cursor.rest();
        let sigil = usize::from(rest.starts_with(['%', '$']));
        let length = rest[sigil..].len() - rest[sigil..].trim_start_matches(is_word).len();
        if length == 0 {
            return Ok(None);
        }
        let name = &rest[..sigil + length];
        let found = self.machine.register(name);
        if found.is_some() {
            self.cursor.at += name.len();
        }
        Ok(found)
    }

    pub fn register(&mut self) -> Result<Reg, Diagnostic> {
        self.sized_register().map(|(reg, _)| reg)
    }

    pub fn sized_register(&mut self) -> Result<(Reg, u8), Diagnostic> {
        match self.try_register()? {
            Some((name, size)) => Ok((self.thread.register(&name), size)),
            None => Err(self.cursor.expected("a register")),
        }
    }

    /// A number with an optional `#` or `$` before it.
    pub fn immediate(&mut self) -> Result<i64, Diagnostic> {
        let _ = self.cursor.eat("#")? || self.cursor.eat("$")?;
        match self.cursor.number()? {
            Some(value) => Ok(value),
            None => Err(self.cursor.expected("a number")),
        }
    }

    /// Whether a number comes next.
    pub fn sees_immediate(&mut self) -> Result<bool, Diagnostic> {
        let byte = self.cursor.peek()?;
        Ok(matches!(byte, b'#' | b'$' | b'-' | b'+') || byte.is_ascii_digit())
    }

    pub fn register_or_immediate(&mut self) -> Result<Operand, Diagnostic> {
        if self.sees_immediate()? {
            Ok(Operand::Const(self.immediate()? as u64))
        } else {
            Ok(self.register()?.into())
        }
    }

    pub fn bin(&mut self, op: BinOp, width: Width, dst: Reg, a: impl Into<Operand>, b: impl Into<Operand>) {
        self.thread.push(Instr::Bin { dst, op, width, a: a.into(), b: b.into() });
    }

    /// A temporary that holds `a + b`; `a` itself if `b` is 0.
    pub fn sum(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Operand {
        let (a, b) = (a.into(), b.into());
        if b == Operand::Const(0) {
            return a;
        }
        let dst = self.thread.temp();
        self.bin(BinOp::Add, Width::W64, dst, a, b);
        dst.into()
    }

    pub fn fence(&mut self, mode: FenceMode) {
        self.thread.push(Instr::Fence { mode });
    }

    pub fn load(&mut self, dst: Reg, address: Operand, size: u8, mode: ReadMode) {
        self.thread.push(Instr::Load { dst, address, size, mode });
    }

    pub fn store(&mut self, address: Operand, value: impl Into<Operand>, size: u8, mode: WriteMode) {
        self.thread.push(Instr::Store { address, value: value.into(), size, mode });
    }

    /// A store-conditional: `status` is 0 if it writes and 1 if it does not.
    pub fn store_exclusive(
        &mut self,
        status: Reg,
        address: Operand,
        value: impl Into<Operand>,
        size: u8,
        mode: WriteMode,
    ) {
        let (value, success, failure) = (value.into(), 0, 1);
        self.thread.push(Instr::StoreExclusive { status, success, failure, address, value, size, mode });
    }

    /// Remembers what is compared; conditions are computed where they are used.
    pub fn compare(&mut self, field: usize, width: Width, a: impl Into<Operand>, b: impl Into<Operand>) {
        let field = field & 7;
        let (left, right) = match self.compared[field] {
            Some((left, right, _)) => (left, right),
            None => (self.thread.temp(), self.thread.temp()),
        };
        self.compared[field] = Some((left, right, width));
        self.thread.mov(left, a);
        self.thread.mov(right, b);
    }

    /// A register that is 1 where the last comparison satisfies `cond`.
    pub fn cond(&mut self, field: usize, cond: Cond) -> Result<Reg, Diagnostic> {
        let Some((left, right, width)) = self.compared[field & 7] else {
            return Err(self.cursor.error("nothing has been compared before this condition"));
        };
        let (op, a, b) = match cond {
            Cond::Eq => (CmpOp::Eq, left, right),
            Cond::Ne => (CmpOp::Ne, left, right),
            Cond::Lt => (CmpOp::Slt, left, right),
            Cond::Le => (CmpOp::Sle, left, right),
            Cond::Gt => (CmpOp::Slt, right, left),
            Cond::Ge => (CmpOp::Sle, right, left),
            Cond::Lo => (CmpOp::Ult, left, right),
            Cond::Ls => (CmpOp::Ule, left, right),
            Cond::Hi => (CmpOp::Ult, right, left),
            Cond::Hs => (CmpOp::Ule, right, left),
        };
        let dst = self.thread.temp();
        self.thread.push(Instr::Cmp { dst, op, width, a: a.into(), b: b.into() });
        Ok(dst)
    }

    /// Branches to `target` if `cond` is not 0, and continues otherwise.
    pub fn branch_if(&mut self, cond: impl Into<Operand>, target: JumpLabel) {
        let next = self.thread.code.label();
        self.thread.code.branch(cond, target, next);
        self.thread.code.bind(next);
    }

    /// Branches to `target` if `cond` is 0, and continues otherwise.
    pub fn branch_unless(&mut self, cond: impl Into<Operand>, target: JumpLabel) {
        let next = self.thread.code.label();
        self.thread.code.branch(cond, next, target);
        self.thread.code.bind(next);
    }
}

const UNKNOWN: &str = "unknown mnemonic";
