//! The head of a test: architecture, name, the quoted cycle and the meta lines before the `{`.

use crate::Diagnostic;
use crate::source::Cursor;

pub(crate) struct Header<'a> {
    pub arch: &'a str,
    pub name: String,
    pub info: Vec<(String, String)>,
}

/// Leaves the cursor after the `{` of the initial state.
pub(crate) fn parse<'a>(cursor: &mut Cursor<'a>) -> Result<Header<'a>, Diagnostic> {
    cursor.skip()?;
    let arch = cursor.expect_word("an architecture ('C', 'AArch64', 'PPC', …)")?;
    cursor.at += cursor.rest().len() - cursor.rest().trim_start_matches([' ', '\t']).len();
    let length = cursor.rest().find(char::is_whitespace).unwrap_or(cursor.rest().len());
    if length == 0 {
        return Err(cursor.expected("the name of the test"));
    }
    let name = &cursor.rest()[..length];
    // herd drops the suffix from the name that it prints.
    let name = name.strip_suffix(".litmus").unwrap_or(name).to_string();
    cursor.at += length;
    let mut info = Vec::new();
    loop {
        // An unfinished comment or string is just a line to skip, as for herd.
        let before = cursor.at;
        if cursor.skip().is_err() {
            cursor.at = before;
            cursor.at += cursor.rest().len() - cursor.rest().trim_start().len();
        }
        if cursor.at_end() {
            return Err(cursor.error("the test has no initial state '{ … }'"));
        }
        let rest = cursor.rest();
        if rest.starts_with('{') {
            cursor.at += 1;
            return Ok(Header { arch, name, info });
        }
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        if rest.starts_with('"')
            && let Some(length) = rest[1..].find('"')
        {
            cursor.at += length + 2;
            continue;
        }
        match line.split_once('=').map(|(key, value)| (key.trim_end(), value.trim())) {
            // A meta line may hold braces; any other text ends where the initial state begins.
            Some((key, value)) if !key.is_empty() && key.chars().all(crate::source::is_word) => {
                info.push((key.to_string(), value.to_string()));
                cursor.at += line.len();
            }
            _ => cursor.at += rest.find(['\n', '{']).unwrap_or(rest.len()),
        }
    }
}
