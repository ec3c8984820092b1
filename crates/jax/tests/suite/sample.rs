//! Files and values that several tests take.

use std::error::Error as _;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_flatbuffer::{Nested, Reference, TableBuilder, Vector, Writer};
use artifact_jax::{
    AbstractValue, CallingConventionVersion, DType, Error, Exported, Leaf, MemorySpace, PyTree,
    SerializationVersion, Sharding, Values, read,
};
use artifact_proto::jax_exported as schema;

/// Every committed export, with its path below `fixtures/jax_exports`.
pub(crate) fn fixtures() -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for schema in ["schema11", "schema12"] {
        let folder = root().join(schema);
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension() != Some("bin".as_ref()) {
                continue;
            }
            let name = path.strip_prefix(root()).unwrap().display().to_string();
            found.push((name, std::fs::read(&path).unwrap()));
        }
    }
    found.sort();
    assert_eq!(found.len(), 38, "nineteen of each schema");
    found
}

/// One committed export.
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(root().join(name)).unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/jax_exports")
}

pub(crate) fn read_bytes(bytes: &[u8]) -> Result<Exported, Error> {
    read(Blob::new(bytes.to_vec()))
}

/// An error with its causes, in one line.
pub(crate) fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}

/// A value of these dimensions.
pub(crate) fn leaf(shape: &[&str]) -> Leaf {
    let shape = shape.iter().map(|text| text.parse().unwrap()).collect();
    Leaf {
        aval: Arc::new(AbstractValue {
            shape,
            dtype: DType::F32,
            memory_space: MemorySpace::Device,
        }),
        sharding: Sharding::Unspecified,
    }
}

/// A function of `x[b]` that returns one value of the same size.
pub(crate) fn exported() -> Exported {
    let arguments = PyTree::Tuple(vec![PyTree::Leaf]);
    Exported {
        serialization_version: SerializationVersion::NEWEST,
        jax_version: Some("0.12.0".to_owned()),
        function_name: "f".to_owned(),
        inputs: Values {
            tree: PyTree::Tuple(vec![arguments, PyTree::Dict(Vec::new())]),
            leaves: vec![leaf(&["b"])],
        },
        outputs: Values {
            tree: PyTree::Leaf,
            leaves: vec![leaf(&["b"])],
        },
        devices: NonZeroU32::MIN,
        platforms: vec!["cpu".to_owned()],
        ordered_effects: Vec::new(),
        unordered_effects: Vec::new(),
        disabled_checks: Vec::new(),
        module: Blob::new(b"ML\xefR and so on".to_vec()),
        calling_convention_version: CallingConventionVersion(10),
        module_kept_var_idx: vec![0],
        uses_global_constants: true,
        vjp: None,
    }
}

/// A table of a file that is made by hand.
pub(crate) type Table = TableBuilder<schema::Exported>;

/// A file of schema 1, of a function of one value that returns one, with one change.
pub(crate) fn older_file(change: impl FnOnce(&mut Writer<'_>, Table) -> Table) -> Vec<u8> {
    let mut writer = Writer::new();
    let leaf = writer.table(TableBuilder::default());
    let avals = avals(&mut writer, &["4"]);
    let unspecified = writer.table(TableBuilder::default());
    let shardings = writer.vector(&[unspecified]).unwrap();
    let table = TableBuilder::default()
        .set(schema::Exported::SERIALIZATION_VERSION, 2)
        .set(schema::Exported::FUNCTION_NAME, writer.text("f").unwrap())
        .set(schema::Exported::IN_TREE, leaf)
        .set(schema::Exported::IN_AVALS, avals)
        .set(schema::Exported::OUT_TREE, leaf)
        .set(schema::Exported::OUT_AVALS, avals)
        .set(schema::Exported::NR_DEVICES_SHORT, 1)
        .set(schema::Exported::IN_SHARDINGS, shardings)
        .set(schema::Exported::OUT_SHARDINGS, shardings)
        .set(
            schema::Exported::MLIR_MODULE_SERIALIZED,
            writer.bytes(b"ML\xefR").unwrap(),
        )
        .set(schema::Exported::CALLING_CONVENTION_VERSION, 9);
    let table = change(&mut writer, table);
    let root = writer.table(table);
    writer.finish(root).unwrap()
}

/// A list of one value of these dimensions.
pub(crate) fn avals(
    writer: &mut Writer<'_>,
    shape: &[&str],
) -> Reference<Vector<Nested<schema::AbstractValue>>> {
    let texts: Vec<_> = shape.iter().map(|text| writer.text(text).unwrap()).collect();
    let shape = writer.vector(&texts).unwrap();
    let aval = TableBuilder::default()
        .set(schema::AbstractValue::SHAPE, shape)
        .set(schema::AbstractValue::DTYPE, schema::DType::F32);
    let aval = writer.table(aval);
    writer.vector(&[aval]).unwrap()
}
