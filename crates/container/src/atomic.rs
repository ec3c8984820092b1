//! Files that appear whole or not at all.
//!
//! The content goes to a temporary file in the same directory, is flushed to the disk, and then takes the place of the
//! target by rename; the directory is flushed too, so that the file survives a power failure once [`AtomicFile::commit`]
//! returns. A full disk, an error or a kill leaves the old file, or none. A kill may leave a temporary file
//! `.NAME.xxxxxx.partial` behind; every other failure removes it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file under construction. Dropping it without [`AtomicFile::commit`] leaves the target as it was.
#[derive(Debug)]
pub struct AtomicFile {
    temporary: NamedTempFile,
    directory: PathBuf,
    target: PathBuf,
}

impl AtomicFile {
    /// Begins the file that will replace `target`, or appear there. Permissions are those of a new file.
    ///
    /// A symbolic link is itself replaced, as `rename` does.
    ///
    /// # Errors
    /// When `target` names no file, names something that exists and is no regular file, such as a directory or a device, or a
    /// file that nobody may write, or when its directory cannot be written to.
    pub fn create(target: &Path) -> io::Result<Self> {
        let name = file_name(target)?;
        if let Ok(existing) = fs::symlink_metadata(target)
            && !(existing.is_file() || existing.is_symlink())
        {
            let message = "there is something other than a regular file, which is not replaced";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        let existing = fs::metadata(target).map(|existing| existing.permissions());
        // A rename would not ask, and who took the right to write away meant it.
        if existing.as_ref().is_ok_and(Permissions::readonly) {
            let message =
                "it is write-protected, and not replaced: allow it with `chmod u+w`, or write elsewhere";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        // A file that is replaced keeps who may read it.
        let mode = existing.map_or(0o666, |existing| existing.mode() & 0o777);
        Self::create_with(target, name, mode)
    }

    /// Begins a file with at most the permissions of `mode`.
    fn create_with(target: &Path, name: &OsStr, mode: u32) -> io::Result<Self> {
        let directory = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let mut prefix = OsString::from(".");
        prefix.push(name);
        prefix.push(".");
        let temporary = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix(".partial")
            // Subject to the process's mask, as for any new file.
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(&directory)
            .map_err(|error| in_directory(&directory, &error))?;
        Ok(Self {
            temporary,
            directory,
            target: target.to_owned(),
        })
    }

    /// Makes the file appear, durably.
    ///
    /// # Errors
    /// When flushing or renaming fails; then the target is as it was, unless only the last step, flushing the directory,
    /// failed: then the new file is there but may not survive a power failure.
    pub fn commit(self) -> io::Result<()> {
        self.temporary.as_file().sync_all()?;
        self.temporary
            .persist(&self.target)
            .map_err(|error| error.error)?;
        File::open(&self.directory)?.sync_all()
    }

    pub(crate) fn file_mut(&mut self) -> &mut File {
        self.temporary.as_file_mut()
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file_mut().flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file_mut().seek(position)
    }
}

fn file_name(target: &Path) -> io::Result<&OsStr> {
    target.file_name().ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path does not end in a file name",
        )
    })
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

/// Writes `bytes` to `target`, durably: the whole of them or nothing.
///
/// # Errors
/// As [`AtomicFile::create`] and [`AtomicFile::commit`], and when writing fails.
pub fn atomic_write(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(target)?;
    file.write_all(bytes)?;
    file.commit()
}

/// Writes `bytes` to a new file at `target`, durably, with exactly the permissions of `mode`: the whole of them or nothing.
///
/// # Errors
/// When something is at `target` already, which is left as it is, or writing fails.
pub fn atomic_create(target: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let AtomicFile {
        mut temporary,
        directory,
        target,
    } = AtomicFile::create_with(target, file_name(target)?, mode)?;
    // The mask of the process may have taken bits away. None was there too many: whoever opens the file before its content is
    // written reads that as well.
    let file = temporary.as_file_mut();
    file.set_permissions(Permissions::from_mode(mode))?;
    file.write_all(bytes)?;
    file.sync_all()?;
    temporary.persist_noclobber(target).map_err(|error| error.error)?;
    File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_in_a_file_that_others_may_open() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("key");
        let file = AtomicFile::create_with(&target, file_name(&target).unwrap(), 0o600).unwrap();
        let mode = file.temporary.as_file().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
