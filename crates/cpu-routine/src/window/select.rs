//! `select_and_scatter`.

use artifact_ir::types::ElementType;
use smallvec::SmallVec;

use super::{WindowDim, check_windows};
use crate::combine::{Combine, Combiner};
use crate::copy::fill;
use crate::error::{RoutineError, check_same};
use crate::number::{Bf16, F16, Half, with_integer};
use crate::odometer::{Cursor, Nest};
use crate::pool::Parallel;
use crate::view::{Source, Target, View, ViewMut, product};

const SELECT: &str = "select_and_scatter";

/// Elements of the operand that one task looks at, about.
const TASK_WORK: usize = 1 << 15;

/// How two elements are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The first is not smaller.
    Ge,
    /// The first is larger.
    Gt,
    /// The first is not larger.
    Le,
    /// The first is smaller.
    Lt,
}

/// Whether the element at the first pointer stays selected when the one at the second comes.
pub type SelectFn<'a> = dyn Fn(*const u8, *const u8) -> bool + Sync + 'a;

/// Which element of a window is selected.
#[derive(Clone, Copy)]
pub enum Select<'a> {
    /// The first element stays as long as it compares so with the others.
    Compare(Direction),
    /// By a function of the program.
    By(&'a SelectFn<'a>),
}

impl std::fmt::Debug for Select<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Compare(direction) => f.debug_tuple("Compare").field(direction).finish(),
            Self::By(_) => f.write_str("By"),
        }
    }
}

/// Spec, "select_and_scatter": of each window over `operand` one element is selected, and the source's element for that window
/// combined into the result there, in row-major order of the source. `init` is of rank 0; windows are not dilated.
///
/// Types are the operand's but for source, initial value and result, which have one of their own.
///
/// # Errors
/// A mismatch of shapes and windows, types that cannot be compared or combined, or [`RoutineError::Stopped`].
#[expect(
    clippy::too_many_arguments,
    reason = "three operands, two regions and the windows are what the operation has"
)]
pub fn select_and_scatter(
    parallel: Parallel<'_>,
    windows: &[WindowDim],
    select: Select<'_>,
    combiner: &Combiner<'_>,
    operand: &View<'_>,
    source: &View<'_>,
    init: &View<'_>,
    out: &mut ViewMut<'_>,
) -> Result<(), RoutineError> {
    let shape = operand.shape();
    check_windows(SELECT, windows, &shape, &source.shape())?;
    check_same(SELECT, "the shape of the result", &out.shape(), &shape)?;
    check_same(
        SELECT,
        "the widths of source and initial value",
        &[source.width(), init.width()],
        &[out.width(); 2],
    )?;
    if windows
        .iter()
        .any(|window| window.base_dilation != 1 || window.window_dilation != 1)
    {
        return Err(RoutineError::mismatch(SELECT, "windows are not dilated"));
    }
    let compare = match select {
        Select::By(_) => None,
        Select::Compare(direction) => {
            let found = comparison(direction, operand.element());
            Some(found.ok_or_else(|| RoutineError::unsupported(SELECT, operand.element()))?)
        }
    };
    let combine = match combiner {
        Combiner::Together(_) => None,
        Combiner::Each(each) => {
            let kernel = each
                .first()
                .copied()
                .unwrap_or(Combine::Replace)
                .kernel(out.element());
            Some(kernel.ok_or_else(|| RoutineError::unsupported(SELECT, out.element()))?)
        }
    };
    fill(parallel, init, out)?;
    if out.is_empty() || source.is_empty() {
        return Ok(());
    }
    let job = Job::new(windows, operand, source, out);
    let keeps = |best: *const u8, next: *const u8| match (select, compare) {
        (Select::By(by), _) => by(best, next),
        // SAFETY: both pointers are to elements of the operand.
        (Select::Compare(_), compare) => compare.is_some_and(|compare| unsafe { compare(best, next) }),
    };
    let add = |to: *mut u8, from: *const u8| match (combiner, combine) {
        (Combiner::Together(together), _) => together(&[to], &[from], 1),
        // SAFETY: one element of the result, which is this task's, and one of the source.
        (Combiner::Each(_), Some(kernel)) => unsafe { kernel((to, 0), (from, 0), 1) },
        (Combiner::Each(_), None) => {}
    };
    job.run(parallel, &keeps, &add)
}

struct Job<'a> {
    windows: SmallVec<[WindowDim; 6]>,
    operand: &'a View<'a>,
    out: &'a ViewMut<'a>,
    source: Source,
    /// Loops over dimensions whose windows are the elements: steps in the operand, the source and the result.
    apart: Nest<3>,
    /// Loops over windows in the other dimensions: steps in the source.
    within: Nest<1>,
    dims: SmallVec<[usize; 6]>,
}

