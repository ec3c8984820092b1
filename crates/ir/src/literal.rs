//! Dense constants.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_core::digest::{Digest, Hasher};

use crate::types::{ElementType, TensorType};

/// The value of a tensor of static shape.
///
/// Elements lie row-major, little-endian, without gaps; `i1` and sub-byte elements take one byte each (signed ones
/// sign-extended, others zero-extended), complex ones are real part then imaginary part, quantized ones are their stored
/// integers. A splat keeps one element however large the tensor, so it must never be expanded without a check of its size.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Literal {
    ty: Arc<TensorType>,
    elements: Elements,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Elements {
    Splat(Blob),
    Dense(Blob),
}

/// Only length and both ends are hashed, so that a large constant costs little until an equal one comes.
impl Hash for Elements {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        const ENDS_BYTES: usize = 64;
        let (is_splat, bytes) = match self {
            Self::Splat(bytes) => (true, bytes),
            Self::Dense(bytes) => (false, bytes),
        };
        is_splat.hash(state);
        bytes.len().hash(state);
        bytes[..bytes.len().min(ENDS_BYTES)].hash(state);
        bytes[bytes.len().saturating_sub(ENDS_BYTES)..].hash(state);
    }
}

/// Bytes that are not a value of the type that they are said to have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LiteralError {
    /// The type has a dimension that is not a number, or more elements than can be counted.
    NotStatic,
    /// The number of bytes does not fit the type.
    WrongLength {
        /// Bytes that the type needs.
        expected: u64,
        /// Bytes that came.
        actual: u64,
    },
    /// A byte that no value of a boolean or sub-byte type has.
    OutOfRange {
        /// Position of the element in row-major order.
        index: usize,
        /// The byte there.
        byte: u8,
    },
}

impl fmt::Display for LiteralError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStatic => f.write_str("a constant needs a type of static shape whose size fits 64 bits"),
            Self::WrongLength { expected, actual } => {
                write!(
                    f,
                    "the constant's type needs {expected} bytes, there are {actual}"
                )
            }
            Self::OutOfRange { index, byte } => {
                write!(
                    f,
                    "element {index} is the byte {byte:#04x}, which its type does not have"
                )
            }
        }
    }
}

impl std::error::Error for LiteralError {}

impl Literal {
    /// A constant of which every element is the same; `element` holds its bytes.
    ///
    /// # Errors
    /// See [`LiteralError`].
    pub fn splat(ty: Arc<TensorType>, element: &[u8]) -> Result<Self, LiteralError> {
        ty.element_count().ok_or(LiteralError::NotStatic)?;
        let storage = ty.element.storage();
        check_length(storage.bytes() as u64, element)?;
        check_range(storage, element)?;
        Ok(Self {
            ty,
            elements: Elements::Splat(Blob::new(element.to_vec())),
        })
    }

    /// A constant with all elements given.
    ///
    /// # Errors
    /// See [`LiteralError`].
    pub fn dense(ty: Arc<TensorType>, bytes: Blob) -> Result<Self, LiteralError> {
        check_length(ty.byte_count().ok_or(LiteralError::NotStatic)?, &bytes)?;
        check_range(ty.element.storage(), &bytes)?;
        Ok(Self {
            ty,
            elements: Elements::Dense(bytes),
        })
    }

    /// A one-dimensional constant of `i64`, as dimension lists are.
    #[must_use]
    pub fn of_i64s(values: &[i64]) -> Self {
        let ty = TensorType::of_static(&[values.len() as u64], ElementType::I64);
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self {
            ty: Arc::new(ty),
            elements: Elements::Dense(Blob::new(bytes)),
        }
    }

    /// The type. Its shape is static.
    #[must_use]
    pub const fn ty(&self) -> &Arc<TensorType> {
        &self.ty
    }

    /// Number of elements.
    #[must_use]
    pub fn element_count(&self) -> u64 {
        self.ty.element_count().unwrap_or(0)
    }

    /// Bytes of one element.
    #[must_use]
    pub fn element_bytes(&self) -> usize {
        self.ty.element.storage().bytes()
    }

    /// The bytes of the single element, when it was given as a splat.
    #[must_use]
    pub fn as_splat(&self) -> Option<&[u8]> {
        match &self.elements {
            Elements::Splat(element) => Some(element),
            Elements::Dense(_) => None,
        }
    }

    /// All bytes, when they are there; `None` for a splat.
    #[must_use]
    pub const fn as_dense(&self) -> Option<&Blob> {
        match &self.elements {
            Elements::Dense(bytes) => Some(bytes),
            Elements::Splat(_) => None,
        }
    }

    /// The bytes of element `index` in row-major order.
    #[must_use]
    pub fn element(&self, index: usize) -> Option<&[u8]> {
        match &self.elements {
            Elements::Splat(element) => ((index as u64) < self.element_count()).then_some(&**element),
            Elements::Dense(bytes) => {
                let width = self.element_bytes();
                bytes.get(index.checked_mul(width)?..index.checked_add(1)?.checked_mul(width)?)
            }
        }
    }

    /// The single element if all are equal, however they were given; `None` when there is no element.
    #[must_use]
    pub fn uniform(&self) -> Option<&[u8]> {
        match &self.elements {
            Elements::Splat(element) => (self.element_count() > 0).then_some(&**element),
            Elements::Dense(bytes) => {
                let width = self.element_bytes();
                let first = bytes.get(..width)?;
                bytes
                    .chunks_exact(width)
                    .all(|element| element == first)
                    .then_some(first)
            }
        }
    }

