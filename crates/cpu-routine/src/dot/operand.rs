//! An operand of a product: where it lies, or a copy of it in the arithmetic of the sums.

use artifact_ir::types::ElementType;

use super::Role;
use crate::convert;
use crate::error::RoutineError;
use crate::odometer::Nest;
use crate::pool::Parallel;
use crate::product::Arithmetic;
use crate::view::{Axes, Source, Target, View, count, product};

/// Elements that one task converts, about.
const TASK_ELEMENTS: usize = 1 << 15;

pub(super) struct Operand {
    element: ElementType,
    arithmetic: Arithmetic,
    /// The elements of the view.
    from: Source,
    /// The elements that are multiplied.
    data: Source,
    /// Steps in the view and in the copy, in the order of the copy, if there is one.
    copy: Option<Nest<2>>,
}

impl Operand {
    /// The operand where it is, if its type and strides allow and nothing else asks for a copy. The `axes` of a copied one
    /// become those of the copy.
    pub(super) fn place(
        view: &View<'_>,
        axes: &mut [Axes; 3],
        arithmetic: Arithmetic,
        side: usize,
        copy: bool,
    ) -> Self {
        let width = view.width() as isize;
        let uneven = view.axes().iter().any(|axis| axis.stride % width != 0);
        let from = Source::new(view.data());
        let mut operand = Self {
            element: view.element(),
            arithmetic,
            from,
            data: from,
            copy: None,
        };
        if copy || uneven || !holds(view.element(), arithmetic) {
            operand.copy = Some(laid_out(axes, arithmetic, side));
        }
        operand
    }

    /// Elements of the copy.
    pub(super) fn copied_count(&self) -> usize {
        self.copy.as_ref().map_or(0, Nest::count)
    }

    pub(super) const fn at(&self, offset: isize) -> *const u8 {
        self.data.at(offset)
    }

    /// Makes the copy at `to`, if there is one to make. There is room for it.
    pub(super) fn fill(&mut self, parallel: Parallel<'_>, to: *mut u8) -> Result<(), RoutineError> {
        let Some(nest) = &self.copy else {
            return Ok(());
        };
        self.data = Source::new(to);
        let (to, from) = (Target::new(to), self.from);
        let (element, arithmetic) = (self.element, self.arithmetic);
        let (outer, last) = nest.collapsed().split_last();
        let pieces = last.size.div_ceil(TASK_ELEMENTS).max(1);
        let grain = if pieces > 1 {
            1
        } else {
            TASK_ELEMENTS / last.size.max(1)
        };
        parallel.ranges(outer.count() * pieces, grain, &|range, _| {
            for index in range {
                let start = index % pieces * TASK_ELEMENTS;
                let at = outer.offsets(index / pieces);
                let [source, target] = [0, 1].map(|which| at[which] + start as isize * last.steps[which]);
                let length = TASK_ELEMENTS.min(last.size - start);
                // SAFETY: the elements are of the view; the copy has room for each and one task writes it.
                unsafe {
                    convert::widen(
                        element,
                        (from.at(source), last.steps[0]),
                        arithmetic,
                        to.at(target),
                        length,
                    )
                };
            }
        })
    }
}

/// Whether elements can be multiplied as they are.
fn holds(element: ElementType, arithmetic: Arithmetic) -> bool {
    match arithmetic {
        // Only the width counts to sums modulo it.
        Arithmetic::Integer8 | Arithmetic::Integer16 | Arithmetic::Integer32 | Arithmetic::Integer64 => {
            element.bytes() == arithmetic.element().bytes()
        }
        _ => element == arithmetic.element(),
    }
}

/// The loops of a dense copy: batch dimensions, then the free and the contracting ones, of which those go last whose elements
/// lie together.
fn laid_out(axes: &mut [Axes; 3], arithmetic: Arithmetic, side: usize) -> Nest<2> {
    let closest = |role: Role| {
        axes[role as usize]
            .iter()
            .filter(|axis| axis.size > 1)
            .map(|axis| axis.stride.abs())
            .min()
    };
    let floating = matches!(
        arithmetic,
        Arithmetic::F32 | Arithmetic::F64 | Arithmetic::C64 | Arithmetic::C128
    );
    let summed_last = match (closest(Role::Free), closest(Role::Summed)) {
        // Plain loops run along the columns of the right operand.
        _ if !floating => side == 0,
        (Some(free), Some(summed)) => summed <= free,
        (None, _) => true,
        (_, None) => false,
    };
    let order = if summed_last {
        [Role::Batch, Role::Free, Role::Summed]
    } else {
        [Role::Batch, Role::Summed, Role::Free]
    };
    // More than there is memory for shows when that is asked for.
    let total = product(axes.iter().map(|axes| count(axes)));
    let mut step = total.saturating_mul(arithmetic.element().bytes()) as isize;
    let mut nest = Nest::default();
    for axis in order.into_iter().flat_map(|role| axes[role as usize].clone()) {
        // An empty operand is not walked.
        step /= axis.size.max(1) as isize;
        nest.push(axis.size, [axis.stride, step]);
    }
    let mut loops = nest.loops.iter();
    for role in order {
        for (axis, one) in axes[role as usize].iter_mut().zip(loops.by_ref()) {
            axis.stride = one.steps[1];
        }
    }
    nest
}
