//! `main`: what memory holds when the first thread starts, and which threads there are.
//!
//! `main` is run with constants up to the first thread that it joins, or its end. Between the first thread and that
//! point it may only create threads and use memory that no thread uses; [`Setup::written_late`] lists the rest.

use super::machine::{Family, Stop, Thread, Val, Who, advance};
use super::{Threads, outside};
use crate::syntax::Diagnostic;
use porf_event::ThreadId;
use porf_ir::layout::{self, Region, function_at};
use porf_ir::{AllocKind, FunctionId, Instr, Operand, Program, Width};
use std::collections::{HashMap, HashSet};

/// What threads run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// The function.
    pub function: FunctionId,
    /// Its argument.
    pub argument: Val,
    /// Exactly one thread has it, or none yet.
    pub once: bool,
    /// The line that creates it.
    pub line: u32,
}

/// Where the threads begin.
pub struct Setup {
    /// What threads run.
    pub roles: Vec<Role>,
    /// Memory, by byte, where it differs from the image of the program.
    memory: HashMap<u64, u8>,
    /// Bytes that `main` writes while threads run, and the line.
    pub written_late: HashMap<u64, u32>,
    /// The line at which `main` is left.
    pub left: Option<u32>,
}

impl Setup {
    /// What a location holds when the first thread starts.
    pub fn initial(&self, program: &Program, address: u64, size: u8) -> u64 {
        (0..u64::from(size)).fold(0, |value, at| {
            let byte = match self.memory.get(&(address + at)) {
                Some(byte) => u64::from(*byte),
                None => {
                    single(program, address + at).unwrap_or_else(|| program.initial_value(address + at, 1))
                }
            };
            value | byte << (8 * at)
        })
    }

    fn write(&mut self, address: u64, size: u8, value: u64, late: Option<u32>) {
        for at in 0..u64::from(size) {
            self.memory.insert(address + at, (value >> (8 * at)) as u8);
            if let Some(line) = late {
                self.written_late.insert(address + at, line);
            }
        }
    }
}

/// A byte of a global variable that the first thread alone uses.
fn single(program: &Program, address: u64) -> Option<u64> {
    let image = program.image.as_ref()?;
    if Region::of(address) != Some(Region::Private) || layout::owner(address) != ThreadId(0) {
        return None;
    }
    let single = image.singles.get(layout::slot(address) as usize)?;
    let at = layout::offset(address).checked_sub(layout::FIRST_OFFSET)?;
    single.bytes.get(at as usize).map(|byte| u64::from(*byte))
}

/// Instructions of `main` that are followed.
const MOST: usize = 1_000_000;

/// Runs `main`.
pub fn run(program: &Program, threads: &Threads) -> Result<Setup, Diagnostic> {
    let entry = program.threads[0].function;
    let args: Vec<Val> = program.threads[0].registers.iter().map(|value| Val::Const(*value)).collect();
    let mut main = Main {
        program,
        setup: Setup { roles: Vec::new(), memory: HashMap::new(), written_late: HashMap::new(), left: None },
        created: Vec::new(),
        objects: 1 + program.image.as_ref().map_or(0, |image| image.singles.len() as u64),
        joined: false,
    };
    let mut thread = Thread::new(program, entry, &args);
    for _ in 0..MOST {
        let mut paths = advance(program, thread, Vec::new())?;
        let Some((_, next, stop)) = paths.pop().filter(|_| paths.is_empty()) else {
            return Err(outside(program, entry, 0, "main makes a choice before it creates its threads"));
        };
        thread = next;
        match stop {
            Stop::Visible => {
                if !main.step(&mut thread)? {
                    break;
                }
            }
            Stop::End | Stop::Stuck => break,
            Stop::Fail(message) => return Err(thread.wrong(program, format!("main goes wrong: {message}"))),
        }
    }
    let Main { mut setup, created, .. } = main;
    if created.is_empty() {
        return Err(outside(program, entry, 0, "main creates no thread"));
    }
    setup.roles = match threads {
        Threads::Main => created,
        Threads::Any(named) => {
            let name = |role: &Role| program.function(role.function).name.clone();
            if let Some(unknown) = named.iter().find(|one| created.iter().all(|role| name(role) != **one)) {
                let message = format!("main gives no thread the function {unknown}");
                return Err(outside(program, entry, 0, message));
            }
            let mut roles = grouped(&created);
            own_parts(&created, &mut roles);
            roles.iter_mut().for_each(|role| role.once &= !named.contains(&name(role)));
            roles
        }
    };
    Ok(setup)
}

/// What the threads run, where a function that was given to several threads is one role.
fn grouped(created: &[Role]) -> Vec<Role> {
    let mut roles: Vec<Role> = Vec::new();
    for one in created {
        match roles.iter_mut().find(|role| role.function == one.function) {
            None => roles.push(one.clone()),
            Some(role) => {
                role.once = false;
                if role.argument != one.argument {
                    role.argument = Val::Argument;
                }
            }
        }
    }
    roles
}

/// Where one function is given to several threads and their arguments are evenly spaced, the argument says which
/// thread it is: thread k has its own part of an array. With several such functions two threads could share a part.
fn own_parts(created: &[Role], roles: &mut [Role]) {
    let mut many = roles.iter_mut().filter(|role| !role.once);
    let (Some(role), None) = (many.next(), many.next()) else { return };
    let arguments = created.iter().filter(|one| one.function == role.function).map(|one| &one.argument);
    let constants = arguments.map(|argument| match argument {
        Val::Const(value) => Some(*value),
        _ => None,
    });
    let Some(mut constants) = constants.collect::<Option<Vec<u64>>>() else { return };
    constants.sort_unstable();
    let (base, stride) = (constants[0], constants[1].wrapping_sub(constants[0]));
    let family = Family { base, stride, count: constants.len() as u64 };
    if role.argument == Val::Argument && family.members().eq(constants) {
        role.argument = Val::Of(family, Who::Me);
    }
}

