//! Expressions of C.

use crate::Diagnostic;
use crate::source::Cursor;
use porf_ir::{BinOp, CmpOp};

/// An expression with the place where it begins.
pub(super) struct Expr<'a> {
    pub at: usize,
    pub kind: Kind<'a>,
}

pub(super) enum Kind<'a> {
    Int(i64),
    Name(&'a str),
    Deref(Box<Expr<'a>>),
    /// `&r`, for the "expected" argument of a compare-and-exchange.
    AddressOf(&'a str),
    Not(Box<Expr<'a>>),
    Binary(Operator, Box<Expr<'a>>, Box<Expr<'a>>),
    Call(&'a str, Vec<Expr<'a>>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Arithmetic(BinOp),
    Compare(CmpOp),
    /// `>` and `>=`: the operands change places.
    Swapped(CmpOp),
    LogicalAnd,
    LogicalOr,
}

/// By precedence, weakest first; within a level, longer signs come before their prefixes.
const LEVELS: [&[(&str, Operator)]; 10] = [
    &[("||", Operator::LogicalOr)],
    &[("&&", Operator::LogicalAnd)],
    &[("|", Operator::Arithmetic(BinOp::Or))],
    &[("^", Operator::Arithmetic(BinOp::Xor))],
    &[("&", Operator::Arithmetic(BinOp::And))],
    &[("==", Operator::Compare(CmpOp::Eq)), ("!=", Operator::Compare(CmpOp::Ne))],
    &[
        ("<=", Operator::Compare(CmpOp::Sle)),
        (">=", Operator::Swapped(CmpOp::Sle)),
        ("<", Operator::Compare(CmpOp::Slt)),
        (">", Operator::Swapped(CmpOp::Slt)),
    ],
    &[("<<", Operator::Arithmetic(BinOp::Shl)), (">>", Operator::Arithmetic(BinOp::AShr))],
    &[("+", Operator::Arithmetic(BinOp::Add)), ("-", Operator::Arithmetic(BinOp::Sub))],
    &[
        ("*", Operator::Arithmetic(BinOp::Mul)),
        ("/", Operator::Arithmetic(BinOp::SDiv)),
        ("%", Operator::Arithmetic(BinOp::SRem)),
    ],
];

pub(super) fn expression<'a>(cursor: &mut Cursor<'a>) -> Result<Expr<'a>, Diagnostic> {
    cursor.enter()?;
    let expr = level(cursor, 0)?;
    cursor.leave();
    Ok(expr)
}

fn level<'a>(cursor: &mut Cursor<'a>, at_level: usize) -> Result<Expr<'a>, Diagnostic> {
    let Some(operators) = LEVELS.get(at_level) else { return unary(cursor) };
    let mut left = level(cursor, at_level + 1)?;
    let mut chain = 0;
    while let Some(operator) = operator(cursor, operators)? {
        // A chain nests to the left. Its length is bounded, so that walking it needs a bounded stack.
        chain += 1;
        if chain > 200 {
            return Err(cursor.error("this expression is too long"));
        }
        let right = level(cursor, at_level + 1)?;
        left = Expr { at: left.at, kind: Kind::Binary(operator, Box::new(left), Box::new(right)) };
    }
    Ok(left)
}

fn operator(cursor: &mut Cursor<'_>, operators: &[(&str, Operator)]) -> Result<Option<Operator>, Diagnostic> {
    cursor.skip()?;
    for (sign, operator) in operators {
        let Some(after) = cursor.rest().strip_prefix(sign) else { continue };
        // `a & b` is not the beginning of `a && b`, nor `a | b` of `a || b`, nor `<` of `<<`, nor `+` of `++`.
        let doubled = sign.len() == 1 && after.starts_with(sign) && "&|<>+-".contains(sign);
        let assigns = sign.len() == 1 && after.starts_with('=') && "&|^+-*/%".contains(sign);
        if !doubled && !assigns {
            cursor.at += sign.len();
            return Ok(Some(*operator));
        }
    }
    Ok(None)
}

