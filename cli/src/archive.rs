//! NumPy archives: zip files of arrays.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use artifact_container::atomic::AtomicFile;
use artifact_core::limit::Limit;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use crate::failure::{Failure, Outcome};
use crate::files;
use crate::npy::{Array, ArrayReader};

/// Largest array that is read; an archive may announce any size.
const ARRAY_BYTES: Limit = Limit::new("an array", 8 << 30, "bytes");
const ARRAYS: Limit = Limit::new("the number of arrays in an archive", 1 << 16, "arrays");

/// The arrays of an archive by name, read one at a time.
pub(crate) struct Archive {
    path: std::path::PathBuf,
    zip: ZipArchive<File>,
    /// Name of each array, and its place in the zip file.
    names: BTreeMap<String, usize>,
}

impl Archive {
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        let file = files::open(path)?;
        let refuse = |error: &dyn std::error::Error| {
            Failure::file("cannot read the archive", path, error).hint(
                "give a .npz file as numpy.savez writes it; one .npy file is given as --input NAME=FILE.npy",
            )
        };
        let zip = ZipArchive::new(file).map_err(|error| refuse(&error))?;
        ARRAYS.check(zip.len() as u64).map_err(|error| refuse(&error))?;
        // Of two arrays of one name only the last can be read.
        if zip.has_duplicate_names() {
            let what = format!("{} has two arrays of one name", path.display());
            return Err(Failure::input(what).hint("write the archive again, with one array for each name"));
        }
        let mut names = BTreeMap::new();
        for index in 0..zip.len() {
            let Some(name) = zip.name_for_index(index) else {
                continue;
            };
            let name = name.map_err(|error| refuse(&error))?;
            if let Some(name) = name.strip_suffix(".npy") {
                names.insert(name.to_owned(), index);
            }
        }
        Ok(Self {
            path: path.to_owned(),
            zip,
            names,
        })
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Names of the arrays, sorted.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// Whether there is an array called `name`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// The array called `name`, its elements still unread.
    pub(crate) fn read(&mut self, name: &str) -> Outcome<ArrayReader<impl Read>> {
        let path = self.path.clone();
        let refuse = |why: &dyn std::fmt::Display| {
            let path = path.display();
            Failure::input(format!("array `{name}` of {path} cannot be read: {why}"))
        };
        let missing = || {
            let path = self.path.display();
            Failure::input(format!("there is no array `{name}` in {path}"))
        };
        let index = self.names.get(name).ok_or_else(missing)?;
        let entry = self.zip.by_index(*index).map_err(|error| refuse(&error))?;
        let length = entry.size();
        ARRAY_BYTES.check(length).map_err(|error| refuse(&error))?;
        ArrayReader::new(entry, length).map_err(|error| refuse(&error))
    }
}

/// One array from a file of its own, its elements still unread.
pub(crate) fn read_array(path: &Path) -> Outcome<ArrayReader<impl Read>> {
    let file = files::open(path)?;
    let refuse =
        |why: &dyn std::fmt::Display| Failure::input(format!("{} cannot be read: {why}", path.display()));
    let length = file.metadata().map_err(|error| refuse(&error))?.len();
    ARRAY_BYTES.check(length).map_err(|error| refuse(&error))?;
    ArrayReader::new(BufReader::new(file), length).map_err(|error| {
        refuse(&error)
            .hint("give a .npy file as numpy.save writes it; a .npz archive is given as --inputs FILE.npz")
    })
}

/// Writes arrays as an archive: whole or not at all, and the same bytes for the same arrays.
pub(crate) fn write(path: &Path, arrays: &[(String, Array<'_>)]) -> Outcome<()> {
    let refuse = |error: &dyn std::error::Error| Failure::file("cannot write", path, error);
    let file = AtomicFile::create(path).map_err(|error| refuse(&error))?;
    let mut zip = ZipWriter::new(FailsOnce {
        file,
        has_failed: false,
        position: 0,
        end: 0,
    });
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .large_file(true);
    for (name, array) in arrays {
        let header = array
            .header()
            .map_err(|error| refuse(&error).hint(format!("result `{name}`")))?;
        zip.start_file(format!("{name}.npy"), options)
            .map_err(|error| refuse(&error))?;
        zip.write_all(&header)
            .and_then(|()| zip.write_all(array.bytes))
            .map_err(|error| refuse(&error))?;
    }
    let written = zip.finish().map_err(|error| refuse(&error))?;
    written.file.commit().map_err(|error| refuse(&error))
}

/// A file that says once that it cannot be written, and from then on goes along without being: a zip writer that is dropped
/// finishes its archive, and prints what it cannot write.
struct FailsOnce {
    file: AtomicFile,
    has_failed: bool,
    position: u64,
    end: u64,
}

impl Write for FailsOnce {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = match self.has_failed {
            true => bytes.len(),
            false => self.file.write(bytes).inspect_err(|_| self.has_failed = true)?,
        };
        self.position += count as u64;
        self.end = self.end.max(self.position);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.has_failed {
            true => Ok(()),
            false => self.file.flush().inspect_err(|_| self.has_failed = true),
        }
    }
}

impl Seek for FailsOnce {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (base, offset) = match to {
            SeekFrom::Start(position) => (position, 0),
            SeekFrom::Current(offset) => (self.position, offset),
            SeekFrom::End(offset) => (self.end, offset),
        };
        let before_start = io::ErrorKind::InvalidInput;
        let position = base.checked_add_signed(offset).ok_or(before_start)?;
        if !self.has_failed {
            self.file
                .seek(SeekFrom::Start(position))
                .inspect_err(|_| self.has_failed = true)?;
        }
        self.position = position;
        Ok(position)
    }
}
