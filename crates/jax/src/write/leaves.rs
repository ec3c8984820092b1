//! Arguments and results: what leaves refer to by position, and the lists that refer to the same objects.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use artifact_flatbuffer::{Nested, Reference, TableBuilder, TooLarge, Vector};
use artifact_proto::jax_exported as schema;

use super::{FileWriter, Outcome};
use crate::aval::{AbstractValue, MemorySpace};
use crate::error::Problem;
use crate::exported::Leaf;
use crate::sharding::{AbstractDevice, AbstractMesh, AxisType, NamedSharding, PartitionSpec, Sharding};

/// Values of one type that differ, with the objects that were written for them.
#[derive(Debug)]
pub(super) struct Unique<V, T> {
    /// By address, which spares the look at a value that many leaves share.
    shared: HashMap<*const V, u32>,
    positions: HashMap<Arc<V>, u32>,
    pub(super) objects: Vec<Reference<Nested<T>>>,
}

impl<V: Eq + Hash, T: artifact_flatbuffer::Table> Unique<V, T> {
    fn new() -> Self {
        Self {
            shared: HashMap::new(),
            positions: HashMap::new(),
            objects: Vec::new(),
        }
    }

    /// The position of a value, which is written when it is new.
    fn position(
        &mut self,
        value: &Arc<V>,
        write: impl FnOnce() -> Outcome<Reference<Nested<T>>>,
    ) -> Outcome<u32> {
        if let Some(known) = self.shared.get(&Arc::as_ptr(value)) {
            return Ok(*known);
        }
        let position = match self.positions.get(value) {
            Some(known) => *known,
            None => {
                let position = u32::try_from(self.objects.len()).map_err(|_| TooLarge)?;
                self.objects.push(write()?);
                self.positions.insert(Arc::clone(value), position);
                position
            }
        };
        self.shared.insert(Arc::as_ptr(value), position);
        Ok(position)
    }

    fn object(&self, position: u32) -> Reference<Nested<T>> {
        self.objects[position as usize]
    }
}

/// What leaves refer to by position.
#[derive(Debug)]
pub(super) struct Uniques {
    pub(super) avals: Unique<AbstractValue, schema::AbstractValue>,
    pub(super) meshes: Unique<AbstractMesh, schema::AbstractMesh>,
    pub(super) shardings: Unique<NamedSharding, schema::NamedSharding>,
    /// For each sharding, and first for none, what a list holds.
    listed: Vec<Reference<Nested<schema::Sharding>>>,
}

/// The leaves of one side, in both forms.
#[derive(Debug)]
pub(super) struct Leaves {
    pub(super) aval_positions: Reference<Vector<u32>>,
    pub(super) sharding_positions: Reference<Vector<u32>>,
    pub(super) avals: Reference<Vector<Nested<schema::AbstractValue>>>,
    pub(super) shardings: Reference<Vector<Nested<schema::Sharding>>>,
}

