//! Attributes of operations from VHLO to StableHLO: spread-out ones put together, defaults left out.

use std::sync::Arc;

use artifact_ir::attribute::{
    Attribute, ChannelHandle, ComparisonType, ConvDimensionNumbers, CustomCallApiVersion, DenseArray,
    DotAlgorithm, DotDimensionNumbers, GatherDimensionNumbers, NamedAttributes, Precision, ResultAccuracy,
    ScatterDimensionNumbers, StablehloAttribute, SymbolRef,
};
use artifact_ir::literal::Literal;
use artifact_ir::types::Type;

use super::opset::VersionedOp;
use super::row::{Absent, Compound, Form};

/// An attribute that is not of the form that its operation has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrongForm {
    pub(crate) name: &'static str,
    pub(crate) expected: &'static str,
}

/// What `convert` gives.
type Converted<T> = Result<T, WrongForm>;

/// Longest list of numbers of an attribute: no rank and no mesh comes near it.
pub(crate) const INTS_MAX: usize = 1 << 20;

/// The attributes of StableHLO for those of VHLO, which are in the order of the row.
pub(crate) fn to_stablehlo(op: &VersionedOp, values: Vec<Attribute>) -> Converted<NamedAttributes> {
    let mut named = NamedAttributes::new();
    let mut fields = Fields::default();
    for ((row, name), value) in op.row.attributes.iter().zip(&op.names).zip(values) {
        let wrong = |expected| WrongForm {
            name: row.name,
            expected,
        };
        if let Form::Field(compound) = row.form {
            fields.add(compound, row.name, value);
        } else if !is_absent(row.absent, &value) && !is_ignored(op, row.name) {
            let value = converted(row.form, value).map_err(wrong)?;
            let name = if row.form == Form::Channel {
                "channel_handle".into()
            } else {
                Arc::clone(name)
            };
            named.insert(name, value);
        }
    }
    if fields.items.is_empty() {
        drop_layouts(&mut named);
    } else {
        fields.join(op, &mut named)?;
    }
    Ok(named)
}

/// The first version of `dynamic_conv` has its padding twice; the operand counts.
fn is_ignored(op: &VersionedOp, name: &str) -> bool {
    op.row.name == "dynamic_conv_v1" && name == "padding"
}

/// Layouts are there for all operands and results, or for none.
fn drop_layouts(named: &mut NamedAttributes) {
    let is_empty = |name| matches!(named.get(name), Some(Attribute::Array(items)) if items.is_empty());
    if is_empty("operand_layouts") && is_empty("result_layouts") {
        named.remove("operand_layouts");
        named.remove("result_layouts");
    }
}

fn converted(form: Form, value: Attribute) -> Result<Attribute, &'static str> {
    Ok(match form {
        Form::Plain | Form::Field(_) => value,
        Form::Ints => Attribute::DenseArray(DenseArray::I64(ints(&value).ok_or("a tensor of i64")?)),
        Form::Bools => {
            let numbers = ints(&value).ok_or("a tensor of i1")?;
            Attribute::DenseArray(DenseArray::Bool(
                numbers.iter().map(|number| *number != 0).collect(),
            ))
        }
        Form::Symbol => symbol(&value).ok_or("the name of a function")?,
        Form::Symbols => match value {
            Attribute::Array(items) => {
                let symbols: Option<Vec<Attribute>> = items.iter().map(symbol).collect();
                Attribute::Array(symbols.ok_or("an array of names of functions")?)
            }
            _ => return Err("an array of names of functions"),
        },
        Form::Flag => match value {
            Attribute::Bool(_) => Attribute::Unit,
            _ => return Err("a boolean"),
        },
        Form::Channel => {
            let handle = value.as_i64().ok_or("an integer")?;
            Attribute::Stablehlo(StablehloAttribute::ChannelHandle(ChannelHandle {
                handle,
                kind: 0,
            }))
        }
    })
}

fn symbol(value: &Attribute) -> Option<Attribute> {
    value
        .as_str()
        .map(|name| Attribute::Symbol(SymbolRef::flat(name)))
}

fn ints(value: &Attribute) -> Option<Vec<i64>> {
    match value {
        Attribute::Elements(literal) => literal.to_i64s(INTS_MAX),
        _ => None,
    }
}

