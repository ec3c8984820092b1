//! Damage on purpose: files whose digests all match, but which lie. Each is refused with its reason.

use crate::sample::{build, bytes_type, chain, content, manifest, small};
use artifact_container::fuzzing::{read_everything, reseal};
use artifact_container::{ConstantSource, Container, ContainerBuilder, ErrorKind, SectionKind};

const ROW: usize = 96;

/// Where the rows of the sample lie: program, constant, notes, manifest.
const PROGRAM: usize = 0;
const CONSTANT: usize = 1;
const NOTES: usize = 2;
const MANIFEST: usize = 3;

fn sample() -> Vec<u8> {
    let mut builder = ContainerBuilder::new(manifest(), b"module {}");
    builder.constant(bytes_type(100), ConstantSource::Bytes(&[7; 100]));
    builder.extra(SectionKind::new(0x8001), false, "notes", vec![9; 70]);
    build(builder)
}

fn table_offset(file: &[u8]) -> usize {
    u64::from_le_bytes(file[24..32].try_into().unwrap()) as usize
}

#[derive(Clone, Copy)]
enum At {
    /// In the header.
    Header(usize),
    /// In a row of the table.
    Row(usize, usize),
    /// In the names.
    Names(usize),
}

/// Writes `bytes` over the sample, makes all digests match, and opens it.
fn lie(at: At, bytes: &[u8]) -> (ErrorKind, String) {
    let mut file = sample();
    let table = table_offset(&file);
    let place = match at {
        At::Header(offset) => offset,
        At::Row(row, offset) => table + row * ROW + offset,
        At::Names(offset) => table + 4 * ROW + offset,
    };
    file[place..place + bytes.len()].copy_from_slice(bytes);
    reseal(&mut file);
    // Rows that claim other places get digests of what lies there, so that the places themselves must be refused.
    let error = Container::from_bytes(file.clone()).map(drop).unwrap_err();
    // Who only describes a file may describe what it cannot run.
    assert!(read_everything(&file).is_err() || error.kind() == ErrorKind::Upgrade);
    (error.kind(), chain(&error))
}

const HUGE: [u8; 8] = u64::MAX.to_le_bytes();

