//! A safe view of an LLVM module: values, types, blocks.
//!
//! Handles are plain pointers that live as long as their [`Module`], which is only read once its
//! passes have run. Getters that LLVM allows for some values only are called behind a check of the
//! opcode or kind, here or by the caller's match on [`Value::opcode`]; a getter asked about a value
//! that it is not for panics by an assertion here instead of crashing there.

use crate::Error;
use crate::api::{Api, Ptr, api};
use std::ffi::{CStr, CString, c_char};
use std::marker::PhantomData;

/// What one translation reads.
pub struct Module {
    api: &'static Api,
    context: Ptr,
    module: Ptr,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value<'m>(Ptr, PhantomData<&'m Module>);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Type<'m>(Ptr, PhantomData<&'m Module>);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Block<'m>(Ptr, PhantomData<&'m Module>);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeKind {
    Void,
    Float,
    Double,
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

impl Module {
    /// Reads bitcode or textual IR.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Module, Error> {
        let api = api()?;
        let c_name = CString::new(name.replace('\0', "?")).expect("no zero is left");
        let mut module = std::ptr::null_mut();
        let mut message: *mut c_char = std::ptr::null_mut();
        // SAFETY: the buffer is copied and then owned by the parser; the context outlives the module
        // (see `drop`); both out-parameters are valid.
        unsafe {
            let context = (api.LLVMContextCreate)();
            (api.LLVMContextSetDiagnosticHandler)(context, Some(ignore), std::ptr::null_mut());
            let buffer = (api.LLVMCreateMemoryBufferWithMemoryRangeCopy)(
                bytes.as_ptr().cast(),
                bytes.len(),
                c_name.as_ptr(),
            );
            if (api.LLVMParseIRInContext)(context, buffer, &mut module, &mut message) != 0 {
                let reason = take(api, message);
                (api.LLVMContextDispose)(context);
                return Err(Error::Bitcode { file: name.to_string(), reason });
            }
            Ok(Module { api, context, module })
        }
    }

    /// Adds the contents of a second file, parsed into the same context.
    pub fn link(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let api = self.api;
        let c_name = CString::new(name.replace('\0', "?")).expect("no zero is left");
        let mut other = std::ptr::null_mut();
        let mut message: *mut c_char = std::ptr::null_mut();
        // SAFETY: as in `parse`; linking destroys `other` whether or not it succeeds.
        unsafe {
            let buffer = (api.LLVMCreateMemoryBufferWithMemoryRangeCopy)(
                bytes.as_ptr().cast(),
                bytes.len(),
                c_name.as_ptr(),
            );
            if (api.LLVMParseIRInContext)(self.context, buffer, &mut other, &mut message) != 0 {
                return Err(Error::Bitcode { file: name.to_string(), reason: take(api, message) });
            }
            if (api.LLVMLinkModules2)(self.module, other) != 0 {
                let reason = "its symbols clash with those of the other files".to_string();
                return Err(Error::Bitcode { file: name.to_string(), reason });
            }
        }
        Ok(())
    }

    /// Checks the module as a whole: afterwards its instructions are well-formed.
    pub fn verify(&self, name: &str) -> Result<(), Error> {
        let mut message: *mut c_char = std::ptr::null_mut();
        // SAFETY: 2 is LLVMReturnStatusAction; the message is ours to dispose.
        let (broken, reason) = unsafe {
            let broken = (self.api.LLVMVerifyModule)(self.module, 2, &mut message) != 0;
            (broken, take(self.api, message))
        };
        if broken { Err(Error::Bitcode { file: name.to_string(), reason }) } else { Ok(()) }
    }

    /// Runs a pipeline of passes.
    pub fn run_passes(&mut self, passes: &str) -> Result<(), Error> {
        let passes = CString::new(passes).expect("pass names have no zero");
        // SAFETY: no target machine is needed by the passes that we name; the error, if any, is
        // consumed by LLVMGetErrorMessage.
        unsafe {
            let options = (self.api.LLVMCreatePassBuilderOptions)();
            let error = (self.api.LLVMRunPasses)(self.module, passes.as_ptr(), std::ptr::null_mut(), options);
            (self.api.LLVMDisposePassBuilderOptions)(options);
            if error.is_null() {
                return Ok(());
            }
            let message = (self.api.LLVMGetErrorMessage)(error);
            let reason = CStr::from_ptr(message).to_string_lossy().into_owned();
            (self.api.LLVMDisposeErrorMessage)(message);
            Err(Error::Library(reason))
        }
    }

    pub fn function(&self, name: &str) -> Option<Value<'_>> {
        let name = CString::new(name).ok()?;
        // SAFETY: a lookup by name.
        let found = unsafe { (self.api.LLVMGetNamedFunction)(self.module, name.as_ptr()) };
        (!found.is_null()).then(|| Value::new(found))
    }

    pub fn functions(&self) -> impl Iterator<Item = Value<'_>> {
        // SAFETY: the module's own list.
        let first = unsafe { (self.api.LLVMGetFirstFunction)(self.module) };
        chain(first, |at| unsafe { (llvm().LLVMGetNextFunction)(at) }).map(Value::new)
    }

    pub fn global(&self, name: &str) -> Option<Value<'_>> {
        let name = CString::new(name).ok()?;
        // SAFETY: a lookup by name.
        let found = unsafe { (self.api.LLVMGetNamedGlobal)(self.module, name.as_ptr()) };
        (!found.is_null()).then(|| Value::new(found))
    }

    /// The distance between two elements of a type in an array.
    pub fn size_of(&self, ty: Type<'_>) -> u64 {
        // SAFETY: the module's own data layout; callers ask for sized types only.
        unsafe { (self.api.LLVMABISizeOfType)((self.api.LLVMGetModuleDataLayout)(self.module), ty.0) }
    }

    pub fn align_of(&self, ty: Type<'_>) -> u64 {
        // SAFETY: as above.
        unsafe {
            u64::from((self.api.LLVMABIAlignmentOfType)(
                (self.api.LLVMGetModuleDataLayout)(self.module),
                ty.0,
            ))
        }
    }

    pub fn offset_of(&self, ty: Type<'_>, element: u32) -> u64 {
        assert_eq!(ty.kind(), TypeKind::Struct);
        // SAFETY: a struct type, checked.
        unsafe {
            (self.api.LLVMOffsetOfElement)((self.api.LLVMGetModuleDataLayout)(self.module), ty.0, element)
        }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: no handle outlives the module they borrow from.
        unsafe {
            (self.api.LLVMDisposeModule)(self.module);
            (self.api.LLVMContextDispose)(self.context);
        }
    }
}

