//! What of a payload is a module: operations, element types, the signature.

use std::collections::HashMap;
use std::sync::Arc;

use artifact_chlo::{Form, legalize, recognise};
use artifact_core::blob::Blob;
use artifact_dims::Expr;
use artifact_engine::EngineError;
use artifact_engine::encoding::{Malformed, Reader, Writer};
use artifact_ir::location::LocationId;
use artifact_ir::module::{Body, Function, Module, NewOperation, Parameter, Visibility};
use artifact_ir::op::{Control, Op};
use artifact_ir::types::{Dim, Element, TensorType, Type};
use artifact_stablehlo::bytecode::{self, WriteOptions};

use super::decode_expression;
use crate::kernel::stages::Evaluated;

/// A function that only says types: those of results and arguments, or of elements.
const SIGNATURE: &str = "signature";
const ELEMENTS: &str = "elements";
/// Functions of one operation on elements are called so, and by their number.
const ELEMENTWISE: &str = "element.";

/// Element types that are more than a name, each with its number.
#[derive(Debug, Default)]
pub(super) struct Names {
    elements: Vec<Element>,
    numbers: HashMap<Element, usize>,
}

impl Names {
    pub(super) fn number(&mut self, element: &Element) -> usize {
        let next = self.elements.len();
        let number = *self.numbers.entry(element.clone()).or_insert(next);
        if number == next {
            self.elements.push(element.clone());
        }
        number
    }

    /// A library with everything else that a payload needs of a module.
    pub(super) fn module(self, library: &Module, evaluated: &[Evaluated]) -> Module {
        let mut module = library.clone();
        let scalar = |element: Element| Type::from(TensorType::new([], element));
        module.add_function(declaration(
            ELEMENTS,
            self.elements.into_iter().map(scalar).collect(),
            Vec::new(),
        ));
        for (number, operation) in evaluated.iter().enumerate() {
            module.add_function(elementwise(number, operation));
        }
        module
    }
}

fn declaration(name: &str, arguments: Vec<Type>, results: Vec<Type>) -> Function {
    let mut function = Function::new(name);
    function.visibility = Visibility::Private;
    function.arguments = arguments.into_iter().map(Parameter::new).collect();
    function.results = results.into_iter().map(Parameter::new).collect();
    function
}

fn elementwise(number: usize, operation: &Evaluated) -> Function {
    let scalar = |element| Type::tensor(&[], element);
    let operands: Vec<Type> = operation
        .operands
        .iter()
        .map(|element| scalar(*element))
        .collect();
    let result = scalar(operation.result);
    let mut body = Body::new();
    let block = body.add_block(body.root);
    let values: Vec<_> = operands
        .iter()
        .map(|ty| body.add_argument(block, ty.clone(), LocationId::UNKNOWN))
        .collect();
    let id = body.add_op(
        block,
        NewOperation::new(operation.op.clone(), values),
        [result.clone()],
    );
    let results = body.ops[id].results.clone();
    body.add_op(
        block,
        NewOperation::new(Op::from(Control::FuncReturn), results),
        Vec::new(),
    );
    let mut function = declaration(&format!("{ELEMENTWISE}{number}"), operands, vec![result]);
    function.body = Some(body);
    function
}

/// The element types of a library, by number.
pub(super) fn elements(module: &Module) -> Vec<Element> {
    let Some(id) = module.function(ELEMENTS) else {
        return Vec::new();
    };
    let types = module.functions[id]
        .arguments
        .iter()
        .filter_map(|argument| argument.ty.as_tensor());
    types.map(|ty| ty.element.clone()).collect()
}

/// The operations on elements of a library, by number.
pub(super) fn evaluated(module: &Module) -> Vec<Evaluated> {
    let operation = |number: usize| {
        let id = module.function(&format!("{ELEMENTWISE}{number}"))?;
        let function = &module.functions[id];
        let body = function.body.as_ref()?;
        let op = body.blocks[body.entry_block()?]
            .ops
            .first()
            .map(|id| body.ops[*id].op.clone())?;
        let element = |parameter: &Parameter| Some(parameter.ty.as_tensor()?.element.storage());
        Some(Evaluated {
            op,
            operands: function.arguments.iter().map(element).collect::<Option<_>>()?,
            result: element(function.results.first()?)?,
        })
    };
    (0..).map_while(operation).collect()
}

