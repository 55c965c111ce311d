//! Syntax tree to text, such that parsing gives the tree back.

use std::fmt::{self, Display, Formatter};

use crate::ast::*;

impl Display for File {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.header.as_slice() {
            [] => {}
            [title] => writeln!(f, "\"{title}\"")?,
            [arch, title, ..] => writeln!(f, "{arch} \"{title}\"")?,
        }
        if self.catdep {
            writeln!(f, "catdep")?;
        }
        block(f, &self.statements, 0)
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        statement(f, self, 0)
    }
}

impl Display for Test {
    /// Without its name.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} {}", if self.negated { "~" } else { "" }, self.property.word(), self.expr)
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        expr(f, self, Level::Open)
    }
}

/// How tightly the context binds: an expression below it is bracketed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Open,
    Base,
    Add,
    Sequence,
    Difference,
    Intersection,
    Product,
    Prefix,
    Postfix,
    Simple,
}

fn level(e: &Expr) -> Level {
    match &e.kind {
        ExprKind::Tuple(parts) if parts.is_empty() => Level::Simple,
        ExprKind::Tuple(_)
        | ExprKind::Fun(_)
        | ExprKind::Let(..)
        | ExprKind::Rec(..)
        | ExprKind::Try(..)
        | ExprKind::If(..)
        | ExprKind::Match { .. }
        | ExprKind::MatchSet { .. } => Level::Open,
        ExprKind::Union(_) => Level::Base,
        ExprKind::Binary(Binary::Add, ..) => Level::Add,
        ExprKind::Sequence(_) => Level::Sequence,
        ExprKind::Binary(Binary::Difference, ..) => Level::Difference,
        ExprKind::Binary(Binary::Intersection, ..) => Level::Intersection,
        ExprKind::Binary(Binary::Product, ..) => Level::Product,
        ExprKind::Unary(Unary::Complement, _) => Level::Prefix,
        ExprKind::Unary(Unary::Identity, _) => Level::Simple,
        ExprKind::Unary(..) | ExprKind::Apply(..) => Level::Postfix,
        ExprKind::Zero | ExprKind::Universe | ExprKind::Tag(_) | ExprKind::Var(_) | ExprKind::Set(_) => {
            Level::Simple
        }
    }
}

fn expr(f: &mut Formatter<'_>, e: &Expr, context: Level) -> fmt::Result {
    if level(e) < context {
        write!(f, "(")?;
        naked(f, e)?;
        return write!(f, ")");
    }
    naked(f, e)
}

