//! Evaluation that ends when its call has to stop.

use std::sync::Arc;
use std::time::Duration;

use artifact_engine::Watch;
use artifact_eval::{EvalError, EvalErrorKind, Observer, Options, Outcome, Value};
use artifact_ir::module::{Body, FunctionId, Module, Operation};

/// Evaluates a function. Where somebody may stop the call, that is asked before each operation.
pub(crate) fn evaluate(
    module: &Module,
    function: FunctionId,
    inputs: Vec<Value>,
    options: &Options,
    watch: &Watch,
) -> Result<Outcome, EvalError> {
    if !watch.is_set() {
        return artifact_eval::evaluate(module, function, inputs, options);
    }
    let observer = Arc::new(Stopper(watch.clone()));
    artifact_eval::evaluate_observed(module, function, inputs, options, observer)
}

#[derive(Debug)]
struct Stopper(Watch);

impl Observer for Stopper {
    fn before(&self, _operation: &Operation) -> Result<(), EvalError> {
        self.0
            .check()
            .map_err(|error| EvalError::new(EvalErrorKind::Stopped, error.to_string()))
    }

    fn after(&self, _operation: &Operation, _body: &Body, _own_time: Duration) {}
}
