//! The compiled form of a model: a graph of operations on sets and relations.
//!
//! Equal operations are one node. Unions and compositions are regrouped by what they depend on: first what depends
//! only on the fixed part of an execution, which is computed once; then what depends on rf but not on co; then the
//! rest.

use std::{collections::HashMap, sync::Arc};

use crate::{
    Span,
    ast::{Name, Property, Require},
    value::{Thunk, Value},
};

pub type NodeId = u32;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A set of events.
    Set,
    /// A relation between events.
    Relation,
}

/// What a node depends on, as bits: rf, co, and one for each further choice of the model.
pub type Mask = u64;
pub const RF: Mask = 1;
pub const CO: Mask = 2;
pub const FIRST_CHOICE: u32 = 2;

/// The most choices a model may make besides co.
pub const MAX_CHOICES: usize = 60;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Given by the event structure.
    Base(Name),
    Rf,
    Co,
    /// What `with … from …` chose.
    Choice(usize),
    /// The current value of a variable of a recursive definition.
    FixVar(usize, usize),
    /// Its value when the definition has converged.
    FixResult(usize, usize),
    /// Computed by the general interpreter.
    Dynamic(usize),
    Empty,
    Universe,
    Identity,
    Union(Vec<NodeId>),
    Intersection(NodeId, NodeId),
    Difference(NodeId, NodeId),
    Complement(NodeId),
    Compose(NodeId, NodeId),
    Inverse(NodeId),
    Plus(NodeId),
    Star(NodeId),
    Optional(NodeId),
    IdentityOn(NodeId),
    Product(NodeId, NodeId),
    Domain(NodeId),
    Range(NodeId),
    /// The pairs that start in the first set and end in the second.
    Restrict(NodeId, Option<NodeId>, Option<NodeId>),
}

#[derive(Clone, Debug)]
pub struct Node {
    pub op: Op,
    pub kind: Kind,
    pub mask: Mask,
    /// The recursive definitions whose variables the node depends on, as bits.
    pub fixes: u64,
}

