//! Products: dot and convolution.

use super::{all_false, all_ones, n, op_family};
use crate::attribute::{
    ByteString, ConvDimensionNumbers, DotAlgorithm, DotDimensionNumbers, Padding, PrecisionConfig,
    op_attributes,
};

op_family! {
    /// Products of two tensors.
    Contraction {
        /// lhs, rhs.
        Convolution(Box<Convolution>) = "stablehlo.convolution": n(2) => n(1),
        /// Vector and matrix products (legacy; `dot_general` says the same).
        Dot(Dot) = "stablehlo.dot": n(2) => n(1),
        /// lhs, rhs.
        DotGeneral(Box<DotGeneral>) = "stablehlo.dot_general": n(2) => n(1),
        /// lhs, rhs, padding.
        DynamicConv(Box<Convolution>) = "stablehlo.dynamic_conv": n(3) => n(1),
        /// lhs, rhs (legacy; `dot_general` says the same).
        Einsum(Einsum) = "stablehlo.einsum": n(2) => n(1),
        /// operand (legacy).
        UnaryEinsum(Einsum) = "stablehlo.unary_einsum": n(1) => n(1),
    }
}

op_attributes! {
    /// Attributes of `dot`.
    Dot {
        /// Precision of each operand.
        precision_config: Option<PrecisionConfig> => neutral(PrecisionConfig::is_default),
    }

    /// Attributes of `dot_general`.
    DotGeneral {
        /// Batching and contracting dimensions.
        dot_dimension_numbers: DotDimensionNumbers => required,
        /// Precision of each operand.
        precision_config: Option<PrecisionConfig> => neutral(PrecisionConfig::is_default),
        /// Constraints on the algorithm.
        algorithm: Option<DotAlgorithm> => optional,
    }

    /// Attributes of `convolution` and `dynamic_conv`. Absent strides and dilations are 1, absent padding is 0.
    Convolution {
        /// Distance between windows.
        window_strides: Option<Vec<i64>> => neutral(all_ones),
        /// Padding of each spatial dimension; `dynamic_conv` has it as an operand.
        padding: Option<Padding> => neutral(Padding::is_zero),
        /// Distance between neighbouring input elements.
        lhs_dilation: Option<Vec<i64>> => neutral(all_ones),
        /// Distance between neighbouring kernel elements.
        rhs_dilation: Option<Vec<i64>> => neutral(all_ones),
        /// Whether the kernel is reversed in each spatial dimension.
        window_reversal: Option<Vec<bool>> => neutral(all_false),
        /// The role of each dimension.
        dimension_numbers: ConvDimensionNumbers => required,
        /// Number of groups that features are cut into.
        feature_group_count: i64 => required,
        /// Number of groups that the batch is cut into.
        batch_group_count: i64 => required,
        /// Precision of each operand.
        precision_config: Option<PrecisionConfig> => neutral(PrecisionConfig::is_default),
    }

    /// Attributes of `einsum` and `unary_einsum`.
    Einsum {
        /// The equation, such as `ab,bc->ac`.
        einsum_config: ByteString => required,
    }
}
