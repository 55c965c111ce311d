//! Inline assembly: the idioms of x86-64, AArch64 and RISC-V that concurrent programs use.
//!
//! Each instruction becomes the events that C11's atomics stand for on that machine: a locked instruction is
//! sequentially consistent, `mov` loads with acquire and stores with release, as x86 does (Batty et al., POPL 2011,
//! and the tables in docs/mappings.md). The [`table`] says which instructions are known; everything else is refused
//! by its text. So are barriers that order stores alone (`dmb ishst`, `fence w,w`): no fence of C11 says that.
//!
//! Limits: no jumps, and no registers by name apart from the accumulator that `cmpxchg` needs.

mod table;

use super::function::Body;
use super::types::{self, Unsupported};
use crate::llvm::{TypeKind, Value};
use porf_event::{FenceMode, ReadMode, RmwKind, WriteMode};
use porf_ir::{BinOp, CmpOp, Instr, Operand, RmwOp, Width};
use table::{Action, Flag, Found, SEQ_CST, find};

/// An operand of the assembly, by its number.
#[derive(Clone, Copy)]
enum Place {
    /// A register: what it holds, if anything, and which result it is, if any.
    Register { value: Option<Operand>, output: Option<usize> },
    /// Memory at an address, of a size where that is known.
    Memory { address: Operand, size: Option<u8> },
}

/// The flags that are known, zero, sign and carry.
#[derive(Clone, Copy, Default)]
struct Flags([Option<Operand>; 3]);

impl Flags {
    fn get(self, flag: Flag) -> Result<Operand, Unsupported> {
        self.0[flag as usize].ok_or_else(|| "a flag that nothing sets".to_string())
    }
}

/// The assembly that is being translated.
struct State {
    places: Vec<Place>,
    accumulator: Option<usize>,
    /// The other registers that have names, as `cmpxchg16b` needs them: b, c and d.
    named: [Option<usize>; 3],
    /// What the last instruction that sets flags left in them.
    flags: Flags,
}

