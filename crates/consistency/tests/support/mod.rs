//! Small executions, written down or random, and how checkers are asked about them.
//!
//! An execution is a list of threads, a source for every read and an order of the writes of every location.
//! A fast checker is asked as a search asks it: events come one by one, and each choice must be among those
//! that the checker offers.

#![allow(dead_code, reason = "each test uses a part of it")]

use porf_consistency::{Cat, Choice, HappensBefore, MemoryModel};
use porf_event::{
    Access, Dialect, EventId, FenceMode, Label, Location, ReadMode, RmwKind, ThreadId, WriteMode,
};
use porf_graph::{Ev, ExecutionGraph, Linked, Loc, Memo, Need, Words};
use std::cell::OnceCell;

/// What an instruction does; locations by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    R(usize, ReadMode),
    W(usize, WriteMode),
    /// A read-modify-write.
    U(usize, ReadMode, WriteMode),
    F(FenceMode),
}

/// Events in program order, thread by thread; of a read-modify-write the read, then the write.
#[derive(Clone, Debug)]
pub struct Shape {
    pub labels: Vec<(u16, Label)>,
    pub locations: usize,
    pub threads: u16,
}

/// A shape with sources of its reads and an order of its writes; numbers are positions in the shape.
#[derive(Clone, Debug)]
pub struct Candidate<'s> {
    pub shape: &'s Shape,
    /// Of each read its source, `None` for the initial write.
    pub rf: Vec<Option<usize>>,
    /// Of each location its writes.
    pub co: Vec<Vec<usize>>,
}

fn access(location: usize) -> Access {
    Access { location: Location(0x100 + 8 * location as u64), size: 4 }
}

impl Shape {
    pub fn new(threads: &[&[Op]]) -> Shape {
        let mut labels = Vec::new();
        let mut locations = 0;
        // Writes have different values, so that a label tells what was read.
        let mut written = 0;
        for (thread, code) in threads.iter().enumerate() {
            for &op in *code {
                let read = |x: usize, mode: ReadMode, rmw: RmwKind| Label::Read {
                    access: access(x),
                    mode,
                    rmw,
                    value: 0,
                };
                let mut write = |x: usize, mode: WriteMode, rmw: RmwKind| {
                    written += 1;
                    Label::Write { access: access(x), mode, rmw, value: written }
                };
                let parts = match op {
                    Op::R(x, mode) => vec![read(x, mode, RmwKind::None)],
                    Op::W(x, mode) => vec![write(x, mode, RmwKind::None)],
                    Op::U(x, first, second) => {
                        vec![read(x, first, RmwKind::Amo), write(x, second, RmwKind::Amo)]
                    }
                    Op::F(mode) => vec![Label::Fence { mode, location: Location(0) }],
                };
                if let Op::R(x, _) | Op::W(x, _) | Op::U(x, ..) = op {
                    locations = locations.max(x + 1);
                }
                labels.extend(parts.into_iter().map(|label| (thread as u16, label)));
            }
        }
        Shape { labels, locations, threads: threads.len() as u16 }
    }

    fn location(&self, at: usize) -> Option<usize> {
        self.labels[at].1.location().map(|location| (location.0 as usize - 0x100) / 8)
    }

    fn writes(&self, x: usize) -> Vec<usize> {
        let is_it = |&at: &usize| self.labels[at].1.is_write() && self.location(at) == Some(x);
        (0..self.labels.len()).filter(is_it).collect()
    }

    /// All candidates, consistent or not.
    pub fn candidates(&self) -> Vec<Candidate<'_>> {
        let mut rfs = vec![vec![None; self.labels.len()]];
        for at in (0..self.labels.len()).filter(|&at| self.labels[at].1.is_read()) {
            let x = self.location(at).unwrap();
            let sources: Vec<Option<usize>> =
                std::iter::once(None).chain(self.writes(x).into_iter().map(Some)).collect();
            rfs = rfs
                .into_iter()
                .flat_map(|rf| {
                    sources.iter().map(move |&source| {
                        let mut rf = rf.clone();
                        rf[at] = source;
                        rf
                    })
                })
                .collect();
        }
        let mut cos = vec![Vec::new()];
        for x in 0..self.locations {
            let orders = permutations(&self.writes(x));
            cos = cos
                .into_iter()
                .flat_map(|co: Vec<Vec<usize>>| {
                    orders.iter().map(move |order| {
                        let mut co = co.clone();
                        co.push(order.clone());
                        co
                    })
                })
                .collect();
        }
        let with = |rf: Vec<Option<usize>>| {
            cos.iter().map(move |co| Candidate { shape: self, rf: rf.clone(), co: co.clone() })
        };
        rfs.into_iter().flat_map(with).collect()
    }
}

