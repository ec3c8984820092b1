//! Attributes: the general form in which text and bytecode hold them, and the typed forms that operations hold.
//!
//! An operation's own attributes are read once, from a [`NamedAttributes`] through an [`AttributeReader`], into typed
//! fields; what is left over is discardable and kept as it came.

mod codec;
mod enums;
mod named;
mod numbers;
pub mod sdy;
mod value;

pub use codec::{AttributeError, AttributeReader, AttributeValue, AttributeWriter};
pub use enums::{
    ComparisonDirection, ComparisonType, CustomCallApiVersion, FftType, Precision, ResultAccuracyMode,
    RngAlgorithm, RngDistribution, Transpose,
};
pub use named::NamedAttributes;
pub use numbers::{
    AxisRef, ChannelHandle, ConvDimensionNumbers, DotAlgorithm, DotDimensionNumbers, GatherDimensionNumbers,
    Mesh, MeshAxis, MeshReference, OutputOperandAlias, Padding, PrecisionConfig, RaggedDotDimensionNumbers,
    ReplicaGroupMeshAxes, ReplicaGroups, ResultAccuracy, ScatterDimensionNumbers, SourceTargetPairs,
    SubAxisInfo,
};
pub use sdy::SdyAttribute;
pub use value::{
    Attribute, ByteString, DenseArray, FloatAttribute, OpaqueAttribute, StablehloAttribute, SymbolRef,
};

pub(crate) use codec::op_attributes;
