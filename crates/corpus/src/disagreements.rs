//! `corpus/disagreements.toml`: where Porf differs from other tools, and why.

use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
pub struct Disagreements {
    #[serde(default)]
    pub disagreement: Vec<Disagreement>,
}

/// Tests of one corpus whose answer differs under some models, for one reason.
#[derive(Clone, Debug, Deserialize)]
pub struct Disagreement {
    pub corpus: String,
    /// The other tool's names of the models.
    pub models: Vec<String>,
    pub tests: Vec<String>,
    pub reason: String,
}

impl Disagreements {
    pub fn load() -> Disagreements {
        crate::expected::read(&crate::expected::folder("disagreements.toml"))
    }

    /// The reason given for a test, if there is one.
    pub fn reason(&self, corpus: &str, model: &str, test: &str) -> Option<&str> {
        self.disagreement
            .iter()
            .find(|d| {
                d.corpus == corpus && d.models.iter().any(|m| m == model) && d.tests.iter().any(|t| t == test)
            })
            .map(|d| d.reason.as_str())
    }
}
