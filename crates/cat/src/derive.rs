//! How a model makes an edge: down to po, rf, co and what else an execution is given with.
//!
//! The compiled form of a model is followed from an operation to its operands. What the model gives a name becomes
//! one [`Edge`] with its parts below it. A recursive definition and what the general interpreter computes are not
//! taken apart.
//!
//! Cost: where there are several ways, the shortest is looked for among up to [`FEW`] events, with a table of
//! (node, from, to); among more events the first way is taken.

use crate::node::{NodeId, Op};
use crate::program::Program;
use crate::slots::Slots;
use porf_relation::Relation;
use std::collections::HashMap;

/// Among more events than this the shortest way is not looked for.
const FEW: usize = 64;

/// An edge of a relation, and what it is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// What the model calls the relation.
    pub name: String,
    /// The path that makes it; empty for what an execution is given with.
    pub parts: Vec<Edge>,
}

impl Edge {
    /// The edges that an execution is given with, in order.
    pub fn leaves(&self) -> Vec<&Edge> {
        match self.parts.as_slice() {
            [] => vec![self],
            parts => parts.iter().flat_map(Edge::leaves).collect(),
        }
    }
}

/// Takes edges apart, as the nodes are after a check.
pub(crate) struct Derivation<'e> {
    pub program: &'e Program,
    pub slots: &'e Slots,
    known: HashMap<(NodeId, usize, usize), u32>,
}

impl<'e> Derivation<'e> {
    pub fn new(program: &'e Program, slots: &'e Slots) -> Self {
        Derivation { program, slots, known: HashMap::new() }
    }

    /// The path that makes an edge of a node; empty if the edge goes nowhere.
    pub fn path(&mut self, node: NodeId, from: usize, to: usize) -> Vec<Edge> {
        let leaf = |name: &str| vec![Edge { from, to, name: name.to_string(), parts: Vec::new() }];
        match (self.program.names.get(&node), &self.program.nodes[node as usize].op) {
            (_, Op::Base(name)) => leaf(name),
            (_, Op::Rf) => leaf("rf"),
            (_, Op::Co) => leaf("co"),
            (Some(name), _) => {
                let parts = self.parts(node, from, to);
                vec![Edge { from, to, name: name.to_string(), parts }]
            }
            (None, _) => match self.parts(node, from, to) {
                parts if parts.is_empty() && from != to => leaf("…"),
                parts => parts,
            },
        }
    }

