//! Expressions as the source file has them, where debug information gives no names: `r.slot(2).seq` of
//! `r.slot(2).seq.store(1, Relaxed)`, `get()->tail` of `atomic_load(&get()->tail)`.
//!
//! Of plain accesses debug information often knows the member, but not the pointer: that is found in front of the
//! member (`q` of `q->slots[i].value = 7`). Rust's `*r.slot.get() = 7` has a name where it begins.
//!
//! Limits: one line is looked at. An index of an atomic object stays as it is written. Where the file is not there any
//! more, or has changed, there is no name or an old one.

/// Longer expressions help nobody.
const LONGEST: usize = 60;

/// The object of the atomic operation at a place of a file, lines and columns from 1.
pub fn at(file: &str, line: u32, column: u32) -> Option<String> {
    object(&line_of(file, line)?, column)
}

/// The plain access at such a place, of which `.member…` is known.
pub fn member_at(file: &str, line: u32, column: u32, known: &str) -> Option<String> {
    member(&line_of(file, line)?, column, known)
}

/// What a pointer of Rust is made from that is followed at such a place.
pub fn followed_at(file: &str, line: u32, column: u32) -> Option<String> {
    followed(&line_of(file, line)?, column)
}

fn line_of(file: &str, line: u32) -> Option<String> {
    let source = std::fs::read_to_string(file).ok()?;
    source.lines().nth(line.checked_sub(1)? as usize).map(str::to_string)
}

/// What stands in front of a column, and from there on.
fn split(line: &str, column: u32) -> Option<(&str, &str)> {
    Some(line.split_at(line.char_indices().nth(column.checked_sub(1)? as usize)?.0))
}

/// The pointer in front of the first member of `known`, with that. An assignment is at its operator, a use at the last
/// member.
fn member(line: &str, column: u32, known: &str) -> Option<String> {
    let (before, here) = split(line, column)?;
    let first = word(known.strip_prefix('.')?);
    let text = match before.ends_with(['.', '>']) {
        true => &line[..before.len() + word(here).len()],
        false => before.trim_end(),
    };
    let whole = receiver(text);
    let joined = |between: &str| {
        let at = whole.find(&format!("{between}{first}"))?;
        let after = &whole[at + between.len() + first.len()..];
        let ends = !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        (ends && at > 0).then(|| format!("{}{between}{}", &whole[..at], &known[1..]))
    };
    joined("->").or_else(|| joined(".")).filter(|text| text.len() <= LONGEST)
}

/// `r.slots[2].value` of `*r.slots[2].value.get()`, `*p` of `*p`.
fn followed(line: &str, column: u32) -> Option<String> {
    let (_, here) = split(line, column)?;
    let here = here.strip_prefix('*')?;
    let mut depth = 0;
    let end = here.char_indices().find_map(|(at, c)| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' if depth == 0 => return Some(at),
            ')' | ']' => depth -= 1,
            _ if depth > 0 || c.is_alphanumeric() || matches!(c, '_' | '.' | ':') => {}
            _ => return Some(at),
        }
        None
    });
    let whole = &here[..end.unwrap_or(here.len())];
    let cell = whole.strip_suffix(".get()").or_else(|| whole.strip_suffix(".get_mut()"));
    let text = cell.map_or_else(|| format!("*{whole}"), str::to_string);
    (!whole.is_empty() && text.len() <= LONGEST).then_some(text)
}

/// The object of the operation in a line whose call, or whose whole expression, begins at a column.
fn object(line: &str, column: u32) -> Option<String> {
    let (before, here) = split(line, column)?;
    let name = word(here);
    let text = match before.strip_suffix('.').or_else(|| before.strip_suffix("->")) {
        Some(before) if is_call(here) => receiver(before).to_string(),
        // What a macro contains is all at its own place: one operation must be the only one.
        None if is_call(here) && !calls(&here[name.len()..]) => argument(&here[name.len() + 1..])?,
        _ => {
            let dots = here.match_indices('.').map(|(at, _)| (at, at + 1));
            let arrows = here.match_indices("->").map(|(at, _)| (at, at + 2));
            let (end, _) = dots.chain(arrows).filter(|(_, after)| is_call(&here[*after..])).min()?;
            // What stands before it must be one expression.
            Some(&here[..end]).filter(|text| receiver(text) == *text)?.to_string()
        }
    };
    (!text.is_empty() && text.len() <= LONGEST).then_some(text)
}