/// The functions; a handle exists only if they were loaded.
fn llvm() -> &'static Api {
    api().unwrap_or_else(|error| unreachable!("a module was read without a library: {error}"))
}

// In every method below, SAFETY: the handle borrows from a live module, and the opcode or kind is the
// one that the getter is for.
impl<'m> Value<'m> {
    fn new(pointer: Ptr) -> Value<'m> {
        assert!(!pointer.is_null(), "LLVM gave no value");
        Value(pointer, PhantomData)
    }

    pub fn kind(self) -> ValueKind {
        match unsafe { (llvm().LLVMGetValueKind)(self.0) } {
            0 => ValueKind::Argument,
            5 => ValueKind::Function,
            6 => ValueKind::Alias,
            8 => ValueKind::GlobalVariable,
            10 => ValueKind::ConstantExpression,
            23 => ValueKind::InlineAsm,
            24 => ValueKind::Instruction,
            _ if self.is_constant() => ValueKind::Constant,
            other => ValueKind::Other(other),
        }
    }

    pub fn ty(self) -> Type<'m> {
        Type::new(unsafe { (llvm().LLVMTypeOf)(self.0) })
    }

    pub fn name(self) -> &'m str {
        let mut length = 0;
        unsafe {
            let start = (llvm().LLVMGetValueName2)(self.0, &mut length);
            text(start, length)
        }
    }

    /// As LLVM prints it, for messages.
    pub fn print(self) -> String {
        unsafe { take(llvm(), (llvm().LLVMPrintValueToString)(self.0)).trim().to_string() }
    }

    /// Of an instruction or constant expression.
    pub fn opcode(self) -> Opcode {
        let number = match self.kind() {
            ValueKind::Instruction => unsafe { (llvm().LLVMGetInstructionOpcode)(self.0) },
            ValueKind::ConstantExpression => unsafe { (llvm().LLVMGetConstOpcode)(self.0) },
            _ => -1,
        };
        Opcode::from(number)
    }

    pub fn operand_count(self) -> u32 {
        unsafe { (llvm().LLVMGetNumOperands)(self.0) as u32 }
    }

    pub fn operand(self, index: u32) -> Value<'m> {
        assert!(index < self.operand_count());
        Value::new(unsafe { (llvm().LLVMGetOperand)(self.0, index) })
    }

    pub fn operands(self) -> impl Iterator<Item = Value<'m>> {
        (0..self.operand_count()).map(move |index| self.operand(index))
    }

    /// Of a switch: the value for its successor `index`, which is at least 1 (0 is the default).
    pub fn case_value(self, index: u32) -> Value<'m> {
        assert!(self.opcode() == Opcode::Switch && index > 0);
        match llvm().LLVMGetSwitchCaseValue {
            Some(getter) => Value::new(unsafe { getter(self.0, index) }),
            None => self.operand(2 * index),
        }
    }

    /// Every instruction or constant that uses the value.
    pub fn users(self) -> impl Iterator<Item = Value<'m>> {
        let first = unsafe { (llvm().LLVMGetFirstUse)(self.0) };
        chain(first, |at| unsafe { (llvm().LLVMGetNextUse)(at) })
            .map(|at| Value::new(unsafe { (llvm().LLVMGetUser)(at) }))
    }

    // Functions and globals.

    pub fn is_declaration(self) -> bool {
        unsafe { (llvm().LLVMIsDeclaration)(self.0) != 0 }
    }

    /// The type of a function, or of what a global holds.
    pub fn value_type(self) -> Type<'m> {
        Type::new(unsafe { (llvm().LLVMGlobalGetValueType)(self.0) })
    }

    pub fn initializer(self) -> Option<Value<'m>> {
        assert_eq!(self.kind(), ValueKind::GlobalVariable);
        let found = unsafe { (llvm().LLVMGetInitializer)(self.0) };
        (!found.is_null()).then(|| Value::new(found))
    }

    pub fn is_global_constant(self) -> bool {
        unsafe { (llvm().LLVMIsGlobalConstant)(self.0) != 0 }
    }

    pub fn is_thread_local(self) -> bool {
        self.kind() == ValueKind::GlobalVariable && unsafe { (llvm().LLVMIsThreadLocal)(self.0) != 0 }
    }

    pub fn aliasee(self) -> Value<'m> {
        assert_eq!(self.kind(), ValueKind::Alias);
        Value::new(unsafe { (llvm().LLVMAliasGetAliasee)(self.0) })
    }

    /// Of a global, alloca, load or store.
    pub fn alignment(self) -> u64 {
        u64::from(unsafe { (llvm().LLVMGetAlignment)(self.0) })
    }

    pub fn params(self) -> Vec<Value<'m>> {
        assert_eq!(self.kind(), ValueKind::Function);
        let count = unsafe { (llvm().LLVMCountParams)(self.0) };
        (0..count).map(|index| Value::new(unsafe { (llvm().LLVMGetParam)(self.0, index) })).collect()
    }

    pub fn blocks(self) -> impl Iterator<Item = Block<'m>> {
        assert_eq!(self.kind(), ValueKind::Function);
        let first = unsafe { (llvm().LLVMGetFirstBasicBlock)(self.0) };
        chain(first, |at| unsafe { (llvm().LLVMGetNextBasicBlock)(at) }).map(|at| Block(at, PhantomData))
    }

    /// The type in a parameter's `byval(T)` or `sret(T)`; `index` counts from 0.
    pub fn param_type_attribute(self, index: u32, name: &str) -> Option<Type<'m>> {
        let kind = unsafe { (llvm().LLVMGetEnumAttributeKindForName)(name.as_ptr().cast(), name.len()) };
        let attribute = unsafe {
            match self.kind() {
                ValueKind::Function => (llvm().LLVMGetEnumAttributeAtIndex)(self.0, index + 1, kind),
                _ => (llvm().LLVMGetCallSiteEnumAttribute)(self.0, index + 1, kind),
            }
        };
        (!attribute.is_null()).then(|| Type::new(unsafe { (llvm().LLVMGetTypeAttributeValue)(attribute) }))
    }

    /// Whether a function or call has an attribute on its result (0) or an argument (from 1).
    pub fn has_attribute(self, place: u32, name: &str) -> bool {
        let kind = unsafe { (llvm().LLVMGetEnumAttributeKindForName)(name.as_ptr().cast(), name.len()) };
        let attribute = unsafe {
            match self.kind() {
                ValueKind::Function => (llvm().LLVMGetEnumAttributeAtIndex)(self.0, place, kind),
                _ => (llvm().LLVMGetCallSiteEnumAttribute)(self.0, place, kind),
            }
        };
        !attribute.is_null()
    }

    // Instructions.

    pub fn block(self) -> Block<'m> {
        Block(unsafe { (llvm().LLVMGetInstructionParent)(self.0) }, PhantomData)
    }

    /// The function that an instruction belongs to.
    pub fn function(self) -> Value<'m> {
        Value::new(unsafe { (llvm().LLVMGetBasicBlockParent)((llvm().LLVMGetInstructionParent)(self.0)) })
    }

    pub fn icmp_predicate(self) -> i32 {
        assert_eq!(self.opcode(), Opcode::ICmp);
        unsafe { (llvm().LLVMGetICmpPredicate)(self.0) }
    }

    pub fn fcmp_predicate(self) -> i32 {
        assert_eq!(self.opcode(), Opcode::FCmp);
        unsafe { (llvm().LLVMGetFCmpPredicate)(self.0) }
    }

    pub fn incoming(self) -> Vec<(Value<'m>, Block<'m>)> {
        assert_eq!(self.opcode(), Opcode::Phi);
        let count = unsafe { (llvm().LLVMCountIncoming)(self.0) };
        (0..count)
            .map(|index| unsafe {
                let value = (llvm().LLVMGetIncomingValue)(self.0, index);
                let block = (llvm().LLVMGetIncomingBlock)(self.0, index);
                (Value::new(value), Block(block, PhantomData))
            })
            .collect()
    }

    pub fn successors(self) -> Vec<Block<'m>> {
        let count = unsafe { (llvm().LLVMGetNumSuccessors)(self.0) };
        (0..count)
            .map(|index| Block(unsafe { (llvm().LLVMGetSuccessor)(self.0, index) }, PhantomData))
            .collect()
    }

    pub fn normal_destination(self) -> Block<'m> {
        assert_eq!(self.opcode(), Opcode::Invoke);
        Block(unsafe { (llvm().LLVMGetNormalDest)(self.0) }, PhantomData)
    }

    pub fn allocated_type(self) -> Type<'m> {
        assert_eq!(self.opcode(), Opcode::Alloca);
        Type::new(unsafe { (llvm().LLVMGetAllocatedType)(self.0) })
    }

    /// Of a load, store, fence or read-modify-write.
    pub fn ordering(self) -> Ordering {
        assert!(matches!(self.opcode(), Opcode::Load | Opcode::Store | Opcode::Fence | Opcode::AtomicRmw));
        Ordering::from(unsafe { (llvm().LLVMGetOrdering)(self.0) })
    }

    /// Of a compare-and-swap: its orderings on success and on failure, and whether it is weak.
    pub fn cmpxchg_parts(self) -> (Ordering, Ordering, bool) {
        assert_eq!(self.opcode(), Opcode::CmpXchg);
        unsafe {
            let success = (llvm().LLVMGetCmpXchgSuccessOrdering)(self.0);
            let failure = (llvm().LLVMGetCmpXchgFailureOrdering)(self.0);
            (Ordering::from(success), Ordering::from(failure), (llvm().LLVMGetWeak)(self.0) != 0)
        }
    }

    /// Whether an atomic operation or fence is about signal handlers of one thread only.
    pub fn is_single_thread(self) -> bool {
        assert_eq!(self.opcode(), Opcode::Fence);
        unsafe { (llvm().LLVMIsAtomicSingleThread)(self.0) != 0 }
    }

    pub fn rmw_operation(self) -> i32 {
        assert_eq!(self.opcode(), Opcode::AtomicRmw);
        unsafe { (llvm().LLVMGetAtomicRMWBinOp)(self.0) }
    }

    pub fn callee(self) -> Value<'m> {
        assert!(matches!(self.opcode(), Opcode::Call | Opcode::Invoke));
        Value::new(unsafe { (llvm().LLVMGetCalledValue)(self.0) })
    }

    pub fn callee_type(self) -> Type<'m> {
        assert!(matches!(self.opcode(), Opcode::Call | Opcode::Invoke));
        Type::new(unsafe { (llvm().LLVMGetCalledFunctionType)(self.0) })
    }

    pub fn arguments(self) -> Vec<Value<'m>> {
        assert!(matches!(self.opcode(), Opcode::Call | Opcode::Invoke));
        let count = unsafe { (llvm().LLVMGetNumArgOperands)(self.0) };
        (0..count).map(|index| self.operand(index)).collect()
    }

    pub fn gep_source_type(self) -> Type<'m> {
        assert_eq!(self.opcode(), Opcode::GetElementPtr);
        Type::new(unsafe { (llvm().LLVMGetGEPSourceElementType)(self.0) })
    }

    /// Of `extractvalue` and `insertvalue`.
    pub fn indices(self) -> Vec<u32> {
        assert!(matches!(self.opcode(), Opcode::ExtractValue | Opcode::InsertValue));
        unsafe {
            let count = (llvm().LLVMGetNumIndices)(self.0) as usize;
            std::slice::from_raw_parts((llvm().LLVMGetIndices)(self.0), count).to_vec()
        }
    }

    /// Of `shufflevector`; -1 is "any".
    pub fn mask(self) -> Vec<i32> {
        assert_eq!(self.opcode(), Opcode::ShuffleVector);
        let count = unsafe { (llvm().LLVMGetNumMaskElements)(self.0) };
        (0..count).map(|index| unsafe { (llvm().LLVMGetMaskValue)(self.0, index) }).collect()
    }

    pub fn inline_asm(self) -> &'m str {
        assert_eq!(self.kind(), ValueKind::InlineAsm);
        let mut length = 0;
        unsafe {
            let start = (llvm().LLVMGetInlineAsmAsmString)(self.0, &mut length);
            text(start, length)
        }
    }

    /// Line and column of an instruction or function; 0 where unknown.
    pub fn position(self) -> (u32, u32) {
        match self.kind() {
            ValueKind::Instruction => unsafe {
                ((llvm().LLVMGetDebugLocLine)(self.0), (llvm().LLVMGetDebugLocColumn)(self.0))
            },
            ValueKind::Function => (unsafe { (llvm().LLVMGetDebugLocLine)(self.0) }, 0),
            _ => (0, 0),
        }
    }

    /// Directory and name of the source file of a function.
    pub fn file(self) -> Option<(&'m str, &'m str)> {
        assert_eq!(self.kind(), ValueKind::Function);
        let (mut length, mut directory_length) = (0, 0);
        unsafe {
            let file = (llvm().LLVMGetDebugLocFilename)(self.0, &mut length);
            let directory = (llvm().LLVMGetDebugLocDirectory)(self.0, &mut directory_length);
            let file = text(file, length as usize);
            (!file.is_empty()).then(|| (text(directory, directory_length as usize), file))
        }
    }

    // Constants.

    pub fn is_constant(self) -> bool {
        unsafe { (llvm().LLVMIsConstant)(self.0) != 0 }
    }

    pub fn is_null(self) -> bool {
        unsafe { (llvm().LLVMIsNull)(self.0) != 0 }
    }

    pub fn is_undef(self) -> bool {
        unsafe { (llvm().LLVMIsUndef)(self.0) != 0 }
    }

    /// A constant integer of at most 128 bits.
    pub fn as_integer(self) -> Option<u128> {
        const CONSTANT_INT: i32 = 18;
        if unsafe { (llvm().LLVMGetValueKind)(self.0) } != CONSTANT_INT {
            return None;
        }
        let TypeKind::Int(bits) = self.ty().kind() else { return None };
        if bits <= 64 {
            return Some(unsafe { (llvm().LLVMConstIntGetZExtValue)(self.0) }.into());
        }
        // There is no getter for more than 64 bits: "i128 -5".
        let printed = self.print();
        printed.rsplit(' ').next()?.parse::<i128>().ok().map(|value| value as u128)
    }

    /// A constant `float` or `double`.
    pub fn as_float(self) -> Option<f64> {
        const CONSTANT_FP: i32 = 19;
        if unsafe { (llvm().LLVMGetValueKind)(self.0) } != CONSTANT_FP {
            return None;
        }
        let mut lossy = 0;
        Some(unsafe { (llvm().LLVMConstRealGetDouble)(self.0, &mut lossy) })
    }

    /// An element of a constant aggregate, null and undef included.
    pub fn element(self, index: u32) -> Option<Value<'m>> {
        if !self.is_constant() {
            return None;
        }
        let found = unsafe { (llvm().LLVMGetAggregateElement)(self.0, index) };
        (!found.is_null()).then(|| Value::new(found))
    }
}