fn unary<'a>(cursor: &mut Cursor<'a>) -> Result<Expr<'a>, Diagnostic> {
    cursor.skip()?;
    cursor.enter()?;
    let at = cursor.at;
    let expr = match cursor.byte() {
        b'*' => {
            cursor.at += 1;
            Expr { at, kind: Kind::Deref(Box::new(unary(cursor)?)) }
        }
        b'!' => {
            cursor.at += 1;
            Expr { at, kind: Kind::Not(Box::new(unary(cursor)?)) }
        }
        b'&' => {
            cursor.at += 1;
            Expr { at, kind: Kind::AddressOf(cursor.expect_word("a variable")?) }
        }
        b'-' if !cursor.byte_at(1).is_ascii_digit() => {
            cursor.at += 1;
            let zero = Box::new(Expr { at, kind: Kind::Int(0) });
            let operand = Box::new(unary(cursor)?);
            Expr { at, kind: Kind::Binary(Operator::Arithmetic(BinOp::Sub), zero, operand) }
        }
        b'(' => {
            cursor.at += 1;
            if is_type(cursor)? {
                skip_type(cursor)?;
                cursor.expect(")")?;
                unary(cursor)?
            } else {
                let inner = expression(cursor)?;
                cursor.expect(")")?;
                inner
            }
        }
        _ => primary(cursor)?,
    };
    cursor.leave();
    Ok(expr)
}

fn primary<'a>(cursor: &mut Cursor<'a>) -> Result<Expr<'a>, Diagnostic> {
    let at = cursor.at;
    if let Some(value) = cursor.number()? {
        return Ok(Expr { at, kind: Kind::Int(value) });
    }
    let name = match cursor.word_with(|c| c == '%')? {
        Some(name) => name.trim_start_matches('%'),
        None => return Err(cursor.expected("an expression")),
    };
    match cursor.peek()? {
        b'(' => {
            cursor.at += 1;
            let mut args = Vec::new();
            if !cursor.eat(")")? {
                loop {
                    args.push(expression(cursor)?);
                    if cursor.eat(")")? {
                        break;
                    }
                    cursor.expect(",")?;
                }
            }
            Ok(Expr { at, kind: Kind::Call(name, args) })
        }
        b'[' => Err(cursor.error("arrays are not supported in C code")),
        b'.' => Err(cursor.error("structures are not supported")),
        b'-' if cursor.byte_at(1) == b'>' => Err(cursor.error("structures are not supported")),
        _ => Ok(Expr { at, kind: Kind::Name(name) }),
    }
}

const TYPE_WORDS: [&str; 29] = [
    "int",
    "long",
    "char",
    "short",
    "unsigned",
    "signed",
    "volatile",
    "const",
    "_Atomic",
    "struct",
    "void",
    "atomic_int",
    "atomic_t",
    "spinlock_t",
    "mtx_t",
    "int8_t",
    "uint8_t",
    "int16_t",
    "uint16_t",
    "int32_t",
    "uint32_t",
    "int64_t",
    "uint64_t",
    "intptr_t",
    "uintptr_t",
    "__int128",
    "__uint128",
    "__int128_t",
    "__uint128_t",
];

/// Whether a type comes next; the cursor does not move.
pub(super) fn is_type(cursor: &mut Cursor<'_>) -> Result<bool, Diagnostic> {
    let before = cursor.at;
    let word = cursor.word()?;
    cursor.at = before;
    Ok(word.is_some_and(|word| TYPE_WORDS.contains(&word)))
}

/// A type with its stars.
pub(super) fn skip_type(cursor: &mut Cursor<'_>) -> Result<(), Diagnostic> {
    while is_type(cursor)? {
        if cursor.word()? == Some("struct") {
            cursor.expect_word("the name of a structure")?;
        }
    }
    while cursor.eat("*")? || cursor.eat("volatile")? || cursor.eat("const")? {}
    Ok(())
}

impl Expr<'_> {
    /// Whether evaluating it makes events.
    pub fn touches_memory(&self) -> bool {
        match &self.kind {
            Kind::Int(_) | Kind::Name(_) | Kind::AddressOf(_) => false,
            Kind::Deref(_) | Kind::Call(..) => true,
            Kind::Not(inner) => inner.touches_memory(),
            Kind::Binary(_, left, right) => left.touches_memory() || right.touches_memory(),
        }
    }
}
