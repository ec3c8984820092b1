//! A file that is replaced by one that is made of it.
//!
//! Who rewrites a file holds an exclusive lock on it (`flock`), from before it is read until after the rename. The lock is on
//! the file and not on its name: who had the old file open when it was replaced gets the lock, sees that the name leads
//! elsewhere, and begins again. Who replaces a file by something else takes a shared lock for the moment of the rename: it does
//! not keep others from doing the same, and is refused while somebody rewrites. Locks are advisory, so what is compared last
//! is the file itself.

use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use crate::atomic::AtomicFile;
use crate::atomic::target::Target;

/// Others that replace the file between two looks at it.
const TRIES_MAX: usize = 16;

/// A regular file, locked against everybody else who wants to rewrite it, until this and its replacement are dropped.
#[derive(Debug)]
pub struct Original {
    file: File,
    target: Target,
    state: State,
}

impl Original {
    /// Locks the file at the end of the symbolic links of `path`.
    ///
    /// # Errors
    /// When it is not there, cannot be opened or is no regular file; when somebody else has locked it; and when it does not
    /// stop to change.
    pub fn lock(path: &Path) -> io::Result<Self> {
        for _ in 0..TRIES_MAX {
            // Asked before opening: to open a pipe waits for its writer.
            let target = Target::followed(path)?;
            let file = File::open(target.path())?;
            match take(|| file.try_lock()) {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(RewriteError::Busy.into()),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            let state = State::of(&file.metadata()?);
            if fs::symlink_metadata(target.path()).is_ok_and(|now| State::of(&now) == state) {
                return Ok(Self { file, target, state });
            }
        }
        Err(RewriteError::Changed.into())
    }

    /// The file's own path, at which no link is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.target.path()
    }

    /// The open file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Begins the file that will take its place, with the same owner, group and permissions.
    ///
    /// [`AtomicFile::commit`] refuses when the file is not what it was when it was locked.
    ///
    /// # Errors
    /// When nobody may write it, its directory cannot be written to, or this process may not give a file to its owner and group.
    pub fn replacement(&self) -> io::Result<AtomicFile> {
        let old = self.file.metadata()?;
        super::refuse_protected(&old)?;
        let mut new = AtomicFile::begin(self.target.clone(), old.mode() & super::MODE_KEPT)?;
        new.give_owner_of(&old).map_err(|source| {
            io::Error::new(
                source.kind(),
                RewriteError::Owner {
                    user: old.uid(),
                    group: old.gid(),
                },
            )
        })?;
        new.give_mode(old.mode())?;
        new.original = Some(Watch {
            _lock: self.file.try_clone()?,
            state: self.state,
        });
        Ok(new)
    }
}

/// Sees that a locked file stays what it is, and holds the lock.
#[derive(Debug)]
pub(super) struct Watch {
    _lock: File,
    state: State,
}

impl Watch {
    pub(super) fn check_unchanged(&self, path: &Path) -> io::Result<()> {
        match fs::symlink_metadata(path) {
            Ok(now) if State::of(&now) == self.state => Ok(()),
            Ok(_) => Err(RewriteError::Changed.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(RewriteError::Changed.into()),
            Err(error) => Err(error),
        }
    }
}

/// Takes part in the locking of what is at `path`, for who replaces it whatever it is. Nothing where there is no file, or none
/// that can be locked: one that this process may not open, or on a file system without locks.
pub(super) fn lock_shared(path: &Path) -> io::Result<Option<File>> {
    let is_file = |path| fs::symlink_metadata(path).ok().filter(Metadata::is_file);
    for _ in 0..TRIES_MAX {
        if is_file(path).is_none() {
            return Ok(None);
        }
        let Ok(file) = File::open(path) else {
            return Ok(None);
        };
        match take(|| file.try_lock_shared()) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(RewriteError::Busy.into()),
            Err(TryLockError::Error(_)) => return Ok(None),
        }
        let locked = State::of(&file.metadata()?);
        if is_file(path).is_some_and(|now| State::of(&now).is_same_file(&locked)) {
            return Ok(Some(file));
        }
    }
    Err(RewriteError::Busy.into())
}

/// Takes a lock. One that is held for a rename only, or for a look, is waited for; one that is held longer is not.
fn take(try_lock: impl Fn() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
    const WAITS_MAX: usize = 20;
    const WAIT: Duration = Duration::from_millis(1);
    for _ in 0..WAITS_MAX {
        match try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(WAIT),
            other => return other,
        }
    }
    try_lock()
}

/// Which file it is, and whether it changed: times are those of its content and of what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    device: u64,
    inode: u64,
    length_bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl State {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            length_bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// Why a file is not replaced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum RewriteError {
    #[error("another process is rewriting the file; try again when it is done")]
    Busy,
    #[error("the file changed while it was being rewritten; try again")]
    Changed,
    #[error(
        "the new file would not belong to user {user} and group {group} as the old one does; let its owner do this, or write to another file"
    )]
    Owner { user: u32, group: u32 },
}

impl From<RewriteError> for io::Error {
    fn from(error: RewriteError) -> Self {
        let kind = match error {
            RewriteError::Busy => io::ErrorKind::ResourceBusy,
            RewriteError::Changed => io::ErrorKind::Other,
            RewriteError::Owner { .. } => io::ErrorKind::PermissionDenied,
        };
        Self::new(kind, error)
    }
}
