//! The memory that `porf sample` shares with the program it runs.
//!
//! One fixed layout, mapped by both sides: the command line fills in the options, the runtime counts
//! executions and records findings. Findings live here, outside of what is rolled back between
//! executions, and survive the death of the program. Integers and byte arrays only; all zeros is valid.

use crate::minimise::Minimiser;
use crate::scheduler::learn::Learnt;
use crate::scheduler::script::{Decision, Distance};
use crate::scheduler::systematic::{Choice, LONGEST};
use porf_event::ThreadId;
use porf_verdict::ViolationKind;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// The environment variable that holds the number of the inherited file descriptor.
pub const DESCRIPTOR_VARIABLE: &str = "PORF_SAMPLE_FD";
/// The first word. Its low half changes with the layout.
pub const MAGIC: u64 = 0x706f_7266_0000_0009;
/// Room for findings; more are counted and dropped.
pub const MAX_FINDINGS: usize = 256;
/// Room for the frames of a stack.
pub const MAX_FRAMES: usize = 32;
/// Room for the stacks of a finding.
pub const MAX_STACKS: usize = 8;
/// Room for the decisions of a finding.
pub const MAX_DECISIONS: usize = 256;
/// Room for hashes of reads-from relations; beyond three quarters of it the count is a lower bound.
pub const HASH_SLOTS: usize = 1 << 20;

/// Room for the events of a trace: the newest stay.
pub const TRACED: usize = 1 << 15;
/// Room for the frames of an event in a trace.
pub const TRACED_FRAMES: usize = 8;

/// All of the shared memory.
#[repr(C)]
pub struct Shared {
    /// [`MAGIC`], written by the command line.
    pub magic: u64,
    /// Written by the command line before the program starts.
    pub options: Options,
    /// Written by the runtime.
    pub progress: Progress,
    /// Written by the runtime; [`Progress::finding_count`] of them are valid.
    pub findings: [Finding; MAX_FINDINGS],
    /// The text of /proc/self/maps when the first thread was created.
    pub maps_length: u64,
    /// As many bytes of it as `maps_length` says.
    pub maps: [u8; 1 << 18],
    /// Suppressions that are part of the program.
    pub suppressions_length: u64,
    /// As many bytes of them as `suppressions_length` says.
    pub suppressions: [u8; 1 << 14],
    /// A hash table: the reads-from relations that were seen.
    pub hashes: [u64; HASH_SLOTS],
    /// Which ways of drawing executions are worth it.
    pub learnt: Learnt,
    /// The choices of the last systematic execution, or of the next.
    pub path: [Choice; LONGEST],
    /// So many of them.
    pub path_length: u32,
    /// 1: they are those of the last one.
    pub path_is_done: u32,
    /// What a finding needs.
    pub minimiser: Minimiser,
    /// How many events of the execution were traced; see [`Options::trace`].
    pub traced: u64,
    /// Event number `n` is at `n % TRACED`.
    pub trace: [Traced; TRACED],
}

/// What the runtime is to do.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many to run.
    pub executions: u64,
    /// The seed of the first one.
    pub seed: u64,
    /// A [`Share`](crate::scheduler::Share): who chooses threads and stores.
    pub scheduler: u32,
    /// How many changes of priority PCT makes, plus one.
    pub pct_depth: u32,
    /// Volatile accesses: 0 relaxed, 1 acquire and release, 2 plain.
    pub volatile: u32,
    /// Release sequences: 0 those of C++20, 1 those of C11.
    pub c11: u32,
    /// An [`Isolation`].
    pub isolation: u32,
    /// Stores kept per location; 0 is no limit.
    pub window: u64,
    /// Visible events per execution before it is cut off.
    pub max_steps: u64,
    /// Virtual time of a visible event, in nanoseconds.
    pub tick: u64,
    /// What happens to the program's output: 0 dropped, 1 shown in the first execution, 2 always shown.
    pub output: u32,
    /// 1: no execution is begun after one with a finding.
    pub stop_at_first: u32,
    /// 1: the events of the last execution are kept in [`Shared::trace`].
    pub trace: u32,
    /// So many runs may be made to minimise a finding.
    pub minimise: u32,
    /// 1: the execution follows the best list of [`Shared::minimiser`].
    pub scripted: u32,
    /// 1: the execution begins before `main`, not with the first thread.
    pub early: u32,
    /// 1: one thread that takes locks in different orders is reported too.
    pub any_order: u32,
}

