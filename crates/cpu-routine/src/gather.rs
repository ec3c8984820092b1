//! Slices at given places: `gather`.

use artifact_ir::types::ElementType;
use smallvec::SmallVec;

use crate::copy::{elements, run};
use crate::error::{RoutineError, check_same};
use crate::number::{read_index, with_integer};
use crate::odometer::{Cursor, Loop, Nest};
use crate::pool::Parallel;
use crate::view::{Axis, Source, Target, View, ViewMut};

const GATHER: &str = "gather";

/// Bytes that one task moves, about.
const TASK_BYTES: usize = 1 << 17;

/// How indices and slices map to dimensions (spec, "gather").
#[derive(Clone, Copy, Debug)]
pub struct Dimensions<'a> {
    /// Result dimensions that hold slices, ascending.
    pub offset: &'a [usize],
    /// Operand dimensions of slice size 1 that are dropped.
    pub collapsed: &'a [usize],
    /// Operand dimensions that are batched with the indices.
    pub operand_batching: &'a [usize],
    /// Index dimensions that are batched with the operand, in the same order.
    pub index_batching: &'a [usize],
    /// Operand dimension of each component of an index.
    pub start_index_map: &'a [usize],
    /// Index dimension that holds the components; the rank of the indices when each is one component.
    pub index_vector_dim: usize,
    /// Size of a slice in each operand dimension.
    pub slice_sizes: &'a [usize],
}

/// Spec, "gather": starts are moved so that every slice lies within the operand.
///
/// # Errors
/// A mismatch of shapes and dimensions, indices that are no integers, or [`RoutineError::Stopped`].
pub fn gather(
    parallel: Parallel<'_>,
    dimensions: &Dimensions<'_>,
    operand: &View<'_>,
    indices: &View<'_>,
    out: &mut ViewMut<'_>,
) -> Result<(), RoutineError> {
    let job = Job::new(dimensions, operand, indices, out)?;
    if out.is_empty() {
        return Ok(());
    }
    if operand.is_empty() {
        return Err(RoutineError::mismatch(
            GATHER,
            "an operand without elements has none to gather",
        ));
    }
    job.run(parallel)
}

/// The indices of a gather or scatter: how many there are and where their components go.
pub(crate) struct Indices {
    element: ElementType,
    data: Source,
    component_step: isize,
    /// Dimension of the operand of each component.
    pub(crate) map: SmallVec<[usize; 6]>,
    /// The dimensions that count indices.
    pub(crate) batch: SmallVec<[Axis; 6]>,
    /// Pairs of an operand's batching dimension and the place of its index dimension in `batch`.
    pub(crate) batching: SmallVec<[(usize, usize); 2]>,
}

impl Indices {
    pub(crate) fn new(
        routine: &'static str,
        indices: &View<'_>,
        vector_dim: usize,
        map: &[usize],
        batching: [&[usize]; 2],
        operand: &[usize],
    ) -> Result<Self, RoutineError> {
        if !indices.element().is_integer() {
            return Err(RoutineError::unsupported(routine, indices.element()));
        }
        let mut batch: SmallVec<[Axis; 6]> = indices.axes().into();
        let vector = (vector_dim < batch.len()).then(|| batch.remove(vector_dim));
        let components = vector.map_or(1, |axis| axis.size);
        check_same(
            routine,
            "the number of components of an index",
            &[components],
            &[map.len()],
        )?;
        check_same(
            routine,
            "the number of batching dimensions",
            &[batching[1].len()],
            &[batching[0].len()],
        )?;
        let mut pairs = SmallVec::new();
        for (dim, index_dim) in batching[0].iter().zip(batching[1]) {
            let place = if *index_dim > vector_dim {
                index_dim - 1
            } else {
                *index_dim
            };
            let sizes = (operand.get(*dim), batch.get(place).map(|axis| &axis.size));
            if *index_dim == vector_dim || sizes.0.is_none() || sizes.0 != sizes.1 {
                let what = format!("dimensions {dim} and {index_dim} are not batched with each other");
                return Err(RoutineError::mismatch(routine, what));
            }
            pairs.push((*dim, place));
        }
        // A dimension with two starts could end beyond its last index.
        let moved = [map, batching[0]].concat();
        let is_fresh = |(at, dim): (usize, &usize)| *dim < operand.len() && !moved[..at].contains(dim);
        if !moved.iter().enumerate().all(is_fresh) {
            return Err(RoutineError::mismatch(
                routine,
                format!("{moved:?} are not the dimensions of {operand:?} that are indexed or batched"),
            ));
        }
        Ok(Self {
            element: indices.element(),
            data: Source::new(indices.data()),
            component_step: vector.map_or(0, |axis| axis.stride),
            map: map.into(),
            batch,
            batching: pairs,
        })
    }

