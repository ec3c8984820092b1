//! Walks over the indices of several arrays at once.

use std::ops::Range;

use smallvec::SmallVec;

use crate::view::{Axis, product};

/// One loop of a nest: its length, and how far a step of it goes in each of `N` arrays, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loop<const N: usize> {
    pub(crate) size: usize,
    pub(crate) steps: [isize; N],
}

/// Nested loops, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Nest<const N: usize> {
    pub(crate) loops: SmallVec<[Loop<N>; 6]>,
}

impl<const N: usize> Nest<N> {
    /// One loop for each dimension; the arrays have the same shape.
    pub(crate) fn of(axes: [&[Axis]; N]) -> Self {
        let rank = axes.first().map_or(0, |axes| axes.len());
        let one = |dim: usize| Loop {
            size: axes[0][dim].size,
            steps: axes.map(|axes| axes[dim].stride),
        };
        Self {
            loops: (0..rank).map(one).collect(),
        }
    }

    pub(crate) fn push(&mut self, size: usize, steps: [isize; N]) {
        self.loops.push(Loop { size, steps });
    }

    /// Number of indices.
    pub(crate) fn count(&self) -> usize {
        product(self.loops.iter().map(|one| one.size))
    }

    /// The same walk with as few loops as can be: those of one step are dropped, and two of which the inner one ends where the
    /// outer one steps to become one.
    pub(crate) fn collapsed(&self) -> Self {
        let mut loops: SmallVec<[Loop<N>; 6]> = SmallVec::new();
        for inner in self.loops.iter().filter(|one| one.size != 1) {
            match loops.last_mut() {
                Some(outer)
                    if outer.size.checked_mul(inner.size).is_some()
                        && (0..N).all(|at| {
                            outer.steps[at] == inner.steps[at].wrapping_mul(inner.size as isize)
                        }) =>
                {
                    outer.size *= inner.size;
                    outer.steps = inner.steps;
                }
                _ => loops.push(*inner),
            }
        }
        Self { loops }
    }

    /// The nest without its innermost loop, and that loop; one of a single step when there is none.
    pub(crate) fn split_last(mut self) -> (Self, Loop<N>) {
        let last = self.loops.pop().unwrap_or(Loop {
            size: 1,
            steps: [0; N],
        });
        (self, last)
    }

    /// Calls `visit` with the offsets in each array for a range of positions in row-major order.
    #[inline]
    pub(crate) fn for_each(&self, range: Range<usize>, mut visit: impl FnMut([isize; N])) {
        let mut cursor = Cursor::at(self, range.start);
        for _ in range {
            visit(cursor.offsets);
            cursor.step(self);
        }
    }

    /// The offsets of one position.
    pub(crate) fn offsets(&self, position: usize) -> [isize; N] {
        Cursor::at(self, position).offsets
    }
}

/// A position in a nest.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<const N: usize> {
    pub(crate) index: SmallVec<[usize; 6]>,
    pub(crate) offsets: [isize; N],
}

impl<const N: usize> Cursor<N> {
    /// The position of a number in row-major order.
    pub(crate) fn at(nest: &Nest<N>, mut position: usize) -> Self {
        let mut index = SmallVec::from_elem(0, nest.loops.len());
        let mut offsets = [0; N];
        for (at, one) in index.iter_mut().zip(&nest.loops).rev() {
            if one.size > 0 {
                *at = position % one.size;
                position /= one.size;
            }
            for (offset, step) in offsets.iter_mut().zip(one.steps) {
                *offset += *at as isize * step;
            }
        }
        Self { index, offsets }
    }

    /// The next position; the first one after the last.
    #[inline]
    pub(crate) fn step(&mut self, nest: &Nest<N>) {
        for (at, one) in self.index.iter_mut().zip(&nest.loops).rev() {
            *at += 1;
            if *at < one.size {
                for (offset, step) in self.offsets.iter_mut().zip(one.steps) {
                    *offset += step;
                }
                return;
            }
            *at = 0;
            let back = one.size.saturating_sub(1) as isize;
            for (offset, step) in self.offsets.iter_mut().zip(one.steps) {
                *offset -= back * step;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks() {
        let mut nest = Nest::default();
        for (size, steps) in [(2, [12, 100]), (1, [7, 7]), (3, [4, 0])] {
            nest.push(size, steps);
        }
        let mut seen = Vec::new();
        nest.for_each(1..6, |offsets| seen.push(offsets));
        assert_eq!(seen, [[4, 0], [8, 0], [12, 100], [16, 100], [20, 100]]);
        assert_eq!(nest.offsets(4), [16, 100]);
        assert_eq!(nest.collapsed().loops.len(), 2);
        nest.loops[2].steps[1] = 0;
        nest.loops[0].steps[1] = 0;
        let collapsed = nest.collapsed();
        assert_eq!(
            collapsed.loops[..],
            [Loop {
                size: 6,
                steps: [4, 0]
            }]
        );
        assert_eq!(collapsed.split_last().0.count(), 1);
    }
}
