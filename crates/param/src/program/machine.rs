//! One thread, run symbolically: local instructions up to the next one that others can see.

use super::outside;
use crate::syntax::Diagnostic;
use porf_ir::layout::{self, Region, function_at};
use porf_ir::{BinOp, CmpOp, FunctionId, HeldOp, Instr, Operand, Program, Width};
use std::collections::BTreeMap;

/// A value: a constant, or a number of which no more is known than where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Val {
    Const(u64),
    /// A number plus a constant.
    Sym(Sym, i64),
    /// What a family has for some thread: the argument of the thread, or a pointer to its part of an array.
    Of(Family, Who),
    /// Differs from thread to thread.
    Argument,
    /// What may not be looked at.
    Unknown,
}

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sym {
    /// The process's own array number k, as it was when the step began.
    Slot(usize),
    /// What the step reads.
    Read,
}

/// Numbers `base + k · stride`, one for each thread k: different ones for different threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Family {
    pub base: u64,
    pub stride: u64,
    /// The threads that `main` creates. There may be more: the family goes on.
    pub count: u64,
}

/// A thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Who {
    /// The one that runs.
    Me,
    /// The process's own array number k, as it was when the step began.
    Slot(usize),
    /// What the step reads.
    Read,
}

impl Family {
    /// The members for the threads that `main` creates.
    pub fn members(self) -> impl Iterator<Item = u64> {
        (0..self.count).map(move |k| self.base.wrapping_add(k.wrapping_mul(self.stride)))
    }

    /// They point to parts of a variable.
    pub fn is_pointer(self) -> bool {
        !matches!(Region::of(self.base), None | Some(Region::Low))
    }

    /// Whether a constant may be a member. Pointers go no further than the variable, whose length is that for the
    /// threads that `main` creates; numbers go on.
    pub fn may_be(self, constant: u64) -> bool {
        !self.is_pointer() || self.members().any(|member| member == constant)
    }

    fn moved(self, by: u64) -> Family {
        Family { base: self.base.wrapping_add(by), ..self }
    }

    fn times(self, by: u64) -> Family {
        Family { base: self.base.wrapping_mul(by), stride: self.stride.wrapping_mul(by), ..self }
    }
}

/// A piece of memory, or one for each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    pub address: u64,
    /// In bytes; 0 stands for whether the object there is freed.
    pub size: u8,
    /// From one thread's piece to the next one's; 0 if there is a single piece.
    pub stride: u64,
    pub count: u64,
}

impl Location {
    pub fn single(address: u64, size: u8) -> Location {
        Location { address, size, stride: 0, count: 1 }
    }

    /// Where the pieces begin.
    pub fn pieces(self) -> impl Iterator<Item = u64> {
        Family { base: self.address, stride: self.stride, count: self.count }.members()
    }

    /// Both lie in one allocated object.
    pub fn same_object(self, other: Location) -> bool {
        let object = |at: u64| (Region::of(at), layout::owner(at), layout::slot(at));
        object(self.address) == object(other.address)
    }

    pub fn overlaps(self, other: Location) -> bool {
        let meet = |a: u64, b: u64| a < b + u64::from(other.size) && b < a + u64::from(self.size);
        self != other && self.pieces().any(|a| other.pieces().any(|b| meet(a, b)))
    }
}

/// Whether two values are equal, as far as that follows from them alone.
pub enum Equality {
    Known(bool),
    /// It depends on the state.
    Open,
    /// It cannot be said in a system.
    Refused,
}

pub fn equality(a: &Val, b: &Val) -> Equality {
    match (a, b) {
        (Val::Const(a), Val::Const(b)) => Equality::Known(a == b),
        (Val::Of(f, who), Val::Of(g, other)) if f == g => {
            if who == other {
                Equality::Known(true)
            } else {
                Equality::Open
            }
        }
        (Val::Of(f, _), Val::Of(g, _))
            if f.is_pointer() && g.is_pointer() && f.members().all(|member| !g.may_be(member)) =>
        {
            Equality::Known(false)
        }
        (Val::Of(family, _), Val::Const(constant)) | (Val::Const(constant), Val::Of(family, _))
            if !family.may_be(*constant) =>
        {
            Equality::Known(false)
        }
        (Val::Sym(x, c), Val::Sym(y, d)) if x == y => Equality::Known(c == d),
        (Val::Sym(..) | Val::Const(_), Val::Sym(..) | Val::Const(_)) => Equality::Open,
        _ => Equality::Refused,
    }
}

