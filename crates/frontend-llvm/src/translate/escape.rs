//! Which variables stay in their thread: local and thread-local ones, and globals of the first thread.
//!
//! A variable is private if its address is only used to access it, to compare, or as an argument of
//! a function that does the same with its parameter, or that panics, or of an assembly without instructions
//! (Rust's `black_box`). Everything else (stored, returned, cast to an
//! integer, passed to unknown code) counts as leaving the thread. So do read-modify-writes and
//! sequentially consistent accesses, which order other accesses whatever their location is. Whether an
//! access then meets private or shared memory is decided by the address at run time, so being wrong
//! here on the safe side only costs events.
//!
//! A global belongs to the first thread if it does not leave it and is named only in functions that no
//! other thread can run: neither is their address taken, nor does a function whose address is taken
//! lead to them.

use super::intrinsic;
use crate::library;
use crate::llvm::{Module, Opcode, Ordering, Value, ValueKind};
use std::collections::{HashMap, HashSet};

#[derive(Default)]
pub struct Escapes<'m> {
    /// Whether a parameter's value may leave the thread; absent where not yet looked at.
    params: HashMap<(Value<'m>, usize), bool>,
    /// The functions that other threads than the first may run.
    others: HashSet<Value<'m>>,
}

/// Globals up to this size may be private: larger ones make snapshots expensive.
const MAX_SINGLE: u64 = 64 << 10;

impl<'m> Escapes<'m> {
    pub fn new(module: &'m Module) -> Escapes<'m> {
        let mut others = HashSet::new();
        let mut work: Vec<Value<'m>> = module.functions().filter(|function| is_taken(*function)).collect();
        while let Some(function) = work.pop() {
            if !others.insert(function) {
                continue;
            }
            let calls = function.blocks().flat_map(|block| block.instructions()).filter(is_call);
            work.extend(
                calls.map(|call| call.callee()).filter(|callee| callee.kind() == ValueKind::Function),
            );
        }
        Escapes { params: HashMap::new(), others }
    }

    /// Whether a global is the first thread's alone. Never where there is only one thread: there it
    /// costs nothing to show what it does.
    pub fn is_single(&mut self, module: &Module, global: Value<'m>) -> bool {
        !self.others.is_empty()
            && !global.is_thread_local()
            && !global.is_declaration()
            && global.alignment() <= porf_ir::layout::FIRST_OFFSET
            && module.size_of(global.value_type()) <= MAX_SINGLE
            && self.named_by_first(global)
            && !self.escapes(global)
    }

    /// Whether only functions that no other thread runs name a value.
    pub fn named_by_first(&self, value: Value<'m>) -> bool {
        value.users().all(|user| match user.kind() {
            ValueKind::Instruction => !self.others.contains(&user.function()),
            ValueKind::ConstantExpression => self.named_by_first(user),
            _ => false,
        })
    }

    /// Whether the address may leave the thread.
    pub fn escapes(&mut self, address: Value<'m>) -> bool {
        let mut seen = vec![address];
        let mut work = vec![address];
        while let Some(value) = work.pop() {
            for user in value.users() {
                match self.look(user, value) {
                    Use::Harmless => {}
                    Use::Leaves => return true,
                    Use::Derives if !seen.contains(&user) => {
                        seen.push(user);
                        work.push(user);
                    }
                    Use::Derives => {}
                }
            }
        }
        false
    }

    fn look(&mut self, user: Value<'m>, value: Value<'m>) -> Use {
        if !matches!(user.kind(), ValueKind::Instruction | ValueKind::ConstantExpression) {
            return Use::Leaves;
        }
        match user.opcode() {
            Opcode::ICmp => Use::Harmless,
            Opcode::Load if user.ordering() != Ordering::SeqCst => Use::Harmless,
            Opcode::Store if user.operand(0) != value && user.ordering() != Ordering::SeqCst => Use::Harmless,
            Opcode::GetElementPtr
            | Opcode::BitCast
            | Opcode::AddrSpaceCast
            | Opcode::Phi
            | Opcode::Select
            | Opcode::Freeze => Use::Derives,
            Opcode::Call | Opcode::Invoke => self.call(user, value),
            _ => Use::Leaves,
        }
    }

    fn call(&mut self, call: Value<'m>, value: Value<'m>) -> Use {
        let callee = call.callee();
        if callee.kind() == ValueKind::InlineAsm && callee.inline_asm().trim().is_empty() {
            return Use::Derives;
        }
        if callee.kind() != ValueKind::Function || callee == value {
            return Use::Leaves;
        }
        if panics(callee) {
            return Use::Harmless;
        }
        let mut verdict = Use::Harmless;
        for (index, argument) in call.arguments().into_iter().enumerate() {
            if argument != value {
                continue;
            }
            let leaves = if !callee.is_declaration() {
                index >= callee.value_type().param_count() as usize || self.param(callee, index)
            } else {
                match treatment(callee.name(), index) {
                    library::Treatment::Uses => false,
                    library::Treatment::Returns => {
                        verdict = Use::Derives;
                        false
                    }
                    library::Treatment::Keeps => true,
                }
            };
            if leaves {
                return Use::Leaves;
            }
        }
        verdict
    }

    fn param(&mut self, function: Value<'m>, index: usize) -> bool {
        if let Some(known) = self.params.get(&(function, index)) {
            return *known;
        }
        // A recursive call that only passes the parameter on adds nothing.
        self.params.insert((function, index), false);
        let escapes = function.params().get(index).is_none_or(|param| self.escapes(*param));
        self.params.insert((function, index), escapes);
        escapes
    }
}

/// Whether a function of Rust's core says why the program panics and does not come back: it shows what it is given
/// and keeps nothing. Every assertion hands it addresses of variables, which would be shared memory otherwise.
fn panics(function: Value<'_>) -> bool {
    const OWN: u32 = u32::MAX;
    const PLACES: &[&str] =
        &["4core9panicking", "4core6option", "4core6result", "4core5slice5index", "4core3str", "4core4cell"];
    let name = function.name();
    PLACES.iter().any(|place| name.contains(place)) && function.has_attribute(OWN, "noreturn")
}

/// What a function without a body does with an argument.
fn treatment(name: &str, index: usize) -> library::Treatment {
    if name.starts_with("llvm.") { intrinsic::treatment(name) } else { library::treatment(name, index) }
}

enum Use {
    Harmless,
    /// The result is the address, or part of what it points to.
    Derives,
    Leaves,
}

fn is_call(instruction: &Value<'_>) -> bool {
    matches!(instruction.opcode(), Opcode::Call | Opcode::Invoke)
}

/// Whether a function is used other than by calling it.
fn is_taken(function: Value<'_>) -> bool {
    function.users().any(|user| match user.kind() {
        ValueKind::Instruction => {
            !is_call(&user) || user.callee() != function || user.arguments().contains(&function)
        }
        _ => !is_for_first(user),
    })
}

/// Whether a constant is part of the lists of constructors and destructors, which the first thread runs.
fn is_for_first(constant: Value<'_>) -> bool {
    match constant.kind() {
        ValueKind::GlobalVariable => matches!(constant.name(), "llvm.global_ctors" | "llvm.global_dtors"),
        ValueKind::Constant => constant.users().all(is_for_first),
        _ => false,
    }
}
