//! What a container version promises, as text, rendered from the code. A change of the format changes the text, and tests
//! compare it with what was committed for the version: nobody changes the format without a new version.

use std::fmt::Write as _;
use std::io::Cursor;
use std::path::PathBuf;

use artifact_core::date::Date;
use artifact_core::digest::Digest;
use artifact_core::limit::Limit;
use artifact_forge::Forgery;

use crate::builder::{ConstantType, ContainerBuilder};
use crate::codec;
use crate::container::Container;
use crate::header::{CONTAINER_VERSION, MAGIC, OLDEST_READER, SCHEMA_DIGEST};
use crate::limits;
use crate::manifest::interface::{
    Device, DisabledCheck, Donation, Interface, Layout, Leaf, LeafType, Mesh, MeshAxis, Node, Origin,
    Sharding, Values,
};
use crate::manifest::{
    CustomCall, Derivative, Dim, DimensionVariable, Dimensions, Manifest, Producer, ProgramFormat, Signature,
    Value,
};
use crate::table::{ALIGNMENT_LOGS, Codec, KINDS, SectionKind};
use crate::writer::ConstantSource;

/// With everything that an interface may hold.
fn interface() -> Interface {
    let node = Node {
        kind: "custom".into(),
        children: 1,
        keys: vec!["key".into()],
        name: Some("name".into()),
        data: vec![7],
    };
    let leaf = Leaf {
        leaf_type: 0,
        sharding: Some(0),
        weak_type: true,
    };
    let values = Values {
        tree: vec![node],
        leaves: vec![leaf],
    };
    Interface {
        function: "f".into(),
        calling_convention: 10,
        inputs: values.clone(),
        outputs: values,
        kept_inputs: vec![0],
        devices: 2,
        ordered_effects: vec!["ordered".into()],
        unordered_effects: vec!["unordered".into()],
        disabled_checks: vec![DisabledCheck {
            check: "custom_call".into(),
            target: Some("target".into()),
        }],
        uses_global_constants: true,
        types: vec![LeafType {
            dtype: "f32".into(),
            shape: vec![Dim::Size(2), Dim::Expression("b".into())],
            memory_space: "device".into(),
        }],
        meshes: vec![Mesh {
            axes: vec![MeshAxis {
                name: "x".into(),
                size: 2,
                axis_type: "auto".into(),
            }],
            device: Some(Device {
                kind: "cpu".into(),
                cores: Some(1),
                platform: Some("cpu".into()),
            }),
        }],
        shardings: vec![Sharding {
            mesh: 0,
            partitions: vec![vec!["x".into()]],
            reduced: vec!["y".into()],
            unreduced: vec!["z".into()],
            memory_kind: Some("kind".into()),
        }],
        donations: vec![Donation {
            input: 0,
            output: Some(0),
        }],
        layouts: vec![Layout {
            side: "input".into(),
            position: 0,
            mode: "default".into(),
        }],
        origin: Some(Origin {
            serialization_version: 12,
            release: Some("0.12.0".into()),
        }),
    }
}

fn derivative() -> Derivative {
    let Manifest {
        signature,
        custom_calls,
        dimensions,
        interface,
        ..
    } = manifest();
    Derivative {
        signature,
        custom_calls,
        constants: vec![],
        dimensions,
        interface,
    }
}

/// With everything that a manifest may hold, derivatives apart.
fn manifest() -> Manifest {
    let value = |name: &str, shape| Value {
        name: name.into(),
        dtype: "f32".into(),
        shape,
    };
    let shape = vec![Dim::Size(2), Dim::Expression("b".into()), Dim::Unknown];
    Manifest {
        producer: Producer {
            name: "example".into(),
            version: "1.0.0".into(),
            released: Date::new(2026, 11, 30),
        },
        program: ProgramFormat {
            name: "stablehlo-text".into(),
            version: "1.20.0".into(),
        },
        signature: Signature {
            function: "main".into(),
            inputs: vec![value("x", Some(shape))],
            outputs: vec![value("y", None)],
        },
        platforms: vec!["cpu".into()],
        required_features: vec!["feature".into()],
        calling_convention: 1,
        custom_calls: vec![CustomCall {
            target: "target".into(),
            api_version: 2,
            has_side_effect: true,
            count: 1,
        }],
        custom_call_waivers: vec!["target".into()],
        constants: vec![],
        dimensions: Some(Dimensions {
            variables: vec![DimensionVariable {
                name: "b".into(),
                min: 1,
                max: Some(8),
                multiple_of: 2,
            }],
            constraints: vec!["b >= 2".into()],
        }),
        interface: Some(interface()),
        derivatives: vec![],
        created: Some(0),
        metadata: [("key".to_owned(), "value".to_owned())].into(),
    }
}

/// A file with a section of every kind.
fn file() -> Vec<u8> {
    let constant = vec![7; (1 << 20) + 1];
    let mut builder = ContainerBuilder::new(manifest(), b"program");
    let constant_type = ConstantType {
        dtype: "ui8".into(),
        shape: vec![(1 << 20) + 1],
    };
    let constants = vec![(constant_type.clone(), ConstantSource::Bytes(&constant))];
    builder.derivative(derivative(), b"derivative".to_vec(), constants);
    builder.constant(constant_type, ConstantSource::Bytes(&constant));
    builder.extra(SectionKind::new(0x8000), false, "extra", b"extra".to_vec());
    let mut output = Cursor::new(Vec::new());
    builder.write_to(&mut output).unwrap();
    plain(&output.into_inner())
}

