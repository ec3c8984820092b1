//! Shardings, and what a file holds once for many leaves.

use std::sync::Arc;

use artifact_flatbuffer::View;
use artifact_proto::jax_exported as schema;

use super::{Outcome, Reader, Side, collect, field, of_fault, one_for_each_leaf, required, texts};
use crate::aval::AbstractValue;
use crate::error::Problem;
use crate::limits;
use crate::sharding::{
    AbstractDevice, AbstractMesh, AxisType, MeshAxis, NamedSharding, PartitionSpec, Sharding,
};

/// What leaves refer to by position. Empty in files before schema 10.
#[derive(Debug)]
pub(super) struct Uniques {
    avals: Vec<Arc<AbstractValue>>,
    meshes: Vec<Arc<AbstractMesh>>,
    shardings: Vec<Arc<NamedSharding>>,
}

impl Uniques {
    pub(super) fn aval(&self, position: u32, place: &str) -> Outcome<Arc<AbstractValue>> {
        element(&self.avals, u64::from(position), place, "types")
    }

    /// Positions count from 1; 0 stands for no sharding.
    fn sharding(&self, position: u32, place: &str) -> Outcome<Sharding> {
        match u64::from(position).checked_sub(1) {
            None => Ok(Sharding::Unspecified),
            Some(position) => element(&self.shardings, position, place, "shardings").map(Sharding::Named),
        }
    }
}

fn element<T>(list: &[Arc<T>], position: u64, place: &str, what: &str) -> Outcome<Arc<T>> {
    let found = usize::try_from(position)
        .ok()
        .and_then(|position| list.get(position));
    found.map(Arc::clone).ok_or_else(|| {
        let length = list.len();
        Problem::inconsistent(format!(
            "one of the {place} refers to position {position} of {length} {what}"
        ))
    })
}

impl Reader<'_> {
    pub(super) fn uniques(&mut self, view: &View<'_, schema::Exported>) -> Outcome<Uniques> {
        let avals = collect(field(view, schema::Exported::UNIQUE_AVALS)?)?;
        let avals = avals
            .iter()
            .map(|view| self.aval(view, "unique types").map(Arc::new));
        let meshes = collect(field(view, schema::Exported::UNIQUE_ABSTRACT_MESHES)?)?;
        let meshes = meshes.iter().map(|view| mesh(view).map(Arc::new));
        let mut uniques = Uniques {
            avals: avals.collect::<Outcome<_>>()?,
            meshes: meshes.collect::<Outcome<_>>()?,
            shardings: Vec::new(),
        };
        for view in collect(field(view, schema::Exported::UNIQUE_NAMED_SHARDINGS)?)? {
            let sharding = named_sharding(&view, &uniques)?;
            uniques.shardings.push(Arc::new(sharding));
        }
        Ok(uniques)
    }

    /// The shardings of all leaves: by their positions among the unique ones, or from the list of an older file.
    pub(super) fn shardings(
        &self,
        view: &View<'_, schema::Exported>,
        side: &Side,
        uniques: &Uniques,
        leaf_count: usize,
    ) -> Outcome<Vec<Sharding>> {
        if let Some(positions) = field(view, side.sharding_positions)?.filter(|list| list.len() > 0) {
            one_for_each_leaf("shardings", side, positions.len(), leaf_count)?;
            return positions
                .map(|position| uniques.sharding(position.map_err(of_fault)?, side.place))
                .collect();
        }
        let views = field(view, side.shardings)?;
        let length = views.as_ref().map_or(0, ExactSizeIterator::len);
        one_for_each_leaf("shardings", side, length, leaf_count)?;
        let views = views.into_iter().flatten();
        views
            .map(|view| self.listed(&view.map_err(of_fault)?, side, uniques))
            .collect()
    }

    /// A sharding of the list of an older file. Those of schema 6 are both named and HLO.
    fn listed(&self, view: &View<'_, schema::Sharding>, side: &Side, uniques: &Uniques) -> Outcome<Sharding> {
        if let Some(named) = field(view, schema::Sharding::NAMED_SHARDING)? {
            return Ok(Sharding::Named(Arc::new(named_sharding(&named, uniques)?)));
        }
        match field(view, schema::Sharding::HLO_SHARDING_PROTO)? {
            None => Ok(Sharding::Unspecified),
            Some(proto) if self.options.keep_hlo_shardings => self.view(proto.range).map(Sharding::Hlo),
            Some(_) => Err(Problem::HloShardings {
                place: match side.place {
                    "inputs" => "shardings of the inputs",
                    _ => "shardings of the outputs",
                },
            }),
        }
    }
}

