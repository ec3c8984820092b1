//! From attributes to bytes.

use artifact_ir::attribute::sdy::{MeshOrRef, OpShardingRule, ReductionOp, SdyAttribute, TensorSharding};
use artifact_ir::attribute::{Attribute, AxisRef, SymbolRef};

use super::{Code, Sink};

/// Writes an attribute, its code included; `false`, and nothing written, for one without a code, which is stored as text.
pub(in super::super) fn encode<S: Sink>(sink: &mut S, attribute: &SdyAttribute) -> Result<bool, S::Error> {
    use SdyAttribute as A;
    let Some(code) = code_of(attribute) else {
        return Ok(false);
    };
    sink.varint(code.number());
    match attribute {
        A::ManualAxes(axes) => write_list(sink, &axes.0, |sink, name| {
            sink.attribute(&Attribute::String(name.clone()))
        })?,
        A::MeshAxis(axis) => {
            sink.string(axis.name.as_bytes());
            sink.signed_varint(axis.size);
        }
        A::Mesh(mesh) => {
            write_list(sink, &mesh.axes, |sink, axis| {
                write_own(sink, A::MeshAxis(axis.clone()))
            })?;
            write_numbers(sink, &mesh.device_ids);
        }
        A::SubAxisInfo(info) => {
            sink.signed_varint(info.pre_size);
            sink.signed_varint(info.size);
        }
        A::AxisRef(axis) => {
            sink.string(axis.name.as_bytes());
            let info = axis.sub_axis_info.map(A::SubAxisInfo).map(Attribute::Sdy);
            sink.optional_attribute(info.as_ref())?;
        }
        A::DimensionSharding(sharding) => {
            write_axes(sink, &sharding.axes)?;
            sink.byte(u8::from(sharding.is_closed));
            let priority = sharding
                .priority
                .and_then(|priority| u64::try_from(priority).ok());
            write_optional(sink, priority);
        }
        A::TensorSharding(sharding) => write_tensor_sharding(sink, sharding, code)?,
        A::TensorShardingPerValue(shardings) => write_list(sink, &shardings.0, |sink, sharding| {
            write_own(sink, A::TensorSharding(sharding.clone()))
        })?,
        A::DimMapping(mapping) => write_numbers(sink, &mapping.0),
        A::TensorMapping(mapping) => write_list(sink, &mapping.0, |sink, dim| {
            write_own(sink, A::DimMapping(dim.clone()))
        })?,
        A::OpShardingRule(rule) => write_rule(sink, rule)?,
        A::AxisRefList(list) => write_axes(sink, &list.0)?,
        A::ListOfAxisRefLists(lists) => write_list(sink, &lists.0, |sink, list| {
            write_own(sink, A::AxisRefList(list.clone()))
        })?,
        A::AllToAllParam(param) => {
            write_axes(sink, &param.axes)?;
            sink.signed_varint(param.src_dim);
            sink.signed_varint(param.tgt_dim);
        }
        A::AllToAllParamList(params) => write_list(sink, &params.0, |sink, param| {
            write_own(sink, A::AllToAllParam(param.clone()))
        })?,
        // These have no code.
        A::EdgeValueRef(_)
        | A::AxisToPropagationDetails(_)
        | A::PropagationOneStep(_)
        | A::PropagationEdges(_) => return Ok(false),
    }
    Ok(true)
}

