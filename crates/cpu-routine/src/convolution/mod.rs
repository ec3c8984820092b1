//! Convolutions: tiles of patches of the input times the kernel as a matrix.
//!
//! The positions of a result are cut into tiles; for each tile what lies under its windows is laid out as a matrix in the
//! arithmetic of the sums, of a size that stays in the second cache, and multiplied with the kernel. Where windows are single
//! elements the input is that matrix already.

mod depthwise;
mod kernel;
mod patches;

use artifact_ir::types::ElementType;

use self::depthwise::Row;
use self::kernel::Kernel;
use self::patches::Patches;
use crate::convert;
use crate::error::{RoutineError, check_same};
use crate::odometer::{Loop, Nest};
use crate::pool::{Parallel, Task};
use crate::product::{Arithmetic, Mode, Sizes, Sum, multiply};
use crate::view::{Axis, Target, View, ViewMut};
use crate::window::{WindowDim, check_windows};
use crate::workspace::{ALIGNMENT, Parts, Workspace};

const CONVOLUTION: &str = "convolution";

/// Elements of the patches of a tile, about.
const TILE_ELEMENTS: usize = 1 << 16;
/// Positions of a tile, at least and at most.
const TILE_POSITIONS: [usize; 2] = [16, 512];

/// The dimensions of an operand or result by role.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// Batch; of a kernel, input features.
    pub batch: usize,
    /// Features; of a kernel, output features.
    pub feature: usize,
    /// The dimensions that windows slide over, in the order of the windows.
    pub spatial: &'a [usize],
}

/// The attributes of a convolution (spec, "convolution").
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    /// Dimensions of the input.
    pub input: Layout<'a>,
    /// Dimensions of the kernel.
    pub kernel: Layout<'a>,
    /// Dimensions of the result.
    pub output: Layout<'a>,
    /// Windows of the sizes of the kernel.
    pub windows: &'a [WindowDim],
    /// Whether the kernel is reversed, in each spatial dimension.
    pub reversed: &'a [bool],
    /// Groups that features are cut into.
    pub feature_groups: usize,
    /// Groups that the batch is cut into.
    pub batch_groups: usize,
}

/// Whether there is a routine for input, kernel and result of these types.
#[must_use]
pub fn supports(lhs: ElementType, rhs: ElementType, out: ElementType) -> bool {
    convert::arithmetic_of(lhs, rhs, out).is_some()
}

/// Spec, "convolution". Sums are made in the arithmetic of the result, floats in `f32` at least, and rounded once.
///
/// # Errors
/// A mismatch of shapes and attributes, types without a routine, no memory, or [`RoutineError::Stopped`].
pub fn convolution(
    parallel: Parallel<'_>,
    workspace: &mut Workspace,
    attributes: &Attributes<'_>,
    lhs: &View<'_>,
    rhs: &View<'_>,
    out: &mut ViewMut<'_>,
) -> Result<(), RoutineError> {
    let arithmetic = convert::arithmetic_of(lhs.element(), rhs.element(), out.element())
        .ok_or_else(|| RoutineError::unsupported(CONVOLUTION, lhs.element()))?;
    let job = Job::new(arithmetic, attributes, lhs, rhs, out)?;
    if out.is_empty() {
        return Ok(());
    }
    job.run(parallel, workspace)
}

/// A view with its dimensions in the order batch, feature, spatial.
fn by_role<'v>(view: &View<'v>, layout: Layout<'_>) -> Result<View<'v>, RoutineError> {
    let order = [&[layout.batch, layout.feature], layout.spatial].concat();
    view.clone().permuted(&order)
}

struct Job {
    arithmetic: Arithmetic,
    patches: Patches,
    kernel: Kernel,
    /// Whether the input is the matrix as it is, because windows are single elements.
    plain: bool,
    out: Target,
    out_element: ElementType,
    /// The result's dimension of features.
    features: Axis,
    groups: usize,
    /// Loops around positions that are one step apart: steps in the result and, for plain windows, the input.
    outer: Nest<2>,
    positions: Loop<2>,
    /// Positions of a tile.
    tile: usize,
}

