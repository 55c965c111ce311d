//! Where the memory of a C program lies: addresses that tell what they point to.
//!
//! An address has 47 bits, as user space on x86-64 has, so that programs may keep tags in the upper
//! 17: 3 for the [`Region`], 7 for a thread, 15 for a slot, 22 for the offset. Every object begins
//! in a slot of its own, [`FIRST_OFFSET`] bytes (or its alignment) behind the start of the slot, so an
//! access that runs off either end never meets a neighbour. The slot of an allocated object is the index of its
//! `Alloc` event, so that the object behind an address is found without a search, and addresses are
//! a function of what the thread did.
//!
//! Limits: [`MAX_OBJECT`] bytes per allocated object, [`MAX_THREADS`] threads, [`MAX_SLOTS`] slots.
//! Freed addresses are not used again: an ABA problem shows as a use after free, not as a reuse.

use crate::{FunctionId, Global, Operand, Program, Shape};
use porf_event::{EventId, ThreadId, Value, wide};
use serde::{Deserialize, Serialize};

/// Where an object begins in its slot, unless its alignment asks for more.
pub const FIRST_OFFSET: u64 = 64;
/// The most bytes that an allocated object may have.
pub const MAX_OBJECT: u64 = (1 << SLOT_SHIFT) - 4096;
/// The most threads that addresses can tell apart.
pub const MAX_THREADS: u64 = 1 << (REGION_SHIFT - THREAD_SHIFT);
/// The most objects that one thread may allocate.
pub const MAX_SLOTS: u64 = 1 << (THREAD_SHIFT - SLOT_SHIFT);

const SLOT_SHIFT: u32 = 22;
const THREAD_SHIFT: u32 = 37;
const REGION_SHIFT: u32 = 44;
/// Thread-local variables that other threads may see lie in the stack region, from this slot on.
const FIRST_SHARED_LOCAL: u64 = MAX_SLOTS - 4096;
/// The results of threads lie in the low region, below the globals of litmus tests.
const FIRST_RESULT: u64 = 0x0800_0000;

/// What an address points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Region {
    /// No object: null, small numbers, and the globals of programs without a layout.
    Low,
    /// Global variables.
    Global,
    /// Memory that is never written.
    Constant,
    /// Functions: the address of each is a number, and there is nothing to read.
    Function,
    /// `malloc`: not initialised.
    Heap,
    /// `calloc`: zeroes.
    Zeroed,
    /// Local variables that other threads may see.
    Stack,
    /// Memory that only its thread sees; never part of an execution graph.
    Private,
}

/// Which kind of object an allocation makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AllocKind {
    /// `malloc`: the contents are not initialised.
    Heap,
    /// `calloc`: the contents are zeroes.
    Zeroed,
    /// A local variable that other threads may see.
    Stack,
}

/// The static memory of a C program, and what else only such a program has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// For each slot of the global and constant regions, the global that lies there.
    pub slots: Vec<u32>,
    /// Initial contents, by global.
    pub bytes: Vec<Box<[u8]>>,
    /// Variables of which every thread has an instance of its own.
    pub thread_locals: Vec<ThreadLocal>,
    /// Global variables that only the first thread uses: its first private objects, in order.
    pub singles: Vec<Single>,
    /// Globals whose contents are not known, and why: no access to them can be followed.
    pub unknown: Vec<(u32, String)>,
    /// What a thread other than the first does when it ends, with its result as the argument.
    pub thread_exit: Option<FunctionId>,
    /// Source files, which [`crate::Function::file`] refers to.
    pub files: Vec<String>,
    /// How the source writes what is accessed at a place, in order.
    pub written: Vec<Written>,
    /// The shapes of global variables that have parts.
    pub shapes: Vec<Shape>,
    /// Which shape a global has, in their order.
    pub shape_of: Vec<(u32, u32)>,
    /// An atomic access, by file and line, that is made under a lock: it orders more than the program asks for.
    pub locked: Option<(u32, u32)>,
    /// The functions that nobody defines and that are taken to return any value, and do nothing else.
    pub left_out: Vec<LeftOut>,
}

/// A function that is taken to return any value, and do nothing else, because nobody defines it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// As the source calls it.
    pub name: String,
    /// The file of the first call, by its place in [`Image::files`].
    pub file: u32,
    /// Its line, from 1.
    pub line: u32,
}

/// How the source writes what is accessed at a place: `q->tail`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Written {
    /// The file, by its place in [`Image::files`].
    pub file: u32,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// The text. [`Written::OBJECT`] stands for the object, [`Written::INDEX`] for an index that depends on the run.
    pub text: String,
    /// How to compute the index: how far from the start of the object the first element is, and how far from one to
    /// the next, in bytes.
    pub index: Option<(u64, u64)>,
}

