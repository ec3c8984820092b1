//! Client-level operations (ODS: `ChloOps.td`). They have no VHLO form; exporters and tests use them all the same.

use super::{from, n, op_family};
use crate::attribute::{
    Attribute, ComparisonDirection, ComparisonType, PrecisionConfig, RaggedDotDimensionNumbers, op_attributes,
};
use crate::literal::Literal;

op_family! {
    /// Operations of the CHLO dialect.
    Chlo {
        /// A building block of complex arc sine and arc cosine: three results in one tensor are not needed outside.
        AsinAcosKernel = "chlo._asin_acos_kernel": n(1) => n(1),
        /// Arc cosine.
        Acos = "chlo.acos": n(1) => n(1),
        /// Inverse hyperbolic cosine.
        Acosh = "chlo.acosh": n(1) => n(1),
        /// Arc sine.
        Asin = "chlo.asin": n(1) => n(1),
        /// Inverse hyperbolic sine.
        Asinh = "chlo.asinh": n(1) => n(1),
        /// Arc tangent.
        Atan = "chlo.atan": n(1) => n(1),
        /// Inverse hyperbolic tangent.
        Atanh = "chlo.atanh": n(1) => n(1),
        /// Exponentially scaled modified Bessel function of order 1.
        BesselI1e = "chlo.bessel_i1e": n(1) => n(1),
        /// `add` with implicit broadcasting, as all `broadcast_` operations.
        BroadcastAdd(BroadcastBinary) = "chlo.broadcast_add": n(2) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastAnd(BroadcastBinary) = "chlo.broadcast_and": n(2) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastAtan2(BroadcastBinary) = "chlo.broadcast_atan2": n(2) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastCompare(BroadcastCompare) = "chlo.broadcast_compare": n(2) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastComplex(BroadcastBinary) = "chlo.broadcast_complex": n(2) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastDivide(BroadcastBinary) = "chlo.broadcast_divide": n(2) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastMaximum(BroadcastBinary) = "chlo.broadcast_maximum": n(2) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastMinimum(BroadcastBinary) = "chlo.broadcast_minimum": n(2) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastMultiply(BroadcastBinary) = "chlo.broadcast_multiply": n(2) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastNextAfter(BroadcastBinary) = "chlo.broadcast_next_after": n(2) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastOr(BroadcastBinary) = "chlo.broadcast_or": n(2) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastPolygamma(BroadcastBinary) = "chlo.broadcast_polygamma": n(2) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastPower(BroadcastBinary) = "chlo.broadcast_power": n(2) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastRemainder(BroadcastBinary) = "chlo.broadcast_remainder": n(2) => n(1),
        /// pred, on_true, on_false, broadcast together.
        BroadcastSelect = "chlo.broadcast_select": n(3) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastShiftLeft(BroadcastBinary) = "chlo.broadcast_shift_left": n(2) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastShiftRightArithmetic(BroadcastBinary) = "chlo.broadcast_shift_right_arithmetic": n(2) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastShiftRightLogical(BroadcastBinary) = "chlo.broadcast_shift_right_logical": n(2) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastSubtract(BroadcastBinary) = "chlo.broadcast_subtract": n(2) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastXor(BroadcastBinary) = "chlo.broadcast_xor": n(2) => n(1),
        /// See [`Chlo::BroadcastAdd`].
        BroadcastZeta(BroadcastBinary) = "chlo.broadcast_zeta": n(2) => n(1),
        /// Complex conjugate.
        Conj = "chlo.conj": n(1) => n(1),
        /// A value known when the program was made.
        Constant(ChloConstant) = "chlo.constant": n(0) => n(1),
        /// A splat in the shape of the operand.
        ConstantLike(Box<ChloConstantLike>) = "chlo.constant_like": n(1) => n(1),
        /// Hyperbolic cosine.
        Cosh = "chlo.cosh": n(1) => n(1),
        /// Logarithmic derivative of the gamma function.
        Digamma = "chlo.digamma": n(1) => n(1),
        /// Error function.
        Erf = "chlo.erf": n(1) => n(1),
        /// Inverse error function.
        ErfInv = "chlo.erf_inv": n(1) => n(1),
        /// Complementary error function.
        Erfc = "chlo.erfc": n(1) => n(1),
        /// Infinite.
        IsInf = "chlo.is_inf": n(1) => n(1),
        /// Negative infinity.
        IsNegInf = "chlo.is_neg_inf": n(1) => n(1),
        /// Positive infinity.
        IsPosInf = "chlo.is_pos_inf": n(1) => n(1),
        /// Logarithm of the magnitude of the gamma function.
        Lgamma = "chlo.lgamma": n(1) => n(1),
        /// High half of the product.
        Mulhi = "chlo.mulhi": n(2) => n(1),
        /// The neighbour of x towards y.
        NextAfter = "chlo.next_after": n(2) => n(1),
        /// n, x: derivative of order n of digamma.
        Polygamma = "chlo.polygamma": n(2) => n(1),
        /// lhs, rhs, group sizes.
        RaggedDot(Box<RaggedDot>) = "chlo.ragged_dot": n(3) => n(1),
        /// inputs, then initial values; the region takes slices and carries, and returns outputs and carries.
        Scan(Box<ChloScan>) = "chlo.scan": from(1) => from(1); regions n(1),
        /// Hyperbolic sine.
        Sinh = "chlo.sinh": n(1) => n(1),
        /// x * x.
        Square = "chlo.square": n(1) => n(1),
        /// Tangent.
        Tan = "chlo.tan": n(1) => n(1),
        /// The largest elements along the last dimension, and their positions.
        TopK(TopK) = "chlo.top_k": n(1) => n(2),
        /// x, q: Hurwitz zeta function.
        Zeta = "chlo.zeta": n(2) => n(1),
    }
}

