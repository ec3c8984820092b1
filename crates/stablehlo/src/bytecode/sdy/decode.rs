//! From bytes to attributes.

use artifact_ir::attribute::sdy::{
    AllToAllParam, AllToAllParamList, AxisRefList, DimMapping, DimensionSharding, ListOfAxisRefLists,
    ManualAxes, Mesh, MeshOrRef, OpShardingRule, ReductionOp, SdyAttribute, TensorMapping, TensorSharding,
    TensorShardingPerValue,
};
use artifact_ir::attribute::{Attribute, AxisRef, ByteString, MeshAxis, SubAxisInfo, SymbolRef};

use super::{Code, Source, Unexpected};

/// Reads an attribute, its code included.
pub(in super::super) fn decode<S: Source>(source: &mut S) -> Result<SdyAttribute, S::Error> {
    use SdyAttribute as A;
    let number = source.varint()?;
    let code = Code::from_number(number).ok_or(Unexpected::Code(number))?;
    Ok(match code {
        Code::ManualAxes => A::ManualAxes(ManualAxes(list(source, string_attribute)?)),
        Code::MeshAxis => A::MeshAxis(MeshAxis {
            name: string(source)?,
            size: source.signed_varint()?,
        }),
        Code::Mesh => A::Mesh(Mesh::new(
            list(source, mesh_axis)?,
            list(source, S::signed_varint)?,
        )),
        Code::SubAxisInfo => A::SubAxisInfo(SubAxisInfo {
            pre_size: source.signed_varint()?,
            size: source.signed_varint()?,
        }),
        Code::AxisRef => A::AxisRef(AxisRef {
            name: string(source)?,
            sub_axis_info: optional(source)?
                .map(|index| sub_axis(source, index))
                .transpose()?,
        }),
        Code::DimensionSharding => A::DimensionSharding(read_dimension_sharding(source)?),
        Code::TensorSharding | Code::TensorShardingUnreduced | Code::TensorShardingReduction => {
            A::TensorSharding(read_tensor_sharding(source, code)?)
        }
        Code::TensorShardingPerValue | Code::TensorShardingPerValueUnreduced => {
            A::TensorShardingPerValue(TensorShardingPerValue(list(source, tensor_sharding)?))
        }
        Code::DimMapping => A::DimMapping(DimMapping(list(source, S::signed_varint)?)),
        Code::TensorMapping => A::TensorMapping(TensorMapping(list(source, dim_mapping)?)),
        Code::OpShardingRule => A::OpShardingRule(Box::new(OpShardingRule {
            factor_sizes: list(source, S::signed_varint)?,
            operand_mappings: list(source, tensor_mapping)?,
            result_mappings: list(source, tensor_mapping)?,
            reduction_factors: list(source, S::signed_varint)?,
            need_replication_factors: list(source, S::signed_varint)?,
            permutation_factors: list(source, S::signed_varint)?,
            blocked_propagation_factors: list(source, S::signed_varint)?,
            is_custom_rule: boolean(source)?,
        })),
        Code::AxisRefList => A::AxisRefList(AxisRefList(list(source, axis_ref)?)),
        Code::ListOfAxisRefLists => A::ListOfAxisRefLists(ListOfAxisRefLists(list(source, axis_ref_list)?)),
        Code::AllToAllParam => A::AllToAllParam(AllToAllParam {
            axes: list(source, axis_ref)?,
            src_dim: source.signed_varint()?,
            tgt_dim: source.signed_varint()?,
        }),
        Code::AllToAllParamList => A::AllToAllParamList(AllToAllParamList(list(source, all_to_all_param)?)),
    })
}

fn read_dimension_sharding<S: Source>(source: &mut S) -> Result<DimensionSharding, S::Error> {
    let axes = list(source, axis_ref)?;
    let is_closed = boolean(source)?;
    let priority = optional(source)?
        .map(|priority| i64::try_from(priority).map_err(|_| Unexpected::Number { field: "priority" }))
        .transpose()?;
    Ok(DimensionSharding {
        axes,
        is_closed,
        priority,
    })
}

