//! The prover's cubes as those of a certificate: the one place that knows both.

use super::cube::{Cell, Cube, Drained, Late, Literal, Moment, Place, Relation};
use crate::prove;
use crate::prove::literal::{LinOp, Var};
use crate::prove::weak::{Entry, Mask};

/// The cube, if it was found in the order of issue: the other order speaks of no state of the machine.
pub fn export(cube: &prove::Cube) -> Option<Cube> {
    let literals = (cube.literals.iter())
        .map(|literal| match literal {
            prove::literal::Literal::In(var, set) => Literal::In(place(*var), *set),
            prove::literal::Literal::Eq(a, b) => Literal::Equal(place(*a), place(*b)),
            prove::literal::Literal::Neq(a, b) => Literal::Distinct(place(*a), place(*b)),
            prove::literal::Literal::Lin(lin) => {
                let terms = lin.terms.iter().map(|(var, k)| (*k, place(*var))).collect();
                let relation = match lin.op {
                    LinOp::Le => Relation::Le,
                    LinOp::Lt => Relation::Lt,
                    LinOp::Eq => Relation::Eq,
                    LinOp::Neq => Relation::Neq,
                };
                Literal::Sum(terms, lin.constant, relation)
            }
        })
        .collect();
    let moments = (cube.weak.nodes.iter().enumerate())
        .map(|(at, node)| Moment {
            process: node.thread,
            before: bits(node.reach & !(1 << at)),
            late: (node.late.iter())
                .map(|(location, floor)| Late { location: cell(*location), after: bits(*floor) })
                .collect(),
        })
        .collect();
    let drained = (cube.weak.entries.iter())
        .map(|(entry, mask)| match entry {
            Entry::Write(process) => Some(Drained { process: *process, location: None, by: bits(*mask) }),
            Entry::Own(process, location) => {
                Some(Drained { process: *process, location: Some(cell(*location)), by: bits(*mask) })
            }
            Entry::Any(_) | Entry::Location(_) | Entry::Fences => None,
        })
        .collect::<Option<_>>()?;
    Some(Cube { processes: cube.procs, literals, moments, drained })
}

fn place(var: Var) -> Place {
    match (var.as_process(), var.node()) {
        (Some(process), _) => Place::Process(process),
        (None, None) => Place::Cell(cell(var)),
        (None, Some(moment)) => Place::Read(moment, cell(var)),
    }
}

fn cell(var: Var) -> Cell {
    let indices: Vec<u8> = var.indices().collect();
    Cell::new(var.symbol(), &indices)
}

fn bits(mask: Mask) -> Vec<u8> {
    (0..Mask::BITS as u8).filter(|i| mask >> i & 1 == 1).collect()
}
