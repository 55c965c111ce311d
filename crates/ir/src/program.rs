//! Programs, functions, memory.

use crate::layout::{self, Image, Region};
use crate::{Instr, Split, Target};
use porf_event::{Dialect, ThreadId, Value};
use porf_verdict::SourceLocation;
use serde::{Deserialize, Serialize};

/// Everything that an engine runs: shared memory, code, and the threads that start it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// For people: the title of the test, or the file.
    pub name: String,
    /// The language that it was written in.
    pub dialect: Dialect,
    /// Named shared memory, in the order of addresses.
    pub globals: Vec<Global>,
    /// The code; a [`FunctionId`] is an index into it.
    pub functions: Vec<Function>,
    /// The threads that run from the start, in order: `T0`, `T1`, …
    pub threads: Vec<ThreadEntry>,
    /// The static memory of C programs, whose addresses follow [`crate::layout`].
    pub image: Option<Box<Image>>,
    /// The inputs that several values are tried of; see [`Program::settle_inputs`].
    pub inputs: Vec<crate::InputValues>,
    /// How accesses were cut into pieces, one list after the other; see [`Program::split`].
    pub cuts: Vec<Vec<Split>>,
    /// Words of memory that are accessed in whole and in part, by address and size.
    pub words: Vec<(u64, u8)>,
    /// Where cells end, beside the ends of accesses, in order: an access over some of these addresses is several events.
    #[serde(default)]
    pub bounds: Vec<u64>,
}

/// A named piece of shared memory at a fixed address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Global {
    /// As in the source.
    pub name: String,
    /// Where its first byte lies.
    pub address: u64,
    /// In bytes.
    pub size: u64,
    /// Initial contents; bytes that no cell covers are 0.
    pub init: Vec<InitCell>,
}

/// The initial value of one cell of a global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InitCell {
    /// From the start of the global, in bytes.
    pub offset: u64,
    /// In bytes: 1, 2, 4, 8 or 16.
    pub size: u8,
    /// What the cell holds before any thread runs.
    pub value: Value,
}

/// An index into [`Program::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FunctionId(pub u32);

/// Flat code over registers, with jumps by index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// As in the source.
    pub name: String,
    /// The source file, by its place in [`Image::files`].
    pub file: u32,
    /// Arguments arrive in the registers `0..params`.
    pub params: u32,
    /// How many registers it uses, parameters included.
    pub registers: u32,
    /// Runs from index 0; [`Target`] is an index into it.
    pub code: Vec<Instr>,
    /// Where each instruction comes from; as long as `code`.
    pub spans: Vec<Span>,
    /// Names for people, where the source has them; may be shorter than `registers`.
    pub register_names: Vec<String>,
    /// Registers that hold the addresses of variables that other threads can see, 0 where there is none
    /// at the moment: what ends with a thread that exits in the middle of the function.
    pub locals: Vec<crate::Reg>,
    /// Loads that only move bytes to another place, in order: they may read what was never written, as
    /// the padding of a structure is. Atomic accesses among them are those of a thread that leaves a barrier or
    /// a condition variable, which another one may have destroyed and freed: destroying waits for them.
    pub moves: Vec<Target>,
    /// Heads of loops that run a constant number of times, in order: no bound cuts them off.
    pub counted: Vec<Target>,
}

/// A thread that runs from the start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadEntry {
    /// For people: `P0`, or as in the source.
    pub name: String,
    /// What it runs.
    pub function: FunctionId,
    /// Initial values of the registers `0..`, arguments first; the others are 0.
    pub registers: Vec<Value>,
}

/// A place in the source text; 0 means unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

impl From<Span> for SourceLocation {
    fn from(span: Span) -> SourceLocation {
        SourceLocation { file: String::new(), line: span.line, column: span.column }
    }
}

impl Program {
    /// Where the globals of a program without a memory layout of its own begin: low enough for
    /// 32-bit pointers, high enough not to be mistaken for a small number.
    pub const FIRST_ADDRESS: u64 = 0x1000_0000;

    /// Adds a global behind the present ones and returns its address.
    pub fn add_global(&mut self, name: &str, size: u64, init: Vec<InitCell>) -> u64 {
        let end = self.globals.last().map_or(Self::FIRST_ADDRESS, |last| last.address + last.size);
        // Room between globals, so that pointer arithmetic does not wander into a neighbour.
        let address = (end + 0x100).next_multiple_of(0x100);
        self.globals.push(Global { name: name.to_string(), address, size, init });
        address
    }

