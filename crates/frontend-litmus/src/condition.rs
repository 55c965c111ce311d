//! What a test asks about its final states: `exists`, `~exists`, `forall`, `filter`, `locations`.

use crate::Diagnostic;
use crate::init;
use crate::memory::{Initial, Memory};
use crate::source::Cursor;
use porf_event::Value;
use porf_ir::{Reg, Width};
use std::fmt;

/// The condition of a test: what is asked about its final states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Of how many final states.
    pub quantifier: Quantifier,
    /// What should hold.
    pub prop: Prop,
}

/// Of how many final states a proposition should hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// Of some.
    Exists,
    /// Of none: `~exists`.
    NotExists,
    /// Of all.
    Forall,
}

/// A proposition about one final state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prop {
    /// It always holds.
    True,
    /// It never holds.
    False,
    /// `~p`.
    Not(Box<Prop>),
    /// `p /\ q`.
    And(Vec<Prop>),
    /// `p \/ q`.
    Or(Vec<Prop>),
    /// `p => q`.
    Implies(Box<Prop>, Box<Prop>),
    /// A register or cell holds a constant.
    Equal(Observable, Constant),
    /// Two registers or cells hold the same value.
    Same(Observable, Observable),
}

/// A register or memory cell whose final value is observed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Observable {
    /// A register of a thread.
    Register {
        /// The thread.
        thread: usize,
        /// The name as written.
        name: String,
        /// The register of the thread's function.
        reg: Reg,
        /// In bytes.
        size: u8,
        /// Whether the machine zero-extends 32-bit values in its 64-bit registers. Such values are
        /// shown and compared as signed words.
        words: bool,
    },
    /// A memory cell.
    Location {
        /// The variable.
        name: String,
        /// Which cell, if the variable is an array.
        index: Option<u64>,
        /// Where it lies.
        address: u64,
        /// In bytes.
        size: u8,
    },
}

/// The right-hand side of an equation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constant {
    /// A number.
    Int(i64),
    /// The address of a cell.
    Address {
        /// The variable.
        name: String,
        /// Which cell, if the variable is an array.
        index: Option<u64>,
        /// Where it lies.
        address: u64,
    },
}

/// `locations`, `filter` and the condition, in this order, to the end of the text.
pub(crate) struct Question {
    pub locations: Vec<Observable>,
    pub filter: Option<Prop>,
    pub condition: Condition,
}

/// Gives the register of a thread by its name as written.
pub(crate) type Resolve<'r> = dyn FnMut(usize, &str) -> Result<Observable, String> + 'r;

pub(crate) fn parse(
    cursor: &mut Cursor<'_>,
    memory: &mut Memory,
    resolve: &mut Resolve<'_>,
) -> Result<Question, Diagnostic> {
    let mut parser = Parser { cursor, memory, resolve };
    let locations = if parser.cursor.eat("locations")? { parser.locations()? } else { Vec::new() };
    let filter = if parser.cursor.eat("filter")? { Some(parser.prop()?) } else { None };
    let condition = parser.condition()?;
    let _ = parser.cursor.eat(";")?;
    parser.cursor.skip()?;
    // Old lists of expectations per model may follow.
    if !parser.cursor.at_end() && !parser.cursor.sees("with")? && !parser.cursor.rest().starts_with("<<") {
        return Err(parser.cursor.expected("the end of the test"));
    }
    Ok(Question { locations, filter, condition })
}

/// Whether a question begins here.
pub(crate) fn begins(cursor: &mut Cursor<'_>) -> Result<bool, Diagnostic> {
    cursor.skip()?;
    if cursor.at_end() || cursor.byte() == b'~' {
        return Ok(true);
    }
    for word in ["exists", "forall", "locations", "filter", "final", "not", "observed", "Observed"] {
        if cursor.sees(word)? {
            return Ok(true);
        }
    }
    Ok(false)
}

struct Parser<'p, 'a, 'r> {
    cursor: &'p mut Cursor<'a>,
    memory: &'p mut Memory,
    resolve: &'p mut Resolve<'r>,
}

