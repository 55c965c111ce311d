//! What was seen of a search so far, and the same as plain data.

use super::kept::Kept;
use crate::answer::source;
use crate::trace::stack;
use porf_event::ThreadId;
use porf_explore::{Execution, Task};
use porf_ir::Split;
use porf_verdict::SourceLocation;
use serde::{Deserialize, Serialize};

/// What was seen since the search began.
#[derive(Default)]
pub(crate) struct Seen {
    pub executions: u64,
    /// Complete and blocked graphs that are no executions, because something comes between the accesses of an
    /// atomic section.
    pub dropped: (u64, u64),
    /// Whether some execution ended the process before all threads had ended.
    pub ended: bool,
    /// Whether threads would have waited forever in such an execution.
    pub left: bool,
    /// The loops that reached the bound.
    pub loops: Places,
    /// The loops that looked at a clock and waited.
    pub clocks: Places,
    /// The assumptions that did not hold.
    pub assumptions: Places,
    /// A fault that ends executions, and a place where they hang, of kinds that were not looked for.
    pub unsought: Unsought,
    /// Whether some execution is the one that a litmus test asks for.
    pub answered: bool,
    pub found: Kept,
    /// How much has been looked at since the first violation.
    pub after: u64,
    /// A word that is accessed in whole and in part, so that accesses to the parts are made on the whole: address
    /// and size.
    pub mixed: Option<(u64, u8)>,
    /// How accesses of the program are cut.
    pub cuts: Vec<Vec<Split>>,
}

/// What went wrong in executions, but was not looked for: the first of each, in words.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Unsought {
    /// The execution ends there.
    pub fault: Option<String>,
    /// No thread can go on.
    pub hang: Option<String>,
}

/// Places at which executions were cut off: the first few, without repetition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Places {
    /// Whether there was any.
    pub any: bool,
    /// File, line and column.
    found: Vec<(String, u32, u32)>,
}

/// What was seen, as plain data: for a checkpoint, or for whoever drives the search.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Noted {
    pub executions: u64,
    pub dropped: (u64, u64),
    pub ended: bool,
    pub left: bool,
    pub loops: Places,
    #[serde(default)]
    pub clocks: Places,
    pub assumptions: Places,
    #[serde(default)]
    pub unsought: Unsought,
    #[serde(default)]
    pub mixed: Option<(u64, u8)>,
    /// Whether some execution is the one that a litmus test asks for.
    pub answered: bool,
    /// The executions that show violations, and how much was looked at since the first.
    pub violations: Vec<Task>,
    pub after: u64,
}

impl Noted {
    pub fn of(seen: &Seen) -> Noted {
        Noted {
            executions: seen.executions,
            dropped: seen.dropped,
            ended: seen.ended,
            left: seen.left,
            loops: seen.loops.clone(),
            clocks: seen.clocks.clone(),
            assumptions: seen.assumptions.clone(),
            unsought: seen.unsought.clone(),
            mixed: seen.mixed,
            answered: seen.answered,
            violations: seen.found.tasks(),
            after: seen.after,
        }
    }
}

impl Seen {
    /// Takes over what somebody else saw, but for the violations.
    pub fn add(&mut self, noted: &Noted) {
        self.dropped.0 += noted.dropped.0;
        self.dropped.1 += noted.dropped.1;
        self.ended |= noted.ended;
        self.left |= noted.left;
        self.loops.merge(&noted.loops);
        self.clocks.merge(&noted.clocks);
        self.assumptions.merge(&noted.assumptions);
        let Unsought { fault, hang } = &noted.unsought;
        self.unsought.fault = self.unsought.fault.take().or_else(|| fault.clone());
        self.unsought.hang = self.unsought.hang.take().or_else(|| hang.clone());
        self.mixed = self.mixed.or(noted.mixed);
        self.answered |= noted.answered;
    }
}

impl Places {
    fn merge(&mut self, other: &Places) {
        self.any |= other.any;
        for place in &other.found {
            if self.found.len() < Places::MOST && !self.found.contains(place) {
                self.found.push(place.clone());
            }
        }
    }

    /// How many are kept.
    const MOST: usize = 8;

    pub fn add(&mut self, execution: &Execution<'_, '_>, thread: ThreadId) {
        self.any = true;
        if self.found.len() >= Places::MOST {
            return;
        }
        let program = execution.program();
        let calls = stack(program, &execution.state(thread).stack(program));
        if let Some(SourceLocation { file, line, column }) = source(&calls).map(|frame| &frame.location) {
            let place = (file.clone(), *line, *column);
            if !self.found.contains(&place) {
                self.found.push(place);
            }
        }
    }

    /// In the order of the text.
    pub fn list(&self) -> Vec<SourceLocation> {
        let mut list: Vec<SourceLocation> = self
            .found
            .iter()
            .map(|(file, line, column)| SourceLocation { file: file.clone(), line: *line, column: *column })
            .collect();
        list.sort();
        list
    }
}
