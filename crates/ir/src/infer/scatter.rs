//! Scatter (spec, "scatter").

use super::element::Elements;
use super::indexing::{Batching, accumulated, check_vector_length};
use super::region::{Reducer, scalars};
use super::{compatible, positions};
use crate::attribute::ScatterDimensionNumbers;
use crate::op::Scatter;
use crate::types::TensorType;
use crate::verify::context::{OpContext, OpResult, ensure};

pub(super) fn rules(op: &Scatter, cx: &OpContext<'_>) -> OpResult {
    let count = cx.operands.len() / 2;
    ensure!(
        cx.operands.len() == 2 * count + 1,
        "expects inputs, indices and as many updates as inputs, but has {} operands (C5)",
        cx.operands.len()
    );
    let tensors = |range: std::ops::Range<usize>| -> OpResult<Vec<&TensorType>> {
        range.map(|index| cx.tensor(index, Elements::ANY)).collect()
    };
    let (inputs, updates) = (tensors(0..count)?, tensors(count + 1..cx.operands.len())?);
    let indices = cx.tensor(count, Elements::PRED_INT.or(Elements::INDEX))?;
    for (what, list, rule) in [("inputs", &inputs, "C1"), ("updates", &updates, "C3")] {
        for other in list {
            ensure!(
                compatible::shapes(list[0], other),
                "expects {what} of one shape, but got '{}' and '{other}' ({rule})",
                list[0]
            );
        }
    }
    // C6, C23 to C25.
    let initial = scalars(&updates);
    let reducer = Reducer {
        inputs: &inputs,
        initial: &initial,
        sizes: &[],
    };
    let results = accumulated(&reducer, cx)?;
    for (input, update) in inputs.iter().zip(&updates) {
        check_numbers(&op.scatter_dimension_numbers, input, indices, update)?;
    }
    Ok(results)
}

/// Dimension numbers against ranks and sizes (C2, C4, C7 to C22).
fn check_numbers(
    numbers: &ScatterDimensionNumbers,
    input: &TensorType,
    indices: &TensorType,
    update: &TensorType,
) -> OpResult<()> {
    let ScatterDimensionNumbers {
        update_window_dims,
        inserted_window_dims,
        input_batching_dims,
        scatter_indices_batching_dims,
        scatter_dims_to_operand_dims,
        index_vector_dim,
    } = numbers;
    // C22.
    let vector = positions::dimension_or_end("index_vector_dim", *index_vector_dim, indices.rank())?;
    let covered = update_window_dims.len() + inserted_window_dims.len() + input_batching_dims.len();
    ensure!(
        covered == input.rank(),
        "update_window_dims, inserted_window_dims and input_batching_dims have {covered} elements together, which does not match \
         the rank of the input ({}) (C2)",
        input.rank()
    );
    // C7, C8.
    positions::ensure_sorted("update_window_dims", update_window_dims)?;
    positions::ensure_unique("update_window_dims", update_window_dims)?;
    let windows = positions::dimensions("update_window_dims", update_window_dims, update.rank())?;
    // C9 to C13.
    let names = ["inserted_window_dims", "input_batching_dims"];
    positions::ensure_distinct(names, [inserted_window_dims, input_batching_dims])?;
    for (name, list) in names.into_iter().zip([inserted_window_dims, input_batching_dims]) {
        positions::ensure_sorted(name, list)?;
        positions::dimensions(name, list, input.rank())?;
    }
    // C14 to C18.
    let batching = Batching {
        names: ["input_batching_dims", "scatter_indices_batching_dims"],
        lists: [input_batching_dims, scatter_indices_batching_dims],
        index_vector_dim: *index_vector_dim,
    };
    batching.check(input, indices)?;
    // C19.
    check_vector_length(
        "scatter_dims_to_operand_dims",
        scatter_dims_to_operand_dims,
        indices,
        vector,
    )?;
    // C20, C21.
    let names = ["scatter_dims_to_operand_dims", "input_batching_dims"];
    positions::ensure_distinct(names, [scatter_dims_to_operand_dims, input_batching_dims])?;
    positions::dimensions(names[0], scatter_dims_to_operand_dims, input.rank())?;
    let skipped = positions::dimensions(
        "dropped dimensions",
        &[inserted_window_dims.as_slice(), input_batching_dims].concat(),
        input.rank(),
    )?;
    let kept = positions::others(input.rank(), &[&skipped]);
    check_update(input, indices, update, [&windows, &kept], vector)
}

/// C4: window dimensions of an update are not larger than those of the input that are kept; others are as in the indices.
fn check_update(
    input: &TensorType,
    indices: &TensorType,
    update: &TensorType,
    [windows, kept]: [&[usize]; 2],
    vector: usize,
) -> OpResult<()> {
    let batches = positions::others(indices.rank(), &[&[vector]]);
    let scatters = positions::others(update.rank(), &[windows]);
    ensure!(
        scatters.len() == batches.len(),
        "expects updates of rank {}, but got '{update}' (C4)",
        windows.len() + batches.len()
    );
    for (window, dim) in windows.iter().zip(kept) {
        if let (Some(size), Some(limit)) = (update.dims[*window].as_static(), input.dims[*dim].as_static()) {
            ensure!(
                size <= limit,
                "window dimension {window} of the updates has size {size}, larger than {limit} of input dimension {dim} (C4)"
            );
        }
    }
    for (scatter, batch) in scatters.iter().zip(&batches) {
        let (size, expected) = (&update.dims[*scatter], &indices.dims[*batch]);
        ensure!(
            size.compatible(expected),
            "dimension {scatter} of the updates has size {size}, but dimension {batch} of the indices has {expected} (C4)"
        );
    }
    Ok(())
}
