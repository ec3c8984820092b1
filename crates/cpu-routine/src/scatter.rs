//! Updates at given places: `scatter`.
//!
//! Threads share the work by ranges of one dimension of the result: each walks all updates in order and makes those that lie in
//! its range. So every element sees its updates in order, nobody writes where another does, and the number of ranges, which is
//! that of the threads, changes no bit.

use smallvec::SmallVec;

use crate::combine::{CombineRun, Combiner, Kernel};
use crate::error::{RoutineError, check_same};
use crate::gather::Indices;
use crate::level::prefetch;
use crate::odometer::{Cursor, Nest};
use crate::pool::Parallel;
use crate::view::{Source, Target, View, ViewMut, product};

const SCATTER: &str = "scatter";

/// Bytes of updates that are worth another thread.
const SHARE_BYTES: usize = 1 << 15;

/// Bytes of windows that each thread has at least when a dimension is cut that they span.
const COLUMN_BYTES: usize = 1024;

/// Updates for which the elements are asked before they are needed, and the bytes of one that are.
const AHEAD: usize = 8;
const AHEAD_BYTES: usize = 512;

/// How indices and updates map to dimensions (spec, "scatter").
#[derive(Clone, Copy, Debug)]
pub struct Dimensions<'a> {
    /// Update dimensions that hold windows, ascending.
    pub update_window: &'a [usize],
    /// Input dimensions of window size 1 that are absent from updates.
    pub inserted: &'a [usize],
    /// Input dimensions that are batched with the indices.
    pub input_batching: &'a [usize],
    /// Index dimensions that are batched with the input, in the same order.
    pub index_batching: &'a [usize],
    /// Input dimension of each component of an index.
    pub index_map: &'a [usize],
    /// Index dimension that holds the components; the rank of the indices when each is one component.
    pub index_vector_dim: usize,
}

/// Spec, "scatter", in place: `arrays` hold the inputs and become the results. There are as many updates, all of one shape.
/// Updates are made in ascending order of their index; an element out of bounds is skipped.
///
/// # Errors
/// A mismatch of shapes and dimensions, types that cannot be combined, indices that are no integers, or
/// [`RoutineError::Stopped`].
pub fn scatter(
    parallel: Parallel<'_>,
    dimensions: &Dimensions<'_>,
    combiner: &Combiner<'_>,
    indices: &View<'_>,
    updates: &[View<'_>],
    arrays: &mut [ViewMut<'_>],
) -> Result<(), RoutineError> {
    let job = Job::new(dimensions, combiner, indices, updates, arrays)?;
    let empty = |view: &ViewMut<'_>| view.is_empty();
    if updates.iter().any(View::is_empty) || arrays.iter().any(empty) {
        return Ok(());
    }
    job.run(parallel)
}

/// One array and its updates.
struct Array {
    to: Target,
    from: Source,
    width: usize,
    /// Strides of the array, and of the updates along its dimensions: 0 where an update has none.
    strides: SmallVec<[[isize; 2]; 6]>,
    /// Strides of the updates along the loops over updates.
    walk: SmallVec<[isize; 6]>,
    kernel: Option<Kernel>,
}

/// A part of each dimension.
type Ranges = SmallVec<[[i64; 2]; 6]>;

/// How much of a window lies within ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Overlap {
    Whole,
    Part,
    Nothing,
}

/// How the dimensions of updates are walked.
struct Layout {
    /// Size of an update's window in each dimension of the arrays, and the dimension of updates that it is.
    window: SmallVec<[usize; 6]>,
    window_dims: SmallVec<[Option<usize>; 6]>,
    /// The dimensions of updates that are loops around windows, in order, and what they count.
    walk: SmallVec<[(usize, Counts); 6]>,
}

/// What a loop over updates counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    /// A dimension of the indices, by its place in [`Indices::batch`].
    Indices(usize),
    /// Elements of windows along a dimension of the arrays. Such a loop stands before one over indices, so that windows that
    /// overlap are not made one after the other.
    Window(usize),
}

