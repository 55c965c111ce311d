//! A reachable unsafe state as a result of a SARIF log, with the run that reaches it.

use super::{Proof, Run, Subject, words};
use crate::sarif::{Log, flow, place};
use porf_param::syntax::Span;
use porf_verdict::{SourceLocation, Verdict};

/// A SARIF 2.1.0 log with one run.
pub fn proof_sarif(proof: &Proof<'_>) -> String {
    let Proof { subject, answer, .. } = proof;
    let mut log = Log::default();
    if let Verdict::Violated(violation) = &answer.verdict {
        let message = format!("{} (model {})", violation.message, answer.memory.word());
        let found = answer.trace.as_ref();
        let at = found.map(|(_, property)| location(subject, subject.system.unsafes[*property].span));
        let result = log.error(violation.kind.word(), &message, at.as_ref());
        if let Some(found) = found {
            let run = Run::new(subject, answer.memory, found);
            let steps = words::steps(&run.instance, run.trace);
            result["codeFlows"] = flow(steps.iter().filter_map(|step| {
                let name = step.transition.as_ref()?;
                let transition = subject.system.transitions.iter().find(|known| known.name == *name)?;
                let who: Vec<String> = step.processes.iter().map(|p| format!("#{}", p + 1)).collect();
                let text = format!("{} {name}", who.join(" "));
                let acting = who.first().cloned().unwrap_or_default();
                Some((acting, place(&location(subject, transition.span), Some(&text))))
            }));
        }
    }
    if let Verdict::Inconclusive(limit) = &answer.verdict {
        log.inconclusive(&limit.to_string());
    }
    format!("{:#}\n", log.finish())
}

pub(super) fn location(subject: &Subject<'_>, span: Span) -> SourceLocation {
    SourceLocation { file: subject.file.to_string(), line: span.line, column: span.column }
}
