//! The state of a thread: plain data, cheap to clone.

use crate::private::Private;
use crate::taint::Taint;
use crate::unwind::Panic;
use crate::words::WordList;
use porf_event::{DepSet, Dependencies, Location, ThreadId, Value};
use porf_ir::{AllocKind, FunctionId, Image, Instr, Program, Reg, Span, Target};
use smallvec::SmallVec;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A backward jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    function: FunctionId,
    target: Target,
    /// How often it was taken.
    taken: u32,
    /// How many of these count against the bound.
    counted: u32,
    /// What [`ThreadState::told`] was when it was taken last.
    told: u32,
}

/// A thread between two events: where it is, and what its registers and private memory hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadState {
    pub(crate) thread: ThreadId,
    pub(crate) frames: SmallVec<[Frame; 1]>,
    /// Registers of all frames, innermost last.
    pub(crate) registers: WordList,
    /// How far the current instruction has come: 0, or which of its events is next.
    pub(crate) phase: u8,
    /// The value read by an instruction that is not finished yet.
    pub(crate) old: Value,
    /// The event that read it.
    pub(crate) old_event: u32,
    /// The number of events delivered so far.
    pub(crate) events: u32,
    /// The last exclusive load, until an exclusive store takes it.
    pub(crate) exclusive: Option<(Location, u8)>,
    /// How often each backward jump was taken.
    pub(crate) loops: SmallVec<[Loop; 2]>,
    /// How often an event told the thread something new; counted where loops have a bound.
    pub(crate) told: u32,
    pub(crate) taint: Option<Box<Taint>>,
    /// How many things it did that it or others can notice.
    pub(crate) effects: u32,
    /// How often it looked at a clock.
    pub(crate) looks: u16,
    /// How many events it had had when it came to the head of a loop last.
    pub(crate) head: u32,
    /// It has ended, and the process with it.
    pub(crate) ends_process: bool,
    /// The last panic that was caught.
    pub(crate) panic: Option<Arc<Panic>>,
    /// Memory that no other thread sees.
    pub(crate) memory: Option<Arc<Private>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub function: FunctionId,
    pub pc: Target,
    /// Where its registers begin.
    pub base: u32,
    /// Where the caller wants the result.
    pub result: Option<Reg>,
    /// How many private objects there were when it began.
    pub locals: u32,
}

impl ThreadState {
    pub(crate) fn new(
        program: &Program,
        thread: ThreadId,
        function: FunctionId,
        arguments: &[Value],
        track: bool,
    ) -> ThreadState {
        let count = program.function(function).registers as usize;
        let mut registers = WordList::new(count);
        registers[..arguments.len()].copy_from_slice(arguments);
        let memory = program.image.as_ref().and_then(|image| thread_locals(image, thread));
        let locals = memory.as_ref().map_or(0, |memory| memory.mark());
        ThreadState {
            thread,
            frames: SmallVec::from_elem(Frame { function, pc: 0, base: 0, result: None, locals }, 1),
            registers,
            phase: 0,
            old: 0,
            old_event: 0,
            events: 0,
            exclusive: None,
            loops: SmallVec::new(),
            told: 0,
            taint: track.then(|| Box::new(Taint::new(count))),
            effects: 0,
            looks: 0,
            head: 0,
            ends_process: false,
            panic: None,
            memory,
        }
    }

    /// A register of the outermost function: what litmus conditions speak of.
    pub fn register(&self, reg: Reg) -> Value {
        self.registers[reg.0 as usize]
    }

    /// Which thread this is.
    pub fn thread(&self) -> ThreadId {
        self.thread
    }

    /// How many events this thread has had.
    pub fn events(&self) -> u32 {
        self.events
    }

    /// How often this thread has looked at a clock, up to a multiple of 65,536.
    pub fn looks(&self) -> u16 {
        self.looks
    }

    /// Whether the thread has ended, and with it the process: the first thread returned, or called `exit`.
    pub fn ends_process(&self) -> bool {
        self.ends_process
    }

    /// The last panic that was caught.
    pub fn panic(&self) -> Option<&Panic> {
        self.panic.as_deref()
    }

    /// Whether an instruction with several events is under way: the write of a read-modify-write, or
    /// the choice whether it happens, comes next.
    pub fn is_mid_instruction(&self) -> bool {
        self.phase != 0
    }

    /// Dependencies of the event that was asked for last; empty unless they are tracked.
    pub fn dependencies(&self) -> Dependencies {
        self.taint.as_ref().map_or_else(Dependencies::default, |taint| taint.emitted.clone())
    }

    /// Everything that the event that was asked for last depends on: its dependencies, picks included, and
    /// what decided that it happens and what kind of event it is.
    pub fn needs(&self) -> DepSet {
        let mut all = DepSet::new();
        if let Some(taint) = &self.taint {
            let Dependencies { addr, data, ctrl, cas } = &taint.emitted;
            [addr, data, ctrl, cas, &taint.path].into_iter().for_each(|set| all.include(set));
        }
        all
    }

