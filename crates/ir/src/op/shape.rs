//! Data movement that depends on shapes and small attributes only, and operations on sizes.

use super::{from, n, op_family};
use crate::attribute::op_attributes;

op_family! {
    /// Data movement and sizes.
    Shape {
        /// Adds leading dimensions (legacy; `broadcast_in_dim` says the same).
        Broadcast(Broadcast) = "stablehlo.broadcast": n(1) => n(1),
        /// Repeats along new dimensions and dimensions of size 1.
        BroadcastInDim(BroadcastInDim) = "stablehlo.broadcast_in_dim": n(1) => n(1),
        /// Joins along a dimension.
        Concatenate(Concatenate) = "stablehlo.concatenate": from(1) => n(1),
        /// `broadcast_in_dim` with the result's shape as an operand.
        DynamicBroadcastInDim(Box<DynamicBroadcastInDim>) = "stablehlo.dynamic_broadcast_in_dim": n(2) => n(1),
        /// operand, padding value, low, high, interior.
        DynamicPad = "stablehlo.dynamic_pad": n(5) => n(1),
        /// `reshape` with the result's shape as an operand.
        DynamicReshape = "stablehlo.dynamic_reshape": n(2) => n(1),
        /// operand, then one start index a dimension.
        DynamicSlice(DynamicSlice) = "stablehlo.dynamic_slice": from(1) => n(1),
        /// operand, update, then one start index a dimension.
        DynamicUpdateSlice = "stablehlo.dynamic_update_slice": from(2) => n(1),
        /// The size of a dimension, as an `i32` scalar.
        GetDimensionSize(DimensionSize) = "stablehlo.get_dimension_size": n(1) => n(1),
        /// operand, padding value.
        Pad(Box<Pad>) = "stablehlo.pad": n(2) => n(1),
        /// operand, starts, limits, strides (not in the specification; symbolic exports emit it).
        RealDynamicSlice = "stablehlo.real_dynamic_slice": n(4) => n(1),
        /// The same elements in another shape.
        Reshape = "stablehlo.reshape": n(1) => n(1),
        /// Reverses the order along dimensions.
        Reverse(Reverse) = "stablehlo.reverse": n(1) => n(1),
        /// operand, size: bounded dynamism.
        SetDimensionSize(DimensionSize) = "stablehlo.set_dimension_size": n(2) => n(1),
        /// A strided part.
        Slice(Box<Slice>) = "stablehlo.slice": n(1) => n(1),
        /// Permutes dimensions.
        Transpose(Transpose) = "stablehlo.transpose": n(1) => n(1),
    }
}

op_attributes! {
    /// Attributes of `broadcast`.
    Broadcast {
        /// Sizes of the new leading dimensions.
        broadcast_sizes: Vec<i64> => required,
    }

    /// Attributes of `broadcast_in_dim`.
    BroadcastInDim {
        /// The result dimension of each operand dimension.
        broadcast_dimensions: Vec<i64> => required,
    }

    /// Attributes of `dynamic_broadcast_in_dim`.
    DynamicBroadcastInDim {
        /// The result dimension of each operand dimension.
        broadcast_dimensions: Vec<i64> => required,
        /// Operand dimensions that are known to be repeated.
        known_expanding_dimensions: Option<Vec<i64>> => neutral(Vec::is_empty),
        /// Operand dimensions that are known not to be repeated.
        known_nonexpanding_dimensions: Option<Vec<i64>> => neutral(Vec::is_empty),
    }

    /// Attributes of `concatenate`.
    Concatenate {
        /// The dimension along which operands are joined.
        dimension: i64 => required,
    }

    /// Attributes of `dynamic_slice`.
    DynamicSlice {
        /// The shape of the result.
        slice_sizes: Vec<i64> => required,
    }

    /// Attributes of `get_dimension_size` and `set_dimension_size`.
    DimensionSize {
        /// The dimension.
        dimension: i64 => required,
    }

    /// Attributes of `pad`. Negative amounts trim.
    Pad {
        /// Elements before the first, for each dimension.
        edge_padding_low: Vec<i64> => required,
        /// Elements after the last, for each dimension.
        edge_padding_high: Vec<i64> => required,
        /// Elements between neighbours, for each dimension.
        interior_padding: Vec<i64> => required,
    }

    /// Attributes of `reverse`.
    Reverse {
        /// The dimensions to reverse.
        dimensions: Vec<i64> => required,
    }

    /// Attributes of `slice`.
    Slice {
        /// First position of each dimension.
        start_indices: Vec<i64> => required,
        /// End of each dimension, exclusive.
        limit_indices: Vec<i64> => required,
        /// Step of each dimension.
        strides: Vec<i64> => required,
    }

    /// Attributes of `transpose`.
    Transpose {
        /// The operand dimension of each result dimension.
        permutation: Vec<i64> => required,
    }
}
