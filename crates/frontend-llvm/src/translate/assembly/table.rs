//! The instructions that are known, and what their suffixes say.

use porf_event::{FenceMode, ReadMode, WriteMode};
use porf_ir::RmwOp;

/// What an instruction does; operands are as AT&T writes them, the target last (x86), or as Arm and RISC-V do.
#[derive(Clone, Copy)]
pub(super) enum Action {
    Nothing,
    Fence(FenceMode),
    /// Copies from the first operand to the second.
    Move,
    /// Exchanges a register and memory.
    Exchange,
    /// Adds a register to memory, and gives back what was there.
    ExchangeAdd,
    /// Compares memory with the accumulator.
    CompareExchange,
    /// Compares 16 bytes with the registers d and a; writes c and b.
    CompareExchange16,
    /// Changes memory, or with three operands a register; x86 sets the flags.
    Update(RmwOp),
    /// With one operand, and no other: as an update with this number.
    UpdateWith(RmwOp, u64),
    /// Changes a bit of memory, and keeps it in the carry flag: by `Or`, by `AndNot`, by `Xor`.
    Bit(RmwOp),
    /// As `Update`, by one; the carry stays.
    UpdateByOne(RmwOp),
    /// Arm, RISC-V: `operand, old, [address]`, or `old, operand, (address)`.
    Atomic(RmwOp),
    /// Arm: `expected and old, new, [address]`.
    Compare,
    /// Arm: `register, [address]`.
    Load(ReadMode),
    Store(WriteMode),
    /// Sets a byte if a condition holds, which is the rest of the name.
    SetIf,
    /// Sets the registers a, b, c and d, as far as they are operands, to 0.
    ZeroNamed,
    /// Looks at a clock, and sets the registers a and d to 0.
    LookAtClock,
}

pub(super) const SEQ_CST: (ReadMode, WriteMode) = (ReadMode::SeqCst, WriteMode::SeqCst);

/// The instructions without suffixes, and whether x86 needs the prefix `lock`.
const TABLE: &[(&str, bool, Action)] = &[
    ("pause", false, Action::Nothing),
    ("nop", false, Action::Nothing),
    ("rep nop", false, Action::Nothing),
    ("rep", false, Action::Nothing),
    ("yield", false, Action::Nothing),
    ("wfe", false, Action::Nothing),
    ("sev", false, Action::Nothing),
    ("sevl", false, Action::Nothing),
    ("isb", false, Action::Nothing),
    ("isb sy", false, Action::Nothing),
    ("mfence", false, Action::Fence(FenceMode::SeqCst)),
    ("lfence", false, Action::Fence(FenceMode::Acquire)),
    ("sfence", false, Action::Fence(FenceMode::Release)),
    ("dmb ish", false, Action::Fence(FenceMode::SeqCst)),
    ("dmb sy", false, Action::Fence(FenceMode::SeqCst)),
    ("dsb ish", false, Action::Fence(FenceMode::SeqCst)),
    ("dsb sy", false, Action::Fence(FenceMode::SeqCst)),
    ("dmb ishld", false, Action::Fence(FenceMode::Acquire)),
    ("dmb ld", false, Action::Fence(FenceMode::Acquire)),
    ("fence", false, Action::Fence(FenceMode::SeqCst)),
    ("fence rw,rw", false, Action::Fence(FenceMode::SeqCst)),
    ("fence iorw,iorw", false, Action::Fence(FenceMode::SeqCst)),
    ("fence r,rw", false, Action::Fence(FenceMode::Acquire)),
    ("fence rw,w", false, Action::Fence(FenceMode::Release)),
    ("fence.tso", false, Action::Fence(FenceMode::AcqRel)),
    ("mov", false, Action::Move),
    ("xchg", false, Action::Exchange),
    ("xadd", false, Action::ExchangeAdd),
    ("cmpxchg16b", true, Action::CompareExchange16),
    ("cmpxchg", true, Action::CompareExchange),
    ("add", false, Action::Update(RmwOp::Add)),
    ("sub", false, Action::Update(RmwOp::Sub)),
    ("and", false, Action::Update(RmwOp::And)),
    ("or", false, Action::Update(RmwOp::Or)),
    ("xor", false, Action::Update(RmwOp::Xor)),
    ("inc", false, Action::UpdateByOne(RmwOp::Add)),
    ("dec", false, Action::UpdateByOne(RmwOp::Sub)),
    ("bts", true, Action::Bit(RmwOp::Or)),
    ("btr", true, Action::Bit(RmwOp::AndNot)),
    ("btc", true, Action::Bit(RmwOp::Xor)),
    ("not", false, Action::UpdateWith(RmwOp::Xor, u64::MAX)),
    ("neg", false, Action::UpdateWith(RmwOp::SubFrom, 0)),
    ("set", false, Action::SetIf),
    ("cpuid", false, Action::ZeroNamed),
    ("rdtsc", false, Action::LookAtClock),
    ("orr", false, Action::Update(RmwOp::Or)),
    ("eor", false, Action::Update(RmwOp::Xor)),
    ("bic", false, Action::Update(RmwOp::AndNot)),
    ("mvn", false, Action::UpdateWith(RmwOp::Xor, u64::MAX)),
    ("ldar", false, Action::Load(ReadMode::SeqCst)),
    ("ldapr", false, Action::Load(ReadMode::Acquire)),
    ("stlr", false, Action::Store(WriteMode::SeqCst)),
    ("swp", false, Action::Atomic(RmwOp::Exchange)),
    ("ldadd", false, Action::Atomic(RmwOp::Add)),
    ("ldclr", false, Action::Atomic(RmwOp::AndNot)),
    ("ldset", false, Action::Atomic(RmwOp::Or)),
    ("ldeor", false, Action::Atomic(RmwOp::Xor)),
    ("cas", false, Action::Compare),
    ("amoswap", false, Action::Atomic(RmwOp::Exchange)),
    ("amoadd", false, Action::Atomic(RmwOp::Add)),
    ("amoand", false, Action::Atomic(RmwOp::And)),
    ("amoor", false, Action::Atomic(RmwOp::Or)),
    ("amoxor", false, Action::Atomic(RmwOp::Xor)),
];