impl Parser<'_, '_, '_> {
    fn locations(&mut self) -> Result<Vec<Observable>, Diagnostic> {
        self.cursor.expect("[")?;
        let mut found = Vec::new();
        loop {
            match self.cursor.peek()? {
                b']' => {
                    self.cursor.at += 1;
                    return Ok(found);
                }
                b';' | b',' => self.cursor.at += 1,
                _ => {
                    let item = self.observable()?;
                    // A type may follow: `x int`, `0:r1 int *`.
                    while self.cursor.word()?.is_some() || self.cursor.eat("*")? {}
                    if !found.contains(&item) {
                        found.push(item);
                    }
                }
            }
        }
    }

    fn condition(&mut self) -> Result<Condition, Diagnostic> {
        let cursor = &mut *self.cursor;
        let quantifier = if cursor.eat("exists")? || cursor.eat("final")? {
            Quantifier::Exists
        } else if cursor.eat("forall")? {
            Quantifier::Forall
        } else if cursor.eat("~")? || cursor.eat("not")? {
            cursor.expect("exists")?;
            Quantifier::NotExists
        } else if cursor.sees("observed")? || cursor.sees("Observed")? {
            return Err(cursor.error("'observed' is not supported"));
        } else if cursor.peek()? == b'(' {
            Quantifier::Exists
        } else if cursor.at_end() {
            return Ok(Condition { quantifier: Quantifier::Forall, prop: Prop::True });
        } else {
            return Err(cursor.expected("'exists', '~exists' or 'forall'"));
        };
        Ok(Condition { quantifier, prop: self.prop()? })
    }

    /// From weak to strong binding, as in herd: `\/`, `/\`, `=>`, `~`.
    fn prop(&mut self) -> Result<Prop, Diagnostic> {
        self.cursor.enter()?;
        let mut terms = vec![self.and()?];
        while self.cursor.eat("\\/")? {
            terms.push(self.and()?);
        }
        self.cursor.leave();
        Ok(Prop::any(terms))
    }

    fn and(&mut self) -> Result<Prop, Diagnostic> {
        let mut factors = vec![self.implies()?];
        while self.cursor.eat("/\\")? {
            factors.push(self.implies()?);
        }
        Ok(Prop::all(factors))
    }

    fn implies(&mut self) -> Result<Prop, Diagnostic> {
        self.cursor.enter()?;
        let left = self.atom()?;
        let prop = if self.cursor.eat("=>")? {
            Prop::Implies(Box::new(left), Box::new(self.implies()?))
        } else {
            left
        };
        self.cursor.leave();
        Ok(prop)
    }

    fn atom(&mut self) -> Result<Prop, Diagnostic> {
        if self.cursor.eat("(")? {
            let inner = self.prop()?;
            self.cursor.expect(")")?;
            return Ok(inner);
        }
        if self.cursor.eat("~")? || self.cursor.eat("not")? {
            self.cursor.enter()?;
            let inner = self.atom()?;
            self.cursor.leave();
            return Ok(Prop::Not(Box::new(inner)));
        }
        if self.cursor.eat("true")? {
            return Ok(Prop::True);
        }
        if self.cursor.eat("false")? {
            return Ok(Prop::False);
        }
        let observable = self.observable()?;
        let negated = if self.cursor.eat("==")? || self.cursor.eat("=")? {
            false
        } else if self.cursor.eat("!=")? || self.cursor.eat("<>")? {
            true
        } else {
            return Err(self.cursor.expected("'=' or '!='"));
        };
        let equal = match self.register()? {
            Some(other) => Prop::Same(observable, other),
            None => Prop::Equal(observable, self.constant()?),
        };
        Ok(if negated { Prop::Not(Box::new(equal)) } else { equal })
    }

    fn register(&mut self) -> Result<Option<Observable>, Diagnostic> {
        let here = self.cursor.at;
        let Some((thread, name)) = init::register(self.cursor)? else { return Ok(None) };
        match (self.resolve)(thread, name) {
            Ok(register) => Ok(Some(register)),
            Err(message) => Err(self.cursor.source.error(here, message)),
        }
    }

    fn observable(&mut self) -> Result<Observable, Diagnostic> {
        if let Some(register) = self.register()? {
            return Ok(register);
        }
        let here = self.cursor.clone();
        let _ = self.cursor.eat("*")?;
        let bracketed = init::bracketed(self.cursor)?;
        let name = match bracketed {
            Some(name) => name,
            None => match init::name(self.cursor)? {
                Some(name) => name,
                None => return Err(self.cursor.expected("a variable or a register")),
            },
        };
        if name == "fault" || name == "Fault" {
            return Err(here.error("faults are not supported"));
        }
        let variable = self.memory.variable(name);
        let size = self.memory.size_of(variable);
        let mut index = None;
        if bracketed.is_none() && self.cursor.byte() == b'[' {
            self.cursor.at += 1;
            index = self.cursor.number()?.map(|index| index as u64);
            self.cursor.expect("]")?;
            if index.is_none_or(|i| i >= self.memory.variables[variable].elements.unwrap_or(1)) {
                return Err(here.error(format!("'{name}' has no such element")));
            }
        } else if self.memory.variables[variable].elements.is_some() {
            return Err(here.error(format!("the value of the whole array '{name}' is not supported")));
        }
        let address = self.memory.variables[variable].address + index.unwrap_or(0) * u64::from(size);
        Ok(Observable::Location { name: name.to_string(), index, address, size })
    }

    fn constant(&mut self) -> Result<Constant, Diagnostic> {
        let initial = init::value(self.cursor, self.memory)?;
        Ok(match initial {
            Initial::Int(value) => Constant::Int(value),
            Initial::Address { variable, index } => Constant::Address {
                name: self.memory.variables[variable].name.clone(),
                index: self.memory.variables[variable].elements.map(|_| index),
                address: self.memory.value(&initial),
            },
        })
    }
}

