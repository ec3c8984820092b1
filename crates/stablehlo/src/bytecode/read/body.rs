//! Regions and blocks.

use artifact_ir::location::LocationId;
use artifact_ir::module::{BlockId, OpId, RegionId};
use artifact_ir::op::Op;

use super::super::read_error::ReadError;
use super::super::{NESTING, section, since};
use super::Reader;
use super::cursor::{Cursor, Read};
use super::operation::skip_use_lists;
use super::sections::next_section;

/// Values and operations for which room is made before they are read: each is larger in memory than in the file.
const RESERVED_MAX: usize = 1 << 14;

/// Bytes that an operation takes in a file, about.
const OP_BYTES: usize = 8;

impl Reader<'_> {
    /// The regions of an operation. Isolated ones see no value from outside, and number their own from 0.
    pub(super) fn regions(&mut self, cursor: &mut Cursor<'_>, op: OpId) -> Read<()> {
        let (count, isolated) = cursor.flagged()?;
        let regions = |reader: &mut Self, cursor: &mut Cursor<'_>| {
            for _ in 0..cursor.checked_count(count)? {
                let region = reader.body.add_region(op);
                reader.region(cursor, region)?;
            }
            Ok(())
        };
        if isolated {
            self.isolated(cursor, regions)
        } else {
            regions(self, cursor)
        }
    }

    /// Reads what sees no value from outside, from its own section where the version has one.
    pub(super) fn isolated(
        &mut self,
        cursor: &mut Cursor<'_>,
        read: impl FnOnce(&mut Self, &mut Cursor<'_>) -> Read<()>,
    ) -> Read<()> {
        let outer = std::mem::take(&mut self.values);
        if self.bytecode >= since::LAZY_REGIONS {
            let (id, place) = next_section(cursor)?;
            if id != section::IR {
                return Err(cursor.malformed(format!("section {id} stands where a region is expected")));
            }
            let mut own = Cursor::new(self.pool.file, place);
            read(self, &mut own)?;
            own.finish("a region")?;
        } else {
            read(self, cursor)?;
        }
        self.values = outer;
        Ok(())
    }

    pub(super) fn region(&mut self, cursor: &mut Cursor<'_>, region: RegionId) -> Read<()> {
        NESTING
            .check(self.depth + 1)
            .map_err(|error| ReadError::limit(cursor.offset(), error))?;
        self.depth += 1;
        let blocks = cursor.count()?;
        if blocks > 0 {
            let first = self.reserve(cursor)?;
            let mut next = first;
            for _ in 0..blocks {
                self.block(cursor, region, &mut next)?;
            }
            if next != self.values.len() {
                let (told, defined) = (self.values.len() - first, next - first);
                return Err(cursor.malformed(format!("a region of {told} values defines {defined}")));
            }
            self.values.truncate(first);
        }
        self.depth -= 1;
        Ok(())
    }

    /// Makes room for the values of a region. Gives the number of the first.
    pub(super) fn reserve(&mut self, cursor: &mut Cursor<'_>) -> Read<usize> {
        let count = cursor.varint()?;
        // Each takes a byte at least where it is defined.
        let count = cursor.checked_count(count)?;
        let first = self.values.len();
        self.values.resize(first + count, None);
        Ok(first)
    }

    fn block(&mut self, cursor: &mut Cursor<'_>, region: RegionId, next: &mut usize) -> Read<()> {
        let (ops, has_arguments) = cursor.flagged()?;
        let block = self.body.add_block(region);
        if has_arguments {
            let count = cursor.count()?;
            for _ in 0..count {
                let (ty, location) = self.argument(cursor)?;
                let argument = self.body.add_argument(block, ty, location);
                self.define(cursor, argument, next)?;
            }
            if self.bytecode >= since::USE_LIST_ORDERS && cursor.byte()? != 0 {
                skip_use_lists(cursor, count)?;
            }
        }
        let ops = cursor.checked_count(ops)?;
        self.body.blocks[block].ops.reserve(ops.min(RESERVED_MAX));
        self.reserve_ops(cursor, ops);
        for _ in 0..ops {
            self.operation(cursor, block, next)?;
        }
        self.mark_terminator(region, block);
        Ok(())
    }

    /// Makes room for the operations of a block and, where the block is a function's, for those in it: how many these are is told
    /// only when they are reached, but what a function has is in a section of its own.
    fn reserve_ops(&mut self, cursor: &Cursor<'_>, ops: usize) {
        let nested = if self.depth == 1 && self.bytecode >= since::LAZY_REGIONS {
            cursor.left() / OP_BYTES
        } else {
            0
        };
        let expected = ops.max(nested).min(RESERVED_MAX);
        self.body.ops.reserve(expected);
        self.body.values.reserve(expected);
    }

    /// What ends a region of an operation that we do not know counts as its terminator.
    fn mark_terminator(&mut self, region: RegionId, block: BlockId) {
        let parent = self.body.regions[region].parent;
        let in_foreign = parent.is_some_and(|parent| matches!(self.body.ops[parent].op, Op::Foreign(_)));
        if let Some(last) = self.body.terminator(block).filter(|_| in_foreign)
            && let Op::Foreign(op) = &mut self.body.ops[last].op
        {
            op.terminator = true;
        }
    }

    /// The type and the location of a block's argument.
    fn argument(&mut self, cursor: &mut Cursor<'_>) -> Read<(artifact_ir::types::Type, LocationId)> {
        if self.bytecode < since::OPTIONAL_ARGUMENT_LOCATION {
            return Ok((self.pool.ty(cursor)?, self.pool.location(cursor)?));
        }
        let (ty, has_location) = cursor.flagged()?;
        let ty = self.pool.type_at(cursor, ty)?;
        let location = if has_location {
            self.pool.location(cursor)?
        } else {
            LocationId::UNKNOWN
        };
        Ok((ty, location))
    }
}
