//! `cholesky`.

use artifact_ir::types::ElementType;

use super::BLOCK;
use super::field::Field;
use crate::copy::copy;
use crate::error::{RoutineError, check_same};
use crate::level::leveled;
use crate::number::{c32, c64};
use crate::odometer::Nest;
use crate::pool::{Parallel, Task};
use crate::product::{Factor, Mode, Sizes, Sum, multiply};
use crate::view::{Axis, Source, Target, View, ViewMut};
use crate::workspace::{ALIGNMENT, Workspace};

const CHOLESKY: &str = "cholesky";

/// Columns of a panel that one task brings up to date.
const COLUMNS: usize = 128;

/// Matrices of no more rows are factorised each in one thread if there are several.
const SMALL: usize = 192;

/// Spec, "cholesky": the lower factor, or the upper one, of each matrix in the last two dimensions, whose other triangle is not
/// read. The other triangle of the result is zero; a matrix without a factor gives NaN from where that shows.
///
/// # Errors
/// A mismatch of shapes, a type without a routine, no memory, or [`RoutineError::Stopped`].
pub fn cholesky(
    parallel: Parallel<'_>,
    workspace: &mut Workspace,
    lower: bool,
    a: &View<'_>,
    out: &mut ViewMut<'_>,
) -> Result<(), RoutineError> {
    check_same(CHOLESKY, "the shape of the result", &out.shape(), &a.shape())?;
    check_same(CHOLESKY, "the width of the result", &[out.width()], &[a.width()])?;
    let [.., rows, columns] = a.axes() else {
        return Err(RoutineError::mismatch(CHOLESKY, "a factorisation needs a matrix"));
    };
    check_same(CHOLESKY, "the sides of a matrix", &[columns.size], &[rows.size])?;
    let batches = Batches::new(lower, a, out);
    if out.is_empty() {
        return Ok(());
    }
    match a.element() {
        ElementType::F32 => batches.run::<f32>(parallel, workspace),
        ElementType::F64 => batches.run::<f64>(parallel, workspace),
        ElementType::C64 => batches.run::<c32>(parallel, workspace),
        ElementType::C128 => batches.run::<c64>(parallel, workspace),
        other => Err(RoutineError::unsupported(CHOLESKY, other)),
    }
}

/// Matrices that are factorised the same way.
struct Batches {
    lower: bool,
    element: ElementType,
    size: usize,
    from: Source,
    to: Target,
    /// Axes of a matrix, rows first, in operand and result; those of the result are turned if the factor is the lower one,
    /// since all is computed with the upper one.
    matrix: [[Axis; 2]; 2],
    nest: Nest<2>,
}

impl Batches {
    fn new(lower: bool, a: &View<'_>, out: &ViewMut<'_>) -> Self {
        let rank = a.rank() - 2;
        let matrix = |axes: &[Axis]| {
            let [row, column] = [axes[rank], axes[rank + 1]];
            if lower { [column, row] } else { [row, column] }
        };
        Self {
            lower,
            element: a.element(),
            size: a.axes()[rank].size,
            from: Source::new(a.data()),
            to: Target::new(out.data()),
            matrix: [matrix(a.axes()), matrix(out.axes())],
            nest: Nest::of([&a.axes()[..rank], &out.axes()[..rank]]),
        }
    }

    fn run<T: Field>(&self, parallel: Parallel<'_>, workspace: &mut Workspace) -> Result<(), RoutineError> {
        let count = self.nest.count();
        let bytes = self.size.checked_mul(self.size).and_then(|count| {
            count
                .checked_mul(size_of::<T>())?
                .checked_next_multiple_of(ALIGNMENT)
        });
        let bytes = bytes.ok_or(RoutineError::Memory(usize::MAX))?;
        if count > 1 && self.size <= SMALL {
            let all = bytes
                .checked_mul(parallel.slots())
                .ok_or(RoutineError::Memory(usize::MAX))?;
            let memory = workspace.reserve(all)?;
            let grain = SMALL / self.size;
            return parallel.ranges(count, grain, &|range, slot| {
                let factor = Target::new(memory.at((slot * bytes) as isize));
                for index in range {
                    // Nothing stops it, and its views fit each other.
                    let _ = self.one::<T>(Parallel::alone(), index, factor);
                }
            });
        }
        let factor = workspace.reserve(bytes)?;
        (0..count).try_for_each(|index| self.one::<T>(parallel, index, factor))
    }

    /// Factorises one matrix, in memory that holds one.
    fn one<T: Field>(
        &self,
        parallel: Parallel<'_>,
        index: usize,
        memory: Target,
    ) -> Result<(), RoutineError> {
        let [from, to] = self.nest.offsets(index);
        let shape = [self.size; 2];
        let strides = |axes: [Axis; 2]| axes.map(|axis| axis.stride);
        let width = size_of::<T>() as isize;
        let dense = [self.size as isize * width, width];
        // SAFETY: a matrix of the operand, a matrix of the result, which is this task's, and memory for one.
        let (from, mut to, mut whole) = unsafe {
            (
                View::new(self.from.at(from), self.element, &shape, &strides(self.matrix[0])),
                ViewMut::new(self.to.at(to), self.element, &shape, &strides(self.matrix[1])),
                ViewMut::new(memory.at(0), self.element, &shape, &dense),
            )
        };
        copy(parallel, &from, &mut whole)?;
        let factor = Upper::<T> {
            data: memory,
            size: self.size,
            kind: std::marker::PhantomData,
        };
        factor.prepare(self.lower);
        factor.factorise(parallel)?;
        if self.lower {
            factor.conjugate();
        }
        copy(parallel, &whole.as_view(), &mut to)
    }
}

