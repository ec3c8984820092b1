//! Where the bytes of an open artifact come from: a file or memory.
//!
//! Small sections are read with positioned reads into memory of our own, verified there and only then decoded: another
//! process cannot change them in between. Only constants are mapped, and only when the caller asks for a mapped slice; under a
//! trust policy they are copied instead.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use memmap2::Mmap;

use crate::error::{Classify, ErrorKind, Fault};

#[derive(Debug)]
pub(crate) enum Source {
    Memory(Vec<u8>),
    File {
        file: File,
        path: PathBuf,
        in_place: InPlace,
    },
}

/// Where the bytes of a file are when they are used in place; made on first use.
#[derive(Debug)]
pub(crate) enum InPlace {
    Mapped(OnceLock<Mmap>),
    /// As long as the file was when it was opened.
    Copied {
        length: u64,
        bytes: OnceLock<Vec<u8>>,
    },
}

impl Source {
    pub(crate) fn open(path: &Path) -> Result<Self, Fault> {
        // Asked before opening: to open a pipe waits for its writer.
        if !std::fs::metadata(path)?.is_file() {
            return Err(SourceError::NotAFile.into());
        }
        Ok(Self::of_file(File::open(path)?, path))
    }

    /// An open regular file; `path` is what messages call it.
    pub(crate) fn of_file(file: File, path: &Path) -> Self {
        Self::File {
            file,
            path: path.to_owned(),
            in_place: InPlace::Mapped(OnceLock::new()),
        }
    }

    /// The same file, whose bytes are never mapped: whoever may write to it cannot change what was verified.
    pub(crate) fn copied(self) -> Result<Self, Fault> {
        let length = self.length()?;
        Ok(match self {
            Self::File { file, path, .. } => {
                let bytes = OnceLock::new();
                let in_place = InPlace::Copied { length, bytes };
                Self::File { file, path, in_place }
            }
            memory @ Self::Memory(_) => memory,
        })
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Memory(_) => None,
            Self::File { path, .. } => Some(path),
        }
    }

    /// Length in bytes now; that of a file may have changed since it was opened.
    pub(crate) fn length(&self) -> io::Result<u64> {
        match self {
            Self::Memory(bytes) => Ok(bytes.len() as u64),
            Self::File { file, .. } => Ok(file.metadata()?.len()),
        }
    }

    /// Fills `buffer` with the bytes from `offset` on.
    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        match self {
            Self::Memory(bytes) => buffer.copy_from_slice(slice(bytes, offset, buffer.len() as u64)?),
            Self::File { file, .. } => {
                file.read_exact_at(buffer, offset).map_err(|error| {
                    if error.kind() == io::ErrorKind::UnexpectedEof {
                        Fault::from(SourceError::Shrunk)
                    } else {
                        error.into()
                    }
                })?;
            }
        }
        Ok(())
    }

    /// `length` bytes from `offset` on, which the caller has checked against a limit.
    pub(crate) fn read_vec(&self, offset: u64, length: u64) -> Result<Vec<u8>, Fault> {
        let length = usize::try_from(length).map_err(|_| SourceError::Shrunk)?;
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(length)
            .map_err(|_| SourceError::Memory(length))?;
        bytes.resize(length, 0);
        self.read(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// The bytes in place: of memory as they are, of a file through a map or a copy that is made on first use.
    pub(crate) fn in_place(&self, offset: u64, length: u64) -> Result<&[u8], Fault> {
        match self {
            Self::Memory(bytes) => slice(bytes, offset, length),
            Self::File { file, in_place, .. } => match in_place {
                InPlace::Mapped(map) => {
                    if let Some(map) = map.get() {
                        return slice(map, offset, length);
                    }
                    let made = map_file(file)?;
                    slice(map.get_or_init(|| made), offset, length)
                }
                InPlace::Copied { length: all, bytes } => {
                    if let Some(bytes) = bytes.get() {
                        return slice(bytes, offset, length);
                    }
                    let made = self.copy(*all)?;
                    slice(bytes.get_or_init(|| made), offset, length)
                }
            },
        }
    }

    /// The first `length` bytes. What cannot be allocated is an error.
    fn copy(&self, length: u64) -> Result<Vec<u8>, Fault> {
        let count = usize::try_from(length).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(count)
            .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        bytes.resize(count, 0);
        self.read(0, &mut bytes)?;
        Ok(bytes)
    }
}

fn slice(bytes: &[u8], offset: u64, length: u64) -> Result<&[u8], Fault> {
    let range = usize::try_from(offset)
        .ok()
        .zip(usize::try_from(length).ok())
        .and_then(|(offset, length)| Some(offset..offset.checked_add(length)?));
    Ok(range
        .and_then(|range| bytes.get(range))
        .ok_or(SourceError::Shrunk)?)
}

#[expect(
    unsafe_code,
    reason = "a map is the only way to use gigabytes of constants without reading them"
)]
fn map_file(file: &File) -> io::Result<Mmap> {
    // SAFETY: The slice is sound as long as nobody changes or shortens the file while it is mapped. Artifacts are only
    // ever replaced by rename (`crate::atomic`), which leaves the mapped file as it was; `Container::constant_bytes`
    // tells callers that whoever may write to the file in place must be trusted, and offers a copying read otherwise.
    unsafe { Mmap::map(file) }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SourceError {
    #[error("it is not a regular file")]
    NotAFile,
    #[error("the file became shorter while it was being read")]
    Shrunk,
    #[error("there is no memory for {0} bytes of it")]
    Memory(usize),
}

impl Classify for SourceError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::FixInput
    }
}
