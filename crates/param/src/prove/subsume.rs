//! Subsumption up to renaming: is every state of one cube a state of another?
//!
//! A general cube `g` covers `c` if its processes can be renamed injectively to processes of `c` and its nodes
//! to nodes of `c` (same thread) so that every literal is implied and every order constraint of `g` is one of
//! `c`. Processes are chosen one by one; a literal is checked as soon as its processes are known, so clashing
//! pairs are cut at once.

use super::cube::{Cube, Signature};
use super::facts::Facts;
use super::literal::{Literal, Var};
use super::weak::Mask;

/// A cube with its literals sorted by the moment they can be checked.
pub struct Prepared {
    pub cube: Cube,
    pub signature: Signature,
    /// Literals without processes and nodes, then by the last process they mention.
    by_process: Vec<Vec<usize>>,
    by_node: Vec<Vec<usize>>,
}

/// The covering map: processes and nodes of the general cube to those of the covered one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedding {
    pub procs: Vec<u8>,
    pub nodes: Vec<u8>,
}

impl Prepared {
    pub fn new(cube: Cube) -> Prepared {
        let mut by_process = vec![Vec::new(); cube.procs as usize + 1];
        let mut by_node = vec![Vec::new(); cube.weak.nodes.len()];
        for (i, literal) in cube.literals.iter().enumerate() {
            let (mut process, mut node) = (0, None);
            literal.vars(&mut |var| {
                process = process.max(var.indices().max().map_or(0, |p| p as usize + 1));
                node = node.max(var.node());
            });
            match node {
                Some(node) => by_node[node as usize].push(i),
                None => by_process[process].push(i),
            }
        }
        Prepared { signature: cube.signature(), by_process, by_node, cube }
    }

    /// Whether this cube covers `covered`, whose closure is `facts`. `named`: processes keep their names.
    pub fn covers(&self, covered: &Cube, facts: &Facts, named: bool) -> Option<Embedding> {
        let mut missing = None;
        self.embed(covered, facts, named, 0, &mut missing, &mut |embedding, _| Some(embedding))
    }

    /// Tries embeddings under which at most `slack` literals are not implied, until `found` accepts one.
    pub fn embed<R>(
        &self,
        covered: &Cube,
        facts: &Facts,
        named: bool,
        slack: u8,
        missing: &mut Option<Literal>,
        found: &mut impl FnMut(Embedding, Option<Literal>) -> Option<R>,
    ) -> Option<R> {
        if self.cube.procs > covered.procs || self.cube.weak.nodes.len() > covered.weak.nodes.len() {
            return None;
        }
        let mut search = Search {
            general: self,
            covered,
            facts,
            named,
            slack,
            map: Embedding { procs: Vec::with_capacity(self.cube.procs as usize), nodes: Vec::new() },
        };
        let before = missing.clone();
        let result = if search.literals(&self.by_process[0], missing) {
            search.process(0, missing, found)
        } else {
            None
        };
        *missing = before;
        result
    }
}

struct Search<'a> {
    general: &'a Prepared,
    covered: &'a Cube,
    facts: &'a Facts,
    named: bool,
    slack: u8,
    map: Embedding,
}

impl Search<'_> {
    fn process<R>(
        &mut self,
        used: u64,
        missing: &mut Option<Literal>,
        found: &mut impl FnMut(Embedding, Option<Literal>) -> Option<R>,
    ) -> Option<R> {
        let at = self.map.procs.len();
        if at == self.general.cube.procs as usize {
            return self.node(0, missing, found);
        }
        for process in 0..self.covered.procs {
            if used >> process & 1 == 1 || (self.named && process as usize != at) {
                continue;
            }
            self.map.procs.push(process);
            let before = missing.clone();
            if self.literals(&self.general.by_process[at + 1], missing)
                && let Some(result) = self.process(used | 1 << process, missing, found)
            {
                return Some(result);
            }
            *missing = before;
            self.map.procs.pop();
        }
        None
    }

    fn node<R>(
        &mut self,
        used: Mask,
        missing: &mut Option<Literal>,
        found: &mut impl FnMut(Embedding, Option<Literal>) -> Option<R>,
    ) -> Option<R> {
        let at = self.map.nodes.len();
        if at == self.general.cube.weak.nodes.len() {
            return if self.order() { found(self.map.clone(), missing.clone()) } else { None };
        }
        let thread = self.map.procs[self.general.cube.weak.nodes[at].thread as usize];
        for (node, candidate) in self.covered.weak.nodes.iter().enumerate() {
            if used >> node & 1 == 1 || candidate.thread != thread {
                continue;
            }
            self.map.nodes.push(node as u8);
            let before = missing.clone();
            if self.literals(&self.general.by_node[at], missing)
                && let Some(result) = self.node(used | 1 << node, missing, found)
            {
                return Some(result);
            }
            *missing = before;
            self.map.nodes.pop();
        }
        None
    }

    /// Whether the literals are implied, but for the slack.
    fn literals(&self, literals: &[usize], missing: &mut Option<Literal>) -> bool {
        let procs = |p: u8| self.map.procs[p as usize];
        let nodes = |n: u8| self.map.nodes[n as usize];
        for &i in literals {
            let implied = match &self.general.cube.literals[i] {
                Literal::In(var, set) => self.facts.values(var.map(procs, nodes)) & !set == 0,
                literal => self.facts.implies(&literal.map(procs, nodes)),
            };
            if !implied {
                if self.slack == 0 || missing.is_some() {
                    return false;
                }
                *missing = Some(self.general.cube.literals[i].map(procs, nodes));
            }
        }
        true
    }

    /// Whether every order constraint of the general cube is one of the covered.
    fn order(&self) -> bool {
        let procs = |p: u8| self.map.procs[p as usize];
        let image = |mask: Mask| {
            (self.map.nodes.iter().enumerate())
                .filter(|(i, _)| mask >> i & 1 == 1)
                .fold(0, |m, (_, n)| m | 1 << n)
        };
        let (general, covered) = (&self.general.cube.weak, &self.covered.weak);
        (general.nodes.iter().zip(&self.map.nodes)).all(|(node, to)| {
            let to = &covered.nodes[*to as usize];
            let late = |(location, floor): &(Var, Mask)| {
                let location = location.map(procs, |n| n);
                to.late.iter().any(|(other, more)| *other == location && image(*floor) & !more == 0)
            };
            image(node.reach) & !to.reach == 0 && node.late.iter().all(late)
        }) && (general.entries.iter())
            .all(|(entry, mask)| image(*mask) & !covered.entry(entry.rename(procs)) == 0)
    }
}
