//! The primitives of C11 and of the Linux kernel.
//!
//! C11 functions without `_explicit` are sequentially consistent. Of a read-modify-write, acquire
//! belongs to the read and release to the write. Kernel primitives follow the definitions that come
//! with the Linux-kernel memory model: `READ_ONCE` is relaxed; a value-returning atomic operation
//! without suffix stands between two full barriers, and a conditional one (`cmpxchg`,
//! `atomic_add_unless`) has them only if it succeeds; `srcu_read_lock` reads its structure,
//! `srcu_read_unlock` writes it.
//!
//! Two kinds of operations are a free choice followed by an assumption: those whose events before the
//! read depend on what it will return (barriers only on success), and those that may fail at any time
//! (weak CAS).

use super::expr::{Expr, Kind};
use super::lower::{CELL, Lower};
use crate::Diagnostic;
use porf_event::{FenceMode, ReadMode, RmwKind, WriteMode};
use porf_ir::{BinOp, CmpOp, Instr, Operand, Reg, RmwOp};

/// A memory order as written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
    /// Kernel: relaxed, between two `smp_mb()`.
    FullBarrier,
}

/// What a kernel atomic operation returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gives {
    Nothing,
    Old,
    New,
}

type Args<'e, 'a> = &'e [Expr<'a>];