impl<'m> Type<'m> {
    fn new(pointer: Ptr) -> Type<'m> {
        assert!(!pointer.is_null(), "LLVM gave no type");
        Type(pointer, PhantomData)
    }

    pub fn kind(self) -> TypeKind {
        match unsafe { (llvm().LLVMGetTypeKind)(self.0) } {
            0 => TypeKind::Void,
            2 => TypeKind::Float,
            3 => TypeKind::Double,
            8 => TypeKind::Int(unsafe { (llvm().LLVMGetIntTypeWidth)(self.0) }),
            9 => TypeKind::Function,
            10 => TypeKind::Struct,
            11 => TypeKind::Array,
            12 => TypeKind::Pointer,
            13 => TypeKind::Vector,
            other => TypeKind::Other(other),
        }
    }

    pub fn print(self) -> String {
        unsafe { take(llvm(), (llvm().LLVMPrintTypeToString)(self.0)) }
    }

    /// Of an array or vector.
    pub fn element(self) -> Type<'m> {
        assert!(matches!(self.kind(), TypeKind::Array | TypeKind::Vector));
        Type::new(unsafe { (llvm().LLVMGetElementType)(self.0) })
    }

    /// Elements of an array, vector or struct.
    pub fn length(self) -> u64 {
        match self.kind() {
            TypeKind::Array => unsafe { (llvm().LLVMGetArrayLength2)(self.0) },
            TypeKind::Vector => unsafe { (llvm().LLVMGetVectorSize)(self.0) }.into(),
            TypeKind::Struct => unsafe { (llvm().LLVMCountStructElementTypes)(self.0) }.into(),
            _ => 0,
        }
    }

    pub fn field(self, index: u32) -> Type<'m> {
        assert!(self.kind() == TypeKind::Struct && u64::from(index) < self.length());
        Type::new(unsafe { (llvm().LLVMStructGetTypeAtIndex)(self.0, index) })
    }

    pub fn is_variadic(self) -> bool {
        assert_eq!(self.kind(), TypeKind::Function);
        unsafe { (llvm().LLVMIsFunctionVarArg)(self.0) != 0 }
    }

    pub fn param_count(self) -> u32 {
        assert_eq!(self.kind(), TypeKind::Function);
        unsafe { (llvm().LLVMCountParamTypes)(self.0) }
    }
}

