//! For people: a diagnostic in the source, then the execution, one column per thread.

use super::hints;
use crate::explain;
use crate::fold::{Row, fold};
use crate::paint::{Paint, Snippet, extent};
use miette::{LabeledSpan, NamedSource};
use porf::names::is_library;
use porf::trace::{StackFrame, Trace, TraceEvent};
use porf::{Answer, Difference, Estimate, Found, Model, Reduction, Related, Shown, source};
use porf_event::{EventId, ThreadId};
use porf_verdict::{Checks, Verdict, Violation, ViolationKind};
use std::fmt::Write;

/// The whole answer. `read` gives the text of a source file.
pub fn text(answer: &Answer, paint: Paint, width: usize, read: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    match &answer.verdict {
        Verdict::Safe(coverage) => {
            // A race is an error of the language, not of a machine.
            let races = match answer.model.entry().machine() {
                Some(_) => "; data races are not looked for",
                None => "",
            };
            let _ = writeln!(
                out,
                "{} under {}: {coverage}{races}{}",
                paint.good("safe"),
                answer.model,
                looked_for(answer.checks)
            );
        }
        Verdict::Inconclusive(limit) => {
            let _ = writeln!(out, "{} under {}: {limit}", paint.wrap("33", "inconclusive"), answer.model);
        }
        Verdict::Violated(violation) => {
            let count = answer.found.len();
            let what = match count {
                0 | 1 => violation.kind.word().to_string(),
                _ => format!("{count} violations"),
            };
            let _ = writeln!(out, "{} under {}: {what}", paint.bad("violated"), answer.model);
            for (at, Found { violation, shown }) in answer.found.iter().enumerate() {
                if count > 1 {
                    let _ = writeln!(out, "\n{} of {count}: {}", at + 1, violation.kind.word());
                }
                let Some(shown) = shown else {
                    let _ = writeln!(out, "  {}", violation.message);
                    continue;
                };
                let help = if at == 0 { hints::help(answer) } else { None };
                diagnostic(&mut out, violation, shown, help, paint, width, read);
                let _ = writeln!(out, "how it happens:\n");
                columns(&mut out, &shown.trace, &shown.marked, paint, width);
                out.push('\n');
                if let Some(why) = &shown.why {
                    out.push_str(&paint.shown(&explain::text(why, &shown.trace)));
                    if let Some((suggestion, why)) = &shown.repaired {
                        let _ = writeln!(out, "with {suggestion}:");
                        out.push_str(&paint.shown(&explain::text(why, &shown.trace)));
                    }
                    out.push('\n');
                }
            }
            if let Some(limit) = &answer.unfinished {
                let _ = writeln!(out, "there may be more violations: {limit}");
            }
        }
    }
    let _ = writeln!(
        out,
        "{}, {} blocked, {} events; front end {:.3} s, exploration {:.3} s",
        executions(answer),
        answer.blocked,
        answer.events,
        answer.seconds.frontend,
        answer.seconds.explore
    );
    let reduced = answer.reduced.iter().filter(|(reduction, _)| *reduction != Reduction::Symmetry);
    let reduced: Vec<String> = reduced.map(|(reduction, times)| format!("{reduction} {times}")).collect();
    if !reduced.is_empty() {
        let _ = writeln!(out, "cut short: {}", reduced.join(", "));
    }
    out
}

/// How many executions were visited, and how many there are if the order of interchangeable threads counts.
pub(super) fn executions(answer: &Answer) -> String {
    let visited = answer.executions;
    match answer.reduced.by(Reduction::Symmetry) {
        0 => format!("{visited} execution{}", if visited == 1 { "" } else { "s" }),
        others => format!("{visited} of about {} executions, up to symmetry", visited.saturating_add(others)),
    }
}

/// What was looked for, if the user did not leave that to Porf.
fn looked_for(checks: Checks) -> String {
    if checks == Checks::default() || checks == Checks::ALL {
        return String::new();
    }
    let kinds: Vec<&str> =
        ViolationKind::ALL.into_iter().filter(|kind| checks.has(*kind)).map(ViolationKind::word).collect();
    format!("; looked for: {}", kinds.join(", "))
}

