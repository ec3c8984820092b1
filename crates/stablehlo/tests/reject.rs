//! What upstream's verifier refuses is refused here, at the annotated line.
//!
//! The corpus is at `ARTIFACT_CORPUS_DIR`. Its files carry annotations such as `// expected-error@+1 {{message}}`; the message is
//! upstream's and not compared.

#![expect(
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test says what it skips, and fails where its files are not as they should be"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::source::SourceText;

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

#[expect(
    clippy::disallowed_methods,
    reason = "tests find the corpus through the environment"
)]
fn corpus() -> Option<PathBuf> {
    let directory = std::env::var_os("ARTIFACT_CORPUS_DIR").map(PathBuf::from);
    if directory.is_none() {
        eprintln!("SKIPPED: ARTIFACT_CORPUS_DIR is not set, so no wrong program was refused");
    }
    directory
}

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

fn judge(path: &Path) -> Outcome {
    let text = std::fs::read_to_string(path).unwrap();
    let expected = expected_lines(&text);
    assert!(!expected.is_empty(), "{} has no annotation", path.display());
    let parsed = parse_module(&text);
    let mut findings = parsed.diagnostics;
    findings.extend(parsed.modules.iter().flat_map(verify));
    let source = SourceText::new("", &text);
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
    let Some(corpus) = corpus() else { return };
    let directory = corpus.join("stablehlo/reject");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "mlir"))
        .collect();
    paths.sort();
    let mut refused = 0;
    let mut accepted = Vec::new();
    for path in &paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match judge(path) {
            Outcome::Refused => refused += 1,
            Outcome::Elsewhere(why) => eprintln!("{name}: {why}"),
            Outcome::Accepted => {
                eprintln!("{name}: accepted");
                accepted.push(name);
            }
        }
    }
    eprintln!("{refused} of {} refused at an annotated line", paths.len());
    assert!(!paths.is_empty() && refused * 100 >= paths.len() * REFUSED_MIN);
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
