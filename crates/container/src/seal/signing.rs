//! Adds a seal to a file on disk.
//!
//! The file is copied without its seals, the copy is verified completely, and what was verified is what is signed. Then the
//! copy takes the place of the file by rename: a kill leaves the old file or the new one.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::atomic::{AtomicFile, Original};
use crate::container::{Container, ReadOptions};
use crate::error::{Classify, Error, ErrorKind, Fault};
use crate::identity::FileDigest;
use crate::seal::block::Seals;
use crate::seal::key::{KeyId, SecretKey};
use crate::seal::label::{Comment, Scope};
use crate::seal::record::{Ed25519Seal, Seal};
use crate::source::Source;

/// How a file is sealed.
#[derive(Clone, Debug)]
pub struct Signing<'a> {
    /// Who seals it.
    pub key: &'a SecretKey,
    /// What for.
    pub scope: Scope,
    /// A remark.
    pub comment: Comment,
    /// Whether a seal of the same key is replaced; otherwise it is an error.
    pub replace: bool,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The file that was signed; sealing does not change it.
    pub file_digest: FileDigest,
    /// Whose seal it is.
    pub key_id: KeyId,
    /// Seals that the file has now.
    pub seals: usize,
    /// Whether it took the place of an older one.
    pub replaced: bool,
}

/// Seals the artifact at `path`, in place. Every byte of it is verified first; seals that it has already are kept as they are.
/// A symbolic link is followed; owner, group and permissions stay.
///
/// # Errors
/// When the file or its seal block is damaged, the key has sealed it already, another process rewrites it at the same time, or
/// the file cannot be read or written. Then it is as it was.
pub fn seal_file(path: &Path, signing: &Signing<'_>) -> Result<Sealed, Error> {
    // Held until the file is replaced: of two processes that rewrite it at once, one would lose what it did.
    let locked = Original::lock(path).map_err(|error| {
        let is_busy = error.kind() == io::ErrorKind::ResourceBusy;
        let fault = Fault::from(error);
        match is_busy {
            true => unsealed(path, fault),
            false => fault.read(Some(path)),
        }
    })?;
    let path = locked.path();
    let fail = |fault: Fault| unsealed(path, fault);
    let original = Container::open_original(&locked, &ReadOptions::describe_only())?;
    let mut seals = original.seals()?;
    let key = signing.key.public();
    // Before gigabytes are copied.
    if seals.has(&key) && !signing.replace {
        return Err(fail(SigningError::Twice(key.id()).into()));
    }
    let mut copy = copy_without_seals(&locked, original.header().file_length()).map_err(fail)?;
    let file_digest = verified_digest(&mut copy, path)?;
    if file_digest != original.file_digest() {
        return Err(fail(SigningError::Changed.into()));
    }
    let (scope, comment) = (signing.scope.clone(), signing.comment.clone());
    let seal = Ed25519Seal::sign(signing.key, file_digest, scope, comment);
    let replaced = seals
        .insert(Seal::Ed25519(seal), signing.replace)
        .map_err(|error| fail(error.into()))?;
    finish(copy, &seals).map_err(fail)?;
    Ok(Sealed {
        file_digest,
        key_id: key.id(),
        seals: seals.len(),
        replaced: replaced.is_some(),
    })
}

/// The file is as it was.
fn unsealed(path: &Path, fault: Fault) -> Error {
    Error::new(format!("cannot seal the artifact `{}`", path.display()), fault)
}

/// The first `length` bytes of the file, at the place that it will take.
fn copy_without_seals(original: &Original, length: u64) -> Result<AtomicFile, Fault> {
    let mut copy = original.replacement()?;
    let mut file: &File = original.file();
    file.seek(SeekFrom::Start(0))?;
    // Between files the kernel copies, and shares the blocks where the file system can.
    if io::copy(&mut file.take(length), copy.file_mut())? != length {
        return Err(SigningError::Changed.into());
    }
    Ok(copy)
}

/// The digest of the copy, every byte of which was verified after it was written.
fn verified_digest(copy: &mut AtomicFile, path: &Path) -> Result<FileDigest, Error> {
    let file = copy
        .file_mut()
        .try_clone()
        .map_err(|error| Fault::from(error).write(Some(path)))?;
    let container = Container::from_source(Source::of_file(file, path), &ReadOptions::describe_only())?;
    container.verify_all()?;
    Ok(container.file_digest())
}

/// Adds the seals to the copy, and puts it in the place of the file.
fn finish(mut copy: AtomicFile, seals: &Seals) -> Result<(), Fault> {
    copy.seek(SeekFrom::End(0))?;
    copy.write_all(&seals.encode()?)?;
    Ok(copy.commit()?)
}

/// Why a file that is sound is not sealed; the source of the [`Error`] of [`seal_file`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SigningError {
    /// A file has one seal of a key at most.
    #[error("the key {0} has sealed the file already; ask for its seal to be replaced, or leave it")]
    Twice(KeyId),
    /// What was verified would not be what is sealed.
    #[error("the file changed while it was being sealed; try again")]
    Changed,
}

impl Classify for SigningError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Twice(_) => ErrorKind::FixInput,
            Self::Changed => ErrorKind::Io,
        }
    }
}
