//! Classic litmus shapes, built by hand, under every shipped model.

mod common;

use common::{Shape, outcomes};

/// For each model whether the relaxed outcome of the shape is allowed.
#[track_caller]
fn check(shape: &Shape, expected: &[(&str, bool)]) {
    for &(model, allowed) in expected {
        assert_eq!(outcomes(model, shape), allowed, "{} under {model}", shape.name);
    }
}

#[test]
fn store_buffering() {
    let sb = Shape::new("SB").thread("Wx1 Ry0").thread("Wy1 Rx0");
    check(&sb, &[("sc", false), ("tso", true), ("pso", true), ("ra", true), ("sra", true)]);
    check(&sb, &[("rc11", true), ("wrc11", true), ("imm", true), ("armv8", true), ("armv7", true)]);
    check(&sb, &[("power", true), ("riscv", true), ("lkmm", true)]);
}

#[test]
fn store_buffering_with_fences() {
    let fenced = |fence: &str| {
        Shape::new("SB+fences").thread(&format!("Wx1 {fence} Ry0")).thread(&format!("Wy1 {fence} Rx0"))
    };
    check(
        &fenced("F:SC"),
        &[("tso", false), ("pso", false), ("rc11", false), ("wrc11", false), ("imm", false)],
    );
    check(&fenced("F:MFENCE"), &[("tso", false), ("pso", false)]);
    check(&fenced("F:DMB.SY"), &[("armv8", false)]);
    check(&fenced("F:DMB.ST"), &[("armv8", true), ("armv7", true)]);
    check(&fenced("F:DMB"), &[("armv7", false)]);
    check(&fenced("F:SYNC"), &[("power", false)]);
    check(&fenced("F:LWSYNC"), &[("power", true)]);
    check(&fenced("F:Fence.rw.rw"), &[("riscv", false)]);
    check(&fenced("F:Fence.tso"), &[("riscv", true)]);
    check(&fenced("F:Mb"), &[("lkmm", false)]);
    check(&fenced("F:Wmb"), &[("lkmm", true)]);
}

#[test]
fn message_passing() {
    let mp = Shape::new("MP").thread("Wx1 Wy1").thread("Ry1 Rx0");
    check(&mp, &[("sc", false), ("tso", false), ("pso", true), ("ra", false), ("sra", false)]);
    check(&mp, &[("rc11", true), ("wrc11", true), ("imm", true), ("armv8", true), ("armv7", true)]);
    check(&mp, &[("power", true), ("riscv", true), ("lkmm", true)]);
}

#[test]
fn message_passing_released_and_acquired() {
    let c = Shape::new("MP+rel+acq").thread("Wx1 Wy1:REL").thread("Ry1:ACQ Rx0");
    check(&c, &[("rc11", false), ("wrc11", false), ("imm", false)]);
    let arm = Shape::new("MP+L+A").thread("Wx1 Wy1:L").thread("Ry1:A Rx0");
    check(&arm, &[("armv8", false)]);
    let arm = Shape::new("MP+L+Q").thread("Wx1 Wy1:L").thread("Ry1:Q Rx0");
    check(&arm, &[("armv8", false)]);
    let riscv = Shape::new("MP+rl+aq").thread("Wx1 Wy1:Rel").thread("Ry1:Acq Rx0");
    check(&riscv, &[("riscv", false)]);
    let linux = Shape::new("MP+rel+acq").thread("Wx1 Wy1:Release").thread("Ry1:Acquire Rx0");
    check(&linux, &[("lkmm", false)]);
    let linux = Shape::new("MP+wmb+rmb").thread("Wx1 F:Wmb Wy1").thread("Ry1 F:Rmb Rx0");
    check(&linux, &[("lkmm", false)]);
    let power = Shape::new("MP+lwsync+addr").thread("Wx1 F:LWSYNC Wy1").thread("Ry1 Rx0@addr");
    check(&power, &[("power", false)]);
    let power = Shape::new("MP+eieio+addr").thread("Wx1 F:EIEIO Wy1").thread("Ry1 Rx0@addr");
    check(&power, &[("power", false)]);
}

#[test]
fn load_buffering() {
    let lb = Shape::new("LB").thread("Rx1 Wy1").thread("Ry1 Wx1");
    check(
        &lb,
        &[("sc", false), ("tso", false), ("pso", false), ("ra", false), ("sra", false), ("rc11", false)],
    );
    check(&lb, &[("wrc11", false), ("imm", true), ("armv8", true), ("armv7", true), ("power", true)]);
    check(&lb, &[("riscv", true), ("lkmm", true)]);
    let data = Shape::new("LB+datas").thread("Rx1 Wy1@data").thread("Ry1 Wx1@data");
    check(&data, &[("imm", false), ("armv8", false), ("armv7", false), ("power", false), ("riscv", false)]);
    check(&data, &[("lkmm", false)]);
    let ctrl = Shape::new("LB+ctrls").thread("Rx1 Wy1@ctrl").thread("Ry1 Wx1@ctrl");
    check(&ctrl, &[("imm", false), ("armv8", false), ("armv7", false), ("power", false), ("riscv", false)]);
    check(&ctrl, &[("lkmm", false)]);
}

#[test]
fn independent_reads_of_independent_writes() {
    let iriw = Shape::new("IRIW").thread("Wx1").thread("Wy1").thread("Rx1 Ry0").thread("Ry1 Rx0");
    check(
        &iriw,
        &[("sc", false), ("tso", false), ("pso", false), ("ra", true), ("sra", true), ("rc11", true)],
    );
    let addr =
        Shape::new("IRIW+addrs").thread("Wx1").thread("Wy1").thread("Rx1 Ry0@addr").thread("Ry1 Rx0@addr");
    check(&addr, &[("armv8", false), ("riscv", false), ("power", true), ("armv7", true), ("imm", true)]);
    check(&addr, &[("lkmm", true)]);
    let sync = Shape::new("IRIW+syncs")
        .thread("Wx1")
        .thread("Wy1")
        .thread("Rx1 F:SYNC Ry0")
        .thread("Ry1 F:SYNC Rx0");
    check(&sync, &[("power", false)]);
    let light = Shape::new("IRIW+lwsyncs")
        .thread("Wx1")
        .thread("Wy1")
        .thread("Rx1 F:LWSYNC Ry0")
        .thread("Ry1 F:LWSYNC Rx0");
    check(&light, &[("power", true)]);
}

#[test]
fn two_plus_two_writes() {
    let w = Shape::new("2+2W").thread("Wx1 Wy2").thread("Wy1 Wx2").last("x1 y1");
    check(&w, &[("sc", false), ("tso", false), ("pso", true), ("ra", true), ("sra", false), ("rc11", true)]);
    check(&w, &[("imm", true), ("armv8", true), ("armv7", true), ("power", true), ("riscv", true)]);
    check(&w, &[("lkmm", true)]);
}

#[test]
fn coherence() {
    let rr = Shape::new("CoRR").thread("Wx1").thread("Rx1 Rx0");
    for entry in porf_model::ENTRIES {
        assert!(!outcomes(entry.name, &rr), "CoRR under {}", entry.name);
    }
}

#[test]
fn updates_are_atomic() {
    let twice = Shape::new("inc+inc").thread("Ux0-1").thread("Ux0-1");
    for entry in porf_model::ENTRIES {
        assert!(!outcomes(entry.name, &twice), "two updates of one value under {}", entry.name);
    }
}
