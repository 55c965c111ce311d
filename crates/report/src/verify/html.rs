//! The answer as a page of its own: the execution, one column per thread with arrows for rf, beside the
//! source, which follows the pointer; each violation so. One file, nothing is loaded from elsewhere.

use super::fold::{Row, fold};
use super::hints;
use porf::trace::TraceEvent;
use porf::{Answer, Found, Shown};
use porf_event::ThreadId;
use porf_verdict::Verdict;
use std::fmt::Write;

/// `read` gives the text of a source file.
pub fn html(answer: &Answer, read: &dyn Fn(&str) -> Option<String>) -> String {
    let (class, title, message) = match &answer.verdict {
        Verdict::Safe(coverage) => ("safe", format!("safe under {}", answer.model), coverage.to_string()),
        Verdict::Inconclusive(limit) => {
            ("unknown", format!("inconclusive under {}", answer.model), limit.to_string())
        }
        Verdict::Violated(violation) => match answer.found.len() {
            0 | 1 => {
                let title = format!("violated under {}: {}", answer.model, violation.kind.word());
                ("violated", title, violation.message.clone())
            }
            count => {
                let title = format!("violated under {}: {count} violations", answer.model);
                let more = answer.unfinished.as_ref();
                let more = more.map_or(String::new(), |limit| format!("there may be more: {limit}"));
                ("violated", title, more)
            }
        },
    };
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{files}: {title}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width\"><style>\n{css}</style></head><body>\n\
         <h1 class=\"{class}\">{title}</h1>\n<p>{message}</p>\n\
         <p class=\"soft\">{files} · {executions} executions, {blocked} blocked, {events} events</p>\n",
        files = escape(&answer.origin.files.join(" ")),
        title = escape(&title),
        message = escape(&message),
        css = include_str!("page.css"),
        executions = answer.executions,
        blocked = answer.blocked,
        events = answer.events,
    );
    if let Some(help) = hints::help(answer) {
        let _ = writeln!(out, "<p class=\"help\"><b>help:</b> {}</p>", escape(&help));
    }
    for (number, Found { violation, shown }) in answer.found.iter().enumerate() {
        if answer.found.len() > 1 {
            let message = escape(&violation.message);
            let _ = writeln!(out, "<h1>{}. {}</h1>\n<p>{message}</p>", number + 1, violation.kind.word());
        }
        let Some(shown) = shown else { continue };
        let page = Page { shown, number, files: sources(shown) };
        out.push_str("<div class=\"both\"><section><h2>How it happens</h2>\n");
        page.graph(&mut out);
        out.push_str("</section><section>\n");
        for (at, file) in page.files.iter().enumerate() {
            if let Some(text) = read(file) {
                page.source(&mut out, at, file, &text);
            }
        }
        out.push_str("</section></div>\n");
    }
    let _ = write!(out, "<script>\n{}</script></body></html>\n", include_str!("page.js"));
    out
}

/// The user's files that the execution runs through, that of the violation first.
fn sources(shown: &Shown) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    let places = shown.source().into_iter().chain(shown.trace.events.iter().filter_map(TraceEvent::source));
    for frame in places.filter(|frame| !porf::names::is_library(frame)) {
        if !files.contains(&frame.location.file) {
            files.push(frame.location.file.clone());
        }
    }
    files
}

/// One violation of the page.
struct Page<'a> {
    shown: &'a Shown,
    /// Which one it is: part of the names of its lines.
    number: usize,
    files: Vec<String>,
}

impl Page<'_> {
    fn graph(&self, out: &mut String) {
        let trace = &self.shown.trace;
        let columns = trace.threads.len().max(1);
        let _ = writeln!(
            out,
            "<div class=\"graph\" style=\"grid-template-columns: repeat({columns}, max-content)\">\n\
             <svg><defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
             markerHeight=\"7\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"var(--rf)\"/></marker></defs></svg>"
        );
        for (at, thread) in trace.threads.iter().enumerate() {
            let name = escape(&format!("{} {}", thread.id, thread.name));
            let _ = writeln!(out, "<div class=\"thread\" style=\"grid-area: 1 / {}\">{name}</div>", at + 1);
        }
        let column = |thread: ThreadId| {
            trace.threads.iter().position(|known| known.id == thread).map_or(1, |position| position + 1)
        };
        for (at, row) in fold(trace, &self.shown.marked).iter().enumerate() {
            let row_number = at + 2;
            match row {
                Row::Folded { thread, events } => {
                    let _ = writeln!(
                        out,
                        "<div class=\"event folded\" style=\"grid-area: {row_number} / {}\">… {} events left out</div>",
                        column(*thread),
                        events.len()
                    );
                }
                Row::Event(event) => self.cell(out, event, row_number, column(event.id.thread)),
            }
        }
        out.push_str("</div>\n");
    }

    fn cell(&self, out: &mut String, event: &TraceEvent, row: usize, column: usize) {
        let class = if self.shown.marked.contains(&event.id) { "event marked" } else { "event" };
        let (mut rf, mut from) = (String::new(), String::new());
        if let Some(source) = event.rf {
            rf = format!(" data-rf=\"{source}\"");
            from = format!(" <span class=\"from\">← {source}</span>");
        }
        let (mut line, mut hint) = (String::new(), String::new());
        if let Some(frame) = event.source() {
            if let Some(file) = self.files.iter().position(|file| *file == frame.location.file) {
                line = format!(" data-line=\"s{}-{file}-{}\"", self.number, frame.location.line);
            }
            hint = format!(" title=\"{}\"", escape(&format!("{} in {}", frame.location, frame.function)));
        }
        let _ = writeln!(
            out,
            "<div class=\"{class}\" style=\"grid-area: {row} / {column}\" data-id=\"{id}\" \
             data-thread=\"{thread}\"{rf}{line}{hint}><span class=\"id\">{id}</span>{text}{from}</div>",
            id = event.id,
            thread = event.id.thread,
            text = escape(&event.describe()),
        );
    }

    fn source(&self, out: &mut String, at: usize, file: &str, text: &str) {
        let bad: Vec<u32> = std::iter::once(&self.shown.stack)
            .chain(self.shown.related.iter().map(|related| &related.stack))
            .filter_map(|stack| porf::source(stack))
            .filter(|frame| frame.location.file == file)
            .map(|frame| frame.location.line)
            .collect();
        let _ = writeln!(out, "<h2>{}</h2>\n<div class=\"source\">", escape(file));
        for (number, line) in (1u32..).zip(text.lines()) {
            let class = if bad.contains(&number) { " class=\"bad\"" } else { "" };
            let _ = writeln!(
                out,
                "<div id=\"s{}-{at}-{number}\"{class}><span class=\"number\">{number}</span>{}</div>",
                self.number,
                escape(line)
            );
        }
        out.push_str("</div>\n");
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
