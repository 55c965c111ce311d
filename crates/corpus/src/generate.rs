//! The classic litmus tests, written out for every dialect.
//!
//! A test is a [`Shape`] (who reads and writes what, and the outcome that closes the cycle) and one
//! [`Link`] per thread: what orders its accesses, if anything. The shapes are those of the literature
//! (Alglave, Maranget, Sarkar, Sewell, "Litmus: running tests against hardware", TACAS 2011, and
//! "Herding cats", TOPLAS 2014); names are a shape and its links, `MP+dmb.sy+addr`.

mod assembly;
mod c;
mod random;
mod shape;

pub use random::{random_c, random_c_registers};
pub use shape::{Access, Kind, SHAPES, Shape};

/// What stands between two accesses of a thread. Which of them a dialect has, [`links`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Nothing but program order.
    Po,
    /// A fence, by its mnemonic.
    Fence(&'static str),
    /// Release writes and acquire reads.
    ReleaseAcquire,
    /// Release writes and the weaker acquire reads of RCpc.
    ReleaseAcquirePc,
    /// Sequentially consistent accesses.
    SeqCst,
    Addr,
    Data,
    Ctrl,
    /// A control dependency and a fence that waits for it.
    CtrlFence(&'static str),
}

/// The folders of the corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    C11,
    Kernel,
    AArch64,
    Arm,
    Ppc,
    RiscV,
    X86,
    X86Long,
}

pub struct Test {
    pub name: String,
    pub text: String,
}

impl Target {
    pub const ALL: [Target; 8] = [
        Target::C11,
        Target::Kernel,
        Target::AArch64,
        Target::Arm,
        Target::Ppc,
        Target::RiscV,
        Target::X86,
        Target::X86Long,
    ];

    pub fn folder(self) -> &'static str {
        match self {
            Target::C11 => "c11",
            Target::Kernel => "lkmm",
            Target::AArch64 => "aarch64",
            Target::Arm => "arm",
            Target::Ppc => "ppc",
            Target::RiscV => "riscv",
            Target::X86 => "x86",
            Target::X86Long => "x86_64",
        }
    }

    pub fn arch(self) -> &'static str {
        match self {
            Target::C11 | Target::Kernel => "C",
            Target::AArch64 => "AArch64",
            Target::Arm => "ARM",
            Target::Ppc => "PPC",
            Target::RiscV => "RISCV",
            Target::X86 => "X86",
            Target::X86Long => "X86_64",
        }
    }

    /// The models that the tests are asked about.
    pub fn models(self) -> &'static [&'static str] {
        match self {
            Target::C11 => &["sc", "tso", "pso", "ra", "sra", "rc11", "c20", "wrc11", "imm"],
            Target::Kernel => &["lkmm"],
            Target::AArch64 => &["sc", "armv8"],
            Target::Arm => &["sc", "armv7"],
            Target::Ppc => &["sc", "power"],
            Target::RiscV => &["sc", "riscv"],
            Target::X86 | Target::X86Long => &["sc", "tso"],
        }
    }
}

/// All tests of a target: every shape with each link, where it applies, and the strongest fence
/// elsewhere; two-thread shapes also with one thread left to program order.
pub fn tests(target: Target) -> Vec<Test> {
    let links = links(target);
    let strongest = links[1];
    let mut tests: Vec<Test> = Vec::new();
    for shape in SHAPES {
        let threads = shape.threads();
        let pairs: Vec<Option<(Kind, Kind)>> = threads.iter().map(|thread| shape::ends(thread)).collect();
        for &link in &links {
            let fits = |pair: &Option<(Kind, Kind)>| pair.is_some_and(|pair| applies(link, pair));
            // Coherence needs no help from links.
            let coherence = shape.variables().len() == 1;
            if !pairs.iter().any(fits) || (coherence && link != Link::Po) {
                continue;
            }
            // A thread of one access has nothing to link, but its access has the mode.
            let choose = |pair| if fits(pair) || pair.is_none() { link } else { strongest };
            let chosen: Vec<Link> = pairs.iter().map(choose).collect();
            push(&mut tests, target, shape, &threads, &chosen);
            if threads.len() == 2 && link != Link::Po {
                for at in 0..chosen.len() {
                    let mut weakened = chosen.clone();
                    weakened[at] = Link::Po;
                    push(&mut tests, target, shape, &threads, &weakened);
                }
            }
        }
    }
    tests
}

