//! The functions of the LLVM-C API that we call, found at run time in a `libLLVM`.
//!
//! Getters are safe: their arguments are handles that borrow from a live module, and what LLVM asks of
//! the kind of a value stands in the list below and is asserted before the call. What makes, changes or
//! ends a module is raw; [`super::module`] calls it.

use super::kinds::{Opcode, ValueKind};
use super::ty::{Block, Type};
use super::value::{Attribute, Position, Use, Value};
use crate::Error;
use libloading::Library;
use std::ffi::{CStr, c_char, c_double, c_int, c_uint, c_ulonglong, c_void};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// An object of LLVM's without a safe handle: a context, a buffer, an error.
pub type Ptr = *mut c_void;

/// A module that is being read.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct ModuleRef<'m>(NonNull<c_void>, PhantomData<&'m c_void>);

impl ModuleRef<'_> {
    /// # Safety
    ///
    /// The module lives as long as the handle and is not changed meanwhile.
    pub unsafe fn new(module: NonNull<c_void>) -> Self {
        ModuleRef(module, PhantomData)
    }
}

/// Where the types of a module lie in memory.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Layout<'m>(NonNull<c_void>, PhantomData<&'m c_void>);

macro_rules! functions {
    (
        raw { $( fn $raw:ident($($raw_arg:ty),*) $(-> $raw_ret:ty)?; )* }
        getters { $( fn $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty $(where $condition:expr)?; )* }
    ) => {
        /// One field per function, named as in LLVM's headers.
        #[allow(non_snake_case, reason = "the names are LLVM's")]
        pub struct Raw {
            $(pub $raw: unsafe extern "C" fn($($raw_arg),*) $(-> $raw_ret)?,)*
        }

        #[allow(non_snake_case, reason = "the names are LLVM's")]
        struct Getters {
            $($name: for<'m> unsafe extern "C" fn($($ty),*) -> $ret,)*
            /// Since LLVM 22; before, case values are operands.
            LLVMGetSwitchCaseValue: Option<for<'m> unsafe extern "C" fn(Value<'m>, c_uint) -> Option<Value<'m>>>,
        }

        impl Api {
            pub(super) fn load(path: PathBuf) -> Result<Api, libloading::Error> {
                // SAFETY: libLLVM's initialisers register passes and options and need nothing of us.
                let library = unsafe { Library::new(&path)? };
                // SAFETY: the signatures below are those of LLVM's C headers, which LLVM keeps stable
                // from release to release; a handle is a pointer that is not null.
                let (raw, getters) = unsafe {
                    let raw = Raw {
                        $($raw: *library.get(concat!(stringify!($raw), "\0").as_bytes())?,)*
                    };
                    let getters = Getters {
                        $($name: *library.get(concat!(stringify!($name), "\0").as_bytes())?,)*
                        LLVMGetSwitchCaseValue: library.get(b"LLVMGetSwitchCaseValue\0").ok().map(|symbol| *symbol),
                    };
                    (raw, getters)
                };
                Ok(Api { raw, getters, path, library })
            }

            $(
                #[allow(non_snake_case, reason = "the names are LLVM's")]
                pub fn $name<'m>(&self, $($arg: $ty),*) -> $ret {
                    $(assert!($condition, "{} of another kind of value", stringify!($name));)?
                    // SAFETY: the handles borrow from a live module, and the value is of the kind that
                    // the getter is for: asserted above where there is a condition.
                    unsafe { (self.getters.$name)($($arg),*) }
                }
            )*
        }
    };
}

