//! What is written is read, equal input gives equal bytes, and equal constants are stored once.

use std::io::{Cursor, Read};

use crate::sample::{build, bytes_type, chain, content, manifest};
use artifact_container::compat::IncompatibleKind;
use artifact_container::manifest::{Derivative, Manifest, ProgramPart};
use artifact_container::{
    Codec, ConstantSource, Container, ContainerBuilder, ErrorKind, ReadOptions, SectionKind,
};
use artifact_core::digest::Digest;
use artifact_forge::{Forgery, Section};

const MIB: usize = 1 << 20;

/// Gives one byte at a time where `Read` allows more, so that cuts do not matter.
struct Dribble<'a>(&'a [u8]);

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = buffer.len().min(self.0.len()).min(65_537);
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

/// Constants of none, one and several chunks, one of them twice; an extra section; a program worth compressing.
fn full<'a>(program: &'a [u8], constants: &'a [Vec<u8>], streamed: bool) -> ContainerBuilder<'a> {
    let mut manifest = manifest();
    manifest.created = Some(1_700_000_000);
    let mut builder = ContainerBuilder::new(manifest, program);
    for constant in constants {
        let source = if streamed {
            ConstantSource::Reader(Box::new(Dribble(constant)))
        } else {
            ConstantSource::Bytes(constant)
        };
        builder.constant(bytes_type(constant.len()), source);
    }
    builder.extra(
        SectionKind::new(0x8001),
        false,
        "notes",
        b"unknown to every reader".to_vec(),
    );
    builder
}

fn inputs() -> (Vec<u8>, Vec<Vec<u8>>) {
    let program = b"stablehlo.add ".repeat(2000);
    let lengths = [5000, 3 * MIB + 17, 0, MIB, MIB + 1];
    let mut constants: Vec<_> = (0..)
        .zip(lengths)
        .map(|(seed, length)| content(length, seed))
        .collect();
    constants.push(constants[1].clone());
    (program, constants)
}

#[test]
fn everything_comes_back() {
    let (program, constants) = inputs();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.artifact");
    let written = full(&program, &constants, false).write_file(&path).unwrap();
    let in_memory = Container::from_bytes(std::fs::read(&path).unwrap()).unwrap();
    for container in [Container::open(&path).unwrap(), in_memory] {
        assert_eq!(container.file_digest(), written.file_digest);
        assert_eq!(container.content_digest(), written.content_digest);
        assert_eq!(container.header().file_length(), written.file_length);
        assert_eq!(container.program().unwrap(), program);
        assert_eq!(container.sections().program().codec, Codec::Zstd);
        let mut expected = manifest();
        expected.created = Some(1_700_000_000);
        expected.constants.clone_from(&container.manifest().constants);
        assert_eq!(*container.manifest(), expected);
        assert_eq!(container.manifest().constants.len(), constants.len());
        for (index, (constant, bytes)) in container.manifest().constants.iter().zip(&constants).enumerate() {
            assert_eq!(constant.argument as usize, 1 + index);
            let (id, section) = container.sections().find(&constant.section).unwrap();
            assert_eq!((section.offset % 4096, section.codec), (0, Codec::None));
            let mut copy = vec![0; bytes.len()];
            container.read_constant(id, &mut copy).unwrap();
            assert!(
                copy == *bytes && container.constant_bytes(id).unwrap() == bytes,
                "constant {index}"
            );
        }
        let (id, notes) = container.sections().find("notes").unwrap();
        assert_eq!((notes.kind.number(), notes.required), (0x8001, false));
        assert_eq!(container.section_bytes(id).unwrap(), b"unknown to every reader");
        container.verify_all().unwrap();
    }
}

