//! Compound attributes of the dialect (ODS: `StablehloAttrs.td`) and the small typed forms of general ones.

use std::sync::Arc;

use super::{
    Attribute, ByteString, DenseArray, Precision, ResultAccuracyMode, StablehloAttribute, SymbolRef,
};
use crate::attribute::codec::{AttributeValue, stablehlo_attribute_values};
use crate::literal::Literal;
use crate::types::{ElementType, TensorType, Type};
use artifact_core::blob::Blob;

/// How `gather` maps indices and slices to dimensions (spec, "gather").
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GatherDimensionNumbers {
    /// Result dimensions that hold slices.
    pub offset_dims: Vec<i64>,
    /// Operand dimensions of slice size 1 that are dropped.
    pub collapsed_slice_dims: Vec<i64>,
    /// Operand dimensions that are batched with the indices.
    pub operand_batching_dims: Vec<i64>,
    /// Index dimensions that are batched with the operand.
    pub start_indices_batching_dims: Vec<i64>,
    /// Operand dimension of each component of an index.
    pub start_index_map: Vec<i64>,
    /// Index dimension that holds the components.
    pub index_vector_dim: i64,
}

/// How `scatter` maps indices and updates to dimensions (spec, "scatter").
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScatterDimensionNumbers {
    /// Update dimensions that hold windows.
    pub update_window_dims: Vec<i64>,
    /// Input dimensions of window size 1 that are absent from updates.
    pub inserted_window_dims: Vec<i64>,
    /// Input dimensions that are batched with the indices.
    pub input_batching_dims: Vec<i64>,
    /// Index dimensions that are batched with the input.
    pub scatter_indices_batching_dims: Vec<i64>,
    /// Input dimension of each component of an index.
    pub scatter_dims_to_operand_dims: Vec<i64>,
    /// Index dimension that holds the components.
    pub index_vector_dim: i64,
}

/// Batching and contracting dimensions of `dot_general`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DotDimensionNumbers {
    /// Batching dimensions of the left side.
    pub lhs_batching_dimensions: Vec<i64>,
    /// Batching dimensions of the right side, in the same order.
    pub rhs_batching_dimensions: Vec<i64>,
    /// Contracting dimensions of the left side.
    pub lhs_contracting_dimensions: Vec<i64>,
    /// Contracting dimensions of the right side, in the same order.
    pub rhs_contracting_dimensions: Vec<i64>,
}

/// Dimensions of `chlo.ragged_dot`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RaggedDotDimensionNumbers {
    /// As in [`DotDimensionNumbers`].
    pub dot: DotDimensionNumbers,
    /// The left dimension that is cut into groups.
    pub lhs_ragged_dimensions: Vec<i64>,
    /// The right dimension that counts the groups.
    pub rhs_group_dimensions: Vec<i64>,
}

/// The role of each dimension of `convolution`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields are named as the specification names them")]
pub struct ConvDimensionNumbers {
    pub input_batch_dimension: i64,
    pub input_feature_dimension: i64,
    pub input_spatial_dimensions: Vec<i64>,
    pub kernel_input_feature_dimension: i64,
    pub kernel_output_feature_dimension: i64,
    pub kernel_spatial_dimensions: Vec<i64>,
    pub output_batch_dimension: i64,
    pub output_feature_dimension: i64,
    pub output_spatial_dimensions: Vec<i64>,
}

/// Constraints on the algorithm of `dot_general` (VHLO 1.6).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields are named as the specification names them")]
pub struct DotAlgorithm {
    pub lhs_precision_type: Type,
    pub rhs_precision_type: Type,
    pub accumulation_type: Type,
    pub lhs_component_count: i64,
    pub rhs_component_count: i64,
    pub num_primitive_operations: i64,
    pub allow_imprecise_accumulation: bool,
}

/// Which operand of a custom call an output shares its buffer with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields are named as the specification names them")]
pub struct OutputOperandAlias {
    pub output_tuple_indices: Vec<i64>,
    pub operand_index: i64,
    pub operand_tuple_indices: Vec<i64>,
}

