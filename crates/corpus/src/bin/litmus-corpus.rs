//! Writes the generated tests of `corpus/litmus` and fills in the observations that are missing from
//! its `expected.toml` files: `litmus-corpus`. What stands in them already is left alone.

use porf::{Axioms, Engine, litmus};
use porf_corpus::generate::{Target, tests};
use porf_corpus::intree::{Expected, concerns};
use rayon::prelude::*;
use std::path::Path;

fn main() {
    for target in Target::ALL {
        let folder = porf_corpus::root().join("corpus/litmus").join(target.folder());
        std::fs::create_dir_all(&folder).expect("a folder");
        for test in tests(target) {
            std::fs::write(folder.join(format!("{}.litmus", test.name)), test.text).expect("a file");
        }
        fill(target, &folder);
    }
}

fn fill(target: Target, folder: &Path) {
    let mut expected = Expected::load(folder);
    let names = porf_corpus::intree::names(folder);
    for model in target.models() {
        let loaded = Axioms::load(model).expect("a shipped model").uncompiled();
        let missing: Vec<&String> = names.iter().filter(|name| expected.get(name, model).is_none()).collect();
        let found: Vec<(String, String)> = missing
            .par_iter()
            .filter_map(|name| {
                let path = folder.join(format!("{name}.litmus"));
                let text = std::fs::read_to_string(&path).expect("a test");
                let test = porf_frontend_litmus::parse(&path.to_string_lossy(), &text)
                    .unwrap_or_else(|diagnostic| panic!("{diagnostic}"));
                if !concerns(model, &test) {
                    return None;
                }
                let answer = litmus(&test, &loaded, Engine::Oracle { unroll: 2 })
                    .unwrap_or_else(|message| panic!("{name} under {model}: {message}"));
                Some(((*name).clone(), answer.outcome.observation.word().to_string()))
            })
            .collect();
        for (name, observation) in found {
            expected.set(&name, model, &observation);
        }
    }
    expected.save(folder);
    println!("{}: {} tests", target.folder(), names.len());
}
