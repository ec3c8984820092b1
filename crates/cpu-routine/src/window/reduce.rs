//! `reduce_window`.

use std::mem::MaybeUninit;

use smallvec::SmallVec;

use super::{WindowDim, check_windows, scan};
use crate::combine::{Combine, CombineRun, Combiner, Kernel};
use crate::copy::elements;
use crate::error::{RoutineError, check_same};
use crate::pool::Parallel;
use crate::view::{Axes, Source, Target, View, ViewMut, product};

/// Windows of a row that are combined together, at least, where there are so many.
const PIECE_MIN: usize = 64;

pub(super) const REDUCE_WINDOW: &str = "reduce_window";

/// Combinations that one task does, about.
const TASK_WORK: usize = 1 << 15;

/// Spec, "reduce_window": each window is combined in row-major order onto the initial values, which also stand for padding
/// and holes. A window that covers all of one dimension at every element, as in a cumulative sum, is combined from its padded
/// side on in time that grows with the elements only.
///
/// `inits` are of rank 0; each array has the element type of its initial value and its result.
///
/// # Errors
/// A mismatch of shapes and windows, types that cannot be combined, or [`RoutineError::Stopped`].
pub fn reduce_window(
    parallel: Parallel<'_>,
    windows: &[WindowDim],
    combiner: &Combiner<'_>,
    inputs: &[View<'_>],
    inits: &[View<'_>],
    outs: &mut [ViewMut<'_>],
) -> Result<(), RoutineError> {
    let job = Job::new(windows, combiner, inputs, inits, outs)?;
    if outs.iter().any(|out| out.is_empty()) {
        return Ok(());
    }
    if let (Combiner::Each(each), Some(sum)) = (combiner, scan::Cumulative::find(windows, &job.input_shape)) {
        let neutral = |(combine, array): (&Combine, &Array)| {
            // SAFETY: an initial value is an element of the array's type.
            unsafe { combine.is_neutral(array.element, array.init.at(0)) }
        };
        if each.iter().zip(&job.arrays).all(neutral) {
            return job
                .arrays
                .iter()
                .zip(*each)
                .try_for_each(|(array, combine)| sum.run(parallel, array, *combine));
        }
    }
    job.run(parallel)
}

/// An input and its result.
pub(super) struct Array {
    pub(super) element: artifact_ir::types::ElementType,
    pub(super) from: Source,
    pub(super) to: Target,
    pub(super) init: Source,
    pub(super) input: Axes,
    pub(super) output: Axes,
}

/// How several rows are combined at once.
enum Rows<'a> {
    Each(SmallVec<[Kernel; 2]>),
    Together(&'a CombineRun<'a>),
}

struct Job<'a> {
    windows: &'a [WindowDim],
    input_shape: SmallVec<[usize; 6]>,
    output_shape: SmallVec<[usize; 6]>,
    arrays: SmallVec<[Array; 2]>,
    rows: Rows<'a>,
    /// Whether combining with an initial value once more changes nothing.
    neutral: bool,
    /// The dimension along which windows are combined together.
    along: usize,
}

type Pointers<P> = SmallVec<[(P, isize); 2]>;

impl<'a> Job<'a> {
    fn new(
        windows: &'a [WindowDim],
        combiner: &Combiner<'a>,
        inputs: &[View<'_>],
        inits: &[View<'_>],
        outs: &[ViewMut<'_>],
    ) -> Result<Self, RoutineError> {
        check_same(
            REDUCE_WINDOW,
            "the number of initial values and results",
            &[inits.len(), outs.len()],
            &[inputs.len(); 2],
        )?;
        let (Some(first), Some(out)) = (inputs.first(), outs.first()) else {
            return Err(RoutineError::mismatch(
                REDUCE_WINDOW,
                "there is nothing to reduce",
            ));
        };
        let (input_shape, output_shape) = (first.shape(), out.shape());
        check_windows(REDUCE_WINDOW, windows, &input_shape, &output_shape)?;
        let mut arrays = SmallVec::new();
        for ((input, init), out) in inputs.iter().zip(inits).zip(outs) {
            check_same(
                REDUCE_WINDOW,
                "the shape of an input",
                &input.shape(),
                &input_shape,
            )?;
            check_same(
                REDUCE_WINDOW,
                "the shape of a result",
                &out.shape(),
                &output_shape,
            )?;
            check_same(REDUCE_WINDOW, "the shape of an initial value", &init.shape(), &[])?;
            let widths = [input.width(), init.width()];
            check_same(
                REDUCE_WINDOW,
                "the widths of input and initial value",
                &widths,
                &[out.width(); 2],
            )?;
            arrays.push(Array {
                element: out.element(),
                from: Source::new(input.data()),
                to: Target::new(out.data()),
                init: Source::new(init.data()),
                input: input.axes().into(),
                output: out.axes().into(),
            });
        }
        let (rows, neutral) = rows(combiner, &arrays)?;
        let longer = (0..output_shape.len()).filter(|dim| output_shape[*dim] > 1);
        let closest = longer.min_by_key(|dim| out.axes()[*dim].stride.abs());
        Ok(Self {
            windows,
            along: closest.unwrap_or(0),
            input_shape,
            output_shape,
            arrays,
            rows,
            neutral,
        })
    }

    fn run(&self, parallel: Parallel<'_>) -> Result<(), RoutineError> {
        let steps = product(self.windows.iter().map(|window| window.size));
        let length = self.output_shape.get(self.along).copied().unwrap_or(1);
        let rows = self.output_shape.iter().product::<usize>() / length;
        // Long rows are cut.
        let piece = (TASK_WORK / steps.max(1)).max(PIECE_MIN).min(length);
        let pieces = length.div_ceil(piece);
        let grain = TASK_WORK / steps.saturating_mul(piece).max(1);
        parallel.ranges(rows * pieces, grain, &|range, _| {
            for index in range {
                let from = index % pieces * piece;
                self.row(index / pieces, from, piece.min(length - from));
            }
        })
    }

    /// Windows of one row, `length` of them from one on, which are combined step by step.
    fn row(&self, row: usize, from: usize, length: usize) {
        let mut start = index_of(row, &self.output_shape, self.along);
        if let Some(along) = start.get_mut(self.along) {
            *along = from;
        }
        let mut accumulators: Pointers<*mut u8> = SmallVec::new();
        for array in &self.arrays {
            let offset: isize = start
                .iter()
                .zip(&array.output)
                .map(|(at, axis)| *at as isize * axis.stride)
                .sum();
            let to = array.to.at(offset);
            let step = array.output.get(self.along).map_or(0, |axis| axis.stride);
            // SAFETY: the row is of the result, and this task's.
            unsafe { elements(array.element.bytes(), (array.init.at(0), 0), (to, step), length) };
            accumulators.push((to, step));
        }
        let sizes: SmallVec<[usize; 6]> = self.windows.iter().map(|window| window.size).collect();
        let mut step: SmallVec<[usize; 6]> = SmallVec::from_elem(0, sizes.len());
        if sizes.contains(&0) {
            return;
        }
        loop {
            self.step(&start, &step, &accumulators, length);
            let mut dim = sizes.len();
            loop {
                let Some(next) = dim.checked_sub(1) else { return };
                dim = next;
                step[dim] += 1;
                if step[dim] < sizes[dim] {
                    break;
                }
                step[dim] = 0;
            }
        }
    }

    /// Combines one element of each window of a row.
    fn step(&self, start: &[usize], step: &[usize], accumulators: &Pointers<*mut u8>, length: usize) {
        let mut index: SmallVec<[usize; 6]> = SmallVec::from_elem(0, start.len());
        let mut padded = false;
        for dim in (0..start.len()).filter(|dim| *dim != self.along) {
            match self.windows[dim].input(start[dim], step[dim], self.input_shape[dim]) {
                Some(at) => index[dim] = at,
                None => padded = true,
            }
        }
        let Some(window) = self.windows.get(self.along).filter(|_| !padded) else {
            // Of rank 0, or padding all along.
            return if padded {
                self.pad(accumulators, 0..length)
            } else {
                self.combine(&index, accumulators, 0..1, 0)
            };
        };
        let (step, input, first) = (step[self.along], self.input_shape[self.along], start[self.along]);
        if window.base_dilation == 1 {
            let inside = window.inside(step, input, first + length);
            let from = inside.start.max(first) - first;
            let inside = from..(inside.end.max(first) - first).max(from);
            self.pad(accumulators, 0..inside.start);
            if let Some(at) = window
                .input(first + inside.start, step, input)
                .filter(|_| !inside.is_empty())
            {
                index[self.along] = at;
                self.combine(&index, accumulators, inside.clone(), window.stride);
            }
            return self.pad(accumulators, inside.end..length);
        }
        for at in 0..length {
            match window.input(first + at, step, input) {
                Some(from) => {
                    index[self.along] = from;
                    self.combine(&index, accumulators, at..at + 1, 0);
                }
                None => self.pad(accumulators, at..at + 1),
            }
        }
    }

    /// Combines the initial values into a range of a row.
    fn pad(&self, accumulators: &Pointers<*mut u8>, range: std::ops::Range<usize>) {
        if range.is_empty() || self.neutral {
            return;
        }
        let from = self.arrays.iter().map(|array| (array.init.at(0), 0)).collect();
        self.combine_rows(accumulators, &from, range);
    }

    /// Combines input elements, the first at an index and each `step` indices after the one before, into a range of a row.
    fn combine(
        &self,
        index: &[usize],
        accumulators: &Pointers<*mut u8>,
        range: std::ops::Range<usize>,
        step: usize,
    ) {
        let row = |array: &Array| {
            let offset: isize = index
                .iter()
                .zip(&array.input)
                .map(|(at, axis)| *at as isize * axis.stride)
                .sum();
            let stride = array.input.get(self.along).map_or(0, |axis| axis.stride);
            (array.from.at(offset), step as isize * stride)
        };
        self.combine_rows(accumulators, &self.arrays.iter().map(row).collect(), range);
    }

    fn combine_rows(
        &self,
        accumulators: &Pointers<*mut u8>,
        from: &Pointers<*const u8>,
        range: std::ops::Range<usize>,
    ) {
        let to = |at: usize| {
            accumulators
                .iter()
                .map(move |(to, step)| to.wrapping_offset(at as isize * step))
        };
        match &self.rows {
            Rows::Each(kernels) => {
                for ((kernel, to), ((_, step), from)) in kernels
                    .iter()
                    .zip(to(range.start))
                    .zip(accumulators.iter().zip(from))
                {
                    // SAFETY: the windows' elements lie within the input, and the range of the row is this task's.
                    unsafe { kernel((to, *step), *from, range.len()) };
                }
            }
            Rows::Together(together) => {
                let rows = Strided {
                    arrays: &self.arrays,
                    to: to(range.start)
                        .zip(accumulators.iter().map(|(_, step)| *step))
                        .collect(),
                    from: from.clone(),
                };
                rows.combine(together, range.len());
            }
        }
    }
}

/// Rows of several arrays that a function of the program combines, which takes elements that lie together.
struct Strided<'a> {
    arrays: &'a [Array],
    to: Pointers<*mut u8>,
    from: Pointers<*const u8>,
}

/// Elements of each array that are brought together at once, at most.
const GATHERED: usize = 128;
/// Memory for them; no element has more than 16 bytes.
const GATHERED_BYTES: usize = 8 << 10;

impl Strided<'_> {
    fn combine(&self, together: &CombineRun<'_>, count: usize) {
        let widths = self.arrays.iter().map(|array| array.element.bytes() as isize);
        let mut steps = self.to.iter().zip(&self.from).zip(widths);
        if steps.all(|((to, from), width)| to.1 == width && from.1 == width) || count == 1 {
            let to: SmallVec<[*mut u8; 2]> = self.to.iter().map(|(to, _)| *to).collect();
            let from: SmallVec<[*const u8; 2]> = self.from.iter().map(|(from, _)| *from).collect();
            return together(&to, &from, count);
        }
        let both: usize = self.arrays.iter().map(|array| 2 * array.element.bytes()).sum();
        // A multiple of 16 keeps every row aligned.
        let size = (GATHERED_BYTES / both).min(GATHERED) / 16 * 16;
        if size == 0 {
            // More arrays than there is room for: one element at a time.
            return (0..count).for_each(|at| self.part(at).combine(together, 1));
        }
        let mut memory = [const { MaybeUninit::<u128>::uninit() }; GATHERED_BYTES / 16];
        for at in (0..count).step_by(size) {
            let memory = memory.as_mut_ptr().cast();
            self.part(at)
                .gathered(together, size.min(count - at), (memory, size));
        }
    }

    /// The same rows from an element on.
    fn part(&self, at: usize) -> Self {
        let skipped = |step: isize| at as isize * step;
        let to = self
            .to
            .iter()
            .map(|(to, step)| (to.wrapping_offset(skipped(*step)), *step));
        let from = self.from.iter();
        let from = from.map(|(from, step)| (from.wrapping_offset(skipped(*step)), *step));
        Self {
            arrays: self.arrays,
            to: to.collect(),
            from: from.collect(),
        }
    }

    /// Brings elements together in memory with room for some of each row, combines them, and puts the results back.
    fn gathered(&self, together: &CombineRun<'_>, count: usize, (mut memory, room): (*mut u8, usize)) {
        let (mut to, mut from): (SmallVec<[*mut u8; 2]>, SmallVec<[*const u8; 2]>) = Default::default();
        for ((array, own), new) in self.arrays.iter().zip(&self.to).zip(&self.from) {
            let width = array.element.bytes();
            let dense = width as isize;
            let other = memory.wrapping_add(room * width);
            // SAFETY: both rows are of this task, and the memory has room for them.
            unsafe {
                elements(width, (own.0, own.1), (memory, dense), count);
                elements(width, *new, (other, dense), count);
            }
            to.push(memory);
            from.push(other);
            memory = other.wrapping_add(room * width);
        }
        together(&to, &from, count);
        for ((array, own), result) in self.arrays.iter().zip(&self.to).zip(&to) {
            let width = array.element.bytes();
            // SAFETY: as above.
            unsafe { elements(width, (*result, width as isize), *own, count) };
        }
    }
}

/// The loops of a combiner, and whether all initial values are neutral to them.
fn rows<'a>(combiner: &Combiner<'a>, arrays: &[Array]) -> Result<(Rows<'a>, bool), RoutineError> {
    let each = match *combiner {
        Combiner::Together(together) => return Ok((Rows::Together(together), false)),
        Combiner::Each(each) => each,
    };
    check_same(
        REDUCE_WINDOW,
        "the number of combinations",
        &[each.len()],
        &[arrays.len()],
    )?;
    let mut kernels = SmallVec::new();
    let mut neutral = true;
    for (combine, array) in each.iter().zip(arrays) {
        let kernel = combine.kernel(array.element);
        kernels.push(kernel.ok_or_else(|| RoutineError::unsupported(REDUCE_WINDOW, array.element))?);
        // SAFETY: an initial value is an element of the array's type.
        neutral &= unsafe { combine.is_neutral(array.element, array.init.at(0)) };
    }
    Ok((Rows::Each(kernels), neutral))
}

/// The index of a row by its number in row-major order of the dimensions other than `along`, in which it begins at 0.
fn index_of(mut row: usize, shape: &[usize], along: usize) -> SmallVec<[usize; 6]> {
    let mut index = SmallVec::from_elem(0, shape.len());
    for dim in (0..shape.len()).rev().filter(|dim| *dim != along) {
        index[dim] = row % shape[dim];
        row /= shape[dim];
    }
    index
}