/// What the lie is, where, with which bytes, and what becomes of it.
type Lie = (&'static str, At, &'static [u8], ErrorKind, &'static str);

const LIES: &[Lie] = &[
    (
        "a newer format",
        At::Header(8),
        &[2, 0, 0, 0, 2, 0, 0, 0],
        ErrorKind::Upgrade,
        "version 2.0 and needs a reader of 2.0 or newer",
    ),
    (
        "an older format",
        At::Header(8),
        &[0, 0, 8, 0, 0, 0, 8, 0],
        ErrorKind::Upgrade,
        "the file has container version 0.8",
    ),
    (
        "a window upside down",
        At::Header(8),
        &[0, 0, 9, 0, 0, 0, 10, 0],
        ErrorKind::FixInput,
        "written by version 0.9 but needs a reader of 0.10",
    ),
    (
        "a reserved field",
        At::Header(44),
        &[1],
        ErrorKind::FixInput,
        "bytes that are reserved",
    ),
    (
        "a reserved field",
        At::Header(95),
        &[1],
        ErrorKind::FixInput,
        "bytes that are reserved",
    ),
    (
        "a huge file",
        At::Header(16),
        &HUGE,
        ErrorKind::FixInput,
        "it must end the file",
    ),
    (
        "a huge table",
        At::Header(32),
        &HUGE,
        ErrorKind::FixInput,
        "it must end the file",
    ),
    (
        "many sections",
        At::Header(40),
        &[255; 4],
        ErrorKind::Limit,
        "the number of sections is 4294967295 sections, over the limit of 65535",
    ),
    (
        "a section too many",
        At::Header(40),
        &[5],
        ErrorKind::FixInput,
        "the length that its rows and names need",
    ),
    (
        "a section too few",
        At::Header(40),
        &[3],
        ErrorKind::FixInput,
        "the name of section 0",
    ),
    (
        "kind 0",
        At::Row(NOTES, 0),
        &[0, 0],
        ErrorKind::FixInput,
        "`notes` uses flags or a kind that are reserved",
    ),
    (
        "a reserved flag",
        At::Row(NOTES, 2),
        &[2],
        ErrorKind::FixInput,
        "`notes` uses flags or a kind that are reserved",
    ),
    (
        "an unknown required kind",
        At::Row(NOTES, 2),
        &[1],
        ErrorKind::Upgrade,
        "`notes` of kind-32769 is required in the file (container 1.0)",
    ),
    (
        "an optional program",
        At::Row(PROGRAM, 2),
        &[0],
        ErrorKind::FixInput,
        "`program` has not the form of a program section",
    ),
    (
        "an unknown codec",
        At::Row(PROGRAM, 4),
        &[7],
        ErrorKind::Upgrade,
        "`program` is required in the file (container 1.0) and stored with codec 7",
    ),
    (
        "a compressed constant",
        At::Row(CONSTANT, 4),
        &[1],
        ErrorKind::FixInput,
        "`constant/0` has not the form",
    ),
    (
        "a small alignment",
        At::Row(NOTES, 5),
        &[0],
        ErrorKind::FixInput,
        "`notes` is aligned to 2^0 bytes",
    ),
    (
        "a huge alignment",
        At::Row(NOTES, 5),
        &[255],
        ErrorKind::FixInput,
        "`notes` is aligned to 2^255 bytes",
    ),
    (
        "another alignment of constants",
        At::Row(CONSTANT, 5),
        &[6],
        ErrorKind::FixInput,
        "`constant/0` has not the form",
    ),
    (
        "a long name",
        At::Row(NOTES, 6),
        &[255, 255],
        ErrorKind::FixInput,
        "the length that its rows and names need",
    ),
    (
        "no name",
        At::Row(NOTES, 6),
        &[0, 0],
        ErrorKind::FixInput,
        "the name of section 2 is empty",
    ),
    (
        "a strange name",
        At::Names(0),
        b"pro\x1bram",
        ErrorKind::FixInput,
        "the name of section 0",
    ),
    (
        "an overlap",
        At::Row(CONSTANT, 8),
        &[0; 8],
        ErrorKind::FixInput,
        "`constant/0` begins at 0; after byte 137",
    ),
    (
        "a gap",
        At::Row(NOTES, 8),
        &8192_u64.to_le_bytes(),
        ErrorKind::FixInput,
        "`notes` begins at 8192",
    ),
    (
        "a place outside",
        At::Row(NOTES, 8),
        &HUGE,
        ErrorKind::FixInput,
        "`notes` begins at 18446744073709551615",
    ),
    (
        "a huge length",
        At::Row(NOTES, 16),
        &HUGE,
        ErrorKind::FixInput,
        "`notes` is not compressed, yet its stored and raw lengths",
    ),
    (
        "huge lengths",
        At::Row(NOTES, 16),
        &[255; 16],
        ErrorKind::FixInput,
        "`notes` does not end before the section table",
    ),
    (
        "a huge constant",
        At::Row(CONSTANT, 16),
        &[255; 16],
        ErrorKind::Limit,
        "a constant is 18446744073709551615 bytes",
    ),
    (
        "a huge program",
        At::Row(PROGRAM, 24),
        &HUGE,
        ErrorKind::Limit,
        "a section that is read into memory is 18446744073709551615",
    ),
    (
        "a huge manifest",
        At::Row(MANIFEST, 24),
        &HUGE,
        ErrorKind::Limit,
        "the manifest is 18446744073709551615 bytes",
    ),
    (
        "a short last section",
        At::Row(MANIFEST, 16),
        &[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
        ErrorKind::FixInput,
        "but the last section ends at",
    ),
    (
        "two programs",
        At::Row(NOTES, 0),
        &[2, 0, 1, 0],
        ErrorKind::FixInput,
        "more than one program section",
    ),
    (
        "no program",
        At::Row(PROGRAM, 0),
        &[1, 0x80, 0, 0],
        ErrorKind::FixInput,
        "there is no program section",
    ),
    (
        "needless chunk digests",
        At::Row(NOTES, 0),
        &[4, 0, 1, 0],
        ErrorKind::FixInput,
        "need 0 bytes of chunk digests, the file has 70",
    ),
    (
        "a derivative of another name",
        At::Row(NOTES, 0),
        &[5, 0, 0, 0],
        ErrorKind::FixInput,
        "a derivative is named `notes` where `vjp/1` follows",
    ),
    (
        "a required derivative",
        At::Row(NOTES, 0),
        &[5, 0, 1, 0],
        ErrorKind::FixInput,
        "`notes` has not the form of a derivative section",
    ),
    (
        "an unnamed constant",
        At::Row(CONSTANT, 0),
        &[1, 0x80, 0, 0],
        ErrorKind::FixInput,
        "constant for argument 1 names no constant section",
    ),
];

#[test]
fn lies_are_refused_with_their_reason() {
    for (what, at, bytes, kind, expected) in LIES {
        let (found, message) = lie(*at, bytes);
        assert!(
            message.contains(expected),
            "{what}: {message}\ndoes not say: {expected}"
        );
        assert_eq!(found, *kind, "{what}: {message}");
    }
}

#[test]
fn another_content_of_a_constant_is_refused_by_the_manifest() {
    let mut file = sample();
    file[4096] ^= 1;
    reseal(&mut file);
    let message = chain(&Container::from_bytes(file).unwrap_err());
    assert!(
        message.contains("constant for argument 1 names no constant section of that digest"),
        "{message}"
    );
}

#[test]
fn an_optional_section_of_an_unknown_codec_is_kept_unread() {
    let mut file = sample();
    let row = table_offset(&file) + NOTES * ROW;
    file[row + 4] = 9;
    reseal(&mut file);
    let container = Container::from_bytes(file).unwrap();
    let (id, _) = container.sections().find("notes").unwrap();
    let error = container.section_bytes(id).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Upgrade);
    assert!(
        chain(&error).contains("`notes` is stored with codec 9"),
        "{}",
        chain(&error)
    );
    container.verify_all().unwrap();
}

#[test]
fn padding_is_zero() {
    let mut file = small();
    file[4000] = 1;
    let container = Container::from_bytes(file).unwrap();
    let message = chain(&container.verify_all().unwrap_err());
    assert!(
        message.contains("the padding between bytes 137 and 4096 is not zero"),
        "{message}"
    );
}

/// A program that is compressed, with its raw length replaced.
fn zstd_lie(raw_length: impl Fn(u64) -> u64, trailing: bool) -> String {
    let program = b"stablehlo.add ".repeat(1000);
    let mut file = build(ContainerBuilder::new(manifest(), &program));
    let row = table_offset(&file);
    assert_eq!(file[row + 4], 1, "the program is compressed");
    let length_at = row + 24;
    let length = u64::from_le_bytes(file[length_at..length_at + 8].try_into().unwrap());
    file[length_at..length_at + 8].copy_from_slice(&raw_length(length).to_le_bytes());
    if trailing {
        // The padding after the frame becomes part of the section.
        file[row + 16] += 1;
    }
    reseal(&mut file);
    chain(&Container::from_bytes(file).unwrap().program().unwrap_err())
}

#[test]
fn a_frame_holds_what_is_declared() {
    let lie = "its zstd frame does not hold exactly the";
    assert!(zstd_lie(|length| length - 1, false).contains(lie));
    assert!(zstd_lie(|length| length + 1, false).contains(lie));
    assert!(zstd_lie(|_| 1 << 30, false).contains(lie));
    assert!(zstd_lie(|length| length, true).contains(lie));
}

#[test]
fn a_frame_of_other_content_is_refused() {
    let program = b"stablehlo.add ".repeat(1000);
    let mut file = build(ContainerBuilder::new(manifest(), &program));
    let row = table_offset(&file);
    file[row + 64] ^= 1;
    reseal(&mut file);
    let message = chain(&Container::from_bytes(file).unwrap().program().unwrap_err());
    assert!(
        message.contains("`program` decompresses to other bytes"),
        "{message}"
    );
}

#[test]
fn chunk_digests_add_up() {
    let constant = content(3 << 20, 1);
    let mut builder = ContainerBuilder::new(manifest(), b"p");
    builder.constant(bytes_type(constant.len()), ConstantSource::Bytes(&constant));
    let mut file = build(builder);
    // Both the content and its chunk digest are replaced; the digest of the whole is what the manifest states.
    let (digests, _) = {
        let container = Container::from_bytes(file.clone()).unwrap();
        let row = container.sections().chunk_digests().unwrap();
        (row.offset as usize, row.stored_length)
    };
    file[4096] ^= 1;
    let chunk = artifact_core::chunk::ChunkDigest::of(0, &file[4096..4096 + (1 << 20)]);
    file[digests..digests + 32].copy_from_slice(chunk.as_bytes());
    let table = table_offset(&file);
    let constant_row = table + ROW;
    let own = file[constant_row + 32..constant_row + 96].to_vec();
    reseal(&mut file);
    file[constant_row + 32..constant_row + 96].copy_from_slice(&own);
    seal_table(&mut file, table);
    let container = Container::from_bytes(file).unwrap();
    let (id, _) = container.sections().find("constant/0").unwrap();
    for range in [0..1, 2 << 20..3 << 20] {
        let message = chain(&container.constant_range(id, range).unwrap_err());
        assert!(
            message.contains("chunk digests of constant `constant/0` do not add up"),
            "{message}"
        );
    }
}

fn seal_table(file: &mut [u8], table: usize) {
    let digest = artifact_core::digest::Digest::of(&file[table..]);
    file[48..80].copy_from_slice(digest.as_bytes());
    let checksum = artifact_core::digest::Digest::of(&file[..96]);
    file[96..128].copy_from_slice(checksum.as_bytes());
}
