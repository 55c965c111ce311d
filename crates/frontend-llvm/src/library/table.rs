//! The table of library functions: one row says everything about a function.
//!
//! Each family (heap, strings, threads, …) has its rows in its own file. A row has the function's
//! names, what becomes of its pointer arguments, and who writes its calls. Names are looked up by
//! hash; the few patterns (names with a `*`) are tried afterwards, in order.

use crate::translate::types::Unsupported;
use crate::translate::{Body, Translator};
use porf_ir::{FunctionId, Instr, Operand};
use std::collections::HashMap;
use std::sync::OnceLock;

/// What a function does with a pointer argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Treatment {
    /// Reads and writes what it points to, and forgets it.
    Uses,
    /// As `Uses`, and its result may be the pointer.
    Returns,
    /// Other threads may get it.
    Keeps,
}

/// Pointer arguments by their place; the last entry is for all that follow.
pub type Pointers = &'static [Treatment];

pub const USES: Pointers = &[Treatment::Uses];
pub const RETURNS: Pointers = &[Treatment::Returns];
pub const KEEPS: Pointers = &[Treatment::Keeps];

/// What a call gives back, word by word.
pub type Lowered = Result<Vec<Operand>, Unsupported>;

/// Writes the instructions of a call.
pub type Lower = fn(&mut Call<'_, '_, '_>) -> Lowered;

/// A library function.
pub struct Row {
    /// In C, or as C++ mangles them; `*` stands for any text.
    names: &'static [&'static str],
    pointers: Pointers,
    lower: Lower,
    /// Whether our version is taken although the program has one: a header's own text, for example.
    replaces: bool,
}

pub const fn row(names: &'static [&'static str], pointers: Pointers, lower: Lower) -> Row {
    Row { names, pointers, lower, replaces: false }
}

impl Row {
    pub const fn replacing(self) -> Row {
        Row { replaces: true, ..self }
    }

    /// Whether it is the row of a function.
    pub fn is_for(&self, name: &str) -> bool {
        self.names.iter().any(|pattern| matches(pattern, name))
    }

    pub fn treatment(&self, index: usize) -> Treatment {
        self.pointers[index.min(self.pointers.len() - 1)]
    }

    pub fn lower(&self, body: &mut Body<'_, '_>, name: &str, args: &[Operand], used: bool) -> Lowered {
        (self.lower)(&mut Call { body, name, args, used })
    }

    pub fn replaces(&self) -> bool {
        self.replaces
    }
}

/// A call of a library function.
pub struct Call<'c, 't, 'm> {
    pub body: &'c mut Body<'t, 'm>,
    pub name: &'c str,
    pub args: &'c [Operand],
    /// Whether the program looks at the result.
    pub used: bool,
}

impl Call<'_, '_, '_> {
    /// An argument; 0 where a call gives too few.
    pub fn arg(&self, index: usize) -> Operand {
        self.args.get(index).copied().unwrap_or(Operand::Const(0))
    }

    pub fn push(&mut self, instr: Instr) {
        self.body.b.push(instr);
    }

    /// Ends the thread with the first argument as its result. The register of a local variable does not keep
    /// the variable's address when the variable ends.
    pub fn exit_thread(&mut self) {
        let result = self.body.b.register("");
        self.push(Instr::Move { dst: result, src: self.arg(0) });
        self.push(Instr::ExitThread { value: result.into() });
    }

    /// Calls a function of our own with these arguments.
    pub fn routine(
        &mut self,
        make: impl FnOnce(&mut Translator<'_>) -> FunctionId,
        args: &[Operand],
    ) -> Lowered {
        let function = make(self.body.tr);
        invoke(self.body, function, args)
    }

    /// As [`Call::routine`], with as many of the call's arguments as the routine takes.
    pub fn same(&mut self, make: impl FnOnce(&mut Translator<'_>) -> FunctionId) -> Lowered {
        let function = make(self.body.tr);
        let params = self.body.tr.program.function(function).params as usize;
        let args: Vec<Operand> = (0..params).map(|index| self.arg(index)).collect();
        invoke(self.body, function, &args)
    }
}

/// A call that does nothing and gives 0.
pub fn zero(_: &mut Call<'_, '_, '_>) -> Lowered {
    Ok(vec![Operand::Const(0)])
}

/// A call that does nothing and gives nothing.
pub fn nothing(_: &mut Call<'_, '_, '_>) -> Lowered {
    Ok(Vec::new())
}

pub fn invoke(body: &mut Body<'_, '_>, function: FunctionId, args: &[Operand]) -> Lowered {
    let dst = body.b.register("");
    body.b.push(Instr::Call { function, args: args.into(), dst: Some(dst) });
    Ok(vec![dst.into()])
}

/// The row of a function.
pub fn find(name: &str) -> Option<&'static Row> {
    static INDEX: OnceLock<Index> = OnceLock::new();
    let index = INDEX.get_or_init(Index::new);
    index.names.get(name).copied().or_else(|| {
        let found = index.patterns.iter().find(|(pattern, _)| matches(pattern, name));
        found.map(|(_, row)| *row)
    })
}

struct Index {
    names: HashMap<&'static str, &'static Row>,
    patterns: Vec<(&'static str, &'static Row)>,
}

impl Index {
    fn new() -> Index {
        let mut index = Index { names: HashMap::new(), patterns: Vec::new() };
        for row in super::FAMILIES.iter().copied().flatten() {
            for name in row.names {
                if name.contains('*') {
                    index.patterns.push((name, row));
                } else {
                    let before = index.names.insert(name, row);
                    debug_assert!(before.is_none(), "{name} has two rows");
                }
            }
        }
        index
    }
}

/// Whether a name fits a pattern, in which `*` stands for any text.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert!(matches("_ZSt*__throw_*", "_ZSt20__throw_length_errorPKc"));
        assert!(matches("_ZNSt6chrono3_V2*_clock3nowEv", "_ZNSt6chrono3_V212steady_clock3nowEv"));
        assert!(!matches("_ZNSt6chrono3_V2*_clock3nowEv", "_ZNSt6chrono3_V212steady_clock3now"));
        assert!(matches("malloc", "malloc") && !matches("malloc", "mallocs"));
    }

    #[test]
    fn a_name_has_one_row() {
        assert!(find("malloc").is_some() && find("no such function").is_none());
        assert_eq!(find("pthread_create").map(|row| row.treatment(3)), Some(Treatment::Keeps));
        assert_eq!(find("memcpy").map(|row| row.treatment(1)), Some(Treatment::Returns));
    }
}
