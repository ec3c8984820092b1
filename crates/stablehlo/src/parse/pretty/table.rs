//! What the pretty form of each operation is made of (ODS: `assemblyFormat` in `StablehloOps.td`, `ChloOps.td`, and the
//! test dialects `check` and `interpreter`).

use std::collections::HashMap;
use std::sync::LazyLock;

use artifact_ir::attribute::{
    AttributeValue as _, ComparisonDirection, ComparisonType, FftType, RngAlgorithm, RngDistribution,
};

use super::Form::{Bare, Bool, F64, I32, I64, I64s, Keyword, Literal, String as Text, UI32, UI64};
use super::Piece::{Attribute, Dictionary, IfComma, LeadingOperands, Operand, Operands, Sign, Types, Word};
use super::signature::Signature;
use super::{Form, Own, Piece};
use crate::lex::Kind;
use crate::parse::dialect::keyword_attribute;

const COMMA: Piece = Sign(Kind::Comma);
const COLON: Piece = Sign(Kind::Colon);
const EQUAL: Piece = Sign(Kind::Equal);
const FUNCTIONAL: Piece = Types(Signature::Functional);
const SAME: Piece = Types(Signature::Same);
const RESULT: Piece = Types(Signature::Result);
const ALL_OPERANDS: Piece = Types(Signature::AllOperands);

/// Operands, attributes, then `(A) -> B`.
const PLAIN: &[Piece] = &[Operands, Dictionary, COLON, FUNCTIONAL];
const UNARY: &[Piece] = &[Operand, Dictionary, COLON, SAME];
const BINARY: &[Piece] = &[Operand, COMMA, Operand, Dictionary, COLON, SAME];
const NULLARY: &[Piece] = &[Dictionary, COLON, RESULT];
const CHLO_UNARY: &[Piece] = &[Operand, Dictionary, COLON, Types(Signature::Arrow)];
const CHLO_BINARY: &[Piece] = &[
    Operand,
    COMMA,
    Operand,
    Dictionary,
    COLON,
    Types(Signature::Arrow),
];
const CHLO_BROADCAST: &[Piece] = &[Operand, COMMA, Operand, Dictionary, COLON, FUNCTIONAL];
const RETURN: &[Piece] = &[Piece::Own(Own::Return)];
const TOLERANCE: Piece = IfComma(&[Word("tolerance"), EQUAL, Attribute("tolerance", F64)]);

const OPERAND_TYPE: Piece = Types(Signature::One);
const SHARDING: Piece = Attribute(
    "sharding",
    Bare(|parser| Ok(parser.tensor_sharding()?.to_attribute())),
);
const OUT_SHARDING: Piece = Attribute(
    "out_sharding",
    Bare(|parser| Ok(parser.tensor_sharding()?.to_attribute())),
);
const AXES_BY_DIMENSION: Form = Bare(|parser| Ok(parser.list_of_axis_ref_lists()?.to_attribute()));
const AXES: Form = Bare(|parser| Ok(parser.axis_ref_list()?.to_attribute()));

/// The pieces of a collective of Shardy: what it does, then ` %a out_sharding=<...> {...} : T`.
macro_rules! sharded {
    ($($piece:expr),*) => {
        &[$($piece,)* Operand, Word("out_sharding"), EQUAL, OUT_SHARDING, Dictionary, COLON, OPERAND_TYPE]
    };
}

type Row = (&'static [&'static str], &'static [Piece]);

