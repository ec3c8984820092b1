//! Encoding of attributes.

use artifact_core::canonical::Encoder;

use super::Scheme;
use crate::attribute::{
    Attribute, AxisRef, ChannelHandle, ConvDimensionNumbers, DenseArray, DotAlgorithm, DotDimensionNumbers,
    FloatAttribute, GatherDimensionNumbers, Mesh, MeshAxis, MeshReference, NamedAttributes,
    OutputOperandAlias, RaggedDotDimensionNumbers, ReplicaGroupMeshAxes, ResultAccuracy,
    ScatterDimensionNumbers, StablehloAttribute, SubAxisInfo,
};
use crate::literal::Literal;

pub(super) fn i64s(encoder: &mut Encoder, values: &[i64]) {
    encoder.sequence(values.iter(), |encoder, value| encoder.i64(*value));
}

impl Scheme<'_> {
    pub(super) fn attributes(&mut self, attributes: &NamedAttributes) {
        self.encoder.count(attributes.len());
        for (name, attribute) in attributes.iter() {
            self.encoder.text(name);
            self.attribute(attribute);
        }
    }

    pub(super) fn attribute(&mut self, attribute: &Attribute) {
        match attribute {
            Attribute::Unit => self.encoder.text("unit"),
            Attribute::Bool(value) => {
                self.encoder.text("bool");
                self.encoder.bool(*value);
            }
            Attribute::Integer { value, ty } => {
                self.encoder.text("integer");
                self.encoder.text(ty.name());
                self.encoder.bytes(&value.to_le_bytes());
            }
            Attribute::Float(FloatAttribute { bits, ty }) => {
                self.encoder.text("float");
                self.encoder.text(ty.name());
                self.encoder.u64(*bits);
            }
            Attribute::String(string) => {
                self.encoder.text("string");
                self.encoder.bytes(string.as_bytes());
            }
            Attribute::Type(ty) => {
                self.encoder.text("type");
                self.ty(ty);
            }
            Attribute::Array(items) => {
                self.encoder.text("array");
                self.encoder.count(items.len());
                items.iter().for_each(|item| self.attribute(item));
            }
            Attribute::Dictionary(attributes) => {
                self.encoder.text("dictionary");
                self.attributes(attributes);
            }
            Attribute::Symbol(symbol) => self.symbol(symbol),
            Attribute::DenseArray(array) => self.dense_array(array),
            Attribute::Elements(literal) => {
                self.encoder.text("elements");
                self.literal(literal);
            }
            Attribute::Stablehlo(attribute) => self.stablehlo(attribute),
            Attribute::Sdy(attribute) => self.sdy(attribute),
            Attribute::Foreign(text) => {
                self.encoder.text("foreign");
                self.encoder.text(text);
            }
            Attribute::Opaque(opaque) => {
                self.encoder.text("opaque");
                self.encoder.text(&opaque.dialect);
                self.encoder.bytes(&opaque.bytes);
            }
        }
    }

    fn literal(&mut self, literal: &Literal) {
        self.tensor(literal.ty());
        self.encoder.digest(&literal.value_digest());
    }

    fn dense_array(&mut self, array: &DenseArray) {
        let encoder = &mut self.encoder;
        match array {
            DenseArray::Bool(values) => {
                encoder.text("array i1");
                encoder.sequence(values.iter(), |encoder, value| encoder.bool(*value));
            }
            DenseArray::I8(values) => {
                encoder.text("array i8");
                encoder.sequence(values.iter(), |encoder, value| encoder.i64(i64::from(*value)));
            }
            DenseArray::I16(values) => {
                encoder.text("array i16");
                encoder.sequence(values.iter(), |encoder, value| encoder.i64(i64::from(*value)));
            }
            DenseArray::I32(values) => {
                encoder.text("array i32");
                encoder.sequence(values.iter(), |encoder, value| encoder.i64(i64::from(*value)));
            }
            DenseArray::I64(values) => {
                encoder.text("array i64");
                i64s(encoder, values);
            }
            DenseArray::F32(values) => {
                encoder.text("array f32");
                encoder.sequence(values.iter(), |encoder, value| encoder.u32(*value));
            }
            DenseArray::F64(values) => {
                encoder.text("array f64");
                encoder.sequence(values.iter(), |encoder, value| encoder.u64(*value));
            }
        }
    }

    fn stablehlo(&mut self, attribute: &StablehloAttribute) {
        let encoder = &mut self.encoder;
        let mut case = |kind: &str, name: &str| {
            encoder.text(kind);
            encoder.text(name);
        };
        match attribute {
            StablehloAttribute::ComparisonDirection(value) => case("comparison_direction", value.name()),
            StablehloAttribute::ComparisonType(value) => case("comparison_type", value.name()),
            StablehloAttribute::CustomCallApiVersion(value) => case("api_version", value.name()),
            StablehloAttribute::FftType(value) => case("fft_type", value.name()),
            StablehloAttribute::Precision(value) => case("precision", value.name()),
            StablehloAttribute::ResultAccuracyMode(value) => case("result_accuracy_mode", value.name()),
            StablehloAttribute::RngAlgorithm(value) => case("rng_algorithm", value.name()),
            StablehloAttribute::RngDistribution(value) => case("rng_distribution", value.name()),
            StablehloAttribute::Transpose(value) => case("transpose", value.name()),
            StablehloAttribute::Gather(numbers) => gather(encoder, numbers),
            StablehloAttribute::Scatter(numbers) => scatter(encoder, numbers),
            StablehloAttribute::Dot(numbers) => dot("dot", encoder, numbers),
            StablehloAttribute::RaggedDot(numbers) => ragged_dot(encoder, numbers),
            StablehloAttribute::Conv(numbers) => conv(encoder, numbers),
            StablehloAttribute::DotAlgorithm(algorithm) => self.dot_algorithm(algorithm),
            StablehloAttribute::OutputOperandAlias(alias) => output_operand_alias(encoder, alias),
            StablehloAttribute::ChannelHandle(ChannelHandle { handle, kind }) => {
                encoder.text("channel_handle");
                i64s(encoder, &[*handle, *kind]);
            }
            StablehloAttribute::ResultAccuracy(accuracy) => result_accuracy(encoder, accuracy),
            StablehloAttribute::SubAxisInfo(info) => {
                encoder.text("sub_axis_info");
                sub_axis(encoder, info);
            }
            StablehloAttribute::AxisRef(axis) => axis_ref(encoder, axis),
            StablehloAttribute::MeshAxis(axis) => mesh_axis(encoder, axis),
            StablehloAttribute::Mesh(mesh) => self.mesh(mesh),
            StablehloAttribute::ReplicaGroupMeshAxes(axes) => self.mesh_axes(axes),
            StablehloAttribute::Bounds(bounds) => {
                encoder.text("bounds");
                encoder.sequence(bounds.iter(), |encoder, bound| {
                    encoder.option(*bound, Encoder::u64)
                });
            }
        }
    }

    fn dot_algorithm(&mut self, algorithm: &DotAlgorithm) {
        let DotAlgorithm {
            lhs_precision_type,
            rhs_precision_type,
            accumulation_type,
            lhs_component_count,
            rhs_component_count,
            num_primitive_operations,
            allow_imprecise_accumulation,
        } = algorithm;
        self.encoder.text("dot_algorithm");
        self.ty(lhs_precision_type);
        self.ty(rhs_precision_type);
        self.ty(accumulation_type);
        i64s(
            &mut self.encoder,
            &[
                *lhs_component_count,
                *rhs_component_count,
                *num_primitive_operations,
            ],
        );
        self.encoder.bool(*allow_imprecise_accumulation);
    }

    fn mesh(&mut self, mesh: &Mesh) {
        let Mesh { axes, device_ids } = mesh;
        self.encoder.text("mesh");
        self.encoder.sequence(axes.iter(), mesh_axis);
        self.encoder.bool(device_ids.is_some());
        if let Some(literal) = device_ids {
            self.literal(literal);
        }
    }

    fn mesh_axes(&mut self, axes: &ReplicaGroupMeshAxes) {
        let ReplicaGroupMeshAxes { mesh, axes } = axes;
        self.encoder.text("replica_group_mesh_axes");
        match mesh {
            MeshReference::Symbol(symbol) => self.symbol(symbol),
            MeshReference::Inline(mesh) => self.mesh(mesh),
        }
        self.encoder.sequence(axes.iter(), axis_ref);
    }
}

