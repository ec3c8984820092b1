//! Programs that are told to be the same.

use std::path::Path;

use artifact_ir::digest::program_digest;

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
        Ok(modules.iter().map(program_digest).collect::<Vec<_>>())
    };
    Ok(digests(path)? == digests(text)?)
}
