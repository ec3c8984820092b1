//! What each process holds of an array whose devices belong to several.

use std::collections::{BTreeMap, BTreeSet};

use crate::layout::{Shard, Sharding};
use crate::process_error::ProcessError;

/// A sharding, and the process of each device (`jax.Device.process_index`).
///
/// The data of a process ("local") are all that its devices hold of an array, moved together: along each dimension the distinct parts
/// that any of its devices holds, in order. They need not lie side by side in the array.
#[derive(Clone, Copy, Debug)]
pub struct ProcessSharding<'a> {
    sharding: &'a Sharding,
    process_of_device: &'a [u32],
}

/// Processes that hold the same parts along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessGroup {
    /// Which group it is, counted by the first part that each holds. JAX counts them in no particular order.
    pub number: u64,
    /// How many groups there are.
    pub count: u64,
}

impl<'a> ProcessSharding<'a> {
    /// Says which process each device belongs to: `process_of_device[k]` is that of the device with the number `k`.
    ///
    /// # Errors
    /// Not as many processes as the mesh has devices.
    pub fn new(sharding: &'a Sharding, process_of_device: &'a [u32]) -> Result<Self, ProcessError> {
        let devices = sharding.mesh().device_count();
        if devices != process_of_device.len() as u64 {
            return Err(ProcessError::Devices {
                devices,
                processes: process_of_device.len() as u64,
            });
        }
        Ok(Self {
            sharding,
            process_of_device,
        })
    }

    /// The distinct parts of an array that a process holds, each with the first of its devices that does, in the order of the mesh.
    ///
    /// # Errors
    /// A process without devices, and what [`Sharding::shards`] refuses.
    pub fn shards(&self, process: u32, shape: &[u64]) -> Result<Vec<Shard>, ProcessError> {
        let mut shards = self.all_shards(process, shape)?;
        let mut found = BTreeSet::new();
        shards.retain(|shard| found.insert(shard.start.clone()));
        Ok(shards)
    }

    /// Which group a process is in along a dimension, so that those of a group load the same
    /// (`jax._src.sharding_impls.get_process_index_and_count`).
    ///
    /// # Errors
    /// A process without devices, and [`ProcessError::NotUniform`].
    pub fn group(&self, process: u32, dimension: usize) -> Result<ProcessGroup, ProcessError> {
        let held = self.held_by_process(dimension);
        let own = held.get(&process).ok_or(ProcessError::NoDevice(process))?;
        let groups = self.groups(dimension, &held)?;
        Ok(ProcessGroup {
            number: groups.iter().take_while(|group| **group < own).count() as u64,
            count: groups.len() as u64,
        })
    }

    /// The shape of an array from that of the data of each process, the same for all: along every dimension, as many times the size as
    /// there are groups of processes (`jax._src.sharding_impls.local_to_global_shape`).
    ///
    /// # Errors
    /// [`ProcessError::NotUniform`] along any dimension, a size that does not fit 64 bits, and what [`Sharding::shard_shape`] refuses.
    pub fn global_shape(&self, local: &[u64]) -> Result<Vec<u64>, ProcessError> {
        self.sharding.check_rank(local)?;
        let size = |(dimension, size): (usize, &u64)| {
            let groups = self.groups(dimension, &self.held_by_process(dimension))?.len() as u64;
            size.checked_mul(groups)
                .ok_or(ProcessError::TooLarge { dimension })
        };
        let shape = local
            .iter()
            .enumerate()
            .map(size)
            .collect::<Result<Vec<_>, _>>()?;
        self.sharding.shard_shape(&shape)?;
        Ok(shape)
    }

    /// The shape of the data of a process (`jax._src.sharding_impls.num_addressable_indices`).
    ///
    /// # Errors
    /// A process without devices, and what [`Sharding::shards`] refuses.
    pub fn local_shape(&self, process: u32, shape: &[u64]) -> Result<Vec<u64>, ProcessError> {
        let shards = self.all_shards(process, shape)?;
        let part = self.sharding.shard_shape(shape)?;
        let sizes = part.iter().enumerate();
        Ok(sizes
            .map(|(dimension, size)| starts(&shards, dimension).len() as u64 * size)
            .collect())
    }

