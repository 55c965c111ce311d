//! Constants: numbers, addresses, initial contents of memory.

use super::types::{self, Unsupported};
use super::{Translator, function::mask};
use crate::llvm::{Block, Opcode, TypeKind, Value, ValueKind};
use porf_ir::{BinOp, Operand, Width, layout};

/// Bytes of the largest global.
pub const MAX_GLOBAL: u64 = 1 << 28;

impl<'m> Translator<'m> {
    /// The words of a constant; `Err` also for what depends on the thread.
    pub fn constant(&mut self, value: Value<'m>) -> Result<Vec<Operand>, Unsupported> {
        let ty = value.ty();
        let words = types::words(self.module, ty)?;
        if value.is_null() || value.is_undef() {
            return Ok(vec![Operand::Const(0); words.len()]);
        }
        if matches!(ty.kind(), TypeKind::Struct | TypeKind::Array | TypeKind::Vector) {
            let mut all = Vec::new();
            for i in 0..ty.length() as u32 {
                let element = value.element(i).ok_or_else(|| format!("constant {}", value.print()))?;
                all.extend(self.constant(element)?);
            }
            return Ok(all);
        }
        if let Some(integer) = value.as_words() {
            let cut = |(word, contents): (&types::Word, u64)| Operand::Const(contents & mask(word.width()));
            return Ok(words.iter().zip(integer).map(cut).collect());
        }
        if let Some((significand, exponent)) = value.as_extended() {
            return Ok(vec![Operand::Const(significand), Operand::Const(exponent)]);
        }
        self.constant_word(value).map(|word| vec![Operand::Const(word)])
    }

    /// A constant of one word.
    pub fn constant_word(&mut self, value: Value<'m>) -> Result<u64, Unsupported> {
        if value.is_null() || value.is_undef() {
            return Ok(0);
        }
        if let Some(integer) = value.as_integer() {
            return Ok(integer as u64);
        }
        if let Some(float) = value.as_float() {
            return Ok(match value.ty().kind() {
                TypeKind::Float => u64::from((float as f32).to_bits()),
                _ => float.to_bits(),
            });
        }
        match value.kind() {
            ValueKind::Function => Ok(layout::function_address(self.function_id(value)?)),
            ValueKind::GlobalVariable if value.is_thread_local() => {
                Err(format!("the address of thread-local {} as a constant", value.name()))
            }
            ValueKind::GlobalVariable => Ok(self.global_address(value)),
            ValueKind::Alias => self.constant_word(value.aliasee()),
            ValueKind::BlockAddress => {
                let (function, block) = value.addressed_block();
                self.label_address(function, block)
            }
            ValueKind::ConstantExpression => self.expression(value),
            _ => Err(format!("constant {}", value.print())),
        }
    }

    /// The number that stands for the address of a label.
    pub fn label_address(&mut self, function: Value<'m>, block: Block<'m>) -> Result<u64, Unsupported> {
        let id = self.function_id(function)?;
        let index = function.blocks().position(|other| other == block).unwrap_or_default();
        layout::label_address(id, index)
            .ok_or_else(|| "the address of a label in so large a program".to_string())
    }

    fn expression(&mut self, value: Value<'m>) -> Result<u64, Unsupported> {
        let binary = |op: BinOp, this: &mut Self| {
            let (a, b) = (this.constant_word(value.operand(0))?, this.constant_word(value.operand(1))?);
            let word = types::scalar(this.module, value.ty())?;
            op.apply(word.width(), a, b).ok_or_else(|| "division by zero in a constant".to_string())
        };
        match value.opcode() {
            Opcode::PtrToInt
            | Opcode::IntToPtr
            | Opcode::BitCast
            | Opcode::AddrSpaceCast
            | Opcode::PtrToAddr => {
                let word = types::scalar(self.module, value.ty())?;
                Ok(word.width().truncate(self.constant_word(value.operand(0))?))
            }
            Opcode::Trunc => {
                let word = types::scalar(self.module, value.ty())?;
                Ok(word.width().truncate(self.constant_word(value.operand(0))?))
            }
            Opcode::GetElementPtr => {
                let base = self.constant_word(value.operand(0))?;
                Ok(base.wrapping_add(self.constant_offset(value)?))
            }
            Opcode::Add => binary(BinOp::Add, self),
            Opcode::Sub => binary(BinOp::Sub, self),
            Opcode::Xor => binary(BinOp::Xor, self),
            Opcode::And => binary(BinOp::And, self),
            Opcode::Or => binary(BinOp::Or, self),
            Opcode::Mul => binary(BinOp::Mul, self),
            Opcode::Shl => binary(BinOp::Shl, self),
            Opcode::LShr => binary(BinOp::LShr, self),
            _ => Err(format!("constant {}", value.print())),
        }
    }

    /// What a GEP with constant indices adds to its base.
    pub fn constant_offset(&mut self, gep: Value<'m>) -> Result<u64, Unsupported> {
        let mut ty = gep.gep_source_type();
        let mut offset = 0u64;
        for at in 1..gep.operand_count() {
            let operand = gep.operand(at);
            let index = self.constant_word(operand)?;
            let width = types::scalar(self.module, operand.ty())?.width();
            let signed = width.signed(index) as u64;
            if at == 1 {
                offset = offset.wrapping_add(signed.wrapping_mul(self.module.size_of(ty)));
            } else if ty.kind() == TypeKind::Struct {
                offset = offset.wrapping_add(self.module.offset_of(ty, index as u32));
                ty = ty.field(index as u32);
            } else {
                ty = ty.element();
                offset = offset.wrapping_add(signed.wrapping_mul(self.module.size_of(ty)));
            }
        }
        Ok(offset)
    }

    /// Initial contents of a global.
    pub fn bytes(&mut self, global: Value<'m>) -> Result<Box<[u8]>, Unsupported> {
        let size = self.module.size_of(global.value_type());
        if size > MAX_GLOBAL {
            let name = global.name();
            return Err(format!("{name} of {size} bytes (the limit is {MAX_GLOBAL} bytes) is not supported"));
        }
        let mut bytes = vec![0; size as usize];
        if let (Some(word), Some(bytes)) = (self.told_before_main(global), bytes.first_chunk_mut()) {
            *bytes = word.to_le_bytes();
        } else if let Some(initializer) = global.initializer() {
            self.fill(&mut bytes, 0, initializer)?;
        }
        Ok(bytes.into())
    }

    fn fill(&mut self, bytes: &mut [u8], at: u64, value: Value<'m>) -> Result<(), Unsupported> {
        if value.is_null() || value.is_undef() {
            return Ok(());
        }
        let ty = value.ty();
        match ty.kind() {
            TypeKind::Struct | TypeKind::Array | TypeKind::Vector => {
                for i in 0..ty.length() {
                    let offset = match ty.kind() {
                        TypeKind::Struct => self.module.offset_of(ty, i as u32),
                        _ => i * self.module.size_of(ty.element()),
                    };
                    let element =
                        value.element(i as u32).ok_or_else(|| format!("constant {}", value.print()))?;
                    self.fill(bytes, at + offset, element)?;
                }
                Ok(())
            }
            _ => {
                let words = types::words(self.module, ty)?;
                let values = self.constant(value)?;
                for (word, operand) in words.iter().zip(values) {
                    let Operand::Const(contents) = operand else { continue };
                    let size = Width(word.bits).0.div_ceil(8) as usize;
                    let start = (at + word.offset) as usize;
                    bytes[start..start + size].copy_from_slice(&contents.to_le_bytes()[..size]);
                }
                Ok(())
            }
        }
    }
}
