//! What follows from a model, read off its compiled form.
//!
//! Claim: a "yes" is proved; a "no" only means that no proof was found.
//!
//! Coherence is acyclic(po-loc | rf | co | fr), for a total co. Two shapes of axioms give it:
//! - `acyclic r` with r above po-loc, rf, co and fr;
//! - `irreflexive h ; e` with h above po-loc and e above (rf | co | fr)+: by Alglave, "A formal hierarchy of weak
//!   memory models", FMSD 2012, a cycle of po-loc and communications has a sub-cycle of one po-loc step and one
//!   chain of communications.
//!
//! Atomicity is empty(rmw & (fre ; coe)): an axiom `empty rmw & r` with r above fre ; coe gives it.

use super::{Program, Step};
use crate::{
    ast::{Property, Require},
    node::{CO, CompiledTest, NodeId, Op, operands},
};

impl Program {
    /// Whether every execution that passes the tests is coherent.
    pub fn implies_coherence(&self) -> bool {
        self.axioms().any(|(property, id)| match (property, &self.nodes[id as usize].op) {
            (Property::Acyclic, _) => Atom::ALL.iter().all(|&atom| above(self, id, atom)),
            (Property::Irreflexive, &Op::Compose(h, e)) => {
                above(self, h, Atom::PoLoc) && communications(self, e)
            }
            _ => false,
        })
    }

    /// Whether no execution that passes the tests has a foreign write between the two halves of an update.
    pub fn implies_atomicity(&self) -> bool {
        let between = |id: NodeId| match self.nodes[id as usize].op {
            Op::Compose(a, b) => external(self, a, Atom::Fr) && external(self, b, Atom::Co),
            _ => false,
        };
        self.axioms().any(|(property, id)| match (property, &self.nodes[id as usize].op) {
            (Property::Empty, &Op::Intersection(a, b)) => {
                (is_rmw(self, a) && between(b)) || (is_rmw(self, b) && between(a))
            }
            _ => false,
        })
    }

    /// Whether no execution that passes the tests has a cycle in po | rf.
    pub fn implies_porf_acyclicity(&self) -> bool {
        let both = |id: NodeId| whole_po(self, id) && above(self, id, Atom::Rf);
        self.axioms().any(|(property, id)| match (property, &self.nodes[id as usize].op) {
            (Property::Acyclic, _) => both(id),
            (Property::Irreflexive, &Op::Plus(inner)) => both(inner),
            // hb ; eco? with hb = (po | rf | ...)+.
            (Property::Irreflexive, &Op::Compose(h, e)) => {
                matches!(self.nodes[e as usize].op, Op::Optional(_) | Op::Star(_))
                    && matches!(self.nodes[h as usize].op, Op::Plus(inner) if both(inner))
            }
            _ => false,
        })
    }

    /// Whether a test may pass because of something that is in the execution, not because of something that is missing.
    /// Such a model is not closed under restriction.
    pub fn demands(&self) -> bool {
        self.tests.iter().any(|test| test.require == Require::Check && test.negated)
    }

    /// Whether the model chooses relations of its own.
    pub fn chooses(&self) -> bool {
        !self.choices.is_empty()
    }

    /// Whether consistency, flags or undefined behaviour depend on co.
    pub fn depends_on_co(&self) -> bool {
        self.tests.iter().any(|test| self.nodes[test.node as usize].mask & CO != 0)
    }

    /// Whether any answer depends on a base relation or set of this name.
    pub fn uses(&self, name: &str) -> bool {
        let scheduled = self.stages.iter().chain([&self.late]);
        scheduled.flatten().any(|step| self.reads(step, name))
            || self.choices.iter().flat_map(|choice| &choice.needs).any(|&id| is_base(self, id, name))
    }

    fn reads(&self, step: &Step, name: &str) -> bool {
        match step {
            Step::Node(id) => {
                let mut found = false;
                match &self.nodes[*id as usize].op {
                    Op::Dynamic(index) => {
                        found = self.dynamics[*index].needs.iter().any(|&need| is_base(self, need, name));
                    }
                    op => operands(op, |need| found |= is_base(self, need, name)),
                }
                found
            }
            Step::Fix(_, body) => body.iter().any(|step| self.reads(step, name)),
            Step::Test(test) => is_base(self, self.tests[*test].node, name),
        }
    }

