//! Shardings where they are attached: to arguments and results of functions, to operations, and in bodies that are manual on
//! some axes.

use std::collections::HashMap;

use super::{axis_names, check_per_value, check_sharding, collective, rule};
use crate::attribute::sdy::{SdyAttribute, TensorSharding, TensorShardingPerValue};
use crate::attribute::{Attribute, ByteString};
use crate::module::{Module, Operation, Parameter};
use crate::op::{Op, Sharding};
use crate::types::Type;
use crate::verify::context::{OpError, OpResult, ensure};

/// The sharding of an argument or a result.
pub(crate) const SHARDING: &str = "sdy.sharding";
const SHARDING_RULE: &str = "sdy.sharding_rule";
const PROPAGATION_EDGES: &str = "sdy.propagation_edges";

/// Checks the sharding of a function's argument or result.
pub(crate) fn check_parameter(parameter: &Parameter, module: Option<&Module>) -> OpResult<()> {
    match parameter.attributes.get(SHARDING) {
        None => Ok(()),
        Some(Attribute::Sdy(SdyAttribute::TensorSharding(sharding))) => {
            check_sharding(sharding, Some(&parameter.ty), module)
        }
        Some(_) => Err(OpError::new(
            "should have a sharding attribute of type TensorShardingAttr",
        )),
    }
}

/// The axes on which bodies around a place are manual.
#[derive(Debug, Default)]
pub(crate) struct ManualAxesInForce {
    counts: HashMap<ByteString, usize>,
}

impl ManualAxesInForce {
    /// Enters the region of an operation.
    pub(crate) fn enter(&mut self, op: &Op) {
        for axis in manual_axes(op) {
            *self.counts.entry(axis.clone()).or_default() += 1;
        }
    }

    /// Leaves it again.
    pub(crate) fn leave(&mut self, op: &Op) {
        for axis in manual_axes(op) {
            if let Some(count) = self.counts.get_mut(axis) {
                *count = count.saturating_sub(1);
            }
        }
    }

    fn check<'a>(&self, axes: impl IntoIterator<Item = &'a ByteString>) -> OpResult<()> {
        if self.counts.is_empty() {
            return Ok(());
        }
        for axis in axes {
            let bound = self.counts.get(axis).is_some_and(|count| *count > 0);
            ensure!(
                !bound,
                "operates on axis {axis:?} which is already bound by a parent sdy.manual_computation op"
            );
        }
        Ok(())
    }
}

fn manual_axes(op: &Op) -> &[ByteString] {
    match op {
        Op::Sharding(Sharding::ManualComputation(op)) => &op.manual_axes.0,
        _ => &[],
    }
}

/// Checks what an operation says about sharding: in attributes that any may have, and in its own as far as they depend on the
/// place. Whether they fit the types of an operation of the dialect is among its own rules.
pub(crate) fn check_operation(
    operation: &Operation,
    operands: &[&Type],
    results: &[&Type],
    place: &Place<'_>,
) -> OpResult<()> {
    if !operation.attributes.is_empty() {
        check_attributes(operation, operands, results, place)?;
    }
    match &operation.op {
        Op::Sharding(op) => check_own(op, operation, place),
        _ => Ok(()),
    }
}

fn check_attributes(
    operation: &Operation,
    operands: &[&Type],
    results: &[&Type],
    place: &Place<'_>,
) -> OpResult<()> {
    let module = place.module;
    match operation.attributes.get(SHARDING) {
        None => {}
        Some(Attribute::Sdy(SdyAttribute::TensorShardingPerValue(shardings))) => {
            check_per_value(shardings, results, module)
                .map_err(|error| OpError::new(format!("result {error}")))?;
            place.manual.check(shardings.0.iter().flat_map(axis_names))?;
        }
        Some(_) => {
            return Err(OpError::new(
                "should have a sharding attribute of type TensorShardingPerValueAttr",
            ));
        }
    }
    match operation.attributes.get(SHARDING_RULE) {
        None => {}
        Some(Attribute::Sdy(SdyAttribute::OpShardingRule(rule))) => {
            rule::check_rule(rule, operands, results)?;
        }
        Some(_) => {
            return Err(OpError::new(
                "should have a sharding rule attribute of type OpShardingRuleAttr for attr named 'sdy.sharding_rule'",
            ));
        }
    }
    match operation.attributes.get(PROPAGATION_EDGES) {
        None => {}
        Some(Attribute::Sdy(SdyAttribute::PropagationEdges(edges))) => {
            rule::check_edges(edges, operands.len(), results.len())?;
        }
        Some(_) => {
            return Err(OpError::new(
                "should have a propagation edges attribute of type PropagationEdgesAttr for attr named \
                 'sdy.propagation_edges'",
            ));
        }
    }
    Ok(())
}

/// Where an operation stands.
pub(crate) struct Place<'a> {
    /// For the names of meshes.
    pub(crate) module: Option<&'a Module>,
    /// For what is manual already.
    pub(crate) manual: &'a ManualAxesInForce,
    /// What is known of the sharding of a value.
    pub(crate) values: collective::Values<'a>,
}

fn check_own(op: &Sharding, operation: &Operation, place: &Place<'_>) -> OpResult<()> {
    let manual = place.manual;
    let all = |shardings: &TensorShardingPerValue| manual.check(shardings.0.iter().flat_map(axis_names));
    match op {
        Sharding::ManualComputation(op) => {
            manual.check(&op.manual_axes.0)?;
            all(&op.in_shardings)?;
            all(&op.out_shardings)
        }
        Sharding::NamedComputation(op) => {
            let lists = op.in_shardings.iter().chain(&op.out_shardings);
            lists.into_iter().try_for_each(all)
        }
        _ => {
            let sharding: Option<&TensorSharding> = op.out_sharding();
            manual.check(sharding.into_iter().flat_map(axis_names))?;
            collective::check(op, operation, place)
        }
    }
}
