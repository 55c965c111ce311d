//! What the program calls and does not define: C's library, threads, the verifier's own functions.
//!
//! [`call`] writes the instructions of a call; larger functions are routines in our IR, made once per
//! program. [`treatment`] tells the escape analysis what becomes of a pointer argument.

pub mod asm;
mod condition;
mod cpp;
pub mod ending;
mod heap;
mod kernel;
pub mod memory;
mod stream;
mod thread;

use crate::module::Value;
use crate::translate::Body;
use crate::translate::types::Unsupported;
use porf_event::{BlockReason, FenceMode, ReadMode, WriteMode};
use porf_ir::{AllocKind, CmpOp, FaultKind, FunctionId, Instr, MathOp, Operand, Precision, Width};

/// What a function does with a pointer argument.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// Reads and writes what it points to, and forgets it.
    Uses,
    /// As `Uses`, and its result may be the pointer.
    Returns,
    /// Other threads may get it.
    Keeps,
}

/// What becomes of argument `index` of function `name`.
pub fn treatment(name: &str, index: usize) -> Treatment {
    match name {
        "pthread_create" | "thrd_create" => match index {
            0 | 1 => Treatment::Uses,
            _ => Treatment::Keeps,
        },
        "pthread_join" | "thrd_join" | "pthread_detach" | "pthread_equal" | "thrd_equal" => Treatment::Uses,
        "memcpy" | "memmove" | "memset" | "strcpy" | "strncpy" | "strcat" | "strchr" | "mempcpy"
        | "strncat" | "__memcpy_chk" | "__memset_chk" => Treatment::Returns,
        "strlen" | "strcmp" | "strncmp" | "memcmp" | "printf" | "fprintf" | "sprintf" | "snprintf"
        | "vprintf" | "vfprintf" | "vsnprintf" | "vsprintf" | "puts" | "fputs" | "perror" | "fwrite"
        | "posix_memalign" | "clock_gettime" | "nanosleep" | "time" | "gettimeofday" | "atoi" | "atol"
        | "pthread_key_create" | "tss_create" | "__assert_fail" => Treatment::Uses,
        _ if name.starts_with("llvm.") => match name.split('.').nth(1).unwrap_or("") {
            "memcpy" | "memmove" | "memset" | "lifetime" | "dbg" | "va_start" | "va_end" | "va_copy"
            | "assume" | "objectsize" | "invariant" | "prefetch" | "is" => Treatment::Uses,
            "launder" | "strip" | "expect" | "threadlocal" | "ptr" => Treatment::Returns,
            _ => Treatment::Keeps,
        },
        _ if name.starts_with("pthread_attr_") || name.contains("attr_") => Treatment::Uses,
        _ => Treatment::Keeps,
    }
}

/// Whether a function is taken from here: it has no body, or one that we do not want.
pub fn provides(function: Value<'_>) -> bool {
    function.is_declaration() || stream::is_known(function.name())
}

