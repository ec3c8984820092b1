//! The table of operations of VHLO, every version of each, with the versions of StableHLO that have it.

use super::row::Compound::{self, Algorithm, Convolution, Dot, Gather, Scatter};
use super::row::{
    Absent, AttributeRow, Form, OpRow, attribute, channel, field, flag, ints, ints_or, op, plain, plain_or,
};

const ACCURACY: &[AttributeRow] = &[plain_or("result_accuracy", Absent::DefaultAccuracy)];
const SORTED: AttributeRow = plain_or("indices_are_sorted", Absent::False);
const PRECISION: AttributeRow = plain_or("precision_config", Absent::DefaultPrecision);

/// Operations whose row needs no more than a name: in every version, without attributes.
pub(crate) const WITHOUT_ATTRIBUTES: &[&str] = &[
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
