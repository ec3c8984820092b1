//! Operands that hold a shape: what they say when a constant makes them, and what the result's type then must be.

use super::compatible;
use super::extent::{Extent, tensor_of};
use super::positions;
use crate::types::{Element, TensorType, Type};
use crate::verify::context::{OpContext, OpResult, ensure};
use crate::verify::types::RANK_MAX;

/// The type of a result whose shape is operand `index`, a vector of `rank` sizes.
pub(super) fn shaped(cx: &OpContext<'_>, index: usize, rank: u64, element: &Element) -> OpResult<Type> {
    let Some(values) = cx.constant(index) else {
        let rank = usize::try_from(rank).unwrap_or(usize::MAX);
        ensure!(
            rank <= RANK_MAX,
            "operand #{index} holds {rank} sizes; a tensor has at most {RANK_MAX} dimensions"
        );
        return Ok(tensor_of(&vec![Extent::UNKNOWN; rank], element.clone()));
    };
    let name = format!("each size in operand #{index}");
    let extent = |value: &i64| positions::size(&name, *value).map(Extent::of);
    let extents = values.iter().map(extent).collect::<OpResult<Vec<_>>>()?;
    Ok(tensor_of(&extents, element.clone()))
}

/// Checks the declared result against operand `index`, which holds its shape.
pub(super) fn check(cx: &OpContext<'_>, index: usize, length: u64, result: &TensorType) -> OpResult<()> {
    ensure!(
        length == result.rank() as u64,
        "the result '{result}' must have as many dimensions as operand #{index} has elements ({length})"
    );
    if cx.constant(index).is_some() {
        let shape = shaped(cx, index, length, &result.element)?;
        ensure!(
            compatible::types(&shape, &result.clone().into()),
            "the shape in operand #{index}, '{shape}', is incompatible with the result type '{result}'"
        );
    }
    Ok(())
}
