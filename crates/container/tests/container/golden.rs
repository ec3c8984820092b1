//! The bytes of the format: the golden file, the worked example in `FORMAT.md`, and a second writer and reader that are
//! made from that page alone.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use artifact_container::manifest::{CustomCall, Dim, Manifest, Producer, ProgramFormat, Signature, Value};
use artifact_container::{ConstantSource, ConstantType, Container, ContainerBuilder};
use artifact_core::digest::Digest;

const WEIGHTS: [u8; 8] = [0, 0, 0x80, 0x3f, 0, 0, 0, 0x40];

fn example_manifest() -> Manifest {
    let value = |name: &str, shape| Value {
        name: name.into(),
        dtype: "f32".into(),
        shape: Some(shape),
    };
    Manifest {
        producer: Producer {
            name: "example".into(),
            version: "1.0.0".into(),
        },
        program: ProgramFormat {
            name: "stablehlo-text".into(),
            version: "1.20.0".into(),
        },
        signature: Signature {
            function: "main".into(),
            inputs: vec![value("x", vec![Dim::Expression("b".into()), Dim::Size(2)])],
            outputs: vec![value("y", vec![Dim::Unknown, Dim::Size(300)])],
        },
        platforms: vec!["cpu".into()],
        required_features: vec![],
        calling_convention: 1,
        custom_calls: vec![CustomCall {
            target: "check.eq".into(),
            api_version: 2,
            has_side_effect: true,
            count: 1,
        }],
        constants: vec![],
        dimensions: None,
        created: None,
        metadata: [("comment".to_owned(), "hi".to_owned())].into(),
    }
}

fn example() -> Vec<u8> {
    let mut builder = ContainerBuilder::new(example_manifest(), b"module {}");
    builder.constant(
        ConstantType {
            dtype: "f32".into(),
            shape: vec![2],
        },
        ConstantSource::Bytes(&WEIGHTS),
    );
    let mut output = std::io::Cursor::new(Vec::new());
    builder.write_to(&mut output).unwrap();
    output.into_inner()
}

fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

/// As `hexdump -C` prints it.
fn hex_dump(bytes: &[u8]) -> String {
    let (mut dump, mut before, mut elided) = (String::new(), None, false);
    for (index, line) in bytes.chunks(16).enumerate() {
        if before == Some(line) {
            dump.push_str(if elided { "" } else { "*\n" });
            elided = true;
            continue;
        }
        (before, elided) = (Some(line), false);
        write!(dump, "{:08x} ", index * 16).unwrap();
        for half in line.chunks(8) {
            dump.extend(half.iter().map(|byte| format!(" {byte:02x}")));
            dump.push(' ');
        }
        let shown = |byte: &u8| {
            if (0x20..0x7f).contains(byte) {
                char::from(*byte)
            } else {
                '.'
            }
        };
        let width = 60 - dump.lines().last().map_or(0, str::len);
        writeln!(
            dump,
            "{:width$}|{}|",
            "",
            line.iter().map(shown).collect::<String>()
        )
        .unwrap();
    }
    writeln!(dump, "{:08x}", bytes.len()).unwrap();
    dump
}

/// Compares `found` with the file, or rewrites the file when `ARTIFACT_BLESS` is set. Version 0.9 is not released;
/// golden files of released versions are never rewritten.
fn check_file(relative: &str, found: &[u8]) {
    #[expect(
        clippy::disallowed_methods,
        reason = "blessing is asked for by environment variable"
    )]
    if std::env::var_os("ARTIFACT_BLESS").is_some() {
        artifact_container::atomic::atomic_write(&path(relative), found).unwrap();
    }
    let expected = std::fs::read(path(relative)).unwrap();
    assert!(
        expected == found,
        "{relative} differs from what the code writes; set ARTIFACT_BLESS=1 to rewrite"
    );
}

#[test]
fn golden_file_is_what_the_writer_writes() {
    check_file("tests/golden/v0.9.artifact", &example());
}

#[test]
fn worked_example_is_what_the_writer_writes() {
    const FORMAT: &str = "../../schemas/artifact/FORMAT.md";
    let page = std::fs::read_to_string(path(FORMAT)).unwrap();
    let (before, rest) = page.split_once("<!-- example: begin -->").unwrap();
    let (_, after) = rest.split_once("<!-- example: end -->").unwrap();
    let container = Container::from_bytes(example()).unwrap();
    let expected = format!(
        "{before}<!-- example: begin -->\n```text\n{}```\n\nFile digest `{}`.\n\nContent digest `{}`.\n\
         <!-- example: end -->{after}",
        hex_dump(&example()),
        container.file_digest(),
        container.content_digest()
    );
    check_file(FORMAT, expected.as_bytes());
}

