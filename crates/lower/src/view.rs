//! Views: tensors whose elements are those of another one at places that follow from the position.

use artifact_dims::Expr;

use crate::error::LowerError;
use crate::graph::TensorId;
use crate::index::Index;
use crate::sizes::{SizeId, Sizes};

/// How positions of a view become positions of what is viewed.
#[derive(Clone, Debug)]
pub(crate) enum View {
    /// The result dimension of each operand dimension.
    Broadcast(Vec<usize>),
    /// The operand dimension of each result dimension.
    Transpose(Vec<usize>),
    /// The same elements in row-major order.
    Reshape,
    /// First position and step in each dimension.
    Slice(Vec<(SizeId, i64)>),
    /// The dimensions that run backwards.
    Reverse(Vec<usize>),
    /// First positions that are computed when the program runs, each with the largest that fits.
    DynamicSlice(Vec<(TensorId, SizeId)>),
}

impl View {
    /// The position in the operand, of sizes `from`, of position `at` in the view, of sizes `to`. `None` where no affine function
    /// says it.
    pub(crate) fn compose(
        &self,
        from: &[SizeId],
        to: &[SizeId],
        at: &[Index],
        sizes: &mut Sizes,
    ) -> Result<Option<Vec<Index>>, LowerError> {
        let index = match self {
            Self::Broadcast(dimensions) => broadcast(dimensions, from, to, at, sizes)?,
            Self::Transpose(permutation) => {
                let mut index = at.to_vec();
                for (position, dim) in at.iter().zip(permutation) {
                    index[*dim] = position.clone();
                }
                index
            }
            Self::Reshape => return reshape(from, to, at, sizes),
            Self::Slice(places) => {
                let sliced = at.iter().zip(places).map(|(position, (start, step))| {
                    position
                        .scaled(&Expr::constant(*step))?
                        .shifted(sizes.expression(*start))
                });
                sliced.collect::<Result<_, _>>()?
            }
            Self::Reverse(dimensions) => {
                let mut index = at.to_vec();
                for dim in dimensions {
                    let last = sizes.expression(from[*dim]).sub(&Expr::constant(1))?;
                    index[*dim] = at[*dim].scaled(&Expr::constant(-1))?.shifted(&last)?;
                }
                index
            }
            Self::DynamicSlice(starts) => {
                let started = at.iter().zip(starts).map(|(position, (start, max))| {
                    if sizes.as_number(*max) == Some(0) {
                        position.clone()
                    } else {
                        position.started(*start, *max)
                    }
                });
                started.collect()
            }
        };
        Ok(Some(index))
    }
}

fn broadcast(
    dimensions: &[usize],
    from: &[SizeId],
    to: &[SizeId],
    at: &[Index],
    sizes: &Sizes,
) -> Result<Vec<Index>, LowerError> {
    let place = |(size, dim): (&SizeId, &usize)| {
        if *size == to[*dim] {
            return Ok(at[*dim].clone());
        }
        match sizes.as_number(*size) {
            Some(1) => Ok(Index::default()),
            Some(_) => Ok(at[*dim].clone()),
            // 1 or the size of the result: the step is 0 or 1, and known with the sizes.
            None => {
                let factor = step_unless_one(sizes.expression(*size))?;
                Ok(at[*dim].scaled(&factor)?)
            }
        }
    };
    from.iter().zip(dimensions).map(place).collect()
}

/// 0 for a size of 1, else 1.
fn step_unless_one(size: &Expr) -> Result<Expr, LowerError> {
    let less = size.sub(&Expr::constant(1))?;
    Ok(less.minimum(&Expr::constant(1))?)
}

/// Dimensions of 1 come and go, and a dimension may be made of several; anything else is no affine function.
fn reshape(
    from: &[SizeId],
    to: &[SizeId],
    at: &[Index],
    sizes: &mut Sizes,
) -> Result<Option<Vec<Index>>, LowerError> {
    let is_one = |sizes: &Sizes, dim: SizeId| sizes.as_number(dim) == Some(1);
    let mut index = vec![Index::default(); from.len()];
    let mut next = 0;
    for (dim, size) in from.iter().enumerate() {
        if is_one(sizes, *size) {
            continue;
        }
        let mut product = sizes.number(1);
        let mut position = Index::default();
        while product != *size {
            let Some(part) = to.get(next).copied() else {
                return Ok(None);
            };
            if !is_one(sizes, part) {
                let factor = sizes.expression(part).clone();
                position = position.scaled(&factor)?.plus(&at[next])?;
                product = sizes.product(product, part)?;
                let (have, want) = (sizes.as_number(product), sizes.as_number(*size));
                if have
                    .zip(want)
                    .is_some_and(|(have, want)| have > want || have == 0)
                {
                    return Ok(None);
                }
            }
            next += 1;
        }
        index[dim] = position;
    }
    Ok(to[next..]
        .iter()
        .all(|rest| is_one(sizes, *rest))
        .then_some(index))
}
