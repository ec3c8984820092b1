//! How long a source file may be. Functions are clippy's job (`too_many_lines`).

use std::path::Path;

use crate::failure::{Findings, Outcome};
use crate::files;

/// Above this a source file is split, or listed in [`LONG_FILES`] with a reason.
const LINES_MAX: usize = 700;

/// Source files that may be longer, each with the reason why splitting it would hide its shape.
const LONG_FILES: &[(&str, &str)] = &[(
    "crates/stablehlo/src/parse/pretty/table.rs",
    "one table of the short forms of all operations",
)];

/// Checks every Rust and Python file outside test folders.
pub(super) fn check(paths: &[String], findings: &mut Findings) -> Outcome {
    for (path, _reason) in LONG_FILES {
        if !paths.iter().any(|found| found == path) {
            findings.push(
                path,
                "listed in LONG_FILES but not in the repository; remove the row",
            );
        }
    }
    for path in paths.iter().filter(|path| is_measured(path)) {
        let lines = files::read(Path::new(path))?.lines().count();
        let listed = LONG_FILES.iter().any(|(long, _reason)| long == path);
        if lines > LINES_MAX && !listed {
            findings.push(
                path,
                format!(
                    "{lines} lines, more than {LINES_MAX}; split it, or list it in LONG_FILES with a reason"
                ),
            );
        }
    }
    Ok(())
}

fn is_measured(path: &str) -> bool {
    let source = path.ends_with(".rs") || path.ends_with(".py");
    let test = path
        .split('/')
        .any(|part| matches!(part, "tests" | "benches" | "tests.rs"));
    source && !test
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_folders_and_data_are_not_measured() {
        let check = |path: &str, want: bool| assert_eq!(is_measured(path), want, "{path}");
        check("crates/ir/src/lib.rs", true);
        check("fixtures/transformer_block.py", true);
        check("crates/ir/tests/verify.rs", false);
        check("crates/ir/src/verify/tests.rs", false);
        check("fixtures/transformer_block.mlir", false);
    }
}
