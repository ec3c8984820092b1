//! Files that appear whole or not at all.
//!
//! The content goes to a temporary file in the same directory, is flushed to the disk, and then takes the place of the
//! target by rename; the directory is flushed too, so that the file survives a power failure once [`AtomicFile::commit`]
//! returns. A full disk, an error or a kill leaves the old file, or none. A kill may leave a temporary file
//! `.NAME.partial` behind, which the next writer of the same file removes; every other failure removes it.
//!
//! This is the one place through which files are replaced, and has the rules of all of them (docs/files.md): symbolic links
//! are followed, only regular files are replaced, permissions are kept and so is the owner, and a file that is made of the
//! one that it replaces goes through [`Original`], which locks it.

mod original;
mod target;
mod temporary;

use std::fs::{File, Metadata, Permissions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

use tempfile::NamedTempFile;

pub use original::Original;
use original::Watch;
use target::Target;

/// Bits of a mode that a file which takes the place of another one keeps.
const MODE_KEPT: u32 = 0o777;

/// A file under construction. Dropping it without [`AtomicFile::commit`] leaves the target as it was.
#[derive(Debug)]
pub struct AtomicFile {
    temporary: NamedTempFile,
    target: Target,
    /// What it is made of, where that is the file that it replaces.
    original: Option<Watch>,
}

impl AtomicFile {
    /// Begins the file that will replace `target`, or appear there.
    ///
    /// A symbolic link is followed, also one whose end is not there yet. The permissions are those of the file that is replaced,
    /// else those of a new file. The owner and the group are kept where this process may give files to them.
    ///
    /// # Errors
    /// When `target` names no file, leads to something that exists and is no regular file, such as a directory, a pipe or a
    /// device, or to a file that nobody may write, or when its directory cannot be written to.
    pub fn create(target: &Path) -> io::Result<Self> {
        let target = Target::followed(target)?;
        let Some(existing) = target.existing().cloned() else {
            return Self::begin(target, 0o666);
        };
        refuse_protected(&existing)?;
        let file = Self::begin(target, existing.mode() & MODE_KEPT)?;
        // Who may not give files away becomes the owner, as of any file that he writes.
        let _ = file.give_owner_of(&existing);
        file.give_mode(existing.mode())?;
        Ok(file)
    }

    /// Begins a file with at most the permissions of `mode`.
    fn begin(target: Target, mode: u32) -> io::Result<Self> {
        let temporary = temporary::create(&target, mode)?;
        Ok(Self {
            temporary,
            target,
            original: None,
        })
    }

    fn give_owner_of(&self, old: &Metadata) -> io::Result<()> {
        let new = self.temporary.as_file().metadata()?;
        let differs = |old: u32, new: u32| (old != new).then_some(old);
        let (user, group) = (differs(old.uid(), new.uid()), differs(old.gid(), new.gid()));
        if user.is_none() && group.is_none() {
            return Ok(());
        }
        fchown(self.temporary.as_file(), user, group)
    }

    /// Sets permissions whatever the process's mask says. After the owner, whose change takes bits away.
    fn give_mode(&self, mode: u32) -> io::Result<()> {
        let permissions = Permissions::from_mode(mode & MODE_KEPT);
        self.temporary.as_file().set_permissions(permissions)
    }

    /// Makes the file appear, durably.
    ///
    /// # Errors
    /// When the target is locked by who rewrites it, when it changed and this file was made of it, and when flushing or renaming
    /// fails; then the target is as it was, unless only the last step, flushing the directory, failed: then the new file is
    /// there but may not survive a power failure.
    pub fn commit(self) -> io::Result<()> {
        self.temporary.as_file().sync_all()?;
        // Held until the rename is done.
        let _lock = match &self.original {
            Some(original) => {
                original.check_unchanged(self.target.path())?;
                None
            }
            None => original::lock_shared(self.target.path())?,
        };
        let renamed = self.temporary.persist(self.target.path());
        // With the lock that says that it is being written.
        drop(renamed.map_err(|error| error.error)?);
        File::open(self.target.directory())?.sync_all()
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

/// Refuses to replace a file that nobody may write. A rename would not ask, and who took the right to write away meant it.
fn refuse_protected(existing: &Metadata) -> io::Result<()> {
    if existing.permissions().readonly() {
        let message =
            "it is write-protected, and not replaced: allow it with `chmod u+w`, or write elsewhere";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    Ok(())
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
/// When something is at `target` already, be it a symbolic link, which is left as it is, or writing fails.
pub fn atomic_create(target: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let AtomicFile {
        mut temporary,
        target,
        original: _,
    } = AtomicFile::begin(Target::as_named(target)?, mode)?;
    // The mask of the process may have taken bits away. None was there too many: whoever opens the file before its content is
    // written reads that as well.
    let file = temporary.as_file_mut();
    file.set_permissions(Permissions::from_mode(mode))?;
    file.write_all(bytes)?;
    file.sync_all()?;
    temporary
        .persist_noclobber(target.path())
        .map_err(|error| error.error)?;
    File::open(target.directory())?.sync_all()
}

#[cfg(test)]
mod tests;
