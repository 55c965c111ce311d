//! No axiom of a shipped model is idle: for each, a named shape that is forbidden with it and allowed without.

#[allow(dead_code)]
mod common;

use common::{Shape, allowed};
use porf_cat::{
    CatModel,
    ast::{Require, StatementKind},
    parse,
};

fn shapes() -> Vec<Shape> {
    let fenced = |name, fence: &str| {
        Shape::new(name).thread(&format!("Wx1 {fence} Ry0")).thread(&format!("Wy1 {fence} Rx0"))
    };
    vec![
        Shape::new("CoWR").thread("Wx1 Rx0"),
        Shape::new("CoRR").thread("Wx1").thread("Rx1 Rx0"),
        Shape::new("CoWW").thread("Wx1 Wx2").last("x1"),
        Shape::new("inc+inc").thread("Ux0-1").thread("Ux0-1"),
        Shape::new("exclusives").thread("Xx0-1").thread("Xx0-1"),
        Shape::new("inc+W").thread("Ux0-1").thread("Wx2").last("x1"),
        Shape::new("SB").thread("Wx1 Ry0").thread("Wy1 Rx0"),
        fenced("SB+scs", "F:SC"),
        Shape::new("SB+sc accesses").thread("Wx1:SC Ry0:SC").thread("Wy1:SC Rx0:SC"),
        fenced("SB+mfences", "F:MFENCE"),
        fenced("SB+dmbs", "F:DMB.SY:DMB"),
        fenced("SB+syncs", "F:SYNC"),
        fenced("SB+fences", "F:Fence.rw.rw"),
        fenced("SB+mbs", "F:Mb"),
        Shape::new("MP").thread("Wx1 Wy1").thread("Ry1 Rx0"),
        Shape::new("MP+rel+acq").thread("Wx1 Wy1:REL:Release").thread("Ry1:ACQ:Acquire Rx0"),
        Shape::new("MP+lwsync+addr").thread("Wx1 F:LWSYNC Wy1").thread("Ry1 Rx0@addr"),
        Shape::new("MP+dmb+addr").thread("Wx1 F:DMB Wy1").thread("Ry1 Rx0@addr"),
        Shape::new("MP+plain").thread("Wx1:P Wy1:Release").thread("Ry1:Acquire Rx0:P"),
        Shape::new("MP+rcu").thread("Wx1 F:Sync-rcu Wy1").thread("F:Rcu-lock Ry1 Rx0 F:Rcu-unlock"),
        Shape::new("MP+wmb+rmb").thread("Wx1 F:Wmb Wy1").thread("Ry1 F:Rmb Rx0"),
        Shape::new("LB").thread("Rx1 Wy1").thread("Ry1 Wx1"),
        Shape::new("LB+datas").thread("Rx1 Wy1@data").thread("Ry1 Wx1@data"),
        Shape::new("2+2W").thread("Wx1 Wy2").thread("Wy1 Wx2").last("x1 y1"),
        Shape::new("2+2W+lwsyncs").thread("Wx1 F:LWSYNC Wy2").thread("Wy1 F:LWSYNC Wx2").last("x1 y1"),
        Shape::new("2+2W+dmbs").thread("Wx1 F:DMB Wy2").thread("Wy1 F:DMB Wx2").last("x1 y1"),
        Shape::new("2+2W+exclusives").thread("Wx1:EX Wy2:EX").thread("Wy1:EX Wx2:EX").last("x1 y1"),
    ]
}

#[test]
fn every_axiom_forbids_something_alone() {
    let shapes = shapes();
    let mut idle = Vec::new();
    for entry in porf_model::ENTRIES {
        let whole = CatModel::shipped(entry.model);
        let file = parse(entry.name, entry.cat).unwrap();
        for (index, statement) in file.statements.iter().enumerate() {
            let StatementKind::Test(Require::Check, test) = &statement.kind else { continue };
            let name = test.name.as_deref().expect("axioms are named");
            let mut without = file.clone();
            without.statements.remove(index);
            let without = CatModel::parse(entry.name, &without.to_string()).unwrap();
            if !shapes.iter().any(|shape| allowed(&without, shape) && !allowed(&whole, shape)) {
                idle.push(format!("{}: {name}", entry.name));
            }
        }
    }
    assert!(idle.is_empty(), "no shape notices the loss of {idle:?}");
}