fn naked(f: &mut Formatter<'_>, e: &Expr) -> fmt::Result {
    match &e.kind {
        ExprKind::Zero => write!(f, "0"),
        ExprKind::Universe => write!(f, "_"),
        ExprKind::Tag(tag) => write!(f, "'{tag}"),
        ExprKind::Var(name) => write!(f, "{name}"),
        ExprKind::Unary(op, inner) => match op {
            Unary::Complement => {
                write!(f, "~")?;
                expr(f, inner, Level::Prefix)
            }
            Unary::Identity => {
                write!(f, "[")?;
                expr(f, inner, Level::Open)?;
                write!(f, "]")
            }
            postfix => {
                // `r++` would be another symbol.
                let twice = *op == Unary::Plus && matches!(inner.kind, ExprKind::Unary(Unary::Plus, _));
                expr(f, inner, if twice { Level::Simple } else { Level::Postfix })?;
                f.write_str(match postfix {
                    Unary::Plus => "+",
                    Unary::Star => "*",
                    Unary::Optional => "?",
                    _ => "^-1",
                })
            }
        },
        ExprKind::Binary(op, left, right) => {
            let (symbol, left_level, right_level) = match op {
                Binary::Add => ("++", Level::Sequence, Level::Add),
                Binary::Difference => ("\\", Level::Difference, Level::Intersection),
                Binary::Intersection => ("&", Level::Product, Level::Intersection),
                Binary::Product => ("*", Level::Prefix, Level::Prefix),
            };
            expr(f, left, left_level)?;
            write!(f, " {symbol} ")?;
            expr(f, right, right_level)
        }
        ExprKind::Union(parts) => separated(f, parts, " | ", Level::Add),
        ExprKind::Sequence(parts) => separated(f, parts, " ; ", Level::Difference),
        ExprKind::Tuple(parts) if parts.is_empty() => write!(f, "()"),
        ExprKind::Tuple(parts) => separated(f, parts, ", ", Level::Base),
        ExprKind::Set(parts) => {
            write!(f, "{{")?;
            separated(f, parts, ", ", Level::Base)?;
            write!(f, "}}")
        }
        ExprKind::Apply(function, argument) => {
            expr(f, function, Level::Postfix)?;
            write!(f, " ")?;
            expr(f, argument, Level::Simple)
        }
        ExprKind::Fun(function) => {
            write!(f, "fun ")?;
            parameters(f, &function.parameters)?;
            write!(f, " -> ")?;
            expr(f, &function.body, Level::Open)
        }
        ExprKind::Let(bindings, body) | ExprKind::Rec(bindings, body) => {
            let rec = if matches!(e.kind, ExprKind::Rec(..)) { "rec " } else { "" };
            write!(f, "let {rec}")?;
            bind(f, bindings, " and ")?;
            write!(f, " in ")?;
            expr(f, body, Level::Open)
        }
        ExprKind::Try(first, second) => {
            write!(f, "try ")?;
            expr(f, first, Level::Open)?;
            write!(f, " with ")?;
            expr(f, second, Level::Open)
        }
        ExprKind::If(condition, then, otherwise) => {
            write!(f, "if ")?;
            self::condition(f, condition)?;
            write!(f, " then ")?;
            expr(f, then, Level::Open)?;
            write!(f, " else ")?;
            expr(f, otherwise, Level::Open)
        }
        ExprKind::Match { subject, arms, otherwise } => {
            write!(f, "match ")?;
            expr(f, subject, Level::Open)?;
            write!(f, " with")?;
            for (tag, arm) in arms {
                write!(f, " || '{tag} -> ")?;
                expr(f, arm, Level::Open)?;
            }
            if let Some(arm) = otherwise {
                write!(f, " || _ -> ")?;
                expr(f, arm, Level::Open)?;
            }
            write!(f, " end")
        }
        ExprKind::MatchSet { subject, empty, element } => {
            write!(f, "match ")?;
            expr(f, subject, Level::Open)?;
            write!(f, " with || {{}} -> ")?;
            expr(f, empty, Level::Open)?;
            write!(f, " || ")?;
            if let Some(before) = &element.before {
                write!(f, "{} | ", shown(before))?;
            }
            write!(f, "{} ++ {} -> ", shown(&element.element), shown(&element.rest))?;
            expr(f, &element.body, Level::Open)?;
            write!(f, " end")
        }
    }
}

fn separated(f: &mut Formatter<'_>, parts: &[Expr], separator: &str, context: Level) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            f.write_str(separator)?;
        }
        expr(f, part, context)?;
    }
    Ok(())
}

fn condition(f: &mut Formatter<'_>, condition: &Condition) -> fmt::Result {
    let (left, word, right) = match condition {
        Condition::Variant(variant) => return self::variant(f, variant),
        Condition::Equal(left, right) => (left, "=", right),
        Condition::Subset(left, right) => (left, "subset", right),
        Condition::In(left, right) => (left, "in", right),
    };
    expr(f, left, Level::Base)?;
    write!(f, " {word} ")?;
    expr(f, right, Level::Base)
}

fn variant(f: &mut Formatter<'_>, variant: &Variant) -> fmt::Result {
    let group = |f: &mut Formatter<'_>, inner: &Variant| match inner {
        Variant::Named(_) | Variant::Not(_) => self::variant(f, inner),
        _ => {
            write!(f, "(")?;
            self::variant(f, inner)?;
            write!(f, ")")
        }
    };
    let (left, word, right) = match variant {
        Variant::Named(name) => return write!(f, "\"{name}\""),
        Variant::Not(inner) => {
            write!(f, "not ")?;
            return group(f, inner);
        }
        Variant::And(left, right) => (left, "&&", right),
        Variant::Or(left, right) => (left, "||", right),
    };
    group(f, left)?;
    write!(f, " {word} ")?;
    group(f, right)
}

fn shown(name: &Option<Name>) -> &str {
    name.as_deref().unwrap_or("_")
}

fn parameters(f: &mut Formatter<'_>, pattern: &Pattern) -> fmt::Result {
    match pattern {
        Pattern::One(name) => write!(f, "{}", shown(name)),
        Pattern::Tuple(names) => write!(f, "({})", names.iter().map(shown).collect::<Vec<_>>().join(", ")),
    }
}

