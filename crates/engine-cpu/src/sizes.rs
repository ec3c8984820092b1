//! Values of dimension variables from the sizes of arguments.

use artifact_dims::solve::{self, Size};
use artifact_dims::{Assignment, Expr, Range, Scope, Variable};
use artifact_engine::{Argument, Buffer, EngineError, Value};
use artifact_ir::types::Type;

use crate::payload::Conditions;

/// What the sizes of the arguments say.
#[derive(Debug)]
pub(crate) struct SizeRules {
    /// Each open size of an argument: the argument, the dimension, and the expression.
    open: Vec<(usize, usize, Expr)>,
    conditions: Conditions,
    scope: Scope,
}

impl SizeRules {
    pub(crate) fn new(arguments: &[Type], conditions: Conditions) -> Self {
        let mut open = Vec::new();
        for (argument, ty) in arguments.iter().enumerate() {
            let dims = ty.as_tensor().map(|tensor| &*tensor.dims).unwrap_or_default();
            for (dim, size) in dims.iter().enumerate() {
                if let (None, Some(expression)) = (size.as_static(), size.expression()) {
                    open.push((argument, dim, expression));
                }
            }
        }
        let variables = open.iter().flat_map(|(_, _, expression)| expression.variables());
        let names: std::collections::BTreeSet<Variable> = variables.collect();
        let scope = names
            .into_iter()
            .fold(Scope::builder(), |scope, name| {
                scope.range(name, Range::at_least(0))
            })
            .build()
            .unwrap_or_default();
        Self {
            open,
            conditions,
            scope,
        }
    }

    /// The actual sizes that variables follow from, in order.
    pub(crate) fn sizes(&self, arguments: &[Argument<'_>], found: &mut Vec<u64>) {
        found.clear();
        for (argument, dim, _) in &self.open {
            let buffer = arguments
                .get(*argument)
                .and_then(Argument::value)
                .and_then(Value::as_array);
            found.push(buffer.and_then(|buffer| size_of(buffer, *dim)).unwrap_or(0));
        }
    }

    /// The values of the variables for such sizes, if they are sizes that the program takes.
    pub(crate) fn solve(&self, sizes: &[u64]) -> Result<Assignment, EngineError> {
        let size = |((argument, dim, specification), actual): (&(usize, usize, Expr), &u64)| Size {
            place: format!("args[{argument}].shape[{dim}]"),
            specification: specification.clone(),
            actual: Expr::constant(i64::try_from(*actual).unwrap_or(i64::MAX)),
        };
        let sizes: Vec<Size> = self.open.iter().zip(sizes).map(size).collect();
        let values = solve::solve(&self.scope, &sizes, &Assignment::default())
            .map_err(|error| EngineError::invalid_input(error.to_string()))?;
        self.check(&values)?;
        Ok(values)
    }

    fn check(&self, values: &Assignment) -> Result<(), EngineError> {
        let broken = |error: String, source| Err(EngineError::invalid_input(error).at(source));
        for one in &self.conditions.obligations {
            if let Some(why) = one.broken(values) {
                return broken(why, one.source);
            }
        }
        for (constraint, source) in &self.conditions.requirements {
            let sides = (
                constraint.left.evaluate(values),
                constraint.right.evaluate(values),
            );
            if let (Ok(left), Ok(right)) = sides
                && left != right
            {
                let what = format!(
                    "the program needs {constraint}, and the sizes are {left} and {right} where {values}"
                );
                return broken(what, *source);
            }
        }
        Ok(())
    }
}

fn size_of(buffer: &Buffer, dim: usize) -> Option<u64> {
    buffer.shape().nth(dim)
}
