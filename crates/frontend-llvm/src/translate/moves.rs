//! Loads that only move bytes from one place to another.
//!
//! Copying a structure reads its padding, and passing an empty class by value reads the byte that it
//! has for form's sake: neither is a use of memory that was never written. A load is a move if its
//! value goes to nothing but stores, and calls and returns that need not have a defined value
//! (those without `noundef`), on its way only put together or taken apart.

use super::memory::gep_result;
use crate::llvm::{Opcode, TypeKind, Value};

pub fn only_moves(load: Value<'_>) -> bool {
    if is_scalar(load) {
        return false;
    }
    let mut seen = vec![load];
    let mut next = 0;
    while let Some(&value) = seen.get(next) {
        next += 1;
        for user in value.users() {
            match user.opcode() {
                Opcode::Store if user.operand(1) != value => {}
                Opcode::Ret if !user.function().has_attribute(0, "noundef") => {}
                Opcode::Call | Opcode::Invoke if passes_undefined(user, value) => {}
                Opcode::Phi
                | Opcode::Trunc
                | Opcode::ZExt
                | Opcode::BitCast
                | Opcode::PtrToInt
                | Opcode::IntToPtr
                | Opcode::InsertValue
                | Opcode::ExtractValue
                | Opcode::Freeze => {
                    if !seen.contains(&user) {
                        seen.push(user);
                    }
                }
                _ => return false,
            }
        }
    }
    true
}

/// Whether a load's value only goes to memory, calls, returns, and aggregates: nothing is decided by it, and
/// nothing computed from it, where it is loaded. What other blocks do with it is another matter: rustc loads both
/// halves of an enum, and only then looks at the first to see whether the second is there.
pub fn only_hands_on(load: Value<'_>) -> bool {
    let block = load.block();
    load.users().filter(|user| user.block() == block).all(|user| match user.opcode() {
        Opcode::Store => user.operand(1) != load,
        Opcode::Call | Opcode::Invoke => user.callee() != load,
        Opcode::Ret | Opcode::InsertValue | Opcode::Phi | Opcode::Select => true,
        _ => false,
    })
}

/// Whether a load is of a whole number or pointer of a local variable: C takes its value for that. Bytes may
/// be anything, and so may what clang takes apart to pass a structure.
fn is_scalar(load: Value<'_>) -> bool {
    let address = load.operand(0);
    let ty = match address.opcode() {
        Opcode::Alloca => Some(address.allocated_type()),
        Opcode::GetElementPtr if is_local(address) && !address.name().starts_with("coerce") => {
            gep_result(address)
        }
        _ => None,
    };
    ty == Some(load.ty())
        && match load.ty().kind() {
            TypeKind::Int(bits) => bits > 8,
            TypeKind::Pointer | TypeKind::Float | TypeKind::Double => true,
            _ => false,
        }
}

/// Whether an address is one inside of a local variable.
fn is_local(address: Value<'_>) -> bool {
    match address.opcode() {
        Opcode::Alloca => true,
        Opcode::GetElementPtr => is_local(address.operand(0)),
        _ => false,
    }
}

/// Whether a call takes the value only as arguments that may be undefined.
fn passes_undefined(call: Value<'_>, value: Value<'_>) -> bool {
    let arguments = call.arguments();
    let places = (1..).zip(&arguments).filter(|(_, argument)| **argument == value);
    call.callee() != value
        && places.map(|(place, _)| place).all(|place| !call.has_attribute(place, "noundef"))
}
