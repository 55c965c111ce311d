//! What models find out about an event is remembered with the history of its thread.

use crate::buffering::{Live, tag_before};
use porf_graph::{Ev, Memo, Words};

impl Memo for Live<'_, '_> {
    #[inline]
    fn memo(&self, event: Ev, variant: usize, find: impl FnOnce() -> Words) -> &[u64] {
        self.history.hangs(tag_before(self.graph, event)).memo[variant].get_or_init(find)
    }
}