impl Job {
    fn new(
        arithmetic: Arithmetic,
        attributes: &Attributes<'_>,
        lhs: &View<'_>,
        rhs: &View<'_>,
        out: &ViewMut<'_>,
    ) -> Result<Self, RoutineError> {
        let input = by_role(lhs, attributes.input)?;
        let mut kernel = by_role(rhs, attributes.kernel)?;
        let result = by_role(&out.as_view(), attributes.output)?;
        check(attributes, &input, &kernel, &result)?;
        let reversed: Vec<usize> = (0..attributes.reversed.len())
            .filter(|dim| attributes.reversed[*dim])
            .map(|dim| dim + 2)
            .collect();
        kernel = kernel.reversed(&reversed)?;

        let groups = attributes.feature_groups * attributes.batch_groups;
        let patches = Patches::new(arithmetic, attributes, &input, &kernel, &result);
        let kernel = Kernel::new(arithmetic, &kernel, groups, patches.features_last());
        // Where windows are elements, positions are as far apart in the input as its own.
        let plain = attributes.windows.iter().all(WindowDim::is_trivial) && patches.is_in_place();
        let mut nest = Nest::default();
        for (dim, axis) in result.axes().iter().enumerate().filter(|(dim, _)| *dim != 1) {
            nest.push(
                axis.size,
                [axis.stride, if plain { input.axes()[dim].stride } else { 0 }],
            );
        }
        if !plain {
            // Any walk in row-major order will do.
            let mut step = 1;
            for one in nest.loops.iter_mut().rev() {
                one.steps[1] = step;
                step *= one.size as isize;
            }
        }
        let (outer, positions) = nest.collapsed().split_last();
        let [least, most] = TILE_POSITIONS;
        let tile = (TILE_ELEMENTS / patches.depth().max(1))
            .clamp(least, most)
            .next_multiple_of(16);
        Ok(Self {
            arithmetic,
            patches,
            kernel,
            plain,
            out: Target::new(out.data()),
            out_element: out.element(),
            features: result.axes()[1],
            groups,
            outer,
            tile: tile.min(positions.size),
            positions,
        })
    }

    fn run(mut self, parallel: Parallel<'_>, workspace: &mut Workspace) -> Result<(), RoutineError> {
        let width = self.arithmetic.element().bytes();
        let columns = self.features.size / self.groups;
        let mut parts = Parts::default();
        let kernel = parts.add(self.kernel.copied_count(), width);
        let patch_bytes = if self.plain {
            0
        } else {
            bytes(self.tile, self.patches.depth(), width)?
        };
        let rounded = convert::rounds(self.arithmetic, self.out_element)
            || [self.positions.steps[0], self.features.stride]
                .iter()
                .any(|step| step % width as isize != 0);
        let sum_bytes = if rounded {
            bytes(self.tile, columns, width)?
        } else {
            0
        };
        let scratch = parts.add(parallel.slots(), patch_bytes + sum_bytes);
        let memory = workspace.reserve(parts.bytes()?)?;
        self.kernel.fill(parallel, memory.at(kernel as isize))?;
        if self.is_depthwise() {
            return self.run_depthwise(parallel);
        }
        let tiles = self.positions.size.div_ceil(self.tile);
        let per_group = self.outer.count() * tiles;
        let job = &self;
        parallel.run(self.groups * per_group, &|Task { index, slot }| {
            let (group, rest) = (index / per_group, index % per_group);
            let start = rest % tiles * job.tile;
            let count = job.tile.min(job.positions.size - start);
            let patch = memory.at((scratch + slot * (patch_bytes + sum_bytes)) as isize);
            let sums = rounded.then(|| patch.wrapping_add(patch_bytes));
            job.tile(group, rest / tiles, start..start + count, patch, sums);
        })
    }

    /// Whether features are groups of their own, and everything lies so that rows of them can be added.
    fn is_depthwise(&self) -> bool {
        let width = self.arithmetic.element().bytes() as isize;
        let strides = [self.features.stride, self.kernel.factor(0).column_step];
        let exact = !convert::rounds(self.arithmetic, self.out_element);
        exact
            && self.patches.is_depthwise()
            && self.features.size == self.groups
            && strides == [width; 2]
            && !self.plain
    }

    fn run_depthwise(&self, parallel: Parallel<'_>) -> Result<(), RoutineError> {
        let work = self.patches.depth().max(1) * self.groups;
        let tile = (TILE_ELEMENTS / work).clamp(1, self.positions.size);
        let tiles = self.positions.size.div_ceil(tile);
        parallel.run(self.outer.count() * tiles, &|Task { index, .. }| {
            let [target, first] = self.outer.offsets(index / tiles);
            let start = index % tiles * tile;
            let step = self.positions.steps[0];
            let row = Row {
                to: self.out.at(target + start as isize * step),
                features: self.groups,
            };
            let count = tile.min(self.positions.size - start);
            let kernel = self.kernel.factor(0);
            // SAFETY: rows of the result, which are this task's, and a kernel of as many features.
            unsafe {
                self.patches
                    .depthwise(first as usize + start, count, kernel, row, step)
            };
        })
    }

