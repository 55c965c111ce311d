//! The lines of inline assembly, and where their operands are.

use super::super::function::Body;
use super::super::types::Unsupported;
use super::flags::Flags;
use porf_ir::{BinOp, Operand, Width};

/// A line of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Label(String),
    Statement(String),
}

/// An operand of the assembly, by its number.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// A register: what it holds, if anything, and which result it is, if any.
    Register { value: Option<Operand>, output: Option<usize> },
    /// Memory at an address, of a size where that is known.
    Memory { address: Operand, size: Option<u8> },
}

/// The assembly that is being translated.
#[derive(Default)]
pub(super) struct State {
    pub places: Vec<Place>,
    /// The registers a, b, c and d of x86, if they are operands or the text names them.
    pub named: [Option<usize>; 4],
    pub flags: Flags,
    /// Whether there was arithmetic on registers of Arm or RISC-V.
    pub is_computed: bool,
}

/// The names of the registers in texts and constraints.
const NAMES: [[&str; 4]; 4] = [
    ["ax", "eax", "rax", "al"],
    ["bx", "ebx", "rbx", "bl"],
    ["cx", "ecx", "rcx", "cl"],
    ["dx", "edx", "rdx", "dl"],
];

/// The instructions of a text; a prefix belongs to the instruction behind it.
pub(super) fn statements(text: &str) -> Vec<Line> {
    let mut found: Vec<Line> = Vec::new();
    let mut prefix = "";
    for line in text.split(['\n', ';']) {
        // A comment; a `#` before a number is an operand of Arm.
        let comment =
            line.match_indices('#').find(|(at, _)| !line[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
        let mut line = comment.map_or(line, |(at, _)| &line[..at]).trim();
        if let Some((label, behind)) = line.split_once(':')
            && !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_digit())
        {
            found.push(Line::Label(label.to_string()));
            line = behind.trim();
        }
        if line.is_empty() {
            continue;
        }
        // Sections that note where a prefix is, as the kernel's headers have them.
        if line == "lock" {
            prefix = "lock ";
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        found.push(Line::Statement(format!("{prefix}{}", words.join(" ")).replace(", ", ",")));
        prefix = "";
    }
    found
}

/// The operands of a statement.
pub(super) fn operands(statement: &str) -> Vec<&str> {
    let rest = statement.split_once([' ', '\t']).map_or("", |(_, rest)| rest);
    rest.split(',').map(str::trim).filter(|one| !one.is_empty()).collect()
}

/// The number in `$0` or `${0:w}`.
pub(super) fn number(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('$')?;
    let rest = rest.strip_prefix('{').map_or(rest, |inner| inner.trim_end_matches('}'));
    rest.split(':').next()?.parse().ok()
}

/// A constant in the text, `$$1` or `#1`: without a sign before it, x86 means memory.
fn constant(text: &str) -> Option<u64> {
    digits(text.strip_prefix("$$").or_else(|| text.strip_prefix('#'))?)
}

/// A number: how far something lies behind an address, or an operand of RISC-V.
fn digits(text: &str) -> Option<u64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let magnitude = match digits.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some((sign * magnitude) as u64)
}

impl State {
    /// A constraint that names a register: the place that comes next is that one.
    pub fn name_place(&mut self, constraint: &str) {
        let inner = constraint.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let place = self.places.len();
        for (named, names) in self.named.iter_mut().zip(NAMES) {
            let is_it =
                inner.is_some_and(|name| names.contains(&name)) || (names[0] == "ax" && constraint == "a");
            if is_it && named.is_none() {
                *named = Some(place);
            }
        }
    }

    /// Makes places of registers that the text names and that are no operands.
    pub fn name_registers(&mut self, text: &str) {
        for (named, names) in self.named.iter_mut().zip(NAMES) {
            let is_there = names.iter().any(|name| text.contains(&format!("%{name}")));
            if is_there && named.is_none() {
                *named = Some(self.places.len());
                self.places.push(Place::Register { value: None, output: None });
            }
        }
    }

    /// The place of an operand that is a register, a number or a constant of x86.
    fn index(&self, text: &str) -> Option<usize> {
        let by_name =
            text.strip_prefix('%').and_then(|name| NAMES.iter().position(|names| names.contains(&name)));
        match by_name {
            Some(register) => self.named[register],
            None => number(text),
        }
    }

    /// Sets a register: all operands that are the same output.
    pub fn assign(&mut self, text: &str, new: Operand) -> Result<(), Unsupported> {
        let at = self.index(text);
        let Some(Place::Register { value, output }) = at.and_then(|at| self.places.get_mut(at)) else {
            return Err(String::new());
        };
        *value = Some(new);
        let output = *output;
        for place in &mut self.places {
            if let Place::Register { value, output: other } = place
                && other.is_some()
                && *other == output
            {
                *value = Some(new);
            }
        }
        Ok(())
    }
}

impl Body<'_, '_> {
    /// What an operand of an instruction is.
    pub(super) fn located(&mut self, text: &str, state: &State) -> Result<Place, Unsupported> {
        if let Some(at) = state.index(text) {
            return state.places.get(at).copied().ok_or_else(String::new);
        }
        // In parentheses or brackets: memory at what the register holds, and a number of bytes behind it.
        if let Some((offset, inner)) = text.split_once(['(', '[']) {
            let inner = inner.trim_end_matches([')', ']', '!']);
            let offset = if offset.is_empty() { 0 } else { digits(offset).ok_or_else(String::new)? };
            let found = state.index(inner).and_then(|at| state.places.get(at)).ok_or_else(String::new)?;
            return match *found {
                Place::Register { value: Some(base), .. } => {
                    let address = match offset {
                        0 => base,
                        _ => self.bin(BinOp::Add, Width::W64, base, Operand::Const(offset)),
                    };
                    Ok(Place::Memory { address, size: None })
                }
                _ => Err(String::new()),
            };
        }
        let value = constant(text).ok_or_else(String::new)?;
        Ok(Place::Register { value: Some(Operand::Const(value)), output: None })
    }

    pub(super) fn is_memory(&mut self, text: &str, state: &State) -> Result<bool, Unsupported> {
        Ok(matches!(self.located(text, state)?, Place::Memory { .. }))
    }

    pub(super) fn memory_of(&mut self, text: &str, state: &State) -> Result<Operand, Unsupported> {
        match self.located(text, state)? {
            Place::Memory { address, .. } => Ok(address),
            Place::Register { .. } => Err(String::new()),
        }
    }

    pub(super) fn value_of(&mut self, text: &str, state: &State) -> Result<Operand, Unsupported> {
        match self.located(text, state)? {
            Place::Register { value: Some(value), .. } => Ok(value),
            _ => Err("a register that nothing sets".to_string()),
        }
    }

    /// The last of three operands, which may be a plain number.
    pub(super) fn last_of_three(&mut self, text: &str, state: &State) -> Result<Operand, Unsupported> {
        digits(text).map_or_else(|| self.value_of(text, state), |number| Ok(Operand::Const(number)))
    }
}