/// Whether StableHLO leaves an attribute of this value out.
fn is_absent(absent: Absent, value: &Attribute) -> bool {
    match (absent, value) {
        (Absent::False, Attribute::Bool(value)) => !value,
        (Absent::Integer { value: default, .. }, value) => value.as_i64() == Some(default),
        (Absent::EmptyString | Absent::EmptyConfig, Attribute::String(text)) => text.as_bytes().is_empty(),
        (Absent::EmptyConfig | Absent::EmptyDictionary, Attribute::Dictionary(items)) => items.is_empty(),
        (Absent::EmptyArray, Attribute::Array(items)) => items.is_empty(),
        (Absent::EmptyInts, Attribute::Elements(literal)) => literal.element_count() == 0,
        (Absent::Ones, Attribute::Elements(literal)) => all_are(literal, 1),
        (Absent::NoPadding | Absent::Falses, Attribute::Elements(literal)) => all_are(literal, 0),
        (Absent::DefaultPrecision, Attribute::Array(items)) => {
            items.iter().all(|item| *item == DEFAULT_PRECISION)
        }
        (Absent::NoType, value) => *value == NO_TYPE,
        (Absent::OriginalApi, value) => *value == ORIGINAL_API,
        (Absent::DefaultAccuracy, Attribute::Stablehlo(StablehloAttribute::ResultAccuracy(accuracy))) => {
            is_default_accuracy(*accuracy)
        }
        _ => false,
    }
}

/// What stands for absence.
pub(crate) const NO_TYPE: Attribute =
    Attribute::Stablehlo(StablehloAttribute::ComparisonType(ComparisonType::NoType));
/// What stands for absence.
pub(crate) const ORIGINAL_API: Attribute = Attribute::Stablehlo(StablehloAttribute::CustomCallApiVersion(
    CustomCallApiVersion::Original,
));
/// One of two that stand for absence.
pub(crate) const DEFAULT_PRECISION: Attribute =
    Attribute::Stablehlo(StablehloAttribute::Precision(Precision::Default));

/// Zeros count with either sign.
fn is_default_accuracy(accuracy: ResultAccuracy) -> bool {
    let is_zero = |bits: u64| bits << 1 == 0;
    accuracy.mode == ResultAccuracy::default().mode
        && accuracy.ulps == 0
        && is_zero(accuracy.atol_bits)
        && is_zero(accuracy.rtol_bits)
}

fn all_are(literal: &Literal, value: i64) -> bool {
    match literal.to_i64s(INTS_MAX) {
        Some(numbers) => numbers.iter().all(|number| *number == value),
        None => false,
    }
}

/// The fields of compound attributes, as they are found.
#[derive(Debug, Default)]
struct Fields {
    items: Vec<(Compound, &'static str, Attribute)>,
}

impl Fields {
    fn add(&mut self, compound: Compound, name: &'static str, value: Attribute) {
        self.items.push((compound, name, value));
    }

    fn join(self, op: &VersionedOp, named: &mut NamedAttributes) -> Converted<()> {
        let has = |compound| self.items.iter().any(|(own, _, _)| *own == compound);
        if has(Compound::Gather) {
            named.insert("dimension_numbers", self.gather()?);
        }
        if has(Compound::Scatter) {
            named.insert("scatter_dimension_numbers", self.scatter()?);
        }
        if has(Compound::Dot) {
            named.insert("dot_dimension_numbers", self.dot()?);
        }
        if has(Compound::Algorithm)
            && let Some(algorithm) = self.algorithm()?
        {
            named.insert("algorithm", algorithm);
        }
        if has(Compound::Convolution) {
            named.insert("dimension_numbers", self.convolution()?);
        }
        if has(Compound::Channel) {
            let channel = ChannelHandle {
                handle: self.int("channel_id")?,
                kind: self.int("channel_type")?,
            };
            named.insert(
                "channel_handle",
                Attribute::Stablehlo(StablehloAttribute::ChannelHandle(channel)),
            );
        }
        debug_assert!(
            op.row.attributes.len() >= self.items.len(),
            "fields are attributes"
        );
        Ok(())
    }

    fn get(&self, name: &str) -> Option<&Attribute> {
        let found = self.items.iter().find(|(_, own, _)| *own == name);
        found.map(|(_, _, value)| value)
    }

    fn int(&self, name: &'static str) -> Converted<i64> {
        let expected = "an integer";
        self.get(name)
            .and_then(Attribute::as_i64)
            .ok_or(WrongForm { name, expected })
    }

