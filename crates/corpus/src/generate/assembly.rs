//! Tests in assembly: one column of instructions per thread.

use super::{Access, Kind, Link, Shape, Target, condition};

pub fn write(target: Target, name: &str, shape: &Shape, threads: &[Vec<Access>], links: &[Link]) -> String {
    let variables = shape.variables();
    let mut columns = Vec::new();
    let mut init = String::new();
    let mut reads = Vec::new();
    for (number, (thread, link)) in threads.iter().zip(links).enumerate() {
        let mut column = Column { target, lines: Vec::new(), registers: 0, labels: 0 };
        let mut before = None;
        for (at, access) in thread.iter().enumerate() {
            let place = variables.iter().position(|variable| *variable == access.variable).unwrap_or(0);
            if let (Link::Fence(fence), true) = (link, at > 0) {
                column.lines.push(fence.to_string());
            }
            let register = column.access(access, *link, before, place);
            if access.kind == Kind::Read {
                reads.push((number, column.observed(register), access.value));
                before = Some(register);
            }
        }
        let mut used: Vec<char> = thread.iter().map(|access| access.variable).collect();
        used.sort();
        used.dedup();
        for variable in used {
            let place = variables.iter().position(|known| *known == variable).unwrap_or(0);
            if let Some(base) = base(target, place) {
                init += &format!(" {number}:{base}={variable};");
            }
        }
        columns.push(column.lines);
    }
    let init = if init.is_empty() { "{ }".to_string() } else { format!("{{{init} }}") };
    let table = table(&columns);
    let condition = condition(shape, &reads);
    format!("{} {name}\n\"{}\"\n{init}\n{table}{condition}\n", target.arch(), shape.meaning)
}

/// The register that holds the address of a variable, where the dialect needs one.
fn base(target: Target, place: usize) -> Option<String> {
    match target {
        Target::AArch64 => Some(format!("X{}", 10 + place)),
        Target::Arm => Some(format!("R{}", 10 + place)),
        Target::Ppc => Some(format!("r{}", 10 + place)),
        Target::RiscV => Some(format!("x{}", 20 + place)),
        _ => None,
    }
}

struct Column {
    target: Target,
    lines: Vec<String>,
    registers: usize,
    labels: usize,
}

impl Column {
    /// Writes an access, with what it depends on; gives the number of its register.
    fn access(&mut self, access: &Access, link: Link, before: Option<usize>, place: usize) -> usize {
        let mut offset = None;
        let mut value = None;
        match (link, before) {
            (Link::Addr, Some(before)) => offset = Some(self.zero_from(before)),
            (Link::Data, Some(before)) => {
                let zero = self.zero_from(before);
                value = Some(self.add(zero, access.value));
            }
            (Link::Ctrl, Some(before)) => self.branch(before),
            (Link::CtrlFence(fence), Some(before)) => {
                self.branch(before);
                self.lines.push(fence.to_string());
            }
            _ => {}
        }
        match access.kind {
            Kind::Read => {
                let register = self.fresh();
                self.load(register, access.variable, place, offset, link);
                register
            }
            Kind::Write => {
                let register = match value {
                    Some(register) => register,
                    None => self.constant(access.value),
                };
                self.store(register, access, place, offset, link);
                register
            }
        }
    }

    fn fresh(&mut self) -> usize {
        self.registers += 1;
        self.registers - 1
    }

    /// A register as the code names it.
    fn name(&self, register: usize) -> String {
        match self.target {
            Target::AArch64 => format!("W{register}"),
            Target::Arm => format!("R{register}"),
            Target::Ppc => format!("r{}", 1 + register),
            Target::RiscV => format!("x{}", 5 + register),
            Target::X86 => ["EAX", "EBX", "ECX", "EDX"][register % 4].to_string(),
            _ => ["%eax", "%ebx", "%ecx", "%edx"][register % 4].to_string(),
        }
    }

    /// A register as the condition names it.
    fn observed(&self, register: usize) -> String {
        match self.target {
            Target::AArch64 => format!("X{register}"),
            Target::X86Long => ["rax", "rbx", "rcx", "rdx"][register % 4].to_string(),
            _ => self.name(register),
        }
    }

    fn base(&self, place: usize) -> String {
        base(self.target, place).unwrap_or_default()
    }

    /// A register that is 0 whatever was read, but depends on it.
    fn zero_from(&mut self, before: usize) -> usize {
        let zero = self.fresh();
        let (dst, src) = (self.name(zero), self.name(before));
        let xor = if matches!(self.target, Target::AArch64 | Target::Arm) { "EOR" } else { "xor" };
        self.lines.push(format!("{xor} {dst},{src},{src}"));
        zero
    }

