//! Where conditions end: branches and the places where their ways meet again.
//!
//! The Linux-kernel model keeps a control dependency inside of an `if` or a loop and not after it, since
//! compilers move what is after it before it. In code with jumps, an `if` ends at the immediate
//! post-dominator of its branch. [`Program::mark_ifs`] puts marks there, for the interpreter.
//!
//! Post-dominators: Cooper, Harvey, Kennedy, "A simple, fast dominance algorithm", 2001, on the reversed
//! graph of instructions with one exit.

use crate::{Function, Instr, Operand, Program, Target};

impl Program {
    /// Marks the beginnings and ends of conditions with [`Instr::IfBegin`] and [`Instr::IfEnd`].
    pub fn mark_ifs(&mut self) {
        self.functions.iter_mut().for_each(mark);
    }
}

fn mark(function: &mut Function) {
    let joins = post_dominators(&function.code);
    let exit = function.code.len();
    let mut ends: Vec<Vec<u32>> = vec![Vec::new(); exit];
    let mut begins: Vec<Option<(u32, Operand)>> = vec![None; exit];
    let mut slots = 0;
    for (at, instr) in function.code.iter().enumerate() {
        let cond = match instr {
            Instr::Branch { cond, then, otherwise } if then != otherwise => *cond,
            Instr::Switch { value, .. } => *value,
            // What is assumed or asserted decides nothing that comes later.
            Instr::Assume { cond } | Instr::Assert { cond, .. } => *cond,
            _ => continue,
        };
        begins[at] = Some((slots, cond));
        if let Some(join) = joins[at].filter(|join| *join < exit) {
            ends[join].push(slots);
        }
        slots += 1;
    }
    if slots == 0 {
        return;
    }
    let code = std::mem::take(&mut function.code);
    let spans = std::mem::take(&mut function.spans);
    let mut moved = Vec::with_capacity(exit);
    let mut places = Vec::with_capacity(exit);
    for (at, (instr, span)) in code.into_iter().zip(spans).enumerate() {
        moved.push(function.code.len() as Target);
        function.code.extend(ends[at].iter().map(|&slot| Instr::IfEnd { slot }));
        function.code.extend(begins[at].map(|(slot, cond)| Instr::IfBegin { slot, cond }));
        places.push(function.code.len() as Target);
        function.code.push(instr);
        function.spans.resize(function.code.len(), span);
    }
    for instr in &mut function.code {
        instr.map_targets(|target| moved[target as usize]);
    }
    function.moves.iter_mut().for_each(|at| *at = places[*at as usize]);
}

/// For each instruction the next one that every way from it to the end comes to: the length of the code is
/// the end. `None` where no way leads to the end.
fn post_dominators(code: &[Instr]) -> Vec<Option<usize>> {
    let exit = code.len();
    let next: Vec<Vec<usize>> = code.iter().enumerate().map(|(at, instr)| successors(instr, at)).collect();
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); exit + 1];
    for (at, next) in next.iter().enumerate() {
        next.iter().for_each(|&to| before[to.min(exit)].push(at));
    }
    // Postorder of the reversed graph.
    let mut number = vec![None; exit + 1];
    let mut order = Vec::with_capacity(exit + 1);
    let mut seen = vec![false; exit + 1];
    let mut work = vec![(exit, 0)];
    seen[exit] = true;
    while let Some((at, child)) = work.pop() {
        match before[at].get(child) {
            Some(&to) => {
                work.push((at, child + 1));
                if !std::mem::replace(&mut seen[to], true) {
                    work.push((to, 0));
                }
            }
            None => {
                number[at] = Some(order.len());
                order.push(at);
            }
        }
    }
    let mut parent: Vec<Option<usize>> = vec![None; exit + 1];
    parent[exit] = Some(exit);
    let mut changed = true;
    while changed {
        changed = false;
        for &at in order.iter().rev().filter(|&&at| at != exit) {
            let mut meet: Option<usize> = None;
            for &to in &next[at] {
                let mut b = to.min(exit);
                if parent[b].is_none() {
                    continue;
                }
                let Some(mut a) = meet else {
                    meet = Some(b);
                    continue;
                };
                while a != b {
                    // Ancestors have higher numbers.
                    if number[a] < number[b] {
                        a = parent[a].unwrap_or(exit);
                    } else {
                        b = parent[b].unwrap_or(exit);
                    }
                }
                meet = Some(a);
            }
            if parent[at] != meet {
                parent[at] = meet;
                changed = true;
            }
        }
    }
    parent.truncate(exit);
    parent
}

fn successors(instr: &Instr, at: usize) -> Vec<usize> {
    let mut next: Vec<usize> = instr.targets().map(|target| target as usize).collect();
    match instr {
        Instr::Jump { .. } | Instr::Branch { .. } | Instr::Switch { .. } => {}
        // All of these leave the function, as the end of the code does.
        Instr::Return { .. }
        | Instr::ReturnAll { .. }
        | Instr::ExitThread { .. }
        | Instr::ExitProcess
        | Instr::Unwind { .. } => next.push(usize::MAX),
        // An execution that stops here has nothing after it: no way to the end.
        Instr::Block { .. } | Instr::Fail { .. } | Instr::FailWith { .. } => {}
        _ => next.push(at + 1),
    }
    next
}
