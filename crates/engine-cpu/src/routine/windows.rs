//! Reductions, of windows and of dimensions, and selection.

use std::sync::Arc;

use artifact_cpu_routine::combine::Combiner;
use artifact_cpu_routine::error::RoutineError;
use artifact_cpu_routine::reduce::reduce as run_reduce;
use artifact_cpu_routine::view::{View, ViewMut};
use artifact_cpu_routine::window::{self, Direction, Select, WindowDim};
use artifact_ir::attribute::Padding;
use artifact_ir::op::{Reduce, ReduceWindow, SelectAndScatter};
use artifact_ir::types::ElementType;
use smallvec::SmallVec;

use super::function::Function;
use super::regions::{Combination, direction};
use super::{Array, BoundRoutine, Hands, Routine, Site, positions};
use crate::error::CpuError;

/// Attributes of windows, one dimension each; absent ones change nothing.
pub(super) struct Lists<'a> {
    pub(super) sizes: &'a [i64],
    pub(super) strides: Option<&'a [i64]>,
    pub(super) base: Option<&'a [i64]>,
    pub(super) window: Option<&'a [i64]>,
    pub(super) padding: Option<&'a Padding>,
}

/// Whether a routine counts with such numbers; what is done by windows that are larger is nearly all padding.
fn is_countable(window: &WindowDim) -> bool {
    const COUNTED_MAX: u64 = 1 << 40;
    let steps = [
        window.size,
        window.stride,
        window.base_dilation,
        window.window_dilation,
    ];
    let edges = [window.low, window.high];
    steps.iter().all(|step| *step as u64 <= COUNTED_MAX)
        && edges.iter().all(|edge| edge.unsigned_abs() <= COUNTED_MAX)
}

impl Lists<'_> {
    pub(super) fn windows(&self) -> Option<Vec<WindowDim>> {
        let at = |list: Option<&[i64]>, dim: usize| -> Option<usize> {
            list.and_then(|list| list.get(dim))
                .map_or(Some(1), |value| usize::try_from(*value).ok())
        };
        let dim = |(dim, size): (usize, &i64)| {
            let [low, high] = self
                .padding
                .and_then(|padding| padding.0.get(dim))
                .copied()
                .unwrap_or_default();
            let window = WindowDim {
                size: usize::try_from(*size).ok()?,
                stride: at(self.strides, dim)?,
                base_dilation: at(self.base, dim)?,
                window_dilation: at(self.window, dim)?,
                low,
                high,
            };
            is_countable(&window).then_some(window)
        };
        self.sizes.iter().enumerate().map(dim).collect()
    }
}

/// Arrays that are reduced together, each with its initial value and its result.
#[derive(Debug)]
struct Reduced {
    combination: Combination,
    inputs: Vec<Array>,
    inits: Vec<Array>,
    outs: Vec<Array>,
}

type Views<T> = SmallVec<[T; 2]>;

impl Reduced {
    /// The operands and results of a reduction, where they are of the types that its region takes and returns.
    fn of(site: &Site<'_>) -> Option<Self> {
        let count = site.results.len();
        let (inputs, inits) = site.operands.split_at_checked(count)?;
        let elements: Vec<ElementType> = inputs.iter().map(|array| array.element).collect();
        let alike = |arrays: &[Array]| {
            arrays
                .iter()
                .map(|array| array.element)
                .eq(elements.iter().copied())
        };
        (alike(inits) && alike(&site.results)).then_some(())?;
        Some(Self {
            combination: Combination::of(site, 0, &elements)?,
            inputs: inputs.to_vec(),
            inits: inits.to_vec(),
            outs: site.results.clone(),
        })
    }

