//! Function bodies: blocks in order, values in registers, phis as moves on edges, heads of loops.

use super::counted::is_counted;
use super::jump::Jumps;
use super::types::{self, Unsupported};
use super::{Translator, types::Word};
use crate::library;
use crate::llvm::{Block, Opcode, TypeKind, Value, ValueKind};
use porf_ir::{FaultKind, Function, FunctionBuilder, Instr, JumpLabel, Operand, Reg, Span, Width};
use std::collections::{HashMap, HashSet};

/// The function that is being translated.
pub struct Body<'t, 'm> {
    pub tr: &'t mut Translator<'m>,
    pub b: FunctionBuilder,
    function: Value<'m>,
    /// Its source file, by number.
    file: u32,
    pub params: u32,
    values: HashMap<Value<'m>, Vec<Operand>>,
    labels: HashMap<Block<'m>, JumpLabel>,
    loops: HashMap<Block<'m>, Loop<'m>>,
    /// The address of the variable arguments, in a variadic function.
    pub varargs: Option<Reg>,
    /// Shared local variables, to be freed on return.
    pub shared_locals: Vec<Reg>,
    /// Shared local variables that are made where their scope begins.
    pub scoped: HashSet<Value<'m>>,
    /// Where `__VERIFIER_spin_start` notes that an iteration begins.
    pub spin: Option<(Reg, Reg)>,
    pub is_entry: bool,
    /// Where `longjmp` may lead to.
    pub jumps: Option<Jumps>,
    /// The call of a library function that is being translated.
    pub site: Option<Value<'m>>,
}

/// A loop that reads memory.
struct Loop<'m> {
    effects: Reg,
    /// Edges that stay in the loop.
    back: Vec<Block<'m>>,
    /// It can be entered elsewhere than at its head.
    irreducible: bool,
    /// How often it runs is a constant.
    counted: bool,
}

impl<'t, 'm> Body<'t, 'm> {
    pub fn translate(tr: &'t mut Translator<'m>, function: Value<'m>) -> Function {
        if tr.replaced.contains_key(&function) || library::provides(function) {
            return tr.external(function);
        }
        let mut body = Body::empty(tr, function);
        body.blocks();
        body.b.finish()
    }

    /// Parameters and nothing else.
    pub fn empty(tr: &'t mut Translator<'m>, function: Value<'m>) -> Body<'t, 'm> {
        let mut b = FunctionBuilder::new(function.name());
        let file = tr.file(function);
        b.file(file);
        let (line, _) = function.position();
        b.at(Span { line, column: 0 });
        let mut values = HashMap::new();
        let mut params = 0;
        for param in function.params() {
            let count = types::words(tr.module, param.ty()).map_or(0, |words| words.len());
            let words = (0..count).map(|_| Operand::Reg(b.parameter(param.name()))).collect();
            params += count as u32;
            values.insert(param, words);
        }
        let variadic = function.value_type().is_variadic() && !function.is_declaration();
        let varargs = variadic.then(|| b.parameter("..."));
        let is_entry = tr.program.threads.first().is_some_and(|main| main.name == function.name());
        Body {
            tr,
            b,
            function,
            file,
            params,
            values,
            labels: HashMap::new(),
            loops: HashMap::new(),
            varargs,
            shared_locals: Vec::new(),
            scoped: HashSet::new(),
            spin: None,
            is_entry,
            jumps: None,
            site: None,
        }
    }

    pub fn finish_with(mut self, result: Vec<Operand>) -> Function {
        self.give_back(result);
        self.b.finish()
    }

    pub fn fail_with(mut self, reason: &str) -> Function {
        self.unsupported(reason);
        self.b.finish()
    }

    fn blocks(&mut self) {
        let order = self.order();
        let reachable: HashSet<Block<'m>> = order.iter().copied().collect();
        for block in &order {
            let label = self.b.label();
            self.labels.insert(*block, label);
            for phi in phis(*block) {
                let words = self.fresh(phi);
                self.values.insert(phi, words);
            }
        }
        self.begin_jumps(self.function);
        self.find_loops(&order);
        for (at, block) in order.iter().enumerate() {
            self.b.bind(self.labels[block]);
            self.loop_head(*block);
            let next = order.get(at + 1).copied();
            for instruction in block.instructions() {
                self.at(instruction);
                if instruction.opcode() == Opcode::Phi {
                    continue;
                }
                if let Err(reason) = self.instruction(instruction, next) {
                    self.unsupported(&reason);
                    // Whoever uses the result is never reached; it must have registers all the same.
                    let words = self.fresh(instruction);
                    self.values.insert(instruction, words);
                }
            }
        }
        self.end_jumps();
        debug_assert!(order.iter().all(|block| reachable.contains(block)));
    }

