//! Suggestions as a patch of the user's text.
//!
//! The compiler says where a call begins. What stands there is read as a call with arguments: an ordering
//! among them is replaced; a call without one gets one (`atomic_store(…)` becomes
//! `atomic_store_explicit(…, memory_order_release)`). Operators (`x++`), macros with other names and
//! whatever else does not look like that stay as they are, and are listed. So do new fences in Rust.

use porf::{Side, Suggestion};
use porf_ir::{MemoryOrder, Operation};
use porf_verdict::Lines;
use similar::TextDiff;
use std::collections::BTreeMap;
use std::ops::Range;

/// A patch and what it leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// A unified diff of all files.
    pub diff: String,
    /// Suggestions that could not be written into the text.
    pub left: Vec<Suggestion>,
}

/// Writes suggestions into the text. `read` gives the text of a source file.
pub fn patch(suggestions: &[Suggestion], read: &dyn Fn(&str) -> Option<String>) -> Patch {
    let mut files: BTreeMap<&str, Vec<&Suggestion>> = BTreeMap::new();
    for suggestion in suggestions {
        files.entry(&suggestion.place.location.file).or_default().push(suggestion);
    }
    let mut patch = Patch::default();
    for (file, suggestions) in files {
        let Some(text) = read(file) else {
            patch.left.extend(suggestions.into_iter().cloned());
            continue;
        };
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for suggestion in suggestions {
            match edit(&text, suggestion) {
                Some(mut found) => edits.append(&mut found),
                None => patch.left.push(suggestion.clone()),
            }
        }
        edits.sort_by_key(|(range, _)| range.start);
        let mut changed = text.clone();
        for (range, new) in edits.into_iter().rev() {
            changed.replace_range(range, &new);
        }
        let diff = TextDiff::from_lines(&text, &changed);
        patch.diff.push_str(&diff.unified_diff().header(file, file).to_string());
    }
    patch
}

/// The edits of the text that a suggestion asks for.
fn edit(text: &str, suggestion: &Suggestion) -> Option<Vec<(Range<usize>, String)>> {
    let location = &suggestion.place.location;
    let start = Lines::new(text).offset(location.line, location.column)?;
    if let Some((side, _)) = suggestion.place.gap {
        // A fence of Rust needs a path that the file may not have in scope.
        return if is_rust(suggestion) { None } else { fence(text, start, side, suggestion.order) };
    }
    let call = Call::at(text, start)?;
    if (suggestion.place.operation, suggestion.order) == (Operation::Fence, MemoryOrder::Relaxed) {
        let end = call.close + 1 + text.get(call.close + 1..)?.find(';')?;
        let between = &text[call.close + 1..end];
        return between.trim().is_empty().then(|| vec![(call.name.start..end + 1, String::new())]);
    }
    let failure = suggestion.place.operation == Operation::Failure;
    let within = call.open + 1..call.close;
    if is_rust(suggestion) {
        // Rust has no call without an ordering.
        let order = rust_orders(text, within).into_iter().nth(usize::from(failure))?;
        return Some(vec![(
            order,
            suggestion.order.rust_name().trim_start_matches("Ordering::").to_string(),
        )]);
    }
    let new = suggestion.order.name().trim_start_matches("memory_order_");
    let orders = orders(text, within);
    if let Some(order) = orders.get(usize::from(failure)) {
        return Some(vec![(order.clone(), new.to_string())]);
    }
    // A call without an ordering is seq_cst; with one, a compare-and-swap's failure follows from it.
    if !orders.is_empty() || failure {
        return None;
    }
    let name = &text[call.name.clone()];
    let member = text[..call.name.start].ends_with(['.', '>']);
    let arguments = text.get(call.open + 1..call.close)?;
    let comma = if arguments.trim().is_empty() { "" } else { ", " };
    match member {
        true => Some(vec![(call.close..call.close, format!("{comma}std::memory_order_{new}"))]),
        false if name.starts_with("atomic_") && !name.ends_with("_explicit") && !name.contains("compare") => {
            Some(vec![
                (call.name.end..call.name.end, "_explicit".to_string()),
                (call.close..call.close, format!("{comma}memory_order_{new}")),
            ])
        }
        false => None,
    }
}

fn is_rust(suggestion: &Suggestion) -> bool {
    suggestion.place.location.file.ends_with(".rs")
}

/// The orderings among the arguments of a call in Rust, with or without `Ordering::` before them.
fn rust_orders(text: &str, within: Range<usize>) -> Vec<Range<usize>> {
    const NAMES: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
    let arguments = &text[within.clone()];
    arguments
        .split(|c: char| !is_word(c))
        .filter(|word| NAMES.contains(word))
        .map(|word| {
            let start = within.start + (word.as_ptr() as usize - arguments.as_ptr() as usize);
            start..start + word.len()
        })
        .collect()
}

