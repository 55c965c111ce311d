//! Several runs of one program, as one: their reports in JSON, added up.
//!
//! Executions of different runs may be the same. How many are distinct is therefore only known to be at least
//! the most of one run.

use super::cause;
use porf_report::sample::{Elsewhere, Finding, Frame, Minimised, Summary};
use porf_verdict::{Coverage, Limit, Verdict, ViolationKind};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Reads reports, one in each line. `asked`: executions that were wanted in all.
pub fn summary(path: &Path, seed: u64, asked: u64) -> std::io::Result<Summary> {
    let text = std::fs::read_to_string(path)?;
    let mut all: Option<Summary> = None;
    for line in text.lines() {
        let report: Value = serde_json::from_str(line)?;
        let one = read(&report);
        all = Some(match all {
            None => one,
            Some(all) => add(all, one),
        });
    }
    let mut all = all.ok_or_else(|| std::io::Error::other("no reports"))?;
    (all.seed, all.asked) = (seed, asked);
    all.findings.sort_by_key(|finding| std::cmp::Reverse(finding.count));
    let Summary { executions, cut_off, .. } = all;
    all.verdict = match all.findings.first() {
        Some(finding) => Verdict::Violated(Box::new(finding.violation())),
        None if all.interrupted => Verdict::Inconclusive(Limit::Interrupted),
        None if !all.status.is_empty() => Verdict::Inconclusive(Limit::Other(all.status.clone())),
        None if executions < asked => {
            Verdict::Inconclusive(Limit::Other("some executions were not run".to_string()))
        }
        None if cut_off == executions => {
            Verdict::Inconclusive(Limit::Other("every execution reached --max-events".to_string()))
        }
        None => Verdict::Safe(Coverage::Sampled { executions, seed }),
    };
    Ok(all)
}

fn add(one: Summary, other: Summary) -> Summary {
    let mut findings = one.findings;
    for new in other.findings {
        cause::add(&mut findings, new, |one, other| one + other);
    }
    Summary {
        executions: one.executions + other.executions,
        violating: one.violating + other.violating,
        distinct: one.distinct.max(other.distinct),
        is_lower_bound: true,
        events: one.events + other.events,
        cut_off: one.cut_off + other.cut_off,
        threads: one.threads.max(other.threads),
        snapshot_bytes: one.snapshot_bytes.max(other.snapshot_bytes),
        peak_stores: one.peak_stores.max(other.peak_stores),
        peak_memory_bytes: one.peak_memory_bytes.max(other.peak_memory_bytes),
        elapsed: one.elapsed.max(other.elapsed),
        interrupted: one.interrupted || other.interrupted,
        status: if one.status.is_empty() { other.status } else { one.status },
        findings,
        ..one
    }
}

fn read(report: &Value) -> Summary {
    let number = |name: &str| report[name].as_u64().unwrap_or(0);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let frame = |frame: &Value| Frame {
        function: text(&frame["function"]),
        file: frame["file"].as_str().map(str::to_string),
        line: frame["line"].as_u64().unwrap_or(0) as u32,
        column: frame["column"].as_u64().unwrap_or(0) as u32,
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let minimised = |value: &Value| {
        let number = |name: &str| Some(value[name].as_u64()? as u32);
        Some(Minimised {
            switches: number("switches")?,
            weak_reads: number("weak_reads")?,
            first_switches: number("first_switches")?,
            first_weak_reads: number("first_weak_reads")?,
            runs: number("runs")?,
            minimal: value["minimal"] == true,
        })
    };
    let elsewhere = |other: &Value| Elsewhere {
        count: other["count"].as_u64().unwrap_or(0),
        frames: list(&other["frames"]).iter().map(frame).collect(),
    };
    let finding = |finding: &Value| Finding {
        kind: ViolationKind::ALL
            .into_iter()
            .find(|kind| Some(kind.word()) == finding["kind"].as_str())
            .unwrap_or(ViolationKind::Trap),
        title: text(&finding["title"]),
        message: text(&finding["message"]),
        count: finding["count"].as_u64().unwrap_or(0),
        seed: finding["first_seed"].as_u64().unwrap_or(0),
        address: u64::from_str_radix(text(&finding["address"]).trim_start_matches("0x"), 16).unwrap_or(0),
        size: finding["size"].as_u64().unwrap_or(0) as u32,
        object: finding["object"].as_str().map(str::to_string),
        elsewhere: list(&finding["elsewhere"]).iter().map(elsewhere).collect(),
        minimised: minimised(&finding["minimised"]),
        decisions: Vec::new(),
        stacks: list(&finding["stacks"])
            .iter()
            .map(|stack| (text(&stack["what"]), list(&stack["frames"]).iter().map(frame).collect()))
            .collect(),
        trace: Vec::new(),
    };
    let isolations = ["in-process", "fork", "restart"];
    Summary {
        verdict: Verdict::Inconclusive(Limit::Interrupted),
        executions: number("executions"),
        asked: number("asked"),
        violating: number("violating"),
        distinct: number("distinct"),
        // Told as a share of the executions.
        once: (report["unseen"].as_f64().unwrap_or(0.0) * number("executions") as f64).round() as u64,
        is_lower_bound: report["distinct_is_lower_bound"] == true,
        events: number("events"),
        cut_off: number("cut_off"),
        threads: number("threads") as u32,
        isolation: isolations
            .into_iter()
            .find(|word| Some(*word) == report["isolation"].as_str())
            .unwrap_or("none"),
        single_threaded: false,
        snapshot_bytes: number("snapshot_bytes"),
        peak_stores: number("peak_stores"),
        peak_memory_bytes: number("peak_memory_bytes"),
        elapsed: Duration::from_secs_f64(report["seconds"].as_f64().unwrap_or(0.0)),
        findings: list(&report["findings"]).iter().map(finding).collect(),
        dropped: 0,
        interrupted: report["interrupted"] == true,
        seed: 0,
        status: text(&report["limit"]),
        systematic: None,
    }
}
