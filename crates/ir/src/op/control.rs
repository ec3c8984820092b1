//! Control flow, calls, tuples and tokens.

use super::{from, n, op_family};
use crate::attribute::{
    Attribute, ByteString, CustomCallApiVersion, NamedAttributes, OutputOperandAlias, SymbolRef,
    op_attributes,
};

op_family! {
    /// Control flow, calls, tuples and tokens.
    Control {
        /// Joins tokens.
        AfterAll = "stablehlo.after_all": from(0) => n(1),
        /// Waits for a future (VHLO 1.15).
        AsyncDone = "stablehlo.async_done": n(1) => from(0),
        /// Starts the operation in its region and returns a future (VHLO 1.15).
        AsyncStart = "stablehlo.async_start": from(0) => n(1); regions n(1),
        /// A call of a function of the module.
        Call(Call) = "func.call": from(0) => from(0),
        /// One of the regions, by index; the last one when out of range.
        Case = "stablehlo.case": n(1) => from(0); regions from(1),
        /// An operation made of others: `decomposition` says the same.
        Composite(Box<Composite>) = "stablehlo.composite": from(0) => from(0); regions from(0),
        /// A token out of nothing (legacy; `after_all` without operands says the same).
        CreateToken = "stablehlo.create_token": n(0) => n(1),
        /// A call of something outside the program.
        CustomCall(Box<CustomCall>) = "stablehlo.custom_call": from(0) => from(0),
        /// Ends a function.
        FuncReturn = "func.return": from(0) => n(0),
        /// One component of a tuple.
        GetTupleElement(GetTupleElement) = "stablehlo.get_tuple_element": n(1) => n(1),
        /// One of two regions.
        If = "stablehlo.if": n(1) => from(0); regions n(2),
        /// Passes its operands on and stops motion across it.
        OptimizationBarrier = "stablehlo.optimization_barrier": from(0) => from(0),
        /// Ends a region.
        Return = "stablehlo.return": from(0) => n(0),
        /// Packs values.
        Tuple = "stablehlo.tuple": from(0) => n(1),
        /// Regions `cond` and `body`.
        While = "stablehlo.while": from(0) => from(0); regions n(2),
    }
}

op_attributes! {
    /// Attributes of `func.call`.
    Call {
        /// The function.
        callee: SymbolRef => required,
    }

    /// Attributes of `composite`.
    Composite {
        /// What it is, such as `chlo.top_k`.
        name: ByteString => required,
        /// Its attributes.
        composite_attributes: NamedAttributes => default(NamedAttributes::new()),
        /// The function that says the same in other operations.
        decomposition: SymbolRef => required,
        /// Version of its meaning.
        version: i32 => default(0),
    }

    /// Attributes of `custom_call`.
    CustomCall {
        /// What is called.
        call_target_name: ByteString => required,
        /// Whether it must be kept though its results are unused.
        has_side_effect: bool => default(false),
        /// Configuration: a string, or a dictionary for typed FFI.
        backend_config: Option<Attribute> => neutral(is_empty_string),
        /// Calling convention.
        api_version: CustomCallApiVersion => default(CustomCallApiVersion::Original),
        /// Functions that it may call.
        called_computations: Vec<SymbolRef> => default(Vec::new()),
        /// Layout of each operand, minor to major.
        operand_layouts: Option<Attribute> => optional,
        /// Layout of each result, minor to major.
        result_layouts: Option<Attribute> => optional,
        /// Outputs that share a buffer with an operand.
        output_operand_aliases: Vec<OutputOperandAlias> => default(Vec::new()),
        /// Tiling of each result (VHLO 1.18).
        result_tilings: Option<Attribute> => optional,
    }

    /// Attributes of `get_tuple_element`.
    GetTupleElement {
        /// The component.
        index: i32 => required,
    }
}

fn is_empty_string(attribute: &Attribute) -> bool {
    *attribute == Attribute::string("")
}
