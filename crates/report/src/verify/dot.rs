//! The execution as a graph for Graphviz: po down each thread, rf between them.

use porf::Found;
use std::fmt::Write;

/// `None` if there is no execution to draw.
pub fn dot(found: &Found) -> Option<String> {
    let shown = found.shown.as_ref()?;
    let mut out = String::from("digraph execution {\n  node [shape=box, fontname=\"monospace\"];\n");
    for thread in &shown.trace.threads {
        let _ = writeln!(
            out,
            "  subgraph \"cluster_{}\" {{\n    label=\"{} {}\";",
            thread.id,
            thread.id,
            escape(&thread.name)
        );
        let mut before = None;
        for event in shown.trace.events.iter().filter(|event| event.id.thread == thread.id) {
            let line = event.source().map_or(String::new(), |frame| format!("{}: ", frame.location.line));
            let mark = if shown.marked.contains(&event.id) { ", color=red, penwidth=2" } else { "" };
            let text = escape(&format!("{line}{}", event.describe()));
            let _ = writeln!(out, "    \"{}\" [label=\"{} {text}\"{mark}];", event.id, event.id);
            if let Some(before) = before.replace(event.id) {
                let _ = writeln!(out, "    \"{before}\" -> \"{}\" [label=\"po\", color=gray];", event.id);
            }
        }
        out.push_str("  }\n");
    }
    for event in &shown.trace.events {
        if let Some(source) = event.rf
            && shown.trace.event(source).is_some()
        {
            let _ = writeln!(out, "  \"{source}\" -> \"{}\" [label=\"rf\", color=darkgreen];", event.id);
        }
    }
    out.push_str("}\n");
    Some(out)
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
