//! Operations.

use std::sync::Arc;

use artifact_core::entity::EntityId as _;
use artifact_ir::attribute::{Attribute, NamedAttributes};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::location::LocationId;
use artifact_ir::module::{BlockId, NewOperation, ValueId, ValueList};
use artifact_ir::op::{Control, ForeignOp, Op, OpSpec};
use artifact_ir::types::Type;
use smallvec::SmallVec;

use super::super::parts;
use super::super::read_error::ReadError;
use super::cursor::{Cursor, Read};
use super::names::OpName;
use super::{Known, Reader};
use crate::vhlo::Version;
use crate::vhlo::forms::to_stablehlo;
use crate::vhlo::opset::VersionedOp;
use crate::vhlo::row::AttributeRow;

/// What stands before an operation's regions.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) name: OpName,
    /// The number of its name.
    number: u64,
    pub(super) offset: usize,
    pub(super) location: LocationId,
    /// In old versions, inherent attributes too.
    pub(super) attributes: NamedAttributes,
    /// The number of its properties.
    pub(super) properties: Option<u64>,
    results: SmallVec<[Type; 2]>,
    operands: ValueList,
    pub(super) has_regions: bool,
}

impl Head {
    fn new() -> Self {
        Self {
            name: OpName::Cast,
            number: 0,
            offset: 0,
            location: LocationId::UNKNOWN,
            attributes: NamedAttributes::new(),
            properties: None,
            results: SmallVec::new(),
            operands: ValueList::new(),
            has_regions: false,
        }
    }
}

impl<'a> Reader<'a> {
    pub(super) fn head(&mut self, cursor: &mut Cursor<'_>) -> Read<Head> {
        let mut head = Head::new();
        self.fill(&mut head, cursor)?;
        Ok(head)
    }

    /// Reads into a new head, which stays where it is.
    fn fill(&mut self, head: &mut Head, cursor: &mut Cursor<'_>) -> Read<()> {
        head.offset = cursor.offset();
        self.pool.allow_operation();
        (head.name, head.number) = self.op_name(cursor)?;
        let mask = cursor.byte()?;
        head.location = self.pool.location(cursor)?;
        head.has_regions = mask & parts::REGIONS != 0;
        if mask & parts::ATTRIBUTES != 0 {
            head.attributes = self.attributes(cursor)?;
        }
        if mask & parts::PROPERTIES != 0 {
            head.properties = Some(cursor.varint()?);
        }
        if mask & parts::RESULTS != 0 {
            cursor.short_list(&mut head.results, |cursor| self.pool.ty(cursor))?;
        }
        if mask & parts::OPERANDS != 0 {
            cursor.short_list(&mut head.operands, |cursor| self.value(cursor))?;
        }
        if mask & parts::SUCCESSORS != 0 && cursor.varint()? != 0 {
            return Err(ReadError::foreign(
                head.offset,
                "an operation with successors, which StableHLO does not have",
            ));
        }
        if mask & parts::USE_LIST_ORDERS != 0 {
            skip_use_lists(cursor, head.results.len())?;
        }
        Ok(())
    }

    /// A dictionary of attributes by number.
    fn attributes(&mut self, cursor: &mut Cursor<'_>) -> Read<NamedAttributes> {
        match self.pool.attribute(cursor)? {
            Attribute::Dictionary(attributes) => Ok(attributes),
            _ => Err(cursor.malformed("the attributes of an operation must be a dictionary")),
        }
    }

    fn value(&self, cursor: &mut Cursor<'_>) -> Read<ValueId> {
        let number = cursor.varint()?;
        let value = usize::try_from(number)
            .ok()
            .and_then(|index| self.values.get(index));
        value
            .copied()
            .flatten()
            .ok_or_else(|| cursor.malformed(format!("value {number} is used where it is not defined")))
    }

