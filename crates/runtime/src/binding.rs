//! A program with sizes.

use std::sync::{Arc, OnceLock};

use artifact_dims::Assignment;
use artifact_engine::{Argument, EngineError, Executable, ExecuteOptions, Report, Value};
use artifact_ir::types::Type;

use crate::program::Shared;

/// A program for inputs of some types, whose sizes fit. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Binding {
    pub(crate) program: Arc<Shared>,
    pub(crate) bound: Arc<Bound>,
}

#[derive(Debug)]
pub(crate) struct Bound {
    /// Of the inputs that a caller gives.
    types: Vec<Type>,
    sizes: Assignment,
    /// What runs, where that does not depend on the elements of arguments.
    executable: OnceLock<Arc<dyn Executable>>,
}

impl Bound {
    pub(crate) const fn new(types: Vec<Type>, sizes: Assignment) -> Self {
        Self {
            types,
            sizes,
            executable: OnceLock::new(),
        }
    }

    /// Whether inputs are of its types. No type is made for that, tuples apart.
    pub(crate) fn is_for(&self, inputs: &[Argument<'_>]) -> bool {
        let is_of = |(ty, input): (&Type, &Argument<'_>)| match (ty, input.value()) {
            (Type::Tensor(ty), Some(Value::Array(array))) => ty == array.ty(),
            (Type::Token, Some(Value::Token)) => true,
            (ty, Some(value)) => *ty == value.ty(),
            (_, None) => false,
        };
        self.types.len() == inputs.len() && self.types.iter().zip(inputs).all(is_of)
    }
}

impl Binding {
    /// The values of the dimension variables.
    #[must_use]
    pub fn sizes(&self) -> &Assignment {
        &self.bound.sizes
    }

    /// Compiles the program for these inputs, where nobody has done that yet, and does not call it.
    ///
    /// # Errors
    /// Those of the engine, and invalid input for inputs of other types.
    pub fn prepare(&self, inputs: &[Value]) -> Result<(), EngineError> {
        let borrowed: Vec<Argument<'_>> = inputs.iter().map(Argument::from).collect();
        self.check(&borrowed)?;
        let arguments = self.with_own(borrowed.into_iter());
        self.executable(&arguments).map(drop)
    }

    /// Calls the program with inputs of the types that were bound. It is compiled first where nobody has done that yet.
    ///
    /// # Errors
    /// Those of the engine, and invalid input for inputs of other types.
    pub fn run(
        &self,
        inputs: &mut [Argument<'_>],
        results: &mut Vec<Value>,
        options: &ExecuteOptions,
    ) -> Result<Report, EngineError> {
        let outcome = self.run_checked(inputs, results, options);
        if outcome.is_err() {
            results.clear();
        }
        outcome
    }

    fn run_checked(
        &self,
        inputs: &mut [Argument<'_>],
        results: &mut Vec<Value>,
        options: &ExecuteOptions,
    ) -> Result<Report, EngineError> {
        self.check(inputs)?;
        if self.program.platform_position.is_none() && self.program.constants.is_empty() {
            let executable = self.executable(inputs)?;
            return executable.run(inputs, results, options);
        }
        let inputs = inputs.iter_mut().map(|input| match input {
            Argument::Borrowed(value) => Argument::Borrowed(value),
            Argument::Donated(value) => Argument::Donated(value.take()),
        });
        let mut arguments = self.with_own(inputs);
        let executable = self.executable(&arguments)?;
        executable.run(&mut arguments, results, options)
    }

    fn check(&self, inputs: &[Argument<'_>]) -> Result<(), EngineError> {
        if self.bound.is_for(inputs) {
            return Ok(());
        }
        let what = "the inputs are not of the types that were bound, or were donated to an earlier call";
        Err(EngineError::invalid_input(what))
    }

    /// All arguments: inputs with what the program has itself.
    fn with_own<'v>(&'v self, inputs: impl ExactSizeIterator<Item = Argument<'v>>) -> Vec<Argument<'v>> {
        let Shared {
            platform_position,
            constants,
            ..
        } = &*self.program;
        let count = usize::from(platform_position.is_some()) + inputs.len() + constants.len();
        let mut arguments = Vec::with_capacity(count);
        arguments.extend(platform_position.iter().map(Argument::from));
        arguments.extend(inputs);
        arguments.extend(constants.iter().map(Argument::from));
        arguments
    }

    /// What runs these arguments, constants among them.
    fn executable(&self, arguments: &[Argument<'_>]) -> Result<Arc<dyn Executable>, EngineError> {
        if let Some(executable) = self.bound.executable.get() {
            return Ok(Arc::clone(executable));
        }
        let executable = self.program.executable(&self.bound.sizes, arguments)?;
        if self.program.plan()?.values.is_empty() {
            return Ok(Arc::clone(self.bound.executable.get_or_init(|| executable)));
        }
        Ok(executable)
    }
}
