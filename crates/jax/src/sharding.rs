//! How arrays are laid out on meshes of devices.

use std::collections::BTreeSet;
use std::sync::Arc;

use artifact_core::blob::Blob;

/// How one argument or result is laid out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sharding {
    /// The exporter said nothing.
    #[default]
    Unspecified,
    /// Over a named mesh.
    Named(Arc<NamedSharding>),
    /// An `OpSharding` message of XLA, of schemas before 9. Only read on request, and never written.
    Hlo(Blob),
}

/// A mesh, and which of its axes divide which dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamedSharding {
    /// The mesh.
    pub mesh: Arc<AbstractMesh>,
    /// How the dimensions are divided.
    pub spec: PartitionSpec,
    /// The kind of memory, as the device names it.
    pub memory_kind: Option<String>,
}

/// A mesh without its devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AbstractMesh {
    /// The axes, the major one first. None for a single device.
    pub axes: Vec<MeshAxis>,
    /// The kind of device that it is meant for.
    pub device: Option<AbstractDevice>,
}

/// One axis of a mesh.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MeshAxis {
    /// Its name, which no other axis of the mesh has.
    pub name: String,
    /// The number of devices along it.
    pub size: u32,
    /// Who decides about shardings along it.
    pub axis_type: AxisType,
}

/// Who decides about shardings along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AxisType {
    /// The compiler.
    Auto,
    /// The types of the program.
    Explicit,
    /// The program, by hand.
    Manual,
}

/// A kind of device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AbstractDevice {
    /// As the device names its kind.
    pub device_kind: String,
    /// Cores of one device, where it has several.
    pub num_cores: Option<u32>,
    /// Such as `cpu`. Absent in files of schemas before 11, for which JAX guesses it from the kind.
    pub platform: Option<String>,
}

/// Which axes of a mesh divide which dimensions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PartitionSpec {
    /// For each leading dimension the axes that divide it, the major one first. Later dimensions are not divided.
    pub partitions: Vec<Vec<String>>,
    /// Axes along which the array is the same and its gradient a sum.
    pub reduced: BTreeSet<String>,
    /// Axes along which the array is a sum that was not taken yet.
    pub unreduced: BTreeSet<String>,
}

impl PartitionSpec {
    /// Every axis that is named, as often as it is.
    pub fn axes(&self) -> impl Iterator<Item = &str> {
        let divided = self.partitions.iter().flatten();
        divided
            .chain(&self.reduced)
            .chain(&self.unreduced)
            .map(String::as_str)
    }
}
