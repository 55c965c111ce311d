//! The variables of a test: names, addresses, sizes, initial contents.
//!
//! A variable gets its address when its name is first met. The size of its cells may be known only after
//! the code has been read, so every variable has room for the widest cells.

use porf_ir::{Global, InitCell, Program, Width};

pub(crate) struct Memory {
    pub variables: Vec<Variable>,
    /// The cell size of variables whose size nothing else tells.
    pub default_size: u8,
    next: u64,
}

pub(crate) struct Variable {
    pub name: String,
    pub address: u64,
    /// For a cell, in bytes: declared or found out from the accesses.
    pub size: Option<u8>,
    /// The number of cells of an array.
    pub elements: Option<u64>,
    pub init: Vec<Initial>,
}

/// A value as written: a number, or the address of a cell of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Initial {
    Int(i64),
    Address { variable: usize, index: u64 },
}

impl Memory {
    pub fn new(default_size: u8) -> Memory {
        Memory { variables: Vec::new(), default_size, next: Program::FIRST_ADDRESS + 0x100 }
    }

    /// The variable of that name; created if there is none.
    pub fn variable(&mut self, name: &str) -> usize {
        if let Some(at) = self.variables.iter().position(|variable| variable.name == name) {
            return at;
        }
        self.variables.push(Variable {
            name: name.to_string(),
            address: self.next,
            size: None,
            elements: None,
            init: Vec::new(),
        });
        self.next += 0x100;
        self.variables.len() - 1
    }

    /// Makes the last variable an array; later ones move out of its way.
    pub fn make_array(&mut self, variable: usize, elements: u64) {
        self.variables[variable].elements = Some(elements);
        let end = self.variables[variable].address + 8 * elements + 0x100;
        self.next = self.next.max(end.next_multiple_of(0x100));
    }

    /// The variable that contains an address.
    pub fn at(&self, address: u64) -> Option<usize> {
        let room = |variable: &Variable| 8 * variable.elements.unwrap_or(1);
        let contains =
            |variable: &Variable| (0..room(variable)).contains(&address.wrapping_sub(variable.address));
        self.variables.iter().position(contains)
    }

    pub fn size_of(&self, variable: usize) -> u8 {
        self.variables[variable].size.unwrap_or(self.default_size)
    }

    pub fn value(&self, initial: &Initial) -> u64 {
        match initial {
            Initial::Int(value) => *value as u64,
            Initial::Address { variable, index } => {
                self.variables[*variable].address + index * u64::from(self.size_of(*variable))
            }
        }
    }

    /// The globals of the program; each lists all its cells.
    pub fn globals(&self) -> Vec<Global> {
        let global = |(at, variable): (usize, &Variable)| {
            let size = self.size_of(at);
            let elements = variable.elements.unwrap_or(1);
            let cell = |index: u64| InitCell {
                offset: index * u64::from(size),
                size,
                value: match variable.init.get(index as usize) {
                    Some(initial) => Width::of_bytes(size).truncate(self.value(initial)),
                    None => 0,
                },
            };
            Global {
                name: variable.name.clone(),
                address: variable.address,
                size: u64::from(size) * elements,
                init: (0..elements).map(cell).collect(),
            }
        };
        self.variables.iter().enumerate().map(global).collect()
    }
}
