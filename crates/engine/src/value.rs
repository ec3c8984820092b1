//! What goes into a program and comes out of it.

use std::sync::Arc;

use artifact_ir::types::Type;

use crate::buffer::Buffer;

/// A value. Cloning is cheap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// An array.
    Array(Buffer),
    /// A token, which orders effects and carries nothing.
    Token,
    /// The components of a tuple.
    Tuple(Arc<[Value]>),
    /// The results of an asynchronous operation, which has run.
    Future(Arc<[Value]>),
}

impl Value {
    /// The array, if it is one.
    #[must_use]
    pub const fn as_array(&self) -> Option<&Buffer> {
        match self {
            Self::Array(buffer) => Some(buffer),
            Self::Token | Self::Tuple(_) | Self::Future(_) => None,
        }
    }

    /// The array, if it is one.
    #[must_use]
    pub fn into_array(self) -> Option<Buffer> {
        match self {
            Self::Array(buffer) => Some(buffer),
            Self::Token | Self::Tuple(_) | Self::Future(_) => None,
        }
    }

    /// The type, of static shape.
    #[must_use]
    pub fn ty(&self) -> Type {
        let types = |values: &[Self]| values.iter().map(Self::ty).collect();
        match self {
            Self::Array(buffer) => Type::Tensor(Arc::clone(buffer.ty())),
            Self::Token => Type::Token,
            Self::Tuple(values) => Type::Tuple(types(values)),
            Self::Future(values) => Type::Future(types(values)),
        }
    }

    /// Bytes of its elements, those of its components included.
    #[must_use]
    pub fn byte_count(&self) -> u64 {
        match self {
            Self::Array(buffer) => buffer.bytes().len() as u64,
            Self::Token => 0,
            Self::Tuple(values) | Self::Future(values) => values.iter().map(Self::byte_count).sum(),
        }
    }
}

impl From<Buffer> for Value {
    fn from(buffer: Buffer) -> Self {
        Self::Array(buffer)
    }
}
