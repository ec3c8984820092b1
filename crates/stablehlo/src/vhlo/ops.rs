//! Operations of VHLO, every version of each.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use artifact_ir::op::OpSpec;

use super::Version;

/// One version of an operation.
#[derive(Debug)]
pub(crate) struct OpRow {
    /// Its name in the dialect, version included: `tanh_v2`.
    pub(crate) name: &'static str,
    /// The first opset that has it.
    pub(crate) since: Version,
    /// The last one; `None` for the current one.
    pub(crate) until: Option<Version>,
    /// Its attributes in the order of bytecode, which is that of their names.
    pub(crate) attributes: &'static [AttributeRow],
    /// Whether it takes exactly one data operand where later versions take any number.
    pub(crate) single: bool,
    /// Whether its regions may be of another element type than its operands only from 0.17 on.
    pub(crate) reduces: bool,
}

/// An attribute of an operation.
#[derive(Debug)]
pub(crate) struct AttributeRow {
    /// Its name in VHLO.
    pub(crate) name: &'static str,
    /// What it is in StableHLO.
    pub(crate) form: Form,
    /// The value that stands for its absence in StableHLO, since VHLO has no optional attributes.
    pub(crate) absent: Absent,
}

/// How an attribute of VHLO is spelt in StableHLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The same, by the general rules.
    Plain,
    /// A dense array of `i64`; in VHLO a tensor.
    Ints,
    /// A dense array of `i1`; in VHLO a tensor.
    Bools,
    /// A symbol; in VHLO a string.
    Symbol,
    /// An array of symbols; in VHLO of strings.
    Symbols,
    /// A unit attribute; in VHLO a boolean.
    Flag,
    /// `channel_handle`, of which VHLO keeps the number.
    Channel,
    /// A field of a compound attribute, which VHLO spreads out.
    Field(Compound),
}

/// Attributes of StableHLO that are several in VHLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compound {
    /// `dimension_numbers` of `gather` and `dynamic_gather`.
    Gather,
    /// `scatter_dimension_numbers`.
    Scatter,
    /// `dot_dimension_numbers`.
    Dot,
    /// `algorithm` of `dot_general`.
    Algorithm,
    /// `dimension_numbers` of the convolutions.
    Convolution,
    /// `channel_handle` of `send` and `recv`.
    Channel,
}

/// What stands in VHLO for an attribute that is absent in StableHLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// Nothing: it is never absent.
    Never,
    /// `false`.
    False,
    /// An integer: `i64`, or `i32` where `narrow`.
    Integer { value: i64, narrow: bool },
    /// `""`.
    EmptyString,
    /// `""`, or `{}` where the calling convention is the typed one.
    EmptyConfig,
    /// `[]`.
    EmptyArray,
    /// `[]`, and so is the other list of layouts.
    EmptyLayouts,
    /// `{}`.
    EmptyDictionary,
    /// A tensor of no `i64`.
    EmptyInts,
    /// Ones, one for each dimension of the window.
    Ones,
    /// Zeros, two for each dimension of the window.
    NoPadding,
    /// Falses, one for each dimension of the window.
    Falses,
    /// `DEFAULT` for each of the two operands.
    DefaultPrecision,
    /// `NOTYPE`.
    NoType,
    /// `API_VERSION_ORIGINAL`.
    OriginalApi,
    /// The accuracy that asks for nothing.
    DefaultAccuracy,
    /// The type `none`.
    NoneType,
}

const fn attribute(name: &'static str, form: Form, absent: Absent) -> AttributeRow {
    AttributeRow { name, form, absent }
}

const fn plain(name: &'static str) -> AttributeRow {
    attribute(name, Form::Plain, Absent::Never)
}

const fn plain_or(name: &'static str, absent: Absent) -> AttributeRow {
    attribute(name, Form::Plain, absent)
}

const fn ints(name: &'static str) -> AttributeRow {
    attribute(name, Form::Ints, Absent::Never)
}

const fn ints_or(name: &'static str, absent: Absent) -> AttributeRow {
    attribute(name, Form::Ints, absent)
}