    /// A digest of the value apart from its type: equal for splat, list and hexadecimal spellings of one value. A tensor
    /// of which every element is equal is digested by that element, so that a splat is never expanded.
    #[must_use]
    pub fn value_digest(&self) -> Digest {
        let mut hasher = Hasher::content();
        match (self.uniform(), &self.elements) {
            (Some(element), _) => {
                hasher.update(b"uniform");
                hasher.update(element);
            }
            (None, Elements::Dense(bytes)) => {
                hasher.update(b"dense");
                hasher.update(Digest::of(bytes).as_bytes());
            }
            // No element at all.
            (None, Elements::Splat(_)) => {
                hasher.update(b"dense");
                hasher.update(Digest::of(&[]).as_bytes());
            }
        }
        hasher.finish()
    }

    /// The elements as `i64`, for `i64`, `index` and narrower integer or boolean types; `None` for others and for more
    /// than `limit` elements.
    #[must_use]
    pub fn to_i64s(&self, limit: usize) -> Option<Vec<i64>> {
        let storage = self.ty.element.storage();
        if !(storage.is_integer() || storage.is_boolean()) || self.element_count() > limit as u64 {
            return None;
        }
        (0..self.element_count() as usize)
            .map(|index| Some(integer(storage, self.element(index)?)))
            .collect()
    }
}

/// Reads a little-endian integer; unsigned 64-bit values above `i64::MAX` wrap.
fn integer(storage: ElementType, bytes: &[u8]) -> i64 {
    let sign = if storage.is_signed_integer() && bytes.last().is_some_and(|byte| byte & 0x80 != 0) {
        0xFF
    } else {
        0
    };
    let mut wide = [sign; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(wide)
}

/// Fills the bits of a byte that signed elements of fewer bits leave, where they are zero. Other elements stay as they are.
pub fn extend_signs(element: ElementType, elements: &mut [u8]) {
    let bits = element.bits();
    if bits >= 8 || !element.is_signed_integer() {
        return;
    }
    let unused = 8 - bits;
    for byte in elements.iter_mut().filter(|byte| **byte >> bits == 0) {
        *byte = ((*byte << unused) as i8 >> unused) as u8;
    }
}

fn check_length(expected: u64, bytes: &[u8]) -> Result<(), LiteralError> {
    let actual = bytes.len() as u64;
    if expected == actual {
        Ok(())
    } else {
        Err(LiteralError::WrongLength { expected, actual })
    }
}

/// Checks that every byte is one that a boolean or sub-byte type can have. Whole-byte types have all of them.
fn check_range(storage: ElementType, bytes: &[u8]) -> Result<(), LiteralError> {
    let bits = storage.bits();
    if bits >= 8 {
        return Ok(());
    }
    let fits = |byte: u8| {
        let unused = 8 - bits;
        let low = byte << unused;
        let extended = if storage.is_signed_integer() {
            ((low as i8) >> unused) as u8
        } else {
            low >> unused
        };
        extended == byte
    };
    match bytes.iter().position(|byte| !fits(*byte)) {
        Some(index) => Err(LiteralError::OutOfRange {
            index,
            byte: bytes[index],
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense(shape: &[u64], element: ElementType, bytes: &[u8]) -> Result<Literal, LiteralError> {
        Literal::dense(
            Arc::new(TensorType::of_static(shape, element)),
            Blob::new(bytes.to_vec()),
        )
    }

    #[test]
    fn splat_and_list_agree() {
        let ty = Arc::new(TensorType::of_static(&[3], ElementType::I8));
        let splat = Literal::splat(ty, &[7]).unwrap();
        let list = dense(&[3], ElementType::I8, &[7, 7, 7]).unwrap();
        assert_eq!(splat.value_digest(), list.value_digest());
        assert_ne!(
            list.value_digest(),
            dense(&[3], ElementType::I8, &[7, 7, 8]).unwrap().value_digest()
        );
    }

    #[test]
    fn a_huge_splat_is_cheap() {
        let ty = Arc::new(TensorType::of_static(&[1 << 40, 1 << 20], ElementType::F32));
        assert_eq!(Literal::splat(ty, &[0; 4]).unwrap().element_count(), 1 << 60);
    }

    #[test]
    fn bytes_are_checked() {
        assert_eq!(
            dense(&[2], ElementType::F32, &[0; 7]),
            Err(LiteralError::WrongLength {
                expected: 8,
                actual: 7
            })
        );
        assert_eq!(
            dense(&[2], ElementType::I1, &[1, 2]),
            Err(LiteralError::OutOfRange { index: 1, byte: 2 })
        );
        assert!(dense(&[3], ElementType::I4, &[0xF8, 7, 0xFF]).is_ok());
        assert!(dense(&[1], ElementType::I4, &[8]).is_err());
        assert!(dense(&[1], ElementType::UI4, &[15]).is_ok());
    }

    #[test]
    fn integers() {
        assert_eq!(
            dense(&[2], ElementType::I4, &[0xFF, 3]).unwrap().to_i64s(9),
            Some(vec![-1, 3])
        );
        assert_eq!(Literal::of_i64s(&[-5, 6]).to_i64s(9), Some(vec![-5, 6]));
        assert_eq!(Literal::of_i64s(&[-5, 6]).to_i64s(1), None);
    }
}
