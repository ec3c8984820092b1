//! Runs functions: calls, regions, blocks and the values of one activation (spec, "Sequential execution").

use std::sync::Arc;
use std::time::{Duration, Instant};

use artifact_core::entity::EntityId;
use artifact_core::limit::Limit;
use artifact_ir::module::{Body, Function, FunctionId, Module, OpId, Operation, RegionId, ValueId};
use artifact_ir::types::{TensorType, Type};

use crate::dispatch;
use crate::effort;
use crate::error::EvalError;
use crate::grid::{Grid, ProcessId};
use crate::record::{Observer, Options, Outcome, Record};
use crate::tensor::Tensor;
use crate::value::Value;

/// Calls and regions inside each other: a long chain of calls ends before the stack does.
const NESTING: Limit = Limit::new("nesting of calls and regions", 512, "levels");

/// Runs a function of a verified module on one process.
///
/// # Errors
/// [`EvalError`] when the inputs do not fit, when the program asks for what the evaluator does not do, or when it has no
/// result. Expectations of the program that are not met are no errors: they are listed in the outcome.
pub fn evaluate(
    module: &Module,
    function: FunctionId,
    inputs: Vec<Value>,
    options: &Options,
) -> Result<Outcome, EvalError> {
    run(module, function, inputs, Record::new(options, None))
}

/// As [`evaluate`], watched.
///
/// # Errors
/// As [`evaluate`], and those of the observer.
pub fn evaluate_observed(
    module: &Module,
    function: FunctionId,
    inputs: Vec<Value>,
    options: &Options,
    observer: Arc<dyn Observer>,
) -> Result<Outcome, EvalError> {
    run(module, function, inputs, Record::new(options, Some(observer)))
}

fn run(
    module: &Module,
    function: FunctionId,
    inputs: Vec<Value>,
    record: Record,
) -> Result<Outcome, EvalError> {
    let grid = Grid::of_one(module, &record, function);
    let results = grid.run(vec![inputs])?;
    Ok(record.into_outcome(results.into_iter().flatten().collect()))
}

/// One process of a grid, running.
pub(crate) struct Process<'m> {
    pub(crate) module: &'m Module,
    pub(crate) record: &'m Record,
    pub(crate) grid: &'m Grid<'m>,
    pub(crate) id: ProcessId,
    depth: u64,
    /// Time of the operations inside the one that runs, where somebody watches.
    inside: Duration,
}

/// The values of one activation of a function. A region's values are overwritten each time it is applied.
pub(crate) struct Frame<'m> {
    pub(crate) body: &'m Body,
    record: &'m Record,
    values: Vec<Option<Value>>,
}

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        let held = self.values.iter().flatten().map(Value::byte_count).sum();
        self.record.hold_bytes(0, held);
    }
}

impl<'m> Frame<'m> {
    fn new(body: &'m Body, record: &'m Record) -> Self {
        Self {
            body,
            record,
            values: vec![None; body.values.len()],
        }
    }

    /// The value called `id`.
    ///
    /// # Errors
    /// A runtime error when nothing has made it yet, which a verified module does not ask for.
    pub(crate) fn value(&self, id: ValueId) -> Result<&Value, EvalError> {
        let value = self.values.get(id.index()).and_then(Option::as_ref);
        value.ok_or_else(|| {
            EvalError::runtime("a value is used before it is made: the module is not verified")
        })
    }

    fn set(&mut self, id: ValueId, value: Value) {
        let slot = &mut self.values[id.index()];
        let before = slot.as_ref().map_or(0, Value::byte_count);
        self.record.hold_bytes(value.byte_count(), before);
        *slot = Some(value);
    }

    /// All operands.
    pub(crate) fn operands(&self, op: &Operation) -> Result<Vec<Value>, EvalError> {
        op.operands.iter().map(|id| self.value(*id).cloned()).collect()
    }

    /// All operands of an operation that takes tensors only.
    pub(crate) fn tensors(&self, op: &Operation) -> Result<Vec<Tensor>, EvalError> {
        op.operands
            .iter()
            .map(|id| self.value(*id)?.as_tensor().cloned())
            .collect()
    }

    /// The declared types of the results that are tensors.
    pub(crate) fn result_types(&self, op: &Operation) -> Vec<Arc<TensorType>> {
        op.results
            .iter()
            .filter_map(|id| self.body.ty(*id).as_tensor().cloned())
            .collect()
    }
}

