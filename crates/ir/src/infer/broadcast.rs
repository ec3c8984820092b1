//! Implicit broadcasting, as NumPy has it (upstream: `BroadcastUtils.cpp`, `ChloOps.cpp`).

use super::extent::{Extent, Extents, extents};
use super::positions;
use crate::types::{Dim, TensorType};
use crate::verify::context::{OpError, OpResult};

/// The shape of all tensors when their trailing dimensions are aligned.
pub(super) fn trailing(tensors: &[&TensorType]) -> OpResult<Extents> {
    let rank = tensors
        .iter()
        .map(|tensor| tensor.rank())
        .max()
        .unwrap_or_default();
    let mut result: Extents = std::iter::repeat_n(Extent::of(1), rank).collect();
    for tensor in tensors {
        let start = rank - tensor.rank();
        for (index, extent) in extents(tensor).iter().enumerate() {
            result[start + index] = one(&result[start + index], extent)?;
        }
    }
    Ok(result)
}

/// The shape of two tensors when dimension `i` of the one of lower rank goes with `dimensions[i]` of the other.
pub(super) fn explicit(lhs: &TensorType, rhs: &TensorType, dimensions: &[i64]) -> OpResult<Extents> {
    let (large, small) = if lhs.rank() > rhs.rank() {
        (lhs, rhs)
    } else {
        (rhs, lhs)
    };
    let name = "broadcast_dimensions";
    positions::ensure_length(
        name,
        dimensions.len(),
        small.rank(),
        "the rank of the smaller operand",
    )?;
    positions::ensure_unique(name, dimensions)?;
    let dimensions = positions::dimensions(name, dimensions, large.rank())?;
    let mut result = extents(large);
    for (extent, dimension) in extents(small).iter().zip(dimensions) {
        result[dimension] = one(&result[dimension], extent)?;
    }
    Ok(result)
}

/// One dimension: equal sizes, or one of them 1. A size that is not a number could be either.
fn one(a: &Extent, b: &Extent) -> OpResult<Extent> {
    if a.size == b.size && a.bound == b.bound {
        return Ok(a.clone());
    }
    Ok(match (&a.size, &b.size) {
        (Dim::Static(1), _) => b.clone(),
        (_, Dim::Static(1)) => a.clone(),
        (Dim::Static(left), Dim::Static(right)) => {
            return Err(OpError::new(format!(
                "incompatible shapes for broadcasting {left} and {right}"
            )));
        }
        (Dim::Static(_), _) => a.clone(),
        (_, Dim::Static(_)) => b.clone(),
        _ => {
            let bound = a.bound.zip(b.bound).map(|(a, b)| a.max(b));
            let size = if a.size == b.size {
                a.size.clone()
            } else {
                Dim::Unknown
            };
            Extent { size, bound }
        }
    })
}
