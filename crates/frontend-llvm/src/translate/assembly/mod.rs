//! Inline assembly: the idioms of x86-64, AArch64 and RISC-V that concurrent programs use.
//!
//! Each instruction becomes the events that C11's atomics stand for on that machine: a locked instruction is
//! sequentially consistent, `mov` loads with acquire and stores with release, as x86 does (Batty et al., POPL 2011,
//! and the tables in docs/mappings.md). The [`table`] says which instructions are known; everything else is refused
//! by its text. So are barriers that order stores alone (`dmb ishst`, `fence w,w`): no fence of C11 says that.
//! Arithmetic of x86 on memory without the prefix `lock` is a load and a store.
//!
//! Limits: no jumps other than those of loops around exclusive accesses ([`exclusive`]), and of the registers by name
//! only a, b, c and d of x86.

mod exclusive;
mod flags;
mod operand;
mod table;

use super::function::{Body, mask};
use super::types::{self, Unsupported};
use crate::llvm::{TypeKind, Value};
use flags::Flags;
use operand::{Line, Place, State, statements};
use porf_event::{FenceMode, ReadMode, RmwKind, WriteMode};
use porf_ir::{BinOp, CmpOp, Instr, Operand, RmwOp, Width};
use table::{Action, Found, SEQ_CST, find};