    fn add(&mut self, register: usize, value: u64) -> usize {
        let name = self.name(register);
        self.lines.push(match self.target {
            Target::AArch64 | Target::Arm => format!("ADD {name},{name},#{value}"),
            _ => format!("addi {name},{name},{value}"),
        });
        register
    }

    fn constant(&mut self, value: u64) -> usize {
        if matches!(self.target, Target::X86 | Target::X86Long) {
            return 0;
        }
        let register = self.fresh();
        let name = self.name(register);
        self.lines.push(match self.target {
            Target::AArch64 | Target::Arm => format!("MOV {name},#{value}"),
            _ => format!("li {name},{value}"),
        });
        register
    }

    /// A conditional branch to the next instruction.
    fn branch(&mut self, before: usize) {
        let name = self.name(before);
        let label = format!("L{}", self.labels);
        self.labels += 1;
        match self.target {
            Target::AArch64 => self.lines.push(format!("CBNZ {name},{label}")),
            Target::Arm => self.lines.extend([format!("CMP {name},{name}"), format!("BNE {label}")]),
            Target::Ppc => self.lines.extend([format!("cmpw {name},{name}"), format!("beq {label}")]),
            _ => self.lines.push(format!("bne {name},x0,{label}")),
        }
        self.lines.push(format!("{label}:"));
    }

    fn load(&mut self, register: usize, variable: char, place: usize, offset: Option<usize>, link: Link) {
        let (name, base) = (self.name(register), self.base(place));
        let offset = offset.map(|offset| self.name(offset));
        let line = match (self.target, offset) {
            (Target::AArch64, Some(offset)) => format!("LDR {name},[{base},{offset},SXTW]"),
            (Target::AArch64, None) => {
                let mnemonic = match link {
                    Link::ReleaseAcquire => "LDAR",
                    Link::ReleaseAcquirePc => "LDAPR",
                    _ => "LDR",
                };
                format!("{mnemonic} {name},[{base}]")
            }
            (Target::Arm, Some(offset)) => format!("LDR {name},[{base},{offset}]"),
            (Target::Arm, None) => format!("LDR {name},[{base}]"),
            (Target::Ppc, Some(offset)) => format!("lwzx {name},{offset},{base}"),
            (Target::Ppc, None) => format!("lwz {name},0({base})"),
            (Target::RiscV, Some(offset)) => {
                self.lines.push(format!("add {offset},{offset},{base}"));
                format!("lw {name},0({offset})")
            }
            (Target::RiscV, None) if link == Link::ReleaseAcquire => format!("lw.aq {name},0({base})"),
            (Target::RiscV, None) => format!("lw {name},0({base})"),
            (Target::X86, _) => format!("MOV {name},[{variable}]"),
            _ => format!("movl ({variable}),{name}"),
        };
        self.lines.push(line);
    }

    fn store(&mut self, register: usize, access: &Access, place: usize, offset: Option<usize>, link: Link) {
        let (name, base) = (self.name(register), self.base(place));
        let offset = offset.map(|offset| self.name(offset));
        let Access { variable, value, .. } = access;
        let release = matches!(link, Link::ReleaseAcquire | Link::ReleaseAcquirePc);
        let line = match (self.target, offset) {
            (Target::AArch64, Some(offset)) => format!("STR {name},[{base},{offset},SXTW]"),
            (Target::AArch64, None) if release => format!("STLR {name},[{base}]"),
            (Target::AArch64, None) => format!("STR {name},[{base}]"),
            (Target::Arm, Some(offset)) => format!("STR {name},[{base},{offset}]"),
            (Target::Arm, None) => format!("STR {name},[{base}]"),
            (Target::Ppc, Some(offset)) => format!("stwx {name},{offset},{base}"),
            (Target::Ppc, None) => format!("stw {name},0({base})"),
            (Target::RiscV, Some(offset)) => {
                self.lines.push(format!("add {offset},{offset},{base}"));
                format!("sw {name},0({offset})")
            }
            (Target::RiscV, None) if release => format!("sw.rl {name},0({base})"),
            (Target::RiscV, None) => format!("sw {name},0({base})"),
            (Target::X86, _) => format!("MOV [{variable}],${value}"),
            _ => format!("movl ${value},({variable})"),
        };
        self.lines.push(line);
    }
}

fn table(columns: &[Vec<String>]) -> String {
    let widths: Vec<usize> =
        columns.iter().map(|column| column.iter().map(String::len).max().unwrap_or(0).max(2)).collect();
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = String::new();
    let mut row = |cells: Vec<&str>| {
        let cells: Vec<String> =
            cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text += &format!(" {} ;\n", cells.join(" | "));
    };
    let heads: Vec<String> = (0..columns.len()).map(|number| format!("P{number}")).collect();
    row(heads.iter().map(String::as_str).collect());
    for at in 0..rows {
        row(columns.iter().map(|column| column.get(at).map_or("", String::as_str)).collect());
    }
    text
}
