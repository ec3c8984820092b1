//! The static program of some arguments.

use std::sync::{Arc, Mutex, PoisonError};

use artifact_dims::{Expr, Scope};
use artifact_engine::{EngineError, ErrorKind};
use artifact_eval::Value;
use artifact_eval::scalar::Scalar;
use artifact_eval::tensor::Tensor;
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::{TensorType, Type};
use artifact_refine::{Condition, Element, Fact, RefineError, RefineProblem, Refined, holds_sizes, refine};

/// Static programs that are kept, the ones that were used last.
const KEPT_MAX: usize = 16;

/// Whether no size of a program is open.
pub(crate) fn is_static(module: &Module) -> bool {
    let types = module.functions.iter().flat_map(|(_, function)| {
        let arguments = function.arguments.iter().map(|argument| &argument.ty);
        let values = function.body.iter().flat_map(|body| body.values.iter());
        arguments.chain(values.map(|(_, value)| &value.ty))
    });
    types
        .filter_map(Type::as_tensor)
        .all(|ty| TensorType::is_static(ty))
}

/// The static programs of one program, by what is known of the arguments.
#[derive(Debug, Default)]
pub(crate) struct Specializations {
    /// The one that was used last stands last.
    kept: Mutex<Vec<Kept>>,
}

type Kept = (Vec<Fact>, Arc<Refined>);

impl Specializations {
    /// The program for the types of the inputs. Where sizes remain that the types do not tell, integer inputs of few elements may
    /// hold them, and then count with their values.
    ///
    /// # Errors
    /// Invalid input when the inputs do not fit, a failed check when an assertion of the program does not hold for them.
    pub(crate) fn of(
        &self,
        module: &Module,
        entry: FunctionId,
        inputs: &[Value],
    ) -> Result<Arc<Refined>, EngineError> {
        let types = inputs.iter().map(|input| Fact::of_type(input.ty())).collect();
        let refined = self.refined(module, entry, types)?;
        if refined.unknown.is_empty() {
            return Ok(refined);
        }
        self.refined(module, entry, inputs.iter().map(fact).collect())
    }

    fn refined(
        &self,
        module: &Module,
        entry: FunctionId,
        facts: Vec<Fact>,
    ) -> Result<Arc<Refined>, EngineError> {
        let find = |kept: &mut Vec<Kept>| {
            let position = kept.iter().position(|(known, _)| *known == facts)?;
            let found = kept.remove(position);
            let refined = Arc::clone(&found.1);
            kept.push(found);
            Some(refined)
        };
        // What is kept is whole even where a thread panicked.
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(refined) = find(&mut lock()) {
            return Ok(refined);
        }
        let refined = refine(module, entry, &facts, &Scope::default()).map_err(|error| stopped(&error))?;
        let refined = Arc::new(refined);
        let mut kept = lock();
        if kept.len() >= KEPT_MAX {
            kept.remove(0);
        }
        kept.push((facts, Arc::clone(&refined)));
        Ok(refined)
    }
}

fn fact(input: &Value) -> Fact {
    let known = match input {
        Value::Tensor(tensor) if holds_sizes(&input.ty()) => elements(tensor),
        _ => None,
    };
    Fact {
        ty: input.ty(),
        known: known.map(Into::into),
    }
}

fn elements(tensor: &Tensor) -> Option<Vec<Element>> {
    if tensor.storage().is_boolean() {
        let known = |scalar: Scalar| {
            scalar
                .as_bool()
                .map(|value| Element::Bool(Condition::Known(value)))
        };
        return tensor.scalars().map(known).collect();
    }
    let number = |value: i128| {
        let value = i64::try_from(value).ok()?;
        Some(Element::Int(Expr::constant(value)))
    };
    tensor.to_ints()?.into_iter().map(number).collect()
}

fn stopped(error: &RefineError) -> EngineError {
    let kind = match error.problem() {
        RefineProblem::Assertion(_) => ErrorKind::FailedCheck,
        _ => ErrorKind::InvalidInput,
    };
    EngineError::new(kind, error.to_string()).at(error.source_offset())
}
