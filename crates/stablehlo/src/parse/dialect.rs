//! Attributes of the StableHLO and CHLO dialects.

use std::fmt::Display;
use std::str::FromStr;

use artifact_ir::attribute::{
    Attribute, AttributeValue, AxisRef, ByteString, ChannelHandle, ComparisonDirection, ComparisonType,
    ConvDimensionNumbers, CustomCallApiVersion, DotAlgorithm, DotDimensionNumbers, FftType,
    GatherDimensionNumbers, Mesh, MeshAxis, MeshReference, OutputOperandAlias, Precision,
    RaggedDotDimensionNumbers, ReplicaGroupMeshAxes, ResultAccuracy, ResultAccuracyMode, RngAlgorithm,
    RngDistribution, ScatterDimensionNumbers, StablehloAttribute, SubAxisInfo, Transpose,
};
use artifact_ir::types::Type;

use super::cursor::{Parser, Read};
use crate::lex::{Kind, Token};

impl Parser<'_> {
    /// `#stablehlo.gather<...>` or `#stablehlo<precision HIGH>`; the name is taken, what follows is ahead.
    pub(super) fn own_attribute(&mut self, token: Token, mnemonic: Option<&str>) -> Read<Attribute> {
        if let Some(mnemonic) = mnemonic {
            return Ok(Attribute::Stablehlo(self.own_contents(token, mnemonic)?));
        }
        self.expect(Kind::Less)?;
        let inner = self.expect(Kind::Word)?;
        let attribute = self.own_contents(inner, self.slice(inner))?;
        self.expect(Kind::Greater)?;
        Ok(Attribute::Stablehlo(attribute))
    }

    fn own_contents(&mut self, token: Token, mnemonic: &str) -> Read<StablehloAttribute> {
        use StablehloAttribute as Own;
        Ok(match mnemonic {
            "gather" => Own::Gather(self.gather_numbers()?),
            "scatter" => Own::Scatter(self.scatter_numbers()?),
            "dot" => Own::Dot(self.dot_numbers()?),
            "ragged_dot" => Own::RaggedDot(self.ragged_dot_numbers()?),
            "conv" => {
                self.expect(Kind::Less)?;
                Own::Conv(self.conv_attribute()?)
            }
            "dot_algorithm" => Own::DotAlgorithm(self.dot_algorithm()?),
            "output_operand_alias" => Own::OutputOperandAlias(self.output_operand_alias()?),
            "channel_handle" => Own::ChannelHandle(self.channel_handle()?),
            "result_accuracy" => Own::ResultAccuracy(self.result_accuracy()?),
            "sub_axis_info" => Own::SubAxisInfo(self.sub_axis_info()?),
            "axis_ref" => Own::AxisRef(self.axis_ref()?),
            "mesh_axis" => Own::MeshAxis(self.mesh_axis()?),
            "mesh" => Own::Mesh(self.mesh()?),
            "replica_group_mesh_axes" => Own::ReplicaGroupMeshAxes(self.replica_group_mesh_axes()?),
            "bounds" => Own::Bounds(self.bounds(Kind::Less)?),
            "type_extensions" => Own::Bounds(self.type_extensions()?),
            "comparison_direction" => Own::ComparisonDirection(self.case::<ComparisonDirection>()?),
            "comparison_type" => Own::ComparisonType(self.case::<ComparisonType>()?),
            "custom_call_api_version" => Own::CustomCallApiVersion(self.case::<CustomCallApiVersion>()?),
            "fft_type" => Own::FftType(self.case::<FftType>()?),
            "precision" => Own::Precision(self.case::<Precision>()?),
            "result_accuracy_mode" => Own::ResultAccuracyMode(self.case::<ResultAccuracyMode>()?),
            "rng_algorithm" => Own::RngAlgorithm(self.case::<RngAlgorithm>()?),
            "rng_distribution" => Own::RngDistribution(self.case::<RngDistribution>()?),
            "transpose" => Own::Transpose(self.case::<Transpose>()?),
            _ => return Err(self.error(token.start(), format!("unknown StableHLO attribute '{mnemonic}'"))),
        })
    }

    /// A case of an enumeration, with or without `<>`.
    fn case<T: FromStr<Err: Display>>(&mut self) -> Read<T> {
        let bracketed = self.take(Kind::Less);
        let value = self.keyword()?;
        if bracketed {
            self.expect(Kind::Greater)?;
        }
        Ok(value)
    }

    /// A case of an enumeration as a word.
    pub(super) fn keyword<T: FromStr<Err: Display>>(&mut self) -> Read<T> {
        let token = self.expect(Kind::Word)?;
        self.slice(token)
            .parse::<T>()
            .map_err(|error| self.error(token.start(), error.to_string()))
    }

    /// `a = .., b = ..>` in any order, each at most once; `<` is taken already. `field` reads what follows `=`.
    fn fields(&mut self, names: &[&str], mut field: impl FnMut(&mut Self, &str) -> Read<()>) -> Read<()> {
        let mut seen = vec![false; names.len()];
        self.list_until(Kind::Greater, |parser| {
            let token = parser.token;
            let found = names.iter().position(|name| parser.at_word(name));
            let Some(index) = found else {
                let known: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                return Err(parser.unexpected(&format!("one of: {}", known.join(", "))));
            };
            if std::mem::replace(&mut seen[index], true) {
                return Err(parser.error(token.start(), format!("duplicated `{}` entry", names[index])));
            }
            parser.bump();
            parser.expect(Kind::Equal)?;
            field(parser, names[index])
        })
    }

    fn gather_numbers(&mut self) -> Read<GatherDimensionNumbers> {
        let mut numbers = GatherDimensionNumbers::default();
        let names = [
            "offset_dims",
            "collapsed_slice_dims",
            "operand_batching_dims",
            "start_indices_batching_dims",
            "start_index_map",
            "index_vector_dim",
        ];
        self.expect(Kind::Less)?;
        self.fields(&names, |parser, name| {
            match name {
                "offset_dims" => numbers.offset_dims = parser.i64_list()?,
                "collapsed_slice_dims" => numbers.collapsed_slice_dims = parser.i64_list()?,
                "operand_batching_dims" => numbers.operand_batching_dims = parser.i64_list()?,
                "start_indices_batching_dims" => numbers.start_indices_batching_dims = parser.i64_list()?,
                "start_index_map" => numbers.start_index_map = parser.i64_list()?,
                _ => numbers.index_vector_dim = parser.i64_value()?,
            }
            Ok(())
        })?;
        Ok(numbers)
    }

    fn scatter_numbers(&mut self) -> Read<ScatterDimensionNumbers> {
        let mut numbers = ScatterDimensionNumbers::default();
        let names = [
            "update_window_dims",
            "inserted_window_dims",
            "input_batching_dims",
            "scatter_indices_batching_dims",
            "scatter_dims_to_operand_dims",
            "index_vector_dim",
        ];
        self.expect(Kind::Less)?;
        self.fields(&names, |parser, name| {
            match name {
                "update_window_dims" => numbers.update_window_dims = parser.i64_list()?,
                "inserted_window_dims" => numbers.inserted_window_dims = parser.i64_list()?,
                "input_batching_dims" => numbers.input_batching_dims = parser.i64_list()?,
                "scatter_indices_batching_dims" => {
                    numbers.scatter_indices_batching_dims = parser.i64_list()?
                }
                "scatter_dims_to_operand_dims" => numbers.scatter_dims_to_operand_dims = parser.i64_list()?,
                _ => numbers.index_vector_dim = parser.i64_value()?,
            }
            Ok(())
        })?;
        Ok(numbers)
    }

    fn dot_numbers(&mut self) -> Read<DotDimensionNumbers> {
        let mut numbers = DotDimensionNumbers::default();
        self.expect(Kind::Less)?;
        self.fields(&DOT_FIELDS, |parser, name| dot_field(&mut numbers, parser, name))?;
        Ok(numbers)
    }

    fn ragged_dot_numbers(&mut self) -> Read<RaggedDotDimensionNumbers> {
        let mut numbers = RaggedDotDimensionNumbers::default();
        let names = [
            &DOT_FIELDS[..],
            &["lhs_ragged_dimensions", "rhs_group_dimensions"],
        ]
        .concat();
        self.expect(Kind::Less)?;
        self.fields(&names, |parser, name| match name {
            "lhs_ragged_dimensions" => {
                numbers.lhs_ragged_dimensions = parser.i64_list()?;
                Ok(())
            }
            "rhs_group_dimensions" => {
                numbers.rhs_group_dimensions = parser.i64_list()?;
                Ok(())
            }
            _ => dot_field(&mut numbers.dot, parser, name),
        })?;
        Ok(numbers)
    }

    /// `[b, 0, f]x[0, i, o]->[b, 0, f]>`, or `raw` and fields; `<` is taken already.
    fn conv_attribute(&mut self) -> Read<ConvDimensionNumbers> {
        if self.take_word("raw") {
            return self.raw_conv();
        }
        let numbers = self.conv_dimensions()?;
        self.expect(Kind::Greater)?;
        Ok(numbers)
    }

    fn raw_conv(&mut self) -> Read<ConvDimensionNumbers> {
        let mut numbers = ConvDimensionNumbers::default();
        let names = [
            "input_batch_dimension",
            "input_feature_dimension",
            "input_spatial_dimensions",
            "kernel_input_feature_dimension",
            "kernel_output_feature_dimension",
            "kernel_spatial_dimensions",
            "output_batch_dimension",
            "output_feature_dimension",
            "output_spatial_dimensions",
        ];
        self.fields(&names, |parser, name| {
            match name {
                "input_batch_dimension" => numbers.input_batch_dimension = parser.i64_value()?,
                "input_feature_dimension" => numbers.input_feature_dimension = parser.i64_value()?,
                "input_spatial_dimensions" => numbers.input_spatial_dimensions = parser.i64_list()?,
                "kernel_input_feature_dimension" => {
                    numbers.kernel_input_feature_dimension = parser.i64_value()?
                }
                "kernel_output_feature_dimension" => {
                    numbers.kernel_output_feature_dimension = parser.i64_value()?
                }
                "kernel_spatial_dimensions" => numbers.kernel_spatial_dimensions = parser.i64_list()?,
                "output_batch_dimension" => numbers.output_batch_dimension = parser.i64_value()?,
                "output_feature_dimension" => numbers.output_feature_dimension = parser.i64_value()?,
                _ => numbers.output_spatial_dimensions = parser.i64_list()?,
            }
            Ok(())
        })?;
        Ok(numbers)
    }

    /// `<lhs_precision_type = f32, ...>`: all fields, in this order.
    pub(super) fn dot_algorithm(&mut self) -> Read<DotAlgorithm> {
        self.expect(Kind::Less)?;
        let lhs_precision_type = self.field("lhs_precision_type", Self::ty)?;
        let rhs_precision_type = self.next_field("rhs_precision_type", Self::ty)?;
        let accumulation_type: Type = self.next_field("accumulation_type", Self::ty)?;
        let lhs_component_count = self.next_field("lhs_component_count", Self::i64_value)?;
        let rhs_component_count = self.next_field("rhs_component_count", Self::i64_value)?;
        let num_primitive_operations = self.next_field("num_primitive_operations", Self::i64_value)?;
        let allow = self.next_field("allow_imprecise_accumulation", Self::i64_value)?;
        self.expect(Kind::Greater)?;
        Ok(DotAlgorithm {
            lhs_precision_type,
            rhs_precision_type,
            accumulation_type,
            lhs_component_count,
            rhs_component_count,
            num_primitive_operations,
            allow_imprecise_accumulation: allow != 0,
        })
    }

    /// `name = value`.
    fn field<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.expect_word(name)?;
        self.expect(Kind::Equal)?;
        read(self)
    }

    fn next_field<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.expect(Kind::Comma)?;
        self.field(name, read)
    }

    fn output_operand_alias(&mut self) -> Read<OutputOperandAlias> {
        self.expect(Kind::Less)?;
        let alias = OutputOperandAlias {
            output_tuple_indices: self.field("output_tuple_indices", Self::i64_list)?,
            operand_index: self.next_field("operand_index", Self::i64_value)?,
            operand_tuple_indices: self.next_field("operand_tuple_indices", Self::i64_list)?,
        };
        self.expect(Kind::Greater)?;
        Ok(alias)
    }

    fn channel_handle(&mut self) -> Read<ChannelHandle> {
        let (mut handle, mut kind) = (None, None);
        self.expect(Kind::Less)?;
        self.fields(&["handle", "type"], |parser, name| {
            let value = Some(parser.i64_value()?);
            if name == "handle" {
                handle = value;
            } else {
                kind = value;
            }
            Ok(())
        })?;
        match (handle, kind) {
            (Some(handle), Some(kind)) => Ok(ChannelHandle { handle, kind }),
            _ => Err(self.error_here("a channel handle needs 'handle' and 'type'")),
        }
    }

    fn result_accuracy(&mut self) -> Read<ResultAccuracy> {
        let mut accuracy = ResultAccuracy::default();
        let mut moded = false;
        self.expect(Kind::Less)?;
        self.fields(&["atol", "rtol", "ulps", "mode"], |parser, name| {
            match name {
                "atol" => accuracy.atol_bits = parser.f64_value()?.to_bits(),
                "rtol" => accuracy.rtol_bits = parser.f64_value()?.to_bits(),
                "ulps" => accuracy.ulps = parser.i64_value()?,
                _ => {
                    moded = true;
                    accuracy.mode = parser.result_accuracy_mode()?;
                }
            }
            Ok(())
        })?;
        if moded {
            Ok(accuracy)
        } else {
            Err(self.error_here("a result accuracy needs 'mode'"))
        }
    }

    fn result_accuracy_mode(&mut self) -> Read<ResultAccuracyMode> {
        let start = self.token.start();
        match self.attribute()? {
            Attribute::Stablehlo(StablehloAttribute::ResultAccuracyMode(mode)) => Ok(mode),
            _ => Err(self.error(
                start,
                "expected a mode such as #stablehlo.result_accuracy_mode<DEFAULT>",
            )),
        }
    }

    /// `(2)4`: size before, then size.
    fn sub_axis_info(&mut self) -> Read<SubAxisInfo> {
        self.expect(Kind::LeftParen)?;
        let pre_size = self.i64_value()?;
        self.expect(Kind::RightParen)?;
        let size = self.i64_value()?;
        Ok(SubAxisInfo { pre_size, size })
    }

    fn axis_ref(&mut self) -> Read<AxisRef> {
        let (mut name, mut sub_axis_info) = (None, None);
        self.expect(Kind::Less)?;
        self.fields(&["name", "sub_axis_info"], |parser, field| {
            if field == "name" {
                name = Some(parser.byte_string()?);
            } else {
                sub_axis_info = Some(parser.sub_axis_info()?);
            }
            Ok(())
        })?;
        match name {
            Some(name) => Ok(AxisRef { name, sub_axis_info }),
            None => Err(self.error_here("an axis needs 'name'")),
        }
    }

    fn mesh_axis(&mut self) -> Read<MeshAxis> {
        let mut name: Option<ByteString> = None;
        let mut size = None;
        self.expect(Kind::Less)?;
        self.fields(&["name", "size"], |parser, field| {
            if field == "name" {
                name = Some(parser.byte_string()?);
            } else {
                size = Some(parser.i64_value()?);
            }
            Ok(())
        })?;
        match (name, size) {
            (Some(name), Some(size)) => Ok(MeshAxis { name, size }),
            _ => Err(self.error_here("an axis of a mesh needs 'name' and 'size'")),
        }
    }

    fn mesh(&mut self) -> Read<Mesh> {
        self.expect(Kind::Less)?;
        self.expect_word("axes")?;
        self.expect(Kind::Equal)?;
        let mut axes = Vec::new();
        self.list(Kind::LeftSquare, |parser| {
            if parser.at(Kind::Hash) {
                parser.bump();
            }
            axes.push(parser.mesh_axis()?);
            Ok(())
        })?;
        let device_ids = if self.take(Kind::Comma) {
            Some(self.field("device_ids", Self::dense)?)
        } else {
            None
        };
        self.expect(Kind::Greater)?;
        Ok(Mesh { axes, device_ids })
    }

    fn replica_group_mesh_axes(&mut self) -> Read<ReplicaGroupMeshAxes> {
        let (mut mesh, mut axes) = (None, Vec::new());
        self.expect(Kind::Less)?;
        self.fields(&["mesh", "axes"], |parser, field| {
            let start = parser.token.start();
            match (field, parser.attribute()?) {
                ("mesh", Attribute::Symbol(symbol)) => mesh = Some(MeshReference::Symbol(symbol)),
                ("mesh", Attribute::Stablehlo(StablehloAttribute::Mesh(inline))) => {
                    mesh = Some(MeshReference::Inline(inline));
                }
                ("axes", Attribute::Array(items)) => {
                    for item in items {
                        let Attribute::Stablehlo(StablehloAttribute::AxisRef(axis)) = item else {
                            return Err(
                                parser.error(start, "axes of a replica group must be axis_ref attributes")
                            );
                        };
                        axes.push(axis);
                    }
                }
                _ => return Err(parser.error(start, format!("'{field}' has the wrong form"))),
            }
            Ok(())
        })?;
        match mesh {
            Some(mesh) => Ok(ReplicaGroupMeshAxes { mesh, axes }),
            None => Err(self.error_here("mesh axes need 'mesh'")),
        }
    }

    fn type_extensions(&mut self) -> Read<Box<[Option<u64>]>> {
        self.expect(Kind::Less)?;
        let bounds = self.field("bounds", |parser| parser.bounds(Kind::LeftSquare))?;
        self.expect(Kind::Greater)?;
        Ok(bounds)
    }

    /// `?, 4` in brackets.
    fn bounds(&mut self, open: Kind) -> Read<Box<[Option<u64>]>> {
        let mut bounds = Vec::new();
        self.list(open, |parser| {
            bounds.push(if parser.take(Kind::Question) {
                None
            } else {
                Some(parser.integer()?)
            });
            Ok(())
        })?;
        Ok(bounds.into())
    }
}

const DOT_FIELDS: [&str; 4] = [
    "lhs_batching_dimensions",
    "rhs_batching_dimensions",
    "lhs_contracting_dimensions",
    "rhs_contracting_dimensions",
];

fn dot_field(numbers: &mut DotDimensionNumbers, parser: &mut Parser<'_>, name: &str) -> Read<()> {
    let list = parser.i64_list()?;
    match name {
        "lhs_batching_dimensions" => numbers.lhs_batching_dimensions = list,
        "rhs_batching_dimensions" => numbers.rhs_batching_dimensions = list,
        "lhs_contracting_dimensions" => numbers.lhs_contracting_dimensions = list,
        _ => numbers.rhs_contracting_dimensions = list,
    }
    Ok(())
}

/// Reads a word as a case of an enumeration, in its general form: for the tables of pretty forms.
pub(super) fn keyword_attribute<T>(parser: &mut Parser<'_>) -> Read<Attribute>
where
    T: FromStr<Err: Display> + AttributeValue,
{
    Ok(parser.keyword::<T>()?.to_attribute())
}
