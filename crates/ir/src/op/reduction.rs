//! Operations that apply a region over elements or windows.

use super::{all_ones, from, n, op_family};
use crate::attribute::{Padding, op_attributes};

op_family! {
    /// Reductions, windows, sorting and mapping.
    Reduction {
        /// Applies the region to each element of the inputs.
        Map(Map) = "stablehlo.map": from(1) => n(1); regions n(1),
        /// inputs, then as many initial values.
        Reduce(Reduce) = "stablehlo.reduce": from(2) => from(1); regions n(1),
        /// inputs, then as many initial values.
        ReduceWindow(Box<ReduceWindow>) = "stablehlo.reduce_window": from(2) => from(1); regions n(1),
        /// operand, source, initial value; regions `select` and `scatter`.
        SelectAndScatter(Box<SelectAndScatter>) = "stablehlo.select_and_scatter": n(3) => n(1); regions n(2),
        /// Sorts all inputs together along a dimension.
        Sort(Sort) = "stablehlo.sort": from(1) => from(1); regions n(1),
    }
}

op_attributes! {
    /// Attributes of `map`.
    Map {
        /// All dimensions in order.
        dimensions: Vec<i64> => required,
    }

    /// Attributes of `reduce`.
    Reduce {
        /// The dimensions that are reduced.
        dimensions: Vec<i64> => required,
    }

    /// Attributes of `reduce_window`. Absent strides and dilations are 1, absent padding is 0.
    ReduceWindow {
        /// Size of the window in each dimension.
        window_dimensions: Vec<i64> => required,
        /// Distance between windows.
        window_strides: Option<Vec<i64>> => neutral(all_ones),
        /// Distance between neighbouring input elements.
        base_dilations: Option<Vec<i64>> => neutral(all_ones),
        /// Distance between neighbouring window elements.
        window_dilations: Option<Vec<i64>> => neutral(all_ones),
        /// Padding of each dimension.
        padding: Option<Padding> => neutral(Padding::is_zero),
    }

    /// Attributes of `select_and_scatter`. Absent sizes and strides are 1, absent padding is 0.
    SelectAndScatter {
        /// Size of the window in each dimension.
        window_dimensions: Option<Vec<i64>> => neutral(all_ones),
        /// Distance between windows.
        window_strides: Option<Vec<i64>> => neutral(all_ones),
        /// Padding of each dimension.
        padding: Option<Padding> => neutral(Padding::is_zero),
    }

    /// Attributes of `sort`.
    Sort {
        /// The dimension that is sorted; -1 for the last.
        dimension: i64 => default(-1),
        /// Whether equal elements keep their order.
        is_stable: bool => default(false),
    }
}
