//! Every violation as a result of a SARIF log, with the execution that shows it.

use crate::sarif::{Log, flow, place};
use porf::{Answer, Found, source};
use porf_verdict::Verdict;
use serde_json::Value;

/// A SARIF 2.1.0 log with one run.
pub fn sarif(answer: &Answer) -> Value {
    let mut log = Log::default();
    for Found { violation, shown } in &answer.found {
        let message = format!("{} (model {})", violation.message, answer.model);
        let here = shown.as_ref().and_then(|shown| shown.source());
        let result = log.error(violation.kind.word(), &message, here.map(|frame| &frame.location));
        let Some(shown) = shown else { continue };
        let related = shown.related.iter().filter_map(|related| {
            source(&related.stack).map(|frame| place(&frame.location, Some(&related.message)))
        });
        result["relatedLocations"] = related.collect();
        result["codeFlows"] = flow(shown.trace.events.iter().filter_map(|event| {
            let text = format!("{} {}", event.id, event.describe());
            Some((event.id.thread.to_string(), place(&event.source()?.location, Some(&text))))
        }));
    }
    if let Verdict::Inconclusive(limit) = &answer.verdict {
        log.inconclusive(&limit.to_string());
    }
    log.finish()
}
