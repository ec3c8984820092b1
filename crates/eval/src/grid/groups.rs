//! How collectives split the grid into groups of processes (spec, "Collective ops").

use artifact_core::limit::Limit;
use artifact_ir::attribute::{AxisRef, Mesh, MeshReference, ReplicaGroups};
use artifact_ir::literal::Literal;
use artifact_ir::module::Module;

use super::{Grid, ProcessId};
use crate::error::EvalError;

/// Processes named by one collective; more than any grid has.
const MEMBERS: Limit = Limit::new("size of replica groups", 1 << 20, "processes");

/// How the numbers in groups name processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Replicas; each partition has its own groups.
    CrossReplica,
    /// Partitions; each replica has its own groups.
    CrossPartition,
    /// Replicas; a group has all their partitions.
    CrossReplicaAndPartition,
    /// Processes, by `replica * partitions + partition`.
    FlattenedIds,
}

impl Strategy {
    /// The strategy of `all_gather`, `all_reduce` and `reduce_scatter`.
    pub(crate) fn of_reduction(channel: i64, use_global_device_ids: bool) -> Result<Self, EvalError> {
        match (channel > 0, use_global_device_ids) {
            (false, false) => Ok(Self::CrossReplica),
            (true, false) => Ok(Self::CrossReplicaAndPartition),
            (true, true) => Ok(Self::FlattenedIds),
            (false, true) => Err(EvalError::invalid_input(
                "use_global_device_ids needs a positive channel id",
            )),
        }
    }

    /// The strategy of the other collectives.
    pub(crate) const fn of_exchange(channel: i64) -> Self {
        if channel > 0 {
            Self::CrossPartition
        } else {
            Self::CrossReplica
        }
    }
}

/// The group of `process` under a strategy, as process numbers; `None` when it is in none.
///
/// No groups at all stand for one group of everyone, as XLA has it.
pub(crate) fn group_of(
    grid: &Grid<'_>,
    process: ProcessId,
    strategy: Strategy,
    groups: &[Vec<usize>],
) -> Result<Option<Vec<usize>>, EvalError> {
    let everyone = [(0..id_count(grid, strategy)).collect::<Vec<_>>()];
    let groups = if groups.iter().all(Vec::is_empty) {
        &everyone
    } else {
        groups
    };
    let number = grid.number(process);
    for group in groups {
        if let Some(outside) = group.iter().find(|id| **id >= id_count(grid, strategy)) {
            return Err(EvalError::invalid_input(format!(
                "a group names {outside}, and the grid has {} replicas by {} partitions",
                grid.replicas(),
                grid.partitions
            )));
        }
        let members = members(grid, process, strategy, group);
        if members.contains(&number) {
            return Ok(Some(members));
        }
    }
    Ok(None)
}

/// How many different numbers a group may hold.
fn id_count(grid: &Grid<'_>, strategy: Strategy) -> usize {
    match strategy {
        Strategy::CrossReplica | Strategy::CrossReplicaAndPartition => grid.replicas(),
        Strategy::CrossPartition => grid.partitions,
        Strategy::FlattenedIds => grid.len(),
    }
}

/// The processes that a row of numbers names, as `process` sees them.
fn members(grid: &Grid<'_>, process: ProcessId, strategy: Strategy, group: &[usize]) -> Vec<usize> {
    let number = |replica, partition| grid.number(ProcessId { replica, partition });
    match strategy {
        Strategy::CrossReplica => group.iter().map(|id| number(*id, process.partition)).collect(),
        Strategy::CrossPartition => group.iter().map(|id| number(process.replica, *id)).collect(),
        Strategy::CrossReplicaAndPartition => (0..grid.partitions)
            .flat_map(|partition| group.iter().map(move |id| number(*id, partition)))
            .collect(),
        Strategy::FlattenedIds => group.to_vec(),
    }
}

/// The rows of a `replica_groups` attribute.
pub(crate) fn rows(groups: &ReplicaGroups, module: &Module) -> Result<Vec<Vec<usize>>, EvalError> {
    match groups {
        ReplicaGroups::Dense(literal) => dense_rows(literal),
        ReplicaGroups::MeshAxes(axes) => match &axes.mesh {
            MeshReference::Inline(mesh) => mesh_rows(mesh, &axes.axes),
            MeshReference::Symbol(symbol) => {
                let unknown = || {
                    let message = format!(
                        "replica groups of @{}, which is no mesh, are not evaluated",
                        symbol.root
                    );
                    EvalError::unsupported(message)
                };
                let mesh = module.mesh(&symbol.root).ok_or_else(unknown)?;
                let mesh = &module.meshes[mesh].mesh;
                let listed = (!mesh.device_ids.is_empty()).then(|| Literal::of_i64s(&mesh.device_ids));
                let mesh = Mesh {
                    axes: mesh.axes.clone(),
                    device_ids: listed,
                };
                mesh_rows(&mesh, &axes.axes)
            }
        },
    }
}