impl<'a> Lower<'_, 'a> {
    /// A call of `name`; the value is 0 for a primitive that returns nothing.
    pub fn primitive(
        &mut self,
        call: &Expr<'a>,
        name: &str,
        args: Args<'_, 'a>,
        dst: Option<Reg>,
    ) -> Result<Operand, Diagnostic> {
        if let Some(fence) = kernel_fence(name) {
            self.arity(call, name, args, 0)?;
            self.thread.push(Instr::Fence { mode: fence });
            return Ok(NOTHING);
        }
        if let Some(result) = self.access(call, name, args, dst)? {
            return Ok(result);
        }
        if let Some(result) = self.lock_or_srcu(call, name, args, dst)? {
            return Ok(result);
        }
        if let Some(result) = self.c11(call, name, args, dst)? {
            return Ok(result);
        }
        if let Some(result) = self.kernel_atomic(call, name, args, dst)? {
            return Ok(result);
        }
        Err(self.error(call, format!("'{name}' is not supported: no primitive of C11 or the Linux kernel")))
    }

    /// Loads and stores.
    fn access(
        &mut self,
        call: &Expr<'a>,
        name: &str,
        args: Args<'_, 'a>,
        dst: Option<Reg>,
    ) -> Result<Option<Operand>, Diagnostic> {
        let result = match name {
            "READ_ONCE" | "rcu_dereference" | "lockless_dereference" => {
                self.arity(call, name, args, 1)?;
                let address = self.place(&args[0])?;
                self.load(address, ReadMode::Relaxed, dst)
            }
            "WRITE_ONCE" | "rcu_assign_pointer" | "smp_store_mb" => {
                self.arity(call, name, args, 2)?;
                let address = self.place(&args[0])?;
                let value = self.evaluate(&args[1], None)?;
                let release = name == "rcu_assign_pointer";
                self.store(address, value, if release { WriteMode::Release } else { WriteMode::Relaxed });
                if name == "smp_store_mb" {
                    self.thread.push(Instr::Fence { mode: FenceMode::Mb });
                }
                NOTHING
            }
            "smp_load_acquire" | "atomic_read" | "atomic_read_acquire" => {
                self.arity(call, name, args, 1)?;
                let address = self.evaluate(&args[0], None)?;
                let mode = if name == "atomic_read" { ReadMode::Relaxed } else { ReadMode::Acquire };
                self.load(address, mode, dst)
            }
            "smp_store_release" | "atomic_set" | "atomic_set_release" => {
                self.arity(call, name, args, 2)?;
                let address = self.evaluate(&args[0], None)?;
                let value = self.evaluate(&args[1], None)?;
                let mode = if name == "atomic_set" { WriteMode::Relaxed } else { WriteMode::Release };
                self.store(address, value, mode);
                NOTHING
            }
            _ => return Ok(None),
        };
        Ok(Some(result))
    }

    fn lock_or_srcu(
        &mut self,
        call: &Expr<'a>,
        name: &str,
        args: Args<'_, 'a>,
        dst: Option<Reg>,
    ) -> Result<Option<Operand>, Diagnostic> {
        let arity = match name {
            "spin_lock"
            | "spin_unlock"
            | "lock"
            | "mtx_lock"
            | "unlock"
            | "mtx_unlock"
            | "spin_trylock"
            | "spin_is_locked"
            | "srcu_read_lock"
            | "srcu_down_read"
            | "synchronize_srcu"
            | "synchronize_srcu_expedited" => 1,
            "srcu_read_unlock" | "srcu_up_read" => 2,
            _ => return Ok(None),
        };
        self.arity(call, name, args, arity)?;
        let address = self.evaluate(&args[0], None)?;
        let instr = match name {
            "spin_lock" | "lock" | "mtx_lock" => Instr::Lock { address },
            "spin_unlock" | "unlock" | "mtx_unlock" => Instr::Unlock { address },
            "spin_trylock" | "spin_is_locked" => {
                let dst = dst.unwrap_or_else(|| self.thread.temp());
                self.thread.push(if name == "spin_trylock" {
                    Instr::TryLock { dst, address }
                } else {
                    Instr::IsLocked { dst, address }
                });
                return Ok(Some(dst.into()));
            }
            "srcu_read_lock" | "srcu_down_read" => {
                return Ok(Some(self.load(address, ReadMode::SrcuLock, dst)));
            }
            "srcu_read_unlock" | "srcu_up_read" => {
                let value = self.evaluate(&args[1], None)?;
                Instr::Store { address, value, size: CELL, mode: WriteMode::SrcuUnlock }
            }
            _ => Instr::FenceAt { mode: FenceMode::SyncSrcu, address },
        };
        self.thread.push(instr);
        Ok(Some(NOTHING))
    }

    fn c11(
        &mut self,
        call: &Expr<'a>,
        name: &str,
        args: Args<'_, 'a>,
        dst: Option<Reg>,
    ) -> Result<Option<Operand>, Diagnostic> {
        let (plain, explicit) = match name.strip_suffix("_explicit") {
            Some(plain) => (plain, 1),
            None => (name, 0),
        };
        let result = match plain {
            "atomic_thread_fence" if explicit == 0 => {
                self.arity(call, name, args, 1)?;
                let mode = match self.order(&args[0])? {
                    // Orders nothing: no event.
                    Order::Relaxed => return Ok(Some(NOTHING)),
                    Order::Acquire => FenceMode::Acquire,
                    Order::Release => FenceMode::Release,
                    Order::AcqRel => FenceMode::AcqRel,
                    Order::SeqCst | Order::FullBarrier => FenceMode::SeqCst,
                };
                self.thread.push(Instr::Fence { mode });
                NOTHING
            }
            "atomic_load" => {
                self.arity(call, name, args, 1 + explicit)?;
                let mode = match self.order_or_sc(args, 1)? {
                    Order::Relaxed => ReadMode::Relaxed,
                    Order::Acquire | Order::AcqRel => ReadMode::Acquire,
                    Order::SeqCst => ReadMode::SeqCst,
                    // Undefined in C; for herd, the annotation has no effect.
                    Order::Release | Order::FullBarrier => ReadMode::Relaxed,
                };
                let address = self.evaluate(&args[0], None)?;
                self.load(address, mode, dst)
            }
            "atomic_store" => {
                self.arity(call, name, args, 2 + explicit)?;
                let mode = match self.order_or_sc(args, 2)? {
                    Order::Relaxed => WriteMode::Relaxed,
                    Order::Release | Order::AcqRel => WriteMode::Release,
                    Order::SeqCst => WriteMode::SeqCst,
                    Order::Acquire | Order::FullBarrier => WriteMode::Relaxed,
                };
                let address = self.evaluate(&args[0], None)?;
                let value = self.evaluate(&args[1], None)?;
                self.store(address, value, mode);
                NOTHING
            }
            "atomic_exchange" => {
                self.arity(call, name, args, 2 + explicit)?;
                let order = self.order_or_sc(args, 2)?;
                self.read_modify_write(RmwOp::Exchange, &args[0], &args[1], order, Gives::Old, dst)?
            }
            "WCAS" | "SCAS" | "atomic_compare_exchange_weak" | "atomic_compare_exchange_strong" => {
                self.arity(call, name, args, 3 + 2 * explicit)?;
                let weak = matches!(plain, "WCAS" | "atomic_compare_exchange_weak");
                self.compare_exchange(args, weak, dst)?
            }
            _ => match plain.strip_prefix("atomic_fetch_").and_then(operation) {
                // The kernel has functions of the same names, with the arguments in the other order.
                Some(op) if explicit == 1 || self.pointer_comes_first(call, args)? => {
                    self.arity(call, name, args, 2 + explicit)?;
                    let order = self.order_or_sc(args, 2)?;
                    self.read_modify_write(op, &args[0], &args[1], order, Gives::Old, dst)?
                }
                _ => return Ok(None),
            },
        };
        Ok(Some(result))
    }

    /// `xchg`, `cmpxchg`, and the `atomic_…` family.
    fn kernel_atomic(
        &mut self,
        call: &Expr<'a>,
        name: &str,
        args: Args<'_, 'a>,
        dst: Option<Reg>,
    ) -> Result<Option<Operand>, Diagnostic> {
        let (base, order) = suffix(name);
        let base = base.strip_prefix("atomic_").unwrap_or(base);
        match base {
            "xchg" => {
                self.arity(call, name, args, 2)?;
                let op = RmwOp::Exchange;
                return self.read_modify_write(op, &args[0], &args[1], order, Gives::Old, dst).map(Some);
            }
            "cmpxchg" => {
                self.arity(call, name, args, 3)?;
                return self.kernel_cmpxchg(args, order, dst).map(Some);
            }
            _ if !name.starts_with("atomic_") => return Ok(None),
            "add_unless" if name == "atomic_add_unless" => {
                self.arity(call, name, args, 3)?;
                return self.add_unless(args).map(Some);
            }
            _ => {}
        }
        // The result is compared with 0: equal, or less.
        let (base, test) = match base.strip_suffix("_and_test") {
            Some(base @ ("sub" | "dec" | "inc")) => (base, Some(CmpOp::Eq)),
            Some(_) => return Ok(None),
            None if base == "add_negative" => ("add", Some(CmpOp::Slt)),
            None => (base, None),
        };
        let (base, gives) = match (base.strip_prefix("fetch_"), base.strip_suffix("_return")) {
            _ if test.is_some() => (base, Gives::New),
            (Some(base), None) => (base, Gives::Old),
            (None, Some(base)) => (base, Gives::New),
            _ => (base, Gives::Nothing),
        };
        let one = Expr { at: call.at, kind: Kind::Int(1) };
        let (op, value, place) = match (base, args) {
            ("inc", [place]) => (RmwOp::Add, &one, place),
            ("dec", [place]) => (RmwOp::Sub, &one, place),
            ("inc" | "dec", _) => return Err(self.wrong_arity(call, name, 1)),
            (base, args) => match (operation(base), args) {
                (Some(op), [value, place]) => (op, value, place),
                (Some(_), _) => return Err(self.wrong_arity(call, name, 2)),
                (None, _) => return Ok(None),
            },
        };
        let order = if gives == Gives::Nothing { Order::Relaxed } else { order };
        let result = self.read_modify_write(op, place, value, order, gives, dst)?;
        Ok(Some(match test {
            Some(test) => self.compare(test, result, Operand::Const(0), dst),
            None => result,
        }))
    }

    fn read_modify_write(
        &mut self,
        op: RmwOp,
        place: &Expr<'a>,
        operand: &Expr<'a>,
        order: Order,
        gives: Gives,
        dst: Option<Reg>,
    ) -> Result<Operand, Diagnostic> {
        let address = self.evaluate(place, None)?;
        let operand = self.evaluate(operand, None)?;
        let kind = if gives == Gives::Nothing { RmwKind::AmoNoReturn } else { RmwKind::Amo };
        let old = match (gives, dst) {
            (Gives::Old, Some(dst)) => dst,
            _ => self.thread.temp(),
        };
        let (read, write) = order.halves();
        self.barrier_if(order);
        self.thread.push(Instr::Rmw { dst: old, op, address, operand, size: CELL, read, write, kind });
        self.barrier_if(order);
        if gives != Gives::New {
            return Ok(old.into());
        }
        let old = old.into();
        Ok(match op {
            RmwOp::Add => self.arithmetic(BinOp::Add, old, operand, dst),
            RmwOp::Sub => self.arithmetic(BinOp::Sub, old, operand, dst),
            RmwOp::And => self.arithmetic(BinOp::And, old, operand, dst),
            RmwOp::Or => self.arithmetic(BinOp::Or, old, operand, dst),
            RmwOp::Xor => self.arithmetic(BinOp::Xor, old, operand, dst),
            _ => {
                let mask = self.arithmetic(BinOp::Xor, operand, Operand::Const(u64::MAX), None);
                self.arithmetic(BinOp::And, old, mask, dst)
            }
        })
    }

    /// C11: "expected" is a pointer to memory, read and (on failure) written non-atomically, or `&r`
    /// of a register.
    fn compare_exchange(
        &mut self,
        args: Args<'_, 'a>,
        weak: bool,
        dst: Option<Reg>,
    ) -> Result<Operand, Diagnostic> {
        let (read, write) = self.order_or_sc(args, 3)?.halves();
        let failure = match self.order_or_sc(args, 4)? {
            Order::Relaxed | Order::Release | Order::FullBarrier => ReadMode::Relaxed,
            Order::Acquire | Order::AcqRel => ReadMode::Acquire,
            Order::SeqCst => ReadMode::SeqCst,
        };
        let register = match &args[1].kind {
            Kind::AddressOf(name) => Some(self.thread.register(name)),
            _ => None,
        };
        let pointer = match register {
            Some(_) => None,
            None => Some(self.evaluate(&args[1], None)?),
        };
        let address = self.evaluate(&args[0], None)?;
        let expected = match (register, pointer) {
            (Some(register), _) => {
                let copy = self.thread.temp();
                self.thread.mov(copy, register);
                copy.into()
            }
            (_, Some(pointer)) => self.load(pointer, ReadMode::Plain, None),
            (None, None) => NOTHING,
        };
        let old = self.thread.temp();
        let success: Operand = if weak || args[2].touches_memory() {
            let chosen = self.choice();
            let (then, otherwise, end) = self.fork(chosen);
            self.thread.code.bind(then);
            let new = self.evaluate(&args[2], None)?;
            self.cas(old, address, expected, new, read, write, failure);
            self.assume(CmpOp::Eq, old.into(), expected);
            self.thread.code.jump(end);
            self.thread.code.bind(otherwise);
            self.load(address, failure, Some(old));
            if !weak {
                self.assume(CmpOp::Ne, old.into(), expected);
            }
            self.thread.code.bind(end);
            chosen.into()
        } else {
            let new = self.evaluate(&args[2], None)?;
            self.cas(old, address, expected, new, read, write, failure);
            self.compare(CmpOp::Eq, old.into(), expected, None)
        };
        match (register, pointer) {
            (Some(register), _) => self.thread.mov(register, old),
            (None, Some(pointer)) => {
                let slot = self.mark();
                let (fail, end) = (self.thread.code.label(), self.thread.code.label());
                self.thread.code.branch(success, end, fail);
                self.thread.code.bind(fail);
                self.store(pointer, old.into(), WriteMode::Plain);
                self.thread.code.bind(end);
                self.restore(slot);
            }
            (None, None) => {}
        }
        match dst {
            Some(dst) => {
                self.thread.mov(dst, success);
                Ok(dst.into())
            }
            None => Ok(success),
        }
    }

    fn kernel_cmpxchg(
        &mut self,
        args: Args<'_, 'a>,
        order: Order,
        dst: Option<Reg>,
    ) -> Result<Operand, Diagnostic> {
        let address = self.evaluate(&args[0], None)?;
        let mut expected = self.evaluate(&args[1], None)?;
        let (read, write) = order.halves();
        if order != Order::FullBarrier && !args[2].touches_memory() {
            let new = self.evaluate(&args[2], None)?;
            let old = dst.unwrap_or_else(|| self.thread.temp());
            self.cas(old, address, expected, new, read, write, ReadMode::Relaxed);
            return Ok(old.into());
        }
        let old = dst.unwrap_or_else(|| self.thread.temp());
        if expected == Operand::Reg(old) {
            let copy = self.thread.temp();
            self.thread.mov(copy, expected);
            expected = copy.into();
        }
        let chosen = self.choice();
        let (then, otherwise, end) = self.fork(chosen);
        self.thread.code.bind(then);
        let new = self.evaluate(&args[2], None)?;
        self.barrier_if(order);
        self.cas(old, address, expected, new, read, write, ReadMode::Relaxed);
        self.assume(CmpOp::Eq, old.into(), expected);
        self.barrier_if(order);
        self.thread.code.jump(end);
        self.thread.code.bind(otherwise);
        // For smp_mb__before_atomic() and smp_mb__after_atomic() a failure is an update too.
        self.cas(old, address, expected, 0.into(), ReadMode::Relaxed, WriteMode::Relaxed, ReadMode::Relaxed);
        self.assume(CmpOp::Ne, old.into(), expected);
        self.thread.code.bind(end);
        Ok(old.into())
    }

    /// `atomic_add_unless(x, a, u)`: adds `a` unless the value is `u`; returns whether it did.
    fn add_unless(&mut self, args: Args<'_, 'a>) -> Result<Operand, Diagnostic> {
        let address = self.evaluate(&args[0], None)?;
        let operand = self.evaluate(&args[1], None)?;
        let unless = self.evaluate(&args[2], None)?;
        let chosen = self.choice();
        let old = self.thread.temp();
        let (then, otherwise, end) = self.fork(chosen);
        self.thread.code.bind(then);
        self.barrier_if(Order::FullBarrier);
        self.thread.push(Instr::AddUnless {
            dst: old,
            address,
            operand,
            unless,
            size: CELL,
            read: ReadMode::Relaxed,
            write: WriteMode::Relaxed,
            kind: RmwKind::Amo,
        });
        self.assume(CmpOp::Ne, old.into(), unless);
        self.barrier_if(Order::FullBarrier);
        self.thread.code.jump(end);
        self.thread.code.bind(otherwise);
        self.load(address, ReadMode::Relaxed, Some(old));
        self.assume(CmpOp::Eq, old.into(), unless);
        self.thread.code.bind(end);
        // The choice itself depends on nothing; the result depends on the read that confirmed it.
        Ok(self.compare(CmpOp::Ne, old.into(), unless, None))
    }

    #[allow(clippy::too_many_arguments)]
    fn cas(
        &mut self,
        dst: Reg,
        address: Operand,
        expected: Operand,
        new: Operand,
        read: ReadMode,
        write: WriteMode,
        failure: ReadMode,
    ) {
        self.thread.push(Instr::Cas {
            dst,
            address,
            expected,
            new,
            size: CELL,
            read,
            write,
            failure,
            weak: false,
            kind: RmwKind::Amo,
        });
    }

    fn choice(&mut self) -> Reg {
        let dst = self.thread.temp();
        self.thread.push(Instr::Nondet { dst, options: 2 });
        dst
    }

    fn fork(&mut self, chosen: Reg) -> (porf_ir::JumpLabel, porf_ir::JumpLabel, porf_ir::JumpLabel) {
        let code = &mut self.thread.code;
        let (then, otherwise, end) = (code.label(), code.label(), code.label());
        code.branch(chosen, then, otherwise);
        (then, otherwise, end)
    }

    fn assume(&mut self, op: CmpOp, a: Operand, b: Operand) {
        let cond = self.compare(op, a, b, None);
        // This states what the choice meant. It is no branch of the program.
        let slot = self.mark();
        self.thread.push(Instr::Assume { cond });
        self.restore(slot);
    }

    fn barrier_if(&mut self, order: Order) {
        if order == Order::FullBarrier {
            self.thread.push(Instr::Fence { mode: FenceMode::Mb });
        }
    }

    /// The address of `*e`, the argument of `READ_ONCE` and the like.
    fn place(&mut self, expr: &Expr<'a>) -> Result<Operand, Diagnostic> {
        match &expr.kind {
            Kind::Deref(pointer) => self.evaluate(pointer, None),
            _ => Err(self.error(expr, "expected a place in memory, '*x'")),
        }
    }

    fn order(&self, expr: &Expr<'a>) -> Result<Order, Diagnostic> {
        match expr.kind {
            Kind::Name("memory_order_relaxed") => Ok(Order::Relaxed),
            // As all compilers do.
            Kind::Name("memory_order_acquire" | "memory_order_consume") => Ok(Order::Acquire),
            Kind::Name("memory_order_release") => Ok(Order::Release),
            Kind::Name("memory_order_acq_rel") => Ok(Order::AcqRel),
            Kind::Name("memory_order_seq_cst") => Ok(Order::SeqCst),
            _ => Err(self.error(expr, "expected a memory order, 'memory_order_…'")),
        }
    }

    fn order_or_sc(&self, args: Args<'_, 'a>, at: usize) -> Result<Order, Diagnostic> {
        args.get(at).map_or(Ok(Order::SeqCst), |order| self.order(order))
    }

    fn pointer_comes_first(&self, call: &Expr<'a>, args: Args<'_, 'a>) -> Result<bool, Diagnostic> {
        let pointer = |expr: &Expr<'a>| matches!(expr.kind, Kind::Name(name) if self.is_parameter(name));
        match args {
            [first, second] if pointer(first) != pointer(second) => Ok(pointer(first)),
            [_, _] => Err(self
                .error(call, "cannot tell which argument is the pointer")
                .help("C11 takes it first, the Linux kernel last; exactly one of the two must be a parameter of the thread")),
            _ => Ok(false),
        }
    }

    fn arity(&self, call: &Expr<'a>, name: &str, args: Args<'_, 'a>, arity: usize) -> Result<(), Diagnostic> {
        if args.len() == arity { Ok(()) } else { Err(self.wrong_arity(call, name, arity)) }
    }

    fn wrong_arity(&self, call: &Expr<'a>, name: &str, arity: usize) -> Diagnostic {
        self.error(call, format!("'{name}' takes {arity} arguments"))
    }
}

