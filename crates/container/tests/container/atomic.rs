//! A file appears whole or not at all, whatever fails while it is written.

use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use crate::sample::{bytes_type, chain, manifest, small};
use artifact_container::atomic::{AtomicFile, Original, atomic_write};
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
    let left = directory.path().join(".m.artifact.partial");
    assert!(left.exists());
    let finished = run("unlimited").status;
    assert!(finished.success(), "{finished}");
    assert!(std::fs::read(&path).unwrap() == small());
    assert!(!left.exists(), "what was left is removed");
}

#[test]
fn links_are_followed() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::create_dir(at("real")).unwrap();
    atomic_write(&at("real/m"), b"old").unwrap();
    symlink("real/m", at("relative")).unwrap();
    symlink(at("relative"), at("absolute")).unwrap();
    symlink("real", at("folder")).unwrap();
    for (path, content) in [("relative", "1"), ("absolute", "2"), ("folder/m", "3")] {
        atomic_write(&at(path), content.as_bytes()).unwrap();
        assert_eq!(std::fs::read_to_string(at("real/m")).unwrap(), content, "{path}");
    }
    assert!(at("relative").is_symlink() && at("absolute").is_symlink());
    // As a shell does, what a link promises is made.
    symlink("real/new", at("promise")).unwrap();
    atomic_write(&at("promise"), b"4").unwrap();
    assert_eq!(std::fs::read(at("real/new")).unwrap(), b"4");
    assert!(at("promise").is_symlink());
    let mut names = names(&at("real"));
    names.sort();
    assert_eq!(names, ["m", "new"], "no temporary file is left");
}

#[test]
fn what_a_link_leads_to_is_judged() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let check = |end: &str, says: &str| {
        let link = at("link");
        symlink(end, &link).unwrap();
        let error = atomic_write(&link, b"x").unwrap_err();
        assert!(error.to_string().contains(says), "{end}: {error}");
        assert_eq!(std::fs::read_link(&link).unwrap(), Path::new(end));
        std::fs::remove_file(&link).unwrap();
    };
    let (_reader, writer) = io::pipe().unwrap();
    let pipe = std::os::fd::AsRawFd::as_raw_fd(&writer);
    check(&format!("/proc/self/fd/{pipe}"), "other than a regular file");
    check("/dev/null", "other than a regular file");
    check(".", "other than a regular file");
    check("link", "symbolic links");
    check("none/file", "there is no directory");
    // An open file whose name is gone.
    let gone = std::fs::File::create(at("gone")).unwrap();
    std::fs::remove_file(at("gone")).unwrap();
    let gone = std::os::fd::AsRawFd::as_raw_fd(&gone);
    check(&format!("/proc/self/fd/{gone}"), "leads to a file that is not at");
    assert!(names(directory.path()).is_empty());
}

#[test]
fn the_longest_name_can_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("z".repeat(255));
    atomic_write(&path, b"x").unwrap();
    atomic_write(&path, b"y").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"y");
}

#[test]
fn a_file_that_is_rewritten_is_locked() {
    let directory = tempfile::tempdir().unwrap();
    let (path, link) = (directory.path().join("m"), directory.path().join("link"));
    atomic_write(&path, b"old").unwrap();
    symlink("m", &link).unwrap();
    let busy = |result: io::Result<()>| {
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::ResourceBusy);
    };
    let original = Original::lock(&link).unwrap();
    assert_eq!(original.path().file_name().unwrap(), "m");
    busy(Original::lock(&path).map(drop));
    busy(atomic_write(&path, b"other"));
    let mut new = original.replacement().unwrap();
    // The replacement has the lock as well.
    drop(original);
    busy(Original::lock(&path).map(drop));
    new.write_all(b"new").unwrap();
    new.commit().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    assert!(link.is_symlink());
    // Nobody holds the file that took its place.
    drop(Original::lock(&path).unwrap());
    atomic_write(&path, b"other").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"other");
}

/// Who knows nothing of locks is not overwritten.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "what others do to a file, without this crate"
)]
fn a_file_that_changed_is_not_replaced() {
    type Change = fn(&Path);
    let changes: [Change; 4] = [
        |path| std::fs::write(path, b"longer than it was").unwrap(),
        |path| {
            std::fs::write(path.with_added_extension("new"), b"old").unwrap();
            std::fs::rename(path.with_added_extension("new"), path).unwrap();
        },
        |path| std::fs::set_permissions(path, PermissionsExt::from_mode(0o600)).unwrap(),
        |path| std::fs::remove_file(path).unwrap(),
    ];
    for change in changes {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("m");
        atomic_write(&path, b"old").unwrap();
        let original = Original::lock(&path).unwrap();
        let mut new = original.replacement().unwrap();
        new.write_all(b"new").unwrap();
        change(&path);
        let after = std::fs::read(&path).ok();
        let error = new.commit().unwrap_err();
        assert!(error.to_string().contains("the file changed"), "{error}");
        assert_eq!(std::fs::read(&path).ok(), after);
    }
}

/// Who waits with the old file in his hands does not take it for the new one.
#[test]
fn a_lock_on_a_file_that_was_replaced_counts_for_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m");
    atomic_write(&path, b"old").unwrap();
    let old = std::fs::File::open(&path).unwrap();
    atomic_write(&path, b"new").unwrap();
    old.lock().unwrap();
    drop(Original::lock(&path).unwrap());
    atomic_write(&path, b"newer").unwrap();
}

#[test]
fn owner_and_permissions_stay() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m");
    atomic_write(&path, b"old").unwrap();
    let owner = |path: &Path| {
        let metadata = std::fs::metadata(path).unwrap();
        (metadata.uid(), metadata.gid(), metadata.mode() & 0o777)
    };
    // Who is not root may not give files away, and keeps what is his.
    let _ = std::os::unix::fs::chown(&path, Some(12_345), Some(54_321));
    // More than the usual mask leaves.
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
    let before = owner(&path);
    let original = Original::lock(&path).unwrap();
    original.replacement().unwrap().commit().unwrap();
    assert_eq!(owner(&path), before);
    drop(original);
    atomic_write(&path, b"new").unwrap();
    assert_eq!(owner(&path), before);
}

/// What a killed process left is removed, and what another one is writing is not.
#[test]
fn partial_files() {
    let directory = tempfile::tempdir().unwrap();
    let (path, partial) = (directory.path().join("m"), directory.path().join(".m.partial"));
    let write = || {
        atomic_write(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        let mut names = names(directory.path());
        names.sort();
        names
    };
    atomic_write(&partial, b"left").unwrap();
    assert_eq!(write(), ["m"]);

    let mut other = AtomicFile::create(&path).unwrap();
    other.write_all(b"other").unwrap();
    assert_eq!(write(), [".m.partial", "m"]);
    other.commit().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"other");

    // Somebody else's trap is neither followed nor in the way.
    atomic_write(&directory.path().join("end"), b"end").unwrap();
    symlink("end", &partial).unwrap();
    assert_eq!(write(), [".m.partial", "end", "m"]);
    assert_eq!(std::fs::read(directory.path().join("end")).unwrap(), b"end");
}

/// Many that write one file at once leave one of their files, whole, and no other.
#[test]
fn writers_of_one_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m");
    let content = |writer: u8| vec![writer; 10_000];
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let path = &path;
            scope.spawn(move || {
                for _ in 0..20 {
                    atomic_write(path, &content(writer)).unwrap();
                }
            });
        }
    });
    let found = std::fs::read(&path).unwrap();
    assert!((0..8).any(|writer| found == content(writer)));
    assert_eq!(names(directory.path()), ["m"]);
}
