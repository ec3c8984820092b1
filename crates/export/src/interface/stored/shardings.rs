//! Shardings and their meshes, each once.

use std::collections::BTreeSet;
use std::sync::Arc;

use artifact_container::manifest::interface as stored;
use artifact_jax::{
    AbstractDevice, AbstractMesh, AxisType, MeshAxis, NamedSharding, PartitionSpec, Sharding, limits,
};

use super::{Uniques, at, wrong};
use crate::error::ExportError;

/// Each of the three, with its name in a manifest.
const AXIS_TYPES: [(AxisType, &str); 3] = [
    (AxisType::Auto, "auto"),
    (AxisType::Explicit, "explicit"),
    (AxisType::Manual, "manual"),
];

/// The shardings that were written, each once.
#[derive(Default)]
pub(super) struct Shardings(Uniques<Arc<NamedSharding>>);

impl Shardings {
    /// The position of a sharding in the list.
    pub(super) fn position(&mut self, sharding: &Arc<NamedSharding>) -> Result<u32, ExportError> {
        self.0.position(sharding)
    }

    /// The lists of meshes and of shardings.
    pub(super) fn into_stored(self) -> Result<(Vec<stored::Mesh>, Vec<stored::Sharding>), ExportError> {
        let mut meshes = Uniques::default();
        let sharding = |sharding: &Arc<NamedSharding>| {
            let PartitionSpec {
                partitions,
                reduced,
                unreduced,
            } = &sharding.spec;
            Ok(stored::Sharding {
                mesh: meshes.position(&sharding.mesh)?,
                partitions: partitions.clone(),
                reduced: reduced.iter().cloned().collect(),
                unreduced: unreduced.iter().cloned().collect(),
                memory_kind: sharding.memory_kind.clone(),
            })
        };
        let shardings: Result<Vec<_>, ExportError> = self.0.items.iter().map(sharding).collect();
        let shardings = shardings?;
        Ok((
            meshes.items.iter().map(|mesh| write_mesh(mesh)).collect(),
            shardings,
        ))
    }
}

fn write_mesh(mesh: &AbstractMesh) -> stored::Mesh {
    let name = |wanted| {
        AXIS_TYPES
            .iter()
            .find(|(known, _)| *known == wanted)
            .map_or("", |(_, name)| name)
    };
    let axis = |axis: &MeshAxis| stored::MeshAxis {
        name: axis.name.clone(),
        size: axis.size,
        axis_type: name(axis.axis_type).to_owned(),
    };
    stored::Mesh {
        axes: mesh.axes.iter().map(axis).collect(),
        device: mesh.device.as_ref().map(|device| stored::Device {
            kind: device.device_kind.clone(),
            cores: device.num_cores,
            platform: device.platform.clone(),
        }),
    }
}

/// The shardings of a manifest. Whether they are sound is for the check of the whole to say.
pub(super) fn read(
    meshes: &[stored::Mesh],
    shardings: &[stored::Sharding],
) -> Result<Vec<Sharding>, ExportError> {
    let meshes: Result<Vec<Arc<AbstractMesh>>, ExportError> =
        meshes.iter().map(|mesh| read_mesh(mesh).map(Arc::new)).collect();
    let meshes = meshes?;
    let sharding = |sharding: &stored::Sharding| {
        Ok(Sharding::Named(Arc::new(NamedSharding {
            mesh: Arc::clone(at(&meshes, sharding.mesh, "mesh")?),
            spec: PartitionSpec {
                partitions: sharding.partitions.clone(),
                reduced: axes(&sharding.reduced)?,
                unreduced: axes(&sharding.unreduced)?,
            },
            memory_kind: sharding.memory_kind.clone(),
        })))
    };
    shardings.iter().map(sharding).collect()
}

fn axes(names: &[String]) -> Result<BTreeSet<String>, ExportError> {
    if !names.is_sorted_by(|a, b| a < b) {
        return Err(wrong("the reduced axes of a sharding are not ascending"));
    }
    Ok(names.iter().cloned().collect())
}

fn read_mesh(mesh: &stored::Mesh) -> Result<AbstractMesh, ExportError> {
    let count = limits::MESH_AXES.check(mesh.axes.len() as u64);
    count.map_err(|error| wrong(error.to_string()))?;
    let axis = |axis: &stored::MeshAxis| {
        let found = AXIS_TYPES.iter().find(|(_, name)| *name == axis.axis_type);
        let (axis_type, _) =
            found.ok_or_else(|| wrong(format!("there is no type `{}` of axes", axis.axis_type)))?;
        Ok(MeshAxis {
            name: axis.name.clone(),
            size: axis.size,
            axis_type: *axis_type,
        })
    };
    let axes: Result<Vec<MeshAxis>, ExportError> = mesh.axes.iter().map(axis).collect();
    Ok(AbstractMesh {
        axes: axes?,
        device: mesh.device.as_ref().map(|device| AbstractDevice {
            device_kind: device.kind.clone(),
            num_cores: device.cores,
            platform: device.platform.clone(),
        }),
    })
}