    /// Numbers; none for a field that an older version lacks.
    fn ints(&self, name: &'static str) -> Converted<Vec<i64>> {
        let expected = "a tensor of i64";
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(value) => ints(value).ok_or(WrongForm { name, expected }),
        }
    }

    fn ty(&self, name: &'static str) -> Converted<Type> {
        let expected = "a type";
        match self.get(name) {
            Some(Attribute::Type(ty)) => Ok(ty.clone()),
            _ => Err(WrongForm { name, expected }),
        }
    }

    fn gather(&self) -> Converted<Attribute> {
        let numbers = GatherDimensionNumbers {
            offset_dims: self.ints("offset_dims")?,
            collapsed_slice_dims: self.ints("collapsed_slice_dims")?,
            operand_batching_dims: self.ints("operand_batching_dims")?,
            start_indices_batching_dims: self.ints("start_indices_batching_dims")?,
            start_index_map: self.ints("start_index_map")?,
            index_vector_dim: self.int("index_vector_dim")?,
        };
        Ok(Attribute::Stablehlo(StablehloAttribute::Gather(numbers)))
    }

    fn scatter(&self) -> Converted<Attribute> {
        let numbers = ScatterDimensionNumbers {
            update_window_dims: self.ints("update_window_dims")?,
            inserted_window_dims: self.ints("inserted_window_dims")?,
            input_batching_dims: self.ints("input_batching_dims")?,
            scatter_indices_batching_dims: self.ints("scatter_indices_batching_dims")?,
            scatter_dims_to_operand_dims: self.ints("scatter_dims_to_operand_dims")?,
            index_vector_dim: self.int("index_vector_dim")?,
        };
        Ok(Attribute::Stablehlo(StablehloAttribute::Scatter(numbers)))
    }

    fn dot(&self) -> Converted<Attribute> {
        let numbers = DotDimensionNumbers {
            lhs_batching_dimensions: self.ints("lhs_batching_dimensions")?,
            rhs_batching_dimensions: self.ints("rhs_batching_dimensions")?,
            lhs_contracting_dimensions: self.ints("lhs_contracting_dimensions")?,
            rhs_contracting_dimensions: self.ints("rhs_contracting_dimensions")?,
        };
        Ok(Attribute::Stablehlo(StablehloAttribute::Dot(numbers)))
    }

    /// Seven times the type `none` stands for no algorithm.
    fn algorithm(&self) -> Converted<Option<Attribute>> {
        let fields = self
            .items
            .iter()
            .filter(|(own, _, _)| *own == Compound::Algorithm);
        if fields
            .clone()
            .all(|(_, _, value)| *value == Attribute::Type(Type::None))
        {
            return Ok(None);
        }
        let allow_imprecise_accumulation = match self.get("allow_imprecise_accumulation") {
            Some(Attribute::Bool(value)) => *value,
            _ => {
                return Err(WrongForm {
                    name: "allow_imprecise_accumulation",
                    expected: "a boolean",
                });
            }
        };
        let algorithm = DotAlgorithm {
            lhs_precision_type: self.ty("lhs_precision_type")?,
            rhs_precision_type: self.ty("rhs_precision_type")?,
            accumulation_type: self.ty("accumulation_type")?,
            lhs_component_count: self.int("lhs_component_count")?,
            rhs_component_count: self.int("rhs_component_count")?,
            num_primitive_operations: self.int("num_primitive_operations")?,
            allow_imprecise_accumulation,
        };
        Ok(Some(Attribute::Stablehlo(StablehloAttribute::DotAlgorithm(
            algorithm,
        ))))
    }

    fn convolution(&self) -> Converted<Attribute> {
        let numbers = ConvDimensionNumbers {
            input_batch_dimension: self.int("input_batch_dimension")?,
            input_feature_dimension: self.int("input_feature_dimension")?,
            input_spatial_dimensions: self.ints("input_spatial_dimensions")?,
            kernel_input_feature_dimension: self.int("kernel_input_feature_dimension")?,
            kernel_output_feature_dimension: self.int("kernel_output_feature_dimension")?,
            kernel_spatial_dimensions: self.ints("kernel_spatial_dimensions")?,
            output_batch_dimension: self.int("output_batch_dimension")?,
            output_feature_dimension: self.int("output_feature_dimension")?,
            output_spatial_dimensions: self.ints("output_spatial_dimensions")?,
        };
        Ok(Attribute::Stablehlo(StablehloAttribute::Conv(numbers)))
    }
}