/// The mesh is one of the unique ones, where there are any.
fn named_sharding(view: &View<'_, schema::NamedSharding>, uniques: &Uniques) -> Outcome<NamedSharding> {
    let mesh = if uniques.meshes.is_empty() {
        Arc::new(mesh(&required(view, schema::NamedSharding::MESH)?)?)
    } else {
        let position = field(view, schema::NamedSharding::ABSTRACT_MESH_IDX)?;
        element(&uniques.meshes, u64::from(position), "shardings", "meshes")?
    };
    Ok(NamedSharding {
        mesh,
        spec: partition_spec(&required(view, schema::NamedSharding::SPEC)?)?,
        memory_kind: field(view, schema::NamedSharding::MEMORY_KIND)?.map(str::to_owned),
    })
}

fn mesh(view: &View<'_, schema::AbstractMesh>) -> Outcome<AbstractMesh> {
    let names: Vec<String> = texts(field(view, schema::AbstractMesh::AXIS_NAMES)?)?;
    let sizes = collect(field(view, schema::AbstractMesh::AXIS_SIZES)?)?;
    let types = collect(field(view, schema::AbstractMesh::AXIS_TYPES)?)?;
    if names.len() != sizes.len() || names.len() != types.len() {
        return Err(Problem::inconsistent(format!(
            "a mesh has {} names, {} sizes and {} types of axes",
            names.len(),
            sizes.len(),
            types.len()
        )));
    }
    let axes = names.into_iter().zip(sizes).zip(types);
    let axes = axes.map(|((name, size), axis_type)| {
        let axis_type = match axis_type {
            schema::AxisType::Auto => AxisType::Auto,
            schema::AxisType::Explicit => AxisType::Explicit,
            schema::AxisType::Manual => AxisType::Manual,
            schema::AxisType::Missing => {
                return Err(Problem::inconsistent(format!(
                    "the axis '{name}' of a mesh has no type"
                )));
            }
        };
        Ok(MeshAxis {
            name,
            size,
            axis_type,
        })
    });
    Ok(AbstractMesh {
        axes: axes.collect::<Outcome<_>>()?,
        device: field(view, schema::AbstractMesh::ABSTRACT_DEVICE)?
            .map(|view| device(&view))
            .transpose()?,
    })
}

fn device(view: &View<'_, schema::AbstractDevice>) -> Outcome<AbstractDevice> {
    Ok(AbstractDevice {
        device_kind: required(view, schema::AbstractDevice::DEVICE_KIND)?.to_owned(),
        num_cores: field(view, schema::AbstractDevice::NUM_CORES)?,
        platform: field(view, schema::AbstractDevice::PLATFORM)?.map(str::to_owned),
    })
}

fn partition_spec(view: &View<'_, schema::PartitionSpec>) -> Outcome<PartitionSpec> {
    let partitions = field(view, schema::PartitionSpec::PARTITIONS)?;
    limits::RANK.check(partitions.as_ref().map_or(0, ExactSizeIterator::len) as u64)?;
    let partitions = partitions.into_iter().flatten();
    let partitions = partitions.map(|view| {
        texts(field(
            &view.map_err(of_fault)?,
            schema::PartitionSpecOneAxis::AXES,
        )?)
    });
    Ok(PartitionSpec {
        partitions: partitions.collect::<Outcome<_>>()?,
        reduced: texts(field(view, schema::PartitionSpec::REDUCED)?)?,
        unreduced: texts(field(view, schema::PartitionSpec::UNREDUCED)?)?,
    })
}
