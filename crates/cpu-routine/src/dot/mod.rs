//! Products of two arrays: `dot_general`.
//!
//! Dimensions of a role that lie together are taken as one. Of what is left, the largest dimension of each role makes the
//! matrix product, and the others are loops around it; an operand is copied only when its type must be changed or its
//! strides leave nothing but narrow loops.

mod operand;
mod tiles;

use artifact_ir::types::ElementType;

use self::operand::Operand;
use self::tiles::Tiles;
use crate::convert;
use crate::error::{RoutineError, check_same};
use crate::odometer::{Loop, Nest};
use crate::pool::{Parallel, Task};
use crate::product::{Arithmetic, Factor, Mode, Sizes, Sum, multiply};
use crate::view::{Axes, Target, View, ViewMut};
use crate::workspace::{ALIGNMENT, Parts, Workspace};

const DOT: &str = "dot_general";

/// Dimensions of both operands by what becomes of them. Each dimension of an operand is in one of its lists.
#[derive(Clone, Copy, Debug)]
pub struct Dimensions<'a> {
    /// Dimensions that both have and the result keeps, in the same order.
    pub batch: [&'a [usize]; 2],
    /// Dimensions that are summed over, in the same order.
    pub contracting: [&'a [usize]; 2],
    /// Dimensions that only one operand has.
    pub free: [&'a [usize]; 2],
}

/// Whether there is a routine for operands and a result of these types.
#[must_use]
pub fn supports(lhs: ElementType, rhs: ElementType, out: ElementType) -> bool {
    convert::arithmetic_of(lhs, rhs, out).is_some()
}

/// Spec, "dot_general". The dimensions of `out` are the batch dimensions, then the free ones of `lhs`, then those of `rhs`;
/// its element type may be wider than the operands'.
///
/// # Errors
/// A mismatch of shapes, types without a routine, no memory, or [`RoutineError::Stopped`].
pub fn dot_general(
    parallel: Parallel<'_>,
    workspace: &mut Workspace,
    dimensions: &Dimensions<'_>,
    lhs: &View<'_>,
    rhs: &View<'_>,
    out: &mut ViewMut<'_>,
) -> Result<(), RoutineError> {
    let arithmetic = convert::arithmetic_of(lhs.element(), rhs.element(), out.element())
        .ok_or_else(|| RoutineError::unsupported(DOT, lhs.element()))?;
    let roles = Roles::new(dimensions, lhs, rhs, out)?;
    if out.is_empty() {
        return Ok(());
    }
    let job = Job::new(arithmetic, roles, lhs, rhs, out);
    job.run(parallel, workspace)
}

/// What becomes of a dimension of an operand.
#[derive(Clone, Copy, Debug)]
enum Role {
    Batch,
    Free,
    Summed,
}

/// The axes of operands and result, by role; a result has no summed ones, and its free ones are those of both operands.
struct Roles {
    operands: [[Axes; 3]; 2],
    batch: Axes,
    free: [Axes; 2],
}

impl Roles {
    fn new(
        dimensions: &Dimensions<'_>,
        lhs: &View<'_>,
        rhs: &View<'_>,
        out: &ViewMut<'_>,
    ) -> Result<Self, RoutineError> {
        let by_role = |side: usize, view: &View<'_>| {
            let lists = [
                dimensions.batch[side],
                dimensions.free[side],
                dimensions.contracting[side],
            ];
            let view = view.clone().permuted(&lists.concat())?;
            let mut axes = view.axes().iter().copied();
            Ok::<_, RoutineError>(lists.map(|list| axes.by_ref().take(list.len()).collect::<Axes>()))
        };
        let operands = [by_role(0, lhs)?, by_role(1, rhs)?];
        let sizes = |side: usize, role: Role| -> Vec<usize> {
            operands[side][role as usize]
                .iter()
                .map(|axis| axis.size)
                .collect()
        };
        for (what, role) in [
            ("the batch dimensions", Role::Batch),
            ("the contracting dimensions", Role::Summed),
        ] {
            check_same(DOT, what, &sizes(1, role), &sizes(0, role))?;
        }
        let expected = [sizes(0, Role::Batch), sizes(0, Role::Free), sizes(1, Role::Free)];
        check_same(DOT, "the shape of the result", &out.shape(), &expected.concat())?;
        let mut axes = out.axes().iter().copied();
        let [batch, rows, columns] = expected.map(|list| axes.by_ref().take(list.len()).collect());
        Ok(Self {
            operands,
            batch,
            free: [rows, columns],
        })
    }

    /// The loops over the free dimensions of an operand, with steps in it and in the result.
    fn free(&self, side: usize) -> Nest<2> {
        Nest::of([&self.operands[side][Role::Free as usize], &self.free[side]]).collapsed()
    }

    /// The loops over the contracting dimensions, with steps in both operands.
    fn summed(&self) -> Nest<2> {
        let [lhs, rhs] = &self.operands;
        Nest::of([&lhs[Role::Summed as usize], &rhs[Role::Summed as usize]]).collapsed()
    }

    fn batch(&self) -> Nest<3> {
        let [lhs, rhs] = &self.operands;
        Nest::of([
            &lhs[Role::Batch as usize],
            &rhs[Role::Batch as usize],
            &self.batch,
        ])
    }
}

/// Loops that leave no dimension as long as this are not worth a matrix product.
const NARROW: usize = 16;

/// Products of one sum that are added up before somebody looks whether to stop.
const DEPTH_PIECE: usize = 1 << 22;

/// Whether a nest has several loops, all of them short.
fn is_narrow(nest: &Nest<2>) -> bool {
    nest.loops.len() > 1 && nest.loops.iter().all(|one| one.size < NARROW)
}

/// Matrix products within loops.
struct Job {
    arithmetic: Arithmetic,
    operands: [Operand; 2],
    out: Target,
    out_element: ElementType,
    /// Loops around the matrices: steps in left, right and result.
    outer: Nest<3>,
    /// Loops along the depth around the products that are added: steps in left and right.
    sums: Nest<2>,
    rows: Loop<2>,
    columns: Loop<2>,
    depth: Loop<2>,
}

impl Job {
    fn new(
        arithmetic: Arithmetic,
        mut roles: Roles,
        lhs: &View<'_>,
        rhs: &View<'_>,
        out: &ViewMut<'_>,
    ) -> Self {
        let narrow = is_narrow(&roles.summed());
        let mut place = |side: usize, view: &View<'_>| {
            let copy = narrow || is_narrow(&roles.free(side));
            Operand::place(view, &mut roles.operands[side], arithmetic, side, copy)
        };
        let operands = [place(0, lhs), place(1, rhs)];
        let (mut rows, mut columns, mut sums) = (roles.free(0), roles.free(1), roles.summed());
        if sums.count() == 0 {
            // A sum of nothing is to be written, however long the other dimensions are.
            sums = Nest::default();
            sums.push(0, [0; 2]);
        }
        let mut outer = roles.batch();
        let row = split_largest(&mut rows);
        let column = split_largest(&mut columns);
        let depth = split_largest(&mut sums);
        for one in rows.loops {
            outer.push(one.size, [one.steps[0], 0, one.steps[1]]);
        }
        for one in columns.loops {
            outer.push(one.size, [0, one.steps[0], one.steps[1]]);
        }
        Self {
            arithmetic,
            operands,
            out: Target::new(out.data()),
            out_element: out.element(),
            outer: outer.collapsed(),
            sums,
            rows: row,
            columns: column,
            depth,
        }
    }

    fn run(mut self, parallel: Parallel<'_>, workspace: &mut Workspace) -> Result<(), RoutineError> {
        let tiles = Tiles::new(self.outer.count(), self.sizes(), self.sums.count());
        let width = self.arithmetic.element().bytes();
        let mut parts = Parts::default();
        let copies = [0, 1].map(|side| parts.add(self.operands[side].copied_count(), width));
        let rounded = convert::rounds(self.arithmetic, self.out_element) || self.uneven();
        let tile_bytes = if rounded {
            (tiles.area() * width).next_multiple_of(ALIGNMENT)
        } else {
            0
        };
        let scratch = parts.add(parallel.slots(), tile_bytes);
        let memory = workspace.reserve(parts.bytes()?)?;
        for (side, operand) in self.operands.iter_mut().enumerate() {
            operand.fill(parallel, memory.at(copies[side] as isize))?;
        }
        let job = &self;
        parallel.run(tiles.tasks(), &|Task { index, slot }| {
            let start = scratch + slot * tile_bytes;
            let sums = rounded.then(|| memory.at(start as isize));
            tiles.for_each(index, |matrix, row, column, sizes| {
                job.tile(matrix, [row, column], sizes, sums, parallel)
            });
        })?;
        match parallel.is_stopped() {
            true => Err(RoutineError::Stopped),
            false => Ok(()),
        }
    }

    /// Whether the steps of the result are no multiples of its width, so that no matrix is written to it.
    fn uneven(&self) -> bool {
        let width = self.out_element.bytes() as isize;
        [self.rows, self.columns]
            .iter()
            .any(|one| one.size > 1 && one.steps[1] % width != 0)
    }

    const fn sizes(&self) -> Sizes {
        Sizes {
            rows: self.rows.size,
            columns: self.columns.size,
            depth: self.depth.size,
        }
    }

    /// One tile of one matrix: the sums of all products along the depth.
    fn tile(
        &self,
        matrix: usize,
        corner: [usize; 2],
        sizes: Sizes,
        scratch: Option<*mut u8>,
        parallel: Parallel<'_>,
    ) {
        let [left, right, result] = self.outer.offsets(matrix);
        let [row, column] = corner.map(|at| at as isize);
        let left = left + row * self.rows.steps[0];
        let right = right + column * self.columns.steps[0];
        let to = self
            .out
            .at(result + row * self.rows.steps[1] + column * self.columns.steps[1]);
        let width = self.arithmetic.element().bytes() as isize;
        let out = match scratch {
            Some(data) => Sum {
                data,
                row_step: width * sizes.columns as isize,
                column_step: width,
            },
            None => Sum {
                data: to,
                row_step: self.rows.steps[1],
                column_step: self.columns.steps[1],
            },
        };
        let mut accumulate = false;
        for sum in 0..self.sums.count() {
            let [left_sum, right_sum] = self.sums.offsets(sum);
            let mut depth = 0;
            loop {
                // What an array of repeated elements is summed over may have no end that anybody lives to see.
                if parallel.is_stopped() {
                    return;
                }
                let at = depth as isize;
                let lhs = Factor {
                    data: self.operands[0].at(left + left_sum + at * self.depth.steps[0]),
                    row_step: self.rows.steps[0],
                    column_step: self.depth.steps[0],
                };
                let rhs = Factor {
                    data: self.operands[1].at(right + right_sum + at * self.depth.steps[1]),
                    row_step: self.depth.steps[1],
                    column_step: self.columns.steps[0],
                };
                let piece = Sizes {
                    depth: (sizes.depth - depth).min(DEPTH_PIECE),
                    ..sizes
                };
                let mode = Mode {
                    accumulate,
                    ..Mode::default()
                };
                // SAFETY: the tile lies within the views, whose shapes were compared, or within this slot's part of the workspace;
                // a tile is written by one task, and an operand is copied when its steps are no multiples of its width.
                unsafe { multiply(self.arithmetic, piece, lhs, rhs, out, mode) };
                accumulate = true;
                depth += piece.depth;
                if depth >= sizes.depth {
                    break;
                }
            }
        }
        if scratch.is_some() {
            for row in 0..sizes.rows as isize {
                let from = out.data.wrapping_offset(row * out.row_step);
                let to = to.wrapping_offset(row * self.rows.steps[1]);
                // SAFETY: a row of the tile, as above.
                unsafe {
                    convert::narrow(
                        self.arithmetic,
                        from,
                        self.out_element,
                        (to, self.columns.steps[1]),
                        sizes.columns,
                    );
                }
            }
        }
    }
}

/// Takes the largest loop out of a nest, the innermost of several; one of a single step when there is none.
fn split_largest<const N: usize>(nest: &mut Nest<N>) -> Loop<N> {
    let largest = (0..nest.loops.len()).max_by_key(|at| nest.loops[*at].size);
    largest.map_or(
        Loop {
            size: 1,
            steps: [0; N],
        },
        |at| nest.loops.remove(at),
    )
}
