//! What programs read: the format is documented in docs/report-format.md.

use super::{Checked, Explored, Proof, Run, refusal, warning, words};
use crate::diagnostic;
use porf_param::certificate::Confirmed;
use porf_verdict::{Diagnostic, Verdict};
use serde_json::{Value, json};

/// The answer of a proof.
pub fn proof_json(proof: &Proof<'_>) -> String {
    let Proof { subject, answer, .. } = proof;
    let statistics = &answer.statistics;
    let warnings: Vec<Value> = (answer.warnings.iter())
        .map(|other| {
            let (kind, message) = warning(subject, other);
            json!({"kind": kind, "message": message})
        })
        .collect();
    let mut object = json!({
        "schema": 1,
        "command": "prove",
        "file": subject.file,
        "model": answer.memory.word(),
        "verdict": answer.verdict.word(),
        "warnings": warnings,
        "nodes": statistics.nodes,
        "candidates": statistics.candidates,
        "restarts": statistics.restarts,
        "explored_states": answer.explored,
        "work": statistics.work,
        "seconds": proof.seconds,
    });
    match &answer.verdict {
        Verdict::Safe(_) => {
            let cubes: Vec<String> =
                answer.invariant.iter().map(|cube| words::cube(subject.system, cube)).collect();
            let assumptions: Vec<String> = (answer.warnings.iter())
                .filter(|warning| warning.is_assumption())
                .map(|assumed| warning(subject, assumed).1)
                .collect();
            object["coverage"] = match subject.system.number_procs {
                None => json!({"kind": "all_instances"}),
                Some(most) => json!({"kind": "bounded_instances", "processes": most}),
            };
            object["coverage"]["cubes"] = cubes.len().into();
            object["coverage"]["assumptions"] = assumptions.into();
            object["order"] = answer.order.word().into();
            object["robust"] = answer.robust.is_some().into();
            object["never"] = cubes.into();
            let laws: Vec<String> = answer.laws.iter().map(|law| law.words(subject.system)).collect();
            object["laws"] = laws.into();
            if let Some((path, certificate, confirmed)) = &proof.certificate {
                object["certificate"] = json!({
                    "file": path, "cubes": certificate.cubes.len(), "checked": confirmed_json(confirmed),
                });
            }
        }
        Verdict::Violated(violation) => {
            object["violation"] = json!({"kind": violation.kind.word(), "message": violation.message});
        }
        Verdict::Inconclusive(limit) => object["limit"] = limit.to_string().into(),
    }
    if let Some(found) = &answer.trace {
        object["trace"] = run(&Run::new(subject, answer.memory, found));
    }
    format!("{object}\n")
}

fn run(run: &Run<'_>) -> Value {
    let Run { instance, trace, property, .. } = run;
    let steps: Vec<Value> = (words::steps(instance, trace).iter().zip(&trace.steps))
        .map(|(step, (_, after))| {
            let mut one = json!({
                "kind": if step.transition.is_some() { "transition" } else { "commit" },
                "action": step.transition.as_deref().unwrap_or("commit"),
                "processes": step.processes.iter().map(|p| p + 1).collect::<Vec<_>>(),
                "reads": step.reads,
                "effects": step.effects,
                "buffers": step.buffers,
                "state": words::state(instance, after),
            });
            if run.program.is_some() {
                one["line"] = step.line.into();
            }
            one
        })
        .collect();
    json!({
        "processes": trace.processes,
        "unsafe": instance.system.unsafes[*property].name,
        "unsafe_index": property,
        "initial": words::state(instance, &trace.initial),
        "steps": steps,
    })
}

/// The exploration of one instance.
pub fn explored_json(explored: &Explored<'_>) -> String {
    let Explored { subject, memory, processes, exploration, seconds } = explored;
    let mut object = json!({
        "schema": 1, "command": "prove", "file": subject.file, "model": memory.word(),
        "instance": processes, "verdict": explored.word(), "states": exploration.states.len(),
        "seconds": seconds, "cut": explored.cuts(),
    });
    if let Some(found) = &exploration.trace {
        object["trace"] = run(&Run::new(subject, *memory, found));
    }
    format!("{object}\n")
}

/// The check of a certificate.
pub fn checked_json(checked: &Checked<'_>) -> String {
    let Checked { subject, path, certificate, result, seconds } = checked;
    let mut object = json!({
        "schema": 1, "command": "prove", "check": path, "file": subject.file,
        "model": certificate.memory.word(), "cubes": certificate.cubes.len(), "seconds": seconds,
    });
    match result {
        Ok(confirmed) => {
            object["verdict"] = "confirmed".into();
            object["checked"] = confirmed_json(confirmed);
        }
        Err(why) => {
            object["verdict"] = "rejected".into();
            object["reason"] = refusal(why).into();
        }
    }
    format!("{object}\n")
}

fn confirmed_json(confirmed: &Confirmed) -> Value {
    let solvers: serde_json::Map<String, Value> =
        confirmed.solvers.iter().map(|(name, count)| (name.clone(), (*count).into())).collect();
    json!({"obligations": confirmed.obligations, "refuted_by": solvers})
}

/// `57 obligations, refuted by z3 (57) and cvc5 (57)`.
pub(super) fn confirmed_words(confirmed: &Confirmed) -> String {
    let solvers: Vec<String> =
        confirmed.solvers.iter().map(|(name, count)| format!("{name} ({count})")).collect();
    format!("{} obligations, refuted by {}", confirmed.obligations, solvers.join(" and "))
}

/// An error, as an object; with its place where there is one.
pub fn error_json(file: &str, wrong: &Diagnostic) -> String {
    format!("{}\n", diagnostic::failure("prove", Some(file), wrong))
}
