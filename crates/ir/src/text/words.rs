//! The words for orderings and operations, in both directions.

use crate::{BinOp, CmpOp, RmwOp};
use porf_event::{FenceMode, ReadMode, RmwKind, WriteMode};

pub const READS: &[(&str, ReadMode)] = &[
    ("na", ReadMode::Plain),
    ("rlx", ReadMode::Relaxed),
    ("acqpc", ReadMode::AcquirePc),
    ("acq", ReadMode::Acquire),
    ("sc", ReadMode::SeqCst),
    ("rl", ReadMode::RiscvRelease),
    ("srcu_lock", ReadMode::SrcuLock),
];

pub const WRITES: &[(&str, WriteMode)] = &[
    ("na", WriteMode::Plain),
    ("rlx", WriteMode::Relaxed),
    ("rel", WriteMode::Release),
    ("sc", WriteMode::SeqCst),
    ("aq", WriteMode::RiscvAcquire),
    ("srcu_unlock", WriteMode::SrcuUnlock),
];

/// Orderings of a read-modify-write, by one word.
pub const BOTH: &[(&str, ReadMode, WriteMode)] = &[
    ("na", ReadMode::Plain, WriteMode::Plain),
    ("rlx", ReadMode::Relaxed, WriteMode::Relaxed),
    ("acq", ReadMode::Acquire, WriteMode::Relaxed),
    ("rel", ReadMode::Relaxed, WriteMode::Release),
    ("acqrel", ReadMode::Acquire, WriteMode::Release),
    ("sc", ReadMode::SeqCst, WriteMode::SeqCst),
];

pub const FENCES: &[(&str, FenceMode)] = &[
    ("acq", FenceMode::Acquire),
    ("rel", FenceMode::Release),
    ("acqrel", FenceMode::AcqRel),
    ("sc", FenceMode::SeqCst),
    ("mfence", FenceMode::Mfence),
    ("sfence", FenceMode::Sfence),
    ("lfence", FenceMode::Lfence),
    ("isb", FenceMode::Isb),
    ("sync", FenceMode::Sync),
    ("lwsync", FenceMode::Lwsync),
    ("isync", FenceMode::Isync),
    ("eieio", FenceMode::Eieio),
    ("mb", FenceMode::Mb),
    ("rmb", FenceMode::Rmb),
    ("wmb", FenceMode::Wmb),
];

pub const BINS: &[(&str, &str, BinOp)] = &[
    ("add", "+", BinOp::Add),
    ("sub", "-", BinOp::Sub),
    ("mul", "*", BinOp::Mul),
    ("udiv", "/", BinOp::UDiv),
    ("sdiv", "", BinOp::SDiv),
    ("urem", "%", BinOp::URem),
    ("srem", "", BinOp::SRem),
    ("and", "&", BinOp::And),
    ("or", "|", BinOp::Or),
    ("xor", "^", BinOp::Xor),
    ("shl", "<<", BinOp::Shl),
    ("lshr", ">>", BinOp::LShr),
    ("ashr", "", BinOp::AShr),
];

pub const CMPS: &[(&str, CmpOp)] = &[
    ("eq", CmpOp::Eq),
    ("ne", CmpOp::Ne),
    ("ult", CmpOp::Ult),
    ("ule", CmpOp::Ule),
    ("slt", CmpOp::Slt),
    ("sle", CmpOp::Sle),
];

pub const RMWS: &[(&str, RmwOp)] = &[
    ("exchange", RmwOp::Exchange),
    ("fetch_add", RmwOp::Add),
    ("fetch_sub", RmwOp::Sub),
    ("fetch_and", RmwOp::And),
    ("fetch_clear", RmwOp::AndNot),
    ("fetch_or", RmwOp::Or),
    ("fetch_xor", RmwOp::Xor),
    ("fetch_nand", RmwOp::Nand),
    ("fetch_sub_from", RmwOp::SubFrom),
    ("fetch_smax", RmwOp::SMax),
    ("fetch_smin", RmwOp::SMin),
    ("fetch_umax", RmwOp::UMax),
    ("fetch_umin", RmwOp::UMin),
];

pub const KINDS: &[(&str, RmwKind)] =
    &[("amo", RmwKind::Amo), ("noreturn", RmwKind::AmoNoReturn), ("barrier", RmwKind::Barrier)];

/// The value of a word.
pub fn of<T: Copy>(words: &[(&str, T)], word: &str) -> Option<T> {
    words.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
}

/// The word of a value.
pub fn word<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> Option<&'static str> {
    words.iter().find(|(_, known)| known == value).map(|(word, _)| *word)
}
