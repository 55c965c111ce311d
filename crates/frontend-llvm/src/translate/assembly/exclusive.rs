//! Loops around exclusive accesses: `ldxr` and `stxr` of AArch64, `lr` and `sc` of RISC-V.
//!
//! Such a loop starts again until its store succeeds, and a round that fails only reads. So the loop is one
//! read-modify-write, with the ordering of its load and that of its store; a loop that leaves when it finds another
//! value than it wants is a compare-and-swap. Limits: what the loop computes is one operation, and it leaves only
//! where it compares for equality. Pairs (`ldxp`) are refused.

use super::super::function::Body;
use super::super::types::Unsupported;
use super::operand::{Line, Place, State, number, operands};
use super::table::{Action, Found, arm, riscv};
use porf_event::{ReadMode, RmwKind, WriteMode};
use porf_ir::{BinOp, CmpOp, Instr, Operand, RmwOp, Width};

/// A loop, by its lines.
pub(super) struct Exclusive<'t> {
    load: &'t str,
    /// Between load and store, but for the comparison.
    middle: Vec<&'t str>,
    /// What is compared; the loop is left if it is not equal.
    compared: Option<Compared<'t>>,
    store: &'t str,
    /// What only follows a store that succeeded.
    behind: Vec<&'t str>,
}

/// Two operands that are compared, and the register that tells how they differ.
struct Compared<'t> {
    a: &'t str,
    b: &'t str,
    difference: Option<&'t str>,
}

/// The loop that the lines begin with, and the lines behind it.
pub(super) fn find(lines: &[Line]) -> Option<(Exclusive<'_>, &[Line])> {
    let [Line::Label(start), Line::Statement(load), rest @ ..] = lines else { return None };
    loads(load)?;
    let store_at =
        rest.iter().position(|line| matches!(line, Line::Statement(text) if stores(text).is_some()))?;
    let mut middle: Vec<&str> = rest[..store_at].iter().map(text).collect::<Option<_>>()?;
    let (store, again) = (text(&rest[store_at])?, text(rest.get(store_at + 1)?)?);
    let status = *operands(store).first()?;
    let jumps_back = ["cbnz", "bnez"].iter().any(|jump| again.starts_with(&format!("{jump} ")));
    let [tested, target] = operands(again)[..] else { return None };
    if !jumps_back || number(tested) != number(status) || target != format!("{start}b") {
        return None;
    }
    let mut behind = &rest[store_at + 2..];
    let compared = comparison(&middle);
    let mut tail = Vec::new();
    if let Some((taken, _, exit)) = &compared {
        middle.truncate(middle.len() - taken);
        let end = behind.iter().position(|line| *line == Line::Label(exit.to_string()))?;
        tail = behind[..end].iter().map(text).collect::<Option<_>>()?;
        behind = &behind[end + 1..];
    }
    let compared = compared.map(|(_, compared, _)| compared);
    Some((Exclusive { load, middle, compared, store, behind: tail }, behind))
}

fn text(line: &Line) -> Option<&str> {
    match line {
        Line::Statement(text) => Some(text),
        Line::Label(_) => None,
    }
}

/// The comparison at the end of the lines: how many lines it takes, what is compared, and the label to leave to.
fn comparison<'t>(middle: &[&'t str]) -> Option<(usize, Compared<'t>, &'t str)> {
    let (jump, before) = middle.split_last()?;
    let mnemonic = jump.split(' ').next()?;
    let to = |target: &'t str| target.strip_suffix('f');
    match (mnemonic, &operands(jump)[..]) {
        ("bne", &[a, b, target]) => Some((1, Compared { a, b, difference: None }, to(target)?)),
        ("b.ne" | "bne", &[target]) => {
            let compare = before.last().filter(|line| line.starts_with("cmp "))?;
            let [a, b] = operands(compare)[..] else { return None };
            Some((2, Compared { a, b, difference: None }, to(target)?))
        }
        ("cbnz" | "bnez", &[tested, target]) => {
            let differ = before.last().filter(|line| line.starts_with("eor ") || line.starts_with("xor "))?;
            let [difference, a, b] = operands(differ)[..] else { return None };
            let is_tested = number(tested).is_some() && number(tested) == number(difference);
            is_tested.then_some((2, Compared { a, b, difference: Some(difference) }, to(target)?))
        }
        _ => None,
    }
}

/// What is known of an exclusive load; `None` if it is another instruction.
fn loads(statement: &str) -> Option<Found> {
    let mnemonic = statement.split(' ').next()?;
    let action = Action::Load(ReadMode::Relaxed);
    if let Some(suffix) = mnemonic.strip_prefix("lr.") {
        return riscv(action, suffix);
    }
    let (acquires, suffix) = match mnemonic.strip_prefix("ldxr") {
        Some(suffix) => ("", suffix),
        None => ("a", mnemonic.strip_prefix("ldaxr")?),
    };
    arm(action, &format!("{acquires}{suffix}"), statement)
}

