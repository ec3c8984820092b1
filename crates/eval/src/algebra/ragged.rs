//! `chlo.ragged_dot`.

use std::sync::Arc;

use artifact_ir::attribute::RaggedDotDimensionNumbers;
use artifact_ir::op::RaggedDot;
use artifact_ir::types::TensorType;

use super::axes::{axes, check_same, check_shape, count, integers, offsets, pick, strides};
use super::dot::Roles;
use super::expressed::{expressed, stored};
use super::number::{Arithmetic, Number, in_arithmetic_of, numbers};
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// ODS, `chlo.ragged_dot`: a dot whose left operand has one dimension that is cut into consecutive groups. What lies behind
/// the last group takes no part, which leaves zeros, as in the decomposition of the dialect's own passes.
///
/// * The ragged dimension is free: each group has its own slice of the right operand.
/// * It is contracted: each group has its own slice of the result, in front.
/// * It is batched: the groups only tell which batches take part.
pub(super) fn ragged_dot(
    op: &RaggedDot,
    lhs: &Tensor,
    rhs: &Tensor,
    group_sizes: &Tensor,
    ty: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    let (lhs, rhs) = (expressed(lhs)?, expressed(rhs)?);
    let sums = Sums::new(&op.ragged_dot_dimension_numbers, lhs, rhs, group_sizes)?;
    check_shape(ty, &sums.shape)?;
    let plain = Arc::new(ty.with_element(ty.element.expressed()));
    let elements = in_arithmetic_of(&plain, &sums)?;
    stored(&Tensor::from_scalars(plain, &elements)?, ty)
}

/// As [`super::dot::Products`], with a table that tells the group of each term.
struct Sums {
    lhs: Tensor,
    rhs: Tensor,
    shape: Vec<usize>,
    summed: Vec<usize>,
    /// For left operand, right operand and table: strides by dimension of the result.
    strides: [Vec<usize>; 3],
    /// The same by dimension of `summed`.
    summed_strides: [Vec<usize>; 3],
    groups: Vec<Option<usize>>,
    /// How far a group's slice of the right operand is from the one before.
    group_stride: usize,
    /// Elements of the result in each group's slice, where groups have slices of the result.
    result_slice: Option<usize>,
}

impl Sums {
    fn new(
        numbers: &RaggedDotDimensionNumbers,
        lhs: Tensor,
        rhs: Tensor,
        group_sizes: &Tensor,
    ) -> Result<Self, EvalError> {
        let shapes = [lhs.shape(), rhs.shape()];
        let all = [strides(&shapes[0]), strides(&shapes[1])];
        let mut roles = Roles::new(&numbers.dot, &lhs, &rhs)?;
        let group_dims = axes(&numbers.rhs_group_dimensions, shapes[1].len())?;
        roles.free[1].retain(|dim| !group_dims.contains(dim));
        let [ragged] = axes(&numbers.lhs_ragged_dimensions, shapes[0].len())?[..] else {
            return Err(EvalError::invalid_input("there must be one ragged dimension"));
        };
        for dims in [&roles.batching, &roles.contracting] {
            check_same(
                "dimensions of both sides",
                &pick(&shapes[0], &dims[0]),
                &pick(&shapes[1], &dims[1]),
            )?;
        }

        let table = Table::new(&roles, ragged, &shapes[0], group_sizes)?;
        let contracted = roles.contracting[0].contains(&ragged);
        let free = [0, 1].map(|side| pick(&shapes[side], &roles.free[side]));
        let mut shape = [
            pick(&shapes[0], &roles.batching[0]),
            free[0].clone(),
            free[1].clone(),
        ]
        .concat();
        let none = [vec![0; free[0].len()], vec![0; free[1].len()]];
        let mut strides = [
            [
                pick(&all[0], &roles.batching[0]),
                pick(&all[0], &roles.free[0]),
                none[1].clone(),
            ]
            .concat(),
            [
                pick(&all[1], &roles.batching[1]),
                none[0].clone(),
                pick(&all[1], &roles.free[1]),
            ]
            .concat(),
            [
                pick(&table.strides, &roles.batching[0]),
                pick(&table.strides, &roles.free[0]),
                none[1].clone(),
            ]
            .concat(),
        ];
        let result_slice = contracted.then(|| count(&shape));
        if contracted {
            shape.insert(0, table.group_count);
            strides.iter_mut().for_each(|strides| strides.insert(0, 0));
        }
        Ok(Self {
            shape,
            strides,
            summed: pick(&shapes[0], &roles.contracting[0]),
            summed_strides: [
                pick(&all[0], &roles.contracting[0]),
                pick(&all[1], &roles.contracting[1]),
                pick(&table.strides, &roles.contracting[0]),
            ],
            groups: table.groups,
            group_stride: group_stride(&group_dims, &shapes[1], &all[1], table.group_count)?,
            result_slice,
            lhs,
            rhs,
        })
    }
}

