//! What things are called in the user's program: functions, objects, addresses, places.

use crate::trace::{StackFrame, stack};
use crate::written;
use porf_event::{EventId, Value, wide};
use porf_interp::ThreadState;
use porf_ir::{FunctionId, Program, Region, Target, Written, layout};
use std::collections::HashMap;

/// The names of objects that an execution makes, and of those that the program has from the start.
pub struct Names<'p> {
    program: &'p Program,
    /// Variables on a stack, by the event that makes them.
    variables: HashMap<EventId, &'p str>,
}

impl<'p> Names<'p> {
    /// The names that the program has from the start.
    pub fn new(program: &'p Program) -> Names<'p> {
        Names { program, variables: HashMap::new() }
    }

    /// An event makes the variable `name`.
    pub fn add_variable(&mut self, event: EventId, name: &'p str) {
        self.variables.insert(event, name);
    }

    /// The cell at an address: `x`, `buffer[3]`, `heap(T1.2)+8`.
    pub fn location(&self, address: u64, size: u8) -> String {
        let variable =
            layout::allocation(address).and_then(|event| Some((event, self.variables.get(&event)?)));
        let Some((event, name)) = variable else {
            return readable(&self.program.name_of(address, size));
        };
        let alone = self.variables.values().filter(|other| *other == name).count() == 1;
        let name = if alone { (*name).to_string() } else { format!("{name}({event})") };
        match layout::offset(address).saturating_sub(layout::FIRST_OFFSET) {
            0 => name,
            offset => format!("{name}+{offset}"),
        }
    }

    /// The same, as the source writes it if that says more: `q->tail`, `slots[2].seq`. `written` is what
    /// [`written`] gives.
    pub(crate) fn expression(&self, written: &str, address: u64, size: u8) -> String {
        let plain = self.location(address, size);
        let named = plain.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '[' | ']'));
        let variable = plain.split(['.', '[']).next().unwrap_or_default();
        // A variable by its own name is clearer than a pointer to it.
        if written.is_empty() || (named && !written.starts_with(variable)) {
            return plain;
        }
        let object = || self.location(address - (layout::offset(address) - layout::FIRST_OFFSET), 1);
        match written.strip_prefix(Written::OBJECT) {
            Some(rest) => format!("{}{rest}", object()),
            None => readable(written),
        }
    }

    /// A value: small negative numbers as such, addresses of objects and functions by name.
    pub fn value(&self, value: Value, size: u8) -> String {
        if size > 8 {
            let halves = halves(value).map(|half| self.value(half, 8));
            return format!("{{{}, {}}}", halves[0], halves[1]);
        }
        let plain = number(value, size);
        if size < 8 || value < 1 << 32 || self.program.image.is_none() {
            return plain;
        }
        if let Some(function) = layout::function_at(value) {
            let function = self.program.functions.get(function.0 as usize);
            return function.map_or(plain, |function| format!("&{}", demangled(&function.name)));
        }
        match Region::of(value) {
            Some(Region::Heap | Region::Zeroed | Region::Stack) => format!("&{}", self.location(value, 1)),
            Some(Region::Global | Region::Constant) if self.program.global_at(value).is_some() => {
                let part = self.program.part_at(value, true).map(|part| readable(&part));
                format!("&{}", part.unwrap_or_else(|| self.location(value, 1)))
            }
            _ => plain,
        }
    }
}

/// How the source writes what a thread is about to access, if it is known: at the user's own place, be it inside a
/// method of an atomic object. Where debug information does not know the pointer, the text of the source may.
pub(crate) fn written(
    program: &Program,
    state: &ThreadState,
    address: u64,
    is_atomic: bool,
) -> Option<String> {
    program.image.as_ref()?;
    let own = state.places().zip(stack(program, &state.stack(program)));
    let (place, frame) = own.into_iter().find(|(_, frame)| !is_library(frame))?;
    let known = by_debug_information(program, place, address);
    // A pointer that a call returned has no name there, and members of unions have none.
    let says_more = |text: &String| match &known {
        Some(known) => known.starts_with([Written::OBJECT, '*']) || text.starts_with(known.as_str()),
        None => true,
    };
    let StackFrame { location, .. } = &frame;
    let (file, line, column) = (location.file.as_str(), location.line, location.column);
    if is_atomic {
        return written::at(file, line, column).filter(says_more).or(known);
    }
    match &known {
        Some(text) => match text.strip_prefix(Written::OBJECT) {
            Some(rest) => written::member_at(file, line, column, rest).or(known),
            None => known,
        },
        None if file.ends_with(".rs") => written::followed_at(file, line, column),
        None => None,
    }
}