/// The same of an exclusive store.
fn stores(statement: &str) -> Option<Found> {
    let mnemonic = statement.split(' ').next()?;
    let action = Action::Store(WriteMode::Relaxed);
    if let Some(suffix) = mnemonic.strip_prefix("sc.") {
        return riscv(action, suffix);
    }
    let (releases, suffix) = match mnemonic.strip_prefix("stxr") {
        Some(suffix) => ("", suffix),
        None => ("l", mnemonic.strip_prefix("stlxr")?),
    };
    // The register for the result says nothing about the size.
    arm(action, &format!("{releases}{suffix}"), statement.split_once(',')?.1)
}

impl Body<'_, '_> {
    pub(super) fn exclusive(&mut self, found: &Exclusive<'_>, state: &mut State) -> Result<(), Unsupported> {
        let (load, store) = (loads(found.load).ok_or("")?, stores(found.store).ok_or("")?);
        let [register, memory] = operands(found.load)[..] else { return Err(String::new()) };
        let [status, new, other] = operands(found.store)[..] else { return Err(String::new()) };
        if memory != other || load.size != store.size {
            return Err("an exclusive store to another place than the load".to_string());
        }
        let address = self.memory_of(memory, state)?;
        let size = load.size.ok_or("an access of unknown size")?;
        let modes = (load.modes.0, store.modes.1);
        match &found.compared {
            Some(compared) if found.middle.is_empty() => {
                let expected =
                    match (number(compared.a) == number(register), number(compared.b) == number(register)) {
                        (true, false) => self.value_of(compared.b, state)?,
                        (false, true) => self.value_of(compared.a, state)?,
                        _ => return Err(String::new()),
                    };
                let width = Width::of_bytes(size);
                let expected = self.bin(BinOp::And, Width::W64, expected, Operand::Const(super::mask(width)));
                let new = self.value_of(new, state)?;
                let old = self.compare(address, size, expected, new, modes);
                let same = self.compared(CmpOp::Eq, width, old, expected);
                state.assign(register, old)?;
                if let Some(difference) = compared.difference {
                    let value = self.bin(BinOp::Xor, Width::W64, old, expected);
                    state.assign(difference, value)?;
                }
                self.set_status(status, Some(same), state)?;
                self.only_if(same, &found.behind, state)
            }
            Some(_) => Err(String::new()),
            None => {
                let (op, operand) = self.operation(found, register, new, state)?;
                let dst = self.b.register("");
                let ((read, write), kind) = (modes, RmwKind::Amo);
                self.b.push(Instr::Rmw { dst, op, address, operand, size, read, write, kind });
                state.assign(register, dst.into())?;
                for line in &found.middle {
                    self.statement(line, state)?;
                }
                self.set_status(status, None, state)
            }
        }
    }

    /// What the loop makes of what it loads into a register.
    fn operation(
        &mut self,
        found: &Exclusive<'_>,
        register: &str,
        new: &str,
        state: &State,
    ) -> Result<(RmwOp, Operand), Unsupported> {
        let is_loaded = |text: &str| number(text).is_some() && number(text) == number(register);
        let line = match found.middle[..] {
            [] if !is_loaded(new) => return Ok((RmwOp::Exchange, self.value_of(new, state)?)),
            [line] => line,
            _ => return Err(String::new()),
        };
        let row = super::find(line, false).ok_or("")?;
        match (row.action, &operands(line)[..]) {
            (Action::Update(op), &[to, a, b]) if number(to) == number(new) => {
                let commutes = !matches!(op, RmwOp::Sub | RmwOp::AndNot);
                match (is_loaded(a), is_loaded(b)) {
                    (true, false) => Ok((op, self.last_of_three(b, state)?)),
                    (false, true) if commutes => Ok((op, self.value_of(a, state)?)),
                    (false, true) if op == RmwOp::Sub => Ok((RmwOp::SubFrom, self.value_of(a, state)?)),
                    _ => Err(String::new()),
                }
            }
            (Action::UpdateWith(op, operand), &[to, from])
                if number(to) == number(new) && is_loaded(from) =>
            {
                Ok((op, Operand::Const(operand)))
            }
            _ => Err(String::new()),
        }
    }

    /// The store says with 0 that it succeeded. Where it was not made, its register holds what it did before.
    fn set_status(
        &mut self,
        status: &str,
        made: Option<Operand>,
        state: &mut State,
    ) -> Result<(), Unsupported> {
        let before = match self.located(status, state)? {
            Place::Register { value, .. } => value,
            Place::Memory { .. } => return Err(String::new()),
        };
        let value = match (made, before) {
            (Some(made), Some(before)) => {
                let dst = self.b.register("");
                self.b.push(Instr::Select { dst, cond: made, a: Operand::Const(0), b: before });
                dst.into()
            }
            _ => Operand::Const(0),
        };
        state.assign(status, value)
    }

    /// Fences that only follow a success.
    fn only_if(&mut self, same: Operand, lines: &[&str], state: &mut State) -> Result<(), Unsupported> {
        if lines.is_empty() {
            return Ok(());
        }
        let (then, end) = (self.b.label(), self.b.label());
        self.b.branch(same, then, end);
        self.b.bind(then);
        for line in lines {
            match super::find(line, false).map(|row| row.action) {
                Some(Action::Fence(_) | Action::Nothing) => self.statement(line, state)?,
                _ => return Err(String::new()),
            }
        }
        self.b.bind(end);
        Ok(())
    }
}