fn read_tensor_sharding<S: Source>(source: &mut S, code: Code) -> Result<TensorSharding, S::Error> {
    let index = source.varint()?;
    let mut sharding = TensorSharding {
        mesh: match source.attribute(index)? {
            Attribute::Symbol(SymbolRef { root, nested }) if nested.is_empty() => MeshOrRef::Symbol(root),
            Attribute::Sdy(SdyAttribute::Mesh(mesh)) => MeshOrRef::Inline(mesh),
            _ => return Err(Unexpected::Attribute { expected: "a mesh" }.into()),
        },
        dim_shardings: list(source, dimension_sharding)?,
        replicated_axes: list(source, axis_ref)?,
        unreduced_axes: Vec::new(),
        reduction_op: ReductionOp::Sum,
    };
    if code != Code::TensorSharding {
        sharding.unreduced_axes = list(source, axis_ref)?;
    }
    if code == Code::TensorShardingReduction {
        let number = source.signed_varint()?;
        let op = ReductionOp::from_number(number.into()).ok_or(Unexpected::Number { field: "reduction" })?;
        // A reduction of nothing says nothing.
        if !sharding.unreduced_axes.is_empty() {
            sharding.reduction_op = op;
        }
    }
    Ok(sharding)
}

/// A count and so many items. No memory is reserved for the count: each item takes a byte at least.
fn list<S: Source, T>(
    source: &mut S,
    mut item: impl FnMut(&mut S) -> Result<T, S::Error>,
) -> Result<Vec<T>, S::Error> {
    let count = source.varint()?;
    (0..count).map(|_| item(source)).collect()
}

/// A number that may be absent: doubled, plus 1 where it is there.
fn optional<S: Source>(source: &mut S) -> Result<Option<u64>, S::Error> {
    let number = source.varint()?;
    Ok((number & 1 == 1).then_some(number >> 1))
}

fn boolean<S: Source>(source: &mut S) -> Result<bool, S::Error> {
    Ok(source.byte()? != 0)
}

fn string<S: Source>(source: &mut S) -> Result<ByteString, S::Error> {
    let index = source.varint()?;
    source.string(index)
}

fn string_attribute<S: Source>(source: &mut S) -> Result<ByteString, S::Error> {
    let index = source.varint()?;
    match source.attribute(index)? {
        Attribute::String(string) => Ok(string),
        _ => Err(Unexpected::Attribute { expected: "a string" }.into()),
    }
}

fn sub_axis<S: Source>(source: &mut S, index: u64) -> Result<SubAxisInfo, S::Error> {
    match source.attribute(index)? {
        Attribute::Sdy(SdyAttribute::SubAxisInfo(info)) => Ok(info),
        _ => Err(Unexpected::Attribute {
            expected: "a part of an axis",
        }
        .into()),
    }
}

/// Declares readers of attributes that are numbered in the file.
macro_rules! numbered {
    ($($name:ident: $variant:ident($ty:ty), $expected:literal;)*) => {$(
        fn $name<S: Source>(source: &mut S) -> Result<$ty, S::Error> {
            let index = source.varint()?;
            match source.attribute(index)? {
                Attribute::Sdy(SdyAttribute::$variant(value)) => Ok(value),
                _ => Err(Unexpected::Attribute { expected: $expected }.into()),
            }
        }
    )*};
}

numbered! {
    mesh_axis: MeshAxis(MeshAxis), "an axis of a mesh";
    axis_ref: AxisRef(AxisRef), "a reference to an axis";
    axis_ref_list: AxisRefList(AxisRefList), "a list of axes";
    dimension_sharding: DimensionSharding(DimensionSharding), "the sharding of a dimension";
    tensor_sharding: TensorSharding(TensorSharding), "a sharding";
    dim_mapping: DimMapping(DimMapping), "the factors of a dimension";
    tensor_mapping: TensorMapping(TensorMapping), "the factors of a tensor";
    all_to_all_param: AllToAllParam(AllToAllParam), "axes with dimensions";
}
