//! Counters that go down and up again: `while (fetch_sub(&c, a) <= 0) { fetch_add(&c, a); while (c <= 0) {} }`.
//!
//! An attempt that fails changes the counter, and takes it back. Such an iteration need not be made: a thread that
//! comes back to an earlier state waits there, and one whose next attempt q leads where its earlier attempt p could
//! have led at once ends ([`retries`](super::retries) does the same where nothing is written in between).
//!
//! Nobody says that a variable is a counter. The first iteration that would be left out if it were one makes the
//! search begin anew, with that assumption: the variable, the *steps* by which it is away from where it was while
//! such an iteration is going on (−a above), and how many threads there are. What is assumed is looked at with every
//! event of a graph, and where it does not hold the search begins once more, with a variable that is no counter:
//!
//! - All accesses are atomic, and all writes are read-modify-writes, but for stores before there are other threads.
//! - Let a *shift* be a sum of steps, of as many as there are other threads at most. A thread that reads v must do
//!   the same if it reads v and a shift: come to a state that is alike, and add as much to the counter. Or that read
//!   must lead to nothing: to nothing but accesses to the counter, whatever they read, and in the end to an iteration
//!   that is left out too, and the read with it. A read that ends an iteration is asked about as well: shifted, it
//!   might not end it.
//! - It may also lead to waiting for another value, after all has been taken back and with nothing but steps up to
//!   there. It may wait in vain then, and so the read must lead to nothing also if it gives what is there in the end.
//! - Values are away from the first one by a sum of steps, of as many as there are threads at most. So the values
//!   that "whatever they read" stands for are known.
//! - An iteration that is left out begins where the additions of its thread so far come to 0. So each thread is in
//!   at most one of them at a time, one inside of another counting as one.
//!
//! Why nothing is lost: take an execution, and leave out all such iterations of all threads at once, and with them,
//! again and again, those of threads that then would come back sooner. The writes to a counter are a chain of
//! read-modify-writes. Who stays and read from one that does not stay reads from the last one before it that stays.
//! - It is consistent: both are in one release sequence, so who acquires from the later one acquires from the
//!   earlier one too, and the new edges of rf are in porf and in the extended coherence order of what there was.
//!   Everything else is less order. q takes the place of p, whose modes are no stronger.
//! - It is an execution of the program: a read that stays gave v and a shift, now it gives v. Go along an order that
//!   extends porf. What is before the read has been shortened already, and the search comes to it; so the question
//!   was asked there, and was answered: the thread does the same, or what it did led to nothing. But then it has been
//!   left out.
//! - The counter ends as before, for an iteration adds 0 in all. What races, still does: only atomic accesses to the
//!   counter and atomic reads are left out, of memory that nobody frees.
//!
//! An attempt that leads to nothing whatever comes next is not even made: the thread waits at its read
//! (`fails_at_once`). So nobody sees what is in between, and there are few executions in which threads only wait.
//!
//! A thread that ended up waiting in vain still does. In the end all iterations that are left out are over, so the
//! counter has the same value without them; and the read after which it came to wait gives that value, or leads to
//! nothing.
//!
//! A thread that waits like this hangs if every other thread, since what it read, has added a step or 0 in all: what
//! it reads next differs by a shift, so it does the same again, or what leads to nothing.
//!
//! Source: Kokologiannakis, Ren, Vafeiadis, "Dynamic partial order reductions for spinloops", FMCAD 2021, who call
//! this a zero net effect. There a loop is known by its text, and that nobody sees what is in between is asked of
//! the writes next to each other.
//!
//! Limits: [`Counter::MOST`] steps, values of up to eight bytes that are not also accessed in parts. Cost: where a
//! counter was found, some runs of the interpreter for each history that reads it. What is known of one answer to an
//! attempt is remembered, and holds for all answers that lead to the same.

use super::flags::{Flag, Flags};
use super::retries::Loss;
use crate::engine::Engine;
use crate::error::Error;
use crate::history::{History, Next, Tag};
use porf_consistency::MemoryModel;
use porf_event::{BlockReason, Label, ReadMode, RmwKind, Value};
use porf_graph::{Ev, Loc};
use porf_interp::{Step, ThreadState};
use porf_ir::Width;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::sync::Arc;