impl<'m> Process<'m> {
    /// A process that has not begun.
    pub(crate) const fn new(
        module: &'m Module,
        record: &'m Record,
        grid: &'m Grid<'m>,
        id: ProcessId,
    ) -> Self {
        Self {
            module,
            record,
            grid,
            id,
            depth: 0,
            inside: Duration::ZERO,
        }
    }

    /// Runs a function on values that fit its arguments.
    pub(crate) fn call(&mut self, id: FunctionId, arguments: Vec<Value>) -> Result<Vec<Value>, EvalError> {
        let function = &self.module.functions[id];
        let body = function.body.as_ref().ok_or_else(|| {
            let name = &function.name;
            EvalError::unsupported(format!("function @{name} is declared without a body")).at(function.source)
        })?;
        check_arguments(function, &arguments).map_err(|error| error.at(function.source))?;
        let mut frame = Frame::new(body, self.record);
        let results = self.region(&mut frame, body.root, arguments)?;
        check_results(function, &results).map_err(|error| error.at(function.source))?;
        Ok(results)
    }

    /// Runs a region of `body` that uses nothing from outside, on values that fit its arguments.
    pub(crate) fn enter(
        &mut self,
        body: &'m Body,
        region: RegionId,
        arguments: Vec<Value>,
    ) -> Result<Vec<Value>, EvalError> {
        let mut frame = Frame::new(body, self.record);
        self.region(&mut frame, region, arguments)
    }

    /// The function that a symbol names.
    pub(crate) fn resolve(&self, symbol: &str) -> Result<FunctionId, EvalError> {
        let unknown = || EvalError::invalid_input(format!("there is no function @{symbol}"));
        self.module.function(symbol).ok_or_else(unknown)
    }

    /// Enters a region with arguments; what its terminator returns comes back.
    pub(crate) fn region(
        &mut self,
        frame: &mut Frame<'m>,
        region: RegionId,
        arguments: Vec<Value>,
    ) -> Result<Vec<Value>, EvalError> {
        NESTING.check(self.depth + 1)?;
        self.depth += 1;
        let results = self.block(frame, region, arguments);
        self.depth -= 1;
        results
    }

    fn block(
        &mut self,
        frame: &mut Frame<'m>,
        region: RegionId,
        arguments: Vec<Value>,
    ) -> Result<Vec<Value>, EvalError> {
        let body = frame.body;
        let block = body.single_block(region).ok_or_else(|| {
            EvalError::unsupported("a region that has not exactly one block is not evaluated")
        })?;
        let block = &body.blocks[block];
        if block.arguments.len() != arguments.len() {
            let (want, got) = (block.arguments.len(), arguments.len());
            return Err(EvalError::runtime(format!(
                "a region of {want} arguments is entered with {got}"
            )));
        }
        for (id, value) in block.arguments.iter().zip(arguments) {
            frame.set(*id, value);
        }
        let (terminator, ops) = block
            .ops
            .split_last()
            .ok_or_else(|| EvalError::runtime("a region has no terminator"))?;
        for op in ops {
            self.step(frame, *op)?;
        }
        frame.operands(&body.ops[*terminator])
    }

    /// Runs one operation and keeps its results, under the eyes of who watches.
    fn step(&mut self, frame: &mut Frame<'m>, id: OpId) -> Result<(), EvalError> {
        let op = &frame.body.ops[id];
        let Some(observer) = self.record.observer() else {
            return self.compute(frame, op);
        };
        observer.before(op).map_err(|error| error.at(op.source))?;
        let outside = std::mem::take(&mut self.inside);
        let start = Instant::now();
        self.compute(frame, op)?;
        let time = start.elapsed();
        observer.after(op, frame.body, time.saturating_sub(self.inside));
        self.inside = outside + time;
        Ok(())
    }

