//! LLVM's enumerations: kinds of types and values, opcodes, memory orderings.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeKind {
    Void,
    Float,
    Double,
    /// `long double` on x86: 80 bits.
    Extended,
    Int(u32),
    Pointer,
    Struct,
    Array,
    Vector,
    Function,
    /// Anything else; its number in LLVM's enumeration.
    Other(i32),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    Argument,
    Function,
    GlobalVariable,
    Alias,
    ConstantExpression,
    /// The address of a label.
    BlockAddress,
    /// Other constants: numbers, aggregates, null, undef.
    Constant,
    InlineAsm,
    Instruction,
    Other(i32),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum Opcode {
    Ret = 1,
    Br = 2,
    Switch = 3,
    IndirectBr = 4,
    Invoke = 5,
    Unreachable = 7,
    Add = 8,
    FAdd = 9,
    Sub = 10,
    FSub = 11,
    Mul = 12,
    FMul = 13,
    UDiv = 14,
    SDiv = 15,
    FDiv = 16,
    URem = 17,
    SRem = 18,
    FRem = 19,
    Shl = 20,
    LShr = 21,
    AShr = 22,
    And = 23,
    Or = 24,
    Xor = 25,
    Alloca = 26,
    Load = 27,
    Store = 28,
    GetElementPtr = 29,
    Trunc = 30,
    ZExt = 31,
    SExt = 32,
    FPToUI = 33,
    FPToSI = 34,
    UIToFP = 35,
    SIToFP = 36,
    FPTrunc = 37,
    FPExt = 38,
    PtrToInt = 39,
    IntToPtr = 40,
    BitCast = 41,
    ICmp = 42,
    FCmp = 43,
    Phi = 44,
    Call = 45,
    Select = 46,
    ExtractElement = 50,
    InsertElement = 51,
    ShuffleVector = 52,
    ExtractValue = 53,
    InsertValue = 54,
    Fence = 55,
    CmpXchg = 56,
    AtomicRmw = 57,
    Resume = 58,
    LandingPad = 59,
    AddrSpaceCast = 60,
    FNeg = 66,
    Freeze = 68,
    PtrToAddr = 69,
    Other = -1,
}

/// LLVM's memory orderings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ordering {
    NotAtomic,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl From<i32> for Opcode {
    fn from(number: i32) -> Opcode {
        use Opcode::*;
        const ALL: &[Opcode] = &[
            Ret,
            Br,
            Switch,
            IndirectBr,
            Invoke,
            Unreachable,
            Add,
            FAdd,
            Sub,
            FSub,
            Mul,
            FMul,
            UDiv,
            SDiv,
            FDiv,
            URem,
            SRem,
            FRem,
            Shl,
            LShr,
            AShr,
            And,
            Or,
            Xor,
            Alloca,
            Load,
            Store,
            GetElementPtr,
            Trunc,
            ZExt,
            SExt,
            FPToUI,
            FPToSI,
            UIToFP,
            SIToFP,
            FPTrunc,
            FPExt,
            PtrToInt,
            IntToPtr,
            BitCast,
            ICmp,
            FCmp,
            Phi,
            Call,
            Select,
            ExtractElement,
            InsertElement,
            ShuffleVector,
            ExtractValue,
            InsertValue,
            Fence,
            CmpXchg,
            AtomicRmw,
            Resume,
            LandingPad,
            AddrSpaceCast,
            FNeg,
            Freeze,
            PtrToAddr,
        ];
        ALL.iter().copied().find(|opcode| *opcode as i32 == number).unwrap_or(Other)
    }
}

impl From<i32> for Ordering {
    fn from(number: i32) -> Ordering {
        match number {
            0 => Ordering::NotAtomic,
            // "Unordered" is weaker than relaxed; C and C++ do not make it.
            1 | 2 => Ordering::Relaxed,
            4 => Ordering::Acquire,
            5 => Ordering::Release,
            6 => Ordering::AcqRel,
            _ => Ordering::SeqCst,
        }
    }
}
