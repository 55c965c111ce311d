//! The registry of models: a list for people, JSON for programs, a table for the documentation.

use porf_model::{ENTRIES, Entry, Equivalence, Language, Mapping};
use serde_json::{Value, json};
use std::fmt::Write;

/// Two lines for each model: its name and what runs it, then its source.
pub fn text() -> String {
    let mut out = String::new();
    for entry in ENTRIES {
        let engines = if entry.proves { "litmus, verify, prove" } else { "litmus, verify" };
        let _ = writeln!(out, "{:<6} {:<28} {engines}", entry.name, entry.title);
        let _ = writeln!(out, "       {}", entry.citation);
    }
    out.push_str("\n`--model FILE.cat` takes a model of your own; `porf models NAME` prints one of these.\n");
    out
}

/// One object for each model.
pub fn json() -> Vec<Value> {
    ENTRIES.iter().map(object).collect()
}

fn object(entry: &Entry) -> Value {
    json!({
        "schema": 1,
        "model": entry.name,
        "title": entry.title,
        "source": entry.citation,
        "dialects": entry.languages.iter().flat_map(|language| names(*language)).collect::<Vec<_>>(),
        "explore": true,
        "oracle": true,
        "prove": entry.proves,
        "equivalences": entry.equivalences.iter().map(Equivalence::to_string).collect::<Vec<_>>(),
        "races": entry.races,
    })
}

/// The table of `docs/models.md`.
pub fn markdown() -> String {
    let mut out = String::from(
        "| model | what it is | litmus tests | C programs | equivalences | races | `porf prove` |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for entry in ENTRIES {
        let tests = match entry.languages.len() == Language::ALL.len() {
            true => "all".to_string(),
            false => entry.languages.iter().map(|language| language.name()).collect::<Vec<_>>().join(", "),
        };
        let programs = match entry.mapping {
            Mapping::Itself => "as they are",
            Mapping::Machine(_) => "compiled",
            Mapping::Kernel => "kernel code",
        };
        let equivalences: Vec<String> = entry.equivalences.iter().map(Equivalence::to_string).collect();
        let yes = |holds: bool| if holds { "yes" } else { "" };
        let _ = writeln!(
            out,
            "| `{}` | {} | {tests} | {programs} | {} | {} | {} |",
            entry.name,
            entry.title,
            equivalences.join(", "),
            yes(entry.races),
            yes(entry.proves),
        );
    }
    out
}

/// As the first word of a litmus test.
fn names(language: Language) -> &'static [&'static str] {
    match language {
        Language::C => &["C"],
        Language::Kernel => &["LKMM"],
        Language::AArch64 => &["AArch64"],
        Language::Arm => &["ARM"],
        Language::Ppc => &["PPC"],
        Language::RiscV => &["RISCV"],
        Language::X86 => &["X86", "X86_64"],
    }
}
