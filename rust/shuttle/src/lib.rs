//! Shuttle's API over std, for tests that Porf explores.
//!
//! Shuttle runs a test under many random schedules, on types of its own. Porf explores every execution by
//! itself, so the types here are those of std. How many iterations a test asks for, under which scheduler, is
//! accepted and not needed.
//!
//! As of models of loom, what stands behind a check in a test is not run. `replay` explores the test as `check`
//! does. Missing are labels, tags and clocks of tasks, `BatchSemaphore`, and what [`rand`] says.

mod porf_intrinsics;

pub mod annotations;
pub mod current;
pub mod future;
pub mod hint;
pub mod lazy_static;
mod macros;
pub mod rand;
pub mod scheduler;
pub mod sync;
pub mod thread;

use scheduler::Scheduler;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Options of Shuttle's runs. They are accepted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    pub stack_size: usize,
    pub failure_persistence: FailurePersistence,
    pub max_steps: MaxSteps,
    pub max_time: Option<Duration>,
    pub silence_warnings: bool,
    pub record_steps_in_span: bool,
}

impl Config {
    pub fn new() -> Config {
        Config {
            stack_size: 0x8000,
            failure_persistence: FailurePersistence::Print,
            max_steps: MaxSteps::FailAfter(1_000_000),
            max_time: None,
            silence_warnings: false,
            record_steps_in_span: false,
        }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config::new()
    }
}

/// How Shuttle keeps schedules that fail.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailurePersistence {
    None,
    Print,
    File(Option<PathBuf>),
}

/// How long Shuttle's executions may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MaxSteps {
    None,
    FailAfter(usize),
    ContinueAfter(usize),
}

/// Runs a test.
#[derive(Debug)]
pub struct Runner<S>(S);

impl<S: Scheduler + 'static> Runner<S> {
    pub fn new(scheduler: S, _: Config) -> Runner<S> {
        Runner(scheduler)
    }

    /// Explores a test. The number of iterations is 1: it is not known, and not needed.
    pub fn run<F>(self, f: F) -> usize
    where
        F: Fn() + Send + Sync + 'static,
    {
        porf_intrinsics::model(f);
        1
    }
}

/// Runs a test under several schedulers.
#[derive(Debug)]
pub struct PortfolioRunner(());

impl PortfolioRunner {
    pub fn new(_stop_on_first_failure: bool, _: Config) -> PortfolioRunner {
        PortfolioRunner(())
    }

    pub fn add(&mut self, _: impl Scheduler + Send + 'static) {}

    /// Explores a test, once for all schedulers.
    pub fn run<F>(self, f: F)
    where
        F: Fn() + Send + Sync + 'static,
    {
        porf_intrinsics::model(f);
    }
}

#[doc(hidden)]
pub fn check<F>(f: F)
where
    F: Fn() + Send + Sync + 'static,
{
    porf_intrinsics::model(f);
}

pub fn check_random<F>(f: F, _iterations: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    porf_intrinsics::model(f);
}

pub fn check_random_with_seed<F>(f: F, _seed: u64, _iterations: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    porf_intrinsics::model(f);
}

pub fn check_pct<F>(f: F, _iterations: usize, _depth: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    porf_intrinsics::model(f);
}

pub fn check_dfs<F>(f: F, _max_iterations: Option<usize>)
where
    F: Fn() + Send + Sync + 'static,
{
    porf_intrinsics::model(f);
}

pub fn check_uncontrolled_nondeterminism<F>(f: F, _max_iterations: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    porf_intrinsics::model(f);
}

pub fn replay<F>(f: F, _encoded_schedule: &str)
where
    F: Fn() + Send + Sync + 'static,
{
    porf_intrinsics::model(f);
}

pub fn annotate_replay<F>(f: F, _encoded_schedule: &str)
where
    F: Fn() + Send + Sync + 'static,
{
    porf_intrinsics::model(f);
}

pub fn replay_from_file<F, P>(f: F, _path: P)
where
    F: Fn() + Send + Sync + 'static,
    P: AsRef<Path>,
{
    porf_intrinsics::model(f);
}
