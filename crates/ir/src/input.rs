//! Input that the program does not determine: which values of it are tried.
//!
//! An [`Instr::Input`] may give any value of its type. Most programs do not tell most values apart. So the
//! registers that hold the value are followed, through moves, calls, returns, the creation of threads, and global
//! variables that are accessed only by name ([`Cells`]):
//! - If the program only compares it with constants, then one value of each class that the comparisons tell apart
//!   stands for all of them. The input is *covered*: nothing is lost.
//! - If nothing uses it, one value is enough. If only its remainders by small constants are used, one value for each
//!   remainder is enough.
//! - Otherwise (it is stored, computed with, or used as an address) the values that are tried are those that the
//!   program mentions in comparisons, with their neighbours, 0, 1, -1, and the least and the greatest of the type.
//!   Types of at most 8 bits are tried in full. The answer of an engine has to name the inputs that are not covered.
//!
//! The analysis ignores the order of instructions: a register that holds the input somewhere is taken to hold it
//! everywhere. That can only add values.
//!
//! Cost: O(code) for each input.

use crate::cells::Cells;
use crate::layout::{self, Region};
use crate::{BinOp, CmpOp, FunctionId, Instr, Operand, Program, Reg, Span, Width};
use porf_event::{ThreadId, Value};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet};

/// The most values of an input that is not covered.
const MOST: usize = 24;
/// The widest type of which every value is tried.
const SMALL: u8 = 8;
/// The most remainders that are told apart.
const REMAINDERS: u64 = 64;
/// Longer texts are not shown whole.
const SHOWN: usize = 48;
/// The largest gap between two constants that is filled.
const GAP: u64 = 8;

/// An input of a program, with the values that are tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputValues {
    /// Where it is asked for.
    pub function: FunctionId,
    /// Where it is asked for.
    pub span: Span,
    /// The values, as people write them.
    pub values: Vec<String>,
    /// Whether they stand for all values.
    pub is_covered: bool,
}

/// What the user wants to have tried instead; in files as the user writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Domain {
    /// Every number between two, both included.
    Range(i64, i64),
    /// These numbers.
    List(Vec<i64>),
}

/// The type of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum InputType {
    /// An integer of some bits.
    Integer {
        /// How many.
        bits: u8,
        /// Whether it has a sign.
        signed: bool,
    },
    /// `float`, by its bits.
    Float,
    /// `double`, by its bits.
    Double,
    /// A text, by its address: one of the constants of the program that the instruction names.
    Text,
}

impl std::str::FromStr for Domain {
    type Err = String;

    fn from_str(text: &str) -> Result<Domain, String> {
        let number = |text: &str| {
            text.trim().parse::<i64>().map_err(|_| format!("`{text}` is no number; write LO..HI or A,B,C"))
        };
        match text.split_once("..") {
            Some((low, high)) => {
                let (low, high) = (number(low)?, number(high.trim_start_matches('='))?);
                match high.checked_sub(low) {
                    Some(0..=0xffff) => Ok(Domain::Range(low, high)),
                    _ => Err("a range has between 1 and 65536 numbers, the lower one first".to_string()),
                }
            }
            None => text.split(',').map(number).collect::<Result<_, _>>().map(Domain::List),
        }
    }
}

impl TryFrom<String> for Domain {
    type Error = String;

    fn try_from(text: String) -> Result<Domain, String> {
        text.parse()
    }
}

impl From<Domain> for String {
    fn from(domain: Domain) -> String {
        domain.to_string()
    }
}

impl std::fmt::Display for Domain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Domain::Range(low, high) => write!(f, "{low}..{high}"),
            Domain::List(list) => {
                let list: Vec<String> = list.iter().map(i64::to_string).collect();
                write!(f, "{}", list.join(","))
            }
        }
    }
}

impl Domain {
    fn numbers(&self) -> Vec<i64> {
        match self {
            Domain::Range(low, high) => (*low..=*high).collect(),
            Domain::List(list) => list.clone(),
        }
    }
}

impl InputType {
    /// A value as people write it.
    pub fn show(self, value: Value) -> String {
        match self {
            InputType::Integer { bits, signed: true } => Width(bits).signed(value).to_string(),
            InputType::Integer { signed: false, .. } => value.to_string(),
            InputType::Float => f32::from_bits(value as u32).to_string(),
            InputType::Double => f64::from_bits(value).to_string(),
            InputType::Text => format!("{value:#x}"),
        }
    }

    /// A number as a value of the type.
    fn value(self, number: i64) -> Value {
        match self {
            InputType::Integer { bits, .. } => Width(bits).truncate(number as u64),
            InputType::Float => (number as f32).to_bits().into(),
            InputType::Double => (number as f64).to_bits(),
            InputType::Text => number as u64,
        }
    }

