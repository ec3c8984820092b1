//! `dense<...>`: lists, splats and hexadecimal strings.
//!
//! The type stands behind the elements, so the end of the elements is found first. Nothing is allocated before the number of
//! elements that the type has was compared with the bytes of text that are there.

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_ir::literal::Literal;
use artifact_ir::types::{ElementType, TensorType, Type};

use super::cursor::{Parser, Read};
use super::number::float_bits;
use crate::lex::{Kind, hex_digit};

/// What is wrong with elements, and where.
struct Fault {
    offset: usize,
    message: String,
}

type Checked<T> = Result<T, Fault>;

#[cold]
fn fault<T>(offset: usize, message: impl Into<String>) -> Checked<T> {
    Err(Fault {
        offset,
        message: message.into(),
    })
}

impl Parser<'_> {
    /// `dense<...> : tensor<...>`.
    pub(super) fn dense(&mut self) -> Read<Literal> {
        self.expect_word("dense")?;
        if !self.at(Kind::Less) {
            return Err(self.unexpected("'<'"));
        }
        let start = self.token.end();
        let Some(end) = elements_end(self.text.as_bytes(), start) else {
            return Err(self.error(start, "the constant has no end: expected '>'"));
        };
        self.seek(end + 1);
        self.expect(Kind::Colon)?;
        let type_start = self.token.start();
        let Type::Tensor(ty) = self.ty()? else {
            return Err(self.error(type_start, "a constant needs a ranked tensor type"));
        };
        if !ty.is_static() {
            return Err(self.error(type_start, "elements literal type must have static shape"));
        }
        if ty.byte_count().is_none() {
            return Err(self.error(type_start, "the size of this constant does not fit 64 bits"));
        }
        if ty.element.as_plain().is_none() {
            return Err(self.error(
                type_start,
                "a constant of quantized numbers is written with their storage type",
            ));
        }
        let mut elements = Elements {
            text: self.text,
            at: start,
            end,
            ty: &ty,
        };
        elements
            .read()
            .map_err(|fault| self.error(fault.offset, fault.message))
    }
}

/// Where the `>` is that ends the elements which begin at `start`.
fn elements_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        let rest = bytes.get(at..)?;
        let found = at + rest.iter().position(|byte| matches!(byte, b'>' | b'"' | b'/'))?;
        at = match bytes.get(found)? {
            b'>' => return Some(found),
            b'"' => found + 2 + bytes.get(found + 1..)?.iter().position(|byte| *byte == b'"')?,
            // A comment may hold anything up to the end of its line.
            _ => found + bytes.get(found..)?.iter().position(|byte| *byte == b'\n')?,
        };
    }
}

/// The text of the elements.
struct Elements<'t> {
    text: &'t str,
    at: usize,
    end: usize,
    ty: &'t Arc<TensorType>,
}