fn permutations(list: &[usize]) -> Vec<Vec<usize>> {
    if list.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, &first) in list.iter().enumerate() {
        let rest: Vec<usize> = list.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, &x)| x).collect();
        all.extend(permutations(&rest).into_iter().map(|rest| [vec![first], rest].concat()));
    }
    all
}

impl Candidate<'_> {
    /// Positions in an order that respects po and rf; `None` if there is a cycle. A read-modify-write is not
    /// interrupted.
    fn order(&self) -> Option<Vec<usize>> {
        let labels = &self.shape.labels;
        let mut order: Vec<usize> = Vec::new();
        while order.len() < labels.len() {
            let ready = |at: usize| {
                !order.contains(&at)
                    && (0..at).all(|before| labels[before].0 != labels[at].0 || order.contains(&before))
                    && self.rf[at].is_none_or(|source| order.contains(&source))
            };
            let next = (0..labels.len()).find(|&at| ready(at))?;
            order.push(next);
            if labels[next].1.is_read() && labels[next].1.rmw().is_pair() {
                order.push(next + 1);
            }
        }
        Some(order)
    }

    /// The label of an event, with what it reads.
    fn label(&self, at: usize) -> Label {
        match self.shape.labels[at].1 {
            Label::Read { access, mode, rmw, .. } => {
                let value = self.rf[at].and_then(|source| self.shape.labels[source].1.value()).unwrap_or(0);
                Label::Read { access, mode, rmw, value }
            }
            label => label,
        }
    }

    fn empty(&self, clocks: usize) -> ExecutionGraph {
        let mut graph = ExecutionGraph::new(clocks);
        for thread in 0..self.shape.threads {
            graph.add_thread(ThreadId(thread), Ev::INIT, 0);
        }
        for x in 0..self.shape.locations {
            graph.name_location(Loc(x as u32), access(x).location);
        }
        graph
    }

    /// The whole graph; only for those in which po and rf have no cycle.
    pub fn graph(&self) -> Option<ExecutionGraph> {
        let mut graph = self.empty(1);
        let mut places = vec![Ev::NONE; self.shape.labels.len()];
        for at in self.order()? {
            self.add(&mut graph, at, &mut places);
            self.link(&mut graph, at, &places);
        }
        Some(graph)
    }

    fn add(&self, graph: &mut ExecutionGraph, at: usize, places: &mut [Ev]) {
        let (thread, label) = self.shape.labels[at];
        let loc = self.shape.location(at).map_or(Loc::NONE, |x| Loc(x as u32));
        places[at] = graph.add(ThreadId(thread), label, loc, 0);
    }

    fn link(&self, graph: &mut ExecutionGraph, at: usize, places: &[Ev]) {
        let ev = places[at];
        let label = self.label(at);
        if label.is_read() {
            graph.set_rf(ev, self.source(at, places), label, 0);
        } else if label.is_write() {
            graph.place(ev, self.place(at, places));
        }
    }

    fn source(&self, at: usize, places: &[Ev]) -> Ev {
        self.rf[at].map_or(Ev::INIT, |source| places[source])
    }

    /// Where a write stands among those that are there.
    fn place(&self, at: usize, places: &[Ev]) -> u32 {
        let x = self.shape.location(at).unwrap();
        let before = self.co[x].iter().take_while(|&&other| other != at);
        before.filter(|&&other| places[other].is_some()).count() as u32 + 1
    }

    /// Whether a fast checker goes along with it; `None` if po and rf have a cycle.
    pub fn is_allowed<M: MemoryModel + Default>(&self) -> Option<bool> {
        let mut model = M::default();
        let mut graph = self.empty(M::Hb::CLOCKS);
        let mut places = vec![Ev::NONE; self.shape.labels.len()];
        for at in self.order()? {
            self.add(&mut graph, at, &mut places);
            let (ev, label) = (places[at], self.label(at));
            let mut choices = Vec::new();
            let wanted = if label.is_read() {
                model.sources(&Bare::new(&graph), ev, &mut choices);
                Some(Choice::Source(self.source(at, &places)))
            } else {
                M::Hb::update(&mut graph, ev);
                label.is_write().then(|| {
                    model.places(&Bare::new(&graph), ev, &mut choices);
                    places[at] = Ev::NONE;
                    let place = if M::SEES_CO { self.place(at, &places) } else { 0 };
                    places[at] = ev;
                    Choice::Place(place)
                })
            };
            let offered = match wanted {
                Some(Choice::Place(0)) => choices.first().copied(),
                Some(wanted) => choices.contains(&wanted).then_some(wanted),
                None => continue,
            };
            match offered {
                Some(Choice::Source(source)) => {
                    graph.set_rf(ev, source, label, 0);
                    M::Hb::update(&mut graph, ev);
                }
                Some(Choice::Place(place)) => graph.place(ev, place),
                _ => return Some(false),
            }
            let allowed = model.allows(&Bare::new(&graph), ev);
            model.arrange(&mut graph);
            if !allowed {
                return Some(false);
            }
        }
        assert!(!model.gave_up());
        Some(true)
    }

    /// Whether a cat model allows it.
    pub fn is_consistent(&self, cat: &mut Cat<'_>) -> Option<bool> {
        let graph = self.graph()?;
        Some(cat.explain(&Bare::new(&graph), &|_| (4, 0)).unwrap().is_none())
    }
}

