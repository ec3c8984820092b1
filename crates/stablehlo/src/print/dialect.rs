//! Attributes of the StableHLO and CHLO dialects (ODS: `StablehloAttrs.td`, `StablehloEnums.td`, `ChloOps.td`).

use artifact_ir::attribute::{
    AxisRef, ConvDimensionNumbers, DotAlgorithm, DotDimensionNumbers, GatherDimensionNumbers, Mesh, MeshAxis,
    MeshReference, RaggedDotDimensionNumbers, ResultAccuracy, ScatterDimensionNumbers, StablehloAttribute,
};
use artifact_ir::decimal::Decimal;
use artifact_ir::types::ElementType;

use super::attribute::Dialect;
use super::writer::Writer;

/// A field of an attribute that is spelled as a struct. Lists that are empty and numbers that are zero are left out.
enum Field<'a> {
    List(&'a [i64]),
    Number(i64),
}

impl Writer {
    /// An attribute of the dialects, `#` included.
    pub(super) fn stablehlo_attribute(&mut self, attribute: &StablehloAttribute, dialect: Dialect) {
        use StablehloAttribute as A;
        match attribute {
            A::Gather(numbers) => self.gather_numbers(numbers),
            A::Scatter(numbers) => self.scatter_numbers(numbers),
            A::Dot(numbers) => self.fields("#stablehlo.dot", &dot_fields(numbers)),
            A::RaggedDot(numbers) => self.ragged_dot_numbers(numbers),
            A::Conv(numbers) => self.conv_numbers(numbers),
            A::DotAlgorithm(algorithm) => {
                self.push("#stablehlo.dot_algorithm");
                self.dot_algorithm(algorithm);
            }
            A::OutputOperandAlias(alias) => {
                self.push("#stablehlo.output_operand_alias<output_tuple_indices = ");
                self.numbers(&alias.output_tuple_indices);
                write!(
                    self,
                    ", operand_index = {}, operand_tuple_indices = ",
                    alias.operand_index
                );
                self.numbers(&alias.operand_tuple_indices);
                self.push(">");
            }
            A::ChannelHandle(channel) => {
                let (handle, kind) = (channel.handle, channel.kind);
                write!(
                    self,
                    "#stablehlo.channel_handle<handle = {handle}, type = {kind}>"
                );
            }
            A::ResultAccuracy(accuracy) => self.result_accuracy(accuracy),
            A::SubAxisInfo(info) => write!(self, "#stablehlo.sub_axis_info({}){}", info.pre_size, info.size),
            A::AxisRef(axis) => self.axis_ref(axis),
            A::MeshAxis(axis) => {
                self.push("#stablehlo.mesh_axis");
                self.mesh_axis(axis);
            }
            A::Mesh(mesh) => self.mesh(mesh),
            A::ReplicaGroupMeshAxes(groups) => {
                self.push("#stablehlo.replica_group_mesh_axes<mesh = ");
                match &groups.mesh {
                    MeshReference::Symbol(symbol) => self.symbol_ref(symbol),
                    MeshReference::Inline(mesh) => self.mesh(mesh),
                }
                self.push(", axes = [");
                self.list(&groups.axes, Self::axis_ref);
                self.push("]>");
            }
            A::Bounds(bounds) => {
                self.push("#stablehlo.bounds<");
                self.list(bounds, |writer, bound| match bound {
                    Some(bound) => write!(writer, "{bound}"),
                    None => writer.push("?"),
                });
                self.push(">");
            }
            A::ResultAccuracyMode(mode) => write!(self, "#stablehlo.result_accuracy_mode<{mode}>"),
            A::CustomCallApiVersion(version) => write!(self, "{} : i32", version.number()),
            A::ComparisonDirection(case) => self.case(dialect, "comparison_direction", case.name()),
            A::ComparisonType(case) => self.case(dialect, "comparison_type", case.name()),
            A::FftType(case) => self.case(dialect, "fft_type", case.name()),
            A::Precision(case) => self.case(dialect, "precision", case.name()),
            A::RngAlgorithm(case) => self.case(dialect, "rng_algorithm", case.name()),
            A::RngDistribution(case) => self.case(dialect, "rng_distribution", case.name()),
            A::Transpose(case) => self.case(dialect, "transpose", case.name()),
        }
    }

    /// `#stablehlo<precision DEFAULT>`.
    fn case(&mut self, dialect: Dialect, enumeration: &str, case: &str) {
        write!(self, "#{}<{enumeration} {case}>", dialect.name());
    }

