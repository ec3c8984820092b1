//! Data movement that depends on index operands.

use super::{from, n, op_family};
use crate::attribute::{GatherDimensionNumbers, ScatterDimensionNumbers, op_attributes};

op_family! {
    /// Gather and scatter.
    Indexing {
        /// operand, start indices, slice sizes.
        DynamicGather(Box<DynamicGather>) = "stablehlo.dynamic_gather": n(3) => n(1),
        /// operand, start indices.
        Gather(Box<Gather>) = "stablehlo.gather": n(2) => n(1),
        /// inputs, indices, updates: as many updates as inputs.
        Scatter(Box<Scatter>) = "stablehlo.scatter": from(3) => from(1); regions n(1),
        /// operand, index (legacy; `gather` says the same).
        TorchIndexSelect(TorchIndexSelect) = "stablehlo.torch_index_select": n(2) => n(1),
    }
}

op_attributes! {
    /// Attributes of `gather`.
    Gather {
        /// How indices and slices map to dimensions.
        dimension_numbers: GatherDimensionNumbers => required,
        /// The size of a slice in each operand dimension.
        slice_sizes: Vec<i64> => required,
        /// A promise that the indices are sorted.
        indices_are_sorted: bool => default(false),
    }

    /// Attributes of `dynamic_gather`.
    DynamicGather {
        /// How indices and slices map to dimensions.
        dimension_numbers: GatherDimensionNumbers => required,
        /// A promise that the indices are sorted.
        indices_are_sorted: bool => default(false),
    }

    /// Attributes of `scatter`.
    Scatter {
        /// How indices and windows map to dimensions.
        scatter_dimension_numbers: ScatterDimensionNumbers => required,
        /// A promise that the indices are sorted.
        indices_are_sorted: bool => default(false),
        /// A promise that no two updates meet.
        unique_indices: bool => default(false),
    }

    /// Attributes of `torch_index_select`.
    TorchIndexSelect {
        /// The dimension that is indexed.
        dim: i64 => required,
        /// Number of leading batch dimensions.
        batch_dims: i64 => required,
    }
}
