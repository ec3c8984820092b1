//! Programs that must be refused, and where.

use std::path::Path;

use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::source::SourceText;

use crate::check::plan::Expected;
use crate::check::report::Verdict;
use crate::failure::Outcome;
use crate::program::{Program, is_artifact};
use crate::source::Source;

/// A program passes when a finding is on a line that its list names; where it names none, when it is refused at all.
pub(crate) fn judge(path: &Path, expected: &[Expected]) -> Verdict {
    if expected.is_empty() {
        return match accept(path) {
            Ok(()) => Verdict::Failed("it is accepted, and must be refused".to_owned()),
            Err(_) => Verdict::Passed,
        };
    }
    at_lines(path, expected)
}

/// Reads and verifies a program of any kind.
fn accept(path: &Path) -> Outcome<()> {
    if is_artifact(path)? {
        Program::open(path).map(drop)
    } else {
        Source::read(path)?.verified().map(drop)
    }
}

fn at_lines(path: &Path, expected: &[Expected]) -> Verdict {
    let read = match Source::read(path) {
        Ok(read) => read,
        Err(failure) => return Verdict::Failed(failure.one_line()),
    };
    let Some(text) = read.text() else {
        return Verdict::Failed("it is not text, so it has no line to be refused at".to_owned());
    };
    let source = SourceText::new(path.display().to_string(), text);
    let parsed = parse_module(text);
    let mut findings = parsed.diagnostics;
    // What was read only in part breaks rules that the whole may keep.
    if findings.is_empty() {
        findings.extend(parsed.modules.iter().flat_map(verify));
    }
    let line = |at: usize| source.position(at).line;
    let found: Vec<usize> = findings
        .iter()
        .filter_map(|finding| finding.source.get())
        .map(line)
        .collect();
    let wanted = || {
        expected
            .iter()
            .map(|expected| format!("line {}: {}", expected.line, expected.message))
    };
    match findings.first() {
        None => Verdict::Failed(format!(
            "it is accepted; expected {}",
            wanted().collect::<Vec<_>>().join("; ")
        )),
        Some(_) if expected.iter().any(|expected| found.contains(&expected.line)) => Verdict::Passed,
        Some(first) => {
            let wanted = wanted().collect::<Vec<_>>().join("; ");
            Verdict::Failed(format!(
                "it is refused at line {} ({}), expected {wanted}",
                found.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
                first.message
            ))
        }
    }
}