    /// Values to try of a type when nothing else is known.
    fn usual(self) -> Vec<Value> {
        let numbers = |list: &[i64]| list.iter().map(|number| self.value(*number)).collect::<Vec<_>>();
        match self {
            InputType::Integer { bits, signed: true } => {
                let least = i64::MIN >> (64 - bits);
                numbers(&[0, 1, -1, least, !least])
            }
            InputType::Integer { .. } => numbers(&[0, 1, 2, -1]),
            InputType::Float => {
                let special = [0.5, f32::MAX, f32::MIN, f32::INFINITY, f32::NAN];
                let special = special.map(|number: f32| Value::from(number.to_bits()));
                numbers(&[0, 1, -1]).into_iter().chain(special).collect()
            }
            InputType::Double => {
                let special = [0.5, f64::MAX, f64::MIN, f64::INFINITY, f64::NAN].map(f64::to_bits);
                numbers(&[0, 1, -1]).into_iter().chain(special).collect()
            }
            InputType::Text => Vec::new(),
        }
    }
}

impl Program {
    /// Decides which values of each input are tried, and notes it in [`Program::inputs`]. An input with one value is
    /// no choice any more.
    pub fn settle_inputs(&mut self, wanted: Option<&Domain>) {
        let mut inputs = Vec::new();
        let is_input = |instr: &Instr| matches!(instr, Instr::Input { .. });
        if !self.functions.iter().any(|function| function.code.iter().any(is_input)) {
            return;
        }
        let cells = Cells::new(self);
        for function in (0..self.functions.len()).map(|at| FunctionId(at as u32)) {
            for at in 0..self.function(function).code.len() {
                let Instr::Input { dst, kind, ref values } = self.function(function).code[at] else {
                    continue;
                };
                let (mut values, is_covered) = match (wanted, kind) {
                    (_, InputType::Text) => (values.to_vec(), false),
                    // There are no other values.
                    (Some(domain), kind) if kind != BOOL => {
                        let all: BTreeSet<Value> =
                            domain.numbers().into_iter().map(|n| kind.value(n)).collect();
                        (all.into_iter().collect(), false)
                    }
                    _ => tried(self, &cells, function, dst, kind),
                };
                if let InputType::Integer { bits, signed: true } = kind {
                    values.sort_by_key(|value| Width(bits).signed(*value));
                }
                let shown = values.iter().map(|value| self.show_input(kind, *value)).collect();
                let code = &mut self.functions[function.0 as usize];
                if is_covered && values.len() == 1 {
                    code.code[at] = Instr::Move { dst, src: Operand::Const(values[0]) };
                    continue;
                }
                inputs.push(InputValues {
                    function,
                    span: code.spans.get(at).copied().unwrap_or_default(),
                    values: shown,
                    is_covered,
                });
                code.code[at] = Instr::Input { dst, kind, values: values.into() };
            }
        }
        self.inputs = inputs;
    }

    /// A value of input as people write it.
    pub fn show_input(&self, kind: InputType, value: Value) -> String {
        match kind {
            InputType::Text => match self.text_at(value) {
                Some(text) if text.len() > SHOWN => {
                    let begin: String = text.chars().take(SHOWN / 2).collect();
                    format!("{begin:?}… ({} bytes)", text.len())
                }
                Some(text) => format!("{text:?}"),
                None => kind.show(value),
            },
            _ => kind.show(value),
        }
    }

