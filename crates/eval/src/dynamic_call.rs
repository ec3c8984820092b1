//! Custom calls that stand for operations whose attributes are known only when the program runs: `stablehlo.dynamic_*`.
//!
//! JAX exports them where a dimension is symbolic. Each becomes the operation that it stands for, with the attributes of this
//! run.

use std::sync::Arc;

use artifact_ir::attribute::{Attribute, Padding, RngAlgorithm, StablehloAttribute};
use artifact_ir::module::{FunctionId, Operation};
use artifact_ir::op::{Chlo, Creation, CustomCall, ReduceWindow, Reduction, RngBitGenerator, Sort, TopK};
use artifact_ir::types::TensorType;

use crate::custom_call::backend_options;
use crate::error::EvalError;
use crate::interpreter::{Frame, Process};
use crate::shape::{first_elements, i64_operand, operand, resized, shape_operand};
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{algebra, math};

/// An operation whose attributes are operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DynamicCall {
    ApproxTopK,
    ReduceWindow,
    RngBitGenerator,
    TopK,
}

impl DynamicCall {
    /// What a target stands for. An approximate top k is one also where everything is known.
    pub(crate) fn of(target: &str) -> Option<Self> {
        match target {
            "ApproxTopK" | "stablehlo.dynamic_approx_top_k" => Some(Self::ApproxTopK),
            "stablehlo.dynamic_reduce_window" => Some(Self::ReduceWindow),
            "stablehlo.dynamic_rng_bit_generator" => Some(Self::RngBitGenerator),
            "stablehlo.dynamic_top_k" => Some(Self::TopK),
            _ => None,
        }
    }

    /// Runs the operation.
    pub(crate) fn run(
        self,
        process: &mut Process<'_>,
        frame: &Frame<'_>,
        op: &Operation,
        call: &CustomCall,
    ) -> Result<Vec<Tensor>, EvalError> {
        let (operands, types) = (frame.tensors(op)?, frame.result_types(op));
        match self {
            Self::ApproxTopK => approx_top_k(process, &operands, &types, op, call),
            Self::ReduceWindow => {
                let reducer = called(process, call, "dynamic_reduce_window")?;
                reduce_window(process, reducer, &operands, &types)
            }
            Self::RngBitGenerator => {
                let Some(Attribute::Stablehlo(StablehloAttribute::RngAlgorithm(algorithm))) =
                    op.attributes.get("rng_algorithm")
                else {
                    return Err(EvalError::invalid_input(
                        "dynamic_rng_bit_generator names no rng_algorithm",
                    ));
                };
                rng_bit_generator(*algorithm, &operands, &types)
            }
            Self::TopK => top_k(&operands, &types),
        }
    }
}

/// The function that a custom call names.
fn called(process: &Process<'_>, call: &CustomCall, name: &str) -> Result<FunctionId, EvalError> {
    let symbol = call.called_computations.first();
    let symbol = symbol.ok_or_else(|| EvalError::invalid_input(format!("{name} calls no function")))?;
    process.resolve(&symbol.root)
}

/// operand, k: the largest elements of each row along the last dimension, and their positions.
fn top_k(operands: &[Tensor], types: &[Arc<TensorType>]) -> Result<Vec<Tensor>, EvalError> {
    let from = operand(operands, 0)?;
    let k = match shape_operand(operands, 1)?[..] {
        [k] => k,
        _ => {
            return Err(EvalError::invalid_input(
                "the k of dynamic_top_k is not one number",
            ));
        }
    };
    let mut shape = from.shape();
    let row = shape
        .last_mut()
        .ok_or_else(|| EvalError::invalid_input("dynamic_top_k of a scalar"))?;
    *row = k;
    let types: Vec<Arc<TensorType>> = types.iter().map(|declared| resized(declared, &shape)).collect();
    let op = Chlo::TopK(TopK {
        k: k as i64,
        is_stable: true,
    });
    let results = math::chlo(&op, std::slice::from_ref(from), &types)?;
    results.ok_or_else(|| EvalError::unsupported("chlo.top_k does not take these operands"))
}

/// Arrays, as many initial values, and then, unless the option `top_k` says it, k: the elements of the arrays that the
/// comparator puts first along `reduction_dim`. This is exact; that fewer may be found is a liberty and no duty.
///
/// A program whose results are larger than k, to be aggregated later, says how large.
fn approx_top_k(
    process: &mut Process<'_>,
    operands: &[Tensor],
    types: &[Arc<TensorType>],
    op: &Operation,
    call: &CustomCall,
) -> Result<Vec<Tensor>, EvalError> {
    let invalid = |what: &str| EvalError::invalid_input(format!("an approximate top k {what}"));
    let arrays = operands.get(..types.len());
    let arrays = arrays.ok_or_else(|| invalid("has fewer operands than results"))?;
    let options = match backend_options(op, call) {
        Some(Attribute::Dictionary(options)) => options,
        _ => return Err(invalid("has no options")),
    };
    let number = |name: &str| options.get(name).and_then(Attribute::as_i64);
    let shape = operand(arrays, 0)?.shape();
    let dimension = number("reduction_dim").filter(|along| (0..shape.len() as i64).contains(along));
    let dimension = dimension.ok_or_else(|| invalid("has no dimension of the number reduction_dim"))?;
    let along = dimension as usize;
    let declared = types.first().and_then(|ty| ty.dims.get(along)?.as_static());
    let k = match (declared, number("top_k")) {
        (Some(declared), _) => i64::try_from(declared).unwrap_or(i64::MAX),
        (None, Some(k)) => k,
        (None, None) => match i64_operand(operands, 2 * types.len())?[..] {
            [k] => k,
            _ => return Err(invalid("has a k that is not one number")),
        },
    };
    if !(0..=shape[along] as i64).contains(&k) {
        let size = shape[along];
        return Err(EvalError::runtime(format!(
            "{size} elements have no {k} largest ones"
        )));
    }
    let comparator = called(process, call, "an approximate top k")?;
    let mut apply = |_: usize, arguments: &[Tensor]| call_function(process, comparator, arguments);
    let sort = Reduction::Sort(Sort {
        dimension,
        is_stable: true,
    });
    let types: Vec<Arc<TensorType>> = types.iter().map(|declared| resized(declared, &shape)).collect();
    let sorted = algebra::reduction(&sort, arrays, &types, &mut apply)?;
    let mut limits: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
    limits[along] = k;
    sorted
        .iter()
        .map(|tensor| first_elements(tensor, &limits))
        .collect()
}

