//! What the constructs of the language mean, on small executions.

#[allow(dead_code)]
mod common;

use std::fs;

use common::{Shape, allowed};
use porf_cat::{CatModel, Evaluator};
use porf_relation::Relation;

/// Message passing: initial writes of x and y are events 0 and 1, then Wx 2, Wy 3, Ry 4, Rx 5.
fn mp() -> Shape {
    Shape::new("MP").thread("Wx1 Wy1").thread("Ry1 Rx0")
}

fn is_allowed(text: &str) -> bool {
    allowed(&CatModel::parse("m", text).unwrap_or_else(|e| panic!("{e}\n{text}")), &mp())
}

/// The text is a statement or several that hold of message passing with its relaxed outcome.
#[track_caller]
fn holds(text: &str) {
    assert!(is_allowed(text), "{text}");
}

#[track_caller]
fn fails(text: &str) {
    assert!(!is_allowed(text), "{text}");
}

fn bind_error(text: &str) -> String {
    let model = CatModel::parse("m", text).unwrap();
    let error = Evaluator::new(&model).bind(&mp().structure()).unwrap_err();
    error.to_string()
}

#[test]
fn tests_and_their_negations() {
    holds("acyclic po");
    fails("~acyclic po");
    fails("acyclic po | rf | fr");
    holds("~acyclic po | rf | fr");
    holds("irreflexive po ; po");
    fails("irreflexive po ; rf ; po ; fr");
    holds("empty R & W");
    fails("empty R");
    holds("empty {}");
    fails("empty _");
    holds("~empty IW");
}

#[test]
fn operators() {
    holds("let r = po ; rf empty r \\ ext");
    holds("empty (W * R) & rf \\ rf empty rf \\ (W * R)");
    holds("empty (rf^-1)^-1 \\ rf empty rf \\ rf^-1^-1");
    holds("empty po+ \\ po empty po? \\ (po | id) empty po* \\ po? empty (po | id) \\ po*");
    holds("empty ~(W | R) & M");
    holds("empty [R] \\ id empty domain rf \\ W empty range rf \\ R");
    holds("empty ~~po \\ po empty po & ~po");
    holds("empty 0 empty emptyset empty domain 0");
    holds("empty toid(R) \\ [R] empty fencerel(F)");
    holds("empty fr \\ ((rf^-1 ; co) \\ id) empty co0 \\ co");
}

#[test]
fn final_writes_are_the_last_in_co() {
    holds("empty FW & domain(co) empty IW & FW");
}

#[test]
fn functions() {
    holds("let both(a, b) = a & b empty both(R, W)");
    holds("let f x = x ; x empty f po \\ po");
    holds("let twice f = fun x -> f (f x) let inv r = r^-1 empty twice inv rf \\ rf");
    holds("let pair = (po, rf) let first(a, _) = a empty first pair \\ po");
    holds("let a, b = (R, W) empty a & b");
    // A closure sees the names at its definition, not at its use.
    holds("let x = R let f y = x & y let x = W empty f W");
    fails("let x = W let f y = x & y empty f W");
}

#[test]
fn recursion() {
    holds("let rec r = po | rf | r ; r empty r \\ (po | rf)+ empty (po | rf)+ \\ r");
    holds("let rec r = po | (r ; rf) | (r ; po) empty r \\ (po ; (po | rf)*)");
    holds("let rec a = po | b and b = rf | a ; b empty b \\ (po* ; rf ; (po | rf)*)* ; (po | rf)+");
    holds("let rec s = W & domain(r) and r = [s | W] ; po empty s \\ W");
    // A recursive definition with a test that fails forbids the execution.
    fails("let rec r = po | rf | fr | r ; r when acyclic r as sc");
    holds("let rec r = po | rf | r ; r when acyclic r as porf");
    // Nested.
    holds("let rec a = let rec b = po | b ; b in b | a ; rf empty a \\ (po ; rf* | po) ");
}

#[test]
fn a_recursion_that_does_not_converge_is_an_error() {
    let model = CatModel::parse("m", "let rec a = ~a and b = ~a\nempty a & b").unwrap();
    let shape = mp().structure();
    let error = Evaluator::new(&model).bind(&shape).unwrap_err();
    assert!(error.to_string().contains("does not converge"), "{error}");
}

