//! Tests in C: C11 atomics, or the Linux kernel's primitives.

use super::{Access, Kind, Link, Shape, Target, condition};
use std::fmt::Write;

pub fn write(target: Target, name: &str, shape: &Shape, threads: &[Vec<Access>], links: &[Link]) -> String {
    let mut text = format!("C {name}\n\"{}\"\n{{}}\n", shape.meaning);
    let mut reads = Vec::new();
    for (number, (thread, link)) in threads.iter().zip(links).enumerate() {
        let pointer = if target == Target::C11 { "atomic_int" } else { "int" };
        let mut variables: Vec<char> = thread.iter().map(|access| access.variable).collect();
        variables.sort();
        variables.dedup();
        let parameters: Vec<String> =
            variables.iter().map(|variable| format!("{pointer} *{variable}")).collect();
        let _ = write!(text, "\nP{number}({}) {{\n", parameters.join(", "));
        for (at, access) in thread.iter().enumerate() {
            // The register of the read before this access, on which it may depend.
            let before = (at > 0).then(|| format!("r{}", at - 1));
            let register = format!("r{at}");
            if let (Link::Fence(fence), true) = (link, at > 0) {
                let _ = writeln!(text, "  {fence};");
            }
            let line = match target {
                Target::C11 => c11(access, *link, &register),
                _ => kernel(access, *link, before.as_deref(), &register),
            };
            let _ = writeln!(text, "  {line}");
            if access.kind == Kind::Read {
                reads.push((number, register, access.value));
            }
        }
        text += "}\n";
    }
    text + "\n" + &condition(shape, &reads) + "\n"
}

fn c11(access: &Access, link: Link, register: &str) -> String {
    let Access { kind, variable, value } = access;
    let order = match (link, kind) {
        (Link::SeqCst, _) => "seq_cst",
        (Link::ReleaseAcquire, Kind::Read) => "acquire",
        (Link::ReleaseAcquire, Kind::Write) => "release",
        _ => "relaxed",
    };
    match kind {
        Kind::Read => format!("int {register} = atomic_load_explicit({variable}, memory_order_{order});"),
        Kind::Write => format!("atomic_store_explicit({variable}, {value}, memory_order_{order});"),
    }
}

fn kernel(access: &Access, link: Link, before: Option<&str>, register: &str) -> String {
    let Access { kind, variable, value } = access;
    let (place, stored) = match (link, before) {
        (Link::Addr, Some(before)) => (format!("({variable} + ({before} ^ {before}))"), value.to_string()),
        (Link::Data, Some(before)) => (variable.to_string(), format!("{value} + ({before} ^ {before})")),
        _ => (variable.to_string(), value.to_string()),
    };
    let line = match (kind, link) {
        (Kind::Read, Link::ReleaseAcquire) => format!("int {register} = smp_load_acquire({place});"),
        (Kind::Read, _) => format!("int {register} = READ_ONCE(*{place});"),
        (Kind::Write, Link::ReleaseAcquire) => format!("smp_store_release({place}, {stored});"),
        (Kind::Write, _) => format!("WRITE_ONCE(*{place}, {stored});"),
    };
    match (link, before) {
        (Link::Ctrl, Some(before)) => format!("if ({before} == {before}) {{ {line} }}"),
        _ => line,
    }
}
