//! Expectations of a program (`check.*`), which a plugin does not know: what they compare becomes further results, and the
//! evaluator judges these on the host.

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_engine::encoding::{Malformed, Reader, Writer};
use artifact_engine::{CheckFailure, EngineError, Report};
use artifact_eval as eval;
use artifact_eval::tensor::Tensor;
use artifact_ir::builder::Builder;
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::module::{FunctionId, Module, OpId, Operation, Parameter};
use artifact_ir::op::{Control, Op};
use artifact_ir::types::{TensorType, Type};
use artifact_ir::verify::verify;
use artifact_stablehlo::bytecode::{self, WriteOptions};

/// What judges the further results of a program.
#[derive(Debug)]
pub(crate) struct Expectations {
    /// A program of them alone, whose arguments are what they compare.
    judge: Module,
    entry: FunctionId,
    /// Types of these arguments.
    pub(crate) operands: Vec<Arc<TensorType>>,
}

/// Takes the expectations out of the entry; those within loops, branches and other functions stay, and the plugin refuses them.
///
/// # Errors
/// Unsupported where one of them compares what is no array.
pub(crate) fn take(module: &mut Module, entry: FunctionId) -> Result<Option<Expectations>, EngineError> {
    let Some(body) = &mut module.functions[entry].body else {
        return Ok(None);
    };
    let Some(block) = body.entry_block() else {
        return Ok(None);
    };
    let all = body.blocks[block].ops.iter().copied();
    let (taken, kept): (Vec<OpId>, Vec<OpId>) = all.partition(|id| is_expectation(&body.ops[*id]));
    let Some(last) = kept.last().copied().filter(|_| !taken.is_empty()) else {
        return Ok(None);
    };
    let taken: Vec<Operation> = taken.iter().map(|id| body.ops[*id].clone()).collect();
    let values: Vec<_> = taken.iter().flat_map(|op| op.operands.iter().copied()).collect();
    let types: Vec<Type> = values.iter().map(|value| body.ty(*value).clone()).collect();
    body.blocks[block].ops = kept;
    body.ops[last].operands.extend(values);
    let parameters = types.iter().map(|ty| Parameter::new(ty.clone()));
    module.functions[entry].results.extend(parameters);
    judge_of(&taken, &types).map(Some)
}

/// Whether an operation compares values and makes none.
fn is_expectation(op: &Operation) -> bool {
    let compares = match &op.op {
        Op::Testing(_) => true,
        Op::Control(Control::CustomCall(call)) => call.call_target_name.as_bytes().starts_with(b"check."),
        _ => false,
    };
    compares && op.results.is_empty() && op.regions.is_empty()
}

fn judge_of(taken: &[Operation], types: &[Type]) -> Result<Expectations, EngineError> {
    let unsupported = |error: artifact_ir::builder::BuildError| {
        EngineError::unsupported("an expectation of the program cannot be judged alone").because(error)
    };
    let mut builder = Builder::new("main", types);
    let mut arguments = builder.arguments().into_iter();
    for op in taken {
        let operands: Vec<_> = arguments.by_ref().take(op.operands.len()).collect();
        builder
            .op_with_types(op.op.clone(), &operands, &[])
            .map_err(unsupported)?;
    }
    let mut function = builder.finish(&[]).map_err(unsupported)?;
    if let Some(body) = &mut function.body {
        let ids: Vec<OpId> = body
            .entry_block()
            .map(|block| body.blocks[block].ops.clone())
            .unwrap_or_default();
        for (id, op) in ids.into_iter().zip(taken) {
            body.ops[id].source = op.source;
        }
    }
    let mut judge = Module::new();
    let entry = judge.add_function(function);
    Expectations::new(judge, entry)
}

impl Expectations {
    fn new(judge: Module, entry: FunctionId) -> Result<Self, EngineError> {
        let array = |parameter: &Parameter| match &parameter.ty {
            Type::Tensor(tensor) if tensor.is_static() && tensor.element.as_plain().is_some() => {
                Ok(Arc::clone(tensor))
            }
            other => Err(EngineError::unsupported(format!(
                "an expectation compares a value of type {other}"
            ))),
        };
        let operands = judge.functions[entry]
            .arguments
            .iter()
            .map(array)
            .collect::<Result<_, _>>()?;
        Ok(Self {
            judge,
            entry,
            operands,
        })
    }

    /// Judges what a program left, and puts it into the report.
    ///
    /// # Errors
    /// What the evaluator does not compare.
    pub(crate) fn judge(&self, values: Vec<Vec<u8>>, report: &mut Report) -> Result<(), EngineError> {
        let refused =
            |error: &dyn std::fmt::Display| EngineError::unsupported(format!("an expectation: {error}"));
        let value = |(bytes, ty): (Vec<u8>, &Arc<TensorType>)| {
            Tensor::from_bytes(Arc::clone(ty), bytes)
                .map(eval::Value::Tensor)
                .map_err(|error| refused(&error))
        };
        let values = values
            .into_iter()
            .zip(&self.operands)
            .map(value)
            .collect::<Result<_, _>>()?;
        let options = eval::Options {
            steps_max: None,
            bytes_max: None,
        };
        let outcome =
            eval::evaluate(&self.judge, self.entry, values, &options).map_err(|error| refused(&error))?;
        report.checks = outcome.checks;
        let failure = |failure: eval::CheckFailure| CheckFailure {
            check: failure.check,
            source: failure.source,
            message: failure.message,
        };
        report.failures = outcome.failures.into_iter().map(failure).collect();
        Ok(())
    }

    /// # Errors
    /// Unsupported when they have no form in bytecode.
    pub(crate) fn encode(&self, writer: &mut Writer) -> Result<(), EngineError> {
        let no_form =
            |error| EngineError::unsupported("the expectations have no form in bytecode").because(error);
        let bytecode = bytecode::write(&self.judge, &WriteOptions::default()).map_err(no_form)?;
        writer.bytes(&bytecode.to_vec());
        let places = self.places();
        writer.count(places.len());
        places
            .iter()
            .for_each(|place| writer.u64(place.get().map_or(u64::MAX, |at| at as u64)));
        Ok(())
    }

    fn places(&self) -> Vec<SourceOffset> {
        let body = self.judge.functions[self.entry].body.as_ref();
        let ops = body.and_then(|body| {
            Some(
                body.blocks[body.entry_block()?]
                    .ops
                    .iter()
                    .map(|id| body.ops[*id].source),
            )
        });
        ops.map(Iterator::collect).unwrap_or_default()
    }

    pub(crate) fn decode(bytes: &Blob, reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let damaged = reader.malformed("the expectations are none");
        let program = bytes.slice(reader.range()?);
        let count = reader.count(8)?;
        let places: Vec<u64> = (0..count).map(|_| reader.u64()).collect::<Result<_, _>>()?;
        Self::of_bytecode(program, &places).ok_or(damaged)
    }

    fn of_bytecode(program: Option<Blob>, places: &[u64]) -> Option<Self> {
        let mut judge = bytecode::read(&program?).ok()?.module;
        if verify(&judge).into_iter().next().is_some() {
            return None;
        }
        let entry = judge.function("main")?;
        let body = judge.functions[entry].body.as_mut()?;
        let ids = body.blocks[body.entry_block()?].ops.clone();
        for (id, place) in ids.into_iter().zip(places) {
            body.ops[id].source = usize::try_from(*place).map_or(SourceOffset::NONE, SourceOffset::new);
        }
        Self::new(judge, entry).ok()
    }
}
