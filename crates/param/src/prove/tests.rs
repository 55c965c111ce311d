//! The shortcuts of comparisons and pre-images, held against doing without them.

use super::compile::{Compiled, compile};
use super::cube::{Cube, cubes};
use super::facts::Facts;
use super::pre::{predecessors, predecessors_up_to};
use super::subsume::{Prepared, Target};
use super::weak::{Edges, Mask, Order, edges};
use super::work::Work;
use crate::{Memory, load};
use std::time::Duration;

/// Four processes that can be swapped, equations, a whole array and an order of processes.
const PLAIN: &str = "
type loc = A | B | C
array PC[proc] : loc
array To[proc] : proc
array N[proc] : int
var X : int
init (p) { PC[p] = A && N[p] = 0 && To[p] = p && X = 0 }
unsafe (p q r s) { PC[p] = C && PC[q] = C && PC[r] = C && PC[s] = C }
unsafe (p q r s) { PC[p] = C && PC[q] = C && p < q && q < r && N[r] = N[s] }
transition point (p q) requires { PC[p] = B && PC[q] <> C } { PC[p] := C; To[p] := q }
transition all (p) requires { PC[p] = A && forall_other k. PC[k] <> B } { PC[p] := B; N[j] := case | j = p : X | N[j] = X : 0 | _ : N[j] }
transition count (p q) requires { PC[p] = A && To[q] = p && p < q } { PC[p] := B; X := X + 1; N[p] := N[q] }
transition swap (p q) requires { PC[p] = B } { PC[j] := case | j = p : C | PC[j] = A : B | _ : PC[j] }";

/// Reads of four processes that wait for the same locations.
const WEAK: &str = "
type loc = A | B | C
array PC[proc] : loc
weak var X : bool
weak var Y : bool
weak array F[proc] : bool
init (p) { PC[p] = A && X = False && Y = False && F[p] = False }
unsafe (p q r s) { PC[p] = C && PC[q] = C && PC[r] = C && PC[s] = C }
transition set ([p]) requires { PC[p] = A } { PC[p] := B; X := True; F[p] := True }
transition both ([p]) requires { PC[p] = A } { PC[p] := B; X := True; Y := True }
transition see ([p] q) requires { PC[p] = B && X = True && F[q] = False } { PC[p] := C }
transition see_y ([p]) requires { PC[p] = B && Y = True && fence() } { PC[p] := C }
transition all ([p]) requires { PC[p] = B } { PC[p] := C; F[j] := case | j = p : False | _ : True }";

/// Cubes of a search without any comparison, by depth and at most `count`.
fn some_cubes(compiled: &Compiled<'_>, edges: &dyn Edges, work: &Work<'_>, count: usize) -> Vec<Cube> {
    let mut found: Vec<Cube> = compiled.unsafes.iter().flat_map(|clauses| cubes(compiled, clauses)).collect();
    let mut at = 0;
    while at < found.len() && found.len() < count {
        for predecessor in predecessors(compiled, edges, &found[at], work).expect("no limit") {
            if predecessor.cube.procs <= 6 && !found.contains(&predecessor.cube) {
                found.push(predecessor.cube);
            }
        }
        at += 1;
    }
    found.truncate(count);
    found
}

fn systems(check: impl Fn(&str, &Compiled<'_>, &dyn Edges, &Work<'_>)) {
    let work = Work::new(u64::MAX, Duration::MAX, None);
    for text in [PLAIN, WEAK] {
        let system = load(text).expect("a system");
        for (memory, order) in [
            (Memory::Sc, Order::Coherence),
            (Memory::Tso, Order::Coherence),
            (Memory::Tso, Order::Issue),
            (Memory::Pso, Order::Issue),
        ] {
            if text == PLAIN && memory != Memory::Sc {
                continue;
            }
            let compiled = compile(&system, memory, order).expect("a system");
            let edges = edges(compiled.memory, compiled.order, &compiled.racy, &compiled.chained);
            check(&format!("{memory:?} {order:?}"), &compiled, &*edges, &work);
        }
    }
}

#[test]
fn comparisons_agree_with_all_renamings() {
    systems(|name, compiled, edges, work| {
        let cubes = some_cubes(compiled, edges, work, 200);
        let (mut yes, mut no) = (0, 0);
        for general in cubes.iter().step_by(2) {
            let prepared = Prepared::new(general.clone());
            for covered in &cubes {
                let Some(target) = Target::new(compiled, covered) else { continue };
                let expected = covers(general, covered, &target.facts);
                assert_eq!(
                    prepared.covers(&target, work),
                    expected,
                    "{name}:\n{general:?}\ncovers\n{covered:?}"
                );
                assert!(!expected || prepared.signature.may_cover(target.signature), "{name}: signature");
                *(if expected { &mut yes } else { &mut no }) += 1;
            }
        }
        assert!(yes > 200 && no > 200, "{name}: {yes} covered, {no} not");
    });
}

#[test]
fn swapping_twins_adds_no_predecessor() {
    systems(|name, compiled, edges, work| {
        let mut saved = 0;
        for cube in some_cubes(compiled, edges, work, 50) {
            let few = predecessors(compiled, edges, &cube, work).expect("no limit");
            let single = (0..cube.procs).collect();
            let all = predecessors_up_to(single, compiled, edges, &cube, work).expect("no limit");
            saved += all.len() - few.len();
            for one in &all {
                let facts = Facts::new(&one.cube.literals, &compiled.domains).expect("normal");
                let same = |other: &Cube| {
                    let back = Facts::new(&other.literals, &compiled.domains).expect("normal");
                    covers(other, &one.cube, &facts) && covers(&one.cube, other, &back)
                };
                assert!(few.iter().any(|other| same(&other.cube)), "{name}: {:?} is lost", one.cube);
            }
        }
        assert!(saved > 0, "{name}: no twins");
    });
}

/// Whether `general` covers `covered`, by trying all injections.
fn covers(general: &Cube, covered: &Cube, facts: &Facts) -> bool {
    fn injections(from: usize, to: usize, visit: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        fn go(from: usize, to: usize, map: &mut Vec<u8>, visit: &mut dyn FnMut(&[u8]) -> bool) -> bool {
            if map.len() == from {
                return visit(map);
            }
            (0..to as u8).any(|image| {
                if map.contains(&image) {
                    return false;
                }
                map.push(image);
                let found = go(from, to, map, visit);
                map.pop();
                found
            })
        }
        from <= to && go(from, to, &mut Vec::new(), visit)
    }
    let (nodes, others) = (&general.weak.nodes, &covered.weak.nodes);
    injections(general.procs.into(), covered.procs.into(), &mut |procs| {
        let by = |p: u8| procs[p as usize];
        injections(nodes.len(), others.len(), &mut |map| {
            let image = |mask: Mask| {
                (map.iter().enumerate())
                    .filter(|(i, _)| mask >> i & 1 == 1)
                    .fold(0, |m: Mask, (_, n)| m | 1 << n)
            };
            nodes.iter().zip(map).all(|(node, to)| {
                let to = &others[*to as usize];
                to.thread == by(node.thread)
                    && image(node.reach) & !to.reach == 0
                    && node.late.iter().all(|(location, floor)| {
                        let location = location.map(by, |n| n);
                        to.late.iter().any(|(other, more)| *other == location && image(*floor) & !more == 0)
                    })
            }) && (general.weak.entries.iter())
                .all(|(entry, mask)| image(*mask) & !covered.weak.entry(entry.rename(by)) == 0)
                && (general.literals.iter())
                    .all(|literal| facts.implies(&literal.map(by, |n| map[n as usize])))
        })
    })
}
