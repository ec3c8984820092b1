//! The updates in order, many at a time: where their windows begin, and which of them lie within a range.
//!
//! All that an update is told by is linear in the numbers that its loops are at, but for the components of indices.

use std::ops::Range;

use smallvec::SmallVec;

use super::part::Bases;
use super::{Counts, Job, Layout, Ranges};
use crate::gather::Indices;
use crate::view::{View, product};

/// Most updates that are found at a time.
pub(super) const LOT: usize = 256;

/// How far one step, or some, of a loop over updates goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Step {
    /// In the indices, in bytes.
    index: isize,
    /// In the updates of each array, in bytes.
    updates: SmallVec<[isize; 2]>,
    /// In each dimension of the arrays, besides what indices say.
    starts: SmallVec<[i64; 6]>,
}

impl Step {
    fn add(&mut self, times: usize, other: &Self) {
        self.index += times as isize * other.index;
        for (sum, step) in self.updates.iter_mut().zip(&other.updates) {
            *sum += times as isize * step;
        }
        for (sum, step) in self.starts.iter_mut().zip(&other.starts) {
            *sum += times as i64 * step;
        }
    }

    fn times(&self, times: usize) -> Self {
        let mut sum = self.nothing();
        sum.add(times, self);
        sum
    }

    fn nothing(&self) -> Self {
        Self {
            index: 0,
            updates: SmallVec::from_elem(0, self.updates.len()),
            starts: SmallVec::from_elem(0, self.starts.len()),
        }
    }
}

/// Loops over updates, outermost first: how often, and how far each step goes.
pub(super) struct Walk {
    outer: SmallVec<[(usize, Step); 4]>,
    last: (usize, Step),
}

impl Walk {
    pub(super) fn new(layout: &Layout, indices: &Indices, rank: usize, updates: &[View<'_>]) -> Self {
        let mut loops: SmallVec<[(usize, Step); 4]> = SmallVec::new();
        for (at, counts) in &layout.walk {
            let size = updates[0].axes()[*at].size;
            let mut step = Step {
                index: 0,
                updates: updates.iter().map(|update| update.axes()[*at].stride).collect(),
                starts: SmallVec::from_elem(0, rank),
            };
            match counts {
                Counts::Window(dim) => step.starts[*dim] = 1,
                Counts::Indices(place) => {
                    step.index = indices.batch[*place].stride;
                    let batched = indices.batching.iter().filter(|(_, batched)| batched == place);
                    batched.for_each(|(dim, _)| step.starts[*dim] = 1);
                }
            }
            match loops.last_mut() {
                _ if size == 1 => {}
                // The inner loop ends where the outer one steps to.
                Some((outer, wide)) if *wide == step.times(size) && outer.checked_mul(size).is_some() => {
                    *outer *= size;
                    *wide = step;
                }
                _ => loops.push((size, step)),
            }
        }
        let none = Step {
            index: 0,
            updates: SmallVec::from_elem(0, updates.len()),
            starts: SmallVec::from_elem(0, rank),
        };
        let last = loops.pop().unwrap_or((1, none));
        Self { outer: loops, last }
    }

    /// Number of updates, or of their parts where windows are walked too.
    pub(super) fn count(&self) -> usize {
        self.rows() * self.last.0
    }

    fn rows(&self) -> usize {
        product(self.outer.iter().map(|(size, _)| *size))
    }

    /// All updates in order, as many at a time as lie on one line.
    pub(super) fn lots(&self) -> impl Iterator<Item = Updates<'_>> {
        let (length, step) = &self.last;
        (0..self.rows()).flat_map(move |row| {
            let starts = (0..*length).step_by(LOT);
            starts.map(move |start| self.line(row, start..(*length).min(start + LOT), step))
        })
    }

    fn line<'a>(&self, mut row: usize, range: Range<usize>, step: &'a Step) -> Updates<'a> {
        let mut first = step.times(range.start);
        for (size, step) in self.outer.iter().rev() {
            first.add(row % size, step);
            row /= size;
        }
        Updates {
            count: range.len(),
            first,
            step,
        }
    }
}

