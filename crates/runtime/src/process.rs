//! The beginning and the end: initialisation before the program's own, exit, abort, signals, fork.

use crate::call::{self, caller};
use crate::fiber;
use crate::finding;
use crate::hooks;
use crate::interpose;
use crate::real;
use crate::repeat::{self, Mode};
use crate::shadow;
use crate::standalone;
use crate::sys::{self, Global};
use crate::world::{self, HOT, IDLE, is_running, world};
use porf_sample::protocol::{
    DEFAULT_WINDOW, DESCRIPTOR_VARIABLE, FindingKind, HANG_SIGNAL, MAGIC, Options, Shared,
};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::Ordering;

/// How an execution ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    Running,
    Exited(i32),
    Aborted,
    Deadlock,
    /// No thread changed anything for long.
    Livelock,
    /// The step limit.
    CutOff,
    /// More threads than lenders: to be run again with more.
    Starved,
    /// All that can come was seen in other executions.
    Repeats,
}

static SAMPLING: Global<bool> = Global::new(false);

/// Whether `porf sample` runs this process.
pub fn is_sampling() -> bool {
    // SAFETY: one kernel thread.
    unsafe { *SAMPLING.get() }
}

#[used]
#[unsafe(link_section = ".preinit_array")]
static INIT: extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) = init;

