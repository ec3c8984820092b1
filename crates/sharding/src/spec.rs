//! Along which axes the dimensions of an array are cut.

use std::fmt;

use crate::error::ShardingError;
use crate::mesh::Mesh;

/// An axis of a mesh, or a part of one: of an axis of size 8, `"x":(2)4` is the part of size 4 below one of size 2, as Shardy has it.
///
/// Shardy also asks for the shortest way to write a list of parts. Here `"x":(1)2` before `"x":(2)4` is as good as `"x"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisRef {
    name: String,
    part: Option<Part>,
}

/// A part of an axis: what is above it, and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    above: u64,
    size: u64,
}

impl AxisRef {
    /// A whole axis.
    #[must_use]
    pub fn whole(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            part: None,
        }
    }

    /// The part of an axis of a size over 1, below parts whose sizes make `above` together (`"name":(above)size`).
    #[must_use]
    pub fn part(name: impl Into<String>, above: u64, size: u64) -> Self {
        Self {
            name: name.into(),
            part: Some(Part { above, size }),
        }
    }
}

impl fmt::Display for AxisRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            None => write!(f, "\"{}\"", self.name),
            Some(Part { above, size }) => write!(f, "\"{}\":({above}){size}", self.name),
        }
    }
}

/// For each dimension of an array the axes that cut it, major to minor; none for one that every device holds whole. Dimensions
/// behind the last that is said something of are not cut (`jax.sharding.PartitionSpec`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionSpec(pub Vec<Vec<AxisRef>>);

impl PartitionSpec {
    /// A spec of whole axes by their names.
    #[must_use]
    pub fn of_names(dimensions: &[&[&str]]) -> Self {
        let dimension = |names: &&[&str]| names.iter().map(|name| AxisRef::whole(*name)).collect();
        Self(dimensions.iter().map(dimension).collect())
    }
}

/// An axis that is there: which it is, and what is above and below the part that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    axis: usize,
    above: u64,
    pub(crate) size: u64,
    below: u64,
}

impl Cut {
    /// The axis of a mesh that is meant.
    pub(crate) fn of(mesh: &Mesh, axis: &AxisRef) -> Result<Self, ShardingError> {
        let found = mesh.axis(&axis.name);
        let (number, whole) = found.ok_or_else(|| ShardingError::UnknownAxis(axis.name.clone()))?;
        let Some(Part { above, size }) = axis.part else {
            return Ok(Self {
                axis: number,
                above: 1,
                size: whole,
                below: 1,
            });
        };
        let taken = above.checked_mul(size).filter(|taken| *taken > 0 && size > 1);
        match taken.filter(|taken| whole.is_multiple_of(*taken)) {
            Some(taken) => Ok(Self {
                axis: number,
                above,
                size,
                below: whole / taken,
            }),
            None => Err(ShardingError::SubAxis(axis.to_string())),
        }
    }

    /// Whether both are, in part, the same. What has the size 1 is a whole axis, and so is the other one then.
    pub(crate) const fn overlaps(&self, other: &Self) -> bool {
        let apart = self.end() <= other.above || other.end() <= self.above;
        self.axis == other.axis && (self.size == 1 || !apart)
    }

    /// Whether an axis can be cut so that both are parts, where they do not overlap (Shardy, `AxisRefAttr::canCoexist`): of an
    /// axis of 6 `(1)2` needs it as 2 by 3 and `(3)2` as 3 by 2.
    pub(crate) const fn nests(&self, other: &Self) -> bool {
        let (outer, inner) = if self.above < other.above {
            (self, other)
        } else {
            (other, self)
        };
        self.axis != other.axis || inner.above.is_multiple_of(outer.end())
    }

    /// The sizes down to here; they divide that of the axis.
    const fn end(&self) -> u64 {
        self.above * self.size
    }

    /// The coordinate of a position of the mesh along it.
    pub(crate) fn coordinate(&self, mesh: &Mesh, position: u64) -> u64 {
        mesh.coordinate(position, self.axis) / self.below % self.size
    }
}
