//! The parser and the printer: precedence, round trips, places of errors, no panic on rubbish.

use porf_cat::{CatModel, ast::Expr, parse, parse_expression};
use proptest::prelude::*;

/// A tree without its places.
fn bare(debug: String) -> String {
    let mut parts = debug.split("span: ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(", ").map_or("", |(_, rest)| rest))
}

fn bare_expr(expr: &Expr) -> String {
    bare(format!("{expr:?}"))
}

#[test]
fn operators_bind_as_in_herd() {
    let same = |a: &str, b: &str| {
        let (x, y) = (parse_expression("a", a).unwrap(), parse_expression("b", b).unwrap());
        assert_eq!(bare_expr(&x), bare_expr(&y), "{a} and {b}");
    };
    same("a | b ; c", "a | (b ; c)");
    same("a ; b \\ c & d", "a ; (b \\ (c & d))");
    same("a \\ b \\ c", "(a \\ b) \\ c");
    same("a & b * c", "a & (b * c)");
    same("~a & b", "(~a) & b");
    same("r* ; s", "(r*) ; s");
    same("A * B", "(A) * (B)");
    same("A*B", "A * B");
    same("r^-1*", "(r^-1)*");
    same("~r+", "~(r+)");
    same("x ++ s | t", "(x ++ s) | t");
    same("x ++ y ++ s", "x ++ (y ++ s)");
    same("f x y | z", "(f x y) | z");
    same("f (a, b)", "f begin a, b end");
    same("fencerel(MFENCE) | po-loc", "(fencerel MFENCE) | (po-loc)");
    same("try a with b | c", "try a with (b | c)");
}

#[test]
fn every_construct_survives_printing() {
    let text = r#"C "A title"
catdep
include "cos.cat"
let a = 0 and b, _ = (po, rf) and f x = x | {} and g (x, y) = x ; y and h () = _
let rec r = rf | r ; r and s = r & loc when acyclic r as cyclic
let rec len s = match s with || {} -> 0 || x ++ rest -> len rest end in
let split = fun s -> match s with || before | x ++ after -> before || {} -> {} end
let pick t = match t with || 'x -> po || 'y -> rf || _ -> 0 end
let guarded = try NOPE with if "v" && not ("w" || "u") then a else if a = b then a else if a subset b then 0 else if x in b then 0 else a
enum colour = 'x || 'y || 'z
instructions R[{'x, 'y}, colour]
default W['z]
procedure p(x, y) = empty x \ y call q x end
procedure rec q x = irreflexive x end
call p (a, b) as called
forall t in colour do empty pick t as no end
match 'x with || 'x -> acyclic po || _ -> end
if "cos-opt" include "cos-opt.cat" else acyclic rf end
flag ~empty po as flagged
undefined_unless empty po & (W * R) as undefined
assert empty 0
~acyclic po
with x from linearisations (W, po)
show a, b
show a | b as c
unshow a
debug x ++ {} 
"#;
    let first = parse("a", text).unwrap();
    let printed = first.to_string();
    let second = parse("b", &printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(bare(format!("{first:?}")), bare(format!("{second:?}")), "{printed}");
}

#[test]
fn shipped_models_survive_printing() {
    for entry in porf_model::ENTRIES {
        let first = parse(entry.name, entry.cat).unwrap_or_else(|e| panic!("{e}"));
        let printed = first.to_string();
        let second = parse(entry.name, &printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
        assert_eq!(bare(format!("{first:?}")), bare(format!("{second:?}")), "{printed}");
    }
}

#[test]
fn errors_name_line_and_column() {
    let check = |text: &str, expected: &str| {
        let error = CatModel::parse("m", text).map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    };
    check("let x = ", "m.cat:1:9: expected an expression, found the end of the file");
    check("let x = po\nacyclic x |", "m.cat:2:12: expected an expression, found the end of the file");
    check("let x = po\n  acyclic (x as y", "m.cat:2:14: expected `)`, found keyword `as`");
    check("let x = po $", "m.cat:1:12: unexpected character `$`");
    check("(* open", "m.cat:1:1: this comment is not closed");
    check("\"open", "m.cat:1:1: this string is not closed");
    check("title\npo = x", "m.cat:2:4: expected a statement, found `=`");
    check("let x = rf^2", "m.cat:1:12: unexpected character `2`");
    check("flag acyclic", "m.cat:1:13: expected an expression, found the end of the file");
    check("show a | b", "m.cat:1:6: a shown expression needs a name: `show e as name`");
    check("(* größer *) let x = po $", "m.cat:1:25: unexpected character `$`");
    check("let é = po", "m.cat:1:5: unexpected character `é`");
    check(
        "\n\n include \"nowhere.cat\"",
        "m.cat:3:2: cannot find the included file `nowhere.cat` \
         (it is neither beside the model nor one of the built-in files)",
    );
    check(&format!("let x = {}po", "(".repeat(2000)), "m.cat:1:158: expressions are nested too deeply");
}

#[test]
fn a_closure_of_a_closure_survives_printing() {
    let expr = parse_expression("a", "(r+)+").unwrap();
    assert_eq!(expr.to_string(), "(r+)+");
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("0".to_owned()),
        Just("_".to_owned()),
        Just("'tag".to_owned()),
        "[a-z][a-z0-9._-]{0,3}".prop_filter("a name, not a keyword", |s| {
            matches!(parse_expression("x", s), Ok(e) if matches!(e.kind, porf_cat::ast::ExprKind::Var(_)))
        }),
        Just("{}".to_owned()),
        Just("()".to_owned()),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            (two.clone(), prop::sample::select(vec!["|", ";", "&", "\\", "*", "++", ","]))
                .prop_map(|((a, b), op)| format!("({a}) {op} ({b})")),
            (inner.clone(), prop::sample::select(vec!["+", "*", "?", "^-1"]))
                .prop_map(|(a, op)| format!("({a}){op}")),
            inner.clone().prop_map(|a| format!("~({a})")),
            inner.clone().prop_map(|a| format!("[{a}]")),
            inner.clone().prop_map(|a| format!("f ({a})")),
            two.clone().prop_map(|(a, b)| format!("let x = {a} and y z = {b} in x")),
            two.clone().prop_map(|(a, b)| format!("try {a} with {b}")),
            two.clone().prop_map(|(a, b)| format!("if {{({a})}} = ({b}) then {a} else {b}")),
            two.clone()
                .prop_map(|(a, b)| format!("match ({a}) with || {{}} -> ({b}) || x ++ y -> ({a}) end")),
            inner.prop_map(|a| format!("fun (x, _) -> {a}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn expressions_survive_printing(text in expression()) {
        // Some texts are not cat, such as a tuple of tuples without brackets: these must only not panic.
        if let Ok(first) = parse_expression("a", &text) {
            let printed = first.to_string();
            let second = parse_expression("b", &printed);
            prop_assert!(second.is_ok(), "{text} printed as {printed}: {second:?}");
            prop_assert_eq!(bare_expr(&first), bare_expr(&second.unwrap()), "{}", printed);
        }
    }

    #[test]
    fn rubbish_does_not_panic(text in "\\PC{0,60}") {
        let _ = parse("rubbish", &text);
    }
}

/// Shipped models with pieces cut out, doubled or swapped: parsed and, if that works, compiled.
#[test]
fn mutants_do_not_panic() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |bound: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % bound.max(1) as u64) as usize
    };
    let (mut parsed, mut refused) = (0, 0);
    for entry in porf_model::ENTRIES {
        for _ in 0..150 {
            let mut words: Vec<&str> = entry.cat.split_inclusive([' ', '\n', '(', ')', '[', ']']).collect();
            for _ in 0..1 + random(4) {
                let (a, b) = (random(words.len()), random(words.len()));
                match random(4) {
                    0 => {
                        words.remove(a);
                    }
                    1 => words.insert(b, words[a]),
                    2 => words.swap(a, b),
                    _ => words[a] = words[b],
                }
            }
            let text: String = words.concat();
            match CatModel::parse("mutant", &text) {
                Ok(model) => {
                    parsed += 1;
                    let _ = compiles(&model);
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(parsed > 100 && refused > 100, "{parsed} parsed, {refused} refused");
}

#[allow(dead_code)]
mod common;

fn compiles(model: &CatModel) -> bool {
    let shape = common::Shape::new("MP").thread("Wx1 Wy1").thread("Ry1 Rx0").structure();
    porf_cat::Evaluator::new(model).bind(&shape).is_ok()
}
