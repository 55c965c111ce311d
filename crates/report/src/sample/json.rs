//! The report as JSON (docs/report-format.md).

use super::{Elsewhere, Finding, Frame, Summary};
use porf_verdict::Verdict;
use serde_json::{Value, json};

impl Summary {
    /// One object; `program` is the command line that was sampled.
    pub fn json(&self, program: &[String]) -> Value {
        let findings: Vec<Value> =
            self.findings.iter().map(|finding| finding.json(self.executions)).collect();
        let mut object = json!({
            "schema": 1,
            "command": "sample",
            "program": program,
            "verdict": self.verdict.word(),
            "coverage": self.coverage(),
            "executions": self.executions,
            "asked": self.asked,
            "violating": self.violating,
            "distinct": self.distinct,
            "distinct_is_lower_bound": self.is_lower_bound,
            "unseen": self.unseen(),
            "events": self.events,
            "cut_off": self.cut_off,
            "threads": self.threads.max(1),
            "isolation": self.isolation,
            "peak_stores": self.peak_stores,
            "snapshot_bytes": self.snapshot_bytes,
            "peak_memory_bytes": self.peak_memory_bytes,
            "seconds": self.elapsed.as_secs_f64(),
            "interrupted": self.interrupted,
            "findings": findings,
        });
        if let Verdict::Inconclusive(limit) = &self.verdict {
            object["limit"] = json!(limit.to_string());
        }
        object
    }
}

impl Summary {
    fn coverage(&self) -> Value {
        match self.systematic {
            None => json!({"kind": "sampled", "executions": self.executions, "seed": self.seed}),
            Some(systematic) => json!({
                "kind": "systematic",
                "executions": self.executions,
                "complete": systematic.complete,
                "repeats": systematic.repeats,
                "spins": systematic.spins,
            }),
        }
    }
}

impl Finding {
    fn json(&self, executions: u64) -> Value {
        let frame = |frame: &Frame| json!({"function": frame.function, "file": frame.file, "line": frame.line, "column": frame.column});
        let elsewhere = |other: &Elsewhere| json!({"count": other.count, "frames": other.frames.iter().map(frame).collect::<Vec<_>>()});
        let stacks: Vec<Value> = self
            .stacks
            .iter()
            .map(|(title, frames)| json!({"what": title, "frames": frames.iter().map(frame).collect::<Vec<_>>()}))
            .collect();
        json!({
            "kind": self.kind.word(),
            "title": self.title,
            "message": self.message,
            "location": self.location().map(|l| json!({"file": l.file, "line": l.line, "column": l.column})),
            "count": self.count,
            "rate": self.count as f64 / executions.max(1) as f64,
            "first_seed": self.seed,
            "address": format!("{:#x}", self.address),
            "size": self.size,
            "object": self.object,
            "stacks": stacks,
            "elsewhere": self.elsewhere.iter().map(elsewhere).collect::<Vec<_>>(),
            "minimised": self.minimised.map(|minimised| json!({
                "switches": minimised.switches,
                "weak_reads": minimised.weak_reads,
                "first_switches": minimised.first_switches,
                "first_weak_reads": minimised.first_weak_reads,
                "runs": minimised.runs,
                "minimal": minimised.minimal,
            })),
        })
    }
}
