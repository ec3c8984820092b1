//! Where the arrays of a launch lie, once sizes are known: axes joined, rectangles chosen.

use smallvec::SmallVec;

use artifact_lower::kernel::{Columns, Kernel, Level};

use crate::kernel::program::Program;

/// An axis of an operand: how many positions, and how far apart in bytes (or in units, of a position).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) size: usize,
    pub(crate) stride: isize,
}

type Axes = SmallVec<[Axis; 4]>;

/// How an operand moves over the rectangles of a launch.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    pub(crate) outer: SmallVec<[isize; 4]>,
    /// The axes that the rows of a rectangle run over, innermost last.
    pub(crate) rows: Axes,
    /// The axes that its columns run over, innermost last.
    pub(crate) columns: Axes,
}

/// The distance from the first element to the one at a position along axes, counted from the innermost.
pub(crate) fn distance(axes: &[Axis], position: usize) -> isize {
    if let [axis] = axes {
        return position as isize * axis.stride;
    }
    let mut rest = position;
    let mut sum = 0;
    for axis in axes.iter().rev() {
        sum += (rest % axis.size) as isize * axis.stride;
        rest /= axis.size;
    }
    sum
}

/// The iteration space of a launch, cut into rectangles.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Sizes of the axes around the rectangles.
    pub(crate) outer: SmallVec<[usize; 4]>,
    /// Positions along the rows and the columns of all rectangles.
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Of one rectangle.
    pub(crate) rectangle: [usize; 2],
    /// One for each operand: inputs, then outputs.
    pub(crate) walks: Vec<Walk>,
}

impl Layout {
    pub(crate) fn outer_count(&self) -> usize {
        self.outer.iter().product()
    }
}

/// Sizes and strides of a launch, axis by axis, in bytes.
#[derive(Debug)]
pub(crate) struct Space {
    /// Sizes of the axes of the kernel.
    pub(crate) sizes: Vec<usize>,
    /// Strides of each operand along them.
    pub(crate) strides: Vec<Vec<isize>>,
    /// Bytes of an element of each operand.
    pub(crate) widths: Vec<usize>,
}

/// Lays out a launch.
pub(crate) fn layout(kernel: &Kernel, program: &Program, space: &Space) -> Layout {
    let parallel = kernel.parallel;
    if kernel.inner == 0 && !program.reduces() {
        return map_layout(program, space);
    }
    let rows = join(space, 0..parallel, &|_| true);
    let is_element = |operand: usize| match kernel.inputs.get(operand) {
        Some(input) => input.level == Level::Element,
        None => kernel.outputs[operand - kernel.inputs.len()].level == Level::Element,
    };
    let inner = join(space, parallel..space.sizes.len(), &is_element);
    let inner_count: usize = inner.iter().map(|group| group.size).product();
    let row_count: usize = rows.iter().map(|group| group.size).product();
    let (last, around) = match rows.split_last() {
        Some((last, around)) => (std::slice::from_ref(last), around),
        None => (&[][..], &[][..]),
    };
    let last_count = last.first().map_or(1, |group| group.size);
    let outer = around.iter().map(|group| group.size).collect();
    let rectangle = match kernel.columns {
        Columns::Together => {
            let columns = inner_count.clamp(1, program.tile);
            [(program.tile / columns).clamp(1, last_count.max(1)), columns]
        }
        Columns::Apart => [16, (program.tile / 16).min(last_count.max(1))],
    };
    let walks = (0..space.strides.len()).map(|operand| {
        let axes = |groups: &[Group]| groups.iter().map(|group| group.axis(operand)).collect::<Axes>();
        let (rows, columns) = match kernel.columns {
            Columns::Together => (axes(last), axes(&inner)),
            Columns::Apart => (axes(&inner), axes(last)),
        };
        Walk {
            outer: around.iter().map(|group| group.strides[operand]).collect(),
            rows,
            columns,
        }
    });
    let walks = walks.collect();
    let (rows, columns) = match kernel.columns {
        Columns::Together => (row_count / outer_count(&outer), inner_count),
        Columns::Apart => (inner_count, row_count / outer_count(&outer)),
    };
    Layout {
        outer,
        rows,
        columns,
        rectangle,
        walks,
    }
}

fn outer_count(outer: &SmallVec<[usize; 4]>) -> usize {
    outer.iter().product::<usize>().max(1)
}

/// Elements side by side that a rectangle has at least, where an operand runs across it.
const ACROSS: usize = 64;

fn map_layout(program: &Program, space: &Space) -> Layout {
    let groups = join(space, 0..space.sizes.len(), &|_| true);
    let Some((last, rest)) = groups.split_last() else {
        let walk = Walk {
            outer: SmallVec::new(),
            rows: Axes::new(),
            columns: Axes::new(),
        };
        let walks = vec![walk; space.strides.len()];
        return Layout {
            outer: SmallVec::new(),
            rows: 1,
            columns: 1,
            rectangle: [1, 1],
            walks,
        };
    };
    // An operand that runs along another axis than the last one decides which axis the rows are.
    let across = (0..space.strides.len()).find_map(|operand| {
        let runs =
            |group: &&Group| group.size > 1 && group.strides[operand].unsigned_abs() == space.widths[operand];
        if runs(&last) || last.strides[operand] == 0 {
            return None;
        }
        rest.iter().position(|group| runs(&group))
    });
    let row_axis = across.or_else(|| rest.len().checked_sub(1));
    let around: Vec<&Group> = rest
        .iter()
        .enumerate()
        .filter(|(index, _)| Some(*index) != row_axis)
        .map(|(_, group)| group)
        .collect();
    let row = row_axis.map(|index| &rest[index]);
    let widest = if across.is_some() { ACROSS } else { program.tile };
    let columns = last.size.clamp(1, widest);
    let rows = row.map_or(1, |group| (program.tile / columns).clamp(1, group.size.max(1)));
    let walks = (0..space.strides.len()).map(|operand| Walk {
        outer: around.iter().map(|group| group.strides[operand]).collect(),
        rows: row.iter().map(|group| group.axis(operand)).collect(),
        columns: std::iter::once(last.axis(operand)).collect(),
    });
    Layout {
        outer: around.iter().map(|group| group.size).collect(),
        rows: row.map_or(1, |group| group.size),
        columns: last.size,
        rectangle: [rows, columns],
        walks: walks.collect(),
    }
}

/// Axes that every operand goes through as if they were one.
#[derive(Clone, Debug)]
struct Group {
    size: usize,
    strides: Vec<isize>,
}

impl Group {
    fn axis(&self, operand: usize) -> Axis {
        Axis {
            size: self.size,
            stride: self.strides[operand],
        }
    }
}

/// Joins neighbouring axes where all operands that count allow it. Axes of one position are left out.
fn join(space: &Space, axes: std::ops::Range<usize>, counts: &dyn Fn(usize) -> bool) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for axis in axes {
        let size = space.sizes[axis];
        let strides: Vec<isize> = space.strides.iter().map(|strides| strides[axis]).collect();
        if size == 1 {
            continue;
        }
        if let Some(last) = groups.last_mut() {
            let fits = |operand: usize| last.strides[operand] == strides[operand] * size as isize;
            if (0..strides.len()).filter(|operand| counts(*operand)).all(fits) {
                last.size *= size;
                last.strides = strides;
                continue;
            }
        }
        groups.push(Group { size, strides });
    }
    groups
}
