//! The values of an input that are tried stand for all values of its type, wherever the program says so: random
//! functions of a byte give the same results with them as with all 256 bytes.

use porf_event::Label;
use porf_interp::{Interpreter, Step};
use porf_ir::{
    BinOp, CmpOp, FunctionBuilder, FunctionId, InputType, Instr, Operand, Program, Reg, ThreadEntry, Width,
};
use std::collections::BTreeSet;

const ALL: [u64; 256] = {
    let mut all = [0; 256];
    let mut at = 0;
    while at < 256 {
        all[at] = at as u64;
        at += 1;
    }
    all
};

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }

    /// A byte, often one of those where numbers begin or end.
    fn byte(&mut self) -> u64 {
        let any = self.below(256);
        self.pick(&[0, 1, 2, 5, 6, 127, 128, 129, 254, 255, any])
    }
}

/// A function that asks for a byte and gives back a number that depends on a few questions about it.
fn program(seed: u64) -> Program {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut f = FunctionBuilder::new("P0");
    let (result, input) = (f.register("result"), f.register("input"));
    let signed = random.below(2) == 0;
    let kind = InputType::Integer { bits: 8, signed };
    f.push(Instr::Input { dst: input, kind, values: [].into() });
    let mut held = input;
    for step in 0..1 + random.below(4) {
        let weight = Operand::Const(10_u64.pow(step as u32));
        match random.below(8) {
            0 => {
                let copy = f.register("copy");
                f.push(Instr::Move { dst: copy, src: held.into() });
                held = copy;
            }
            1 => {
                let wide = f.register("wide");
                f.push(Instr::SignExtend { dst: wide, from: Width::W8, src: held.into() });
                held = wide;
            }
            2 => {
                let (one, other, end) = (f.label(), f.label(), f.label());
                let cases = [(random.byte(), one), (random.byte(), other)];
                // Two cases of one number are no switch; and a value that was extended is another one.
                if cases[0].0 == cases[1].0 || held != input {
                    continue;
                }
                f.switch(held.into(), &cases, end);
                f.bind(one);
                add(&mut f, result, weight);
                f.bind(other);
                add(&mut f, result, weight);
                f.bind(end);
            }
            3 => {
                let rest = f.register("rest");
                let op = random.pick(&[BinOp::URem, BinOp::SRem]);
                let by = Operand::Const(random.pick(&[2, 3, 4, 6, 7, 250, 254]));
                f.push(Instr::Bin { op, width: Width::W8, dst: rest, a: held.into(), b: by });
                let scaled = f.register("scaled");
                f.push(Instr::Bin {
                    op: BinOp::Mul,
                    width: Width::W64,
                    dst: scaled,
                    a: rest.into(),
                    b: weight,
                });
                add(&mut f, result, scaled.into());
            }
            _ => {
                let ops = [CmpOp::Eq, CmpOp::Ne, CmpOp::Ult, CmpOp::Ule, CmpOp::Slt, CmpOp::Sle];
                let (op, constant) = (random.pick(&ops), Operand::Const(random.byte()));
                let answer = f.register("answer");
                let (a, b) = match random.below(2) {
                    0 => (held.into(), constant),
                    _ => (constant, held.into()),
                };
                f.push(Instr::Cmp { dst: answer, op, width: Width::W8, a, b });
                let (yes, no) = (f.label(), f.label());
                f.branch(answer, yes, no);
                f.bind(yes);
                add(&mut f, result, weight);
                f.bind(no);
            }
        }
    }
    f.push(Instr::Return { value: None });
    let mut program = Program { image: Some(Default::default()), ..Program::default() };
    program.functions.push(f.finish());
    program.threads.push(ThreadEntry { name: "P0".into(), function: FunctionId(0), registers: Vec::new() });
    program
}

fn add(f: &mut FunctionBuilder, result: Reg, what: Operand) {
    f.push(Instr::Bin { op: BinOp::Add, width: Width::W64, dst: result, a: result.into(), b: what });
}

/// What a program gives back for its inputs.
fn results(program: &Program) -> BTreeSet<u64> {
    let interpreter = Interpreter::new(program);
    let mut results = BTreeSet::new();
    let mut work = vec![interpreter.start(porf_event::ThreadId(0))];
    while let Some(mut state) = work.pop() {
        match interpreter.run(&mut state) {
            Step::Emit(Label::Choice { options, .. }) => {
                for answer in 0..u64::from(options) {
                    let mut state = state.clone();
                    interpreter.deliver(&mut state, answer);
                    work.push(state);
                }
            }
            _ => {
                results.insert(state.register(Reg(0)));
            }
        }
    }
    results
}

#[test]
fn values_that_are_tried_stand_for_all() {
    let (mut covered, mut tried) = (0, 0);
    for seed in 0..1_500 {
        let mut some = program(seed);
        let mut all = some.clone();
        for instr in &mut all.functions[0].code {
            if let Instr::Input { values, .. } = instr {
                *values = ALL.into();
            }
        }
        some.settle_inputs(None);
        covered += usize::from(some.inputs.iter().all(|input| input.is_covered));
        tried += some.inputs.iter().map(|input| input.values.len()).sum::<usize>();
        assert_eq!(
            results(&some),
            results(&all),
            "program {seed}: {:?}\n{:?}",
            some.inputs,
            all.functions[0].code
        );
    }
    assert_eq!(covered, 1_500);
    assert!(tried < 1_500 * 80, "{tried} values in all");
}

#[test]
fn a_number_that_is_computed_with_is_not_covered() {
    let mut program = Program::default();
    let mut f = FunctionBuilder::new("P0");
    let (input, next, is) = (f.register("input"), f.register("next"), f.register("is"));
    f.push(Instr::Input {
        dst: input,
        kind: InputType::Integer { bits: 32, signed: true },
        values: [].into(),
    });
    let one = Operand::Const(1);
    f.push(Instr::Bin { op: BinOp::Add, width: Width::W32, dst: next, a: input.into(), b: one });
    let constant = Operand::Const(1000);
    f.push(Instr::Cmp { dst: is, op: CmpOp::Eq, width: Width::W32, a: next.into(), b: constant });
    f.push(Instr::Return { value: None });
    program.functions.push(f.finish());
    program.settle_inputs(None);
    let [tried] = &program.inputs[..] else { panic!("{:?}", program.inputs) };
    assert!(!tried.is_covered);
    // Its own extremes, and what the program mentions, with neighbours.
    for value in ["-2147483648", "-1", "0", "1", "999", "1000", "1001", "2147483647"] {
        assert!(tried.values.iter().any(|one| one == value), "{value} of {:?}", tried.values);
    }
}

#[test]
fn values_can_be_given() {
    let mut program = program(1);
    program.settle_inputs(Some(&"-1..2".parse().unwrap()));
    assert!(!program.inputs[0].is_covered);
    assert_eq!(program.inputs[0].values.len(), 4);
    assert!("2..1".parse::<porf_ir::Domain>().is_err());
    assert!("x".parse::<porf_ir::Domain>().is_err());
    assert_eq!("3,1".parse::<porf_ir::Domain>().unwrap().to_string(), "3,1");
}