/// What `verify --against` prints.
pub fn difference_text(
    model: Model,
    against: Model,
    difference: &Difference,
    paint: Paint,
    width: usize,
) -> String {
    let Difference { allowed, forbidden, witness, why, limit } = difference;
    if let Some(limit) = limit {
        return format!("inconclusive under {model}: {limit}\n");
    }
    let plural = if *allowed == 1 { "" } else { "s" };
    let mut out =
        format!("{forbidden} of {allowed} execution{plural} under {model} are forbidden by {against}\n");
    if let Some(trace) = witness {
        out.push_str("one of them:\n\n");
        columns(&mut out, trace, &[], paint, width);
        if let Some((_, second)) = why {
            out.push('\n');
            out.push_str(&paint.shown(&explain::text(second, trace)));
        }
    }
    out
}

/// What `verify --estimate` prints.
pub fn estimate_text(estimate: &Estimate) -> String {
    let Estimate { executions, standard_error, interval: (low, high), blocked } = estimate;
    let plural = if executions.round() == 1.0 { "" } else { "s" };
    if *standard_error == 0.0 {
        return format!("{executions:.0} execution{plural}, {blocked:.0} blocked: exact, all were visited\n");
    }
    format!(
        "about {executions:.0} execution{plural}, probably between {low:.0} and {high:.0}; about {blocked:.0} blocked\n"
    )
}

fn diagnostic(
    out: &mut String,
    violation: &Violation,
    shown: &Shown,
    help: Option<String>,
    paint: Paint,
    width: usize,
    read: &dyn Fn(&str) -> Option<String>,
) {
    let main = located(&violation.message, &shown.stack, read);
    let mut all = vec![Snippet { help, ..main }];
    for Related { message, stack } in &shown.related {
        let (Some(here), Some(there)) = (shown.source(), source(stack)) else { continue };
        // In the same file it is a second label of the same snippet.
        if here.location.file == there.location.file {
            let text = all[0].source.as_ref().map(NamedSource::inner);
            if let Some(span) = text.and_then(|text| extent(text, &there.location, 0)) {
                all[0].labels.push(LabeledSpan::new_with_span(Some(message.clone()), span));
            }
        } else {
            all.push(located(message, stack, read));
        }
    }
    for snippet in &all {
        out.push_str(&snippet.render(paint, Some(width)));
    }
    calls(out, "called from", &shown.stack, paint);
    for related in &shown.related {
        calls(out, &format!("{}, called from", related.message), &related.stack, paint);
    }
}

/// A stack of calls, those inside a library counted only; nothing if it says no more than the snippet.
fn calls(out: &mut String, what: &str, stack: &[StackFrame], paint: Paint) {
    let last = stack.iter().rposition(|frame| !is_library(frame));
    let stack = last.map_or(stack, |last| &stack[..=last]);
    if stack.iter().filter(|frame| !is_library(frame)).count() < 2 {
        return;
    }
    let _ = writeln!(out, "{what}:");
    for group in stack.chunk_by(|a, b| is_library(a) && is_library(b)) {
        let frame = &group[0];
        if !is_library(frame) {
            let _ = writeln!(out, "    {} at {}", frame.function, frame.location);
        } else if group.iter().any(|frame| frame.location.line > 0) {
            let _ =
                writeln!(out, "    {} {}", paint.shown("…"), plural(group.len(), "call", "inside a library"));
        }
    }
}

/// A column narrower than this says too little.
const NARROWEST: usize = 18;