    /// The positions of one tile in one group.
    fn tile(
        &self,
        group: usize,
        outer: usize,
        range: std::ops::Range<usize>,
        patch: *mut u8,
        sums: Option<*mut u8>,
    ) {
        let [mut target, mut source] = self.outer.offsets(outer);
        target += range.start as isize * self.positions.steps[0];
        source += range.start as isize * self.positions.steps[1];
        let columns = self.features.size / self.groups;
        let to = self
            .out
            .at(target + (group * columns) as isize * self.features.stride);
        let lhs = if self.plain {
            self.patches.in_place(group, source, self.positions.steps[1])
        } else {
            // SAFETY: there is room for the patches of a tile, and this slot's is this task's.
            unsafe { self.patches.lay_out(group, source as usize, range.len(), patch) }
        };
        let width = self.arithmetic.element().bytes() as isize;
        let out = match sums {
            Some(data) => Sum {
                data,
                row_step: columns as isize * width,
                column_step: width,
            },
            None => Sum {
                data: to,
                row_step: self.positions.steps[0],
                column_step: self.features.stride,
            },
        };
        let sizes = Sizes {
            rows: range.len(),
            columns,
            depth: self.patches.depth(),
        };
        // SAFETY: the tile lies within the result, or the sums within this slot's memory; a tile is one task's.
        unsafe {
            multiply(
                self.arithmetic,
                sizes,
                lhs,
                self.kernel.factor(group),
                out,
                Mode::default(),
            )
        };
        if sums.is_some() {
            for row in 0..range.len() as isize {
                let from = out.data.wrapping_offset(row * out.row_step);
                let to = to.wrapping_offset(row * self.positions.steps[0]);
                // SAFETY: as above.
                unsafe {
                    convert::narrow(
                        self.arithmetic,
                        from,
                        self.out_element,
                        (to, self.features.stride),
                        columns,
                    );
                }
            }
        }
    }
}

/// Bytes of a matrix, aligned.
fn bytes(rows: usize, columns: usize, width: usize) -> Result<usize, RoutineError> {
    let bytes = rows
        .checked_mul(columns)
        .and_then(|count| count.checked_mul(width));
    bytes
        .and_then(|bytes| bytes.checked_next_multiple_of(ALIGNMENT))
        .ok_or(RoutineError::Memory(usize::MAX))
}

/// Checks the shapes, each in the order batch, feature, spatial.
fn check(
    attributes: &Attributes<'_>,
    input: &View<'_>,
    kernel: &View<'_>,
    result: &View<'_>,
) -> Result<(), RoutineError> {
    let shapes = [input, kernel, result].map(View::shape);
    let [input, kernel, result] = shapes.each_ref().map(|shape| &shape[..]);
    let ([batch, features, spatial @ ..], [depth, outputs, window @ ..]) = (input, kernel) else {
        return Err(RoutineError::mismatch(
            CONVOLUTION,
            "an operand has a batch and a feature dimension",
        ));
    };
    let groups = [attributes.feature_groups, attributes.batch_groups];
    let parts = [
        (*features, groups[0]),
        (*outputs, groups[0]),
        (*batch, groups[1]),
        (*outputs, groups[1]),
    ];
    if groups.iter().all(|groups| *groups != 1)
        || parts
            .iter()
            .any(|(size, groups)| *groups == 0 || size % groups != 0)
    {
        return Err(RoutineError::mismatch(
            CONVOLUTION,
            format!("{parts:?} cannot be cut into equal groups"),
        ));
    }
    let rank = spatial.len();
    check_same(
        CONVOLUTION,
        "the number of reversals",
        &[attributes.reversed.len()],
        &[rank],
    )?;
    check_same(
        CONVOLUTION,
        "the features of a group",
        &[*depth],
        &[features / groups[0]],
    )?;
    let sizes: Vec<usize> = attributes.windows.iter().map(|window| window.size).collect();
    check_same(CONVOLUTION, "the sizes of the windows", &sizes, window)?;
    let expected = [batch / groups[1], *outputs];
    check_same(
        CONVOLUTION,
        "batch and features of the result",
        &result[..2.min(result.len())],
        &expected,
    )?;
    check_windows(CONVOLUTION, attributes.windows, spatial, &result[2..])
}