extern "C" fn init(_argc: c_int, _argv: *mut *mut c_char, environment: *mut *mut c_char) {
    if world::is_initialised() {
        return;
    }
    call::init();
    fiber::init();
    shadow::init();
    // SAFETY: the process environment; before any other code.
    unsafe {
        let shared = match take_descriptor(environment) {
            Some(descriptor) => {
                *SAMPLING.get() = true;
                attach(descriptor)
            }
            None => {
                standalone::read_options(environment);
                alone()
            }
        };
        world::init(shared);
        if is_sampling() {
            note_suppressions();
            // Both may be forbidden later.
            repeat::note_maps();
            world().null = repeat::nowhere();
            catch(HANG_SIGNAL);
        }
        on_exit(at_exit, std::ptr::null_mut());
    }
    if let Some(function) = hooks::on_initialize() {
        function();
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin_early;

/// After the program's own constructors: we are linked last.
extern "C" fn begin_early() {
    // SAFETY: initialised, if it is.
    if world::is_initialised() && unsafe { world() }.shared().options.early != 0 {
        crate::thread::begin();
    }
}

/// Tells `porf sample` what the program itself wants not to be told.
fn note_suppressions() {
    let text = standalone::default_suppressions() + "\n" + &standalone::default_off();
    // SAFETY: initialised.
    let shared = unsafe { world() }.shared_mut();
    let length = text.len().min(shared.suppressions.len());
    shared.suppressions[..length].copy_from_slice(&text.as_bytes()[..length]);
    shared.suppressions_length = length as u64;
}

/// For a program whose `.preinit_array` did not run (linked into a shared object).
pub fn init_late() {
    init(0, std::ptr::null_mut(), std::ptr::null_mut());
}

unsafe extern "C" {
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// Finds our variable and removes it: processes that the program starts are on their own.
unsafe fn take_descriptor(environment: *mut *mut c_char) -> Option<usize> {
    if environment.is_null() {
        return None;
    }
    let mut found = None;
    // SAFETY: a null-terminated array of strings.
    unsafe {
        let mut from = environment;
        let mut to = environment;
        while !(*from).is_null() {
            let entry = CStr::from_ptr(*from).to_bytes();
            let value =
                entry.strip_prefix(DESCRIPTOR_VARIABLE.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
            match value {
                Some(value) => found = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()),
                None => {
                    *to = *from;
                    to = to.add(1);
                }
            }
            from = from.add(1);
        }
        *to = std::ptr::null_mut();
    }
    found
}

unsafe fn attach(descriptor: usize) -> *mut Shared {
    let prot = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    // SAFETY: maps the descriptor that `porf sample` made for this purpose.
    let shared = unsafe {
        let length = size_of::<Shared>();
        let memory =
            sys::syscall(libc::SYS_mmap, [0, length, prot, libc::MAP_SHARED as usize, descriptor, 0]);
        sys::syscall(libc::SYS_close, [descriptor, 0, 0, 0, 0, 0]);
        memory
    };
    // SAFETY: just mapped.
    if shared < 0 || unsafe { (*(shared as *const Shared)).magic } != MAGIC {
        sys::fail("porf: the program was built by another version of porf\n");
    }
    let shared = shared as *mut Shared;
    // SAFETY: as above.
    unsafe { (*shared).progress.attached.store(1, Ordering::Release) };
    shared
}

/// Without `porf sample`: one execution, findings in short on standard error.
unsafe fn alone() -> *mut Shared {
    let shared = sys::map(size_of::<Shared>()).cast::<Shared>();
    let options = Options {
        executions: 1,
        seed: 0,
        scheduler: 0,
        pct_depth: 3,
        volatile: 0,
        c11: 0,
        isolation: 0,
        window: standalone::history().unwrap_or(DEFAULT_WINDOW),
        max_steps: u64::MAX,
        tick: 100,
        output: 2,
        stop_at_first: 0,
        trace: 0,
        minimise: 0,
        scripted: 0,
        early: 0,
        any_order: 0,
    };
    // SAFETY: just mapped.
    unsafe { (*shared).options = options };
    shared
}

extern "C" fn at_exit(status: c_int, _: *mut c_void) {
    // SAFETY: initialised, or this were not registered.
    let w = unsafe { world() };
    if w.forked_child {
        return;
    }
    // The last thing that the program did may have been a volatile access.
    crate::atomic::tracked();
    crate::annotate::check_ended();
    // SAFETY: as above.
    let w = unsafe { world() };
    if !is_running() {
        let progress = &w.shared().progress;
        progress.single_threaded.store(1, Ordering::Relaxed);
        progress.begun.store(1, Ordering::Relaxed);
        progress.ended.store(1, Ordering::Relaxed);
        if status != 0 {
            progress.failed.store(1, Ordering::Relaxed);
            progress.failed_status.store(status as u64, Ordering::Relaxed);
        }
        if !is_sampling() {
            end_alone(status);
        }
        return;
    }
    if w.systematic {
        // The others may do more before the end, or not.
        world::visible(world::Step::Other);
    }
    crate::thread::find_leaks();
    if w.mode == Mode::Standalone {
        // SAFETY: one kernel thread.
        unsafe { (*HOT.get()).state = IDLE };
        return end_alone(status);
    }
    if w.shared().options.output != 0 {
        // SAFETY: flushes the program's streams, as the end of the process would.
        unsafe { libc::fflush(std::ptr::null_mut()) };
    }
    finish(Outcome::Exited(status));
}

/// Tells what was found; ends the process if that changes its status.
fn end_alone(status: c_int) {
    let changed = standalone::end(status);
    if changed != status {
        // SAFETY: what exit would still do is to write out the streams.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        sys::exit_now(changed);
    }
}

/// Ends the execution.
pub fn finish(outcome: Outcome) -> ! {
    // SAFETY: running.
    let w = unsafe { world() };
    if w.forked_child {
        sys::exit_now(if let Outcome::Exited(status) = outcome { status } else { 134 });
    }
    if let Outcome::Exited(status) = outcome
        && status != 0
    {
        finding::event(w, FindingKind::Exit, 0, &format!("the program exits with status {status}"));
    }
    w.outcome = outcome;
    match w.mode {
        Mode::InProcess => world::switch_to_controller(),
        Mode::Fork | Mode::Restart => repeat::end_of_child(),
        Mode::Standalone => {
            sys::exit_now(standalone::end(if let Outcome::Exited(status) = outcome { status } else { 0 }))
        }
    }
}

// ---- ways to end ----

unsafe extern "C" fn assert_fail(
    expression: *const c_char,
    file: *const c_char,
    line: u32,
    function: *const c_char,
) -> ! {
    // SAFETY: string literals of the program.
    unsafe {
        let text = |pointer: *const c_char| {
            if pointer.is_null() { "?".into() } else { CStr::from_ptr(pointer).to_string_lossy() }
        };
        let message =
            format!("{}:{line}: {}: assertion `{}` failed", text(file), text(function), text(expression));
        if is_running() && w_samples() {
            finding::event(world(), FindingKind::Assertion, caller(), &message);
            finish(Outcome::Aborted);
        }
        sys::write_error(&message);
        sys::write_error("\n");
        real!(abort());
    }
    sys::exit_now(134)
}

fn w_samples() -> bool {
    // SAFETY: running.
    unsafe { world() }.mode != Mode::Standalone
}

unsafe extern "C" fn abort_inner() -> ! {
    if is_running() && w_samples() {
        // SAFETY: running.
        finding::event(unsafe { world() }, FindingKind::Abort, caller(), "abort");
        finish(Outcome::Aborted);
    }
    // SAFETY: the program's own call, passed on with its arguments.
    unsafe { real!(abort()) };
    sys::exit_now(134)
}

unsafe extern "C" fn exit_inner(status: c_int) -> ! {
    if world::is_initialised() && is_running() {
        // SAFETY: running.
        if unsafe { world() }.systematic {
            world::visible(world::Step::Other);
        }
        finish(Outcome::Exited(status));
    }
    sys::exit_now(status)
}

interpose! { __assert_fail => assert_fail; abort => abort_inner; _exit => exit_inner; _Exit => exit_inner; }

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fork() -> i32 {
    will_fork();
    // SAFETY: the program's own fork.
    let child = unsafe { real!(fork() -> i32) };
    has_forked(child);
    child
}

/// The program is about to have a child: that is somebody to wait for.
pub fn will_fork() {
    crate::ask::expect_peers();
    if let Some(function) = hooks::on_fork() {
        function();
    }
}

/// This process is the child (0) or has it.
pub fn has_forked(child: i32) {
    if child == 0 { become_child() } else { note_child(child) }
}

/// A child that shares the memory until it executes another program would run the scheduler of its parent: it gets a
/// copy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vfork() -> i32 {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { fork() }
}

/// This process is a copy of the sampled one with the calling thread alone. What it finds is counted nowhere.
fn become_child() {
    if !world::is_initialised() {
        return;
    }
    // SAFETY: initialised; one kernel thread.
    unsafe {
        let w = world();
        w.separate(alone());
        if std::mem::take(&mut *SAMPLING.get()) {
            end_with_parent();
        }
        if !is_running() {
            return;
        }
        w.forked_child = true;
        let current = w.current;
        w.runnable.clear();
        w.runnable.push(current);
        for index in 0..w.fiber_count {
            if index != current.as_usize() {
                w.fibers[index].state = world::State::Finished;
            }
        }
    }
}

fn note_child(child: i32) {
    if child > 0 && is_sampling() && is_running() {
        // SAFETY: running.
        unsafe { world() }.children.push(child);
    }
}

type Main = extern "C" fn(usize) -> i32;

/// What a cloned process is to do; in the memory that is copied for it.
static CLONED: Global<Option<(Main, usize)>> = Global::new(None);

extern "C" fn run_cloned(_: usize) -> i32 {
    become_child();
    // SAFETY: set by the parent right before; one kernel thread.
    unsafe { (*CLONED.get()).take() }.map_or(0, |(main, argument)| main(argument))
}

/// A process with memory of its own, as by `fork`. One that shares the memory is passed on.
unsafe extern "C" fn clone_inner(
    main: Main,
    stack: usize,
    flags: i32,
    argument: usize,
    parent: usize,
    storage: usize,
    child: usize,
) -> i32 {
    let copies = flags & libc::CLONE_VM == 0;
    // SAFETY: the program's own call, with another function first; one kernel thread.
    unsafe {
        let mut first = main;
        if copies {
            crate::ask::expect_peers();
            *CLONED.get() = Some((main, argument));
            first = run_cloned;
        }
        let process = real!(clone(m: Main = first, s: usize = stack, f: i32 = flags, a: usize = argument,
            p: usize = parent, t: usize = storage, c: usize = child) -> i32);
        if copies {
            note_child(process);
        }
        process
    }
}

interpose! { clone => clone_inner; }

/// Whatever ends the parent ends this process.
pub fn end_with_parent() {
    // SAFETY: sets an attribute of this process.
    unsafe {
        let (option, signal) = (libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize);
        sys::syscall(libc::SYS_prctl, [option, signal, 0, 0, 0, 0]);
    }
}

/// The execution is over, and so are the processes that it forked.
pub fn end_children() {
    // SAFETY: between executions.
    for child in std::mem::take(&mut unsafe { world() }.children) {
        let (which, child) = (libc::P_PID as usize, child as usize);
        let look = (libc::WEXITED | libc::WNOHANG | libc::WNOWAIT) as usize;
        // SAFETY: a number that is still that of a child: it was not waited for.
        unsafe {
            if sys::syscall(libc::SYS_waitid, [which, child, 0, look, 0, 0]) == 0 {
                sys::syscall(libc::SYS_kill, [child, libc::SIGKILL as usize, 0, 0, 0, 0]);
                sys::syscall(libc::SYS_waitid, [which, child, 0, libc::WEXITED as usize, 0, 0]);
            }
        }
    }
}

// ---- crashes and hangs ----

const CRASHES: [i32; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGTRAP];

/// Catches crashes that the program does not catch itself.
pub fn install_handlers() {
    const ALTERNATE: usize = 1 << 16;
    // SAFETY: handlers with a stack of their own.
    unsafe {
        let stack = libc::stack_t { ss_sp: sys::map(ALTERNATE).cast(), ss_flags: 0, ss_size: ALTERNATE };
        libc::sigaltstack(&stack, std::ptr::null_mut());
        for signal in CRASHES {
            let mut old: libc::sigaction = std::mem::zeroed();
            let none: *const libc::sigaction = std::ptr::null();
            real!(sigaction(s: i32 = signal, n: *const libc::sigaction = none, o: *mut libc::sigaction = &mut old) -> i32);
            if old.sa_sigaction == libc::SIG_DFL {
                catch(signal);
            }
        }
    }
}

fn catch(signal: c_int) {
    // SAFETY: a handler of ours.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        let none: *mut libc::sigaction = std::ptr::null_mut();
        real!(sigaction(s: i32 = signal, n: *const libc::sigaction = &action, o: *mut libc::sigaction = none) -> i32);
    }
}

extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's arguments.
    unsafe {
        let machine = &(*context.cast::<libc::ucontext_t>()).uc_mcontext;
        let pc = machine.gregs[libc::REG_RIP as usize] as usize;
        if !is_running() && signal == HANG_SIGNAL {
            hang_before_threads(pc);
        }
        if !is_running() {
            real!(signal(s: i32 = signal, h: usize = libc::SIG_DFL) -> usize);
            real!(raise(s: i32 = signal) -> i32);
            return;
        }
        let w = world();
        let (what, message) = if signal == HANG_SIGNAL {
            (FindingKind::Hang, String::from("no progress: the program hangs here"))
        } else {
            let address = if matches!(signal, libc::SIGSEGV | libc::SIGBUS) {
                format!(" at address {:#x}", (*info).si_addr() as usize)
            } else {
                String::new()
            };
            (FindingKind::Crash, format!("{}{address}", name(signal)))
        };
        // Return addresses point behind the call; this one at the instruction.
        finding::event(w, what, pc + 1, &message);
    }
    finish(Outcome::Aborted);
}

/// The program waits, and nobody can end that: there is one thread.
unsafe fn hang_before_threads(pc: usize) -> ! {
    // SAFETY: initialised; the thread waits in the kernel.
    unsafe {
        let w = world();
        w.has_first_fiber();
        w.seed = w.shared().options.seed;
        finding::event(w, FindingKind::Hang, pc + 1, "the program waits here before it creates a thread");
        let progress = &w.shared().progress;
        progress.begun.fetch_add(1, Ordering::Relaxed);
        progress.ended.fetch_add(1, Ordering::Release);
        progress.done.store(1, Ordering::Release);
    }
    sys::exit_now(0)
}

fn name(signal: c_int) -> &'static str {
    match signal {
        libc::SIGSEGV => "segmentation fault",
        libc::SIGBUS => "bus error",
        libc::SIGFPE => "arithmetic exception",
        libc::SIGILL => "illegal instruction",
        libc::SIGABRT => "aborted",
        libc::SIGTRAP => "trap",
        _ => "signal",
    }
}
