//! Control flow, calls, tuples and tokens (spec, "if", "case", "while", "composite", "tuple", "async_start" and others).

use artifact_ir::module::Operation;
use artifact_ir::op::Control;

use crate::custom_call;
use crate::error::EvalError;
use crate::interpreter::{Frame, Process};
use crate::value::Value;

/// Runs an operation of the family.
pub(crate) fn run<'m>(
    process: &mut Process<'m>,
    frame: &mut Frame<'m>,
    op: &'m Operation,
    control: &'m Control,
) -> Result<Vec<Value>, EvalError> {
    match control {
        Control::AfterAll | Control::CreateToken => Ok(vec![Value::Token]),
        Control::AsyncStart => {
            // The operation may run at once: nothing in the program can tell.
            let operands = frame.operands(op)?;
            let results = process.region(frame, op.regions[0], operands)?;
            Ok(vec![Value::Future(results.into())])
        }
        Control::AsyncDone => match first(frame.operands(op)?)? {
            Value::Future(results) => Ok(results.to_vec()),
            other => Err(unexpected(op, "a future", &other)),
        },
        Control::Call(call) => {
            let callee = process.resolve(&call.callee.root)?;
            process.call(callee, frame.operands(op)?)
        }
        Control::Composite(composite) => {
            let decomposition = process.resolve(&composite.decomposition.root)?;
            process.call(decomposition, frame.operands(op)?)
        }
        Control::Case => case(process, frame, op),
        Control::If => {
            let branch = usize::from(!condition(&frame.operands(op)?, op)?);
            process.region(frame, op.regions[branch], Vec::new())
        }
        Control::While => while_loop(process, frame, op),
        Control::CustomCall(call) => custom_call::run(process, frame, op, call),
        Control::GetTupleElement(get) => match first(frame.operands(op)?)? {
            Value::Tuple(values) => {
                let value = usize::try_from(get.index)
                    .ok()
                    .and_then(|index| values.get(index));
                let outside = || EvalError::invalid_input(format!("a tuple has no component {}", get.index));
                Ok(vec![value.ok_or_else(outside)?.clone()])
            }
            other => Err(unexpected(op, "a tuple", &other)),
        },
        Control::OptimizationBarrier => frame.operands(op),
        Control::Tuple => Ok(vec![Value::Tuple(frame.operands(op)?.into())]),
        Control::Return | Control::FuncReturn => Err(EvalError::runtime(format!(
            "{} is not at the end of its block",
            op.op.name()
        ))),
    }
}

fn first(operands: Vec<Value>) -> Result<Value, EvalError> {
    operands
        .into_iter()
        .next()
        .ok_or_else(|| EvalError::runtime("an operand is missing"))
}

fn unexpected(op: &Operation, want: &str, got: &Value) -> EvalError {
    EvalError::runtime(format!("{} takes {want}, found {}", op.op.name(), got.ty()))
}

/// The truth value of the only tensor among `values`.
fn condition(values: &[Value], op: &Operation) -> Result<bool, EvalError> {
    let tensor = match values {
        [value] => value.as_tensor()?,
        _ => {
            return Err(EvalError::runtime(format!(
                "{} has no single condition",
                op.op.name()
            )));
        }
    };
    let truth = (tensor.len() == 1).then(|| tensor.get(0).as_bool()).flatten();
    truth.ok_or_else(|| EvalError::runtime(format!("the condition of {} is {}", op.op.name(), tensor.ty())))
}

/// Spec, "case": the branch that the index names; the last one when there is no such branch.
fn case<'m>(
    process: &mut Process<'m>,
    frame: &mut Frame<'m>,
    op: &'m Operation,
) -> Result<Vec<Value>, EvalError> {
    let operands = frame.tensors(op)?;
    let index = operands
        .first()
        .filter(|index| index.len() == 1)
        .and_then(|index| index.get(0).as_int());
    let index = index.ok_or_else(|| EvalError::runtime("the index of a case is not an integer"))?;
    let last = op.regions.len().checked_sub(1);
    let last = last.ok_or_else(|| EvalError::runtime("a case has no branch"))?;
    let branch = usize::try_from(index).map_or(last, |index| index.min(last));
    process.region(frame, op.regions[branch], Vec::new())
}

/// Spec, "while": regions `cond` and `body`.
fn while_loop<'m>(
    process: &mut Process<'m>,
    frame: &mut Frame<'m>,
    op: &'m Operation,
) -> Result<Vec<Value>, EvalError> {
    let mut state = frame.operands(op)?;
    loop {
        // A loop of empty regions takes steps as well, so that a limit of steps ends it, or who watches.
        process.record.count_steps(1)?;
        if let Some(observer) = process.record.observer() {
            observer.before(op)?;
        }
        let holds = process.region(frame, op.regions[0], state.clone())?;
        if !condition(&holds, op)? {
            return Ok(state);
        }
        state = process.region(frame, op.regions[1], state)?;
    }
}
