//! Fourier transforms of any length over one to three dimensions.
//!
//! Several lines are transformed side by side, as lanes of vectors, so that every length is vector code. A length whose prime
//! factors are small is done by mixed radices, any other by a convolution (Bluestein), in `f64`.

mod bluestein;
mod lanes;
mod line;
mod pass;
mod radix;

use artifact_ir::types::ElementType;
use smallvec::SmallVec;

use self::pass::{Pass, Shape};
use crate::error::{RoutineError, check_same};
use crate::pool::Parallel;
use crate::view::{Target, View, ViewMut, count, row_major};
use crate::workspace::{Parts, Workspace};

const FFT: &str = "fft";

/// Most dimensions of a transform.
const DIMS_MAX: usize = 3;

/// Longest transform of one dimension: one line takes as much memory as a line in every lane, about a gigabyte.
const LENGTH_MAX: usize = 1 << 20;
/// Longest one that is done by a convolution, which is up to four times as long and in `f64`.
const CONVOLVED_MAX: usize = 1 << 18;

/// Which transform (spec, "fft").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Complex to complex.
    Forward,
    /// Complex to complex, divided by the number of elements.
    Inverse,
    /// Real to the first half of the complex spectrum.
    RealForward,
    /// The first half of a complex spectrum to real, divided by the number of elements.
    RealInverse,
}

/// Whether there is a routine for transforms between real numbers of this type and complex ones of the same parts.
#[must_use]
pub const fn supports(element: ElementType) -> bool {
    matches!(element.part(), ElementType::F32 | ElementType::F64)
}

/// A transform with its roots of unity, which can be used any number of times.
#[derive(Debug)]
pub struct Plan {
    kind: Kind,
    part: ElementType,
    /// One for each dimension, outermost first.
    lines: SmallVec<[line::Plan; DIMS_MAX]>,
    lengths: SmallVec<[usize; DIMS_MAX]>,
}

impl Plan {
    /// A transform over the last dimensions, of these lengths (of real numbers, where it is of or to real ones), of numbers with
    /// parts of a type.
    ///
    /// # Errors
    /// A mismatch of the number of dimensions or of a length, or a type without a routine.
    pub fn new(kind: Kind, part: ElementType, lengths: &[usize]) -> Result<Self, RoutineError> {
        if !matches!(part, ElementType::F32 | ElementType::F64) {
            return Err(RoutineError::unsupported(FFT, part));
        }
        if lengths.is_empty() || lengths.len() > DIMS_MAX {
            let what = format!(
                "a transform is over 1 to {DIMS_MAX} dimensions, not {}",
                lengths.len()
            );
            return Err(RoutineError::mismatch(FFT, what));
        }
        let is_long =
            |length: &&usize| **length > LENGTH_MAX || **length > CONVOLVED_MAX && !radix::has(**length);
        if let Some(length) = lengths.iter().find(is_long) {
            let what = format!("a transform of length {length} takes too much memory; interpret it");
            return Err(RoutineError::mismatch(FFT, what));
        }
        let last = lengths.len() - 1;
        let plan = |(dim, length): (usize, &usize)| {
            let shape = match kind {
                Kind::RealForward if dim == last => Shape::RealToHalf,
                Kind::RealInverse if dim == last => Shape::HalfToReal,
                Kind::Inverse | Kind::RealInverse => Shape::Complex { inverse: true },
                Kind::Forward | Kind::RealForward => Shape::Complex { inverse: false },
            };
            line::Plan::new(part, *length, shape)
        };
        Ok(Self {
            kind,
            part,
            lines: lengths.iter().enumerate().map(plan).collect(),
            lengths: lengths.into(),
        })
    }

    /// Transforms `from` into `out`.
    ///
    /// # Errors
    /// A mismatch of shapes or types, no memory, or [`RoutineError::Stopped`].
    pub fn run(
        &self,
        parallel: Parallel<'_>,
        workspace: &mut Workspace,
        from: &View<'_>,
        out: &mut ViewMut<'_>,
    ) -> Result<(), RoutineError> {
        self.check(from, out)?;
        if out.is_empty() {
            return Ok(());
        }
        let first = from.rank() - self.lines.len();
        let last = from.rank() - 1;
        // An inverse to real numbers transforms its complex dimensions first, in memory of its own.
        let held = self.kind == Kind::RealInverse && self.lines.len() > 1;
        let mut parts = Parts::default();
        let scratch = self
            .lines
            .iter()
            .map(|line| line.scratch_bytes())
            .max()
            .unwrap_or(0);
        let scratch_at = parts.add(parallel.slots(), scratch);
        let complex = self.complex();
        let held_at = parts.add(if held { count(from.axes()) } else { 0 }, complex.bytes());
        let memory = workspace.reserve(parts.bytes()?)?;
        let pass = |dim: usize| Pass {
            plan: &self.lines[dim - first],
            dim,
            memory: Target::new(memory.at(scratch_at as isize)),
        };
        if !held {
            pass(last).run(parallel, from, out)?;
            for dim in (first..last).rev() {
                pass(dim).run_in_place(parallel, out)?;
            }
            return Ok(());
        }
        let strides: SmallVec<[isize; 6]> = row_major(complex.bytes(), &from.shape())
            .iter()
            .map(|axis| axis.stride)
            .collect();
        // SAFETY: the workspace has room for as many elements, and nobody else has it.
        let mut half = unsafe { ViewMut::new(memory.at(held_at as isize), complex, &from.shape(), &strides) };
        pass(first).run(parallel, from, &mut half)?;
        for dim in first + 1..last {
            pass(dim).run_in_place(parallel, &mut half)?;
        }
        pass(last).run(parallel, &half.as_view(), out)
    }

    const fn complex(&self) -> ElementType {
        match self.part {
            ElementType::F32 => ElementType::C64,
            _ => ElementType::C128,
        }
    }

    fn check(&self, from: &View<'_>, out: &ViewMut<'_>) -> Result<(), RoutineError> {
        let (complex, part) = (self.complex(), self.part);
        let (operand, result) = match self.kind {
            Kind::Forward | Kind::Inverse => (complex, complex),
            Kind::RealForward => (part, complex),
            Kind::RealInverse => (complex, part),
        };
        if from.element() != operand || out.element() != result {
            let what = format!(
                "the types must be {operand} and {result}, found {} and {}",
                from.element(),
                out.element()
            );
            return Err(RoutineError::mismatch(FFT, what));
        }
        let shape = from.shape();
        let Some(first) = shape.len().checked_sub(self.lengths.len()) else {
            return Err(RoutineError::mismatch(
                FFT,
                "the operand has fewer dimensions than the transform",
            ));
        };
        let (mut operand, mut result) = (shape.to_vec(), shape.to_vec());
        operand[first..].copy_from_slice(&self.lengths);
        result[first..].copy_from_slice(&self.lengths);
        let halved = |size: usize| if size == 0 { 0 } else { size / 2 + 1 };
        let last = shape.len() - 1;
        match self.kind {
            Kind::Forward | Kind::Inverse => {}
            Kind::RealForward => result[last] = halved(result[last]),
            Kind::RealInverse => operand[last] = halved(operand[last]),
        }
        check_same(FFT, "the shape of the operand", &shape, &operand)?;
        check_same(FFT, "the shape of the result", &out.shape(), &result)
    }
}
