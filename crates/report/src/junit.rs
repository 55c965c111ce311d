//! JUnit XML, which continuous integration shows as a list of tests.

use porf_verdict::Verdict;
use std::fmt::Write;

/// How a test ended.
pub enum Ended {
    /// As it should.
    Passed,
    /// Otherwise: why.
    Failed(String),
    /// It has no answer: why.
    Error(String),
}

/// One test.
pub struct Case {
    /// What it belongs to: the model.
    pub class: String,
    /// Its name.
    pub name: String,
    /// Where it was read.
    pub file: String,
    /// How it ended.
    pub ended: Ended,
}

impl Case {
    /// A program or a system, by its verdict. One without an answer is not a success.
    pub fn of_verdict(class: &str, name: &str, file: &str, verdict: &Verdict) -> Case {
        let ended = match verdict {
            Verdict::Safe(_) => Ended::Passed,
            Verdict::Violated(violation) => Ended::Failed(match &violation.location {
                Some(at) => format!("{at}: {}", violation.message),
                None => violation.message.clone(),
            }),
            Verdict::Inconclusive(limit) => Ended::Error(limit.to_string()),
        };
        Case { class: class.to_string(), name: name.to_string(), file: file.to_string(), ended }
    }
}

/// A report with one suite.
pub fn junit(suite: &str, cases: &[Case], seconds: f64) -> String {
    let count = |is: fn(&Ended) -> bool| cases.iter().filter(|case| is(&case.ended)).count();
    let (failures, errors) =
        (count(|ended| matches!(ended, Ended::Failed(_))), count(|ended| matches!(ended, Ended::Error(_))));
    let numbers = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{seconds:.3}\"",
        cases.len()
    );
    let mut out = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {numbers}>\n");
    let _ = writeln!(out, "<testsuite name=\"{}\" {numbers}>", escape(suite));
    for Case { class, name, file, ended } in cases {
        let (class, name, file) = (escape(class), escape(name), escape(file));
        let case = format!("<testcase classname=\"{class}\" name=\"{name}\" file=\"{file}\"");
        let _ = match ended {
            Ended::Passed => writeln!(out, "{case}/>"),
            Ended::Failed(why) => writeln!(out, "{case}><failure message=\"{}\"/></testcase>", escape(why)),
            Ended::Error(why) => writeln!(out, "{case}><error message=\"{}\"/></testcase>", escape(why)),
        };
    }
    out.push_str("</testsuite>\n</testsuites>\n");
    out
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            // XML 1.0 has no place for other control characters.
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out
}