/// The rows of a matrix; -1 fills rows that are shorter than others.
pub(crate) fn dense_rows(literal: &Literal) -> Result<Vec<Vec<usize>>, EvalError> {
    MEMBERS.check(literal.element_count())?;
    let values = literal.to_i64s(MEMBERS.max() as usize).unwrap_or_default();
    let columns = literal
        .ty()
        .dims
        .last()
        .and_then(|dim| dim.as_static())
        .unwrap_or(0);
    let row = |row: &[i64]| row.iter().filter_map(|id| usize::try_from(*id).ok()).collect();
    Ok(values.chunks(columns.max(1) as usize).map(row).collect())
}

/// All devices that differ along `axes` only (spec, "Replica groups").
///
/// The grid of devices is seen with every axis cut where a sub-axis begins or ends, the axes of the groups moved last.
fn mesh_rows(mesh: &Mesh, axes: &[AxisRef]) -> Result<Vec<Vec<usize>>, EvalError> {
    let invalid = |what: &str| EvalError::invalid_input(format!("mesh axes of replica groups: {what}"));
    let sizes: Vec<usize> = mesh
        .axes
        .iter()
        .map(|axis| usize::try_from(axis.size).unwrap_or(0))
        .collect();
    let count = sizes
        .iter()
        .try_fold(1_usize, |count, size| count.checked_mul(*size));
    let count = count.ok_or_else(|| invalid("the mesh is too large"))?;
    MEMBERS.check(count as u64)?;
    let devices = match &mesh.device_ids {
        None => (0..count).collect(),
        Some(ids) => dense_rows(ids)?.concat(),
    };
    if devices.len() != count {
        return Err(invalid("device_ids does not name every device"));
    }
    let mut spans = Vec::new();
    for axis in axes {
        let index = mesh.axes.iter().position(|other| other.name == axis.name);
        let index = index.ok_or_else(|| invalid("an axis is not one of the mesh"))?;
        let whole = sizes[index];
        let (before, size) = match axis.sub_axis_info {
            None => (1, whole),
            Some(part) => (
                usize::try_from(part.pre_size).unwrap_or(0),
                usize::try_from(part.size).unwrap_or(0),
            ),
        };
        let cut = before
            .checked_mul(size)
            .filter(|cut| *cut > 0 && whole.is_multiple_of(*cut));
        let after = whole / cut.ok_or_else(|| invalid("a sub-axis does not divide its axis"))?;
        let inner: usize = sizes[index + 1..].iter().product();
        // Going one step along the axis passes this many devices.
        spans.push((size, after * inner));
    }
    // A device's group is told by its position with the coordinates along `spans` set to 0.
    let coordinate = |position: usize, (size, step): (usize, usize)| position / step % size;
    let mut rows: std::collections::BTreeMap<usize, Vec<(Vec<usize>, usize)>> =
        std::collections::BTreeMap::new();
    for (position, device) in devices.into_iter().enumerate() {
        let along: Vec<usize> = spans.iter().map(|span| coordinate(position, *span)).collect();
        let offset: usize = along.iter().zip(&spans).map(|(at, (_, step))| at * step).sum();
        rows.entry(position - offset).or_default().push((along, device));
    }
    Ok(rows
        .into_values()
        .map(|mut row| {
            row.sort();
            row.into_iter().map(|(_, device)| device).collect()
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use artifact_ir::attribute::{MeshAxis, SubAxisInfo};

    use super::*;

    fn check(axes: &[(&str, Option<(i64, i64)>)], rows: &[&[usize]]) {
        let axis = |name: &str, size| MeshAxis {
            name: name.into(),
            size,
        };
        let mesh = Mesh {
            axes: vec![axis("x", 4), axis("y", 2)],
            device_ids: None,
        };
        let axes: Vec<AxisRef> = axes
            .iter()
            .map(|(name, part)| AxisRef {
                name: (*name).into(),
                sub_axis_info: part.map(|(pre_size, size)| SubAxisInfo { pre_size, size }),
            })
            .collect();
        assert_eq!(mesh_rows(&mesh, &axes).unwrap(), rows);
    }

    #[test]
    fn meshes() {
        check(&[("y", None)], &[&[0, 1], &[2, 3], &[4, 5], &[6, 7]]);
        check(&[("x", None)], &[&[0, 2, 4, 6], &[1, 3, 5, 7]]);
        check(&[("y", None), ("x", None)], &[&[0, 2, 4, 6, 1, 3, 5, 7]]);
        check(&[("x", Some((1, 2)))], &[&[0, 4], &[1, 5], &[2, 6], &[3, 7]]);
        check(&[("x", Some((2, 2)))], &[&[0, 2], &[1, 3], &[4, 6], &[5, 7]]);
    }
}
