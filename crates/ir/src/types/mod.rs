//! Types: elements, dimensions, tensors and what else a value can be.

mod dim;
mod element;
mod quantized;
mod tensor;

use std::fmt;
use std::sync::Arc;

pub use dim::Dim;
pub use element::{ElementClass, ElementType, FloatFormat, NanEncoding};
pub use quantized::{QuantizationParameters, QuantizedType};
pub use tensor::{Element, Encoding, TensorType};

/// The type of a value, or of an attribute. Cloning is cheap: compound types are shared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `tensor<2x?xf32>`: the type of almost every value (spec, "Types").
    Tensor(Arc<TensorType>),
    /// `tensor<*xf32>`: read so that it can be refused with a good message; no operation computes with it.
    UnrankedTensor(Element),
    /// `memref<2xf32>`: a mutable buffer (VHLO 1.13).
    Buffer(Arc<TensorType>),
    /// `tuple<...>`.
    Tuple(Arc<[Type]>),
    /// `!stablehlo.token`.
    Token,
    /// `!stablehlo.future<...>`: the pending results of an asynchronous operation (VHLO 1.15).
    Future(Arc<[Type]>),
    /// `(A, B) -> C`, in attributes.
    Function(Arc<FunctionType>),
    /// A bare element type such as `i64`: the type of an attribute; no operation computes with values of it.
    Scalar(ElementType),
    /// `none`.
    None,
    /// A type of a dialect that we do not know, as it was written, `!` included.
    Foreign(Arc<str>),
}

impl Type {
    /// A tensor type of static shape.
    #[must_use]
    pub fn tensor(shape: &[u64], element: ElementType) -> Self {
        Self::Tensor(Arc::new(TensorType::of_static(shape, element)))
    }

    /// The tensor type, if it is one.
    #[must_use]
    pub fn as_tensor(&self) -> Option<&Arc<TensorType>> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

impl From<TensorType> for Type {
    fn from(tensor: TensorType) -> Self {
        Self::Tensor(Arc::new(tensor))
    }
}

/// The type of a function: `(inputs) -> (results)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionType {
    /// Argument types in order.
    pub inputs: Vec<Type>,
    /// Result types in order.
    pub results: Vec<Type>,
}

/// Writes items separated by `, `.
pub(crate) fn comma_separated<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    items: impl IntoIterator<Item = T>,
) -> fmt::Result {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

impl fmt::Display for FunctionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        comma_separated(f, &self.inputs)?;
        f.write_str(") -> ")?;
        // A single result stands without parentheses unless it is itself a function type.
        match self.results.as_slice() {
            [result] if !matches!(result, Type::Function(_)) => write!(f, "{result}"),
            results => {
                f.write_str("(")?;
                comma_separated(f, results)?;
                f.write_str(")")
            }
        }
    }
}

/// MLIR's spelling, as StableHLO text has it.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tensor(tensor) => write!(f, "{tensor}"),
            Self::UnrankedTensor(element) => write!(f, "tensor<*x{element}>"),
            Self::Buffer(tensor) => {
                f.write_str("memref<")?;
                tensor.fmt_contents(f)?;
                f.write_str(">")
            }
            Self::Tuple(items) => {
                f.write_str("tuple<")?;
                comma_separated(f, items.iter())?;
                f.write_str(">")
            }
            Self::Token => f.write_str("!stablehlo.token"),
            Self::Future(items) => {
                f.write_str("!stablehlo.future<")?;
                comma_separated(f, items.iter())?;
                f.write_str(">")
            }
            Self::Function(function) => write!(f, "{function}"),
            Self::Scalar(element) => write!(f, "{element}"),
            Self::None => f.write_str("none"),
            Self::Foreign(text) => f.write_str(text),
        }
    }
}
