//! Subsumption up to renaming: is every state of one cube a state of another?
//!
//! A general cube `g` covers `c` if its processes can be renamed injectively to processes of `c` and its nodes
//! to nodes of `c` (same thread) so that every literal is implied and every order constraint of `g` is one of
//! `c`. That is a search for a homomorphism, exponential at worst, so:
//!
//! - what concerns one process alone is checked first, and the processes that each may become must leave an
//!   injection (a bipartite matching) at all;
//! - processes are mapped one by one, each followed by its nodes, those with the most checks first, and a literal
//!   or a constraint is checked as soon as all it speaks of is mapped;
//! - of twins ([`Cube::twins`]) in `c` only the first that is free is tried, and twins in `g` are mapped in order:
//!   the least of all maps that differ by swapping twins passes both;
//! - a comparison is given up, as "not covered", after [`MAX_STEPS`] checks, and counts its checks as [`Work`].

use super::compile::Compiled;
use super::cube::{Cube, Signature};
use super::facts::Facts;
use super::literal::{Literal, Var};
use super::weak::Mask;
use super::work::Work;

/// Checks in one comparison.
const MAX_STEPS: u64 = 20_000;
/// Checks after which they are counted as work.
const PORTION: u64 = 1024;
/// Processes below which looking for twins costs more than it saves.
const FEW: u8 = 4;

/// A cube prepared to cover others.
pub struct Prepared {
    pub cube: Cube,
    pub signature: Signature,
    /// What is mapped one after the other.
    order: Vec<Item>,
    /// Checks that need nothing mapped, then those that each item of the order makes possible.
    checks: Vec<Vec<Check>>,
    /// Per process, the literals that speak of it alone.
    alone: Vec<Vec<usize>>,
}

#[derive(Clone, Copy, Debug)]
enum Item {
    /// A process, and the twin before it in the order.
    Process(u8, Option<u8>),
    Node(u8),
}

#[derive(Clone, Copy, Debug)]
enum Check {
    Literal(usize),
    /// The first node reaches the second.
    Reach(u8, u8),
    /// The entry with this number reaches the node.
    Entry(usize, u8),
    /// A read of the node, by number among its late ones.
    Late(u8, usize),
    /// A read of the node that is locked, by number among those.
    Swaps(u8, usize),
}

/// A cube that others may cover.
pub struct Target<'a> {
    pub cube: &'a Cube,
    pub facts: Facts,
    pub signature: Signature,
    twins: Vec<u8>,
    named: bool,
}

impl<'a> Target<'a> {
    /// `None` if the cube contradicts itself: everything covers it.
    pub fn new(compiled: &Compiled<'_>, cube: &'a Cube) -> Option<Target<'a>> {
        let facts = Facts::new(&cube.literals, &compiled.domains)?;
        let named = compiled.system.named;
        let twins = if named || cube.procs < FEW { singles(cube.procs) } else { cube.twins() };
        Some(Target { cube, facts, signature: cube.signature(), twins, named })
    }
}

impl Prepared {
    pub fn new(cube: Cube) -> Prepared {
        let (left, alone) = checks(&cube);
        let twins = if cube.procs < FEW { singles(cube.procs) } else { cube.twins() };
        let mut plan = Plan { order: Vec::new(), checks: vec![Vec::new()], left, procs: 0, nodes: 0 };
        plan.sort();
        let nodes = &cube.weak.nodes;
        let own = |process: u8| (0..nodes.len()).filter(move |n| nodes[*n].thread == process);
        for _ in 0..cube.procs {
            // The one that makes the most checks possible.
            let gain = |process: &u8| {
                let nodes = own(*process).fold(plan.nodes, |mask, node| mask | 1 << node);
                plan.count(plan.procs | 1 << process, nodes) + alone[*process as usize].len()
            };
            let free = (0..cube.procs).filter(|process| plan.procs >> process & 1 == 0);
            let Some(process) = free.rev().max_by_key(gain) else { break };
            let same = |item: &Item| match item {
                Item::Process(p, _) if twins[*p as usize] == twins[process as usize] => Some(*p),
                _ => None,
            };
            let twin = plan.order.iter().rev().find_map(same);
            plan.procs |= 1 << process;
            plan.push(Item::Process(process, twin));
            for node in own(process) {
                plan.nodes |= 1 << node;
                plan.push(Item::Node(node as u8));
            }
        }
        Prepared { signature: cube.signature(), order: plan.order, checks: plan.checks, alone, cube }
    }