    fn fields(&mut self, name: &str, fields: &[(&str, Field<'_>)]) {
        let written = fields.iter().filter(|(_, field)| match field {
            Field::List(list) => !list.is_empty(),
            Field::Number(number) => *number != 0,
        });
        self.push(name);
        self.push("<");
        self.list(written, |writer, (name, field)| {
            write!(writer, "{name} = ");
            match field {
                Field::List(list) => writer.numbers(list),
                Field::Number(number) => write!(writer, "{number}"),
            }
        });
        self.push(">");
    }

    fn gather_numbers(&mut self, numbers: &GatherDimensionNumbers) {
        let fields = [
            ("offset_dims", Field::List(&numbers.offset_dims)),
            ("collapsed_slice_dims", Field::List(&numbers.collapsed_slice_dims)),
            (
                "operand_batching_dims",
                Field::List(&numbers.operand_batching_dims),
            ),
            (
                "start_indices_batching_dims",
                Field::List(&numbers.start_indices_batching_dims),
            ),
            ("start_index_map", Field::List(&numbers.start_index_map)),
            ("index_vector_dim", Field::Number(numbers.index_vector_dim)),
        ];
        self.fields("#stablehlo.gather", &fields);
    }

    fn scatter_numbers(&mut self, numbers: &ScatterDimensionNumbers) {
        let fields = [
            ("update_window_dims", Field::List(&numbers.update_window_dims)),
            ("inserted_window_dims", Field::List(&numbers.inserted_window_dims)),
            ("input_batching_dims", Field::List(&numbers.input_batching_dims)),
            (
                "scatter_indices_batching_dims",
                Field::List(&numbers.scatter_indices_batching_dims),
            ),
            (
                "scatter_dims_to_operand_dims",
                Field::List(&numbers.scatter_dims_to_operand_dims),
            ),
            ("index_vector_dim", Field::Number(numbers.index_vector_dim)),
        ];
        self.fields("#stablehlo.scatter", &fields);
    }

    fn ragged_dot_numbers(&mut self, numbers: &RaggedDotDimensionNumbers) {
        let [lhs_batching, rhs_batching, lhs_contracting, rhs_contracting] = dot_fields(&numbers.dot);
        let fields = [
            lhs_batching,
            rhs_batching,
            lhs_contracting,
            rhs_contracting,
            (
                "lhs_ragged_dimensions",
                Field::List(&numbers.lhs_ragged_dimensions),
            ),
            ("rhs_group_dimensions", Field::List(&numbers.rhs_group_dimensions)),
        ];
        self.fields("#chlo.ragged_dot", &fields);
    }

    /// The short form, or the raw one for numbers that are no permutation of the dimensions.
    fn conv_numbers(&mut self, numbers: &ConvDimensionNumbers) {
        self.push("#stablehlo.conv<");
        match ConvRoles::of(numbers) {
            Some(roles) => self.conv_roles(&roles),
            None => {
                self.push("raw ");
                self.raw_conv_numbers(numbers);
            }
        }
        self.push(">");
    }

    /// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
    pub(super) fn conv_roles(&mut self, roles: &ConvRoles) {
        let separators = ["[", "]x[", "]->["];
        for (separator, roles) in separators.into_iter().zip(&roles.0) {
            self.push(separator);
            self.list(roles, |writer, role| match role {
                Role::Letter(letter) => write!(writer, "{letter}"),
                Role::Spatial(index) => write!(writer, "{index}"),
            });
        }
        self.push("]");
    }

    fn raw_conv_numbers(&mut self, numbers: &ConvDimensionNumbers) {
        let number = |writer: &mut Self, name: &str, value: i64| write!(writer, "{name} = {value}, ");
        let list = |writer: &mut Self, name: &str, values: &[i64]| {
            write!(writer, "{name} = ");
            writer.numbers(values);
        };
        number(self, "input_batch_dimension", numbers.input_batch_dimension);
        number(self, "input_feature_dimension", numbers.input_feature_dimension);
        list(
            self,
            "input_spatial_dimensions",
            &numbers.input_spatial_dimensions,
        );
        self.push(", ");
        number(
            self,
            "kernel_input_feature_dimension",
            numbers.kernel_input_feature_dimension,
        );
        number(
            self,
            "kernel_output_feature_dimension",
            numbers.kernel_output_feature_dimension,
        );
        list(
            self,
            "kernel_spatial_dimensions",
            &numbers.kernel_spatial_dimensions,
        );
        self.push(", ");
        number(self, "output_batch_dimension", numbers.output_batch_dimension);
        number(self, "output_feature_dimension", numbers.output_feature_dimension);
        list(
            self,
            "output_spatial_dimensions",
            &numbers.output_spatial_dimensions,
        );
    }

    /// `<lhs_precision_type = bf16, ...>`.
    pub(super) fn dot_algorithm(&mut self, algorithm: &DotAlgorithm) {
        let DotAlgorithm {
            lhs_precision_type,
            rhs_precision_type,
            accumulation_type,
            lhs_component_count,
            rhs_component_count,
            num_primitive_operations,
            allow_imprecise_accumulation,
        } = algorithm;
        write!(self, "<lhs_precision_type = {lhs_precision_type}, ");
        write!(self, "rhs_precision_type = {rhs_precision_type}, ");
        write!(self, "accumulation_type = {accumulation_type}, ");
        write!(self, "lhs_component_count = {lhs_component_count}, ");
        write!(self, "rhs_component_count = {rhs_component_count}, ");
        write!(self, "num_primitive_operations = {num_primitive_operations}, ");
        write!(
            self,
            "allow_imprecise_accumulation = {allow_imprecise_accumulation}>"
        );
    }

    fn result_accuracy(&mut self, accuracy: &ResultAccuracy) {
        self.push("#stablehlo.result_accuracy<");
        for (name, bits) in [("atol", accuracy.atol_bits), ("rtol", accuracy.rtol_bits)] {
            if bits != 0 {
                let ty = ElementType::F64;
                write!(self, "{name} = {}, ", Decimal { ty, bits });
            }
        }
        if accuracy.ulps != 0 {
            write!(self, "ulps = {}, ", accuracy.ulps);
        }
        write!(self, "mode = #stablehlo.result_accuracy_mode<{}>>", accuracy.mode);
    }

    fn axis_ref(&mut self, axis: &AxisRef) {
        self.push("#stablehlo.axis_ref<name = ");
        self.string(axis.name.as_bytes());
        if let Some(info) = &axis.sub_axis_info {
            write!(self, ", sub_axis_info = ({}){}", info.pre_size, info.size);
        }
        self.push(">");
    }

    fn mesh_axis(&mut self, axis: &MeshAxis) {
        self.push("<name = ");
        self.string(axis.name.as_bytes());
        write!(self, ", size = {}>", axis.size);
    }

    fn mesh(&mut self, mesh: &Mesh) {
        self.push("#stablehlo.mesh<axes = [");
        self.list(&mesh.axes, Self::mesh_axis);
        self.push("]");
        if let Some(device_ids) = &mesh.device_ids {
            self.push(", device_ids = ");
            self.literal(device_ids);
        }
        self.push(">");
    }
}

fn dot_fields(numbers: &DotDimensionNumbers) -> [(&'static str, Field<'_>); 4] {
    [
        (
            "lhs_batching_dimensions",
            Field::List(&numbers.lhs_batching_dimensions),
        ),
        (
            "rhs_batching_dimensions",
            Field::List(&numbers.rhs_batching_dimensions),
        ),
        (
            "lhs_contracting_dimensions",
            Field::List(&numbers.lhs_contracting_dimensions),
        ),
        (
            "rhs_contracting_dimensions",
            Field::List(&numbers.rhs_contracting_dimensions),
        ),
    ]
}

/// What a dimension of a convolution is for.
#[derive(Clone, Copy, Debug)]
enum Role {
    /// `b`, `f`, `i` or `o`.
    Letter(char),
    /// Position among the spatial dimensions.
    Spatial(usize),
}

/// The role of each dimension of input, kernel and output.
#[derive(Debug)]
pub(super) struct ConvRoles([Vec<Role>; 3]);

impl ConvRoles {
    /// `None` unless each dimension has exactly one role.
    pub(super) fn of(numbers: &ConvDimensionNumbers) -> Option<Self> {
        let input = roles(
            [
                ('b', numbers.input_batch_dimension),
                ('f', numbers.input_feature_dimension),
            ],
            &numbers.input_spatial_dimensions,
        )?;
        let kernel = roles(
            [
                ('i', numbers.kernel_input_feature_dimension),
                ('o', numbers.kernel_output_feature_dimension),
            ],
            &numbers.kernel_spatial_dimensions,
        )?;
        let output = roles(
            [
                ('b', numbers.output_batch_dimension),
                ('f', numbers.output_feature_dimension),
            ],
            &numbers.output_spatial_dimensions,
        )?;
        Some(Self([input, kernel, output]))
    }
}

fn roles(letters: [(char, i64); 2], spatial: &[i64]) -> Option<Vec<Role>> {
    let mut roles = vec![None; letters.len() + spatial.len()];
    let letters = letters.into_iter().map(|(letter, at)| (Role::Letter(letter), at));
    let spatial = spatial
        .iter()
        .enumerate()
        .map(|(index, at)| (Role::Spatial(index), *at));
    for (role, at) in letters.chain(spatial) {
        let slot = roles.get_mut(usize::try_from(at).ok()?)?;
        if slot.replace(role).is_some() {
            return None;
        }
    }
    roles.into_iter().collect()
}
