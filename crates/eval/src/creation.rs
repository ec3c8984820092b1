//! Constants and positions (spec, "constant", "iota", "dynamic_iota").

use std::sync::Arc;

use artifact_ir::op::{Creation, Iota};
use artifact_ir::types::{ElementClass, TensorType};

use crate::algebra;
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::shape::{resized, shape_operand, static_shape};
use crate::tensor::{Tensor, shape_of, strides};

/// Runs an operation of the family. `types` are the results' types as the program writes them.
pub(crate) fn run(
    op: &Creation,
    operands: &[Tensor],
    types: &[Arc<TensorType>],
) -> Result<Vec<Tensor>, EvalError> {
    let declared = types
        .first()
        .ok_or_else(|| EvalError::runtime("a result is missing"))?;
    let tensor = match op {
        Creation::Constant(constant) => Tensor::from_literal(&constant.value)?,
        Creation::Iota(op) => iota(op, &resized(declared, &static_shape(declared)?))?,
        Creation::DynamicIota(op) => iota(op, &resized(declared, &shape_operand(operands, 0)?))?,
        Creation::Rng(_) | Creation::RngBitGenerator(_) => return algebra::rng(op, operands, types),
    };
    Ok(vec![tensor])
}

/// Positions along a dimension, as numbers of the result's element type.
fn iota(op: &Iota, ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let shape = shape_of(ty);
    let dimension = usize::try_from(op.iota_dimension)
        .ok()
        .filter(|dimension| *dimension < shape.len());
    let Some(dimension) = dimension else {
        let (dimension, rank) = (op.iota_dimension, shape.len());
        return Err(EvalError::invalid_input(format!(
            "iota along dimension {dimension} of a result of rank {rank}"
        )));
    };
    let (size, stride) = (shape[dimension], strides(&shape)[dimension]);
    let class = ty.element.storage().class();
    let tensor = Tensor::from_fn(Arc::clone(ty), |position| {
        let index = position / stride % size;
        match class {
            ElementClass::Float => Scalar::Float(index as f64),
            ElementClass::Complex => Scalar::Complex(index as f64, 0.0),
            _ => Scalar::Int(index as i128),
        }
    })?;
    Ok(tensor)
}
