//! The instructions.

use crate::{AllocKind, FaultKind, FloatOp, FunctionId, InputType, MathOp, Precision, WideOp};
use porf_event::{BlockReason, FenceMode, ReadMode, RmwKind, Value, WriteMode, wide};
use serde::{Deserialize, Serialize};

/// A register of the current function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reg(pub u32);

/// What an instruction takes: a register or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operand {
    /// The value that the register holds.
    Reg(Reg),
    /// A constant; narrower ones are zero-extended.
    Const(Value),
}

/// The index of an instruction in its function.
pub type Target = u32;

/// How many low bits of its operands an operation looks at; its result is zero-extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Width(pub u8);

/// Arithmetic on two integers. `U` is unsigned, `S` signed; `LShr` fills with zeroes, `AShr` with the sign.
#[allow(missing_docs, reason = "the names are those of LLVM's instructions")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    And,
    Or,
    Xor,
    Shl,
    LShr,
    AShr,
}

/// A comparison of two integers. `U` is unsigned, `S` signed; `t` is less, `e` is less or equal.
#[allow(missing_docs, reason = "the names are those of LLVM's comparisons")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CmpOp {
    Eq,
    Ne,
    Ult,
    Ule,
    Slt,
    Sle,
}

/// How a read-modify-write computes the new value from the old one and its operand.
#[allow(missing_docs, reason = "the names are those of LLVM's atomicrmw")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RmwOp {
    Exchange,
    Add,
    Sub,
    /// The operand minus what was there: Arm's `RSB`, and x86's `NEG` with 0.
    SubFrom,
    And,
    /// Arm's `LDCLR`: and with the complement.
    AndNot,
    Or,
    Xor,
    Nand,
    SMax,
    SMin,
    UMax,
    UMin,
    /// On floating-point numbers.
    Float(FloatOp, Precision),
}