/// How far the runtime is.
#[repr(C)]
pub struct Progress {
    /// Executions begun and ended.
    pub begun: AtomicU64,
    /// Executions that have ended.
    pub ended: AtomicU64,
    /// Executions that differ by reads-from.
    pub distinct: AtomicU64,
    /// Reads-from relations that exactly one execution had.
    pub once: AtomicU64,
    /// Visible events, over all executions.
    pub events: AtomicU64,
    /// Executions with at least one finding.
    pub violating: AtomicU64,
    /// The number of the last execution with a finding, from 1.
    pub last_violating: AtomicU64,
    /// Executions that ended by the step limit.
    pub cut_off: AtomicU64,
    /// Executions that ended with a status other than 0, and the last such status.
    pub failed: AtomicU64,
    /// The last status other than 0.
    pub failed_status: AtomicU64,
    /// The seed of the execution that runs now, or ran last.
    pub seed: AtomicU64,
    /// Grows while an execution makes steps.
    pub heartbeat: AtomicU64,
    /// The process that runs the execution.
    pub process: AtomicU32,
    /// The [`Isolation`] that was used.
    pub isolation: AtomicU32,
    /// Written by the command line: no further execution is to be begun.
    pub stop: AtomicU32,
    /// No execution is left to run; only told where the program is restarted for each.
    pub done: AtomicU32,
    /// The most threads of one execution.
    pub max_threads: AtomicU32,
    /// How many findings are valid; grows after the finding was written.
    pub finding_count: AtomicU32,
    /// The program ended before it created a thread.
    pub single_threaded: AtomicU32,
    /// What is copied back between executions.
    pub snapshot_bytes: AtomicU64,
    /// The most stores that an execution kept at its end.
    pub peak_stores: AtomicU64,
    /// The program has found this memory.
    pub attached: AtomicU32,
    /// Findings beyond the table.
    pub dropped: AtomicU32,
    /// Steps and loads of the execution by which the PCT scheduler was set; 0 before it.
    pub pct_steps: AtomicU64,
    /// Loads of that execution.
    pub pct_loads: AtomicU64,
    /// Systematic executions that were given up, because they repeat others.
    pub repeats: AtomicU64,
    /// There is no further systematic execution.
    pub exhausted: AtomicU32,
    /// Some were left out because threads read the same stores too often.
    pub bounded: AtomicU32,
    /// Some were left out for another reason.
    pub incomplete: AtomicU32,
}

/// One bug, however often it was seen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Finding {
    /// A [`FindingKind`].
    pub kind: u32,
    /// How many of the stacks are valid.
    pub stack_count: u32,
    /// A hash of what makes it this finding and no other.
    pub key: u64,
    /// Executions in which it occurred.
    pub count: u64,
    /// The seed of the first execution that showed it.
    pub first_seed: u64,
    /// The number of the last one, from 1.
    pub last_execution: u64,
    /// The memory that it is about; 0 if none.
    pub address: u64,
    /// Bytes from that address on.
    pub size: u32,
    /// 1 when both stacks of a race are complete.
    pub complete: u32,
    /// How many events were traced before it.
    pub traced: u64,
    /// A [`Minimised`].
    pub minimised: u32,
    /// Runs that this took.
    pub runs: u32,
    /// Of the execution that found it.
    pub found_by: Distance,
    /// Of the plainest one that shows it.
    pub least: Distance,
    /// How many of the decisions are valid.
    pub decision_count: u32,
    /// The plainest execution that shows it.
    pub decisions: [Decision; MAX_DECISIONS],
    /// For people; ends with a zero.
    pub message: [u8; 256],
    /// What each thread did; of a race, the later access first.
    pub stacks: [Stack; MAX_STACKS],
}

