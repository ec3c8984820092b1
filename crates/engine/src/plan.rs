//! What an engine must know before it compiles.

use artifact_dims::{Assignment, Variable};
use artifact_ir::diagnostic::SourceOffset;

use crate::error::EngineError;
use crate::executable::Argument;
use crate::program::Program;

/// A dimension variable that must be a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResidualDimension {
    /// The variable.
    pub variable: Variable,
    /// Why, as a lowercase fragment.
    pub reason: String,
    /// The operation that needs it.
    pub source: SourceOffset,
}

/// An argument whose elements must be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResidualValue {
    /// Its position.
    pub argument: usize,
    /// Why, as a lowercase fragment.
    pub reason: String,
    /// The operation that needs it.
    pub source: SourceOffset,
}

/// What is left over of a program that would else serve every size: who calls it compiles once for each value of these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Dimension variables, each once.
    pub dimensions: Vec<ResidualDimension>,
    /// Arguments, each once.
    pub values: Vec<ResidualValue>,
}

impl Plan {
    /// Whether one compile serves every call.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.dimensions.is_empty() && self.values.is_empty()
    }

    /// The values of the residual dimensions among those of all.
    ///
    /// # Errors
    /// Invalid input when one has none.
    pub fn residual_sizes(&self, sizes: &Assignment) -> Result<Assignment, EngineError> {
        let size = |residual: &ResidualDimension| {
            let variable = &residual.variable;
            let value = sizes.get(variable);
            let missing = || {
                let what = format!("the size `{variable}` must be known: {}", residual.reason);
                EngineError::invalid_input(what).at(residual.source)
            };
            Ok((variable.clone(), value.ok_or_else(missing)?))
        };
        self.dimensions.iter().map(size).collect()
    }

    /// The program for one call: with the numbers that are asked for.
    ///
    /// # Errors
    /// Invalid input when one has none, or does not fit.
    pub fn specialized(
        &self,
        program: &Program,
        sizes: &Assignment,
        arguments: &[Argument<'_>],
    ) -> Result<Program, EngineError> {
        let mut program = program.with_sizes(&self.residual_sizes(sizes)?)?;
        for ResidualValue { argument, reason, .. } in &self.values {
            let value = arguments.get(*argument).and_then(Argument::value);
            let array = value.and_then(|value| value.as_array()).ok_or_else(|| {
                let what = format!("the array of argument {argument} must be known: {reason}");
                EngineError::invalid_input(what)
            })?;
            let literal = array.to_literal();
            let literal = literal.map_err(|error| EngineError::invalid_input(error.to_string()))?;
            program = program.with_value(*argument, literal)?;
        }
        Ok(program)
    }
}
