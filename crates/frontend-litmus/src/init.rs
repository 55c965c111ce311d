//! The initial state: `{ x = 1; int y[2] = {0,1}; uint64_t 0:X1 = x; int *p = &q; … }`.

use crate::Diagnostic;
use crate::memory::{Initial, Memory};
use crate::source::{Cursor, is_word};
use porf_ir::Span;

/// An initial value of a register; its name is as written.
pub(crate) struct RegisterInit<'a> {
    /// `None`: in every thread that has such a (symbolic) register.
    pub thread: Option<usize>,
    pub name: &'a str,
    pub value: Initial,
    pub span: Span,
}

/// Reads from after the `{` to after the `}`. `uniform`: all cells have the same size, whatever their
/// type says (C, as in herd).
pub(crate) fn parse<'a>(
    cursor: &mut Cursor<'a>,
    memory: &mut Memory,
    uniform: bool,
) -> Result<Vec<RegisterInit<'a>>, Diagnostic> {
    let mut registers = Vec::new();
    loop {
        match cursor.peek()? {
            b'}' => {
                cursor.at += 1;
                let _ = cursor.eat(";")?;
                return Ok(registers);
            }
            b';' | b',' => cursor.at += 1,
            _ if cursor.at_end() => return Err(cursor.error("the initial state has no end '}'")),
            _ => registers.extend(entry(cursor, memory, uniform)?),
        }
    }
}

enum Place<'a> {
    Register { thread: Option<usize>, name: &'a str },
    Variable(usize),
}

fn entry<'a>(
    cursor: &mut Cursor<'a>,
    memory: &mut Memory,
    uniform: bool,
) -> Result<Option<RegisterInit<'a>>, Diagnostic> {
    let span = cursor.span();
    let (place, size) = place(cursor, memory)?;
    let mut values = Vec::new();
    if let Place::Variable(variable) = place
        && memory.variables[variable].elements.is_none()
        && cursor.peek()? == b'['
    {
        cursor.at += 1;
        match cursor.number()? {
            Some(elements) if (1..=4096).contains(&elements) => {
                memory.make_array(variable, elements as u64);
                cursor.expect("]")?;
            }
            _ => return Err(cursor.expected("the number of elements")),
        }
    }
    if cursor.eat("=")? {
        if cursor.eat("{")? {
            loop {
                values.push(value(cursor, memory)?);
                if !cursor.eat(",")? {
                    break;
                }
            }
            cursor.expect("}")?;
        } else if cursor.eat("ATOMIC_INIT")? {
            cursor.expect("(")?;
            values.push(value(cursor, memory)?);
            cursor.expect(")")?;
        } else {
            values.push(value(cursor, memory)?);
        }
    }
    match cursor.peek()? {
        b';' | b'}' | b',' => {}
        _ => return Err(cursor.expected("';' or '}'")),
    }
    match place {
        Place::Register { thread, name } => {
            let value = values.pop().unwrap_or(Initial::Int(0));
            Ok(Some(RegisterInit { thread, name, value, span }))
        }
        Place::Variable(at) => {
            let variable = &mut memory.variables[at];
            if values.len() as u64 > variable.elements.unwrap_or(1) {
                return Err(cursor.source.error_at(span, "more initial values than elements"));
            }
            if !values.is_empty() {
                variable.init = values;
            }
            if size.is_some() && !uniform {
                variable.size = size;
            }
            Ok(None)
        }
    }
}

/// `x`, `[x]`, `*x`, `int x`, `int *x`, `uint64_t 0:X1`, …, and the size that the type gives.
fn place<'a>(cursor: &mut Cursor<'a>, memory: &mut Memory) -> Result<(Place<'a>, Option<u8>), Diagnostic> {
    let start = cursor.clone();
    let mut types: Vec<&str> = Vec::new();
    let mut pointer = false;
    loop {
        if cursor.eat("*")? {
            pointer = !types.is_empty();
            continue;
        }
        if let Some(name) = bracketed(cursor)? {
            let size = type_size(&start, &types, pointer)?;
            return Ok((Place::Variable(memory.variable(name)), size));
        }
        if let Some((thread, name)) = register(cursor)? {
            return Ok((Place::Register { thread: Some(thread), name }, None));
        }
        if cursor.peek()? == b'%'
            && let Some(name) = cursor.word_with(|c| c == '%')?
        {
            return Ok((Place::Register { thread: None, name }, None));
        }
        let Some(name) = name(cursor)? else { return Err(cursor.expected("a variable or a register")) };
        match cursor.peek()? {
            b'=' | b';' | b'}' | b',' => {}
            // `x[2]`, but `int [x]` is a type and a variable.
            b'[' if cursor.byte_at(1).is_ascii_digit() => {}
            _ => {
                types.push(name);
                continue;
            }
        }
        let size = type_size(&start, &types, pointer)?;
        return Ok((Place::Variable(memory.variable(name)), size));
    }
}