#[test]
fn equal_input_gives_equal_bytes_and_one_section() {
    let (program, constants) = inputs();
    let file = build(full(&program, &constants, false));
    assert!(file == build(full(&program, &constants, false)));
    assert!(
        file == build(full(&program, &constants, true)),
        "a stream is written as memory is"
    );
    let container = Container::from_bytes(file).unwrap();
    let sections = container
        .sections()
        .iter()
        .filter(|(_, row)| row.kind == SectionKind::CONSTANT);
    assert_eq!(
        sections.count(),
        constants.len() - 1,
        "the equal constant is stored once"
    );
    let stored = &container.manifest().constants;
    assert_eq!(
        (&stored[1].section, stored[1].digest),
        (&stored[5].section, stored[5].digest)
    );
}

#[test]
fn a_range_of_a_constant_verifies_only_its_chunks() {
    let constant = content(4 * MIB, 1);
    let mut builder = ContainerBuilder::new(manifest(), b"p");
    builder.constant(bytes_type(constant.len()), ConstantSource::Bytes(&constant));
    let mut file = build(builder);
    let offset = 4096;
    assert_eq!(file[offset..offset + MIB], constant[..MIB]);
    file[offset + 2 * MIB + 5] ^= 1;
    let container = Container::from_bytes(file).unwrap();
    let (id, _) = container.sections().find("constant/0").unwrap();
    let mib = MIB as u64;
    let before = container.constant_range(id, 10..2 * mib).unwrap();
    assert!(before == &constant[10..2 * MIB]);
    assert_eq!(
        container.constant_range(id, 3 * mib..4 * mib).unwrap(),
        &constant[3 * MIB..]
    );
    assert!(container.constant_range(id, 7..7).unwrap().is_empty());
    for range in [2 * mib..2 * mib + 1, 0..4 * mib] {
        let error = container.constant_range(id, range).unwrap_err();
        assert!(
            chain(&error).contains("`constant/0` is damaged within the 1048576 bytes from its byte 2097152")
        );
    }
    let outside = container.constant_range(id, 0..4 * mib + 1).unwrap_err();
    assert!(
        chain(&outside).contains("0 to 4194305 are not within it"),
        "{}",
        chain(&outside)
    );
    assert!(container.read_constant(id, &mut vec![0; constant.len()]).is_err());
    assert!(container.read_constant(id, &mut [0; 3]).is_err());
    assert!(container.verify_all().is_err());
}