/// The events, top to bottom in an order that explains them, each in its thread's column; one below the other where
/// the terminal is too narrow for that.
pub(crate) fn columns(out: &mut String, trace: &Trace, marked: &[EventId], paint: Paint, width: usize) {
    let count = trace.threads.len().max(1);
    let column = |thread: ThreadId| trace.threads.iter().position(|known| known.id == thread).unwrap_or(0);
    let rows: Vec<(String, usize, String, bool)> = fold(trace, marked)
        .iter()
        .map(|row| match row {
            Row::Event(event) => {
                let text = paint.shown(&cell(event, marked));
                (event.id.to_string(), column(event.id.thread), text, marked.contains(&event.id))
            }
            Row::Folded { thread, events } => {
                (String::new(), column(*thread), paint.shown(&folded(events)), false)
            }
        })
        .collect();
    let room = width.saturating_sub(8);
    let narrow = room < count * NARROWEST;
    let longest = rows.iter().map(|(_, _, text, _)| text.chars().count()).max().unwrap_or(0);
    // Columns share the width; long cells get at least a readable part of it.
    let each = if narrow { 0 } else { (room / count).clamp(NARROWEST, longest.max(NARROWEST) + 2) };
    let name = |thread: &porf::trace::TraceThread| format!("{} {}", thread.id, thread.name);
    if !narrow {
        let mut header = String::from("        ");
        for thread in &trace.threads {
            let _ = write!(header, "{:each$}", clip(&paint.shown(&name(thread)), each - 1, paint));
        }
        let _ = writeln!(out, "{}", header.trim_end());
    }
    let mut last = None;
    for (id, column, text, is_marked) in rows {
        if narrow && last.replace(column) != Some(column) {
            let title = trace.threads.get(column).map_or(String::new(), name);
            let _ = writeln!(out, "        {}", paint.strong(&clip(&paint.shown(&title), room, paint)));
        }
        let room = width.saturating_sub(8 + column * each);
        let text = if column + 1 == count && !narrow { text } else { clip(&text, room, paint) };
        let text = if is_marked { paint.bad(&text) } else { text };
        let _ = writeln!(out, "{id:7} {:indent$}{text}", "", indent = column * each);
    }
}

/// An event with its line, and where it reads from.
fn cell(event: &TraceEvent, marked: &[EventId]) -> String {
    let mark = if marked.contains(&event.id) { "► " } else { "" };
    let line = event.source().map_or(String::new(), |frame| match is_library(frame) {
        false => format!("{}: ", frame.location.line),
        true => "lib: ".to_string(),
    });
    let from = event.rf.map_or(String::new(), |source| format!(" ← {source}"));
    format!("{mark}{line}{}{from}", event.describe())
}

/// Events that are only counted, with their line if they have one in common.
fn folded(events: &[TraceEvent]) -> String {
    let place = |event: &TraceEvent| {
        event.source().filter(|frame| !is_library(frame)).map(|frame| frame.location.line)
    };
    let line =
        events.first().and_then(place).filter(|line| events.iter().all(|event| place(event) == Some(*line)));
    let line = line.map_or(String::new(), |line| format!("{line}: "));
    format!("{line}… {}", plural(events.len(), "event", "left out"))
}

/// `1 event here`, `2 events here`.
fn plural(count: usize, what: &str, rest: &str) -> String {
    format!("{count} {what}{} {rest}", if count == 1 { "" } else { "s" })
}

fn clip(text: &str, width: usize, paint: Paint) -> String {
    if text.chars().count() <= width {
        return text.to_string();
    }
    let dots = paint.shown("…");
    text.chars().take(width.saturating_sub(dots.chars().count())).chain(dots.chars()).collect()
}

/// A message about the place of a stack, with its lines if the file can be read.
fn located(message: &str, stack: &[StackFrame], read: &dyn Fn(&str) -> Option<String>) -> Snippet {
    let frame = source(stack);
    let text = frame.and_then(|frame| read(&frame.location.file));
    let message = match (frame, &text) {
        (Some(frame), None) => format!("{message} ({})", frame.location),
        _ => message.to_string(),
    };
    let (labels, source) = match frame.zip(text) {
        Some((frame, text)) => {
            let here = extent(&text, &frame.location, 0);
            let label = |span| LabeledSpan::new_primary_with_span(Some("here".to_string()), span);
            let source = NamedSource::new(&frame.location.file, text).with_language("C");
            (here.map(label).into_iter().collect(), Some(source))
        }
        None => (Vec::new(), None),
    };
    Snippet { message, help: None, labels, source }
}