    /// Whether this cube covers the target.
    pub fn covers(&self, target: &Target<'_>, work: &Work<'_>) -> bool {
        self.embed(target, 0, work, &mut |_| Some(())).is_some()
    }

    /// Tries embeddings under which at most `slack` (0 or 1) literals are not implied, until `found` accepts one;
    /// it is given the literal that is missing.
    pub fn embed<R>(
        &self,
        target: &Target<'_>,
        slack: u8,
        work: &Work<'_>,
        found: &mut impl FnMut(Option<&Literal>) -> Option<R>,
    ) -> Option<R> {
        let larger =
            self.cube.procs > target.cube.procs || self.cube.weak.nodes.len() > target.cube.weak.nodes.len();
        if larger || work.is_over() {
            return None;
        }
        let mut search = Search {
            general: self,
            target,
            slack,
            missing: None,
            images: [0; 16],
            procs: [0; 16],
            nodes: [0; 32],
            steps: 0,
            work,
            stopped: false,
        };
        let result = if search.images() && search.check(0) { search.item(0, 0, 0, found) } else { None };
        work.spend(search.steps % PORTION);
        result
    }
}

/// The order of items in the making.
struct Plan {
    order: Vec<Item>,
    checks: Vec<Vec<Check>>,
    /// Checks that are not yet possible.
    left: Vec<(Needs, Check)>,
    procs: u16,
    nodes: Mask,
}

impl Plan {
    fn push(&mut self, item: Item) {
        self.order.push(item);
        self.checks.push(Vec::new());
        self.sort();
    }

    /// Moves what is possible by now to the last item.
    fn sort(&mut self) {
        let (procs, nodes) = (self.procs, self.nodes);
        let ready = self.left.extract_if(.., |(needs, _)| needs.met(procs, nodes)).map(|(_, check)| check);
        if let Some(last) = self.checks.last_mut() {
            last.extend(ready);
        }
    }

    fn count(&self, procs: u16, nodes: Mask) -> usize {
        self.left.iter().filter(|(needs, _)| needs.met(procs, nodes)).count()
    }
}

/// What has to be mapped before a check.
struct Needs {
    procs: u16,
    nodes: Mask,
}

impl Needs {
    fn met(&self, procs: u16, nodes: Mask) -> bool {
        self.procs & !procs == 0 && self.nodes & !nodes == 0
    }
}