impl Elements<'_> {
    fn read(&mut self) -> Checked<Literal> {
        let element = self.ty.element.storage();
        self.skip_blank();
        match self.peek() {
            b'"' => self.hexadecimal(element),
            _ if self.at >= self.end => self.finish(Vec::new()),
            _ if element.is_float() => self.numbers(|elements, bytes| elements.float(element, bytes)),
            _ if element.is_complex() => {
                self.numbers(|elements, bytes| elements.complex(element.part(), bytes))
            }
            _ => {
                let range = IntegerRange::of(element);
                match element.bytes() {
                    1 => self.numbers(|elements, bytes| elements.integer::<1>(range, bytes)),
                    2 => self.numbers(|elements, bytes| elements.integer::<2>(range, bytes)),
                    4 => self.numbers(|elements, bytes| elements.integer::<4>(range, bytes)),
                    _ => self.numbers(|elements, bytes| elements.integer::<8>(range, bytes)),
                }
            }
        }
    }

    fn peek(&self) -> u8 {
        if self.at < self.end {
            self.text.as_bytes()[self.at]
        } else {
            0
        }
    }

    fn skip_blank(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                b'/' => {
                    while !matches!(self.peek(), b'\n' | 0) {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// A literal with these bytes for all elements.
    fn finish(&self, bytes: Vec<u8>) -> Checked<Literal> {
        Literal::dense(Arc::clone(self.ty), Blob::new(bytes))
            .or_else(|error| fault(self.at, error.to_string()))
    }

    fn splat(&self, bytes: &[u8]) -> Checked<Literal> {
        Literal::splat(Arc::clone(self.ty), bytes).or_else(|error| fault(self.at, error.to_string()))
    }

    /// A splat, or nested lists of the type's shape. `one` reads an element and adds its bytes.
    fn numbers(&mut self, one: impl Fn(&mut Self, &mut Vec<u8>) -> Checked<()>) -> Checked<Literal> {
        if self.peek() != b'[' {
            let mut bytes = Vec::with_capacity(16);
            one(self, &mut bytes)?;
            self.expect_end()?;
            return self.splat(&bytes);
        }
        let count = self.ty.element_count().unwrap_or(0);
        // Each element takes a digit at least.
        if count > (self.end - self.at) as u64 {
            return self.wrong_shape("the list is too short for it");
        }
        let mut bytes = Vec::with_capacity(count as usize * self.ty.element.storage().bytes());
        self.rows(&mut bytes, one)?;
        self.expect_end()?;
        self.finish(bytes)
    }

    fn expect_end(&mut self) -> Checked<()> {
        self.skip_blank();
        if self.at < self.end {
            fault(self.at, "expected '>' after the elements")
        } else {
            Ok(())
        }
    }

    fn wrong_shape<T>(&self, reason: &str) -> Checked<T> {
        let message = format!(
            "the elements do not have the shape of their type {}: {reason}",
            self.ty
        );
        fault(self.at, message)
    }

    /// Lists in lists. `counts[d]` is the number of items so far in the open list of dimension `d`.
    fn rows(
        &mut self,
        bytes: &mut Vec<u8>,
        one: impl Fn(&mut Self, &mut Vec<u8>) -> Checked<()>,
    ) -> Checked<()> {
        let sizes: Vec<u64> = self.ty.static_shape().unwrap_or_default();
        let mut counts: Vec<u64> = Vec::with_capacity(sizes.len());
        loop {
            // At the start of an item.
            self.skip_blank();
            match self.peek() {
                b'[' => {
                    if counts.len() == sizes.len() {
                        return self.wrong_shape("there are more levels of lists than dimensions");
                    }
                    self.at += 1;
                    counts.push(0);
                    self.skip_blank();
                    if self.peek() != b']' {
                        continue;
                    }
                }
                _ if counts.len() < sizes.len() => {
                    return self.wrong_shape("there are fewer levels of lists than dimensions");
                }
                _ => one(self, bytes)?,
            }
            // After an item, or in an empty list.
            loop {
                self.skip_blank();
                match self.peek() {
                    b']' => {
                        let filled = self.close(&sizes, &mut counts)?;
                        if filled {
                            return Ok(());
                        }
                    }
                    b',' => {
                        self.at += 1;
                        if let Some(count) = counts.last_mut() {
                            *count += 1;
                        }
                        break;
                    }
                    _ => return fault(self.at, "expected ',' or ']' after the element"),
                }
            }
        }
    }

    /// Ends a list; whether it was the outermost one.
    fn close(&mut self, sizes: &[u64], counts: &mut Vec<u64>) -> Checked<bool> {
        let Some(separators) = counts.pop() else {
            return fault(self.at, "there is no list to close");
        };
        let empty = self.text.as_bytes()[..self.at].trim_ascii_end().ends_with(b"[");
        let count = if empty { 0 } else { separators + 1 };
        let expected = sizes.get(counts.len()).copied().unwrap_or(0);
        if count != expected {
            let reason = format!(
                "dimension {} has {count} elements, expected {expected}",
                counts.len()
            );
            return self.wrong_shape(&reason);
        }
        self.at += 1;
        Ok(counts.is_empty())
    }

    /// Adds an integer of `N` bytes.
    fn integer<const N: usize>(&mut self, range: IntegerRange, bytes: &mut Vec<u8>) -> Checked<()> {
        let start = self.at;
        let negative = self.peek() == b'-';
        if negative {
            self.at += 1;
        }
        let mut magnitude = match self.peek() {
            b'0'..=b'9' => self.magnitude(start)?,
            b't' | b'f' => self.boolean(range, start)?,
            _ => return fault(start, "expected an integer"),
        };
        if matches!(self.peek(), b'.' | b'e' | b'E') {
            return fault(start, "expected integer elements, but parsed floating-point");
        }
        let largest = if negative { range.negative } else { range.positive };
        if magnitude > largest {
            return fault(
                start,
                format!("the integer is out of range for {}", self.ty.element),
            );
        }
        if negative {
            magnitude = magnitude.wrapping_neg();
        }
        if range.unused > 0 {
            magnitude = range.narrow(magnitude as u8).into();
        }
        bytes.extend_from_slice(&magnitude.to_le_bytes()[..N]);
        Ok(())
    }

    fn magnitude(&mut self, start: usize) -> Checked<u64> {
        let (mut value, mut overflow) = (0_u64, false);
        let rest = &self.text.as_bytes()[self.at..self.end];
        if rest.len() > 2 && rest[0] == b'0' && rest[1] == b'x' {
            self.at += 2;
            while let Some(digit) = hex_digit(self.peek()) {
                overflow |= value >> 60 != 0;
                value = value << 4 | u64::from(digit);
                self.at += 1;
            }
        } else {
            let length = rest
                .iter()
                .position(|byte| !byte.is_ascii_digit())
                .unwrap_or(rest.len());
            for byte in &rest[..length] {
                let (high, over) = value.overflowing_mul(10);
                let (next, carry) = high.overflowing_add(u64::from(byte - b'0'));
                overflow |= over | carry;
                value = next;
            }
            self.at += length;
        }
        if overflow {
            fault(start, "the integer is out of range")
        } else {
            Ok(value)
        }
    }

    fn boolean(&mut self, range: IntegerRange, start: usize) -> Checked<u64> {
        let rest = &self.text.as_bytes()[self.at..self.end];
        let (value, length) = if rest.starts_with(b"true") {
            (1, 4)
        } else if rest.starts_with(b"false") {
            (0, 5)
        } else {
            return fault(start, "expected an element");
        };
        if range.positive != 1 {
            return fault(
                start,
                format!(
                    "expected i1 type for 'true' or 'false' values, not {}",
                    self.ty.element
                ),
            );
        }
        self.at += length;
        Ok(value)
    }

    /// Adds a floating-point number: decimal, or its bits in hexadecimal.
    fn float(&mut self, element: ElementType, bytes: &mut Vec<u8>) -> Checked<()> {
        let start = self.at;
        let rest = &self.text.as_bytes()[start..self.end];
        let length = rest
            .iter()
            .position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-')))
            .unwrap_or(rest.len());
        // Only ASCII was counted.
        let text = self.text.get(start..start + length).unwrap_or_default();
        let encoded = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16)
                .ok()
                .filter(|bits| element.bits() >= 64 || bits >> element.bits() == 0),
            None if text.contains('.') => float_bits(element, text),
            None if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') && !text.is_empty() => {
                return fault(start, "expected floating-point elements, but parsed integer");
            }
            None => None,
        };
        let Some(encoded) = encoded else {
            return fault(start, format!("not a number of type {element}"));
        };
        self.at += length;
        bytes.extend_from_slice(&encoded.to_le_bytes()[..element.bytes()]);
        Ok(())
    }

    /// Adds `(re, im)`.
    fn complex(&mut self, part: ElementType, bytes: &mut Vec<u8>) -> Checked<()> {
        self.expect_byte(b'(')?;
        self.float(part, bytes)?;
        self.expect_byte(b',')?;
        self.float(part, bytes)?;
        self.expect_byte(b')')
    }

    fn expect_byte(&mut self, byte: u8) -> Checked<()> {
        self.skip_blank();
        if self.peek() != byte {
            return fault(
                self.at,
                format!("expected '{}' in a complex number", char::from(byte)),
            );
        }
        self.at += 1;
        self.skip_blank();
        Ok(())
    }

    /// `"0x..."`: the bytes of all elements, or of one for a splat.
    fn hexadecimal(&mut self, element: ElementType) -> Checked<Literal> {
        let start = self.at;
        let rest = &self.text.as_bytes()[start + 1..self.end];
        let Some(length) = rest.iter().position(|byte| *byte == b'"') else {
            return fault(start, "the string has no end");
        };
        let Some(digits) = rest[..length].strip_prefix(b"0x") else {
            return fault(
                start,
                "strings are not supported: expected hexadecimal bytes such as \"0x0A\"",
            );
        };
        self.at = start + length + 2;
        self.expect_end()?;
        let Some(mut bytes) = decode_hexadecimal(digits) else {
            return fault(
                start,
                "the string must hold an even number of hexadecimal digits after 0x",
            );
        };
        let count = self.ty.element_count().unwrap_or(0);
        if element.is_boolean() {
            return self.packed_booleans(&bytes, count, start);
        }
        let range = IntegerRange::of(element);
        if range.unused > 0 {
            // The bits beyond the element's width carry nothing.
            bytes.iter_mut().for_each(|byte| *byte = range.narrow(*byte));
        }
        if bytes.len() == element.bytes() {
            return self.splat(&bytes);
        }
        Literal::dense(Arc::clone(self.ty), Blob::new(bytes)).or_else(|error| fault(start, error.to_string()))
    }

    /// Booleans lie in hexadecimal strings as bits, lowest first; a single byte of 0x00 or 0xFF is a splat. One byte for each
    /// is understood as well.
    fn packed_booleans(&self, bytes: &[u8], count: u64, start: usize) -> Checked<Literal> {
        match bytes {
            [0x00] => return self.splat(&[0]),
            [0xFF] => return self.splat(&[1]),
            _ => {}
        }
        let length = bytes.len() as u64;
        let unpacked: Vec<u8> = if length == count.div_ceil(8) {
            (0..count as usize)
                .map(|index| bytes[index / 8] >> (index % 8) & 1)
                .collect()
        } else if length == count {
            bytes.to_vec()
        } else {
            return fault(
                start,
                format!("{length} bytes are not the booleans of {}", self.ty),
            );
        };
        Literal::dense(Arc::clone(self.ty), Blob::new(unpacked))
            .or_else(|error| fault(start, error.to_string()))
    }
}

