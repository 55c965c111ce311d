//! A worker of a search that somebody else drives.

use super::budget::Watch;
use super::drive::BATCH;
use super::findings::Findings;
use super::job::{Assignment, Job, Left, PartOutcome, Report, Stopped};
use super::seen::Noted;
use super::{Request, unwinds};
use crate::Error;
use crate::question::Question;
use porf_explore::{Error as ExploreError, Parts, Rest, Served, Visit, Visitor, serve};
use porf_model::Equivalence;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Who gives a worker its assignments.
pub trait Inbox {
    /// Waits for the next assignment of the same job; `None` if there is none.
    fn next(&mut self) -> Option<Assignment>;
    /// What came of the last one.
    fn report(&mut self, report: Report);
    /// The assignment that is wanted back at once: its id.
    fn hurried(&self) -> u64;
}

/// Does assignments of a job until there are no more. `share`: how many workers this machine has.
///
/// An assignment that cannot be done ends in a report that says so, not in an error.
pub fn work(job: &Job, share: u64, inbox: &mut dyn Inbox) -> Result<(), Error> {
    let question = job.question()?;
    let request = job.request()?;
    let equivalence = job.equivalence()?;
    let mut desk = Desk {
        job,
        share,
        inbox,
        question: question.as_ref(),
        request: &request,
        equivalence,
        unwinds: unwinds(job.program()),
        now: None,
    };
    loop {
        let options = request.options();
        match serve(job.program(), request.model, equivalence, &options, &mut desk) {
            Ok(()) => return Ok(()),
            // Before the search of a part began.
            Err(error) => desk.done(Err(error)),
        }
    }
}

struct Desk<'a> {
    job: &'a Job,
    share: u64,
    inbox: &'a mut dyn Inbox,
    question: Option<&'a Question>,
    request: &'a Request<'a>,
    equivalence: Equivalence,
    unwinds: bool,
    now: Option<Now<'a>>,
}

/// The assignment that is being done.
struct Now<'a> {
    id: u64,
    end: Instant,
    findings: Findings<'a>,
    batch: u64,
    /// Executions that the findings do not know of yet.
    pending: u64,
}

impl Parts for Desk<'_> {
    fn next(&mut self) -> Option<Rest> {
        let Assignment { id, milliseconds, executions, part } = self.inbox.next()?;
        let watch = Watch::start(self.job.budget(executions, self.share), None);
        let mut findings = Findings::new(self.question, self.request, watch, self.unwinds);
        findings.begin(self.job.program(), self.request.model, self.equivalence);
        let batch = if findings.looks_at_all() { 1 } else { BATCH };
        let end = Instant::now() + Duration::from_millis(milliseconds);
        self.now = Some(Now { id, end, findings, batch, pending: 0 });
        Some(part)
    }

    fn done(&mut self, served: Result<Served, ExploreError>) {
        let Some(Now { id, mut findings, pending, .. }) = self.now.take() else { return };
        findings.seen.executions += pending;
        let outcome = match served {
            Ok(Served::Left(statistics, rest)) => {
                let stopped = Stopped::of(findings.stopped.as_ref(), findings.unsupported.as_ref());
                PartOutcome::Left(Box::new(Left {
                    statistics,
                    noted: Noted::of(&findings.seen),
                    stopped,
                    rest,
                }))
            }
            Ok(Served::Anew(rest)) => PartOutcome::Anew(rest),
            Err(ExploreError::Undecided) => PartOutcome::Undecided,
            Err(ExploreError::Limit(message)) => PartOutcome::Limit(message),
            Err(ExploreError::Unsupported(message)) => PartOutcome::Unsupported(message),
            Err(error) => PartOutcome::Unsupported(error.to_string()),
        };
        self.inbox.report(Report { id, outcome });
    }
}

impl Visitor for Desk<'_> {
    fn visit(&mut self, visit: Visit<'_, '_>) -> ControlFlow<()> {
        let Some(now) = &mut self.now else { return ControlFlow::Break(()) };
        match visit {
            Visit::Complete(_) if now.batch > 1 => {
                now.pending += 1;
                if now.pending < now.batch {
                    return ControlFlow::Continue(());
                }
                now.findings.count(std::mem::take(&mut now.pending))?;
            }
            _ => now.findings.visit(visit)?,
        }
        let wanted = self.inbox.hurried() == now.id || Instant::now() >= now.end;
        if wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