const fn flag(name: &'static str) -> AttributeRow {
    attribute(name, Form::Flag, Absent::False)
}

const fn field(name: &'static str, compound: Compound) -> AttributeRow {
    let absent = match compound {
        Compound::Algorithm => Absent::NoneType,
        _ => Absent::Never,
    };
    attribute(name, Form::Field(compound), absent)
}

const fn channel() -> AttributeRow {
    let absent = Absent::Integer {
        value: 0,
        narrow: false,
    };
    attribute("channel_id", Form::Channel, absent)
}

const fn op(name: &'static str, since: &str, attributes: &'static [AttributeRow]) -> OpRow {
    OpRow {
        name,
        since: Version::literal(since),
        until: None,
        attributes,
        single: false,
        reduces: false,
    }
}

impl OpRow {
    const fn until(self, last: &str) -> Self {
        let until = Some(Version::literal(last));
        Self { until, ..self }
    }

    const fn single(self) -> Self {
        Self { single: true, ..self }
    }

    const fn reduces(self) -> Self {
        Self {
            reduces: true,
            ..self
        }
    }

    /// Whether an opset has it.
    pub(crate) fn is_in(&self, version: Version) -> bool {
        self.since <= version && self.until.is_none_or(|until| version <= until)
    }
}

const ACCURACY: &[AttributeRow] = &[plain_or("result_accuracy", Absent::DefaultAccuracy)];
const SORTED: AttributeRow = plain_or("indices_are_sorted", Absent::False);
const PRECISION: AttributeRow = plain_or("precision_config", Absent::DefaultPrecision);

use Compound::{Algorithm, Convolution, Dot, Gather, Scatter};

/// Operations whose row needs no more than a name: in every version, without attributes.
const WITHOUT_ATTRIBUTES: &[&str] = &[
    "abs_v1",
    "add_v1",
    "after_all_v1",
    "and_v1",
    "atan2_v1",
    "bitcast_convert_v1",
    "case_v1",
    "ceil_v1",
    "clamp_v1",
    "complex_v1",
    "convert_v1",
    "count_leading_zeros_v1",
    "create_token_v1",
    "divide_v1",
    "dynamic_pad_v1",
    "dynamic_reshape_v1",
    "dynamic_update_slice_v1",
    "floor_v1",
    "if_v1",
    "imag_v1",
    "is_finite_v1",
    "maximum_v1",
    "minimum_v1",
    "multiply_v1",
    "negate_v1",
    "not_v1",
    "optimization_barrier_v1",
    "or_v1",
    "partition_id_v1",
    "popcnt_v1",
    "power_v1",
    "real_dynamic_slice_v1",
    "real_v1",
    "remainder_v1",
    "replica_id_v1",
    "reshape_v1",
    "return_v1",
    "round_nearest_afz_v1",
    "round_nearest_even_v1",
    "select_v1",
    "shift_left_v1",
    "shift_right_arithmetic_v1",
    "shift_right_logical_v1",
    "sign_v1",
    "subtract_v1",
    "tuple_v1",
    "uniform_dequantize_v1",
    "uniform_quantize_v1",
    "while_v1",
    "xor_v1",
];

