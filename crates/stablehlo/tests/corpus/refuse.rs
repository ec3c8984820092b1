//! What upstream's verifier refuses is refused here, at the annotated line.
//!
//! The files carry annotations such as `// expected-error@+1 {{message}}`; the message is upstream's and not compared.

use std::collections::BTreeSet;

use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::source::SourceText;
use artifact_testkit::corpus::{Program, programs};

/// Files without any finding, each with the reason why it is right to accept it here.
const ACCEPTED: &[(&str, &str)] = &[
    (
        "ops_broadcasting.s17.mlir",
        "the error is that of a test pass, of which the text only names operations",
    ),
    (
        "ops_broadcasting.s19.mlir",
        "the error is that of a test pass, of which the text only names operations",
    ),
];

/// Percentage of files that must be refused at an annotated line.
const REFUSED_MIN: usize = 90;

/// Lines, counted from 1, at which the text says that an error is expected.
fn expected_lines(text: &str) -> BTreeSet<usize> {
    const MARK: &str = "expected-error";
    let lines: Vec<&str> = text.lines().collect();
    let is_annotation = |line: usize| lines.get(line - 1).is_some_and(|line| line.contains(MARK));
    let mut expected = BTreeSet::new();
    for (index, line) in lines.iter().enumerate() {
        let number = index + 1;
        for (at, _) in line.match_indices(MARK) {
            let rest = line[at + MARK.len()..].trim_start_matches("-re").trim_start();
            let place = rest
                .strip_prefix('@')
                .and_then(|rest| rest.split([' ', '{']).next());
            let target = match place {
                None => number,
                Some("below") => (number + 1..=lines.len())
                    .find(|line| !is_annotation(*line))
                    .unwrap_or(number),
                Some("above") => (1..number)
                    .rev()
                    .find(|line| !is_annotation(*line))
                    .unwrap_or(number),
                Some(offset) => number.saturating_add_signed(offset.parse().expect("an offset of lines")),
            };
            expected.insert(target);
        }
    }
    expected
}

/// How a file was received.
enum Outcome {
    /// A finding is on an annotated line.
    Refused,
    /// There are findings, but elsewhere.
    Elsewhere(String),
    /// There is no finding.
    Accepted,
}

fn judge(program: &Program) -> Outcome {
    let expected = expected_lines(&program.text);
    assert!(!expected.is_empty(), "{} has no annotation", program.name);
    let parsed = parse_module(&program.text);
    let mut findings = parsed.diagnostics;
    findings.extend(parsed.modules.iter().flat_map(verify));
    let source = SourceText::new("", &program.text);
    let lines = |offset| source.position(offset).line;
    if findings
        .iter()
        .filter_map(|finding| finding.source.get())
        .any(|offset| expected.contains(&lines(offset)))
    {
        return Outcome::Refused;
    }
    match findings.first() {
        None => Outcome::Accepted,
        Some(first) => {
            let line = first.source.get().map(lines);
            Outcome::Elsewhere(format!("line {line:?} instead of {expected:?}: {first}"))
        }
    }
}

#[test]
fn annotated_lines_are_refused() {
    let Some(programs) = programs("stablehlo/reject") else {
        return;
    };
    let mut refused = 0;
    let mut accepted = Vec::new();
    for program in &programs {
        let name = program.name.as_str();
        match judge(program) {
            Outcome::Refused => refused += 1,
            Outcome::Elsewhere(why) => eprintln!("{name}: {why}"),
            Outcome::Accepted => {
                eprintln!("{name}: accepted");
                accepted.push(name);
            }
        }
    }
    let all = programs.len();
    eprintln!("{refused} of {all} refused at an annotated line");
    assert!(refused * 100 >= all * REFUSED_MIN);
    let expected: Vec<&str> = ACCEPTED.iter().map(|(name, _)| *name).collect();
    assert_eq!(accepted, expected, "files without any finding");
}

#[test]
fn annotations() {
    let text = "a\n\
                // expected-error@+2 {{two lines on}}\n\
                // expected-error-re@+1 {{the next {{.*}} line}}\n\
                b\n\
                c // expected-error {{this line}}\n\
                // expected-error @below {{the next line without an annotation}}\n\
                // expected-note@below {{no error}}\n\
                d\n\
                // expected-error@above {{the line before}}\n";
    assert_eq!(expected_lines(text), BTreeSet::from([4, 5, 7, 8]));
}
