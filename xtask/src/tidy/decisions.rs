//! Decision records: `docs/decisions/NNNN-title.md`, numbered from 0001 without gaps, each with the same headings.

use std::path::Path;

use crate::failure::{Findings, Outcome};
use crate::files;

/// Where the records lie.
const FOLDER: &str = "docs/decisions/";

/// Not a decision: how to write one.
const TEMPLATE: &str = "docs/decisions/template.md";

/// The sections of a record, in order.
const SECTIONS: &[&str] = &["## Context", "## Decision", "## Consequences"];

/// Checks the numbering and the headings.
pub(super) fn check(paths: &[String], findings: &mut Findings) -> Outcome {
    let records = paths
        .iter()
        .filter(|path| path.starts_with(FOLDER) && *path != TEMPLATE);
    for (index, path) in records.enumerate() {
        check_record(path, index + 1, &files::read(Path::new(path))?, findings);
    }
    Ok(())
}

fn check_record(path: &str, number: usize, text: &str, findings: &mut Findings) {
    let name = path.strip_prefix(FOLDER).unwrap_or(path);
    let expected = format!("{number:04}-");
    if !name.starts_with(&expected) || !name.ends_with(".md") {
        findings.push(
            path,
            format!("decisions are numbered without gaps; this one should be {expected}TITLE.md"),
        );
    }
    if !text.starts_with(&format!("# {number:04}. ")) {
        findings.push(path, format!("the first line should be `# {number:04}. TITLE`"));
    }
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
    if headings != SECTIONS {
        findings.push(path, format!("the sections should be {}", SECTIONS.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_its_number_and_sections() {
        let check = |path: &str, text: &str, want: usize| {
            let mut findings = Findings::default();
            check_record(path, 1, text, &mut findings);
            assert_eq!(findings.lines().len(), want, "{path}: {:?}", findings.lines());
        };
        let text = "# 0001. A title\n\n## Context\n\n## Decision\n\n## Consequences\n";
        check("docs/decisions/0001-a-title.md", text, 0);
        check("docs/decisions/0002-a-title.md", text, 1);
        check("docs/decisions/0001-a-title.md", "# 1. A title\n", 2);
    }
}
