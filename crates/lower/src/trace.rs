//! Walks a program and makes the graph of its tensors.
//!
//! Calls are followed into their functions, tuples are taken apart, and operations are sorted into those that kernels are made
//! of, those that a plan has a step for, and the rest, each of which becomes a function of the library.

mod control;
mod library;
mod ops;
mod shapes;
mod transposes;

use std::collections::HashMap;

use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::module::{BlockId, Body, FunctionId, Module, OpId, Operation, ValueId};
use artifact_ir::types::{Dim, TensorType, Type};

use crate::error::LowerError;
use crate::graph::{Definition, Item, ItemKind, Sequence, Tensor, TensorId, Tensors, Value};
use crate::sizes::{SizeId, Sizes};
use library::Library;

pub(crate) use ops::is_elementwise;

/// Calls within calls; a program with more is evaluated as a whole.
const CALLS_MAX: usize = 64;

/// A program as a graph.
#[derive(Debug)]
pub(crate) struct Traced {
    pub(crate) sizes: Sizes,
    pub(crate) tensors: Tensors,
    pub(crate) arguments: Vec<Value>,
    pub(crate) results: Vec<Value>,
    pub(crate) root: Sequence,
    pub(crate) library: Module,
}

/// The graph of a verified function.
pub(crate) fn trace(module: &Module, entry: FunctionId) -> Result<Traced, LowerError> {
    let function = &module.functions[entry];
    let body = function
        .body
        .as_ref()
        .ok_or_else(|| LowerError::unsupported("a function without a body has no plan", function.source))?;
    let mut tracer = Tracer {
        module,
        sizes: Sizes::default(),
        tensors: Tensors::new(),
        library: Library::new(module),
        sequences: Vec::new(),
        sequence_count: 0,
        calls: 0,
    };
    tracer.open();
    let types: Vec<Type> = function
        .arguments
        .iter()
        .map(|argument| argument.ty.clone())
        .collect();
    let arguments: Vec<Value> = types
        .iter()
        .map(|ty| tracer.given(ty, function.source))
        .collect::<Result<_, _>>()?;
    let results = tracer.call(body, arguments.clone())?;
    let mut root = tracer.close();
    root.results = results.iter().flat_map(Value::tensors).collect();
    transposes::fold(&mut tracer.tensors, &mut root);
    Ok(Traced {
        sizes: tracer.sizes,
        tensors: tracer.tensors,
        arguments,
        results,
        root,
        library: tracer.library.into_module(),
    })
}

/// The walk.
struct Tracer<'m> {
    module: &'m Module,
    sizes: Sizes,
    tensors: Tensors,
    library: Library<'m>,
    /// The sequences that are open, innermost last.
    sequences: Vec<Sequence>,
    sequence_count: u32,
    calls: usize,
}

/// The values of one activation of a function.
struct Frame<'m> {
    body: &'m Body,
    values: HashMap<ValueId, Value>,
}

impl<'m> Frame<'m> {
    fn new(body: &'m Body) -> Self {
        Self {
            body,
            values: HashMap::new(),
        }
    }

    fn value(&self, id: ValueId) -> Result<&Value, LowerError> {
        let missing = || LowerError::unsupported("a value is used before it is made", SourceOffset::NONE);
        self.values.get(&id).ok_or_else(missing)
    }

    fn tensor(&self, id: ValueId) -> Result<TensorId, LowerError> {
        match self.value(id)? {
            Value::Tensor(tensor) => Ok(*tensor),
            Value::Token | Value::Tuple(_) => Err(LowerError::unsupported(
                "a tensor is needed and a value is none",
                SourceOffset::NONE,
            )),
        }
    }

    fn tensors(&self, op: &Operation) -> Result<Vec<TensorId>, LowerError> {
        op.operands.iter().map(|id| self.tensor(*id)).collect()
    }

    fn operands(&self, op: &Operation) -> Result<Vec<Value>, LowerError> {
        op.operands.iter().map(|id| self.value(*id).cloned()).collect()
    }
}

impl<'m> Tracer<'m> {
    /// Begins a sequence within the present one.
    fn open(&mut self) {
        let id = self.sequence_count;
        self.sequence_count += 1;
        self.sequences.push(Sequence {
            id,
            ..Sequence::default()
        });
    }

    /// Ends the present sequence.
    fn close(&mut self) -> Sequence {
        self.sequences.pop().unwrap_or_default()
    }