/// Identifies a channel between processes: `handle` and the kind of transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChannelHandle {
    /// The channel's number; 0 or less for none.
    pub handle: i64,
    /// 0 invalid, 1 device to device, 2 device to host, 3 host to device.
    pub kind: i64,
}

/// The accuracy asked of a transcendental operation (VHLO 1.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResultAccuracy {
    /// Absolute tolerance, as the bits of an `f64`.
    pub atol_bits: u64,
    /// Relative tolerance, as the bits of an `f64`.
    pub rtol_bits: u64,
    /// Units in the last place.
    pub ulps: i64,
    /// Whether the tolerances count at all.
    pub mode: ResultAccuracyMode,
}

impl ChannelHandle {
    /// Whether there is no channel: its number is 0.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.handle == 0
    }
}

impl Default for ResultAccuracy {
    fn default() -> Self {
        Self {
            atol_bits: 0,
            rtol_bits: 0,
            ulps: 0,
            mode: ResultAccuracyMode::Default,
        }
    }
}

/// The part of an axis that a sub-axis takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields are named as the dialect names them")]
pub struct SubAxisInfo {
    pub pre_size: i64,
    pub size: i64,
}

/// A whole axis of a mesh, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields are named as the dialect names them")]
pub struct AxisRef {
    pub name: ByteString,
    pub sub_axis_info: Option<SubAxisInfo>,
}

/// An axis of a mesh.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields are named as the dialect names them")]
pub struct MeshAxis {
    pub name: ByteString,
    pub size: i64,
}

/// A named arrangement of devices.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mesh {
    /// The axes, outermost first.
    pub axes: Vec<MeshAxis>,
    /// The order of devices, unless it is 0, 1, 2...
    pub device_ids: Option<Literal>,
}

/// Where the mesh of replica groups is: by name or in place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants say it")]
pub enum MeshReference {
    Symbol(SymbolRef),
    Inline(Mesh),
}

/// Replica groups as all devices that differ along some axes of a mesh (VHLO 1.16).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReplicaGroupMeshAxes {
    /// The mesh.
    pub mesh: MeshReference,
    /// The axes along which the processes of a group differ.
    pub axes: Vec<AxisRef>,
}

/// Groups of processes that take part in a collective together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReplicaGroups {
    /// A matrix of process numbers, one row a group, -1 where a row is shorter.
    Dense(Literal),
    /// All processes along some mesh axes.
    MeshAxes(Box<ReplicaGroupMeshAxes>),
}

impl AttributeValue for ReplicaGroups {
    const EXPECTED: &'static str = "a rank-2 tensor of 64-bit integers, or replica_group_mesh_axes";

    fn from_attribute(attribute: &Attribute) -> Option<Self> {
        match attribute {
            Attribute::Elements(literal) if is_matrix_of_i64(literal) => Some(Self::Dense(literal.clone())),
            Attribute::Stablehlo(StablehloAttribute::ReplicaGroupMeshAxes(axes)) => {
                Some(Self::MeshAxes(Box::new(axes.clone())))
            }
            _ => None,
        }
    }

    fn to_attribute(&self) -> Attribute {
        match self {
            Self::Dense(literal) => Attribute::Elements(literal.clone()),
            Self::MeshAxes(axes) => {
                Attribute::Stablehlo(StablehloAttribute::ReplicaGroupMeshAxes((**axes).clone()))
            }
        }
    }
}

fn is_matrix_of_i64(literal: &Literal) -> bool {
    literal.ty().element.as_plain() == Some(ElementType::I64) && literal.ty().rank() == 2
}

/// Longest list of pairs that a module may hold: no mesh and no tensor rank comes near it.
const PAIRS_MAX: usize = 1 << 20;