/// The value of a primitive that returns nothing.
const NOTHING: Operand = Operand::Const(0);

impl Order {
    fn halves(self) -> (ReadMode, WriteMode) {
        match self {
            Order::Relaxed | Order::FullBarrier => (ReadMode::Relaxed, WriteMode::Relaxed),
            Order::Acquire => (ReadMode::Acquire, WriteMode::Relaxed),
            Order::Release => (ReadMode::Relaxed, WriteMode::Release),
            Order::AcqRel => (ReadMode::Acquire, WriteMode::Release),
            Order::SeqCst => (ReadMode::SeqCst, WriteMode::SeqCst),
        }
    }
}

fn kernel_fence(name: &str) -> Option<FenceMode> {
    Some(match name {
        "smp_mb" => FenceMode::Mb,
        "smp_rmb" => FenceMode::Rmb,
        "smp_wmb" => FenceMode::Wmb,
        "barrier" => FenceMode::Barrier,
        "smp_mb__before_atomic" => FenceMode::BeforeAtomic,
        "smp_mb__after_atomic" => FenceMode::AfterAtomic,
        "smp_mb__after_spinlock" => FenceMode::AfterSpinlock,
        "smp_mb__after_unlock_lock" => FenceMode::AfterUnlockLock,
        "smp_mb__after_srcu_read_unlock" => FenceMode::AfterSrcuReadUnlock,
        "rcu_read_lock" => FenceMode::RcuLock,
        "rcu_read_unlock" => FenceMode::RcuUnlock,
        "synchronize_rcu" | "synchronize_rcu_expedited" => FenceMode::SyncRcu,
        _ => return None,
    })
}

fn suffix(name: &str) -> (&str, Order) {
    for (suffix, order) in
        [("_relaxed", Order::Relaxed), ("_acquire", Order::Acquire), ("_release", Order::Release)]
    {
        if let Some(base) = name.strip_suffix(suffix) {
            return (base, order);
        }
    }
    (name, Order::FullBarrier)
}

fn operation(name: &str) -> Option<RmwOp> {
    Some(match name {
        "add" => RmwOp::Add,
        "sub" => RmwOp::Sub,
        "and" => RmwOp::And,
        "or" => RmwOp::Or,
        "xor" => RmwOp::Xor,
        "andnot" => RmwOp::AndNot,
        _ => return None,
    })
}
