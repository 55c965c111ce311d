//! Our own tests, `corpus/litmus/<folder>/*.litmus`, and the `expected.toml` beside them: for each
//! test, what each model says of its proposition.

use porf_frontend_litmus::{LitmusTest, Observable};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Test, model, observation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected(BTreeMap<String, BTreeMap<String, String>>);

impl Expected {
    /// Empty where there is no file.
    pub fn load(folder: &Path) -> Expected {
        let path = folder.join("expected.toml");
        if path.exists() { Expected(crate::expected::read(&path)) } else { Expected::default() }
    }

    /// One line per test, sorted.
    pub fn save(&self, folder: &Path) {
        let mut text = String::from("# What each model says of the proposition of each test.\n");
        for (test, models) in &self.0 {
            let models: Vec<String> =
                models.iter().map(|(model, observation)| format!("{model} = \"{observation}\"")).collect();
            let _ = writeln!(text, "\"{test}\" = {{ {} }}", models.join(", "));
        }
        std::fs::write(folder.join("expected.toml"), text).expect("a file");
    }

    pub fn get(&self, test: &str, model: &str) -> Option<&str> {
        self.0.get(test)?.get(model).map(String::as_str)
    }

    pub fn set(&mut self, test: &str, model: &str, observation: &str) {
        self.0.entry(test.to_string()).or_default().insert(model.to_string(), observation.to_string());
    }

    pub fn tests(&self) -> impl Iterator<Item = (&String, &BTreeMap<String, String>)> {
        self.0.iter()
    }
}

/// Whether a model has something to say of a test: without an order of the writes to a location,
/// their last one means nothing.
pub fn concerns(model: &str, test: &LitmusTest) -> bool {
    let memory = |observable: &Observable| matches!(observable, Observable::Location { .. });
    model != "wrc11" || !test.observables().iter().any(memory)
}

/// The tests of a folder, without their suffix, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("a readable folder")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".litmus").map(str::to_string))
        .collect();
    names.sort();
    names
}
