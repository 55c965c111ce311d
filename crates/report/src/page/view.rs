//! One execution of a page.

use crate::explain;
use crate::fold::folded;
use porf::names::is_library;
use porf::trace::{StackFrame, Trace, TraceEvent};
use porf::{Related, Shown, Why, source};
use porf_event::{EventId, Label};
use porf_verdict::SourceLocation;
use serde_json::{Value, json};
use std::collections::HashMap;

/// One execution, or whatever else has places in the source.
#[derive(Default)]
pub(crate) struct View {
    /// What it is called in the list of executions.
    pub name: String,
    /// The heading that it stands under in that list: a model, an outcome.
    pub group: String,
    /// `allowed`, `forbidden`, `violated`, or empty.
    pub tone: &'static str,
    /// What to know of it.
    pub notes: Vec<String>,
    /// The columns: a short name and a long one.
    pub threads: Vec<(String, String)>,
    /// The rows, from the top: `id`, `thread` (the column), `text`, `kind`, and where they are known `file`, `line`,
    /// `rf`, `marked`, `fold`, `stack`, and `detail` (names and values to show when the row is picked).
    pub events: Vec<Value>,
    /// Arrows by relation.
    pub edges: Vec<(&'static str, Vec<(String, String)>)>,
    /// Whether the order of the rows is an interleaving.
    pub interleaves: bool,
    /// Why each model allows or forbids it.
    pub why: Vec<Value>,
    /// Calls: what is there, and the frames.
    pub stacks: Vec<(String, Value)>,
    /// The files whose text is shown, that of the violation first.
    pub files: Vec<String>,
}

impl View {
    /// An execution; `marked` are the events to point out.
    pub fn of(trace: &Trace, marked: &[EventId], whys: &[&Why]) -> View {
        let columns: HashMap<_, _> =
            trace.threads.iter().enumerate().map(|(at, thread)| (thread.id, at)).collect();
        let hidden = folded(trace, marked);
        let mut view = View { interleaves: trace.interleaves, ..View::default() };
        view.threads =
            trace.threads.iter().map(|thread| (thread.id.to_string(), thread.name.clone())).collect();
        for event in &trace.events {
            let mut object = json!({
                "id": event.id.to_string(),
                "thread": columns.get(&event.id.thread),
                "text": event.describe(),
                "kind": kind(&event.label),
            });
            if let Some(access) = event.label.access() {
                object["cell"] = json!(format!("{:x}", access.location.0));
            }
            if let Some(rf) = event.rf {
                object["rf"] = json!(rf.to_string());
            }
            if marked.contains(&event.id) {
                object["marked"] = json!(true);
            }
            if hidden.contains(&event.id) {
                object["fold"] = json!(true);
            }
            if let Some(frame) = event.source() {
                view.place(&mut object, &frame.location, is_library(frame));
            }
            if event.stack.len() > 1 {
                object["stack"] = frames(&event.stack);
            }
            view.events.push(object);
        }
        view.edges = edges(trace, whys.first().copied());
        view.why = whys.iter().map(|why| explain::json_with(why, trace, "")).collect();
        view
    }

    /// How a violation comes about.
    pub fn of_shown(shown: &Shown, why: Option<&Why>) -> View {
        let mut view = View::of(&shown.trace, &shown.marked, why.as_slice());
        view.tone = "violated";
        view.add_stack("here", &shown.stack);
        for Related { message, stack } in &shown.related {
            view.add_stack(message, stack);
        }
        view
    }

    /// Calls that lead to a place.
    pub fn add_stack(&mut self, what: &str, stack: &[StackFrame]) {
        if let Some(frame) = source(stack) {
            self.file(&frame.location.file);
        }
        self.stacks.push((what.to_string(), frames(stack)));
    }

    /// Gives a row its place in the source.
    pub fn place(&mut self, row: &mut Value, at: &SourceLocation, library: bool) {
        if !library {
            self.file(&at.file);
        }
        row["file"] = json!(at.file);
        row["line"] = json!(at.line);
        row["column"] = json!(at.column);
        if library {
            row["library"] = json!(true);
        }
    }

    /// A file to show.
    pub fn file(&mut self, file: &str) {
        if !self.files.iter().any(|known| known == file) {
            self.files.push(file.to_string());
        }
    }

    pub fn file_names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    pub fn json(&self) -> Value {
        let threads = self.threads.iter().map(|(short, long)| json!({ "id": short, "name": long }));
        let edges: serde_json::Map<String, Value> =
            self.edges.iter().map(|(name, pairs)| ((*name).to_string(), json!(pairs))).collect();
        json!({
            "name": self.name,
            "group": self.group,
            "tone": self.tone,
            "notes": self.notes,
            "threads": threads.collect::<Value>(),
            "events": self.events,
            "edges": edges,
            "interleaves": self.interleaves,
            "why": self.why,
            "stacks": self.stacks.iter().map(|(what, frames)| json!({ "what": what, "frames": frames })).collect::<Value>(),
            "files": self.files,
        })
    }
}

/// Calls that have a source line.
pub(crate) fn frames(stack: &[StackFrame]) -> Value {
    let known = stack.iter().filter(|frame| frame.location.line > 0);
    known
        .map(|frame| {
            let SourceLocation { file, line, .. } = &frame.location;
            json!({ "function": frame.function, "file": file, "line": line, "library": is_library(frame) })
        })
        .collect()
}

/// rf, co (from each write to the next), fr (from each read to the next write), sw and hb.
fn edges(trace: &Trace, why: Option<&Why>) -> Vec<(&'static str, Vec<(String, String)>)> {
    let named = |(a, b): &(EventId, EventId)| (a.to_string(), b.to_string());
    let all = |pairs: &[(EventId, EventId)]| pairs.iter().map(named).collect();
    let reads = || trace.events.iter().filter_map(|event| Some((event.rf?, event)));
    let rf: Vec<_> =
        reads().filter(|(from, _)| *from != EventId::INIT).map(|(from, read)| (from, read.id)).collect();
    let mut edges = vec![("rf", all(&rf))];
    if let Some(co) = &trace.co {
        let next: Vec<_> =
            co.iter().flat_map(|order| order.windows(2)).map(|pair| (pair[0], pair[1])).collect();
        let after: HashMap<EventId, EventId> = next.iter().copied().collect();
        let of = |event: &TraceEvent| event.label.access().map(|access| access.location);
        let location: HashMap<_, _> = co
            .iter()
            .filter_map(|order| Some((of(trace.event(*order.first()?)?)?, *order.first()?)))
            .collect();
        let fr: Vec<_> = reads()
            .filter_map(|(from, read)| {
                let write = match from {
                    EventId::INIT => location.get(&of(read)?),
                    from => after.get(&from),
                };
                Some((read.id, *write?))
            })
            .collect();
        edges.extend([("co", all(&next)), ("fr", all(&fr))]);
    }
    if let Some(why) = why {
        edges.extend(why.sw.as_ref().map(|sw| ("sw", all(sw))));
        edges.extend(why.hb.as_ref().map(|hb| ("hb", all(hb))));
    }
    edges
}

fn kind(label: &Label) -> &'static str {
    match label {
        Label::Read { .. } => "read",
        Label::Write { .. } => "write",
        Label::Fence { .. } => "fence",
        Label::Create { .. } | Label::Join { .. } => "thread",
        _ => "other",
    }
}
