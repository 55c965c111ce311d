//! Writing the library's own functions in our IR.

use porf_event::{BlockReason, ReadMode, RmwKind, WriteMode};
use porf_ir::{
    BinOp, CmpOp, FaultKind, Function, FunctionBuilder, FunctionId, HeldOp, Instr, Operand, Reg, RmwOp, Width,
};

/// A function under construction.
pub struct Asm {
    pub b: FunctionBuilder,
    params: Vec<Operand>,
}

impl Asm {
    pub fn new(name: &str, params: &[&str]) -> Asm {
        let mut b = FunctionBuilder::new(name);
        let params = params.iter().map(|name| Operand::Reg(b.parameter(name))).collect();
        Asm { b, params }
    }

    pub fn param(&self, index: usize) -> Operand {
        self.params[index]
    }

    pub fn reg(&mut self) -> Reg {
        self.b.register("")
    }

    pub fn bin(&mut self, op: BinOp, a: Operand, b: impl Into<Operand>) -> Operand {
        let dst = self.reg();
        self.b.push(Instr::Bin { dst, op, width: Width::W64, a, b: b.into() });
        dst.into()
    }

    pub fn add(&mut self, a: Operand, b: u64) -> Operand {
        self.bin(BinOp::Add, a, b)
    }

    pub fn cmp(&mut self, op: CmpOp, a: Operand, b: impl Into<Operand>) -> Operand {
        let dst = self.reg();
        self.b.push(Instr::Cmp { dst, op, width: Width::W64, a, b: b.into() });
        dst.into()
    }

    pub fn load(&mut self, address: Operand, size: u8, mode: ReadMode) -> Operand {
        let dst = self.reg();
        self.b.push(Instr::Load { dst, address, size, mode });
        dst.into()
    }

    pub fn store(&mut self, address: Operand, value: impl Into<Operand>, size: u8, mode: WriteMode) {
        self.b.push(Instr::Store { address, value: value.into(), size, mode });
    }

    pub fn fetch(
        &mut self,
        op: RmwOp,
        address: Operand,
        operand: u64,
        mode: (ReadMode, WriteMode),
    ) -> Operand {
        let dst = self.reg();
        let (read, write) = mode;
        let operand = Operand::Const(operand);
        self.b.push(Instr::Rmw { dst, op, address, operand, size: 4, read, write, kind: RmwKind::Amo });
        dst.into()
    }

    /// A compare-and-swap of 4 bytes that acquires where it succeeds; the old value.
    pub fn cas(&mut self, address: Operand, expected: Operand, new: impl Into<Operand>) -> Operand {
        let dst = self.reg();
        self.b.push(Instr::Cas {
            dst,
            address,
            expected,
            new: new.into(),
            size: 4,
            read: ReadMode::Acquire,
            write: WriteMode::Relaxed,
            failure: ReadMode::Acquire,
            weak: false,
            kind: RmwKind::Amo,
        });
        dst.into()
    }

    pub fn held(&mut self, op: HeldOp, address: Operand) -> Operand {
        let dst = self.reg();
        self.b.push(Instr::Held { op, dst, address });
        dst.into()
    }

    /// Runs `then` where `cond` is not 0.
    pub fn when(&mut self, cond: Operand, then: impl FnOnce(&mut Asm)) {
        let (yes, no) = (self.b.label(), self.b.label());
        self.b.branch(cond, yes, no);
        self.b.bind(yes);
        then(self);
        self.b.bind(no);
    }

    /// Runs `then` where `cond` is 0.
    pub fn unless(&mut self, cond: Operand, then: impl FnOnce(&mut Asm)) {
        let (yes, no) = (self.b.label(), self.b.label());
        self.b.branch(cond, no, yes);
        self.b.bind(yes);
        then(self);
        self.b.bind(no);
    }

    /// Runs `each` with `from`, `from + step`, … as long as `goes_on`; where it ended.
    pub fn steps(
        &mut self,
        from: impl Into<Operand>,
        step: u64,
        goes_on: impl FnOnce(&mut Asm, Operand) -> Operand,
        each: impl FnOnce(&mut Asm, Operand),
    ) -> Operand {
        let at = self.reg();
        self.b.push(Instr::Move { dst: at, src: from.into() });
        let (head, body, end) = (self.b.label(), self.b.label(), self.b.label());
        self.b.bind(head);
        let more = goes_on(self, at.into());
        self.b.branch(more, body, end);
        self.b.bind(body);
        each(self, at.into());
        let next = self.add(at.into(), step);
        self.b.push(Instr::Move { dst: at, src: next });
        self.b.jump(head);
        self.b.bind(end);
        at.into()
    }

    pub fn block(&mut self, reason: BlockReason) {
        self.b.push(Instr::Block { reason });
    }

    pub fn fail(&mut self, kind: FaultKind, message: &str) {
        self.b.push(Instr::Fail { kind, message: message.into() });
    }

    pub fn call(&mut self, function: FunctionId, args: &[Operand]) -> Operand {
        let dst = self.reg();
        self.b.push(Instr::Call { function, args: args.into(), dst: Some(dst) });
        dst.into()
    }

    pub fn give(&mut self, value: impl Into<Operand>) {
        self.b.push(Instr::Return { value: Some(value.into()) });
    }

    pub fn finish(self) -> Function {
        self.b.finish()
    }
}