/// Writes a call of a library function; its result, word by word.
pub fn call(body: &mut Body<'_, '_>, name: &str, args: &[Operand]) -> Result<Vec<Operand>, Unsupported> {
    let arg = |index: usize| args.get(index).copied().unwrap_or(Operand::Const(0));
    let zero = || Ok(vec![Operand::Const(0)]);
    match name {
        // Memory.
        "malloc" | "_Znwm" | "_Znam" | "_ZnwmRKSt9nothrow_t" | "_ZnamRKSt9nothrow_t" => {
            heap::allocate(body, arg(0), Operand::Const(1), AllocKind::Heap)
        }
        "valloc" => heap::allocate(body, arg(0), Operand::Const(4096), AllocKind::Heap),
        "calloc" => {
            let size = body.bin(porf_ir::BinOp::Mul, Width::W64, arg(0), arg(1));
            heap::allocate(body, size, Operand::Const(1), AllocKind::Zeroed)
        }
        "realloc" => routine(body, heap::realloc, args),
        "reallocarray" => {
            let size = body.bin(porf_ir::BinOp::Mul, Width::W64, arg(1), arg(2));
            routine(body, heap::realloc, &[arg(0), size])
        }
        "aligned_alloc" | "memalign" => heap::allocate(body, arg(1), arg(0), AllocKind::Heap),
        "_ZnwmSt11align_val_t" | "_ZnamSt11align_val_t" => {
            heap::allocate(body, arg(0), arg(1), AllocKind::Heap)
        }
        "posix_memalign" => {
            let address = heap::allocate(body, arg(2), arg(1), AllocKind::Heap)?[0];
            body.b.push(Instr::Store { address: arg(0), value: address, size: 8, mode: WriteMode::Plain });
            zero()
        }
        "strdup" | "__strdup" => routine(body, heap::strdup, args),
        "free"
        | "_ZdlPv"
        | "_ZdaPv"
        | "_ZdlPvm"
        | "_ZdaPvm"
        | "_ZdlPvSt11align_val_t"
        | "_ZdlPvmSt11align_val_t"
        | "_ZdaPvSt11align_val_t"
        | "_ZdaPvmSt11align_val_t"
        | "__VERIFIER_hp_free" => {
            body.b.push(Instr::Free { address: arg(0), kind: AllocKind::Heap });
            zero()
        }
        "memcpy" | "memmove" | "__memcpy_chk" => {
            body.copy(arg(0), arg(1), arg(2), &[], 8)?;
            Ok(vec![arg(0)])
        }
        "memset" | "__memset_chk" => {
            body.fill(arg(0), arg(1), arg(2), &[], 8)?;
            Ok(vec![arg(0)])
        }
        "strlen" => routine(body, memory::strlen, args),
        "strcmp" => {
            let function = memory::compare(body.tr, true);
            invoke(body, function, &[arg(0), arg(1), Operand::Const(u64::MAX)])
        }
        "strncmp" => {
            let function = memory::compare(body.tr, true);
            invoke(body, function, args)
        }
        "memcmp" | "bcmp" => {
            let function = memory::compare(body.tr, false);
            invoke(body, function, args)
        }
        "strcpy" => {
            let function = memory::strcpy(body.tr);
            invoke(body, function, &[arg(0), arg(1), Operand::Const(u64::MAX)])
        }
        "strcat" => {
            let length = routine(body, memory::strlen, &[arg(0)])?[0];
            let end = body.bin(porf_ir::BinOp::Add, Width::W64, arg(0), length);
            let function = memory::strcpy(body.tr);
            invoke(body, function, &[end, arg(1), Operand::Const(u64::MAX)])?;
            Ok(vec![arg(0)])
        }
        "strchr" => routine(body, memory::strchr, args),

        // Output: silent unless the interpreter is asked to show it.
        "printf" => print(body, arg(0), arg(1)),
        "fprintf" => print(body, arg(1), arg(2)),
        "vprintf" => {
            let area = variable_arguments(body, arg(1));
            print(body, arg(0), area)
        }
        "vfprintf" => {
            let area = variable_arguments(body, arg(2));
            print(body, arg(1), area)
        }
        "puts" | "fputs" | "perror" => {
            let format = body.tr.literal(if name == "fputs" { "%s" } else { "%s\n" });
            print_word(body, format, arg(0))
        }
        "putchar" | "putc" | "fputc" => {
            let format = body.tr.literal("%c");
            print_word(body, format, arg(0))
        }
        "snprintf" => format(body, arg(0), arg(1), arg(2), arg(3)),
        "sprintf" => format(body, arg(0), Operand::Const(u64::MAX), arg(1), arg(2)),
        "vsnprintf" => {
            let area = variable_arguments(body, arg(3));
            format(body, arg(0), arg(1), arg(2), area)
        }
        "fflush" | "setbuf" | "setvbuf" | "fclose" => zero(),

        // Ending.
        "__assert_fail" => {
            let text = body.tr.text_at(arg(0)).unwrap_or_else(|| "assertion".to_string());
            body.fail(FaultKind::Assertion, &format!("assertion `{text}` fails"));
            zero()
        }
        "abort" => {
            body.fail(FaultKind::Abort, "the program aborts");
            zero()
        }
        "exit" => routine(body, |tr| ending::exit(tr, true), &[]),
        "_exit" | "_Exit" | "quick_exit" => routine(body, |tr| ending::exit(tr, false), &[]),
        "atexit" => routine(body, ending::at_exit, &[arg(0), Operand::Const(0), Operand::Const(0)]),

        // Time stands still.
        "sched_yield" | "usleep" | "sleep" | "nanosleep" | "pthread_yield" | "thrd_yield" | "thrd_sleep"
        | "srand" | "signal" | "alarm" => zero(),
        "time" | "clock" => zero(),
        "clock_gettime" | "gettimeofday" => {
            let place = if name == "gettimeofday" { arg(0) } else { arg(1) };
            for offset in [0, 8] {
                let address = body.add(place, offset);
                let value = Operand::Const(0);
                body.b.push(Instr::Store { address, value, size: 8, mode: WriteMode::Plain });
            }
            zero()
        }
        "getenv" | "secure_getenv" => zero(),
        "abs" | "labs" | "llabs" => {
            let width = if name == "abs" { Width::W32 } else { Width::W64 };
            math(body, MathOp::Integer(porf_ir::IntOp::Abs, width), arg(0), arg(0))
        }
        "__errno_location" => {
            let index = body.tr.library_local("errno", 4);
            let dst = body.b.register("errno");
            body.b.push(Instr::ThreadLocalAddress { dst, index });
            Ok(vec![dst.into()])
        }

        _ => threads(body, name, args)
            .or_else(|| cpp::call(body, name, args))
            .or_else(|| stream::call(body, name, args))
            .or_else(|| verifier(body, name, args))
            .or_else(|| kernel::call(body, name, args))
            .or_else(|| float(body, name, args))
            .unwrap_or_else(|| Err(format!("a call of {name}, which the program does not define,"))),
    }
}

