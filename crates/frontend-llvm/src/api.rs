//! The functions of the LLVM-C API that we call, found at run time in a `libLLVM`.
//!
//! The library is the one that the Rust toolchain or the distribution ships: it is loaded once and
//! stays for the life of the process. Everything else of this crate goes through [`crate::module`].

use crate::Error;
use libloading::Library;
use std::ffi::{c_char, c_double, c_int, c_uint, c_ulonglong, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

pub type Ptr = *mut c_void;

macro_rules! functions {
    ($( fn $name:ident($($arg:ty),*) $(-> $ret:ty)?; )*) => {
        /// One field per function, named as in LLVM's headers.
        #[allow(non_snake_case, reason = "the names are LLVM's")]
        pub struct Api {
            $(pub $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
            /// Since LLVM 22; before, case values are operands.
            pub LLVMGetSwitchCaseValue: Option<unsafe extern "C" fn(Ptr, c_uint) -> Ptr>,
            pub path: PathBuf,
            _library: Library,
        }

        impl Api {
            fn load(path: PathBuf) -> Result<Api, libloading::Error> {
                // SAFETY: libLLVM's initialisers register passes and options and need nothing of us.
                let library = unsafe { Library::new(&path)? };
                Ok(Api {
                    // SAFETY: the signatures below are those of LLVM's C headers, which LLVM keeps
                    // stable from release to release.
                    $($name: unsafe { *library.get(concat!(stringify!($name), "\0").as_bytes())? },)*
                    // SAFETY: as above.
                    LLVMGetSwitchCaseValue: unsafe {
                        library.get(b"LLVMGetSwitchCaseValue\0").ok().map(|symbol| *symbol)
                    },
                    path,
                    _library: library,
                })
            }
        }
    };
}

functions! {
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
    fn LLVMGetModuleDataLayout(Ptr) -> Ptr;
    fn LLVMABISizeOfType(Ptr, Ptr) -> c_ulonglong;
    fn LLVMABIAlignmentOfType(Ptr, Ptr) -> c_uint;
    fn LLVMOffsetOfElement(Ptr, Ptr, c_uint) -> c_ulonglong;

    fn LLVMGetNamedFunction(Ptr, *const c_char) -> Ptr;
    fn LLVMGetFirstFunction(Ptr) -> Ptr;
    fn LLVMGetNextFunction(Ptr) -> Ptr;
    fn LLVMGetNamedGlobal(Ptr, *const c_char) -> Ptr;
    fn LLVMIsDeclaration(Ptr) -> c_int;
    fn LLVMGetInitializer(Ptr) -> Ptr;
    fn LLVMIsGlobalConstant(Ptr) -> c_int;
    fn LLVMIsThreadLocal(Ptr) -> c_int;
    fn LLVMAliasGetAliasee(Ptr) -> Ptr;
    fn LLVMGlobalGetValueType(Ptr) -> Ptr;
    fn LLVMGetAlignment(Ptr) -> c_uint;
    fn LLVMCountParams(Ptr) -> c_uint;
    fn LLVMGetParam(Ptr, c_uint) -> Ptr;
    fn LLVMGetFirstBasicBlock(Ptr) -> Ptr;
    fn LLVMGetNextBasicBlock(Ptr) -> Ptr;
    fn LLVMGetFirstInstruction(Ptr) -> Ptr;
    fn LLVMGetNextInstruction(Ptr) -> Ptr;
    fn LLVMGetBasicBlockTerminator(Ptr) -> Ptr;
    fn LLVMGetInstructionParent(Ptr) -> Ptr;
    fn LLVMGetBasicBlockParent(Ptr) -> Ptr;

    fn LLVMTypeOf(Ptr) -> Ptr;
    fn LLVMGetValueKind(Ptr) -> c_int;
    fn LLVMGetValueName2(Ptr, *mut usize) -> *const c_char;
    fn LLVMPrintValueToString(Ptr) -> *mut c_char;
    fn LLVMPrintTypeToString(Ptr) -> *mut c_char;
    fn LLVMGetTypeKind(Ptr) -> c_int;
    fn LLVMGetIntTypeWidth(Ptr) -> c_uint;
    fn LLVMGetElementType(Ptr) -> Ptr;
    fn LLVMGetArrayLength2(Ptr) -> u64;
    fn LLVMGetVectorSize(Ptr) -> c_uint;
    fn LLVMCountStructElementTypes(Ptr) -> c_uint;
    fn LLVMStructGetTypeAtIndex(Ptr, c_uint) -> Ptr;
    fn LLVMIsFunctionVarArg(Ptr) -> c_int;
    fn LLVMCountParamTypes(Ptr) -> c_uint;

    fn LLVMGetInstructionOpcode(Ptr) -> c_int;
    fn LLVMGetConstOpcode(Ptr) -> c_int;
    fn LLVMGetNumOperands(Ptr) -> c_int;
    fn LLVMGetOperand(Ptr, c_uint) -> Ptr;
    fn LLVMGetFirstUse(Ptr) -> Ptr;
    fn LLVMGetNextUse(Ptr) -> Ptr;
    fn LLVMGetUser(Ptr) -> Ptr;
    fn LLVMGetICmpPredicate(Ptr) -> c_int;
    fn LLVMGetFCmpPredicate(Ptr) -> c_int;
    fn LLVMCountIncoming(Ptr) -> c_uint;
    fn LLVMGetIncomingValue(Ptr, c_uint) -> Ptr;
    fn LLVMGetIncomingBlock(Ptr, c_uint) -> Ptr;
    fn LLVMGetNumSuccessors(Ptr) -> c_uint;
    fn LLVMGetSuccessor(Ptr, c_uint) -> Ptr;
    fn LLVMGetAllocatedType(Ptr) -> Ptr;
    fn LLVMGetOrdering(Ptr) -> c_int;
    fn LLVMGetCmpXchgSuccessOrdering(Ptr) -> c_int;
    fn LLVMGetCmpXchgFailureOrdering(Ptr) -> c_int;
    fn LLVMGetWeak(Ptr) -> c_int;
    fn LLVMIsAtomicSingleThread(Ptr) -> c_int;
    fn LLVMGetAtomicRMWBinOp(Ptr) -> c_int;
    fn LLVMGetCalledValue(Ptr) -> Ptr;
    fn LLVMGetCalledFunctionType(Ptr) -> Ptr;
    fn LLVMGetNumArgOperands(Ptr) -> c_uint;
    fn LLVMGetGEPSourceElementType(Ptr) -> Ptr;
    fn LLVMGetNumIndices(Ptr) -> c_uint;
    fn LLVMGetIndices(Ptr) -> *const c_uint;
    fn LLVMGetNumMaskElements(Ptr) -> c_uint;
    fn LLVMGetMaskValue(Ptr, c_uint) -> c_int;
    fn LLVMGetNormalDest(Ptr) -> Ptr;

    fn LLVMIsConstant(Ptr) -> c_int;
    fn LLVMIsNull(Ptr) -> c_int;
    fn LLVMIsUndef(Ptr) -> c_int;
    fn LLVMConstIntGetZExtValue(Ptr) -> c_ulonglong;
    fn LLVMConstRealGetDouble(Ptr, *mut c_int) -> c_double;
    fn LLVMGetAggregateElement(Ptr, c_uint) -> Ptr;
    fn LLVMGetInlineAsmAsmString(Ptr, *mut usize) -> *const c_char;

    fn LLVMGetEnumAttributeKindForName(*const c_char, usize) -> c_uint;
    fn LLVMGetEnumAttributeAtIndex(Ptr, c_uint, c_uint) -> Ptr;
    fn LLVMGetCallSiteEnumAttribute(Ptr, c_uint, c_uint) -> Ptr;
    fn LLVMGetTypeAttributeValue(Ptr) -> Ptr;

    fn LLVMGetDebugLocLine(Ptr) -> c_uint;
    fn LLVMGetDebugLocColumn(Ptr) -> c_uint;
    fn LLVMGetDebugLocFilename(Ptr, *mut c_uint) -> *const c_char;
    fn LLVMGetDebugLocDirectory(Ptr, *mut c_uint) -> *const c_char;
}

// SAFETY: function pointers and a loaded library, neither of which changes after loading.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

/// The library, loaded on first use.
pub fn api() -> Result<&'static Api, Error> {
    static API: OnceLock<Result<Api, String>> = OnceLock::new();
    API.get_or_init(load).as_ref().map_err(|message| Error::Library(message.clone()))
}

/// The version of the libLLVM in use and where it lies.
pub fn version() -> Result<(String, PathBuf), Error> {
    let api = api()?;
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: three places to write to.
    unsafe { (api.LLVMGetVersion)(&mut major, &mut minor, &mut patch) };
    Ok((format!("{major}.{minor}.{patch}"), api.path.clone()))
}

fn load() -> Result<Api, String> {
    let mut tried = Vec::new();
    for path in candidates() {
        match Api::load(path.clone()) {
            Ok(api) => return Ok(api),
            Err(error) => tried.push(format!("{}: {error}", path.display())),
        }
    }
    Err(match tried.is_empty() {
        true => "no libLLVM found: install the Rust toolchain or set PORF_LIBLLVM to one".to_string(),
        false => format!("no usable libLLVM: {}", tried.join("; ")),
    })
}

/// `PORF_LIBLLVM`, or what the Rust toolchains and the distribution have, newest first.
fn candidates() -> Vec<PathBuf> {
    if let Some(path) = std::env::var_os("PORF_LIBLLVM") {
        return vec![path.into()];
    }
    let rustup = std::env::var_os("RUSTUP_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".rustup")));
    let mut directories: Vec<PathBuf> = rustup
        .iter()
        .flat_map(|home| entries(&home.join("toolchains")))
        .map(|path| path.join("lib"))
        .collect();
    directories.extend((15..=30).map(|major| PathBuf::from(format!("/usr/lib/llvm-{major}/lib"))));
    let mut found: Vec<PathBuf> = directories.iter().flat_map(|directory| libraries(directory)).collect();
    if found.is_empty()
        && let Ok(output) = Command::new("rustc").args(["--print", "sysroot"]).output()
    {
        let sysroot = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        found = libraries(&sysroot.join("lib"));
    }
    found.sort_by_key(|path| std::cmp::Reverse(major(path)));
    found
}

/// The shared libraries of LLVM in a directory; links and linker scripts are not among them.
fn libraries(directory: &Path) -> Vec<PathBuf> {
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libLLVM") && name.contains(".so") && major(path) > 0
    };
    let is_large = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|data| data.len() > 1 << 20);
    entries(directory).into_iter().filter(is_library).filter(is_large).collect()
}

/// The first number in the file's name.
fn major(path: &Path) -> u32 {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let digits: String =
        name.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(directory).map_or(Vec::new(), |all| all.flatten().map(|entry| entry.path()).collect())
}
