//! Updates at given places: `scatter`.
//!
//! Threads share the work by ranges of one dimension of the result: each walks all updates in order and makes those that lie in
//! its range. So every element sees its updates in order, nobody writes where another does, and the number of ranges, which is
//! that of the threads, changes no bit.

mod part;
mod walk;

use smallvec::SmallVec;

use crate::combine::{CombineRun, Combiner, Kernel};
use crate::error::{RoutineError, check_same};
use crate::gather::Indices;
use crate::pool::Parallel;
use crate::view::{Source, Target, View, ViewMut, product};
use part::{Bases, Part};
use walk::{LOT, Lot, Walk};

const SCATTER: &str = "scatter";

/// Bytes of updates that are worth another thread.
const SHARE_BYTES: usize = 1 << 15;

/// Bytes of windows that each thread has at least when a dimension is cut that they span.
const COLUMN_BYTES: usize = 1024;

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
    kernel: Option<Kernel>,
}

/// A part of each dimension.
type Ranges = SmallVec<[[i64; 2]; 6]>;

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
    walk: Walk,
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
                kernel: kernel(combiner, number, array)?,
            });
        }
        let walk = Walk::new(&layout, &indices, shape.len(), updates);
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
            self.update(parallel, &ranges);
        })?;
        match parallel.is_stopped() {
            true => Err(RoutineError::Stopped),
            false => Ok(()),
        }
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

    /// Makes the updates within ranges of the arrays, until the work is stopped.
    fn update(&self, parallel: Parallel<'_>, ranges: &Ranges) {
        let window = &self.layout.window;
        // The part of the window that is within the ranges whatever the index.
        let mut fixed: Ranges = window.iter().map(|size| [0, *size as i64]).collect();
        for dim in (0..self.shape.len()).filter(|dim| !self.moves(*dim)) {
            fixed[dim] = clipped(0, window[dim], ranges[dim]);
        }
        let moving: SmallVec<[usize; 6]> = (0..self.shape.len()).filter(|dim| self.moves(*dim)).collect();
        let whole = Part::new(self, &fixed);
        let arrays = self.arrays.len();
        let mut lot = Lot::new(arrays);
        // Updates are found before any of them is made, so that what is far apart can be asked for meanwhile.
        let mut found: SmallVec<[Bases; 2 * LOT]> = SmallVec::from_elem([0; 2], 2 * LOT * arrays);
        let mut count = 0;
        for updates in self.walk.lots() {
            if parallel.is_stopped() {
                return;
            }
            lot.find(self, &moving, ranges, &updates);
            if lot.is_cut() {
                whole.apply(self, &found[..count * arrays]);
                count = 0;
                self.update_cut(&lot, &whole, [&fixed, ranges], &moving);
                continue;
            }
            for number in 0..updates.count {
                lot.write_bases(number, &whole.first, &mut found[count * arrays..]);
                // Whether it is within cannot be foreseen: nothing branches on it.
                count += usize::from(lot.within[number]);
            }
            if count > LOT {
                whole.apply(self, &found[..count * arrays]);
                count = 0;
            }
        }
        whole.apply(self, &found[..count * arrays]);
    }

    /// Makes the updates of a lot one by one, as some windows are cut by the ranges.
    fn update_cut(&self, lot: &Lot, whole: &Part, [fixed, ranges]: [&Ranges; 2], moving: &[usize]) {
        let mut bases: SmallVec<[Bases; 2]> = SmallVec::from_elem([0; 2], self.arrays.len());
        for number in 0..lot.count() {
            if lot.within[number] {
                lot.write_bases(number, &whole.first, &mut bases);
                whole.apply(self, &bases);
            } else if lot.meets[number] {
                let mut part = fixed.clone();
                for dim in moving {
                    let start = lot.start(self, *dim, number);
                    part[*dim] = clipped(start, self.layout.window[*dim], ranges[*dim]);
                }
                let part = Part::new(self, &part);
                lot.write_bases(number, &part.first, &mut bases);
                part.apply(self, &bases);
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