    /// A component of the index at an offset.
    ///
    /// # Safety
    /// The offset is of an index of the view that the indices were made of.
    #[inline(always)]
    pub(crate) unsafe fn component(&self, offset: isize, component: usize) -> i64 {
        let at = self.data.at(offset + component as isize * self.component_step);
        // SAFETY: the caller's promise.
        unsafe { read_index(self.element, at) }
    }

    /// A component of many indices, `step` bytes apart from an offset on.
    ///
    /// # Safety
    /// As for [`component`](Self::component), for all of them.
    pub(crate) unsafe fn read(&self, offset: isize, step: isize, component: usize, to: &mut [i64]) {
        let first = self.data.at(offset + component as isize * self.component_step);
        with_integer!(self.element, T => {
            for (number, value) in to.iter_mut().enumerate() {
                // SAFETY: the caller's promise.
                let read = unsafe { first.offset(number as isize * step).cast::<T>().read_unaligned() };
                *value = i64::try_from(i128::from(read)).unwrap_or(i64::MAX);
            }
        }, _ => to.fill(0));
    }
}

/// Pairs the dimensions of a result with what they count: those listed in `window` with `within` in order, the
/// others with `batch`.
fn split_axes(
    axes: &[Axis],
    window: &[usize],
    within: &[usize],
    batch: &[Axis],
) -> Result<[SmallVec<[Axis; 6]>; 2], RoutineError> {
    if let Some(dim) = window.iter().find(|dim| **dim >= axes.len()) {
        return Err(RoutineError::mismatch(
            GATHER,
            format!("there is no dimension {dim} for slices"),
        ));
    }
    let inner: SmallVec<[Axis; 6]> = window.iter().map(|dim| axes[*dim]).collect();
    let outer: SmallVec<[Axis; 6]> = (0..axes.len())
        .filter(|dim| !window.contains(dim))
        .map(|dim| axes[dim])
        .collect();
    let sizes = |axes: &[Axis]| -> Vec<usize> { axes.iter().map(|axis| axis.size).collect() };
    check_same(
        GATHER,
        "the dimensions of slices and indices together",
        &[inner.len() + outer.len()],
        &[axes.len()],
    )?;
    check_same(GATHER, "the dimensions of a slice", &sizes(&inner), within)?;
    check_same(
        GATHER,
        "the dimensions that count indices",
        &sizes(&outer),
        &sizes(batch),
    )?;
    Ok([inner, outer])
}

struct Job {
    indices: Indices,
    /// The last start and the stride of each component's dimension.
    components: SmallVec<[(i64, isize); 6]>,
    operand: Source,
    out: Target,
    width: usize,
    /// Loops over indices: steps in the indices, the result and the operand.
    batches: Nest<3>,
    /// Loops over a slice: steps in the operand and the result.
    slice: Nest<2>,
}

