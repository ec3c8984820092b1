//! `triangular_solve`.

use artifact_ir::types::ElementType;

use super::BLOCK;
use super::cholesky::{divide_row, subtract_row};
use super::field::Field;
use crate::copy::copy;
use crate::error::{RoutineError, check_same};
use crate::number::{c32, c64};
use crate::odometer::Nest;
use crate::pool::{Parallel, Task};
use crate::product::{Factor, Mode, Sizes, Sum, multiply};
use crate::view::{Axis, Source, Target, View, ViewMut};
use crate::workspace::{ALIGNMENT, Workspace};

const SOLVE: &str = "triangular_solve";

/// Right sides that one task solves for.
const COLUMNS: usize = 64;

/// What is done to the matrix before it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    /// Nothing.
    Identity,
    /// It is transposed.
    Transpose,
    /// It is transposed and conjugated.
    Adjoint,
}

/// The attributes of a system (spec, "triangular_solve").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct System {
    /// `op(a) x = b`, else `x op(a) = b`.
    pub left_side: bool,
    /// Whether `a` is lower triangular. The other triangle is not read.
    pub lower: bool,
    /// Whether the diagonal of `a` is taken as ones, and not read.
    pub unit_diagonal: bool,
    /// What `op` is.
    pub transform: Transform,
}

/// Spec, "triangular_solve", for each pair of matrices in the last two dimensions.
///
/// # Errors
/// A mismatch of shapes, a type without a routine, no memory, or [`RoutineError::Stopped`].
pub fn triangular_solve(
    parallel: Parallel<'_>,
    workspace: &mut Workspace,
    system: System,
    a: &View<'_>,
    b: &View<'_>,
    out: &mut ViewMut<'_>,
) -> Result<(), RoutineError> {
    let job = Job::new(system, a, b, out)?;
    if out.is_empty() {
        return Ok(());
    }
    match a.element() {
        ElementType::F32 => job.run::<f32>(parallel, workspace),
        ElementType::F64 => job.run::<f64>(parallel, workspace),
        ElementType::C64 => job.run::<c32>(parallel, workspace),
        ElementType::C128 => job.run::<c64>(parallel, workspace),
        other => Err(RoutineError::unsupported(SOLVE, other)),
    }
}

/// `m x = y` for many vectors, where `m` is the matrix or its transpose.
struct Job {
    element: ElementType,
    matrix: Source,
    /// Steps to the next row and column of `m`.
    steps: [isize; 2],
    conjugate: bool,
    lower: bool,
    unit_diagonal: bool,
    size: usize,
    vectors: usize,
    from: Source,
    to: Target,
    /// Steps within a vector and to the next one, of right sides and solutions.
    sides: [[isize; 2]; 2],
    nest: Nest<3>,
}

impl Job {
    fn new(system: System, a: &View<'_>, b: &View<'_>, out: &ViewMut<'_>) -> Result<Self, RoutineError> {
        check_same(SOLVE, "the shape of the result", &out.shape(), &b.shape())?;
        check_same(
            SOLVE,
            "the widths of right side and result",
            &[b.width(), out.width()],
            &[a.width(); 2],
        )?;
        let ([a_batch @ .., rows, columns], [b_batch @ .., first, second]) = (a.axes(), b.axes()) else {
            return Err(RoutineError::mismatch(SOLVE, "a system needs two matrices"));
        };
        let sizes = |axes: &[Axis]| -> Vec<usize> { axes.iter().map(|axis| axis.size).collect() };
        check_same(SOLVE, "the batch dimensions", &sizes(b_batch), &sizes(a_batch))?;
        let [size, vectors] = if system.left_side {
            [first.size, second.size]
        } else {
            [second.size, first.size]
        };
        check_same(
            SOLVE,
            "the sides of the matrix",
            &[rows.size, columns.size],
            &[size; 2],
        )?;
        if [rows, columns]
            .iter()
            .any(|axis| axis.stride % a.width() as isize != 0)
        {
            return Err(RoutineError::mismatch(
                SOLVE,
                "the strides of the matrix are no multiples of its width",
            ));
        }
        // `x op(a) = b` is `transpose(op(a)) transpose(x) = transpose(b)`.
        let transposed = (system.transform != Transform::Identity) == system.left_side;
        let rank = a_batch.len();
        let sides = |axes: &[Axis]| {
            let [row, column] = [axes[rank].stride, axes[rank + 1].stride];
            if system.left_side {
                [row, column]
            } else {
                [column, row]
            }
        };
        Ok(Self {
            element: a.element(),
            matrix: Source::new(a.data()),
            steps: if transposed {
                [columns.stride, rows.stride]
            } else {
                [rows.stride, columns.stride]
            },
            conjugate: system.transform == Transform::Adjoint && a.element().is_complex(),
            lower: system.lower != transposed,
            unit_diagonal: system.unit_diagonal,
            size,
            vectors,
            from: Source::new(b.data()),
            to: Target::new(out.data()),
            sides: [sides(b.axes()), sides(out.axes())],
            nest: Nest::of([a_batch, b_batch, &out.axes()[..rank]]),
        })
    }