    /// Reverse post-order: definitions come before their uses, phis apart.
    fn order(&self) -> Vec<Block<'m>> {
        let Some(entry) = self.function.blocks().next() else { return Vec::new() };
        let mut seen = HashSet::from([entry]);
        let mut stack = vec![(entry, successors(entry))];
        let mut order = Vec::new();
        while let Some((block, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(next) if seen.insert(next) => stack.push((next, successors(next))),
                Some(_) => {}
                None => {
                    order.push(*block);
                    stack.pop();
                }
            }
        }
        order.reverse();
        order
    }

    /// Loops by their back edges, with a register each where the body reads memory.
    fn find_loops(&mut self, order: &[Block<'m>]) {
        let position: HashMap<Block<'m>, usize> =
            order.iter().enumerate().map(|(at, block)| (*block, at)).collect();
        let mut predecessors: HashMap<Block<'m>, Vec<Block<'m>>> = HashMap::new();
        for block in order {
            for next in successors(*block) {
                predecessors.entry(next).or_default().push(*block);
            }
        }
        for head in order {
            // In reverse post-order an edge that goes back closes a cycle.
            let back: Vec<Block<'m>> = predecessors
                .get(head)
                .into_iter()
                .flatten()
                .copied()
                .filter(|from| position[from] >= position[head])
                .collect();
            if back.is_empty() {
                continue;
            }
            let mut body = HashSet::from([*head]);
            let mut work = back.clone();
            while let Some(block) = work.pop() {
                if body.insert(block) {
                    work.extend(predecessors.get(&block).into_iter().flatten().copied());
                }
            }
            // A head that can be gone around dominates nothing: the walk back then meets the entry.
            let irreducible = order.first().is_some_and(|entry| entry != head && body.contains(entry));
            if body.iter().any(|block| block.instructions().any(reads_memory)) {
                let effects = self.b.register("");
                if irreducible {
                    self.b.push(Instr::Move { dst: effects, src: Operand::Const(u64::MAX) });
                }
                let counted = !irreducible && is_counted(*head, &back, &body);
                self.loops.insert(*head, Loop { effects, back, irreducible, counted });
            }
        }
    }

    fn loop_head(&mut self, block: Block<'m>) {
        let Some(found) = self.loops.get(&block) else { return };
        let effects = found.effects;
        if found.counted {
            self.b.counted_loop();
        }
        let mut changing: Vec<Reg> = Vec::new();
        let registers = |words: &Vec<Operand>| -> Vec<Reg> {
            words
                .iter()
                .filter_map(|word| if let Operand::Reg(reg) = word { Some(*reg) } else { None })
                .collect()
        };
        if found.irreducible {
            // What an iteration changes is not told by the phis of the head: anything computed so far.
            changing.extend(self.values.values().flat_map(registers));
            changing.sort();
            changing.dedup();
        } else {
            changing.extend(phis(block).flat_map(|phi| registers(&self.values[&phi])));
        }
        let variables: Vec<(Reg, Reg)> = changing.into_iter().map(|reg| (reg, self.b.register(""))).collect();
        let memory = self.b.register("");
        self.b.push(Instr::LoopHead { effects, memory, variables: variables.into() });
    }

    /// What an edge does before its target begins: phis, entries into loops.
    fn edge_moves(&mut self, from: Block<'m>, to: Block<'m>) -> Vec<(Reg, Operand)> {
        let mut moves = Vec::new();
        for phi in phis(to) {
            let Some((value, _)) = phi.incoming().into_iter().find(|(_, block)| *block == from) else {
                continue;
            };
            // An undefined value may be anything: what the register holds, for example.
            if value.is_undef() {
                continue;
            }
            let sources = match self.words(value) {
                Ok(sources) => sources,
                Err(reason) => {
                    self.unsupported(&reason);
                    continue;
                }
            };
            for (target, source) in self.values[&phi].clone().into_iter().zip(sources) {
                if let Operand::Reg(target) = target
                    && Operand::Reg(target) != source
                {
                    moves.push((target, source));
                }
            }
        }
        if let Some(found) = self.loops.get(&to)
            && !found.back.contains(&from)
        {
            moves.push((found.effects, Operand::Const(u64::MAX)));
        }
        moves
    }

    /// Moves that happen at once: a register that is both read and written is saved first.
    fn parallel(&mut self, moves: Vec<(Reg, Operand)>) {
        let mut moves = moves;
        for at in 0..moves.len() {
            let target = moves[at].0;
            if moves[at + 1..].iter().any(|(_, source)| *source == Operand::Reg(target)) {
                let saved = self.b.register("");
                self.b.push(Instr::Move { dst: saved, src: target.into() });
                for (_, source) in &mut moves[at + 1..] {
                    if *source == Operand::Reg(target) {
                        *source = saved.into();
                    }
                }
            }
            let (dst, src) = moves[at];
            self.b.push(Instr::Move { dst, src });
        }
    }

    /// Goes to a block; falls through where it is the next.
    pub fn go(&mut self, from: Block<'m>, to: Block<'m>, next: Option<Block<'m>>) {
        let moves = self.edge_moves(from, to);
        self.parallel(moves);
        if next != Some(to) {
            self.b.jump(self.labels[&to]);
        }
    }

    /// Branches to several blocks, with a stub for every edge that has something to do.
    pub fn edges(&mut self, from: Block<'m>, targets: &[Block<'m>]) -> (Vec<JumpLabel>, Vec<Stub<'m>>) {
        let mut labels = Vec::new();
        let mut stubs: Vec<Stub<'m>> = Vec::new();
        for to in targets {
            if let Some(stub) = stubs.iter().find(|stub| stub.to == *to) {
                labels.push(stub.label);
                continue;
            }
            let moves = self.edge_moves(from, *to);
            if moves.is_empty() {
                labels.push(self.labels[to]);
            } else {
                let label = self.b.label();
                labels.push(label);
                stubs.push(Stub { to: *to, label, moves });
            }
        }
        (labels, stubs)
    }

    /// The stubs, directly behind the branch, so that forward edges stay forward.
    pub fn place(&mut self, stubs: Vec<Stub<'m>>) {
        for stub in stubs {
            self.b.bind(stub.label);
            self.parallel(stub.moves);
            self.b.jump(self.labels[&stub.to]);
        }
    }

    /// Fresh registers in a row for a value.
    pub fn fresh(&mut self, value: Value<'m>) -> Vec<Operand> {
        let count = types::words(self.tr.module, value.ty()).map_or(1, |words| words.len()) as u32;
        let first = self.b.register_row(count, value.name());
        (first.0..first.0 + count).map(|reg| Operand::Reg(Reg(reg))).collect()
    }

    /// The first word of what a landing pad gives: the exception.
    pub fn landing(&mut self, pad: Value<'m>) -> Operand {
        if !self.values.contains_key(&pad) {
            let words = self.fresh(pad);
            self.values.insert(pad, words);
        }
        self.values[&pad][0]
    }

    /// A value of one word into a new register.
    pub fn result(&mut self, value: Value<'m>) -> Reg {
        let reg = self.b.register(value.name());
        self.values.insert(value, vec![reg.into()]);
        reg
    }

    /// A value that is computed already.
    pub fn set(&mut self, value: Value<'m>, words: Vec<Operand>) {
        self.values.insert(value, words);
    }

    /// The words of a value.
    pub fn words(&mut self, value: Value<'m>) -> Result<Vec<Operand>, Unsupported> {
        if let Some(words) = self.values.get(&value) {
            return Ok(words.clone());
        }
        match value.kind() {
            ValueKind::Instruction | ValueKind::Argument => {
                Err(format!("use of {} before its definition", value.print()))
            }
            ValueKind::GlobalVariable if value.is_thread_local() => {
                let index = self.tr.thread_local(value)?;
                let dst = self.b.register(value.name());
                self.b.push(Instr::ThreadLocalAddress { dst, index });
                Ok(vec![dst.into()])
            }
            ValueKind::ConstantExpression if mentions_thread_local(value) => {
                let base = self.word(value.operand(0))?;
                match value.opcode() {
                    Opcode::GetElementPtr => {
                        let offset = self.tr.constant_offset(value)?;
                        Ok(vec![self.add(base, offset)])
                    }
                    Opcode::BitCast | Opcode::AddrSpaceCast | Opcode::PtrToInt | Opcode::IntToPtr => {
                        Ok(vec![base])
                    }
                    _ => Err(format!("constant {}", value.print())),
                }
            }
            _ => self.tr.constant(value),
        }
    }

    /// The only word of a value.
    pub fn word(&mut self, value: Value<'m>) -> Result<Operand, Unsupported> {
        match self.words(value)?.as_slice() {
            [word] => Ok(*word),
            _ => Err(format!("a value of type {} here", value.ty().print())),
        }
    }

    pub fn scalar(&self, value: Value<'m>) -> Result<Word, Unsupported> {
        types::scalar(self.tr.module, value.ty())
    }

    pub fn add(&mut self, base: Operand, offset: u64) -> Operand {
        match base {
            _ if offset == 0 => base,
            Operand::Const(base) => Operand::Const(base.wrapping_add(offset)),
            Operand::Reg(_) => self.bin(porf_ir::BinOp::Add, Width::W64, base, Operand::Const(offset)),
        }
    }

    pub fn bin(&mut self, op: porf_ir::BinOp, width: Width, a: Operand, b: Operand) -> Operand {
        if let (Operand::Const(x), Operand::Const(y)) = (a, b)
            && let Some(result) = op.apply(width, x, y)
        {
            return Operand::Const(result);
        }
        let dst = self.b.register("");
        self.b.push(Instr::Bin { dst, op, width, a, b });
        dst.into()
    }

    pub fn unsupported(&mut self, reason: &str) {
        self.fail(FaultKind::Unsupported, &format!("{reason} is not supported"));
    }

    pub fn fail(&mut self, kind: FaultKind, message: &str) {
        self.b.push(Instr::Fail { kind, message: message.into() });
    }

    pub fn give_back(&mut self, words: Vec<Operand>) {
        for address in std::mem::take(&mut self.shared_locals) {
            let kind = porf_ir::AllocKind::Stack;
            self.b.push(Instr::Free { address: address.into(), kind });
            // It is over: what the thread does at its end must not free it again.
            self.b.push(Instr::Move { dst: address, src: Operand::Const(0) });
            self.shared_locals.push(address);
        }
        match words.as_slice() {
            [] => self.b.push(Instr::Return { value: None }),
            [word] => self.b.push(Instr::Return { value: Some(*word) }),
            _ => self.b.push(Instr::ReturnAll { values: words.into() }),
        }
    }

    /// Notes that an atomic access here is made under a lock.
    pub fn note_lock(&mut self) {
        let line = self.b.span().line;
        let image = self.tr.program.image.as_mut().expect("C programs have an image");
        image.locked.get_or_insert((self.file, line));
    }

    /// Notes that calls of a function are left out.
    pub fn note_stub(&mut self, name: String) {
        let (file, line) = (self.file, self.b.span().line);
        let image = self.tr.program.image.as_mut().expect("C programs have an image");
        if image.left_out.iter().all(|stub| stub.name != name) {
            image.left_out.push(porf_ir::LeftOut { name, file, line });
        }
    }

    fn at(&mut self, instruction: Value<'m>) {
        let (line, byte) = instruction.position();
        if line > 0 {
            let column = self.tr.column(self.file, line, byte);
            self.b.at(Span { line, column });
            if !self.tr.is_rust {
                self.tr.note(instruction, (self.file, line, column));
            }
        }
    }
}