/// How far a finding was minimised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Minimised {
    /// Not yet.
    No,
    /// No single decision can be left out.
    Minimal,
    /// The runs or the time were used up.
    Partly,
    /// It is not known how to show it again, or that would take too long.
    Not,
}

/// The calls of one thread.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Stack {
    /// Whose calls they are.
    pub thread: ThreadId,
    /// [`crate::race::Kind`] as a number for accesses, else [`NO_ACCESS`].
    pub access: u32,
    /// How many frames are valid.
    pub length: u32,
    /// The thread's clock at the earlier access of a race.
    pub clock: u32,
    /// Innermost first.
    pub frames: [u64; MAX_FRAMES],
}

/// One event of a trace.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Traced {
    /// Who does it.
    pub thread: ThreadId,
    /// The thread whose store it reads; with `from_clock`.
    pub from_thread: ThreadId,
    /// A [`Did`].
    pub did: u32,
    /// An [`Order`](crate::Order) as a number, for atomic accesses and fences.
    pub order: u32,
    /// Bytes from the address on.
    pub size: u32,
    /// The thread's clock.
    pub clock: u32,
    /// The clock of the store that it reads; 0 if that is not known.
    pub from_clock: u32,
    /// The memory that is accessed, or the thread that is started or joined.
    pub address: u64,
    /// The value read, where there is one.
    pub read: u64,
    /// The value written, where it is known.
    pub written: u64,
    /// How many frames are valid.
    pub depth: u64,
    /// Innermost first.
    pub frames: [u64; TRACED_FRAMES],
}

/// What an event of a trace is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Did {
    /// A plain read.
    Read,
    /// A plain write, whose value is not known.
    Write,
    /// An atomic load.
    Load,
    /// An atomic store.
    Store,
    /// An atomic read-modify-write.
    Update,
    /// A fence.
    Fence,
    /// A lock is taken, or something else that was waited for.
    Acquire,
    /// A lock is given back, or something else is told to others.
    Release,
    /// A thread is started.
    Start,
    /// A thread ends.
    End,
    /// The end of a thread was waited for.
    Join,
    /// Memory is freed.
    Free,
}

impl Did {
    /// The one with this number in the shared memory.
    pub fn from_number(number: u32) -> Did {
        const ALL: [Did; 12] = [
            Did::Read,
            Did::Write,
            Did::Load,
            Did::Store,
            Did::Update,
            Did::Fence,
            Did::Acquire,
            Did::Release,
            Did::Start,
            Did::End,
            Did::Join,
            Did::Free,
        ];
        ALL[(number as usize).min(ALL.len() - 1)]
    }
}

/// How executions are kept apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Isolation {
    /// The cheapest that fits the program; as what was used: none yet.
    Automatic,
    /// Memory is copied back.
    InProcess,
    /// A child of the program each.
    Fork,
    /// The program is started anew for each.
    Restart,
}

impl Isolation {
    /// The one with this number in the shared memory.
    pub fn from_number(number: u32) -> Isolation {
        [Isolation::InProcess, Isolation::Fork, Isolation::Restart]
            .into_iter()
            .find(|isolation| *isolation as u32 == number)
            .unwrap_or(Isolation::Automatic)
    }

    /// The word used in text and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Isolation::Automatic => "none",
            Isolation::InProcess => "in-process",
            Isolation::Fork => "fork",
            Isolation::Restart => "restart",
        }
    }
}

/// The stack is that of the allocation of the memory; its `clock` is the number of bytes.
pub const ALLOCATION: u32 = 0xfe;

/// The stack is not that of an access.
pub const NO_ACCESS: u32 = 0xff;