/// One step of a thread. Fields named `dst` are written, all other registers are read.
#[allow(missing_docs, reason = "each variant says what it does with its operands")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Instr {
    /// Copies a value.
    Move { dst: Reg, src: Operand },
    /// Arithmetic on two integers.
    Bin { dst: Reg, op: BinOp, width: Width, a: Operand, b: Operand },
    /// `dst` := 1 if the comparison holds, else 0.
    Cmp { dst: Reg, op: CmpOp, width: Width, a: Operand, b: Operand },
    /// Sign-extends the low `from` bits to 64.
    SignExtend { dst: Reg, from: Width, src: Operand },
    /// `cond != 0 ? a : b`; depends on all three.
    Select { dst: Reg, cond: Operand, a: Operand, b: Operand },

    /// Reads `size` bytes of shared memory. Of accesses of 16 bytes, registers hold numbers: see [`WideOp::Number`].
    Load { dst: Reg, address: Operand, size: u8, mode: ReadMode },
    /// Writes `size` bytes of shared memory.
    Store { address: Operand, value: Operand, size: u8, mode: WriteMode },
    /// Always writes.
    Rmw {
        dst: Reg,
        op: RmwOp,
        address: Operand,
        operand: Operand,
        size: u8,
        read: ReadMode,
        write: WriteMode,
        kind: RmwKind,
    },
    /// Writes `new` if the old value equals `expected`; the read has mode `read` then, and `failure`
    /// otherwise. `weak` may fail although it is equal.
    Cas {
        dst: Reg,
        address: Operand,
        expected: Operand,
        new: Operand,
        size: u8,
        read: ReadMode,
        write: WriteMode,
        failure: ReadMode,
        weak: bool,
        kind: RmwKind,
    },
    /// Adds `operand` unless the old value equals `unless` (LKMM's `atomic_add_unless`).
    AddUnless {
        dst: Reg,
        address: Operand,
        operand: Operand,
        unless: Operand,
        size: u8,
        read: ReadMode,
        write: WriteMode,
        kind: RmwKind,
    },
    /// A load-linked: see [`Instr::StoreExclusive`].
    LoadExclusive { dst: Reg, address: Operand, size: u8, mode: ReadMode },
    /// Succeeds (writes, `status` := `success`) or fails (no event, `status` := `failure`), freely,
    /// but only succeeds where the last exclusive load of the thread is of the same cell and no
    /// exclusive store came between.
    StoreExclusive {
        status: Reg,
        success: Value,
        failure: Value,
        address: Operand,
        value: Operand,
        size: u8,
        mode: WriteMode,
    },
    /// Orders the thread's accesses before and after it.
    Fence { mode: FenceMode },
    /// A fence about an object in memory (SRCU).
    FenceAt { mode: FenceMode, address: Operand },

    /// Goes on at `target`.
    Jump { target: Target },
    /// Goes to `then` if `cond` is not 0. Events after it depend on `cond` by control.
    Branch { cond: Operand, then: Target, otherwise: Target },
    /// From here on, control dependencies that arose since the matching point `depth` are over:
    /// dialects in which the end of an `if` ends its influence emit this at the join.
    /// See [`Instr::CtrlMark`].
    CtrlRestore { slot: u32 },
    /// Remembers the present control dependencies in `slot`.
    CtrlMark { slot: u32 },
    /// A condition begins here, right before its branch, and ends at the `IfEnd` with the same slot or with
    /// the function: see [`Program::mark_ifs`](crate::Program::mark_ifs).
    IfBegin { slot: u32, cond: Operand },
    /// The condition with this slot ends: see [`Instr::IfBegin`].
    IfEnd { slot: u32 },
    /// Runs a function; what it returns goes to `dst`.
    Call { function: FunctionId, args: Box<[Operand]>, dst: Option<Reg> },
    /// Ends the function, or the thread where nothing called it.
    Return { value: Option<Operand> },

    /// Ends the execution, without a verdict on it, if `cond` is 0.
    Assume { cond: Operand },
    /// The program is wrong if `cond` is 0.
    Assert { cond: Operand, message: Box<str> },
    /// An arbitrary value below `options`.
    Nondet { dst: Reg, options: u32 },
    /// Input of a type. One of `values`, once [`Program::settle_inputs`](crate::Program::settle_inputs) has found
    /// out which are worth trying.
    Input { dst: Reg, kind: InputType, values: Box<[Value]> },

    /// Starts a thread that runs `function` on `arg`; its number goes to `dst`.
    Create { dst: Reg, function: FunctionId, arg: Operand },
    /// Waits for a thread to end.
    Join { thread: Operand },
    /// Waits for the lock cell at `address` to be 0, then sets it to 1, atomically, acquire.
    Lock { address: Operand },
    /// As `Lock`, but gives 0 to `dst` and goes on where the lock is taken (1 where it was free).
    TryLock { dst: Reg, address: Operand },
    /// Release; the lock must be held.
    Unlock { address: Operand },
    /// `dst` := whether the lock is taken (LKMM's `spin_is_locked`).
    IsLocked { dst: Reg, address: Operand },

    // What only C programs use.
    /// Floating point, conversions, bit operations.
    Math { dst: Reg, op: MathOp, a: Operand, b: Operand },
    /// 128-bit arithmetic: `operands` are the low and high halves of both; a result that is not a
    /// comparison goes to `dst` and the register behind it.
    Wide { dst: Reg, op: WideOp, operands: Box<[Operand; 4]> },
    /// Goes on at the target of the case that equals `value`, or at `default`.
    Switch { value: Operand, cases: Box<[(Value, Target)]>, default: Target },
    /// Calls the function that an address stands for.
    CallPointer { pointer: Operand, args: Box<[Operand]>, dst: Option<Reg> },
    /// Returns several values, to `dst` of the call and the registers behind it.
    ReturnAll { values: Box<[Operand]> },
    /// As `Create`, for the function that an address stands for.
    CreatePointer { dst: Reg, function: Operand, arg: Operand },
    /// Ends the thread, however deep in calls, and its variables that other threads can see
    /// ([`Function::locals`](crate::Function::locals)).
    ExitThread { value: Operand },
    /// Ends the process. Other threads need not go on.
    ExitProcess,
    /// `dst` := the number of this thread.
    ThreadSelf { dst: Reg },
    /// The thread does not go on in this execution.
    Block { reason: BlockReason },
    /// The program is wrong where it comes here.
    Fail { kind: FaultKind, message: Box<str> },
    /// As `Fail`, in words of the program: `text` is the address of a private object with a number, how many
    /// bytes there are, and the bytes behind it.
    FailWith { kind: FaultKind, text: Operand },
    /// Ends calls up to the innermost one that an [`Instr::Pad`] follows, with their variables that other
    /// threads can see, and goes to the pad. Where no pad that catches follows any call, the program is
    /// wrong. `text` is what to say then, as in `FailWith`; 0 where unwinding only goes on. Of what is no panic
    /// of Rust's, `uncaught` says what is wrong instead.
    Unwind { exception: Operand, text: Operand, uncaught: Option<Box<str>> },
    /// Does nothing. Where the call before it is unwound, the thread goes on at `to`, with the exception in a
    /// register and 0 in the one behind it. `catches` tells a handler from a cleanup, which unwinds further.
    Pad { to: Target, exception: Reg, catches: bool },
    /// The head of a loop. An iteration without an effect that leaves the loop's variables as they
    /// were would be repeated until another thread writes: the thread waits for that instead
    /// (`BlockReason::Spin`). `effects`, `memory` and the second register of each pair remember the
    /// last visit: `effects` how many effects (low half), events (next quarter) and looks at a clock the thread
    /// has had; it is all ones where the loop is entered; `memory` what its private memory held.
    LoopHead { effects: Reg, memory: Reg, variables: Box<[(Reg, Reg)]> },
    /// Makes an object that other threads can see, with an event.
    Alloc { dst: Reg, size: Operand, align: u64, kind: AllocKind },
    /// Ends an object, with an event; freeing null does nothing.
    Free { address: Operand, kind: AllocKind },
    /// Makes an object that only this thread sees; it ends with the function.
    Local { dst: Reg, size: Operand },
    /// The thread looks at a clock: a loop that does so may end because it is later.
    Look,
    /// The address of this thread's instance of a thread-local variable.
    ThreadLocalAddress { dst: Reg, index: u32 },
    /// Copies (as `memmove`) and goes to `done` if both ranges are private or constant; goes on
    /// otherwise, having done nothing.
    TryCopy { to: Operand, from: Operand, length: Operand, done: Target },
    /// Fills and goes to `done` if the range is private; goes on otherwise, having done nothing.
    TryFill { to: Operand, byte: Operand, length: Operand, done: Target },
    /// Marks a private object's contents as not initialised (a variable's scope begins).
    Forget { address: Operand, length: Operand },
    /// A private object must not be used from here on, until it is forgotten (a variable's scope ends).
    Expire { address: Operand },
    /// Keeps the list of locks that this thread holds, to tell misuse.
    Held { op: HeldOp, dst: Reg, address: Operand },
    /// `printf` to standard output: nothing, unless output is wanted. `args` is the address of the
    /// variable arguments, 8 bytes each.
    Print { dst: Reg, format: Operand, args: Operand },
    /// `sprintf` into a new private object, zero-terminated: its address goes to `dst`, the length
    /// without the zero to the register behind it.
    Format { dst: Reg, format: Operand, args: Operand },
}

