//! From modules to bytes.
//!
//! One pass over the module turns attributes, types and operations into tokens, in which attributes and types go by the order of
//! their discovery; then they are numbered anew, the most used first, since small numbers are short; then the tokens become bytes.

mod attribute;
mod body;
mod encoded;
mod interned;
mod location;
mod operation;
mod sharding;
mod tables;
mod token;
mod types;

use artifact_core::entity::EntityId;
use artifact_ir::module::Module;
use artifact_ir::op::{Op, OpSpec};

use self::tables::{Map, Tables};
use self::token::Stream;
use super::{MAGIC, section, since, varint};
use crate::vhlo::Version;
use crate::vhlo::opset::VersionedOp;

pub use self::encoded::Encoded;
pub use self::error::{WriteError, WriteErrorKind};

mod error;

/// What is written, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// The version of StableHLO whose readers shall read it. Its patch is that of the producer's name and changes nothing else.
    pub version: Version,
    /// Whether locations are written. They are no part of a program's meaning, and tell paths of the exporter.
    pub locations: bool,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            version: Version::CURRENT,
            locations: false,
        }
    }
}

/// The portable bytecode of a module that verifies.
///
/// # Errors
/// [`WriteError`] when the version cannot say what the module says, and when the module holds what no version can say.
pub fn write(module: &Module, options: &WriteOptions) -> Result<Encoded, WriteError> {
    if !options.version.is_supported() {
        return Err(WriteError::version(options.version));
    }
    let mut writer = Writer {
        module,
        options: *options,
        tables: Tables::default(),
        tokens: Stream::default(),
        values: Vec::new(),
        locations: vec![None; module.locations.len()],
        unknown_location: None,
        file_names: Map::default(),
        rows: Map::default(),
        operations: Map::default(),
    };
    let bodies = module
        .functions
        .iter()
        .filter_map(|(_, function)| function.body.as_ref());
    writer.tokens.reserve(bodies.map(|body| body.ops.len()).sum());
    if options.locations {
        writer.tables.reserve(module.locations.len());
    }
    writer.top()?;
    Ok(writer.finish())
}

/// The state of writing.
struct Writer<'a> {
    module: &'a Module,
    options: WriteOptions,
    tables: Tables,
    /// The operations.
    tokens: Stream,
    /// Numbers of the values of the function that is being written.
    values: Vec<u32>,
    /// Attributes of locations by id.
    locations: Vec<Option<u32>>,
    unknown_location: Option<u32>,
    /// Names of files in locations, by address: the module keeps them.
    file_names: Map<*const u8, u32>,
    /// The rows of operations in this version, and the numbers of their names, by the address of what the operation is.
    rows: Map<*const OpSpec, (&'static VersionedOp, u32)>,
    /// The properties of operations that were written before: most programs repeat them.
    operations: Map<Op, u32>,
}

/// What writing gives.
type Write<T> = Result<T, WriteError>;

impl Writer<'_> {
    fn bytecode(&self) -> u64 {
        self.options.version.bytecode()
    }

    /// Refuses what a later version has.
    fn require(&self, since: Version, what: impl FnOnce() -> String) -> Write<()> {
        if since <= self.options.version {
            Ok(())
        } else {
            Err(WriteError::needs(&what(), since, self.options.version))
        }
    }

    fn finish(self) -> Encoded {
        let bytecode = self.bytecode();
        let order = self.tables.order(&self.tokens);
        let mut file = Encoded::default();
        file.bytes().extend_from_slice(&MAGIC);
        varint::encode(bytecode, file.bytes());
        let producer = format!("StableHLO_v{}\0", self.options.version);
        file.bytes().extend_from_slice(producer.as_bytes());
        let operations = self.tokens.emit(&order);
        let properties = self.tables.emit_properties(&order);
        let (offsets, entries) = self.tables.emit_entries(&order);
        let dialects = self.tables.emit_dialects(bytecode);
        append(file.bytes(), section::DIALECT, &dialects);
        append(file.bytes(), section::ATTRIBUTE_TYPE_OFFSET, &offsets);
        file.bytes().push(section::ATTRIBUTE_TYPE);
        varint::encode(entries.len() as u64, file.bytes());
        file.append(entries);
        append(file.bytes(), section::IR, &operations);
        append(file.bytes(), section::STRING, &self.tables.emit_strings());
        if bytecode >= since::PROPERTIES {
            append(file.bytes(), section::PROPERTIES, &properties);
        }
        file
    }
}

fn append(file: &mut Vec<u8>, id: u8, data: &[u8]) {
    file.push(id);
    varint::encode(data.len() as u64, file);
    file.extend_from_slice(data);
}

/// The index of an id, for tables beside an arena.
fn index<K: EntityId>(id: K) -> usize {
    id.index()
}