/// pthreads, C11 threads, semaphores.
fn threads(
    body: &mut Body<'_, '_>,
    name: &str,
    args: &[Operand],
) -> Option<Result<Vec<Operand>, Unsupported>> {
    let arg = |index: usize| args.get(index).copied().unwrap_or(Operand::Const(0));
    let tr = &mut *body.tr;
    let (function, args): (FunctionId, Vec<Operand>) = match name {
        "pthread_create" => (thread::create(tr), vec![arg(0), arg(2), arg(3)]),
        "thrd_create" => (thread::create(tr), vec![arg(0), arg(1), arg(2)]),
        "pthread_join" => (thread::join(tr, 8), vec![arg(0), arg(1)]),
        "thrd_join" => (thread::join(tr, 4), vec![arg(0), arg(1)]),
        "pthread_mutex_init" => {
            // The attribute's first word is the kind.
            let kind = attribute(body, arg(1));
            (thread::mutex_init(body.tr), vec![arg(0), kind])
        }
        "mtx_init" => {
            let kind = body.bin(porf_ir::BinOp::And, Width::W64, arg(1), Operand::Const(1));
            (thread::mutex_init(body.tr), vec![arg(0), kind])
        }
        "pthread_mutex_lock" | "mtx_lock" => (thread::mutex_lock(tr), vec![arg(0)]),
        "pthread_mutex_trylock" | "pthread_mutex_timedlock" | "pthread_mutex_clocklock" => {
            (thread::mutex_trylock(tr, 16), vec![arg(0)])
        }
        "mtx_trylock" | "mtx_timedlock" => (thread::mutex_trylock(tr, 1), vec![arg(0)]),
        "pthread_mutex_unlock" | "mtx_unlock" => (thread::mutex_unlock(tr), vec![arg(0)]),
        "pthread_mutex_destroy" | "mtx_destroy" => (thread::mutex_destroy(tr), vec![arg(0)]),
        "pthread_spin_init" => (thread::mutex_init(tr), vec![arg(0), Operand::Const(0)]),
        "pthread_spin_lock" => (thread::mutex_lock(tr), vec![arg(0)]),
        "pthread_spin_trylock" => (thread::mutex_trylock(tr, 16), vec![arg(0)]),
        "pthread_spin_unlock" => (thread::mutex_unlock(tr), vec![arg(0)]),
        "pthread_spin_destroy" => (thread::mutex_destroy(tr), vec![arg(0)]),
        "pthread_cond_init" | "cnd_init" => (condition::init(tr), vec![arg(0)]),
        "pthread_cond_signal" | "cnd_signal" => (condition::signal(tr), vec![arg(0)]),
        "pthread_cond_broadcast" | "cnd_broadcast" => (condition::broadcast(tr), vec![arg(0)]),
        "pthread_cond_wait" | "cnd_wait" => (condition::wait(tr, 0), vec![arg(0), arg(1)]),
        "pthread_cond_timedwait" | "pthread_cond_clockwait" => {
            (condition::wait(tr, condition::timed_out(false)), vec![arg(0), arg(1)])
        }
        "cnd_timedwait" => (condition::wait(tr, condition::timed_out(true)), vec![arg(0), arg(1)]),
        "pthread_rwlock_init" => (thread::mutex_init(tr), vec![arg(0), Operand::Const(0)]),
        "pthread_rwlock_rdlock" => (thread::rwlock_read(tr, true), vec![arg(0)]),
        "pthread_rwlock_tryrdlock" | "pthread_rwlock_timedrdlock" | "pthread_rwlock_clockrdlock" => {
            (thread::rwlock_read(tr, false), vec![arg(0)])
        }
        "pthread_rwlock_wrlock" => (thread::rwlock_write(tr, true), vec![arg(0)]),
        "pthread_rwlock_trywrlock" | "pthread_rwlock_timedwrlock" | "pthread_rwlock_clockwrlock" => {
            (thread::rwlock_write(tr, false), vec![arg(0)])
        }
        "pthread_rwlock_unlock" => (thread::rwlock_unlock(tr), vec![arg(0)]),
        "pthread_rwlock_destroy" => (thread::mutex_destroy(tr), vec![arg(0)]),
        "pthread_barrier_init" => (thread::barrier_init(tr), vec![arg(0), arg(2)]),
        "pthread_barrier_wait" => (thread::barrier_wait(tr), vec![arg(0)]),
        "pthread_once" | "call_once" => (thread::once(tr), vec![arg(0), arg(1)]),
        "sem_init" => {
            body.b.push(Instr::Store { address: arg(0), value: arg(2), size: 4, mode: WriteMode::Plain });
            return Some(Ok(vec![Operand::Const(0)]));
        }
        "sem_wait" => (thread::semaphore_wait(tr, true), vec![arg(0)]),
        "sem_trywait" => (thread::semaphore_wait(tr, false), vec![arg(0)]),
        "sem_post" => (thread::semaphore_post(tr), vec![arg(0)]),
        "sem_getvalue" => {
            let value = body.b.register("");
            body.b.push(Instr::Load { dst: value, address: arg(0), size: 4, mode: ReadMode::Relaxed });
            body.b.push(Instr::Store {
                address: arg(1),
                value: value.into(),
                size: 4,
                mode: WriteMode::Plain,
            });
            return Some(Ok(vec![Operand::Const(0)]));
        }
        "pthread_key_create" | "tss_create" => (thread::key_create(tr), vec![arg(0), arg(1)]),
        "pthread_getspecific" | "tss_get" => (thread::getspecific(tr), vec![arg(0)]),
        "pthread_setspecific" | "tss_set" => (thread::setspecific(tr), vec![arg(0), arg(1)]),
        "pthread_self" | "thrd_current" | "__VERIFIER_thread_self" => {
            let dst = body.b.register("self");
            body.b.push(Instr::ThreadSelf { dst });
            return Some(Ok(vec![dst.into()]));
        }
        "pthread_equal" | "thrd_equal" => {
            let dst = body.b.register("");
            body.b.push(Instr::Cmp { dst, op: CmpOp::Eq, width: Width::W64, a: arg(0), b: arg(1) });
            return Some(Ok(vec![dst.into()]));
        }
        "pthread_exit" | "thrd_exit" => {
            body.b.push(Instr::ExitThread { value: arg(0) });
            return Some(Ok(Vec::new()));
        }
        "pthread_mutexattr_settype" => {
            body.b.push(Instr::Store { address: arg(0), value: arg(1), size: 4, mode: WriteMode::Plain });
            return Some(Ok(vec![Operand::Const(0)]));
        }
        "pthread_mutexattr_init" => {
            body.b.push(Instr::Store {
                address: arg(0),
                value: Operand::Const(0),
                size: 4,
                mode: WriteMode::Plain,
            });
            return Some(Ok(vec![Operand::Const(0)]));
        }
        "pthread_detach"
        | "thrd_detach"
        | "pthread_cond_destroy"
        | "cnd_destroy"
        | "pthread_barrier_destroy"
        | "sem_destroy"
        | "pthread_mutexattr_destroy"
        | "pthread_key_delete"
        | "tss_delete"
        | "pthread_attr_init"
        | "pthread_attr_destroy"
        | "pthread_attr_setdetachstate"
        | "pthread_attr_setstacksize"
        | "pthread_attr_setscope"
        | "pthread_condattr_init"
        | "pthread_condattr_destroy"
        | "pthread_rwlockattr_init"
        | "pthread_rwlockattr_destroy"
        | "pthread_setname_np"
        | "pthread_setconcurrency" => return Some(Ok(vec![Operand::Const(0)])),
        _ => return None,
    };
    Some(invoke(body, function, &args))
}

