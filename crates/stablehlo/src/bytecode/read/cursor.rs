//! A place in the file.

use std::ops::Range;

use smallvec::SmallVec;

use super::super::read_error::ReadError;
use super::super::varint;

/// What reading gives.
pub(super) type Read<T> = Result<T, ReadError>;

/// A part of the file, and how much of it has been read.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    file: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Cursor<'a> {
    /// Reads `range` of a file; what is beyond its end is left out.
    pub(super) fn new(file: &'a [u8], range: Range<usize>) -> Self {
        let end = range.end.min(file.len());
        Self {
            file,
            at: range.start.min(end),
            end,
        }
    }

    /// Where in the file.
    pub(super) const fn offset(&self) -> usize {
        self.at
    }

    /// Bytes that are left.
    #[inline]
    pub(super) const fn left(&self) -> usize {
        self.end - self.at
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.at == self.end
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.file[self.at..self.end]
    }

    pub(super) fn malformed(&self, message: impl Into<String>) -> ReadError {
        ReadError::malformed(self.at, message)
    }

    fn ended(&self) -> ReadError {
        self.malformed("the data ends too early; the file is cut off or damaged")
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Read<u8> {
        if self.is_empty() {
            return Err(self.ended());
        }
        self.at += 1;
        Ok(self.file[self.at - 1])
    }

    #[inline]
    pub(super) fn varint(&mut self) -> Read<u64> {
        let (value, length) = varint::decode(self.rest()).ok_or_else(|| self.ended())?;
        self.at += length;
        Ok(value)
    }

    #[inline]
    pub(super) fn signed(&mut self) -> Read<i64> {
        self.varint().map(varint::unzigzag)
    }

    /// A number and the flag in its lowest bit.
    #[inline]
    pub(super) fn flagged(&mut self) -> Read<(u64, bool)> {
        let value = self.varint()?;
        Ok((value >> 1, value & 1 == 1))
    }

    /// The number of items that follow, each of at least one byte.
    #[inline]
    pub(super) fn count(&mut self) -> Read<usize> {
        let count = self.varint()?;
        self.checked_count(count)
    }

    #[inline]
    pub(super) fn checked_count(&self, count: u64) -> Read<usize> {
        match usize::try_from(count) {
            Ok(count) if count <= self.left() => Ok(count),
            _ => Err(self.malformed(format!("{count} items cannot stand in {} bytes", self.left()))),
        }
    }

    /// The place of the next `length` bytes.
    pub(super) fn range(&mut self, length: u64) -> Read<Range<usize>> {
        let length = usize::try_from(length)
            .ok()
            .filter(|length| *length <= self.left());
        let length = length.ok_or_else(|| self.ended())?;
        self.at += length;
        Ok(self.at - length..self.at)
    }

    /// As many items as are told, each read by `item`.
    pub(super) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let count = self.count()?;
        let mut items = Vec::with_capacity(count.min(ITEMS_RESERVED));
        for _ in 0..count {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// As [`Cursor::list`], for what is mostly short.
    #[inline]
    pub(super) fn short_list<T, const N: usize>(
        &mut self,
        items: &mut SmallVec<[T; N]>,
        mut item: impl FnMut(&mut Self) -> Read<T>,
    ) -> Read<()> {
        for _ in 0..self.count()? {
            items.push(item(self)?);
        }
        Ok(())
    }

    pub(super) fn signed_list(&mut self) -> Read<Vec<i64>> {
        self.list(Self::signed)
    }

    /// Refuses bytes that are left.
    pub(super) fn finish(&self, what: &str) -> Read<()> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(self.malformed(format!("{} bytes too many in {what}", self.left())))
        }
    }
}

/// Items for which room is reserved before they are read: an item may be larger in memory than in the file.
const ITEMS_RESERVED: usize = 1024;
