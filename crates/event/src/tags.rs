//! The sets that an event belongs to, by the names that herd's cat models use.
//!
//! One label has different names in different dialects: a release store is in `REL` for a C11 model,
//! in `Release` for the Linux kernel's, in `L` for Arm's and in `Rel` for RISC-V's. C11 and
//! Linux-kernel names are given together, because one program may be checked under either model.
//! Sets that depend on the execution (`FW`) or on all events (`_`, `M`) are not listed here.

use crate::{
    ArmDomain, ArmKind, Dialect, FenceMode, Label, LockKind, ReadMode, RmwKind, RwSet, WriteMode, no_access,
    silent,
};
use smallvec::SmallVec;

/// The names of some sets.
pub type Tags = SmallVec<[&'static str; 10]>;

/// The sets of an event with this label. Initial writes are `Write`s with `initial` set: they are in
/// `IW` and carry no ordering.
pub fn tags(dialect: Dialect, label: &Label, initial: bool) -> Tags {
    let mut tags = Tags::new();
    match label {
        Label::Read { .. } => tags.extend_from_slice(&["M", "R", "Exp"]),
        Label::Write { .. } => tags.extend_from_slice(&["M", "W", "Exp"]),
        Label::Fence { mode, .. } => {
            // In the Linux-kernel model, entering and leaving a critical section and waiting for a
            // grace period are fences too.
            tags.push("F");
            fence_tags(*mode, &mut tags);
            return tags;
        }
        // Where a model sees the creation of a thread or a join, that is shown to it as a fence.
        silent!() | Label::Create { .. } | Label::Join { .. } => return tags,
    }
    if initial {
        tags.push("IW");
        return tags;
    }
    match dialect {
        Dialect::C => c_tags(label, &mut tags),
        Dialect::AArch64 | Dialect::Arm => arm_tags(label, &mut tags),
        Dialect::RiscV => riscv_tags(label, &mut tags),
        Dialect::Ppc | Dialect::X86 => {}
    }
    match label.rmw() {
        RmwKind::Exclusive | RmwKind::Loop => tags.extend_from_slice(&["EX", "LXSX"]),
        RmwKind::Amo | RmwKind::AmoNoReturn | RmwKind::Barrier if dialect != Dialect::C => {
            tags.extend_from_slice(&["X", "AMO"]);
        }
        _ => {}
    }
    if dialect == Dialect::C
        && matches!(label.rmw(), RmwKind::Amo | RmwKind::AmoNoReturn | RmwKind::Barrier | RmwKind::Failed)
    {
        tags.push("RMW");
    }
    // Compiled C takes a lock by an atomic operation.
    if dialect == Dialect::RiscV && label.rmw() == RmwKind::Lock(LockKind::Acquire) {
        tags.extend_from_slice(&["X", "AMO"]);
    }
    if dialect == Dialect::Ppc && matches!(label.rmw(), RmwKind::Exclusive | RmwKind::Loop) {
        tags.push("X");
    }
    if label.rmw() == RmwKind::AmoNoReturn {
        tags.extend_from_slice(&["NoRet", "Noreturn"]);
    }
    tags
}

fn c_tags(label: &Label, tags: &mut Tags) {
    match label {
        Label::Read { rmw: RmwKind::Lock(kind), value, .. } => match kind {
            LockKind::Acquire => tags.extend_from_slice(&["LKR", "Acquire", "A", "ACQ", "RMW"]),
            LockKind::Test if *value != 0 => tags.extend_from_slice(&["LF", "RL", "Once", "A", "RLX"]),
            _ => tags.extend_from_slice(&["RU", "Once", "A", "RLX"]),
        },
        Label::Write { rmw: RmwKind::Lock(kind), .. } => match kind {
            LockKind::Release => tags.extend_from_slice(&["UL", "Release", "A", "REL"]),
            _ => tags.extend_from_slice(&["LKW", "Once", "A", "RLX", "RMW"]),
        },
        Label::Read { mode, .. } => tags.extend_from_slice(match mode {
            ReadMode::Plain => &["NA", "Plain"],
            ReadMode::Relaxed => &["A", "RLX", "Once", "Marked"],
            ReadMode::AcquirePc | ReadMode::Acquire => &["A", "ACQ", "Acquire", "Marked"],
            ReadMode::SeqCst => &["A", "SC", "Acquire", "Marked"],
            ReadMode::RiscvRelease => &["A", "RLX"],
            ReadMode::SrcuLock => &["A", "Srcu-lock", "SRCU"],
        }),
        Label::Write { mode, .. } => tags.extend_from_slice(match mode {
            WriteMode::Plain => &["NA", "Plain"],
            WriteMode::Relaxed => &["A", "RLX", "Once", "Marked"],
            WriteMode::Release => &["A", "REL", "Release", "Marked"],
            WriteMode::SeqCst => &["A", "SC", "Release", "Marked"],
            WriteMode::RiscvAcquire => &["A", "RLX"],
            WriteMode::SrcuUnlock => &["A", "Srcu-unlock", "SRCU"],
        }),
        no_access!() => {}
    }
}

fn arm_tags(label: &Label, tags: &mut Tags) {
    match label {
        Label::Read { mode: ReadMode::Acquire | ReadMode::SeqCst, .. } => tags.push("A"),
        Label::Read { mode: ReadMode::AcquirePc, .. } => tags.push("Q"),
        Label::Write { mode: WriteMode::Release | WriteMode::SeqCst, .. } => tags.push("L"),
        _ => {}
    }
}

fn riscv_tags(label: &Label, tags: &mut Tags) {
    match label {
        Label::Read { mode: ReadMode::Acquire, .. } | Label::Write { mode: WriteMode::RiscvAcquire, .. } => {
            tags.push("Acq");
        }
        Label::Write { mode: WriteMode::Release, .. } | Label::Read { mode: ReadMode::RiscvRelease, .. } => {
            tags.push("Rel");
        }
        Label::Read { mode: ReadMode::SeqCst, .. } | Label::Write { mode: WriteMode::SeqCst, .. } => {
            tags.push("AcqRel");
        }
        _ => {}
    }
}

fn fence_tags(mode: FenceMode, tags: &mut Tags) {
    tags.extend_from_slice(match mode {
        FenceMode::Acquire => &["ACQ", "A"],
        FenceMode::Release => &["REL", "A"],
        FenceMode::AcqRel => &["ACQ_REL", "A"],
        FenceMode::SeqCst => &["SC", "A"],
        FenceMode::Mfence => &["MFENCE"],
        FenceMode::Sfence => &["SFENCE"],
        FenceMode::Lfence => &["LFENCE"],
        FenceMode::Dmb(domain, kind) => return tags.extend_from_slice(arm_barrier(true, domain, kind)),
        FenceMode::Dsb(domain, kind) => return tags.extend_from_slice(arm_barrier(false, domain, kind)),
        FenceMode::Isb => &["ISB"],
        FenceMode::Sync => &["SYNC"],
        FenceMode::Lwsync => &["LWSYNC"],
        FenceMode::Isync => &["ISYNC"],
        FenceMode::Eieio => &["EIEIO"],
        FenceMode::Riscv { before, after } => match (before, after) {
            (RwSet::R, RwSet::R) => &["Fence.r.r"],
            (RwSet::R, RwSet::W) => &["Fence.r.w"],
            (RwSet::R, RwSet::Rw) => &["Fence.r.rw"],
            (RwSet::W, RwSet::R) => &["Fence.w.r"],
            (RwSet::W, RwSet::W) => &["Fence.w.w"],
            (RwSet::W, RwSet::Rw) => &["Fence.w.rw"],
            (RwSet::Rw, RwSet::R) => &["Fence.rw.r"],
            (RwSet::Rw, RwSet::W) => &["Fence.rw.w"],
            (RwSet::Rw, RwSet::Rw) => &["Fence.rw.rw"],
        },
        FenceMode::RiscvTso => &["Fence.tso"],
        FenceMode::RiscvI => &["Fence.i"],
        FenceMode::Mb => &["Mb"],
        FenceMode::Rmb => &["Rmb"],
        FenceMode::Wmb => &["Wmb"],
        FenceMode::Barrier => &["Barrier"],
        FenceMode::BeforeAtomic => &["Before-atomic"],
        FenceMode::AfterAtomic => &["After-atomic"],
        FenceMode::AfterSpinlock => &["After-spinlock"],
        FenceMode::AfterUnlockLock => &["After-unlock-lock"],
        FenceMode::AfterSrcuReadUnlock => &["After-srcu-read-unlock"],
        FenceMode::RcuLock => &["Rcu-lock", "RCU"],
        FenceMode::RcuUnlock => &["Rcu-unlock", "RCU"],
        FenceMode::SyncRcu => &["Sync-rcu", "RCU"],
        FenceMode::SyncSrcu => &["Sync-srcu", "SRCU"],
    });
}

/// Arm's barriers: AArch64 spells them `DMB.SY`, `DMB.LD`, `DMB.ISHST`; ARMv7 `DMB`, `DMB.ST`.
fn arm_barrier(dmb: bool, domain: ArmDomain, kind: ArmKind) -> &'static [&'static str] {
    match (dmb, domain, kind) {
        (true, ArmDomain::Full, ArmKind::All) => &["DMB", "DMB.SY"],
        (true, ArmDomain::Full, ArmKind::Loads) => &["DMB.LD"],
        (true, ArmDomain::Full, ArmKind::Stores) => &["DMB.ST"],
        (true, ArmDomain::InnerShareable, ArmKind::All) => &["DMB.ISH"],
        (true, ArmDomain::InnerShareable, ArmKind::Loads) => &["DMB.ISHLD"],
        (true, ArmDomain::InnerShareable, ArmKind::Stores) => &["DMB.ISHST"],
        (true, ArmDomain::OuterShareable, ArmKind::All) => &["DMB.OSH"],
        (true, ArmDomain::OuterShareable, ArmKind::Loads) => &["DMB.OSHLD"],
        (true, ArmDomain::OuterShareable, ArmKind::Stores) => &["DMB.OSHST"],
        (true, ArmDomain::NonShareable, ArmKind::All) => &["DMB.NSH"],
        (true, ArmDomain::NonShareable, ArmKind::Loads) => &["DMB.NSHLD"],
        (true, ArmDomain::NonShareable, ArmKind::Stores) => &["DMB.NSHST"],
        (false, ArmDomain::Full, ArmKind::All) => &["DSB", "DSB.SY"],
        (false, ArmDomain::Full, ArmKind::Loads) => &["DSB.LD"],
        (false, ArmDomain::Full, ArmKind::Stores) => &["DSB.ST"],
        (false, ArmDomain::InnerShareable, ArmKind::All) => &["DSB.ISH"],
        (false, ArmDomain::InnerShareable, ArmKind::Loads) => &["DSB.ISHLD"],
        (false, ArmDomain::InnerShareable, ArmKind::Stores) => &["DSB.ISHST"],
        (false, ArmDomain::OuterShareable, ArmKind::All) => &["DSB.OSH"],
        (false, ArmDomain::OuterShareable, ArmKind::Loads) => &["DSB.OSHLD"],
        (false, ArmDomain::OuterShareable, ArmKind::Stores) => &["DSB.OSHST"],
        (false, ArmDomain::NonShareable, ArmKind::All) => &["DSB.NSH"],
        (false, ArmDomain::NonShareable, ArmKind::Loads) => &["DSB.NSHLD"],
        (false, ArmDomain::NonShareable, ArmKind::Stores) => &["DSB.NSHST"],
    }
}
