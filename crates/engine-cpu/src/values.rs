//! Values of the port as those of the evaluator, and back.

use std::sync::Arc;

use artifact_engine::{Buffer, CheckFailure, EngineError, ErrorKind, Report, Value};
use artifact_eval as eval;
use artifact_eval::tensor::Tensor;

/// A value for the evaluator.
pub(crate) fn to_eval(value: &Value) -> Result<eval::Value, EngineError> {
    let all = |values: &[Value]| {
        values
            .iter()
            .map(to_eval)
            .collect::<Result<Arc<[eval::Value]>, _>>()
    };
    Ok(match value {
        Value::Array(buffer) => {
            let literal = buffer
                .to_literal()
                .map_err(|error| EngineError::invalid_input(error.to_string()))?;
            let tensor = Tensor::from_literal(&literal);
            eval::Value::Tensor(
                tensor.map_err(|error| EngineError::new(ErrorKind::MemoryLimit, error.to_string()))?,
            )
        }
        Value::Token => eval::Value::Token,
        Value::Tuple(values) => eval::Value::Tuple(all(values)?),
        Value::Future(values) => eval::Value::Future(all(values)?),
    })
}

/// A value of the evaluator, in memory that is given or new.
pub(crate) fn from_eval(value: &eval::Value, memory: Option<Buffer>) -> Result<Value, EngineError> {
    let all = |values: &[eval::Value]| {
        values
            .iter()
            .map(|value| from_eval(value, None))
            .collect::<Result<_, _>>()
    };
    Ok(match value {
        eval::Value::Tensor(tensor) => {
            let ty = Arc::clone(tensor.ty());
            let buffer = match memory {
                Some(memory) => memory.recycled(ty),
                None => Buffer::zeros(ty),
            };
            let buffer = buffer.and_then(|buffer| buffer.overwritten(tensor.bytes()));
            Value::Array(buffer.map_err(|error| EngineError::new(ErrorKind::MemoryLimit, error.to_string()))?)
        }
        eval::Value::Token => Value::Token,
        eval::Value::Tuple(values) => Value::Tuple(all(values)?),
        eval::Value::Future(values) => Value::Future(all(values)?),
    })
}

/// What the evaluator says besides results.
pub(crate) fn report(outcome: eval::Outcome) -> Result<Report, EngineError> {
    let failure = |failure: eval::CheckFailure| CheckFailure {
        check: failure.check,
        source: failure.source,
        message: failure.message,
    };
    let written = |values: &Vec<eval::Value>| {
        values
            .iter()
            .map(|value| from_eval(value, None))
            .collect::<Result<Vec<_>, _>>()
    };
    Ok(Report {
        failures: outcome.failures.into_iter().map(failure).collect(),
        checks: outcome.checks,
        printed: outcome.printed,
        outfeed: outcome.outfeed.iter().map(written).collect::<Result<_, _>>()?,
        notes: Vec::new(),
        profile: None,
    })
}
