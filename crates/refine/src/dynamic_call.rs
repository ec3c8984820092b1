//! Custom calls that stand for operations whose attributes are operands, once those are numbers: `stablehlo.dynamic_*`.
//!
//! JAX exports them where a dimension is symbolic. Compilers that know StableHLO alone do not know them.

use artifact_core::entity::EntityId as _;
use artifact_ir::attribute::{Attribute, Padding, StablehloAttribute, SymbolRef};
use artifact_ir::module::{Operation, ValueId};
use artifact_ir::op::{
    Chlo, Control, Creation, CustomCall, Op, ReduceWindow, Reduction, RngBitGenerator, TopK,
};

use crate::fact::Fact;

/// Where JAX keeps the options of a typed custom call.
const OPTIONS: &str = "mhlo.backend_config";

/// The discardable attribute of `dynamic_rng_bit_generator` that is one of the operation's own.
pub(crate) const RNG_ALGORITHM: &str = "rng_algorithm";

/// The operation that a call stands for.
pub(crate) struct StaticCall {
    pub(crate) op: Op,
    /// How many operands it keeps.
    pub(crate) operands: usize,
    /// Discardable attributes that it has in place of the call's.
    pub(crate) attributes: Vec<(&'static str, Attribute)>,
    /// The function that is the operation's region.
    pub(crate) region: Option<SymbolRef>,
}

/// What a call stands for; nothing where its attributes are not known, or where it is another call.
pub(crate) fn static_call(op: &Operation, call: &CustomCall, facts: &[Fact]) -> Option<StaticCall> {
    let fact = |value: &ValueId| &facts[value.index()];
    let numbers = |index: usize| fact(op.operands.get(index)?).numbers();
    match call.call_target_name.as_str()? {
        "stablehlo.dynamic_reduce_window" => reduce_window(op, call, numbers),
        "stablehlo.dynamic_approx_top_k" => approx_top_k(op, call, numbers),
        "stablehlo.dynamic_rng_bit_generator" => {
            let Some(Attribute::Stablehlo(StablehloAttribute::RngAlgorithm(rng_algorithm))) =
                op.attributes.get(RNG_ALGORITHM)
            else {
                return None;
            };
            let generator = RngBitGenerator {
                rng_algorithm: *rng_algorithm,
            };
            Some(StaticCall::plain(Creation::RngBitGenerator(generator)))
        }
        "stablehlo.dynamic_top_k" => match numbers(1)?[..] {
            [k] => Some(StaticCall::plain(Chlo::TopK(TopK { k, is_stable: true }))),
            _ => None,
        },
        _ => None,
    }
}

impl StaticCall {
    /// An operation of the first operand.
    fn plain(op: impl Into<Op>) -> Self {
        Self {
            op: op.into(),
            operands: 1,
            attributes: Vec::new(),
            region: None,
        }
    }
}

/// inputs, as many initial values, then sizes, strides, base dilations, window dilations and padding of the window.
fn reduce_window(
    op: &Operation,
    call: &CustomCall,
    numbers: impl Fn(usize) -> Option<Vec<i64>>,
) -> Option<StaticCall> {
    let first = op.operands.len().checked_sub(5).filter(|count| count % 2 == 0)?;
    let padding = numbers(first + 4)?;
    let window = ReduceWindow {
        window_dimensions: numbers(first)?,
        window_strides: Some(numbers(first + 1)?),
        base_dilations: Some(numbers(first + 2)?),
        window_dilations: Some(numbers(first + 3)?),
        padding: Some(Padding(
            padding.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect(),
        )),
    };
    Some(StaticCall {
        op: Reduction::ReduceWindow(Box::new(window)).into(),
        operands: first,
        attributes: Vec::new(),
        region: Some(call.called_computations.first()?.clone()),
    })
}

/// Arrays, as many initial values, k and the shapes of the results: a call that has k as an option.
fn approx_top_k(
    op: &Operation,
    call: &CustomCall,
    numbers: impl Fn(usize) -> Option<Vec<i64>>,
) -> Option<StaticCall> {
    let operands = 2 * op.results.len();
    let [k] = numbers(operands)?[..] else { return None };
    let mut options = match op.attributes.get(OPTIONS) {
        Some(Attribute::Dictionary(options)) => options.clone(),
        _ => return None,
    };
    options.insert("top_k", Attribute::i64(k));
    let mut call = call.clone();
    call.call_target_name = "ApproxTopK".into();
    Some(StaticCall {
        op: Control::CustomCall(Box::new(call)).into(),
        operands,
        attributes: vec![(OPTIONS, Attribute::Dictionary(options))],
        region: None,
    })
}
