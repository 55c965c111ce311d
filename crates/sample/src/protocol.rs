//! The memory that `porf sample` shares with the program it runs.
//!
//! One fixed layout, mapped by both sides: the command line fills in the options, the runtime counts
//! executions and records findings. Findings live here, outside of what is rolled back between
//! executions, and survive the death of the program. Integers and byte arrays only; all zeros is valid.

use std::sync::atomic::{AtomicU32, AtomicU64};

/// The environment variable that holds the number of the inherited file descriptor.
pub const DESCRIPTOR_VARIABLE: &str = "PORF_SAMPLE_FD";
pub const MAGIC: u64 = 0x706f_7266_0000_0003;
pub const MAX_FINDINGS: usize = 256;
pub const MAX_FRAMES: usize = 32;
pub const MAX_STACKS: usize = 8;
/// Room for hashes of reads-from relations; beyond three quarters of it the count is a lower bound.
pub const HASH_SLOTS: usize = 1 << 20;

#[repr(C)]
pub struct Shared {
    pub magic: u64,
    pub options: Options,
    pub progress: Progress,
    pub findings: [Finding; MAX_FINDINGS],
    /// The text of /proc/self/maps when the first thread was created.
    pub maps_length: u64,
    pub maps: [u8; 1 << 18],
    pub hashes: [u64; HASH_SLOTS],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub executions: u64,
    pub seed: u64,
    /// See [`scheduler`].
    pub scheduler: u32,
    pub pct_depth: u32,
    /// Volatile accesses: 0 relaxed, 1 acquire and release.
    pub volatile_acqrel: u32,
    /// Release sequences: 0 those of C++20, 1 those of C11.
    pub c11: u32,
    /// See [`isolation`].
    pub isolation: u32,
    /// Stores kept per location; 0 is no limit.
    pub window: u64,
    /// Visible events per execution before it is cut off.
    pub max_steps: u64,
    /// Virtual time of a visible event, in nanoseconds.
    pub tick: u64,
    /// What happens to the program's output: 0 dropped, 1 shown in the first execution, 2 always shown.
    pub output: u32,
    pub stop_at_first: u32,
}

#[repr(C)]
pub struct Progress {
    /// Executions begun and ended.
    pub begun: AtomicU64,
    pub ended: AtomicU64,
    pub distinct: AtomicU64,
    pub events: AtomicU64,
    /// Executions with at least one finding.
    pub violating: AtomicU64,
    pub last_violating: AtomicU64,
    /// Executions that ended by the step limit.
    pub cut_off: AtomicU64,
    /// Executions that ended with a status other than 0, and the last such status.
    pub failed: AtomicU64,
    pub failed_status: AtomicU64,
    /// The seed of the execution that runs now, or ran last.
    pub seed: AtomicU64,
    /// Grows while an execution makes steps.
    pub heartbeat: AtomicU64,
    /// The process that runs the execution.
    pub process: AtomicU32,
    /// What was used, see [`isolation`]; 0 is nothing yet.
    pub isolation: AtomicU32,
    /// No execution is left to run; only told where the program is restarted for each.
    pub done: AtomicU32,
    pub max_threads: AtomicU32,
    pub finding_count: AtomicU32,
    /// The program ended before it created a thread.
    pub single_threaded: AtomicU32,
    pub snapshot_bytes: AtomicU64,
    pub peak_stores: AtomicU64,
    /// The program has found this memory.
    pub attached: AtomicU32,
    /// Findings beyond the table.
    pub dropped: AtomicU32,
    /// Steps and loads of the execution by which the PCT scheduler was set; 0 before it.
    pub pct_steps: AtomicU64,
    pub pct_loads: AtomicU64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Finding {
    /// See [`kind`].
    pub kind: u32,
    pub stack_count: u32,
    pub key: u64,
    /// Executions in which it occurred.
    pub count: u64,
    pub first_seed: u64,
    pub last_execution: u64,
    pub address: u64,
    pub size: u32,
    /// 1 when both stacks of a race are complete.
    pub complete: u32,
    pub message: [u8; 256],
    pub stacks: [Stack; MAX_STACKS],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Stack {
    pub thread: u32,
    /// [`crate::race::Kind`] as a number for accesses, else [`NO_ACCESS`].
    pub access: u32,
    pub length: u32,
    pub clock: u32,
    /// Innermost first.
    pub frames: [u64; MAX_FRAMES],
}

/// Who chooses threads and stores.
pub mod scheduler {
    pub const RANDOM: u32 = 0;
    pub const PCT: u32 = 1;
    pub const MIXED: u32 = 2;
}

/// How executions are kept apart.
pub mod isolation {
    pub const AUTOMATIC: u32 = 0;
    /// Memory is copied back.
    pub const IN_PROCESS: u32 = 1;
    /// A child of the program each.
    pub const FORK: u32 = 2;
    /// The program is started anew for each.
    pub const RESTART: u32 = 3;
}

/// The stack is not that of an access.
pub const NO_ACCESS: u32 = 0xff;

pub mod kind {
    pub const RACE: u32 = 1;
    pub const ASSERTION: u32 = 2;
    pub const ABORT: u32 = 3;
    pub const DEADLOCK: u32 = 4;
    pub const USE_AFTER_FREE: u32 = 5;
    pub const DOUBLE_FREE: u32 = 6;
    pub const CRASH: u32 = 7;
    pub const HANG: u32 = 8;
    pub const LOCK: u32 = 9;
    pub const EXIT: u32 = 10;
    pub const INVALID_FREE: u32 = 11;
    pub const LIVELOCK: u32 = 12;
}

/// The signal with which the command line asks a silent program to say where it is.
pub const HANG_SIGNAL: i32 = 63;

/// The functions of libc whose calls `porf cc` redirects to `__porf_` and the name: the runtime knows what
/// they access.
pub const REDIRECTED: &[&str] = &[
    "strlen",
    "strnlen",
    "strcpy",
    "stpcpy",
    "strncpy",
    "strcat",
    "strncat",
    "strcmp",
    "strncmp",
    "strcasecmp",
    "strncasecmp",
    "strchr",
    "strrchr",
    "strstr",
    "strspn",
    "strcspn",
    "strpbrk",
    "strdup",
    "strndup",
    "memcmp",
    "bcmp",
    "memchr",
    "memrchr",
    "memmem",
    "mempcpy",
    "bcopy",
    "bzero",
    "puts",
    "fputs",
    "fwrite",
    "fread",
    "fgets",
    "fopen",
    "fdopen",
    "stat",
    "fstat",
    "unlink",
    "access",
    "getcwd",
    "realpath",
    "qsort",
    "__xpg_strerror_r",
    "localtime_r",
    "gmtime_r",
    "mktime",
    "setenv",
    "getenv",
    "vsnprintf",
    "vsprintf",
    "snprintf",
    "sprintf",
];

/// The seed of the `index`-th execution: the first one's is the seed given, so `--seed` with the seed of
/// a finding runs that execution again.
pub fn execution_seed(seed: u64, index: u64) -> u64 {
    seed.wrapping_add(index)
}