impl Prop {
    /// The conjunction; nested conjunctions are flattened.
    pub fn all(parts: Vec<Prop>) -> Prop {
        Prop::flat(parts, Prop::And, |part| match part {
            Prop::And(parts) => Ok(parts),
            other => Err(other),
        })
    }

    /// The disjunction; nested disjunctions are flattened.
    pub fn any(parts: Vec<Prop>) -> Prop {
        Prop::flat(parts, Prop::Or, |part| match part {
            Prop::Or(parts) => Ok(parts),
            other => Err(other),
        })
    }

    fn flat(
        mut parts: Vec<Prop>,
        make: fn(Vec<Prop>) -> Prop,
        open: fn(Prop) -> Result<Vec<Prop>, Prop>,
    ) -> Prop {
        if parts.len() == 1 {
            return parts.remove(0);
        }
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match open(part) {
                Ok(parts) => flat.extend(parts),
                Err(part) => flat.push(part),
            }
        }
        make(flat)
    }

    /// Whether it holds in the state that `value` gives.
    pub fn holds(&self, value: &mut impl FnMut(&Observable) -> Value) -> bool {
        match self {
            Prop::True => true,
            Prop::False => false,
            Prop::Not(inner) => !inner.holds(value),
            Prop::And(parts) => parts.iter().all(|part| part.holds(value)),
            Prop::Or(parts) => parts.iter().any(|part| part.holds(value)),
            Prop::Implies(left, right) => !left.holds(value) || right.holds(value),
            Prop::Equal(observable, constant) => {
                observable.canonical(value(observable)) == observable.canonical(constant.value())
            }
            Prop::Same(left, right) => {
                let signed = |o: &Observable, v| Width::of_bytes(o.size()).signed(o.canonical(v));
                signed(left, value(left)) == signed(right, value(right))
            }
        }
    }

    /// Every register and location that it mentions, with repetitions.
    pub fn visit(&self, visit: &mut impl FnMut(&Observable)) {
        match self {
            Prop::True | Prop::False => {}
            Prop::Not(inner) => inner.visit(visit),
            Prop::And(parts) | Prop::Or(parts) => parts.iter().for_each(|part| part.visit(visit)),
            Prop::Implies(left, right) => {
                left.visit(visit);
                right.visit(visit);
            }
            Prop::Equal(observable, _) => visit(observable),
            Prop::Same(left, right) => {
                visit(left);
                visit(right);
            }
        }
    }
}

impl Observable {
    /// The value as it is shown and compared: only the bits that the observable has.
    pub fn canonical(&self, value: Value) -> Value {
        let value = Width::of_bytes(self.size()).truncate(value);
        match self {
            Observable::Register { words: true, size: 8, .. } if value >> 32 == 0 => {
                Width::W32.signed(value) as u64
            }
            _ => value,
        }
    }

    /// In bytes.
    pub fn size(&self) -> u8 {
        match self {
            Observable::Register { size, .. } | Observable::Location { size, .. } => *size,
        }
    }
}

impl Constant {
    /// The constant as the contents of a register or cell.
    pub fn value(&self) -> Value {
        match self {
            Constant::Int(value) => *value as u64,
            Constant::Address { address, .. } => *address,
        }
    }
}

/// The name that herd prints in states: `0:r1`, `[x]`, `x[1]`.
impl fmt::Display for Observable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Observable::Register { thread, name, .. } => write!(f, "{thread}:{name}"),
            Observable::Location { name, index: None, .. } => write!(f, "[{name}]"),
            Observable::Location { name, index: Some(index), .. } => write!(f, "{name}[{index}]"),
        }
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constant::Int(value) => write!(f, "{value}"),
            Constant::Address { name, index: None, .. } => write!(f, "{name}"),
            Constant::Address { name, index: Some(index), .. } => write!(f, "{name}[{index}]"),
        }
    }
}

impl fmt::Display for Prop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |f: &mut fmt::Formatter<'_>, parts: &[Prop], sign: &str, parens: fn(&Prop) -> bool| {
            for (at, part) in parts.iter().enumerate() {
                if at > 0 {
                    write!(f, " {sign} ")?;
                }
                if parens(part) { write!(f, "({part})")? } else { write!(f, "{part}")? }
            }
            Ok(())
        };
        match self {
            Prop::True => write!(f, "true"),
            Prop::False => write!(f, "false"),
            Prop::Not(inner) => write!(f, "not ({inner})"),
            Prop::And(parts) => {
                join(f, parts, "/\\", |part| matches!(part, Prop::Or(_) | Prop::Implies(..) | Prop::And(_)))
            }
            Prop::Or(parts) => join(f, parts, "\\/", |part| matches!(part, Prop::Implies(..) | Prop::Or(_))),
            Prop::Implies(left, right) => write!(f, "({left}) => ({right})"),
            Prop::Equal(observable, constant) => write!(f, "{observable}={constant}"),
            Prop::Same(left, right) => write!(f, "{left}={right}"),
        }
    }
}

impl fmt::Display for Quantifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Quantifier::Exists => "exists",
            Quantifier::NotExists => "~exists",
            Quantifier::Forall => "forall",
        })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.quantifier, self.prop)
    }
}