impl Written {
    /// The object, which has no name in the source.
    pub const OBJECT: char = '\u{1}';
    /// An index that depends on the run.
    pub const INDEX: char = '\u{2}';
}

/// A variable of which every thread has an instance of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadLocal {
    /// As in the source.
    pub name: String,
    /// What every instance holds at first.
    pub bytes: Box<[u8]>,
    /// Its address leaves the thread.
    pub shared: bool,
}

/// A global variable that only the first thread uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Single {
    /// As in the source.
    pub name: String,
    /// What it holds at first.
    pub bytes: Box<[u8]>,
}

impl Region {
    /// `None` for what no object can have as its address.
    pub fn of(address: u64) -> Option<Region> {
        Some(match address >> REGION_SHIFT {
            0 => Region::Low,
            1 => Region::Global,
            2 => Region::Constant,
            3 => Region::Function,
            4 => Region::Heap,
            5 => Region::Zeroed,
            6 => Region::Stack,
            7 => Region::Private,
            _ => return None,
        })
    }

    /// The address at `offset` in a slot.
    pub fn address(self, thread: ThreadId, slot: u64, offset: u64) -> u64 {
        debug_assert!(slot < MAX_SLOTS && u64::from(thread.0) < MAX_THREADS);
        (self as u64) << REGION_SHIFT | u64::from(thread.0) << THREAD_SHIFT | slot << SLOT_SHIFT | offset
    }
}

/// The thread that an allocated or private address belongs to.
pub fn owner(address: u64) -> ThreadId {
    ThreadId((address >> THREAD_SHIFT & (MAX_THREADS - 1)) as u16)
}

/// The slot of an allocated or private address.
pub fn slot(address: u64) -> u64 {
    address >> SLOT_SHIFT & (MAX_SLOTS - 1)
}

/// The offset of an address in its slot.
pub fn offset(address: u64) -> u64 {
    address & ((1 << SLOT_SHIFT) - 1)
}

/// The event that allocated the object at an address, if the address is one of an allocated object.
pub fn allocation(address: u64) -> Option<EventId> {
    match Region::of(address)? {
        Region::Heap | Region::Zeroed => {}
        Region::Stack if slot(address) < FIRST_SHARED_LOCAL => {}
        _ => return None,
    }
    Some(EventId::new(owner(address), slot(address) as u32))
}

/// Whether memory at an address has no defined contents until it is written.
pub fn starts_uninitialised(address: u64) -> bool {
    matches!(Region::of(address), Some(Region::Heap | Region::Stack)) && allocation(address).is_some()
}

/// What the cell of a lock, barrier or semaphore holds once that is destroyed.
pub const DESTROYED: Value = 0xffff_fffe;

/// Where a thread leaves its result for those who join it.
pub fn result_cell(thread: ThreadId) -> u64 {
    FIRST_RESULT + 8 * u64::from(thread.0)
}

/// The number that stands for a pointer to a function.
pub fn function_address(function: FunctionId) -> u64 {
    (Region::Function as u64) << REGION_SHIFT | u64::from(function.0) << 4
}

/// The number that stands for the address of a label: of the block `index` of a function. `None` if there are too many.
/// Labels of one function are less than 2^31 apart, as programs expect that keep differences.
pub fn label_address(function: FunctionId, index: usize) -> Option<u64> {
    let fits = function.0 < 1 << (REGION_SHIFT - 24) && index < 1 << 20;
    // No function has an address like that: see `function_at`.
    let label = || u64::from(function.0) << 24 | (index as u64) << 4 | 8;
    fits.then(|| (Region::Function as u64) << REGION_SHIFT | label())
}

/// The function that a pointer stands for, the inverse of [`function_address`].
pub fn function_at(address: u64) -> Option<FunctionId> {
    let id = (address & ((1 << REGION_SHIFT) - 1)) >> 4;
    (Region::of(address) == Some(Region::Function) && address & 15 == 0).then_some(FunctionId(id as u32))
}

/// Where the sizes of allocated objects are kept, in programs that ask for them: a cell for each
/// thread and slot, whose number is bits [`OBJECT_SHIFT`] up of the address, under [`OBJECT_MASK`].
pub const FIRST_SIZE: u64 = 1 << 40;
/// The first address behind the cells of sizes.
pub const SIZES_END: u64 = FIRST_SIZE + (8 << (REGION_SHIFT - SLOT_SHIFT));
/// How far an address is shifted to give the number of its object.
pub const OBJECT_SHIFT: u64 = SLOT_SHIFT as u64;
/// The bits of a shifted address that number the object.
pub const OBJECT_MASK: u64 = (1 << (REGION_SHIFT - SLOT_SHIFT)) - 1;

