//! The file that is written first, beside the one that it will replace.
//!
//! It is called `.NAME.partial`, so that what a killed process left is found and removed by who next writes to the same file.
//! Who writes holds a shared lock on it; who finds one that nobody holds takes it away. Where it is in use, or cannot be
//! removed, `.NAME.partial.xxxxxx` is taken, at random. On a file system without locks nothing is removed.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

use crate::atomic::target::Target;

/// Makes the temporary file of a target, with at most the permissions of `mode`.
pub(super) fn create(target: &Target, mode: u32) -> io::Result<NamedTempFile> {
    /// Others that begin to write the same file at this moment.
    const TRIES_MAX: usize = 4;
    let name = name(target.name());
    let make = |random_bytes: usize| {
        let separator = if random_bytes > 0 { "." } else { "" };
        let mut prefix = name.clone();
        prefix.push(separator);
        Builder::new()
            .prefix(&prefix)
            .rand_bytes(random_bytes)
            // Subject to the process's mask, as for any new file.
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(target.directory())
    };
    for _ in 0..TRIES_MAX {
        match make(0) {
            Ok(mut file) => {
                if claim(&file)? {
                    return Ok(file);
                }
                // What is at its path now is not ours.
                file.disable_cleanup(true);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !remove_if_left(&target.directory().join(&name)) {
                    break;
                }
            }
            Err(error) => return Err(in_directory(target.directory(), &error)),
        }
    }
    make(6).map_err(|error| in_directory(target.directory(), &error))
}

/// The name of a temporary file: with that of the target, cut so that the whole stays below what file systems allow (255 bytes,
/// and 143 on some that encrypt).
pub(super) fn name(target: &OsStr) -> OsString {
    const TARGET_BYTES_MAX: usize = 120;
    let bytes = target.as_bytes();
    let end = match target.to_str() {
        Some(text) => text.floor_char_boundary(TARGET_BYTES_MAX),
        None => bytes.len().min(TARGET_BYTES_MAX),
    };
    OsString::from_vec([b".", &bytes[..end], b".partial"].concat())
}

/// Shows others that a new file is in use. Says whether it still is at its path: until now it could pass for one that was left.
fn claim(file: &NamedTempFile) -> io::Result<bool> {
    match file.as_file().try_lock_shared() {
        Ok(()) => is_at(file.as_file(), file.path()),
        Err(TryLockError::WouldBlock) => Ok(false),
        // Nobody can lock here, and so nobody removes anything.
        Err(TryLockError::Error(_)) => Ok(true),
    }
}

/// Removes a file that nobody holds. Says whether there may be room for a new one now.
fn remove_if_left(path: &Path) -> bool {
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
        return false;
    }
    // For writing too, with which no pipe waits for another end.
    let Ok(file) = OpenOptions::new().read(true).write(true).open(path) else {
        return false;
    };
    match file.try_lock() {
        // Gone already, which is as well, or one that somebody else made in the meantime.
        Ok(()) => match is_at(&file, path) {
            Ok(true) => fs::remove_file(path).is_ok(),
            other => other.is_ok(),
        },
        Err(_) => false,
    }
}

/// Whether the file at a path is the open one.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (open.dev(), open.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Why no file can be made in a directory. The original error names the temporary file, which nobody asked for.
fn in_directory(directory: &Path, error: &io::Error) -> io::Error {
    let directory = directory.display();
    let message = match error.kind() {
        io::ErrorKind::NotFound => format!("there is no directory {directory}"),
        kind => format!("no file can be made in {directory}: {kind}"),
    };
    io::Error::new(error.kind(), message)
}
