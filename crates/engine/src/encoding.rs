//! Little-endian, length-prefixed bytes, for compiled modules and what engines keep in them.
//!
//! Numbers have full width; a byte string has its length as `u64` before it. A reader compares every length with the bytes that are
//! left before it believes it, so that no input makes it allocate more than the input has.

use std::fmt;
use std::ops::Range;

/// Writes. It never fails.
#[derive(Clone, Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes as they are, without their length.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// One byte.
    pub fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    /// Two bytes.
    pub fn u16(&mut self, value: u16) {
        self.raw(&value.to_le_bytes());
    }

    /// Four bytes.
    pub fn u32(&mut self, value: u32) {
        self.raw(&value.to_le_bytes());
    }

    /// Eight bytes.
    pub fn u64(&mut self, value: u64) {
        self.raw(&value.to_le_bytes());
    }

    /// A number of things that follow.
    pub fn count(&mut self, count: usize) {
        self.u64(count as u64);
    }

    /// A byte string.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.raw(bytes);
    }

    /// A text.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// All that was written.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Bytes that are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Where, in bytes from the start.
    pub position: usize,
    /// What is wrong, as a lowercase fragment.
    pub what: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what, self.position)
    }
}

impl std::error::Error for Malformed {}

/// Reads what a [`Writer`] wrote.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    /// From the start.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Bytes that are left.
    #[must_use]
    pub const fn left(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// An error at this place.
    #[must_use]
    pub const fn malformed(&self, what: &'static str) -> Malformed {
        Malformed {
            position: self.position,
            what,
        }
    }

    /// So many bytes.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn raw(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let bytes = self.bytes[self.position..].get(..length);
        let bytes = bytes.ok_or_else(|| self.malformed("the bytes end too early"))?;
        self.position += length;
        Ok(bytes)
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let mut fixed = [0; N];
        fixed.copy_from_slice(self.raw(N)?);
        Ok(fixed)
    }

    /// One byte.
    ///
    /// # Errors
    /// When none is left.
    pub fn u8(&mut self) -> Result<u8, Malformed> {
        self.fixed().map(u8::from_le_bytes)
    }

    /// Two bytes.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn u16(&mut self) -> Result<u16, Malformed> {
        self.fixed().map(u16::from_le_bytes)
    }

    /// Four bytes.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.fixed().map(u32::from_le_bytes)
    }

    /// Eight bytes.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.fixed().map(u64::from_le_bytes)
    }

    /// A number of things, each of which takes `bytes_min` bytes at least.
    ///
    /// # Errors
    /// When so many cannot follow.
    pub fn count(&mut self, bytes_min: usize) -> Result<usize, Malformed> {
        let too_many = self.malformed("a count is larger than what follows");
        let count = usize::try_from(self.u64()?).map_err(|_| too_many)?;
        let fits = count
            .checked_mul(bytes_min.max(1))
            .is_some_and(|bytes| bytes <= self.left());
        if fits { Ok(count) } else { Err(too_many) }
    }

    /// Where a byte string lies.
    ///
    /// # Errors
    /// When it ends too early.
    pub fn range(&mut self) -> Result<Range<usize>, Malformed> {
        let length = self.count(1)?;
        let start = self.position;
        self.raw(length)?;
        Ok(start..self.position)
    }

    /// A byte string.
    ///
    /// # Errors
    /// When it ends too early.
    pub fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let range = self.range()?;
        Ok(&self.bytes[range])
    }

    /// A text.
    ///
    /// # Errors
    /// When it ends too early, or is not UTF-8.
    pub fn text(&mut self) -> Result<&'a str, Malformed> {
        let place = self.malformed("a text is not UTF-8");
        std::str::from_utf8(self.bytes()?).map_err(|_| place)
    }

    /// # Errors
    /// When bytes are left.
    pub fn end(&self) -> Result<(), Malformed> {
        match self.left() {
            0 => Ok(()),
            _ => Err(self.malformed("there are bytes behind the end")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> Vec<u8> {
        let mut writer = Writer::new();
        writer.u8(1);
        writer.u16(2);
        writer.u32(3);
        writer.text("four");
        writer.count(2);
        writer.raw(&[5, 6]);
        writer.finish()
    }

    fn read(bytes: &[u8]) -> Result<(), Malformed> {
        let mut reader = Reader::new(bytes);
        assert_eq!((reader.u8()?, reader.u16()?, reader.u32()?), (1, 2, 3));
        assert_eq!(reader.text()?, "four");
        let count = reader.count(1)?;
        assert_eq!(reader.raw(count)?, [5, 6]);
        reader.end()
    }

    #[test]
    fn every_end_is_found() {
        let bytes = written();
        assert_eq!(read(&bytes), Ok(()));
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).is_err(), "{length}");
        }
        assert!(read(&[bytes, vec![0]].concat()).is_err());
    }

    #[test]
    fn lengths_are_not_believed() {
        let huge = u64::MAX.to_le_bytes();
        assert!(Reader::new(&huge).bytes().is_err());
        assert!(Reader::new(&huge).count(16).is_err());
        assert!(Reader::new(&huge).count(0).is_err());
    }
}
