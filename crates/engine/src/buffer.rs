//! Arrays on the host.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_core::limit::{Limit, LimitExceeded};
use artifact_ir::literal::{Literal, LiteralError};
use artifact_ir::types::{ElementType, TensorType};
use memmap2::MmapMut;

/// Alignment in bytes of every buffer that is allocated here: a cache line, and the widest vector.
pub const ALIGNMENT: usize = 64;

/// Largest buffer that is allocated. A program may name a larger one; it is refused before anything is allocated.
pub const BUFFER_BYTES: Limit = Limit::new("size of a buffer", 1 << 40, "bytes");

/// Bytes or sizes that are no buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BufferError {
    /// They are not a value of the type.
    Value(LiteralError),
    /// Over [`BUFFER_BYTES`].
    Limit(LimitExceeded),
    /// The system gives no memory for so many bytes.
    Memory(u64),
}

impl fmt::Display for BufferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(error) => error.fmt(f),
            Self::Limit(error) => error.fmt(f),
            Self::Memory(bytes) => write!(f, "there is no memory for a buffer of {bytes} bytes"),
        }
    }
}

impl std::error::Error for BufferError {}

impl From<LiteralError> for BufferError {
    fn from(error: LiteralError) -> Self {
        Self::Value(error)
    }
}

impl From<LimitExceeded> for BufferError {
    fn from(error: LimitExceeded) -> Self {
        Self::Limit(error)
    }
}

/// From so many bytes on, memory is mapped in pages as large as the system has, which costs memory-bound work a part of its time.
const MAPPED_BYTES: usize = 1 << 20;

/// Bytes that begin at a multiple of [`ALIGNMENT`], in memory that is somewhat larger.
struct AlignedBytes {
    memory: Memory,
    start: usize,
    length: usize,
}

/// Zeroed memory.
enum Memory {
    Heap(Vec<u8>),
    Mapped(MmapMut),
}

impl Memory {
    fn mapped(bytes: usize) -> std::io::Result<Self> {
        let map = MmapMut::map_anon(bytes)?;
        // A system without large pages serves with others.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Self::Mapped(map))
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }
}

impl AlignedBytes {
    fn zeros(length: u64) -> Result<Self, BufferError> {
        BUFFER_BYTES.check(length)?;
        let no_memory = || BufferError::Memory(length);
        let length = usize::try_from(length).map_err(|_| no_memory())?;
        if length >= MAPPED_BYTES {
            // A page begins at a multiple of every alignment that is asked for.
            let memory = Memory::mapped(length).map_err(|_| no_memory())?;
            return Ok(Self {
                memory,
                start: 0,
                length,
            });
        }
        let bytes = length.checked_add(ALIGNMENT - 1).ok_or_else(no_memory)?;
        // Memory that the system zeroes itself is had by a macro that aborts where there is none, so that is asked first.
        Vec::<u8>::new()
            .try_reserve_exact(bytes)
            .map_err(|_| no_memory())?;
        let memory = vec![0; bytes];
        let start = memory.as_ptr().align_offset(ALIGNMENT);
        let memory = Memory::Heap(memory);
        Ok(Self {
            memory,
            start,
            length,
        })
    }
}

impl AsRef<[u8]> for AlignedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.memory.bytes()[self.start..][..self.length]
    }
}

/// Elements that lie where an engine keeps them, and that the host reads there. An engine knows its own again.
pub trait Resident: AsRef<[u8]> + Send + Sync {
    /// The same, for whoever knows what it is.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// What a blob keeps of them.
struct Kept(Arc<dyn Resident>);

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

#[derive(Clone)]
enum Storage {
    Own(Arc<AlignedBytes>),
    Shared(Blob),
    Resident(Arc<dyn Resident>),
}

/// An array: a type of static shape and its elements, laid out as in [`Literal`]. Cloning is cheap, and shares the elements.
#[derive(Clone)]
pub struct Buffer {
    ty: Arc<TensorType>,
    storage: Storage,
}

impl Buffer {
    /// Elements of which every bit is 0, aligned.
    ///
    /// # Errors
    /// A type whose shape is not static, a size over [`BUFFER_BYTES`], no memory.
    pub fn zeros(ty: Arc<TensorType>) -> Result<Self, BufferError> {
        let bytes = ty.byte_count().ok_or(LiteralError::NotStatic)?;
        let storage = Storage::Own(Arc::new(AlignedBytes::zeros(bytes)?));
        Ok(Self { ty, storage })
    }

