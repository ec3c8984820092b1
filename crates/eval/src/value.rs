//! What a value of a program is while it runs.

use std::sync::Arc;

use artifact_ir::types::Type;

use crate::error::EvalError;
use crate::tensor::Tensor;

/// A value of a running program. Cloning is cheap.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A tensor; its type is of static shape whatever the program declares.
    Tensor(Tensor),
    /// A token. Operations run in the order of the text, so that it carries nothing.
    Token,
    /// The components of a tuple.
    Tuple(Arc<[Value]>),
    /// The results of an asynchronous operation, which has run by the time that its future exists.
    Future(Arc<[Value]>),
}

impl Value {
    /// The tensor, of a value that the verifier knows to be one.
    ///
    /// # Errors
    /// Invalid input when it is something else.
    pub fn as_tensor(&self) -> Result<&Tensor, EvalError> {
        match self {
            Self::Tensor(tensor) => Ok(tensor),
            other => Err(EvalError::invalid_input(format!(
                "expected a tensor, found {}",
                other.describe()
            ))),
        }
    }

    /// The type as the program would write it, with the sizes of this run.
    #[must_use]
    pub fn ty(&self) -> Type {
        let types = |values: &[Self]| values.iter().map(Self::ty).collect();
        match self {
            Self::Tensor(tensor) => Type::Tensor(Arc::clone(tensor.ty())),
            Self::Token => Type::Token,
            Self::Tuple(values) => Type::Tuple(types(values)),
            Self::Future(values) => Type::Future(types(values)),
        }
    }

    /// Bytes of its elements, those of its components included.
    #[must_use]
    pub fn byte_count(&self) -> u64 {
        match self {
            Self::Tensor(tensor) => tensor.bytes().len() as u64,
            Self::Token => 0,
            Self::Tuple(values) | Self::Future(values) => values.iter().map(Self::byte_count).sum(),
        }
    }

    const fn describe(&self) -> &'static str {
        match self {
            Self::Tensor(_) => "a tensor",
            Self::Token => "a token",
            Self::Tuple(_) => "a tuple",
            Self::Future(_) => "a future",
        }
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Self {
        Self::Tensor(tensor)
    }
}

/// Applies region number `.0` of the operation at hand to arguments, and returns what the region returns.
pub type ApplyRegion<'a> = dyn FnMut(usize, &[Tensor]) -> Result<Vec<Tensor>, EvalError> + 'a;