impl Job {
    fn new(
        dimensions: &Dimensions<'_>,
        operand: &View<'_>,
        indices: &View<'_>,
        out: &ViewMut<'_>,
    ) -> Result<Self, RoutineError> {
        let shape = operand.shape();
        let sizes = dimensions.slice_sizes;
        if sizes.len() != shape.len() || sizes.iter().zip(&shape).any(|(size, limit)| size > limit) {
            let what = format!("slices of sizes {sizes:?} do not lie within an operand of shape {shape:?}");
            return Err(RoutineError::mismatch(GATHER, what));
        }
        check_same(
            GATHER,
            "the width of an element",
            &[out.width()],
            &[operand.width()],
        )?;
        let indices = Indices::new(
            GATHER,
            indices,
            dimensions.index_vector_dim,
            dimensions.start_index_map,
            [dimensions.operand_batching, dimensions.index_batching],
            &shape,
        )?;
        let dropped = [dimensions.collapsed, dimensions.operand_batching].concat();
        if let Some(dim) = dropped
            .iter()
            .find(|dim| sizes.get(**dim).is_none_or(|size| *size > 1))
        {
            return Err(RoutineError::mismatch(
                GATHER,
                format!("dimension {dim} of a slice is dropped, but not 1"),
            ));
        }
        let kept: Vec<usize> = (0..shape.len()).filter(|dim| !dropped.contains(dim)).collect();
        let within: Vec<usize> = kept.iter().map(|dim| sizes[*dim]).collect();
        let [inner, outer] = split_axes(out.axes(), dimensions.offset, &within, &indices.batch)?;
        let mut slice = Nest::default();
        for (axis, dim) in inner.iter().zip(&kept) {
            slice.push(axis.size, [operand.axes()[*dim].stride, axis.stride]);
        }
        let mut batches = Nest::default();
        for (place, (axis, from)) in outer.iter().zip(&indices.batch).enumerate() {
            let paired = indices.batching.iter().filter(|(_, at)| *at == place);
            let stride = paired.map(|(dim, _)| operand.axes()[*dim].stride).sum();
            batches.push(axis.size, [from.stride, axis.stride, stride]);
        }
        let component = |dim: &usize| ((shape[*dim] - sizes[*dim]) as i64, operand.axes()[*dim].stride);
        Ok(Self {
            components: indices.map.iter().map(component).collect(),
            indices,
            operand: Source::new(operand.data()),
            out: Target::new(out.data()),
            width: out.width(),
            batches: batches.collapsed(),
            slice: slice.collapsed(),
        })
    }

    fn run(&self, parallel: Parallel<'_>) -> Result<(), RoutineError> {
        let bytes = self.slice.count() * self.width;
        let count = self.batches.count();
        let first = self.slice.loops.first().copied();
        let pieces = first.map_or(1, |first| bytes.div_ceil(TASK_BYTES).clamp(1, first.size));
        if pieces == 1 {
            let (outer, last) = self.slice.clone().split_last();
            return parallel.ranges(count, TASK_BYTES / bytes.max(1), &|range, _| {
                self.copy_slices(range, &outer, last);
            });
        }
        // Slices so large that each is cut along its first dimension.
        let long = first.map_or(1, |first| first.size.div_ceil(pieces));
        parallel.run(count * pieces, &|task| {
            let (batch, piece) = (task.index / pieces, task.index % pieces);
            let mut slice = self.slice.clone();
            let mut skipped = [0; 2];
            if let Some(first) = slice.loops.first_mut() {
                let start = (piece * long).min(first.size);
                first.size = long.min(first.size - start);
                skipped = first.steps.map(|step| start as isize * step);
            }
            if slice.count() > 0 {
                let (outer, last) = slice.split_last();
                self.copy_slice(self.batches.offsets(batch), skipped, &outer, last);
            }
        })
    }

    fn copy_slices(&self, range: std::ops::Range<usize>, outer: &Nest<2>, last: Loop<2>) {
        let mut cursor = Cursor::at(&self.batches, range.start);
        for _ in range {
            self.copy_slice(cursor.offsets, [0; 2], outer, last);
            cursor.step(&self.batches);
        }
    }

    /// Copies the slice of one index, or a part that begins at `skipped`.
    #[inline]
    fn copy_slice(&self, [index, to, from]: [isize; 3], skipped: [isize; 2], outer: &Nest<2>, last: Loop<2>) {
        let mut from = from + skipped[0];
        for (component, (most, stride)) in self.components.iter().enumerate() {
            // SAFETY: the offset is of an index of the view.
            let start = unsafe { self.indices.component(index, component) };
            from += start.clamp(0, *most) as isize * stride;
        }
        let to = to + skipped[1];
        let width = self.width as isize;
        let copy = |[source, target]: [isize; 2]| {
            let (source, target) = (self.operand.at(from + source), self.out.at(to + target));
            // SAFETY: a clamped slice lies within the operand, and its elements of the result are written by one task.
            unsafe {
                if last.steps == [width; 2] || last.size == 1 {
                    run(source, target, last.size * self.width);
                } else {
                    elements(
                        self.width,
                        (source, last.steps[0]),
                        (target, last.steps[1]),
                        last.size,
                    );
                }
            }
        };
        if outer.loops.is_empty() {
            copy([0; 2]);
        } else {
            outer.for_each(0..outer.count(), copy);
        }
    }
}