    fn compute(&mut self, frame: &mut Frame<'m>, op: &'m Operation) -> Result<(), EvalError> {
        let declared = tensor_types(frame.body, &op.results);
        let operands = tensor_types(frame.body, &op.operands);
        self.record
            .count_steps(effort::steps(&op.op, &operands, &declared))
            .and_then(|()| self.record.check_bytes(declared_bytes(&declared)))
            .map_err(|error| error.at(op.source))?;
        let empty =
            effort::empty_results(&op.op, &declared).filter(|results| results.len() == op.results.len());
        let results = match empty {
            Some(results) => Ok(results.into_iter().map(Value::Tensor).collect()),
            None => dispatch::run(self, frame, op),
        };
        let results = results
            .and_then(|results| check_op_results(frame.body, op, results))
            .map_err(|error| error.at(op.source))?;
        for (id, value) in op.results.iter().zip(results) {
            frame.set(*id, value);
        }
        Ok(())
    }
}

/// The declared types of values that are tensors.
fn tensor_types<'m>(body: &'m Body, values: &[ValueId]) -> Vec<&'m TensorType> {
    let tensors = values.iter().filter_map(|id| body.ty(*id).as_tensor());
    tensors.map(|ty| &**ty).collect()
}

/// Bytes of the results of an operation, as far as their types say.
fn declared_bytes(results: &[&TensorType]) -> u64 {
    results.iter().fold(0, |bytes, ty| {
        let own = if ty.is_static() {
            ty.byte_count().unwrap_or(u64::MAX)
        } else {
            0
        };
        bytes.saturating_add(own)
    })
}

/// Whether a value may stand where `declared` is written: equal but for sizes that the program does not say, which keep within
/// their bounds.
fn fits(value: &Value, declared: &Type) -> bool {
    match (value, declared) {
        (Value::Tensor(tensor), Type::Tensor(declared)) => {
            let actual = tensor.ty();
            Arc::ptr_eq(actual, declared)
                || (actual.element == declared.element
                    && actual.rank() == declared.rank()
                    && actual
                        .dims
                        .iter()
                        .zip(&declared.dims)
                        .all(|(a, b)| a.compatible(b))
                    && keeps_bounds(actual, declared))
        }
        (Value::Token, Type::Token) => true,
        (Value::Tuple(values), Type::Tuple(types)) | (Value::Future(values), Type::Future(types)) => {
            values.len() == types.len() && values.iter().zip(types.iter()).all(|(value, ty)| fits(value, ty))
        }
        _ => false,
    }
}

fn keeps_bounds(actual: &TensorType, declared: &TensorType) -> bool {
    let bounds = declared.bounds().unwrap_or_default();
    actual.dims.iter().zip(bounds).all(|(size, bound)| {
        let known = size.as_static().zip(*bound);
        known.is_none_or(|(size, bound)| size <= bound)
    })
}

fn check_arguments(function: &Function, arguments: &[Value]) -> Result<(), EvalError> {
    let (name, want, got) = (&function.name, function.arguments.len(), arguments.len());
    if want != got {
        return Err(EvalError::invalid_input(format!(
            "@{name} takes {want} arguments, {got} were given"
        )));
    }
    for (index, (parameter, value)) in function.arguments.iter().zip(arguments).enumerate() {
        if !fits(value, &parameter.ty) {
            let (want, got) = (&parameter.ty, value.ty());
            return Err(EvalError::invalid_input(format!(
                "argument {index} of @{name} is {want}, {got} was given"
            )));
        }
    }
    Ok(())
}

fn check_results(function: &Function, results: &[Value]) -> Result<(), EvalError> {
    for (index, (parameter, value)) in function.results.iter().zip(results).enumerate() {
        if !fits(value, &parameter.ty) {
            let (name, want, got) = (&function.name, &parameter.ty, value.ty());
            return Err(EvalError::runtime(format!(
                "result {index} of @{name} is declared {want} and came out as {got}"
            )));
        }
    }
    Ok(())
}

fn check_op_results(body: &Body, op: &Operation, results: Vec<Value>) -> Result<Vec<Value>, EvalError> {
    if results.len() != op.results.len() {
        let (want, got) = (op.results.len(), results.len());
        return Err(EvalError::runtime(format!(
            "{} has {want} results and {got} came out",
            op.op.name()
        )));
    }
    for (index, (id, value)) in op.results.iter().zip(&results).enumerate() {
        let declared = body.ty(*id);
        if !fits(value, declared) {
            let (name, got) = (op.op.name(), value.ty());
            return Err(EvalError::runtime(format!(
                "result {index} of {name} is declared {declared} and came out as {got}"
            )));
        }
    }
    Ok(results)
}