/// What is known of an instruction.
pub(super) struct Found {
    pub action: Action,
    /// From its suffix.
    pub size: Option<u8>,
    pub modes: (ReadMode, WriteMode),
    pub riscv: bool,
    pub is_locked: bool,
}

/// The row of an instruction, and what its suffixes say.
pub(super) fn find(line: &str, is_locked: bool) -> Option<Found> {
    let plain = |action| Found { action, size: None, modes: SEQ_CST, riscv: false, is_locked };
    if let Some((_, _, action)) = TABLE.iter().find(|(name, needs_lock, action)| {
        *name == line && !needs_lock && matches!(action, Action::Nothing | Action::Fence(_))
    }) {
        return Some(plain(*action));
    }
    let mnemonic = line.split([' ', '\t']).next()?;
    for (name, needs_lock, action) in TABLE {
        let Some(suffix) = mnemonic.strip_prefix(name) else { continue };
        if *needs_lock && !is_locked {
            continue;
        }
        let found = match action {
            Action::Nothing | Action::Fence(_) => None,
            Action::SetIf => Some(plain(*action)),
            Action::Load(_) | Action::Store(_) | Action::Atomic(_) | Action::Compare
                if name.starts_with("amo") =>
            {
                riscv(*action, suffix)
            }
            Action::Load(_) | Action::Store(_) | Action::Atomic(_) | Action::Compare => {
                arm(*action, suffix, line)
            }
            _ => x86_size(suffix).map(|size| Found { size, ..plain(*action) }),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

fn x86_size(suffix: &str) -> Option<Option<u8>> {
    Some(match suffix {
        // RISC-V: with an immediate operand.
        "" | "i" => None,
        "b" => Some(1),
        "w" => Some(2),
        "l" => Some(4),
        "q" => Some(8),
        _ => return None,
    })
}

/// `a` acquires, `l` releases; `b` and `h` are sizes, and so is the `w` of a register (`${0:w}`).
pub(super) fn arm(action: Action, suffix: &str, line: &str) -> Option<Found> {
    let word = if line.contains(":w}") { 4 } else { 8 };
    let (order, size) = match suffix.strip_suffix('b') {
        Some(order) => (order, 1),
        None => suffix.strip_suffix('h').map_or((suffix, word), |order| (order, 2)),
    };
    let modes = match order {
        "" => (ReadMode::Relaxed, WriteMode::Relaxed),
        "a" => (ReadMode::Acquire, WriteMode::Relaxed),
        "l" => (ReadMode::Relaxed, WriteMode::Release),
        "al" => SEQ_CST,
        _ => return None,
    };
    Some(Found { action, size: Some(size), modes, riscv: false, is_locked: true })
}

/// `.w` and `.d` are sizes, `.aq` acquires, `.rl` releases.
pub(super) fn riscv(action: Action, suffix: &str) -> Option<Found> {
    let mut size = None;
    let (mut acquires, mut releases) = (false, false);
    for part in suffix.split('.').filter(|part| !part.is_empty()) {
        match part {
            "w" => size = Some(4),
            "d" => size = Some(8),
            "aq" => acquires = true,
            "rl" => releases = true,
            "aqrl" => (acquires, releases) = (true, true),
            _ => return None,
        }
    }
    let modes = match (acquires, releases) {
        (true, true) => SEQ_CST,
        (true, false) => (ReadMode::Acquire, WriteMode::Relaxed),
        (false, true) => (ReadMode::Relaxed, WriteMode::Release),
        (false, false) => (ReadMode::Relaxed, WriteMode::Relaxed),
    };
    Some(Found { action, size, modes, riscv: true, is_locked: true })
}
