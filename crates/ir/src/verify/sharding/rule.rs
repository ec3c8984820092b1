//! Sharding rules of operations, and the history of propagation through them.

use std::collections::HashSet;

use crate::attribute::sdy::{EdgeNodeType, EdgeValueRef, OpShardingRule, PropagationEdges, TensorMapping};
use crate::types::Type;
use crate::verify::context::{OpError, OpResult, ensure};

/// Checks a rule for an operation with these operands and results.
pub(crate) fn check_rule(rule: &OpShardingRule, operands: &[&Type], results: &[&Type]) -> OpResult<()> {
    let in_operands = check_mappings(rule, &rule.operand_mappings, operands, "operand")?;
    let in_results = check_mappings(rule, &rule.result_mappings, results, "result")?;
    let unused = in_operands.iter().zip(&in_results).position(|(a, b)| !a && !b);
    if let Some(factor) = unused {
        return Err(OpError::new(format!(
            "has factor #{factor} that isn't used in operand and result mappings"
        )));
    }
    let kinds = [
        &rule.reduction_factors,
        &rule.need_replication_factors,
        &rule.permutation_factors,
    ];
    let mut special = HashSet::new();
    for factors in kinds {
        check_factors(factors, rule.factor_sizes.len())?;
        for factor in factors {
            ensure!(
                special.insert(factor),
                "a factor can only be in one of the reduction, need replication, or permutation factor sets"
            );
        }
    }
    check_factors(&rule.blocked_propagation_factors, rule.factor_sizes.len())?;
    let reduced = |factor: &i64| {
        usize::try_from(*factor)
            .ok()
            .and_then(|factor| in_results.get(factor).copied())
    };
    ensure!(
        !rule
            .reduction_factors
            .iter()
            .any(|factor| reduced(factor) == Some(true)),
        "reduction factor cannot be in result mappings"
    );
    Ok(())
}

/// Checks one mapping for each value; which factors they use.
fn check_mappings(
    rule: &OpShardingRule,
    mappings: &[TensorMapping],
    types: &[&Type],
    kind: &str,
) -> OpResult<Vec<bool>> {
    ensure!(
        types.len() == mappings.len(),
        "number of {kind}s and mappings must match: {} != {}",
        types.len(),
        mappings.len()
    );
    ensure!(
        !mappings.is_empty(),
        "number of {kind}s mappings cannot be 0: sharding rules are for operations with operands and results"
    );
    let mut used = vec![false; rule.factor_sizes.len()];
    for (index, (mapping, ty)) in mappings.iter().zip(types).enumerate() {
        check_mapping(rule, mapping, ty, &mut used)
            .map_err(|error| OpError::new(format!("{kind} {index} - {error}")))?;
    }
    Ok(used)
}

fn check_mapping(
    rule: &OpShardingRule,
    mapping: &TensorMapping,
    ty: &Type,
    used: &mut [bool],
) -> OpResult<()> {
    let tensor = ty.as_tensor().filter(|tensor| tensor.is_static());
    let Some(tensor) = tensor else {
        return Err(OpError::new(format!(
            "expected a ranked tensor with a static shape, but got '{ty}'"
        )));
    };
    let rank = mapping.0.len();
    ensure!(
        rank == tensor.rank(),
        "mapping rank must match: {rank} != {}",
        tensor.rank()
    );
    let mut here = HashSet::new();
    for dim in &mapping.0 {
        ensure!(!dim.0.is_empty(), "dim mapping must have at least one factor");
        for factor in &dim.0 {
            let position = usize::try_from(*factor)
                .ok()
                .filter(|factor| *factor < used.len());
            let Some(position) = position else {
                return Err(OpError::new(format!(
                    "expecting factor indices to be within 0<=...<num_factors; received: {factor}, num_factors: {}",
                    used.len()
                )));
            };
            ensure!(
                here.insert(position),
                "cannot reuse factors for the same tensor value"
            );
            ensure!(
                dim.0.len() == 1 || rule.factor_sizes[position] != 1,
                "dim mapping can't have a factor of size 1 if there are multiple factors"
            );
            used[position] = true;
        }
    }
    Ok(())
}

fn check_factors(factors: &[i64], count: usize) -> OpResult<()> {
    ensure!(factors.is_sorted(), "indices of special factors must be sorted");
    ensure!(
        factors.windows(2).all(|pair| pair[0] != pair[1]),
        "indices of special factors must be unique"
    );
    for factor in factors {
        ensure!(*factor >= 0, "index must be non-negative");
        let inside = usize::try_from(*factor).is_ok_and(|factor| factor < count);
        ensure!(inside, "index must be less than {count}, got: {factor}");
    }
    Ok(())
}

/// Checks the history of propagation through an operation with so many operands and results.
pub(crate) fn check_edges(edges: &PropagationEdges, operands: usize, results: usize) -> OpResult<()> {
    let mut steps = HashSet::new();
    for step in &edges.0 {
        let index = step.step_index;
        ensure!(index >= 0, "propagation edges have negative step index: {index}");
        ensure!(
            steps.insert(index),
            "propagation edges have duplicate step index: {index}"
        );
        for entry in &step.axis_entries {
            check_end(&entry.source, operands, results)?;
            let mut seen = HashSet::new();
            for target in &entry.targets {
                check_end(target, operands, results)?;
                ensure!(
                    *target != entry.source,
                    "propagation edges have a source that is the same as a target"
                );
                ensure!(
                    seen.insert(target),
                    "propagation edges have duplicate targets for step index: {index}"
                );
            }
        }
    }
    Ok(())
}

fn check_end(end: &EdgeValueRef, operands: usize, results: usize) -> OpResult<()> {
    let count = match end.kind {
        EdgeNodeType::Operand => operands,
        EdgeNodeType::Result => results,
    };
    let inside = usize::try_from(end.index).is_ok_and(|index| index < count);
    ensure!(
        inside,
        "expected a value ref to have a {} index in range [0, {count}), got: {}",
        end.kind.name(),
        end.index
    );
    Ok(())
}
