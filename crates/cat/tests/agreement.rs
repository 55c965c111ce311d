//! The compiled operations and the general interpreter agree on random expressions.
//!
//! `with x from {e}` has the interpreter compute `e` on the sets of each execution, since `{e}` looks into it; the
//! test compares `x` with the compiled `e`, in every execution of a few shapes.

#[allow(dead_code)]
mod common;

use common::{Shape, allowed};
use porf_cat::CatModel;
use proptest::prelude::*;

fn set() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["R", "W", "IW", "FW", "M", "F", "_", "emptyset", "SC", "DMB"]);
    leaf.prop_map(str::to_owned).prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone(), prop::sample::select(vec!["|", "&", "\\"]))
                .prop_map(|(a, b, op)| format!("({a} {op} {b})")),
            inner.clone().prop_map(|a| format!("(~{a})")),
            Just("domain(rf ; po)".to_owned()),
            Just("range(fr | amo)".to_owned()),
        ]
    })
}

fn relation() -> impl Strategy<Value = String> {
    let names =
        ["po", "rf", "co", "loc", "int", "ext", "addr", "fr", "rfe", "coi", "0", "id", "amo", "po-loc"];
    let leaf = prop_oneof![
        4 => prop::sample::select(names.to_vec()).prop_map(str::to_owned),
        1 => set().prop_map(|s| format!("[{s}]")),
        1 => (set(), set()).prop_map(|(a, b)| format!("({a} * {b})")),
    ];
    leaf.prop_recursive(5, 24, 3, |inner| {
        prop_oneof![
            3 => (inner.clone(), inner.clone(), inner.clone(), prop::sample::select(vec!["|", ";"]))
                .prop_map(|(a, b, c, op)| format!("({a} {op} {b} {op} {c})")),
            3 => (inner.clone(), inner.clone(), prop::sample::select(vec!["|", "&", "\\", ";"]))
                .prop_map(|(a, b, op)| format!("({a} {op} {b})")),
            3 => (inner.clone(), prop::sample::select(vec!["+", "*", "?", "^-1"]))
                .prop_map(|(a, op)| format!("({a}){op}")),
            1 => inner.clone().prop_map(|a| format!("(~{a})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(let f x = x ; {a} in f {b})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(let rec x = {a} | x ; {b} in x)")),
            1 => (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("(let rec x = {a} | y and y = {b} ; x | y ; y in x | y)")),
            1 => (inner.clone(), inner)
                .prop_map(|(a, b)| format!("(let rec s = W & domain({a} ; r) and r = [s | R] ; {b} in r)")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn compiled_and_interpreted(expr in relation()) {
        let text = format!("with x from {{{expr}}} empty (x \\ {expr}) | ({expr} \\ x) as same");
        let Ok(model) = CatModel::parse("m", &text) else { return Err(TestCaseError::fail(text)) };
        for shape in [
            Shape::new("MP").thread("Wx1 F:SC Wy1").thread("Ry1 Rx0@addr"),
            Shape::new("2+2W").thread("Wx1 Wy2 Ry2").thread("Wy1 Ux1-2").last("y1"),
        ] {
            let differ = CatModel::parse("m", &text.replace(" empty ", " ~empty ")).unwrap();
            prop_assert!(allowed(&model, &shape), "{}", text);
            prop_assert!(!allowed(&differ, &shape), "{}", text);
        }
    }
}