    /// Tells the events of a thread apart, whichever way it came to them: where it is, in which calls
    /// and in which iterations.
    pub fn site(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for frame in &self.frames {
            (frame.function.0, frame.pc).hash(&mut hasher);
        }
        self.phase.hash(&mut hasher);
        for Loop { function, target, taken, .. } in &self.loops {
            (function.0, target, taken).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// The dependencies of the event that was asked for last, if they are tracked.
    pub fn tracked(&self) -> Option<&Dependencies> {
        self.taint.as_ref().map(|taint| &taint.emitted)
    }

    /// Forgets all dependencies.
    pub fn untrack(&mut self) {
        self.taint = None;
    }

    /// The instruction that the thread is at.
    pub fn span(&self, program: &Program) -> Span {
        self.frames
            .last()
            .map_or(Span::default(), |frame| program.function(frame.function).spans[frame.pc as usize])
    }

    /// The place of the instruction that the thread is at.
    pub fn place(&self) -> Option<(FunctionId, Target)> {
        self.frames.last().map(|frame| (frame.function, frame.pc))
    }

    /// The places of the instructions that its functions are at, innermost first; outer ones are at a call.
    pub fn places(&self) -> impl Iterator<Item = (FunctionId, Target)> + '_ {
        self.frames.iter().rev().map(|frame| (frame.function, frame.pc))
    }

    /// The calls that lead to the instruction that the thread is at, innermost first.
    pub fn stack(&self, program: &Program) -> Vec<(FunctionId, Span)> {
        let at = |frame: &Frame| (frame.function, program.function(frame.function).spans[frame.pc as usize]);
        self.frames.iter().rev().map(at).collect()
    }

    /// If the thread is about to make a variable on its stack: the name of the variable.
    pub fn variable<'p>(&self, program: &'p Program) -> Option<&'p str> {
        let frame = self.frames.last()?;
        let function = program.function(frame.function);
        let Instr::Alloc { dst, kind: AllocKind::Stack, .. } = function.code[frame.pc as usize] else {
            return None;
        };
        let name = function.register_names.get(dst.0 as usize)?;
        (!name.is_empty()).then_some(name.as_str())
    }

    /// If the thread waits in a loop: the index of the first event of the iteration that it would repeat.
    pub fn waits_since(&self, program: &Program) -> Option<u32> {
        let frame = self.frames.last()?;
        match program.function(frame.function).code[frame.pc as usize] {
            Instr::LoopHead { effects, .. } => {
                let remembered = self.registers[(frame.base + effects.0) as usize];
                Some(((remembered >> 32) as u16).into())
            }
            _ => None,
        }
    }

    /// About how many bytes it has outside of itself.
    pub fn heap_bytes(&self) -> usize {
        let spilled = |len: usize, inline: usize, size: usize| if len > inline { len * size } else { 0 };
        self.registers.heap_bytes()
            + spilled(self.frames.len(), 1, size_of::<Frame>())
            + spilled(self.loops.len(), 2, 20)
            + self.memory.as_ref().map_or(0, |memory| memory.bytes())
            + self.taint.as_ref().map_or(0, |taint| taint.bytes())
    }

    /// What the thread printed, where output is kept.
    pub fn output(&self) -> &[u8] {
        self.memory.as_ref().map_or(&[], |memory| &memory.output)
    }

    /// Ends private objects made since there were `mark` of them.
    pub(crate) fn forget_locals(&mut self, mark: u32) {
        if let Some(memory) = &mut self.memory
            && memory.mark() > mark
        {
            Arc::make_mut(memory).forget_above(mark);
        }
    }

    pub(crate) fn frame(&self) -> &Frame {
        self.frames.last().expect("a thread that runs has a frame")
    }

    pub(crate) fn frame_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a thread that runs has a frame")
    }

    /// Counts a backward jump to `target`; gives how often it was taken, this time included. An iteration in which
    /// the thread was told nothing does not count: other threads have no part in how often it is made.
    pub(crate) fn count_loop(&mut self, function: FunctionId, target: Target) -> u32 {
        let told = self.told;
        match self.loops.iter_mut().find(|known| (known.function, known.target) == (function, target)) {
            Some(known) => {
                known.taken += 1;
                known.counted += u32::from(known.told != told);
                known.told = told;
                known.counted
            }
            None => {
                self.loops.push(Loop { function, target, taken: 1, counted: 1, told });
                1
            }
        }
    }
}

/// The first objects of a new thread: of the first thread the globals that only it uses, then the
/// private thread-local variables.
fn thread_locals(image: &Image, thread: ThreadId) -> Option<Arc<Private>> {
    let singles = if thread == ThreadId(0) { image.singles.as_slice() } else { &[] };
    let locals = image.thread_locals.iter().filter(|variable| !variable.shared);
    let mut variables =
        singles.iter().map(|single| &single.bytes).chain(locals.map(|local| &local.bytes)).peekable();
    variables.peek()?;
    let mut memory = Private::default();
    for bytes in variables {
        let bytes: Vec<Option<u8>> = bytes.iter().copied().map(Some).collect();
        // The front end refuses variables that are too large.
        if let Ok(address) = memory.add(thread, bytes.len() as u64) {
            let _ = memory.set_range(address, &bytes);
        }
    }
    Some(Arc::new(memory))
}