functions! {
    raw {
        fn LLVMContextCreate() -> Ptr;
        fn LLVMContextDispose(Ptr);
        fn LLVMContextSetDiagnosticHandler(Ptr, Option<unsafe extern "C" fn(Ptr, Ptr)>, Ptr);
        fn LLVMCreateMemoryBufferWithMemoryRangeCopy(*const c_char, usize, *const c_char) -> Ptr;
        fn LLVMParseIRInContext(Ptr, Ptr, *mut Ptr, *mut *mut c_char) -> c_int;
        fn LLVMDisposeModule(Ptr);
        fn LLVMLinkModules2(Ptr, Ptr) -> c_int;
        fn LLVMVerifyModule(Ptr, c_int, *mut *mut c_char) -> c_int;
        fn LLVMCreatePassBuilderOptions() -> Ptr;
        fn LLVMDisposePassBuilderOptions(Ptr);
        fn LLVMRunPasses(Ptr, *const c_char, Ptr, Ptr) -> Ptr;
        fn LLVMGetErrorMessage(Ptr) -> *mut c_char;
        fn LLVMDisposeErrorMessage(*mut c_char);
        fn LLVMDisposeMessage(*mut c_char);
        fn LLVMGetVersion(*mut c_uint, *mut c_uint, *mut c_uint);
        fn LLVMGetEnumAttributeKindForName(*const c_char, usize) -> c_uint;
        fn LLVMCreateEnumAttribute(Ptr, c_uint, u64) -> Ptr;
        fn LLVMAddAttributeAtIndex(Ptr, c_uint, Ptr);
        fn LLVMVoidTypeInContext(Ptr) -> Ptr;
        fn LLVMPointerTypeInContext(Ptr, c_uint) -> Ptr;
        fn LLVMFunctionType(Ptr, *mut Ptr, c_uint, c_int) -> Ptr;
        fn LLVMAddFunction(Ptr, *const c_char, Ptr) -> Ptr;
        fn LLVMCreateBuilderInContext(Ptr) -> Ptr;
        fn LLVMPositionBuilderBefore(Ptr, Ptr);
        fn LLVMBuildCall2(Ptr, Ptr, Ptr, *mut Ptr, c_uint, *const c_char) -> Ptr;
        fn LLVMDisposeBuilder(Ptr);
        fn LLVMGetDataLayoutStr(Ptr) -> *const c_char;
        fn LLVMGetTarget(Ptr) -> *const c_char;
        fn LLVMSetLinkage(Ptr, c_int);
        fn LLVMSetVisibility(Ptr, c_int);
    }

    getters {
        fn LLVMGetModuleDataLayout(module: ModuleRef<'m>) -> Layout<'m>;
        fn LLVMGetNamedFunction(module: ModuleRef<'m>, name: &CStrRef) -> Option<Value<'m>>;
        fn LLVMGetNamedGlobal(module: ModuleRef<'m>, name: &CStrRef) -> Option<Value<'m>>;
        fn LLVMGetFirstFunction(module: ModuleRef<'m>) -> Option<Value<'m>>;
        fn LLVMGetFirstGlobal(module: ModuleRef<'m>) -> Option<Value<'m>>;
        fn LLVMGetNextGlobal(global: Value<'m>) -> Option<Value<'m>> where global.is_variable();
        fn LLVMGetLinkage(value: Value<'m>) -> c_int where value.is_global();
        fn LLVMGetNextFunction(function: Value<'m>) -> Option<Value<'m>> where function.is_function();
        fn LLVMABISizeOfType(layout: Layout<'m>, ty: Type<'m>) -> c_ulonglong where ty.is_sized();
        fn LLVMABIAlignmentOfType(layout: Layout<'m>, ty: Type<'m>) -> c_uint where ty.is_sized();
        fn LLVMOffsetOfElement(layout: Layout<'m>, ty: Type<'m>, element: c_uint) -> c_ulonglong
            where ty.has_field(element);

        fn LLVMIsDeclaration(value: Value<'m>) -> c_int where value.is_global();
        fn LLVMGlobalGetValueType(value: Value<'m>) -> Type<'m> where value.is_global();
        fn LLVMGetInitializer(value: Value<'m>) -> Option<Value<'m>> where value.is_variable();
        fn LLVMIsGlobalConstant(value: Value<'m>) -> c_int where value.is_variable();
        fn LLVMIsThreadLocal(value: Value<'m>) -> c_int where value.is_variable();
        fn LLVMAliasGetAliasee(value: Value<'m>) -> Value<'m> where value.kind() == ValueKind::Alias;
        fn LLVMGetAlignment(value: Value<'m>) -> c_uint
            where value.is_function() || value.is_variable() || value.is_a(&[Opcode::Alloca, Opcode::Load, Opcode::Store]);
        fn LLVMCountParams(function: Value<'m>) -> c_uint where function.is_function();
        fn LLVMGetParam(function: Value<'m>, index: c_uint) -> Value<'m>
            where function.is_function() && index < function.param_count();
        fn LLVMGetFirstBasicBlock(function: Value<'m>) -> Option<Block<'m>> where function.is_function();
        fn LLVMGetNextBasicBlock(block: Block<'m>) -> Option<Block<'m>>;
        fn LLVMGetFirstInstruction(block: Block<'m>) -> Option<Value<'m>>;
        fn LLVMGetNextInstruction(value: Value<'m>) -> Option<Value<'m>> where value.is_instruction();
        fn LLVMGetBasicBlockTerminator(block: Block<'m>) -> Option<Value<'m>>;
        fn LLVMGetInstructionParent(value: Value<'m>) -> Block<'m> where value.is_instruction();
        fn LLVMGetBasicBlockParent(block: Block<'m>) -> Value<'m>;

        fn LLVMTypeOf(value: Value<'m>) -> Type<'m>;
        fn LLVMGetValueKind(value: Value<'m>) -> c_int;
        fn LLVMGetValueName2(value: Value<'m>, length: &mut usize) -> *const c_char;
        fn LLVMPrintValueToString(value: Value<'m>) -> *mut c_char;
        fn LLVMPrintTypeToString(ty: Type<'m>) -> *mut c_char;
        fn LLVMGetTypeKind(ty: Type<'m>) -> c_int;
        fn LLVMTypeIsSized(ty: Type<'m>) -> c_int;
        fn LLVMGetIntTypeWidth(ty: Type<'m>) -> c_uint where ty.number() == 8;
        fn LLVMGetElementType(ty: Type<'m>) -> Type<'m> where matches!(ty.number(), 11 | 13);
        fn LLVMGetArrayLength2(ty: Type<'m>) -> u64 where ty.number() == 11;
        fn LLVMGetVectorSize(ty: Type<'m>) -> c_uint where ty.number() == 13;
        fn LLVMCountStructElementTypes(ty: Type<'m>) -> c_uint where ty.number() == 10;
        fn LLVMStructGetTypeAtIndex(ty: Type<'m>, index: c_uint) -> Type<'m> where ty.has_field(index);
        fn LLVMIsFunctionVarArg(ty: Type<'m>) -> c_int where ty.number() == 9;
        fn LLVMCountParamTypes(ty: Type<'m>) -> c_uint where ty.number() == 9;
        fn LLVMGetReturnType(ty: Type<'m>) -> Type<'m> where ty.number() == 9;

        fn LLVMGetInstructionOpcode(value: Value<'m>) -> c_int where value.is_instruction();
        fn LLVMGetConstOpcode(value: Value<'m>) -> c_int where value.kind() == ValueKind::ConstantExpression;
        fn LLVMGetNumOperands(value: Value<'m>) -> c_int where value.is_user();
        fn LLVMGetOperand(value: Value<'m>, index: c_uint) -> Option<Value<'m>>
            where value.is_user() && index < value.operand_count();
        fn LLVMGetFirstUse(value: Value<'m>) -> Option<Use<'m>>;
        fn LLVMGetNextUse(at: Use<'m>) -> Option<Use<'m>>;
        fn LLVMGetUser(at: Use<'m>) -> Value<'m>;
        fn LLVMGetICmpPredicate(value: Value<'m>) -> c_int where value.is_a(&[Opcode::ICmp]);
        fn LLVMGetFCmpPredicate(value: Value<'m>) -> c_int where value.is_a(&[Opcode::FCmp]);
        fn LLVMCountIncoming(value: Value<'m>) -> c_uint where value.is_a(&[Opcode::Phi]);
        fn LLVMGetIncomingValue(value: Value<'m>, index: c_uint) -> Value<'m> where index < value.incoming_count();
        fn LLVMValueAsBasicBlock(value: Value<'m>) -> Block<'m> where value.is_block();
        fn LLVMGetIncomingBlock(value: Value<'m>, index: c_uint) -> Block<'m> where index < value.incoming_count();
        fn LLVMGetNumSuccessors(value: Value<'m>) -> c_uint where value.is_terminator();
        fn LLVMGetSuccessor(value: Value<'m>, index: c_uint) -> Block<'m> where index < value.successor_count();
        fn LLVMGetAllocatedType(value: Value<'m>) -> Type<'m> where value.is_a(&[Opcode::Alloca]);
        fn LLVMGetOrdering(value: Value<'m>) -> c_int
            where value.is_a(&[Opcode::Load, Opcode::Store, Opcode::Fence, Opcode::AtomicRmw]);
        fn LLVMGetVolatile(value: Value<'m>) -> c_int where value.is_a(&[Opcode::Load, Opcode::Store]);
        fn LLVMGetCmpXchgSuccessOrdering(value: Value<'m>) -> c_int where value.is_a(&[Opcode::CmpXchg]);
        fn LLVMGetCmpXchgFailureOrdering(value: Value<'m>) -> c_int where value.is_a(&[Opcode::CmpXchg]);
        fn LLVMGetWeak(value: Value<'m>) -> c_int where value.is_a(&[Opcode::CmpXchg]);
        fn LLVMIsAtomicSingleThread(value: Value<'m>) -> c_int where value.is_a(&[Opcode::Fence]);
        fn LLVMGetAtomicRMWBinOp(value: Value<'m>) -> c_int where value.is_a(&[Opcode::AtomicRmw]);
        fn LLVMGetCalledValue(value: Value<'m>) -> Value<'m> where value.is_call();
        fn LLVMGetCalledFunctionType(value: Value<'m>) -> Type<'m> where value.is_call();
        fn LLVMGetNumArgOperands(value: Value<'m>) -> c_uint where value.is_call();
        fn LLVMGetGEPSourceElementType(value: Value<'m>) -> Type<'m> where value.is_a(&[Opcode::GetElementPtr]);
        fn LLVMGetNumIndices(value: Value<'m>) -> c_uint
            where value.is_a(&[Opcode::ExtractValue, Opcode::InsertValue]);
        fn LLVMGetIndices(value: Value<'m>) -> *const c_uint
            where value.is_a(&[Opcode::ExtractValue, Opcode::InsertValue]);
        fn LLVMGetNumMaskElements(value: Value<'m>) -> c_uint where value.is_a(&[Opcode::ShuffleVector]);
        fn LLVMGetMaskValue(value: Value<'m>, index: c_uint) -> c_int where index < value.mask_count();
        fn LLVMGetNormalDest(value: Value<'m>) -> Block<'m> where value.is_a(&[Opcode::Invoke]);
        fn LLVMGetUnwindDest(value: Value<'m>) -> Block<'m> where value.is_a(&[Opcode::Invoke]);
        fn LLVMGetNumClauses(value: Value<'m>) -> c_uint where value.is_a(&[Opcode::LandingPad]);
        fn LLVMGetClause(value: Value<'m>, index: c_uint) -> Value<'m> where index < value.clause_count();
        fn LLVMIsCleanup(value: Value<'m>) -> c_int where value.is_a(&[Opcode::LandingPad]);
        fn LLVMHasPersonalityFn(function: Value<'m>) -> c_int where function.is_function();
        fn LLVMGetPersonalityFn(function: Value<'m>) -> Value<'m> where function.has_personality();

        fn LLVMIsConstant(value: Value<'m>) -> c_int;
        fn LLVMIsNull(value: Value<'m>) -> c_int;
        fn LLVMIsUndef(value: Value<'m>) -> c_int;
        fn LLVMConstIntGetZExtValue(value: Value<'m>) -> c_ulonglong where value.is_integer_constant();
        fn LLVMConstRealGetDouble(value: Value<'m>, lossy: &mut c_int) -> c_double where value.is_float_constant();
        fn LLVMGetAggregateElement(value: Value<'m>, index: c_uint) -> Option<Value<'m>> where value.is_constant();
        fn LLVMGetInlineAsmAsmString(value: Value<'m>, length: &mut usize) -> *const c_char
            where value.kind() == ValueKind::InlineAsm;
        fn LLVMGetInlineAsmConstraintString(value: Value<'m>, length: &mut usize) -> *const c_char
            where value.kind() == ValueKind::InlineAsm;

        fn LLVMGetEnumAttributeAtIndex(value: Value<'m>, place: c_uint, kind: c_uint) -> Option<Attribute<'m>>
            where value.is_function();
        fn LLVMGetCallSiteEnumAttribute(value: Value<'m>, place: c_uint, kind: c_uint) -> Option<Attribute<'m>>
            where value.is_call();
        fn LLVMGetTypeAttributeValue(attribute: Attribute<'m>) -> Type<'m>;
        fn LLVMGetEnumAttributeValue(attribute: Attribute<'m>) -> u64;

        fn LLVMGetDebugLocLine(value: Value<'m>) -> c_uint where value.has_position();
        fn LLVMInstructionGetDebugLoc(value: Value<'m>) -> Option<Position<'m>> where value.is_instruction();
        fn LLVMDILocationGetInlinedAt(position: Position<'m>) -> Option<Position<'m>>;
        fn LLVMDILocationGetLine(position: Position<'m>) -> c_uint;
        fn LLVMDILocationGetColumn(position: Position<'m>) -> c_uint;
        fn LLVMGetDebugLocFilename(value: Value<'m>, length: &mut c_uint) -> *const c_char where value.has_position();
        fn LLVMGetDebugLocDirectory(value: Value<'m>, length: &mut c_uint) -> *const c_char where value.has_position();
    }
}

/// The loaded library.
pub struct Api {
    raw: Raw,
    getters: Getters,
    path: PathBuf,
    library: Library,
}

/// The begin of a string that ends with a zero, as C takes it.
#[repr(transparent)]
pub struct CStrRef(c_char);

impl CStrRef {
    pub fn new(text: &CStr) -> &CStrRef {
        // SAFETY: a reference to the first byte of a string, of which there is at least the zero.
        unsafe { &*text.as_ptr().cast() }
    }
}

impl Api {
    /// What makes, changes and ends modules.
    pub fn raw(&self) -> &Raw {
        &self.raw
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn version(&self) -> (u32, u32, u32) {
        let (mut major, mut minor, mut patch) = (0, 0, 0);
        // SAFETY: three places to write to.
        unsafe { (self.raw.LLVMGetVersion)(&mut major, &mut minor, &mut patch) };
        (major, minor, patch)
    }

    /// A function that not every libLLVM has.
    ///
    /// # Safety
    ///
    /// `F` points to functions of its signature.
    pub unsafe fn optional<F: Copy>(&self, name: &str) -> Result<F, Error> {
        // SAFETY: the caller's promise.
        let symbol = unsafe { self.library.get::<F>(name.as_bytes()) };
        symbol.map(|symbol| *symbol).map_err(|_| {
            let path = self.path.display();
            Error::Library(format!("{path} has no {name}: it cannot make code for this machine"))
        })
    }

    /// The value for a successor of a switch; `None` where the library is too old to tell.
    pub fn switch_case_value<'m>(&self, value: Value<'m>, index: u32) -> Option<Value<'m>> {
        assert!(value.is_a(&[Opcode::Switch]) && index > 0 && index < value.successor_count());
        // SAFETY: a switch, and the index of one of its cases.
        self.getters.LLVMGetSwitchCaseValue.and_then(|getter| unsafe { getter(value, index) })
    }

    /// The number of an attribute.
    pub fn attribute_kind(&self, name: &str) -> u32 {
        // SAFETY: a string and its length.
        unsafe { (self.raw.LLVMGetEnumAttributeKindForName)(name.as_ptr().cast(), name.len()) }
    }

    /// Copies a message that LLVM allocated for us and gives it back.
    ///
    /// # Safety
    ///
    /// The message is null or a string of LLVM's that nobody has given back.
    pub unsafe fn take(&self, message: *mut c_char) -> String {
        if message.is_null() {
            return String::new();
        }
        // SAFETY: the caller's promise.
        unsafe {
            let text = CStr::from_ptr(message).to_string_lossy().trim().to_string();
            (self.raw.LLVMDisposeMessage)(message);
            text
        }
    }
}

// SAFETY: function pointers and a loaded library, neither of which changes after loading.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}
