//! A file appears whole or not at all, whatever fails while it is written.

use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::path::Path;

use crate::sample::{bytes_type, chain, manifest, small};
use artifact_container::atomic::{AtomicFile, atomic_write};
use artifact_container::{ConstantSource, ContainerBuilder, ErrorKind, Output};

/// An output on a disk that is full after `room` bytes were written.
struct FullDisk<O> {
    output: O,
    room: usize,
}

impl<O: Write> Write for FullDisk<O> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.room == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let written = self.output.write(&bytes[..bytes.len().min(self.room)])?;
        self.room -= written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

impl<O: Seek> Seek for FullDisk<O> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.output.seek(position)
    }
}

impl<O: Output> Output for FullDisk<O> {
    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.output.truncate(length)
    }
}

fn builder() -> ContainerBuilder<'static> {
    let mut builder = ContainerBuilder::new(manifest(), b"module {}");
    builder.constant(bytes_type(100), ConstantSource::Bytes(&[7; 100]));
    builder
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.artifact");
    atomic_write(&path, b"old").unwrap();
    // The header is written once as room and once as itself.
    let total = small().len() + 128;
    for room in (0..total).step_by(97).chain([total - 1]) {
        let file = AtomicFile::create(&path).unwrap();
        let mut disk = FullDisk { output: file, room };
        let error = builder().write_to(&mut disk).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "{}", chain(&error));
        drop(disk);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(
            names(directory.path()),
            ["m.artifact"],
            "no temporary file is left"
        );
    }
    builder().write_file(&path).unwrap();
    assert!(std::fs::read(&path).unwrap() == small());
    assert_eq!(names(directory.path()), ["m.artifact"]);
}

#[test]
fn what_was_written_to_a_full_disk_is_no_artifact() {
    let total = small().len() + 128;
    for room in (0..total).step_by(61) {
        let mut disk = FullDisk {
            output: Cursor::new(Vec::new()),
            room,
        };
        builder().write_to(&mut disk).unwrap_err();
        assert!(artifact_container::Container::from_bytes(disk.output.into_inner()).is_err());
    }
}

#[test]
fn a_failing_reader_is_an_error_and_leaves_nothing() {
    struct Broken;
    impl io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the weights went away"))
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.artifact");
    let mut builder = ContainerBuilder::new(manifest(), b"p");
    builder.constant(bytes_type(1), ConstantSource::Reader(Box::new(Broken)));
    let error = builder.write_file(&path).unwrap_err();
    let expected = format!(
        "cannot write the artifact `{}`: the weights went away",
        path.display()
    );
    assert_eq!(chain(&error), expected);
    assert!(names(directory.path()).is_empty());
}

#[test]
fn only_files_are_replaced() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(
        atomic_write(directory.path(), b"x").unwrap_err().kind(),
        io::ErrorKind::AlreadyExists
    );
    assert_eq!(
        atomic_write(Path::new("/dev/null"), b"x").unwrap_err().kind(),
        io::ErrorKind::AlreadyExists
    );
    assert_eq!(
        atomic_write(Path::new(".."), b"x").unwrap_err().kind(),
        io::ErrorKind::InvalidInput
    );
    let missing = directory.path().join("none").join("file");
    assert_eq!(
        atomic_write(&missing, b"x").unwrap_err().kind(),
        io::ErrorKind::NotFound
    );
}

/// The part of the next test that is killed. Alone, without the marker in its directory, it does nothing.
#[test]
fn child_that_writes_until_it_is_killed() {
    if Path::new("write-here").exists() {
        builder().write_file(Path::new("m.artifact")).unwrap();
    }
}

#[test]
fn a_kill_leaves_the_old_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.artifact");
    atomic_write(&path, b"old").unwrap();
    atomic_write(&directory.path().join("write-here"), b"").unwrap();
    let run = |limit: &str| {
        let child =
            "ulimit -c 0; ulimit -f \"$1\"; exec \"$0\" --exact atomic::child_that_writes_until_it_is_killed";
        let mut shell = std::process::Command::new("sh");
        shell
            .args(["-c", child])
            .arg(std::env::current_exe().unwrap())
            .arg(limit);
        shell.current_dir(directory.path()).output().unwrap()
    };
    // A file over the limit (units of 512 or 1024 bytes) kills the process with SIGXFSZ in the middle of a write.
    let killed = run("2").status;
    assert!(!killed.success(), "{killed}");
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    let finished = run("unlimited").status;
    assert!(finished.success(), "{finished}");
    assert!(std::fs::read(&path).unwrap() == small());
}
