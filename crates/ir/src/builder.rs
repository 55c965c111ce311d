//! Writing functions: fresh registers, labels that are bound later.

use crate::{Function, Instr, Reg, Span, Target};

/// Builds one [`Function`]; jump targets are labels until [`FunctionBuilder::finish`].
#[derive(Debug, Default)]
pub struct FunctionBuilder {
    function: Function,
    /// Position of each label, once bound.
    labels: Vec<Option<Target>>,
    span: Span,
}

/// A place in the code that may be jumped to before it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JumpLabel(Target);

impl FunctionBuilder {
    /// A function without parameters, registers or code so far.
    pub fn new(name: &str) -> FunctionBuilder {
        FunctionBuilder {
            function: Function { name: name.to_string(), ..Function::default() },
            ..Default::default()
        }
    }

    /// A register with a name for people ("" for none).
    pub fn register(&mut self, name: &str) -> Reg {
        let reg = Reg(self.function.registers);
        self.function.registers += 1;
        self.function.register_names.push(name.to_string());
        reg
    }

    /// A parameter; parameters come before all other registers.
    pub fn parameter(&mut self, name: &str) -> Reg {
        assert_eq!(self.function.params, self.function.registers, "parameters come first");
        self.function.params += 1;
        self.register(name)
    }

    /// Instructions from now on come from here.
    pub fn at(&mut self, span: Span) {
        self.span = span;
    }

    /// Where instructions come from now.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The file that the function comes from, as an index into the program's list.
    pub fn file(&mut self, file: u32) {
        self.function.file = file;
    }

    /// A loop begins here that runs a constant number of times.
    pub fn counted_loop(&mut self) {
        self.function.counted.push(self.function.code.len() as Target);
    }

    /// Values by number: jumps to `default` where no case matches.
    pub fn switch(&mut self, value: crate::Operand, cases: &[(u64, JumpLabel)], default: JumpLabel) {
        let cases = cases.iter().map(|(value, label)| (*value, label.0)).collect();
        self.push(Instr::Switch { value, cases, default: default.0 });
    }

    /// Copies private memory and jumps to `done`, or goes on.
    pub fn try_copy(
        &mut self,
        to: crate::Operand,
        from: crate::Operand,
        length: crate::Operand,
        done: JumpLabel,
    ) {
        self.push(Instr::TryCopy { to, from, length, done: done.0 });
    }

    /// Fills private memory and jumps to `done`, or goes on.
    pub fn try_fill(
        &mut self,
        to: crate::Operand,
        byte: crate::Operand,
        length: crate::Operand,
        done: JumpLabel,
    ) {
        self.push(Instr::TryFill { to, byte, length, done: done.0 });
    }

    /// How many registers there are so far.
    pub fn registers(&self) -> u32 {
        self.function.registers
    }

    /// `count` registers in a row; the first of them.
    pub fn register_row(&mut self, count: u32, name: &str) -> Reg {
        let first = Reg(self.function.registers);
        for _ in 0..count {
            self.register(name);
        }
        first
    }

    /// Appends an instruction that comes from the present place in the source.
    pub fn push(&mut self, instr: Instr) {
        self.function.code.push(instr);
        self.function.spans.push(self.span);
    }

    /// Whether the last instruction is a call.
    pub fn ends_in_call(&self) -> bool {
        matches!(self.function.code.last(), Some(Instr::Call { .. } | Instr::CallPointer { .. }))
    }

    /// Adds a load that only moves bytes, or an access of a thread that leaves ([`Function::moves`]).
    pub fn push_move(&mut self, instr: Instr) {
        self.function.moves.push(self.function.code.len() as Target);
        self.push(instr);
    }

    /// The register holds the address of a variable that other threads can see.
    pub fn local(&mut self, address: Reg) {
        self.function.locals.push(address);
    }

    /// A new label, to be bound once.
    pub fn label(&mut self) -> JumpLabel {
        self.labels.push(None);
        JumpLabel(self.labels.len() as Target - 1)
    }

    /// The label stands before the next instruction.
    pub fn bind(&mut self, label: JumpLabel) {
        let here = self.function.code.len() as Target;
        let previous = self.labels[label.0 as usize].replace(here);
        assert_eq!(previous, None, "a label is bound once");
    }

    /// Continues at the label.
    pub fn jump(&mut self, label: JumpLabel) {
        self.push(Instr::Jump { target: label.0 });
    }

    /// Continues at `then` if `cond` is not 0, and at `otherwise` if it is.
    pub fn branch(&mut self, cond: impl Into<crate::Operand>, then: JumpLabel, otherwise: JumpLabel) {
        self.push(Instr::Branch { cond: cond.into(), then: then.0, otherwise: otherwise.0 });
    }

    /// Where the call before it goes on when it is unwound.
    pub fn pad(&mut self, to: JumpLabel, exception: Reg, catches: bool) {
        self.push(Instr::Pad { to: to.0, exception, catches });
    }

    /// The function, with a final return and all labels resolved.
    pub fn finish(mut self) -> Function {
        self.push(Instr::Return { value: None });
        let resolve = |target: &mut Target| {
            *target = self.labels[*target as usize].expect("every label that is used is bound");
        };
        for instr in &mut self.function.code {
            match instr {
                Instr::Jump { target } | Instr::Pad { to: target, .. } => resolve(target),
                Instr::Branch { then, otherwise, .. } => {
                    resolve(then);
                    resolve(otherwise);
                }
                Instr::Switch { cases, default, .. } => {
                    cases.iter_mut().for_each(|(_, target)| resolve(target));
                    resolve(default);
                }
                Instr::TryCopy { done, .. } | Instr::TryFill { done, .. } => resolve(done),
                _ => {}
            }
        }
        self.function
    }
}
