//! From the syntax tree to an [`ArraySystem`](System): names, types, and the rules of weak memory.
//!
//! Errors that make the text meaningless end here. Rules that only a weak model imposes (an acting process,
//! thread-local plain arrays) are collected in [`System::weak_errors`] and matter when such a model is chosen:
//! the prover's order of steps is only free where processes share nothing but weak memory.

use crate::syntax::span::error_at;
use crate::syntax::{
    self, Comparison, Diagnostic, ExprKind, Ident, Item, ProcRef, Quantifier, Span, SymbolKind, TermKind,
};
use crate::system::*;
use std::collections::HashMap;

const MAX_DIMS: usize = 3;
const MAX_CONSTRUCTORS: usize = 64;
const MAX_SLOTS: usize = 16;
const MAX_PREDICATE_DEPTH: usize = 32;

/// The system that a text stands for; the first mistake otherwise.
pub fn check(program: &syntax::Program) -> Result<System, Diagnostic> {
    let mut checker = Checker::new(program)?;
    let mut init = None;
    let mut system = checker.system(program);
    for item in &program.items {
        match item {
            Item::Init(set) => {
                if init.is_some() {
                    return Err(error_at(set.span, "a second `init`")
                        .help("join them with `&&`; a system has exactly one"));
                }
                init = Some(checker.state_set(set, Place::Init)?);
            }
            Item::Unsafe(set) => system.unsafes.push(checker.state_set(set, Place::States)?),
            Item::Invariant(set) => system.invariants.push(checker.state_set(set, Place::States)?),
            Item::Assume(set) => {
                let assumed = checker.state_set(set, Place::States)?;
                if !system.only_constants(&assumed.body) {
                    return Err(error_at(set.span, "an assumption speaks of constants alone")
                        .help("write `invariant` for what is proved, or make it a part of `init`"));
                }
                system.invariants.push(assumed);
            }
            Item::Transition(transition) => system.transitions.push(checker.transition(transition)?),
            Item::Predicate(_) => {}
        }
    }
    let end = program.items.last().map_or(Span::default(), item_span);
    system.init = init.ok_or_else(|| {
        error_at(end, "the system has no `init`")
            .help("add `init (p) { … }`, which holds for every process p")
    })?;
    if system.unsafes.is_empty() {
        return Err(error_at(end, "the system has no `unsafe`")
            .help("add `unsafe (p q) { … }`, the states that must never be reached"));
    }
    system.weak_errors = checker.weak_errors;
    system.named = checker.named;
    Ok(system)
}

fn item_span(item: &Item) -> Span {
    match item {
        Item::Init(set)
        | Item::Unsafe(set)
        | Item::Invariant(set)
        | Item::Assume(set)
        | Item::Predicate(set) => set.span,
        Item::Transition(transition) => transition.name.span,
    }
}

struct Checker<'a> {
    types: Vec<Type>,
    type_ids: HashMap<String, TypeId>,
    symbols: Vec<Symbol>,
    symbol_ids: HashMap<String, usize>,
    constructors: HashMap<String, (TypeId, u8)>,
    predicates: HashMap<String, &'a syntax::StateSet>,
    number_procs: Option<u32>,
    real_scale: i64,
    named: bool,
    weak_errors: Vec<Diagnostic>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Init,
    /// `unsafe` and `invariant`: every weak read names its process.
    States,
    Transition,
}

/// What a formula is checked in.
struct Scope {
    place: Place,
    names: Vec<(String, Proc)>,
    next_slot: usize,
    acting: Option<Proc>,
    depth: usize,
    /// A fence was found among the conjuncts.
    fence: bool,
    /// `lock()` was found among the conjuncts.
    lock: bool,
}

type Checked<T> = Result<T, Diagnostic>;

