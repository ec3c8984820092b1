//! Running programs in the reference engine, those with dimensions that are not static included.

use artifact_dims::{Expr, Scope};
use artifact_eval::tensor::Tensor;
use artifact_eval::{EvalError, EvalErrorKind, Options, Outcome, Value, evaluate};
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::{TensorType, Type};
use artifact_refine::{Condition, Element, Fact, RefineError, RefineProblem, Refined, refine};

/// Tensors with more elements are no shapes.
const SIZES_MAX: usize = 64;

/// Runs a verified program. One with sizes that are not numbers is first made the static program of these inputs.
pub(crate) fn run(
    module: &Module,
    entry: FunctionId,
    inputs: Vec<Value>,
    options: &Options,
) -> Result<Outcome, EvalError> {
    if is_static(module) {
        return evaluate(module, entry, inputs, options);
    }
    let refined = specialize(module, entry, &inputs).map_err(|error| stopped(&error))?;
    evaluate(&refined.module, refined.entry, inputs, options)
}

fn is_static(module: &Module) -> bool {
    let types = module.functions.iter().flat_map(|(_, function)| {
        let arguments = function.arguments.iter().map(|argument| &argument.ty);
        let values = function.body.iter().flat_map(|body| body.values.iter());
        arguments.chain(values.map(|(_, value)| &value.ty))
    });
    types
        .filter_map(Type::as_tensor)
        .all(|ty| TensorType::is_static(ty))
}

/// The program for the types of the inputs. Where sizes remain that the types do not tell, integer inputs of few elements
/// may hold them, and then count with their values.
fn specialize(module: &Module, entry: FunctionId, inputs: &[Value]) -> Result<Refined, RefineError> {
    let scope = Scope::default();
    let types: Vec<Fact> = inputs.iter().map(|input| Fact::of_type(input.ty())).collect();
    let refined = refine(module, entry, &types, &scope)?;
    if refined.unknown.is_empty() {
        return Ok(refined);
    }
    let values: Vec<Fact> = inputs.iter().map(fact).collect();
    refine(module, entry, &values, &scope)
}

fn fact(input: &Value) -> Fact {
    let known = match input {
        Value::Tensor(tensor) if tensor.len() <= SIZES_MAX => integers(tensor),
        _ => None,
    };
    Fact {
        ty: input.ty(),
        known: known.map(Into::into),
    }
}

fn integers(tensor: &Tensor) -> Option<Vec<Element>> {
    let number = |value: i128| {
        i64::try_from(value)
            .ok()
            .map(|value| Element::Int(Expr::constant(value)))
    };
    if tensor.storage().is_boolean() {
        let known = |scalar: artifact_eval::scalar::Scalar| scalar.as_bool().map(Condition::Known);
        return tensor
            .scalars()
            .map(|scalar| known(scalar).map(Element::Bool))
            .collect();
    }
    tensor.to_ints()?.into_iter().map(number).collect()
}

fn stopped(error: &RefineError) -> EvalError {
    let kind = match error.problem() {
        RefineProblem::Assertion(_) => EvalErrorKind::FailedCheck,
        _ => EvalErrorKind::InvalidInput,
    };
    EvalError::new(kind, error.to_string()).at(error.source_offset())
}