/// An edge with moves.
pub struct Stub<'m> {
    to: Block<'m>,
    label: JumpLabel,
    moves: Vec<(Reg, Operand)>,
}

/// All bits of a width.
pub fn mask(width: Width) -> u64 {
    width.truncate(u64::MAX)
}

/// The blocks that may come next.
pub fn successors(block: Block<'_>) -> Vec<Block<'_>> {
    let terminator = block.terminator();
    match terminator.opcode() {
        Opcode::Invoke => {
            let pad = terminator.unwind_destination();
            std::iter::once(terminator.normal_destination()).chain(pad).collect()
        }
        _ => terminator.successors(),
    }
}

/// Whether an instruction may be run several times by one thread: it lies in a loop, or its function is called
/// from one. What a pointer to the function leads to is not looked at.
pub fn is_in_loop(instruction: Value<'_>) -> bool {
    let mut functions = HashSet::new();
    let mut sites = vec![instruction];
    while let Some(site) = sites.pop() {
        let mut seen = HashSet::new();
        let mut work = successors(site.block());
        while let Some(block) = work.pop() {
            if block == site.block() {
                return true;
            }
            if seen.insert(block) {
                work.extend(successors(block));
            }
        }
        if functions.insert(site.function()) {
            let is_call = |user: &Value<'_>| {
                matches!(user.opcode(), Opcode::Call | Opcode::Invoke) && user.callee() == site.function()
            };
            sites.extend(site.function().users().filter(is_call));
        }
    }
    false
}

pub fn phis(block: Block<'_>) -> impl Iterator<Item = Value<'_>> {
    block.instructions().take_while(|instruction| instruction.opcode() == Opcode::Phi)
}

fn reads_memory(instruction: Value<'_>) -> bool {
    matches!(
        instruction.opcode(),
        Opcode::Load | Opcode::CmpXchg | Opcode::AtomicRmw | Opcode::Call | Opcode::Invoke
    )
}

fn mentions_thread_local(value: Value<'_>) -> bool {
    value.is_thread_local()
        || value.kind() == ValueKind::ConstantExpression && value.operands().any(mentions_thread_local)
}

/// Whether the type is one that arithmetic goes over lane by lane.
pub fn is_wide(value: Value<'_>) -> bool {
    matches!(value.ty().kind(), TypeKind::Int(65..))
}