/// All others, `func_v1` apart, which is a function and not an operation here.
pub(crate) const OPS: &[OpRow] = &[
    op(
        "all_gather_v1",
        "0.9",
        &[
            plain("all_gather_dim"),
            channel(),
            plain("replica_groups"),
            flag("use_global_device_ids"),
        ],
    )
    .until("1.4")
    .single(),
    op(
        "all_gather_v2",
        "1.5",
        &[
            plain("all_gather_dim"),
            channel(),
            plain("replica_groups"),
            flag("use_global_device_ids"),
        ],
    ),
    op(
        "all_reduce_v1",
        "0.9",
        &[channel(), plain("replica_groups"), flag("use_global_device_ids")],
    )
    .until("1.4")
    .single()
    .reduces(),
    op(
        "all_reduce_v2",
        "1.5",
        &[channel(), plain("replica_groups"), flag("use_global_device_ids")],
    ),
    op("all_to_all_v1", "0.9", ALL_TO_ALL).until("1.4").single(),
    op("all_to_all_v2", "1.5", ALL_TO_ALL),
    op("async_done_v1", "1.15", &[]),
    op("async_start_v1", "1.15", &[]),
    op(
        "batch_norm_grad_v1",
        "0.9",
        &[plain("epsilon"), plain("feature_index")],
    ),
    op(
        "batch_norm_inference_v1",
        "0.9",
        &[plain("epsilon"), plain("feature_index")],
    ),
    op(
        "batch_norm_training_v1",
        "0.9",
        &[plain("epsilon"), plain("feature_index")],
    ),
    op("broadcast_in_dim_v1", "0.9", &[ints("broadcast_dimensions")]),
    op("broadcast_v1", "0.9", &[ints("broadcast_sizes")]),
    op(
        "call_v1",
        "0.9",
        &[attribute("callee", Form::Symbol, Absent::Never)],
    ),
    op("cbrt_v1", "0.9", &[]).until("1.9"),
    op("cbrt_v2", "1.10", ACCURACY),
    op("cholesky_v1", "0.9", &[plain_or("lower", Absent::False)]),
    op(
        "collective_broadcast_v1",
        "0.16",
        &[channel(), plain("replica_groups")],
    )
    .until("1.19")
    .single(),
    op(
        "collective_broadcast_v2",
        "1.20",
        &[channel(), flag("has_dynamic_root"), plain("replica_groups")],
    ),
    op(
        "collective_permute_v1",
        "0.9",
        &[channel(), plain("source_target_pairs")],
    ),
    op(
        "collective_reduce_v1",
        "1.19",
        &[
            channel(),
            flag("has_dynamic_root"),
            plain("replica_groups"),
            flag("use_global_device_ids"),
        ],
    ),
    op(
        "compare_v1",
        "0.9",
        &[
            plain_or("compare_type", Absent::NoType),
            plain("comparison_direction"),
        ],
    ),
    op("composite_v1", "0.19", COMPOSITE).until("1.13"),
    op("composite_v2", "1.14", COMPOSITE),
    op("concatenate_v1", "0.9", &[plain("dimension")]),
    op("constant_v1", "0.9", &[plain("value")]),
    op("convolution_v1", "0.9", CONVOLUTION),
    op("cosine_v1", "0.9", &[]).until("1.9"),
    op("cosine_v2", "1.10", ACCURACY),
    op("cross-replica-sum_v1", "0.9", &[plain("replica_groups")]),
    op(
        "custom_call_v1",
        "0.9",
        &[
            plain_or("api_version", Absent::OriginalApi),
            plain_or("backend_config", Absent::EmptyConfig),
            plain("call_target_name"),
            attribute("called_computations", Form::Symbols, Absent::EmptyArray),
            plain_or("has_side_effect", Absent::False),
            plain_or("operand_layouts", Absent::EmptyLayouts),
            plain_or("output_operand_aliases", Absent::EmptyArray),
            plain_or("result_layouts", Absent::EmptyLayouts),
        ],
    )
    .until("1.17"),
    op(
        "custom_call_v2",
        "1.18",
        &[
            plain_or("api_version", Absent::OriginalApi),
            plain_or("backend_config", Absent::EmptyConfig),
            plain("call_target_name"),
            attribute("called_computations", Form::Symbols, Absent::EmptyArray),
            plain_or("has_side_effect", Absent::False),
            plain_or("operand_layouts", Absent::EmptyLayouts),
            plain_or("output_operand_aliases", Absent::EmptyArray),
            plain_or("result_layouts", Absent::EmptyLayouts),
            plain_or("result_tilings", Absent::EmptyArray),
        ],
    ),
    op(
        "dot_general_v1",
        "0.9",
        &[
            field("lhs_batching_dimensions", Dot),
            field("lhs_contracting_dimensions", Dot),
            PRECISION,
            field("rhs_batching_dimensions", Dot),
            field("rhs_contracting_dimensions", Dot),
        ],
    )
    .until("1.5"),
    op(
        "dot_general_v2",
        "1.6",
        &[
            field("accumulation_type", Algorithm),
            field("allow_imprecise_accumulation", Algorithm),
            field("lhs_batching_dimensions", Dot),
            field("lhs_component_count", Algorithm),
            field("lhs_contracting_dimensions", Dot),
            field("lhs_precision_type", Algorithm),
            field("num_primitive_operations", Algorithm),
            PRECISION,
            field("rhs_batching_dimensions", Dot),
            field("rhs_component_count", Algorithm),
            field("rhs_contracting_dimensions", Dot),
            field("rhs_precision_type", Algorithm),
        ],
    ),
    op("dot_v1", "0.9", &[PRECISION]),
    op(
        "dynamic_broadcast_in_dim_v1",
        "0.9",
        &[
            ints("broadcast_dimensions"),
            ints_or("known_expanding_dimensions", Absent::EmptyInts),
            ints_or("known_nonexpanding_dimensions", Absent::EmptyInts),
        ],
    ),
    // Until 0.19 the padding is an operand and an attribute that does not count.
    op("dynamic_conv_v1", "0.9", CONVOLUTION).until("0.19"),
    op(
        "dynamic_conv_v2",
        "0.20",
        &[
            plain("batch_group_count"),
            plain("feature_group_count"),
            field("input_batch_dimension", Convolution),
            field("input_feature_dimension", Convolution),
            field("input_spatial_dimensions", Convolution),
            field("kernel_input_feature_dimension", Convolution),
            field("kernel_output_feature_dimension", Convolution),
            field("kernel_spatial_dimensions", Convolution),
            ints_or("lhs_dilation", Absent::Ones),
            field("output_batch_dimension", Convolution),
            field("output_feature_dimension", Convolution),
            field("output_spatial_dimensions", Convolution),
            PRECISION,
            ints_or("rhs_dilation", Absent::Ones),
            attribute("window_reversal", Form::Bools, Absent::Falses),
            ints_or("window_strides", Absent::Ones),
        ],
    ),
    op(
        "dynamic_gather_v1",
        "0.9",
        &[
            field("collapsed_slice_dims", Gather),
            field("index_vector_dim", Gather),
            SORTED,
            field("offset_dims", Gather),
            field("start_index_map", Gather),
        ],
    )
    .until("1.0"),
    op(
        "dynamic_gather_v2",
        "1.1",
        &[
            field("collapsed_slice_dims", Gather),
            field("index_vector_dim", Gather),
            SORTED,
            field("offset_dims", Gather),
            field("operand_batching_dims", Gather),
            field("start_index_map", Gather),
            field("start_indices_batching_dims", Gather),
        ],
    ),
    op("dynamic_iota_v1", "0.9", &[plain("iota_dimension")]),
    op("dynamic_slice_v1", "0.9", &[ints("slice_sizes")]),
    op("einsum_v1", "0.9", &[plain("einsum_config")]),
    op("exponential_minus_one_v1", "0.9", &[]).until("1.9"),
    op("exponential_minus_one_v2", "1.10", ACCURACY),
    op("exponential_v1", "0.9", &[]).until("1.8"),
    op("exponential_v2", "1.9", ACCURACY),
    op("fft_v1", "0.9", &[ints("fft_length"), plain("fft_type")]),
    op(
        "gather_v1",
        "0.9",
        &[
            field("collapsed_slice_dims", Gather),
            field("index_vector_dim", Gather),
            SORTED,
            field("offset_dims", Gather),
            ints("slice_sizes"),
            field("start_index_map", Gather),
        ],
    )
    .until("1.0"),
    op(
        "gather_v2",
        "1.1",
        &[
            field("collapsed_slice_dims", Gather),
            field("index_vector_dim", Gather),
            SORTED,
            field("offset_dims", Gather),
            field("operand_batching_dims", Gather),
            ints("slice_sizes"),
            field("start_index_map", Gather),
            field("start_indices_batching_dims", Gather),
        ],
    ),
    op("get_dimension_size_v1", "0.9", &[plain("dimension")]),
    op("get_tuple_element_v1", "0.9", &[plain("index")]),
    op(
        "infeed_v1",
        "0.9",
        &[
            plain_or("infeed_config", Absent::EmptyString),
            plain_or("layout", Absent::EmptyArray),
        ],
    ),
    op("iota_v1", "0.9", &[plain("iota_dimension")]),
    op("log_plus_one_v1", "0.9", &[]).until("1.9"),
    op("log_plus_one_v2", "1.10", ACCURACY),
    op("log_v1", "0.9", &[]).until("1.9"),
    op("log_v2", "1.10", ACCURACY),
    op("logistic_v1", "0.9", &[]).until("1.9"),
    op("logistic_v2", "1.10", ACCURACY),
    op("map_v1", "0.9", &[ints("dimensions")]),
    op(
        "outfeed_v1",
        "0.9",
        &[plain_or("outfeed_config", Absent::EmptyString)],
    ),
    op(
        "pad_v1",
        "0.9",
        &[
            ints("edge_padding_high"),
            ints("edge_padding_low"),
            ints("interior_padding"),
        ],
    ),
    op("recv_v1", "0.9", SEND).until("1.11"),
    op("recv_v2", "1.12", SEND_PAIRS),
    op(
        "reduce_precision_v1",
        "0.9",
        &[plain("exponent_bits"), plain("mantissa_bits")],
    ),
    op(
        "reduce_scatter_v1",
        "0.9",
        &[
            channel(),
            plain("replica_groups"),
            plain("scatter_dimension"),
            flag("use_global_device_ids"),
        ],
    )
    .reduces(),
    op("reduce_v1", "0.9", &[ints("dimensions")]).reduces(),
    op(
        "reduce_window_v1",
        "0.9",
        &[
            ints_or("base_dilations", Absent::Ones),
            plain_or("padding", Absent::NoPadding),
            ints_or("window_dilations", Absent::Ones),
            ints("window_dimensions"),
            ints_or("window_strides", Absent::Ones),
        ],
    )
    .reduces(),
    op("reverse_v1", "0.9", &[ints("dimensions")]),
    op("rng_bit_generator_v1", "0.9", &[plain("rng_algorithm")]),
    op("rng_v1", "0.9", &[plain("rng_distribution")]),
    op("rsqrt_v1", "0.9", &[]).until("1.9"),
    op("rsqrt_v2", "1.10", ACCURACY),
    op(
        "scatter_v1",
        "0.9",
        &[
            field("index_vector_dim", Scatter),
            SORTED,
            field("inserted_window_dims", Scatter),
            field("scatter_dims_to_operand_dims", Scatter),
            plain_or("unique_indices", Absent::False),
            field("update_window_dims", Scatter),
        ],
    )
    .until("1.0")
    .reduces(),
    op(
        "scatter_v2",
        "1.1",
        &[
            field("index_vector_dim", Scatter),
            SORTED,
            field("input_batching_dims", Scatter),
            field("inserted_window_dims", Scatter),
            field("scatter_dims_to_operand_dims", Scatter),
            field("scatter_indices_batching_dims", Scatter),
            plain_or("unique_indices", Absent::False),
            field("update_window_dims", Scatter),
        ],
    ),
    op(
        "select_and_scatter_v1",
        "0.9",
        &[
            plain_or("padding", Absent::NoPadding),
            ints_or("window_dimensions", Absent::Ones),
            ints_or("window_strides", Absent::Ones),
        ],
    )
    .reduces(),
    op("send_v1", "0.9", SEND).until("1.11"),
    op("send_v2", "1.12", SEND_PAIRS),
    op("set_dimension_size_v1", "0.9", &[plain("dimension")]),
    op("sine_v1", "0.9", &[]).until("1.9"),
    op("sine_v2", "1.10", ACCURACY),
    op(
        "slice_v1",
        "0.9",
        &[ints("limit_indices"), ints("start_indices"), ints("strides")],
    ),
    op(
        "sort_v1",
        "0.9",
        &[
            plain_or(
                "dimension",
                Absent::Integer {
                    value: -1,
                    narrow: false,
                },
            ),
            plain_or("is_stable", Absent::False),
        ],
    ),
    op("sqrt_v1", "0.9", &[]).until("1.9"),
    op("sqrt_v2", "1.10", ACCURACY),
    op("tan_v1", "1.4", &[]).until("1.9"),
    op("tan_v2", "1.10", ACCURACY),
    op("tanh_v1", "0.9", &[]).until("1.9"),
    op("tanh_v2", "1.10", ACCURACY),
    op(
        "torch_index_select_v1",
        "0.9",
        &[plain("batch_dims"), plain("dim")],
    ),
    op("transpose_v1", "0.9", &[ints("permutation")]),
    op(
        "triangular_solve_v1",
        "0.9",
        &[
            plain("left_side"),
            plain("lower"),
            plain("transpose_a"),
            plain("unit_diagonal"),
        ],
    ),
    op("unary_einsum_v1", "0.9", &[plain("einsum_config")]),
];