/// What [`Instr::Held`] does; `dst` is how often the lock was held before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum HeldOp {
    /// Only asks.
    Count,
    /// The thread takes the lock once more.
    Acquire,
    /// The thread gives the lock back once.
    Release,
}

impl Width {
    /// Bytes.
    pub const W8: Width = Width(8);
    /// C's `int` on all targets that we read.
    pub const W32: Width = Width(32);
    /// Pointers, and everything that has no width of its own.
    pub const W64: Width = Width(64);

    /// The value with all but the low bits cleared.
    pub fn truncate(self, value: Value) -> Value {
        if self.0 >= 64 { value } else { value & ((1 << self.0) - 1) }
    }

    /// The low bits as a signed number.
    pub fn signed(self, value: Value) -> i64 {
        let shift = 64 - u32::from(self.0);
        ((value << shift) as i64) >> shift
    }

    /// As many bits as an access of `size` bytes has.
    pub fn of_bytes(size: u8) -> Width {
        Width(size * 8)
    }
}

impl BinOp {
    /// What C leaves undefined about an operation: a shift by the width or more, a division whose
    /// result has no place.
    pub fn undefined(self, width: Width, a: Value, b: Value) -> Option<&'static str> {
        match self {
            BinOp::Shl | BinOp::LShr | BinOp::AShr if width.truncate(b) >= u64::from(width.0) => {
                Some("a shift by at least as many bits as the number has")
            }
            BinOp::SDiv | BinOp::SRem
                if width.signed(b) == -1 && width.truncate(a) == 1 << (width.0 - 1) && width.0 > 1 =>
            {
                Some("a division of the least number by -1, whose result is too large")
            }
            _ => None,
        }
    }

    /// The result, or `None` for a division by zero.
    pub fn apply(self, width: Width, a: Value, b: Value) -> Option<Value> {
        let (a, b) = (width.truncate(a), width.truncate(b));
        let (sa, sb) = (width.signed(a), width.signed(b));
        let shift = (b % u64::from(width.0)) as u32;
        Some(width.truncate(match self {
            BinOp::Add => a.wrapping_add(b),
            BinOp::Sub => a.wrapping_sub(b),
            BinOp::Mul => a.wrapping_mul(b),
            BinOp::UDiv => a.checked_div(b)?,
            BinOp::SDiv => (sb != 0).then(|| sa.wrapping_div(sb))? as u64,
            BinOp::URem => a.checked_rem(b)?,
            BinOp::SRem => (sb != 0).then(|| sa.wrapping_rem(sb))? as u64,
            BinOp::And => a & b,
            BinOp::Or => a | b,
            BinOp::Xor => a ^ b,
            BinOp::Shl => a << shift,
            BinOp::LShr => a >> shift,
            BinOp::AShr => (sa >> shift) as u64,
        }))
    }
}

