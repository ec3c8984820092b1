//! What is known of the elements of small integer and boolean tensors: the values that shapes are computed from.

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_dims::{Constraint, Expr};
use artifact_ir::literal::Literal;
use artifact_ir::types::{ElementType, TensorType, Type};

/// Tensors with more elements are data and no shapes.
pub(crate) const ELEMENTS_MAX: usize = 256;

/// Arguments with more elements hold no sizes.
const SIZES_MAX: usize = 64;

/// A condition on dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// It holds, or it does not, for all sizes.
    Known(bool),
    /// It holds where the comparison does.
    Compare(Constraint),
    /// It holds where all of these do.
    All(Arc<[Condition]>),
}

impl Condition {
    /// Whether it depends on a number of which nothing is known.
    pub(crate) fn is_anonymous(&self) -> bool {
        match self {
            Self::Known(_) => false,
            Self::Compare(constraint) => is_anonymous(&constraint.left) || is_anonymous(&constraint.right),
            Self::All(parts) => parts.iter().any(Self::is_anonymous),
        }
    }
}

/// An element: an integer without its width, or a boolean.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// An integer.
    Int(Expr),
    /// A boolean.
    Bool(Condition),
}

/// Mentions of anonymous variables after which an element counts as another unknown number.
const MENTIONS_MAX: usize = 8;

/// Whether an expression depends on more than dimensions: on a number of which nothing is known.
pub(crate) fn is_anonymous(value: &Expr) -> bool {
    let mut found = false;
    value.for_each_variable(&mut |variable| found |= variable.is_anonymous());
    found
}

impl Element {
    /// Whether it says something about dimensions, or about numbers of which nothing is known.
    pub(crate) fn is_anonymous(&self) -> bool {
        match self {
            Self::Int(value) => is_anonymous(value),
            Self::Bool(condition) => condition.is_anonymous(),
        }
    }

    /// Whether it is so involved that it is better taken as another unknown number.
    pub(crate) fn is_involved(&self) -> bool {
        let Self::Int(value) = self else { return false };
        let mut mentions = 0;
        value.for_each_variable(&mut |_| mentions += 1);
        mentions > MENTIONS_MAX && is_anonymous(value)
    }

    /// A number.
    pub(crate) fn number(value: i64) -> Self {
        Self::Int(Expr::constant(value))
    }

    /// The expression of an integer.
    pub(crate) const fn as_int(&self) -> Option<&Expr> {
        match self {
            Self::Int(value) => Some(value),
            Self::Bool(_) => None,
        }
    }

    /// The number that it is for all sizes; 0 and 1 stand for booleans.
    fn as_number(&self) -> Option<i64> {
        match self {
            Self::Int(value) => value.as_constant(),
            Self::Bool(Condition::Known(value)) => Some(i64::from(*value)),
            Self::Bool(_) => None,
        }
    }
}

/// All elements of a tensor of static shape, in row-major order.
pub type Known = Arc<[Element]>;

/// Whether an argument may hold sizes, so that they follow where its elements are known: few integers or booleans. A longer list is
/// followed where it is a constant, but a program that is refined for one such argument seldom serves another.
#[must_use]
pub fn holds_sizes(ty: &Type) -> bool {
    let count = ty.as_tensor().and_then(|tensor| is_followed(tensor));
    count.is_some_and(|count| count <= SIZES_MAX)
}

/// Whether a tensor is one whose elements are followed: integers or booleans, few, and of static shape.
pub(crate) fn is_followed(ty: &TensorType) -> Option<usize> {
    let element = ty.element.as_plain()?;
    let count = usize::try_from(ty.element_count()?).ok()?;
    ((element.is_integer() || element.is_boolean()) && count <= ELEMENTS_MAX).then_some(count)
}

/// The elements of a constant.
pub(crate) fn of_literal(literal: &Literal) -> Option<Known> {
    is_followed(literal.ty())?;
    let boolean = literal.ty().element.storage().is_boolean();
    // An unsigned number of 64 bits may wrap; it is not followed then.
    let unsigned = matches!(
        literal.ty().element.storage(),
        ElementType::UI64 | ElementType::Index
    );
    literal
        .to_i64s(ELEMENTS_MAX)?
        .into_iter()
        .map(|value| match boolean {
            true => Some(Element::Bool(Condition::Known(value != 0))),
            false => (value >= 0 || !unsigned).then(|| Element::number(value)),
        })
        .collect()
}

/// The constant that elements are, when all of them are numbers.
pub(crate) fn to_literal(known: &[Element], ty: &Arc<TensorType>) -> Option<Literal> {
    let width = ty.element.storage().bytes();
    let mut bytes = Vec::with_capacity(known.len() * width);
    for element in known {
        let value = i128::from(element.as_number()?);
        bytes.extend_from_slice(&value.to_le_bytes()[..width]);
    }
    Literal::dense(Arc::clone(ty), Blob::new(bytes)).ok()
}

/// The smallest and the largest number of an integer type that 64 bits hold.
pub(crate) fn range_of(ty: ElementType) -> (i64, i64) {
    let bits = ty.bits().min(64);
    if ty.is_signed_integer() {
        (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits))
    } else {
        (0, if bits == 64 { i64::MAX } else { (1 << bits) - 1 })
    }
}

/// The number that an integer type holds of a value: modulo the number of its values.
pub(crate) fn wrapped(value: i64, ty: ElementType) -> i64 {
    let bits = ty.bits().min(64);
    let shift = 64 - bits;
    if ty.is_signed_integer() || bits == 64 {
        value << shift >> shift
    } else {
        ((value as u64) << shift >> shift) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_types_hold_them() {
        assert_eq!(range_of(ElementType::I8), (-128, 127));
        assert_eq!(range_of(ElementType::UI4), (0, 15));
        assert_eq!(range_of(ElementType::I64), (i64::MIN, i64::MAX));
        assert_eq!(wrapped(128, ElementType::I8), -128);
        assert_eq!(wrapped(-1, ElementType::UI16), 65_535);
        assert_eq!(wrapped(1 << 40, ElementType::I32), 0);
        assert_eq!(wrapped(i64::MIN, ElementType::I64), i64::MIN);
    }

    #[test]
    fn constants_there_and_back() {
        for (ty, values) in [
            (ElementType::I32, vec![-3, 7]),
            (ElementType::UI8, vec![255, 0]),
            (ElementType::I4, vec![-8, 7]),
        ] {
            let known: Known = values.into_iter().map(Element::number).collect();
            let ty = Arc::new(TensorType::of_static(&[2], ty));
            let literal = to_literal(&known, &ty).unwrap();
            assert_eq!(of_literal(&literal), Some(known));
        }
    }
}
