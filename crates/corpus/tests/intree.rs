//! Our own litmus tests: every one has its expectations, every expectation holds, the generated ones
//! are what the generator writes, and what is known of the shapes is true of the expectations.

use porf::{Axioms, Engine, litmus};
use porf_corpus::generate::{SHAPES, Target, tests};
use porf_corpus::herd::{self, Corpus};
use porf_corpus::intree::{Expected, concerns, names};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder(target: Target) -> PathBuf {
    porf_corpus::root().join("corpus/litmus").join(target.folder())
}

#[test]
fn every_expectation_holds() {
    let mut wrong: Vec<String> = Vec::new();
    for target in Target::ALL {
        let folder = folder(target);
        let expected = Expected::load(&folder);
        let listed: Vec<&String> = expected.tests().map(|(name, _)| name).collect();
        assert_eq!(names(&folder).iter().collect::<Vec<_>>(), listed, "{}", target.folder());
        for model in target.models() {
            let loaded = Axioms::load(model).expect("a shipped model").uncompiled();
            wrong.par_extend(listed.par_iter().filter_map(|name| {
                let path = folder.join(format!("{name}.litmus"));
                let text = std::fs::read_to_string(&path).expect("a test");
                let test = porf_frontend_litmus::parse(&path.to_string_lossy(), &text)
                    .unwrap_or_else(|diagnostic| panic!("{diagnostic}"));
                assert_eq!(&test.name, *name, "a test has the name of its file");
                if !concerns(model, &test) {
                    return None;
                }
                let found = match litmus(&test, &loaded, Engine::Oracle { unroll: 2 }) {
                    Ok(answer) => answer.outcome.observation.word().to_string(),
                    Err(error) => error.to_string(),
                };
                let wanted = expected.get(name, model).unwrap_or("nothing");
                (found != wanted)
                    .then(|| format!("{}/{name} {model}: {found}, not {wanted}", target.folder()))
            }));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn generated_tests_are_up_to_date() {
    for target in Target::ALL {
        for test in tests(target) {
            let text = std::fs::read_to_string(folder(target).join(format!("{}.litmus", test.name)));
            assert_eq!(text.ok(), Some(test.text), "{}: run litmus-corpus", test.name);
        }
    }
}

/// Each shape's outcome is a cycle of po and communications: no interleaving gives it. Coherence
/// shapes are forbidden everywhere.
#[test]
fn shapes_are_not_sequentially_consistent() {
    for target in Target::ALL {
        let expected = Expected::load(&folder(target));
        for test in tests(target) {
            for model in target.models() {
                let coherence = test.name.starts_with("Co") && *model != "wrc11";
                if *model == "sc" || coherence {
                    assert_eq!(expected.get(&test.name, model), Some("Never"), "{} {model}", test.name);
                }
            }
        }
    }
}

/// The strongest fence in every thread restores sequential consistency on every machine, and in
/// RC11 (PLDI 2017); wRC11 has no order of writes to restore, RA and SRA ignore fences.
#[test]
fn full_fences_forbid_every_shape() {
    for (target, model, fence) in [
        (Target::C11, "rc11", "fsc"),
        (Target::C11, "rc11", "sc"),
        (Target::C11, "tso", "fsc"),
        (Target::Kernel, "lkmm", "mb"),
        (Target::AArch64, "armv8", "dmb.sy"),
        (Target::Arm, "armv7", "dmb"),
        (Target::Ppc, "power", "sync"),
        (Target::RiscV, "riscv", "fence.rw.rw"),
        (Target::X86, "tso", "mfence"),
        (Target::X86Long, "tso", "mfence"),
    ] {
        let expected = Expected::load(&folder(target));
        let mut seen = 0;
        for shape in SHAPES.iter().filter(|shape| !shape.name.starts_with("Co")) {
            let links = shape.threads().iter().filter(|thread| thread.len() == 2).count();
            let name = format!("{}{}", shape.name, format!("+{fence}").repeat(links));
            assert_eq!(expected.get(&name, model), Some("Never"), "{name} under {model}");
            seen += 1;
        }
        assert_eq!(seen, 23);
    }
}

/// Where the public corpora have a test of the same shape and links, herd says the same.
#[test]
fn herd_agrees_on_tests_of_the_same_name() {
    let Some(root) = herd::folder() else {
        eprintln!("skipped: no corpora at ../shared/oracle");
        return;
    };
    for (target, theirs, corpora, least) in [
        (Target::AArch64, "aarch64", &["aarch64-dat3m", "aarch64-riscvrepo"][..], 100),
        (Target::Arm, "arm", &["arm-cats"], 100),
        (Target::Ppc, "ppc", &["ppc-cats", "ppc-dat3m"], 100),
        (Target::RiscV, "riscv", &["riscv-lt", "riscv-dat3m"], 100),
        (Target::X86, "x86tso", &["x86-lt", "x86-dat3m"], 40),
    ] {
        let mut answers = BTreeMap::new();
        for name in corpora {
            let corpus = Corpus { name: name.to_string(), tests: BTreeMap::new() };
            for row in corpus.rows(&root, theirs).expect("rows") {
                let stem = Path::new(&row.path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
                // A test that always holds lists all outcomes: it asks another question.
                if let (Some(stem), "Never" | "Sometimes") = (stem, row.observation.as_str()) {
                    answers.insert(stem, row.observation);
                }
            }
        }
        let expected = Expected::load(&folder(target));
        let model = herd::our_model(theirs).expect("a model of ours");
        let mut found = 0;
        for test in tests(target).iter().filter(|test| !test.name.starts_with("Co")) {
            let Some(theirs) = spellings(&test.name).iter().find_map(|name| answers.get(name)) else {
                continue;
            };
            assert_eq!(expected.get(&test.name, model), Some(theirs.as_str()), "{} {model}", test.name);
            found += 1;
        }
        println!("{}: {found} tests of the same name", target.folder());
        assert!(found >= least, "{}: only {found} tests have the same name", target.folder());
    }
}

/// `MP+po+po` may be called `MP+pos` or `MP`, `ISA2+dmb.sy+addr+addr` also `ISA2+dmb.sy+addrs`.
fn spellings(name: &str) -> Vec<String> {
    let shape = SHAPES.iter().filter(|shape| name.starts_with(&format!("{}+", shape.name)));
    let Some(shape) = shape.max_by_key(|shape| shape.name.len()) else { return Vec::new() };
    let links: Vec<&str> = name[shape.name.len() + 1..].split('+').collect();
    let mut found = vec![name.to_string()];
    if links.iter().all(|link| *link == "po") {
        found.push(shape.name.to_string());
    }
    for at in 0..links.len().saturating_sub(1) {
        if links[at..].iter().all(|link| link == &links[at]) {
            let plural = format!("{}s", links[at]);
            let words: Vec<&str> = [shape.name].into_iter().chain(links[..at].iter().copied()).collect();
            found.push(format!("{}+{plural}", words.join("+")));
        }
    }
    found
}
