//! The answer of `porf prove --fences`.

use super::{Subject, text};
use crate::Paint;
use porf_param::explore::Trace;
use porf_param::fences::{Advice, Barrier, Kind};
use porf_verdict::Verdict;
use serde_json::{Value, json};

/// Advice on the fences of a system.
pub struct Fences<'a> {
    /// The system.
    pub subject: Subject<'a>,
    /// What was found.
    pub advice: &'a Advice,
    /// How long it took.
    pub seconds: f64,
}

impl Fences<'_> {
    /// ``fence in `enter` (line 7)``
    fn words(&self, barrier: &Barrier) -> String {
        let transition = &self.subject.system.transitions[barrier.transition];
        format!("{} in `{}` (line {})", word(barrier.kind), transition.name, transition.span.line)
    }

    fn json(&self, barrier: &Barrier) -> Value {
        let transition = &self.subject.system.transitions[barrier.transition];
        json!({"kind": word(barrier.kind), "transition": transition.name, "line": transition.span.line})
    }

    fn set(&self, set: &[Barrier]) -> String {
        match set {
            [] => "none at all".to_owned(),
            _ => set.iter().map(|one| self.words(one)).collect::<Vec<_>>().join(", "),
        }
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Fence => "fence",
        Kind::Lock => "lock",
    }
}

fn run(trace: &Trace) -> String {
    let processes = match trace.processes {
        1 => "1 process".to_owned(),
        count => format!("{count} processes"),
    };
    format!("without it an unsafe state is reached with {processes} in {} steps", trace.steps.len())
}

/// What people read.
pub fn fences_text(fences: &Fences<'_>, paint: Paint) -> String {
    let Fences { subject, advice, .. } = fences;
    let (word, color) = match &advice.as_written.verdict {
        Verdict::Safe(_) => ("safe", text::GREEN),
        Verdict::Violated(_) => ("unsafe", text::RED),
        Verdict::Inconclusive(_) => ("inconclusive", text::YELLOW),
    };
    let model = advice.as_written.memory.word();
    let mut text = format!("{} {} under {model}, as it is written\n", paint.wrap(color, word), subject.file);
    for (barrier, trace) in &advice.needed {
        text.push_str(&format!("needed       {}: {}\n", fences.words(barrier), run(trace)));
    }
    for barrier in &advice.superfluous {
        text.push_str(&format!("superfluous  {}\n", fences.words(barrier)));
    }
    let mut sets = |title: &str, sets: &[Vec<Barrier>]| {
        if !sets.is_empty() {
            text.push_str(&format!("\n{title}\n"));
        }
        for (at, set) in sets.iter().enumerate() {
            text.push_str(&format!("  {}. {}\n", at + 1, fences.set(set)));
        }
    };
    if advice.superfluous.len() > 1 {
        sets("The smallest parts of what is written that are enough:", &advice.kept);
    }
    sets("The smallest sets to add:", &advice.added);
    sets("The smallest sets that make it safe, whatever is written:", &advice.smallest);
    sets("Not decided:", &advice.undecided);
    if advice.hopeless.is_some() {
        text.push_str("\nNo fence helps: an unsafe state is reached without a pending write.\n");
    }
    if advice.cut {
        text.push_str("\nThere may be more sets: the search was cut short.\n");
    }
    text.push_str(
        &paint.wrap(text::DIM, &format!("{} variants, {:.3} s\n", advice.variants, fences.seconds)),
    );
    text
}

/// What programs read.
pub fn fences_json(fences: &Fences<'_>) -> String {
    let Fences { subject, advice, seconds } = fences;
    let list = |set: &[Barrier]| set.iter().map(|one| fences.json(one)).collect::<Vec<_>>();
    let sets = |sets: &[Vec<Barrier>]| sets.iter().map(|set| list(set)).collect::<Vec<_>>();
    let needed: Vec<Value> = (advice.needed.iter())
        .map(|(barrier, trace)| {
            let mut one = fences.json(barrier);
            one["processes"] = trace.processes.into();
            one["steps"] = trace.steps.len().into();
            one
        })
        .collect();
    let object = json!({
        "schema": 1,
        "command": "prove",
        "file": subject.file,
        "model": advice.as_written.memory.word(),
        "verdict": advice.as_written.verdict.word(),
        "fences": {
            "written": list(&advice.written),
            "needed": needed,
            "superfluous": list(&advice.superfluous),
            "kept": sets(&advice.kept),
            "added": sets(&advice.added),
            "smallest": sets(&advice.smallest),
            "undecided": sets(&advice.undecided),
            "no_fence_helps": advice.hopeless.is_some(),
            "cut": advice.cut,
            "variants": advice.variants,
        },
        "seconds": seconds,
    });
    format!("{object}\n")
}