impl<'a> Checker<'a> {
    fn new(program: &'a syntax::Program) -> Checked<Checker<'a>> {
        let mut checker = Checker {
            types: Vec::new(),
            type_ids: HashMap::new(),
            symbols: Vec::new(),
            symbol_ids: HashMap::new(),
            constructors: HashMap::new(),
            predicates: HashMap::new(),
            number_procs: program.number_procs.map(|(n, _)| n),
            real_scale: real_scale(program),
            named: false,
            weak_errors: Vec::new(),
        };
        let booleans = TypeKind::Enum(vec!["True".into(), "False".into()]);
        for (name, kind) in
            [("proc", TypeKind::Proc), ("int", TypeKind::Int), ("real", TypeKind::Real), ("bool", booleans)]
        {
            checker.add_type(name, kind);
        }
        for (i, name) in ["True", "False"].into_iter().enumerate() {
            checker.constructors.insert(name.into(), (BOOL, i as u8));
        }
        for decl in &program.types {
            checker.type_decl(decl)?;
        }
        for decl in &program.symbols {
            checker.symbol_decl(decl)?;
        }
        for item in &program.items {
            if let Item::Predicate(set) = item {
                let Some(name) = &set.name else {
                    return Err(error_at(set.span, "a predicate needs a name"));
                };
                if checker.predicates.insert(name.name.clone(), set).is_some() {
                    return Err(error_at(
                        name.span,
                        format!("the predicate `{}` is declared twice", name.name),
                    ));
                }
            }
        }
        Ok(checker)
    }

    fn system(&self, program: &syntax::Program) -> System {
        let empty = StateSet { name: None, params: Vec::new(), body: Formula::True, span: Span::default() };
        System {
            types: self.types.clone(),
            symbols: self.symbols.clone(),
            number_procs: program.number_procs.map(|(n, _)| n as u8),
            named: false,
            real_scale: self.real_scale,
            init: empty,
            unsafes: Vec::new(),
            invariants: Vec::new(),
            transitions: Vec::new(),
            weak_errors: Vec::new(),
        }
    }

    fn add_type(&mut self, name: &str, kind: TypeKind) -> TypeId {
        self.types.push(Type { name: name.into(), kind });
        self.type_ids.insert(name.into(), self.types.len() - 1);
        self.types.len() - 1
    }

    fn type_decl(&mut self, decl: &syntax::TypeDecl) -> Checked<()> {
        if self.type_ids.contains_key(&decl.name.name) {
            return Err(error_at(decl.name.span, format!("the type `{}` is declared twice", decl.name.name)));
        }
        if decl.constructors.len() > MAX_CONSTRUCTORS {
            return Err(error_at(decl.name.span, "an enumeration has at most 64 constructors"));
        }
        let names: Vec<String> = decl.constructors.iter().map(|c| c.name.clone()).collect();
        let kind = if names.is_empty() { TypeKind::Abstract } else { TypeKind::Enum(names) };
        let ty = self.add_type(&decl.name.name, kind);
        for (i, constructor) in decl.constructors.iter().enumerate() {
            if self.constructors.insert(constructor.name.clone(), (ty, i as u8)).is_some() {
                return Err(error_at(
                    constructor.span,
                    format!("the constructor `{}` is declared twice", constructor.name),
                ));
            }
        }
        Ok(())
    }

    fn symbol_decl(&mut self, decl: &syntax::SymbolDecl) -> Checked<()> {
        let name = &decl.name.name;
        if self.symbol_ids.contains_key(name) || self.constructors.contains_key(name) {
            return Err(error_at(decl.name.span, format!("`{name}` is declared twice")));
        }
        if let Some(dim) = decl.dims.iter().find(|dim| dim.name != "proc") {
            return Err(error_at(dim.span, format!("arrays are indexed by `proc`, not by `{}`", dim.name)));
        }
        if decl.dims.len() > MAX_DIMS {
            return Err(error_at(decl.name.span, "an array has at most three indices"));
        }
        let ty = self.type_id(&decl.ty)?;
        self.symbol_ids.insert(name.clone(), self.symbols.len());
        self.symbols.push(Symbol {
            name: name.clone(),
            ty,
            dims: decl.dims.len(),
            weak: decl.weak,
            constant: decl.kind == SymbolKind::Const,
        });
        Ok(())
    }

    fn type_id(&self, ident: &Ident) -> Checked<TypeId> {
        self.type_ids.get(&ident.name).copied().ok_or_else(|| {
            error_at(ident.span, format!("unknown type `{}`", ident.name))
                .help("the built-in types are proc, int, real and bool")
        })
    }

    fn scope(&self, place: Place, params: &[Ident]) -> Checked<Scope> {
        let mut names = Vec::new();
        for (i, param) in params.iter().enumerate() {
            if names.iter().any(|(name, _)| *name == param.name) {
                return Err(error_at(param.span, format!("the process `{}` is bound twice", param.name)));
            }
            names.push((param.name.clone(), Proc::Slot(i as u8)));
        }
        if params.len() > MAX_SLOTS / 2 {
            return Err(error_at(params[0].span, "too many process parameters")
                .help(format!("at most {} are supported", MAX_SLOTS / 2)));
        }
        Ok(Scope { place, next_slot: params.len(), names, acting: None, depth: 0, fence: false, lock: false })
    }

    fn state_set(&mut self, set: &syntax::StateSet, place: Place) -> Checked<StateSet> {
        let mut scope = self.scope(place, &set.params)?;
        let body = self.formula(&set.body, &mut scope, false)?;
        Ok(StateSet {
            name: set.name.as_ref().map(|name| name.name.clone()),
            params: set.params.iter().map(|p| p.name.clone()).collect(),
            body,
            span: set.span,
        })
    }

    fn transition(&mut self, transition: &syntax::Transition) -> Checked<Transition> {
        let mut scope = self.scope(Place::Transition, &transition.params)?;
        scope.acting = transition.acting.map(|i| Proc::Slot(i as u8));
        if transition.acting.is_none() {
            self.weak_errors.push(
                error_at(transition.name.span, format!("no process acts in `{}`", transition.name.name))
                    .help("put the acting process in brackets, as in `transition t ([p] q)`"),
            );
        }
        let guard = match &transition.guard {
            Some(guard) => self.formula(guard, &mut scope, true)?,
            None => Formula::True,
        };
        let (fence, lock) = (scope.fence, scope.lock);
        let mut updates: Vec<Update> = Vec::new();
        for update in &transition.updates {
            let update_ = self.update(update, &mut scope)?;
            if updates.iter().any(|other| other.symbol == update_.symbol) {
                return Err(error_at(
                    update.span,
                    format!("`{}` is updated twice in one transition", update.target.name),
                )
                .help("several cells are written with `A[j] := case | j = p : … | j = q : … | _ : A[j]`"));
            }
            updates.push(update_);
        }
        let mut reads = false;
        let mut note = |access: &Access| reads |= self.symbols[access.symbol].weak;
        guard.accesses(&mut note);
        for update in &updates {
            if let UpdateValue::Cases(cases) = &update.value {
                let own = |access: &Access| {
                    access.symbol == update.symbol
                        && access.indices.len() == update.indices.len()
                        && access.indices.iter().zip(&update.indices).all(|(a, b)| match (a, b) {
                            (Proc::Slot(a), Index::Bound(b)) => a == b,
                            (a, Index::Fixed(b)) => a == b,
                            _ => false,
                        })
                };
                for (condition, value) in cases {
                    condition.accesses(&mut note);
                    // `X[j] := case … | _ : X[j]` leaves a cell alone: no read, no write.
                    if !matches!(value, Term::Access(access) if own(access)) {
                        value.accesses(&mut note);
                    }
                }
            }
        }
        let writes = updates.iter().any(|update| self.symbols[update.symbol].weak);
        if lock && !writes {
            return Err(error_at(
                transition.name.span,
                format!("`{}` is locked, but writes no weak memory", transition.name.name),
            )
            .help("write `fence()` instead of `lock()`"));
        }
        Ok(Transition {
            name: transition.name.name.clone(),
            params: transition.params.iter().map(|p| p.name.clone()).collect(),
            acting: transition.acting,
            guard,
            fence,
            locked: lock || (reads && writes),
            swaps: reads && writes,
            updates,
            span: transition.name.span,
        })
    }

    fn update(&mut self, update: &syntax::Update, scope: &mut Scope) -> Checked<Update> {
        let symbol = self.symbol(&update.target)?;
        let Symbol { ty, dims, weak, constant, .. } = self.symbols[symbol];
        if constant {
            return Err(error_at(
                update.target.span,
                format!("the constant `{}` is updated", update.target.name),
            ));
        }
        if update.indices.len() != dims {
            return Err(wrong_dims(&update.target, dims, update.indices.len()));
        }
        let names = scope.names.len();
        let mut indices = Vec::new();
        for index in &update.indices {
            indices.push(match index {
                ProcRef::Var(ident) if !scope.names.iter().any(|(name, _)| *name == ident.name) => {
                    if !matches!(update.value, syntax::UpdateValue::Case(_)) {
                        return Err(error_at(ident.span, format!("unknown process `{}`", ident.name))
                            .help("an index that is no parameter is bound by a `case` update"));
                    }
                    let slot = scope.bind(ident)?;
                    Index::Bound(slot)
                }
                index => Index::Fixed(self.process(index, scope)?),
            });
        }
        let value = match &update.value {
            syntax::UpdateValue::Any => UpdateValue::Any,
            syntax::UpdateValue::Term(term) => {
                UpdateValue::Cases(vec![(Formula::True, self.typed_term(term, ty, scope)?)])
            }
            syntax::UpdateValue::Case(switches) => {
                let mut cases = Vec::new();
                for switch in switches {
                    let condition = match &switch.guard {
                        Some(guard) => self.formula(guard, scope, false)?,
                        None => Formula::True,
                    };
                    if has_quantifier(&condition) {
                        return Err(error_at(update.span, "a case condition has no quantifiers")
                            .help("move the quantifier to the guard, with one transition per case"));
                    }
                    cases.push((condition, self.typed_term(&switch.value, ty, scope)?));
                }
                UpdateValue::Cases(cases)
            }
        };
        if !weak {
            let local = indices.first().is_some_and(|first| Some(*first) == scope.acting.map(Index::Fixed));
            if !local {
                self.weak_errors.push(not_local(update.target.span, &update.target.name));
            }
        }
        scope.names.truncate(names);
        Ok(Update { symbol, indices, value })
    }

    fn symbol(&self, ident: &Ident) -> Checked<usize> {
        self.symbol_ids.get(&ident.name).copied().ok_or_else(|| {
            error_at(ident.span, format!("unknown variable or array `{}`", ident.name))
                .help("declare it with var, array, weak var, weak array or const")
        })
    }

    fn process(&mut self, process: &ProcRef, scope: &Scope) -> Checked<Proc> {
        match process {
            ProcRef::Var(ident) => {
                scope.names.iter().rev().find(|(name, _)| *name == ident.name).map(|(_, p)| *p).ok_or_else(
                    || {
                        error_at(ident.span, format!("unknown process `{}`", ident.name))
                            .help("processes are parameters or bound by a quantifier")
                    },
                )
            }
            ProcRef::Const(n, span) => match self.number_procs {
                Some(max) if *n >= 1 && *n <= max => {
                    self.named = true;
                    Ok(Proc::Const(*n as u8 - 1))
                }
                Some(max) => Err(error_at(*span, format!("there is no process #{n}"))
                    .help(format!("`number_procs {max}` gives #1 to #{max}"))),
                None => Err(error_at(*span, "process constants need `number_procs`")
                    .help("start the file with, for instance, `number_procs 2`")),
            },
        }
    }

    /// `conjunct`: the formula is a conjunct of a guard, where a fence may stand.
    fn formula(&mut self, expr: &syntax::Expr, scope: &mut Scope, conjunct: bool) -> Checked<Formula> {
        let mut sub = |this: &mut Self, expr: &syntax::Expr| this.formula(expr, scope, false);
        Ok(match &expr.kind {
            ExprKind::True => Formula::True,
            ExprKind::False => Formula::False,
            ExprKind::Fence => {
                if !conjunct || scope.place != Place::Transition {
                    return Err(error_at(expr.span, "fence() is only a conjunct of a guard").help(
                        "write `requires { fence() && … }`; not under a negation, a disjunction or in an update",
                    ));
                }
                scope.fence = true;
                Formula::True
            }
            ExprKind::Compare(left, comparison, right) => {
                self.comparison(expr.span, left, *comparison, right, scope)?
            }
            ExprKind::Call(name, args) => self.call(expr.span, name, args, scope, conjunct)?,
            ExprKind::Not(inner) => Formula::Not(Box::new(sub(self, inner)?)),
            ExprKind::And(left, right) => {
                let left = self.formula(left, scope, conjunct)?;
                Formula::And(vec![left, self.formula(right, scope, conjunct)?])
            }
            ExprKind::Or(left, right) => Formula::Or(vec![sub(self, left)?, sub(self, right)?]),
            ExprKind::Implies(left, right) => {
                Formula::Or(vec![Formula::Not(Box::new(sub(self, left)?)), sub(self, right)?])
            }
            ExprKind::Iff(left, right) => {
                let (left, right) = (sub(self, left)?, sub(self, right)?);
                let not_right = Formula::Not(Box::new(right.clone()));
                Formula::If(Box::new(left), Box::new(right), Box::new(not_right))
            }
            ExprKind::If(condition, then, otherwise) => Formula::If(
                Box::new(sub(self, condition)?),
                Box::new(sub(self, then)?),
                Box::new(sub(self, otherwise)?),
            ),
            ExprKind::Quantified { quantifier, var, distinct, body } => {
                self.quantified(*quantifier, var, distinct, body, scope, conjunct)?
            }
        })
    }

    fn comparison(
        &mut self,
        span: Span,
        left: &syntax::Term,
        comparison: Comparison,
        right: &syntax::Term,
        scope: &mut Scope,
    ) -> Checked<Formula> {
        let (left_term, left_type) = self.term(left, scope)?;
        let (right_term, right_type) = self.term(right, scope)?;
        let ty = self.common_type(left, left_type, right, right_type)?;
        let ordered = matches!(ty, PROC | INT | REAL);
        if !ordered && !matches!(comparison, Comparison::Eq | Comparison::Neq) {
            let name = &self.types[ty].name;
            return Err(error_at(span, format!("`{name}` has no order: only `=` and `<>` apply")));
        }
        let left = self.scaled(left_term, left_type, ty);
        let right = self.scaled(right_term, right_type, ty);
        Ok(Formula::Compare(ty, left, comparison, right))
    }

    /// A predicate, replaced by its body.
    fn call(
        &mut self,
        span: Span,
        name: &Ident,
        args: &[ProcRef],
        scope: &mut Scope,
        conjunct: bool,
    ) -> Checked<Formula> {
        if name.name == "lock" && args.is_empty() && !self.predicates.contains_key("lock") {
            if !conjunct || scope.place != Place::Transition {
                return Err(error_at(span, "lock() is only a conjunct of a guard").help(
                    "write `requires { lock() && … }`; not under a negation, a disjunction or in an update",
                ));
            }
            scope.lock = true;
            return Ok(Formula::True);
        }
        let Some(&predicate) = self.predicates.get(&name.name) else {
            return Err(error_at(name.span, format!("unknown predicate `{}`", name.name)));
        };
        let (wanted, given) = (predicate.params.len(), args.len());
        if wanted != given {
            let message = format!("`{}` takes {wanted} processes, here are {given}", name.name);
            return Err(error_at(span, message));
        }
        if scope.depth > MAX_PREDICATE_DEPTH {
            return Err(error_at(name.span, format!("the predicate `{}` calls itself", name.name)));
        }
        let mut names = Vec::new();
        for (param, arg) in predicate.params.iter().zip(args) {
            names.push((param.name.clone(), self.process(arg, scope)?));
        }
        let outer = std::mem::replace(&mut scope.names, names);
        scope.depth += 1;
        let body = self.formula(&predicate.body, scope, conjunct);
        scope.depth -= 1;
        scope.names = outer;
        body
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        var: &Ident,
        distinct: &[ProcRef],
        body: &syntax::Expr,
        scope: &mut Scope,
        conjunct: bool,
    ) -> Checked<Formula> {
        let mut excluded = Vec::new();
        for process in distinct {
            excluded.push(self.process(process, scope)?);
        }
        if matches!(quantifier, Quantifier::ForallOther | Quantifier::ExistsOther) {
            excluded.extend(scope.names.iter().map(|(_, process)| *process));
        }
        let universal = matches!(quantifier, Quantifier::Forall | Quantifier::ForallOther);
        let names = scope.names.len();
        let slot = scope.bind(var)?;
        let body = self.formula(body, scope, conjunct && universal)?;
        scope.names.truncate(names);
        let quantified = Quantified { slot, excluded, body: Box::new(body) };
        Ok(if universal { Formula::Forall(quantified) } else { Formula::Exists(quantified) })
    }

    fn common_type(
        &self,
        left: &syntax::Term,
        a: TypeId,
        right: &syntax::Term,
        b: TypeId,
    ) -> Checked<TypeId> {
        let whole = |term: &syntax::Term| matches!(term.kind, TermKind::Int(_));
        match (a, b) {
            _ if a == b => Ok(a),
            (INT, REAL) if whole(left) => Ok(REAL),
            (REAL, INT) if whole(right) => Ok(REAL),
            _ => Err(error_at(
                left.span.to(right.span),
                format!("`{}` is compared with `{}`", self.types[a].name, self.types[b].name),
            )),
        }
    }

    /// A whole number where a real is meant.
    fn scaled(&self, term: Term, from: TypeId, to: TypeId) -> Term {
        match term {
            Term::Linear(parts, constant) if from == INT && to == REAL => {
                Term::Linear(parts, constant * self.real_scale)
            }
            term => term,
        }
    }

    fn typed_term(&mut self, term: &syntax::Term, ty: TypeId, scope: &mut Scope) -> Checked<Term> {
        let (typed, found) = self.term(term, scope)?;
        if found == ty || (ty == REAL && found == INT && matches!(term.kind, TermKind::Int(_))) {
            return Ok(self.scaled(typed, found, ty));
        }
        Err(error_at(
            term.span,
            format!("this is of type `{}`, expected `{}`", self.types[found].name, self.types[ty].name),
        ))
    }

    fn term(&mut self, term: &syntax::Term, scope: &mut Scope) -> Checked<(Term, TypeId)> {
        match &term.kind {
            TermKind::Proc(process) => Ok((Term::Proc(self.process(process, scope)?), PROC)),
            TermKind::Int(value) => Ok((Term::Linear(Vec::new(), *value), INT)),
            TermKind::Real(digits) => {
                let value = scale_real(digits, self.real_scale)
                    .ok_or_else(|| error_at(term.span, "this number has too many digits"))?;
                Ok((Term::Linear(Vec::new(), value), REAL))
            }
            TermKind::Access { by, name, indices } => self.access(term, by.as_ref(), name, indices, scope),
            TermKind::Add(left, right) | TermKind::Sub(left, right) => {
                let (a, a_type) = self.term(left, scope)?;
                let (b, b_type) = self.term(right, scope)?;
                let ty = self.common_type(left, a_type, right, b_type)?;
                let (a, b) = (self.scaled(a, a_type, ty), self.scaled(b, b_type, ty));
                let sign = if matches!(term.kind, TermKind::Add(..)) { 1 } else { -1 };
                let (Term::Linear(mut parts, constant), Term::Linear(more, other)) = (a, b) else {
                    return Err(error_at(term.span, "only numbers are added"));
                };
                parts.extend(more.into_iter().map(|(k, access)| (sign * k, access)));
                Ok((Term::Linear(merge(parts), constant + sign * other), ty))
            }
            TermKind::Mul(left, right) => {
                let (factor, other) = match (&left.kind, &right.kind) {
                    (TermKind::Int(k), _) => (*k, right),
                    (_, TermKind::Int(k)) => (*k, left),
                    _ => {
                        return Err(error_at(term.span, "one side of a product is a whole number")
                            .help("for instance `2 * N`"));
                    }
                };
                let (Term::Linear(parts, constant), ty) = self.term(other, scope)? else {
                    return Err(error_at(term.span, "only numbers are multiplied"));
                };
                let overflow = || error_at(term.span, "this number is too large");
                let constant = constant.checked_mul(factor).ok_or_else(overflow)?;
                let parts = parts.into_iter().map(|(k, access)| (k * factor, access)).collect();
                Ok((Term::Linear(merge(parts), constant), ty))
            }
        }
    }

    fn access(
        &mut self,
        term: &syntax::Term,
        by: Option<&ProcRef>,
        name: &Ident,
        indices: &[ProcRef],
        scope: &mut Scope,
    ) -> Checked<(Term, TypeId)> {
        if let Some(&(ty, value)) = self.constructors.get(&name.name)
            && by.is_none()
            && indices.is_empty()
        {
            return Ok((Term::Enum(value), ty));
        }
        let symbol = self.symbol(name)?;
        let Symbol { ty, dims, weak, constant, .. } = self.symbols[symbol];
        if indices.len() != dims {
            return Err(wrong_dims(name, dims, indices.len()));
        }
        let mut cells = Vec::new();
        for index in indices {
            cells.push(self.process(index, scope)?);
        }
        let by = match by {
            Some(by) if !weak => {
                return Err(error_at(by.span().to(term.span), format!("`{}` is not weak", name.name))
                    .help("only reads of weak variables and arrays name a process with `@`"));
            }
            Some(by) => {
                let reader = self.process(by, scope)?;
                match scope.place {
                    Place::Init => {
                        return Err(error_at(
                            term.span,
                            "`@` in init: all processes start with the same memory",
                        )
                        .help(format!("write `{}` alone", name.name)));
                    }
                    Place::Transition if Some(reader) != scope.acting => {
                        return Err(error_at(term.span, "only the acting process reads in a transition")
                            .help("the acting process is the one in brackets"));
                    }
                    _ => Some(reader),
                }
            }
            None if weak && scope.place == Place::States => {
                self.weak_errors.push(
                    error_at(term.span, format!("which process reads `{}`?", name.name))
                        .help(format!("under a weak model write `p@{}` with a process p", name.name)),
                );
                None
            }
            None if weak && scope.place == Place::Transition => scope.acting,
            None => None,
        };
        if !weak && !constant {
            match scope.place {
                Place::Transition => {
                    let local = cells.first().is_some_and(|first| Some(*first) == scope.acting);
                    if !local {
                        self.weak_errors.push(not_local(term.span, &name.name));
                    }
                }
                Place::States | Place::Init => {}
            }
        }
        let access = Access { symbol, indices: cells, by };
        let term =
            if matches!(ty, INT | REAL) { Term::Linear(vec![(1, access)], 0) } else { Term::Access(access) };
        Ok((term, ty))
    }
}

impl Scope {
    fn bind(&mut self, ident: &Ident) -> Checked<u8> {
        if self.next_slot >= MAX_SLOTS {
            return Err(error_at(ident.span, "too many process variables in one declaration"));
        }
        let slot = self.next_slot as u8;
        self.next_slot += 1;
        self.names.push((ident.name.clone(), Proc::Slot(slot)));
        Ok(slot)
    }
}

/// Whether a formula speaks of all processes, or of some.
pub(crate) fn has_quantifier(formula: &Formula) -> bool {
    match formula {
        Formula::True | Formula::False | Formula::Compare(..) => false,
        Formula::Not(inner) => has_quantifier(inner),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().any(has_quantifier),
        Formula::If(a, b, c) => [a, b, c].into_iter().any(|part| has_quantifier(part)),
        Formula::Forall(_) | Formula::Exists(_) => true,
    }
}

fn merge(parts: Vec<(i64, Access)>) -> Vec<(i64, Access)> {
    let mut merged: Vec<(i64, Access)> = Vec::new();
    for (k, access) in parts {
        match merged.iter_mut().find(|(_, other)| *other == access) {
            Some((sum, _)) => *sum += k,
            None => merged.push((k, access)),
        }
    }
    merged.retain(|(k, _)| *k != 0);
    merged
}

fn wrong_dims(name: &Ident, expected: usize, found: usize) -> Diagnostic {
    let message = match expected {
        0 => format!("`{}` is no array", name.name),
        n => format!("`{}` has {n} indices, here are {found}", name.name),
    };
    error_at(name.span, message)
}

fn not_local(span: Span, name: &str) -> Diagnostic {
    error_at(span, format!("`{name}` is not weak, so under a weak model it is local to the acting process"))
        .help(format!("declare it weak, or use the cell of the acting process alone: `{name}[p]` with `[p]`"))
}

/// How many integer units make one real: a power of ten that holds every literal.
fn real_scale(program: &syntax::Program) -> i64 {
    let text = syntax::print(program);
    let decimals = text
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .filter_map(|word| word.split_once('.'))
        .map(|(_, decimals)| decimals.len())
        .max()
        .unwrap_or(0);
    10_i64.pow(decimals.min(9) as u32)
}

fn scale_real(digits: &str, scale: i64) -> Option<i64> {
    let (whole, decimals) = digits.split_once('.')?;
    if decimals.len() > 9 {
        return None;
    }
    let negative = whole.starts_with('-');
    let whole: i64 = whole.parse().ok()?;
    let part: i64 = if decimals.is_empty() { 0 } else { decimals.parse().ok()? };
    let part = part * (scale / 10_i64.pow(decimals.len() as u32));
    let value = whole.checked_mul(scale)?;
    Some(if negative { value - part } else { value + part })
}