/// Updates that are equally far apart, up to [`LOT`] of them.
pub(super) struct Updates<'a> {
    pub(super) count: usize,
    first: Step,
    step: &'a Step,
}

/// What was found out about some updates.
pub(super) struct Lot {
    /// Whether a window has anything in common with the ranges.
    pub(super) meets: [bool; LOT],
    /// Whether all of it lies within.
    pub(super) within: [bool; LOT],
    starts: [i64; LOT],
    /// Where a window begins, for each array. What lies outside of the arrays has a place too, which means nothing.
    places: SmallVec<[[isize; LOT]; 1]>,
    count: usize,
    first: Step,
    step: Step,
}

impl Lot {
    pub(super) fn new(arrays: usize) -> Self {
        Self {
            meets: [false; LOT],
            within: [false; LOT],
            starts: [0; LOT],
            places: SmallVec::from_elem([0; LOT], arrays),
            count: 0,
            first: Step::default(),
            step: Step::default(),
        }
    }

    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// Finds out about updates: `moving` are the dimensions in which windows begin elsewhere than at 0.
    pub(super) fn find(&mut self, job: &Job<'_>, moving: &[usize], ranges: &Ranges, updates: &Updates<'_>) {
        let count = updates.count;
        self.count = count;
        self.first.clone_from(&updates.first);
        self.step.clone_from(updates.step);
        self.meets[..count].fill(true);
        self.within[..count].fill(true);
        self.places.iter_mut().for_each(|places| places[..count].fill(0));
        for dim in moving {
            find_starts(job, *dim, updates, &mut self.starts[..count]);
            let ([low, high], window) = (ranges[*dim], job.layout.window[*dim] as i64);
            let flags = self.meets.iter_mut().zip(&mut self.within);
            for (start, (meets, within)) in self.starts[..count].iter().zip(flags) {
                let end = start.saturating_add(window);
                *meets &= (end > low) & (*start < high);
                *within &= (*start >= low) & (end <= high);
            }
            for (places, array) in self.places.iter_mut().zip(&job.arrays) {
                let stride = array.strides[*dim][0];
                for (start, place) in self.starts[..count].iter().zip(places) {
                    *place = place.wrapping_add((*start as isize).wrapping_mul(stride));
                }
            }
        }
    }

    /// Whether the ranges cut a window.
    pub(super) fn is_cut(&self) -> bool {
        let flags = self.meets[..self.count].iter().zip(&self.within);
        flags.fold(false, |cut, (meets, within)| cut | (*meets & !within))
    }

    /// Writes the offsets of an update in each array and in its updates, from those of the part of the window on.
    #[inline(always)]
    pub(super) fn write_bases(&self, number: usize, part: &[Bases], bases: &mut [Bases]) {
        for (array, (bases, [to, from])) in bases.iter_mut().zip(part).enumerate() {
            let update = self.first.updates[array] + number as isize * self.step.updates[array];
            *bases = [to.wrapping_add(self.places[array][number]), from + update];
        }
    }

    /// Where the window of an update begins in a dimension.
    pub(super) fn start(&self, job: &Job<'_>, dim: usize, number: usize) -> i64 {
        let mut first = self.first.clone();
        first.add(number, &self.step);
        let updates = Updates {
            count: 1,
            first,
            step: &self.step,
        };
        let mut start = [0];
        find_starts(job, dim, &updates, &mut start);
        start[0]
    }
}

/// Where windows begin in a dimension: what the index says, if it has a component for it, and what the loops say.
fn find_starts(job: &Job<'_>, dim: usize, updates: &Updates<'_>, starts: &mut [i64]) {
    match job.indices.map.iter().position(|mapped| *mapped == dim) {
        // SAFETY: the loops go over the indices of the view.
        Some(component) => unsafe {
            job.indices
                .read(updates.first.index, updates.step.index, component, starts);
        },
        None => starts.fill(0),
    }
    let (first, step) = (updates.first.starts[dim], updates.step.starts[dim]);
    if (first, step) != (0, 0) {
        for (number, start) in starts.iter_mut().enumerate() {
            *start = start.saturating_add(first + number as i64 * step);
        }
    }
}
