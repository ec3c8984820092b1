//! Finding files, and reading them within limits.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use artifact_core::limit::{Limit, LimitExceeded};

use crate::failure::{Failure, Outcome};
use crate::output;

/// Folders inside each other.
const DEPTH: Limit = Limit::new("nesting of folders", 64, "levels");

/// What is under a folder.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// All files, sorted by path.
    pub(crate) files: Vec<PathBuf>,
    /// Folders inside that cannot be read, and why.
    pub(crate) failures: Vec<(PathBuf, Failure)>,
}

/// All files under a folder, which must be readable itself. Links to folders are not followed: they may form circles.
pub(crate) fn files_under(folder: &Path) -> Outcome<Found> {
    let mut found = Found::default();
    collect(folder, 0, &mut found)?;
    found.files.sort();
    Ok(found)
}

fn collect(folder: &Path, depth: u64, found: &mut Found) -> Outcome<()> {
    let refuse = |error: &dyn std::error::Error| Failure::file("cannot read the folder", folder, error);
    DEPTH.check(depth).map_err(|error| refuse(&error))?;
    for entry in std::fs::read_dir(folder).map_err(|error| refuse(&error))? {
        let entry = entry.map_err(|error| refuse(&error))?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(|error| refuse(&error))?);
        if kind.is_dir() {
            if let Err(failure) = collect(&path, depth + 1, found) {
                found.failures.push((path, failure));
            }
        } else if !path.is_dir() {
            found.files.push(path);
        }
    }
    Ok(())
}

/// Says which files of folders were passed over, because nothing in them shows that they hold a program.
pub(crate) fn tell_passed_over(files: &[PathBuf]) {
    /// How files with programs are usually called: one of them is the one that somebody misses.
    const EXTENSIONS: [&str; 5] = ["mlir", "mlirbc", "bc", "bin", "artifact"];
    let is_called_so = |file: &&PathBuf| EXTENSIONS.iter().any(|extension| has_extension(file, extension));
    if let Some(example) = files.iter().find(is_called_so).or(files.first()) {
        output::note(&format!(
            "note: files that hold no program are passed over: {}, such as {}",
            files.len(),
            example.display()
        ));
    }
}

/// Whether a file's name ends in `.extension`.
pub(crate) fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// Opens a regular file. A device or a pipe may have no end, and opening one may wait for ever.
pub(crate) fn open(path: &Path) -> Outcome<File> {
    let refuse = |error: &dyn std::error::Error| Failure::file("cannot open", path, error);
    let metadata = std::fs::metadata(path).map_err(|error| refuse(&error))?;
    if metadata.is_dir() {
        return Err(Failure::input(format!(
            "{} is a folder, not a file",
            path.display()
        )));
    }
    if !metadata.is_file() {
        let what = format!("{} is not a regular file", path.display());
        return Err(Failure::input(what).hint("write what a pipe gives to a file first"));
    }
    File::open(path).map_err(|error| refuse(&error))
}

/// Refuses an output that is one of the inputs, under whatever name: what was read would be lost.
pub(crate) fn refuse_overwriting<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Outcome<()> {
    let identity = |path: &Path| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.dev(), metadata.ino()))
    };
    let Some(written) = identity(output) else {
        return Ok(());
    };
    match inputs.into_iter().find(|input| identity(input) == Some(written)) {
        None => Ok(()),
        Some(input) => {
            let what = format!(
                "{} would be written over the input {}",
                output.display(),
                input.display()
            );
            Err(Failure::usage(what).hint("give another output"))
        }
    }
}

/// Hard links that a file has beside the one that is named.
pub(crate) fn other_names(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.nlink().saturating_sub(1))
}

/// Says that the other names of a file that was replaced lead to the old one; `count` was taken before.
pub(crate) fn tell_split(path: &Path, count: u64) {
    if count > 0 {
        output::note(&format!(
            "note: {} had other names (hard links): {count}; they lead to the old file",
            path.display()
        ));
    }
}

/// Reads a whole regular file.
pub(crate) fn read(path: &Path, limit: &Limit) -> Outcome<Vec<u8>> {
    read_within(path, limit)?.map_err(|error| Failure::file("cannot read", path, &error))
}

/// As [`read`], where a file that is too long need not be a failure.
pub(crate) fn read_within(path: &Path, limit: &Limit) -> Outcome<Result<Vec<u8>, LimitExceeded>> {
    let refuse = |error: &dyn std::error::Error| Failure::file("cannot read", path, error);
    let file = open(path)?;
    let length = file.metadata().map_err(|error| refuse(&error))?.len();
    if let Err(error) = limit.check(length) {
        return Ok(Err(error));
    }
    let mut bytes = Vec::new();
    file.take(limit.max() + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| refuse(&error))?;
    Ok(limit.check(bytes.len() as u64).map(|()| bytes))
}
