//! Which local variables LLVM may turn into registers.
//!
//! Promotion (`sroa`) takes for granted that a program is right: an access outside of a variable, outside
//! of its scope or before it is written has no result, and is removed. So before it runs, each variable is
//! looked at: only where every access lies inside of the variable, inside of its scope, and reads what was
//! written on every path, promotion changes nothing that a check would see. The other variables are kept
//! in memory, where the interpreter checks each access.
//!
//! The analysis is a forward one over the blocks of a function: for each byte of each variable, whether it
//! has certainly been written, and for each variable, whether it is certainly in scope. Copies between
//! variables carry the bytes' state along. Exceptions are not followed, as elsewhere.
//!
//! Cost: a few passes over each function with a bit for each byte of its small variables.

use crate::llvm::{Block, Module, Opcode, Type, TypeKind, Value, ValueKind};
use crate::translate::{only_moves, successors};
use std::collections::{HashMap, HashSet};

/// Variables up to this size are looked at; larger ones stay in memory.
const MAX_SIZE: u64 = 4096;

/// The variables to be kept in memory: the number of the function and of the instruction in it.
pub fn kept(module: &Module) -> Vec<(usize, usize)> {
    let mut kept = Vec::new();
    for (number, function) in module.functions().enumerate() {
        if function.is_declaration() {
            continue;
        }
        let found = in_function(module, function);
        if found.is_empty() {
            continue;
        }
        let instructions = function.blocks().flat_map(|block| block.instructions());
        kept.extend(
            instructions.enumerate().filter(|(_, value)| found.contains(value)).map(|(at, _)| (number, at)),
        );
    }
    kept
}

/// What an instruction does with bytes of a variable: the first and the one behind the last.
#[derive(Clone, Copy)]
enum Effect {
    /// Reads what must have been written.
    Read(usize, usize, usize),
    /// Reads what need not have been written.
    Move(usize),
    Write(usize, usize, usize),
    /// Copies from a variable to another.
    Copy {
        to: Place,
        from: Place,
        length: usize,
    },
    Begin(usize),
    End(usize),
}

/// Where a user's address points to.
#[derive(Clone, Copy)]
struct Place {
    variable: usize,
    offset: usize,
    /// It is what a copy writes to.
    is_target: bool,
}

/// A variable that promotion would touch.
struct Variable<'m> {
    alloca: Value<'m>,
    /// Where its bytes begin among those of all variables.
    start: usize,
    size: usize,
    has_scope: bool,
}

fn in_function<'m>(module: &Module, function: Value<'m>) -> HashSet<Value<'m>> {
    let mut kept = HashSet::new();
    let mut variables: Vec<Variable<'m>> = Vec::new();
    let mut uses: HashMap<Value<'m>, Vec<Place>> = HashMap::new();
    let mut bytes = 0;
    let allocas = function.blocks().flat_map(|block| block.instructions());
    for alloca in allocas.filter(|i| i.opcode() == Opcode::Alloca) {
        let Some(size) = size(module, alloca) else { continue };
        match uses_of(module, alloca, size) {
            Uses::Opaque => {}
            Uses::Wild => {
                kept.insert(alloca);
            }
            Uses::Known(known) => {
                if size > MAX_SIZE {
                    kept.insert(alloca);
                    continue;
                }
                let at = variables.len();
                let has_scope = known.iter().any(|known| is_marker(known.user, "llvm.lifetime.start"));
                for Known { user, offset, is_target } in known {
                    let place = Place { variable: at, offset: offset as usize, is_target };
                    uses.entry(user).or_default().push(place);
                }
                variables.push(Variable { alloca, start: bytes, size: size as usize, has_scope });
                bytes += size as usize;
            }
        }
    }
    if !variables.is_empty() {
        let effects = uses.iter().map(|(user, places)| (*user, effects(module, *user, places))).collect();
        Flow { variables: &variables, blocks: order(function), effects, bytes }.check(&mut kept);
    }
    kept
}

/// What promotion can see of a variable.
enum Uses<'m> {
    /// It cannot follow the address, and leaves the variable alone.
    Opaque,
    /// Some access is not provably inside of the variable.
    Wild,
    Known(Vec<Known<'m>>),
}

/// A user of a variable, with the offset of the address that it gets.
struct Known<'m> {
    user: Value<'m>,
    offset: u64,
    is_target: bool,
}

