//! What is known of a value.

use artifact_dims::Expr;
use artifact_ir::literal::Literal;
use artifact_ir::types::{TensorType, Type};

use crate::known::{self, Condition, Element, Known};

/// The type of a value, as exactly as it is known, and its elements where they are few and known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fact {
    /// The type.
    pub ty: Type,
    /// The elements.
    pub known: Option<Known>,
}

impl Fact {
    /// A value of which only the type is known.
    #[must_use]
    pub const fn of_type(ty: Type) -> Self {
        Self { ty, known: None }
    }

    /// A constant.
    #[must_use]
    pub fn of_literal(literal: &Literal) -> Self {
        Self {
            ty: Type::Tensor(literal.ty().clone()),
            known: known::of_literal(literal),
        }
    }

    /// The tensor type.
    pub(crate) fn tensor(&self) -> Option<&TensorType> {
        self.ty.as_tensor().map(std::convert::AsRef::as_ref)
    }

    /// The constant that the value is for all sizes.
    pub(crate) fn literal(&self) -> Option<Literal> {
        known::to_literal(self.known.as_ref()?, self.ty.as_tensor()?)
    }

    /// The branch that a predicate or an index chooses: `if` has its true branch first.
    pub(crate) fn branch(&self) -> Option<i64> {
        match self.known.as_deref()? {
            [Element::Bool(Condition::Known(holds))] => Some(i64::from(!holds)),
            [Element::Int(index)] => index.as_constant(),
            _ => None,
        }
    }

    /// The elements, when all are integers.
    pub(crate) fn expressions(&self) -> Option<Vec<Expr>> {
        self.known
            .as_ref()?
            .iter()
            .map(|element| element.as_int().cloned())
            .collect()
    }

    /// The elements, when all are numbers.
    pub(crate) fn numbers(&self) -> Option<Vec<i64>> {
        self.expressions()?.iter().map(Expr::as_constant).collect()
    }
}
