//! A constant over 2 GiB: written as a stream, opened without being read, and used in part.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::sample::manifest;
use artifact_container::{ConstantSource, ConstantType, Container, ContainerBuilder, Output};

const LENGTH: u64 = (2 << 30) + (5 << 20) + 3;

/// Leaves holes where zeros are written, so that the test needs no gigabytes of disk.
struct Sparse(File);

impl Write for Sparse {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() >= 4096 && bytes.iter().all(|byte| *byte == 0) {
            self.0.seek(SeekFrom::Current(bytes.len() as i64))?;
            return Ok(bytes.len());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Seek for Sparse {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.0.seek(position)
    }
}

impl Output for Sparse {
    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }
}

#[test]
fn over_two_gigabytes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("large.artifact");
    let zeros = io::repeat(0).take(LENGTH - 4).chain(&b"last"[..]);
    let mut builder = ContainerBuilder::new(manifest(), b"p");
    builder.constant(
        ConstantType {
            dtype: "ui8".into(),
            shape: vec![LENGTH],
        },
        ConstantSource::Reader(Box::new(zeros)),
    );
    let written = builder
        .write_to(&mut Sparse(File::create(&path).unwrap()))
        .unwrap();
    assert!(written.file_length > LENGTH);

    let container = Container::open(&path).unwrap();
    assert_eq!(container.file_digest(), written.file_digest);
    let (id, row) = container.sections().find("constant/0").unwrap();
    assert_eq!(row.raw_length, LENGTH);
    // Were the whole constant verified here, this would be the slowest test of the crate.
    assert_eq!(
        container.constant_range(id, LENGTH - 6..LENGTH).unwrap(),
        b"\0\0last"
    );
    assert_eq!(
        container.constant_range(id, 1 << 31..(1 << 31) + 2).unwrap(),
        b"\0\0"
    );
}