/// The attribute of StableHLO that holds the fields of a compound.
pub(crate) const fn compound_name(compound: Compound) -> &'static str {
    match compound {
        Compound::Gather | Compound::Convolution => "dimension_numbers",
        Compound::Scatter => "scatter_dimension_numbers",
        Compound::Dot => "dot_dimension_numbers",
        Compound::Algorithm => "algorithm",
        Compound::Channel => "channel_handle",
    }
}

/// A field of a compound attribute, by its name in VHLO; `None` where the attribute has none of that name.
pub(crate) fn compound_field(compound: &StablehloAttribute, name: &str) -> Option<Attribute> {
    let ints = |values: &[i64]| Some(Attribute::DenseArray(DenseArray::I64(values.to_vec())));
    let int = |value: i64| Some(Attribute::i64(value));
    let ty = |ty: &Type| Some(Attribute::Type(ty.clone()));
    match compound {
        StablehloAttribute::Gather(numbers) => match name {
            "offset_dims" => ints(&numbers.offset_dims),
            "collapsed_slice_dims" => ints(&numbers.collapsed_slice_dims),
            "operand_batching_dims" => ints(&numbers.operand_batching_dims),
            "start_indices_batching_dims" => ints(&numbers.start_indices_batching_dims),
            "start_index_map" => ints(&numbers.start_index_map),
            "index_vector_dim" => int(numbers.index_vector_dim),
            _ => None,
        },
        StablehloAttribute::Scatter(numbers) => match name {
            "update_window_dims" => ints(&numbers.update_window_dims),
            "inserted_window_dims" => ints(&numbers.inserted_window_dims),
            "input_batching_dims" => ints(&numbers.input_batching_dims),
            "scatter_indices_batching_dims" => ints(&numbers.scatter_indices_batching_dims),
            "scatter_dims_to_operand_dims" => ints(&numbers.scatter_dims_to_operand_dims),
            "index_vector_dim" => int(numbers.index_vector_dim),
            _ => None,
        },
        StablehloAttribute::Dot(numbers) => match name {
            "lhs_batching_dimensions" => ints(&numbers.lhs_batching_dimensions),
            "rhs_batching_dimensions" => ints(&numbers.rhs_batching_dimensions),
            "lhs_contracting_dimensions" => ints(&numbers.lhs_contracting_dimensions),
            "rhs_contracting_dimensions" => ints(&numbers.rhs_contracting_dimensions),
            _ => None,
        },
        StablehloAttribute::DotAlgorithm(algorithm) => match name {
            "lhs_precision_type" => ty(&algorithm.lhs_precision_type),
            "rhs_precision_type" => ty(&algorithm.rhs_precision_type),
            "accumulation_type" => ty(&algorithm.accumulation_type),
            "lhs_component_count" => int(algorithm.lhs_component_count),
            "rhs_component_count" => int(algorithm.rhs_component_count),
            "num_primitive_operations" => int(algorithm.num_primitive_operations),
            "allow_imprecise_accumulation" => Some(Attribute::Bool(algorithm.allow_imprecise_accumulation)),
            _ => None,
        },
        StablehloAttribute::Conv(numbers) => match name {
            "input_batch_dimension" => int(numbers.input_batch_dimension),
            "input_feature_dimension" => int(numbers.input_feature_dimension),
            "input_spatial_dimensions" => ints(&numbers.input_spatial_dimensions),
            "kernel_input_feature_dimension" => int(numbers.kernel_input_feature_dimension),
            "kernel_output_feature_dimension" => int(numbers.kernel_output_feature_dimension),
            "kernel_spatial_dimensions" => ints(&numbers.kernel_spatial_dimensions),
            "output_batch_dimension" => int(numbers.output_batch_dimension),
            "output_feature_dimension" => int(numbers.output_feature_dimension),
            "output_spatial_dimensions" => ints(&numbers.output_spatial_dimensions),
            _ => None,
        },
        StablehloAttribute::ChannelHandle(channel) => match name {
            "channel_id" => int(channel.handle),
            "channel_type" => int(channel.kind),
            _ => None,
        },
        _ => None,
    }
}