impl Layout {
    fn new(
        dimensions: &Dimensions<'_>,
        indices: &Indices,
        rank: usize,
        update: &View<'_>,
    ) -> Result<Self, RoutineError> {
        let dropped = [dimensions.inserted, dimensions.input_batching].concat();
        let kept: Vec<usize> = (0..rank).filter(|dim| !dropped.contains(dim)).collect();
        let listed = dimensions.update_window;
        check_same(
            SCATTER,
            "the number of window dimensions",
            &[listed.len()],
            &[kept.len()],
        )?;
        let total = listed.len() + indices.batch.len();
        check_same(SCATTER, "the rank of an update", &[update.rank()], &[total])?;
        let mut layout = Self {
            window: SmallVec::from_elem(1, rank),
            window_dims: SmallVec::from_elem(None, rank),
            walk: SmallVec::new(),
        };
        let size = |at: usize| update.axes()[at].size;
        let last = (0..total).rfind(|at| !listed.contains(at) && size(*at) != 1);
        let mut batch = indices.batch.iter().enumerate();
        for at in 0..total {
            match listed.iter().position(|dim| *dim == at).map(|place| kept[place]) {
                None => {
                    let Some((place, axis)) = batch.next() else {
                        return Err(RoutineError::mismatch(
                            SCATTER,
                            "the window dimensions are not distinct",
                        ));
                    };
                    check_same(
                        SCATTER,
                        "a dimension that counts indices",
                        &[size(at)],
                        &[axis.size],
                    )?;
                    layout.walk.push((at, Counts::Indices(place)));
                }
                Some(dim) if indices.map.contains(&dim) && last.is_some_and(|last| at < last) => {
                    layout.walk.push((at, Counts::Window(dim)));
                }
                Some(dim) => {
                    layout.window[dim] = size(at);
                    layout.window_dims[dim] = Some(at);
                }
            }
        }
        Ok(layout)
    }
}

struct Job<'a> {
    indices: Indices,
    shape: SmallVec<[usize; 6]>,
    layout: Layout,
    arrays: SmallVec<[Array; 2]>,
    together: Option<&'a CombineRun<'a>>,
    /// Loops over updates: steps in the indices and in the first updates.
    walk: Nest<2>,
}