    /// Runs a routine on them.
    ///
    /// # Safety
    /// As for [`Routine::run`].
    unsafe fn run(
        &self,
        hands: Hands<'_>,
        routine: impl FnOnce(
            &Combiner<'_>,
            Hands<'_>,
            [&[View<'_>]; 2],
            &mut [ViewMut<'_>],
        ) -> Result<(), RoutineError>,
    ) -> Result<(), CpuError> {
        let buffers = hands.buffers;
        self.combination.with(hands, |combiner, hands| {
            let views = |arrays: &[Array]| -> Views<View<'_>> {
                // SAFETY: the caller's promise; results are arrays of their own.
                let views = arrays.iter().map(|array| unsafe { array.view(buffers) });
                views.collect()
            };
            let (inputs, inits) = (views(&self.inputs), views(&self.inits));
            // SAFETY: as above.
            let outs = self.outs.iter().map(|array| unsafe { array.view_mut(buffers) });
            let mut outs: Views<ViewMut<'_>> = outs.collect();
            routine(combiner, hands, [&inputs, &inits], &mut outs)
        })
    }
}

#[derive(Debug)]
struct BoundReduce {
    dims: Vec<usize>,
    arrays: Reduced,
}

impl Routine for BoundReduce {
    unsafe fn run(&self, hands: Hands<'_>) -> Result<(), CpuError> {
        // SAFETY: the caller's promise.
        unsafe {
            self.arrays.run(hands, |combiner, hands, [inputs, inits], outs| {
                let Hands {
                    parallel, workspace, ..
                } = hands;
                run_reduce(parallel, workspace, &self.dims, combiner, inputs, inits, outs)
            })
        }
    }
}

pub(super) fn reduce(site: &Site<'_>, own: &Reduce) -> Option<BoundRoutine> {
    Some(Arc::new(BoundReduce {
        dims: positions(&own.dimensions),
        arrays: Reduced::of(site)?,
    }))
}

#[derive(Debug)]
struct BoundReduceWindow {
    windows: Vec<WindowDim>,
    arrays: Reduced,
}

impl Routine for BoundReduceWindow {
    unsafe fn run(&self, hands: Hands<'_>) -> Result<(), CpuError> {
        // SAFETY: the caller's promise.
        unsafe {
            self.arrays.run(hands, |combiner, hands, [inputs, inits], outs| {
                window::reduce_window(hands.parallel, &self.windows, combiner, inputs, inits, outs)
            })
        }
    }
}

pub(super) fn reduce_window(site: &Site<'_>, own: &ReduceWindow) -> Option<BoundRoutine> {
    let lists = Lists {
        sizes: &own.window_dimensions,
        strides: own.window_strides.as_deref(),
        base: own.base_dilations.as_deref(),
        window: own.window_dilations.as_deref(),
        padding: own.padding.as_ref(),
    };
    Some(Arc::new(BoundReduceWindow {
        windows: lists.windows()?,
        arrays: Reduced::of(site)?,
    }))
}

/// Which element of a window is selected.
#[derive(Clone, Copy, Debug)]
enum Selection {
    Compare(Direction),
    /// By a function of the element at hand and another one.
    Function(Function),
}

#[derive(Debug)]
struct BoundSelectAndScatter {
    windows: Vec<WindowDim>,
    selection: Selection,
    combination: Combination,
    operand: Array,
    source: Array,
    init: Array,
    out: Array,
}

impl Routine for BoundSelectAndScatter {
    unsafe fn run(&self, hands: Hands<'_>) -> Result<(), CpuError> {
        let function = match self.selection {
            Selection::Compare(_) => None,
            Selection::Function(function) => function.ready(&hands),
        };
        let keeps = |best: *const u8, next: *const u8| {
            let mut kept = 0_u8;
            if let Some(function) = function {
                // SAFETY: both are elements of the operand, and the function returns a boolean.
                unsafe { function.call([best, next].into_iter(), &[&raw mut kept], 1) };
            }
            kept != 0
        };
        let select = match self.selection {
            Selection::Compare(direction) => Select::Compare(direction),
            Selection::Function(_) => Select::By(&keeps),
        };
        let (buffers, parallel) = (hands.buffers, hands.parallel);
        self.combination.with(hands, |combiner, _| {
            // SAFETY: the caller's promise; the result is an array of its own.
            unsafe {
                let (operand, source, init) = (
                    self.operand.view(buffers),
                    self.source.view(buffers),
                    self.init.view(buffers),
                );
                let mut out = self.out.view_mut(buffers);
                window::select_and_scatter(
                    parallel,
                    &self.windows,
                    select,
                    combiner,
                    &operand,
                    &source,
                    &init,
                    &mut out,
                )
            }
        })
    }
}

pub(super) fn select_and_scatter(site: &Site<'_>, own: &SelectAndScatter) -> Option<BoundRoutine> {
    let ([operand, source, init], out) = site.fixed()?;
    let ones = vec![1; operand.shape.len()];
    let lists = Lists {
        sizes: own.window_dimensions.as_deref().unwrap_or(&ones),
        strides: own.window_strides.as_deref(),
        base: None,
        window: None,
        padding: own.padding.as_ref(),
    };
    let select = *site.op.regions.first()?;
    let element = out.element;
    let alike = [&operand, &source, &init]
        .iter()
        .all(|array| array.element == element);
    alike.then_some(())?;
    let is_number = element.is_float() || element.is_integer();
    let selection = match direction(site.body, select).filter(|_| is_number) {
        Some(direction) => Selection::Compare(direction),
        None => Selection::Function(site.function(0, &[element; 2], &[ElementType::I1])?),
    };
    Some(Arc::new(BoundSelectAndScatter {
        windows: lists.windows()?,
        selection,
        combination: Combination::of(site, 1, &[element])?,
        operand,
        source,
        init,
        out,
    }))
}
