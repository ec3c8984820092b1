//! Tensors side by side and tensors in a frame (spec, "concatenate", "pad", "dynamic_pad").

use std::sync::Arc;

use artifact_ir::types::TensorType;

use super::{dimension, resized};
use crate::error::EvalError;
use crate::tensor::{Tensor, reserve, shape_of, strides};

/// The operands one after the other along a dimension.
pub(crate) fn concatenate(
    operands: &[Tensor],
    along: i64,
    declared: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    let mut shape = super::operand(operands, 0)?.shape();
    let along = dimension(along, shape.len())?;
    let others_agree = |other: &[usize]| {
        other.len() == shape.len()
            && (0..shape.len()).all(|dimension| dimension == along || other[dimension] == shape[dimension])
    };
    if let Some(odd) = operands.iter().find(|operand| !others_agree(&operand.shape())) {
        let (first, odd) = (operands[0].ty(), odd.ty());
        return Err(EvalError::runtime(format!(
            "{first} and {odd} cannot be joined along dimension {along}"
        )));
    }
    let outer: usize = shape[..along].iter().product();
    shape[along] = operands.iter().map(|operand| operand.shape()[along]).sum();
    let ty = resized(declared, &shape);
    // One slab an operand for each index of the dimensions before `along`.
    let slabs: Vec<(&Tensor, usize)> = operands
        .iter()
        .map(|operand| (operand, operand.bytes().len() / outer.max(1)))
        .collect();
    let mut bytes = reserve(slabs.iter().map(|(_, slab)| slab * outer).sum())?;
    for index in 0..outer {
        for (operand, slab) in &slabs {
            bytes.extend_from_slice(&operand.bytes()[index * slab..(index + 1) * slab]);
        }
    }
    Ok(Tensor::from_bytes(ty, bytes)?)
}

/// How many elements stand before, after and between those of each dimension; negative edges trim.
pub(crate) struct Padding {
    low: Vec<i64>,
    high: Vec<i64>,
    interior: Vec<i64>,
}

impl Padding {
    pub(crate) fn new(low: &[i64], high: &[i64], interior: &[i64]) -> Self {
        Self {
            low: low.to_vec(),
            high: high.to_vec(),
            interior: interior.to_vec(),
        }
    }

    /// The size of a dimension after padding (spec, "pad", C4).
    fn size(&self, dimension: usize, size: usize) -> Result<usize, EvalError> {
        let (low, high, interior) = (
            self.low[dimension],
            self.high[dimension],
            self.interior[dimension],
        );
        let gaps = i128::from(interior) * (size as i128 - 1).max(0);
        let padded = size as i128 + i128::from(low) + i128::from(high) + gaps;
        usize::try_from(padded).ok().filter(|_| interior >= 0).ok_or_else(|| {
            EvalError::runtime(format!(
                "padding {low} low, {high} high, {interior} between does not fit dimension {dimension} of size {size}"
            ))
        })
    }
}

/// The operand with padding around and between its elements.
pub(crate) fn pad(
    operand: &Tensor,
    value: &Tensor,
    padding: &Padding,
    declared: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    let from = operand.shape();
    let rank = from.len();
    if [padding.low.len(), padding.high.len(), padding.interior.len()] != [rank; 3] || value.len() != 1 {
        return Err(EvalError::invalid_input(
            "padding needs one scalar, and one amount of each kind for each dimension",
        ));
    }
    let shape = from
        .iter()
        .enumerate()
        .map(|(dimension, size)| padding.size(dimension, *size))
        .collect::<Result<Vec<_>, _>>()?;
    let ty = resized(declared, &shape);
    let blank = Tensor::from_positions(Arc::clone(&ty), value, |_| 0)?;
    let (width, to, from_strides) = (operand.storage().bytes(), strides(&shape), strides(&from));
    let mut bytes = blank.bytes().to_vec();
    // Each element of the operand goes to its place, if that is inside.
    for (position, element) in operand.bytes().chunks_exact(width).enumerate() {
        let target = (0..rank).try_fold(0_usize, |target, dimension| {
            let index = position / from_strides[dimension] % from[dimension];
            let at = i128::from(padding.low[dimension])
                + index as i128 * (1 + i128::from(padding.interior[dimension]));
            let at = usize::try_from(at).ok().filter(|at| *at < shape[dimension])?;
            Some(target + at * to[dimension])
        });
        if let Some(target) = target {
            bytes[target * width..(target + 1) * width].copy_from_slice(element);
        }
    }
    debug_assert_eq!(shape_of(&ty), shape);
    Ok(Tensor::from_bytes(ty, bytes)?)
}
