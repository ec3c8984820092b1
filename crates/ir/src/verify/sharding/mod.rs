//! Meshes and shardings: what they may be for a mesh and a type (`verifiers.cc` of Shardy).
//!
//! Names of meshes are those of the module. While an operation is built outside of one nothing is known about them, and only
//! shardings with their mesh in place are checked.

mod attributes;
mod axes;
mod collective;
pub(crate) mod rule;

use std::collections::HashSet;

use crate::attribute::ByteString;
use crate::attribute::sdy::{Mesh, MeshOrRef, TensorSharding, TensorShardingPerValue};
use crate::diagnostic::Diagnostic;
use crate::module::Module;
use crate::types::Type;
use crate::verify::Findings;
use crate::verify::context::{OpError, OpResult, ensure};

pub(crate) use attributes::{ManualAxesInForce, Place, check_operation, check_parameter};
pub(crate) use axes::{MeshAxes, Shown, Span, Used};
pub(crate) use collective::Values;

/// Most devices of a mesh that lists them: far more than any cluster has.
const DEVICES_MAX: usize = 1 << 24;

/// Checks the meshes of a module.
pub(super) fn check_meshes(module: &Module, findings: &mut Findings) {
    for (_, global) in module.meshes.iter() {
        if let Err(error) = check_mesh(&global.mesh) {
            findings.report(Diagnostic {
                message: format!("'sdy.mesh' op @{}: {error}", global.name),
                source: global.source,
                location: global.location,
            });
        }
    }
}

/// Checks axes and devices of a mesh.
///
/// # Errors
/// The first rule that it breaks.
pub fn check_mesh(mesh: &Mesh) -> Result<(), OpError> {
    MeshAxes::of(mesh)?;
    let mut names = HashSet::new();
    for axis in &mesh.axes {
        let size = axis.size;
        ensure!(size >= 1, "axis size must be at least 1, got: {size}");
        ensure!(names.insert(&axis.name), "duplicate axis name: {:?}", axis.name);
    }
    let devices = &mesh.device_ids;
    if let Some(negative) = devices.iter().find(|id| **id < 0) {
        return Err(OpError::new(format!(
            "device id must be non-negative, got: {negative}"
        )));
    }
    if mesh.axes.is_empty() {
        ensure!(
            devices.len() <= 1,
            "axes is empty and device_ids has more than one element"
        );
        return Ok(());
    }
    let count = mesh.device_count();
    ensure!(
        count.is_some(),
        "total product of axis sizes does not fit 64 bits"
    );
    if devices.is_empty() {
        return Ok(());
    }
    ensure!(
        devices.len() <= DEVICES_MAX && count == Some(devices.len() as u64),
        "total product of axis sizes must match total number of device ids, got: {} != {}",
        count.unwrap_or_default(),
        devices.len()
    );
    let mut sorted = devices.clone();
    sorted.sort_unstable();
    let iota = sorted.iter().zip(0_i64..).all(|(id, index)| *id == index);
    ensure!(iota, "sorted device ids must be iota(product(axes))");
    ensure!(
        sorted != *devices,
        "if the ordered device ids are the same as iota(product(axes)), no need to specify them for simplicity"
    );
    Ok(())
}

/// The mesh of a sharding, one in place checked; `None` while no module is known.
pub(crate) fn mesh_of<'a>(mesh: &'a MeshOrRef, module: Option<&'a Module>) -> OpResult<Option<&'a Mesh>> {
    match (mesh, module) {
        (MeshOrRef::Inline(mesh), _) => check_mesh(mesh).map(|()| Some(mesh)),
        (MeshOrRef::Symbol(_), None) => Ok(None),
        (MeshOrRef::Symbol(name), Some(module)) => match module.resolve_mesh(mesh) {
            Some(mesh) => Ok(Some(mesh)),
            None => Err(OpError::new(format!("unknown mesh: @{name}"))),
        },
    }
}