    /// For each device of a process, in the order of the mesh, which part of the process's data it gets: a [`Shard`] of an array of the
    /// shape `local`, whose `replica` is still that of the whole array.
    ///
    /// Along a dimension on which `local` is as large as the array, the data are those of the array
    /// (`jax.make_array_from_process_local_data`).
    ///
    /// # Errors
    /// A process without devices; data that are, along a dimension, neither as large as the array nor as what the process holds; and
    /// what [`Sharding::shards`] refuses.
    pub fn local_shards(
        &self,
        process: u32,
        local: &[u64],
        shape: &[u64],
    ) -> Result<Vec<Shard>, ProcessError> {
        if local.len() != shape.len() {
            return Err(ProcessError::LocalRank {
                local: local.len(),
                array: shape.len(),
            });
        }
        let mut shards = self.all_shards(process, shape)?;
        for (dimension, (local, size)) in local.iter().zip(shape).enumerate() {
            if local != size {
                move_together(&mut shards, dimension, *local, *size)?;
            }
        }
        Ok(shards)
    }

    fn all_shards(&self, process: u32, shape: &[u64]) -> Result<Vec<Shard>, ProcessError> {
        let mut shards = self.sharding.shards(shape)?;
        shards.retain(|shard| self.process(shard.device) == Some(process));
        match shards.is_empty() {
            true => Err(ProcessError::NoDevice(process)),
            false => Ok(shards),
        }
    }

    fn process(&self, device: u32) -> Option<u32> {
        self.process_of_device.get(device as usize).copied()
    }

    /// Which parts of a dimension each process holds.
    fn held_by_process(&self, dimension: usize) -> BTreeMap<u32, BTreeSet<u64>> {
        let mesh = self.sharding.mesh();
        let mut held: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
        for position in 0..mesh.device_count() {
            let process = mesh.device(position).and_then(|device| self.process(device));
            if let Some(process) = process {
                let part = self.sharding.part_of(position, dimension);
                held.entry(process).or_default().insert(part);
            }
        }
        held
    }

    /// The distinct sets of parts, ordered by their first part. Uniform: of one size, and no part in two of them.
    fn groups<'h>(
        &self,
        dimension: usize,
        held: &'h BTreeMap<u32, BTreeSet<u64>>,
    ) -> Result<BTreeSet<&'h BTreeSet<u64>>, ProcessError> {
        let groups: BTreeSet<&BTreeSet<u64>> = held.values().collect();
        let mut sizes = groups.iter().map(|group| group.len() as u64);
        let first = sizes.next().unwrap_or_default();
        let is_even = sizes.all(|size| size == first);
        if !is_even || first * groups.len() as u64 != self.sharding.parts(dimension) {
            return Err(ProcessError::NotUniform { dimension });
        }
        Ok(groups)
    }
}

/// Where parts begin along a dimension.
fn starts(shards: &[Shard], dimension: usize) -> BTreeSet<u64> {
    shards.iter().map(|shard| shard.start[dimension]).collect()
}

/// Closes the gaps between the parts of a process along a dimension.
fn move_together(shards: &mut [Shard], dimension: usize, local: u64, array: u64) -> Result<(), ProcessError> {
    let numbers: BTreeMap<u64, u64> = starts(shards, dimension).into_iter().zip(0..).collect();
    let held = shards
        .first()
        .map_or(0, |shard| shard.shape[dimension] * numbers.len() as u64);
    if held != local {
        return Err(ProcessError::LocalSize {
            dimension,
            local,
            held,
            array,
        });
    }
    for shard in shards {
        let number = numbers.get(&shard.start[dimension]).copied().unwrap_or_default();
        shard.start[dimension] = number * shard.shape[dimension];
    }
    Ok(())
}