impl<'a> Job<'a> {
    fn new(windows: &[WindowDim], operand: &'a View<'_>, source: &View<'_>, out: &'a ViewMut<'_>) -> Self {
        let (mut apart, mut within, mut dims) = (Nest::default(), Nest::default(), SmallVec::new());
        for (dim, window) in windows.iter().enumerate() {
            let axis = source.axes()[dim];
            if window.is_trivial() {
                let strides = [operand.axes()[dim].stride, axis.stride, out.axes()[dim].stride];
                apart.push(axis.size, strides);
            } else {
                within.push(axis.size, [axis.stride]);
                dims.push(dim);
            }
        }
        Self {
            windows: windows.into(),
            operand,
            out,
            source: Source::new(source.data()),
            apart: apart.collapsed(),
            within,
            dims,
        }
    }

    fn run(
        &self,
        parallel: Parallel<'_>,
        keeps: &SelectFn<'_>,
        add: &(dyn Fn(*mut u8, *const u8) + Sync),
    ) -> Result<(), RoutineError> {
        let steps = product(self.dims.iter().map(|dim| self.windows[*dim].size));
        let grain = TASK_WORK / self.within.count().saturating_mul(steps).max(1);
        let (operand, to) = (Source::new(self.operand.data()), Target::new(self.out.data()));
        parallel.ranges(self.apart.count(), grain, &|range, _| {
            self.apart.for_each(range, |[from, source, target]| {
                let mut cursor = Cursor::at(&self.within, 0);
                for _ in 0..self.within.count() {
                    // All windows of an array may be one task.
                    if parallel.is_stopped() {
                        return;
                    }
                    if let Some(place) = self.select(&cursor.index, operand, from, keeps) {
                        add(to.at(target + place), self.source.at(source + cursor.offsets[0]));
                    }
                    cursor.step(&self.within);
                }
            });
        })?;
        match parallel.is_stopped() {
            true => Err(RoutineError::Stopped),
            false => Ok(()),
        }
    }

    /// The offset in the result of the element that wins in a window.
    fn select(&self, start: &[usize], operand: Source, base: isize, keeps: &SelectFn<'_>) -> Option<isize> {
        // The elements of the window that are no padding.
        let mut nest: Nest<2> = Nest::default();
        let mut first = [0; 2];
        for (dim, at) in self.dims.iter().zip(start) {
            let window = self.windows[*dim];
            let axes = [self.operand.axes()[*dim], self.out.axes()[*dim]];
            let low = (at * window.stride) as i64 - window.low;
            let from = low.max(0);
            let end = (low + window.size as i64).min(axes[0].size as i64);
            if from >= end {
                return None;
            }
            first = [0, 1].map(|side| first[side] + from as isize * axes[side].stride);
            nest.push((end - from) as usize, axes.map(|axis| axis.stride));
        }
        let mut best: Option<[isize; 2]> = None;
        nest.for_each(0..nest.count(), |offsets| {
            let next = [0, 1].map(|side| first[side] + offsets[side]);
            let stays =
                best.is_some_and(|best| keeps(operand.at(base + best[0]), operand.at(base + next[0])));
            if !stays {
                best = Some(next);
            }
        });
        best.map(|[_, place]| place)
    }
}

type Comparison = unsafe fn(*const u8, *const u8) -> bool;

fn comparison(direction: Direction, element: ElementType) -> Option<Comparison> {
    Some(match element {
        ElementType::F32 => by_direction::<f32>(direction),
        ElementType::F64 => by_direction::<f64>(direction),
        ElementType::BF16 => by_direction::<Wide<Bf16>>(direction),
        ElementType::F16 => by_direction::<Wide<F16>>(direction),
        other => with_integer!(other, T => by_direction::<T>(direction), _ => return None),
    })
}

/// A narrow float that compares as its value.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Wide<H>(H);

impl<H: Half> PartialEq for Wide<H> {
    fn eq(&self, other: &Self) -> bool {
        self.0.widen() == other.0.widen()
    }
}

impl<H: Half> PartialOrd for Wide<H> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.0.widen().partial_cmp(&other.0.widen())
    }
}

fn by_direction<T: PartialOrd + Copy + 'static>(direction: Direction) -> Comparison {
    /// # Safety
    /// Both pointers are to elements of the type.
    unsafe fn read<T: Copy>(a: *const u8, b: *const u8) -> (T, T) {
        // SAFETY: the caller's promise.
        unsafe { (a.cast::<T>().read_unaligned(), b.cast::<T>().read_unaligned()) }
    }
    macro_rules! compares {
        ($operator:tt) => {{
            /// # Safety
            /// Both pointers are to elements of the type.
            unsafe fn compares<T: PartialOrd + Copy>(a: *const u8, b: *const u8) -> bool {
                // SAFETY: the caller's promise.
                let (a, b) = unsafe { read::<T>(a, b) };
                a $operator b
            }
            compares::<T>
        }};
    }
    match direction {
        Direction::Ge => compares!(>=),
        Direction::Gt => compares!(>),
        Direction::Le => compares!(<=),
        Direction::Lt => compares!(<),
    }
}