    /// An operation of a block, with its regions. `next` is the number of the next value.
    pub(super) fn operation(
        &mut self,
        cursor: &mut Cursor<'_>,
        block: BlockId,
        next: &mut usize,
    ) -> Read<()> {
        let mut head = Head::new();
        self.fill(&mut head, cursor)?;
        if matches!(head.name, OpName::Cast) {
            return self.cast(cursor, &head, next);
        }
        let op = self.op(&mut head, block)?;
        let new = NewOperation {
            op,
            operands: std::mem::take(&mut head.operands),
            attributes: std::mem::take(&mut head.attributes),
            location: head.location,
            source: SourceOffset::new(head.offset),
        };
        let results = self.body.values.len();
        let id = self.body.add_op(block, new, std::mem::take(&mut head.results));
        for index in results..self.body.values.len() {
            // An arena has ids of 32 bits.
            self.define(cursor, ValueId::from_index(index as u32), next)?;
        }
        if head.has_regions {
            self.regions(cursor, id)?;
        }
        Ok(())
    }

    /// A value gets the next number.
    pub(super) fn define(&mut self, cursor: &Cursor<'_>, value: ValueId, next: &mut usize) -> Read<()> {
        match self.values.get_mut(*next) {
            Some(slot) => *slot = Some(value),
            None => return Err(cursor.malformed("a region defines more values than it says")),
        }
        *next += 1;
        Ok(())
    }

    /// A cast between a type and its form in another dialect: both are one value here.
    fn cast(&mut self, cursor: &Cursor<'_>, head: &Head, next: &mut usize) -> Read<()> {
        if head.operands.len() != head.results.len() || head.has_regions {
            return Err(ReadError::foreign(
                head.offset,
                "a cast between dialects that is not of one value each",
            ));
        }
        for operand in &head.operands {
            self.define(cursor, *operand, next)?;
        }
        Ok(())
    }

    fn op(&mut self, head: &mut Head, block: BlockId) -> Read<Op> {
        match head.name.clone() {
            OpName::Versioned(op) => self.versioned(op, head, block),
            OpName::Foreign { name, registered } => self.foreign(&name, registered, head),
            OpName::Sharding(spec, stored) => self.sharding(spec, stored, head),
            OpName::Unknown(name) => Err(self.unknown(&name, head.offset)),
            OpName::Module | OpName::Function | OpName::Mesh | OpName::Cast => Err(ReadError::foreign(
                head.offset,
                "a module, a function or a mesh inside of a function, which StableHLO does not have",
            )),
        }
    }

    fn versioned(&mut self, op: &'static VersionedOp, head: &mut Head, block: BlockId) -> Read<Op> {
        let Some(spec) = op.spec else {
            let in_function = self.body.regions[self.body.blocks[block].region].parent.is_none();
            return Ok(Op::Control(if in_function {
                Control::FuncReturn
            } else {
                Control::Return
            }));
        };
        if let Some(properties) = head.properties
            && let Some(Some(known)) = self.operations.get(properties as usize)
            && known.name == head.number
        {
            let (known, weight) = (known.op.clone(), known.weight);
            let place = Cursor::new(self.pool.file, head.offset..head.offset);
            self.pool.charge(&place, weight)?;
            return Ok(known);
        }
        let (values, weight) = self.inherent(op, head)?;
        let wrong =
            |message: String| ReadError::malformed(head.offset, format!("'vhlo.{}': {message}", op.row.name));
        let mut named = to_stablehlo(op, values).map_err(|error| {
            wrong(format!(
                "the attribute '{}' must be {}",
                error.name, error.expected
            ))
        })?;
        let read = spec.read(&mut named).map_err(|error| wrong(error.to_string()))?;
        if let Some(properties) = head.properties {
            // It is below the number of properties, which are in memory.
            let index = properties as usize;
            if self.operations.len() <= index {
                self.operations.resize_with(index + 1, || None);
            }
            self.operations[index] = Some(Known {
                name: head.number,
                op: read.clone(),
                weight,
            });
        }
        Ok(read)
    }

