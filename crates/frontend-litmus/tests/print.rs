//! A printed test reads as the same test.

mod common;

use porf_frontend_litmus::{LitmusTest, parse};

#[test]
fn printed_corpora_read_the_same() {
    let Some((root, names)) = common::corpora() else {
        eprintln!("skipped: no corpora at ../shared/oracle");
        return;
    };
    for name in names {
        for (path, text) in common::files(&root, &name).into_iter().step_by(5) {
            if let Ok(test) = parse(&path, &text) {
                check(&path, test);
            }
        }
    }
}

#[test]
fn arrays_pointers_filters() {
    let text = "AArch64 arrays\n{ int x[2]={1,-2}; int64_t y=x; 0:X1=x[1]; 1:X1=y; }\n\
        P0 | P1 ;\n LDR W0,[X1] | LDR X0,[X1] ;\n\
        locations [x[0]; y; 0:X0]\nfilter (x[1]=1 \\/ y=x)\n\
        ~exists (0:X0=-2 /\\ (1:X0=x \\/ not (x[0]=1 => 0:X0=1:X0)))\n";
    let test = parse("arrays", text).expect("a test");
    let names: Vec<String> = test.observables().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["0:X0", "1:X0", "x[0]", "[y]"]);
    check("arrays", test);
}

fn check(path: &str, test: LitmusTest) {
    let printed = test.to_string();
    match parse(path, &printed) {
        Ok(again) => assert_eq!(essence(again), essence(test), "{path} printed as\n{printed}"),
        Err(diagnostic) => panic!("{diagnostic} in\n{printed}"),
    }
}

/// Without the places in the text.
fn essence(mut test: LitmusTest) -> LitmusTest {
    test.text.clear();
    test.code = 0..0;
    for function in &mut test.program.functions {
        function.spans.iter_mut().for_each(|span| *span = Default::default());
    }
    for thread in &mut test.program.threads {
        while thread.registers.last() == Some(&0) {
            thread.registers.pop();
        }
    }
    test
}