impl<'a> Job<'a> {
    fn new(
        dimensions: &Dimensions<'_>,
        combiner: &Combiner<'a>,
        indices: &View<'_>,
        updates: &[View<'_>],
        arrays: &[ViewMut<'_>],
    ) -> Result<Self, RoutineError> {
        check_same(
            SCATTER,
            "the number of updates",
            &[updates.len()],
            &[arrays.len()],
        )?;
        let (Some(first), Some(update)) = (arrays.first(), updates.first()) else {
            return Err(RoutineError::mismatch(SCATTER, "there is nothing to update"));
        };
        let shape = first.shape();
        let indices = Indices::new(
            SCATTER,
            indices,
            dimensions.index_vector_dim,
            dimensions.index_map,
            [dimensions.input_batching, dimensions.index_batching],
            &shape,
        )?;
        let layout = Layout::new(dimensions, &indices, shape.len(), update)?;
        let mut found: SmallVec<[Array; 2]> = SmallVec::new();
        for (number, (array, other)) in arrays.iter().zip(updates).enumerate() {
            check_same(SCATTER, "the shape of an array", &array.shape(), &shape)?;
            check_same(SCATTER, "the shape of an update", &other.shape(), &update.shape())?;
            check_same(
                SCATTER,
                "the width of an update",
                &[other.width()],
                &[array.width()],
            )?;
            let along = |at: &Option<usize>| at.map_or(0, |at| other.axes()[at].stride);
            let strides = array.axes().iter().zip(&layout.window_dims);
            found.push(Array {
                to: Target::new(array.data()),
                from: Source::new(other.data()),
                width: array.width(),
                strides: strides.map(|(axis, at)| [axis.stride, along(at)]).collect(),
                walk: layout
                    .walk
                    .iter()
                    .map(|(at, _)| other.axes()[*at].stride)
                    .collect(),
                kernel: kernel(combiner, number, array)?,
            });
        }
        let mut walk = Nest::default();
        for (at, counts) in &layout.walk {
            let index = match counts {
                Counts::Indices(place) => indices.batch[*place].stride,
                Counts::Window(_) => 0,
            };
            let axis = update.axes()[*at];
            walk.push(axis.size, [index, axis.stride]);
        }
        Ok(Self {
            indices,
            shape,
            layout,
            arrays: found,
            together: match *combiner {
                Combiner::Together(together) => Some(together),
                Combiner::Each(_) => None,
            },
            walk,
        })
    }

    /// Whether windows begin elsewhere than at 0 in a dimension.
    fn moves(&self, dim: usize) -> bool {
        self.indices.map.contains(&dim) || self.indices.batching.iter().any(|(batched, _)| *batched == dim)
    }

    fn run(&self, parallel: Parallel<'_>) -> Result<(), RoutineError> {
        let bytes = self.walk.count() * product(self.layout.window.iter().copied()) * self.arrays[0].width;
        let threads = parallel.slots().min(bytes.div_ceil(SHARE_BYTES));
        let cut = self.cut(threads);
        let size = cut.map_or(1, |dim| self.shape[dim]);
        let grain = size.div_ceil(threads);
        parallel.ranges(size, grain, &|range, _| {
            let mut ranges: Ranges = self.shape.iter().map(|size| [0, *size as i64]).collect();
            if let Some(dim) = cut {
                ranges[dim] = [range.start as i64, range.end as i64];
            }
            self.update(&ranges);
        })
    }

    /// The dimension that is cut: one that every window spans, so that threads have as much to do, or the longest that indices
    /// go to.
    fn cut(&self, threads: usize) -> Option<usize> {
        let window = &self.layout.window;
        let spanned =
            (0..self.shape.len()).filter(|dim| !self.moves(*dim) && window[*dim] == self.shape[*dim]);
        let wide = spanned.max_by_key(|dim| self.shape[*dim]);
        let bytes = |dim: usize| self.shape[dim] * self.arrays[0].strides[dim][0].unsigned_abs();
        wide.filter(|dim| self.shape[*dim] >= threads && bytes(*dim) >= threads * COLUMN_BYTES)
            .or_else(|| (0..self.shape.len()).max_by_key(|dim| self.shape[*dim]))
    }

    /// Makes the updates within ranges of the arrays.
    fn update(&self, ranges: &Ranges) {
        let window = &self.layout.window;
        // The part of the window that is within the ranges whatever the index.
        let mut fixed: Ranges = window.iter().map(|size| [0, *size as i64]).collect();
        for dim in (0..self.shape.len()).filter(|dim| !self.moves(*dim)) {
            fixed[dim] = clipped(0, window[dim], ranges[dim]);
        }
        let moving: SmallVec<[usize; 6]> = (0..self.shape.len()).filter(|dim| self.moves(*dim)).collect();
        let whole = Part::new(self, &fixed);
        let mut cursor = Cursor::at(&self.walk, 0);
        let mut starts: SmallVec<[i64; 6]> = SmallVec::from_elem(0, self.shape.len());
        // Elements that are far apart take long to come: they are asked for some updates before.
        let mut ahead = cursor.clone();
        let ask = whole.run_bytes(self).min(AHEAD_BYTES);
        let count = self.walk.count();
        for number in 0..count + AHEAD {
            if number < count {
                self.find_starts(&ahead, &mut starts);
                if self.overlap(&moving, &starts, ranges) == Overlap::Whole {
                    for place in whole.places(self, &starts, &ahead) {
                        prefetch(place, ask);
                    }
                }
                ahead.step(&self.walk);
            }
            if number < AHEAD {
                continue;
            }
            self.find_starts(&cursor, &mut starts);
            match self.overlap(&moving, &starts, ranges) {
                Overlap::Whole => whole.apply(self, &starts, &cursor),
                Overlap::Part => {
                    let mut part = fixed.clone();
                    for dim in &moving {
                        part[*dim] = clipped(starts[*dim], window[*dim], ranges[*dim]);
                    }
                    Part::new(self, &part).apply(self, &starts, &cursor);
                }
                Overlap::Nothing => {}
            }
            cursor.step(&self.walk);
        }
    }

    /// What a window has in common with the ranges in the dimensions that it moves along.
    #[inline]
    fn overlap(&self, moving: &[usize], starts: &[i64], ranges: &Ranges) -> Overlap {
        let mut overlap = Overlap::Whole;
        for dim in moving {
            let ([low, high], start) = (ranges[*dim], starts[*dim]);
            let end = start.saturating_add(self.layout.window[*dim] as i64);
            if end <= low || start >= high {
                return Overlap::Nothing;
            }
            if start < low || end > high {
                overlap = Overlap::Part;
            }
        }
        overlap
    }

    /// Where the window at the cursor begins.
    #[inline]
    fn find_starts(&self, cursor: &Cursor<2>, starts: &mut [i64]) {
        for (component, dim) in self.indices.map.iter().enumerate() {
            // SAFETY: the cursor is at an index of the view.
            starts[*dim] = unsafe { self.indices.component(cursor.offsets[0], component) };
        }
        for ((_, counts), at) in self.layout.walk.iter().zip(&cursor.index) {
            match counts {
                Counts::Window(dim) => starts[*dim] = starts[*dim].saturating_add(*at as i64),
                Counts::Indices(place) => {
                    for (dim, _) in self
                        .indices
                        .batching
                        .iter()
                        .filter(|(_, batched)| batched == place)
                    {
                        starts[*dim] = *at as i64;
                    }
                }
            }
        }
    }
}

fn kernel(
    combiner: &Combiner<'_>,
    number: usize,
    array: &ViewMut<'_>,
) -> Result<Option<Kernel>, RoutineError> {
    let Combiner::Each(each) = combiner else {
        return Ok(None);
    };
    let combine = each
        .get(number)
        .ok_or_else(|| RoutineError::mismatch(SCATTER, format!("nothing combines array {number}")))?;
    let kernel = combine.kernel(array.element());
    kernel
        .map(Some)
        .ok_or_else(|| RoutineError::unsupported(SCATTER, array.element()))
}

/// The part of a window at `start` that lies within a range, counted from the window's first element.
fn clipped(start: i64, window: usize, [low, high]: [i64; 2]) -> [i64; 2] {
    let first = low.saturating_sub(start).max(0);
    let end = high.saturating_sub(start).min(window as i64);
    [first, end.max(first)]
}

/// A part of every window: its first element and the loops over it, for each array.
struct Part {
    first: SmallVec<[[isize; 2]; 2]>,
    nests: SmallVec<[Nest<2>; 2]>,
    empty: bool,
}

impl Part {
    /// Bytes of the first array's part that lie together.
    fn run_bytes(&self, job: &Job<'_>) -> usize {
        let width = job.arrays[0].width;
        match self.nests[0].loops.last() {
            Some(last) if last.steps[0] == width as isize => last.size * width,
            _ => width,
        }
    }

    /// Where the part of the first array and of its update are, if the window starts so.
    fn places(&self, job: &Job<'_>, starts: &[i64], cursor: &Cursor<2>) -> [*const u8; 2] {
        let array = &job.arrays[0];
        let [to, from] = self.bases(0, array, starts, cursor);
        [array.to.at(to).cast_const(), array.from.at(from)]
    }

    fn new(job: &Job<'_>, ranges: &Ranges) -> Self {
        let nest = |array: &Array| {
            let mut nest = Nest::default();
            for ([from, to], strides) in ranges.iter().zip(&array.strides) {
                nest.push((to - from).max(0) as usize, *strides);
            }
            // Arrays that are combined together are walked in step.
            if job.together.is_some() && job.arrays.len() > 1 {
                nest
            } else {
                nest.collapsed()
            }
        };
        let first = |array: &Array| {
            let offset = |side: usize| -> isize {
                ranges
                    .iter()
                    .zip(&array.strides)
                    .map(|([from, _], strides)| *from as isize * strides[side])
                    .sum()
            };
            [offset(0), offset(1)]
        };
        Self {
            first: job.arrays.iter().map(first).collect(),
            nests: job.arrays.iter().map(nest).collect(),
            empty: ranges.iter().any(|[from, to]| from >= to),
        }
    }

    /// Combines the part of the window that starts at `starts` with the update at the cursor.
    #[inline]
    fn apply(&self, job: &Job<'_>, starts: &[i64], cursor: &Cursor<2>) {
        if self.empty {
            return;
        }
        if let Some(together) = job.together {
            return self.apply_together(job, together, starts, cursor);
        }
        for (number, array) in job.arrays.iter().enumerate() {
            let [to, from] = self.bases(number, array, starts, cursor);
            let Some(kernel) = array.kernel else { continue };
            let nest = &self.nests[number];
            let (last, outer) = match nest.loops.split_last() {
                Some((last, outer)) => (*last, outer),
                None => (
                    crate::odometer::Loop {
                        size: 1,
                        steps: [0; 2],
                    },
                    &[][..],
                ),
            };
            let combine = |[target, source]: [isize; 2]| {
                let accumulators = (array.to.at(to + target), last.steps[0]);
                let elements = (array.from.at(from + source), last.steps[1]);
                // SAFETY: the part lies within the array and the update; its range of the array is this task's.
                unsafe { kernel(accumulators, elements, last.size) };
            };
            if outer.is_empty() {
                combine([0; 2]);
            } else {
                let outer = Nest { loops: outer.into() };
                outer.for_each(0..outer.count(), combine);
            }
        }
    }

    /// Offsets of the part in an array and in its update.
    #[inline(always)]
    fn bases(&self, number: usize, array: &Array, starts: &[i64], cursor: &Cursor<2>) -> [isize; 2] {
        let [mut to, mut from] = self.first[number];
        for (start, strides) in starts.iter().zip(&array.strides) {
            to += *start as isize * strides[0];
        }
        if number == 0 {
            from += cursor.offsets[1];
        } else {
            from += cursor
                .index
                .iter()
                .zip(&array.walk)
                .map(|(at, stride)| *at as isize * stride)
                .sum::<isize>();
        }
        [to, from]
    }

    fn apply_together(&self, job: &Job<'_>, together: &CombineRun<'_>, starts: &[i64], cursor: &Cursor<2>) {
        let last = |number: usize| self.nests[number].loops.last();
        let dense = |number: usize| {
            last(number).is_some_and(|last| last.steps == [job.arrays[number].width as isize; 2])
        };
        let run = if (0..job.arrays.len()).all(dense) {
            last(0).map_or(1, |last| last.size)
        } else {
            1
        };
        let bases: SmallVec<[[isize; 2]; 2]> = job
            .arrays
            .iter()
            .enumerate()
            .map(|(number, array)| self.bases(number, array, starts, cursor))
            .collect();
        for position in (0..self.nests[0].count()).step_by(run) {
            let mut accumulators: SmallVec<[*mut u8; 4]> = SmallVec::new();
            let mut elements: SmallVec<[*const u8; 4]> = SmallVec::new();
            for ((array, nest), [to, from]) in job.arrays.iter().zip(&self.nests).zip(&bases) {
                let [target, source] = nest.offsets(position);
                accumulators.push(array.to.at(to + target));
                elements.push(array.from.at(from + source));
            }
            together(&accumulators, &elements, run);
        }
    }
}