fn push(tests: &mut Vec<Test>, target: Target, shape: &Shape, threads: &[Vec<Access>], links: &[Link]) {
    let mut name = shape.name.to_string();
    for (thread, link) in threads.iter().zip(links) {
        if let Some(pair) = shape::ends(thread) {
            name += "+";
            name += &link_name(target, *link, pair);
        }
    }
    if tests.iter().any(|test| test.name == name) {
        return;
    }
    let text = match target {
        Target::C11 | Target::Kernel => c::write(target, &name, shape, threads, links),
        _ => assembly::write(target, &name, shape, threads, links),
    };
    tests.push(Test { name, text });
}

/// The links of a target; the second is the one that restores sequential consistency.
fn links(target: Target) -> Vec<Link> {
    use Link::*;
    match target {
        Target::C11 => vec![
            Po,
            Fence("atomic_thread_fence(memory_order_seq_cst)"),
            SeqCst,
            ReleaseAcquire,
            Fence("atomic_thread_fence(memory_order_acq_rel)"),
        ],
        Target::Kernel => {
            vec![
                Po,
                Fence("smp_mb()"),
                ReleaseAcquire,
                Fence("smp_wmb()"),
                Fence("smp_rmb()"),
                Addr,
                Data,
                Ctrl,
            ]
        }
        Target::AArch64 => vec![
            Po,
            Fence("DMB SY"),
            ReleaseAcquire,
            ReleaseAcquirePc,
            Fence("DMB LD"),
            Fence("DMB ST"),
            Addr,
            Data,
            Ctrl,
            CtrlFence("ISB"),
        ],
        Target::Arm => vec![Po, Fence("DMB"), Fence("DMB ST"), Addr, Data, Ctrl, CtrlFence("ISB")],
        Target::Ppc => {
            vec![Po, Fence("sync"), Fence("lwsync"), Fence("eieio"), Addr, Data, Ctrl, CtrlFence("isync")]
        }
        Target::RiscV => vec![
            Po,
            Fence("fence rw,rw"),
            ReleaseAcquire,
            Fence("fence.tso"),
            Fence("fence w,w"),
            Fence("fence r,rw"),
            Addr,
            Data,
            Ctrl,
        ],
        Target::X86 => vec![Po, Fence("MFENCE")],
        Target::X86Long => vec![Po, Fence("mfence"), Fence("lfence")],
    }
}

/// Whether a link makes sense between two accesses.
fn applies(link: Link, (first, second): (Kind, Kind)) -> bool {
    match link {
        Link::Addr => first == Kind::Read,
        Link::Data | Link::Ctrl => first == Kind::Read && second == Kind::Write,
        Link::CtrlFence(_) => first == Kind::Read && second == Kind::Read,
        Link::Fence("DMB ST" | "eieio" | "fence w,w" | "smp_wmb()") => {
            (first, second) == (Kind::Write, Kind::Write)
        }
        Link::Fence("DMB LD" | "fence r,rw") => first == Kind::Read,
        Link::Fence("smp_rmb()" | "lfence") => (first, second) == (Kind::Read, Kind::Read),
        _ => true,
    }
}

fn link_name(target: Target, link: Link, pair: (Kind, Kind)) -> String {
    let (first, second) = pair;
    match link {
        Link::Po if target == Target::C11 => "rlx".to_string(),
        Link::Po if target == Target::Kernel => "once".to_string(),
        Link::Po => "po".to_string(),
        Link::Fence(fence) if target == Target::C11 => match fence.contains("seq_cst") {
            true => "fsc".to_string(),
            false => "far".to_string(),
        },
        Link::Fence(fence) if target == Target::Kernel => {
            fence.trim_start_matches("smp_").trim_end_matches("()").to_string()
        }
        Link::Fence(fence) => fence.to_ascii_lowercase().replace([' ', ','], "."),
        Link::SeqCst => "sc".to_string(),
        Link::ReleaseAcquire => format!("po{}{}", letter(first, "l", "a"), letter(second, "l", "a")),
        Link::ReleaseAcquirePc => format!("po{}{}", letter(first, "l", "q"), letter(second, "l", "q")),
        Link::Addr => "addr".to_string(),
        Link::Data => "data".to_string(),
        Link::Ctrl => "ctrl".to_string(),
        Link::CtrlFence(fence) => format!("ctrl{}", fence.to_ascii_lowercase()),
    }
}

fn letter(kind: Kind, write: &'static str, read: &'static str) -> &'static str {
    if kind == Kind::Write { write } else { read }
}

/// `exists (0:r0=1 /\ x=2)`
fn condition(shape: &Shape, reads: &[(usize, String, u64)]) -> String {
    let mut atoms: Vec<String> =
        reads.iter().map(|(thread, register, value)| format!("{thread}:{register}={value}")).collect();
    atoms.extend(shape.last().map(|(variable, value)| format!("{variable}={value}")));
    format!("exists ({})", atoms.join(" /\\ "))
}
