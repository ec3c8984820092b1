//! The attributes of a CHLO operation as those of a composite.
//!
//! They stand under their own names, defaults left out. What the portable form cannot hold, or gives back as something else, is
//! written in other terms, as other exporters do: lists as tensors, dimension numbers of `ragged_dot` as six of them, precisions
//! by name, a complex number by its text.

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_ir::attribute::{
    Attribute, AttributeValue, DenseArray, DotDimensionNumbers, NamedAttributes, Precision, PrecisionConfig,
    RaggedDotDimensionNumbers, StablehloAttribute,
};
use artifact_ir::literal::Literal;
use artifact_ir::op::{Chlo, Op, OpSpec};
use artifact_ir::types::{ElementType, TensorType};

const RAGGED_DOT_NUMBERS: &str = "ragged_dot_dimension_numbers";
const PRECISIONS: &str = "precision_config";
const VALUE: &str = "value";

/// Attributes that are lists.
const LISTS: [&str; 3] = [
    "broadcast_dimensions",
    "operand_segment_sizes",
    "result_segment_sizes",
];

/// Longest list of dimensions that is read: no tensor has so many.
const LIST_MAX: usize = 1 << 10;

/// The attributes of a composite that stands for the operation.
pub(crate) fn encode(op: &Chlo) -> NamedAttributes {
    let own = Op::from(op.clone()).attributes();
    let encoded = own.iter().map(|(name, value)| {
        let value = match (op, value) {
            (Chlo::RaggedDot(op), _) if **name == *RAGGED_DOT_NUMBERS => {
                numbers_to_lists(&op.ragged_dot_dimension_numbers)
            }
            (Chlo::RaggedDot(op), _) if **name == *PRECISIONS => {
                precisions_to_names(op.precision_config.as_ref())
            }
            (Chlo::ConstantLike(_), Attribute::Foreign(text)) => Attribute::string(text),
            (_, Attribute::DenseArray(list)) => list_to_tensor(list),
            _ => value.clone(),
        };
        (name.clone(), value)
    });
    encoded.collect()
}

/// The operation that a composite of this name and these attributes stands for; `None` if there is none, or if an attribute is
/// missing, malformed or unknown.
pub(crate) fn decode(name: &str, attributes: &NamedAttributes) -> Option<Chlo> {
    let spec = OpSpec::find(name).filter(|spec| spec.name.starts_with("chlo."))?;
    let mut own = attributes.clone();
    match name {
        "chlo.ragged_dot" => {
            replace(&mut own, RAGGED_DOT_NUMBERS, numbers_from_lists)?;
            replace(&mut own, PRECISIONS, precisions_from_names)?;
        }
        "chlo.constant_like" => replace(&mut own, VALUE, |value| match value {
            Attribute::String(_) => value.as_str().map(|text| Attribute::Foreign(text.into())),
            other => Some(other.clone()),
        })?,
        _ => {}
    }
    for list in LISTS {
        replace(&mut own, list, list_from_tensor)?;
    }
    match spec.read(&mut own) {
        Ok(Op::Chlo(op)) if own.is_empty() => Some(op),
        _ => None,
    }
}

/// Reads an attribute in other terms; one that is absent stays so.
fn replace(
    attributes: &mut NamedAttributes,
    name: &str,
    read: impl FnOnce(&Attribute) -> Option<Attribute>,
) -> Option<()> {
    if let Some(value) = attributes.get(name) {
        let value = read(value)?;
        attributes.insert(name, value);
    }
    Some(())
}

/// A list as a tensor; one that no operation has stays as it is.
fn list_to_tensor(list: &DenseArray) -> Attribute {
    let literal = match list {
        DenseArray::I64(values) => Some(Literal::of_i64s(values)),
        DenseArray::I32(values) => {
            let ty = TensorType::of_static(&[values.len() as u64], ElementType::I32);
            let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            Literal::dense(Arc::new(ty), Blob::new(bytes)).ok()
        }
        _ => None,
    };
    literal.map_or_else(|| Attribute::DenseArray(list.clone()), Attribute::Elements)
}

/// A list that is written as a tensor, or as a list.
fn list_from_tensor(value: &Attribute) -> Option<Attribute> {
    let Attribute::Elements(tensor) = value else {
        return Some(value.clone());
    };
    let values = Some(tensor)
        .filter(|tensor| tensor.ty().rank() == 1)
        .and_then(|tensor| tensor.to_i64s(LIST_MAX))?;
    let list = match tensor.ty().element.as_plain()? {
        ElementType::I64 => DenseArray::I64(values),
        ElementType::I32 => DenseArray::I32(values.into_iter().map(|value| value as i32).collect()),
        _ => return None,
    };
    Some(Attribute::DenseArray(list))
}

fn numbers_to_lists(numbers: &RaggedDotDimensionNumbers) -> Attribute {
    let dot = &numbers.dot;
    let lists = [
        &dot.lhs_batching_dimensions,
        &dot.rhs_batching_dimensions,
        &dot.lhs_contracting_dimensions,
        &dot.rhs_contracting_dimensions,
        &numbers.lhs_ragged_dimensions,
        &numbers.rhs_group_dimensions,
    ];
    let lists = lists.map(|list| Attribute::Elements(Literal::of_i64s(list)));
    Attribute::Array(lists.to_vec())
}

fn numbers_from_lists(value: &Attribute) -> Option<Attribute> {
    let Attribute::Array(items) = value else {
        return None;
    };
    let lists = items.iter().map(|item| match item {
        Attribute::Elements(list) if list.ty().rank() == 1 => list.to_i64s(LIST_MAX),
        _ => None,
    });
    let lists: [Vec<i64>; 6] = lists.collect::<Option<Vec<_>>>()?.try_into().ok()?;
    let [
        lhs_batching,
        rhs_batching,
        lhs_contracting,
        rhs_contracting,
        ragged,
        group,
    ] = lists;
    let numbers = RaggedDotDimensionNumbers {
        dot: DotDimensionNumbers {
            lhs_batching_dimensions: lhs_batching,
            rhs_batching_dimensions: rhs_batching,
            lhs_contracting_dimensions: lhs_contracting,
            rhs_contracting_dimensions: rhs_contracting,
        },
        lhs_ragged_dimensions: ragged,
        rhs_group_dimensions: group,
    };
    Some(Attribute::Stablehlo(StablehloAttribute::RaggedDot(numbers)))
}

fn precisions_to_names(config: Option<&PrecisionConfig>) -> Attribute {
    let precisions = config.map(|config| config.0.as_slice()).unwrap_or_default();
    let names = precisions
        .iter()
        .map(|precision| Attribute::string(precision.name()));
    Attribute::Array(names.collect())
}

fn precisions_from_names(value: &Attribute) -> Option<Attribute> {
    let Attribute::Array(items) = value else {
        return None;
    };
    let precisions = items
        .iter()
        .map(|item| item.as_str()?.parse::<Precision>().ok())
        .collect::<Option<Vec<_>>>()?;
    Some(PrecisionConfig(precisions).to_attribute())
}
