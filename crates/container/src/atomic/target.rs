//! Where a path leads that is to be written.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Symbolic links that are followed one after the other: as many as Linux follows.
const LINKS_MAX: usize = 40;

/// The place of a file: a directory and a name in it.
#[derive(Clone, Debug)]
pub(super) struct Target {
    path: PathBuf,
    /// The regular file that is there.
    existing: Option<Metadata>,
}

impl Target {
    /// The place where the symbolic links of `path` end. What they lead to is judged, and not they: a link to a device is a
    /// device.
    pub(super) fn followed(path: &Path) -> io::Result<Self> {
        check_name(path)?;
        let found = regular_file(path)?;
        let end = end_of_links(path)?;
        check_name(&end)?;
        let existing = if end == path {
            found
        } else {
            same_file(path, &end)?
        };
        Ok(Self { path: end, existing })
    }

    /// The place that `path` names, whatever is there.
    pub(super) fn as_named(path: &Path) -> io::Result<Self> {
        check_name(path)?;
        Ok(Self {
            path: path.to_owned(),
            existing: None,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn existing(&self) -> Option<&Metadata> {
        self.existing.as_ref()
    }

    pub(super) fn directory(&self) -> &Path {
        directory(&self.path)
    }

    pub(super) fn name(&self) -> &OsStr {
        // Checked when it was made.
        self.path.file_name().unwrap_or_default()
    }
}

fn check_name(path: &Path) -> io::Result<()> {
    match path.file_name() {
        Some(_) => Ok(()),
        None => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path does not end in a file name",
        )),
    }
}

/// The regular file to which a path leads, where there is a file.
fn regular_file(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(Some(found)),
        Ok(_) => {
            let message = "there is something other than a regular file, which is not replaced";
            Err(io::Error::new(io::ErrorKind::AlreadyExists, message))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// As [`regular_file`], of a link and the end that it names. What a link below /proc says of an open file need not be a name of
/// that file.
fn same_file(link: &Path, end: &Path) -> io::Result<Option<Metadata>> {
    /// Others that replace the file between two looks at it.
    const TRIES_MAX: usize = 16;
    let identity = |metadata: &Metadata| (metadata.dev(), metadata.ino());
    for _ in 0..TRIES_MAX {
        let existing = regular_file(link)?;
        let named = fs::symlink_metadata(end).ok();
        if named.as_ref().map(identity) == existing.as_ref().map(identity) {
            return Ok(existing);
        }
    }
    let message = format!("it leads to a file that is not at {}", end.display());
    Err(io::Error::other(message))
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The first path that is no link, be there a file or not. Only the last part is looked at: links in a directory's path lead
/// to the same directory as long as nobody follows them.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut end = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::symlink_metadata(&end) {
            Ok(found) if found.is_symlink() => end = directory(&end).join(fs::read_link(&end)?),
            Ok(_) => return Ok(end),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(end),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!(
        "more than {LINKS_MAX} symbolic links follow each other"
    )))
}