/// A row as `FORMAT.md` lays it out: kind, codec, alignment exponent, name, content.
type Part<'a> = (u16, u8, u32, &'a str, &'a [u8]);

/// A second writer, for sections that are not compressed and constants of at most one chunk.
fn write_by_the_page(parts: &[Part<'_>]) -> Vec<u8> {
    let (mut file, mut rows, mut names) = (vec![0; 128], Vec::new(), Vec::new());
    for (kind, codec, alignment, name, content) in parts {
        file.resize(file.len().next_multiple_of(1 << alignment), 0);
        rows.extend_from_slice(&kind.to_le_bytes());
        rows.extend_from_slice(&[1, 0, *codec, *alignment as u8]);
        rows.extend_from_slice(&(name.len() as u16).to_le_bytes());
        for number in [file.len(), content.len(), content.len()] {
            rows.extend_from_slice(&(number as u64).to_le_bytes());
        }
        for _ in ["stored", "raw"] {
            rows.extend_from_slice(Digest::of(content).as_bytes());
        }
        names.extend_from_slice(name.as_bytes());
        file.extend_from_slice(content);
    }
    file.resize(file.len().next_multiple_of(64), 0);
    let table = [rows, names].concat();
    let offset = file.len() as u64;
    file.extend_from_slice(&table);
    let mut header = vec![0x89, b'A', b'R', b'T', 13, 10, 26, 10, 0, 0, 9, 0, 0, 0, 9, 0];
    for number in [file.len() as u64, offset, table.len() as u64, parts.len() as u64] {
        header.extend_from_slice(&number.to_le_bytes());
    }
    header.extend_from_slice(Digest::of(&table).as_bytes());
    header.resize(96, 0);
    let checksum = Digest::of(&header);
    header.extend_from_slice(checksum.as_bytes());
    file[..128].copy_from_slice(&header);
    file
}

/// A second reader: kind, name and stored bytes of each section, with nothing but offsets from the page.
fn read_by_the_page(file: &[u8]) -> Vec<(u16, String, Vec<u8>)> {
    let u16_at = |at: usize| u16::from_le_bytes(file[at..at + 2].try_into().unwrap());
    let u32_at = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let u64_at = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
    assert_eq!(file[..8], *b"\x89ART\r\n\x1a\n");
    assert_eq!(file[96..128], *Digest::of(&file[..96]).as_bytes());
    assert_eq!([8, 10, 12, 14].map(u16_at), [0, 9, 0, 9]);
    let (table, count) = (u64_at(24), u32_at(40) as usize);
    assert_eq!((u64_at(16), table + u64_at(32)), (file.len(), file.len()));
    assert_eq!(file[48..80], *Digest::of(&file[table..]).as_bytes());
    let mut name_at = table + 96 * count;
    let mut sections = Vec::new();
    for row in (0..count).map(|index| table + 96 * index) {
        let name = &file[name_at..name_at + usize::from(u16_at(row + 6))];
        name_at += name.len();
        let stored = &file[u64_at(row + 8)..][..u64_at(row + 16)];
        assert_eq!(file[row + 32..row + 64], *Digest::of(stored).as_bytes());
        sections.push((
            u16_at(row),
            String::from_utf8(name.to_vec()).unwrap(),
            stored.to_vec(),
        ));
    }
    assert_eq!(name_at, file.len());
    sections
}

#[test]
fn second_reader_and_writer_agree() {
    let file = example();
    let sections = read_by_the_page(&file);
    let names: Vec<_> = sections
        .iter()
        .map(|(kind, name, _)| (*kind, name.as_str()))
        .collect();
    assert_eq!(names, [(2, "program"), (3, "constant/0"), (1, "manifest")]);
    assert_eq!(
        (sections[0].2.as_slice(), sections[1].2.as_slice()),
        (&b"module {}"[..], &WEIGHTS[..])
    );
    let parts: Vec<Part<'_>> = sections
        .iter()
        .map(|(kind, name, content)| {
            (
                *kind,
                0,
                if *kind == 3 { 12 } else { 6 },
                name.as_str(),
                content.as_slice(),
            )
        })
        .collect();
    assert_eq!(write_by_the_page(&parts), file);
}

#[test]
fn manifest_is_named_messagepack() {
    let sections = read_by_the_page(&example());
    let (_, _, manifest) = &sections[2];
    // A map of nine fields, the first of them `producer`, itself a map of two.
    assert_eq!(manifest[..10], *b"\x89\xa8producer");
    assert_eq!(manifest[10..16], *b"\x82\xa4name");
    let digest = [b"\xa6digest\xc4\x20".as_slice(), Digest::of(&WEIGHTS).as_bytes()].concat();
    assert!(manifest.windows(digest.len()).any(|window| window == digest));
    assert!(!manifest.windows(7).any(|window| window == b"created"));
}
