//! Values of the port and of the evaluator.

use std::sync::Arc;

use artifact_engine::{Argument, Buffer, EngineError, ErrorKind, Value};
use artifact_eval as eval;
use artifact_eval::tensor::{Tensor, TensorError};

/// The values of arguments that fit. Donated ones are given up.
///
/// # Errors
/// When one is too large for the evaluator, or has bytes that its type does not have.
pub(crate) fn taken(arguments: &mut [Argument<'_>]) -> Result<Vec<eval::Value>, EngineError> {
    let values: Result<_, _> = arguments
        .iter()
        .map(|argument| argument.value().map_or(Ok(eval::Value::Token), value))
        .collect();
    arguments.iter_mut().for_each(|argument| drop(argument.take()));
    values
}

fn value(value: &Value) -> Result<eval::Value, EngineError> {
    let all = |values: &[Value]| values.iter().map(self::value).collect::<Result<_, _>>();
    Ok(match value {
        Value::Array(buffer) => eval::Value::Tensor(tensor(buffer)?),
        Value::Token => eval::Value::Token,
        Value::Tuple(values) => eval::Value::Tuple(all(values)?),
        Value::Future(values) => eval::Value::Future(all(values)?),
    })
}

fn tensor(buffer: &Buffer) -> Result<Tensor, EngineError> {
    if buffer.ty().element.storage().bits() < 8 {
        // Who wrote into the buffer may have left anything there.
        let checked = buffer.to_literal();
        checked.map_err(|error| EngineError::invalid_input(error.to_string()))?;
    }
    let mut bytes = Vec::new();
    let no_memory = || too_large(&TensorError::Memory(buffer.bytes().len()));
    bytes
        .try_reserve_exact(buffer.bytes().len())
        .map_err(|_| no_memory())?;
    bytes.extend_from_slice(buffer.bytes());
    Tensor::from_bytes(Arc::clone(buffer.ty()), bytes).map_err(|error| too_large(&error))
}

fn too_large(error: &TensorError) -> EngineError {
    EngineError::new(ErrorKind::MemoryLimit, error.to_string())
}

/// Puts values where a caller wants them, in the memory that is there already where it fits.
///
/// # Errors
/// When there is no memory.
pub(crate) fn put(values: &[eval::Value], results: &mut Vec<Value>) -> Result<(), EngineError> {
    let mut before = std::mem::take(results).into_iter();
    for value in values {
        let memory = before.next().and_then(Value::into_array);
        results.push(result(value, memory)?);
    }
    Ok(())
}

/// A value of the evaluator in memory of its own.
///
/// # Errors
/// When there is no memory.
pub(crate) fn result(value: &eval::Value, memory: Option<Buffer>) -> Result<Value, EngineError> {
    let all = |values: &[eval::Value]| {
        values
            .iter()
            .map(|value| result(value, None))
            .collect::<Result<_, _>>()
    };
    Ok(match value {
        eval::Value::Tensor(tensor) => Value::Array(buffer(tensor, memory)?),
        eval::Value::Token => Value::Token,
        eval::Value::Tuple(values) => Value::Tuple(all(values)?),
        eval::Value::Future(values) => Value::Future(all(values)?),
    })
}

fn buffer(tensor: &Tensor, memory: Option<Buffer>) -> Result<Buffer, EngineError> {
    let ty = Arc::clone(tensor.ty());
    let buffer = match memory {
        Some(memory) => memory.recycled(ty),
        None => Buffer::zeros(ty),
    };
    buffer
        .and_then(|buffer| buffer.overwritten(tensor.bytes()))
        .map_err(|error| EngineError::new(ErrorKind::MemoryLimit, error.to_string()))
}
