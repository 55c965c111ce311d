//! What people read.

use super::{Checked, Explored, Proof, Run, Subject, refusal, warning, words};
use crate::Paint;
use porf_param::Warning;
use porf_param::prove::Order;
use porf_verdict::{Coverage, Verdict};

pub(super) const GREEN: &str = "1;32";
pub(super) const RED: &str = "1;31";
pub(super) const YELLOW: &str = "1;33";
const BOLD: &str = "1";
pub(super) const DIM: &str = "2";

/// The answer of a proof.
pub fn proof_text(proof: &Proof<'_>, paint: Paint) -> String {
    let Proof { subject, answer, .. } = proof;
    let (word, color, what) = match &answer.verdict {
        Verdict::Safe(coverage) => ("safe", GREEN, covered(subject, &answer.warnings, coverage)),
        Verdict::Violated(violation) => ("unsafe", RED, violation.message.clone()),
        Verdict::Inconclusive(limit) => ("inconclusive", YELLOW, limit.to_string()),
    };
    let mut text =
        format!("{} {} under {}: {what}\n", paint.wrap(color, word), subject.file, answer.memory.word());
    if let (Verdict::Safe(_), Some(robust)) = (&answer.verdict, &answer.robust) {
        let (memory, cubes) = (answer.memory.word(), robust.invariant.len());
        text.push_str(&format!(
            "robust: what {memory} allows, sc does, by {cubes} more cubes; the invariant is one under sc\n"
        ));
    }
    for other in &answer.warnings {
        text.push_str(&format!("{} {}\n", paint.wrap(YELLOW, "warning:"), warning(subject, other).1));
    }
    if let Some(found) = &answer.trace {
        text.push_str(&run(&Run::new(subject, answer.memory, found), paint));
    }
    if let Some(steps) = &answer.spurious {
        text.push_str("\nThe steps that do not replay:\n");
        for (index, procs) in steps {
            let name = &subject.system.transitions[*index].name;
            text.push_str(&format!("  {name} ({})\n", processes(procs)));
        }
    }
    if proof.invariant && !(answer.invariant.is_empty() && answer.laws.is_empty()) {
        text.push_str(&invariant(proof));
    }
    if let Some((path, certificate, confirmed)) = &proof.certificate {
        text.push_str(&format!(
            "certificate: {path}, {} cubes, {}\n",
            certificate.cubes.len(),
            super::json::confirmed_words(confirmed)
        ));
    }
    let statistics = &answer.statistics;
    text.push_str(&paint.wrap(
        DIM,
        &format!(
            "{} nodes, {} candidates, {} restarts, {} states explored, {:.3} s\n",
            statistics.nodes, statistics.candidates, statistics.restarts, answer.explored, proof.seconds
        ),
    ));
    text
}

/// What *safe* covers, with the assumptions it rests on.
pub(super) fn covered(subject: &Subject<'_>, warnings: &[Warning], coverage: &Coverage) -> String {
    let cubes = match coverage {
        Coverage::AllInstances { cubes } => *cubes,
        other => return other.to_string(),
    };
    let processes = match (subject.system.number_procs, subject.system.named) {
        (None, _) => "any number of processes".to_owned(),
        (Some(most), false) => format!("up to {most} processes"),
        (Some(most), true) => format!("{most} processes"),
    };
    let assumed = warnings.iter().filter(|warning| warning.is_assumption()).count();
    let under = match assumed {
        0 => String::new(),
        1 => ", under 1 assumption".to_owned(),
        count => format!(", under {count} assumptions"),
    };
    format!("{processes}{under}, by an inductive invariant of {cubes} cubes")
}

