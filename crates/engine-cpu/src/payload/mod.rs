//! What a compiled module of this engine holds: a plan and its machine code, or a program that is evaluated as a whole.
//!
//! Operations, element types and the signature are kept as functions of one module in portable bytecode; everything else is
//! numbers ([`artifact_engine::encoding`]). Bodies of kernels are left out: their code says them.

mod library;
mod plan;
mod program;

use artifact_core::blob::Blob;
use artifact_dims::{Constraint, Expr};
use artifact_engine::EngineError;
use artifact_engine::encoding::{Malformed, Reader, Writer};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::Type;
use artifact_refine::Obligation;

use crate::loaded::Compiled;
use library::Names;

/// The format of payloads: it changes with every change of what is written. What was written in another one is compiled anew.
pub(crate) const VERSION: &str = "3";

/// A compiled program.
#[derive(Debug)]
pub(crate) struct Payload {
    pub(crate) arguments: Vec<Type>,
    pub(crate) results: Vec<Type>,
    pub(crate) conditions: Conditions,
    pub(crate) body: Body,
}

/// What must hold of the sizes of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions {
    pub(crate) obligations: Vec<Obligation>,
    pub(crate) requirements: Vec<(Constraint, SourceOffset)>,
}

/// How it is run.
#[derive(Debug)]
pub(crate) enum Body {
    /// By its plan.
    Plan(Box<Compiled>),
    /// By the evaluator, as a whole.
    Whole { module: Box<Module>, entry: FunctionId },
}

impl Payload {
    pub(crate) fn encode(&self) -> Result<Vec<u8>, EngineError> {
        let mut writer = Writer::new();
        let mut names = Names::default();
        match &self.body {
            Body::Plan(compiled) => {
                writer.u8(0);
                self.conditions.encode(&mut writer);
                plan::encode(&compiled.plan, &mut names, &mut writer);
                program::encode(compiled, &mut writer);
                let module = names.module(&compiled.plan.library, &compiled.evaluated);
                self.encode_module(module, "", &mut writer)?;
            }
            Body::Whole { module, entry } => {
                writer.u8(1);
                self.conditions.encode(&mut writer);
                let name = module.functions[*entry].name.to_string();
                self.encode_module(Module::clone(module), &name, &mut writer)?;
            }
        }
        Ok(writer.finish())
    }

    fn encode_module(&self, mut module: Module, entry: &str, writer: &mut Writer) -> Result<(), EngineError> {
        library::add_signature(&mut module, &self.arguments, &self.results);
        for types in [&self.arguments, &self.results] {
            writer.count(types.len());
            types.iter().for_each(|ty| library::encode_sizes(ty, writer));
        }
        writer.text(entry);
        writer.bytes(&library::write(module)?);
        Ok(())
    }

    pub(crate) fn decode(bytes: &Blob) -> Result<Self, EngineError> {
        let damaged =
            |error: Malformed| EngineError::incompatible("the compiled module is damaged").because(error);
        Self::read(&mut Reader::new(bytes)).map_err(damaged)?
    }

    /// The outer error is one of the numbers, the inner one of the module.
    fn read(reader: &mut Reader<'_>) -> Result<Result<Self, EngineError>, Malformed> {
        let kind = reader.u8()?;
        let conditions = Conditions::decode(reader)?;
        let parts = match kind {
            0 => Some((plan::decode(reader)?, program::decode(reader)?)),
            1 => None,
            _ => return Err(reader.malformed("a kind of program that does not exist")),
        };
        let mut sizes = || -> Result<Vec<library::Sizes>, Malformed> {
            let count = reader.count(1)?;
            (0..count).map(|_| library::decode_sizes(reader)).collect()
        };
        let (arguments, results) = (sizes()?, sizes()?);
        let entry = reader.text()?.to_owned();
        let bytecode = reader.bytes()?.to_vec();
        reader.end()?;
        Ok(Self::join(
            conditions,
            parts,
            [arguments, results],
            &entry,
            bytecode,
        ))
    }

    fn join(
        conditions: Conditions,
        parts: Option<(plan::Decoded, program::Decoded)>,
        [arguments, results]: [Vec<library::Sizes>; 2],
        entry: &str,
        bytecode: Vec<u8>,
    ) -> Result<Self, EngineError> {
        let refuse =
            |what: &str| EngineError::incompatible(format!("the compiled module is damaged: {what}"));
        let mut module = library::read(&Blob::new(bytecode))?;
        let types = library::take_signature(&mut module, &arguments, &results);
        let (arguments, results) = types.ok_or_else(|| refuse("its signature is missing"))?;
        let body = match parts {
            Some((plan, program)) => {
                let elements = library::elements(&module);
                let evaluated = library::evaluated(&module);
                let plan = plan
                    .finish(module, &elements)
                    .ok_or_else(|| refuse("its plan names what is not there"))?;
                Body::Plan(Box::new(
                    program
                        .finish(plan, evaluated)
                        .ok_or_else(|| refuse("its target is unknown"))?,
                ))
            }
            None => {
                let entry = module
                    .function(entry)
                    .ok_or_else(|| refuse("its program has no entry"))?;
                Body::Whole {
                    module: Box::new(module),
                    entry,
                }
            }
        };
        Ok(Self {
            arguments,
            results,
            conditions,
            body,
        })
    }
}

impl Conditions {
    fn encode(&self, writer: &mut Writer) {
        writer.count(self.obligations.len());
        for Obligation {
            value,
            min,
            max,
            source,
        } in &self.obligations
        {
            writer.text(&value.to_string());
            writer.u64(*min as u64);
            writer.u64(*max as u64);
            encode_source(*source, writer);
        }
        writer.count(self.requirements.len());
        for (constraint, source) in &self.requirements {
            writer.text(&constraint.to_string());
            encode_source(*source, writer);
        }
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut conditions = Self::default();
        for _ in 0..reader.count(8)? {
            conditions.obligations.push(Obligation {
                value: decode_expression(reader)?,
                min: reader.u64()? as i64,
                max: reader.u64()? as i64,
                source: decode_source(reader)?,
            });
        }
        for _ in 0..reader.count(8)? {
            let wrong = reader.malformed("a condition that cannot be read");
            let constraints = Constraint::parse(reader.text()?).map_err(|_| wrong)?;
            let source = decode_source(reader)?;
            conditions
                .requirements
                .extend(constraints.into_iter().map(|constraint| (constraint, source)));
        }
        Ok(conditions)
    }
}

fn encode_source(source: SourceOffset, writer: &mut Writer) {
    writer.u64(source.get().map_or(u64::MAX, |offset| offset as u64));
}

fn decode_source(reader: &mut Reader<'_>) -> Result<SourceOffset, Malformed> {
    let offset = reader.u64()?;
    Ok(usize::try_from(offset).map_or(SourceOffset::NONE, SourceOffset::new))
}

fn decode_expression(reader: &mut Reader<'_>) -> Result<Expr, Malformed> {
    let wrong = reader.malformed("a size that cannot be read");
    reader.text()?.parse().map_err(|_| wrong)
}