/// A graph whose events depend on nothing.
pub struct Bare<'g> {
    graph: &'g ExecutionGraph,
    found: Vec<[OnceCell<Words>; 2]>,
}

impl<'g> Bare<'g> {
    pub fn new(graph: &'g ExecutionGraph) -> Bare<'g> {
        let found = (0..graph.len()).map(|_| Default::default()).collect();
        Bare { graph, found }
    }
}

impl Linked for Bare<'_> {
    fn graph(&self) -> &ExecutionGraph {
        self.graph
    }

    fn needs(&self, _: Ev) -> impl Iterator<Item = Need> + '_ {
        std::iter::empty()
    }

    fn is_conditional(&self, _: Ev) -> bool {
        false
    }
}

impl Memo for Bare<'_> {
    fn memo(&self, event: Ev, variant: usize, find: impl FnOnce() -> Words) -> &[u64] {
        self.found[event.as_usize()][variant].get_or_init(find)
    }
}

/// A checker of a shipped model.
pub fn cat(model: &porf_cat::CatModel, dialect: Dialect) -> Cat<'_> {
    Cat::new(model, dialect, model.shipped_as().and_then(|model| model.architecture()))
}

pub fn id(graph: &ExecutionGraph, ev: Ev) -> EventId {
    graph.event(ev).id
}

/// xorshift: the same shapes everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Which orderings a random shape uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modes {
    Relaxed,
    /// All of C11 but seq_cst.
    Weak,
    All,
}

/// Up to three threads with up to three instructions each, on two locations.
pub fn random_shape(seed: u64, modes: Modes) -> Shape {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let most = if modes == Modes::All { 3 } else { 2 };
    let reads = [ReadMode::Relaxed, ReadMode::Acquire, ReadMode::SeqCst];
    let writes = [WriteMode::Relaxed, WriteMode::Release, WriteMode::SeqCst];
    let fences = [FenceMode::Release, FenceMode::Acquire, FenceMode::SeqCst];
    let mode = |random: &mut Random| if modes == Modes::Relaxed { 0 } else { random.below(most) };
    let mut threads: Vec<Vec<Op>> = Vec::new();
    let mut left: usize = 6;
    for _ in 0..2 + random.below(2) {
        let count = 1 + random.below(3).min(left.saturating_sub(1));
        left = left.saturating_sub(count);
        let op = |_| match random.below(10) {
            0..4 => Op::R(random.below(2), reads[mode(&mut random)]),
            4..8 => Op::W(random.below(2), writes[mode(&mut random)]),
            8 => Op::U(random.below(2), reads[mode(&mut random)], writes[mode(&mut random)]),
            _ if modes == Modes::Weak => Op::F(random.pick(&fences[..2])),
            _ => Op::F(fences[2]),
        };
        threads.push((0..count).map(op).collect());
    }
    let code: Vec<&[Op]> = threads.iter().map(Vec::as_slice).collect();
    Shape::new(&code)
}

/// The shapes of SB, MP, 2+2W, WRC, IRIW and SB with fences, in each ordering that a shape may use.
pub fn classic_shapes(modes: Modes) -> Vec<Shape> {
    let (relaxed, acquire, seq_cst) = (
        (ReadMode::Relaxed, WriteMode::Relaxed),
        (ReadMode::Acquire, WriteMode::Release),
        (ReadMode::SeqCst, WriteMode::SeqCst),
    );
    let orderings = match modes {
        Modes::Relaxed => vec![relaxed],
        Modes::Weak => vec![relaxed, acquire],
        Modes::All => vec![relaxed, acquire, seq_cst],
    };
    let mut shapes = Vec::new();
    for (read, write) in orderings {
        let (rx, ry, wx, wy) = (Op::R(0, read), Op::R(1, read), Op::W(0, write), Op::W(1, write));
        let fence = Op::F(if modes == Modes::Weak { FenceMode::Release } else { FenceMode::SeqCst });
        shapes.push(Shape::new(&[&[wx, ry], &[wy, rx]]));
        shapes.push(Shape::new(&[&[wx, wy], &[ry, rx]]));
        shapes.push(Shape::new(&[&[wx, wy], &[wy, wx]]));
        shapes.push(Shape::new(&[&[wx], &[rx, wy], &[ry, rx]]));
        shapes.push(Shape::new(&[&[wx], &[wy], &[rx, ry], &[ry, rx]]));
        shapes.push(Shape::new(&[&[wx, fence, ry], &[wy, fence, rx]]));
    }
    shapes
}