/// `0:r1`, `P0:r1`, `0:%r1`.
pub(crate) fn register<'a>(cursor: &mut Cursor<'a>) -> Result<Option<(usize, &'a str)>, Diagnostic> {
    cursor.skip()?;
    let rest = cursor.rest();
    let digits = rest.strip_prefix('P').unwrap_or(rest);
    let length = digits.len() - digits.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after = digits[length..].trim_start();
    if length == 0 || !after.starts_with(':') {
        return Ok(None);
    }
    let Ok(thread) = digits[..length].parse::<usize>() else {
        return Err(cursor.expected("the number of a thread"));
    };
    cursor.at += rest.len() - after.len() + 1;
    let name = cursor.word_with(|c| matches!(c, '%' | '$' | '.'))?;
    match name {
        Some(name) => Ok(Some((thread, name))),
        None => Err(cursor.expected("the name of a register")),
    }
}

/// `[x]`.
pub(crate) fn bracketed<'a>(cursor: &mut Cursor<'a>) -> Result<Option<&'a str>, Diagnostic> {
    let before = cursor.at;
    if !cursor.eat("[")? {
        return Ok(None);
    }
    match name(cursor)? {
        Some(name) if cursor.eat("]")? => Ok(Some(name)),
        _ => {
            cursor.at = before;
            Err(cursor.expected("a variable in brackets"))
        }
    }
}

/// The name of a variable. A `/` belongs to it unless it begins `/\`.
pub(crate) fn name<'a>(cursor: &mut Cursor<'a>) -> Result<Option<&'a str>, Diagnostic> {
    cursor.skip()?;
    let rest = cursor.rest();
    if !rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.' | '$')) {
        return Ok(None);
    }
    let length = rest.len() - rest.trim_start_matches(|c| is_word(c) || matches!(c, '.' | '$')).len();
    cursor.at += length;
    Ok(Some(&rest[..length]))
}

/// `1`, `-1`, `0xff`, `x`, `&x`, `x[1]`.
pub(crate) fn value(cursor: &mut Cursor<'_>, memory: &mut Memory) -> Result<Initial, Diagnostic> {
    if let Some(value) = cursor.number()? {
        if cursor.peek()? == b':' {
            return Err(cursor.error("a code label as a value is not supported"));
        }
        return Ok(Initial::Int(value));
    }
    let _ = cursor.eat("&")? || cursor.eat("*")?;
    let name = match bracketed(cursor)? {
        Some(name) => name,
        None => match name(cursor)? {
            Some(name) => name,
            None => return Err(cursor.expected("a value: a number or a variable")),
        },
    };
    let variable = memory.variable(name);
    let mut index = 0;
    if cursor.byte() == b'[' {
        cursor.at += 1;
        index = match cursor.number()? {
            Some(index) if index >= 0 => index as u64,
            _ => return Err(cursor.expected("an index")),
        };
        cursor.expect("]")?;
        if index >= memory.variables[variable].elements.unwrap_or(1) {
            return Err(cursor.error(format!("'{name}' has no element {index}")));
        }
    }
    match cursor.peek()? {
        b':' | b'+' => Err(cursor.expected("the end of the value")),
        _ => Ok(Initial::Address { variable, index }),
    }
}

fn type_size(cursor: &Cursor<'_>, types: &[&str], pointer: bool) -> Result<Option<u8>, Diagnostic> {
    if pointer {
        return Ok(Some(8));
    }
    let mut size = None;
    for word in types {
        size = match *word {
            "const" | "volatile" | "_Atomic" | "unsigned" | "signed" | "struct" => size,
            "char" | "int8_t" | "uint8_t" => Some(1),
            "short" | "int16_t" | "uint16_t" => Some(2),
            "int" | "int32_t" | "uint32_t" | "atomic_int" | "atomic_t" => Some(4),
            "long" | "int64_t" | "uint64_t" | "intptr_t" | "uintptr_t" => Some(8),
            "spinlock_t" | "mtx_t" | "mutex" | "srcu_struct" | "__int128" | "__uint128" | "__int128_t"
            | "__uint128_t" => Some(8),
            other => return Err(cursor.error(format!("type '{other}' is not supported"))),
        };
    }
    Ok(size)
}
