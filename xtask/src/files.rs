//! Reading and writing the repository's text files, with errors that name the file.

use std::fs;
use std::path::Path;

use crate::failure::{During, Outcome};

/// Reads a text file.
pub(crate) fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).during(|| format!("read {}", path.display()))
}

/// Writes a text file and the folders above it.
#[expect(
    clippy::disallowed_methods,
    reason = "these files are generated again when torn; the product's atomic writer is not a dependency here"
)]
pub(crate) fn write(path: &Path, text: &str) -> Outcome {
    if let Some(folder) = path.parent() {
        create_folder(folder)?;
    }
    fs::write(path, text).during(|| format!("write {}", path.display()))
}

/// Creates a folder and those above it.
pub(crate) fn create_folder(path: &Path) -> Outcome {
    fs::create_dir_all(path).during(|| format!("create {}", path.display()))
}

/// Creates a folder, without what an earlier run left in it.
pub(crate) fn create_empty_folder(path: &Path) -> Outcome {
    if path.exists() {
        fs::remove_dir_all(path).during(|| format!("remove {}", path.display()))?;
    }
    create_folder(path)
}

/// The paths in a folder, sorted by name.
pub(crate) fn list(folder: &Path) -> Outcome<Vec<std::path::PathBuf>> {
    let entries = fs::read_dir(folder).during(|| format!("list {}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.during(|| format!("list {}", folder.display()))?.path());
    }
    paths.sort();
    Ok(paths)
}

/// How many files of a folder have this extension; folders inside are not entered.
pub(crate) fn count_with_extension(folder: &Path, extension: &str) -> Outcome<usize> {
    let paths = list(folder)?;
    Ok(paths
        .iter()
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .count())
}
