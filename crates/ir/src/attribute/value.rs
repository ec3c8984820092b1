//! The general form of an attribute.

use std::fmt;
use std::sync::Arc;

use artifact_core::blob::Blob;

use super::NamedAttributes;
use super::enums::{
    ComparisonDirection, ComparisonType, CustomCallApiVersion, FftType, Precision, ResultAccuracyMode,
    RngAlgorithm, RngDistribution, Transpose,
};
use super::numbers::{
    AxisRef, ChannelHandle, ConvDimensionNumbers, DotAlgorithm, DotDimensionNumbers, GatherDimensionNumbers,
    Mesh, MeshAxis, OutputOperandAlias, RaggedDotDimensionNumbers, ReplicaGroupMeshAxes, ResultAccuracy,
    ScatterDimensionNumbers, SubAxisInfo,
};
use super::sdy::SdyAttribute;
use crate::literal::Literal;
use crate::types::{ElementType, Type};

/// Any attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// `unit`: presence is the value.
    Unit,
    /// `true`, `false`.
    Bool(bool),
    /// `3 : i64`. The value fits the type.
    Integer {
        /// The value; unsigned types hold non-negative ones.
        value: i128,
        /// Its type: an integer or `index`.
        ty: ElementType,
    },
    /// `1.5 : f32`.
    Float(FloatAttribute),
    /// `"text"`.
    String(ByteString),
    /// A type.
    Type(Type),
    /// `[a, b]`.
    Array(Vec<Attribute>),
    /// `{a = 1, b}`.
    Dictionary(NamedAttributes),
    /// `@f`, `@mesh::@axis`.
    Symbol(SymbolRef),
    /// `array<i64: 1, 2>`.
    DenseArray(DenseArray),
    /// `dense<...> : tensor<...>`.
    Elements(Literal),
    /// An attribute of the StableHLO or CHLO dialect.
    Stablehlo(StablehloAttribute),
    /// An attribute of the Shardy dialect.
    Sdy(SdyAttribute),
    /// An attribute of a dialect that we do not know, as it was written, `#` included.
    Foreign(Arc<str>),
    /// An attribute of a dialect that we do not know, in its own binary encoding.
    Opaque(OpaqueAttribute),
}

/// Attributes of the StableHLO and CHLO dialects (ODS: `StablehloAttrs.td`, `StablehloEnums.td`, `ChloOps.td`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the attribute that it holds")]
pub enum StablehloAttribute {
    Gather(GatherDimensionNumbers),
    Scatter(ScatterDimensionNumbers),
    Dot(DotDimensionNumbers),
    RaggedDot(RaggedDotDimensionNumbers),
    Conv(ConvDimensionNumbers),
    DotAlgorithm(DotAlgorithm),
    OutputOperandAlias(OutputOperandAlias),
    ChannelHandle(ChannelHandle),
    ResultAccuracy(ResultAccuracy),
    SubAxisInfo(SubAxisInfo),
    AxisRef(AxisRef),
    MeshAxis(MeshAxis),
    Mesh(Mesh),
    ReplicaGroupMeshAxes(ReplicaGroupMeshAxes),
    Bounds(Box<[Option<u64>]>),
    ComparisonDirection(ComparisonDirection),
    ComparisonType(ComparisonType),
    CustomCallApiVersion(CustomCallApiVersion),
    FftType(FftType),
    Precision(Precision),
    ResultAccuracyMode(ResultAccuracyMode),
    RngAlgorithm(RngAlgorithm),
    RngDistribution(RngDistribution),
    Transpose(Transpose),
}

/// An attribute that only its dialect can read. Its bytes refer to tables of the file that it came from, so they can be compared
/// and shown, and not written again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OpaqueAttribute {
    /// The dialect.
    pub dialect: Arc<str>,
    /// The encoding.
    pub bytes: Blob,
}

/// A floating-point attribute: the bits in the format of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatAttribute {
    /// The encoding, in the low bits.
    pub bits: u64,
    /// A floating-point type.
    pub ty: ElementType,
}

impl FloatAttribute {
    /// An `f64` attribute.
    #[must_use]
    pub const fn of_f64(value: f64) -> Self {
        Self {
            bits: value.to_bits(),
            ty: ElementType::F64,
        }
    }

    /// An `f32` attribute.
    #[must_use]
    pub const fn of_f32(value: f32) -> Self {
        Self {
            bits: value.to_bits() as u64,
            ty: ElementType::F32,
        }
    }

    /// The value as `f64`, which holds that of every narrower format exactly.
    #[must_use]
    pub fn value(self) -> f64 {
        crate::float::decode(self.ty, self.bits).unwrap_or(f64::NAN)
    }
}

/// A string of bytes, usually UTF-8 text: MLIR strings may hold any bytes.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ByteString(Arc<[u8]>);

impl ByteString {
    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text, if the bytes are UTF-8.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }
}

impl From<&str> for ByteString {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().into())
    }
}

impl From<&[u8]> for ByteString {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl fmt::Debug for ByteString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

/// A reference to a symbol: `@root`, or `@root::@nested`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SymbolRef {
    /// The symbol in the module.
    pub root: Arc<str>,
    /// Symbols nested in it, outermost first; usually none.
    pub nested: Vec<Arc<str>>,
}

impl SymbolRef {
    /// A reference to a symbol of the module.
    #[must_use]
    pub fn flat(root: impl Into<Arc<str>>) -> Self {
        Self {
            root: root.into(),
            nested: Vec::new(),
        }
    }
}

/// `array<T: ...>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are named as their element types")]
pub enum DenseArray {
    Bool(Vec<bool>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    /// By bit pattern.
    F32(Vec<u32>),
    /// By bit pattern.
    F64(Vec<u64>),
}

impl Attribute {
    /// An `i64` attribute.
    #[must_use]
    pub const fn i64(value: i64) -> Self {
        Self::Integer {
            value: value as i128,
            ty: ElementType::I64,
        }
    }

    /// A string attribute.
    #[must_use]
    pub fn string(text: &str) -> Self {
        Self::String(text.into())
    }

    /// The text of a string attribute.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(string) => string.as_str(),
            _ => None,
        }
    }

    /// The value of an integer attribute, if it fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Integer { value, .. } => i64::try_from(*value).ok(),
            _ => None,
        }
    }
}
