//! Accesses of different sizes to the same bytes.
//!
//! Engines keep memory in cells, and no execution may use two cells that share some bytes but not all.
//!
//! - A program that writes four bytes and reads eight of them, as a copy of a structure does, becomes one
//!   that reads four bytes twice. For accesses that are not atomic this changes nothing that a program
//!   without data races can see: C and C++ say nothing of the order of the bytes of such an access.
//! - Where an atomic access covers a smaller one, the smaller one is made on the whole word: a read takes its
//!   bytes out of it, and a write becomes a read-modify-write that leaves the other bytes as they are. There is
//!   one order of all writes to the word then. This is no more than coherence asks for if accesses that
//!   overlap are coherent (Flur et al., "Mixed-size concurrency: ARM, POWER, C/C++11, and SC", POPL 2017). But
//!   accesses to *different* parts of the word are ordered too, as accesses to one variable are. Under sequential
//!   consistency nothing is lost; under other models executions are, and a verdict says so.
//! - Where the model says what accesses of several cells are, memory has *bounds*: an access that covers some is
//!   several events, one for each of its cells. The model relates them (`si`).

use crate::{BinOp, Function, FunctionId, Instr, Operand, Program, Reg, Target, Width};
use porf_event::{ReadMode, Value, WriteMode, wide};
use serde::{Deserialize, Serialize};

/// How accesses are made to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Split {
    /// Accesses to parts of a word are made on the whole of it.
    Word {
        /// The first byte of the word.
        address: u64,
        /// Bytes of the word.
        word: u8,
    },
    /// An access is cut.
    Pieces {
        /// The function that contains it.
        function: FunctionId,
        /// The access, by its index in the code.
        at: Target,
        /// Bytes of a piece; divides the size of the access.
        piece: u8,
    },
    /// No cell lies on both sides of either end of these bytes.
    Bounds {
        /// The first byte.
        first: u64,
        /// The one behind the last.
        end: u64,
    },
}

/// A part of a word: bytes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first byte of the word.
    pub address: u64,
    /// Bytes of the word.
    pub word: u8,
    /// How many bits of the word lie below the part.
    shift: u32,
    width: Width,
}

impl Part {
    /// The part, out of the word.
    pub fn get(self, word: Value) -> Value {
        match self.word {
            16 => self.width.truncate((wide::value(word).unwrap_or_default() >> self.shift) as Value),
            _ => self.width.truncate(word >> self.shift),
        }
    }

    /// The word with another value in its part.
    pub fn put(self, word: Value, part: Value) -> Value {
        let (mask, part) = (self.width.truncate(Value::MAX), self.width.truncate(part));
        if self.word == 16 {
            let [mask, part] = [mask, part].map(|bits| u128::from(bits) << self.shift);
            return wide::number(wide::value(word).unwrap_or_default() & !mask | part);
        }
        word & !(mask << self.shift) | part << self.shift
    }
}

impl Program {
    /// Whether the instruction at a place is an access that may be cut.
    pub fn can_split(&self, function: FunctionId, at: Target) -> bool {
        let function = self.functions.get(function.0 as usize);
        matches!(
            function.and_then(|function| function.code.get(at as usize)),
            Some(Instr::Load { mode: ReadMode::Plain, .. } | Instr::Store { mode: WriteMode::Plain, .. })
        )
    }

    /// Whether accesses of this program can be made to fit as those of another one were.
    pub fn fits(&self, split: &Split) -> bool {
        match *split {
            Split::Word { .. } | Split::Bounds { .. } => true,
            Split::Pieces { function, at, .. } => self.can_split(function, at),
        }
    }

    /// Makes accesses fit; places are those before any is cut. The program remembers it.
    pub fn split(&mut self, splits: &[Split]) {
        self.cuts.push(splits.to_vec());
        let mut cuts = Vec::new();
        for split in splits {
            match *split {
                Split::Word { address, word, .. } => self.add_word(address, word),
                Split::Pieces { function, at, piece } => cuts.push((function, at, piece)),
                Split::Bounds { first, end } => self.bounds.extend([first, end]),
            }
        }
        self.bounds.sort_unstable();
        self.bounds.dedup();
        cuts.sort_unstable();
        cuts.dedup_by_key(|(function, at, _)| (*function, *at));
        for of_function in cuts.chunk_by(|a, b| a.0 == b.0) {
            split_function(&mut self.functions[of_function[0].0.0 as usize], of_function);
        }
    }

    fn add_word(&mut self, address: u64, size: u8) {
        let end = address + u64::from(size);
        self.words.retain(|(other, size)| *other + u64::from(*size) <= address || end <= *other);
        self.words.push((address, size));
    }