/// The file with every section as it is: how well zstd compresses is no promise.
fn plain(file: &[u8]) -> Vec<u8> {
    let mut parts = Forgery::of(file);
    for section in &mut parts.sections {
        if let Some((length, _)) = section.raw.take() {
            section.stored = codec::decode_zstd(&section.stored, length).unwrap();
            section.codec = 0;
        }
    }
    parts.write()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The keys of a value below `path`, each with its type.
fn keys(path: &str, value: &serde_json::Value, text: &mut String) {
    use serde_json::Value as Json;
    let name = match value {
        Json::Null => "nil",
        Json::Bool(_) => "boolean",
        Json::Number(_) => "number",
        Json::String(_) => "text",
        Json::Array(_) => "array",
        Json::Object(_) => "map",
    };
    let _ = writeln!(text, "  {path} {name}");
    match value {
        // Digests: what they hold is in the sample file.
        Json::Array(items) if items.len() < 32 => items
            .iter()
            .for_each(|item| keys(&format!("{path}[]"), item, text)),
        Json::Object(fields) => fields
            .iter()
            .for_each(|(key, value)| keys(&format!("{path}.{key}"), value, text)),
        _ => {}
    }
}

fn describe() -> String {
    let file = file();
    let container =
        Container::from_bytes_with(file.clone(), &crate::ReadOptions::with_features(["feature"])).unwrap();
    let mut text = format!(
        "container {CONTAINER_VERSION}, oldest reader {OLDEST_READER}\n\nmagic {}\nheader of the sample\n",
        hex(&MAGIC)
    );
    for line in file[..128].chunks(16) {
        let _ = writeln!(text, "  {}", hex(line));
    }
    let _ = writeln!(
        text,
        "\nfirst row of the sample\n  {}",
        hex(&container.sections().program().to_row())
    );
    let _ = writeln!(
        text,
        "alignments 2^{} to 2^{}\n\nkinds",
        ALIGNMENT_LOGS.start(),
        ALIGNMENT_LOGS.end()
    );
    for rule in KINDS {
        let _ = writeln!(
            text,
            "  {} {}: {:?}, required {}, alignment {}, compressed {}, at most {}",
            rule.kind.number(),
            rule.name,
            rule.count,
            rule.required,
            rule.alignment,
            rule.may_be_compressed,
            rule.limit.max()
        );
    }
    let known = (0..=u8::MAX).filter(|number| !matches!(Codec::from_number(*number), Codec::Unknown(_)));
    let codecs = known.map(|number| format!("{number} {}", Codec::from_number(number)));
    let _ = writeln!(
        text,
        "\ncodecs {}\n\nlimits",
        codecs.collect::<Vec<_>>().join(", ")
    );
    for limit in LIMITS {
        let _ = writeln!(text, "  {limit:?}");
    }
    let _ = writeln!(
        text,
        "  window of zstd 2^{}\n\nmanifest",
        limits::ZSTD_WINDOW_LOG_MAX
    );
    keys(
        "manifest",
        &serde_json::to_value(container.manifest()).unwrap(),
        &mut text,
    );
    let _ = writeln!(
        text,
        "\nsample\n  BLAKE3 {}\n  file digest {}\n  content digest {}",
        Digest::of(&file),
        container.file_digest(),
        container.content_digest()
    );
    text
}

const LIMITS: &[Limit] = &[
    limits::SECTIONS,
    limits::TABLE_BYTES,
    limits::SECTION_NAME_BYTES,
    limits::MANIFEST_BYTES,
    limits::PAYLOAD_BYTES,
    limits::DECOMPRESSED_BYTES,
    limits::DERIVATIVES,
    limits::CONSTANT_BYTES,
    limits::CHUNK_DIGESTS_BYTES,
    limits::MANIFEST_DEPTH,
    limits::MANIFEST_VALUES,
    limits::TEXT_BYTES,
    limits::RANK,
];

/// The description of a version is written once, when `ARTIFACT_BLESS` is set and there is none.
#[test]
fn a_change_of_the_format_needs_a_new_version() {
    let name = format!("../../schemas/artifact/container-{CONTAINER_VERSION}.txt");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(&name);
    let found = describe();
    #[expect(
        clippy::disallowed_methods,
        reason = "blessing is asked for by environment variable"
    )]
    if std::env::var_os("ARTIFACT_BLESS").is_some() && !path.exists() {
        crate::atomic::atomic_write(&path, found.as_bytes()).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(
        committed == found,
        "the format is not what {name} says of version {CONTAINER_VERSION}.\nA format that changes gets a new version: see \
         docs/VERSIONING.md.\nNow:\n{found}"
    );
    assert_eq!(
        Digest::of(committed.as_bytes()).to_string(),
        SCHEMA_DIGEST,
        "{name} was changed, or SCHEMA_DIGEST is not that of this version"
    );
}