/// What a search takes a counter for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    /// What was stored there before there were other threads, if that was not the initial value.
    starts: Option<Value>,
    /// How far away from where it was an iteration that is left out may leave it meanwhile; 0 for none.
    steps: [Value; Counter::MOST],
    /// How many threads there are.
    threads: u16,
}

impl Counter {
    const MOST: usize = 4;

    /// With more steps; `None` if there are too many of them.
    fn with(mut self, steps: &[Value]) -> Option<Counter> {
        for &step in steps.iter().filter(|step| **step != 0) {
            if !self.steps.contains(&step) {
                *self.steps.iter_mut().find(|place| **place == 0)? = step;
            }
        }
        Some(self)
    }
}

/// More values than this are not asked about.
const MOST_VALUES: usize = 400;
/// Iterations with more steps are not left out. This bounds how far back is looked at every event.
const LONGEST: usize = 16;
/// After so many changes in a row a thread makes its attempts to their ends.
const MOST_UPDATES: usize = 8;
/// How many reads of a thread are followed that finds a counter shifted.
const FAR: u32 = 6;

/// A counter, and what follows from what is known of it.
pub(crate) struct Counting {
    flag: Flag,
    counter: Counter,
    width: Width,
    /// By how much a value may differ because of iterations that are left out.
    shifts: Vec<Value>,
    /// By how much values may differ from the first one: without such iterations, and with them.
    held: Vec<Value>,
    all: Vec<Value>,
}

impl Counting {
    /// The counters among variables.
    pub fn of(flags: &Flags) -> Vec<Arc<Counting>> {
        let counting = |flag: Flag| {
            let (counter, width) = (flag.counter?, Width::of_bytes(flag.size));
            let threads = usize::from(counter.threads);
            let sums = |most: usize| sums(&counter.steps, most, width);
            let (shifts, held) = (sums(threads - 1), sums(threads));
            Some(Arc::new(Counting { flag, counter, width, shifts, held, all: sums(2 * threads - 1) }))
        };
        flags.iter().filter_map(counting).collect()
    }

    /// Whether a thread that added so much in all may be inside of an iteration that is left out, or did nothing.
    pub fn is_step(&self, sum: Value) -> bool {
        let sum = self.width.truncate(sum);
        sum == 0 || self.counter.steps.contains(&sum)
    }

    /// That the variable is no counter.
    fn refuted(&self) -> Error {
        Error::Flag(Flag { counter: None, ..self.flag })
    }

    /// That the counter is another one.
    fn changed(&self, counter: Counter) -> Error {
        Error::Flag(Flag { counter: Some(counter), ..self.flag })
    }
}

/// All sums of so many steps at most.
fn sums(steps: &[Value], most: usize, width: Width) -> Vec<Value> {
    let mut all: Vec<Value> = vec![0];
    let mut from = 0;
    for _ in 0..most {
        let end = all.len();
        for at in from..end {
            for step in steps.iter().filter(|step| **step != 0) {
                let sum = width.truncate(all[at].wrapping_add(*step));
                if !all.contains(&sum) && all.len() <= MOST_VALUES {
                    all.push(sum);
                }
            }
        }
        from = end;
    }
    all
}

/// What a thread does with an answer to a read: up to its next instruction that asks for an event.
struct Outcome {
    read: Label,
    /// The write of the same instruction, if there is one.
    write: Option<Label>,
    state: ThreadState,
    step: Step,
}

impl Outcome {
    /// What it adds to the location, and how; nothing if it does not write.
    fn adds(&self, width: Width) -> Option<(Value, porf_event::WriteMode, RmwKind)> {
        match (self.read, self.write) {
            (Label::Read { value: old, .. }, Some(Label::Write { value, mode, rmw, .. })) => {
                Some((width.truncate(value.wrapping_sub(old)), mode, rmw))
            }
            _ => None,
        }
    }

    fn how(&self) -> Option<(ReadMode, RmwKind)> {
        match self.read {
            Label::Read { mode, rmw, .. } => Some((mode, rmw)),
            _ => None,
        }
    }
}

/// An answer to a read that was followed to its end, and whether the thread waits at once.
struct Asked {
    outcome: Outcome,
    waits: bool,
}