#[test]
fn required_features_are_refused_by_name() {
    let mut manifest = manifest();
    manifest.required_features = vec!["teleport".into(), "fold".into()];
    let file = build(ContainerBuilder::new(manifest, b"p"));
    let refused = |features: &[&str]| {
        let options = ReadOptions::with_features(features.iter().copied());
        Container::from_bytes_with(file.clone(), &options).map(drop)
    };
    let error = refused(&["fold"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Upgrade);
    assert!(
        chain(&error).contains("requires `teleport`, which"),
        "{}",
        chain(&error)
    );
    assert_eq!(
        error.incompatibility().unwrap().kind(),
        IncompatibleKind::UnknownFeature
    );
    assert!(chain(&refused(&[]).unwrap_err()).contains("`fold`, `teleport`"));
    assert!(refused(&["fold", "teleport", "more"]).is_ok());
    Container::from_bytes_with(file.clone(), &ReadOptions::describe_only()).unwrap();
}

#[test]
fn unknown_sections_survive_a_rewrite_and_required_ones_refuse() {
    let (program, constants) = inputs();
    let old = Container::from_bytes(build(full(&program, &constants[..1], false))).unwrap();
    let mut builder = ContainerBuilder::new(old.manifest().clone(), b"another program");
    builder.carry_over(&old).unwrap();
    let new = Container::from_bytes(build(builder)).unwrap();
    let (id, _) = new.sections().find("notes").unwrap();
    assert_eq!(new.section_bytes(id).unwrap(), b"unknown to every reader");
    assert!(
        new.manifest().constants.is_empty(),
        "constants are what the builder was given"
    );

    let mut builder = ContainerBuilder::new(manifest(), b"p");
    builder.extra(SectionKind::new(0x8002), true, "vital", vec![1]);
    let error = builder.write_to(&mut Cursor::new(Vec::new())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Upgrade, "{}", chain(&error));
}

/// Nothing of a section that is not known is decompressed, or compressed again, or dropped.
#[test]
fn unknown_sections_are_copied_as_they_are_stored() {
    let mut old = Forgery::of(&build(ContainerBuilder::new(manifest(), b"p")));
    let compressed = zstd::bulk::compress(&[7; 5000], 1).unwrap();
    let mut section = Section::plain(0x8001, 0, "compressed", &compressed);
    (section.codec, section.raw) = (1, Some((5000, Digest::of(&[7; 5000]))));
    let mut later = Section::plain(0x8002, 0, "later", b"of a codec that nobody knows");
    (later.codec, later.raw) = (9, Some((1 << 40, Digest::of(b""))));
    old.sections.extend([section, later]);
    let container = Container::from_bytes(old.write()).unwrap();
    let mut builder = ContainerBuilder::new(container.manifest().clone(), b"p");
    builder.carry_over(&container).unwrap();
    let mut new = Forgery::of(&build(builder));
    for name in ["compressed", "later"] {
        assert_eq!(new.section(name), old.section(name));
    }
}

/// A section is limited by itself; together they must not take a reader's time for hours.
#[test]
fn what_sections_decompress_to_is_limited_together() {
    let with = |count: usize| {
        let mut file = Forgery::of(&build(ContainerBuilder::new(manifest(), b"p")));
        let bomb = |index| {
            let mut section = Section::plain(0x8001, 0, &format!("bomb/{index}"), b"frame");
            (section.codec, section.raw) = (1, Some((1 << 30, Digest::of(b""))));
            section
        };
        file.sections.extend((0..count).map(bomb));
        Container::from_bytes(file.write())
    };
    assert!(with(4).is_ok());
    let error = with(5).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(
        chain(&error).contains("what the compressed sections hold together"),
        "{}",
        chain(&error)
    );
}

fn derivative() -> Derivative {
    let Manifest {
        signature,
        custom_calls,
        ..
    } = manifest();
    Derivative {
        signature,
        custom_calls,
        constants: vec![],
        dimensions: None,
        interface: None,
    }
}

/// In order, and with constants of their own, one of which they share with the program.
fn with_derivatives() -> Vec<u8> {
    let constant = |bytes| (bytes_type(3), ConstantSource::Bytes(bytes));
    let mut builder = ContainerBuilder::new(manifest(), b"program");
    builder.derivative(derivative(), b"first".to_vec(), vec![]);
    let constants = vec![constant(b"own"), constant(b"new")];
    builder.derivative(derivative(), b"second ".repeat(1000), constants);
    builder.constant(bytes_type(3), ConstantSource::Bytes(b"own"));
    build(builder)
}

#[test]
fn derivatives_come_back() {
    let container = Container::from_bytes(with_derivatives()).unwrap();
    let derivatives = container.sections().derivatives();
    let read = |(id, section): (_, &artifact_container::Section)| {
        (section.name.clone(), container.section_bytes(id).unwrap().len())
    };
    assert_eq!(
        derivatives.map(read).collect::<Vec<_>>(),
        [("vjp/1".to_owned(), 5), ("vjp/2".to_owned(), 7000)]
    );
    let constants = |part: ProgramPart<'_>| -> Vec<(u32, String)> {
        let constants = part.constants.iter();
        constants
            .map(|constant| (constant.argument, constant.section.clone()))
            .collect()
    };
    let constants: Vec<_> = container.manifest().parts().map(constants).collect();
    let named = |argument, section: &str| (argument, section.to_owned());
    assert_eq!(
        constants,
        [
            vec![named(1, "constant/0")],
            vec![],
            vec![named(1, "constant/0"), named(2, "constant/1")]
        ]
    );
}

