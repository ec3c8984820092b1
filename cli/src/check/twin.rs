//! Programs that are told to be the same.

use std::path::Path;

use artifact_export::program_identity;

use crate::check::report::Verdict;
use crate::failure::Failure;
use crate::source::Source;

/// Both are right, and have one digest.
pub(crate) fn judge(path: &Path, text: &Path) -> Verdict {
    match are_same(path, text) {
        Ok(true) => Verdict::Passed,
        Ok(false) => Verdict::Failed(format!("it is another program than {}", text.display())),
        Err(failure) => Verdict::Failed(failure.one_line()),
    }
}

fn are_same(path: &Path, text: &Path) -> Result<bool, Failure> {
    let digests = |path: &Path| {
        let modules = Source::read(path)?.verified()?;
        let digests: Result<Vec<_>, _> = modules.iter().map(program_identity).collect();
        digests.map_err(|error| Failure::export(path, &error))
    };
    Ok(digests(path)? == digests(text)?)
}