/// All checks with what they need, and per process the literals that speak of it alone.
fn checks(cube: &Cube) -> (Vec<(Needs, Check)>, Vec<Vec<usize>>) {
    let mut checks = Vec::new();
    let mut alone = vec![Vec::new(); cube.procs as usize];
    let weak = &cube.weak;
    for (i, literal) in cube.literals.iter().enumerate() {
        let mut needs = Needs { procs: 0, nodes: 0 };
        literal.vars(&mut |var| {
            var.indices().for_each(|p| needs.procs |= 1 << p);
            needs.nodes |= var.node().map_or(0, |node| 1 << node);
        });
        if needs.nodes == 0 && needs.procs.is_power_of_two() {
            alone[needs.procs.trailing_zeros() as usize].push(i);
        } else {
            checks.push((needs, Check::Literal(i)));
        }
    }
    let processes = |location: Var| location.indices().fold(0_u16, |mask, p| mask | 1 << p);
    for (a, node) in weak.nodes.iter().enumerate() {
        for b in (0..weak.nodes.len()).filter(|b| *b != a && node.reach >> b & 1 == 1) {
            checks.push((Needs { procs: 0, nodes: 1 << a | 1 << b }, Check::Reach(a as u8, b as u8)));
        }
        for (i, (location, floor)) in node.late.iter().enumerate() {
            let needs = Needs { procs: processes(*location), nodes: 1 << a | floor };
            checks.push((needs, Check::Late(a as u8, i)));
        }
        for (i, location) in node.swaps.iter().enumerate() {
            checks.push((Needs { procs: processes(*location), nodes: 1 << a }, Check::Swaps(a as u8, i)));
        }
    }
    for (i, (entry, mask)) in weak.entries.iter().enumerate() {
        let mut procs = 0;
        entry.processes(&mut |p| procs |= 1 << p);
        for node in (0..weak.nodes.len()).filter(|node| mask >> node & 1 == 1) {
            checks.push((Needs { procs, nodes: 1 << node }, Check::Entry(i, node as u8)));
        }
    }
    (checks, alone)
}

fn singles(procs: u8) -> Vec<u8> {
    (0..procs).collect()
}

struct Search<'a> {
    general: &'a Prepared,
    target: &'a Target<'a>,
    slack: u8,
    missing: Option<Literal>,
    /// Per process, those that it may become as far as its own literals say.
    images: [u16; 16],
    procs: [u8; 16],
    nodes: [u8; 32],
    steps: u64,
    work: &'a Work<'a>,
    stopped: bool,
}

