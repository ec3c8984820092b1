//! Access to an operation's operands, results and regions together with the constraints that ODS puts on each.

use smallvec::SmallVec;

use super::element::Elements;
use crate::types::{TensorType, Type};
use crate::verify::context::{OpContext, OpError, OpResult, RegionTypes, ensure};
use crate::verify::types::RANK_MAX;

/// The longest constant that is read as a shape or a list of positions: no tensor has a rank near it.
const SHAPE_OPERAND_MAX: usize = 1 << 16;

/// Operands that are tensors. Few operations have more than four.
pub(crate) type Tensors<'a> = SmallVec<[&'a TensorType; 4]>;

impl<'a> OpContext<'a> {
    /// The type of an operand.
    pub(crate) fn operand(&self, index: usize) -> OpResult<&'a Type> {
        self.operands
            .get(index)
            .copied()
            .ok_or_else(|| OpError::new(format!("operand #{index} is missing")))
    }

    /// Whether the only result is declared, and of the very type of every operand. Where a result has the type of its operands,
    /// that says all; it is the common case, and costs no new type.
    pub(crate) fn all_of_one_type(&self) -> bool {
        match self.results {
            [result] => self.operands.iter().all(|operand| operand == result),
            _ => false,
        }
    }

    /// An operand that must be a tensor with one of the elements.
    pub(crate) fn tensor(&self, index: usize, allowed: Elements) -> OpResult<&'a TensorType> {
        tensor(self.operand(index)?, "operand", index, allowed)
    }

    /// The operands from `start` on, all of which must be tensors with one of the elements.
    pub(crate) fn tensors_from(&self, start: usize, allowed: Elements) -> OpResult<Tensors<'a>> {
        let mut tensors = Tensors::new();
        for index in start..self.operands.len() {
            tensors.push(self.tensor(index, allowed)?);
        }
        Ok(tensors)
    }

    /// An operand that must be a scalar: a tensor of rank 0.
    pub(crate) fn scalar(&self, index: usize, allowed: Elements) -> OpResult<&'a TensorType> {
        let found = self.tensor(index, allowed)?;
        ensure!(
            found.rank() == 0,
            "operand #{index} must be a scalar, a tensor of rank 0, but got '{found}'"
        );
        Ok(found)
    }

    /// An operand that must be a vector: a tensor of rank 1.
    pub(crate) fn vector(&self, index: usize, allowed: Elements) -> OpResult<&'a TensorType> {
        let found = self.tensor(index, allowed)?;
        ensure!(
            found.rank() == 1,
            "operand #{index} must be a vector, a tensor of rank 1, but got '{found}'"
        );
        Ok(found)
    }

    /// An operand that must be a vector of known length, such as a shape; with its length.
    pub(crate) fn static_vector(&self, index: usize, allowed: Elements) -> OpResult<u64> {
        let found = self.vector(index, allowed)?;
        found.dims[0].as_static().ok_or_else(|| {
            OpError::new(format!(
                "operand #{index} must be a vector of static length, but got '{found}'"
            ))
        })
    }

    /// The declared type of a result that must be a tensor with one of the elements; `None` when it is to be inferred.
    pub(crate) fn result(&self, index: usize, allowed: Elements) -> OpResult<Option<&'a TensorType>> {
        self.results
            .get(index)
            .map(|ty| tensor(ty, "result", index, allowed))
            .transpose()
    }

    /// The declared type of a result that cannot be inferred.
    pub(crate) fn declared(&self, index: usize, allowed: Elements) -> OpResult<&'a TensorType> {
        self.result(index, allowed)?.ok_or_else(|| {
            OpError::new(format!(
                "the type of result #{index} does not follow from the operands and must be declared"
            ))
        })
    }

    /// A declared result type of which every size is a number.
    pub(crate) fn declared_static(&self, index: usize, allowed: Elements) -> OpResult<&'a TensorType> {
        let found = self.declared(index, allowed)?;
        ensure!(
            found.is_static(),
            "result #{index} must have a static shape, but got '{found}'"
        );
        Ok(found)
    }

    /// The signature of a region.
    pub(crate) fn region(&self, index: usize) -> OpResult<&'a RegionTypes> {
        self.regions
            .get(index)
            .ok_or_else(|| OpError::new(format!("region #{index} is missing")))
    }

    /// The values of an integer operand that a constant makes, in row-major order.
    pub(crate) fn constant(&self, index: usize) -> Option<Vec<i64>> {
        let literal = self.constants.get(index).copied().flatten()?;
        // A constant that does not have its declared type has been reported, and its value says nothing.
        let declared = self.operands.get(index)?.as_tensor()?;
        (declared.dims == literal.ty().dims)
            .then(|| literal.to_i64s(SHAPE_OPERAND_MAX))
            .flatten()
    }
}

/// A type that must be a tensor with one of the elements.
pub(crate) fn tensor<'a>(
    ty: &'a Type,
    role: &str,
    index: usize,
    allowed: Elements,
) -> OpResult<&'a TensorType> {
    match ty {
        Type::Tensor(tensor) if tensor.rank() <= RANK_MAX && allowed.admit(tensor) => Ok(tensor),
        other => Err(OpError::new(format!(
            "{role} #{index} must be a ranked tensor of {allowed} values, but got '{other}'"
        ))),
    }
}

/// A type that must be a ranked tensor, whatever its element.
pub(crate) fn any_tensor<'a>(ty: &'a Type, what: &str) -> OpResult<&'a TensorType> {
    match ty {
        Type::Tensor(tensor) => Ok(tensor),
        other => Err(OpError::new(format!(
            "{what} must be a ranked tensor, but got '{other}'"
        ))),
    }
}