const ALL_TO_ALL: &[AttributeRow] = &[
    channel(),
    plain("concat_dimension"),
    plain("replica_groups"),
    plain("split_count"),
    plain("split_dimension"),
];

const COMPOSITE: &[AttributeRow] = &[
    plain_or("composite_attributes", Absent::EmptyDictionary),
    attribute("decomposition", Form::Symbol, Absent::Never),
    plain("name"),
    plain_or(
        "version",
        Absent::Integer {
            value: 0,
            narrow: true,
        },
    ),
];

const CONVOLUTION: &[AttributeRow] = &[
    plain("batch_group_count"),
    plain("feature_group_count"),
    field("input_batch_dimension", Convolution),
    field("input_feature_dimension", Convolution),
    field("input_spatial_dimensions", Convolution),
    field("kernel_input_feature_dimension", Convolution),
    field("kernel_output_feature_dimension", Convolution),
    field("kernel_spatial_dimensions", Convolution),
    ints_or("lhs_dilation", Absent::Ones),
    field("output_batch_dimension", Convolution),
    field("output_feature_dimension", Convolution),
    field("output_spatial_dimensions", Convolution),
    plain_or("padding", Absent::NoPadding),
    PRECISION,
    ints_or("rhs_dilation", Absent::Ones),
    attribute("window_reversal", Form::Bools, Absent::Falses),
    ints_or("window_strides", Absent::Ones),
];

