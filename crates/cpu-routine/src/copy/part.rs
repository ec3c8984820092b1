//! Parts of arrays: slices, static and dynamic, and concatenation.

use super::copy;
use crate::error::{RoutineError, check_same};
use crate::pool::Parallel;
use crate::view::{View, ViewMut};

const PART: &str = "slice";

/// Spec, "slice": every `strides[d]`-th index of dimension `d` from `starts[d]` on, as many as `to` has.
///
/// # Errors
/// A mismatch of ranks, or a part that does not lie within `from`; [`RoutineError::Stopped`].
pub fn slice(
    parallel: Parallel<'_>,
    from: &View<'_>,
    starts: &[usize],
    strides: &[usize],
    to: &mut ViewMut<'_>,
) -> Result<(), RoutineError> {
    let rank = from.rank();
    check_same(
        PART,
        "the numbers of starts, strides and sizes",
        &[starts.len(), strides.len(), to.rank()],
        &[rank; 3],
    )?;
    let mut part = from.clone();
    for dim in 0..rank {
        part = part.part(dim, starts[dim], to.axes()[dim].size, strides[dim])?;
    }
    copy(parallel, &part, to)
}

/// Spec, "dynamic_slice": a part of the shape of `to`. Starts are moved so that it lies within `from`.
///
/// # Errors
/// A mismatch of ranks, or a part larger than `from`; [`RoutineError::Stopped`].
pub fn dynamic_slice(
    parallel: Parallel<'_>,
    from: &View<'_>,
    starts: &[i64],
    to: &mut ViewMut<'_>,
) -> Result<(), RoutineError> {
    let starts = clamped(starts, &from.shape(), &to.shape())?;
    slice(parallel, from, &starts, &vec![1; starts.len()], to)
}

/// Spec, "dynamic_update_slice" in place: a part of `into` becomes `update`. Starts are moved so that it lies within `into`.
/// The rest of `into` is left alone: the caller has copied it, or gives the operand's own buffer.
///
/// # Errors
/// A mismatch of ranks, or an update larger than `into`; [`RoutineError::Stopped`].
pub fn dynamic_update_slice(
    parallel: Parallel<'_>,
    into: &mut ViewMut<'_>,
    update: &View<'_>,
    starts: &[i64],
) -> Result<(), RoutineError> {
    let starts = clamped(starts, &into.shape(), &update.shape())?;
    let mut part = into.reborrow();
    for (dim, start) in starts.iter().enumerate() {
        part = part.part(dim, *start, update.axes()[dim].size, 1)?;
    }
    copy(parallel, update, &mut part)
}

/// Spec, "concatenate": the parts one after the other along a dimension.
///
/// # Errors
/// A mismatch when the parts do not make `to`; [`RoutineError::Stopped`].
pub fn concatenate(
    parallel: Parallel<'_>,
    parts: &[View<'_>],
    dim: usize,
    to: &mut ViewMut<'_>,
) -> Result<(), RoutineError> {
    let size_of = |part: &View<'_>| part.axes().get(dim).map(|axis| axis.size);
    let sizes: Option<Vec<usize>> = parts.iter().map(size_of).collect();
    let total = sizes.as_ref().map(|sizes| sizes.iter().sum::<usize>());
    if total.is_none() || total != to.axes().get(dim).map(|axis| axis.size) {
        return Err(RoutineError::mismatch(
            "concatenate",
            format!(
                "parts of sizes {sizes:?} do not make dimension {dim} of {:?}",
                to.shape()
            ),
        ));
    }
    let mut start = 0;
    for (part, size) in parts.iter().zip(sizes.unwrap_or_default()) {
        copy(parallel, part, &mut to.reborrow().part(dim, start, size, 1)?)?;
        start += size;
    }
    Ok(())
}

/// Starts of a part of shape `part` moved to within `whole`.
fn clamped(starts: &[i64], whole: &[usize], part: &[usize]) -> Result<Vec<usize>, RoutineError> {
    check_same(
        PART,
        "the numbers of starts and sizes",
        &[starts.len(), part.len()],
        &[whole.len(); 2],
    )?;
    let within = |((start, whole), part): ((&i64, &usize), &usize)| {
        let most = whole.checked_sub(*part)?;
        Some(usize::try_from(*start).unwrap_or(0).min(most))
    };
    let starts: Option<Vec<usize>> = starts.iter().zip(whole).zip(part).map(within).collect();
    starts.ok_or_else(|| {
        RoutineError::mismatch(
            PART,
            format!("a part of shape {part:?} does not fit into {whole:?}"),
        )
    })
}
