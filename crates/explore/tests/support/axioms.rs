//! The models' axioms, over bit matrices. Position 0 is the initial write.

use porf_event::{EventId, FenceMode, Label, Location, ReadMode, WriteMode};
use porf_explore::Model;
use porf_relation::{EventSet, Relation};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub struct Candidate {
    pub events: Vec<(EventId, Label)>,
    pub rf: Vec<(EventId, EventId)>,
    pub co: BTreeMap<Location, Vec<EventId>>,
}

struct Relations {
    labels: Vec<Label>,
    n: usize,
    po: Relation,
    loc: Relation,
    rf: Relation,
    co: Relation,
    rmw: Relation,
    ext: Relation,
}

pub fn consistent(candidate: &Candidate, model: Model) -> bool {
    let r = Relations::new(candidate);
    // Everywhere: (po ∪ rf) has no cycle. Candidates are built that way.
    match model {
        Model::Sc => {
            let fr = r.fr(&r.co);
            r.atom(&r.co) && r.po.clone().union(&r.rf).union(&r.co).union(&fr).is_acyclic()
        }
        Model::Tso | Model::Pso => r.store_buffers(model == Model::Tso),
        Model::Ra | Model::Sra => {
            let hb = r.po.clone().union(&r.rf).transitive();
            let eco = r.eco(&r.co);
            hb.is_irreflexive()
                && hb.compose(&eco).is_irreflexive()
                && r.atom(&r.co)
                && (model == Model::Ra || hb.union(&r.co).is_acyclic())
        }
        Model::Rc11 | Model::C20 => {
            let hb = r.rc11_hb(model == Model::C20);
            r.rc11(&hb, &r.co)
        }
        Model::Wrc11 => {
            let hb = r.rc11_hb(false);
            let mo = weak_mo(&r, &hb);
            mo.is_irreflexive() && r.rc11(&hb, &mo)
        }
        _ => unreachable!("held to the oracle, in weave.rs"),
    }
}

/// moweak: per location, the writes of it related by (hb ∪ rf of that location)+.
fn weak_mo(r: &Relations, hb: &Relation) -> Relation {
    let mut mo = Relation::empty(r.n);
    let locations: Vec<Location> = r.labels.iter().filter_map(|l| l.location()).collect();
    for x in locations {
        let of_x = |e: usize| e == 0 || r.labels[e].location() == Some(x);
        let rfx = Relation::of(r.n, r.rf.pairs().filter(|&(_, read)| r.labels[read].location() == Some(x)));
        let writes = EventSet::filter(r.n, |&e| of_x(e) && (e == 0 || r.labels[e].is_write()));
        mo.union_with(&hb.clone().union(&rfx).transitive().restricted(&writes, &writes));
    }
    mo
}

impl Relations {
    fn new(candidate: &Candidate) -> Relations {
        let ids: Vec<EventId> =
            std::iter::once(EventId::INIT).chain(candidate.events.iter().map(|(id, _)| *id)).collect();
        let labels: Vec<Label> =
            std::iter::once(Label::Init).chain(candidate.events.iter().map(|(_, label)| *label)).collect();
        let n = ids.len();
        let at = |id: EventId| ids.iter().position(|&other| other == id).unwrap();
        let po = Relation::filter(n, |a, b| {
            b != 0 && (a == 0 || (ids[a].thread == ids[b].thread && ids[a].index < ids[b].index))
        });
        let loc = Relation::filter(n, |a, b| {
            a != 0 && b != 0 && labels[a].location().is_some() && labels[a].location() == labels[b].location()
        });
        let rf = Relation::of(n, candidate.rf.iter().map(|&(read, write)| (at(write), at(read))));
        let mut co = Relation::filter(n, |a, b| a == 0 && labels[b].is_write());
        for writes in candidate.co.values() {
            for (i, &a) in writes.iter().enumerate() {
                for &b in &writes[i + 1..] {
                    co.insert(at(a), at(b));
                }
            }
        }
        // The read of a read-modify-write is the nearest of its kind before the write.
        let mut rmw = Relation::empty(n);
        for w in 1..n {
            if labels[w].is_write() && labels[w].rmw().is_pair() {
                let read = (1..n)
                    .filter(|&r| {
                        po.contains(r, w) && labels[r].is_read() && labels[r].rmw() == labels[w].rmw()
                    })
                    .max_by_key(|&r| ids[r].index)
                    .unwrap();
                rmw.insert(read, w);
            }
        }
        let ext = Relation::filter(n, |a, b| ids[a].thread != ids[b].thread);
        Relations { labels, n, po, loc, rf, co, rmw, ext }
    }

    fn set(&self, holds: impl Fn(&Label) -> bool) -> EventSet {
        EventSet::filter(self.n, |&e| holds(&self.labels[e]))
    }

    /// rf⁻¹;co: a read before the writes that are co-after its source, of its location.
    fn fr(&self, co: &Relation) -> Relation {
        let fr = self.rf.inverse().compose(co);
        let same = Relation::filter(self.n, |a, b| self.labels[a].location() == self.labels[b].location());
        fr.intersection(&same)
    }

    fn eco(&self, co: &Relation) -> Relation {
        self.rf.clone().union(co).union(&self.fr(co)).transitive()
    }

    fn atom(&self, co: &Relation) -> bool {
        self.rmw.clone().intersection(&self.fr(co).compose(co)).is_empty() && self.unique_rmw_sources()
    }

