//! Runs a program of one thread to its end, with ordinary memory: no graph, no choice.
//!
//! The reference for what a program computes; tests hold it against the native program.

use crate::{Fault, Interpreter, Step};
use porf_event::{BlockReason, Label, ThreadId, Value, wide};
use porf_ir::Program;
use std::collections::HashMap;
use std::sync::Mutex;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alone {
    /// What the program printed.
    pub output: Vec<u8>,
    /// Why it ended.
    pub end: End,
    /// How many events there were.
    pub events: u64,
}

/// Why a run of one thread ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The thread returned.
    Finished,
    /// The thread would wait forever.
    Blocked(BlockReason),
    /// The program did something wrong.
    Fault(Fault),
    /// The program started a second thread, or joined one.
    NotAlone,
}

/// Ordinary memory, by byte.
#[derive(Debug, Default)]
pub struct Flat {
    written: HashMap<u64, u8>,
}

/// Runs thread 0; every read gives what was written last.
pub fn run_alone(program: &Program) -> Alone {
    let flat = Mutex::new(Flat::default());
    let interpreter = Interpreter::new(program).show_output(&flat);
    let mut state = interpreter.start(ThreadId(0));
    let mut events = 0;
    let end = loop {
        let label = match interpreter.run(&mut state) {
            Step::Emit(label) => label,
            Step::Finished => break End::Finished,
            Step::Blocked(reason) => break End::Blocked(reason),
            Step::Fault(fault) => break End::Fault(fault),
        };
        events += 1;
        let answer = match label {
            Label::Read { access, .. } => lock(&flat).read(program, access.location.0, access.size),
            Label::Write { access, value, .. } => {
                lock(&flat).write(access.location.0, access.size, value);
                0
            }
            Label::Create { .. } | Label::Join { .. } => break End::NotAlone,
            _ => 0,
        };
        interpreter.deliver(&mut state, answer);
    };
    Alone { output: state.output().to_vec(), end, events }
}

impl Flat {
    fn read(&self, program: &Program, address: u64, size: u8) -> Value {
        let mut bytes = [0; 16];
        for (i, byte) in bytes[..usize::from(size)].iter_mut().enumerate() {
            let at = address + i as u64;
            *byte = match self.written.get(&at) {
                Some(byte) => *byte,
                None => program.initial_value(at, 1) as u8,
            };
        }
        wide::held(u128::from_le_bytes(bytes), size)
    }

    fn write(&mut self, address: u64, size: u8, value: Value) {
        for (i, byte) in wide::bytes(value, size)[..usize::from(size)].iter().enumerate() {
            self.written.insert(address + i as u64, *byte);
        }
    }

    pub(crate) fn byte(&self, program: &Program, address: u64) -> u8 {
        self.read(program, address, 1) as u8
    }
}

pub(crate) fn lock(flat: &Mutex<Flat>) -> std::sync::MutexGuard<'_, Flat> {
    flat.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