/// A comparison that a path has decided: `a` and `b + constant`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Atom {
    pub a: Val,
    pub op: AtomOp,
    pub b: Val,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomOp {
    Eq,
    Neq,
    Lt,
    Le,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Frame {
    pub function: FunctionId,
    pub at: usize,
    pub regs: Vec<Val>,
}

/// What a thread is about to do, and all that it knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Thread {
    /// The innermost call is the last.
    pub frames: Vec<Frame>,
    /// How often it holds a lock.
    pub held: BTreeMap<u64, u64>,
    /// What locations hold that this thread alone writes, where they have changed.
    pub mirror: BTreeMap<Location, Val>,
}

/// Where a path ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Before an instruction that others can see.
    Visible,
    /// The thread has ended.
    End,
    /// The thread never goes on.
    Stuck,
    /// The program is wrong here.
    Fail(String),
}

/// Local instructions in a row.
const MOST_STEPS: usize = 20_000;
const MOST_CALLS: usize = 40;
const MOST_CHOICES: u32 = 16;

pub type Path = (Vec<Atom>, Thread, Stop);

impl Thread {
    pub fn new(program: &Program, function: FunctionId, args: &[Val]) -> Thread {
        let mut thread = Thread { frames: Vec::new(), held: BTreeMap::new(), mirror: BTreeMap::new() };
        thread.enter(program, function, args);
        thread
    }

    fn enter(&mut self, program: &Program, function: FunctionId, args: &[Val]) {
        let mut regs = vec![Val::Const(0); program.function(function).registers as usize];
        for (reg, arg) in regs.iter_mut().zip(args) {
            *reg = arg.clone();
        }
        self.frames.push(Frame { function, at: 0, regs });
    }

    pub fn top(&self) -> &Frame {
        self.frames.last().expect("a running thread")
    }

    /// The instruction that comes next.
    pub fn next<'p>(&self, program: &'p Program) -> &'p Instr {
        let frame = self.top();
        &program.function(frame.function).code[frame.at]
    }

    /// The innermost call that stands in the file of `main`, by its depth: functions of the library have no lines, and
    /// those of headers have lines of another file.
    fn depth(&self, program: &Program) -> usize {
        let main = (0..program.functions.len() as u32)
            .map(FunctionId)
            .find(|id| program.function(*id).name == "main");
        let file = main.map(|main| program.file(main));
        let is_known = |frame: &Frame| {
            let span = program.function(frame.function).spans.get(frame.at);
            span.is_some_and(|span| span.line > 0)
                && file.is_none_or(|file| program.file(frame.function) == file)
        };
        self.frames.iter().rposition(is_known).unwrap_or(self.frames.len() - 1)
    }

    /// The function and the line where the thread stands.
    pub fn place(&self, program: &Program) -> (FunctionId, u32) {
        let frame = &self.frames[self.depth(program)];
        (frame.function, program.function(frame.function).spans.get(frame.at).map_or(0, |span| span.line))
    }

    pub fn wrong(&self, program: &Program, message: impl Into<String>) -> Diagnostic {
        let frame = &self.frames[self.depth(program)];
        outside(program, frame.function, frame.at, message)
    }

    pub fn get(&self, operand: Operand) -> Val {
        match operand {
            Operand::Const(value) => Val::Const(value),
            Operand::Reg(reg) => self.top().regs[reg.0 as usize].clone(),
        }
    }

    pub fn set(&mut self, reg: porf_ir::Reg, value: Val) {
        if let Some(frame) = self.frames.last_mut() {
            frame.regs[reg.0 as usize] = value;
        }
    }

    /// Behind the instruction.
    pub fn go_on(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.at += 1;
        }
    }

    fn jump(&mut self, target: u32) {
        if let Some(frame) = self.frames.last_mut() {
            frame.at = target as usize;
        }
    }

    /// A constant, or an error that says what it is used for.
    pub fn constant(&self, program: &Program, operand: Operand, what: &str) -> Result<u64, Diagnostic> {
        match self.get(operand) {
            Val::Const(value) => Ok(value),
            Val::Argument | Val::Of(_, Who::Me) => Err(self
                .wrong(program, format!("{what} depends on the argument of the thread"))
                .help("each thread has its own: --threads main proves the threads that main creates")),
            Val::Of(..) => Err(self.wrong(program, format!("{what} depends on which thread this points to"))),
            _ => Err(self.wrong(program, format!("{what} depends on a number that is not constant"))),
        }
    }
}