const SEND: &[AttributeRow] = &[
    field("channel_id", Compound::Channel),
    field("channel_type", Compound::Channel),
    plain_or("is_host_transfer", Absent::False),
];

const SEND_PAIRS: &[AttributeRow] = &[
    field("channel_id", Compound::Channel),
    field("channel_type", Compound::Channel),
    plain_or("is_host_transfer", Absent::False),
    plain_or("source_target_pairs", Absent::EmptyInts),
];

/// A row with what it means, found once.
#[derive(Debug)]
pub(crate) struct VersionedOp {
    /// The row.
    pub(crate) row: OpRow,
    /// The operation; `None` for `return_v1`, which is one of two.
    pub(crate) spec: Option<&'static OpSpec>,
    /// The names of the row's attributes.
    pub(crate) names: Vec<Arc<str>>,
    /// The attributes of the newest version, in the order of their names, and since when they are there.
    pub(crate) newest: &'static [AttributeRow],
    /// Whether what stands for an absent attribute depends on the operands.
    pub(crate) depends_on_rank: bool,
}

/// Every operation, by name in VHLO and by name in StableHLO.
#[derive(Debug)]
pub(crate) struct Opset {
    ops: Vec<VersionedOp>,
    by_name: HashMap<&'static str, usize>,
    by_op: HashMap<&'static str, Vec<usize>>,
}

