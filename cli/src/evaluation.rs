//! Running programs in the reference engine, those with dimensions that are not static included.

use artifact_dims::{Assignment, Expr, Range, Scope, Variable};
use artifact_eval::tensor::Tensor;
use artifact_eval::{EvalError, EvalErrorKind, Options, Outcome, Value, evaluate};
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::{TensorType, Type};
use artifact_refine::{Condition, Element, Fact, RefineError, RefineProblem, Refined, refine};

use crate::output;

/// Tensors with more elements are no shapes.
const SIZES_MAX: usize = 64;

/// Runs a verified program. One with sizes that are not numbers is first made the static program of these inputs, provided
/// that it computes no size in integers that are too narrow for it.
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
    check_obligations(module, entry, &inputs)?;
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

/// What the program needs of its sizes, each open size of an argument being a variable.
fn check_obligations(module: &Module, entry: FunctionId, inputs: &[Value]) -> Result<(), EvalError> {
    let mut sizes = Assignment::default();
    let arguments = module.functions[entry].arguments.iter().zip(inputs);
    let facts: Option<Vec<Fact>> = arguments
        .map(|(argument, input)| open_fact(&argument.ty, &input.ty(), &mut sizes))
        .collect();
    let Some(facts) = facts else { return Ok(()) };
    let scope = sizes.iter().fold(Scope::builder(), |scope, (variable, _)| {
        scope.range(variable.clone(), Range::at_least(0))
    });
    let refined = scope
        .build()
        .map_err(|error| error.to_string())
        .and_then(|scope| refine(module, entry, &facts, &scope).map_err(|error| error.to_string()));
    let refined = match refined {
        Ok(refined) => refined,
        Err(error) => {
            output::note(&format!(
                "note: whether sizes are computed in integers that are wide enough is not checked: {error}"
            ));
            return Ok(());
        }
    };
    let mut broken = refined
        .obligations
        .iter()
        .filter_map(|one| Some((one.broken(&sizes)?, one.source)));
    match broken.next() {
        None => Ok(()),
        Some((message, source)) => Err(EvalError::invalid_input(message).at(source)),
    }
}

/// The declared type with a variable for each open size, whose value is that of the input.
fn open_fact(declared: &Type, actual: &Type, sizes: &mut Assignment) -> Option<Fact> {
    let (Type::Tensor(declared), Type::Tensor(actual)) = (declared, actual) else {
        return Some(Fact::of_type(actual.clone()));
    };
    let mut ty = TensorType::clone(declared);
    for (dim, actual) in ty.dims.iter_mut().zip(&actual.dims) {
        if !dim.is_static() {
            // A name that says which size it is where it is shown.
            let variable = Variable::new(&format!("size{}", sizes.iter().count())).ok()?;
            sizes.insert(variable.clone(), i64::try_from(actual.as_static()?).ok()?);
            *dim = Expr::variable(variable).into();
        }
    }
    Some(Fact::of_type(ty.into()))
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
