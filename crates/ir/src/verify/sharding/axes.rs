//! Axes of a mesh, whole or in part, as ranges.

use std::collections::HashMap;

use crate::attribute::sdy::Mesh;
use crate::attribute::{AxisRef, ByteString};
use crate::verify::context::{OpError, OpResult, ensure};

/// Most axes of a mesh: 64 of size 2 count more devices than there are numbers.
pub(crate) const AXES_MAX: usize = 64;

/// The axes of a mesh by name.
#[derive(Debug)]
pub(crate) struct MeshAxes<'a> {
    positions: HashMap<&'a ByteString, usize>,
    sizes: Vec<i64>,
}

/// An axis or a part of one. Its devices are those that differ in `axis / pre % size`, where `axis` is the position on the
/// whole axis counted from the innermost; outermost parts have `pre` 1. A whole axis is the part of its own size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    /// Position of the axis in the mesh.
    pub(crate) axis: usize,
    /// Product of the sizes of the parts outside of this one.
    pub(crate) pre: i64,
    /// Its own size.
    pub(crate) size: i64,
}

impl Span {
    /// Where the next part inwards begins. Spans are checked, so that this divides the size of the axis.
    pub(crate) const fn end(self) -> i64 {
        self.pre.saturating_mul(self.size)
    }

    pub(crate) const fn overlaps(self, other: Self) -> bool {
        self.axis == other.axis && self.pre < other.end() && other.pre < self.end()
    }

    pub(crate) const fn contains(self, other: Self) -> bool {
        self.axis == other.axis && self.pre <= other.pre && other.end() <= self.end()
    }

    /// Whether `next` continues this part inwards.
    pub(crate) const fn continues_to(self, next: Self) -> bool {
        self.axis == next.axis && self.end() == next.pre
    }

    /// Whether this is the inner end of `other`, or all of it.
    pub(crate) const fn is_suffix_of(self, other: Self) -> bool {
        self.axis == other.axis && self.pre >= other.pre && self.end() == other.end()
    }
}

impl<'a> MeshAxes<'a> {
    /// The axes of a mesh.
    ///
    /// # Errors
    /// When the mesh has too many, which [`super::check_mesh`] reports too.
    pub(crate) fn of(mesh: &'a Mesh) -> OpResult<Self> {
        ensure!(
            mesh.axes.len() <= AXES_MAX,
            "mesh has {} axes, more than {AXES_MAX}",
            mesh.axes.len()
        );
        let positions = mesh.axes.iter().enumerate();
        Ok(Self {
            positions: positions.map(|(position, axis)| (&axis.name, position)).collect(),
            sizes: mesh.axes.iter().map(|axis| axis.size).collect(),
        })
    }

    /// Whether there is an axis of that name.
    pub(crate) fn contains(&self, name: &ByteString) -> bool {
        self.positions.contains_key(name)
    }

    /// The range of a reference.
    ///
    /// # Errors
    /// When there is no such axis, or it has no such part.
    pub(crate) fn span(&self, axis: &AxisRef) -> OpResult<Span> {
        let unknown = || OpError::new(format!("unknown axis name: {:?}", axis.name));
        let position = *self.positions.get(&axis.name).ok_or_else(unknown)?;
        let full = self.sizes[position];
        let Some(part) = axis.sub_axis_info else {
            return Ok(Span {
                axis: position,
                pre: 1,
                size: full,
            });
        };
        let (pre, size) = (part.pre_size, part.size);
        let shown = Shown(axis);
        ensure!(pre >= 1, "sub-axis pre-size must be at least 1: {shown}");
        ensure!(size > 1, "sub-axis sizes must be greater than 1: {shown}");
        let divides = pre
            .checked_mul(size)
            .is_some_and(|end| end <= full && full % end == 0);
        ensure!(
            divides,
            "sub-axis next pre-size doesn't divide the size of the full axis {full}: {shown}"
        );
        ensure!(
            size != full,
            "sub-axis size is equal to the full axis size: {shown}"
        );
        Ok(Span {
            axis: position,
            pre,
            size,
        })
    }

    /// The ranges of a list.
    pub(crate) fn spans(&self, axes: &[AxisRef]) -> OpResult<Vec<Span>> {
        axes.iter().map(|axis| self.span(axis)).collect()
    }

    /// Adds a part at the inner end of a list, joined with the last one where it continues it.
    pub(crate) fn append(list: &mut Vec<Span>, next: Span) {
        match list.last_mut() {
            Some(last) if last.continues_to(next) => last.size = last.size.saturating_mul(next.size),
            _ => list.push(next),
        }
    }

    /// Axes in the order of the mesh, neighbouring parts joined.
    pub(crate) fn sorted(mut list: Vec<Span>) -> Vec<Span> {
        list.sort_unstable();
        let mut joined = Vec::with_capacity(list.len());
        for span in list {
            Self::append(&mut joined, span);
        }
        joined
    }
}

/// An axis as the dialect writes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'a>(pub(crate) &'a AxisRef);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.0.name)?;
        match self.0.sub_axis_info {
            Some(part) => write!(f, ":({}){}", part.pre_size, part.size),
            None => Ok(()),
        }
    }
}

/// Axes of which none may overlap.
#[derive(Debug, Default)]
pub(crate) struct Used {
    spans: HashMap<usize, Vec<Span>>,
}

impl Used {
    /// Adds a list of axes, in the order in which they divide: each at most once, and none that continues the one before it,
    /// since both together have a name of their own.
    ///
    /// # Errors
    /// What [`MeshAxes::span`] refuses, an overlap, or two that are one.
    pub(crate) fn add(&mut self, mesh: &MeshAxes<'_>, axes: &[AxisRef]) -> OpResult<Vec<Span>> {
        let mut spans: Vec<Span> = Vec::with_capacity(axes.len());
        for (index, axis) in axes.iter().enumerate() {
            let span = mesh.span(axis)?;
            if let Some(last) = spans.last() {
                ensure!(
                    !last.continues_to(span) || axis.sub_axis_info.is_none(),
                    "two consecutive sub-axes can be merged: {}, {}",
                    Shown(&axes[index - 1]),
                    Shown(axis)
                );
            }
            let others = self.spans.entry(span.axis).or_default();
            ensure!(!others.contains(&span), "duplicate axis ref: {}", Shown(axis));
            ensure!(
                !others.iter().any(|other| other.overlaps(span)),
                "overlapping axes: {} is used already, in whole or in part",
                Shown(axis)
            );
            others.push(span);
            spans.push(span);
        }
        Ok(spans)
    }

    /// As [`Used::add`], for axes that must be in the order of the mesh.
    ///
    /// # Errors
    /// What [`Used::add`] refuses, and another order.
    pub(crate) fn add_sorted(
        &mut self,
        mesh: &MeshAxes<'_>,
        axes: &[AxisRef],
        what: &str,
    ) -> OpResult<Vec<Span>> {
        let spans = self.add(mesh, axes)?;
        ensure!(spans.is_sorted(), "{what} axes are not ordered w.r.t. mesh");
        Ok(spans)
    }
}