/// Runs local instructions. One path for each way that they can go, with what it has decided.
pub fn advance(program: &Program, thread: Thread, known: Vec<Atom>) -> Result<Vec<Path>, Diagnostic> {
    let mut done = Vec::new();
    let mut left = vec![(known, thread, 0_usize)];
    while let Some((mut known, mut thread, mut steps)) = left.pop() {
        loop {
            steps += 1;
            if steps > MOST_STEPS {
                return Err(thread.wrong(program, "a loop that does nothing that others can see"));
            }
            match local(program, &mut thread, &known)? {
                Local::Next => {}
                Local::Stop(stop) => {
                    done.push((known, thread, stop));
                    break;
                }
                Local::Decide(dst, atom) => {
                    let mut other = (known.clone(), thread.clone(), steps);
                    other.0.push(negated(&atom));
                    other.1.set(dst, Val::Const(0));
                    other.1.go_on();
                    left.push(other);
                    known.push(atom);
                    thread.set(dst, Val::Const(1));
                    thread.go_on();
                }
                Local::Choose(dst, values) => {
                    for value in &values[1..] {
                        let mut other = thread.clone();
                        other.set(dst, Val::Const(*value));
                        other.go_on();
                        left.push((known.clone(), other, steps));
                    }
                    thread.set(dst, Val::Const(values[0]));
                    thread.go_on();
                }
            }
        }
    }
    Ok(done)
}

enum Local {
    Next,
    Stop(Stop),
    /// 1 where the atom holds, else 0.
    Decide(porf_ir::Reg, Atom),
    /// Any of these.
    Choose(porf_ir::Reg, Vec<u64>),
}

fn local(program: &Program, thread: &mut Thread, known: &[Atom]) -> Result<Local, Diagnostic> {
    let instr = thread.next(program);
    match instr {
        Instr::Move { dst, src } => thread.set(*dst, thread.get(*src)),
        Instr::Bin { dst, op, width, a, b } => {
            let value = binary(program, thread, *op, *width, *a, *b)?;
            thread.set(*dst, value);
        }
        Instr::Cmp { dst, op, width, a, b } => match (thread.get(*a), thread.get(*b)) {
            (Val::Const(a), Val::Const(b)) => {
                thread.set(*dst, Val::Const(u64::from(op.apply(*width, a, b))));
            }
            (a, b) => {
                let test = matches!(op, CmpOp::Eq | CmpOp::Ne);
                let whole = |val: &Val| matches!(val, Val::Of(..));
                if test && let Equality::Known(equal) = equality(&a, &b) {
                    thread.set(*dst, Val::Const(u64::from(equal == (*op == CmpOp::Eq))));
                    thread.go_on();
                    return Ok(Local::Next);
                }
                let open = test && matches!(equality(&a, &b), Equality::Open);
                let opaque = |val: &Val| matches!(val, Val::Argument | Val::Unknown) || whole(val) && !open;
                if opaque(&a) || opaque(&b) {
                    thread.constant(
                        program,
                        if opaque(&a) { *lookup(instr, 0) } else { *lookup(instr, 1) },
                        "a comparison",
                    )?;
                }
                let atom = compare(*op, number(&a, *width), number(&b, *width));
                match decided(known, &atom) {
                    Some(holds) => thread.set(*dst, Val::Const(u64::from(holds))),
                    None => return Ok(Local::Decide(*dst, atom)),
                }
            }
        },
        Instr::SignExtend { dst, from, src } => {
            let value = match thread.get(*src) {
                Val::Const(value) => Val::Const(from.signed(value) as u64),
                other => other,
            };
            thread.set(*dst, value);
        }
        Instr::Select { dst, cond, a, b } => {
            let cond = thread.constant(program, *cond, "a choice")?;
            thread.set(*dst, thread.get(if cond != 0 { *a } else { *b }));
        }
        Instr::Jump { target } => {
            thread.jump(*target);
            return Ok(Local::Next);
        }
        Instr::Branch { cond, then, otherwise } => {
            let cond = thread.constant(program, *cond, "a condition")?;
            thread.jump(if cond != 0 { *then } else { *otherwise });
            return Ok(Local::Next);
        }
        Instr::Switch { value, cases, default } => {
            let value = thread.constant(program, *value, "a switch")?;
            let case = cases.iter().find(|(case, _)| *case == value);
            thread.jump(case.map_or(*default, |(_, target)| *target));
            return Ok(Local::Next);
        }
        Instr::Call { function, args, .. } => return call(program, thread, *function, args),
        Instr::CallPointer { pointer, args, .. } => {
            let address = thread.constant(program, *pointer, "a call")?;
            let function = function_at(address)
                .ok_or_else(|| thread.wrong(program, "a call through something that is no function"))?;
            return call(program, thread, function, args);
        }
        Instr::Return { value } => {
            let values: Vec<Val> = value.iter().map(|value| thread.get(*value)).collect();
            return Ok(leave(program, thread, &values));
        }
        Instr::ReturnAll { values } => {
            let values: Vec<Val> = values.iter().map(|value| thread.get(*value)).collect();
            return Ok(leave(program, thread, &values));
        }
        Instr::ExitThread { .. } => return Ok(Local::Stop(Stop::End)),
        Instr::Block { .. } => return Ok(Local::Stop(Stop::Stuck)),
        Instr::Assume { cond } => {
            if thread.constant(program, *cond, "an assumption")? == 0 {
                return Ok(Local::Stop(Stop::Stuck));
            }
        }
        Instr::Assert { cond, message } => {
            if thread.constant(program, *cond, "an assertion")? == 0 {
                return Ok(Local::Stop(Stop::Fail(message.to_string())));
            }
        }
        Instr::Fail { kind, message } if !kind.is_limit() => {
            return Ok(Local::Stop(Stop::Fail(message.to_string())));
        }
        Instr::Fail { message, .. } => return Err(thread.wrong(program, message.to_string())),
        Instr::Nondet { dst, options } if (1..=MOST_CHOICES).contains(options) => {
            return Ok(Local::Choose(*dst, (0..u64::from(*options)).collect()));
        }
        Instr::Input { dst, values, .. } if (1..=MOST_CHOICES as usize).contains(&values.len()) => {
            return Ok(Local::Choose(*dst, values.to_vec()));
        }
        Instr::Held { op, dst, address } => {
            let address = thread.constant(program, *address, "the address of a lock")?;
            let count = thread.held.get(&address).copied().unwrap_or(0);
            let now = match op {
                HeldOp::Count => count,
                HeldOp::Acquire => count + 1,
                HeldOp::Release => count.saturating_sub(1),
            };
            thread.held.insert(address, now);
            thread.held.retain(|_, count| *count > 0);
            thread.set(*dst, Val::Const(count));
        }
        Instr::CtrlMark { .. }
        | Instr::CtrlRestore { .. }
        | Instr::IfBegin { .. }
        | Instr::IfEnd { .. }
        | Instr::LoopHead { .. }
        | Instr::Pad { .. } => {}
        Instr::Load { dst, address, size, .. } => {
            let Val::Const(address) = thread.get(*address) else { return Ok(Local::Stop(Stop::Visible)) };
            if Region::of(address) != Some(Region::Constant) {
                return Ok(Local::Stop(Stop::Visible));
            }
            thread.set(*dst, Val::Const(program.initial_value(address, *size)));
        }
        _ => return Ok(Local::Stop(Stop::Visible)),
    }
    thread.go_on();
    Ok(Local::Next)
}