pub(super) fn write(mut module: Module) -> Result<Blob, EngineError> {
    let no_form = "the program has no form in portable bytecode";
    legalize(&mut module, Form::CompositesWithRegions)
        .map_err(|error| EngineError::unsupported(no_form).at(error.source).because(error))?;
    let bytes = bytecode::write(&module, &WriteOptions::default())
        .map_err(|error| EngineError::unsupported(no_form).because(error))?;
    Ok(Blob::new(bytes.to_vec()))
}

pub(super) fn read(bytes: &Blob) -> Result<Module, EngineError> {
    let damaged = "the compiled module is damaged: its operations cannot be read";
    let mut module = bytecode::read(bytes)
        .map_err(|error| EngineError::incompatible(damaged).because(error))?
        .module;
    recognise(&mut module);
    Ok(module)
}

/// The sizes of the arrays in a type, in order; a size may be unknown.
pub(super) type Sizes = Vec<Vec<Option<Expr>>>;

fn tensors<'a>(ty: &'a Type, found: &mut Vec<&'a TensorType>) {
    match ty {
        Type::Tensor(tensor) => found.push(tensor),
        Type::Tuple(parts) => parts.iter().for_each(|part| tensors(part, found)),
        _ => {}
    }
}

pub(super) fn encode_sizes(ty: &Type, writer: &mut Writer) {
    let mut found = Vec::new();
    tensors(ty, &mut found);
    writer.count(found.len());
    for tensor in found {
        writer.count(tensor.rank());
        for dim in &tensor.dims {
            writer.text(&dim.expression().map_or_else(String::new, |size| size.to_string()));
        }
    }
}

pub(super) fn decode_sizes(reader: &mut Reader<'_>) -> Result<Sizes, Malformed> {
    let count = reader.count(8)?;
    let mut sizes = Vec::with_capacity(count);
    for _ in 0..count {
        let rank = reader.count(8)?;
        let dims = (0..rank).map(|_| {
            let is_unknown = reader.clone().text()?.is_empty();
            if is_unknown {
                reader.text()?;
                return Ok(None);
            }
            decode_expression(reader).map(Some)
        });
        sizes.push(dims.collect::<Result<_, Malformed>>()?);
    }
    Ok(sizes)
}

pub(super) fn add_signature(module: &mut Module, arguments: &[Type], results: &[Type]) {
    module.add_function(declaration(SIGNATURE, arguments.to_vec(), results.to_vec()));
}

/// The types of the signature, with their sizes.
pub(super) fn take_signature(
    module: &mut Module,
    arguments: &[Sizes],
    results: &[Sizes],
) -> Option<(Vec<Type>, Vec<Type>)> {
    let function = &module.functions[module.function(SIGNATURE)?];
    let sized = |parameters: &[Parameter], sizes: &[Sizes]| -> Option<Vec<Type>> {
        let all = parameters.iter().zip(sizes).map(|(parameter, sizes)| {
            let mut sizes = sizes.iter();
            with_sizes(&parameter.ty, &mut sizes)
        });
        (parameters.len() == sizes.len()).then(|| all.collect())?
    };
    Some((
        sized(&function.arguments, arguments)?,
        sized(&function.results, results)?,
    ))
}

fn with_sizes<'a>(ty: &Type, sizes: &mut impl Iterator<Item = &'a Vec<Option<Expr>>>) -> Option<Type> {
    Some(match ty {
        Type::Tensor(tensor) => {
            let dims = sizes.next()?;
            if dims.len() != tensor.rank() {
                return None;
            }
            let dims: Vec<Dim> = dims
                .iter()
                .map(|dim| dim.clone().map_or(Dim::Unknown, Dim::from))
                .collect();
            let mut sized = TensorType::new(dims, tensor.element.clone());
            sized.encoding.clone_from(&tensor.encoding);
            sized.into()
        }
        Type::Tuple(parts) => {
            let parts = parts
                .iter()
                .map(|part| with_sizes(part, sizes))
                .collect::<Option<Arc<[Type]>>>()?;
            Type::Tuple(parts)
        }
        other => other.clone(),
    })
}
