//! Tensors and index arithmetic.

use std::fmt;
use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_core::limit::{Limit, LimitExceeded};
use artifact_ir::literal::Literal;
use artifact_ir::types::{ElementType, TensorType};

use crate::scalar::Scalar;

/// Largest tensor that is evaluated. A program may name a larger one; it is refused before anything is allocated.
pub const TENSOR_BYTES: Limit = Limit::new("size of a tensor in the reference evaluator", 8 << 30, "bytes");

/// A tensor that cannot be had: too large for the evaluator or for the memory that is left, or not of the size of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorError {
    /// Over [`TENSOR_BYTES`].
    Limit(LimitExceeded),
    /// Its size in bytes does not fit 64 bits.
    Overflow,
    /// The system gives no memory for so many bytes.
    Memory(usize),
    /// There are more or fewer bytes than the type has.
    Length {
        /// Bytes that the type has.
        expected: usize,
        /// Bytes that came.
        actual: usize,
    },
}

impl fmt::Display for TensorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(exceeded) => exceeded.fmt(f),
            Self::Overflow => f.write_str("the size of a tensor does not fit 64 bits"),
            Self::Memory(bytes) => write!(f, "there is no memory for a tensor of {bytes} bytes"),
            Self::Length { expected, actual } => {
                write!(f, "the tensor's type has {expected} bytes, there are {actual}")
            }
        }
    }
}

impl std::error::Error for TensorError {}

impl From<LimitExceeded> for TensorError {
    fn from(exceeded: LimitExceeded) -> Self {
        Self::Limit(exceeded)
    }
}

/// A value: a type of static shape and its elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    ty: Arc<TensorType>,
    bytes: Arc<Vec<u8>>,
}

impl Tensor {
    /// A tensor whose elements are computed by position in row-major order. `ty` is of static shape.
    ///
    /// # Errors
    /// [`TensorError`] when the tensor is too large.
    pub fn from_fn(
        ty: Arc<TensorType>,
        mut element: impl FnMut(usize) -> Scalar,
    ) -> Result<Self, TensorError> {
        let count = checked_count(&ty)?;
        let storage = ty.element.storage();
        let mut bytes = reserve(count * storage.bytes())?;
        (0..count).for_each(|index| element(index).encode(storage, &mut bytes));
        Ok(Self {
            ty,
            bytes: Arc::new(bytes),
        })
    }

    /// A tensor of elements in row-major order; there must be as many as the type has.
    ///
    /// # Errors
    /// [`TensorError`] when the tensor is too large.
    pub fn from_scalars(ty: Arc<TensorType>, scalars: &[Scalar]) -> Result<Self, TensorError> {
        Self::from_fn(ty, |index| scalars[index])
    }

    /// A tensor of which every element is copied from another by position; element types must have the same width.
    ///
    /// # Errors
    /// [`TensorError`] when the tensor is too large.
    pub fn from_positions(
        ty: Arc<TensorType>,
        operand: &Self,
        mut position: impl FnMut(usize) -> usize,
    ) -> Result<Self, TensorError> {
        let count = checked_count(&ty)?;
        let width = ty.element.storage().bytes();
        let mut bytes = reserve(count * width)?;
        (0..count).for_each(|index| bytes.extend_from_slice(operand.element_bytes(position(index))));
        Ok(Self {
            ty,
            bytes: Arc::new(bytes),
        })
    }

    /// A tensor of bytes that were moved as they are: elements in row-major order, laid out as in [`Literal`], of which the type has
    /// every one.
    ///
    /// # Errors
    /// [`TensorError`] when the tensor is too large, or has another number of bytes.
    pub fn from_bytes(ty: Arc<TensorType>, bytes: Vec<u8>) -> Result<Self, TensorError> {
        let expected = checked_count(&ty)? * ty.element.storage().bytes();
        if bytes.len() != expected {
            let actual = bytes.len();
            return Err(TensorError::Length { expected, actual });
        }
        Ok(Self {
            ty,
            bytes: Arc::new(bytes),
        })
    }

    /// A tensor that holds a constant.
    ///
    /// # Errors
    /// [`TensorError`] when the tensor is too large.
    pub fn from_literal(literal: &Literal) -> Result<Self, TensorError> {
        let ty = Arc::clone(literal.ty());
        let count = checked_count(&ty)?;
        let mut bytes = reserve(count * ty.element.storage().bytes())?;
        match (literal.as_splat(), literal.as_dense()) {
            (Some(element), _) => (0..count).for_each(|_| bytes.extend_from_slice(element)),
            (None, Some(elements)) => bytes.extend_from_slice(elements),
            (None, None) => {}
        }
        Ok(Self {
            ty,
            bytes: Arc::new(bytes),
        })
    }

    /// The value as a constant.
    #[must_use]
    pub fn to_literal(&self) -> Option<Literal> {
        Literal::dense(Arc::clone(&self.ty), Blob::new(self.bytes.to_vec())).ok()
    }

    /// The same elements under another type of as many bytes.
    #[must_use]
    pub fn with_type(&self, ty: Arc<TensorType>) -> Self {
        debug_assert_eq!(ty.byte_count(), self.ty.byte_count());
        Self {
            ty,
            bytes: Arc::clone(&self.bytes),
        }
    }