    fn run<T: Field>(&self, parallel: Parallel<'_>, workspace: &mut Workspace) -> Result<(), RoutineError> {
        let width = self.vectors.min(COLUMNS);
        let count = self.size.checked_mul(width * size_of::<T>());
        let bytes = count.and_then(|bytes| bytes.checked_next_multiple_of(ALIGNMENT));
        let all = bytes.and_then(|bytes| bytes.checked_mul(parallel.slots()));
        let memory = workspace.reserve(all.ok_or(RoutineError::Memory(usize::MAX))?)?;
        let bytes = bytes.unwrap_or(0);
        let pieces = self.vectors.div_ceil(COLUMNS);
        parallel.run(self.nest.count() * pieces, &|Task { index, slot }| {
            let first = index % pieces * COLUMNS;
            let piece = Piece::<T> {
                job: self,
                matrix: self.matrix.at(self.nest.offsets(index / pieces)[0]),
                values: Target::new(memory.at((slot * bytes) as isize)),
                columns: COLUMNS.min(self.vectors - first),
                kind: std::marker::PhantomData,
            };
            // Nothing stops it, and its views fit each other.
            let _ = piece.run(self.nest.offsets(index / pieces), first);
        })
    }
}

/// Some of the vectors of one system.
struct Piece<'a, T> {
    job: &'a Job,
    matrix: *const u8,
    /// The vectors as columns, row after row.
    values: Target,
    columns: usize,
    kind: std::marker::PhantomData<T>,
}

impl<T: Field> Piece<'_, T> {
    fn run(&self, [_, from, to]: [isize; 3], first: usize) -> Result<(), RoutineError> {
        let job = self.job;
        let width = size_of::<T>() as isize;
        let shape = [job.size, self.columns];
        let at = |base: isize, side: usize| base + first as isize * job.sides[side][1];
        // SAFETY: vectors of the right side, and of the result, which are this task's, and memory for as many.
        let (from, mut to, mut values) = unsafe {
            (
                View::new(job.from.at(at(from, 0)), job.element, &shape, &job.sides[0]),
                ViewMut::new(job.to.at(at(to, 1)), job.element, &shape, &job.sides[1]),
                ViewMut::new(
                    self.values.at(0),
                    job.element,
                    &shape,
                    &[self.columns as isize * width, width],
                ),
            )
        };
        copy(Parallel::alone(), &from, &mut values)?;
        let blocks = job.size.div_ceil(BLOCK);
        for step in 0..blocks {
            let block = if job.lower { step } else { blocks - 1 - step };
            let (start, end) = (block * BLOCK, job.size.min((block + 1) * BLOCK));
            if job.lower {
                self.subtract(start, end, 0, start);
            } else {
                self.subtract(start, end, end, job.size);
            }
            self.substitute(start, end);
        }
        copy(Parallel::alone(), &values.as_view(), &mut to)
    }

    fn row(&self, row: usize) -> *mut T {
        self.values
            .at((row * self.columns * size_of::<T>()) as isize)
            .cast()
    }

    /// Subtracts what known rows contribute to those of a block.
    fn subtract(&self, start: usize, end: usize, from: usize, to: usize) {
        let steps = self.job.steps;
        let width = size_of::<T>() as isize;
        let sizes = Sizes {
            rows: end - start,
            columns: self.columns,
            depth: to - from,
        };
        if sizes.depth == 0 {
            return;
        }
        let lhs = Factor {
            data: self
                .matrix
                .wrapping_offset(start as isize * steps[0] + from as isize * steps[1]),
            row_step: steps[0],
            column_step: steps[1],
        };
        let rhs = Factor {
            data: self.row(from).cast_const().cast(),
            row_step: self.columns as isize * width,
            column_step: width,
        };
        let out = Sum {
            data: self.row(start).cast(),
            row_step: rhs.row_step,
            column_step: width,
        };
        let mode = Mode {
            accumulate: true,
            negate: true,
            conjugate: [self.job.conjugate, false],
        };
        // SAFETY: a part of the matrix, known rows and those of the block, which are all this task's.
        unsafe { multiply(T::ARITHMETIC, sizes, lhs, rhs, out, mode) };
    }

    /// Solves for the rows of a block, of which the others are known and subtracted.
    fn substitute(&self, start: usize, end: usize) {
        let steps = self.job.steps;
        let coefficient = |row: usize, column: usize| {
            let at = self
                .matrix
                .wrapping_offset(row as isize * steps[0] + column as isize * steps[1]);
            // SAFETY: an element of the matrix.
            let value = unsafe { at.cast::<T>().read_unaligned() };
            if self.job.conjugate {
                value.conjugate()
            } else {
                value
            }
        };
        for step in 0..end - start {
            let row = if self.job.lower {
                start + step
            } else {
                end - 1 - step
            };
            let known = if self.job.lower { start..row } else { row + 1..end };
            // SAFETY: rows of this task's memory, of which no two are the same.
            unsafe {
                let values = std::slice::from_raw_parts_mut(self.row(row), self.columns);
                for other in known {
                    let others = std::slice::from_raw_parts(self.row(other), self.columns);
                    subtract_row(values, coefficient(row, other), others);
                }
                if !self.job.unit_diagonal {
                    divide_row(values, coefficient(row, row));
                }
            }
        }
    }
}
