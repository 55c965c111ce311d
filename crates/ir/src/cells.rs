//! Global variables that a program accesses only by their names.
//!
//! What is stored in such a variable comes back only from loads that name it too. So a value can be followed
//! through it without knowing when anything happens. A variable is one of these if its address occurs in no other
//! role than as the address of loads and stores, which are all of the same bytes or of different ones: neither as
//! a value in the code, nor in the initial memory.
//!
//! Cost: O(code + initial memory).

use crate::layout::{self, Region};
use crate::{FunctionId, Instr, Operand, Program, Reg};
use std::collections::{HashMap, HashSet};

/// The variables, by what is accessed of them.
#[derive(Default)]
pub(crate) struct Cells {
    /// The registers that loads of an address go to.
    loads: HashMap<u64, Vec<(FunctionId, Reg)>>,
    /// The bytes that are accessed at an address.
    sizes: HashMap<u64, u8>,
    /// Variables that are used in another way.
    others: HashSet<(Region, usize)>,
}

impl Cells {
    pub fn new(program: &Program) -> Cells {
        let mut cells = Cells::default();
        for (at, function) in program.functions.iter().enumerate() {
            for instr in &function.code {
                match *instr {
                    Instr::Load { dst, address: Operand::Const(address), size, .. } => {
                        cells.loads.entry(address).or_default().push((FunctionId(at as u32), dst));
                        cells.access(program, address, size);
                    }
                    Instr::Store { address: Operand::Const(address), value, size, .. } => {
                        cells.access(program, address, size);
                        cells.value(program, value);
                    }
                    _ => instr.visit_operands(|operand| cells.value(program, operand)),
                }
            }
        }
        if let Some(image) = &program.image {
            let locals = image.thread_locals.iter().map(|local| &local.bytes);
            let singles = image.singles.iter().map(|single| &single.bytes);
            for bytes in image.bytes.iter().chain(locals).chain(singles) {
                for word in bytes.windows(8).filter_map(|window| window.first_chunk()) {
                    cells.value(program, Operand::Const(u64::from_le_bytes(*word)));
                }
            }
        }
        cells.cut(program);
        cells
    }

    /// Where a value of `size` bytes that is stored at an address goes; `None` where that is not known.
    pub fn readers(&self, program: &Program, address: u64, size: u8) -> Option<&[(FunctionId, Reg)]> {
        let variable = variable(program, address)?;
        let is_simple = !self.others.contains(&variable) && self.sizes.get(&address) == Some(&size);
        is_simple.then(|| self.loads.get(&address).map_or(&[][..], Vec::as_slice))
    }

    fn access(&mut self, program: &Program, address: u64, size: u8) {
        if *self.sizes.entry(address).or_insert(size) != size {
            self.others.extend(variable(program, address));
        }
    }

    fn value(&mut self, program: &Program, operand: Operand) {
        if let Operand::Const(value) = operand {
            self.others.extend(variable(program, value));
        }
    }

    /// Leaves out variables of which accesses overlap.
    fn cut(&mut self, program: &Program) {
        let mut accesses: Vec<(u64, u8)> =
            self.sizes.iter().map(|(address, size)| (*address, *size)).collect();
        accesses.sort_unstable();
        for pair in accesses.windows(2).filter(|pair| pair[0].0 + u64::from(pair[0].1) > pair[1].0) {
            self.others.extend(variable(program, pair[0].0));
        }
    }
}

/// The variable that an address points into, or behind.
fn variable(program: &Program, address: u64) -> Option<(Region, usize)> {
    let region = Region::of(address)?;
    let index = match region {
        Region::Global | Region::Constant => program.static_at(address)?,
        Region::Private if layout::owner(address).0 == 0 => layout::slot(address) as usize,
        _ => return None,
    };
    Some((region, index))
}
