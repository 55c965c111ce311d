//! The viewer: one page for a browser, the same for every verb. One file, nothing is loaded from elsewhere.
//!
//! A verb makes a [`Page`]: what it says at the top, the executions that it shows ([`View`]), and the sources. The page
//! carries that as JSON; `page.js` and its neighbours draw it. They are plain JavaScript and are only put together here.

mod view;

pub(crate) use view::{View, frames};

use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A page.
pub(crate) struct Page<'a> {
    /// The verb.
    pub verb: &'a str,
    /// `safe`, `violated`, `inconclusive`, or empty where there is no verdict.
    pub verdict: &'a str,
    /// The first line.
    pub title: String,
    /// What follows it, a paragraph each.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
    /// Numbers and settings: name and value.
    pub facts: Vec<(&'a str, String)>,
    /// The executions to choose from.
    pub views: Vec<View>,
}

impl Page<'_> {
    /// The whole file; `read` gives the text of a source file.
    pub fn html(&self, read: &dyn Fn(&str) -> Option<String>) -> String {
        let files: BTreeSet<&str> = self.views.iter().flat_map(View::file_names).collect();
        let sources: serde_json::Map<String, Value> =
            files.into_iter().filter_map(|file| Some((file.to_string(), read(file)?.into()))).collect();
        let data = json!({
            "verb": self.verb,
            "verdict": self.verdict,
            "title": self.title,
            "notes": self.notes,
            "help": self.help,
            "facts": self.facts,
            "views": self.views.iter().map(View::json).collect::<Value>(),
            "sources": sources,
        });
        // `</script>` in a source would end the data.
        let data = data.to_string().replace('<', "\\u003c");
        let scripts = [
            include_str!("rows.js"),
            include_str!("arrows.js"),
            include_str!("source.js"),
            include_str!("why.js"),
            include_str!("page.js"),
        ];
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
             <style>\n{css}</style></head>\n<body>\n{body}\
             <script type=\"application/json\" id=\"data\">{data}</script>\n<script>\n{scripts}</script>\n</body></html>\n",
            title = escape(&self.title),
            css = include_str!("page.css"),
            body = include_str!("page.html"),
            scripts = scripts.concat(),
        )
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