/// A dense matrix whose upper triangle becomes its upper factor: `a = adjoint(u) u`.
struct Upper<T> {
    data: Target,
    size: usize,
    kind: std::marker::PhantomData<T>,
}

impl<T: Field> Upper<T> {
    fn at(&self, row: usize, column: usize) -> *mut T {
        self.data
            .at(((row * self.size + column) * size_of::<T>()) as isize)
            .cast()
    }

    /// A part of a row.
    ///
    /// # Safety
    /// Nobody else has it.
    #[expect(
        clippy::mut_from_ref,
        reason = "the matrix is shared by tasks, each of which has elements of its own"
    )]
    unsafe fn row(&self, row: usize, from: usize, to: usize) -> &mut [T] {
        // SAFETY: the part is of the matrix; otherwise the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.at(row, from), to - from) }
    }

    /// Clears the lower triangle, and conjugates the upper one if it was the lower one.
    fn prepare(&self, lower: bool) {
        for row in 0..self.size {
            // SAFETY: no task has the matrix yet.
            unsafe { self.row(row, 0, row) }.fill(T::ZERO);
        }
        if lower {
            self.conjugate();
        }
    }

    /// All but the diagonal, which is real.
    fn conjugate(&self) {
        for row in 0..self.size {
            // SAFETY: no task has the matrix.
            let row = unsafe { self.row(row, row + 1, self.size) };
            row.iter_mut().for_each(|value| *value = value.conjugate());
        }
    }

    fn factorise(&self, parallel: Parallel<'_>) -> Result<(), RoutineError> {
        for start in (0..self.size).step_by(BLOCK) {
            let end = self.size.min(start + BLOCK);
            self.eliminate(start, end, start, end);
            let rest = self.size - end;
            parallel.ranges(rest, COLUMNS, &|range, _| {
                self.eliminate(start, end, end + range.start, end + range.end);
            })?;
            parallel.run(rest.div_ceil(COLUMNS), &|Task { index, .. }| {
                self.subtract(start, end, end + index * COLUMNS)
            })?;
        }
        Ok(())
    }

    /// Brings columns of the rows of a block up to date: those of the block itself first, then any others.
    fn eliminate(&self, start: usize, end: usize, from: usize, to: usize) {
        let diagonal = from == start;
        for row in start..end {
            for above in start..row {
                let first = if diagonal { row } else { from };
                // SAFETY: the block's own columns are done, or these, and each task has columns of its own.
                unsafe {
                    let factor = self.at(above, row).read().conjugate();
                    subtract_row(self.row(row, first, to), factor, self.row(above, first, to));
                }
            }
            // SAFETY: as above.
            unsafe {
                let pivot = self.at(row, row);
                if diagonal {
                    pivot.write(pivot.read().real_root());
                }
                let first = if diagonal { row + 1 } else { from };
                divide_row(self.row(row, first, to), pivot.read());
            }
        }
    }

    /// Subtracts what the rows of a block contribute to some rows below it.
    fn subtract(&self, start: usize, end: usize, row: usize) {
        let step = (self.size * size_of::<T>()) as isize;
        let width = size_of::<T>() as isize;
        let sizes = Sizes {
            rows: COLUMNS.min(self.size - row),
            columns: self.size - row,
            depth: end - start,
        };
        let lhs = Factor {
            data: self.at(start, row).cast_const().cast(),
            row_step: width,
            column_step: step,
        };
        let rhs = Factor {
            data: lhs.data,
            row_step: step,
            column_step: width,
        };
        let out = Sum {
            data: self.at(row, row).cast(),
            row_step: step,
            column_step: width,
        };
        let mode = Mode {
            accumulate: true,
            negate: true,
            conjugate: [true, false],
        };
        // What this does to the lower triangle, within the rows, is undone below.
        // SAFETY: the rows are this task's; those of the block, which are read, are done.
        unsafe { multiply(T::ARITHMETIC, sizes, lhs, rhs, out, mode) };
        for below in row + 1..row + sizes.rows {
            // SAFETY: as above.
            unsafe { self.row(below, row, below) }.fill(T::ZERO);
        }
    }
}

/// `row -= factor * other`.
pub(super) fn subtract_row<T: Field>(row: &mut [T], factor: T, other: &[T]) {
    leveled! {
        fn subtract[T: Field](row: &mut [T], factor: T, other: &[T]) {
            for (value, other) in row.iter_mut().zip(other) {
                *value = value.minus_product(factor, *other);
            }
        }
    }
    subtract::<T>(row, factor, other);
}

/// `row /= divisor`.
pub(super) fn divide_row<T: Field>(row: &mut [T], divisor: T) {
    leveled! {
        fn divide[T: Field](row: &mut [T], divisor: T) {
            for value in row {
                *value = value.over(divisor);
            }
        }
    }
    divide::<T>(row, divisor);
}