impl<'m> Block<'m> {
    pub fn instructions(self) -> impl Iterator<Item = Value<'m>> {
        let first = unsafe { (llvm().LLVMGetFirstInstruction)(self.0) };
        chain(first, |at| unsafe { (llvm().LLVMGetNextInstruction)(at) }).map(Value::new)
    }

    pub fn terminator(self) -> Value<'m> {
        Value::new(unsafe { (llvm().LLVMGetBasicBlockTerminator)(self.0) })
    }
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

/// Errors reach us as return values; LLVM need not print them.
unsafe extern "C" fn ignore(_info: Ptr, _context: Ptr) {}

/// Follows `next` from `first` to the end of an LLVM list.
fn chain(first: Ptr, next: impl Fn(Ptr) -> Ptr) -> impl Iterator<Item = Ptr> {
    let some = |at: Ptr| (!at.is_null()).then_some(at);
    std::iter::successors(some(first), move |at| some(next(*at)))
}

/// A string of LLVM's, which lives as long as its context.
unsafe fn text<'m>(start: *const c_char, length: usize) -> &'m str {
    if start.is_null() {
        return "";
    }
    // SAFETY: the caller passes what LLVM returned.
    std::str::from_utf8(unsafe { std::slice::from_raw_parts(start.cast(), length) }).unwrap_or("?")
}

/// Copies a message and gives LLVM's back.
unsafe fn take(api: &Api, message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: a zero-terminated string that LLVM allocated for us.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().trim().to_string();
        (api.LLVMDisposeMessage)(message);
        text
    }
}