    /// The function with an id of this program.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The global of that name.
    pub fn global(&self, name: &str) -> Option<&Global> {
        self.globals.iter().find(|global| global.name == name)
    }

    /// The global that contains an address.
    pub fn global_at(&self, address: u64) -> Option<&Global> {
        if self.image.is_some() {
            return self.static_at(address).map(|index| &self.globals[index]);
        }
        self.globals
            .iter()
            .find(|global| (global.address..global.address + global.size.max(1)).contains(&address))
    }

    /// The initial value of the cell at `address`.
    pub fn initial_value(&self, address: u64, size: u8) -> Value {
        if self.image.is_some() {
            return self.static_value(address, size);
        }
        let Some(global) = self.global_at(address) else { return 0 };
        let offset = address - global.address;
        match global.init.iter().find(|cell| cell.offset == offset && cell.size == size) {
            Some(cell) => cell.value,
            None => (0..u64::from(size.min(8)))
                .fold(0, |value, byte| value | Value::from(global.initial_byte(offset + byte)) << (8 * byte)),
        }
    }

    /// `x`, `x[2]` (for an offset in units of `size`) or the bare number.
    pub fn name_of(&self, address: u64, size: u8) -> String {
        if self.image.is_some()
            && let Some(name) = self.name_of_allocated(address)
        {
            return name;
        }
        if let Some(name) = self.part_at(address, false) {
            return name;
        }
        match self.global_at(address) {
            Some(global) if global.address == address => global.name.clone(),
            Some(global) if (address - global.address).is_multiple_of(u64::from(size.max(1))) => {
                format!("{}[{}]", global.name, (address - global.address) / u64::from(size.max(1)))
            }
            Some(global) => format!("{}+{}", global.name, address - global.address),
            None => format!("{address:#x}"),
        }
    }

    /// A part of a global variable of a C program; a `whole` part that begins there, or the innermost one.
    pub fn part_at(&self, address: u64, whole: bool) -> Option<String> {
        let image = self.image.as_ref()?;
        let global = self.global_at(address)?;
        let index = self.static_at(global.address)? as u32;
        let at = image.shape_of.binary_search_by_key(&index, |(global, _)| *global).ok()?;
        let offset = address.checked_sub(global.address)?;
        let part = crate::shape::part(&image.shapes, image.shape_of[at].1, offset, whole);
        Some(format!("{}{part}", global.name))
    }

    /// The source file of a function; empty where unknown. A program that is not of C has one file,
    /// and that is its name.
    pub fn file(&self, function: FunctionId) -> &str {
        let Some(image) = self.image.as_ref() else { return &self.name };
        Some(image)
            .and_then(|image| image.files.get(self.function(function).file as usize))
            .map_or("", |file| file)
    }

    fn name_of_allocated(&self, address: u64) -> Option<String> {
        let kind = match Region::of(address)? {
            Region::Low if address >= layout::FIRST_SIZE => return Some("size of an object".to_string()),
            Region::Low => {
                let thread = address.checked_sub(layout::result_cell(ThreadId(0)))? / 8;
                return (thread < layout::MAX_THREADS).then(|| format!("result of T{thread}"));
            }
            Region::Heap | Region::Zeroed => "heap",
            Region::Stack => "stack",
            Region::Private => "private",
            _ => return None,
        };
        let start = layout::FIRST_OFFSET;
        let offset = layout::offset(address);
        let at = if offset > start { format!("+{}", offset - start) } else { String::new() };
        Some(format!("{kind}({}.{}){at}", layout::owner(address), layout::slot(address)))
    }
}

impl Global {
    /// A byte of its initial contents; the lowest addresses hold the lowest bits.
    fn initial_byte(&self, offset: u64) -> u8 {
        let covers =
            |cell: &&InitCell| (cell.offset..cell.offset + u64::from(cell.size.min(8))).contains(&offset);
        self.init.iter().find(covers).map_or(0, |cell| (cell.value >> (8 * (offset - cell.offset))) as u8)
    }
}

impl Function {
    /// Whether the instruction at a place is one of [`moves`](Self::moves).
    pub fn is_move(&self, at: Target) -> bool {
        self.moves.binary_search(&at).is_ok()
    }
}
