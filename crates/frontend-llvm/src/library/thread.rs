//! Threads of pthreads and C11: their begin, their end, who they are.

use super::asm::Asm;
use super::scope;
use super::table::{KEEPS, Pointers, Row, Treatment, USES, nothing, row, zero};
use crate::translate::Translator;
use porf_event::{ReadMode, ThreadId, WriteMode};
use porf_ir::{BinOp, CmpOp, FaultKind, FunctionId, Instr, Operand, RmwOp, Width, layout};

/// Of `create`: what comes behind the thread and its attribute goes to the new thread.
const STARTS: Pointers = &[Treatment::Uses, Treatment::Uses, Treatment::Keeps];

/// A thread is joined or detached, once. Programs that detach none need not look.
const DETACH: &[&str] = &["pthread_detach", "thrd_detach"];

pub const FUNCTIONS: &[Row] = &[
    row(&["pthread_create"], STARTS, |c| c.routine(create, &[c.arg(0), c.arg(2), c.arg(3)])),
    row(&["thrd_create"], STARTS, |c| c.same(create)),
    row(&["pthread_join"], USES, |c| c.same(|tr| join(tr, 8))),
    row(&["thrd_join"], USES, |c| c.same(|tr| join(tr, 4))),
    row(&["pthread_self", "thrd_current", "__VERIFIER_thread_self", "__VERIFIER_tid"], USES, |c| {
        let dst = c.body.b.register("self");
        c.push(Instr::ThreadSelf { dst });
        Ok(vec![dst.into()])
    }),
    row(&["pthread_equal", "thrd_equal"], USES, |c| {
        let dst = c.body.b.register("");
        c.push(Instr::Cmp { dst, op: CmpOp::Eq, width: Width::W64, a: c.arg(0), b: c.arg(1) });
        Ok(vec![dst.into()])
    }),
    row(&["pthread_exit", "thrd_exit"], KEEPS, |c| {
        let cleanup = c.body.tr.module.function(super::CLEANUP);
        if let Some(cleanup) = cleanup.filter(|cleanup| !cleanup.is_declaration()) {
            let function = c.body.tr.function_id(cleanup)?;
            c.push(Instr::Call { function, args: [].into(), dst: None });
        }
        c.exit_thread();
        nothing(c)
    }),
    row(DETACH, USES, |c| c.same(detach)),
    row(
        &[
            "pthread_attr_init",
            "pthread_attr_destroy",
            "pthread_attr_setdetachstate",
            "pthread_attr_setstacksize",
            "pthread_attr_setscope",
            "pthread_setname_np",
            "pthread_setconcurrency",
        ],
        USES,
        zero,
    ),
];

pub fn create(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("pthread_create", |tr| {
        let mut a = Asm::new("pthread_create", &["thread", "start", "argument"]);
        let dst = a.reg();
        let (thread, function, arg) = (a.param(0), a.param(1), a.param(2));
        a.b.push(Instr::CreatePointer { dst, function, arg });
        a.store(thread, dst, 8, WriteMode::Plain);
        scope::created(tr, &mut a, dst.into());
        a.give(0);
        a.finish()
    })
}

/// Joins, and stores the thread's result in `size` bytes where that is wanted.
pub fn join(tr: &mut Translator<'_>, size: u8) -> FunctionId {
    let name = if size == 8 { "pthread_join" } else { "thrd_join" };
    tr.routine(name, |tr| {
        let mut a = Asm::new(name, &["thread", "result"]);
        let (thread, result) = (a.param(0), a.param(1));
        if DETACH.iter().any(|name| tr.module.function(name).is_some()) {
            claim(tr, &mut a, thread, "join");
        }
        a.b.push(Instr::Join { thread });
        a.when(result, |a| {
            let offset = a.bin(BinOp::Mul, thread, 8);
            let cell = a.add(offset, layout::result_cell(ThreadId(0)));
            let value = a.load(cell, 8, ReadMode::Plain);
            a.store(result, value, size, WriteMode::Plain);
        });
        a.give(0);
        a.finish()
    })
}

fn detach(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("pthread_detach", |tr| {
        let mut a = Asm::new("pthread_detach", &["thread"]);
        let thread = a.param(0);
        claim(tr, &mut a, thread, "detach");
        a.give(0);
        a.finish()
    })
}

/// Nobody else may join or detach the thread from here on.
fn claim(tr: &mut Translator<'_>, a: &mut Asm, thread: Operand, what: &str) {
    let claimed = tr.library_global("detached threads", 4 * layout::MAX_THREADS as usize);
    let exists = a.cmp(CmpOp::Ult, thread, layout::MAX_THREADS);
    a.unless(exists, |a| a.fail(FaultKind::Lock, &format!("{what} of what is no thread")));
    let offset = a.bin(BinOp::Mul, thread, 4);
    let cell = a.add(offset, claimed);
    let before = a.fetch(RmwOp::Exchange, cell, 1, (ReadMode::Relaxed, WriteMode::Relaxed));
    a.when(before, |a| {
        a.fail(FaultKind::Lock, &format!("{what} of a thread that was detached or joined before"));
    });
}