/// What verifiers offer to the programs they check.
fn verifier(
    body: &mut Body<'_, '_>,
    name: &str,
    args: &[Operand],
) -> Option<Result<Vec<Operand>, Unsupported>> {
    let arg = |index: usize| args.get(index).copied().unwrap_or(Operand::Const(0));
    Some(match name {
        "__VERIFIER_assume" | "assume_abort_if_not" => {
            body.b.push(Instr::Assume { cond: arg(0) });
            Ok(Vec::new())
        }
        // The bodies of spin loops that a program marks: the mark carries the condition to leave.
        "__VERIFIER_spin_end" => {
            let on = body.b.label();
            let wait = body.b.label();
            body.b.branch(arg(0), on, wait);
            body.b.bind(wait);
            body.b.push(Instr::Block { reason: BlockReason::Spin });
            body.b.bind(on);
            Ok(Vec::new())
        }
        "__VERIFIER_loop_begin" | "__VERIFIER_spin_start" | "__VERIFIER_opt_begin" => Ok(Vec::new()),
        "__VERIFIER_error" | "reach_error" => {
            body.fail(FaultKind::Assertion, &format!("{name}() is reached"));
            Ok(Vec::new())
        }
        "__VERIFIER_assert" => {
            body.b.push(Instr::Assert { cond: arg(0), message: "__VERIFIER_assert fails".into() });
            Ok(Vec::new())
        }
        // An atomic section excludes other atomic sections.
        "__VERIFIER_atomic_begin" | "__VERIFIER_atomic_end" => {
            let address = Operand::Const(body.tr.library_global("atomic section", 4));
            body.b.push(match name {
                "__VERIFIER_atomic_begin" => Instr::Lock { address },
                _ => Instr::Unlock { address },
            });
            Ok(Vec::new())
        }
        "__VERIFIER_nondet_char" | "__VERIFIER_nondet_uchar" => {
            let dst = body.b.register("nondet");
            body.b.push(Instr::Nondet { dst, options: 256 });
            Ok(vec![dst.into()])
        }
        "__VERIFIER_nondet_bool" | "__VERIFIER_nondet__Bool" => {
            let dst = body.b.register("nondet");
            body.b.push(Instr::Nondet { dst, options: 2 });
            Ok(vec![dst.into()])
        }
        "porf_choose" => match constant(arg(0)) {
            Some(options @ 1..=0xffff) => {
                let dst = body.b.register("choice");
                body.b.push(Instr::Nondet { dst, options: options as u32 });
                Ok(vec![dst.into()])
            }
            _ => Err("porf_choose of a number that is no constant between 1 and 65535".to_string()),
        },
        "__sync_synchronize" => {
            body.b.push(Instr::Fence { mode: FenceMode::SeqCst });
            Ok(Vec::new())
        }
        _ if name.starts_with("__VERIFIER_nondet_") => {
            Err(format!("{name}, a choice among too many values (porf_choose(n) gives one of n),"))
        }
        _ => return None,
    })
}

