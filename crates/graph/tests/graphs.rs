//! Extension, undo, restriction and keys on one small graph.

use porf_event::{Access, EventId, Label, Location, ReadMode, RmwKind, ThreadId, WriteMode};
use porf_graph::{CanonicalKey, Ev, ExecutionGraph, Loc, validate};

const X: Loc = Loc(0);

fn read(value: u64) -> Label {
    let access = Access { location: Location(0x100), size: 4 };
    Label::Read { access, mode: ReadMode::Relaxed, rmw: RmwKind::None, value }
}

fn write(value: u64) -> Label {
    let access = Access { location: Location(0x100), size: 4 };
    Label::Write { access, mode: WriteMode::Relaxed, rmw: RmwKind::None, value }
}

fn empty() -> ExecutionGraph {
    let mut graph = ExecutionGraph::new(1);
    for thread in 0..3 {
        graph.add_thread(ThreadId(thread), Ev::INIT, 0);
    }
    graph.name_location(X, Location(0x100));
    graph
}

fn valid(graph: &ExecutionGraph) {
    assert_eq!(validate(graph, |_| 0), Ok(()));
}

/// T0: x:=1 ; T1: x:=2 ; T2: r:=x, built in the order given.
fn build(order: &[u16], source: u16) -> ExecutionGraph {
    let mut graph = empty();
    for &thread in order {
        match thread {
            2 => {
                let r = graph.add(ThreadId(2), read(0), X, 0);
                let w = graph.find(EventId::new(ThreadId(source), 0)).unwrap();
                graph.set_rf(r, w, read(u64::from(source) + 1), 0);
            }
            _ => {
                let w = graph.add(ThreadId(thread), write(u64::from(thread) + 1), X, 0);
                // co: T0 before T1.
                let place = if thread == 0 { 1 } else { graph.co(X).len() as u32 + 1 };
                graph.place(w, place);
            }
        }
        valid(&graph);
    }
    graph
}

#[test]
fn keys_forget_the_order_of_insertion() {
    let a = build(&[0, 1, 2], 1);
    let b = build(&[1, 2, 0], 1);
    assert_eq!(CanonicalKey::of(&a, true), CanonicalKey::of(&b, true));
    let c = build(&[0, 1, 2], 0);
    assert_ne!(CanonicalKey::of(&a, true), CanonicalKey::of(&c, true));
}

#[test]
fn removing_undoes_adding() {
    let mut graph = build(&[0, 1, 2], 1);
    let key = CanonicalKey::of(&graph, true);
    graph.remove_last();
    valid(&graph);
    graph.remove_last();
    graph.remove_last();
    assert!(graph.is_empty());
    let again = build(&[1, 0, 2], 1);
    assert_eq!(key, CanonicalKey::of(&again, true));
}

#[test]
fn restriction_keeps_what_is_kept() {
    let graph = build(&[0, 1, 2], 1);
    let (mut out, mut map) = (ExecutionGraph::new(1), Vec::new());
    let r = graph.newest();
    graph.restrict_into(|ev| graph.in_prefix(ev, r), Ev::NONE, &mut out, &mut map);
    valid(&out);
    assert_eq!(out.len(), 3);
    assert_eq!(out.co(X), &[Ev(1)]);
    assert_eq!(out.rf(Ev(2)), Ev(1));
    assert_eq!(map, [Ev(0), Ev::NONE, Ev(1), Ev(2)]);
}

/// The list of frees goes along when events are removed and graphs are copied; [`validate`] compares it with the events.
#[test]
fn frees_are_listed() {
    let free = || Label::Free { location: Location(0x200) };
    let mut graph = empty();
    let first = graph.add(ThreadId(0), free(), Loc::NONE, 0);
    let r = graph.add(ThreadId(2), read(0), X, 0);
    graph.set_rf(r, Ev::INIT, read(0), 0);
    let lost = graph.add(ThreadId(0), free(), Loc::NONE, 0);
    let kept = graph.add(ThreadId(1), free(), Loc::NONE, 0);
    let w = graph.add(ThreadId(1), write(1), X, 0);
    graph.place(w, 1);
    valid(&graph);
    assert!(graph.frees().eq([kept, lost, first]));

    // A copy that was used before.
    let (mut out, mut map) = (empty(), Vec::new());
    out.add(ThreadId(1), free(), Loc::NONE, 0);
    graph.revisit_into(r, w, &mut out, &mut map);
    let (kept_there, w_there) = (map[kept.as_usize()], map[w.as_usize()]);
    out.set_rf(r, w_there, read(1), 0);
    valid(&out);
    assert!(out.frees().eq([kept_there, first]));
    graph.restrict_into(|event| event != lost, Ev::NONE, &mut out, &mut map);
    valid(&out);
    assert_eq!(out.frees().count(), 2);

    // The write, then the frees, with the read before the last of them.
    for left in [3, 2, 1, 1, 0] {
        graph.remove_last();
        valid(&graph);
        assert_eq!(graph.frees().count(), left);
    }
    assert!(graph.is_empty());
}