    fn unique_rmw_sources(&self) -> bool {
        let chains = self.rf.compose(&self.rmw);
        (0..self.n).all(|w| {
            let locations: Vec<_> = chains.successors(w).map(|u| self.labels[u].location()).collect();
            (0..locations.len()).all(|i| !locations[..i].contains(&locations[i]))
        })
    }

    fn store_buffers(&self, tso: bool) -> bool {
        let fr = self.fr(&self.co);
        let com = self.rf.clone().union(&self.co).union(&fr);
        let uw = self.rmw.range();
        let fences = self.set(|l| match l {
            Label::Fence { mode, .. } => mode.is_full(),
            Label::Create { .. } | Label::Join { .. } => true,
            _ => false,
        });
        let reads = self.set(Label::is_read);
        let writes = self.set(Label::is_write);
        let all = EventSet::full(self.n);
        let strong = reads.union(&fences).union(&uw);
        let mut ppo = self.po.clone().restricted(&strong, &all);
        if tso {
            ppo.union_with(&self.po.clone().restricted(&all, &writes.clone().union(&fences)));
        } else {
            ppo.union_with(&self.po.clone().restricted(&all, &fences));
            ppo.union_with(&self.po.clone().restricted(&writes, &writes).intersection(&self.loc));
        }
        // A locked read-modify-write orders what is before it with its read.
        ppo.union_with(&self.po.clone().restricted(&all, &self.rmw.domain()));
        if !tso {
            let releasing = Relation::identity_on(
                &self.set(|l| matches!(l, Label::Fence { mode, .. } if mode.is_release())),
            );
            let across = self.po.compose(&releasing).compose(&self.po).restricted(&writes, &writes);
            ppo.union_with(&across);
        }
        let rfe = self.rf.clone().intersection(&self.ext);
        self.po.clone().intersection(&self.loc).union(&com).is_acyclic()
            && self.atom(&self.co)
            && ppo.union(&rfe).union(&self.co).union(&fr).is_acyclic()
    }

    fn rc11_hb(&self, c20: bool) -> Relation {
        let id = |set: &EventSet| Relation::identity_on(set);
        let atomic_write = self.set(|l| matches!(l, Label::Write { mode, .. } if *mode != WriteMode::Plain));
        let atomic_read = self.set(|l| matches!(l, Label::Read { mode, .. } if *mode != ReadMode::Plain));
        let fence = self.set(|l| matches!(l, Label::Fence { .. }));
        let release = self.set(|l| match l {
            Label::Write { mode, .. } => matches!(mode, WriteMode::Release | WriteMode::SeqCst),
            Label::Fence { mode, .. } => {
                matches!(mode, FenceMode::Release | FenceMode::AcqRel | FenceMode::SeqCst)
            }
            _ => false,
        });
        let acquire = self.set(|l| match l {
            Label::Read { mode, .. } => matches!(mode, ReadMode::Acquire | ReadMode::SeqCst),
            Label::Fence { mode, .. } => {
                matches!(mode, FenceMode::Acquire | FenceMode::AcqRel | FenceMode::SeqCst)
            }
            _ => false,
        });
        let writes = self.set(Label::is_write);
        // C++20: a later write of the same thread does not continue a release sequence.
        let heads = match c20 {
            true => id(&atomic_write),
            false => id(&writes)
                .compose(&self.po.clone().intersection(&self.loc).optional())
                .compose(&id(&atomic_write)),
        };
        let rs = heads.compose(&self.rf.compose(&self.rmw).reflexive_transitive());
        let sw = id(&release)
            .compose(&id(&fence).compose(&self.po).optional())
            .compose(&rs)
            .compose(&self.rf)
            .compose(&id(&atomic_read))
            .compose(&self.po.compose(&id(&fence)).optional())
            .compose(&id(&acquire));
        self.po.clone().union(&sw).transitive()
    }

    fn rc11(&self, hb: &Relation, co: &Relation) -> bool {
        let eco = self.eco(co);
        hb.is_irreflexive()
            && hb.compose(&eco).is_irreflexive()
            && self.atom(co)
            && self.po.clone().union(&self.rf).is_acyclic()
            && self.psc(hb, co, &eco).is_acyclic()
    }

    fn psc(&self, hb: &Relation, co: &Relation, eco: &Relation) -> Relation {
        let id = |set: &EventSet| Relation::identity_on(set);
        let sc = id(&self.set(|l| match l {
            Label::Read { mode, .. } => *mode == ReadMode::SeqCst,
            Label::Write { mode, .. } => *mode == WriteMode::SeqCst,
            Label::Fence { mode, .. } => *mode == FenceMode::SeqCst,
            _ => false,
        }));
        let fsc = id(&self.set(|l| matches!(l, Label::Fence { mode: FenceMode::SeqCst, .. })));
        let different = self.po.clone().difference(&self.loc);
        let scb = self
            .po
            .clone()
            .union(&different.compose(hb).compose(&different))
            .union(&hb.clone().intersection(&self.loc))
            .union(co)
            .union(&self.fr(co));
        let maybe = hb.clone().optional();
        let left = sc.clone().union(&fsc.compose(&maybe));
        let right = sc.union(&maybe.compose(&fsc));
        let base = left.compose(&scb).compose(&right);
        let fences = fsc.compose(&hb.clone().union(&hb.compose(eco).compose(hb))).compose(&fsc);
        base.union(&fences)
    }
}
