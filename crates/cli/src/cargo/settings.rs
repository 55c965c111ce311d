//! How tests are explored: options of the command line, and what a crate says in its manifest.
//!
//! ```toml
//! [package.metadata.porf]
//! model = "c20"
//! budget = "60s"
//! unroll = 5
//!
//! [package.metadata.porf.test."tests::name"]
//! unroll = 2
//! ```
//!
//! A test's own table, or its `#[porf::test(…)]`, comes before the crate's, and the command line before both.

use clap::Args;
use porf::{Budget, Error, Model, Request};
use porf_verdict::{Checks, ViolationKind};
use serde_json::Value;
use std::collections::HashMap;

/// How long a test may take where nothing else is said.
const BUDGET: &str = "60s";

/// Options of the exploration, behind `--`.
#[derive(Args, Clone, Debug, Default)]
pub struct Given {
    /// The memory model: see `porf models` [default: c20]
    #[arg(long)]
    pub model: Option<Model>,
    /// Cut off executions in which a loop runs more than N times
    #[arg(long, value_name = "N")]
    pub unroll: Option<u32>,
    /// Stop a test after this many executions, or this long (10s, 5m) [default: 60s]
    #[arg(long)]
    pub budget: Option<Budget>,
    /// Also look for memory that is never freed
    #[arg(long)]
    pub leaks: bool,
    /// Run Rust's standard library as it is compiled, without shorter ways to wait
    #[arg(long)]
    pub real_std: bool,
}

/// What a manifest says.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    all: Table,
    tests: HashMap<String, Table>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Table {
    model: Option<Model>,
    unroll: Option<u32>,
    budget: Option<Budget>,
}

impl Settings {
    /// The table `[package.metadata.porf]`, as cargo gives it.
    pub fn read(value: &Value) -> Result<Settings, Error> {
        let mut settings = Settings { all: Table::read(value)?, tests: HashMap::new() };
        for (name, table) in value["test"].as_object().into_iter().flatten() {
            settings.tests.insert(name.clone(), Table::read(table)?);
        }
        Ok(settings)
    }

    /// How a test is explored; `attribute` is what `#[porf::test(…)]` says of it.
    pub fn request(
        &self,
        test: &str,
        attribute: Option<&str>,
        given: &Given,
    ) -> Result<Request<'static>, Error> {
        let own = match attribute {
            Some(json) => Table::read(&serde_json::from_str(json).unwrap_or(Value::Null))?,
            None => self.tests.get(test).copied().unwrap_or_default(),
        };
        let checks = Checks::default();
        Ok(Request {
            unroll: given.unroll.or(own.unroll).or(self.all.unroll),
            budget: given
                .budget
                .or(own.budget)
                .or(self.all.budget)
                .unwrap_or_else(|| BUDGET.parse().unwrap_or_default()),
            checks: if given.leaks { checks.with(ViolationKind::Leak) } else { checks },
            ..Request::new(given.model.or(own.model).or(self.all.model).unwrap_or(Model::C20))
        })
    }
}

impl Table {
    fn read(value: &Value) -> Result<Table, Error> {
        let wrong = |key: &str, why: &str| Error::Input(format!("package.metadata.porf: {key}: {why}"));
        let mut table = Table::default();
        for (key, value) in value.as_object().into_iter().flatten() {
            let text = || value.as_str().ok_or_else(|| wrong(key, "not a string"));
            match key.as_str() {
                "model" => table.model = Some(text()?.parse().map_err(|why: String| wrong(key, &why))?),
                "budget" => table.budget = Some(text()?.parse().map_err(|why: String| wrong(key, &why))?),
                "unroll" => {
                    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
                    table.unroll = Some(number.ok_or_else(|| wrong(key, "not a number"))?);
                }
                "test" => {}
                _ => return Err(wrong(key, "no such setting (model, budget, unroll, test)")),
            }
        }
        Ok(table)
    }
}
