//! How many executions the programs of the literature have, and nothing twice.

use porf_corpus::family::family;
use porf_event::Dialect;
use porf_explore::{Equivalence, Model, Options, Reduction, Reductions, Statistics, Visit, explore};
use std::ops::ControlFlow;

fn count(name: &str, size: u64, model: Model, equivalence: Equivalence) -> (u64, u64) {
    try_count(name, size, model, equivalence).unwrap_or_else(|error| panic!("{name}({size}): {error}"))
}

fn try_count(
    name: &str,
    size: u64,
    model: Model,
    equivalence: Equivalence,
) -> Result<(u64, u64), porf_explore::Error> {
    let statistics = search(name, size, model, equivalence, Reductions::NONE)?;
    Ok((statistics.executions, statistics.blocked))
}

fn search(
    name: &str,
    size: u64,
    model: Model,
    equivalence: Equivalence,
    reductions: Reductions,
) -> Result<Statistics, porf_explore::Error> {
    let program = family(name, size).unwrap_or_else(|| panic!("no family {name}"));
    let mut visitor = |_: Visit<'_, '_>| ControlFlow::Continue(());
    let options = Options { reductions, ..Options::default() };
    explore(&program, model, equivalence, &options, &mut visitor)
}

/// Interchangeable threads: the executions that are visited stand for all of the literature's.
#[test]
fn up_to_symmetry() {
    let path = porf_corpus::root().join("corpus/programs/families.tsv");
    let text = std::fs::read_to_string(path).unwrap();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [name, size, models, equivalence, complete, _] =
            line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let complete = complete.parse::<u64>().unwrap();
        if equivalence == "rf" || complete > most() {
            continue;
        }
        for model in models.split(' ').map(|model| model.parse::<Model>().unwrap()) {
            let only = Reductions::only(Reduction::Symmetry);
            let found = search(name, size.parse().unwrap(), model, Equivalence::Mo, only).unwrap();
            let stands_for = found.executions + found.reduced.by(Reduction::Symmetry);
            assert_eq!(stands_for, complete, "{name}({size}) {model}");
        }
    }
    // The families give every thread a function of its own; here they have one in common.
    for (size, all) in [(2, 2), (5, 120), (8, 40_320)] {
        let threads: String = (0..size).map(|at| format!("thread P{at} = inc()\n")).collect();
        let text = format!("program ainc\nglobal x\nfn inc() {{ x.fetch_add(1, rlx) }}\n{threads}");
        let program = porf_ir::parse(&text).unwrap();
        let mut visitor = |_: Visit<'_, '_>| ControlFlow::Continue(());
        let found =
            explore(&program, Model::Rc11, Equivalence::Mo, &Options::default(), &mut visitor).unwrap();
        assert_eq!((found.executions, found.blocked), (1, 0), "ainc({size})");
        assert_eq!(found.reduced.by(Reduction::Symmetry), all - 1, "ainc({size})");
    }
}

/// More executions than this are for the long suite.
fn most() -> u64 {
    if porf_corpus::full() { 3_000_000 } else { 6_000 }
}

#[test]
fn families() {
    let path = porf_corpus::root().join("corpus/programs/families.tsv");
    let text = std::fs::read_to_string(path).unwrap();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [name, size, models, equivalence, complete, blocked] =
            line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let equivalence = if equivalence == "rf" { Equivalence::Rf } else { Equivalence::Mo };
        if complete.parse::<u64>().unwrap() + blocked.parse::<u64>().unwrap() > most() {
            continue;
        }
        for model in models.split(' ') {
            let found = count(name, size.parse().unwrap(), model.parse().unwrap(), equivalence);
            let expected = (complete.parse().unwrap(), blocked.parse().unwrap());
            assert_eq!(found, expected, "{name}({size}) {model} {equivalence}");
        }
    }
}

/// The table of published counts that lies beside the repository, as far as it describes its programs.
#[test]
fn published_counts() {
    let table = porf_corpus::herd::folder().map(|folder| folder.join("expected_counts.tsv"));
    let Some(Ok(text)) = table.map(std::fs::read_to_string) else {
        println!("skipped: no table beside the repository");
        return;
    };
    let (mut rows, mut runs) = (0, 0);
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, size, models, kind, executions] = fields[..5] else { panic!("{line}") };
        let name = match (name, models) {
            ("lastzero0", _) => "lastzero",
            ("lastzero1", _) => "lastzero-reversed",
            ("SB", "RC11 sc accesses") => "SB-sc",
            _ => name,
        };
        let (Ok(executions), Some(_)) = (executions.parse::<u64>(), family(name, 2)) else { continue };
        // Source-DPOR's count is not that of the executions.
        if executions > most() || kind.contains("NOT optimal") {
            continue;
        }
        let equivalences: &[Equivalence] = match kind {
            "po-rf-mo" | "po-rf-co" => &[Equivalence::Mo],
            "po-rf-mo = po-rf" | "po-rf = po-rf-co" => &[Equivalence::Mo, Equivalence::Rf],
            _ => &[Equivalence::Rf],
        };
        let size = size.parse().unwrap_or(0);
        let mut checked = false;
        for model in models.split(['|', ' ']).map(str::to_lowercase) {
            let Ok(model) = (if model == "any" { "sc" } else { &model }).parse::<Model>() else { continue };
            // The families are programs in C: a machine runs what they are compiled to.
            if !model.speaks(Dialect::C) {
                continue;
            }
            for &equivalence in equivalences {
                if model.entry().has(equivalence) && !(model == Model::Wrc11 && kind == "po-rf-mo") {
                    let found = try_count(name, size, model, equivalence);
                    // Up to rf it gives up where it would have to look for cycles in po | rf.
                    if model == Model::Imm && found == Err(porf_explore::Error::Undecided) {
                        continue;
                    }
                    let (found, _) = found.unwrap_or_else(|error| panic!("{name}({size}): {error}"));
                    assert_eq!(found, executions, "{name}({size}) {model} {equivalence}: {line}");
                    (checked, runs) = (true, runs + 1);
                }
            }
        }
        rows += u32::from(checked);
    }
    println!("{rows} rows, {runs} runs");
    assert!(rows >= 50, "only {rows} rows were checked");
}