/// A new fence beside the statement around a place, if that is a simple one: what stands in a condition, a
/// loop's head or a `return` has no place right before or after it.
fn fence(text: &str, at: usize, side: Side, order: MemoryOrder) -> Option<Vec<(Range<usize>, String)>> {
    let blanks = |from: usize| text[from..].len() - text[from..].trim_start().len();
    let start = text[..at].rfind([';', '{', '}']).map_or(0, |end| end + 1);
    let start = start + blanks(start);
    let end = at + text[at..].find(';')? + 1;
    let statement = &text[start..end];
    let mut words = statement.split(|c: char| !is_word(c));
    if words.any(|word| matches!(word, "if" | "else" | "while" | "for" | "do" | "return" | "switch" | "case"))
    {
        return None;
    }
    let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let indent = if text[line..start].trim().is_empty() { &text[line..start] } else { "" };
    let std = if statement.contains("std::") { "std::" } else { "" };
    let fence = format!("{std}atomic_thread_fence({std}{order});");
    Some(vec![match side {
        Side::Before => (start..start, format!("{fence}\n{indent}")),
        Side::After => (end..end, format!("\n{indent}{fence}")),
    }])
}

/// The orderings among the arguments of a call: what stands behind `memory_order_` or `memory_order::`.
fn orders(text: &str, within: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = within.start;
    while let Some(next) = text[at..within.end].find("memory_order") {
        let rest = at + next + "memory_order".len();
        let skipped = ["::", "_"].iter().find(|prefix| text[rest..within.end].starts_with(**prefix));
        at = rest;
        if let Some(prefix) = skipped {
            let start = rest + prefix.len();
            let length = text[start..within.end].find(|c: char| !is_word(c)).unwrap_or(within.end - start);
            found.push(start..start + length);
            at = start + length;
        }
    }
    found
}

/// A call in the text: its name, and where its arguments begin and end.
struct Call {
    name: Range<usize>,
    open: usize,
    close: usize,
}

impl Call {
    /// The call at a place. The name may be qualified: `std::atomic_thread_fence`, `q.head.load`; the last
    /// part is its name.
    fn at(text: &str, start: usize) -> Option<Call> {
        let rest = text.get(start..)?;
        let end = start + rest.find(|c: char| !is_word(c) && !matches!(c, ':' | '.'))?;
        let whole = &text[start..end];
        let name = start + whole.rfind([':', '.']).map_or(0, |last| last + 1);
        let open = end + text[end..].find(|c: char| !c.is_whitespace())?;
        if name == end || !text[open..].starts_with('(') {
            return None;
        }
        let mut depth = 0;
        for (at, c) in text[open..].char_indices() {
            match c {
                '(' => depth += 1,
                ')' if depth == 1 => return Some(Call { name: name..end, open, close: open + at }),
                ')' => depth -= 1,
                _ => {}
            }
        }
        None
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, edits: Option<Vec<(Range<usize>, String)>>) -> Option<String> {
        let mut text = text.to_string();
        for (range, new) in edits?.into_iter().rev() {
            text.replace_range(range, &new);
        }
        Some(text)
    }

    #[test]
    fn a_fence_goes_beside_simple_statements_only() {
        let text = "{\n    a = 1;\n    r = load(x);\n    if (load(y)) f();\n}\n";
        let at = |word: &str| text.find(word).unwrap();
        let before = edited(text, fence(text, at("load(x)"), Side::Before, MemoryOrder::SeqCst));
        let line = "    atomic_thread_fence(memory_order_seq_cst);\n";
        assert_eq!(before, Some(text.replace("    r =", &format!("{line}    r ="))));
        let after = edited(text, fence(text, at("load(x)"), Side::After, MemoryOrder::SeqCst));
        assert_eq!(after, Some(text.replace("    if", &format!("{line}    if"))));
        assert_eq!(fence(text, at("load(y)"), Side::Before, MemoryOrder::SeqCst), None);
    }

    #[test]
    fn orderings_of_rust_are_found_among_arguments() {
        let text = "x.compare_exchange(Released, 1, Ordering::AcqRel, Relaxed)";
        let found: Vec<&str> =
            rust_orders(text, 19..text.len() - 1).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["AcqRel", "Relaxed"]);
    }

    #[test]
    fn orderings_are_found_among_arguments() {
        let text = "f(memory_order_relaxed, std::memory_order::acquire, x)";
        let found: Vec<&str> =
            orders(text, 2..text.len() - 1).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["relaxed", "acquire"]);
    }
}