fn invariant(proof: &Proof<'_>) -> String {
    let answer = proof.answer;
    let reads = answer.invariant.iter().any(|cube| !cube.weak.nodes.is_empty());
    // A cube with reads is no set of memories: it says what processes can come to read.
    let title = match (reads, answer.order) {
        _ if answer.robust.is_some() => "Never reached under sc:",
        (false, _) => "Never reached:",
        (true, Order::Issue) => {
            "Never reached (p@X is what p would read of X, at once or after pending writes have reached memory):"
        }
        (true, Order::HappensBefore) => {
            "Never reached (p@X is what p reads of X in a later step, from a write that is there already):"
        }
        (true, Order::Coherence) => {
            "Never reached (p@X is what p reads of X in a later step, in any order that is not excluded after //):"
        }
    };
    let mut text = format!("\n{title}\n");
    for cube in &answer.invariant {
        text.push_str(&format!("  {}\n", words::cube(proof.subject.system, cube)));
    }
    if !answer.laws.is_empty() {
        text.push_str("\nAlways (#(…) is the number of processes):\n");
    }
    for law in &answer.laws {
        text.push_str(&format!("  {}\n", law.words(proof.subject.system)));
    }
    text
}

fn processes(procs: &[u8]) -> String {
    let procs: Vec<String> = procs.iter().map(|p| format!("#{}", p + 1)).collect();
    procs.join(" ")
}

fn run(run: &Run<'_>, paint: Paint) -> String {
    let Run { instance, trace, property, .. } = run;
    let steps = words::steps(instance, trace);
    let name = |step: &words::StepView| {
        let action = step.transition.as_deref().unwrap_or("(commit)");
        format!("{} {action}", processes(&step.processes))
    };
    let width = steps.iter().map(|step| name(step).len()).max().unwrap_or(0);
    let mut text = format!("\n  start  {}\n", words::state(instance, &trace.initial).join(", "));
    for (i, step) in steps.iter().enumerate() {
        let title = format!("{:width$}", name(step));
        let title = paint.wrap(if step.transition.is_none() { DIM } else { BOLD }, &title);
        let mut parts = Vec::new();
        if let (Some(file), Some(line)) = (run.program, step.line) {
            parts.push(format!("{file}:{line}"));
        }
        if !step.reads.is_empty() {
            parts.push(format!("reads {}", step.reads.join(", ")));
        }
        if !step.effects.is_empty() {
            parts.push(step.effects.join(", "));
        }
        text.push_str(&format!("  {:>5}  {title}  {}\n", i + 1, parts.join("; ")));
        if !step.buffers.is_empty() {
            let pending = paint.wrap(DIM, &format!("pending {}", step.buffers.join("  ")));
            text.push_str(&format!("         {:width$}  {pending}\n", ""));
        }
    }
    let last = trace.steps.last().map_or(&trace.initial, |(_, state)| state);
    let set = &instance.system.unsafes[*property];
    let name = set.name.as_deref().map_or(String::new(), |name| format!(" {name}"));
    let state = words::state(instance, last).join(", ");
    text.push_str(&format!("  {}{name}  {state}\n\n", paint.wrap(RED, "unsafe")));
    text
}

/// The exploration of one instance.
pub fn explored_text(explored: &Explored<'_>, paint: Paint) -> String {
    let Explored { subject, memory, processes, exploration, seconds } = explored;
    let place = format!("{} under {}", subject.file, memory.word());
    let mut text = match explored.word() {
        "violated" => format!("{} {place}\n", paint.wrap(RED, "unsafe")),
        "safe" => format!("{} {place} with {processes} processes\n", paint.wrap(GREEN, "safe")),
        _ => format!(
            "{} {place}: nothing found, but {}\n",
            paint.wrap(YELLOW, "inconclusive"),
            explored.cuts().join(", ")
        ),
    };
    if let Some(found) = &exploration.trace {
        text.push_str(&run(&Run::new(subject, *memory, found), paint));
    }
    text.push_str(&paint.wrap(DIM, &format!("{} states, {seconds:.3} s\n", exploration.states.len())));
    text
}

/// The check of a certificate.
pub fn checked_text(checked: &Checked<'_>, paint: Paint) -> String {
    let Checked { subject, path, certificate, result, seconds } = checked;
    let (word, why) = match result {
        Ok(confirmed) => (paint.wrap(GREEN, "confirmed"), super::json::confirmed_words(confirmed)),
        Err(why) => (paint.wrap(RED, "rejected"), refusal(why)),
    };
    format!(
        "{word} {path} for {} under {}: {why}\n{}",
        subject.file,
        certificate.memory.word(),
        paint.wrap(DIM, &format!("{} cubes, {seconds:.3} s\n", certificate.cubes.len()))
    )
}
