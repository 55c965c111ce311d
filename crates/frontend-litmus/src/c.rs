//! C: C11 atomics and Linux-kernel primitives, in one dialect, as herd reads them.
//!
//! All variables and registers hold 64-bit signed numbers and all cells are 8 bytes, whatever their
//! type, because herd's C has no integer conversions. A name is a register of its thread, declared or
//! not. A parameter is a register that holds the address of the variable of the same name. `*x` is a
//! plain (non-atomic) access even if `x` points to an atomic type. The body of an `if` or a loop
//! depends on its condition by control; what follows it does not.
//!
//! Beyond herd: `&r` of a register as the "expected" argument of a compare-and-exchange; `!`, `%`,
//! shifts, `&&` and `||` of expressions without memory accesses; `do` and `for`.
//! Not supported: structures, arrays, `goto`, `switch`, `return`, `++`, `+=` and the like, and calls of
//! functions that are not primitives.

mod expr;
mod lower;
mod primitive;

use crate::Diagnostic;
use crate::condition;
use crate::memory::Memory;
use crate::source::{Comments, Cursor};
use crate::thread::{Thread, ThreadBuilder};
use lower::Lower;

/// The functions `P0(…) { … }`, `P1(…) { … }`, … up to the condition.
pub(crate) fn parse(cursor: &mut Cursor<'_>, memory: &mut Memory) -> Result<Vec<Thread>, Diagnostic> {
    cursor.comments = Comments::C;
    let mut threads: Vec<(usize, Thread)> = Vec::new();
    while !begins_question(cursor)? {
        let here = cursor.clone();
        let _ = cursor.eat("static")?;
        let _ = cursor.eat("void")? || cursor.eat("int")?;
        let _ = cursor.eat("*")?;
        let name = cursor.expect_word("a thread, 'P0(…) { … }'")?;
        if name == "regions" && cursor.eat(":")? {
            // Where variables live has no meaning for these models.
            cursor.at += cursor.rest().find('\n').unwrap_or(cursor.rest().len());
            continue;
        }
        let number = name.strip_prefix('P').and_then(|digits| digits.parse::<usize>().ok());
        let Some(number) = number else {
            return Err(here.error(format!("'{name}' is not a thread: expected 'P0(…) {{ … }}'")));
        };
        if threads.iter().any(|(known, _)| *known == number) {
            return Err(here.error(format!("thread P{number} occurs twice")));
        }
        let mut thread = ThreadBuilder::new(number);
        parameters(cursor, memory, &mut thread)?;
        let mut lower = Lower::new(cursor, thread);
        lower.block()?;
        threads.push((number, lower.finish()));
    }
    threads.sort_by_key(|(number, _)| *number);
    for (at, (number, _)) in threads.iter().enumerate() {
        if at != *number {
            return Err(cursor.error(format!("thread P{at} is missing")));
        }
    }
    if threads.is_empty() {
        return Err(cursor.error("the test has no thread"));
    }
    cursor.comments = Comments::Caml;
    Ok(threads.into_iter().map(|(_, thread)| thread).collect())
}

/// Between threads, both kinds of comments are skipped.
fn begins_question(cursor: &mut Cursor<'_>) -> Result<bool, Diagnostic> {
    cursor.comments = Comments::Both;
    let begins = condition::begins(cursor);
    cursor.comments = Comments::C;
    begins
}

/// `(int *x, atomic_int *y)`: registers that hold addresses.
fn parameters(
    cursor: &mut Cursor<'_>,
    memory: &mut Memory,
    thread: &mut ThreadBuilder,
) -> Result<(), Diagnostic> {
    cursor.expect("(")?;
    loop {
        if cursor.eat(")")? {
            return Ok(());
        }
        let mut pointer = false;
        let mut last = None;
        let start = cursor.clone();
        loop {
            if cursor.eat("*")? {
                pointer = true;
            } else if cursor.eat("<")? {
                // atomic<int>
                while !cursor.eat(">")? {
                    cursor.expect_word("a type")?;
                }
            } else if let Some(word) = cursor.word()? {
                last = Some(word);
            } else {
                break;
            }
        }
        match last {
            Some("void") if !pointer => {}
            Some(name) if pointer => {
                let variable = memory.variable(name);
                let reg = thread.register(name);
                thread.set_initial(reg, memory.variables[variable].address);
            }
            Some(name) => return Err(start.error(format!("parameter '{name}' is not a pointer"))),
            None => return Err(cursor.expected("a parameter")),
        }
        if cursor.peek()? != b')' {
            cursor.expect(",")?;
        }
    }
}