/// The address of a global variable that only the first thread uses.
pub fn single(index: usize) -> u64 {
    Region::Private.address(ThreadId(0), index as u64, FIRST_OFFSET)
}

/// The address of a shared thread-local variable.
pub fn shared_thread_local(thread: ThreadId, index: u32) -> u64 {
    Region::Stack.address(thread, FIRST_SHARED_LOCAL + u64::from(index), FIRST_OFFSET)
}

fn shared_thread_local_at(address: u64) -> Option<u32> {
    (Region::of(address) == Some(Region::Stack) && slot(address) >= FIRST_SHARED_LOCAL)
        .then(|| (slot(address) - FIRST_SHARED_LOCAL) as u32)
}

impl Program {
    /// Adds a global with contents to a program with an [`Image`], in slots of its own.
    pub fn add_static(&mut self, name: &str, constant: bool, align: u64, bytes: Box<[u8]>) -> u64 {
        let image = self.image.get_or_insert_default();
        let start = FIRST_OFFSET.max(align);
        let first = image.slots.len() as u64;
        let count = (start + bytes.len() as u64) / (1 << SLOT_SHIFT) + 1;
        image.slots.extend(std::iter::repeat_n(self.globals.len() as u32, count as usize));
        let region = if constant { Region::Constant } else { Region::Global };
        let address = (region as u64) << REGION_SHIFT | first << SLOT_SHIFT | start;
        let size = bytes.len() as u64;
        image.bytes.push(bytes);
        self.globals.push(Global { name: name.to_string(), address, size, init: Vec::new() });
        address
    }

    /// The functions whose address is in the code or in the initial memory: all that a pointer may call.
    pub fn addressed_functions(&self) -> Vec<FunctionId> {
        let mut found = Vec::new();
        let mut note = |value: Value| {
            found.extend(function_at(value).filter(|id| (id.0 as usize) < self.functions.len()));
        };
        for instr in self.functions.iter().flat_map(|function| &function.code) {
            instr.visit_operands(|operand| {
                if let Operand::Const(value) = operand {
                    note(value);
                }
            });
        }
        if let Some(Image { bytes, thread_locals, singles, .. }) = self.image.as_deref() {
            let locals = thread_locals.iter().map(|variable| &variable.bytes);
            let all = bytes.iter().chain(locals).chain(singles.iter().map(|single| &single.bytes));
            for word in all.flat_map(|bytes| bytes.windows(8)) {
                note(word.iter().rev().fold(0, |value, byte| value << 8 | Value::from(*byte)));
            }
        }
        found.sort_by_key(|id| id.0);
        found.dedup();
        found
    }

    /// The global that an address of the global or constant region belongs to, in bounds or not.
    pub(crate) fn static_at(&self, address: u64) -> Option<usize> {
        let slot = (address & ((1 << REGION_SHIFT) - 1)) >> SLOT_SHIFT;
        self.image.as_ref()?.slots.get(slot as usize).map(|&index| index as usize)
    }

    /// The global that holds all of an access; `None` where it is out of bounds.
    pub fn static_object(&self, address: u64, size: u64) -> Option<usize> {
        let index = self.static_at(address)?;
        let global = &self.globals[index];
        (address >= global.address && address + size <= global.address + global.size).then_some(index)
    }

    /// Why the contents of the global at an address are not known.
    pub fn unknown_at(&self, address: u64) -> Option<&str> {
        let index = self.static_at(address)? as u32;
        let unknown = &self.image.as_ref()?.unknown;
        unknown.iter().find(|(global, _)| *global == index).map(|(_, why)| why.as_str())
    }

    /// Initial contents of static memory.
    pub fn static_value(&self, address: u64, size: u8) -> Value {
        let Some(image) = &self.image else { return 0 };
        if let Some(index) = shared_thread_local_at(address) {
            let variable = &image.thread_locals[index as usize];
            return read_bytes(&variable.bytes, offset(address) - FIRST_OFFSET, size);
        }
        match Region::of(address) {
            Some(Region::Global | Region::Constant) => match self.static_object(address, size.into()) {
                Some(index) => read_bytes(&image.bytes[index], address - self.globals[index].address, size),
                None => 0,
            },
            _ => 0,
        }
    }
}

fn read_bytes(bytes: &[u8], offset: u64, size: u8) -> Value {
    let at = offset as usize;
    let mut value = [0; 16];
    if let Some(found) = bytes.get(at..at + usize::from(size)) {
        value[..found.len()].copy_from_slice(found);
    }
    wide::held(u128::from_le_bytes(value), size)
}