/// `<math.h>`: names end in `f` for single precision.
fn float(body: &mut Body<'_, '_>, name: &str, args: &[Operand]) -> Option<Result<Vec<Operand>, Unsupported>> {
    let (op, precision) = match crate::translate::float_operation(name) {
        Some(op) => (op, Precision::Double),
        None => (crate::translate::float_operation(name.strip_suffix('f')?)?, Precision::Single),
    };
    let a = *args.first()?;
    Some(math(body, MathOp::Float(op, precision), a, args.get(1).copied().unwrap_or(a)))
}

fn math(body: &mut Body<'_, '_>, op: MathOp, a: Operand, b: Operand) -> Result<Vec<Operand>, Unsupported> {
    let dst = body.b.register("");
    body.b.push(Instr::Math { dst, op, a, b });
    Ok(vec![dst.into()])
}

fn routine(
    body: &mut Body<'_, '_>,
    make: impl FnOnce(&mut crate::translate::Translator<'_>) -> FunctionId,
    args: &[Operand],
) -> Result<Vec<Operand>, Unsupported> {
    let function = make(body.tr);
    invoke(body, function, args)
}

fn invoke(
    body: &mut Body<'_, '_>,
    function: FunctionId,
    args: &[Operand],
) -> Result<Vec<Operand>, Unsupported> {
    let dst = body.b.register("");
    body.b.push(Instr::Call { function, args: args.into(), dst: Some(dst) });
    Ok(vec![dst.into()])
}

fn constant(operand: Operand) -> Option<u64> {
    match operand {
        Operand::Const(value) => Some(value),
        Operand::Reg(_) => None,
    }
}

/// The first word of an attribute object, 0 where there is none.
fn attribute(body: &mut Body<'_, '_>, pointer: Operand) -> Operand {
    let kind = body.b.register("");
    body.b.push(Instr::Move { dst: kind, src: Operand::Const(0) });
    let (some, none) = (body.b.label(), body.b.label());
    body.b.branch(pointer, some, none);
    body.b.bind(some);
    body.b.push(Instr::Load { dst: kind, address: pointer, size: 4, mode: ReadMode::Plain });
    body.b.bind(none);
    kind.into()
}

/// Where the arguments behind a `va_list` are: see `va_start`.
fn variable_arguments(body: &mut Body<'_, '_>, list: Operand) -> Operand {
    let address = body.add(list, 8);
    let dst = body.b.register("");
    body.b.push(Instr::Load { dst, address, size: 8, mode: ReadMode::Plain });
    dst.into()
}

fn print(body: &mut Body<'_, '_>, format: Operand, args: Operand) -> Result<Vec<Operand>, Unsupported> {
    let dst = body.b.register("");
    body.b.push(Instr::Print { dst, format, args });
    Ok(vec![dst.into()])
}

/// Prints one word by a format of our own.
fn print_word(body: &mut Body<'_, '_>, format: Operand, word: Operand) -> Result<Vec<Operand>, Unsupported> {
    let area = body.b.register("");
    body.b.push(Instr::Local { dst: area, size: Operand::Const(8) });
    body.b.push(Instr::Store { address: area.into(), value: word, size: 8, mode: WriteMode::Plain });
    print(body, format, area.into())
}

/// Formats into a private object and copies at most `limit` bytes of it to `to`.
fn format(
    body: &mut Body<'_, '_>,
    to: Operand,
    limit: Operand,
    template: Operand,
    args: Operand,
) -> Result<Vec<Operand>, Unsupported> {
    let row = body.b.register_row(2, "");
    body.b.push(Instr::Format { dst: row, format: template, args });
    let length: Operand = porf_ir::Reg(row.0 + 1).into();
    let (some, done) = (body.b.label(), body.b.label());
    body.b.branch(limit, some, done);
    body.b.bind(some);
    // As much as fits, then the zero.
    let room = body.bin(porf_ir::BinOp::Sub, Width::W64, limit, Operand::Const(1));
    let count = body.b.register("");
    let op = MathOp::Integer(porf_ir::IntOp::UMin, Width::W64);
    body.b.push(Instr::Math { dst: count, op, a: room, b: length });
    body.copy(to, row.into(), count.into(), &[], 1)?;
    let end = body.bin(porf_ir::BinOp::Add, Width::W64, to, count.into());
    body.b.push(Instr::Store { address: end, value: Operand::Const(0), size: 1, mode: WriteMode::Plain });
    body.b.bind(done);
    Ok(vec![length])
}