/// Whether an operation on an atomic object is called here.
fn is_call(text: &str) -> bool {
    const METHODS: [&str; 12] = [
        "load",
        "store",
        "swap",
        "exchange",
        "compare_exchange",
        "compare_exchange_weak",
        "compare_exchange_strong",
        "compare_and_swap",
        "test_and_set",
        "clear",
        "wait",
        "test",
    ];
    let name = word(text);
    let starts = ["fetch_", "atomic_", "__atomic_", "__c11_atomic_"];
    text[name.len()..].starts_with('(')
        && (METHODS.contains(&name) || starts.iter().any(|start| name.starts_with(start)))
}

/// Whether an operation is called somewhere in a text.
fn calls(text: &str) -> bool {
    let is_inside = |at: usize| text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    text.char_indices().any(|(at, _)| !is_inside(at) && is_call(&text[at..]))
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The expression that a text ends with.
fn receiver(text: &str) -> &str {
    let (mut depth, mut start) = (0, text.len());
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' | ']' => depth += 1,
            '(' | '[' if depth == 0 => break,
            '(' | '[' => depth -= 1,
            _ if depth > 0 => {}
            '>' if text[..at].ends_with('-') => {}
            '-' if text[at..].starts_with("->") => {}
            c if c.is_alphanumeric() || matches!(c, '_' | '.' | ':') => {}
            _ => break,
        }
        start = at;
    }
    &text[start..]
}

/// What the first argument of a call, a pointer, points to.
fn argument(text: &str) -> Option<String> {
    let mut depth = 0;
    let end = text.char_indices().find_map(|(at, c)| {
        match c {
            ',' | ')' if depth == 0 => return Some(at),
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        None
    })?;
    let argument = text[..end].trim();
    match argument.strip_prefix('&') {
        Some(object) => Some(object.trim().to_string()),
        None => (word(argument) == argument).then(|| format!("*{argument}")),
    }
}

#[cfg(test)]
mod tests {
    use super::{followed, member, object};

    /// `column` is where the `^` stands.
    fn at(line: &str, mark: &str) -> Option<String> {
        object(line, mark.find('^').expect("a mark") as u32 + 1)
    }

    #[test]
    fn objects_of_methods() {
        assert_eq!(at("r.slot(2).seq.store(1)", "              ^").as_deref(), Some("r.slot(2).seq"));
        assert_eq!(
            at("if q->slots[i].seq.load(acq)", "                   ^").as_deref(),
            Some("q->slots[i].seq")
        );
        assert_eq!(at("f(self.head.load(a), b)", "            ^").as_deref(), Some("self.head"));
        // The whole expression begins there.
        assert_eq!(at("  get().top.store(p);", "  ^").as_deref(), Some("get().top"));
        assert_eq!(at("  a + b.load();", "  ^"), None);
        // Not an atomic object: what is accessed is somewhere inside.
        assert_eq!(at("ring.clone()", "     ^"), None);
    }

    #[test]
    fn members_of_what_debug_information_does_not_name() {
        let at = |line: &str, mark: &str, known: &str| {
            member(line, mark.find('^').expect("a mark") as u32 + 1, known)
        };
        let line = "  q->slots[i].value = 7;";
        assert_eq!(
            at(line, "                    ^", ".slots[2].value").as_deref(),
            Some("q->slots[2].value")
        );
        assert_eq!(at("return get(a)->n.x;", "                 ^", ".n.x").as_deref(), Some("get(a)->n.x"));
        // Another member, or none in front of it.
        assert_eq!(at(line, "                    ^", ".slot"), None);
        assert_eq!(at("x = 7;", "  ^", ".x"), None);
    }

    #[test]
    fn what_pointers_of_rust_are_made_from() {
        assert_eq!(followed("*q.slots[2].value.get() = 7", 1).as_deref(), Some("q.slots[2].value"));
        assert_eq!(followed("assert_eq!(unsafe { *r.get() }, 7)", 21).as_deref(), Some("r"));
        assert_eq!(followed("*p += 1", 1).as_deref(), Some("*p"));
        assert_eq!(followed("p.x = 1", 1), None);
    }

    #[test]
    fn objects_of_functions() {
        assert_eq!(at("atomic_load(&get()->tail)", "^").as_deref(), Some("get()->tail"));
        assert_eq!(at("x = load(&a[i].turn, acq);", "    ^").as_deref(), Some("a[i].turn"));
        assert_eq!(at("store(p, 1, rel)", "^").as_deref(), Some("*p"));
        assert_eq!(at("store(f(x), 1)", "^"), None);
        assert_eq!(at("store(&x, load(&y, acq), rel)", "^"), None);
        assert_eq!(at("x = 1;", "^"), None);
        assert_eq!(at("é.load()", "  ^").as_deref(), Some("é"));
    }
}
