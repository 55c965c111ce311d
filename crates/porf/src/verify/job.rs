//! What travels between the one who drives a search and its workers, as plain data.
//!
//! A [`Job`] goes to every worker once: the program as it is searched, and all options that the search depends
//! on. Workers need no compiler and no LLVM. An [`Assignment`] is a part of the search, a [`Report`] what came
//! of it. `docs/cluster.md` tells how they are sent.

use super::Request;
use super::checkpoint::Saved;
use super::seen::Noted;
use crate::input::Input;
use crate::question::Question;
use crate::{Budget, Error, MemoryLimit};
use porf_explore::{Reductions, Rest, Schedule, Statistics};
use porf_ir::Program;
use porf_model::Equivalence;
use porf_verdict::{Checks, Limit, ViolationKind};
use serde::{Deserialize, Serialize};

/// The version of all that is here.
pub const PROTOCOL: u32 = 2;

/// A search, for whoever takes part in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    #[serde(flatten)]
    version: Version,
    /// Of the program and of what the search depends on.
    fingerprint: u64,
    /// Compiled for the model.
    program: Program,
    /// Of a litmus test: its name and text.
    test: Option<(String, String)>,
    model: String,
    equivalence: String,
    unroll: Option<u32>,
    all: bool,
    checks: Vec<String>,
    schedule: Schedule,
    branches: Option<u32>,
    reductions: Reductions,
    /// How much memory the workers on one machine may have together.
    memory: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Version {
    protocol: u32,
    porf: String,
}

/// A part of a search, for one worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Assignment {
    /// Tells it from all others.
    pub id: u64,
    /// After this long what is left is given back.
    pub milliseconds: u64,
    /// After so many executions too.
    pub executions: Option<u64>,
    /// What to search.
    pub part: Rest,
}

/// What came of a part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Of the assignment.
    pub id: u64,
    /// What came of it.
    pub outcome: PartOutcome,
}

/// What came of a part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum PartOutcome {
    /// It was searched; this is left.
    Left(Box<Left>),
    /// The whole search has to begin anew, as this says.
    Anew(Rest),
    /// Up to rf it cannot be decided.
    Undecided,
    /// The program has something that the explorer does not treat.
    Unsupported(String),
    /// A fixed limit of the explorer was reached.
    Limit(String),
}

/// A part that was searched.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Left {
    pub(super) statistics: Statistics,
    pub(super) noted: Noted,
    pub(super) stopped: Option<Stopped>,
    pub(super) rest: Rest,
}

/// Why the whole search should end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Stopped {
    Memory(u64),
    Unsupported(String),
    Other(String),
}

impl Version {
    fn own() -> Version {
        Version { protocol: PROTOCOL, porf: env!("CARGO_PKG_VERSION").to_string() }
    }
}

impl Job {
    pub(super) fn new(
        program: &Program,
        request: &Request<'_>,
        equivalence: Equivalence,
        question: Option<&Question>,
    ) -> Job {
        let kinds = ViolationKind::ALL.into_iter().filter(|kind| request.checks.has(*kind));
        Job {
            version: Version::own(),
            fingerprint: Saved::fingerprint(program, request, equivalence),
            program: program.clone(),
            test: question.map(|question| (program.name.clone(), question.text().to_string())),
            model: request.model.name().to_string(),
            equivalence: equivalence.to_string(),
            unroll: request.unroll,
            all: request.all,
            checks: kinds.map(|kind| kind.word().to_string()).collect(),
            schedule: request.schedule,
            branches: request.branches,
            reductions: request.reductions,
            memory: request.budget.memory.map(|memory| memory.bytes),
        }
    }

    /// Reads a job, which must come from the same version, whole.
    pub fn read(text: &str) -> Result<Job, Error> {
        let fail = |message: String| Error::Input(format!("the job cannot be taken: {message}"));
        let version: Version = serde_json::from_str(text).map_err(|error| fail(error.to_string()))?;
        let own = Version::own();
        if version != own {
            let said = |version: &Version| format!("porf {}, protocol {}", version.porf, version.protocol);
            return Err(fail(format!("it is from {}, and this is {}", said(&version), said(&own))));
        }
        let job: Job = serde_json::from_str(text).map_err(|error| fail(error.to_string()))?;
        let request = job.request()?;
        if Saved::fingerprint(&job.program, &request, job.equivalence()?) != job.fingerprint {
            return Err(fail("the fingerprint of its program is another one".to_string()));
        }
        Ok(job)
    }

    /// The text that [`Job::read`] takes, in one line.
    pub fn write(&self) -> Result<String, Error> {
        serde_json::to_string(self).map_err(|error| Error::Input(error.to_string()))
    }

    pub(super) fn program(&self) -> &Program {
        &self.program
    }

    pub(super) fn question(&self) -> Result<Option<Question>, Error> {
        let Some((name, text)) = &self.test else { return Ok(None) };
        Ok(Input::litmus(name, text)?.question)
    }

    pub(super) fn equivalence(&self) -> Result<Equivalence, Error> {
        [Equivalence::Mo, Equivalence::Rf]
            .into_iter()
            .find(|one| one.to_string() == self.equivalence)
            .ok_or_else(|| Error::Input(format!("no equivalence {}", self.equivalence)))
    }

    /// The same request, for one worker.
    pub(super) fn request(&self) -> Result<Request<'_>, Error> {
        let kinds = ViolationKind::ALL.into_iter();
        let named = |kind: &ViolationKind| self.checks.iter().any(|word| word == kind.word());
        Ok(Request {
            equivalence: self.equivalence()?,
            unroll: self.unroll,
            all: self.all,
            checks: kinds.filter(named).fold(Checks::NONE, Checks::with),
            schedule: self.schedule,
            branches: self.branches,
            reductions: self.reductions,
            ..Request::new(self.model.parse().map_err(Error::Input)?)
        })
    }

    /// The budget of one of `share` workers on a machine.
    pub(super) fn budget(&self, executions: Option<u64>, share: u64) -> Budget {
        let memory = self.memory.map(|bytes| MemoryLimit { bytes }).or_else(MemoryLimit::half);
        let memory = memory.map(|memory| MemoryLimit { bytes: memory.bytes / share.max(1) });
        Budget { executions, memory, time: None }
    }
}

impl Stopped {
    /// Of a search for its part: only what concerns the whole.
    pub fn of(limit: Option<&Limit>, unsupported: Option<&String>) -> Option<Stopped> {
        match (limit, unsupported) {
            (_, Some(message)) => Some(Stopped::Unsupported(message.clone())),
            (Some(Limit::Memory { limit_bytes }), _) => Some(Stopped::Memory(*limit_bytes)),
            (Some(Limit::Other(message)), _) => Some(Stopped::Other(message.clone())),
            _ => None,
        }
    }
}