fn gather(encoder: &mut Encoder, numbers: &GatherDimensionNumbers) {
    let GatherDimensionNumbers {
        offset_dims,
        collapsed_slice_dims,
        operand_batching_dims,
        start_indices_batching_dims,
        start_index_map,
        index_vector_dim,
    } = numbers;
    encoder.text("gather");
    i64s(encoder, offset_dims);
    i64s(encoder, collapsed_slice_dims);
    i64s(encoder, operand_batching_dims);
    i64s(encoder, start_indices_batching_dims);
    i64s(encoder, start_index_map);
    encoder.i64(*index_vector_dim);
}

fn scatter(encoder: &mut Encoder, numbers: &ScatterDimensionNumbers) {
    let ScatterDimensionNumbers {
        update_window_dims,
        inserted_window_dims,
        input_batching_dims,
        scatter_indices_batching_dims,
        scatter_dims_to_operand_dims,
        index_vector_dim,
    } = numbers;
    encoder.text("scatter");
    i64s(encoder, update_window_dims);
    i64s(encoder, inserted_window_dims);
    i64s(encoder, input_batching_dims);
    i64s(encoder, scatter_indices_batching_dims);
    i64s(encoder, scatter_dims_to_operand_dims);
    encoder.i64(*index_vector_dim);
}

