//! The printer: a tree back to text that parses to the same tree.

use super::ast::*;
use std::fmt::{self, Display, Formatter};

/// The text of a program: parsing it gives the same tree.
pub fn print(program: &Program) -> String {
    program.to_string()
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some((n, _)) = self.number_procs {
            writeln!(f, "number_procs {n}\n")?;
        }
        for decl in &self.types {
            write!(f, "type {}", decl.name.name)?;
            for (i, constructor) in decl.constructors.iter().enumerate() {
                write!(f, "{}{}", if i == 0 { " = " } else { " | " }, constructor.name)?;
            }
            writeln!(f)?;
        }
        writeln!(f)?;
        for decl in &self.symbols {
            writeln!(f, "{decl}")?;
        }
        for item in &self.items {
            writeln!(f, "\n{item}")?;
        }
        Ok(())
    }
}

impl Display for SymbolDecl {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            SymbolKind::Const => "const",
            SymbolKind::Var => "var",
            SymbolKind::Array => "array",
        };
        write!(f, "{}{kind} {}", if self.weak { "weak " } else { "" }, self.name.name)?;
        if !self.dims.is_empty() {
            let dims: Vec<_> = self.dims.iter().map(|dim| dim.name.as_str()).collect();
            write!(f, "[{}]", dims.join(", "))?;
        }
        write!(f, " : {}", self.ty.name)
    }
}

impl Display for Item {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (keyword, set) = match self {
            Item::Init(set) => ("init", set),
            Item::Unsafe(set) => ("unsafe", set),
            Item::Invariant(set) => ("invariant", set),
            Item::Assume(set) => ("assume", set),
            Item::Predicate(set) => ("predicate", set),
            Item::Transition(transition) => return transition.fmt(f),
        };
        write!(f, "{keyword} ")?;
        if let Some(name) = &set.name {
            write!(f, "{} ", name.name)?;
        }
        let params: Vec<_> = set.params.iter().map(|p| p.name.as_str()).collect();
        write!(f, "({}) {{ {} }}", params.join(" "), set.body)
    }
}

impl Display for Transition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let params: Vec<_> = (self.params.iter().enumerate())
            .map(|(i, p)| if Some(i) == self.acting { format!("[{}]", p.name) } else { p.name.clone() })
            .collect();
        write!(f, "transition {} ({})", self.name.name, params.join(" "))?;
        if let Some(guard) = &self.guard {
            write!(f, "\nrequires {{ {guard} }}")?;
        }
        write!(f, "\n{{")?;
        for (i, update) in self.updates.iter().enumerate() {
            write!(f, "{}\n  {update}", if i == 0 { "" } else { ";" })?;
        }
        write!(f, "\n}}")
    }
}

impl Display for Update {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} := ", self.target.name, Indices(&self.indices))?;
        match &self.value {
            UpdateValue::Any => write!(f, "?"),
            UpdateValue::Term(term) => term.fmt(f),
            UpdateValue::Case(switches) => {
                write!(f, "case")?;
                for switch in switches {
                    match &switch.guard {
                        Some(guard) => write!(f, "\n    | {guard} : {}", switch.value)?,
                        None => write!(f, "\n    | _ : {}", switch.value)?,
                    }
                }
                Ok(())
            }
        }
    }
}

struct Indices<'a>(&'a [ProcRef]);

impl Display for Indices<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        let indices: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        write!(f, "[{}]", indices.join(", "))
    }
}

impl Display for ProcRef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ProcRef::Var(ident) => f.write_str(&ident.name),
            ProcRef::Const(n, _) => write!(f, "#{n}"),
        }
    }
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            TermKind::Proc(process) => process.fmt(f),
            TermKind::Access { by, name, indices } => {
                if let Some(by) = by {
                    write!(f, "{by}@")?;
                }
                write!(f, "{}{}", name.name, Indices(indices))
            }
            TermKind::Int(value) => value.fmt(f),
            TermKind::Real(digits) => f.write_str(digits),
            TermKind::Add(left, right) => write!(f, "{left} + {right}"),
            TermKind::Sub(left, right) => write!(f, "{left} - {right}"),
            TermKind::Mul(left, right) => write!(f, "{left} * {right}"),
        }
    }
}

impl Comparison {
    /// As it is written in the text.
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Eq => "=",
            Comparison::Neq => "<>",
            Comparison::Lt => "<",
            Comparison::Le => "<=",
            Comparison::Gt => ">",
            Comparison::Ge => ">=",
        }
    }
}

/// How tightly an expression binds; a child that binds more loosely than its place gets parentheses.
fn strength(expr: &Expr) -> u8 {
    match expr.kind {
        ExprKind::Quantified { .. } => 0,
        ExprKind::Implies(..) | ExprKind::Iff(..) => 1,
        ExprKind::Or(..) => 2,
        ExprKind::And(..) => 3,
        ExprKind::If(..) => 4,
        _ => 5,
    }
}

struct At<'a>(u8, &'a Expr);

impl Display for At<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if strength(self.1) < self.0 { write!(f, "({})", self.1) } else { self.1.fmt(f) }
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::True => f.write_str("true"),
            ExprKind::False => f.write_str("false"),
            ExprKind::Fence => f.write_str("fence()"),
            ExprKind::Compare(left, comparison, right) => write!(f, "{left} {} {right}", comparison.symbol()),
            ExprKind::Call(name, args) => {
                let args: Vec<_> = args.iter().map(ToString::to_string).collect();
                write!(f, "{}({})", name.name, args.join(", "))
            }
            ExprKind::Not(inner) => write!(f, "not {}", At(5, inner)),
            ExprKind::And(left, right) => write!(f, "{} && {}", At(3, left), At(4, right)),
            ExprKind::Or(left, right) => write!(f, "{} || {}", At(2, left), At(3, right)),
            ExprKind::Implies(left, right) => write!(f, "{} => {}", At(2, left), At(1, right)),
            ExprKind::Iff(left, right) => write!(f, "{} <=> {}", At(2, left), At(1, right)),
            ExprKind::If(condition, then, otherwise) => {
                write!(f, "if {condition} then {then} else {}", At(4, otherwise))
            }
            ExprKind::Quantified { quantifier, var, distinct, body } => {
                let word = match quantifier {
                    Quantifier::Forall => "forall",
                    Quantifier::Exists => "exists",
                    Quantifier::ForallOther => "forall_other",
                    Quantifier::ExistsOther => "exists_other",
                };
                write!(f, "{word} {}", var.name)?;
                for other in distinct {
                    write!(f, " <> {other}")?;
                }
                write!(f, ". {body}")
            }
        }
    }
}
