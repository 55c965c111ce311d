//! The laws of the relation algebra, on random relations below, at and above the one-word path.

use porf_relation::{EventSet, Relation, VectorClock};
use proptest::prelude::*;

fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![Just(0), Just(1), 2..9usize, Just(63), Just(64), Just(65), Just(130)]
}

fn relation(len: usize) -> BoxedStrategy<Relation> {
    if len == 0 {
        return Just(Relation::empty(0)).boxed();
    }
    prop::collection::vec((0..len, 0..len), 0..3 * len).prop_map(move |p| Relation::of(len, p)).boxed()
}

fn set(len: usize) -> BoxedStrategy<EventSet> {
    if len == 0 {
        return Just(EventSet::empty(0)).boxed();
    }
    prop::collection::vec(0..len, 0..len).prop_map(move |e| EventSet::of(len, e)).boxed()
}

fn three() -> impl Strategy<Value = (Relation, Relation, Relation)> {
    sizes().prop_flat_map(|n| (relation(n), relation(n), relation(n)))
}

fn relation_and_sets() -> impl Strategy<Value = (Relation, EventSet, EventSet)> {
    sizes().prop_flat_map(|n| (relation(n), set(n), set(n)))
}

/// Closure by repeated composition: slow, plainly right.
fn closure(r: &Relation) -> Relation {
    let mut sum = r.clone();
    loop {
        let next = sum.clone().union(&sum.compose(r));
        if next == sum {
            return sum;
        }
        sum = next;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn boolean_algebra((a, b, c) in three()) {
        prop_assert_eq!(a.clone().union(&b), b.clone().union(&a));
        prop_assert_eq!(
            a.clone().intersection(&b.clone().union(&c)),
            a.clone().intersection(&b).union(&a.clone().intersection(&c))
        );
        prop_assert_eq!(
            a.clone().union(&b).complemented(),
            a.clone().complemented().intersection(&b.clone().complemented())
        );
        prop_assert_eq!(a.clone().difference(&b), a.clone().intersection(&b.complemented()));
        prop_assert_eq!(a.clone().complemented().complemented(), a.clone());
        prop_assert!(a.clone().intersection(&a.clone().complemented()).is_empty());
        prop_assert_eq!(a.clone().union(&a.clone().complemented()), Relation::full(a.universe()));
        prop_assert_eq!(a.count() + a.clone().complemented().count(), a.universe() * a.universe());
    }

    #[test]
    fn composition((a, b, c) in three()) {
        let id = Relation::identity(a.universe());
        prop_assert_eq!(a.compose(&b).compose(&c), a.compose(&b.compose(&c)));
        prop_assert_eq!(a.compose(&id), a.clone());
        prop_assert_eq!(id.compose(&a), a.clone());
        prop_assert_eq!(a.compose(&b).inverse(), b.inverse().compose(&a.inverse()));
        prop_assert_eq!(a.compose(&b.clone().union(&c)), a.compose(&b).union(&a.compose(&c)));
        // Schröder: a;b ⊆ ¬c  iff  a⁻¹;c ⊆ ¬b.
        let left = a.compose(&b).is_subset(&c.clone().complemented());
        let right = a.inverse().compose(&c).is_subset(&b.clone().complemented());
        prop_assert_eq!(left, right);
        prop_assert_eq!(a.inverse().inverse(), a);
    }

    #[test]
    fn closures((a, b, _c) in three()) {
        let plus = a.clone().transitive();
        prop_assert_eq!(&plus, &closure(&a));
        prop_assert!(a.is_subset(&plus) && plus.is_transitive());
        prop_assert_eq!(plus.clone().transitive(), plus.clone());
        let star = a.clone().reflexive_transitive();
        prop_assert_eq!(&star, &plus.clone().optional());
        prop_assert_eq!(a.compose(&star), plus.clone());
        // (a|b)* = (a*;b)*;a*
        let sum = a.clone().union(&b).reflexive_transitive();
        prop_assert_eq!(sum, star.compose(&b).reflexive_transitive().compose(&star));
        prop_assert_eq!(a.is_acyclic(), plus.is_irreflexive());
    }

    #[test]
    fn cycles((a, _b, _c) in three()) {
        match a.cycle() {
            None => prop_assert!(a.is_acyclic()),
            Some(cycle) => {
                prop_assert!(!a.is_acyclic());
                for (from, to) in cycle.edges() {
                    prop_assert!(a.contains(from, to));
                }
                // Shortest: no proper power below its length is reflexive.
                let mut power = a.clone();
                for _ in 1..cycle.length() {
                    prop_assert!(power.is_irreflexive());
                    power = power.compose(&a);
                }
            }
        }
    }

    #[test]
    fn sets_and_relations((r, s, t) in relation_and_sets()) {
        let (on_s, on_t) = (Relation::identity_on(&s), Relation::identity_on(&t));
        prop_assert_eq!(on_s.compose(&r).compose(&on_t), r.clone().restricted(&s, &t));
        prop_assert_eq!(r.clone().intersection(&Relation::product(&s, &t)), r.clone().restricted(&s, &t));
        prop_assert_eq!(r.domain(), r.inverse().range());
        prop_assert!(r.is_subset(&Relation::product(&r.domain(), &r.range())));
        prop_assert_eq!(Relation::product(&s, &t).inverse(), Relation::product(&t, &s));
        prop_assert_eq!(s.clone().union(&t).count() + s.clone().intersection(&t).count(), s.count() + t.count());
        prop_assert_eq!(s.clone().difference(&t), s.clone().intersection(&t.clone().complemented()));
        prop_assert_eq!(s.is_subset(&t), s.clone().union(&t) == t);
        prop_assert_eq!(s.is_disjoint(&t), s.clone().intersection(&t).is_empty());
        prop_assert_eq!(EventSet::of(s.universe(), s.iter()), s);
    }

    #[test]
    fn pairs_rebuild_the_relation((r, _s, _t) in relation_and_sets()) {
        prop_assert_eq!(Relation::of(r.universe(), r.pairs()), r.clone());
        prop_assert_eq!(r.pairs().count(), r.count());
        prop_assert!(r.pairs().all(|(from, to)| r.contains(from, to) && r.predecessors(to).any(|e| e == from)));
        prop_assert_eq!(Relation::filter(r.universe(), |a, b| r.contains(a, b)), r);
    }

    #[test]
    fn linearisations_are_all_permutations_that_respect_the_order(
        pairs in prop::collection::vec((0..5usize, 0..5usize), 0..6),
        members in prop::collection::vec(0..5usize, 0..5),
    ) {
        let (r, members) = (Relation::of(5, pairs), EventSet::of(5, members));
        let mut found = Vec::new();
        let mut orders = r.linearisations(&members);
        while orders.advance() {
            found.push(orders.order().to_vec());
            let total = orders.as_relation();
            let within = r.clone().restricted(&members, &members);
            prop_assert!(within.is_subset(&total) && total.is_acyclic() && total.is_transitive());
        }
        let events: Vec<usize> = members.iter().collect();
        let mut expected = permutations(&events);
        expected.retain(|order| {
            (0..order.len()).all(|i| (0..=i).all(|j| !r.contains(order[i], order[j])))
        });
        expected.sort();
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(r.topological_order(&members), expected.first().cloned());
    }

    #[test]
    fn clocks(a in prop::collection::vec(0..3u32, 0..4), b in prop::collection::vec(0..3u32, 0..4)) {
        let clock = |v: &[u32]| {
            let mut clock = VectorClock::new();
            v.iter().enumerate().for_each(|(thread, &count)| clock.set(thread, count));
            clock
        };
        let (a, b) = (clock(&a), clock(&b));
        let mut both = a.clone();
        both.join(&b);
        prop_assert!(a <= both && b <= both);
        let mut other = b.clone();
        other.join(&a);
        prop_assert_eq!(&both, &other);
        prop_assert_eq!(a <= b, both == b);
        let mut later = a.clone();
        prop_assert!(later.tick(2) > 0 && a < later && later.covers(2, a.get(2) + 1));
    }
}

fn permutations(events: &[usize]) -> Vec<Vec<usize>> {
    if events.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (position, &first) in events.iter().enumerate() {
        let mut rest = events.to_vec();
        rest.remove(position);
        all.extend(permutations(&rest).into_iter().map(|mut tail| {
            tail.insert(0, first);
            tail
        }));
    }
    all
}