/// What is asked about a read of a counter.
struct Question {
    counting: Arc<Counting>,
    /// The value that the counter had first.
    first: Value,
    /// The history before the read, and the place of the read in its thread.
    before: Tag,
    index: u32,
    /// What a thread may come to wait at: answers that must lead to nothing as well.
    waits: Vec<Value>,
    /// Since when a thread repeats itself that does nothing, and whether it may come to a bound.
    since: u32,
    is_bounded: bool,
}

impl Question {
    fn new(counting: Arc<Counting>, first: Value, before: Tag, index: u32) -> Question {
        Question { counting, first, before, index, waits: Vec::new(), since: index, is_bounded: false }
    }
}

/// What a thread has done since a read that is asked about.
#[derive(Clone, Copy)]
struct Path {
    /// What it added to the counter in all, and whether that was a step all the time.
    sum: Value,
    is_step: bool,
    /// The last value of the counter that it knows.
    last: Value,
}

/// Whether an event is half of a read-modify-write as counters have them.
fn is_update(rmw: RmwKind) -> bool {
    matches!(rmw, RmwKind::Amo | RmwKind::AmoNoReturn)
}

impl History<'_> {
    /// The counter at a location.
    pub fn counting(&self, loc: Loc) -> Option<&Arc<Counting>> {
        let known = self.retries.as_ref().filter(|known| !known.counting.is_empty())?;
        let cell = self.cells().get(loc.as_usize())?;
        let is = |counting: &&Arc<Counting>| {
            (counting.flag.address, counting.flag.size) == (cell.location.0, cell.size)
        };
        known.counting.iter().find(is)
    }

    /// Whether a thread need not go on, because all that it did to a counter since an earlier state or attempt has been
    /// undone: why it ends, and since when it would repeat itself.
    pub fn is_undone(&mut self, tag: Tag) -> Result<Option<(BlockReason, Option<u32>)>, Error> {
        if !self.retries.as_ref().is_some_and(|known| known.counts) {
            return Ok(None);
        }
        // In the middle of an attempt q, or before the next event.
        let attempt = self.state(tag).is_mid_instruction();
        let (mut after, mut loc, mut value) = (tag, None, 0);
        if attempt {
            let Label::Read { rmw, value: read, .. } = self.node(tag).label else { return Ok(None) };
            let Some(before) = self.node(tag).parent.filter(|_| is_update(rmw)) else { return Ok(None) };
            (after, loc, value) = (before, Some(self.node(before).loc), read);
        }
        let mut steps: SmallVec<[Value; 4]> = SmallVec::new();
        while let Some(at) = self.node(after).parent {
            let (label, here) = (self.node(after).label, self.node(at).loc);
            let is_quiet = self.state(after).effects() == self.state(at).effects();
            match label {
                Label::Write { rmw, .. } if is_update(rmw) && loc.is_none_or(|loc| loc == here) => {
                    let Some(step) = self.step(after, at) else { return Ok(None) };
                    if steps.len() == LONGEST {
                        return Ok(None);
                    }
                    loc = Some(here);
                    steps.push(step);
                }
                Label::Read { mode, rmw, .. } if is_quiet && mode != ReadMode::Plain => {
                    if !(is_update(rmw) || matches!(rmw, RmwKind::None | RmwKind::Failed)) {
                        return Ok(None);
                    }
                }
                Label::Fence { .. } if is_quiet => {}
                _ => return Ok(None),
            }
            if !matches!(self.loss(after, at, false), Loss::Nothing) {
                return Ok(None);
            }
            if let Some(loc) = loc
                && !steps.is_empty()
                && self.sum(loc, &steps) == Some(0)
                && !self.state(at).is_mid_instruction()
            {
                let is_attempt = here == loc && matches!(label, Label::Read { rmw, .. } if is_update(rmw));
                let comes_back = match attempt {
                    true => is_attempt && self.leads_as_well(at, tag, value),
                    false => self.are_like(self.state(at), self.state(tag)),
                };
                if comes_back {
                    let repeats = !attempt || label.value() == Some(value);
                    let since = self.state(at).events();
                    let ended = self.may_leave_out(at, loc, &steps)?;
                    let looked = self.state(at).looks() != self.state(tag).looks();
                    let why = match (repeats, looked) {
                        (true, false) => (BlockReason::Spin, Some(since)),
                        (true, true) => (BlockReason::Clock, Some(since)),
                        (false, _) => (BlockReason::Retry, None),
                    };
                    return Ok(ended.then_some(why));
                }
            }
            after = at;
        }
        Ok(None)
    }

    /// What a thread added to a location with the write that led to `after`.
    fn step(&self, after: Tag, at: Tag) -> Option<Value> {
        let cell = self.cells().get(self.node(at).loc.as_usize())?;
        match (self.node(at).label, self.node(after).label) {
            (Label::Read { value: old, .. }, Label::Write { value, .. }) if cell.size <= 8 => {
                Some(Width::of_bytes(cell.size).truncate(value.wrapping_sub(old)))
            }
            _ => None,
        }
    }

    fn sum(&self, loc: Loc, steps: &[Value]) -> Option<Value> {
        let width = Width::of_bytes(self.cells().get(loc.as_usize())?.size);
        Some(width.truncate(steps.iter().fold(0, |sum: Value, step| sum.wrapping_add(*step))))
    }

    /// Whether the earlier attempt after `before` leads where the one that led to `tag` does, if it gives the same
    /// value, and orders no more.
    fn leads_as_well(&self, before: Tag, tag: Tag, value: Value) -> bool {
        let Some(late) = self.node(tag).parent else { return false };
        let (Some(early), Some(late)) = (self.outcome(before, value), self.outcome(late, value)) else {
            return false;
        };
        let orders_less = match (early.how(), late.how(), early.write, late.write) {
            (
                Some((mode, rmw)),
                Some((other, kind)),
                Some(Label::Write { value: writes, mode: write, .. }),
                Some(Label::Write { value: also, mode: late, .. }),
            ) => mode <= other && rmw == kind && writes == also && write <= late,
            _ => false,
        };
        orders_less && self.go_on_alike(&early, &late)
    }

    /// What a thread does that is told a value by its next read.
    fn outcome(&self, before: Tag, value: Value) -> Option<Outcome> {
        let Next::Emit(label) = self.node(before).next else { return None };
        let mut state = self.state(before).clone();
        let read = self.interp.settle(&state, label, value);
        self.interp.deliver(&mut state, value);
        let mut step = self.interp.run(&mut state);
        let mut write = None;
        if let Step::Emit(label @ Label::Write { rmw, .. }) = step
            && is_update(rmw)
            && state.is_mid_instruction()
        {
            write = Some(label);
            self.interp.deliver(&mut state, 0);
            step = self.interp.run(&mut state);
        }
        Some(Outcome { read, write, state, step })
    }

    fn go_on_alike(&self, a: &Outcome, b: &Outcome) -> bool {
        let both = matches!((&a.step, &b.step), (Step::Emit(_), Step::Emit(_)))
            || matches!((&a.step, &b.step), (Step::Finished, Step::Finished));
        both && self.are_like(&a.state, &b.state)
    }

    /// Whether two answers to the same read lead to the same.
    fn are_alike(&self, a: &Outcome, b: &Outcome, width: Width) -> bool {
        a.how() == b.how() && a.adds(width) == b.adds(width) && self.go_on_alike(a, b)
    }

    /// Whether an iteration may be left out that begins at `at` and makes these steps, the last one first. If it might
    /// be one day, the search begins anew.
    fn may_leave_out(&self, at: Tag, loc: Loc, steps: &[Value]) -> Result<bool, Error> {
        let width = Width::of_bytes(self.cells()[loc.as_usize()].size);
        // What the thread has added so far must come to nothing.
        let mut before: SmallVec<[Value; 8]> = SmallVec::new();
        let mut after = at;
        while let Some(at) = self.node(after).parent {
            if self.node(at).loc == loc
                && let Label::Write { rmw, .. } = self.node(after).label
            {
                match self.step(after, at).filter(|_| is_update(rmw)) {
                    Some(step) => before.push(step),
                    None => break,
                }
            }
            after = at;
        }
        if self.sum(loc, &before) != Some(0) {
            return Ok(false);
        }
        let (mut sums, mut sum): (SmallVec<[Value; 4]>, Value) = (SmallVec::new(), 0);
        for step in steps.iter().rev() {
            sum = width.truncate(sum.wrapping_add(*step));
            sums.push(sum);
        }
        let Some(known) = self.retries.as_ref() else { return Ok(false) };
        let (counter, flag) = match (self.flag(loc), self.counting(loc)) {
            (Some(_), Some(counting)) => {
                if sums.iter().all(|sum| counting.is_step(*sum)) {
                    return Ok(true);
                }
                (counting.counter, counting.flag)
            }
            (Some(_), None) => return Ok(false),
            (None, _) if known.flags.is_full() => return Ok(false),
            (None, _) => {
                let cell = self.cells()[loc.as_usize()];
                let flag = Flag {
                    address: cell.location.0,
                    size: cell.size,
                    taken: None,
                    counter: None,
                    only: None,
                    owner: None,
                };
                let threads = self.thread_count() as u16;
                (Counter { starts: None, steps: [0; Counter::MOST], threads }, flag)
            }
        };
        Err(Error::Flag(Flag { counter: counter.with(&sums), ..flag }))
    }

    /// Begins anew if the last event of a history is not one of a counter, or if it would matter that it is shifted.
    fn look_at_counter(&mut self, tag: Tag) -> Result<(), Error> {
        let Some(before) = self.node(tag).parent else { return Ok(()) };
        let Some(counting) = self.counting(self.node(before).loc).cloned() else { return Ok(()) };
        if !self.retries.as_mut().is_some_and(|known| known.looked.insert(tag.0)) {
            return Ok(());
        }
        let counting = &counting;
        let Counting { counter, width, .. } = **counting;
        self.look_at_thread_count()?;
        let first = counter.starts.unwrap_or(self.cells()[self.node(before).loc.as_usize()].initial);
        let fits = match self.node(tag).label {
            Label::Read { mode: ReadMode::Plain, .. } => false,
            Label::Read { value, rmw, .. }
                if is_update(rmw) || matches!(rmw, RmwKind::None | RmwKind::Failed) =>
            {
                let Some(now) = self.outcome(before, value) else { return Err(counting.refuted()) };
                let shifted: Vec<Value> =
                    counting.shifts.iter().map(|shift| width.truncate(value.wrapping_add(*shift))).collect();
                let index = self.state(before).events();
                let question = Question::new(Arc::clone(counting), first, before, index);
                self.ask(true);
                let answer = self.may_be_shifted(question, &shifted, &now);
                self.ask(false);
                answer? && counting.all.len() <= MOST_VALUES
            }
            Label::Write { value, rmw, .. } if is_update(rmw) => {
                counting.held.contains(&width.truncate(value.wrapping_sub(first)))
            }
            // Nobody else is there yet.
            Label::Write { value, rmw: RmwKind::None, .. } if self.is_alone(tag) => match counter.starts {
                None => return Err(counting.changed(Counter { starts: Some(value), ..counter })),
                Some(known) => known == value,
            },
            Label::Read { .. } | Label::Write { .. } => false,
            _ => true,
        };
        if fits { Ok(()) } else { Err(counting.refuted()) }
    }

    /// Begins anew if there are more threads than was assumed.
    pub fn look_at_thread_count(&self) -> Result<(), Error> {
        let Some(known) = self.retries.as_ref().filter(|known| !known.counting.is_empty()) else {
            return Ok(());
        };
        let threads = self.thread_count() as u16;
        match known.counting.iter().find(|counting| counting.counter.threads < threads) {
            Some(counting) => Err(counting.changed(Counter { threads, ..counting.counter })),
            None => Ok(()),
        }
    }

    /// Whether no thread has been started up to here.
    fn is_alone(&self, mut tag: Tag) -> bool {
        let creates = |label: &Label| matches!(label, Label::Create { .. });
        while let Some(before) = self.node(tag).parent {
            if creates(&self.node(tag).label) {
                return false;
            }
            tag = before;
        }
        self.interp.program().threads.len() == 1 && self.state(tag).thread().0 == 0
    }

    /// Whether a thread is in the middle of an attempt that it will take back, whatever it reads then: since when it
    /// repeats itself.
    pub fn fails_at_once(&mut self, tag: Tag) -> Result<Option<u32>, Error> {
        let Label::Read { rmw, value, .. } = self.node(tag).label else { return Ok(None) };
        let Some(before) = self.node(tag).parent.filter(|_| is_update(rmw)) else { return Ok(None) };
        let loc = self.node(before).loc;
        let Some(counting) = self.counting(loc).cloned() else { return Ok(None) };
        let lost = !matches!(self.loss(tag, before, false), Loss::Nothing);
        if !self.state(tag).is_mid_instruction() || lost || self.updates(before, loc) > MOST_UPDATES {
            return Ok(None);
        }
        let Some(now) = self.outcome(before, value) else { return Ok(None) };
        if let Some((_, since)) = self.known_attempt(before, &now, counting.width) {
            return Ok(*since);
        }
        let first = counting.counter.starts.unwrap_or(self.cells()[loc.as_usize()].initial);
        let index = self.state(before).events();
        let mut question = Question::new(Arc::clone(&counting), first, before, index);
        let asks = self.retries.as_ref().is_some_and(|known| known.asks);
        self.ask(true);
        let path = Path { sum: 0, is_step: true, last: value };
        let answer = self.comes_to_nothing(tag, path, &mut question, FAR);
        self.ask(asks);
        // It may come to wait for another value, in vain. Then this attempt must fail with that, too.
        let fails = |value: &Value| {
            self.outcome(before, *value).is_some_and(|other| self.are_alike(&now, &other, counting.width))
        };
        let fails = answer? && !question.is_bounded && question.waits.iter().all(fails);
        let since = fails.then_some(question.since);
        if let Some(known) = &mut self.retries {
            known.attempts.entry(before.0).or_default().push((value, since));
        }
        Ok(since)
    }

    /// Another answer to the same attempt that leads to the same, and since when it fails.
    fn known_attempt(&self, before: Tag, now: &Outcome, width: Width) -> Option<&(Value, Option<u32>)> {
        let known = self.retries.as_ref()?.attempts.get(&before.0)?;
        known.iter().find(|(other, _)| {
            self.outcome(before, *other).is_some_and(|outcome| self.are_alike(&outcome, now, width))
        })
    }

    /// How often a thread has changed a counter since it did anything else.
    fn updates(&self, mut after: Tag, loc: Loc) -> usize {
        let mut updates = 0;
        while let Some(at) = self.node(after).parent.filter(|_| updates <= MOST_UPDATES) {
            match self.node(after).label {
                Label::Write { rmw, .. } if is_update(rmw) && self.node(at).loc == loc => updates += 1,
                Label::Read { .. } | Label::Fence { .. } => {}
                _ => break,
            }
            after = at;
        }
        updates
    }

    /// Whether the read that comes next may have to wait: it is that of a counter, which may be too low.
    pub fn may_fail(&self, next: &Label, loc: Loc) -> bool {
        matches!(next, Label::Read { rmw, .. } if is_update(*rmw)) && self.counting(loc).is_some()
    }

    /// Whether each answer to a read leads to nothing, or to the same as what it gave `now`.
    fn may_be_shifted(
        &mut self,
        mut question: Question,
        shifted: &[Value],
        now: &Outcome,
    ) -> Result<bool, Error> {
        let width = question.counting.width;
        for &answer in shifted {
            let Some(outcome) = self.outcome(question.before, answer) else { return Ok(false) };
            if !self.are_alike(now, &outcome, width) && !self.is_for_nothing(answer, &mut question)? {
                return Ok(false);
            }
        }
        // More may be added meanwhile.
        let mut asked = 0;
        while let Some(&answer) = question.waits.get(asked) {
            if !self.is_for_nothing(answer, &mut question)? {
                return Ok(false);
            }
            asked += 1;
        }
        Ok(true)
    }

    /// Whether an answer to a read leads to nothing.
    fn is_for_nothing(&mut self, answer: Value, question: &mut Question) -> Result<bool, Error> {
        let after = self.child(question.before, answer)?;
        let path = Path { sum: 0, is_step: true, last: answer };
        self.comes_to_nothing(after, path, question, FAR)
    }

    /// Whether a thread does nothing from here on but access a counter, and then ends, whatever it reads.
    fn comes_to_nothing(
        &mut self,
        mut tag: Tag,
        mut path: Path,
        question: &mut Question,
        far: u32,
    ) -> Result<bool, Error> {
        let width = question.counting.width;
        loop {
            let node = self.node(tag);
            let is_here = self.counting(node.loc).is_some_and(|other| Arc::ptr_eq(other, &question.counting));
            tag = match node.next {
                Next::Blocked(reason) => return Ok(self.is_nothing(tag, reason, path, question)),
                Next::Emit(Label::Fence { .. }) => self.child(tag, 0)?,
                Next::Emit(Label::Write { rmw, value, .. }) if is_here && is_update(rmw) => {
                    let after = self.child(tag, 0)?;
                    let Some(step) = self.step(after, tag) else { return Ok(false) };
                    path.sum = width.truncate(path.sum.wrapping_add(step));
                    path.is_step &= question.counting.is_step(path.sum);
                    path.last = value;
                    after
                }
                Next::Emit(Label::Read { .. }) if is_here && far > 0 => {
                    return self.all_come_to_nothing(tag, path, question, far - 1);
                }
                _ => return Ok(false),
            };
        }
    }

    /// The same, whatever the next read gives.
    fn all_come_to_nothing(
        &mut self,
        before: Tag,
        path: Path,
        question: &mut Question,
        far: u32,
    ) -> Result<bool, Error> {
        let counting = Arc::clone(&question.counting);
        let width = counting.width;
        let read_before = self.values_read(before);
        let mut asked: Vec<Asked> = Vec::new();
        for sum in &counting.all {
            let answer = width.truncate(question.first.wrapping_add(*sum));
            let Some(outcome) = self.outcome(before, answer) else { return Ok(false) };
            let alike = asked.iter().find(|other| self.are_alike(&other.outcome, &outcome, width));
            // What is alike goes on alike. If it ends here and others do not, an earlier read leads there as well; it
            // waits here only if others do, or if it is given what it was given before.
            if alike.is_some_and(|other| !other.waits) && !read_before.contains(&answer) {
                continue;
            }
            let is_known = alike.is_some();
            let after = self.child(before, answer)?;
            let ends = matches!(self.node(after).next, Next::Blocked(_));
            if !ends && is_known {
                continue;
            }
            if !self.comes_to_nothing(after, Path { last: answer, ..path }, question, far)? {
                return Ok(false);
            }
            let waits = matches!(self.node(after).next, Next::Blocked(BlockReason::Spin));
            asked.push(Asked { outcome, waits });
        }
        Ok(true)
    }

    /// What a thread has read at the location that it reads next.
    fn values_read(&self, before: Tag) -> SmallVec<[Value; 8]> {
        let loc = self.node(before).loc;
        let mut values = SmallVec::new();
        let mut after = before;
        while let Some(at) = self.node(after).parent {
            if self.node(at).loc == loc
                && let Label::Read { value, .. } = self.node(after).label
            {
                values.push(value);
            }
            after = at;
        }
        values
    }

    /// Whether a thread that ends at a history has done nothing since the read that is asked about.
    fn is_nothing(&self, tag: Tag, reason: BlockReason, path: Path, question: &mut Question) -> bool {
        match (reason, self.waits_since(tag)) {
            // A shorter way leads here, and is asked about too.
            (BlockReason::Retry, _) => true,
            // Nobody wants to know.
            (BlockReason::Bound, _) => {
                question.is_bounded = true;
                true
            }
            // The read is left out too.
            (BlockReason::Spin, Some(since)) if since <= question.index => {
                question.since = question.since.min(since);
                true
            }
            // It waits for what comes, and in vain if nothing does. Then the read must lead to waiting, too, if it
            // gives what there is in the end.
            (BlockReason::Spin, Some(_)) if path.sum == 0 && path.is_step => {
                if !question.waits.contains(&path.last) {
                    question.waits.push(path.last);
                }
                true
            }
            _ => false,
        }
    }
}

impl<M: MemoryModel> Engine<'_, M> {
    /// Finds out whether an event is one that what is assumed of counters does not fit.
    #[cold]
    pub fn look_at_counters(&mut self, event: Ev) {
        if self.wrong_guess.is_none() {
            let tag = Tag(self.trail.now.event(event).tag);
            self.wrong_guess = self.trail.history.look_at_counter(tag).err();
        }
    }
}
