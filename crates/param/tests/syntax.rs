//! The language: printing and parsing are inverse, and errors say where and what.

mod generator;

use generator::{Generator, Shape};
use porf_param::syntax::{parse, print};
use porf_param::{Memory, Request, load, prove};
use proptest::prelude::*;

proptest! {
    #[test]
    fn printed_systems_parse_to_the_same_tree(seed in any::<u64>()) {
        for shape in Shape::ALL.into_iter().chain(Shape::OF_ALL) {
            round_trip(&Generator::new(seed).system(shape));
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[a-zA-Z0-9_ \\[\\](){}=<>&|:;,.?@#*+\\-\n]{0,200}") {
        drop(load(&text));
    }

    #[test]
    fn damaged_systems_do_not_panic(seed in any::<u64>(), at in 0_usize..2000, cut in 1_usize..20) {
        let text = Generator::new(seed).system(Shape::Plain);
        let start = at % text.len();
        let end = (start + cut).min(text.len());
        drop(load(&format!("{}{}", &text[..start], &text[end..])));
    }

    /// What is left of a damaged system may still load, and then it must be searched without a panic.
    #[test]
    fn damaged_systems_are_searched_without_a_panic(
        seed in any::<u64>(),
        shape in 0_usize..Shape::ALL.len(),
        at in 0_usize..4000,
        from in 0_usize..4000,
        length in 1_usize..12,
    ) {
        let text = Generator::new(seed).system(Shape::ALL[shape]);
        let (at, from) = (at % text.len(), from % text.len());
        let piece = &text[from..(from + length).min(text.len())];
        // A piece of the text over another.
        let damaged = format!("{}{piece}{}", &text[..at], &text[(at + piece.len()).min(text.len())..]);
        if let Ok(system) = load(&damaged) {
            for memory in Memory::ALL {
                let request = Request { memory, max_nodes: 30, max_seconds: 1, ..Request::default() };
                drop(prove(&system, request));
            }
        }
    }
}

#[test]
fn the_corpus_round_trips() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/prove");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("corpus/prove") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "cub") {
            round_trip(&std::fs::read_to_string(path).expect("a system"));
            count += 1;
        }
    }
    assert!(count > 50);
}

#[test]
fn nested_formulas_round_trip() {
    round_trip(
        "type t = A | B\nvar X : t\narray P[proc] : t\ninit (p) { P[p] = A }\n\
         predicate both (p, q) { P[p] = A && P[q] = A }\n\
         unsafe bad (p q) { not (X = A || both(p, q)) && (X = B => (P[p] = A <=> P[q] = B)) }\n\
         transition t (p q) requires { (if X = A then P[p] = A else (X = B || P[q] = A)) && \
         (forall_other k. P[k] = A => X = A) && (exists k <> p. P[k] = B) } { X := case | P[p] = A : B | _ : A }",
    );
}

fn round_trip(text: &str) {
    let tree = parse(text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    let printed = print(&tree);
    assert_eq!(parse(&printed).as_ref(), Ok(&tree), "{printed}");
}

/// The error of a text: line, column, message.
fn error(text: &str) -> String {
    let diagnostic = load(text).map(|_| ()).expect_err("the text is wrong");
    let at = &diagnostic.location;
    format!("{}:{} {}", at.line, at.column, diagnostic.message)
}

#[test]
fn errors_name_the_place() {
    let start =
        "type t = A | B\narray P[proc] : t\nvar X : int\ninit (p) { P[p] = A }\nunsafe (p) { P[p] = B }\n";
    for (text, expected) in [
        ("transition t (p) { P[p] := C }", "6:28 unknown variable or array `C`"),
        ("transition t (p) { P[p] := 1 }", "6:28 this is of type `int`, expected `t`"),
        ("transition t (p) { Q[p] := A }", "6:20 unknown variable or array `Q`"),
        ("transition t (p) requires { P[q] = A } { }", "6:31 unknown process `q`"),
        ("transition t (p) requires { P[p] < A } { }", "6:29 `t` has no order: only `=` and `<>` apply"),
        ("transition t (p) requires { not fence() } { }", "6:33 fence() is only a conjunct of a guard"),
        ("transition t (p) { P[p] := A; P[p] := B }", "6:31 `P` is updated twice in one transition"),
        ("transition t (p) { let x = A in X := 1 }", "6:20 `let` is not supported"),
        ("transition t (p p) { }", "6:17 the process `p` is bound twice"),
        ("transition t (p) { P[#1] := A }", "6:22 process constants need `number_procs`"),
        ("transition t (p) { X := X * X }", "6:25 one side of a product is a whole number"),
        ("transition t (p) { X := 1 ", "6:27 expected `;` or `}`, found the end of the file"),
        ("(* größer *) transition t (p) { P[p] := C }", "6:41 unknown variable or array `C`"),
        ("(* open", "6:1 this comment is never closed"),
        ("init (p) { X = 0 }", "6:1 a second `init`"),
    ] {
        assert_eq!(error(&format!("{start}{text}")), expected);
    }
    assert_eq!(error("type t = A\nvar X : t\ninit { X = A }\n"), "3:1 the system has no `unsafe`");
}

#[test]
fn weak_models_have_rules_of_their_own() {
    let text = "type t = A | B\narray P[proc] : t\nvar G : t\nweak var X : t\ninit (p) { P[p] = A && G = A && X = A }\n\
                unsafe (p) { P[p] = B && X = B }\ntransition t (p q) requires { P[q] = A && G = A } { P[p] := B }\n";
    let system = load(text).expect("fine under SC");
    let found: Vec<String> = (system.weak_errors.iter())
        .map(|error| {
            let at = &error.location;
            format!("{}:{} {}", at.line, at.column, error.message)
        })
        .collect();
    assert_eq!(
        found,
        [
            "6:26 which process reads `X`?",
            "7:12 no process acts in `t`",
            "7:31 `P` is not weak, so under a weak model it is local to the acting process",
            "7:43 `G` is not weak, so under a weak model it is local to the acting process",
            "7:53 `P` is not weak, so under a weak model it is local to the acting process",
        ]
    );
}

/// `assume` is about constants; what is claimed of variables is an `invariant`, and proved.
#[test]
fn assumptions_speak_of_constants() {
    let text = |assumed: &str| {
        format!(
            "type role = A | B\nconst Role[proc] : role\narray PC[proc] : role\nassume (i j) {{ {assumed} }}\n\
             init (i) {{ PC[i] = A }}\nunsafe (i) {{ PC[i] = B }}\n\
             transition t (i) requires {{ PC[i] = B }} {{ PC[i] := B }}\n"
        )
    };
    let system = load(&text("Role[i] = A && Role[j] = A")).expect("a system");
    assert_eq!(system.axioms().count(), 1);
    let wrong = load(&text("PC[i] = B && PC[j] = B")).expect_err("a claim about variables");
    assert!(wrong.message.contains("constants alone"), "{}", wrong.message);
    let tree = parse(&text("Role[i] = A && Role[j] = A")).expect("a tree");
    assert_eq!(parse(&print(&tree)).expect("a tree"), tree);
}
