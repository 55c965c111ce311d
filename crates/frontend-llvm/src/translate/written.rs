//! How the source writes what an instruction accesses: `q->tail`, `slots[2].seq`.
//!
//! Clang names values after what they are in the source: a parameter, a variable, and the address of a field by the
//! field. So the names of values and the shapes of addresses suffice; Rust's compiler gives no such names. Where the
//! same name occurs twice in a function, LLVM puts a number behind it: the shortest name of a field is the field's.
//!
//! Limits: a pointer that is the result of a call, and has been made a register, has no name: then the object itself
//! stands in its place ([`Written::OBJECT`]). Members of unions have no addresses of their own.

use super::Translator;
use crate::llvm::{Module, Opcode, Type, TypeKind, Value, ValueKind};
use porf_ir::{Field, Shape, Written};
use std::collections::HashMap;

/// What fields are called: by the structure and the place in it.
pub type Fields<'m> = HashMap<(Type<'m>, u32), &'m str>;

/// Longer expressions say nothing to anybody.
const LONGEST: usize = 60;
/// Addresses of more steps than this are not followed.
const DEEPEST: u32 = 8;

/// The names of all fields whose address some instruction takes.
pub fn fields(module: &Module) -> Fields<'_> {
    let mut fields = Fields::new();
    let blocks = module.functions().filter(|function| !function.is_declaration()).flat_map(Value::blocks);
    for i in blocks.flat_map(|block| block.instructions()) {
        if i.opcode() != Opcode::GetElementPtr || i.operand_count() != 3 || i.name().is_empty() {
            continue;
        }
        let ty = i.gep_source_type();
        let (TypeKind::Struct, Some(index)) = (ty.kind(), i.operand(2).as_integer()) else { continue };
        let known = fields.entry((ty, index as u32)).or_insert(i.name());
        if i.name().len() < known.len() {
            *known = i.name();
        }
    }
    fields
}

/// What an instruction accesses, if it accesses memory, or calls a function of an atomic object.
fn written<'m>(tr: &Translator<'m>, i: Value<'m>) -> Option<Expression> {
    let address = match i.opcode() {
        Opcode::Load | Opcode::CmpXchg | Opcode::AtomicRmw => i.operand(0),
        Opcode::Store => i.operand(1),
        Opcode::Call | Opcode::Invoke if is_of_atomic(i) => i.operand(0),
        _ => return None,
    };
    let expression = place(tr, address, 0)?;
    // A variable alone has its name from elsewhere.
    let tells = expression.text.contains(['.', '[', '>', '*']);
    (tells && expression.text.len() <= LONGEST).then_some(expression)
}

impl<'m> Translator<'m> {
    /// The shape of a type, by its place in the image.
    pub fn shape(&mut self, ty: Type<'m>) -> u32 {
        if let Some(known) = self.shapes.get(&ty) {
            return *known;
        }
        let shape = match ty.kind() {
            TypeKind::Array => {
                let element = self.shape(ty.element());
                Shape::Array { stride: self.module.size_of(ty.element()), element }
            }
            TypeKind::Struct => {
                let mut fields = Vec::new();
                for index in 0..ty.length() as u32 {
                    let (offset, shape) = (self.module.offset_of(ty, index), self.shape(ty.field(index)));
                    let name = self.fields.get(&(ty, index)).copied().unwrap_or_default().to_string();
                    fields.push(Field { offset, name, shape });
                }
                Shape::Record(fields)
            }
            _ => Shape::Plain,
        };
        let shapes = &mut self.program.image.as_mut().expect("C programs have an image").shapes;
        let at = shapes.iter().position(|known| *known == shape).unwrap_or(shapes.len());
        if at == shapes.len() {
            shapes.push(shape);
        }
        self.shapes.insert(ty, at as u32);
        at as u32
    }

    /// Notes how the source writes what the instruction at a place accesses.
    pub fn note(&mut self, instruction: Value<'m>, place: (u32, u32, u32)) {
        if let Some(expression) = written(self, instruction) {
            let known = self.written.entry(place).or_insert_with(|| Some(expression.clone()));
            if known.as_ref().is_some_and(|known| known.text != expression.text) {
                *known = None;
            }
        }
    }
}

/// An expression, and how to compute its index.
#[derive(Clone)]
pub struct Expression {
    pub text: String,
    pub index: Option<(u64, u64)>,
    /// From the start of the object, as far as that is constant.
    offset: Option<u64>,
}

impl Expression {
    fn new(text: &str, offset: Option<u64>) -> Expression {
        Expression { text: text.to_string(), index: None, offset }
    }
}

/// The object at an address.
fn place<'m>(tr: &Translator<'m>, address: Value<'m>, depth: u32) -> Option<Expression> {
    if depth > DEEPEST {
        return None;
    }
    if let (ValueKind::ConstantExpression, Some((global, offset))) = (address.kind(), constant(tr, address)) {
        // LLVM writes constant addresses as it likes: the type of the variable tells more.
        let inside = inside(tr, global.value_type(), offset)?;
        return Some(Expression::new(&format!("{}{inside}", global.name()), Some(offset)));
    }
    match (address.kind(), address.opcode()) {
        (ValueKind::GlobalVariable, _) => Some(Expression::new(address.name(), Some(0))),
        (_, Opcode::Alloca) => Some(Expression::new(variable(address.name())?, Some(0))),
        (_, Opcode::BitCast) => place(tr, address.operand(0), depth + 1),
        (_, Opcode::GetElementPtr) => element(tr, address, depth + 1),
        _ => {
            let text = pointer(tr, address, depth + 1)?;
            Some(Expression::new(&format!("*{text}"), None))
        }
    }
}

