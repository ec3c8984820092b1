//! From bytes to modules.

mod body;
mod builtin;
mod cursor;
mod function;
mod literal;
mod names;
mod operation;
mod pool;
mod sections;
mod sharding;
mod text;
mod vhlo;

use std::ops::Range;

use artifact_core::blob::Blob;
use artifact_ir::module::{Body, Module, ValueId};
use artifact_ir::op::Op;

use self::cursor::{Cursor, Read};
use self::names::OpName;
use self::pool::Pool;
use self::sections::Sections;
use super::read_error::ReadError;
use super::{FILE_BYTES, section, since};
use crate::vhlo::Version;

/// A program as it was read, and what its file says about itself.
#[derive(Clone, Debug)]
pub struct Portable {
    /// The program, in the operations of the current version.
    pub module: Module,
    /// The version of StableHLO that it was written for; `None` where the producer is not StableHLO.
    pub version: Option<Version>,
    /// The version of MLIR's bytecode.
    pub bytecode: u64,
    /// Who wrote it, such as `StableHLO_v1.17.0`.
    pub producer: String,
}

/// Reads a file. Dense constants of the module are views of `file`.
///
/// # Errors
/// [`ReadError`] says what is wrong, where, and what can be done. A module that was read is well-formed as a file; whether it is
/// as a program is the verifier's question.
pub fn read(file: &Blob) -> Result<Portable, ReadError> {
    FILE_BYTES
        .check(file.len() as u64)
        .map_err(|error| ReadError::limit(0, error))?;
    let sections = Sections::read(file)?;
    let mut reader = Reader::new(file, &sections)?;
    let mut cursor = sections.cursor(file, section::IR);
    reader.top(&mut cursor)?;
    let mut module = reader.module;
    module.locations = reader.pool.locations;
    Ok(Portable {
        module,
        version: sections.version(),
        bytecode: sections.bytecode,
        producer: sections.producer,
    })
}

/// The state of reading operations.
struct Reader<'a> {
    pool: Pool<'a>,
    bytecode: u64,
    version: Option<Version>,
    /// Where the properties are.
    properties: Vec<Range<usize>>,
    /// By number of properties, the operation that was last read with them: most programs repeat their operations, and few
    /// properties go with operations of several names.
    operations: Vec<Option<Known>>,
    module: Module,
    /// Of the function that is being read.
    body: Body,
    /// Values of the isolated scope that is being read, by number.
    values: Vec<Option<ValueId>>,
    depth: u64,
}

/// An operation that was read before.
struct Known {
    /// The number of its name.
    name: u64,
    op: Op,
    /// What a copy takes in memory, in bytes.
    weight: u64,
}

impl<'a> Reader<'a> {
    fn new(file: &'a Blob, sections: &Sections) -> Read<Self> {
        Ok(Self {
            pool: Pool::read(file, sections)?,
            bytecode: sections.bytecode,
            version: sections.version(),
            properties: properties(file, sections)?,
            operations: Vec::new(),
            module: Module::new(),
            body: Body::new(),
            values: Vec::new(),
            depth: 0,
        })
    }

    /// The module, which is the only operation outside of all others.
    fn top(&mut self, cursor: &mut Cursor<'_>) -> Read<()> {
        let (ops, has_arguments) = cursor.flagged()?;
        if ops != 1 || has_arguments {
            return Err(cursor.malformed("a file holds one module and nothing beside it"));
        }
        self.read_module(cursor)?;
        cursor.finish("the section of operations")
    }

    /// The name of the operation that is ahead, and its number.
    fn op_name(&self, cursor: &mut Cursor<'_>) -> Read<(OpName, u64)> {
        let number = cursor.varint()?;
        let name = usize::try_from(number)
            .ok()
            .and_then(|index| self.pool.names.ops.get(index));
        match name {
            Some(name) => Ok((name.clone(), number)),
            None => Err(cursor.malformed(format!("there is no operation of number {number}"))),
        }
    }
}

/// The places of properties: a count, then each with its length before it.
fn properties(file: &[u8], sections: &Sections) -> Read<Vec<Range<usize>>> {
    if sections.bytecode < since::PROPERTIES {
        return Ok(Vec::new());
    }
    let mut cursor = sections.cursor(file, section::PROPERTIES);
    if cursor.is_empty() {
        return Ok(Vec::new());
    }
    let count = names::entries(&mut cursor)?;
    let mut places = Vec::with_capacity(count);
    for _ in 0..count {
        let length = cursor.varint()?;
        places.push(cursor.range(length)?);
    }
    cursor.finish("the section of properties")?;
    Ok(places)
}