#[derive(Clone, Debug)]
pub struct CompiledTest {
    pub require: Require,
    pub negated: bool,
    pub property: Property,
    pub node: NodeId,
    pub name: Option<Name>,
    /// As the model has it, without its name.
    pub text: String,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Choice {
    pub name: Name,
    pub var: NodeId,
    /// What it is chosen from; evaluated by the general interpreter.
    pub domain: Value,
    pub needs: Vec<NodeId>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Fix {
    pub vars: Vec<NodeId>,
    pub bodies: Vec<NodeId>,
    pub results: Vec<NodeId>,
    /// A test after each round that ends the execution when it fails.
    pub when: Option<usize>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Dynamic {
    pub thunk: Arc<Thunk>,
    pub needs: Vec<NodeId>,
}

/// Nodes under construction.
#[derive(Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
    pub fixes: Vec<Fix>,
    pub choices: Vec<Choice>,
    pub dynamics: Vec<Dynamic>,
    known: HashMap<(Op, Kind), NodeId>,
}

impl Graph {
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    pub fn mask(&self, id: NodeId) -> Mask {
        self.node(id).mask
    }

    /// When a node is computed: its stage, and within a stage the loops that it belongs to.
    fn time(&self, id: NodeId) -> (usize, u64) {
        (stage(self.mask(id)), self.node(id).fixes)
    }

    /// The node of an operation that only depends on its operands.
    pub fn add(&mut self, op: Op, kind: Kind) -> NodeId {
        let (mut mask, mut fixes) = match op {
            Op::Rf => (RF, 0),
            Op::Co => (CO, 0),
            _ => (0, 0),
        };
        operands(&op, |id| {
            mask |= self.nodes[id as usize].mask;
            fixes |= self.nodes[id as usize].fixes;
        });
        self.add_with(op, kind, mask, fixes)
    }

    pub fn add_with(&mut self, op: Op, kind: Kind, mask: Mask, fixes: u64) -> NodeId {
        if let Some(&id) = self.known.get(&(op.clone(), kind)) {
            return id;
        }
        let id = self.nodes.len() as NodeId;
        self.nodes.push(Node { op: op.clone(), kind, mask, fixes });
        self.known.insert((op, kind), id);
        id
    }

    /// Forgets the nodes from `length` on.
    pub fn truncate(&mut self, length: usize) {
        self.nodes.truncate(length);
        self.known.retain(|_, id| (*id as usize) < length);
    }

    pub fn empty(&mut self, kind: Kind) -> NodeId {
        self.add(Op::Empty, kind)
    }

    pub fn is_empty(&self, id: NodeId) -> bool {
        self.node(id).op == Op::Empty
    }

    pub fn union(&mut self, ids: &[NodeId], kind: Kind) -> NodeId {
        let mut flat = Vec::new();
        for &id in ids {
            match &self.node(id).op {
                Op::Empty => {}
                Op::Union(parts) => flat.extend(parts),
                _ => flat.push(id),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        if flat.iter().any(|&id| self.node(id).op == Op::Universe) {
            return self.add(Op::Universe, kind);
        }
        match flat.len() {
            0 => return self.empty(kind),
            1 => return flat[0],
            _ => {}
        }
        // Operands that are known at the same time form one group, which is united as soon as it is known.
        flat.sort_by_key(|&id| (self.time(id), id));
        let (mut parts, mut i) = (Vec::new(), 0);
        while i < flat.len() {
            let here = self.time(flat[i]);
            let end = flat[i..].iter().position(|&id| self.time(id) != here).map_or(flat.len(), |n| i + n);
            let mut group = parts.clone();
            group.extend(&flat[i..end]);
            let id = if group.len() == 1 { group[0] } else { self.add(Op::Union(group), kind) };
            parts = vec![id];
            i = end;
        }
        parts[0]
    }

    pub fn intersection(&mut self, a: NodeId, b: NodeId, kind: Kind) -> NodeId {
        match (&self.node(a).op, &self.node(b).op) {
            (Op::Empty, _) | (_, Op::Universe) => return a,
            (_, Op::Empty) | (Op::Universe, _) => return b,
            (_, &Op::Product(from, to)) => return self.restrict(a, Some(from), Some(to)),
            (&Op::Product(from, to), _) => return self.restrict(b, Some(from), Some(to)),
            (_, &Op::Complement(c)) => return self.difference(a, c, kind),
            (&Op::Complement(c), _) => return self.difference(b, c, kind),
            _ => {}
        }
        if a == b {
            return a;
        }
        let (a, b) = (a.min(b), a.max(b));
        self.add(Op::Intersection(a, b), kind)
    }

    pub fn difference(&mut self, a: NodeId, b: NodeId, kind: Kind) -> NodeId {
        if a == b || self.is_empty(a) || self.node(b).op == Op::Universe {
            return self.empty(kind);
        }
        match self.node(b).op {
            Op::Empty => a,
            Op::Complement(c) => self.intersection(a, c, kind),
            _ => self.add(Op::Difference(a, b), kind),
        }
    }

    pub fn complement(&mut self, a: NodeId, kind: Kind) -> NodeId {
        match self.node(a).op {
            Op::Empty => self.add(Op::Universe, kind),
            Op::Universe => self.empty(kind),
            Op::Complement(inner) => inner,
            _ => self.add(Op::Complement(a), kind),
        }
    }

    pub fn inverse(&mut self, a: NodeId) -> NodeId {
        match self.node(a).op {
            Op::Empty | Op::Universe | Op::Identity | Op::IdentityOn(_) => a,
            Op::Inverse(inner) => inner,
            Op::Product(from, to) => self.add(Op::Product(to, from), Kind::Relation),
            _ => self.add(Op::Inverse(a), Kind::Relation),
        }
    }

    pub fn plus(&mut self, a: NodeId) -> NodeId {
        match self.node(a).op {
            Op::Empty | Op::Universe | Op::Identity | Op::IdentityOn(_) | Op::Plus(_) | Op::Star(_) => a,
            Op::Optional(inner) => self.star(inner),
            _ => self.add(Op::Plus(a), Kind::Relation),
        }
    }

    pub fn star(&mut self, a: NodeId) -> NodeId {
        match self.node(a).op {
            Op::Empty | Op::Identity | Op::IdentityOn(_) => self.add(Op::Identity, Kind::Relation),
            Op::Universe | Op::Star(_) => a,
            Op::Plus(inner) | Op::Optional(inner) => self.star(inner),
            _ => self.add(Op::Star(a), Kind::Relation),
        }
    }

    pub fn optional(&mut self, a: NodeId) -> NodeId {
        match self.node(a).op {
            Op::Empty | Op::Identity | Op::IdentityOn(_) => self.add(Op::Identity, Kind::Relation),
            Op::Universe | Op::Star(_) | Op::Optional(_) => a,
            Op::Plus(inner) => self.star(inner),
            _ => self.add(Op::Optional(a), Kind::Relation),
        }
    }

    pub fn identity_on(&mut self, set: NodeId) -> NodeId {
        match self.node(set).op {
            Op::Empty => self.empty(Kind::Relation),
            Op::Universe => self.add(Op::Identity, Kind::Relation),
            _ => self.add(Op::IdentityOn(set), Kind::Relation),
        }
    }

    pub fn product(&mut self, from: NodeId, to: NodeId) -> NodeId {
        if self.is_empty(from) || self.is_empty(to) {
            return self.empty(Kind::Relation);
        }
        self.add(Op::Product(from, to), Kind::Relation)
    }

    pub fn domain(&mut self, a: NodeId) -> NodeId {
        match self.node(a).op {
            Op::Empty => self.empty(Kind::Set),
            Op::Universe | Op::Identity => self.add(Op::Universe, Kind::Set),
            Op::IdentityOn(set) => set,
            Op::Inverse(inner) => self.range(inner),
            _ => self.add(Op::Domain(a), Kind::Set),
        }
    }

    pub fn range(&mut self, a: NodeId) -> NodeId {
        match self.node(a).op {
            Op::Empty => self.empty(Kind::Set),
            Op::Universe | Op::Identity => self.add(Op::Universe, Kind::Set),
            Op::IdentityOn(set) => set,
            Op::Inverse(inner) => self.domain(inner),
            _ => self.add(Op::Range(a), Kind::Set),
        }
    }

    pub fn restrict(&mut self, r: NodeId, from: Option<NodeId>, to: Option<NodeId>) -> NodeId {
        let keep = |graph: &Self, set: Option<NodeId>| set.filter(|&s| graph.node(s).op != Op::Universe);
        let (from, to) = (keep(self, from), keep(self, to));
        if self.is_empty(r) || from.or(to).is_none() {
            return r;
        }
        if from.into_iter().chain(to).any(|set| self.is_empty(set)) {
            return self.empty(Kind::Relation);
        }
        match self.node(r).op {
            Op::Universe => {
                let all = self.add(Op::Universe, Kind::Set);
                self.product(from.unwrap_or(all), to.unwrap_or(all))
            }
            Op::Identity => {
                let set = self.meet(from, to).expect("one of them is there");
                self.identity_on(set)
            }
            Op::IdentityOn(set) => {
                let set = self.meet(Some(set), from);
                let set = self.meet(set, to).expect("the first is there");
                self.identity_on(set)
            }
            Op::Restrict(inner, a, b) => {
                let (from, to) = (self.meet(a, from), self.meet(b, to));
                self.restrict(inner, from, to)
            }
            Op::Product(a, b) => {
                let (from, to) = (self.meet(Some(a), from), self.meet(Some(b), to));
                let (from, to) = (from.expect("given"), to.expect("given"));
                self.product(from, to)
            }
            _ => self.add(Op::Restrict(r, from, to), Kind::Relation),
        }
    }

    fn meet(&mut self, a: Option<NodeId>, b: Option<NodeId>) -> Option<NodeId> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.intersection(a, b, Kind::Set)),
            (a, b) => a.or(b),
        }
    }

    /// Composition of a chain. Identities on sets become restrictions of a neighbour, and neighbours that are
    /// known earliest are composed first.
    pub fn sequence(&mut self, ids: &[NodeId]) -> NodeId {
        let mut chain: Vec<NodeId> = Vec::new();
        for &id in ids {
            match self.node(id).op {
                Op::Empty => return self.empty(Kind::Relation),
                Op::Identity => {}
                Op::IdentityOn(set) => match chain.last().map(|&last| self.node(last).op.clone()) {
                    Some(Op::IdentityOn(last)) => {
                        let both = self.intersection(last, set, Kind::Set);
                        *chain.last_mut().expect("not empty") = self.identity_on(both);
                    }
                    _ => chain.push(id),
                },
                _ => chain.push(id),
            }
        }
        if chain.is_empty() {
            return self.add(Op::Identity, Kind::Relation);
        }
        // Each identity goes to the neighbour that is known first, if that is not before the identity itself.
        while chain.len() > 1 {
            let Some(at) = chain.iter().position(|&id| matches!(self.node(id).op, Op::IdentityOn(_))) else {
                break;
            };
            let Op::IdentityOn(set) = self.node(chain[at]).op else { unreachable!("just found") };
            let cost = |graph: &Self, i: usize| graph.time(chain[i]);
            let to_left = at > 0 && (at + 1 == chain.len() || cost(self, at - 1) <= cost(self, at + 1));
            if to_left {
                chain[at - 1] = self.restrict(chain[at - 1], None, Some(set));
            } else {
                chain[at + 1] = self.restrict(chain[at + 1], Some(set), None);
            }
            chain.remove(at);
        }
        while chain.len() > 1 {
            let best = (0..chain.len() - 1)
                .min_by_key(|&i| (self.time(chain[i]).max(self.time(chain[i + 1])), i))
                .expect("two parts at least");
            let right = chain.remove(best + 1);
            chain[best] = self.compose(chain[best], right);
        }
        chain[0]
    }

    fn compose(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (&self.node(a).op, &self.node(b).op) {
            (Op::Empty, _) | (_, Op::Identity) => a,
            (_, Op::Empty) | (Op::Identity, _) => b,
            _ => self.add(Op::Compose(a, b), Kind::Relation),
        }
    }
}

/// When a node can be computed: 0 at binding, 1 with rf, 2 with co, 3 and up with the choices.
pub fn stage(mask: Mask) -> usize {
    match mask {
        0 => 0,
        RF => 1,
        _ if mask <= (RF | CO) => 2,
        _ => 3 + (63 - mask.leading_zeros() - FIRST_CHOICE) as usize,
    }
}

pub fn operands(op: &Op, mut f: impl FnMut(NodeId)) {
    match op {
        Op::Base(_)
        | Op::Rf
        | Op::Co
        | Op::Choice(_)
        | Op::FixVar(..)
        | Op::FixResult(..)
        | Op::Dynamic(_)
        | Op::Empty
        | Op::Universe
        | Op::Identity => {}
        Op::Union(ids) => ids.iter().copied().for_each(f),
        &(Op::Intersection(a, b) | Op::Difference(a, b) | Op::Compose(a, b) | Op::Product(a, b)) => {
            f(a);
            f(b);
        }
        &(Op::Complement(a)
        | Op::Inverse(a)
        | Op::Plus(a)
        | Op::Star(a)
        | Op::Optional(a)
        | Op::IdentityOn(a)
        | Op::Domain(a)
        | Op::Range(a)) => f(a),
        &Op::Restrict(r, from, to) => {
            f(r);
            from.into_iter().chain(to).for_each(f);
        }
    }
}
