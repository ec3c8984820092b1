//! The frame of a file: header, sections, strings, and their counts.

use artifact_core::blob::Blob;
use artifact_stablehlo::bytecode::{ReadError, ReadErrorKind, is_bytecode, read};

use super::file::append_varint;
use super::{parsed, reread, written};

const PROGRAM: &str = "func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }";

/// The bytes before the sections, and the sections.
fn taken_apart() -> (Vec<u8>, Vec<(u8, Vec<u8>)>) {
    let bytes = written(&parsed(PROGRAM), "1.20.0", false).unwrap_or_else(|error| panic!("{error}"));
    let start = bytes.iter().position(|byte| *byte == 0).map_or(0, |end| end + 1);
    let mut rest = super::file::Cursor(&bytes[start..]);
    let mut sections = Vec::new();
    while let Some(id) = rest.byte() {
        let data = rest.varint().and_then(|length| rest.take(length));
        sections.push((id, data.map(<[u8]>::to_vec).unwrap_or_default()));
    }
    (bytes[..start].to_vec(), sections)
}

fn put_together(head: &[u8], sections: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = head.to_vec();
    for (id, data) in sections {
        bytes.push(*id);
        append_varint(&mut bytes, data.len() as u64);
        bytes.extend_from_slice(data);
    }
    bytes
}

fn refused(bytes: Vec<u8>) -> ReadError {
    match read(&Blob::new(bytes)) {
        Ok(_) => panic!("it was read"),
        Err(error) => error,
    }
}

fn check(bytes: Vec<u8>, kind: ReadErrorKind, message: &str) {
    let error = refused(bytes);
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(message), "{error}");
}

#[test]
fn files_are_recognised() {
    let (head, sections) = taken_apart();
    let bytes = put_together(&head, &sections);
    assert!(is_bytecode(&bytes) && is_bytecode(&bytes[..4]));
    assert!(!is_bytecode(&bytes[..3]) && !is_bytecode(b"module {}"));
    assert_eq!(reread(bytes).bytecode, 6);
    check(
        b"ML\xEFS".to_vec(),
        ReadErrorKind::Malformed,
        "does not begin with its magic",
    );
}

#[test]
fn sections_come_in_any_order_and_once() {
    let (head, mut sections) = taken_apart();
    sections.reverse();
    reread(put_together(&head, &sections));
    let ids: Vec<u8> = sections.iter().map(|(id, _)| *id).collect();
    for (index, id) in ids.into_iter().enumerate() {
        let mut twice = sections.clone();
        twice.push(sections[index].clone());
        let message = format!("section {id} stands here a second time");
        check(put_together(&head, &twice), ReadErrorKind::Malformed, &message);
        let mut less = sections.clone();
        less.remove(index);
        refused(put_together(&head, &less));
    }
    // Resources, of which StableHLO has none, may be there.
    sections.extend([(5, Vec::new()), (6, vec![1])]);
    reread(put_together(&head, &sections));
    sections.push((9, Vec::new()));
    check(
        put_together(&head, &sections),
        ReadErrorKind::Malformed,
        "there is no section 9",
    );
}

/// The last section as one that begins at a multiple of `alignment`, behind `padding`.
fn aligned(alignment: u64, padding: u8) -> Vec<u8> {
    let (head, mut sections) = taken_apart();
    let (id, data) = sections.pop().unwrap_or_default();
    let mut bytes = put_together(&head, &sections);
    bytes.push(id | 0x80);
    append_varint(&mut bytes, data.len() as u64);
    append_varint(&mut bytes, alignment);
    while !(bytes.len() as u64).is_multiple_of(alignment) && alignment <= 4096 {
        bytes.push(padding);
    }
    bytes.extend_from_slice(&data);
    bytes
}

#[test]
fn sections_may_be_aligned() {
    for alignment in [1, 2, 16, 4096] {
        reread(aligned(alignment, 0xCB));
    }
    check(
        aligned(4096, 0),
        ReadErrorKind::Malformed,
        "the padding before a section is damaged",
    );
    for alignment in [3, 6, 1 << 22, u64::MAX] {
        check(
            aligned(alignment, 0xCB),
            ReadErrorKind::Malformed,
            &format!("{alignment} is no alignment"),
        );
    }
    let mut zero = aligned(1, 0xCB);
    let place = zero.iter().rposition(|byte| *byte == 0x88).unwrap_or_default();
    assert_eq!(zero[place + 2], 3, "the alignment, as a number");
    zero[place + 2] = 1;
    check(zero, ReadErrorKind::Malformed, "0 is no alignment");
}

/// Counts and lengths that no file could have, where each stands.
#[test]
fn claims_are_checked_against_what_is_there() {
    let claims = [1 << 31, (1 << 31) - 1, 1 << 32, 1 << 62, u64::MAX];
    let (head, sections) = taken_apart();
    for claim in claims {
        for (index, (id, data)) in sections.iter().enumerate() {
            // The count at the start of each section.
            let mut other = sections.clone();
            let mut cursor = super::file::Cursor(data);
            cursor.varint();
            let mut changed = Vec::new();
            append_varint(&mut changed, claim);
            changed.extend_from_slice(cursor.0);
            other[index].1 = changed;
            refused(put_together(&head, &other));
            // Its length.
            let mut bytes = put_together(&head, &sections[..index]);
            bytes.push(*id);
            append_varint(&mut bytes, claim);
            bytes.extend_from_slice(data);
            check(bytes, ReadErrorKind::Malformed, "the data ends too early");
        }
    }
}

#[test]
fn versions_are_checked_first() {
    let with = |version: u8, producer: &str| {
        [&b"ML\xEFR"[..], &[version << 1 | 1], producer.as_bytes(), b"\0"].concat()
    };
    let newest = "this reader reads 0.9.0 to 1.20.0";
    check(with(6, "StableHLO_v1.21.0"), ReadErrorKind::Unsupported, newest);
    check(with(7, "StableHLO_v9.0.0"), ReadErrorKind::Unsupported, newest);
    check(
        with(6, "StableHLO_v0.8.4"),
        ReadErrorKind::Unsupported,
        "the oldest that is read is 0.9.0",
    );
    let message = "MLIR bytecode of version 7, and the newest that is read is 6";
    check(with(7, "MLIR"), ReadErrorKind::Unsupported, message);
    check(
        with(6, "MLIR"),
        ReadErrorKind::Malformed,
        "the section of strings is missing",
    );
}
