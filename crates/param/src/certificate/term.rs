//! SMT terms: a small tree that simplifies as it is built and prints as SMT-LIB.

use std::fmt;
use std::rc::Rc;

/// A formula or a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Term {
    True,
    False,
    Number(i64),
    Name(Rc<str>),
    App(&'static str, Vec<Term>),
}

impl Term {
    pub fn truth(holds: bool) -> Term {
        if holds { Term::True } else { Term::False }
    }

    pub fn and(parts: impl IntoIterator<Item = Term>) -> Term {
        Term::join("and", Term::True, Term::False, parts)
    }

    pub fn or(parts: impl IntoIterator<Item = Term>) -> Term {
        Term::join("or", Term::False, Term::True, parts)
    }

    fn join(op: &'static str, neutral: Term, absorbing: Term, parts: impl IntoIterator<Item = Term>) -> Term {
        let mut kept: Vec<Term> = Vec::new();
        for part in parts {
            if part == absorbing {
                return absorbing;
            }
            match part {
                part if part == neutral || kept.contains(&part) => {}
                Term::App(other, inner) if other == op => {
                    kept.extend(inner);
                }
                part => kept.push(part),
            }
        }
        match kept.len() {
            0 => neutral,
            1 => kept.remove(0),
            _ => Term::App(op, kept),
        }
    }

    pub fn not(self) -> Term {
        match self {
            Term::True => Term::False,
            Term::False => Term::True,
            Term::App("not", mut inner) => inner.remove(0),
            other => Term::App("not", vec![other]),
        }
    }

    pub fn implies(self, then: Term) -> Term {
        Term::or([self.not(), then])
    }

    pub fn ite(self, then: Term, otherwise: Term) -> Term {
        match self {
            Term::True => then,
            Term::False => otherwise,
            _ if then == otherwise => then,
            condition => Term::App("ite", vec![condition, then, otherwise]),
        }
    }

    pub fn eq(self, other: Term) -> Term {
        match (&self, &other) {
            (Term::Number(a), Term::Number(b)) => Term::truth(a == b),
            _ if self == other => Term::True,
            _ => Term::App("=", vec![self, other]),
        }
    }

    pub fn le(self, other: Term) -> Term {
        match (&self, &other) {
            (Term::Number(a), Term::Number(b)) => Term::truth(a <= b),
            _ if self == other => Term::True,
            _ => Term::App("<=", vec![self, other]),
        }
    }

    pub fn lt(self, other: Term) -> Term {
        other.le(self).not()
    }

    /// Σ factor · term + constant.
    pub fn sum(terms: impl IntoIterator<Item = (i64, Term)>, constant: i64) -> Term {
        let mut parts: Vec<Term> = (terms.into_iter())
            .map(|(factor, term)| match factor {
                1 => term,
                _ => Term::App("*", vec![Term::Number(factor), term]),
            })
            .collect();
        if constant != 0 || parts.is_empty() {
            parts.push(Term::Number(constant));
        }
        if parts.len() == 1 { parts.remove(0) } else { Term::App("+", parts) }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Term::True => f.write_str("true"),
            Term::False => f.write_str("false"),
            Term::Number(n) if *n < 0 => write!(f, "(- {})", n.unsigned_abs()),
            Term::Number(n) => write!(f, "{n}"),
            Term::Name(name) => f.write_str(name),
            Term::App(op, arguments) => {
                write!(f, "({op}")?;
                arguments.iter().try_for_each(|argument| write!(f, " {argument}"))?;
                f.write_str(")")
            }
        }
    }
}
