//! The events around a finding, from an execution that was run again for them.

use super::report::frames;
use super::symbols::Symbols;
use porf_event::ThreadId;
use porf_report::sample::Step;
use porf_sample::protocol::{Did, Finding, FindingKind, Shared, TRACED, Traced};
use std::collections::{HashMap, HashSet};

/// So many events before a finding are told, and so many after it.
const BEFORE: u64 = 600;
const AFTER: u64 = 20;

/// The events around a finding; none if they were not traced, or are too long ago.
pub fn around(shared: &Shared, finding: &Finding, symbols: &mut Symbols) -> Vec<Step> {
    let first = finding.traced.saturating_sub(BEFORE).max(shared.traced.saturating_sub(TRACED as u64));
    let last = (finding.traced + AFTER).min(shared.traced);
    if shared.options.trace == 0 || first >= finding.traced {
        return Vec::new();
    }
    let event = |number: u64| &shared.trace[number as usize % TRACED];
    // What one thread does with memory without a name is nobody else's concern: its stack.
    let mut users: HashMap<u64, HashSet<ThreadId>> = HashMap::new();
    for event in (first..last).map(event) {
        users.entry(event.address).or_default().insert(event.thread);
    }
    let tells = |number: &u64| {
        let event = event(*number);
        let plain = matches!(Did::from_number(event.did), Did::Read | Did::Write);
        !plain || users[&event.address].len() > 1 || symbols.variable(event.address).is_some()
    };
    let numbers: Vec<u64> = (first..last).filter(tells).collect();
    let found = numbers.partition_point(|number| *number < finding.traced);
    let events: Vec<&Traced> = numbers.iter().map(|number| event(*number)).collect();
    // Who wrote what was read: a thread's clock, and the place.
    let mut writes: HashMap<(ThreadId, u32, u64), usize> = HashMap::new();
    let mut steps: Vec<Step> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let did = Did::from_number(event.did);
        let rf = writes.get(&(event.from_thread, event.from_clock, event.address)).copied();
        steps.push(Step {
            thread: event.thread.0,
            text: text(event, did, symbols),
            kind: kind(did),
            rf: rf.filter(|_| matches!(did, Did::Load | Did::Update)),
            marked: false,
            frames: frames(&event.frames[..event.depth as usize], symbols),
        });
        if matches!(did, Did::Write | Did::Store | Did::Update) {
            writes.insert((event.thread, event.clock, event.address), at);
        }
    }
    for at in concerned(finding, &events, found) {
        steps[at].marked = true;
    }
    steps
}

/// What belongs to the finding: of a race the two accesses, otherwise what each thread did last.
fn concerned(finding: &Finding, events: &[&Traced], found: usize) -> Vec<usize> {
    let stacks = &finding.stacks[..finding.stack_count as usize];
    let kind = FindingKind::from_number(finding.kind);
    let last = |is: &dyn Fn(&Traced) -> bool| events[..found].iter().rposition(|event| is(event));
    if let ([_, earlier], Some(FindingKind::Race | FindingKind::UseAfterFree)) = (stacks, kind) {
        let (start, end) = (finding.address, finding.address + u64::from(finding.size));
        let overlaps = |event: &Traced| event.address < end && start < event.address + u64::from(event.size);
        let is_earlier = |event: &Traced| {
            event.thread == earlier.thread && event.clock == earlier.clock && overlaps(event)
        };
        return found.checked_sub(1).into_iter().chain(last(&is_earlier)).collect();
    }
    stacks.iter().filter_map(|stack| last(&|event| event.thread == stack.thread)).collect()
}

/// In a few words, as for other engines: `x := 1 rel`, `x → 1 acq`, `lock m`.
fn text(event: &Traced, did: Did, symbols: &mut Symbols) -> String {
    let name = match symbols.variable(event.address) {
        Some((name, 0)) => name,
        Some((name, offset)) => format!("{name}+{offset}"),
        None => format!("{:#x}", event.address),
    };
    let order = ["rlx", "acq", "rel", "acq_rel", "sc"].get(event.order as usize).copied().unwrap_or("");
    // What has no size has no value either.
    let size = if matches!(event.size, 1 | 2 | 4) { event.size as u8 } else { 8 };
    let number = |value: u64| porf::names::number(value, size);
    let (read, written) = (number(event.read), number(event.written));
    match did {
        Did::Read if matches!(event.size, 1 | 2 | 4 | 8) => format!("{name} → {read}"),
        Did::Read => format!("read {} bytes of {name}", event.size),
        Did::Write => format!("{name} := …"),
        Did::Load => format!("{name} → {read} {order}"),
        Did::Store => format!("{name} := {written} {order}"),
        Did::Update => format!("{name} → {read} := {written} {order}"),
        Did::Fence => format!("fence {order}"),
        Did::Acquire => format!("lock {name}"),
        Did::Release => format!("unlock {name}"),
        Did::Start => format!("start T{}", event.address),
        Did::End => "end".to_string(),
        Did::Join => format!("join T{}", event.address),
        Did::Free => format!("free {name}"),
    }
}

fn kind(did: Did) -> &'static str {
    match did {
        Did::Read | Did::Load => "read",
        Did::Write | Did::Store | Did::Update => "write",
        Did::Fence => "fence",
        Did::Start | Did::End | Did::Join => "thread",
        Did::Acquire | Did::Release | Did::Free => "other",
    }
}