/// Checks a sharding for a value of type `ty`; `None` for an operation without results.
pub(crate) fn check_sharding(
    sharding: &TensorSharding,
    ty: Option<&Type>,
    module: Option<&Module>,
) -> OpResult<()> {
    let Some(mesh) = mesh_of(&sharding.mesh, module)? else {
        return Ok(());
    };
    let empty = sharding.dim_shardings.is_empty()
        && sharding.replicated_axes.is_empty()
        && sharding.unreduced_axes.is_empty();
    let whole = sharding.dim_shardings.iter().all(|dim| dim.axes.is_empty());
    if mesh.maximal_device().is_some() || (ty.is_none() && whole) {
        ensure!(
            empty,
            "a maximal sharding can only have a sharding with rank 0 and no replicated or unreduced axes"
        );
        return Ok(());
    }
    let tensor = match ty {
        Some(Type::Tuple(items)) => {
            ensure!(
                items.len() == 1,
                "ops can only have a sharding for a tuple of size 1, but a value has {} components",
                items.len()
            );
            items.first().and_then(Type::as_tensor)
        }
        Some(ty @ Type::UnrankedTensor(_)) => {
            return Err(OpError::new(format!(
                "only ranked tensors can have a sharding, but the type is '{ty}'"
            )));
        }
        Some(ty) => ty.as_tensor(),
        None => None,
    };
    let Some(tensor) = tensor else {
        ensure!(
            empty,
            "non-shaped tensors can only have a sharding with rank 0 and no replicated or unreduced axes"
        );
        return Ok(());
    };
    let rank = sharding.dim_shardings.len();
    ensure!(
        rank == tensor.rank(),
        "sharding doesn't match tensor rank: {rank} != {}",
        tensor.rank()
    );
    check_axes(sharding, mesh)
}

/// Every axis is there, is used once, and stands in its order.
fn check_axes(sharding: &TensorSharding, mesh: &Mesh) -> OpResult<()> {
    let axes = MeshAxes::of(mesh)?;
    let mut used = Used::default();
    for (dim, sharding) in sharding.dim_shardings.iter().enumerate() {
        if let Some(priority) = sharding.priority {
            ensure!(priority >= 0, "dim {dim} has a negative priority");
            ensure!(
                !sharding.is_closed || !sharding.axes.is_empty(),
                "dim {dim} is empty and closed but has a priority"
            );
        }
        used.add(&axes, &sharding.axes)?;
    }
    used.add_sorted(&axes, &sharding.replicated_axes, "replicated")?;
    used.add_sorted(&axes, &sharding.unreduced_axes, "unreduced")?;
    Ok(())
}

/// Checks one sharding for each value. An operation without results may have one that says on which device it runs.
pub(crate) fn check_per_value(
    shardings: &TensorShardingPerValue,
    types: &[&Type],
    module: Option<&Module>,
) -> OpResult<()> {
    let TensorShardingPerValue(shardings) = shardings;
    if let ([only], []) = (shardings.as_slice(), types) {
        let maximal = mesh_of(&only.mesh, module)?.is_none_or(|mesh| mesh.maximal_device().is_some());
        if maximal || only.dim_shardings.iter().all(|dim| dim.axes.is_empty()) {
            return check_sharding(only, None, module);
        }
    }
    ensure!(
        shardings.len() == types.len(),
        "shardings don't match number of values: {} shardings vs {} values",
        shardings.len(),
        types.len()
    );
    for (index, (sharding, ty)) in shardings.iter().zip(types).enumerate() {
        check_sharding(sharding, Some(ty), module)
            .map_err(|error| OpError::new(format!("{index} - {error}")))?;
    }
    Ok(())
}

/// The names of all axes that a sharding uses.
pub(crate) fn axis_names(sharding: &TensorSharding) -> impl Iterator<Item = &ByteString> {
    let dims = sharding.dim_shardings.iter().flat_map(|dim| &dim.axes);
    dims.chain(&sharding.replicated_axes)
        .chain(&sharding.unreduced_axes)
        .map(|axis| &axis.name)
}
