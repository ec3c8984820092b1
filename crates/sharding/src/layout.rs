//! A mesh and a spec together.

use std::collections::BTreeMap;

use artifact_core::limit::Limit;

use crate::error::ShardingError;
use crate::mesh::Mesh;
use crate::spec::{Cut, PartitionSpec};

/// Dimensions of an array.
const RANK: Limit = Limit::new("the rank of a sharded array", 64, "dimensions");

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
    /// How many devices before this one, in the order of the mesh, hold the same part.
    pub replica: u32,
}

impl Sharding {
    /// Spreads arrays over a mesh.
    ///
    /// # Errors
    /// Axes that the mesh does not have, parts of axes that do not divide them, and axes that are named twice.
    pub fn new(mesh: Mesh, spec: &PartitionSpec) -> Result<Self, ShardingError> {
        RANK.check(spec.0.len() as u64)?;
        let mut cuts: Vec<Vec<Cut>> = Vec::with_capacity(spec.0.len());
        for axes in &spec.0 {
            let mut own: Vec<Cut> = Vec::with_capacity(axes.len());
            for axis in axes {
                let cut = Cut::of(&mesh, axis)?;
                if cuts
                    .iter()
                    .flatten()
                    .chain(&own)
                    .any(|other| other.overlaps(&cut))
                {
                    return Err(ShardingError::UsedTwice(axis.to_string()));
                }
                own.push(cut);
            }
            cuts.push(own);
        }
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
    fn parts(&self, dimension: usize) -> u64 {
        let cuts = self.cuts.get(dimension).map_or(&[][..], Vec::as_slice);
        cuts.iter().map(|cut| cut.size).product()
    }

    /// The shape of the parts of an array.
    ///
    /// # Errors
    /// A spec for more dimensions, and a dimension that cannot be cut into parts of one size.
    pub fn shard_shape(&self, shape: &[u64]) -> Result<Vec<u64>, ShardingError> {
        RANK.check(shape.len() as u64)?;
        if self.cuts.len() > shape.len() {
            return Err(ShardingError::Rank {
                spec: self.cuts.len(),
                array: shape.len(),
            });
        }
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

    /// The part of an array of each device, in the order of the mesh.
    ///
    /// # Errors
    /// See [`Sharding::shard_shape`].
    pub fn shards(&self, shape: &[u64]) -> Result<Vec<Shard>, ShardingError> {
        let part = self.shard_shape(shape)?;
        let mut copies: BTreeMap<Vec<u64>, u32> = BTreeMap::new();
        let shard = |position: u64| {
            let numbers: Vec<u64> = (0..part.len())
                .map(|dimension| self.part_of(position, dimension))
                .collect();
            let start = numbers
                .iter()
                .zip(&part)
                .map(|(number, size)| number * size)
                .collect();
            // By their numbers: what is of size 0 begins where its neighbours do, and yet is another part.
            let copies = copies.entry(numbers).or_insert(0);
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

    /// Which part of a dimension the device at a position holds.
    fn part_of(&self, position: u64, dimension: usize) -> u64 {
        let cuts = self.cuts.get(dimension).map_or(&[][..], Vec::as_slice);
        cuts.iter().fold(0, |number, cut| {
            number * cut.size + cut.coordinate(&self.mesh, position)
        })
    }
}