    fn axioms(&self) -> impl Iterator<Item = (Property, NodeId)> + '_ {
        let plain = |test: &&CompiledTest| test.require == Require::Check && !test.negated;
        self.tests.iter().filter(plain).map(|test| (test.property, test.node))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Atom {
    PoLoc,
    Rf,
    Co,
    Fr,
}

impl Atom {
    const ALL: [Atom; 4] = [Atom::PoLoc, Atom::Rf, Atom::Co, Atom::Fr];
}

/// Whether a relation contains (rf | co | fr)+.
fn communications(program: &Program, id: NodeId) -> bool {
    match program.nodes[id as usize].op {
        Op::Plus(inner) | Op::Star(inner) => {
            [Atom::Rf, Atom::Co, Atom::Fr].iter().all(|&atom| above(program, inner, atom))
        }
        Op::Optional(inner) => communications(program, inner),
        _ => false,
    }
}

/// Whether a relation contains the atom, as far as its definition shows.
fn above(program: &Program, id: NodeId, atom: Atom) -> bool {
    let op = &program.nodes[id as usize].op;
    match op {
        Op::Universe => true,
        Op::Rf => atom == Atom::Rf,
        Op::Co => atom == Atom::Co,
        Op::Base(name) => atom == Atom::PoLoc && &**name == "po",
        Op::Union(parts) => {
            parts.iter().any(|&part| above(program, part, atom)) || halves(program, parts, atom)
        }
        &(Op::Plus(inner) | Op::Star(inner) | Op::Optional(inner)) => above(program, inner, atom),
        &Op::Intersection(a, b) => {
            // All atoms are between accesses to one location.
            let within = |id: NodeId| above(program, id, atom) || is_base(program, id, "loc");
            (within(a) && within(b)) && (above(program, a, atom) || above(program, b, atom))
        }
        // Co is restricted to the writes where a model chooses it itself.
        &Op::Restrict(inner, from, to) if atom == Atom::Co => {
            let writes = |set: Option<NodeId>| set.is_none_or(|set| is_base(program, set, "W"));
            writes(from) && writes(to) && above(program, inner, atom)
        }
        // fr is rf^-1 ; co, with or without the identity: rf^-1 ; co relates no two equal events, a read and a
        // write, unless an update is a single event, which then follows itself in neither.
        &Op::Difference(a, b) => is_identity(program, b) && atom == Atom::Fr && above(program, a, atom),
        &Op::Compose(a, b) => atom == Atom::Fr && is_inverse_rf(program, a) && above(program, b, Atom::Co),
        _ => false,
    }
}

/// Whether a relation contains po, as far as its definition shows.
fn whole_po(program: &Program, id: NodeId) -> bool {
    match &program.nodes[id as usize].op {
        Op::Universe => true,
        Op::Base(name) => &**name == "po",
        Op::Union(parts) => parts.iter().any(|&part| whole_po(program, part)),
        &(Op::Plus(inner) | Op::Star(inner) | Op::Optional(inner)) => whole_po(program, inner),
        _ => false,
    }
}

/// Whether a relation contains the part of the atom that goes between threads.
fn external(program: &Program, id: NodeId, atom: Atom) -> bool {
    above(program, id, atom)
        || match program.nodes[id as usize].op {
            Op::Intersection(a, b) => {
                (is_base(program, a, "ext") && above(program, b, atom))
                    || (is_base(program, b, "ext") && above(program, a, atom))
            }
            _ => false,
        }
}

/// Whether the union holds the internal and the external half of the atom.
fn halves(program: &Program, parts: &[NodeId], atom: Atom) -> bool {
    let half = |side: &str| {
        parts.iter().any(|&part| match program.nodes[part as usize].op {
            Op::Intersection(a, b) => {
                (is_base(program, a, side) && above(program, b, atom))
                    || (is_base(program, b, side) && above(program, a, atom))
            }
            _ => false,
        })
    };
    half("int") && half("ext")
}

fn is_base(program: &Program, id: NodeId, name: &str) -> bool {
    matches!(&program.nodes[id as usize].op, Op::Base(other) if &**other == name)
}

/// Whether a relation contains all updates.
fn is_rmw(program: &Program, id: NodeId) -> bool {
    let Op::Union(parts) = &program.nodes[id as usize].op else { return is_base(program, id, "rmw") };
    let has = |name: &str| parts.iter().any(|&part| is_base(program, part, name));
    has("rmw") || (has("amo") && has("lxsx"))
}

fn is_identity(program: &Program, id: NodeId) -> bool {
    program.nodes[id as usize].op == Op::Identity
}

fn is_inverse_rf(program: &Program, id: NodeId) -> bool {
    match program.nodes[id as usize].op {
        Op::Inverse(inner) => program.nodes[inner as usize].op == Op::Rf,
        _ => false,
    }
}