struct Main<'p> {
    program: &'p Program,
    setup: Setup,
    created: Vec<Role>,
    objects: u64,
    joined: bool,
}

impl Main<'_> {
    /// One instruction that is not local. Whether `main` goes on.
    fn step(&mut self, thread: &mut Thread) -> Result<bool, Diagnostic> {
        let program = self.program;
        let address =
            |thread: &Thread, operand: Operand| thread.constant(program, operand, "an address of main");
        let (_, line) = thread.place(program);
        let late = (!self.created.is_empty()).then_some(line);
        match thread.next(program) {
            Instr::Load { dst, address: at, size, .. } => {
                let at = address(thread, *at)?;
                if self.joined && Region::of(at) != Some(Region::Private) {
                    return self.leave(thread, line);
                }
                // While threads run, what they write is not known.
                let value = match late {
                    Some(_) if Region::of(at) != Some(Region::Private) => Val::Unknown,
                    _ => Val::Const(self.setup.initial(program, at, *size)),
                };
                thread.set(*dst, value);
            }
            Instr::Store { address: at, value, size, .. } => {
                let at = address(thread, *at)?;
                if self.joined && Region::of(at) != Some(Region::Private) {
                    return self.leave(thread, line);
                }
                let value = thread.constant(program, *value, "what main stores")?;
                self.setup.write(at, *size, value, late);
            }
            Instr::Rmw { dst, op, address: at, operand, size, .. } if late.is_none() => {
                let at = address(thread, *at)?;
                let old = self.setup.initial(program, at, *size);
                let operand = thread.constant(program, *operand, "what main stores")?;
                self.setup.write(at, *size, op.apply(Width::of_bytes(*size), old, operand), None);
                thread.set(*dst, Val::Const(old));
            }
            Instr::Create { dst, function, arg } => self.create(thread, *dst, *function, *arg, line)?,
            Instr::CreatePointer { dst, function, arg } => {
                let pointer = address(thread, *function)?;
                let function = function_at(pointer)
                    .ok_or_else(|| thread.wrong(program, "a thread of something that is no function"))?;
                self.create(thread, *dst, function, *arg, line)?;
            }
            Instr::Join { .. } => self.joined = true,
            Instr::Alloc { dst, kind, .. } if late.is_none() => {
                let region = match kind {
                    AllocKind::Heap => Region::Heap,
                    AllocKind::Zeroed => Region::Zeroed,
                    AllocKind::Stack => Region::Stack,
                };
                self.object(thread, *dst, region);
            }
            Instr::Local { dst, .. } => self.object(thread, *dst, Region::Private),
            Instr::Forget { .. } | Instr::Expire { .. } | Instr::Fence { .. } => {}
            _ if self.joined => return self.leave(thread, line),
            Instr::Free { .. } => {}
            Instr::ExitProcess => return Ok(false),
            other => {
                let name = format!("{other:?}");
                let name = name.split([' ', '{', '(']).next().unwrap_or("").to_owned();
                return Err(thread.wrong(program, format!("main does what is not followed here ({name})")));
            }
        }
        thread.go_on();
        Ok(true)
    }

    fn object(&mut self, thread: &mut Thread, dst: porf_ir::Reg, region: Region) {
        thread.set(dst, Val::Const(region.address(ThreadId(0), self.objects, layout::FIRST_OFFSET)));
        self.objects += 1;
    }

    fn create(
        &mut self,
        thread: &mut Thread,
        dst: porf_ir::Reg,
        function: FunctionId,
        argument: Operand,
        line: u32,
    ) -> Result<(), Diagnostic> {
        if self.joined {
            return Err(thread.wrong(self.program, "main creates a thread after it has joined one"));
        }
        let argument = thread.get(argument);
        self.created.push(Role { function, argument, once: true, line });
        thread.set(dst, Val::Const(self.created.len() as u64));
        Ok(())
    }

    /// The threads have ended and `main` looks at what they left: that is not followed, but no thread may come.
    fn leave(&mut self, thread: &Thread, line: u32) -> Result<bool, Diagnostic> {
        // Callers go on behind their calls.
        let last = thread.frames.len() - 1;
        let frames = thread.frames.iter().enumerate();
        let mut left: Vec<(FunctionId, usize)> =
            frames.map(|(depth, frame)| (frame.function, frame.at + usize::from(depth < last))).collect();
        let mut seen = HashSet::new();
        while let Some((function, at)) = left.pop() {
            let code = &self.program.function(function).code;
            if at >= code.len() || !seen.insert((function, at)) {
                continue;
            }
            match &code[at] {
                Instr::Create { .. } | Instr::CreatePointer { .. } => {
                    let message = "main may create a thread after it has joined one";
                    return Err(outside(self.program, function, at, message));
                }
                Instr::Call { function: callee, .. } => left.push((*callee, 0)),
                Instr::CallPointer { .. } => {
                    let message = "main calls through a pointer after it has joined a thread";
                    return Err(outside(self.program, function, at, message));
                }
                _ => {}
            }
            if code[at].goes_on() {
                left.push((function, at + 1));
            }
            left.extend(code[at].targets().map(|target| (function, target as usize)));
        }
        self.setup.left = Some(line);
        Ok(false)
    }
}
