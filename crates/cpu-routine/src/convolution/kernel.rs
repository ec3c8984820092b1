//! The kernel of a convolution as a matrix: elements under a window by output features.

use crate::convert;
use crate::error::RoutineError;
use crate::odometer::Nest;
use crate::pool::Parallel;
use crate::product::{Arithmetic, Factor};
use crate::view::{Source, Target, View, product};

/// Elements that one task converts, about.
const TASK_ELEMENTS: usize = 1 << 14;

pub(super) struct Kernel {
    element: artifact_ir::types::ElementType,
    arithmetic: Arithmetic,
    from: Source,
    data: Source,
    /// Steps of the matrix in bytes: to the next row, and to the next output feature.
    steps: [isize; 2],
    /// Output features of a group.
    columns: usize,
    /// Steps in the kernel and in its copy, if there is one.
    copy: Option<Nest<2>>,
}

impl Kernel {
    /// `view` has dimensions in the order input feature, output feature, spatial. Rows are in the order of patches: input
    /// features last or first.
    pub(super) fn new(arithmetic: Arithmetic, view: &View<'_>, groups: usize, features_last: bool) -> Self {
        let width = arithmetic.element().bytes() as isize;
        let axes = view.axes();
        let (input, output, spatial) = (axes[0], axes[1], &axes[2..]);
        let order: Vec<_> = if features_last {
            [spatial, &[input]].concat()
        } else {
            [&[input], spatial].concat()
        };
        let mut rows: Nest<2> = Nest::default();
        // More than there is memory for shows when that is asked for.
        let total = product(axes.iter().map(|axis| axis.size)).saturating_mul(width as usize);
        let mut step = total as isize;
        for axis in order {
            step /= axis.size.max(1) as isize;
            rows.push(axis.size, [axis.stride, step]);
        }
        let from = Source::new(view.data());
        let columns = output.size / groups;
        let lined_up = Nest {
            loops: rows
                .loops
                .iter()
                .map(|one| crate::odometer::Loop {
                    size: one.size,
                    steps: [one.steps[0]],
                })
                .collect(),
        };
        let (outer, row) = lined_up.collapsed().split_last();
        let fits = view.element() == arithmetic.element()
            && outer.loops.is_empty()
            && [row.steps[0], output.stride].iter().all(|step| step % width == 0);
        if fits {
            return Self {
                element: view.element(),
                arithmetic,
                from,
                data: from,
                steps: [row.steps[0], output.stride],
                columns,
                copy: None,
            };
        }
        rows.push(output.size, [output.stride, width]);
        Self {
            element: view.element(),
            arithmetic,
            from,
            data: from,
            steps: [output.size as isize * width, width],
            columns,
            copy: Some(rows.collapsed()),
        }
    }

    pub(super) fn copied_count(&self) -> usize {
        self.copy.as_ref().map_or(0, Nest::count)
    }

    /// Makes the copy at `to`, if there is one to make. There is room for it.
    pub(super) fn fill(&mut self, parallel: Parallel<'_>, to: *mut u8) -> Result<(), RoutineError> {
        let Some(nest) = &self.copy else {
            return Ok(());
        };
        self.data = Source::new(to);
        let (from, to) = (self.from, Target::new(to));
        let (element, arithmetic) = (self.element, self.arithmetic);
        let (outer, last) = nest.clone().split_last();
        parallel.ranges(outer.count(), TASK_ELEMENTS / last.size.max(1), &|range, _| {
            outer.for_each(range, |[source, target]| {
                // SAFETY: a row of the view; the copy has room for each and one task writes it.
                unsafe {
                    convert::widen(
                        element,
                        (from.at(source), last.steps[0]),
                        arithmetic,
                        to.at(target),
                        last.size,
                    )
                };
            });
        })
    }

    /// The matrix of a group.
    pub(super) const fn factor(&self, group: usize) -> Factor {
        Factor {
            data: self.data.at((group * self.columns) as isize * self.steps[1]),
            row_step: self.steps[0],
            column_step: self.steps[1],
        }
    }
}