fn by_debug_information(
    program: &Program,
    (function, at): (FunctionId, Target),
    address: u64,
) -> Option<String> {
    let image = program.image.as_ref()?;
    let (function, file) = (program.function(function), program.function(function).file);
    let span = function.spans.get(at as usize)?;
    let key = (file, span.line, span.column);
    let found = image.written.binary_search_by_key(&key, |one| (one.file, one.line, one.column)).ok()?;
    let Written { text, index, .. } = &image.written[found];
    let Some((before, stride)) = *index else { return Some(text.clone()) };
    // How far from the start of its object it is.
    let start = match program.global_at(address) {
        Some(global) => global.address,
        None => address - layout::offset(address).checked_sub(layout::FIRST_OFFSET)?,
    };
    let index = (address - start).checked_sub(before)?.checked_div(stride)?;
    Some(text.replace(Written::INDEX, &index.to_string()))
}

/// A function as its author calls it.
pub fn demangled(name: &str) -> String {
    if let Some(rust) = rust(name) {
        return rust;
    }
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let symbol = name.starts_with("_Z").then(|| cpp_demangle::Symbol::new(name).ok()).flatten();
    symbol.and_then(|symbol| symbol.demangle(&options).ok()).unwrap_or_else(|| name.to_string())
}

/// A function or variable of Rust, without the hash behind it.
fn rust(name: &str) -> Option<String> {
    // The older mangling is C++'s with a hash as the last part.
    let is_hash = |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let hashed = || {
        let (_, rest) = name.rsplit_once("17h")?;
        Some(name.starts_with("_ZN") && is_hash(rest.get(..16)?) && rest[16..].starts_with('E'))
    };
    if !name.starts_with("_R") && hashed() != Some(true) {
        return None;
    }
    let demangled = rustc_demangle::try_demangle(name).ok()?;
    Some(shortened(&format!("{demangled:#}")))
}

/// What stands in angle brackets only up to a length that is easy to read.
fn shortened(name: &str) -> String {
    const LONGEST: usize = 24;
    let mut short = String::new();
    // Where the brackets that are open begin in `short`.
    let mut open = Vec::new();
    for c in name.chars() {
        match c {
            '<' => open.push(short.len()),
            // `->`
            '>' if !short.ends_with('-') => {
                if let Some(start) = open.pop()
                    && short.len() - start > LONGEST
                    && start > 0
                {
                    short.truncate(start);
                    short.push_str("<…");
                }
            }
            _ => {}
        }
        short.push(c);
    }
    short
}

/// The low and the high half of a value of 16 bytes.
fn halves(number: Value) -> [Value; 2] {
    let bytes = wide::value(number).unwrap_or_default();
    [bytes as Value, (bytes >> 64) as Value]
}

/// A value as people write it, without knowing what it stands for.
pub fn number(value: Value, size: u8) -> String {
    if size > 8 {
        let halves = halves(value).map(|half| number(half, 8));
        return format!("{{{}, {}}}", halves[0], halves[1]);
    }
    let signed = porf_ir::Width::of_bytes(size).signed(value);
    if (-65536..0).contains(&signed) {
        signed.to_string()
    } else if value >= 1 << 32 {
        format!("{value:#x}")
    } else {
        value.to_string()
    }
}

/// The innermost call in the user's own code; in a library, if there is none; `None` if no call has a
/// source line.
pub fn place(stack: &[StackFrame]) -> Option<&StackFrame> {
    let known = |frame: &&StackFrame| frame.location.line > 0;
    let own = stack.iter().filter(known).find(|frame| !is_library(frame));
    own.or_else(|| stack.iter().find(known))
}

/// Whether a call is in code that the user did not write: without a source line, or in a header of
/// the system or the compiler, or in a crate of ours that stands for another.
pub fn is_library(frame: &StackFrame) -> bool {
    let file = frame.location.file.as_str();
    frame.location.line == 0
        || ["/usr/include/", "/usr/lib/", "/usr/bin/"].iter().any(|start| file.starts_with(start))
        || file.starts_with("/rustc/")
        || ["/include/c++/", "/lib/clang/", "/lib/rustlib/src/rust/", "/porf/loom-", "/porf/shuttle-"]
            .iter()
            .any(|part| file.contains(part))
}

/// The name of a global with an index or offset behind it.
fn readable(name: &str) -> String {
    let end = name.find(['[', '+', '.', '-']).unwrap_or(name.len());
    format!("{}{}", demangled(&name[..end]), &name[end..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use porf_verdict::SourceLocation;

    #[test]
    fn names_of_cpp_are_readable() {
        assert_eq!(demangled("_ZN5queue4pushEi"), "queue::push");
        assert_eq!(demangled("main"), "main");
        assert_eq!(demangled("_ZN1a4main17h0123456789abcdefE"), "a::main");
        assert_eq!(demangled("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
        assert_eq!(readable("_ZN5queue5slotsE[3]"), "queue::slots[3]");
    }

    #[test]
    fn own_code_comes_before_the_library() {
        let frame = |file: &str, line| StackFrame {
            function: String::new(),
            location: SourceLocation { file: file.to_string(), line, column: 1 },
        };
        let stack =
            [frame("", 0), frame("/usr/include/c++/12/atomic", 7), frame("a.cpp", 3), frame("b.cpp", 9)];
        assert_eq!(place(&stack), Some(&stack[2]));
        assert_eq!(place(&stack[..2]), Some(&stack[1]));
        assert_eq!(place(&stack[..1]), None);
    }
}
