//! How the arrays of a program are divided among devices, as its `sdy.sharding` attributes say.

use artifact_ir::attribute::sdy::{self, SdyAttribute, TensorSharding};
use artifact_ir::attribute::{Attribute, AxisRef as AxisAttribute};
use artifact_ir::module::{FunctionId, Module, Parameter};
use artifact_sharding::{AxisRef, Mesh, PartitionSpec, Sharding, ShardingError};

use crate::error::EngineError;

/// The attribute of an argument or a result that says how it is divided.
const SHARDING: &str = "sdy.sharding";
/// What says it in programs that were exported before Shardy.
const GSPMD_SHARDING: &str = "mhlo.sharding";

/// The sharding of each argument and result of a program. What a program says nothing of, every device holds whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partitioning {
    /// Of the arguments.
    pub arguments: Vec<Sharding>,
    /// Of the results.
    pub results: Vec<Sharding>,
}

impl Partitioning {
    /// What the entry of a program says, for so many devices.
    ///
    /// # Errors
    /// Unsupported when a mesh of the program has another number of devices, for shardings other than Shardy's, and for arrays that
    /// wait to be reduced; invalid input for shardings that do not fit their mesh.
    pub fn of(module: &Module, entry: FunctionId, devices: u32) -> Result<Self, EngineError> {
        check_meshes(module, devices)?;
        let function = &module.functions[entry];
        let shardings = |parameters: &[Parameter], what: &str| -> Result<Vec<Sharding>, EngineError> {
            let one = |(index, parameter): (usize, &Parameter)| {
                sharding(module, parameter, devices).map_err(|problem| problem.told(what, index))
            };
            parameters.iter().enumerate().map(one).collect()
        };
        Ok(Self {
            arguments: shardings(&function.arguments, "argument")?,
            results: shardings(&function.results, "result")?,
        })
    }
}

/// The most devices that a mesh of a program has: 1 without meshes.
#[must_use]
pub fn mesh_devices(module: &Module) -> u64 {
    let meshes = module.meshes.iter().map(|(_, global)| &global.mesh);
    let counts = meshes.filter_map(sdy::Mesh::device_count);
    counts.max().unwrap_or(1).max(1)
}

fn check_meshes(module: &Module, devices: u32) -> Result<(), EngineError> {
    for (_, global) in module.meshes.iter() {
        let mesh = &global.mesh;
        let count = mesh.device_count();
        // One without axes says which device, or nothing.
        if !mesh.axes.is_empty() && count != Some(u64::from(devices)) {
            let count = count.map_or_else(|| "too many".to_owned(), |count| count.to_string());
            let name = &global.name;
            let what = format!(
                "the mesh `{name}` of the program has {count} devices, and it is compiled for {devices}"
            );
            return Err(EngineError::unsupported(what).at(global.source));
        }
    }
    Ok(())
}

/// Why an array is not divided.
enum Problem {
    Unsupported(String),
    Sharding(ShardingError),
}

impl From<ShardingError> for Problem {
    fn from(error: ShardingError) -> Self {
        Self::Sharding(error)
    }
}

impl Problem {
    fn told(self, what: &str, index: usize) -> EngineError {
        match self {
            Self::Unsupported(why) => EngineError::unsupported(format!("{what} {index}: {why}")),
            Self::Sharding(error) => {
                EngineError::invalid_input(format!("{what} {index} is not divided as the program says"))
                    .because(error)
            }
        }
    }
}

fn sharding(module: &Module, parameter: &Parameter, devices: u32) -> Result<Sharding, Problem> {
    let said = match parameter.attributes.get(SHARDING) {
        Some(Attribute::Sdy(SdyAttribute::TensorSharding(said))) => said,
        Some(_) => return Err(Problem::Unsupported(format!("{SHARDING} is no sharding"))),
        None if parameter.attributes.get(GSPMD_SHARDING).is_some() => {
            return Err(Problem::Unsupported(format!(
                "{GSPMD_SHARDING} is GSPMD's; export the program with Shardy"
            )));
        }
        None => return Ok(whole(devices)?),
    };
    if !said.unreduced_axes.is_empty() {
        return Err(Problem::Unsupported("its devices hold parts of a sum".to_owned()));
    }
    let mesh = match module.resolve_mesh(&said.mesh) {
        Some(mesh) => mesh,
        None => return Err(Problem::Unsupported("its mesh is not there".to_owned())),
    };
    if mesh.axes.is_empty() {
        return match mesh.maximal_device() {
            Some(device) => Err(Problem::Unsupported(format!("only device {device} has it"))),
            None => Ok(whole(devices)?),
        };
    }
    divided(mesh, said)
}

/// Every device holds all of it.
fn whole(devices: u32) -> Result<Sharding, ShardingError> {
    let mesh = Mesh::new([("devices", u64::from(devices))])?;
    Sharding::new(mesh, &PartitionSpec::default())
}

fn divided(mesh: &sdy::Mesh, said: &TensorSharding) -> Result<Sharding, Problem> {
    let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let size = |size: i64| u64::try_from(size).unwrap_or(0);
    let axes = mesh
        .axes
        .iter()
        .map(|axis| (name(axis.name.as_bytes()), size(axis.size)));
    let mut grid = Mesh::new(axes)?;
    if !mesh.device_ids.is_empty() {
        let order = mesh
            .device_ids
            .iter()
            .map(|id| u32::try_from(*id).unwrap_or(u32::MAX));
        grid = grid.with_order(order.collect())?;
    }
    let axis = |axis: &AxisAttribute| match &axis.sub_axis_info {
        None => AxisRef::whole(name(axis.name.as_bytes())),
        Some(part) => AxisRef::part(name(axis.name.as_bytes()), size(part.pre_size), size(part.size)),
    };
    let dimensions = said.dim_shardings.iter();
    let spec = dimensions.map(|dimension| dimension.axes.iter().map(axis).collect());
    Ok(Sharding::new(grid, &PartitionSpec(spec.collect()))?)
}