impl Opset {
    /// The one table.
    pub(crate) fn get() -> &'static Self {
        static OPSET: LazyLock<Opset> = LazyLock::new(Opset::new);
        &OPSET
    }

    /// The operation called `name` in VHLO, such as `tanh_v2`.
    pub(crate) fn versioned(&self, name: &str) -> Option<&VersionedOp> {
        self.by_name.get(name).map(|index| &self.ops[*index])
    }

    /// The versions of an operation called `name` in StableHLO, oldest first; none for one without a form in VHLO.
    pub(crate) fn versions(&self, name: &str) -> impl Iterator<Item = &VersionedOp> {
        let indices = self.by_op.get(name).map(Vec::as_slice).unwrap_or_default();
        indices.iter().map(|index| &self.ops[*index])
    }

    fn new() -> Self {
        let plain = WITHOUT_ATTRIBUTES.iter().map(|name| op(name, "0.9", &[]));
        let mut opset = Self {
            ops: Vec::new(),
            by_name: HashMap::new(),
            by_op: HashMap::new(),
        };
        for row in plain.chain(OPS.iter().map(OpRow::copied)) {
            opset.add(row);
        }
        opset
    }

    fn add(&mut self, row: OpRow) {
        let base = row.name.rsplit_once("_v").map_or(row.name, |(base, _)| base);
        let newest = OPS
            .iter()
            .rfind(|other| other.name.rsplit_once("_v").map(|(base, _)| base) == Some(base));
        let names: &[String] = match base {
            "return" => &["stablehlo.return".to_owned(), "func.return".to_owned()],
            "call" => &["func.call".to_owned()],
            base => &[format!("stablehlo.{base}")],
        };
        let specs: Vec<_> = names.iter().filter_map(|name| OpSpec::find(name)).collect();
        let index = self.ops.len();
        for spec in &specs {
            self.by_op.entry(spec.name).or_default().push(index);
        }
        self.by_name.insert(row.name, index);
        self.ops.push(VersionedOp {
            spec: if specs.len() == 1 {
                specs.first().copied()
            } else {
                None
            },
            names: row
                .attributes
                .iter()
                .map(|attribute| attribute.name.into())
                .collect(),
            newest: newest.map_or(&[], |newest| newest.attributes),
            depends_on_rank: row.attributes.iter().any(|attribute| {
                matches!(
                    attribute.absent,
                    Absent::Ones | Absent::NoPadding | Absent::Falses
                )
            }),
            row,
        });
    }
}

