//! Fills and pads.

use super::copy;
use crate::error::{RoutineError, check_same};
use crate::pool::Parallel;
use crate::view::{View, ViewMut};

const PAD: &str = "pad";

/// Padding of one dimension (spec, "pad"). Negative edges trim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Padding {
    /// Elements before the first.
    pub low: i64,
    /// Elements after the last.
    pub high: i64,
    /// Elements between neighbours.
    pub interior: u64,
}

/// Sets every element of `to` to the element that `value`, a view of rank 0 and as wide, holds.
///
/// # Errors
/// A mismatch of rank or widths; [`RoutineError::Stopped`].
pub fn fill(parallel: Parallel<'_>, value: &View<'_>, to: &mut ViewMut<'_>) -> Result<(), RoutineError> {
    copy(parallel, &value.broadcast(&to.shape(), &[])?, to)
}

/// Spec, "pad". `value` is of rank 0; there is one padding for each dimension.
///
/// # Errors
/// A mismatch of ranks, widths, or of the result's shape and the padding; [`RoutineError::Stopped`].
pub fn pad(
    parallel: Parallel<'_>,
    from: &View<'_>,
    value: &View<'_>,
    padding: &[Padding],
    to: &mut ViewMut<'_>,
) -> Result<(), RoutineError> {
    let rank = from.rank();
    check_same(
        PAD,
        "the rank and the number of paddings",
        &[to.rank(), padding.len()],
        &[rank; 2],
    )?;
    let (mut source, mut rest) = (from.clone(), to.reborrow());
    for (dim, padding) in padding.iter().enumerate() {
        let kept = Kept::new(from.axes()[dim].size, rest.axes()[dim].size, *padding)?;
        source = source.part(dim, kept.source, kept.count, 1)?;
        let size = rest.axes()[dim].size;
        let past = kept.past();
        // What lies before and after the kept elements along this dimension, and within those along the earlier ones.
        fill(
            parallel,
            value,
            &mut rest.reborrow().part(dim, 0, kept.target, 1)?,
        )?;
        fill(
            parallel,
            value,
            &mut rest.reborrow().part(dim, past, size - past, 1)?,
        )?;
        if kept.step > 1 {
            // The kept elements are written again below.
            fill(
                parallel,
                value,
                &mut rest.reborrow().part(dim, kept.target, kept.span(), 1)?,
            )?;
        }
        rest = rest.part(dim, kept.target, kept.count, kept.step)?;
    }
    copy(parallel, &source, &mut rest)
}

/// The elements of one dimension that the result has, and where.
struct Kept {
    source: usize,
    target: usize,
    count: usize,
    step: usize,
}

impl Kept {
    fn new(from: usize, to: usize, padding: Padding) -> Result<Self, RoutineError> {
        let step = i128::from(padding.interior) + 1;
        let (low, from_wide, to_wide) = (i128::from(padding.low), from as i128, to as i128);
        let spread = if from == 0 { 0 } else { (from_wide - 1) * step + 1 };
        let expected = (low + spread + i128::from(padding.high)).max(0);
        if expected != to_wide {
            return Err(RoutineError::mismatch(
                PAD,
                format!("{from} elements with {padding:?} make {expected}, but the result has {to}"),
            ));
        }
        // The first element that is not trimmed, and the number of those up to the end of the result.
        let first = if low < 0 { (-low + step - 1) / step } else { 0 };
        let target = low + first * step;
        let within = if target < to_wide {
            (to_wide - target - 1) / step + 1
        } else {
            0
        };
        let count = within.min(from_wide - first).max(0);
        Ok(Self {
            source: if count > 0 { first as usize } else { 0 },
            target: if count > 0 { target as usize } else { 0 },
            count: count as usize,
            step: if count > 1 { step as usize } else { 1 },
        })
    }

    /// Positions from the first kept one to the last.
    fn span(&self) -> usize {
        self.count.saturating_sub(1) * self.step + usize::from(self.count > 0)
    }

    fn past(&self) -> usize {
        self.target + self.span()
    }
}