macro_rules! pair_lists {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub Vec<[i64; 2]>);

        impl AttributeValue for $name {
            const EXPECTED: &'static str = "an N x 2 tensor of 64-bit integers";

            fn from_attribute(attribute: &Attribute) -> Option<Self> {
                match attribute {
                    Attribute::Elements(literal) if is_matrix_of_i64(literal) => {
                        // A list of no pairs may be written with any second size.
                        let columns = literal.ty().dims[1].as_static()?;
                        if columns != 2 && literal.element_count() != 0 {
                            return None;
                        }
                        let flat = literal.to_i64s(2 * PAIRS_MAX)?;
                        Some(Self(flat.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()))
                    }
                    _ => None,
                }
            }

            fn to_attribute(&self) -> Attribute {
                Attribute::Elements(matrix_of_pairs(&self.0))
            }
        }
    )*};
}

pair_lists! {
    /// Low and high padding of each spatial dimension; negative padding trims.
    Padding;
    /// From which process to which.
    SourceTargetPairs;
}

fn matrix_of_pairs(pairs: &[[i64; 2]]) -> Literal {
    let ty = Arc::new(TensorType::of_static(&[pairs.len() as u64, 2], ElementType::I64));
    let bytes: Vec<u8> = pairs
        .iter()
        .flatten()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let splat = pairs
        .first()
        .filter(|first| pairs.iter().flatten().all(|value| *value == first[0]));
    let literal = match splat {
        Some(first) => Literal::splat(ty, &first[0].to_le_bytes()),
        None => Literal::dense(ty, Blob::new(bytes)),
    };
    // The shape was made to fit; an empty list is what is left to say if it did not.
    literal.unwrap_or_else(|_| Literal::of_i64s(&[]))
}

/// The precision asked for each operand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PrecisionConfig(pub Vec<Precision>);

impl PrecisionConfig {
    /// Whether every precision is the default one.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.0.iter().all(|precision| *precision == Precision::Default)
    }
}

impl Padding {
    /// Whether nothing is padded.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|pair| *pair == [0, 0])
    }
}

impl AttributeValue for PrecisionConfig {
    const EXPECTED: &'static str = "an array of precisions";

    fn from_attribute(attribute: &Attribute) -> Option<Self> {
        let Attribute::Array(items) = attribute else {
            return None;
        };
        items
            .iter()
            .map(Precision::from_attribute)
            .collect::<Option<Vec<_>>>()
            .map(Self)
    }

    fn to_attribute(&self) -> Attribute {
        Attribute::Array(self.0.iter().map(Precision::to_attribute).collect())
    }
}

stablehlo_attribute_values! {
    GatherDimensionNumbers as Gather,
    ScatterDimensionNumbers as Scatter,
    DotDimensionNumbers as Dot,
    RaggedDotDimensionNumbers as RaggedDot,
    ConvDimensionNumbers as Conv,
    DotAlgorithm as DotAlgorithm,
    OutputOperandAlias as OutputOperandAlias,
    ChannelHandle as ChannelHandle,
    ResultAccuracy as ResultAccuracy,
}

impl AttributeValue for Vec<i64> {
    const EXPECTED: &'static str = "an i64 dense array, `array<i64: ...>`";

    fn from_attribute(attribute: &Attribute) -> Option<Self> {
        match attribute {
            Attribute::DenseArray(DenseArray::I64(values)) => Some(values.clone()),
            _ => None,
        }
    }

    fn to_attribute(&self) -> Attribute {
        Attribute::DenseArray(DenseArray::I64(self.clone()))
    }
}

impl AttributeValue for Vec<i32> {
    const EXPECTED: &'static str = "an i32 dense array, `array<i32: ...>`";

    fn from_attribute(attribute: &Attribute) -> Option<Self> {
        match attribute {
            Attribute::DenseArray(DenseArray::I32(values)) => Some(values.clone()),
            _ => None,
        }
    }

    fn to_attribute(&self) -> Attribute {
        Attribute::DenseArray(DenseArray::I32(self.clone()))
    }
}

impl AttributeValue for Vec<bool> {
    const EXPECTED: &'static str = "a boolean dense array, `array<i1: ...>`";

    fn from_attribute(attribute: &Attribute) -> Option<Self> {
        match attribute {
            Attribute::DenseArray(DenseArray::Bool(values)) => Some(values.clone()),
            _ => None,
        }
    }

    fn to_attribute(&self) -> Attribute {
        Attribute::DenseArray(DenseArray::Bool(self.clone()))
    }
}