#[test]
fn tags_and_enumerations() {
    holds("enum E = 'a || 'b let f t = match t with || 'a -> 0 || 'b -> po end empty f 'a");
    fails("enum E = 'a || 'b let f t = match t with || 'a -> 0 || 'b -> po end empty f 'b");
    holds("enum E = 'a || 'b let f t = match t with || 'a -> po || _ -> 0 end empty f 'b");
    holds("enum E = 'a || 'b || 'c forall t in E \\ {'a} do empty (if t = 'a then po else 0) end");
    fails("enum E = 'a || 'b || 'c forall t in E do empty (if t = 'a then po else 0) end");
    holds("enum E = 'a || 'b forall t in ~'a do empty (if t in {'b} then 0 else po) end");
    holds("enum E = 'a || 'b match 'b with || 'a -> empty po || _ -> acyclic po end");
    // The set of the events with a tag has its name.
    holds("enum E = 'rmb || 'wmb empty tag2events('rmb)");
    assert_eq!(bind_error("empty 'x"), "m.cat:1:7: tag `'x` belongs to no enumeration");
}

#[test]
fn procedures() {
    holds("procedure inside(a, b) = empty a \\ b end call inside (rf, ext)");
    fails("procedure inside(a, b) = empty a \\ b end call inside (ext, rf) as no");
    holds("call subseteq (rf, W * R) call total (po | po^-1 | id, R & W)");
    // Definitions in a procedure stay there.
    holds("let x = 0 procedure p() = let x = po end call p () empty x");
}

#[test]
fn conditions() {
    holds("empty (if \"nope\" then po else 0)");
    holds("if \"nope\" empty po else acyclic po end");
    holds("empty (if not \"nope\" && (\"nope\" || not \"other\") then 0 else po)");
    let mut model = CatModel::parse("m", "if \"strict\" empty po end").unwrap();
    assert!(allowed(&model, &mp()));
    model.enable("strict");
    assert!(!allowed(&model, &mp()));
}

#[test]
fn try_and_lazy_errors() {
    holds("let x = try nothing-of-that-name with 0 empty x");
    holds("let unused = nothing-of-that-name acyclic po");
    holds("show nothing-of-that-name, po show nothing as x acyclic po");
    assert_eq!(
        bind_error("let x = nope\nlet y = x | po\nacyclic y"),
        "m.cat:1:9: unbound name `nope` (neither the model nor the execution defines it)"
    );
    assert_eq!(bind_error("acyclic po | R"), "m.cat:1:14: a relation is wanted here, found a set of events");
    assert_eq!(bind_error("acyclic R"), "m.cat:1:9: a relation is wanted here, found a set of events");
    assert_eq!(bind_error("empty po po"), "m.cat:1:7: a relation cannot be applied");
    assert_eq!(bind_error("let f(a, b) = a\nempty f po"), "m.cat:2:7: 2 values are wanted here, 1 are given");
    assert_eq!(bind_error("flag empty 0"), "m.cat:1:1: a flag needs a name: `flag … as name`");
    assert_eq!(
        bind_error("let rec f x = f x\nempty f po"),
        "m.cat:1:15: functions call each other too deeply"
    );
}

#[test]
fn choices() {
    // All orders of the reads: one of them has the second thread's reads the other way round.
    holds("with s from linearisations(R, 0) empty (po & (R * R)) & s");
    holds("with s from linearisations(R, po) empty (po & (R * R)) \\ s");
    fails("with s from linearisations(R, po | po^-1) acyclic s");
    fails("with s from linearisations(R, po) ~empty s & po^-1");
    // Sets of relations, one chosen from each.
    let cross = "include \"cross.cat\" let one p = p ++ 0 let each e = map one ((W * {e}) & loc) \
                 with r from cross(map each R)";
    holds(&format!("{cross} empty r \\ rf"));
    fails(&format!("{cross} empty r"));
    holds(&format!("{cross} empty (r^-1 ; r) \\ id"));
    holds("let f = fold (fun (e, s) -> e ++ s) with r from {po, f (rf, 0)} empty r \\ rf");
}

#[test]
fn choices_are_counted() {
    let model =
        CatModel::parse("m", "with s from linearisations(R, 0) with t from {0, po} acyclic s").unwrap();
    let shape = mp().structure();
    let mut evaluator = Evaluator::new(&model);
    assert!(evaluator.bind(&shape).unwrap());
    assert!(evaluator.set_rf(&Relation::of(6, [(3, 4), (0, 5)])).unwrap());
    evaluator.set_co(&Relation::of(6, [(0, 2), (1, 3)]));
    assert_eq!(evaluator.check().unwrap().consistent, 4);
}