/// An operand of a comparison, for the message about it.
fn lookup(instr: &Instr, number: usize) -> &Operand {
    match instr {
        Instr::Cmp { a, .. } if number == 0 => a,
        Instr::Cmp { b, .. } => b,
        _ => unreachable!("comparisons alone"),
    }
}

fn call(
    program: &Program,
    thread: &mut Thread,
    function: FunctionId,
    args: &[Operand],
) -> Result<Local, Diagnostic> {
    if thread.frames.len() > MOST_CALLS {
        return Err(thread.wrong(program, "calls that are too deep"));
    }
    let args: Vec<Val> = args.iter().map(|arg| thread.get(*arg)).collect();
    thread.enter(program, function, &args);
    Ok(Local::Next)
}

fn leave(program: &Program, thread: &mut Thread, values: &[Val]) -> Local {
    if thread.frames.len() == 1 {
        return Local::Stop(Stop::End);
    }
    thread.frames.pop();
    let dst = match thread.next(program) {
        Instr::Call { dst, .. } | Instr::CallPointer { dst, .. } => *dst,
        _ => None,
    };
    if let Some(dst) = dst {
        for (behind, value) in values.iter().enumerate() {
            thread.set(porf_ir::Reg(dst.0 + behind as u32), value.clone());
        }
    }
    thread.go_on();
    Local::Next
}