/// Stride of the right operand's group dimension, which has a slice for each group; 0 if there is none.
fn group_stride(
    dims: &[usize],
    shape: &[usize],
    strides: &[usize],
    groups: usize,
) -> Result<usize, EvalError> {
    match dims {
        [] => Ok(0),
        [dim] => {
            check_same("the numbers of groups", &[shape[*dim]], &[groups])?;
            Ok(strides[*dim])
        }
        _ => Err(EvalError::invalid_input(
            "there must be at most one group dimension",
        )),
    }
}

/// The group of each position along the ragged dimension, by the left operand's dimensions before it in its role.
struct Table {
    groups: Vec<Option<usize>>,
    group_count: usize,
    /// Strides of the table by dimension of the left operand.
    strides: Vec<usize>,
}

impl Table {
    fn new(roles: &Roles, ragged: usize, shape: &[usize], group_sizes: &Tensor) -> Result<Self, EvalError> {
        let before = |dims: &[usize]| -> Vec<usize> {
            dims.iter().copied().take_while(|dim| *dim != ragged).collect()
        };
        let mut prefix = before(&roles.batching[0]);
        if !roles.batching[0].contains(&ragged) {
            let own = if roles.contracting[0].contains(&ragged) {
                &roles.contracting[0]
            } else {
                &roles.free[0]
            };
            prefix.extend(before(own));
        }
        let sizes_shape = group_sizes.shape();
        let Some((group_count, given)) = sizes_shape.split_last() else {
            return Err(EvalError::invalid_input(
                "the sizes of groups must be a vector or more",
            ));
        };
        let prefix_shape = pick(shape, &prefix);
        // A plain vector of sizes is for every prefix.
        let sizes_strides = if given.is_empty() {
            vec![0; prefix.len()]
        } else {
            check_same(
                "the leading dimensions of group sizes and operand",
                given,
                &prefix_shape,
            )?;
            strides(&sizes_shape)[..given.len()].to_vec()
        };

        let sizes = integers(group_sizes)?;
        let length = shape[ragged];
        let mut groups = Vec::new();
        for start in offsets(&prefix_shape, &sizes_strides) {
            let row = groups.len();
            for (group, size) in sizes[start..start + group_count].iter().enumerate() {
                let left = length - (groups.len() - row);
                let size = (*size).clamp(0, left as i128) as usize;
                groups.extend(std::iter::repeat_n(Some(group), size));
            }
            groups.resize(row + length, None);
        }
        let table_strides = strides(&[&prefix_shape[..], &[length]].concat());
        let dims: Vec<usize> = prefix.into_iter().chain([ragged]).collect();
        Ok(Self {
            groups,
            group_count: *group_count,
            strides: super::gather::spread(&dims, &table_strides, shape.len()),
        })
    }
}