    /// A copy of elements, aligned.
    ///
    /// # Errors
    /// As [`Buffer::zeros`], and bytes that are not a value of the type.
    pub fn copy_of(ty: Arc<TensorType>, bytes: &[u8]) -> Result<Self, BufferError> {
        let buffer = Self::zeros(ty)?;
        buffer.overwritten(bytes)
    }

    /// Elements that are there already, without a copy. They are aligned as they happen to be.
    ///
    /// # Errors
    /// Bytes that are not a value of the type.
    pub fn of_blob(ty: Arc<TensorType>, bytes: Blob) -> Result<Self, BufferError> {
        Self::of_literal(&Literal::dense(ty, bytes)?)
    }

    /// Elements that an engine keeps, without a copy.
    ///
    /// # Errors
    /// Bytes that are not a value of the type.
    pub fn of_resident(ty: Arc<TensorType>, elements: Arc<dyn Resident>) -> Result<Self, BufferError> {
        let kept = Blob::of_owner(Arc::new(Kept(Arc::clone(&elements))));
        let literal = Literal::dense(ty, kept)?;
        Ok(Self {
            ty: Arc::clone(literal.ty()),
            storage: Storage::Resident(elements),
        })
    }

    /// The elements as an engine keeps them, if one does.
    #[must_use]
    pub const fn resident(&self) -> Option<&Arc<dyn Resident>> {
        match &self.storage {
            Storage::Resident(elements) => Some(elements),
            Storage::Own(_) | Storage::Shared(_) => None,
        }
    }

    /// A constant, without a copy unless it is a splat.
    ///
    /// # Errors
    /// A splat that is too large.
    pub fn of_literal(literal: &Literal) -> Result<Self, BufferError> {
        let ty = Arc::clone(literal.ty());
        match (literal.as_dense(), literal.as_splat()) {
            (Some(bytes), _) => Ok(Self {
                ty,
                storage: Storage::Shared(bytes.clone()),
            }),
            (None, element) => {
                let mut buffer = Self::zeros(ty)?;
                if let (Some(element), Some(bytes)) = (element, buffer.bytes_mut()) {
                    bytes
                        .chunks_exact_mut(element.len())
                        .for_each(|place| place.copy_from_slice(element));
                }
                Ok(buffer)
            }
        }
    }

    /// An array of plain numbers, row-major; `shape` has as many elements.
    ///
    /// # Errors
    /// As [`Buffer::copy_of`].
    pub fn of_numbers<N: Number>(shape: &[u64], numbers: &[N]) -> Result<Self, BufferError> {
        let ty = TensorType::of_static(shape, N::ELEMENT);
        let bytes: Vec<u8> = numbers
            .iter()
            .flat_map(|number| number.to_bytes().into_iter().take(size_of::<N>()))
            .collect();
        Self::copy_of(Arc::new(ty), &bytes)
    }

    /// The numbers of an array of this type; `None` for another.
    #[must_use]
    pub fn to_numbers<N: Number>(&self) -> Option<Vec<N>> {
        if self.ty.element.as_plain() != Some(N::ELEMENT) {
            return None;
        }
        let number = |bytes: &[u8]| {
            let mut wide = [0; 8];
            wide[..bytes.len()].copy_from_slice(bytes);
            N::from_bytes(wide)
        };
        Some(self.bytes().chunks_exact(size_of::<N>()).map(number).collect())
    }

    /// The value as a constant, without a copy.
    ///
    /// # Errors
    /// When whoever wrote into [`Buffer::bytes_mut`] left bytes there that the type does not have.
    pub fn to_literal(&self) -> Result<Literal, BufferError> {
        Ok(Literal::dense(Arc::clone(&self.ty), self.to_blob())?)
    }