/// The global variable that a constant address lies in, and how far from its start.
fn constant<'m>(tr: &Translator<'m>, address: Value<'m>) -> Option<(Value<'m>, u64)> {
    match (address.kind(), address.opcode()) {
        (ValueKind::GlobalVariable, _) => Some((address, 0)),
        (ValueKind::ConstantExpression, Opcode::BitCast) => constant(tr, address.operand(0)),
        (ValueKind::ConstantExpression, Opcode::GetElementPtr) => {
            let (global, mut offset) = constant(tr, address.operand(0))?;
            let mut ty = address.gep_source_type();
            for at in 1..address.operand_count() {
                let index = address.operand(at).as_integer()?;
                if at > 1 && ty.kind() == TypeKind::Struct {
                    offset += tr.module.offset_of(ty, index as u32);
                    ty = ty.field(index as u32);
                    continue;
                }
                if at > 1 {
                    ty = ty.element();
                }
                offset = offset.wrapping_add(tr.module.size_of(ty).wrapping_mul(index as u64));
            }
            Some((global, offset))
        }
        _ => None,
    }
}

/// What lies in a type at an offset: `[2].seq`.
fn inside<'m>(tr: &Translator<'m>, ty: Type<'m>, offset: u64) -> Option<String> {
    match ty.kind() {
        TypeKind::Struct => {
            let fields = (0..ty.length() as u32).rev();
            let index = fields.into_iter().find(|&index| tr.module.offset_of(ty, index) <= offset)?;
            let name = tr.fields.get(&(ty, index))?;
            let rest = inside(tr, ty.field(index), offset - tr.module.offset_of(ty, index))?;
            Some(format!(".{name}{rest}"))
        }
        TypeKind::Array => {
            let size = tr.module.size_of(ty.element()).max(1);
            Some(format!("[{}]{}", offset / size, inside(tr, ty.element(), offset % size)?))
        }
        _ => (offset == 0).then(String::new),
    }
}

/// A part of the object that a pointer points to.
fn element<'m>(tr: &Translator<'m>, gep: Value<'m>, depth: u32) -> Option<Expression> {
    let base = gep.operand(0);
    let is_object = base.kind() == ValueKind::GlobalVariable
        || matches!(base.opcode(), Opcode::Alloca | Opcode::GetElementPtr | Opcode::BitCast);
    let (mut here, mut arrow) = match is_object {
        true => (place(tr, base, depth)?, false),
        false => match pointer(tr, base, depth) {
            Some(text) => (Expression::new(&text, None), true),
            None => (Expression::new(&Written::OBJECT.to_string(), None), false),
        },
    };
    let mut ty = gep.gep_source_type();
    // Bytes: the type is not known any more.
    if ty.kind() == TypeKind::Int(8) && gep.operand(1).as_integer().is_some() {
        return None;
    }
    for at in 1..gep.operand_count() {
        let operand = gep.operand(at);
        let constant = operand.as_integer();
        if at > 1 && ty.kind() == TypeKind::Struct {
            let index = u32::try_from(constant?).ok()?;
            let field = tr.fields.get(&(ty, index))?;
            let dot = if arrow { "->" } else { "." };
            here.text = format!("{}{dot}{field}", here.text);
            here.offset = here.offset.map(|offset| offset + tr.module.offset_of(ty, index));
            ty = ty.field(index);
            arrow = false;
            continue;
        }
        if at > 1 {
            ty = ty.element();
        }
        match (constant, at) {
            (Some(0), 1) => continue,
            (Some(index), _) => {
                here.text = format!("{}[{index}]", here.text);
                let size = tr.module.size_of(ty);
                here.offset = here.offset.map(|offset| offset.wrapping_add(size.wrapping_mul(index as u64)));
            }
            (None, _) => match (here.offset.take(), here.index) {
                (Some(offset), None) => {
                    here.text = format!("{}[{}]", here.text, Written::INDEX);
                    here.index = Some((offset, tr.module.size_of(ty)));
                }
                _ => here.text = format!("{}[{}]", here.text, number(tr, operand, depth)?),
            },
        }
        arrow = false;
    }
    Some(here)
}

/// The value of a pointer.
fn pointer<'m>(tr: &Translator<'m>, value: Value<'m>, depth: u32) -> Option<String> {
    match (value.kind(), value.opcode()) {
        (ValueKind::Argument, _) => variable(value.name()).map(str::to_string),
        // What it was loaded from has the name; its index is not known when it is used.
        (_, Opcode::Load) => {
            let from = place(tr, value.operand(0), depth + 1)?;
            from.index.is_none().then_some(from.text)
        }
        _ => None,
    }
}

/// A number, by the name of its variable.
fn number<'m>(tr: &Translator<'m>, value: Value<'m>, depth: u32) -> Option<String> {
    match value.opcode() {
        Opcode::SExt | Opcode::ZExt | Opcode::Trunc => number(tr, value.operand(0), depth),
        _ => pointer(tr, value, depth),
    }
}

/// What the source calls a variable; `None` for those that the compiler made. `this` is one of them: it is not written
/// in lambdas, and seldom elsewhere.
fn variable(name: &str) -> Option<&str> {
    let name = name.strip_suffix(".addr").unwrap_or(name);
    let made = name.is_empty() || name.contains('.') || matches!(name, "retval" | "this" | "this1" | "tmp");
    (!made).then_some(name)
}

/// Whether a call is one of a method of `std::atomic`, whose object is the first argument.
fn is_of_atomic(call: Value<'_>) -> bool {
    let callee = call.callee();
    callee.kind() == ValueKind::Function
        && (callee.name().starts_with("_ZNSt6atomic")
            || callee.name().starts_with("_ZNKSt6atomic")
            || callee.name().contains("13__atomic_base"))
        && call.operand_count() > 1
}
