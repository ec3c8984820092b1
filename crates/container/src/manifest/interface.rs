//! How a program is called from the language that it was written in: what the manifest says beyond the signature.
//!
//! The signature names what the program itself takes and returns. The interface says how its caller sees the same values: as
//! trees of containers, with types, memory spaces and shardings, some of them not passed on. It follows `jax.export`, and
//! adds what that loses. The container keeps it; whoever owns the program's format checks it against the program.
//!
//! Trees are lists of nodes in pre-order, because the nesting of a manifest is bounded; what many leaves share (types,
//! shardings, meshes) is listed once and named by its position.

use serde::{Deserialize, Serialize};

use super::Dim;

/// How a program is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// The name of the function where it was written.
    pub function: String,
    /// The version of the calling convention of `jax.export`.
    pub calling_convention: u32,
    /// What the caller passes.
    pub inputs: Values,
    /// What the caller gets.
    pub outputs: Values,
    /// Positions of the leaves of `inputs` that the program takes, ascending.
    pub kept_inputs: Vec<u32>,
    /// Number of devices.
    pub devices: u32,
    /// Effects for which the program takes and returns a token each, by name.
    pub ordered_effects: Vec<String>,
    /// Effects without tokens, by name.
    pub unordered_effects: Vec<String>,
    /// Checks that the exporter waived.
    pub disabled_checks: Vec<DisabledCheck>,
    /// Whether shapes must be refined before the program is compiled.
    pub uses_global_constants: bool,
    /// The types of leaves, each once.
    pub types: Vec<LeafType>,
    /// The meshes of shardings, each once.
    pub meshes: Vec<Mesh>,
    /// The shardings of leaves, each once.
    pub shardings: Vec<Sharding>,
    /// Inputs of the signature whose buffers the program may reuse, ascending by input.
    pub donations: Vec<Donation>,
    /// Layouts that the program asks for: inputs, then outputs, ascending.
    pub layouts: Vec<Layout>,
    /// The file of `jax.export` that this was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// Arguments or results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Values {
    /// How they are nested: a node, then those below it.
    pub tree: Vec<Node>,
    /// One for each leaf of the tree, in order.
    pub leaves: Vec<Leaf>,
}

/// A node of a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// `leaf`, `none`, `tuple`, `list`, `dict` or `custom`.
    pub kind: String,
    /// Number of nodes right below; absent means none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub children: u32,
    /// The key of each child of a `dict`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// The name under which a `custom` type is registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What a `custom` type needs besides its children.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "bytes")]
    pub data: Vec<u8>,
}

/// An argument or a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaf {
    /// Position in the list of types.
    #[serde(rename = "type")]
    pub leaf_type: u32,
    /// Position in the list of shardings; absent where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharding: Option<u32>,
    /// Whether the type gives way to that of another operand; absent means that it does not, or that nobody knows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weak_type: bool,
}

/// The type of an argument or a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeafType {
    /// Element type, as `jax.export` names it.
    pub dtype: String,
    /// Dimensions, outermost first: numbers, or texts as the exporter printed them.
    pub shape: Vec<Dim>,
    /// `device`, `host` or `any`.
    pub memory_space: String,
}

/// A mesh of devices without its devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mesh {
    /// The axes, the major one first.
    pub axes: Vec<MeshAxis>,
    /// The kind of device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
}

/// An axis of a mesh.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeshAxis {
    /// Its name.
    pub name: String,
    /// Number of devices along it.
    pub size: u32,
    /// Who decides about shardings along it: `auto`, `explicit` or `manual`.
    #[serde(rename = "type")]
    pub axis_type: String,
}

/// A kind of device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// As the device names its kind.
    pub kind: String,
    /// Cores of one device, where it has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Such as `cpu`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
}

/// Which axes of a mesh divide which dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sharding {
    /// Position in the list of meshes.
    pub mesh: u32,
    /// For each leading dimension the axes that divide it, the major one first.
    pub partitions: Vec<Vec<String>>,
    /// Axes along which the value is the same and its gradient a sum, ascending.
    pub reduced: Vec<String>,
    /// Axes along which the value is a sum that was not taken yet, ascending.
    pub unreduced: Vec<String>,
    /// The kind of memory, as the device names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_kind: Option<String>,
}

/// A check that the exporter waived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisabledCheck {
    /// `platform`, `custom_call` or `shape_assertions`.
    pub check: String,
    /// The target of a `custom_call`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// An input whose buffer the program may reuse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Donation {
    /// Position in the inputs of the signature.
    pub input: u32,
    /// Position of the output that takes the buffer; absent where the compiler chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u32>,
}

/// A layout that the program asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// `input` or `output`.
    pub side: String,
    /// Position in the inputs or outputs of the signature.
    pub position: u32,
    /// The layout mode: `default`, `auto`, or the order of the dimensions.
    pub mode: String,
}

/// A file of `jax.export`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Its serialization version.
    pub serialization_version: u32,
    /// The release of JAX that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes references to what it asks"
)]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

mod bytes {
    //! Bytes as MessagePack `bin`.

    use std::fmt;

    use serde::de::{Deserializer, Error, Visitor};
    use serde::ser::Serializer;

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        struct BytesVisitor;

        impl Visitor<'_> for BytesVisitor {
            type Value = Vec<u8>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
        }

        deserializer.deserialize_bytes(BytesVisitor)
    }
}
