//! The answer as a page: each violation with the execution that shows it, and how two models differ.

use super::{hints, text};
use crate::page::{Page, View};
use porf::{Answer, Difference, Found, Model, Origin};
use porf_verdict::Verdict;

/// `read` gives the text of a source file.
pub fn html(answer: &Answer, read: &dyn Fn(&str) -> Option<String>) -> String {
    let files = answer.origin.files.join(" ");
    let (title, mut notes) = match &answer.verdict {
        Verdict::Safe(coverage) => {
            (format!("{files} is safe under {}", answer.model), vec![coverage.to_string()])
        }
        Verdict::Inconclusive(limit) => {
            (format!("{files}: no answer under {}", answer.model), vec![limit.to_string()])
        }
        Verdict::Violated(violation) => match answer.found.len() {
            0 | 1 => {
                let title = format!("{files}: {} under {}", violation.kind.word(), answer.model);
                (title, vec![violation.message.clone()])
            }
            count => (format!("{files}: {count} violations under {}", answer.model), Vec::new()),
        },
    };
    notes.extend(answer.unfinished.as_ref().map(|limit| format!("There may be more violations: {limit}")));
    notes.extend(answer.warnings.iter().cloned());
    let views = answer.found.iter().enumerate().filter_map(|(at, Found { violation, shown })| {
        let shown = shown.as_ref()?;
        let mut view = View::of_shown(shown, shown.why.as_ref());
        view.name = format!("{}. {}", at + 1, violation.kind.word());
        if answer.found.len() > 1 {
            view.notes.push(violation.message.clone());
        }
        if let Some((suggestion, why)) = &shown.repaired {
            view.why.push(crate::explain::json_with(why, &shown.trace, &suggestion.to_string()));
        }
        Some(view)
    });
    let page = Page {
        verb: "verify",
        verdict: answer.verdict.word(),
        title,
        notes,
        help: hints::help(answer),
        facts: vec![
            ("model", answer.model.name().to_string()),
            ("visited", text::executions(answer)),
            ("blocked", answer.blocked.to_string()),
            ("events", answer.events.to_string()),
            ("front end", format!("{:.3} s", answer.seconds.frontend)),
            ("exploration", format!("{:.3} s", answer.seconds.explore)),
        ],
        views: views.collect(),
    };
    page.html(read)
}

/// What `verify --against --html` writes.
pub fn difference_html(
    origin: &Origin,
    model: Model,
    against: Model,
    difference: &Difference,
    read: &dyn Fn(&str) -> Option<String>,
) -> String {
    let Difference { allowed, forbidden, witness, why, limit } = difference;
    let notes = match limit {
        Some(limit) => vec![limit.to_string()],
        None => {
            vec![format!("{forbidden} of {allowed} executions under {model} are forbidden by {against}.")]
        }
    };
    let view = witness.as_ref().map(|trace| {
        let whys: Vec<_> = why.iter().flat_map(|(one, two)| [one, two]).collect();
        let mut view = View::of(trace, &[], &whys);
        view.notes.push(format!("{model} allows it, {against} does not."));
        view
    });
    let page = Page {
        verb: "verify --against",
        verdict: if limit.is_some() { "inconclusive" } else { "" },
        title: format!("{}: {model} against {against}", origin.files.join(" ")),
        notes,
        help: None,
        facts: vec![("model", model.name().to_string()), ("against", against.name().to_string())],
        views: view.into_iter().collect(),
    };
    page.html(read)
}