#[test]
fn derivatives_that_do_not_fit_are_refused() {
    let refused = |forged: &Forgery| chain(&Container::from_bytes(forged.write()).unwrap_err());
    let file = with_derivatives();
    let mut without = Forgery::of(&file);
    without.sections.retain(|section| section.name != "vjp/2");
    let message = refused(&without);
    assert!(
        message.contains("has 1 derivatives, its manifest describes 2"),
        "{message}"
    );
    let mut skipped = Forgery::of(&file);
    skipped.section("vjp/2").name = "vjp/3".into();
    let message = refused(&skipped);
    assert!(
        message.contains("named `vjp/3` where `vjp/2` follows"),
        "{message}"
    );
    let unused = Forgery::of(&file).manifest(b"\xaaconstant/1", b"\xaaconstant/0");
    let message = refused(&unused);
    assert!(
        message.contains("constant for argument 2 names no constant section"),
        "{message}"
    );
    let misplaced = Forgery::of(&file).manifest(b"argument\x02", b"argument\x03");
    let message = refused(&misplaced);
    assert!(
        message.contains("stands for argument 3 where 2 follows"),
        "{message}"
    );
}

/// What a later version adds in a place that this one cannot decode is refused by the name of its feature.
#[test]
fn a_feature_is_named_before_what_it_changes_is_decoded() {
    let file = build(ContainerBuilder::new(manifest(), b"p"));
    let later = Forgery::of(&file).manifest(b"signature", b"signatuRe");
    let error = Container::from_bytes(later.write()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FixInput);
    let later = later.manifest(b"required_features\x90", b"required_features\x91\xa4moon");
    for options in [ReadOptions::default(), ReadOptions::describe_only()] {
        let error = Container::from_bytes_with(later.write(), &options).unwrap_err();
        assert_eq!(
            error.incompatibility().unwrap().kind(),
            IncompatibleKind::UnknownFeature
        );
        assert!(chain(&error).contains("`moon`"), "{}", chain(&error));
    }
}

/// A newer minor version is read and not rewritten: a field that this writer does not know would be lost.
#[test]
fn a_newer_minor_version_is_read_and_not_rewritten() {
    let mut newer = Forgery::of(&build(ContainerBuilder::new(manifest(), b"p")));
    newer.written = [1, 7];
    let container = Container::from_bytes(newer.write()).unwrap();
    let mut builder = ContainerBuilder::new(container.manifest().clone(), b"p");
    let error = builder.carry_over(&container).unwrap_err();
    assert_eq!(
        error.incompatibility().unwrap().kind(),
        IncompatibleKind::WriterTooOld
    );
}

#[test]
fn the_writer_refuses_what_no_reader_accepts() {
    let refused = |change: fn(&mut Manifest), extra: Option<(SectionKind, &str)>| {
        let mut manifest = manifest();
        change(&mut manifest);
        let mut builder = ContainerBuilder::new(manifest, b"p");
        if let Some((kind, name)) = extra {
            builder.extra(kind, false, name, vec![]);
        }
        chain(&builder.write_to(&mut Cursor::new(Vec::new())).unwrap_err())
    };
    let cases: [(String, &str); 8] = [
        (
            refused(|m| m.producer.name.clear(), None),
            "`producer.name` is empty",
        ),
        (
            refused(|m| m.signature.inputs[0].name.clear(), None),
            "input 0 has no name",
        ),
        (
            refused(|m| m.signature.outputs.push(m.signature.outputs[0].clone()), None),
            "two outputs are named `y`",
        ),
        (
            refused(|m| m.metadata = [("k".into(), "v".repeat(65_537))].into(), None),
            "a text in the manifest is 65537 bytes, over",
        ),
        (
            refused(
                |m| {
                    m.signature.inputs[0].shape = Some(vec![artifact_container::manifest::Dim::Unknown; 1025])
                },
                None,
            ),
            "rank of a value is 1025",
        ),
        (
            refused(|_| (), Some((SectionKind::PROGRAM, "x"))),
            "cannot be added as program",
        ),
        (
            refused(|_| (), Some((SectionKind::new(0x8000), "program"))),
            "two sections are named `program`",
        ),
        (
            refused(|_| (), Some((SectionKind::new(0x8000), "päth"))),
            "the name of section 1",
        ),
    ];
    for (message, expected) in cases {
        assert!(message.contains(expected), "{message}\ndoes not say: {expected}");
    }
}
