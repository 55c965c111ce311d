//! Where an exploration stops with a clear word.

use porf_explore::{Equivalence, Error, Model, Options, Visit, explore};
use porf_ir::layout::{self, Image};
use porf_ir::{FunctionBuilder, FunctionId, Instr, Program, ThreadEntry};
use std::ops::ControlFlow;

/// `for (;;) create(f)`, or so many times.
fn bomb(times: Option<u32>, image: Option<Box<Image>>) -> Program {
    let mut program = Program { image, ..Program::default() };
    let mut f = FunctionBuilder::new("main");
    let handle = f.register("handle");
    let head = f.label();
    f.bind(head);
    for _ in 0..times.unwrap_or(1) {
        f.push(Instr::Create { dst: handle, function: FunctionId(1), arg: 0.into() });
    }
    if times.is_none() {
        f.jump(head);
    }
    f.push(Instr::Join { thread: handle.into() });
    program.functions.push(f.finish());
    let mut child = FunctionBuilder::new("child");
    child.register("argument");
    program.functions.push(child.finish());
    let name = String::from("main");
    program.threads.push(ThreadEntry { name, function: FunctionId(0), registers: Vec::new() });
    program
}

fn run(program: &Program) -> Result<u64, Error> {
    let mut visitor = |_: Visit<'_, '_>| ControlFlow::Continue(());
    let statistics = explore(program, Model::Rc11, Equivalence::Mo, &Options::default(), &mut visitor)?;
    Ok(statistics.executions)
}

#[test]
fn a_loop_that_creates_threads() {
    for image in [None, Some(Box::default())] {
        let error = run(&bomb(None, image)).unwrap_err();
        assert!(matches!(&error, Error::Limit(what) if what.contains("threads")), "{error}");
    }
}

#[test]
fn as_many_threads_as_there_is_room_for() {
    assert_eq!(run(&bomb(Some(1000), None)), Ok(1));
    let most = layout::MAX_THREADS as u32;
    assert_eq!(run(&bomb(Some(most - 1), Some(Box::default()))), Ok(1));
    assert!(run(&bomb(Some(most), Some(Box::default()))).is_err());
}
