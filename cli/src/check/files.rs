//! Finding files.

use std::path::{Path, PathBuf};

use artifact_core::limit::Limit;

use crate::failure::{Failure, Outcome};

/// Folders inside each other; links that form a circle end here.
const DEPTH: Limit = Limit::new("nesting of folders", 64, "levels");

/// All files under a folder, sorted by path.
pub(crate) fn files_under(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    collect(folder, 0, &mut files)?;
    files.sort();
    Ok(files)
}

fn collect(folder: &Path, depth: u64, files: &mut Vec<PathBuf>) -> Outcome<()> {
    let refuse = |error: &dyn std::error::Error| Failure::file("cannot read the folder", folder, error);
    DEPTH.check(depth).map_err(|error| refuse(&error))?;
    for entry in std::fs::read_dir(folder).map_err(|error| refuse(&error))? {
        let path = entry.map_err(|error| refuse(&error))?.path();
        if path.is_dir() {
            collect(&path, depth + 1, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Whether a file's name ends in `.extension`.
pub(crate) fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}