    /// The constant text at an address.
    fn text_at(&self, address: u64) -> Option<String> {
        if Region::of(address)? != Region::Constant {
            return None;
        }
        let index = self.static_object(address, 1)?;
        let bytes = self.image.as_ref()?.bytes.get(index)?;
        let rest = &bytes[(address - self.globals[index].address) as usize..];
        let text = rest.split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

/// `bool`.
const BOOL: InputType = InputType::Integer { bits: 1, signed: false };

/// What is known of the uses of an input.
#[derive(Default)]
struct Uses {
    /// It is compared for equality with these.
    equal: BTreeSet<Value>,
    /// It is compared for order with these.
    ordered: BTreeSet<Value>,
    /// Its remainder by this number is used; 0 if none is.
    modulus: u64,
    /// Its sign is looked at where a remainder is made.
    has_sign: bool,
    /// Only its low bits go on somewhere (old C: a call of an undeclared function gives an `int`).
    is_narrowed: bool,
    /// It is used in another way.
    otherwise: bool,
}

/// The values to try, and whether they stand for all.
fn tried(
    program: &Program,
    cells: &Cells,
    function: FunctionId,
    dst: Reg,
    kind: InputType,
) -> (Vec<Value>, bool) {
    let InputType::Integer { bits, .. } = kind else {
        let uses = Uses::of(program, cells, function, dst, 64);
        let unused = !uses.otherwise && !uses.is_compared() && uses.modulus == 0;
        return if unused { (vec![0], true) } else { (kind.usual(), false) };
    };
    let width = Width(bits);
    let around =
        |value: Value| [value.wrapping_sub(1), value, value.wrapping_add(1)].map(|v| width.truncate(v));
    let uses = Uses::of(program, cells, function, dst, bits);
    let mut values = uses.equal.clone();
    if !uses.ordered.is_empty() {
        // On the circle of values each comparison cuts at its constant and where the numbers begin, with sign and
        // without. Of each piece between two cuts there must be a value.
        let begin = [0, 1 << (bits - 1)];
        values = uses.equal.union(&uses.ordered).copied().chain(begin).flat_map(around).collect();
    }
    if !uses.otherwise && uses.modulus > 0 && !uses.is_compared() {
        // The remainder of a negative number depends on the sign too.
        let by = uses.modulus as i64;
        let least = if uses.has_sign { -by } else { 0 };
        let values: BTreeSet<Value> = (least..by).map(|number| kind.value(number)).collect();
        return (values.into_iter().collect(), true);
    }
    if !uses.otherwise && uses.modulus == 0 {
        // One that equals none of them.
        values.extend(
            (0..).find(|value| !values.contains(value)).filter(|other| width.truncate(*other) == *other),
        );
        return (values.into_iter().collect(), true);
    }
    if bits <= SMALL {
        return ((0..1 << bits).collect(), true);
    }
    fill(&mut values);
    for value in kind.usual().into_iter().chain(mentioned(program, function).into_iter().flat_map(around)) {
        if values.len() < MOST {
            values.insert(value);
        }
    }
    (values.into_iter().collect(), false)
}

/// Adds what lies between two values that are close together.
fn fill(values: &mut BTreeSet<Value>) {
    let sorted: Vec<Value> = values.iter().copied().collect();
    for pair in sorted.windows(2).filter(|pair| pair[1] - pair[0] <= GAP) {
        values.extend(pair[0]..pair[1]);
    }
}

/// The constants that the source compares something with: first those of a function, then those of the others.
fn mentioned(program: &Program, first: FunctionId) -> Vec<Value> {
    let own = program.functions.get(first.0 as usize);
    let has_source = |function: &&crate::Function| function.spans.iter().any(|span| span.line != 0);
    let mut found = Vec::new();
    for function in own.into_iter().chain(program.functions.iter().filter(has_source)) {
        for instr in &function.code {
            match instr {
                Instr::Cmp { b: Operand::Const(value), .. } | Instr::Cmp { a: Operand::Const(value), .. } => {
                    found.push(*value);
                }
                Instr::Switch { cases, .. } => found.extend(cases.iter().map(|(value, _)| *value)),
                _ => {}
            }
        }
    }
    found
}

impl Uses {
    fn is_compared(&self) -> bool {
        !(self.equal.is_empty() && self.ordered.is_empty())
    }

    /// The remainder by a number is used.
    fn divide(&mut self, by: u64) {
        let all = if self.modulus == 0 { Some(by) } else { least_common_multiple(self.modulus, by) };
        match all {
            Some(all @ 1..=REMAINDERS) => self.modulus = all,
            _ => self.otherwise = true,
        }
    }

    /// How the value that a register of a function gets is used, wherever it goes.
    fn of(program: &Program, cells: &Cells, function: FunctionId, dst: Reg, bits: u8) -> Uses {
        let mut uses = Uses::default();
        let mut seen = HashSet::from([(function, dst)]);
        let mut work = vec![(function, dst)];
        while let Some((function, reg)) = work.pop() {
            for instr in &program.function(function).code {
                let mut reads = false;
                instr.visit_operands(|operand| reads |= operand == Operand::Reg(reg));
                if reads {
                    let mut goes = |function: FunctionId, reg: Reg| {
                        if seen.insert((function, reg)) {
                            work.push((function, reg));
                        }
                    };
                    uses.add(program, cells, (function, reg), bits, instr, &mut goes);
                }
            }
        }
        // Constants that a part is compared with say nothing about the whole.
        uses.otherwise |= uses.is_narrowed && (uses.is_compared() || uses.modulus > 0);
        uses
    }

    /// Notes what an instruction does with a register.
    fn add(
        &mut self,
        program: &Program,
        cells: &Cells,
        (function, reg): (FunctionId, Reg),
        bits: u8,
        instr: &Instr,
        goes: &mut impl FnMut(FunctionId, Reg),
    ) {
        let this = Operand::Reg(reg);
        match instr {
            Instr::Move { dst, .. } => goes(function, *dst),
            Instr::SignExtend { dst, from, .. } if from.0 >= bits => {
                self.has_sign = true;
                goes(function, *dst);
            }
            Instr::SignExtend { dst, .. } => {
                self.is_narrowed = true;
                goes(function, *dst);
            }
            Instr::Cmp { op, width, a, b, .. } if width.0 >= bits => match (*a, *b) {
                (Operand::Const(value), _) | (_, Operand::Const(value)) => {
                    let value = Width(bits).truncate(value);
                    match op {
                        CmpOp::Eq | CmpOp::Ne => self.equal.insert(value),
                        _ => self.ordered.insert(value),
                    };
                }
                _ => self.otherwise = true,
            },
            Instr::Bin { op: op @ (BinOp::URem | BinOp::SRem), width, a, b: Operand::Const(by), .. }
                if *a == this && width.0 >= bits =>
            {
                self.has_sign |= *op == BinOp::SRem;
                self.divide(match op {
                    BinOp::SRem => width.signed(*by).unsigned_abs(),
                    _ => width.truncate(*by),
                });
            }
            // Where a sign was spread too far.
            Instr::Bin { op: BinOp::And, dst, a, b: Operand::Const(mask), .. }
                if *a == this
                    && mask.wrapping_add(1).is_power_of_two()
                    && mask.count_ones() >= bits.into() =>
            {
                goes(function, *dst);
            }
            Instr::Store { address: Operand::Const(address), size, .. }
                if u32::from(*size) * 8 >= bits.into() =>
            {
                match cells.readers(program, *address, *size) {
                    Some(readers) => readers.iter().for_each(|(function, reg)| goes(*function, *reg)),
                    None => self.otherwise = true,
                }
            }
            Instr::Bin { op: BinOp::And, a, b: Operand::Const(mask), .. }
                if *a == this && mask.wrapping_add(1).is_power_of_two() =>
            {
                self.divide(mask + 1);
            }
            Instr::Select { cond, dst, a, b } => {
                if *cond == this {
                    self.equal.insert(0);
                }
                if *a == this || *b == this {
                    goes(function, *dst);
                }
            }
            Instr::Branch { .. } | Instr::Assume { .. } | Instr::Assert { .. } | Instr::IfBegin { .. } => {
                self.equal.insert(0);
            }
            Instr::Switch { cases, .. } => {
                self.equal.extend(cases.iter().map(|(value, _)| Width(bits).truncate(*value)));
            }
            Instr::Call { function: callee, args, .. } => {
                for (at, _) in args.iter().enumerate().filter(|(_, arg)| **arg == this) {
                    goes(*callee, Reg(at as u32));
                }
            }
            Instr::Create { function: runs, .. } => goes(*runs, Reg(0)),
            Instr::Return { .. } => {
                for (at, caller) in program.functions.iter().enumerate() {
                    for instr in &caller.code {
                        match instr {
                            Instr::Call { function: callee, dst: Some(dst), .. } if *callee == function => {
                                goes(FunctionId(at as u32), *dst);
                            }
                            // It may be called by its address.
                            Instr::CallPointer { dst: Some(_), .. } => self.otherwise = true,
                            _ => {}
                        }
                    }
                }
                // What a thread gives back is seen by who joins it and asks for it.
                let begins_thread = |instr: &Instr| {
                    matches!(instr, Instr::Create { function: runs, .. } if *runs == function)
                        || matches!(instr, Instr::CreatePointer { .. })
                };
                let mut code = program.functions.iter().flat_map(|function| &function.code);
                self.otherwise |= code.any(begins_thread) && asks_for_results(program);
            }
            // It only remembers.
            Instr::LoopHead { .. } => {}
            _ => self.otherwise = true,
        }
    }
}

/// Whether somebody may ask for the result of a thread. A function that does so has the place of results, and gets as
/// its second argument where to put it, or null.
fn asks_for_results(program: &Program) -> bool {
    let place = Operand::Const(layout::result_cell(ThreadId(0)));
    let mentions = |function: &crate::Function| {
        let mut found = false;
        function.code.iter().for_each(|instr| instr.visit_operands(|operand| found |= operand == place));
        found
    };
    let joins: Vec<bool> = program.functions.iter().map(mentions).collect();
    let mut code = program.functions.iter().flat_map(|function| &function.code);
    joins.contains(&true)
        && code.any(|instr| match instr {
            Instr::Call { function, args, .. } => {
                joins[function.0 as usize] && args.get(1) != Some(&Operand::Const(0))
            }
            // It may be called by its address.
            Instr::CallPointer { .. } => true,
            _ => false,
        })
}

fn least_common_multiple(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a.checked_div(x)?.checked_mul(b)
}