impl Arithmetic for Sums {
    fn run<T: Number>(&self) -> Result<Vec<Scalar>, EvalError> {
        let (lhs, rhs) = (numbers::<T>(&self.lhs)?, numbers::<T>(&self.rhs)?);
        let [lhs_steps, rhs_steps, table_steps] =
            [0, 1, 2].map(|side| offsets(&self.summed, &self.summed_strides[side]).collect::<Vec<_>>());
        let [lhs_starts, rhs_starts, table_starts] =
            [0, 1, 2].map(|side| offsets(&self.shape, &self.strides[side]));
        let mut sums = Vec::new();
        for (number, ((left, right), table)) in lhs_starts.zip(rhs_starts).zip(table_starts).enumerate() {
            let slice = self.result_slice.map(|slice| number / slice);
            let mut sum = T::ZERO;
            for term in 0..lhs_steps.len() {
                let Some(group) = self.groups[table + table_steps[term]] else {
                    continue;
                };
                if slice.is_none_or(|slice| slice == group) {
                    let other = rhs[right + rhs_steps[term] + group * self.group_stride];
                    sum = sum.add(lhs[left + lhs_steps[term]].multiply(other));
                }
            }
            sums.push(sum.to_scalar());
        }
        Ok(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::testing::{ints, show, ty};
    use artifact_ir::attribute::DotDimensionNumbers;
    use artifact_ir::types::ElementType;

    /// `dims`: batching left, batching right, contracting left, contracting right, ragged, group.
    fn check(dims: [&[i64]; 6], operands: [Tensor; 3], shape: &[u64], expected: &str) {
        let op = RaggedDot {
            ragged_dot_dimension_numbers: RaggedDotDimensionNumbers {
                dot: DotDimensionNumbers {
                    lhs_batching_dimensions: dims[0].to_vec(),
                    rhs_batching_dimensions: dims[1].to_vec(),
                    lhs_contracting_dimensions: dims[2].to_vec(),
                    rhs_contracting_dimensions: dims[3].to_vec(),
                },
                lhs_ragged_dimensions: dims[4].to_vec(),
                rhs_group_dimensions: dims[5].to_vec(),
            },
            precision_config: None,
        };
        let [lhs, rhs, sizes] = operands;
        let result = ragged_dot(&op, &lhs, &rhs, &sizes, &ty(shape, ElementType::I64)).unwrap();
        assert_eq!(show(&result), expected);
    }

    #[test]
    fn ragged_rows() {
        let lhs = ints(&[4, 2], &[1, 2, 3, 4, 5, 6, 7, 8]);
        let rhs = ints(&[2, 2, 1], &[1, 10, 100, 1000]);
        let dims: [&[i64]; 6] = [&[], &[], &[1], &[1], &[0], &[0]];
        check(
            dims,
            [lhs.clone(), rhs.clone(), ints(&[2], &[1, 3])],
            &[4, 1],
            "21 4300 6500 8700",
        );
        check(
            dims,
            [lhs.clone(), rhs.clone(), ints(&[2], &[2, 1])],
            &[4, 1],
            "21 43 6500 0",
        );
        check(
            dims,
            [lhs, rhs, ints(&[2], &[0, 9])],
            &[4, 1],
            "2100 4300 6500 8700",
        );
    }

    #[test]
    fn ragged_rows_of_each_batch() {
        let lhs = ints(&[2, 2, 1], &[1, 2, 3, 4]);
        let rhs = ints(&[2, 2, 1, 1], &[1, 10, 100, 1000]);
        let sizes = ints(&[2, 2], &[1, 1, 2, 0]);
        check(
            [&[0], &[1], &[2], &[2], &[1], &[0]],
            [lhs, rhs, sizes],
            &[2, 2, 1],
            "1 200 30 40",
        );
    }

    #[test]
    fn ragged_contraction() {
        let lhs = ints(&[1, 4], &[1, 2, 3, 4]);
        let rhs = ints(&[4, 1], &[1, 10, 100, 1000]);
        let dims: [&[i64]; 6] = [&[], &[], &[1], &[0], &[1], &[]];
        check(dims, [lhs, rhs, ints(&[2], &[1, 2])], &[2, 1, 1], "1 320");
    }

    #[test]
    fn ragged_batches() {
        let lhs = ints(&[3, 1], &[1, 2, 3]);
        let rhs = ints(&[3, 1], &[1, 10, 100]);
        check(
            [&[0], &[0], &[1], &[1], &[0], &[]],
            [lhs, rhs, ints(&[2], &[1, 1])],
            &[3],
            "1 20 0",
        );
    }
}
