//! The memory of the release–acquire machine: messages, and what each process has seen of them.
//!
//! Source: the view-based machine of Kang et al. (POPL 2017, section 2) and Podkopaev et al. (2016) for the
//! release–acquire fragment of C11 (Lahav, Giannarakis, Vafeiadis, "Taming Release-Acquire Consistency", POPL 2016):
//! every write releases and every read acquires. Each location has its messages in coherence order. A view gives for each
//! location the newest message that was seen. A process reads a message that is no older than what it has seen, and then
//! has seen all that the writer had. A write goes to any place after what its process has seen. The write of a locked step
//! follows the message that the step read, and nothing comes between them.
//!
//! Deviations: a step may read and write several locations at one moment. It is then one event of an execution graph:
//! the view after the step is that of all its reads, and none of them may be older than that. A fence is a read-modify-write
//! of a location of its own, as in section 7 of the 2016 paper.
//! Timestamps are positions. What no process can read any more is dropped, so that loops come back to the same state.

use super::Value;
use smallvec::SmallVec;

/// Per location, a position in its messages.
pub type View = SmallVec<[u8; 8]>;

/// All messages, and all views.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Messages {
    /// Per location, its messages in coherence order. The first is one that some process may still read.
    pub locations: Vec<Vec<Message>>,
    /// Per process, what it has seen.
    pub views: Vec<View>,
    /// What the process of the last fence had seen.
    pub fenced: View,
}

/// A write.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Message {
    /// What was written.
    pub value: Value,
    /// A locked step wrote it: nothing comes between it and the message before.
    pub follows: bool,
    /// What its writer had seen, this write included.
    pub view: View,
}

/// What a step reads: a location, and the position of the message.
pub type Reads = SmallVec<[(u16, u8); 4]>;

impl Messages {
    /// One message for each location, which all processes have seen.
    pub fn initial(values: impl Iterator<Item = Value>, processes: usize) -> Messages {
        let values: Vec<Value> = values.collect();
        let none = View::from_elem(0, values.len());
        let message = |value: Value| Message { value, follows: false, view: none.clone() };
        Messages {
            locations: values.into_iter().map(|value| vec![message(value)]).collect(),
            views: vec![none.clone(); processes],
            fenced: none,
        }
    }

    /// A fence of the process.
    pub fn fence(&mut self, process: usize) {
        join(&mut self.views[process], &self.fenced);
        self.fenced.clone_from(&self.views[process]);
    }

    /// Calls `visit` with every way for the process to read the locations at one moment, and with its view then.
    pub fn snapshots(&self, process: usize, locations: &[u16], visit: &mut impl FnMut(&Reads, &View)) {
        let mut reads = Reads::new();
        self.snapshot(locations, &mut reads, &self.views[process], visit);
    }

    fn snapshot(
        &self,
        locations: &[u16],
        reads: &mut Reads,
        view: &View,
        visit: &mut impl FnMut(&Reads, &View),
    ) {
        // No read may be older than what the others have made known.
        if reads.iter().any(|(location, at)| *at < view[*location as usize]) {
            return;
        }
        let Some((location, rest)) = locations.split_first() else { return visit(reads, view) };
        let place = *location as usize;
        for at in view[place]..self.locations[place].len() as u8 {
            let mut view = view.clone();
            view[place] = at;
            join(&mut view, &self.locations[place][at as usize].view);
            reads.push((*location, at));
            self.snapshot(rest, reads, &view, visit);
            reads.pop();
        }
    }

    /// Calls `visit` with every result of writing these values with a view. `locked`: each write follows the newest
    /// message of the view, which was read. `most`: messages of one location; `false` if one has too many.
    pub fn write(
        &self,
        process: usize,
        view: &View,
        writes: &[(u16, Value)],
        locked: bool,
        most: usize,
        visit: &mut impl FnMut(Messages),
    ) -> bool {
        let mut next = self.clone();
        next.views[process].clone_from(view);
        next.place(process, writes, writes, locked, most, visit)
    }

    fn place(
        &self,
        process: usize,
        left: &[(u16, Value)],
        writes: &[(u16, Value)],
        locked: bool,
        most: usize,
        visit: &mut impl FnMut(Messages),
    ) -> bool {
        let Some(((location, value), rest)) = left.split_first() else {
            // All messages of a step carry the view after the step.
            let mut done = self.clone();
            let view = done.views[process].clone();
            for (location, _) in writes {
                let place = *location as usize;
                done.locations[place][view[place] as usize].view.clone_from(&view);
            }
            done.forget();
            visit(done);
            return true;
        };
        let place = *location as usize;
        let count = self.locations[place].len();
        let first = self.views[process][place] as usize + 1;
        // A locked step has just read the newest message that it has seen.
        let last = if locked { first } else { count };
        if count >= most {
            return false;
        }
        let mut whole = true;
        for at in first..=last {
            if self.locations[place].get(at).is_some_and(|message| message.follows) {
                continue; // that one follows the message before it
            }
            let mut next = self.clone();
            for view in next.all_views().filter(|view| view[place] as usize >= at) {
                view[place] += 1;
            }
            let message =
                Message { value: *value, follows: locked, view: View::from_elem(0, self.locations.len()) };
            next.locations[place].insert(at, message);
            next.views[process][place] = at as u8;
            whole &= next.place(process, rest, writes, locked, most, visit);
        }
        whole
    }

    fn all_views(&mut self) -> impl Iterator<Item = &mut View> {
        let messages = self.locations.iter_mut().flatten().map(|message| &mut message.view);
        messages.chain(&mut self.views).chain([&mut self.fenced])
    }

    /// Drops the messages that nobody can read any more.
    pub fn forget(&mut self) {
        for place in 0..self.locations.len() {
            let seen = self.views.iter().map(|view| view[place]).min().unwrap_or(0);
            self.locations[place].drain(..seen as usize);
            self.locations[place][0].follows = false;
            for view in self.all_views() {
                view[place] = view[place].saturating_sub(seen);
            }
        }
    }
}

fn join(view: &mut View, other: &View) {
    for (mine, theirs) in view.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}