    /// The type.
    #[must_use]
    pub const fn ty(&self) -> &Arc<TensorType> {
        &self.ty
    }

    /// The type of the elements in memory.
    #[must_use]
    pub fn storage(&self) -> ElementType {
        self.ty.element.storage()
    }

    /// Size of each dimension.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        shape_of(&self.ty)
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.storage().bytes()
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// All bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The element at a position in row-major order.
    #[must_use]
    pub fn get(&self, position: usize) -> Scalar {
        Scalar::decode(self.storage(), self.element_bytes(position))
    }

    /// All elements in row-major order.
    pub fn scalars(&self) -> impl ExactSizeIterator<Item = Scalar> {
        let storage = self.storage();
        self.bytes
            .chunks_exact(storage.bytes())
            .map(move |bytes| Scalar::decode(storage, bytes))
    }

    /// The elements of an integer or boolean tensor.
    #[must_use]
    pub fn to_ints(&self) -> Option<Vec<i128>> {
        self.scalars().map(Scalar::as_int).collect()
    }

    fn element_bytes(&self, position: usize) -> &[u8] {
        let width = self.storage().bytes();
        &self.bytes[position * width..(position + 1) * width]
    }
}

/// `dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>`, every element written.
impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("dense<")?;
        let shape = self.shape();
        let strides = strides(&shape);
        for (position, element) in self.scalars().enumerate() {
            if position > 0 {
                f.write_str(", ")?;
            }
            // A bracket for every dimension that begins here, and below for every one that ends.
            let begins = |dimension: usize| position.is_multiple_of(strides[dimension] * shape[dimension]);
            let ends =
                |dimension: usize| (position + 1).is_multiple_of(strides[dimension] * shape[dimension]);
            f.write_str(&"[".repeat((0..shape.len()).filter(|dimension| begins(*dimension)).count()))?;
            write!(f, "{element}")?;
            f.write_str(&"]".repeat((0..shape.len()).filter(|dimension| ends(*dimension)).count()))?;
        }
        write!(f, "> : {}", self.ty)
    }
}

/// Size of each dimension of a type of static shape; unknown sizes count as 0, which a verified program does not have here.
#[must_use]
pub fn shape_of(ty: &TensorType) -> Vec<usize> {
    ty.dims
        .iter()
        .map(|dim| dim.as_static().unwrap_or(0) as usize)
        .collect()
}

/// Empty storage for so many bytes. A tensor may be larger than what is left of the memory.
pub(crate) fn reserve(bytes: usize) -> Result<Vec<u8>, TensorError> {
    let mut storage = Vec::new();
    storage
        .try_reserve_exact(bytes)
        .map_err(|_| TensorError::Memory(bytes))?;
    Ok(storage)
}

fn checked_count(ty: &TensorType) -> Result<usize, TensorError> {
    TENSOR_BYTES.check(ty.byte_count().ok_or(TensorError::Overflow)?)?;
    Ok(ty.element_count().unwrap_or(0) as usize)
}

/// Row-major strides of a shape, in elements.
#[must_use]
pub fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim];
    }
    strides
}

/// The position of an index in row-major order.
#[must_use]
pub fn position_of(index: &[usize], shape: &[usize]) -> usize {
    index
        .iter()
        .zip(shape)
        .fold(0, |position, (index, size)| position * size + index)
}

/// The index at a position in row-major order.
#[must_use]
pub fn index_at(mut position: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (dim, size) in shape.iter().enumerate().rev() {
        index[dim] = position % size;
        position /= size;
    }
    index
}

/// All indices of a shape in row-major order.
pub fn indices(shape: &[usize]) -> impl ExactSizeIterator<Item = Vec<usize>> {
    let shape = shape.to_vec();
    let count: usize = shape.iter().product();
    (0..count).map(move |position| index_at(position, &shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions() {
        let shape = [2, 3, 4];
        assert_eq!(strides(&shape), [12, 4, 1]);
        for (position, index) in indices(&shape).enumerate() {
            assert_eq!(position_of(&index, &shape), position);
        }
        assert_eq!(indices(&[]).collect::<Vec<_>>(), [vec![]; 1]);
        assert_eq!(indices(&[2, 0]).len(), 0);
    }

    #[test]
    fn display() {
        let ty = Arc::new(TensorType::of_static(&[2, 1, 2], ElementType::I8));
        let tensor = Tensor::from_fn(ty, |position| Scalar::Int(position as i128)).unwrap();
        assert_eq!(
            tensor.to_string(),
            "dense<[[[0, 1]], [[2, 3]]]> : tensor<2x1x2xi8>"
        );
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        let bytes = isize::MAX as usize;
        assert_eq!(reserve(bytes), Err(TensorError::Memory(bytes)));
    }

    #[test]
    fn a_tensor_that_is_too_large_is_refused() {
        let ty = Arc::new(TensorType::of_static(&[1 << 40], ElementType::F32));
        assert!(Tensor::from_fn(ty, |_| Scalar::Float(0.0)).is_err());
    }
}