    /// The edge as an operation makes it from its operands.
    fn parts(&mut self, node: NodeId, from: usize, to: usize) -> Vec<Edge> {
        match &self.program.nodes[node as usize].op {
            Op::Union(operands) => match self.shortest(operands, from, to) {
                Some(operand) => self.path(operand, from, to),
                None => Vec::new(),
            },
            // What says only that events are alike explains less than what leads from one to the other.
            &Op::Intersection(a, b) => match self.is_plain(a) {
                false => self.path(a, from, to),
                true => self.path(b, from, to),
            },
            &Op::Difference(a, _) | &Op::Restrict(a, ..) => self.path(a, from, to),
            &Op::Optional(a) | &Op::Star(a) if from == to && !self.slots.relation(a).contains(from, to) => {
                Vec::new()
            }
            &Op::Optional(a) => self.path(a, from, to),
            &Op::Plus(a) | &Op::Star(a) => {
                let steps = way(self.slots.relation(a), from, to);
                steps.windows(2).flat_map(|step| self.path(a, step[0], step[1])).collect()
            }
            &Op::Compose(a, b) => match self.middle(a, b, from, to) {
                Some(middle) => {
                    let mut path = self.path(a, from, middle);
                    path.extend(self.path(b, middle, to));
                    path
                }
                None => Vec::new(),
            },
            &Op::Inverse(a) => {
                let mut path = self.path(a, to, from);
                path.reverse();
                path.into_iter().map(inverted).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether an operand of an intersection leads nowhere by itself: same location, same thread, a product of sets.
    fn is_plain(&self, node: NodeId) -> bool {
        match &self.program.nodes[node as usize].op {
            Op::Base(name) => matches!(&**name, "loc" | "int" | "ext" | "same-value"),
            Op::Product(..) | Op::Universe | Op::Complement(_) => true,
            Op::Union(operands) => operands.iter().all(|&operand| self.is_plain(operand)),
            &Op::Intersection(a, b) => self.is_plain(a) && self.is_plain(b),
            &Op::Difference(a, _) | &Op::Restrict(a, ..) => self.is_plain(a),
            _ => false,
        }
    }

    fn shortest(&mut self, operands: &[NodeId], from: usize, to: usize) -> Option<NodeId> {
        let holds = |operand: &NodeId| self.slots.relation(*operand).contains(from, to);
        let mut all: Vec<NodeId> = operands.iter().copied().filter(holds).collect();
        if all.len() > 1 && self.slots.len() <= FEW {
            all.sort_by_key(|&operand| self.length(operand, from, to));
        }
        all.first().copied()
    }

    fn middle(&mut self, a: NodeId, b: NodeId, from: usize, to: usize) -> Option<usize> {
        let (first, second) = (self.slots.relation(a), self.slots.relation(b));
        let mut all = first.successors(from).filter(|&middle| second.contains(middle, to));
        if self.slots.len() > FEW {
            return all.next();
        }
        all.min_by_key(|&middle| self.length(a, from, middle) + self.length(b, middle, to))
    }

    /// How many edges that an execution is given with make an edge.
    fn length(&mut self, node: NodeId, from: usize, to: usize) -> u32 {
        if let Some(&known) = self.known.get(&(node, from, to)) {
            return known;
        }
        let length = match &self.program.nodes[node as usize].op {
            Op::Union(operands) => match self.shortest(operands, from, to) {
                Some(operand) => self.length(operand, from, to),
                None => 1,
            },
            &Op::Intersection(a, b) => match self.is_plain(a) {
                false => self.length(a, from, to),
                true => self.length(b, from, to),
            },
            &Op::Difference(a, _) | &Op::Restrict(a, ..) => self.length(a, from, to),
            Op::Identity | Op::IdentityOn(_) => 0,
            &Op::Optional(a) | &Op::Star(a) if from == to && !self.slots.relation(a).contains(from, to) => 0,
            &Op::Optional(a) => self.length(a, from, to),
            &Op::Plus(a) | &Op::Star(a) => {
                let steps = way(self.slots.relation(a), from, to);
                steps.windows(2).map(|step| self.length(a, step[0], step[1])).sum()
            }
            &Op::Compose(a, b) => match self.middle(a, b, from, to) {
                Some(middle) => self.length(a, from, middle) + self.length(b, middle, to),
                None => 1,
            },
            &Op::Inverse(a) => self.length(a, to, from),
            _ => 1,
        };
        self.known.insert((node, from, to), length);
        length
    }
}

/// A shortest way of one edge or more, with both ends.
fn way(relation: &Relation, from: usize, to: usize) -> Vec<usize> {
    let mut before = vec![usize::MAX; relation.universe()];
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(event) = queue.pop_front() {
        if relation.contains(event, to) {
            let mut way = vec![to, event];
            while way.last() != Some(&from) {
                way.push(before[way[way.len() - 1]]);
            }
            way.reverse();
            return way;
        }
        for next in relation.successors(event) {
            if before[next] == usize::MAX && next != from {
                before[next] = event;
                queue.push_back(next);
            }
        }
    }
    Vec::new()
}

fn inverted(edge: Edge) -> Edge {
    let name = match edge.name.strip_suffix("^-1") {
        Some(name) => name.to_string(),
        None => format!("{}^-1", edge.name),
    };
    let mut parts: Vec<Edge> = edge.parts.into_iter().map(inverted).collect();
    parts.reverse();
    Edge { from: edge.to, to: edge.from, name, parts }
}