fn dot(tag: &str, encoder: &mut Encoder, numbers: &DotDimensionNumbers) {
    let DotDimensionNumbers {
        lhs_batching_dimensions,
        rhs_batching_dimensions,
        lhs_contracting_dimensions,
        rhs_contracting_dimensions,
    } = numbers;
    encoder.text(tag);
    i64s(encoder, lhs_batching_dimensions);
    i64s(encoder, rhs_batching_dimensions);
    i64s(encoder, lhs_contracting_dimensions);
    i64s(encoder, rhs_contracting_dimensions);
}

fn ragged_dot(encoder: &mut Encoder, numbers: &RaggedDotDimensionNumbers) {
    let RaggedDotDimensionNumbers {
        dot: numbers,
        lhs_ragged_dimensions,
        rhs_group_dimensions,
    } = numbers;
    dot("ragged_dot", encoder, numbers);
    i64s(encoder, lhs_ragged_dimensions);
    i64s(encoder, rhs_group_dimensions);
}

fn conv(encoder: &mut Encoder, numbers: &ConvDimensionNumbers) {
    let ConvDimensionNumbers {
        input_batch_dimension,
        input_feature_dimension,
        input_spatial_dimensions,
        kernel_input_feature_dimension,
        kernel_output_feature_dimension,
        kernel_spatial_dimensions,
        output_batch_dimension,
        output_feature_dimension,
        output_spatial_dimensions,
    } = numbers;
    encoder.text("conv");
    i64s(encoder, &[*input_batch_dimension, *input_feature_dimension]);
    i64s(encoder, input_spatial_dimensions);
    i64s(
        encoder,
        &[*kernel_input_feature_dimension, *kernel_output_feature_dimension],
    );
    i64s(encoder, kernel_spatial_dimensions);
    i64s(encoder, &[*output_batch_dimension, *output_feature_dimension]);
    i64s(encoder, output_spatial_dimensions);
}

fn output_operand_alias(encoder: &mut Encoder, alias: &OutputOperandAlias) {
    let OutputOperandAlias {
        output_tuple_indices,
        operand_index,
        operand_tuple_indices,
    } = alias;
    encoder.text("output_operand_alias");
    i64s(encoder, output_tuple_indices);
    encoder.i64(*operand_index);
    i64s(encoder, operand_tuple_indices);
}

fn result_accuracy(encoder: &mut Encoder, accuracy: &ResultAccuracy) {
    let ResultAccuracy {
        atol_bits,
        rtol_bits,
        ulps,
        mode,
    } = accuracy;
    encoder.text("result_accuracy");
    encoder.u64(*atol_bits);
    encoder.u64(*rtol_bits);
    encoder.i64(*ulps);
    encoder.text(mode.name());
}

pub(super) fn sub_axis(encoder: &mut Encoder, info: &SubAxisInfo) {
    i64s(encoder, &[info.pre_size, info.size]);
}

pub(super) fn axis_ref(encoder: &mut Encoder, axis: &AxisRef) {
    let AxisRef { name, sub_axis_info } = axis;
    encoder.text("axis_ref");
    encoder.bytes(name.as_bytes());
    encoder.option(sub_axis_info.as_ref(), sub_axis);
}

pub(super) fn mesh_axis(encoder: &mut Encoder, axis: &MeshAxis) {
    let MeshAxis { name, size } = axis;
    encoder.text("mesh_axis");
    encoder.bytes(name.as_bytes());
    encoder.i64(*size);
}
