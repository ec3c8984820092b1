//! `chlo.scan`: a region over slices and carries.

use super::compatible;
use super::element::Elements;
use super::extent::{Extent, extents, tensor_of};
use super::operand::any_tensor;
use super::positions;
use crate::op::ChloScan;
use crate::types::{Dim, Type};
use crate::verify::context::{OpContext, OpError, OpResult, Results, ensure};

pub(super) fn rules(op: &ChloScan, cx: &OpContext<'_>) -> OpResult {
    let operands = cx.tensors_from(0, Elements::ANY_PER_AXIS)?;
    let body = cx.region(0)?;
    let carries = carry_count(op)?;
    ensure!(
        carries <= operands.len() && carries <= body.returns.len(),
        "has {carries} carries, but {} operands and a body that returns {} values",
        operands.len(),
        body.returns.len()
    );
    let (inputs, outputs) = (operands.len() - carries, body.returns.len() - carries);
    ensure!(inputs + outputs > 0, "expects at least one input or output");
    // The size of the dimension that is scanned: given, or that of any input.
    let mut length = match op.scan_dim_size {
        Some(size) => Dim::Static(positions::size("scan_dim_size", size)?),
        None => Dim::Unknown,
    };
    ensure!(
        body.arguments.len() == operands.len(),
        "expects a body of {} arguments, but it takes {}",
        operands.len(),
        body.arguments.len()
    );
    for (index, (operand, argument)) in operands.iter().zip(&body.arguments).enumerate() {
        let mut sizes = extents(operand);
        if index < inputs {
            let dimension = positions::dimension("dimension", op.dimension, operand.rank())?;
            let size = sizes.remove(dimension).size;
            ensure!(
                size.compatible(&length),
                "operand #{index} has size {size} in dimension {dimension}, which is scanned over {length}"
            );
            if !length.is_static() && size != Dim::Unknown {
                length = size;
            }
        }
        let expected = tensor_of(&sizes, operand.element.clone());
        ensure!(
            compatible::types(&expected, argument),
            "argument {index} of the body must be '{expected}', but is '{argument}'"
        );
    }
    let result = |(index, ty): (usize, &Type)| {
        let returned = any_tensor(ty, "what the body returns")?;
        let mut sizes = extents(returned);
        if index < outputs {
            let dimension = positions::dimension_or_end("dimension", op.dimension, sizes.len())?;
            sizes.insert(
                dimension,
                Extent {
                    size: length.clone(),
                    bound: None,
                },
            );
        }
        Ok(tensor_of(&sizes, returned.element.clone()))
    };
    body.returns
        .iter()
        .enumerate()
        .map(result)
        .collect::<OpResult<_>>()
        .map(Results::Inferred)
}

/// How many of the operands are initial values, which are the first values of carries.
fn carry_count(op: &ChloScan) -> OpResult<usize> {
    let of = |segments: &Option<Vec<i32>>| segments.as_ref().and_then(|segments| segments.get(1)).copied();
    of(&op.operand_segment_sizes)
        .or_else(|| of(&op.result_segment_sizes))
        .and_then(|count| usize::try_from(count).ok())
        .ok_or_else(|| OpError::new("requires attribute 'operand_segment_sizes' with two numbers"))
}