#[test]
fn coherence_orders_are_the_enumerators() {
    let two = Shape::new("2W").thread("Wx1 Wx2").last("x1");
    let model = |text: &str| CatModel::parse("m", text).unwrap();
    assert!(allowed(&model("include \"cos.cat\" acyclic co"), &two));
    assert!(!allowed(&model("include \"cos-opt.cat\" acyclic co"), &two));
    assert!(!allowed(&model("include \"cross.cat\" with co from generate_cos(po-loc) acyclic co"), &two));
}

#[test]
fn flags_and_undefined_behaviour() {
    let text = "flag ~empty rf & ext as outside flag ~empty rf & int as inside \
                undefined_unless empty ext & rf as race acyclic po as order";
    let model = CatModel::parse("m", text).unwrap();
    let shape = mp().structure();
    let mut evaluator = Evaluator::new(&model);
    assert!(evaluator.bind(&shape).unwrap());
    assert!(evaluator.set_rf(&Relation::of(6, [(3, 4), (0, 5)])).unwrap());
    evaluator.set_co(&Relation::of(6, [(0, 2), (1, 3)]));
    let outcome = evaluator.check().unwrap();
    assert!(outcome.is_consistent() && outcome.undefined);
    assert_eq!(evaluator.flag_names(outcome.flags), ["outside"]);
}

#[test]
fn a_violation_has_its_axiom_and_cycle() {
    let model = CatModel::shipped("sc".parse().unwrap());
    let shape = mp().structure();
    let mut evaluator = Evaluator::new(&model);
    evaluator.bind(&shape).unwrap();
    evaluator.set_rf(&Relation::of(6, [(3, 4), (0, 5)])).unwrap();
    evaluator.set_co(&Relation::of(6, [(0, 2), (1, 3)]));
    assert!(!evaluator.check().unwrap().is_consistent());
    let violation = evaluator.explain().unwrap();
    assert_eq!(violation.axiom, "sc");
    let mut events = violation.cycle.unwrap().events().to_vec();
    events.sort();
    assert_eq!(events, [2, 3, 4, 5]);
    // The other outcome is fine.
    evaluator.set_rf(&Relation::of(6, [(3, 4), (2, 5)])).unwrap();
    assert!(evaluator.check().unwrap().is_consistent());
    assert!(evaluator.explain().is_none());
}

#[test]
fn shown_relations() {
    let model = CatModel::parse("m", "let hb = (po | rf)+ show hb show po & ext as none acyclic po").unwrap();
    let shape = mp().structure();
    let mut evaluator = Evaluator::new(&model);
    evaluator.bind(&shape).unwrap();
    evaluator.set_rf(&Relation::of(6, [(3, 4), (0, 5)])).unwrap();
    evaluator.set_co(&Relation::empty(6));
    evaluator.check().unwrap();
    let shown = evaluator.shown().unwrap();
    assert_eq!(shown.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["hb", "none"]);
    assert!(shown[0].1.contains(2, 5) && shown[1].1.is_empty());
}

#[test]
fn files_include_files() {
    let folder = std::env::temp_dir().join(format!("porf-cat-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("mine.cat", "\"Mine\" include \"part.cat\" include \"cos.cat\" empty part acyclic tagged");
    write("part.cat", "let part = rf & int");
    write("mine.bell", "enum E = 'x instructions R[{'x}] let tagged = po");
    let model = CatModel::load(&folder.join("mine.cat")).unwrap();
    assert_eq!((model.name(), model.title()), ("mine", "Mine"));
    assert!(allowed(&model, &mp()));

    write("broken.cat", "include \"worse.cat\"");
    write("worse.cat", "let x =\n  acyclic");
    let error = CatModel::load(&folder.join("broken.cat")).map(|_| ()).unwrap_err();
    assert!(
        error.location.file.ends_with("worse.cat") && (error.location.line, error.location.column) == (2, 3),
        "{error}"
    );

    write("loop.cat", "include \"loop.cat\" acyclic po");
    let model = CatModel::load(&folder.join("loop.cat")).unwrap();
    let error = Evaluator::new(&model).bind(&mp().structure()).unwrap_err();
    assert!(error.to_string().contains("too deeply"), "{error}");

    let error = CatModel::load(&folder.join("absent.cat")).map(|_| ()).unwrap_err();
    assert!(error.message.starts_with("cannot read the file"), "{error}");
    fs::remove_dir_all(&folder).unwrap();
}
