//! The dialects of the specification's own tests: `check` and `interpreter`.

use artifact_ir::attribute::SymbolRef;
use artifact_ir::literal::Literal;
use artifact_ir::module::{FunctionId, Operation};
use artifact_ir::op::{Control, Op, RunParallel, Testing};

use crate::comparison::{Closeness, difference};
use crate::error::EvalError;
use crate::interpreter::{Frame, Process};
use crate::shape::operand;
use crate::tensor::Tensor;
use crate::value::Value;

/// What `check.expect_almost_eq` allows unless it says otherwise.
const TOLERANCE: f64 = 1e-4;

/// Runs an operation of the family. An expectation that is not met is noted, and the program goes on.
pub(crate) fn run<'m>(
    process: &mut Process<'m>,
    frame: &mut Frame<'m>,
    op: &'m Operation,
    testing: &Testing,
) -> Result<Vec<Value>, EvalError> {
    let compare = |want: Want<'_>, closeness| {
        let operands = frame.tensors(op)?;
        let got = operand(&operands, 0)?;
        let want = match want {
            Want::Operand => operand(&operands, 1)?.clone(),
            Want::Constant(literal) => Tensor::from_literal(literal)?,
        };
        expect(process, op, got, &want, closeness);
        Ok(Vec::new())
    };
    match testing {
        Testing::ExpectEq => compare(Want::Operand, Closeness::Equal),
        Testing::ExpectEqConst(expect) => compare(Want::Constant(&expect.value), Closeness::Equal),
        Testing::ExpectAlmostEq(expect) => {
            let tolerance = expect.tolerance.map_or(TOLERANCE, |tolerance| tolerance.value());
            compare(Want::Operand, Closeness::Absolute(tolerance))
        }
        Testing::ExpectAlmostEqConst(expect) => {
            let tolerance = expect.tolerance.map_or(TOLERANCE, |tolerance| tolerance.value());
            compare(Want::Constant(&expect.value), Closeness::Absolute(tolerance))
        }
        Testing::ExpectClose(expect) => {
            let (min, max) = (expect.min_ulp_difference, expect.max_ulp_difference);
            compare(Want::Operand, Closeness::Ulp { min, max })
        }
        Testing::ExpectSerializedEq(probe) => {
            let operands = frame.tensors(op)?;
            let want = operand(&operands, 0)?;
            match process.record.probed(probe.probe_id.as_bytes(), probe.iteration) {
                Some(got) => {
                    expect(process, op, &got, want, Closeness::Equal);
                }
                None => {
                    let (id, iteration) = (&probe.probe_id, probe.iteration);
                    let failure =
                        format!("probe {id:?} recorded nothing the {iteration}. time, counted from 0");
                    process.record.check(op.op.name(), op.source, Some(failure));
                }
            }
            Ok(Vec::new())
        }
        Testing::Print => {
            let operands = frame.tensors(op)?;
            process.record.print(operand(&operands, 0)?.to_string());
            Ok(Vec::new())
        }
        Testing::Probe(probe) => {
            let value = operand(&frame.tensors(op)?, 0)?.clone();
            process.record.probe(probe.probe_id.as_bytes(), value.clone());
            Ok(vec![Value::Tensor(value)])
        }
        Testing::RunParallel(parallel) => run_parallel(process, frame, op, parallel),
    }
}

enum Want<'a> {
    Operand,
    Constant(&'a Literal),
}

/// Notes whether `got` is as close to `want` as asked.
pub(crate) fn expect(
    process: &Process<'_>,
    op: &Operation,
    got: &Tensor,
    want: &Tensor,
    closeness: Closeness,
) -> bool {
    let failure = difference(got, want, closeness).map(|difference| difference.to_string());
    let met = failure.is_none();
    let check = match &op.op {
        Op::Control(Control::CustomCall(call)) => call.call_target_name.as_str().unwrap_or_default(),
        other => other.name(),
    };
    process.record.check(check, op.source, failure);
    met
}

/// Runs a grid of processes: each takes its share of the operands, and gives its share of the results.
fn run_parallel<'m>(
    process: &Process<'m>,
    frame: &Frame<'m>,
    op: &Operation,
    parallel: &RunParallel,
) -> Result<Vec<Value>, EvalError> {
    let resolve = |symbols: &[SymbolRef]| -> Result<Vec<FunctionId>, EvalError> {
        symbols
            .iter()
            .map(|symbol| process.resolve(&symbol.root))
            .collect()
    };
    let programs = parallel
        .programs
        .iter()
        .map(|row| resolve(row))
        .collect::<Result<Vec<_>, _>>()?;
    let infeed = resolve(parallel.infeed.as_deref().unwrap_or_default())?;
    let grid = process.grid.inner(&programs, infeed)?;
    let mut operands = frame.operands(op)?.into_iter();
    let inputs: Vec<Vec<Value>> = programs
        .iter()
        .flatten()
        .map(|program| {
            let count = process.module.functions[*program].arguments.len();
            operands.by_ref().take(count).collect()
        })
        .collect();
    if operands.next().is_some() {
        return Err(EvalError::invalid_input(
            "run_parallel has more operands than its programs have arguments",
        ));
    }
    Ok(grid.run(inputs)?.into_iter().flatten().collect())
}