op_attributes! {
    /// Attributes of the `broadcast_` operations.
    BroadcastBinary {
        /// The dimension of the larger operand for each one of the smaller; by default the trailing ones.
        broadcast_dimensions: Option<Vec<i64>> => optional,
    }

    /// Attributes of `broadcast_compare`.
    BroadcastCompare {
        /// As in [`BroadcastBinary`].
        broadcast_dimensions: Option<Vec<i64>> => optional,
        /// Which comparison.
        comparison_direction: ComparisonDirection => required,
        /// How values are ordered.
        compare_type: Option<ComparisonType> => optional,
    }

    /// Attributes of `chlo.constant`.
    ChloConstant {
        /// The value.
        value: Literal => required,
    }

    /// Attributes of `constant_like`.
    ChloConstantLike {
        /// An integer, float or complex number.
        value: Attribute => required,
    }

    /// Attributes of `ragged_dot`.
    RaggedDot {
        /// Roles of dimensions.
        ragged_dot_dimension_numbers: RaggedDotDimensionNumbers => required,
        /// Precision of each operand.
        precision_config: Option<PrecisionConfig> => neutral(PrecisionConfig::is_default),
    }

    /// Attributes of `scan`.
    ChloScan {
        /// The dimension that is scanned.
        dimension: i64 => required,
        /// Its size, where no input tells.
        scan_dim_size: Option<i64> => optional,
        /// From the last position to the first.
        is_reverse: bool => default(false),
        /// Whether the region is associative.
        is_associative: Option<bool> => optional,
        /// Number of inputs and of initial values.
        operand_segment_sizes: Option<Vec<i32>> => optional,
        /// Number of outputs and of final carries.
        result_segment_sizes: Option<Vec<i32>> => optional,
    }

    /// Attributes of `top_k`.
    TopK {
        /// How many.
        k: i64 => required,
        /// Whether equal elements keep their order.
        is_stable: bool => default(true),
    }
}