/// Calls a function of tensors.
fn call_function(
    process: &mut Process<'_>,
    function: FunctionId,
    arguments: &[Tensor],
) -> Result<Vec<Tensor>, EvalError> {
    let arguments = arguments.iter().cloned().map(Value::Tensor).collect();
    let results = process.call(function, arguments)?;
    results.iter().map(|result| result.as_tensor().cloned()).collect()
}

/// state, shape of the bits.
fn rng_bit_generator(
    rng_algorithm: RngAlgorithm,
    operands: &[Tensor],
    types: &[Arc<TensorType>],
) -> Result<Vec<Tensor>, EvalError> {
    let (state, shape) = (operand(operands, 0)?, shape_operand(operands, 1)?);
    let [state_type, bits_type] = types else {
        return Err(EvalError::invalid_input(
            "dynamic_rng_bit_generator has two results",
        ));
    };
    let types = [resized(state_type, &state.shape()), resized(bits_type, &shape)];
    let op = Creation::RngBitGenerator(RngBitGenerator { rng_algorithm });
    algebra::rng(&op, std::slice::from_ref(state), &types)
}

/// inputs, as many initial values, then sizes, strides, base dilations, window dilations and padding of the window.
fn reduce_window(
    process: &mut Process<'_>,
    reducer: FunctionId,
    operands: &[Tensor],
    types: &[Arc<TensorType>],
) -> Result<Vec<Tensor>, EvalError> {
    let count = operands.len().saturating_sub(5) / 2;
    if count == 0 || operands.len() != 2 * count + 5 {
        return Err(EvalError::invalid_input(
            "dynamic_reduce_window has no pairs of inputs and initial values",
        ));
    }
    let attribute = |index: usize| i64_operand(operands, 2 * count + index);
    let padding = attribute(4)?;
    let op = ReduceWindow {
        window_dimensions: attribute(0)?,
        window_strides: Some(attribute(1)?),
        base_dilations: Some(attribute(2)?),
        window_dilations: Some(attribute(3)?),
        padding: Some(Padding(
            padding.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect(),
        )),
    };
    let shape = window_counts(&op, &operands[0].shape())?;
    let types: Vec<Arc<TensorType>> = types.iter().map(|declared| resized(declared, &shape)).collect();
    let mut apply = |_: usize, arguments: &[Tensor]| call_function(process, reducer, arguments);
    let op = Reduction::ReduceWindow(Box::new(op));
    algebra::reduction(&op, &operands[..2 * count], &types, &mut apply)
}

/// Number of windows in each dimension (spec, "reduce_window", C15).
fn window_counts(op: &ReduceWindow, input: &[usize]) -> Result<Vec<usize>, EvalError> {
    let invalid = || EvalError::runtime("the window of dynamic_reduce_window does not fit its input");
    let list = |values: &Option<Vec<i64>>, dimension: usize| {
        let value = values.as_ref().and_then(|values| values.get(dimension)).copied();
        value
            .filter(|value| *value > 0)
            .map(i128::from)
            .ok_or_else(invalid)
    };
    let padding = op
        .padding
        .as_ref()
        .map(|padding| padding.0.as_slice())
        .unwrap_or_default();
    let span = |size: i128, dilation: i128| if size == 0 { 0 } else { (size - 1) * dilation + 1 };
    input
        .iter()
        .enumerate()
        .map(|(dimension, size)| {
            let window = op
                .window_dimensions
                .get(dimension)
                .copied()
                .filter(|size| *size > 0);
            let window = span(
                window.map(i128::from).ok_or_else(invalid)?,
                list(&op.window_dilations, dimension)?,
            );
            let [low, high] = padding.get(dimension).copied().ok_or_else(invalid)?;
            let dilated = span(*size as i128, list(&op.base_dilations, dimension)?);
            let padded = i128::from(low) + dilated + i128::from(high);
            let stride = list(&op.window_strides, dimension)?;
            let count = if padded <= 0 || window > padded {
                0
            } else {
                (padded - window) / stride + 1
            };
            usize::try_from(count).map_err(|_| invalid())
        })
        .collect()
}