    /// Runs a function's body on values; what it returns comes back.
    fn call(&mut self, body: &'m Body, arguments: Vec<Value>) -> Result<Vec<Value>, LowerError> {
        if self.calls >= CALLS_MAX {
            return Err(LowerError::unsupported(
                "calls are nested too deeply for a plan",
                SourceOffset::NONE,
            ));
        }
        let block = body
            .entry_block()
            .ok_or_else(|| LowerError::unsupported("a function has no block", SourceOffset::NONE))?;
        let mut frame = Frame::new(body);
        self.calls += 1;
        let results = self.block(&mut frame, block, arguments);
        self.calls -= 1;
        results
    }

    fn block(
        &mut self,
        frame: &mut Frame<'m>,
        block: BlockId,
        arguments: Vec<Value>,
    ) -> Result<Vec<Value>, LowerError> {
        let block = &frame.body.blocks[block];
        for (id, value) in block.arguments.iter().zip(arguments) {
            frame.values.insert(*id, value);
        }
        let (last, ops) = block
            .ops
            .split_last()
            .ok_or_else(|| LowerError::unsupported("a block has no terminator", SourceOffset::NONE))?;
        for id in ops {
            self.step(frame, *id)?;
        }
        frame.operands(&frame.body.ops[*last])
    }

    fn step(&mut self, frame: &mut Frame<'m>, id: OpId) -> Result<(), LowerError> {
        let op = &frame.body.ops[id];
        let results = self.operation(frame, op).map_err(|error| error.at(op.source))?;
        for (id, value) in op.results.iter().zip(results) {
            frame.values.insert(*id, value);
        }
        Ok(())
    }

    /// A new tensor.
    fn tensor(
        &mut self,
        ty: &TensorType,
        definition: Definition,
        source: SourceOffset,
    ) -> Result<TensorId, LowerError> {
        let dims = self.dims(ty, source)?;
        Ok(self.tensors.push(Tensor {
            element: ty.element.clone(),
            dims,
            definition,
            source,
            sequence: self.sequences.last().map_or(0, |sequence| sequence.id),
        }))
    }

    /// A value of a type that something other than a kernel makes.
    fn given(&mut self, ty: &Type, source: SourceOffset) -> Result<Value, LowerError> {
        match ty {
            Type::Tensor(ty) => Ok(Value::Tensor(self.tensor(ty, Definition::Given, source)?)),
            Type::Token => Ok(Value::Token),
            Type::Tuple(types) => {
                let values = types
                    .iter()
                    .map(|ty| self.given(ty, source))
                    .collect::<Result<_, _>>()?;
                Ok(Value::Tuple(values))
            }
            other => Err(LowerError::unsupported(
                format!("a value of type {other} has no place in a plan"),
                source,
            )),
        }
    }

    fn dims(&mut self, ty: &TensorType, source: SourceOffset) -> Result<Vec<SizeId>, LowerError> {
        let size = |dim: &Dim| {
            dim.expression()
                .ok_or_else(|| LowerError::open_size(ty.to_string(), source))
        };
        ty.dims
            .iter()
            .map(|dim| Ok(self.sizes.intern(size(dim)?)))
            .collect()
    }

    /// Adds an item to the present sequence.
    fn push(&mut self, kind: ItemKind, name: &str, source: SourceOffset) {
        let item = Item {
            kind,
            name: name.to_owned(),
            source,
        };
        if let Some(sequence) = self.sequences.last_mut() {
            sequence.items.push(item);
        }
    }

    /// A tensor that a kernel computes where it is needed.
    fn lazy(
        &mut self,
        ty: &TensorType,
        definition: Definition,
        op: &Operation,
    ) -> Result<TensorId, LowerError> {
        let tensor = self.tensor(ty, definition, op.source)?;
        self.push(ItemKind::Tensor(tensor), op.op.name(), op.source);
        Ok(tensor)
    }

    /// The tensor type of a result, which the verifier knows to be one.
    fn result_type(frame: &Frame<'m>, op: &Operation, index: usize) -> Result<&'m TensorType, LowerError> {
        let ty = op
            .results
            .get(index)
            .and_then(|id| frame.body.ty(*id).as_tensor());
        ty.map(|ty| &**ty)
            .ok_or_else(|| LowerError::unsupported("an operation has no result that is a tensor", op.source))
    }
}