fn binary(
    program: &Program,
    thread: &Thread,
    op: BinOp,
    width: Width,
    a: Operand,
    b: Operand,
) -> Result<Val, Diagnostic> {
    let refused = || thread.wrong(program, format!("{op:?} of a number that is not constant"));
    Ok(match (thread.get(a), op, thread.get(b)) {
        (Val::Const(a), op, Val::Const(b)) => match op.apply(width, a, b) {
            Some(value) => Val::Const(value),
            None => return Err(thread.wrong(program, "a division by zero")),
        },
        (Val::Sym(sym, offset), BinOp::Add, Val::Const(c))
        | (Val::Const(c), BinOp::Add, Val::Sym(sym, offset)) => Val::Sym(sym, offset + width.signed(c)),
        (Val::Sym(sym, offset), BinOp::Sub, Val::Const(c)) => Val::Sym(sym, offset - width.signed(c)),
        // Numbers are as wide as they need to be: a mask of all ones changes nothing.
        (Val::Sym(sym, offset), BinOp::And, Val::Const(c))
            if width.truncate(c) == width.truncate(u64::MAX) =>
        {
            Val::Sym(sym, offset)
        }
        (Val::Sym(sym, offset), BinOp::And, Val::Const(c))
            if c.trailing_ones() >= 32 && c.count_ones() == c.trailing_ones() =>
        {
            Val::Sym(sym, offset)
        }
        (Val::Of(family, who), BinOp::Add, Val::Const(c))
        | (Val::Const(c), BinOp::Add, Val::Of(family, who)) => {
            Val::Of(family.moved(width.signed(c) as u64), who)
        }
        (Val::Of(family, who), BinOp::Sub, Val::Const(c)) => {
            Val::Of(family.moved((width.signed(c) as u64).wrapping_neg()), who)
        }
        (Val::Of(family, who), BinOp::Mul, Val::Const(c))
        | (Val::Const(c), BinOp::Mul, Val::Of(family, who))
            if c != 0 && !family.is_pointer() =>
        {
            Val::Of(family.times(width.signed(c) as u64), who)
        }
        (Val::Of(family, who), BinOp::Shl, Val::Const(c)) if c < 32 && !family.is_pointer() => {
            Val::Of(family.times(1 << c), who)
        }
        (Val::Of(family, who), BinOp::And, Val::Const(c))
            if !family.is_pointer() && c.trailing_ones() >= 32 && c.count_ones() == c.trailing_ones() =>
        {
            Val::Of(family, who)
        }
        (Val::Argument, BinOp::Add | BinOp::Sub | BinOp::And, Val::Const(_)) => Val::Argument,
        (Val::Argument | Val::Of(..), ..) | (_, _, Val::Argument | Val::Of(..)) => {
            let whole = matches!(thread.get(a), Val::Argument | Val::Of(..));
            thread.constant(program, if whole { a } else { b }, "this")?;
            return Err(refused());
        }
        _ => return Err(refused()),
    })
}

/// A constant as the number that it stands for beside numbers.
pub fn number(value: &Val, width: Width) -> Val {
    match value {
        Val::Const(value) => Val::Const(width.signed(*value) as u64),
        other => other.clone(),
    }
}

fn compare(op: CmpOp, a: Val, b: Val) -> Atom {
    let op = match op {
        CmpOp::Eq => AtomOp::Eq,
        CmpOp::Ne => AtomOp::Neq,
        CmpOp::Ult | CmpOp::Slt => AtomOp::Lt,
        CmpOp::Ule | CmpOp::Sle => AtomOp::Le,
    };
    Atom { a, op, b }
}

pub fn negated(atom: &Atom) -> Atom {
    let Atom { a, op, b } = atom.clone();
    match op {
        AtomOp::Eq => Atom { a, op: AtomOp::Neq, b },
        AtomOp::Neq => Atom { a, op: AtomOp::Eq, b },
        AtomOp::Lt => Atom { a: b, op: AtomOp::Le, b: a },
        AtomOp::Le => Atom { a: b, op: AtomOp::Lt, b: a },
    }
}

/// Whether an atom follows from one that was decided before, or from its two sides alone.
pub fn decided(known: &[Atom], atom: &Atom) -> Option<bool> {
    if let (Val::Sym(x, c), Val::Sym(y, d)) = (&atom.a, &atom.b)
        && x == y
    {
        return Some(match atom.op {
            AtomOp::Eq => c == d,
            AtomOp::Neq => c != d,
            AtomOp::Lt => c < d,
            AtomOp::Le => c <= d,
        });
    }
    let swapped = |atom: &Atom| match atom.op {
        AtomOp::Eq | AtomOp::Neq => Some(Atom { a: atom.b.clone(), op: atom.op, b: atom.a.clone() }),
        _ => None,
    };
    let has = |atom: &Atom| known.contains(atom) || swapped(atom).is_some_and(|other| known.contains(&other));
    if has(atom) {
        Some(true)
    } else if has(&negated(atom)) {
        Some(false)
    } else {
        None
    }
}
