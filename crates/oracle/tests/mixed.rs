//! Accesses of different sizes to the same bytes: the tests of `corpus/litmus/mixed`.

use porf_cat::CatModel;
use porf_event::{Access, Location};
use porf_frontend_litmus::{Collector, LitmusTest, Observable, Outcome, parse};
use porf_model::Model;
use porf_oracle::{CatJudge, Refusal, enumerate};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/litmus/mixed")
}

fn outcome(test: &LitmusTest, model: &CatModel) -> Result<Outcome, Refusal> {
    let mut judge = CatJudge::new(model);
    let mut collector = Collector::new(test);
    enumerate(&test.program, &mut judge, 2, |execution, _| {
        collector.add(|observable| match observable {
            Observable::Register { thread, reg, .. } => execution.register(*thread, *reg),
            Observable::Location { address, size, .. } => {
                let cell = Access { location: Location(*address), size: *size };
                execution.memory(&test.program, cell)
            }
        });
        true
    })?;
    assert_eq!(judge.error(), None, "{}", test.name);
    Ok(collector.finish())
}

fn answer(text: &str, model: &str) -> Result<Outcome, String> {
    let test = parse("t.litmus", text).map_err(|diagnostic| diagnostic.to_string())?;
    let model = CatModel::shipped(model.parse::<Model>().unwrap());
    outcome(&test, &model).map_err(|refusal| refusal.to_string())
}

#[test]
fn every_expectation_holds() {
    let text = std::fs::read_to_string(folder().join("expected.toml")).unwrap();
    let expected: BTreeMap<String, BTreeMap<String, String>> = toml::from_str(&text).unwrap();
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let is_test = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "litmus");
    assert_eq!(files.filter(is_test).count(), expected.len());
    for (name, models) in &expected {
        let text = std::fs::read_to_string(folder().join(format!("{name}.litmus"))).unwrap();
        for (model, wanted) in models {
            let found = answer(&text, model).unwrap_or_else(|error| panic!("{name} under {model}: {error}"));
            assert_eq!(found.observation.word(), wanted, "{name} under {model}");
        }
    }
}

/// Without the relation between the events of one access, some test has another answer.
#[test]
fn each_model_needs_si() {
    let text = std::fs::read_to_string(folder().join("expected.toml")).unwrap();
    let expected: BTreeMap<String, BTreeMap<String, String>> = toml::from_str(&text).unwrap();
    for name in ["sc", "tso", "armv8", "riscv"] {
        let whole = name.parse::<Model>().unwrap().entry().cat;
        let source = whole.replace("; si", "; (si & id)").replace("= si ;", "= (si & id) ;");
        assert_ne!(source, whole);
        let loose = CatModel::parse(name, &source).unwrap();
        let changes = |(test, models): (&String, &BTreeMap<String, String>)| {
            let Some(wanted) = models.get(name) else { return false };
            let text = std::fs::read_to_string(folder().join(format!("{test}.litmus"))).unwrap();
            let test = parse(test, &text).unwrap();
            outcome(&test, &loose).is_ok_and(|found| found.observation.word() != wanted)
        };
        assert!(expected.iter().any(changes), "{name}");
    }
}

/// Four bytes of one word, and a word of four bytes: the value has each byte at its place.
#[test]
fn values_are_cut_and_joined() {
    let text = "AArch64 bytes
{ uint32_t x=0x44332211; 0:X1=x; 0:X5=0xAA; }
P0 ;
LDRB W2,[X1] ;
LDRH W3,[X1,#2] ;
STRB W5,[X1,#1] ;
LDR W4,[X1] ;
exists (0:X2=0x11 /\\ 0:X3=0x4433 /\\ 0:X4=0x4433AA11 /\\ x=0x4433AA11)
";
    let found = answer(text, "armv8").unwrap();
    assert_eq!((found.positive, found.negative), (1, 0));
}

/// A variable of which only parts are accessed is shown in whole.
#[test]
fn a_variable_is_shown_in_whole() {
    let text = "RISCV parts
{ uint64_t x=0x100000002; 0:x6=x; 0:x5=7; }
P0 ;
sw x5,4(x6) ;
exists (x=0x700000002)
";
    let found = answer(text, "riscv").unwrap();
    assert_eq!((found.positive, found.negative), (1, 0));
}

#[test]
fn what_no_model_defines_is_refused() {
    let power = "PPC parts
{ 0:r1=x; }
P0 ;
stb r2,0(r1) ;
lwz r3,0(r1) ;
exists (0:r3=0)
";
    let refused = answer(power, "power").unwrap_err();
    assert_eq!(refused, "accesses of different sizes to the same bytes are not supported by this model");
    let misaligned = "RISCV misaligned
{ uint32_t x; 0:x6=x; }
P0 ;
sb x5,2(x6) ;
lh x7,1(x6) ;
exists (0:x7=0)
";
    let refused = answer(misaligned, "riscv").unwrap_err();
    assert_eq!(refused, "the misaligned access to x+1 is not supported beside accesses of other sizes");
}