impl<'m> Body<'_, 'm> {
    pub fn assembly(&mut self, i: Value<'m>, asm: Value<'m>) -> Result<(), Unsupported> {
        let text = asm.inline_asm();
        if self.of_rust(i, text)? {
            return Ok(());
        }
        let refused = || format!("inline assembly `{}`", text.escape_debug());
        let mut state =
            self.operands(i, asm.asm_constraints()).map_err(|why| format!("{} ({why})", refused()))?;
        for line in statements(text) {
            self.statement(&line, &mut state).map_err(|why| match why.is_empty() {
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
        let mut state =
            State { places: Vec::new(), accumulator: None, named: [None; 3], flags: Flags::default() };
        for constraint in constraints.split(',').filter(|one| !one.is_empty() && !one.starts_with('~')) {
            let is_output = constraint.starts_with('=');
            let rest = constraint.trim_start_matches(['=', '&', '%', '+']);
            if rest == "{ax}" || rest == "{eax}" || rest == "{rax}" || rest == "{al}" || rest == "a" {
                state.accumulator = state.accumulator.or(Some(state.places.len()));
            }
            for (named, names) in
                state.named.iter_mut().zip([["{bx}", "{rbx}"], ["{cx}", "{rcx}"], ["{dx}", "{rdx}"]])
            {
                if names.contains(&rest) {
                    *named = named.or(Some(state.places.len()));
                }
            }
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
                        let same = state.named.into_iter().chain([state.accumulator]).flatten();
                        let same = same.filter(|at| constraint_of(constraints, *at) == Some(rest));
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
        let count = types::words(self.tr.module, i.ty())?.len();
        let mut results = vec![Operand::Const(0); count];
        for (number, result) in results.iter_mut().enumerate() {
            let flag = flags.get(number).and_then(|one| one.split_once("{@cc"));
            *result = match flag {
                Some((_, name)) => self.flag_output(name.trim_end_matches('}'), state)?,
                None => {
                    let mut of = state.places.iter().filter_map(|place| match place {
                        Place::Register { value, output: Some(output) } if *output == number => Some(*value),
                        _ => None,
                    });
                    of.next().flatten().ok_or("a result that nothing sets")?
                }
            };
        }
        self.set(i, results);
        Ok(())
    }

    fn flag_output(&mut self, name: &str, state: &State) -> Result<Operand, Unsupported> {
        let (flag, holds) = match name {
            "z" | "e" => (Flag::Zero, true),
            "nz" | "ne" => (Flag::Zero, false),
            "s" => (Flag::Sign, true),
            "ns" => (Flag::Sign, false),
            "c" | "b" => (Flag::Carry, true),
            "nc" | "ae" => (Flag::Carry, false),
            _ => return Err(format!("the flag {name}")),
        };
        self.flag(flag, holds, state)
    }

    fn flag(&mut self, flag: Flag, holds: bool, state: &State) -> Result<Operand, Unsupported> {
        let value = state.flags.get(flag)?;
        Ok(if holds { value } else { self.bin(BinOp::Xor, Width::W64, value, Operand::Const(1)) })
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
        let (_, operands) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
        let operands: Vec<&str> = operands.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
        self.act(&found, &operands, state)
    }

    fn act(&mut self, found: &Found, operands: &[&str], state: &mut State) -> Result<(), Unsupported> {
        match (found.action, operands) {
            (Action::Nothing, _) => {}
            (Action::Fence(mode), _) => self.b.push(Instr::Fence { mode }),
            (Action::Move, [from, to]) => match (place(from, state)?, place(to, state)?) {
                (Place::Memory { address, size }, _) => {
                    let size = found.size.or(size).ok_or("an access of unknown size")?;
                    let dst = self.b.register("");
                    self.b.push(Instr::Load { dst, address, size, mode: ReadMode::Acquire });
                    assign(to, dst.into(), state)?;
                }
                (Place::Register { value, .. }, Place::Memory { address, size }) => {
                    let size = found.size.or(size).ok_or("an access of unknown size")?;
                    let value = value.ok_or("a register that nothing sets")?;
                    self.b.push(Instr::Store { address, value, size, mode: WriteMode::Release });
                }
                (Place::Register { value, .. }, _) => {
                    assign(to, value.ok_or("a register that nothing sets")?, state)?
                }
            },
            (Action::Exchange, [a, b]) => {
                let (register, memory) = if is_memory(a, state)? { (b, a) } else { (a, b) };
                let old = self.rmw(RmwOp::Exchange, found, memory, register, state)?;
                assign(register, old, state)?;
            }
            (Action::ExchangeAdd, [register, memory]) => {
                let old = self.rmw(RmwOp::Add, found, memory, register, state)?;
                assign(register, old, state)?;
            }
            (Action::CompareExchange, [new, memory]) => {
                let Place::Memory { address, size } = place(memory, state)? else {
                    return Err(String::new());
                };
                let size = found.size.or(size).ok_or("an access of unknown size")?;
                let at = state.accumulator.ok_or("no accumulator")?;
                let Place::Register { value: Some(expected), output } = state.places[at] else {
                    return Err("an accumulator that nothing sets".to_string());
                };
                let new = value_of(new, state)?;
                let old = self.compare(address, size, expected, new, found.modes);
                let same = self.b.register("");
                let (op, width) = (CmpOp::Eq, Width::of_bytes(size));
                self.b.push(Instr::Cmp { dst: same, op, width, a: old, b: expected });
                state.flags = Flags([Some(same.into()), None, None]);
                state.places[at] = Place::Register { value: Some(old), output };
            }
            (Action::CompareExchange16, [memory]) => {
                let address = memory_of(memory, state)?;
                let [b, c, d] = state.named;
                let registers =
                    [state.accumulator, d, b, c].map(|at| at.ok_or("registers that are not named"));
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
                state.flags = Flags([Some(same), None, None]);
            }
            (Action::Update(op), [operand, memory]) => {
                let size = self.size(found, memory, state)?;
                let operand_value = value_of(operand, state)?;
                let old = self.rmw(op, found, memory, operand, state)?;
                self.set_flags(op, old, operand_value, size, state);
            }
            (Action::Bit(op), [bit, memory]) => {
                let (address, size) = (memory_of(memory, state)?, self.size(found, memory, state)?);
                let bit = value_of(bit, state)?;
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
                state.flags = Flags([None, None, Some(carry)]);
            }
            (Action::UpdateByOne(op), [memory]) => {
                let size = self.size(found, memory, state)?;
                let old = self.rmw(op, found, memory, "$$1", state)?;
                self.set_flags(op, old, Operand::Const(1), size, state);
            }
            (Action::Flag(flag, holds), [to]) => {
                let value = self.flag(flag, holds, state)?;
                match place(to, state)? {
                    Place::Memory { address, .. } => {
                        self.b.push(Instr::Store { address, value, size: 1, mode: WriteMode::Plain })
                    }
                    Place::Register { .. } => assign(to, value, state)?,
                }
            }
            (Action::Atomic(op), [first, second, memory]) => {
                let (operand, old) = if found.riscv { (second, first) } else { (first, second) };
                let value = self.rmw(op, found, memory, operand, state)?;
                assign(old, value, state)?;
            }
            (Action::Compare, [expected, new, memory]) => {
                let Place::Memory { address, size } = place(memory, state)? else {
                    return Err(String::new());
                };
                let size = found.size.or(size).ok_or("an access of unknown size")?;
                let (compared, new) = (value_of(expected, state)?, value_of(new, state)?);
                let old = self.compare(address, size, compared, new, found.modes);
                assign(expected, old, state)?;
            }
            (Action::Load(mode), [to, memory]) => {
                let (address, size) = (memory_of(memory, state)?, self.size(found, memory, state)?);
                let dst = self.b.register("");
                self.b.push(Instr::Load { dst, address, size, mode });
                assign(to, dst.into(), state)?;
            }
            (Action::Store(mode), [from, memory]) => {
                let (address, size) = (memory_of(memory, state)?, self.size(found, memory, state)?);
                let value = value_of(from, state)?;
                self.b.push(Instr::Store { address, value, size, mode });
            }
            _ => return Err(String::new()),
        }
        Ok(())
    }

    fn size(&self, found: &Found, memory: &str, state: &State) -> Result<u8, Unsupported> {
        match place(memory, state)? {
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
        let (address, size) = (memory_of(memory, state)?, self.size(found, memory, state)?);
        let operand = value_of(operand, state)?;
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

    fn set_flags(&mut self, op: RmwOp, old: Operand, operand: Operand, size: u8, state: &mut State) {
        let width = Width::of_bytes(size);
        let op = match op {
            RmwOp::Add => BinOp::Add,
            RmwOp::Sub => BinOp::Sub,
            RmwOp::And => BinOp::And,
            RmwOp::Or => BinOp::Or,
            _ => BinOp::Xor,
        };
        let new = self.bin(op, width, old, operand);
        let (zero, sign) = (self.b.register(""), self.b.register(""));
        let none = Operand::Const(0);
        self.b.push(Instr::Cmp { dst: zero, op: CmpOp::Eq, width, a: new, b: none });
        self.b.push(Instr::Cmp { dst: sign, op: CmpOp::Slt, width, a: new, b: none });
        state.flags = Flags([Some(zero.into()), Some(sign.into()), None]);
    }
}

/// Where an operand is, by its number.
fn constraint_of(constraints: &str, at: usize) -> Option<&str> {
    let mut known = constraints.split(',').filter(|one| !one.is_empty() && !one.starts_with('~'));
    known.nth(at).map(|one| one.trim_start_matches(['=', '&', '%', '+']))
}

/// The instructions of a text; a prefix belongs to the instruction behind it.
fn statements(text: &str) -> Vec<String> {
    let lines = text.split(['\n', ';']).map(|line| line.split('#').next().unwrap_or("").trim());
    let mut found: Vec<String> = Vec::new();
    let mut prefix = "";
    for line in lines.filter(|line| !line.is_empty()) {
        // Sections that note where a prefix is, as the kernel's headers have them.
        if line == "lock" {
            prefix = "lock ";
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        found.push(format!("{prefix}{}", words.join(" ")).replace(", ", ","));
        prefix = "";
    }
    found
}

/// The number in `$0` or `${0:w}`.
fn number(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('$')?;
    let rest = rest.strip_prefix('{').map_or(rest, |inner| inner.trim_end_matches('}'));
    rest.split(':').next()?.parse().ok()
}

/// What an operand of an instruction is.
fn place(text: &str, state: &State) -> Result<Place, Unsupported> {
    if let Some(constant) = text.strip_prefix("$$") {
        let parsed = match constant.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16).ok(),
            None => constant.parse().ok(),
        };
        let value = parsed.ok_or_else(String::new)? as u64;
        return Ok(Place::Register { value: Some(Operand::Const(value)), output: None });
    }
    // In parentheses or brackets: memory at what the register holds.
    let inner = text.strip_prefix(['(', '[']).map(|rest| rest.trim_end_matches([')', ']']));
    if let Some(inner) = inner {
        let found = number(inner).and_then(|at| state.places.get(at)).ok_or_else(String::new)?;
        return match found {
            Place::Register { value: Some(address), .. } => {
                Ok(Place::Memory { address: *address, size: None })
            }
            _ => Err(String::new()),
        };
    }
    number(text).and_then(|at| state.places.get(at)).copied().ok_or_else(String::new)
}

fn is_memory(text: &str, state: &State) -> Result<bool, Unsupported> {
    Ok(matches!(place(text, state)?, Place::Memory { .. }))
}

fn memory_of(text: &str, state: &State) -> Result<Operand, Unsupported> {
    match place(text, state)? {
        Place::Memory { address, .. } => Ok(address),
        Place::Register { .. } => Err(String::new()),
    }
}

fn value_of(text: &str, state: &State) -> Result<Operand, Unsupported> {
    match place(text, state)? {
        Place::Register { value: Some(value), .. } => Ok(value),
        _ => Err("a register that nothing sets".to_string()),
    }
}

/// Sets a register: all operands that are the same output.
fn assign(text: &str, new: Operand, state: &mut State) -> Result<(), Unsupported> {
    let Some(Place::Register { value, output }) = number(text).and_then(|at| state.places.get_mut(at)) else {
        return Err(String::new());
    };
    *value = Some(new);
    let output = *output;
    for place in &mut state.places {
        if let Place::Register { value, output: other } = place
            && other.is_some()
            && *other == output
        {
            *value = Some(new);
        }
    }
    Ok(())
}
