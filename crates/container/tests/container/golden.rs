//! The bytes of the format: the golden file, the worked example in `FORMAT.md`, and a second writer and reader that are
//! made from that page alone.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use artifact_container::manifest::{CustomCall, Dim, Manifest, Producer, ProgramFormat, Signature, Value};
use artifact_container::{CONTAINER_VERSION, ConstantSource, ConstantType, Container, ContainerBuilder};
use artifact_core::date::Date;
use artifact_core::digest::Digest;
use artifact_forge::Forgery;

const WEIGHTS: [u8; 8] = [0, 0, 0x80, 0x3f, 0, 0, 0, 0x40];

/// The date in the golden files, whatever the date of this release.
const RELEASED_1_0: Date = Date::new(2026, 11, 30).unwrap();

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
            released: Some(RELEASED_1_0),
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
        custom_call_waivers: vec![],
        constants: vec![],
        dimensions: None,
        interface: None,
        derivatives: vec![],
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

fn blessing() -> bool {
    #[expect(
        clippy::disallowed_methods,
        reason = "blessing is asked for by environment variable"
    )]
    let variable = std::env::var_os("ARTIFACT_BLESS");
    variable.is_some()
}

/// The golden file of this version is written once, when `ARTIFACT_BLESS` is set and there is none.
#[test]
fn golden_file_is_what_the_writer_writes() {
    let name = format!("tests/golden/v{CONTAINER_VERSION}.artifact");
    if blessing() && !path(&name).exists() {
        artifact_container::atomic::atomic_write(&path(&name), &example()).unwrap();
    }
    let expected = std::fs::read(path(&name)).unwrap();
    assert!(
        expected == example(),
        "{name} differs from what the code writes: a format that changes gets a new version"
    );
}

/// Golden files of all versions, by the digest that they were committed with.
const GOLDEN: &[(&str, &str)] = &[
    (
        "0.9",
        "3aa8b3eb06f2feef93be625ab75e12a9112c8472cfbe5a34ed157605a9e49fda",
    ),
    (
        "1.0",
        "3c05ce5cd5bf87f993434e40f2e0b5fcdfe09379642a48743f91865f68d9abf8",
    ),
];

#[test]
fn golden_files_of_every_version_are_read_and_mean_the_same() {
    for (version, digest) in GOLDEN {
        let file = std::fs::read(path(&format!("tests/golden/v{version}.artifact"))).unwrap();
        let container = Container::from_bytes(file).unwrap();
        container.verify_all().unwrap();
        assert_eq!(
            container.file_digest().to_string(),
            *digest,
            "{version} was changed"
        );
        assert_eq!(container.header().window().written.to_string(), *version);
        let mut manifest = container.manifest().clone();
        assert_eq!(
            manifest.producer.released,
            (*version != "0.9").then_some(RELEASED_1_0)
        );
        manifest.producer.released = Some(RELEASED_1_0);
        let constants = std::mem::take(&mut manifest.constants);
        assert_eq!(manifest, example_manifest(), "{version}");
        let (id, _) = container.sections().find(&constants[0].section).unwrap();
        assert_eq!(container.constant_bytes(id).unwrap(), WEIGHTS);
        assert_eq!(container.program().unwrap(), b"module {}");
    }
    assert_eq!(
        GOLDEN.last().unwrap().0,
        CONTAINER_VERSION.to_string(),
        "each version has a golden file"
    );
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
    if blessing() {
        artifact_container::atomic::atomic_write(&path(FORMAT), expected.as_bytes()).unwrap();
    }
    assert!(
        page == expected || blessing(),
        "the example of {FORMAT} is not what the code writes; set ARTIFACT_BLESS=1 to rewrite it"
    );
}

/// [`Forgery`] is made from the page alone.
#[test]
fn second_reader_and_writer_agree() {
    let file = example();
    let read = Forgery::of(&file);
    assert_eq!((read.written, read.oldest_reader), ([1, 0], [1, 0]));
    let sections = read
        .sections
        .iter()
        .map(|section| (section.kind, section.name.as_str()));
    assert_eq!(
        sections.collect::<Vec<_>>(),
        [(2, "program"), (3, "constant/0"), (1, "manifest")]
    );
    assert_eq!(read.sections[0].stored, b"module {}");
    assert_eq!(read.sections[1].stored, WEIGHTS);
    assert_eq!(read.write(), file);
}

#[test]
fn manifest_is_named_messagepack() {
    let manifest = Forgery::of(&example()).section("manifest").stored.clone();
    // A map of ten fields, the first of them `producer`, itself a map of three.
    assert_eq!(manifest[..10], *b"\x8a\xa8producer");
    assert_eq!(manifest[10..16], *b"\x83\xa4name");
    let digest = [b"\xa6digest\xc4\x20".as_slice(), Digest::of(&WEIGHTS).as_bytes()].concat();
    assert!(manifest.windows(digest.len()).any(|window| window == digest));
    assert!(!manifest.windows(7).any(|window| window == b"created"));
}
