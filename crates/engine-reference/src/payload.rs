//! What a compiled module holds.

use std::sync::Arc;

use artifact_chlo::{Form, legalize, recognise};
use artifact_core::blob::Blob;
use artifact_dims::{Expr, Variable};
use artifact_engine::encoding::{Malformed, Reader, Writer};
use artifact_engine::{ArgumentFact, EngineError, Program, Signature};
use artifact_ir::module::{Function, FunctionId, Module};
use artifact_ir::types::{Dim, TensorType, Type};
use artifact_ir::verify::verify;
use artifact_refine::{Fact, refine};
use artifact_stablehlo::bytecode::{self, WriteOptions};

use crate::places::Places;
use crate::specialization::is_static;

/// The sizes of a value that is an array, as expressions; `None` where one is unknown.
type Sizes = Option<Vec<Option<Expr>>>;

/// A program as bytes, and what its bytes leave out.
#[derive(Debug)]
pub(crate) struct Payload {
    entry: String,
    bytecode: Blob,
    places: Places,
    arguments: Vec<Sizes>,
    results: Vec<Sizes>,
}

/// A program that can be run.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) module: Module,
    pub(crate) entry: FunctionId,
    pub(crate) signature: Signature,
}

impl Payload {
    /// # Errors
    /// Unsupported when the program has no form in bytecode.
    pub(crate) fn of_program(program: &Program) -> Result<Self, EngineError> {
        let mut module = Module::clone(program.module());
        let places = Places::of_module(&module);
        let no_form = "the program has no form in portable bytecode";
        legalize(&mut module, Form::CompositesWithRegions)
            .map_err(|error| EngineError::unsupported(no_form).at(error.source).because(error))?;
        let encoded = bytecode::write(&module, &WriteOptions::default())
            .map_err(|error| EngineError::unsupported(no_form).because(error))?;
        let arguments = program.arguments().iter();
        Ok(Self {
            entry: program.entry_function().name.to_string(),
            bytecode: Blob::new(encoded.to_vec()),
            places,
            arguments: arguments.map(|fact| sizes(&fact.ty)).collect(),
            results: results(program).iter().map(sizes).collect(),
        })
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::new();
        writer.text(&self.entry);
        for values in [&self.arguments, &self.results] {
            writer.count(values.len());
            values.iter().for_each(|sizes| write_sizes(sizes, &mut writer));
        }
        self.places.encode(&mut writer);
        writer.bytes(&self.bytecode);
        writer.finish()
    }

    /// # Errors
    /// Incompatible when the bytes are none of ours.
    pub(crate) fn decode(bytes: &Blob) -> Result<Self, EngineError> {
        let damaged =
            |error: Malformed| EngineError::incompatible("the compiled module is damaged").because(error);
        Self::read(bytes).map_err(damaged)
    }

