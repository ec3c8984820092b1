//! Groups of processes and channels (spec, "all_gather" and the other collectives).

use std::collections::HashSet;

use crate::attribute::{ChannelHandle, MeshReference, ReplicaGroups, SourceTargetPairs};
use crate::literal::Literal;
use crate::module::Module;
use crate::verify::context::{OpContext, OpError, OpResult, ensure};
use crate::verify::sharding::MeshAxes;

/// Most process numbers that groups may list: far more than any cluster has.
const PROCESSES_MAX: usize = 1 << 20;

/// What an operation demands of its groups.
#[derive(Clone, Copy, Default)]
pub(super) struct GroupRules {
    /// Whether all groups must have one size, so that no row may be padded with -1.
    pub(super) one_size: bool,
    /// Whether groups hold global device numbers, and so cannot be empty.
    pub(super) global: bool,
    /// The size that each group must have.
    pub(super) size: Option<u64>,
}

/// Checks groups (`all_gather_c2`, `_c4`; `all_reduce_c1` to `_c3`; `all_to_all_c5`, `_c7`, `_c8`).
pub(super) fn check(groups: &ReplicaGroups, rules: GroupRules, cx: &OpContext<'_>) -> OpResult<()> {
    match groups {
        ReplicaGroups::Dense(matrix) => check_matrix(matrix, rules),
        ReplicaGroups::MeshAxes(axes) => check_axes(axes, cx.module),
    }
}

fn check_axes(axes: &crate::attribute::ReplicaGroupMeshAxes, module: Option<&Module>) -> OpResult<()> {
    match &axes.mesh {
        MeshReference::Inline(mesh) => {
            for axis in &axes.axes {
                ensure!(
                    mesh.axes.iter().any(|known| known.name == axis.name),
                    "axis {:?} of replica_groups is not in the mesh",
                    axis.name
                );
            }
            Ok(())
        }
        MeshReference::Symbol(symbol) => {
            if let Some((module, mesh)) = module.and_then(|module| Some((module, module.mesh(&symbol.root)?)))
            {
                return MeshAxes::of(&module.meshes[mesh].mesh)?
                    .spans(&axes.axes)
                    .map(|_| ());
            }
            let known = module.is_none_or(|module| {
                module
                    .foreign
                    .iter()
                    .any(|global| global.symbol.as_ref() == Some(&symbol.root))
                    // Any symbol will do for upstream.
                    || module.function(&symbol.root).is_some()
            });
            ensure!(known, "replica_groups: mesh symbol '{}' not found", symbol.root);
            Ok(())
        }
    }
}

fn process_ids(matrix: &Literal) -> OpResult<Vec<i64>> {
    matrix.to_i64s(PROCESSES_MAX).ok_or_else(|| {
        OpError::new(format!(
            "replica_groups must be at most {PROCESSES_MAX} integers, but is '{}'",
            matrix.ty()
        ))
    })
}

fn check_matrix(matrix: &Literal, rules: GroupRules) -> OpResult<()> {
    let ids = process_ids(matrix)?;
    let shape = matrix.ty().static_shape().unwrap_or_default();
    let [rows, columns] = shape.as_slice() else {
        return Err(OpError::new(format!(
            "replica_groups must be a matrix, but is '{}'",
            matrix.ty()
        )));
    };
    ensure!(
        !(rules.global && ids.is_empty()),
        "replica_groups must not be empty where use_global_device_ids is set"
    );
    let mut seen = HashSet::new();
    for id in ids {
        if id == -1 && !rules.one_size {
            continue;
        }
        ensure!(id >= 0, "replica id {id} is not valid here");
        ensure!(seen.insert(id), "replica id #{id} is seen more than once");
    }
    if let Some(missing) = (0..seen.len() as i64).find(|id| !seen.contains(id)) {
        return Err(OpError::new(format!(
            "replica id #{missing} is not in any of the replica groups"
        )));
    }
    if let Some(size) = rules.size {
        ensure!(
            *rows > 0 && *columns == size,
            "the size of each group in replica_groups must be {size}, but is {columns}"
        );
    }
    Ok(())
}

/// Groups of `collective_broadcast`: each process at most once (C1), none negative (C2); they need not be all.
pub(super) fn check_broadcast(groups: &ReplicaGroups, cx: &OpContext<'_>) -> OpResult<()> {
    let ReplicaGroups::Dense(matrix) = groups else {
        return check(groups, GroupRules::default(), cx);
    };
    let mut seen = HashSet::new();
    for id in process_ids(matrix)? {
        ensure!(id >= 0, "replica ids must not be negative, but got {id} (C2)");
        ensure!(seen.insert(id), "replica id #{id} is seen more than once (C1)");
    }
    Ok(())
}

/// Each process sends at most once and receives at most once (`collective_permute_c1` to `_c4`).
pub(super) fn check_pairs(pairs: &SourceTargetPairs) -> OpResult<()> {
    let (mut sources, mut targets) = (HashSet::new(), HashSet::new());
    for [source, target] in &pairs.0 {
        ensure!(
            *source >= 0 && *target >= 0,
            "process ids in source_target_pairs must not be negative, but got [{source}, {target}] (C4)"
        );
        ensure!(
            sources.insert(source),
            "process {source} is a source in source_target_pairs more than once (C2)"
        );
        ensure!(
            targets.insert(target),
            "process {target} is a target in source_target_pairs more than once (C3)"
        );
    }
    Ok(())
}

/// A channel is named where global device numbers are used (`all_reduce_c4`, `reduce_scatter_c6`).
pub(super) fn check_channel(channel: Option<ChannelHandle>, global: bool) -> OpResult<()> {
    let id = channel.map_or(0, |channel| channel.handle);
    ensure!(
        !global || id > 0,
        "the channel id must be positive where use_global_device_ids is set, but is {id}"
    );
    Ok(())
}