const ROWS: &[Row] = &[
    (&["stablehlo.constant"], &[Piece::Own(Own::Constant)]),
    (
        &["stablehlo.iota"],
        &[
            Word("dim"),
            EQUAL,
            Attribute("iota_dimension", I64),
            Dictionary,
            COLON,
            RESULT,
        ],
    ),
    (
        &["stablehlo.dynamic_iota"],
        &[
            Operand,
            COMMA,
            Word("dim"),
            EQUAL,
            Attribute("iota_dimension", I64),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &[
            "stablehlo.create_token",
            "stablehlo.replica_id",
            "stablehlo.partition_id",
        ],
        NULLARY,
    ),
    (
        &[
            "stablehlo.abs",
            "stablehlo.cbrt",
            "stablehlo.ceil",
            "stablehlo.convert",
            "stablehlo.cosine",
            "stablehlo.count_leading_zeros",
            "stablehlo.exponential",
            "stablehlo.exponential_minus_one",
            "stablehlo.floor",
            "stablehlo.imag",
            "stablehlo.log",
            "stablehlo.log_plus_one",
            "stablehlo.logistic",
            "stablehlo.negate",
            "stablehlo.not",
            "stablehlo.popcnt",
            "stablehlo.real",
            "stablehlo.round_nearest_afz",
            "stablehlo.round_nearest_even",
            "stablehlo.rsqrt",
            "stablehlo.sign",
            "stablehlo.sine",
            "stablehlo.sqrt",
            "stablehlo.tan",
            "stablehlo.tanh",
            "stablehlo.uniform_dequantize",
            "stablehlo.uniform_quantize",
        ],
        UNARY,
    ),
    (
        &[
            "stablehlo.add",
            "stablehlo.and",
            "stablehlo.atan2",
            "stablehlo.divide",
            "stablehlo.maximum",
            "stablehlo.minimum",
            "stablehlo.multiply",
            "stablehlo.or",
            "stablehlo.power",
            "stablehlo.remainder",
            "stablehlo.shift_left",
            "stablehlo.shift_right_arithmetic",
            "stablehlo.shift_right_logical",
            "stablehlo.subtract",
            "stablehlo.xor",
        ],
        BINARY,
    ),
    (
        &[
            "stablehlo.is_finite",
            "stablehlo.dynamic_update_slice",
            "stablehlo.bitcast_convert",
            "stablehlo.reshape",
            "stablehlo.dynamic_reshape",
            "stablehlo.real_dynamic_slice",
            "stablehlo.dynamic_pad",
        ],
        PLAIN,
    ),
    (
        &["stablehlo.complex"],
        &[Operands, Dictionary, COLON, Types(Signature::Complex)],
    ),
    (
        &["stablehlo.select"],
        &[Operands, Dictionary, COLON, Types(Signature::Select)],
    ),
    (&["stablehlo.after_all"], &[Operands, Dictionary, COLON, SAME]),
    (&["stablehlo.while"], &[Piece::Own(Own::While)]),
    (&["stablehlo.reduce"], &[Piece::Own(Own::Reduce)]),
    (
        &["stablehlo.get_tuple_element"],
        &[
            Operand,
            Sign(Kind::LeftSquare),
            Attribute("index", I32),
            Sign(Kind::RightSquare),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.tuple"],
        &[Operands, Dictionary, COLON, Types(Signature::Tuple)],
    ),
    (
        &["stablehlo.compare"],
        &[
            Attribute(
                "comparison_direction",
                Keyword(keyword_attribute::<ComparisonDirection>),
            ),
            COMMA,
            Operand,
            COMMA,
            Operand,
            IfComma(&[Attribute(
                "compare_type",
                Keyword(keyword_attribute::<ComparisonType>),
            )]),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.slice"],
        &[
            Operand,
            Piece::Own(Own::SliceRanges),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.dynamic_slice"],
        &[
            Operand,
            COMMA,
            LeadingOperands,
            Word("sizes"),
            EQUAL,
            Attribute("slice_sizes", I64s),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.broadcast"],
        &[
            Operand,
            COMMA,
            Word("sizes"),
            EQUAL,
            Attribute("broadcast_sizes", I64s),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.broadcast_in_dim"],
        &[
            Operand,
            COMMA,
            Word("dims"),
            EQUAL,
            Attribute("broadcast_dimensions", I64s),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.dynamic_broadcast_in_dim"],
        &[
            Operand,
            COMMA,
            Operand,
            COMMA,
            Word("dims"),
            EQUAL,
            Attribute("broadcast_dimensions", I64s),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.cholesky"],
        &[
            Operand,
            IfComma(&[Word("lower"), EQUAL, Attribute("lower", Bool)]),
            Dictionary,
            COLON,
            SAME,
        ],
    ),
    (
        &["stablehlo.clamp"],
        &[Operand, COMMA, Operand, COMMA, Operand, Dictionary, COLON, SAME],
    ),
    (
        &["stablehlo.concatenate"],
        &[
            LeadingOperands,
            Word("dim"),
            EQUAL,
            Attribute("dimension", I64),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.composite"],
        &[
            Attribute("name", Text),
            Operands,
            Piece::Own(Own::CompositeRegions),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.convolution"],
        &[
            Sign(Kind::LeftParen),
            Operands,
            Sign(Kind::RightParen),
            Word("dim_numbers"),
            EQUAL,
            Piece::Own(Own::ConvolutionDimensions),
            COMMA,
            Word("window"),
            EQUAL,
            Sign(Kind::LeftBrace),
            Piece::Own(Own::Window),
            Sign(Kind::RightBrace),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.custom_call"],
        &[
            Piece::Own(Own::CallTarget),
            Sign(Kind::LeftParen),
            Operands,
            Sign(Kind::RightParen),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.dot"],
        &[
            Operand,
            COMMA,
            Operand,
            Piece::Own(Own::Precision),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.dot_general"],
        &[
            Operand,
            COMMA,
            Operand,
            COMMA,
            Piece::Own(Own::DotDimensions),
            Piece::Own(Own::PrecisionAndAlgorithm),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.einsum"],
        &[
            Operand,
            COMMA,
            Operand,
            COMMA,
            Word("config"),
            EQUAL,
            Attribute("einsum_config", Text),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.unary_einsum"],
        &[
            Operand,
            COMMA,
            Word("config"),
            EQUAL,
            Attribute("einsum_config", Text),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.fft"],
        &[
            Operand,
            COMMA,
            Word("type"),
            EQUAL,
            Attribute("fft_type", Keyword(keyword_attribute::<FftType>)),
            COMMA,
            Word("length"),
            EQUAL,
            Attribute("fft_length", I64s),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.get_dimension_size"],
        &[
            Operand,
            COMMA,
            Word("dim"),
            EQUAL,
            Attribute("dimension", I64),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.set_dimension_size"],
        &[
            Operand,
            COMMA,
            Operand,
            COMMA,
            Word("dim"),
            EQUAL,
            Attribute("dimension", I64),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.reverse"],
        &[
            Operand,
            COMMA,
            Word("dims"),
            EQUAL,
            Attribute("dimensions", I64s),
            Dictionary,
            COLON,
            SAME,
        ],
    ),
    (
        &["stablehlo.pad"],
        &[
            Operand,
            COMMA,
            Operand,
            COMMA,
            Word("low"),
            EQUAL,
            Attribute("edge_padding_low", I64s),
            COMMA,
            Word("high"),
            EQUAL,
            Attribute("edge_padding_high", I64s),
            COMMA,
            Word("interior"),
            EQUAL,
            Attribute("interior_padding", I64s),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.transpose"],
        &[
            Operand,
            COMMA,
            Word("dims"),
            EQUAL,
            Attribute("permutation", I64s),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["sdy.all_gather"],
        sharded![Attribute("gathering_axes", AXES_BY_DIMENSION)],
    ),
    (
        &["sdy.all_slice"],
        sharded![Attribute("slicing_axes", AXES_BY_DIMENSION)],
    ),
    (
        &["sdy.all_to_all"],
        sharded![Attribute(
            "params",
            Bare(|parser| Ok(parser.all_to_all_param_list()?.to_attribute()))
        )],
    ),
    (&["sdy.collective_permute"], sharded![]),
    (
        &["sdy.all_reduce"],
        sharded![Piece::Own(Own::ReductionOp), Attribute("reduction_axes", AXES)],
    ),
    (
        &["sdy.reduce_scatter"],
        sharded![
            Piece::Own(Own::ReductionOp),
            Attribute("reduce_scatter_axes", AXES_BY_DIMENSION)
        ],
    ),
    (
        &["sdy.sharded_to_unreduced"],
        sharded![Attribute("axes", AXES_BY_DIMENSION)],
    ),
    (
        &["sdy.replicated_to_unreduced"],
        sharded![Attribute("axes", AXES)],
    ),
    (
        &["sdy.sharding_constraint", "sdy.reshard"],
        &[Operand, SHARDING, Dictionary, COLON, OPERAND_TYPE],
    ),
    (
        &["sdy.sharding_group"],
        &[
            Operand,
            Word("group_id"),
            EQUAL,
            Attribute("group_id", I64),
            Dictionary,
            COLON,
            ALL_OPERANDS,
        ],
    ),
    (&["sdy.constant"], &[Piece::Own(Own::Constant)]),
    (
        &["sdy.data_flow_edge"],
        &[
            Operand,
            Piece::Own(Own::EdgeSharding),
            Dictionary,
            COLON,
            OPERAND_TYPE,
        ],
    ),
    (
        &["sdy.func_data_flow_edge"],
        &[Operand, Dictionary, COLON, OPERAND_TYPE],
    ),
    (
        &["sdy.propagation_barrier"],
        &[
            Operand,
            Word("allowed_direction"),
            EQUAL,
            Attribute("allowed_direction", Bare(|parser| parser.propagation_direction())),
            Dictionary,
            COLON,
            OPERAND_TYPE,
        ],
    ),
    (&["sdy.manual_computation"], &[Piece::Own(Own::ManualComputation)]),
    (&["sdy.named_computation"], &[Piece::Own(Own::NamedComputation)]),
    (&["sdy.return"], &[Dictionary, Piece::Own(Own::TypedOperands)]),
    (&["stablehlo.return", "func.return"], RETURN),
    (
        &["stablehlo.optimization_barrier"],
        &[Dictionary, Piece::Own(Own::Barrier)],
    ),
    (
        &["stablehlo.rng"],
        &[
            Operand,
            COMMA,
            Operand,
            COMMA,
            Operand,
            COMMA,
            Word("distribution"),
            EQUAL,
            Attribute("rng_distribution", Keyword(keyword_attribute::<RngDistribution>)),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.rng_bit_generator"],
        &[
            Operand,
            COMMA,
            Word("algorithm"),
            EQUAL,
            Attribute("rng_algorithm", Keyword(keyword_attribute::<RngAlgorithm>)),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &["stablehlo.reduce_precision"],
        &[
            Operand,
            COMMA,
            Word("format"),
            EQUAL,
            Piece::Own(Own::ExponentMantissa),
            Dictionary,
            COLON,
            SAME,
        ],
    ),
    (
        &["func.call"],
        &[
            Piece::Own(Own::Callee),
            Sign(Kind::LeftParen),
            Operands,
            Sign(Kind::RightParen),
            Dictionary,
            COLON,
            FUNCTIONAL,
        ],
    ),
    (
        &[
            "chlo._asin_acos_kernel",
            "chlo.acos",
            "chlo.acosh",
            "chlo.asin",
            "chlo.asinh",
            "chlo.atan",
            "chlo.atanh",
            "chlo.bessel_i1e",
            "chlo.conj",
            "chlo.cosh",
            "chlo.digamma",
            "chlo.erf",
            "chlo.erf_inv",
            "chlo.erfc",
            "chlo.is_inf",
            "chlo.is_neg_inf",
            "chlo.is_pos_inf",
            "chlo.lgamma",
            "chlo.sinh",
            "chlo.square",
            "chlo.tan",
        ],
        CHLO_UNARY,
    ),
    (
        &["chlo.mulhi", "chlo.next_after", "chlo.polygamma", "chlo.zeta"],
        CHLO_BINARY,
    ),
    (
        &[
            "chlo.broadcast_add",
            "chlo.broadcast_and",
            "chlo.broadcast_atan2",
            "chlo.broadcast_complex",
            "chlo.broadcast_divide",
            "chlo.broadcast_maximum",
            "chlo.broadcast_minimum",
            "chlo.broadcast_multiply",
            "chlo.broadcast_next_after",
            "chlo.broadcast_or",
            "chlo.broadcast_polygamma",
            "chlo.broadcast_power",
            "chlo.broadcast_remainder",
            "chlo.broadcast_shift_left",
            "chlo.broadcast_shift_right_arithmetic",
            "chlo.broadcast_shift_right_logical",
            "chlo.broadcast_subtract",
            "chlo.broadcast_xor",
            "chlo.broadcast_zeta",
        ],
        CHLO_BROADCAST,
    ),
    (
        &["chlo.broadcast_select"],
        &[
            Operand, COMMA, Operand, COMMA, Operand, Dictionary, COLON, FUNCTIONAL,
        ],
    ),
    (
        &["chlo.constant"],
        &[Dictionary, Attribute("value", Literal), Types(Signature::OfValue)],
    ),
    (
        &["chlo.top_k"],
        &[
            Sign(Kind::LeftParen),
            Operand,
            COMMA,
            Word("k"),
            EQUAL,
            Attribute("k", I64),
            IfComma(&[Word("is_stable"), EQUAL, Attribute("is_stable", Bool)]),
            Sign(Kind::RightParen),
            Dictionary,
            COLON,
            Types(Signature::Arrow),
        ],
    ),
    (&["chlo.scan"], &[Piece::Own(Own::Scan)]),
    (
        &["check.expect_eq"],
        &[Operand, COMMA, Operand, Dictionary, COLON, ALL_OPERANDS],
    ),
    (
        &["check.expect_eq_const"],
        &[Operand, COMMA, Attribute("value", Literal), Dictionary],
    ),
    (
        &["check.expect_almost_eq"],
        &[
            Operand,
            COMMA,
            Operand,
            TOLERANCE,
            Dictionary,
            COLON,
            ALL_OPERANDS,
        ],
    ),
    (
        &["check.expect_almost_eq_const"],
        &[Operand, COMMA, Attribute("value", Literal), TOLERANCE, Dictionary],
    ),
    (
        &["check.expect_close"],
        &[
            Operand,
            COMMA,
            Operand,
            COMMA,
            Word("max_ulp_difference"),
            EQUAL,
            Attribute("max_ulp_difference", UI64),
            IfComma(&[
                Word("min_ulp_difference"),
                EQUAL,
                Attribute("min_ulp_difference", UI64),
            ]),
            COLON,
            Dictionary,
            Types(Signature::EachOperand),
        ],
    ),
    (
        &["check.expect_serialized_eq"],
        &[
            Operand,
            COMMA,
            Word("probe_id"),
            EQUAL,
            Attribute("probe_id", Text),
            IfComma(&[Word("iter"), EQUAL, Attribute("iteration", UI32)]),
            Dictionary,
            COLON,
            ALL_OPERANDS,
        ],
    ),
    (
        &["interpreter.print"],
        &[Operand, Dictionary, COLON, ALL_OPERANDS],
    ),
    (
        &["interpreter.probe"],
        &[
            Operand,
            COMMA,
            Word("probe_id"),
            EQUAL,
            Attribute("probe_id", Text),
            Dictionary,
            COLON,
            SAME,
        ],
    ),
];

/// The pieces of the operation called `name`; `None` when it has no pretty form that we know.
pub(super) fn pieces(name: &str) -> Option<&'static [Piece]> {
    static BY_NAME: LazyLock<HashMap<&'static str, &'static [Piece]>> = LazyLock::new(|| {
        let names = ROWS
            .iter()
            .flat_map(|(names, pieces)| names.iter().map(move |name| (*name, *pieces)));
        names.collect()
    });
    BY_NAME.get(name).copied()
}

#[cfg(test)]
mod tests {
    use artifact_ir::op::OpSpec;

    use super::*;

    #[test]
    fn rows_name_operations_once() {
        let names: Vec<&str> = ROWS.iter().flat_map(|(names, _)| *names).copied().collect();
        for name in &names {
            assert!(OpSpec::find(name).is_some(), "{name} is no operation");
            assert_eq!(
                names.iter().filter(|other| *other == name).count(),
                1,
                "{name} stands twice"
            );
        }
    }
}