/// The largest magnitudes of an integer type, which takes signed and unsigned readings unless it is unsigned.
#[derive(Clone, Copy)]
struct IntegerRange {
    positive: u64,
    negative: u64,
    /// Bits of a byte that a narrow type leaves unused.
    unused: u32,
    signed: bool,
}

impl IntegerRange {
    fn of(element: ElementType) -> Self {
        let bits = element.bits().min(64);
        let positive = u64::MAX >> (64 - bits);
        let signed = !element.is_unsigned_integer() || element == ElementType::Index;
        Self {
            positive,
            negative: if element.is_boolean() {
                1
            } else if signed {
                1 << (bits - 1)
            } else {
                0
            },
            unused: 8_u32.saturating_sub(bits),
            signed: element.is_signed_integer(),
        }
    }

    /// A byte with the unused bits as a literal has them.
    const fn narrow(self, byte: u8) -> u8 {
        let high = byte << self.unused;
        if self.signed {
            ((high as i8) >> self.unused) as u8
        } else {
            high >> self.unused
        }
    }
}

fn decode_hexadecimal(digits: &[u8]) -> Option<Vec<u8>> {
    const BAD: u8 = 0xFF;
    const VALUES: [u8; 256] = {
        let mut values = [BAD; 256];
        let mut byte = 0;
        while byte < 256 {
            if let Some(value) = hex_digit(byte as u8) {
                values[byte] = value;
            }
            byte += 1;
        }
        values
    };
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let mut bad = false;
    let bytes = digits
        .chunks_exact(2)
        .map(|pair| {
            let (high, low) = (VALUES[pair[0] as usize], VALUES[pair[1] as usize]);
            bad |= high == BAD || low == BAD;
            high << 4 | low
        })
        .collect();
    if bad { None } else { Some(bytes) }
}

#[cfg(test)]
mod tests;