    /// Whether an access covers a whole word whose parts are accessed too.
    pub fn is_word(&self, address: u64, size: u8) -> bool {
        self.words.contains(&(address, size))
    }

    /// The cells of an access, by address: halves, and halves of these, until no bound lies inside of one. None if the
    /// access is one cell.
    pub fn cells(&self, address: u64, size: u8) -> Vec<(u64, u8)> {
        let mut cells = Vec::new();
        // A machine does not access in one step what is not at a multiple of its size.
        if !self.bounds.is_empty() && address.is_multiple_of(u64::from(size)) {
            self.halve(address, size, &mut cells);
        }
        if cells.len() > 1 { cells } else { Vec::new() }
    }

    fn halve(&self, first: u64, size: u8, cells: &mut Vec<(u64, u8)>) {
        let inside = self.bounds.partition_point(|bound| *bound <= first);
        if self.bounds.get(inside).is_some_and(|bound| *bound < first + u64::from(size)) {
            let half = size / 2;
            self.halve(first, half, cells);
            self.halve(first + u64::from(half), half, cells);
        } else {
            cells.push((first, size));
        }
    }

    /// The word that an access is a part of, where words are accessed in parts.
    pub fn part(&self, address: u64, size: u8) -> Option<Part> {
        let end = address + u64::from(size);
        let (first, word) = *self
            .words
            .iter()
            .find(|(first, word)| *first <= address && end <= first + u64::from(*word) && *word > size)?;
        let shift = (address - first) as u32 * 8;
        Some(Part { address: first, word, shift, width: Width::of_bytes(size) })
    }
}

fn split_function(function: &mut Function, splits: &[(FunctionId, Target, u8)]) {
    let code = std::mem::take(&mut function.code);
    let spans = std::mem::take(&mut function.spans);
    let mut moved = Vec::with_capacity(code.len());
    let moves = std::mem::take(&mut function.moves);
    for (at, (instr, span)) in code.into_iter().zip(spans).enumerate() {
        moved.push(function.code.len() as Target);
        match splits.iter().find(|(_, split, _)| *split as usize == at) {
            Some((_, _, piece)) => pieces(function, &instr, *piece),
            None => function.code.push(instr),
        }
        function.spans.resize(function.code.len(), span);
        if moves.binary_search(&(at as Target)).is_ok() {
            function.moves.extend(moved[at]..function.code.len() as Target);
        }
    }
    for head in &mut function.counted {
        *head = moved[*head as usize];
    }
    for instr in &mut function.code {
        instr.map_targets(|target| moved[target as usize]);
    }
}

/// The instructions that stand for an access. The lowest addresses hold the lowest bits.
fn pieces(function: &mut Function, instr: &Instr, piece: u8) {
    let bits = u64::from(piece) * 8;
    match *instr {
        Instr::Load { dst, address, size, mode } => {
            let mut sum: Option<Operand> = None;
            // The address may be in `dst`, which is set last.
            for part in 0..u64::from(size / piece) {
                let at = offset(function, address, part * u64::from(piece));
                let read = register(function);
                function.code.push(Instr::Load { dst: read, address: at, size: piece, mode });
                let value = binary(function, BinOp::Shl, read.into(), Operand::Const(part * bits));
                sum = Some(match sum {
                    Some(sum) => binary(function, BinOp::Or, sum, value),
                    None => value,
                });
            }
            let src = sum.unwrap_or(Operand::Const(0));
            function.code.push(Instr::Bin {
                dst,
                op: BinOp::Or,
                width: Width::W64,
                a: src,
                b: Operand::Const(0),
            });
        }
        Instr::Store { address, value, size, mode } => {
            for part in 0..u64::from(size / piece) {
                let at = offset(function, address, part * u64::from(piece));
                let value = binary(function, BinOp::LShr, value, Operand::Const(part * bits));
                function.code.push(Instr::Store { address: at, value, size: piece, mode });
            }
        }
        _ => function.code.push(instr.clone()),
    }
}

fn offset(function: &mut Function, address: Operand, offset: u64) -> Operand {
    if offset == 0 { address } else { binary(function, BinOp::Add, address, Operand::Const(offset)) }
}

fn binary(function: &mut Function, op: BinOp, a: Operand, b: Operand) -> Operand {
    let dst = register(function);
    function.code.push(Instr::Bin { dst, op, width: Width::W64, a, b });
    dst.into()
}

fn register(function: &mut Function) -> Reg {
    function.registers += 1;
    Reg(function.registers - 1)
}