    fn read(bytes: &Blob) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let entry = reader.text()?.to_owned();
        let mut values = || -> Result<Vec<Sizes>, Malformed> {
            let count = reader.count(1)?;
            (0..count).map(|_| read_sizes(&mut reader)).collect()
        };
        let (arguments, results) = (values()?, values()?);
        let places = Places::decode(&mut reader)?;
        let outside = reader.malformed("the program ends too early");
        let bytecode = bytes.slice(reader.range()?).ok_or(outside)?;
        reader.end()?;
        Ok(Self {
            entry,
            bytecode,
            places,
            arguments,
            results,
        })
    }

    /// Reads and verifies the program.
    ///
    /// # Errors
    /// Incompatible when it does not verify, or is not what the rest of the payload says.
    pub(crate) fn load(&self) -> Result<Loaded, EngineError> {
        let refuse =
            |what: &str| EngineError::incompatible(format!("the compiled module is damaged: {what}"));
        let read = bytecode::read(&self.bytecode);
        let mut module = read
            .map_err(|error| refuse("its program cannot be read").because(error))?
            .module;
        if let Some(finding) = verify(&module).into_iter().next() {
            return Err(refuse("its program does not verify").because(finding));
        }
        recognise(&mut module);
        let entry = module.function(&self.entry);
        let entry = entry.ok_or_else(|| refuse("its program has no entry"))?;
        if !self.places.put(&mut module) {
            return Err(refuse("it says places of another program"));
        }
        let function = &module.functions[entry];
        let signature = self.signature(function);
        let signature = signature.ok_or_else(|| refuse("it says sizes of another program"))?;
        if function.body.is_none() {
            return Err(refuse("its entry has no body"));
        }
        Ok(Loaded {
            module,
            entry,
            signature,
        })
    }

    fn signature(&self, function: &Function) -> Option<Signature> {
        let types = function.ty();
        let sized = |types: &[Type], sizes: &[Sizes]| -> Option<Vec<Type>> {
            let pairs = (types.len() == sizes.len()).then(|| types.iter().zip(sizes))?;
            pairs.map(|(ty, sizes)| with_sizes(ty, sizes)).collect()
        };
        Some(Signature {
            arguments: sized(&types.inputs, &self.arguments)?,
            results: sized(&types.results, &self.results)?,
        })
    }
}

/// The types of the results in terms of the dimension variables, as far as they follow.
fn results(program: &Program) -> Vec<Type> {
    let declared = program.entry_function().ty().results;
    if is_static(program.module()) {
        return declared;
    }
    let fact = |fact: &ArgumentFact| match &fact.value {
        Some(value) => Fact::of_literal(value),
        None => Fact::of_type(fact.ty.clone()),
    };
    let facts: Vec<Fact> = program.arguments().iter().map(fact).collect();
    // What contradicts the program for every size is said when it is called with one.
    match refine(program.module(), program.entry(), &facts, program.scope()) {
        Ok(refined) => refined.module.functions[refined.entry].ty().results,
        Err(_) => declared,
    }
}

fn sizes(ty: &Type) -> Sizes {
    let size = |dim: &Dim| {
        let size = dim.expression()?;
        let is_named = !size.variables().iter().any(Variable::is_anonymous);
        // One that is too long to be read again is as good as unknown.
        let is_readable = size.to_string().parse::<Expr>().ok().as_ref() == Some(&size);
        (is_named && is_readable).then_some(size)
    };
    Some(ty.as_tensor()?.dims.iter().map(size).collect())
}

/// The type with these sizes where it leaves them open; `None` when they are not those of such a type.
fn with_sizes(ty: &Type, sizes: &Sizes) -> Option<Type> {
    let (Type::Tensor(tensor), Some(sizes)) = (ty, sizes) else {
        return (ty.as_tensor().is_none() && sizes.is_none()).then(|| ty.clone());
    };
    if tensor.rank() != sizes.len() {
        return None;
    }
    let mut sized = TensorType::clone(tensor);
    for (dim, size) in sized.dims.iter_mut().zip(sizes) {
        if let Some(size) = size {
            let said = Dim::from(size.clone());
            if !dim.compatible(&said) {
                return None;
            }
            if !dim.is_static() {
                *dim = said;
            }
        }
    }
    Some(Type::Tensor(Arc::new(sized)))
}

fn write_sizes(sizes: &Sizes, writer: &mut Writer) {
    let Some(sizes) = sizes else {
        return writer.u8(0);
    };
    writer.u8(1);
    writer.count(sizes.len());
    for size in sizes {
        let text = size.as_ref().map_or_else(String::new, ToString::to_string);
        writer.text(&text);
    }
}

fn read_sizes(reader: &mut Reader<'_>) -> Result<Sizes, Malformed> {
    if reader.u8()? == 0 {
        return Ok(None);
    }
    // Each has its length before it.
    let count = reader.count(8)?;
    let mut size = || {
        let wrong = reader.malformed("a size is no expression");
        match reader.text()? {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| wrong),
        }
    };
    (0..count).map(|_| size()).collect::<Result<_, _>>().map(Some)
}
