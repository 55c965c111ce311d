//! Types as lists of words: what a value of the type occupies in registers and in memory.

use crate::llvm::{Module, Type, TypeKind};
use porf_ir::{Precision, Width};

/// One word of a value: a register, a memory cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Where it lies in memory, from the begin of the value.
    pub offset: u64,
    pub bits: u8,
    pub float: Option<Precision>,
}

/// A part of a word that is one access.
pub struct Part {
    pub offset: u64,
    pub size: u8,
}

/// The bits of the largest integers.
const MOST: u32 = 2048;

/// What could not be translated.
pub type Unsupported = String;

impl Word {
    pub fn width(self) -> Width {
        Width(self.bits)
    }

    /// Its place in memory, in parts whose sizes are powers of two: one, unless it has 24 bits or the like.
    pub fn parts(self, atomic: bool) -> Result<impl Iterator<Item = Part>, Unsupported> {
        let bytes = u64::from(self.bits.div_ceil(8));
        if atomic && !bytes.is_power_of_two() {
            return Err(format!("an atomic integer of {} bits", self.bits));
        }
        let mut offset = 0;
        Ok(std::iter::from_fn(move || {
            let rest = bytes - offset;
            let size = if rest == 0 { return None } else { 1 << rest.ilog2() };
            offset += size;
            Some(Part { offset: offset - size, size: size as u8 })
        }))
    }

    /// Its size in memory.
    pub fn size(self) -> Result<u8, Unsupported> {
        match self.bits {
            1..=8 => Ok(1),
            16 => Ok(2),
            32 => Ok(4),
            64 => Ok(8),
            bits => Err(format!("an integer of {bits} bits in memory")),
        }
    }
}

/// The words of a type, in order.
pub fn words(module: &Module, ty: Type<'_>) -> Result<Vec<Word>, Unsupported> {
    let mut out = Vec::new();
    collect(module, ty, 0, &mut out)?;
    Ok(out)
}

/// The single word of a scalar type.
pub fn scalar(module: &Module, ty: Type<'_>) -> Result<Word, Unsupported> {
    match words(module, ty)?.as_slice() {
        [word] => Ok(*word),
        _ => Err(format!("type {} here", ty.print())),
    }
}

/// The element type of a vector, or the type itself.
pub fn lane(ty: Type<'_>) -> Type<'_> {
    if ty.kind() == TypeKind::Vector { ty.element() } else { ty }
}

/// How many words the fields before `index` have, and the type of that field.
pub fn field<'m>(module: &Module, ty: Type<'m>, index: u32) -> Result<(usize, Type<'m>), Unsupported> {
    if ty.kind() == TypeKind::Struct {
        let mut before = 0;
        for i in 0..index {
            before += words(module, ty.field(i))?.len();
        }
        return Ok((before, ty.field(index)));
    }
    let each = words(module, ty.element())?.len();
    Ok((each * index as usize, ty.element()))
}

fn collect(module: &Module, ty: Type<'_>, offset: u64, out: &mut Vec<Word>) -> Result<(), Unsupported> {
    let word = |bits: u32, float| Word { offset, bits: bits as u8, float };
    match ty.kind() {
        TypeKind::Void => {}
        TypeKind::Int(bits @ 1..=64) => out.push(word(bits, None)),
        TypeKind::Int(bits @ 65..=MOST) => {
            let starts = (0..bits).step_by(64);
            out.extend(
                starts
                    .map(|at| Word { offset: offset + u64::from(at / 8), ..word((bits - at).min(64), None) }),
            );
        }
        TypeKind::Pointer => out.push(word(64, None)),
        TypeKind::Float => out.push(word(32, Some(Precision::Single))),
        TypeKind::Double => out.push(word(64, Some(Precision::Double))),
        // The significand, and the exponent with the sign.
        TypeKind::Extended => out.extend([word(64, None), Word { offset: offset + 8, ..word(16, None) }]),
        TypeKind::Struct => {
            for i in 0..ty.length() as u32 {
                collect(module, ty.field(i), offset + module.offset_of(ty, i), out)?;
            }
        }
        TypeKind::Array | TypeKind::Vector => {
            let element = ty.element();
            let size = module.size_of(element);
            if ty.length() > 1 << 20 {
                return Err(format!("a value of type {}", ty.print()));
            }
            for i in 0..ty.length() {
                collect(module, element, offset + i * size, out)?;
            }
        }
        _ => return Err(format!("type {}", ty.print())),
    }
    Ok(())
}
