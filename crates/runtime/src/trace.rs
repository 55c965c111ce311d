//! The events of one execution, for a page that shows what is around a finding.
//!
//! Only an execution that is run again for its trace keeps them ([`Options::trace`]); others pay nothing: what asks
//! is on ways that are cold anyway, or rare.
//!
//! [`Options::trace`]: porf_sample::protocol::Options::trace

use crate::call::{caller, stack_of};
use crate::world::World;
use porf_event::ThreadId;
use porf_sample::Order;
use porf_sample::protocol::{Did, TRACED, TRACED_FRAMES, Traced};

/// What an atomic access did.
#[derive(Clone, Copy)]
pub struct Accessed {
    pub order: Order,
    pub read: Option<u128>,
    pub written: Option<u128>,
}

/// An event that is not an access.
pub fn event(w: &mut World, did: Did, address: usize) {
    if w.tracing {
        let order = Order::Relaxed;
        keep(w, did, (address, 0), 0, Accessed { order, read: None, written: None });
    }
}

/// A fence.
pub fn fence(w: &mut World, order: Order) {
    if w.tracing {
        let now = w.engine.now(w.current);
        keep(w, Did::Fence, (0, 0), now, Accessed { order, read: None, written: None });
    }
}

/// An atomic access that took the clock `now`.
#[cold]
pub fn access(w: &mut World, bytes: (usize, usize), now: u32, accessed: Accessed) {
    let did = match accessed {
        Accessed { read: Some(_), written: Some(_), .. } => Did::Update,
        Accessed { written: Some(_), .. } => Did::Store,
        _ => Did::Load,
    };
    keep(w, did, bytes, now, accessed);
}

/// A plain access, before it happens.
#[cold]
pub fn plain(w: &mut World, (address, size): (usize, usize), did: Did) {
    let simple = did == Did::Read && matches!(size, 1 | 2 | 4 | 8);
    // SAFETY: the program is about to read these bytes.
    let read = simple.then(|| unsafe { crate::atomic::read_native(address, size) });
    let now = w.engine.now(w.current);
    keep(w, did, (address, size), now, Accessed { order: Order::Relaxed, read, written: None });
}

#[cold]
fn keep(w: &mut World, did: Did, (address, size): (usize, usize), clock: u32, accessed: Accessed) {
    let mut frames = [0; TRACED_FRAMES];
    let mut depth = 0;
    stack_of(w, w.current, caller(), |pc| {
        if depth < TRACED_FRAMES {
            frames[depth] = pc as u64;
            depth += 1;
        }
    });
    let is_read = matches!(did, Did::Load | Did::Update);
    let (from_thread, from_clock) = if is_read { w.engine.last_read } else { (ThreadId(0), 0) };
    let Accessed { order, read, written } = accessed;
    let event = Traced {
        thread: w.current,
        from_thread,
        did: did as u32,
        order: order as u32,
        size: size as u32,
        clock,
        from_clock,
        address: address as u64,
        read: read.unwrap_or(0) as u64,
        written: written.unwrap_or(0) as u64,
        depth: depth as u64,
        frames,
    };
    let shared = w.shared_mut();
    shared.trace[shared.traced as usize % TRACED] = event;
    shared.traced += 1;
}