    /// The elements, shared.
    #[must_use]
    pub fn to_blob(&self) -> Blob {
        match &self.storage {
            Storage::Own(bytes) => {
                let whole = Blob::of_owner(Arc::clone(bytes) as Arc<dyn AsRef<[u8]> + Send + Sync>);
                whole.slice(0..bytes.length).unwrap_or(whole)
            }
            Storage::Shared(bytes) => bytes.clone(),
            Storage::Resident(elements) => Blob::of_owner(Arc::new(Kept(Arc::clone(elements)))),
        }
    }

    /// The type. Its shape is static.
    #[must_use]
    pub const fn ty(&self) -> &Arc<TensorType> {
        &self.ty
    }

    /// Size of each dimension.
    pub fn shape(&self) -> impl ExactSizeIterator<Item = u64> {
        self.ty.dims.iter().map(|dim| dim.as_static().unwrap_or(0))
    }

    /// All bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match &self.storage {
            Storage::Own(bytes) => (**bytes).as_ref(),
            Storage::Shared(bytes) => bytes,
            Storage::Resident(elements) => (**elements).as_ref(),
        }
    }

    /// All bytes to write to, of a buffer that was allocated here and that nobody else holds. Who writes leaves only bytes that the
    /// type has; nothing relies on that to stay within the buffer.
    #[must_use]
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match &mut self.storage {
            Storage::Own(bytes) => {
                let own = Arc::get_mut(bytes)?;
                let (start, length) = (own.start, own.length);
                Some(&mut own.memory.bytes_mut()[start..][..length])
            }
            Storage::Shared(_) | Storage::Resident(_) => None,
        }
    }

    /// Whether it was allocated here and nobody else holds it, so that it may be written to.
    #[must_use]
    pub fn is_unshared(&self) -> bool {
        match &self.storage {
            Storage::Own(bytes) => Arc::strong_count(bytes) == 1,
            Storage::Shared(_) | Storage::Resident(_) => false,
        }
    }

    /// Whether the first byte lies at a multiple of [`ALIGNMENT`].
    #[must_use]
    pub fn is_aligned(&self) -> bool {
        (self.bytes().as_ptr() as usize).is_multiple_of(ALIGNMENT)
    }

    /// A buffer of this type in the memory of this one, where it is as large and nobody else holds it; else a new one. The elements
    /// are those of before.
    ///
    /// # Errors
    /// As [`Buffer::zeros`].
    pub fn recycled(mut self, ty: Arc<TensorType>) -> Result<Self, BufferError> {
        let bytes = ty.byte_count().ok_or(LiteralError::NotStatic)?;
        let fits = self
            .bytes_mut()
            .is_some_and(|memory| memory.len() as u64 == bytes);
        match fits {
            true => Ok(Self { ty, ..self }),
            false => Self::zeros(ty),
        }
    }

    /// This buffer with these elements in place of its own.
    ///
    /// # Errors
    /// Bytes that are not a value of the type; no memory, where the buffer is shared.
    pub fn overwritten(mut self, elements: &[u8]) -> Result<Self, BufferError> {
        let expected = self.bytes().len() as u64;
        if expected != elements.len() as u64 {
            let actual = elements.len() as u64;
            return Err(LiteralError::WrongLength { expected, actual }.into());
        }
        if self.bytes_mut().is_none() {
            self = Self::zeros(self.ty)?;
        }
        if let Some(bytes) = self.bytes_mut() {
            bytes.copy_from_slice(elements);
        }
        if self.ty.element.storage().bits() < 8 {
            // The only types that do not have every byte.
            self.to_literal()?;
        }
        Ok(self)
    }
}

impl PartialEq for Buffer {
    /// The same type and the same bytes: NaN equals itself, and 0 is not -0.
    fn eq(&self, other: &Self) -> bool {
        self.ty == other.ty && self.bytes() == other.bytes()
    }
}

