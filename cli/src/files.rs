//! Finding files, and reading them within limits.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use artifact_core::limit::Limit;

use crate::failure::{Failure, Outcome};

/// Folders inside each other.
const DEPTH: Limit = Limit::new("nesting of folders", 64, "levels");

/// All files under a folder, sorted by path. Links to folders are not followed: they may form circles.
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
        let entry = entry.map_err(|error| refuse(&error))?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(|error| refuse(&error))?);
        if kind.is_dir() {
            collect(&path, depth + 1, files)?;
        } else if !path.is_dir() {
            files.push(path);
        }
    }
    Ok(())
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

/// Reads a whole regular file.
pub(crate) fn read(path: &Path, limit: &Limit) -> Outcome<Vec<u8>> {
    let refuse = |error: &dyn std::error::Error| Failure::file("cannot read", path, error);
    let file = open(path)?;
    let length = file.metadata().map_err(|error| refuse(&error))?.len();
    limit.check(length).map_err(|error| refuse(&error))?;
    let mut bytes = Vec::new();
    file.take(limit.max() + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| refuse(&error))?;
    limit.check(bytes.len() as u64).map_err(|error| refuse(&error))?;
    Ok(bytes)
}