fn bind(f: &mut Formatter<'_>, bindings: &[Binding], separator: &str) -> fmt::Result {
    for (index, binding) in bindings.iter().enumerate() {
        if index > 0 {
            f.write_str(separator)?;
        }
        parameters(f, &binding.pattern)?;
        write!(f, " = ")?;
        expr(f, &binding.expr, Level::Open)?;
    }
    Ok(())
}

fn test(f: &mut Formatter<'_>, test: &Test) -> fmt::Result {
    write!(f, "{test}")?;
    label(f, &test.name)
}

fn label(f: &mut Formatter<'_>, name: &Option<Name>) -> fmt::Result {
    match name {
        Some(name) => write!(f, " as {name}"),
        None => Ok(()),
    }
}

fn block(f: &mut Formatter<'_>, statements: &[Statement], depth: usize) -> fmt::Result {
    for statement in statements {
        write!(f, "{:1$}", "", 2 * depth)?;
        self::statement(f, statement, depth)?;
        writeln!(f)?;
    }
    Ok(())
}

fn statement(f: &mut Formatter<'_>, statement: &Statement, depth: usize) -> fmt::Result {
    let inner = |f: &mut Formatter<'_>, body: &[Statement]| {
        writeln!(f)?;
        block(f, body, depth + 1)?;
        write!(f, "{:1$}", "", 2 * depth)
    };
    match &statement.kind {
        StatementKind::Let(bindings) => {
            write!(f, "let ")?;
            bind(f, bindings, "\nand ")
        }
        StatementKind::Rec(bindings, when) => {
            write!(f, "let rec ")?;
            bind(f, bindings, "\nand ")?;
            if let Some(when) = when {
                write!(f, "\nwhen ")?;
                test(f, when)?;
            }
            Ok(())
        }
        StatementKind::Test(require, inner) => {
            f.write_str(match require {
                Require::Check => "",
                Require::Flag => "flag ",
                Require::UndefinedUnless => "undefined_unless ",
                Require::Assert => "assert ",
            })?;
            test(f, inner)
        }
        StatementKind::Show(names) => write!(f, "show {}", names.join(", ")),
        StatementKind::ShowAs(e, name) => {
            write!(f, "show ")?;
            expr(f, e, Level::Base)?;
            write!(f, " as {name}")
        }
        StatementKind::Unshow(names) => write!(f, "unshow {}", names.join(", ")),
        StatementKind::Include(name) => write!(f, "include \"{name}\""),
        StatementKind::Procedure { name, parameters, body, recursive } => {
            write!(f, "procedure {}{name}", if *recursive { "rec " } else { "" })?;
            if matches!(parameters, Pattern::One(_)) {
                write!(f, " ")?;
            }
            self::parameters(f, parameters)?;
            write!(f, " =")?;
            inner(f, body)?;
            write!(f, "end")
        }
        StatementKind::Call { name, argument, label } => {
            write!(f, "call {name} ")?;
            expr(f, argument, Level::Simple)?;
            self::label(f, label)
        }
        StatementKind::Enum(name, tags) => {
            write!(f, "enum {name} = ")?;
            for (index, tag) in tags.iter().enumerate() {
                write!(f, "{}'{tag}", if index > 0 { " || " } else { "" })?;
            }
            Ok(())
        }
        StatementKind::Forall { name, set, body } => {
            write!(f, "forall {name} in {set} do")?;
            inner(f, body)?;
            write!(f, "end")
        }
        StatementKind::With(name, e) => write!(f, "with {name} from {e}"),
        StatementKind::Match { subject, arms, otherwise } => {
            write!(f, "match {subject} with")?;
            for (tag, body) in arms {
                write!(f, " || '{tag} ->")?;
                inner(f, body)?;
            }
            if let Some(body) = otherwise {
                write!(f, " || _ ->")?;
                inner(f, body)?;
            }
            write!(f, "end")
        }
        StatementKind::If { condition, then, otherwise } => {
            write!(f, "if ")?;
            variant(f, condition)?;
            inner(f, then)?;
            if !otherwise.is_empty() {
                write!(f, "else")?;
                inner(f, otherwise)?;
            }
            write!(f, "end")
        }
        StatementKind::Debug(e) => write!(f, "debug {e}"),
        StatementKind::Instructions { default, name, annotations } => {
            write!(f, "{} {name}[", if *default { "default" } else { "instructions" })?;
            separated(f, annotations, ", ", Level::Base)?;
            write!(f, "]")
        }
    }
}
