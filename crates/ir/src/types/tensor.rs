//! Tensor types.

use std::fmt;
use std::sync::Arc;

use super::{Dim, ElementType, QuantizedType};

/// The element of a tensor: plain or quantized.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// A number of some width.
    Plain(ElementType),
    /// A uniform quantized number.
    Quantized(Arc<QuantizedType>),
}

impl Element {
    /// The plain element type, if it is not quantized.
    #[must_use]
    pub const fn as_plain(&self) -> Option<ElementType> {
        match self {
            Self::Plain(element) => Some(*element),
            Self::Quantized(_) => None,
        }
    }

    /// The quantized type, if it is one.
    #[must_use]
    pub const fn as_quantized(&self) -> Option<&Arc<QuantizedType>> {
        match self {
            Self::Plain(_) => None,
            Self::Quantized(quantized) => Some(quantized),
        }
    }

    /// The type of what lies in memory: the element itself, or the storage type of a quantized one.
    #[must_use]
    pub fn storage(&self) -> ElementType {
        match self {
            Self::Plain(element) => *element,
            Self::Quantized(quantized) => quantized.storage,
        }
    }

    /// The type of the number that is meant: the element itself, or the expressed type of a quantized one.
    #[must_use]
    pub fn expressed(&self) -> ElementType {
        match self {
            Self::Plain(element) => *element,
            Self::Quantized(quantized) => quantized.expressed,
        }
    }
}

impl From<ElementType> for Element {
    fn from(element: ElementType) -> Self {
        Self::Plain(element)
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(element) => write!(f, "{element}"),
            Self::Quantized(quantized) => write!(f, "{quantized}"),
        }
    }
}

/// What a tensor type says beyond shape and element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `#stablehlo.bounds<?, 4>` or `#stablehlo.type_extensions<bounds = [?, 4]>`: an upper bound for each unknown
    /// dimension, `None` where there is none.
    Bounds(Box<[Option<u64>]>),
    /// An attribute of a dialect that we do not know, as it was written.
    Foreign(Arc<str>),
}

/// Shape and element of a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Size of each dimension, outermost first.
    pub dims: Box<[Dim]>,
    /// Type of each element.
    pub element: Element,
    /// Bounds or a foreign encoding.
    pub encoding: Option<Encoding>,
}

impl TensorType {
    /// A tensor type without an encoding.
    #[must_use]
    pub fn new(dims: impl Into<Box<[Dim]>>, element: impl Into<Element>) -> Self {
        Self {
            dims: dims.into(),
            element: element.into(),
            encoding: None,
        }
    }

    /// A tensor type of static shape.
    #[must_use]
    pub fn of_static(shape: &[u64], element: impl Into<Element>) -> Self {
        Self::new(
            shape.iter().map(|size| Dim::Static(*size)).collect::<Box<[_]>>(),
            element,
        )
    }

    /// The same shape and encoding with another element.
    #[must_use]
    pub fn with_element(&self, element: impl Into<Element>) -> Self {
        Self {
            element: element.into(),
            ..self.clone()
        }
    }

    /// Number of dimensions.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Whether every size is a number.
    #[must_use]
    pub fn is_static(&self) -> bool {
        self.dims.iter().all(Dim::is_static)
    }

    /// The shape, when every size is a number.
    #[must_use]
    pub fn static_shape(&self) -> Option<Vec<u64>> {
        self.dims.iter().map(Dim::as_static).collect()
    }

    /// Number of elements; `None` when a size is not a number or the product does not fit 64 bits.
    #[must_use]
    pub fn element_count(&self) -> Option<u64> {
        // A zero size makes the tensor empty however large the others are.
        let shape = self.static_shape()?;
        if shape.contains(&0) {
            return Some(0);
        }
        shape
            .iter()
            .try_fold(1_u64, |product, size| product.checked_mul(*size))
    }

    /// Bytes in memory; `None` as for [`TensorType::element_count`].
    #[must_use]
    pub fn byte_count(&self) -> Option<u64> {
        self.element_count()?
            .checked_mul(self.element.storage().bytes() as u64)
    }

    /// The upper bounds, if there are any.
    #[must_use]
    pub fn bounds(&self) -> Option<&[Option<u64>]> {
        match &self.encoding {
            Some(Encoding::Bounds(bounds)) => Some(bounds),
            _ => None,
        }
    }

    /// Writes what stands between the angle brackets.
    pub(super) fn fmt_contents(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for dim in &self.dims {
            write!(f, "{dim}x")?;
        }
        write!(f, "{}", self.element)?;
        match &self.encoding {
            None => Ok(()),
            Some(Encoding::Foreign(text)) => write!(f, ", {text}"),
            Some(Encoding::Bounds(bounds)) => {
                f.write_str(", #stablehlo.bounds<")?;
                for (index, bound) in bounds.iter().enumerate() {
                    let separator = if index > 0 { ", " } else { "" };
                    match bound {
                        Some(bound) => write!(f, "{separator}{bound}")?,
                        None => write!(f, "{separator}?")?,
                    }
                }
                f.write_str(">")
            }
        }
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tensor<")?;
        self.fmt_contents(f)?;
        f.write_str(">")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_do_not_overflow() {
        let huge = TensorType::of_static(&[u64::MAX, 2], ElementType::F32);
        assert_eq!(huge.element_count(), None);
        assert_eq!(
            TensorType::of_static(&[u64::MAX, u64::MAX, 0], ElementType::F32).element_count(),
            Some(0)
        );
        assert_eq!(TensorType::of_static(&[3], ElementType::I4).byte_count(), Some(3));
    }

    #[test]
    fn display() {
        let mut tensor = TensorType::new([Dim::Static(2), Dim::Unknown], ElementType::F32);
        tensor.encoding = Some(Encoding::Bounds([None, Some(4)].into()));
        assert_eq!(tensor.to_string(), "tensor<2x?xf32, #stablehlo.bounds<?, 4>>");
        assert_eq!(
            TensorType::of_static(&[], ElementType::C64).to_string(),
            "tensor<complex<f32>>"
        );
    }
}