impl Search<'_> {
    /// Which processes each may become; `false` if there is no injection.
    fn images(&mut self) -> bool {
        let count = self.general.cube.procs as usize;
        let all = ((1_u32 << self.target.cube.procs) - 1) as u16;
        for process in 0..count {
            self.images[process] = if self.target.named { 1 << process } else { all };
            // With a literal to spare each image is checked when it is tried.
            if self.slack > 0 {
                continue;
            }
            for image in 0..self.target.cube.procs {
                self.procs[process] = image;
                if self.images[process] >> image & 1 == 1 && !self.alone(process) {
                    self.images[process] &= !(1 << image);
                }
            }
            if self.images[process] == 0 {
                return false;
            }
        }
        // Whose image is each process of the target, if any.
        let mut taken = [usize::MAX; 16];
        (0..count).all(|process| self.assign(process, &mut taken, &mut 0))
    }

    /// An augmenting path of the matching.
    fn assign(&self, process: usize, taken: &mut [usize; 16], seen: &mut u16) -> bool {
        for image in (0..16).filter(|image| self.images[process] >> image & 1 == 1) {
            if *seen >> image & 1 == 1 {
                continue;
            }
            *seen |= 1 << image;
            if taken[image] == usize::MAX || self.assign(taken[image], taken, seen) {
                taken[image] = process;
                return true;
            }
        }
        false
    }

    /// Maps the items from `at` on.
    fn item<R>(
        &mut self,
        at: usize,
        used: u16,
        used_nodes: Mask,
        found: &mut impl FnMut(Option<&Literal>) -> Option<R>,
    ) -> Option<R> {
        let Some(item) = self.general.order.get(at) else { return found(self.missing.as_ref()) };
        match *item {
            Item::Process(process, twin) => {
                let mut free = self.images[process as usize] & !used;
                if let Some(twin) = twin.filter(|_| !self.target.named) {
                    free &= !((2_u32 << self.procs[twin as usize]) - 1) as u16; // in order
                }
                let mut tried = 0_u16;
                for image in (0..self.target.cube.procs).filter(|image| free >> image & 1 == 1) {
                    let class = self.target.twins[image as usize];
                    if tried >> class & 1 == 1 {
                        continue; // like its twin
                    }
                    tried |= 1 << class;
                    self.procs[process as usize] = image;
                    let before = self.missing.is_some();
                    if (self.slack == 0 || self.alone(process as usize))
                        && self.check(at + 1)
                        && let Some(result) = self.item(at + 1, used | 1 << image, used_nodes, found)
                    {
                        return Some(result);
                    }
                    self.missing.take_if(|_| !before);
                    if self.stopped {
                        break;
                    }
                }
            }
            Item::Node(node) => {
                let thread = self.procs[self.general.cube.weak.nodes[node as usize].thread as usize];
                for (image, candidate) in self.target.cube.weak.nodes.iter().enumerate() {
                    if used_nodes >> image & 1 == 1 || candidate.thread != thread {
                        continue;
                    }
                    self.nodes[node as usize] = image as u8;
                    let before = self.missing.is_some();
                    if self.check(at + 1)
                        && let Some(result) = self.item(at + 1, used, used_nodes | 1 << image, found)
                    {
                        return Some(result);
                    }
                    self.missing.take_if(|_| !before);
                    if self.stopped {
                        break;
                    }
                }
            }
        }
        None
    }

    fn alone(&mut self, process: usize) -> bool {
        let general = self.general;
        general.alone[process].iter().all(|i| self.step() && self.literal(*i))
    }

    /// The checks that the item before `at` makes possible.
    fn check(&mut self, at: usize) -> bool {
        let general = self.general;
        self.step() && general.checks[at].iter().all(|check| self.step() && self.holds(*check))
    }

    fn step(&mut self) -> bool {
        self.steps += 1;
        let portion = self.steps.is_multiple_of(PORTION);
        if (portion && !self.work.spend(PORTION)) || self.steps > MAX_STEPS {
            self.stopped = true;
        }
        !self.stopped
    }

    fn holds(&mut self, check: Check) -> bool {
        let (general, covered) = (&self.general.cube.weak, &self.target.cube.weak);
        let procs = |p: u8| self.procs[p as usize];
        let image = |node: u8| self.nodes[node as usize];
        match check {
            Check::Literal(i) => self.literal(i),
            Check::Reach(a, b) => covered.nodes[image(a) as usize].reach >> image(b) & 1 == 1,
            Check::Entry(i, node) => {
                covered.entry(general.entries[i].0.rename(procs)) >> image(node) & 1 == 1
            }
            Check::Swaps(node, i) => {
                let location = general.nodes[node as usize].swaps[i].map(procs, |n| n);
                covered.nodes[image(node) as usize].swaps.contains(&location)
            }
            Check::Late(node, i) => {
                let (location, floor) = general.nodes[node as usize].late[i];
                let location = location.map(procs, |n| n);
                let floor = (0..general.nodes.len() as u8)
                    .filter(|n| floor >> n & 1 == 1)
                    .fold(0, |mask: Mask, n| mask | 1 << image(n));
                let late = &covered.nodes[image(node) as usize].late;
                late.iter().any(|(other, more)| *other == location && floor & !more == 0)
            }
        }
    }

    /// Whether a literal is implied, but for the slack.
    fn literal(&mut self, i: usize) -> bool {
        let procs = |p: u8| self.procs[p as usize];
        let nodes = |n: u8| self.nodes[n as usize];
        let literal = &self.general.cube.literals[i];
        let implied = match literal {
            Literal::In(var, set) => self.target.facts.values(var.map(procs, nodes)) & !set == 0,
            Literal::Lin(lin) => (self.target.facts.implies_difference(lin, |var| var.map(procs, nodes)))
                .unwrap_or_else(|| self.target.facts.implies(&literal.map(procs, nodes))),
            literal => self.target.facts.implies(&literal.map(procs, nodes)),
        };
        if !implied {
            if self.slack == 0 || self.missing.is_some() {
                return false;
            }
            self.missing = Some(literal.map(procs, nodes));
        }
        true
    }
}