impl CmpOp {
    /// Whether the comparison holds.
    pub fn apply(self, width: Width, a: Value, b: Value) -> bool {
        let (a, b) = (width.truncate(a), width.truncate(b));
        match self {
            CmpOp::Eq => a == b,
            CmpOp::Ne => a != b,
            CmpOp::Ult => a < b,
            CmpOp::Ule => a <= b,
            CmpOp::Slt => width.signed(a) < width.signed(b),
            CmpOp::Sle => width.signed(a) <= width.signed(b),
        }
    }
}

impl RmwOp {
    /// The value to write. Of 128 bits, all are [numbers](porf_event::wide).
    pub fn apply(self, width: Width, old: Value, operand: Value) -> Value {
        if width.0 > 64 {
            return self.apply_wide(old, operand);
        }
        let (old, operand) = (width.truncate(old), width.truncate(operand));
        width.truncate(match self {
            RmwOp::Exchange => operand,
            RmwOp::Add => old.wrapping_add(operand),
            RmwOp::Sub => old.wrapping_sub(operand),
            RmwOp::SubFrom => operand.wrapping_sub(old),
            RmwOp::And => old & operand,
            RmwOp::AndNot => old & !operand,
            RmwOp::Or => old | operand,
            RmwOp::Xor => old ^ operand,
            RmwOp::Nand => !(old & operand),
            RmwOp::SMax => width.signed(old).max(width.signed(operand)) as u64,
            RmwOp::SMin => width.signed(old).min(width.signed(operand)) as u64,
            RmwOp::UMax => old.max(operand),
            RmwOp::UMin => old.min(operand),
            RmwOp::Float(op, precision) => MathOp::Float(op, precision).apply(old, operand),
        })
    }

    fn apply_wide(self, old: Value, operand: Value) -> Value {
        // A number without a known value: an exchange needs none, and nothing better is known for the others.
        let (Some(a), Some(b)) = (wide::value(old), wide::value(operand)) else { return operand };
        wide::number(match self {
            RmwOp::Exchange | RmwOp::Float(..) => b,
            RmwOp::Add => a.wrapping_add(b),
            RmwOp::Sub => a.wrapping_sub(b),
            RmwOp::SubFrom => b.wrapping_sub(a),
            RmwOp::And => a & b,
            RmwOp::AndNot => a & !b,
            RmwOp::Or => a | b,
            RmwOp::Xor => a ^ b,
            RmwOp::Nand => !(a & b),
            RmwOp::SMax => (a as i128).max(b as i128) as u128,
            RmwOp::SMin => (a as i128).min(b as i128) as u128,
            RmwOp::UMax => a.max(b),
            RmwOp::UMin => a.min(b),
        })
    }
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Operand {
        Operand::Reg(reg)
    }
}

impl From<Value> for Operand {
    fn from(value: Value) -> Operand {
        Operand::Const(value)
    }
}