fn uses_of<'m>(module: &Module, alloca: Value<'m>, size: u64) -> Uses<'m> {
    let mut known = Vec::new();
    let mut wild = false;
    let mut work = vec![(alloca, 0u64)];
    while let Some((address, offset)) = work.pop() {
        let inside = |length: Option<u64>| length.is_some_and(|length| offset.saturating_add(length) <= size);
        for user in address.users() {
            match user.opcode() {
                Opcode::BitCast => work.push((user, offset)),
                Opcode::GetElementPtr => match constant_offset(module, user) {
                    Some(more) => work.push((user, offset.wrapping_add(more))),
                    None => return Uses::Opaque,
                },
                Opcode::Load => {
                    wild |= !inside(Some(module.size_of(user.ty())));
                    known.push(Known { user, offset, is_target: false });
                }
                Opcode::Store if user.operand(0) != address => {
                    wild |= !inside(Some(module.size_of(user.operand(0).ty())));
                    known.push(Known { user, offset, is_target: true });
                }
                Opcode::Call if is_marker(user, "llvm.lifetime.") => {
                    known.push(Known { user, offset, is_target: false });
                }
                Opcode::Call if is_marker(user, "llvm.mem") => {
                    let length = user.arguments().get(2).and_then(|length| length.as_integer());
                    wild |= !inside(length.map(|length| length as u64));
                    let is_target = user.operand(0) == address;
                    known.push(Known { user, offset, is_target });
                }
                Opcode::Call if is_marker(user, "llvm.dbg.") || is_marker(user, "llvm.assume") => {}
                // What comes of the address shows only when other variables are registers.
                Opcode::Phi | Opcode::Select | Opcode::Store => wild = true,
                _ => return Uses::Opaque,
            }
        }
    }
    if wild { Uses::Wild } else { Uses::Known(known) }
}

/// The analysis of one function.
struct Flow<'a, 'm> {
    variables: &'a [Variable<'m>],
    blocks: Vec<Block<'m>>,
    /// Of each instruction that matters.
    effects: HashMap<Value<'m>, Vec<Effect>>,
    bytes: usize,
}

/// Which bytes are certainly written, and behind them which variables are certainly in scope.
type State = Vec<bool>;

impl<'m> Flow<'_, 'm> {
    fn check(&self, kept: &mut HashSet<Value<'m>>) {
        let mut states = self.solve();
        for block in &self.blocks {
            let Some(state) = states.get_mut(block) else { continue };
            for instruction in block.instructions() {
                for effect in self.effects.get(&instruction).into_iter().flatten() {
                    if let Some(variable) = self.wrong(state, *effect) {
                        kept.insert(self.variables[variable].alloca);
                    }
                    self.apply(state, *effect);
                }
            }
        }
    }

    /// The state at the begin of each block.
    fn solve(&self) -> HashMap<Block<'m>, State> {
        let mut first = vec![false; self.bytes + self.variables.len()];
        for (at, variable) in self.variables.iter().enumerate() {
            first[self.bytes + at] = !variable.has_scope;
        }
        let mut states = HashMap::new();
        let Some(entry) = self.blocks.first() else { return states };
        states.insert(*entry, first);
        let mut changed = true;
        while changed {
            changed = false;
            for block in &self.blocks {
                let Some(mut state) = states.get(block).cloned() else { continue };
                for instruction in block.instructions() {
                    for effect in self.effects.get(&instruction).into_iter().flatten() {
                        self.apply(&mut state, *effect);
                    }
                }
                for next in successors(*block) {
                    match states.get_mut(&next) {
                        None => {
                            states.insert(next, state.clone());
                            changed = true;
                        }
                        Some(known) => {
                            for (bit, new) in known.iter_mut().zip(&state) {
                                changed |= *bit && !new;
                                *bit &= new;
                            }
                        }
                    }
                }
            }
        }
        states
    }

    fn apply(&self, state: &mut State, effect: Effect) {
        let range = |variable: usize, from: usize, to: usize| {
            let start = self.variables[variable].start;
            start + from..start + to
        };
        let whole = |variable: usize| range(variable, 0, self.variables[variable].size);
        match effect {
            Effect::Read(..) | Effect::Move(_) => {}
            Effect::Write(variable, from, to) => state[range(variable, from, to)].fill(true),
            Effect::Copy { to, from, length } => {
                let source = range(from.variable, from.offset, from.offset + length);
                state.copy_within(source, self.variables[to.variable].start + to.offset);
            }
            Effect::Begin(variable) | Effect::End(variable) => {
                state[whole(variable)].fill(false);
                state[self.bytes + variable] = matches!(effect, Effect::Begin(_));
            }
        }
    }

    /// The variable that an access may be wrong about.
    fn wrong(&self, state: &State, effect: Effect) -> Option<usize> {
        let in_scope = |variable: usize| state[self.bytes + variable];
        match effect {
            Effect::Read(variable, from, to) => {
                let start = self.variables[variable].start;
                let written = state[start + from..start + to].iter().all(|bit| *bit);
                (!written || !in_scope(variable)).then_some(variable)
            }
            Effect::Move(variable) | Effect::Write(variable, ..) => (!in_scope(variable)).then_some(variable),
            Effect::Copy { to, from, .. } => {
                [to.variable, from.variable].into_iter().find(|at| !in_scope(*at))
            }
            Effect::Begin(_) | Effect::End(_) => None,
        }
    }
}