impl FileWriter<'_> {
    pub(super) fn uniques(&mut self) -> Outcome<Uniques> {
        Ok(Uniques {
            avals: Unique::new(),
            meshes: Unique::new(),
            shardings: Unique::new(),
            listed: vec![self.0.table(TableBuilder::default())],
        })
    }

    pub(super) fn leaves(&mut self, place: &str, leaves: &[Leaf], uniques: &mut Uniques) -> Outcome<Leaves> {
        let mut aval_positions = Vec::with_capacity(leaves.len());
        let mut sharding_positions = Vec::with_capacity(leaves.len());
        for (index, Leaf { aval, sharding }) in leaves.iter().enumerate() {
            aval_positions.push(uniques.avals.position(aval, || self.aval(aval))?);
            sharding_positions.push(match sharding {
                Sharding::Unspecified => 0,
                Sharding::Named(named) => self.sharding(named, uniques)?,
                Sharding::Hlo(_) => {
                    let place = format!("number {index} of the {place}");
                    return Err(Problem::HloShardingWritten { place });
                }
            });
        }
        let avals: Vec<_> = aval_positions
            .iter()
            .map(|position| uniques.avals.object(*position))
            .collect();
        let shardings: Vec<_> = sharding_positions
            .iter()
            .map(|position| uniques.listed[*position as usize])
            .collect();
        Ok(Leaves {
            aval_positions: self.0.vector(&aval_positions)?,
            sharding_positions: self.0.vector(&sharding_positions)?,
            avals: self.0.vector(&avals)?,
            shardings: self.0.vector(&shardings)?,
        })
    }

    fn aval(&mut self, aval: &AbstractValue) -> Outcome<Reference<Nested<schema::AbstractValue>>> {
        let AbstractValue {
            shape,
            dtype,
            memory_space,
        } = aval;
        let shape = self.texts(shape.iter().map(|dimension| dimension.text()))?;
        let memory_space = match memory_space {
            MemorySpace::Device => schema::MemorySpace::Device,
            MemorySpace::Host => schema::MemorySpace::Host,
            MemorySpace::Any => schema::MemorySpace::Any,
        };
        let table = TableBuilder::default()
            .set(schema::AbstractValue::SHAPE, shape)
            .set(schema::AbstractValue::DTYPE, *dtype)
            .set(schema::AbstractValue::MEMORY_SPACE, memory_space);
        Ok(self.0.table(table))
    }

    /// The position of a sharding, counted from 1.
    fn sharding(&mut self, sharding: &Arc<NamedSharding>, uniques: &mut Uniques) -> Outcome<u32> {
        let NamedSharding {
            mesh,
            spec,
            memory_kind,
        } = &**sharding;
        let mesh_position = uniques.meshes.position(mesh, || self.mesh(mesh))?;
        let mesh = uniques.meshes.object(mesh_position);
        let position = uniques.shardings.position(sharding, || {
            let memory_kind = memory_kind.as_deref().map(|text| self.0.text(text)).transpose()?;
            let table = TableBuilder::default()
                .set(schema::NamedSharding::MESH, mesh)
                .set(schema::NamedSharding::SPEC, self.partition_spec(spec)?)
                .set_some(schema::NamedSharding::MEMORY_KIND, memory_kind)
                .set(schema::NamedSharding::ABSTRACT_MESH_IDX, mesh_position);
            Ok(self.0.table(table))
        })?;
        if uniques.listed.len() <= uniques.shardings.objects.len() {
            let named = uniques.shardings.object(position);
            let table = TableBuilder::default().set(schema::Sharding::NAMED_SHARDING, named);
            uniques.listed.push(self.0.table(table));
        }
        position.checked_add(1).ok_or(TooLarge.into())
    }

    fn mesh(&mut self, mesh: &AbstractMesh) -> Outcome<Reference<Nested<schema::AbstractMesh>>> {
        let AbstractMesh { axes, device } = mesh;
        let sizes: Vec<u32> = axes.iter().map(|axis| axis.size).collect();
        let types = axes.iter().map(|axis| match axis.axis_type {
            AxisType::Auto => schema::AxisType::Auto,
            AxisType::Explicit => schema::AxisType::Explicit,
            AxisType::Manual => schema::AxisType::Manual,
        });
        let types: Vec<schema::AxisType> = types.collect();
        let device = device.as_ref().map(|device| self.device(device)).transpose()?;
        let table = TableBuilder::default()
            .set(schema::AbstractMesh::AXIS_SIZES, self.0.vector(&sizes)?)
            .set(
                schema::AbstractMesh::AXIS_NAMES,
                self.texts(axes.iter().map(|axis| &axis.name))?,
            )
            .set(schema::AbstractMesh::AXIS_TYPES, self.0.vector(&types)?)
            .set_some(schema::AbstractMesh::ABSTRACT_DEVICE, device);
        Ok(self.0.table(table))
    }

    fn device(&mut self, device: &AbstractDevice) -> Outcome<Reference<Nested<schema::AbstractDevice>>> {
        let AbstractDevice {
            device_kind,
            num_cores,
            platform,
        } = device;
        let platform = platform.as_deref().map(|text| self.0.text(text)).transpose()?;
        let table = TableBuilder::default()
            .set(schema::AbstractDevice::DEVICE_KIND, self.0.text(device_kind)?)
            .set_some(schema::AbstractDevice::NUM_CORES, *num_cores)
            .set_some(schema::AbstractDevice::PLATFORM, platform);
        Ok(self.0.table(table))
    }

    fn partition_spec(&mut self, spec: &PartitionSpec) -> Outcome<Reference<Nested<schema::PartitionSpec>>> {
        let PartitionSpec {
            partitions,
            reduced,
            unreduced,
        } = spec;
        let mut divided = Vec::with_capacity(partitions.len());
        for axes in partitions {
            let table = TableBuilder::default().set(schema::PartitionSpecOneAxis::AXES, self.texts(axes)?);
            divided.push(self.0.table(table));
        }
        let table = TableBuilder::default()
            .set(schema::PartitionSpec::PARTITIONS, self.0.vector(&divided)?)
            .set(schema::PartitionSpec::REDUCED, self.texts(reduced)?)
            .set(schema::PartitionSpec::UNREDUCED, self.texts(unreduced)?);
        Ok(self.0.table(table))
    }
}
