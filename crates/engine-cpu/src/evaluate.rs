//! Operations that the reference evaluator does: on elements of a rectangle.

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_cpu_tile::Tile;
use artifact_eval::tensor::Tensor;
use artifact_eval::{EvalError, Options, Value, evaluate};
use artifact_ir::literal::Literal;
use artifact_ir::location::LocationId;
use artifact_ir::module::{Body, Function, FunctionId, Module, NewOperation, Parameter};
use artifact_ir::op::{Control, Op};
use artifact_ir::types::{ElementType, TensorType, Type};

use crate::kernel::stages::Evaluated;

/// One elementwise operation, for rows of any length.
#[derive(Debug)]
pub(crate) struct ElementEvaluator {
    op: Op,
    operands: Vec<ElementType>,
    result: ElementType,
}

impl ElementEvaluator {
    pub(crate) fn new(operation: &Evaluated) -> Self {
        let Evaluated { op, operands, result } = operation.clone();
        Self { op, operands, result }
    }

    pub(crate) fn operand_count(&self) -> usize {
        self.operands.len()
    }

    /// The operation as a program of its own, for rows of this length.
    fn program(&self, columns: usize) -> (Module, FunctionId) {
        let row = |element: &ElementType| Type::tensor(&[columns as u64], *element);
        let types: Vec<Type> = self.operands.iter().map(row).collect();
        let result = row(&self.result);
        let mut body = Body::new();
        let block = body.add_block(body.root);
        let operands: Vec<_> = types
            .iter()
            .map(|ty| body.add_argument(block, ty.clone(), LocationId::UNKNOWN))
            .collect();
        let id = body.add_op(
            block,
            NewOperation::new(self.op.clone(), operands),
            [result.clone()],
        );
        let results = body.ops[id].results.clone();
        body.add_op(
            block,
            NewOperation::new(Op::from(Control::FuncReturn), results),
            Vec::new(),
        );
        let mut function = Function::new("main");
        function.arguments = types.into_iter().map(Parameter::new).collect();
        function.results = vec![Parameter::new(result)];
        function.body = Some(body);
        let mut module = Module::new();
        let entry = module.add_function(function);
        (module, entry)
    }

    /// Computes a rectangle: the destination is the first tile.
    ///
    /// # Safety
    /// The tiles must be rectangles of so many rows and columns of elements of the operation's types.
    pub(crate) unsafe fn run(&self, rows: usize, columns: usize, tiles: &[Tile]) -> Result<(), EvalError> {
        let [to, from @ ..] = tiles else { return Ok(()) };
        let (module, entry) = self.program(columns);
        for row in 0..rows {
            let operands = from.iter().zip(&self.operands).map(|(tile, element)| {
                let length = columns * element.bytes();
                // SAFETY: the caller's promise.
                let bytes = unsafe { std::slice::from_raw_parts(address(tile, row), length) };
                tensor(*element, columns, bytes.to_vec()).map(Value::Tensor)
            });
            let operands = operands.collect::<Result<Vec<_>, _>>()?;
            let outcome = evaluate(&module, entry, operands, &Options::default())?;
            let length = columns * self.result.bytes();
            let result = outcome
                .results
                .first()
                .map(Value::as_tensor)
                .transpose()?
                .map(Tensor::bytes);
            if let Some(result) = result.filter(|bytes| bytes.len() == length) {
                // SAFETY: the caller's promise; the result is memory of the evaluator's own.
                unsafe { std::ptr::copy_nonoverlapping(result.as_ptr(), address(to, row), length) };
            }
        }
        Ok(())
    }
}

fn address(tile: &Tile, row: usize) -> *mut u8 {
    tile.data.wrapping_offset(row as isize * tile.row_bytes)
}

/// A vector of elements.
fn tensor(element: ElementType, count: usize, bytes: Vec<u8>) -> Result<Tensor, EvalError> {
    let ty = Arc::new(TensorType::of_static(&[count as u64], element));
    let literal =
        Literal::dense(ty, Blob::new(bytes)).map_err(|error| EvalError::invalid_input(error.to_string()))?;
    Tensor::from_literal(&literal).map_err(|error| EvalError::invalid_input(error.to_string()))
}