    /// The attributes of a row, in its order, and what they take in memory: from properties, or from the dictionary.
    fn inherent(&mut self, op: &VersionedOp, head: &mut Head) -> Read<(Vec<Attribute>, u64)> {
        if let Some(properties) = head.properties {
            let mut cursor = self.property_cursor(properties, head.offset)?;
            let count = op.row.attributes.len();
            return self.pool.weighed(0, |pool| {
                let values: Read<Vec<Attribute>> = (0..count).map(|_| pool.attribute(&mut cursor)).collect();
                cursor.finish("the properties of an operation")?;
                values
            });
        }
        let mut take = |row: &AttributeRow| {
            head.attributes.remove(row.name).ok_or_else(|| {
                let message = format!("'vhlo.{}' requires the attribute '{}'", op.row.name, row.name);
                ReadError::malformed(head.offset, message)
            })
        };
        let values: Read<Vec<Attribute>> = op.row.attributes.iter().map(&mut take).collect();
        Ok((values?, 0))
    }

    /// The properties of a number.
    pub(super) fn property_cursor(&self, number: u64, offset: usize) -> Read<Cursor<'a>> {
        let place = usize::try_from(number)
            .ok()
            .and_then(|index| self.properties.get(index));
        let place = place.ok_or_else(|| {
            ReadError::malformed(offset, format!("there are no properties of number {number}"))
        })?;
        Ok(Cursor::new(self.pool.file, place.clone()))
    }

    /// An operation of VHLO that no version up to ours has.
    pub(super) fn unknown(&self, name: &str, offset: usize) -> ReadError {
        match self.version {
            Some(version) if version > Version::CURRENT => {
                ReadError::too_new(version, &format!("'vhlo.{name}' is an operation"))
            }
            _ => ReadError::foreign(
                offset,
                format!(
                    "'vhlo.{name}' is an operation of a version of StableHLO after {}, which is the newest that is read here",
                    Version::CURRENT
                ),
            ),
        }
    }

    /// An operation of another dialect. Only an unregistered one says what its properties are: a dictionary. Those of the
    /// specification's own test dialects are known all the same.
    fn foreign(&mut self, name: &Arc<str>, registered: bool, head: &mut Head) -> Read<Op> {
        let mut properties = NamedAttributes::new();
        if let Some(number) = head.properties {
            let mut cursor = self.property_cursor(number, head.offset)?;
            if registered && !cursor.is_empty() {
                let message = format!("'{name}' has properties in an encoding that only its dialect knows");
                return Err(ReadError::foreign(head.offset, message));
            }
            match self.pool.attribute(&mut cursor)? {
                Attribute::Dictionary(dictionary) => properties = dictionary,
                _ => return Err(cursor.malformed("the properties of an operation must be a dictionary")),
            }
            cursor.finish("the properties of an operation")?;
        }
        let Some(spec) = OpSpec::find(name).filter(|spec| is_of_tests(spec.name)) else {
            return Ok(Op::Foreign(Box::new(ForeignOp {
                name: Arc::clone(name),
                properties,
                terminator: false,
            })));
        };
        spec.read(&mut properties)
            .map_err(|error| ReadError::malformed(head.offset, format!("'{name}': {error}")))
    }
}

/// Whether an operation is of a dialect of the specification's own tests.
fn is_of_tests(name: &str) -> bool {
    name.starts_with("check.") || name.starts_with("interpreter.")
}

/// Orders of uses, which matter to nobody here: for each result that has one its number, then a list of numbers.
pub(super) fn skip_use_lists(cursor: &mut Cursor<'_>, values: usize) -> Read<()> {
    let orders = if values > 1 { cursor.count()? } else { 1 };
    for _ in 0..orders {
        if values > 1 {
            cursor.varint()?;
        }
        let (length, _) = cursor.flagged()?;
        for _ in 0..cursor.checked_count(length)? {
            cursor.varint()?;
        }
    }
    Ok(())
}
