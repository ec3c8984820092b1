//! Damage by accident: no truncation, appended byte or flipped bit goes unseen, and none panics.

use crate::sample::{chain, small};
use artifact_container::fuzzing::read_everything;
use artifact_container::{Container, ErrorKind};

#[test]
fn the_sample_is_sound() {
    read_everything(&small()).unwrap();
}

#[test]
fn truncation_at_every_byte() {
    let file = small();
    for length in 0..file.len() {
        let error = read_everything(&file[..length]).unwrap_err();
        assert_eq!(
            error.kind(),
            ErrorKind::FixInput,
            "{length} bytes: {}",
            chain(&error)
        );
    }
}

#[test]
fn every_flipped_bit() {
    let mut file = small();
    for bit in 0..file.len() * 8 {
        file[bit / 8] ^= 1 << (bit % 8);
        let error = read_everything(&file).expect_err("a flipped bit is seen");
        assert_eq!(error.kind(), ErrorKind::FixInput, "bit {bit}: {}", chain(&error));
        file[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn messages_say_what_and_what_to_do() {
    let file = small();
    let check = |bytes: &[u8], expected: &str| {
        let message = chain(&Container::from_bytes(bytes.to_vec()).unwrap_err());
        assert_eq!(message, format!("cannot read the artifact: {expected}"));
    };
    check(b"", "the file is empty");
    check(
        b"module @m {}",
        "this is not an artifact: it does not begin with the artifact magic",
    );
    check(
        &file[..5],
        "the file ends inside its header of 128 bytes; get a good copy of it",
    );
    let unix: Vec<u8> = file.iter().copied().filter(|byte| *byte != b'\r').collect();
    check(
        &unix,
        "the first bytes were changed by a transfer in text mode; copy the file again in binary mode",
    );
    let cut = file.len() - 1;
    check(
        &file[..cut],
        &format!(
            "the file has {cut} bytes, its header says {}; it was cut off or something was appended",
            file.len()
        ),
    );
    let longer = [file.as_slice(), b"x"].concat();
    check(
        &longer,
        &format!(
            "the file has {} bytes, its header says {}; it was cut off or something was appended",
            longer.len(),
            file.len()
        ),
    );
}

#[test]
fn what_is_no_file_is_refused_by_path() {
    let directory = tempfile::tempdir().unwrap();
    let error = Container::open(directory.path()).unwrap_err();
    assert_eq!(
        chain(&error),
        format!(
            "cannot read the artifact `{}`: it is not a regular file",
            directory.path().display()
        )
    );
    let missing = Container::open(&directory.path().join("none")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Io);
}

#[test]
fn a_file_that_shrinks_while_open_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.artifact");
    artifact_container::atomic::atomic_write(&path, &small()).unwrap();
    let container = Container::open(&path).unwrap();
    std::fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(4100)
        .unwrap();
    let (id, row) = container.sections().find("constant/0").unwrap();
    let error = container
        .read_constant(id, &mut vec![0; row.raw_length as usize])
        .unwrap_err();
    assert!(chain(&error).contains("became shorter"), "{}", chain(&error));
    assert!(
        container.constant_bytes(id).is_err(),
        "the map is made after the file shrank, and is too short"
    );
}