fn effects(module: &Module, user: Value<'_>, places: &[Place]) -> Vec<Effect> {
    let place = places[0];
    let range = |length: u64| (place.variable, place.offset, place.offset + length as usize);
    match user.opcode() {
        Opcode::Load => {
            let (variable, from, to) = range(module.size_of(user.ty()));
            let moves = is_result(user.operand(0)) || only_moves(user);
            vec![if moves { Effect::Move(variable) } else { Effect::Read(variable, from, to) }]
        }
        Opcode::Store => {
            let (variable, from, to) = range(module.size_of(user.operand(0).ty()));
            vec![Effect::Write(variable, from, to)]
        }
        _ if is_marker(user, "llvm.lifetime.start") => vec![Effect::Begin(place.variable)],
        _ if is_marker(user, "llvm.lifetime.end") => vec![Effect::End(place.variable)],
        // `memcpy`, `memmove` and `memset`.
        _ => {
            let length = user.arguments()[2].as_integer().map_or(0, |length| length as usize);
            let target = places.iter().find(|place| place.is_target);
            match (target, places.iter().find(|place| !place.is_target)) {
                (Some(to), Some(from)) => vec![Effect::Copy { to: *to, from: *from, length }],
                (Some(to), None) => vec![Effect::Write(to.variable, to.offset, to.offset + length)],
                (None, _) => vec![Effect::Move(place.variable)],
            }
        }
    }
}

/// Whether a variable is the place where clang puts a function's result: C does not mind if it is never
/// set, as long as the caller does not look at it.
fn is_result(address: Value<'_>) -> bool {
    address.opcode() == Opcode::Alloca && address.name() == "retval"
}

fn is_marker(call: Value<'_>, name: &str) -> bool {
    call.opcode() == Opcode::Call && {
        let callee = call.callee();
        callee.kind() == ValueKind::Function && callee.name().starts_with(name)
    }
}

fn size(module: &Module, alloca: Value<'_>) -> Option<u64> {
    let count = alloca.operand(0).as_integer()?;
    Some(module.size_of(alloca.allocated_type()).saturating_mul(count as u64))
}

/// What a GEP with constant indices adds to its base.
fn constant_offset(module: &Module, gep: Value<'_>) -> Option<u64> {
    let mut ty: Type<'_> = gep.gep_source_type();
    let mut offset = 0u64;
    for at in 1..gep.operand_count() {
        let operand = gep.operand(at);
        let TypeKind::Int(bits) = operand.ty().kind() else { return None };
        let index = operand.as_integer()?;
        let signed = ((index as u64) << (64 - bits.min(64))) as i64 >> (64 - bits.min(64));
        if at > 1 && ty.kind() == TypeKind::Struct {
            offset = offset.wrapping_add(module.offset_of(ty, index as u32));
            ty = ty.field(index as u32);
            continue;
        }
        if at > 1 {
            ty = ty.element();
        }
        offset = offset.wrapping_add((signed as u64).wrapping_mul(module.size_of(ty)));
    }
    Some(offset)
}

/// The blocks that can be reached, in depth-first order.
fn order(function: Value<'_>) -> Vec<Block<'_>> {
    let mut order: Vec<Block<'_>> = function.blocks().take(1).collect();
    let mut seen: HashSet<Block<'_>> = order.iter().copied().collect();
    let mut at = 0;
    while at < order.len() {
        for next in successors(order[at]) {
            if seen.insert(next) {
                order.push(next);
            }
        }
        at += 1;
    }
    order
}