/// What the sampler can find. Zero is none, so that fresh memory holds no finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum FindingKind {
    /// Two conflicting accesses are not ordered.
    Race = 1,
    /// `assert` fails.
    Assertion,
    /// The program calls `abort`, or an exception is not caught.
    Abort,
    /// Every thread waits for another.
    Deadlock,
    /// An access to memory that was freed.
    UseAfterFree,
    /// Memory is freed twice.
    DoubleFree,
    /// A signal that ends the program.
    Crash,
    /// No step for a long time.
    Hang,
    /// Misuse of a lock.
    Lock,
    /// The program ends with a status other than 0.
    Exit,
    /// Something is freed that was not allocated.
    InvalidFree,
    /// Threads run, but none stores anything.
    Livelock,
    /// Locks are taken in orders that may deadlock.
    Order,
    /// A thread that has ended and that nobody joins or detaches.
    Leak,
    /// A signal handler does what it must not.
    Signal,
    /// A thread ends while its accesses are still left out by an annotation.
    Annotation,
}

impl FindingKind {
    const ALL: [FindingKind; 16] = [
        FindingKind::Race,
        FindingKind::Assertion,
        FindingKind::Abort,
        FindingKind::Deadlock,
        FindingKind::UseAfterFree,
        FindingKind::DoubleFree,
        FindingKind::Crash,
        FindingKind::Hang,
        FindingKind::Lock,
        FindingKind::Exit,
        FindingKind::InvalidFree,
        FindingKind::Livelock,
        FindingKind::Order,
        FindingKind::Leak,
        FindingKind::Signal,
        FindingKind::Annotation,
    ];

    /// The one with this number in the shared memory.
    pub fn from_number(number: u32) -> Option<FindingKind> {
        FindingKind::ALL.into_iter().find(|kind| *kind as u32 == number)
    }

    /// The sort of violation that all engines call it.
    pub fn violation(self) -> ViolationKind {
        match self {
            FindingKind::Race => ViolationKind::Race,
            FindingKind::Assertion | FindingKind::Exit => ViolationKind::Assertion,
            FindingKind::Abort => ViolationKind::Panic,
            FindingKind::Deadlock | FindingKind::Order => ViolationKind::Deadlock,
            FindingKind::UseAfterFree | FindingKind::DoubleFree | FindingKind::InvalidFree => {
                ViolationKind::Memory
            }
            FindingKind::Crash => ViolationKind::Trap,
            FindingKind::Hang | FindingKind::Livelock => ViolationKind::Liveness,
            FindingKind::Lock => ViolationKind::Lock,
            FindingKind::Leak => ViolationKind::Leak,
            // It changes what the interrupted code relies on.
            FindingKind::Signal => ViolationKind::Memory,
            // Races are missed.
            FindingKind::Annotation => ViolationKind::Race,
        }
    }

    /// In words for people.
    pub fn title(self) -> &'static str {
        match self {
            FindingKind::Race => "data race",
            FindingKind::Assertion => "assertion failure",
            FindingKind::Abort => "abort",
            FindingKind::Deadlock => "deadlock",
            FindingKind::UseAfterFree => "use after free",
            FindingKind::DoubleFree => "double free",
            FindingKind::Crash => "crash",
            FindingKind::Hang => "hang",
            FindingKind::Lock => "misuse of a lock",
            FindingKind::Exit => "failure",
            FindingKind::InvalidFree => "invalid free",
            FindingKind::Livelock => "livelock",
            FindingKind::Order => "lock-order inversion",
            FindingKind::Leak => "leaked thread",
            FindingKind::Signal => "misuse of a signal",
            FindingKind::Annotation => "misuse of an annotation",
        }
    }
}

/// Descriptors have places in memory that no program has, eight bytes each from here: to use a descriptor is to read
/// its place, to open or close one is to write it.
pub const DESCRIPTOR_PLACES: u64 = 0x5f00_0000_0000;

/// The descriptor that has this place.
pub fn descriptor_at(address: u64) -> Option<u64> {
    let number = address.checked_sub(DESCRIPTOR_PLACES)? / 8;
    (number < 1 << 20).then_some(number)
}

/// So many stores are kept per location unless the user says otherwise, also by a program that runs by itself.
pub const DEFAULT_WINDOW: u64 = 64;