impl<'m> Body<'_, 'm> {
    pub fn assembly(&mut self, i: Value<'m>, asm: Value<'m>) -> Result<(), Unsupported> {
        let text = asm.inline_asm();
        if self.of_rust(i, text)? {
            return Ok(());
        }
        let refused = || format!("inline assembly `{}`", text.escape_debug());
        let mut state =
            self.operands(i, asm.asm_constraints()).map_err(|why| format!("{} ({why})", refused()))?;
        state.name_registers(text);
        let lines = statements(text);
        let mut rest = lines.as_slice();
        while let [line, behind @ ..] = rest {
            let done = match (exclusive::find(rest), line) {
                (Some((found, behind)), _) => {
                    rest = behind;
                    self.exclusive(&found, &mut state)
                }
                (None, Line::Statement(line)) => {
                    rest = behind;
                    self.statement(line, &mut state)
                }
                (None, Line::Label(_)) => Err(String::new()),
            };
            done.map_err(|why| match why.is_empty() {
                true => refused(),
                false => format!("{} ({why})", refused()),
            })?;
        }
        self.outputs(i, asm.asm_constraints(), &state).map_err(|why| format!("{} ({why})", refused()))
    }

    /// What Rust's crates have in Intel's syntax; whether it is that.
    fn of_rust(&mut self, i: Value<'m>, text: &str) -> Result<bool, Unsupported> {
        let lines: Vec<&str> =
            text.split(['\n', ';']).map(str::trim).filter(|line| !line.is_empty()).collect();
        match lines.as_slice() {
            // A fence by way of a variable that nobody reads.
            ["lock not qword ptr [$0]" | "lock not qword ptr [${0:q}]"] => {
                let address = self.word(i.arguments()[0])?;
                let (dst, operand) = (self.b.register(""), Operand::Const(u64::MAX));
                let ((read, write), kind, op) = (SEQ_CST, RmwKind::Amo, RmwOp::Xor);
                self.b.push(Instr::Fence { mode: FenceMode::SeqCst });
                self.b.push(Instr::Rmw { dst, op, address, operand, size: 8, read, write, kind });
            }
            // It asks for extensions of the processor: there are none.
            ["mov ${0:q}, rbx", "cpuid", "xchg ${0:q}, rbx"] | ["mov r8, rbx", "cpuid", "xchg r8, rbx"] => {
                let count = types::words(self.tr.module, i.ty())?.len();
                self.set(i, vec![Operand::Const(0); count]);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The operands in the order of their constraints.
    fn operands(&mut self, i: Value<'m>, constraints: &str) -> Result<State, Unsupported> {
        let arguments = i.arguments();
        let mut arguments = arguments.iter().enumerate();
        let mut outputs = 0;
        let mut state = State::default();
        for constraint in constraints.split(',').filter(|one| !one.is_empty() && !one.starts_with('~')) {
            let is_output = constraint.starts_with('=');
            let rest = constraint.trim_start_matches(['=', '&', '%', '+']);
            state.name_place(rest);
            if rest.starts_with('*') {
                let (index, pointer) = arguments.next().ok_or("too few operands")?;
                let address = self.word(*pointer)?;
                let ty = i.param_type_attribute(index as u32, "elementtype");
                let size = ty.and_then(|ty| types::scalar(self.tr.module, ty).ok()?.size().ok());
                state.places.push(Place::Memory { address, size });
            } else if is_output {
                state.places.push(Place::Register { value: None, output: Some(outputs) });
                outputs += 1;
            } else {
                let (_, argument) = arguments.next().ok_or("too few operands")?;
                let value = self.word(*argument)?;
                let place = match rest.parse::<usize>() {
                    // As an output: it is the value that the output begins with.
                    Ok(tied) => {
                        let Some(Place::Register { value: before, output }) = state.places.get_mut(tied)
                        else {
                            return Err("an operand that is tied to memory".to_string());
                        };
                        *before = Some(value);
                        Place::Register { value: Some(value), output: *output }
                    }
                    Err(_) => {
                        // An input in a register that is an output too: the output begins with it.
                        let same = state
                            .named
                            .into_iter()
                            .flatten()
                            .filter(|at| constraint_of(constraints, *at) == Some(rest));
                        for at in same.collect::<Vec<_>>() {
                            if let Some(Place::Register { value: before, .. }) = state.places.get_mut(at) {
                                *before = Some(value);
                            }
                        }
                        Place::Register { value: Some(value), output: None }
                    }
                };
                state.places.push(place);
            }
        }
        Ok(state)
    }

    /// What the outputs hold at the end.
    fn outputs(&mut self, i: Value<'m>, constraints: &str, state: &State) -> Result<(), Unsupported> {
        if i.ty().kind() == TypeKind::Void {
            return Ok(());
        }
        let flags: Vec<&str> =
            constraints.split(',').filter(|one| one.starts_with('=') && !one.contains('*')).collect();
        let widths = types::words(self.tr.module, i.ty())?;
        let mut results = vec![Operand::Const(0); widths.len()];
        for (number, result) in results.iter_mut().enumerate() {
            let flag = flags.get(number).and_then(|one| one.split_once("{@cc"));
            *result = match flag {
                Some((_, name)) => self.condition(name.trim_end_matches('}'), state.flags)?,
                None => {
                    let mut of = state.places.iter().filter_map(|place| match place {
                        Place::Register { value, output: Some(output) } if *output == number => Some(*value),
                        _ => None,
                    });
                    let value = of.next().flatten().ok_or("a result that nothing sets")?;
                    match widths.get(number) {
                        // Registers of Arm and RISC-V have 64 bits.
                        Some(word) if state.is_computed && word.bits < 64 => {
                            self.bin(BinOp::And, Width::W64, value, Operand::Const(mask(word.width())))
                        }
                        _ => value,
                    }
                }
            };
        }
        self.set(i, results);
        Ok(())
    }

    fn statement(&mut self, line: &str, state: &mut State) -> Result<(), Unsupported> {
        let (is_locked, rest) = match line.strip_prefix("lock ") {
            Some(rest) => (true, rest.trim()),
            None => (false, line),
        };
        // The stack of the machine is nobody's memory: this is a fence.
        let on_stack = ["(%rsp)", "(%%rsp)", "(%esp)"].iter().any(|stack| rest.ends_with(stack));
        if is_locked
            && on_stack
            && (rest.starts_with("add") || rest.starts_with("or"))
            && rest.contains("$$0")
        {
            self.b.push(Instr::Fence { mode: FenceMode::SeqCst });
            return Ok(());
        }
        let found = find(rest, is_locked).ok_or("")?;
        let (mnemonic, operands) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
        let operands: Vec<&str> = operands.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
        self.act(&found, mnemonic, &operands, state)
    }

    fn act(
        &mut self,
        found: &Found,
        mnemonic: &str,
        operands: &[&str],
        state: &mut State,
    ) -> Result<(), Unsupported> {
        match (found.action, operands) {
            (Action::Nothing, _) => {}
            (Action::Fence(mode), _) => self.b.push(Instr::Fence { mode }),
            (Action::Move, [from, to]) => match (self.located(from, state)?, self.located(to, state)?) {
                (Place::Memory { address, size }, _) => {
                    let size = found.size.or(size).ok_or("an access of unknown size")?;
                    let dst = self.b.register("");
                    self.b.push(Instr::Load { dst, address, size, mode: ReadMode::Acquire });
                    state.assign(to, dst.into())?;
                }
                (Place::Register { value, .. }, Place::Memory { address, size }) => {
                    let size = found.size.or(size).ok_or("an access of unknown size")?;
                    let value = value.ok_or("a register that nothing sets")?;
                    self.b.push(Instr::Store { address, value, size, mode: WriteMode::Release });
                }
                (Place::Register { value, .. }, _) => {
                    state.assign(to, value.ok_or("a register that nothing sets")?)?
                }
            },
            (Action::Exchange, [a, b]) => {
                let (register, memory) = if self.is_memory(a, state)? { (b, a) } else { (a, b) };
                let old = self.rmw(RmwOp::Exchange, found, memory, register, state)?;
                state.assign(register, old)?;
            }
            (Action::ExchangeAdd, [register, memory]) => {
                let operand = self.value_of(register, state)?;
                let (address, size) = (self.memory_of(memory, state)?, self.size(found, memory, state)?);
                let old = self.update_memory(RmwOp::Add, found.is_locked, (address, size), operand);
                state.assign(register, old)?;
            }
            (Action::CompareExchange, [new, memory]) => {
                let Place::Memory { address, size } = self.located(memory, state)? else {
                    return Err(String::new());
                };
                let size = found.size.or(size).ok_or("an access of unknown size")?;
                let at = state.named[0].ok_or("no accumulator")?;
                let Place::Register { value: Some(expected), output } = state.places[at] else {
                    return Err("an accumulator that nothing sets".to_string());
                };
                let new = self.value_of(new, state)?;
                let old = self.compare(address, size, expected, new, found.modes);
                let same = self.b.register("");
                let (op, width) = (CmpOp::Eq, Width::of_bytes(size));
                self.b.push(Instr::Cmp { dst: same, op, width, a: old, b: expected });
                state.flags = Flags { zero: Some(same.into()), ..Flags::default() };
                state.places[at] = Place::Register { value: Some(old), output };
            }
            (Action::CompareExchange16, [memory]) => {
                let address = self.memory_of(memory, state)?;
                let [a, b, c, d] = state.named;
                let registers = [a, d, b, c].map(|at| at.ok_or("registers that are not named"));
                let [a, d, b, c] = [registers[0]?, registers[1]?, registers[2]?, registers[3]?];
                let held = |at: usize| match state.places[at] {
                    Place::Register { value: Some(value), .. } => Ok(value),
                    _ => Err("a register that nothing sets"),
                };
                let (expected, new) = ([held(a)?, held(d)?], [held(b)?, held(c)?]);
                let (old, same) = self.wide_compare(address, expected, new, found.modes);
                for (at, value) in [a, d].into_iter().zip(old) {
                    if let Place::Register { value: before, .. } = &mut state.places[at] {
                        *before = Some(value);
                    }
                }
                state.flags = Flags { zero: Some(same), ..Flags::default() };
            }
            (Action::Update(op), [to, a, b]) => {
                let (a, b) = (self.value_of(a, state)?, self.last_of_three(b, state)?);
                self.compute(op, found, to, (a, b), state)?;
            }
            // Whatever was there.
            (Action::Update(RmwOp::Xor), [one, same]) if one == same && one.starts_with('%') => {
                state.assign(one, Operand::Const(0))?;
                state.flags = Flags::default();
            }
            (Action::Update(op), [operand, target]) => {
                let operand = self.value_of(operand, state)?;
                state.flags = self.update(op, found, target, operand, state)?;
            }
            (Action::UpdateWith(op, operand), [to, from]) => {
                let from = self.value_of(from, state)?;
                self.compute(op, found, to, (from, Operand::Const(operand)), state)?;
            }
            (Action::UpdateWith(op, operand), [target]) => {
                let flags = self.update(op, found, target, Operand::Const(operand), state)?;
                // `not` leaves them alone.
                if op != RmwOp::Xor {
                    state.flags = flags;
                }
            }
            (Action::Bit(op), [bit, memory]) => {
                let (address, size) = (self.memory_of(memory, state)?, self.size(found, memory, state)?);
                let bit = self.value_of(bit, state)?;
                // The number may lead to another word.
                let (width, bits) = (Width::of_bytes(size), u64::from(size) * 8);
                let words = self.bin(BinOp::AShr, width, bit, Operand::Const(bits.trailing_zeros().into()));
                let words = match words {
                    Operand::Reg(_) => {
                        let dst = self.b.register("");
                        self.b.push(Instr::SignExtend { dst, from: width, src: words });
                        dst.into()
                    }
                    known => known,
                };
                let offset = self.bin(BinOp::Mul, Width::W64, words, Operand::Const(size.into()));
                let address = self.bin(BinOp::Add, Width::W64, address, offset);
                let bit = self.bin(BinOp::And, width, bit, Operand::Const(bits - 1));
                let operand = self.bin(BinOp::Shl, width, Operand::Const(1), bit);
                let (dst, (read, write)) = (self.b.register(""), found.modes);
                self.b.push(Instr::Rmw { dst, op, address, operand, size, read, write, kind: RmwKind::Amo });
                let shifted = self.bin(BinOp::LShr, width, dst.into(), bit);
                let carry = self.bin(BinOp::And, width, shifted, Operand::Const(1));
                state.flags = Flags { carry: Some(carry), ..Flags::default() };
            }
            (Action::UpdateByOne(op), [target]) => {
                let carry = state.flags.carry;
                let flags = self.update(op, found, target, Operand::Const(1), state)?;
                state.flags = Flags { carry, ..flags };
            }
            (Action::SetIf, [to]) => {
                let name = mnemonic.strip_prefix("set").unwrap_or(mnemonic);
                let value = self.condition(name, state.flags)?;
                match self.located(to, state)? {
                    Place::Memory { address, .. } => {
                        self.b.push(Instr::Store { address, value, size: 1, mode: WriteMode::Plain })
                    }
                    Place::Register { .. } => state.assign(to, value)?,
                }
            }
            (Action::ZeroNamed | Action::LookAtClock, []) => {
                // The clock sets a and d.
                let is_clock = matches!(found.action, Action::LookAtClock);
                if is_clock {
                    self.b.push(Instr::Look);
                }
                let [a, b, c, d] = state.named;
                let set = if is_clock { [a, None, None, d] } else { [a, b, c, d] };
                for at in set.into_iter().flatten() {
                    if let Place::Register { value, .. } = &mut state.places[at] {
                        *value = Some(Operand::Const(0));
                    }
                }
            }
            (Action::Atomic(op), [first, second, memory]) => {
                let (operand, old) = if found.riscv { (second, first) } else { (first, second) };
                let value = self.rmw(op, found, memory, operand, state)?;
                state.assign(old, value)?;
            }
            (Action::Compare, [expected, new, memory]) => {
                let Place::Memory { address, size } = self.located(memory, state)? else {
                    return Err(String::new());
                };
                let size = found.size.or(size).ok_or("an access of unknown size")?;
                let (compared, new) = (self.value_of(expected, state)?, self.value_of(new, state)?);
                let old = self.compare(address, size, compared, new, found.modes);
                state.assign(expected, old)?;
            }
            (Action::Load(mode), [to, memory]) => {
                let (address, size) = (self.memory_of(memory, state)?, self.size(found, memory, state)?);
                let dst = self.b.register("");
                self.b.push(Instr::Load { dst, address, size, mode });
                state.assign(to, dst.into())?;
            }
            (Action::Store(mode), [from, memory]) => {
                let (address, size) = (self.memory_of(memory, state)?, self.size(found, memory, state)?);
                let value = self.value_of(from, state)?;
                self.b.push(Instr::Store { address, value, size, mode });
            }
            _ => return Err(String::new()),
        }
        Ok(())
    }

    fn size(&mut self, found: &Found, memory: &str, state: &State) -> Result<u8, Unsupported> {
        match self.located(memory, state)? {
            Place::Memory { size, .. } => found.size.or(size).ok_or("an access of unknown size".to_string()),
            Place::Register { .. } => Err("arithmetic on registers".to_string()),
        }
    }

    fn rmw(
        &mut self,
        op: RmwOp,
        found: &Found,
        memory: &str,
        operand: &str,
        state: &State,
    ) -> Result<Operand, Unsupported> {
        let operand = self.value_of(operand, state)?;
        let (address, size) = (self.memory_of(memory, state)?, self.size(found, memory, state)?);
        let dst = self.b.register("");
        let (read, write) = found.modes;
        self.b.push(Instr::Rmw { dst, op, address, operand, size, read, write, kind: RmwKind::Amo });
        Ok(dst.into())
    }

    fn compare(
        &mut self,
        address: Operand,
        size: u8,
        expected: Operand,
        new: Operand,
        (read, write): (ReadMode, WriteMode),
    ) -> Operand {
        let dst = self.b.register("");
        let (kind, weak) = (RmwKind::Amo, false);
        self.b.push(Instr::Cas { dst, address, expected, new, size, read, write, failure: read, weak, kind });
        dst.into()
    }

    /// Changes memory or a register, and gives the flags.
    fn update(
        &mut self,
        op: RmwOp,
        found: &Found,
        target: &str,
        operand: Operand,
        state: &mut State,
    ) -> Result<Flags, Unsupported> {
        let before = state.flags;
        let (old, size) = match self.located(target, state)? {
            Place::Memory { address, .. } => {
                let size = self.size(found, target, state)?;
                (self.update_memory(op, found.is_locked, (address, size), operand), size)
            }
            Place::Register { value, .. } => {
                let old = value.ok_or("a register that nothing sets")?;
                let size = found.size.ok_or("a register of unknown size")?;
                let new = self.computed(op, Width::of_bytes(size), old, operand);
                state.assign(target, new)?;
                (old, size)
            }
        };
        let width = Width::of_bytes(size);
        let new = self.computed(op, width, old, operand);
        Ok(self.flags_after(op, (old, operand, new), width, before))
    }

    /// Changes memory, in one step if there is a `lock`, and gives what was there.
    fn update_memory(
        &mut self,
        op: RmwOp,
        is_locked: bool,
        (address, size): (Operand, u8),
        operand: Operand,
    ) -> Operand {
        let dst = self.b.register("");
        if is_locked {
            let (read, write) = SEQ_CST;
            self.b.push(Instr::Rmw { dst, op, address, operand, size, read, write, kind: RmwKind::Amo });
        } else {
            self.b.push(Instr::Load { dst, address, size, mode: ReadMode::Acquire });
            let value = self.computed(op, Width::of_bytes(size), dst.into(), operand);
            self.b.push(Instr::Store { address, value, size, mode: WriteMode::Release });
        }
        dst.into()
    }

    /// Arm, RISC-V: arithmetic on registers.
    fn compute(
        &mut self,
        op: RmwOp,
        found: &Found,
        to: &str,
        (a, b): (Operand, Operand),
        state: &mut State,
    ) -> Result<(), Unsupported> {
        // `addw` and `${0:w}` have 32 bits.
        let width = if found.size.is_some() || to.contains(":w}") { Width::W32 } else { Width::W64 };
        let value = self.computed(op, width, a, b);
        state.is_computed = true;
        state.assign(to, value)
    }

    /// What an update makes of a value.
    fn computed(&mut self, op: RmwOp, width: Width, old: Operand, operand: Operand) -> Operand {
        match op {
            RmwOp::Sub => self.bin(BinOp::Sub, width, old, operand),
            RmwOp::SubFrom => self.bin(BinOp::Sub, width, operand, old),
            RmwOp::And => self.bin(BinOp::And, width, old, operand),
            RmwOp::AndNot => {
                let kept = self.bin(BinOp::Xor, width, operand, Operand::Const(mask(width)));
                self.bin(BinOp::And, width, old, kept)
            }
            RmwOp::Or => self.bin(BinOp::Or, width, old, operand),
            RmwOp::Xor => self.bin(BinOp::Xor, width, old, operand),
            _ => self.bin(BinOp::Add, width, old, operand),
        }
    }
}

/// Where an operand is, by its number.
fn constraint_of(constraints: &str, at: usize) -> Option<&str> {
    let mut known = constraints.split(',').filter(|one| !one.is_empty() && !one.starts_with('~'));
    known.nth(at).map(|one| one.trim_start_matches(['=', '&', '%', '+']))
}
