//! `reduce` by a function of the program.
//!
//! Elements are folded in row-major order. Of a long line of them, 256 parts are folded side by side, and what they leave in
//! order: the specification leaves the tree open, and how often the initial value is in it. The order depends on sizes alone.

use smallvec::SmallVec;

use crate::combine::Combiner;
use crate::copy::{copy, fill};
use crate::error::RoutineError;
use crate::pool::Parallel;
use crate::view::{Axis, View, ViewMut};
use crate::window::{WindowDim, reduce_window};
use crate::workspace::{Parts, Workspace};

const REDUCE: &str = "reduce";

/// Parts of a long line.
const PARTS: usize = 256;
/// Elements of a line that is long.
const LONG_MIN: usize = 16 * PARTS;
/// Results from which on there is enough to do side by side.
const RESULTS_MAX: usize = 64;

type Axes = SmallVec<[Axis; 6]>;
type Arrays<V> = SmallVec<[V; 2]>;

/// Spec, "reduce", of several arrays together: the elements along `dims` are combined onto the initial values, of rank 0. Each
/// array has the element type of its initial value and its result.
///
/// # Errors
/// A mismatch of shapes and dimensions, types that cannot be combined, no memory, or [`RoutineError::Stopped`].
pub fn reduce(
    parallel: Parallel<'_>,
    workspace: &mut Workspace,
    dims: &[usize],
    combiner: &Combiner<'_>,
    inputs: &[View<'_>],
    inits: &[View<'_>],
    outs: &mut [ViewMut<'_>],
) -> Result<(), RoutineError> {
    let Some(shape) = inputs.first().map(View::shape) else {
        return Err(RoutineError::mismatch(REDUCE, "there is nothing to reduce"));
    };
    let fits = dims.iter().all(|dim| *dim < shape.len()) && inits.len() == outs.len();
    let fits = fits && inputs.iter().all(|input| input.shape() == shape);
    if !fits {
        return Err(RoutineError::mismatch(
            REDUCE,
            "dimensions, operands and results do not belong together",
        ));
    }
    let count: usize = dims.iter().map(|dim| shape[*dim]).product();
    if count == 0 {
        return inits
            .iter()
            .zip(outs)
            .try_for_each(|(init, out)| fill(parallel, init, out));
    }
    let results = outs.first().map_or(0, |out| out.count());
    if count >= LONG_MIN && results < RESULTS_MAX {
        let lines: Option<Arrays<Line>> = inputs.iter().map(|input| Line::of(input, dims)).collect();
        if let Some(lines) = lines {
            return by_parts(parallel, workspace, combiner, &lines, inits, outs);
        }
    }
    let windows: SmallVec<[WindowDim; 6]> = (0..shape.len())
        .map(|dim| window(if dims.contains(&dim) { shape[dim] } else { 1 }))
        .collect();
    let mut outs: Arrays<ViewMut<'_>> = outs.iter_mut().map(|out| widened(out, dims)).collect();
    reduce_window(parallel, &windows, combiner, inputs, inits, &mut outs)
}

fn window(size: usize) -> WindowDim {
    WindowDim {
        size,
        ..WindowDim::default()
    }
}

/// A result with a dimension of size 1 for each that was reduced.
fn widened<'a>(out: &'a mut ViewMut<'_>, dims: &[usize]) -> ViewMut<'a> {
    let mut axes: Axes = out.axes().into();
    let mut dims: SmallVec<[usize; 6]> = dims.into();
    dims.sort_unstable();
    for dim in dims {
        let at = dim.min(axes.len());
        axes.insert(at, Axis { size: 1, stride: 0 });
    }
    // SAFETY: the same elements.
    unsafe { with_axes(out, &axes) }
}

/// # Safety
/// The elements along the axes are among those of the view.
unsafe fn with_axes<'a>(out: &'a mut ViewMut<'_>, axes: &[Axis]) -> ViewMut<'a> {
    let (shape, strides) = split(axes);
    // SAFETY: the caller's promise, and that of whoever made the view.
    unsafe { ViewMut::new(out.data(), out.element(), &shape, &strides) }
}

fn split(axes: &[Axis]) -> (SmallVec<[usize; 8]>, SmallVec<[isize; 8]>) {
    axes.iter().map(|axis| (axis.size, axis.stride)).unzip()
}

/// An input of which the reduced dimensions are one line.
struct Line<'a> {
    input: &'a View<'a>,
    /// The other dimensions.
    kept: Axes,
    line: Axis,
}

impl<'a> Line<'a> {
    /// `None` where elements that follow each other are not equally far apart.
    fn of(input: &'a View<'a>, dims: &[usize]) -> Option<Self> {
        let (mut kept, mut line) = (Axes::new(), Axis { size: 1, stride: 0 });
        for (dim, axis) in input.axes().iter().enumerate() {
            if !dims.contains(&dim) {
                kept.push(*axis);
            } else if axis.size > 1 {
                (line.size == 1 || line.stride == axis.size as isize * axis.stride).then_some(())?;
                line = Axis {
                    size: line.size * axis.size,
                    stride: axis.stride,
                };
            }
        }
        Some(Self { input, kept, line })
    }

    /// The elements of the line from one on, as a matrix.
    fn matrix(&self, from: usize, rows: usize, columns: usize) -> View<'a> {
        let mut axes = self.kept.clone();
        let stride = self.line.stride;
        axes.push(Axis {
            size: rows,
            stride: columns as isize * stride,
        });
        axes.push(Axis {
            size: columns,
            stride,
        });
        let (shape, strides) = split(&axes);
        let data = self.input.data().wrapping_offset(from as isize * stride);
        // SAFETY: elements of the input.
        unsafe { View::new(data, self.input.element(), &shape, &strides) }
    }
}

/// Folds parts of the lines, then what they leave and the elements of no part.
fn by_parts(
    parallel: Parallel<'_>,
    workspace: &mut Workspace,
    combiner: &Combiner<'_>,
    lines: &[Line<'_>],
    inits: &[View<'_>],
    outs: &mut [ViewMut<'_>],
) -> Result<(), RoutineError> {
    let (length, kept) = match lines {
        [first, ..] => (first.line.size, first.kept.clone()),
        [] => return Ok(()),
    };
    let each = length / PARTS;
    let rest = length - each * PARTS;
    let mut memory = Parts::default();
    let results: usize = kept.iter().map(|axis| axis.size).product();
    let left = PARTS + rest;
    let starts: Arrays<usize> = outs
        .iter()
        .map(|out| memory.add(results * left, out.width()))
        .collect();
    let base = workspace.reserve(memory.bytes()?)?;
    let sizes: SmallVec<[usize; 6]> = kept.iter().map(|axis| axis.size).collect();
    // What is left of each line, from one position on.
    let remains = |array: usize, out: &ViewMut<'_>, from: usize, tail: [usize; 2]| {
        let width = out.width() as isize;
        let mut stride = left as isize * width;
        let mut axes = Axes::new();
        for size in sizes.iter().rev() {
            axes.insert(0, Axis { size: *size, stride });
            stride *= *size as isize;
        }
        axes.push(Axis {
            size: tail[0],
            stride: width,
        });
        axes.push(Axis {
            size: tail[1],
            stride: width,
        });
        let (shape, strides) = split(&axes);
        let data = base.at(starts[array] as isize + from as isize * width);
        // SAFETY: the workspace has room for `left` elements a line.
        unsafe { ViewMut::new(data, out.element(), &shape, &strides) }
    };
    let parts: Arrays<View<'_>> = lines.iter().map(|line| line.matrix(0, PARTS, each)).collect();
    let mut folded: Arrays<ViewMut<'_>> = outs
        .iter()
        .enumerate()
        .map(|(array, out)| remains(array, out, 0, [PARTS, 1]))
        .collect();
    let mut windows: SmallVec<[WindowDim; 6]> = SmallVec::from_elem(window(1), sizes.len() + 1);
    windows.push(window(each));
    reduce_window(parallel, &windows, combiner, &parts, inits, &mut folded)?;
    for (array, (line, out)) in lines.iter().zip(outs.iter()).enumerate() {
        let from = line.matrix(each * PARTS, 1, rest);
        copy(parallel, &from, &mut remains(array, out, PARTS, [1, rest]))?;
    }
    let all: Arrays<ViewMut<'_>> = outs
        .iter()
        .enumerate()
        .map(|(array, out)| remains(array, out, 0, [1, left]))
        .collect();
    let all: Arrays<View<'_>> = all.iter().map(ViewMut::as_view).collect();
    if let Some(last) = windows.last_mut() {
        *last = window(left);
    }
    let rank = sizes.len();
    let mut outs: Arrays<ViewMut<'_>> = outs
        .iter_mut()
        .map(|out| widened(out, &[rank, rank + 1]))
        .collect();
    reduce_window(parallel, &windows, combiner, &all, inits, &mut outs)
}