/// The signal with which the command line asks a silent program to say where it is.
pub const HANG_SIGNAL: i32 = 63;

/// The functions of libc whose calls `porf cc` redirects to `__porf_` and the name: the runtime knows what
/// they access.
pub const REDIRECTED: &[&str] = &[
    "strlen",
    "strnlen",
    "strcpy",
    "__strcpy_chk",
    "stpcpy",
    "__stpcpy_chk",
    "strncpy",
    "__strncpy_chk",
    "stpncpy",
    "strcat",
    "__strcat_chk",
    "strncat",
    "__strncat_chk",
    "strcmp",
    "strncmp",
    "strcasecmp",
    "strncasecmp",
    "strcoll",
    "strchr",
    "strchrnul",
    "strrchr",
    "strstr",
    "strcasestr",
    "strspn",
    "strcspn",
    "strpbrk",
    "strtok_r",
    "strdup",
    "strndup",
    "atoi",
    "atol",
    "atoll",
    "strtol",
    "strtoul",
    "strtoll",
    "strtoull",
    "strtoimax",
    "strtoumax",
    "__memcpy_chk",
    "__memmove_chk",
    "__memset_chk",
    "memcmp",
    "bcmp",
    "memchr",
    "memrchr",
    "memmem",
    "mempcpy",
    "__mempcpy_chk",
    "memccpy",
    "bcopy",
    "bzero",
    "explicit_bzero",
    "qsort",
    "qsort_r",
    "rand_r",
    "getrandom",
    "getentropy",
    "puts",
    "fputs",
    "perror",
    "fwrite",
    "fwrite_unlocked",
    "fread",
    "fread_unlocked",
    "__fread_chk",
    "fgets",
    "__fgets_chk",
    "fgetc",
    "getc",
    "getline",
    "getdelim",
    "__getdelim",
    "fopen",
    "fdopen",
    "opendir",
    "stat",
    "lstat",
    "fstat",
    "unlink",
    "remove",
    "rename",
    "mkdir",
    "rmdir",
    "chdir",
    "access",
    "readlink",
    "__readlink_chk",
    "getcwd",
    "__getcwd_chk",
    "realpath",
    "__realpath_chk",
    "pipe",
    "pipe2",
    "socketpair",
    "__xpg_strerror_r",
    "strerror_r",
    "gethostname",
    "uname",
    "getrusage",
    "getrlimit",
    "times",
    "setenv",
    "unsetenv",
    "getenv",
    "inet_pton",
    "inet_ntop",
    "getaddrinfo",
    "localtime",
    "gmtime",
    "ctime",
    "localtime_r",
    "gmtime_r",
    "mktime",
    "timegm",
    "strftime",
    "asctime_r",
    "ctime_r",
    "vprintf",
    "vfprintf",
    "vdprintf",
    "vasprintf",
    "vsnprintf",
    "vsprintf",
    "__vprintf_chk",
    "__vfprintf_chk",
    "__vdprintf_chk",
    "__vasprintf_chk",
    "__vsnprintf_chk",
    "__vsprintf_chk",
    "vsscanf",
    "vfscanf",
    "vscanf",
    "__isoc99_vsscanf",
    "__isoc99_vfscanf",
    "__isoc99_vscanf",
    "printf",
    "fprintf",
    "dprintf",
    "asprintf",
    "snprintf",
    "sprintf",
    "__printf_chk",
    "__fprintf_chk",
    "__dprintf_chk",
    "__asprintf_chk",
    "__snprintf_chk",
    "__sprintf_chk",
    "sscanf",
    "fscanf",
    "scanf",
    "__isoc99_sscanf",
    "__isoc99_fscanf",
    "__isoc99_scanf",
];

/// The seed of the `index`-th execution: the first one's is the seed given, so `--seed` with the seed of
/// a finding runs that execution again.
pub fn execution_seed(seed: u64, index: u64) -> u64 {
    seed.wrapping_add(index)
}