impl Eq for Buffer {}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({}, {} bytes)", self.ty, self.bytes().len())
    }
}

/// A number of Rust that is an element type.
pub trait Number: Copy {
    /// The element type.
    const ELEMENT: ElementType;

    /// Its little-endian bytes, zeros behind them.
    fn to_bytes(self) -> [u8; 8];

    /// The number of such bytes.
    fn from_bytes(bytes: [u8; 8]) -> Self;
}

macro_rules! numbers {
    ($($number:ty => $element:ident,)*) => {$(
        impl Number for $number {
            const ELEMENT: ElementType = ElementType::$element;

            fn to_bytes(self) -> [u8; 8] {
                let mut wide = [0; 8];
                wide[..size_of::<Self>()].copy_from_slice(&self.to_le_bytes());
                wide
            }

            fn from_bytes(bytes: [u8; 8]) -> Self {
                let mut own = [0; size_of::<Self>()];
                own.copy_from_slice(&bytes[..size_of::<Self>()]);
                Self::from_le_bytes(own)
            }
        }
    )*};
}

numbers! {
    i8 => I8, i16 => I16, i32 => I32, i64 => I64,
    u8 => UI8, u16 => UI16, u32 => UI32, u64 => UI64,
    f32 => F32, f64 => F64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_and_recycled() {
        let buffer = Buffer::of_numbers(&[2, 2], &[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
        assert!(buffer.is_aligned());
        let place = buffer.bytes().as_ptr();
        let same_size = Arc::new(TensorType::of_static(&[4], ElementType::I32));
        let buffer = buffer.recycled(Arc::clone(&same_size)).unwrap();
        assert_eq!((buffer.ty(), buffer.bytes().as_ptr()), (&same_size, place));
        let held = buffer.clone();
        let other = buffer.recycled(same_size).unwrap();
        assert_ne!(other.bytes().as_ptr(), place, "somebody else holds it");
        assert_eq!(held.bytes().as_ptr(), place);
        let empty = Buffer::of_numbers::<f32>(&[0, 3], &[]).unwrap();
        assert_eq!((empty.bytes().len(), empty.is_aligned()), (0, true));
    }

    #[test]
    fn constants_there_and_back_without_copies() {
        let ty = Arc::new(TensorType::of_static(&[2], ElementType::I8));
        let bytes = Blob::new(vec![1, 2]);
        let buffer = Buffer::of_blob(Arc::clone(&ty), bytes.clone()).unwrap();
        assert_eq!(buffer.bytes().as_ptr(), bytes.as_ptr());
        let literal = buffer.to_literal().unwrap();
        assert_eq!(
            literal.as_dense().map(|bytes| bytes.as_ptr()),
            Some(bytes.as_ptr())
        );
        let splat = Buffer::of_literal(&Literal::splat(ty, &[7]).unwrap()).unwrap();
        assert_eq!(splat.bytes(), [7, 7]);
        let blob = splat.to_blob();
        assert_eq!((blob.as_ptr(), blob.len()), (splat.bytes().as_ptr(), 2));
        assert_eq!(splat.to_numbers(), Some(vec![7_i8, 7]));
        assert_eq!(splat.to_numbers::<u8>(), None);
    }

    #[test]
    fn what_is_no_value_is_refused() {
        let bits = Arc::new(TensorType::of_static(&[2], ElementType::I1));
        assert!(Buffer::copy_of(Arc::clone(&bits), &[0, 1]).is_ok());
        assert!(Buffer::copy_of(Arc::clone(&bits), &[0, 2]).is_err());
        assert!(Buffer::copy_of(Arc::clone(&bits), &[0]).is_err());
        assert!(Buffer::of_blob(bits, Blob::new(vec![3, 0])).is_err());
        let huge = Arc::new(TensorType::of_static(&[1 << 60], ElementType::I8));
        assert!(matches!(Buffer::zeros(huge), Err(BufferError::Limit(_))));
        let open = TensorType::new([artifact_ir::types::Dim::Unknown], ElementType::I8);
        assert!(Buffer::zeros(Arc::new(open)).is_err());
    }
}
