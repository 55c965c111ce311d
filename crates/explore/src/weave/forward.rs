//! Running a thread over the events that it already has.

use super::Weaver;
use crate::error::Error;
use crate::history::{Next, Tag, answer};
use crate::schedule::tag_of;
use porf_consistency::Checker;
use porf_event::{Label, ThreadId, Value};
use porf_graph::{Ev, Links, Need};

impl<C: Checker> Weaver<'_, C> {
    /// The first event of `thread` that is not settled has its answer: the thread is run over it, and
    /// over those behind it up to the next hole.
    pub(super) fn forward(&mut self, thread: ThreadId) -> Result<(), Error> {
        loop {
            let settled = self.trail.now.settled(thread);
            let Some(&next) = self.trail.now.graph.thread(thread).events().get(settled as usize) else {
                return Ok(());
            };
            let before = tag_of(&self.trail.now.graph, thread.as_usize());
            let node = self.trail.history.node(before);
            if !matches!(node.next, Next::Emit(_))
                || self.trail.history.site(before) != self.trail.now.links(next).site
            {
                return Ok(());
            }
            let event = self.trail.now.graph.event(next);
            let answer = answer(&event.label);
            let label = event.label;
            let after = self.trail.history.child(before, answer)?;
            if self.trail.history.node(after).label != label {
                let what = format!("{label} became {}", self.trail.history.node(after).label);
                return Err(Error::Unsupported(format!("a dependency that is not tracked: {what}")));
            }
            if next != self.trail.now.graph.newest()
                && !same(&self.links(thread, before), self.trail.now.links(next))
            {
                let what = format!("{label} depends on other reads than before");
                return Err(Error::Unsupported(format!("a dependency that is not tracked: {what}")));
            }
            self.trail.now.set_tags(next, before.0, after.0);
            self.trail.now.settle(thread, settled + 1);
        }
    }

    /// What the next event of a thread depends on.
    pub(super) fn links(&self, thread: ThreadId, tag: Tag) -> Links {
        let hangs = self.trail.history.hangs(tag);
        let events = self.trail.now.graph.thread(thread).events();
        let need = |&(index, kinds): &(u32, u8)| Need::new(events[index as usize], kinds);
        Links {
            needs: hangs.needs.iter().map(need).collect(),
            site: self.trail.history.site(tag),
            before: tag.0,
            conditional: hangs.conditional,
            continues: self.trail.history.continues_access(tag),
        }
    }

    /// The label of a read that is behind a hole, if its source gives it `value`.
    pub(super) fn label_behind(&self, read: Ev, value: Value) -> Label {
        let before = Tag(self.trail.now.links(read).before);
        let Next::Emit(label) = self.trail.history.node(before).next else { unreachable!("it was emitted") };
        self.trail.history.interp.settle(self.trail.history.state(before), label, value)
    }
}

/// Whether two events depend on the same.
fn same(a: &Links, b: &Links) -> bool {
    a.needs.len() == b.needs.len() && a.needs.iter().all(|need| b.needs.contains(need))
}