impl OpRow {
    const fn copied(&self) -> Self {
        Self { ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order() {
        for pair in OPS.windows(2) {
            assert!(pair[0].name < pair[1].name, "{}", pair[1].name);
        }
        for row in OPS {
            for pair in row.attributes.windows(2) {
                assert!(pair[0].name < pair[1].name, "{}: {}", row.name, pair[1].name);
            }
        }
    }

    #[test]
    fn versions_follow_each_other() {
        let opset = Opset::get();
        for spec in OpSpec::all() {
            let versions: Vec<_> = opset.versions(spec.name).collect();
            for pair in versions.windows(2) {
                let until = pair[0].row.until.unwrap();
                let since = pair[1].row.since;
                let next = Version::new(until.major, until.minor + 1, 0);
                // 0.20 is followed by 1.0.
                assert!(since == next || until == Version::new(0, 20, 0), "{}", spec.name);
            }
            if let Some(last) = versions.last() {
                assert_eq!(last.row.until, None, "{}", spec.name);
            }
        }
    }

    #[test]
    fn every_stablehlo_operation_has_a_form() {
        let opset = Opset::get();
        let without: Vec<&str> = OpSpec::all()
            .map(|spec| spec.name)
            .filter(|name| name.starts_with("stablehlo.") && opset.versions(name).next().is_none())
            .collect();
        assert_eq!(without, [""; 0]);
        let rows = WITHOUT_ATTRIBUTES.len() + OPS.len();
        // VhloOps.td of 1.20.0 has 145 operations, `func_v1` among them.
        assert_eq!(rows + 1, 145);
        let unknown: Vec<&str> = opset
            .ops
            .iter()
            .filter(|op| op.spec.is_none() && op.row.name != "return_v1")
            .map(|op| op.row.name)
            .collect();
        assert_eq!(unknown, [""; 0]);
    }
}