/// The oldest code that holds an attribute.
fn code_of(attribute: &SdyAttribute) -> Option<Code> {
    use SdyAttribute as A;
    Some(match attribute {
        A::ManualAxes(_) => Code::ManualAxes,
        A::MeshAxis(_) => Code::MeshAxis,
        A::Mesh(_) => Code::Mesh,
        A::SubAxisInfo(_) => Code::SubAxisInfo,
        A::AxisRef(_) => Code::AxisRef,
        // A negative priority, which the verifier refuses, has text only.
        A::DimensionSharding(sharding) if sharding.priority.is_some_and(|priority| priority < 0) => {
            return None;
        }
        A::DimensionSharding(_) => Code::DimensionSharding,
        A::TensorSharding(sharding) => match (sharding.unreduced_axes.is_empty(), sharding.reduction_op) {
            (true, _) => Code::TensorSharding,
            (false, ReductionOp::Sum) => Code::TensorShardingUnreduced,
            (false, _) => Code::TensorShardingReduction,
        },
        A::TensorShardingPerValue(shardings) => {
            let unreduced = |sharding: &TensorSharding| !sharding.unreduced_axes.is_empty();
            if shardings.0.iter().any(unreduced) {
                Code::TensorShardingPerValueUnreduced
            } else {
                Code::TensorShardingPerValue
            }
        }
        A::DimMapping(_) => Code::DimMapping,
        A::TensorMapping(_) => Code::TensorMapping,
        A::OpShardingRule(_) => Code::OpShardingRule,
        A::AxisRefList(_) => Code::AxisRefList,
        A::ListOfAxisRefLists(_) => Code::ListOfAxisRefLists,
        A::AllToAllParam(_) => Code::AllToAllParam,
        A::AllToAllParamList(_) => Code::AllToAllParamList,
        A::EdgeValueRef(_)
        | A::AxisToPropagationDetails(_)
        | A::PropagationOneStep(_)
        | A::PropagationEdges(_) => return None,
    })
}

fn write_tensor_sharding<S: Sink>(
    sink: &mut S,
    sharding: &TensorSharding,
    code: Code,
) -> Result<(), S::Error> {
    let mesh = match &sharding.mesh {
        MeshOrRef::Symbol(name) => Attribute::Symbol(SymbolRef::flat(name.clone())),
        MeshOrRef::Inline(mesh) => Attribute::Sdy(SdyAttribute::Mesh(mesh.clone())),
    };
    sink.attribute(&mesh)?;
    write_list(sink, &sharding.dim_shardings, |sink, dim| {
        write_own(sink, SdyAttribute::DimensionSharding(dim.clone()))
    })?;
    write_axes(sink, &sharding.replicated_axes)?;
    if code != Code::TensorSharding {
        write_axes(sink, &sharding.unreduced_axes)?;
    }
    if code == Code::TensorShardingReduction {
        sink.signed_varint(sharding.reduction_op.number().into());
    }
    Ok(())
}

fn write_rule<S: Sink>(sink: &mut S, rule: &OpShardingRule) -> Result<(), S::Error> {
    write_numbers(sink, &rule.factor_sizes);
    for mappings in [&rule.operand_mappings, &rule.result_mappings] {
        write_list(sink, mappings, |sink, mapping| {
            write_own(sink, SdyAttribute::TensorMapping(mapping.clone()))
        })?;
    }
    write_numbers(sink, &rule.reduction_factors);
    write_numbers(sink, &rule.need_replication_factors);
    write_numbers(sink, &rule.permutation_factors);
    write_numbers(sink, &rule.blocked_propagation_factors);
    sink.byte(u8::from(rule.is_custom_rule));
    Ok(())
}

fn write_list<S: Sink, T>(
    sink: &mut S,
    items: &[T],
    mut write: impl FnMut(&mut S, &T) -> Result<(), S::Error>,
) -> Result<(), S::Error> {
    sink.varint(items.len() as u64);
    items.iter().try_for_each(|item| write(sink, item))
}

fn write_numbers(sink: &mut impl Sink, numbers: &[i64]) {
    sink.varint(numbers.len() as u64);
    numbers.iter().for_each(|number| sink.signed_varint(*number));
}

fn write_axes<S: Sink>(sink: &mut S, axes: &[AxisRef]) -> Result<(), S::Error> {
    write_list(sink, axes, |sink, axis| {
        write_own(sink, SdyAttribute::AxisRef(axis.clone()))
    })
}

fn write_own<S: Sink>(sink: &mut S, attribute: SdyAttribute) -> Result<(), S::Error> {
    sink.attribute(&Attribute::Sdy(attribute))
}

fn write_optional(sink: &mut impl Sink, number: Option<u64>) {
    sink.varint(number.map_or(0, |number| (number << 1) | 1));
}
