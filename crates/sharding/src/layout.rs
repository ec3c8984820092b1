//! A mesh and a spec together.

use std::collections::BTreeMap;

use artifact_core::limit::Limit;

use crate::error::ShardingError;
use crate::mesh::Mesh;
use crate::spec::{AxisRef, Cut, PartitionSpec};

/// Dimensions of an array.
const RANK: Limit = Limit::new("the rank of a sharded array", 64, "dimensions");
/// Devices times dimensions. A list of parts has as many starts and sizes.
const STARTS: Limit = Limit::new("the number of starts in a list of parts", 1 << 22, "starts");

/// How arrays are spread over a mesh (`jax.sharding.NamedSharding`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sharding {
    mesh: Mesh,
    /// For each dimension that the spec says something of.
    cuts: Vec<Vec<Cut>>,
}

/// The part of an array that a device holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of the device.
    pub device: u32,
    /// Where it begins in each dimension.
    pub start: Vec<u64>,
    /// Its size in each dimension, the same for all parts.
    pub shape: Vec<u64>,
    /// How many devices before this one, in the order of the mesh, hold the same part (`jax.Shard.replica_id`). Parts are the same
    /// that begin at the same place: of an array without elements that may be those of different coordinates.
    pub replica: u32,
}

impl Sharding {
    /// Spreads arrays over a mesh.
    ///
    /// # Errors
    /// Axes that the mesh does not have, parts of axes that do not divide them or do not nest, and axes that are named twice.
    pub fn new(mesh: Mesh, spec: &PartitionSpec) -> Result<Self, ShardingError> {
        RANK.check(spec.0.len() as u64)?;
        // No longer than the mesh has axes and factors of axes, however long the spec is.
        let mut used: Vec<(Cut, &AxisRef)> = Vec::new();
        let mut cut = |axis| {
            let cut = Cut::of(&mesh, axis)?;
            check_beside(&used, &cut, axis)?;
            used.push((cut, axis));
            Ok(cut)
        };
        let cuts = spec.0.iter().map(|axes| axes.iter().map(&mut cut).collect());
        let cuts = cuts.collect::<Result<_, ShardingError>>()?;
        Ok(Self { mesh, cuts })
    }

    /// The mesh.
    #[must_use]
    pub const fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// Whether every device holds all of an array.
    #[must_use]
    pub fn is_replicated(&self) -> bool {
        self.cuts.iter().flatten().all(|cut| cut.size == 1)
    }

    /// Into how many parts a dimension is cut. Cuts do not overlap, so that there are no more than devices.
    pub(crate) fn parts(&self, dimension: usize) -> u64 {
        let cuts = self.cuts.get(dimension).map_or(&[][..], Vec::as_slice);
        cuts.iter().map(|cut| cut.size).product()
    }

    /// The shape of the parts of an array.
    ///
    /// # Errors
    /// A spec for more dimensions, and a dimension that cannot be cut into parts of one size.
    pub fn shard_shape(&self, shape: &[u64]) -> Result<Vec<u64>, ShardingError> {
        self.check_rank(shape)?;
        let part = |(dimension, size): (usize, &u64)| {
            let parts = self.parts(dimension);
            let uneven = ShardingError::Uneven {
                dimension,
                size: *size,
                parts,
            };
            size.is_multiple_of(parts).then_some(size / parts).ok_or(uneven)
        };
        shape.iter().enumerate().map(part).collect()
    }

    /// Whether the spec says nothing of dimensions that an array does not have.
    pub(crate) fn check_rank(&self, shape: &[u64]) -> Result<(), ShardingError> {
        RANK.check(shape.len() as u64)?;
        if self.cuts.len() > shape.len() {
            return Err(ShardingError::Rank {
                spec: self.cuts.len(),
                array: shape.len(),
            });
        }
        Ok(())
    }

    /// The part of an array of each device, in the order of the mesh (`NamedSharding.devices_indices_map`).
    ///
    /// # Errors
    /// See [`Sharding::shard_shape`]; and more than 2^22 dimensions of parts together.
    pub fn shards(&self, shape: &[u64]) -> Result<Vec<Shard>, ShardingError> {
        let part = self.shard_shape(shape)?;
        STARTS.check(self.mesh.device_count().saturating_mul(part.len() as u64))?;
        let mut copies: BTreeMap<Vec<u64>, u32> = BTreeMap::new();
        let shard = |position: u64| {
            let start: Vec<u64> = (0..)
                .zip(&part)
                .map(|(dimension, size)| self.part_of(position, dimension) * size)
                .collect();
            let copies = copies.entry(start.clone()).or_insert(0);
            *copies += 1;
            Shard {
                device: self.mesh.device(position).unwrap_or_default(),
                start,
                shape: part.clone(),
                replica: *copies - 1,
            }
        };
        Ok((0..self.mesh.device_count()).map(shard).collect())
    }

    /// One device for each part of an array, the first in the order of the mesh: together they hold all of it once.
    ///
    /// # Errors
    /// See [`Sharding::shards`].
    pub fn distinct_shards(&self, shape: &[u64]) -> Result<Vec<Shard>, ShardingError> {
        let mut shards = self.shards(shape)?;
        shards.retain(|shard| shard.replica == 0);
        Ok(shards)
    }

    /// Which part of a dimension the device at a position holds.
    pub(crate) fn part_of(&self, position: u64, dimension: usize) -> u64 {
        let cuts = self.cuts.get(dimension).map_or(&[][..], Vec::as_slice);
        cuts.iter().fold(0, |number, cut| {
            number * cut.size + cut.coordinate(&self.mesh, position)
        })
    }
}

/// Whether a cut shares nothing with those before it, and an axis can be cut for all of them.
fn check_beside(used: &[(Cut, &AxisRef)], cut: &Cut, axis: &AxisRef) -> Result<(), ShardingError> {
    for (other, name) in used {
        if other.overlaps(cut) {
            return Err(ShardingError::UsedTwice(axis.to_string()));
        }
        if !other.nests(cut) {
            let (axis, other) = (axis.to_string(), name.to_string());
            return Err(ShardingError::NotNested { axis, other });
        }
    }
    Ok(())
}
