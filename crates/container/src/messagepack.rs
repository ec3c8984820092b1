//! Checks the structure of MessagePack before a recursive decoder sees it.
//!
//! The walk is a loop with an explicit stack of bounded depth. After [`check`] the bytes are exactly one value, a map,
//! nested within the limits, whose lengths are all true, whose keys are distinct texts, and without extension types.
//! Specification: <https://github.com/msgpack/msgpack/blob/master/spec.md>.

use std::collections::BTreeSet;

use crate::error::{Classify, ErrorKind, Fault};
use crate::fields::{Fields, Short};
use crate::limits;

/// A map or an array whose items are being read.
#[derive(Debug)]
struct Level<'a> {
    /// Values still to come; in a map, keys count too.
    remaining: u64,
    /// The keys so far, in a map.
    keys: Option<BTreeSet<&'a [u8]>>,
}

/// One value, its items apart.
enum Token<'a> {
    Scalar,
    Text(&'a [u8]),
    Array(u64),
    Map(u64),
}

/// Checks that `bytes` are one well-formed map.
pub(crate) fn check(bytes: &[u8]) -> Result<(), Fault> {
    let mut fields = Fields::new(bytes);
    let (mut levels, mut values) = (Vec::<Level<'_>>::new(), 0_u64);
    loop {
        values += 1;
        limits::MANIFEST_VALUES.check(values)?;
        let token = token(&mut fields)?;
        match levels.last_mut() {
            None if !matches!(token, Token::Map(_)) => return Err(StructureError::NotAMap.into()),
            None => {}
            Some(level) => level.accept(&token)?,
        }
        match token {
            Token::Array(remaining) => levels.push(Level {
                remaining,
                keys: None,
            }),
            Token::Map(remaining) => {
                levels.push(Level {
                    remaining,
                    keys: Some(BTreeSet::new()),
                });
            }
            Token::Scalar | Token::Text(_) => {}
        }
        limits::MANIFEST_DEPTH.check(levels.len() as u64)?;
        while levels.last().is_some_and(|level| level.remaining == 0) {
            levels.pop();
        }
        if levels.is_empty() {
            return if fields.is_empty() {
                Ok(())
            } else {
                Err(StructureError::Trailing.into())
            };
        }
    }
}

impl<'a> Level<'a> {
    /// Counts one value; every other one in a map is a key.
    fn accept(&mut self, token: &Token<'a>) -> Result<(), StructureError> {
        if let Some(keys) = &mut self.keys
            && self.remaining.is_multiple_of(2)
        {
            let Token::Text(key) = token else {
                return Err(StructureError::Key);
            };
            if !keys.insert(*key) {
                return Err(StructureError::DuplicateKey(
                    String::from_utf8_lossy(key).into_owned(),
                ));
            }
        }
        self.remaining -= 1;
        Ok(())
    }
}

fn token<'a>(fields: &mut Fields<'a>) -> Result<Token<'a>, Fault> {
    let marker = fields.u8().map_err(StructureError::from)?;
    let mut length = |width: u8| -> Result<u64, StructureError> {
        Ok(match width {
            1 => fields.u8()?.into(),
            // MessagePack is big-endian.
            2 => fields.u16()?.swap_bytes().into(),
            _ => fields.u32()?.swap_bytes().into(),
        })
    };
    Ok(match marker {
        0x80..=0x8f => Token::Map(2 * u64::from(marker & 0x0f)),
        0xde => Token::Map(2 * length(2)?),
        0xdf => Token::Map(2 * length(4)?),
        0x90..=0x9f => Token::Array(u64::from(marker & 0x0f)),
        0xdc => Token::Array(length(2)?),
        0xdd => Token::Array(length(4)?),
        0xa0..=0xbf => text(fields, (marker & 0x1f).into())?,
        0xd9..=0xdb => {
            let length = length(1 << (marker - 0xd9))?;
            text(fields, length)?
        }
        0xc4..=0xc6 => {
            let length = length(1 << (marker - 0xc4))?;
            limits::TEXT_BYTES.check(length)?;
            scalar(fields, length as usize)?
        }
        // Small integers, nil and the booleans are the marker alone.
        0x00..=0x7f | 0xe0..=0xff | 0xc0 | 0xc2 | 0xc3 => Token::Scalar,
        0xcc | 0xd0 => scalar(fields, 1)?,
        0xcd | 0xd1 => scalar(fields, 2)?,
        0xca | 0xce | 0xd2 => scalar(fields, 4)?,
        0xcb | 0xcf | 0xd3 => scalar(fields, 8)?,
        0xc1 | 0xc7..=0xc9 | 0xd4..=0xd8 => return Err(StructureError::Marker(marker).into()),
    })
}

fn text<'a>(fields: &mut Fields<'a>, length: u64) -> Result<Token<'a>, Fault> {
    limits::TEXT_BYTES.check(length)?;
    // Within the limit, so the length fits.
    Ok(Token::Text(
        fields.bytes(length as usize).map_err(StructureError::from)?,
    ))
}

fn scalar<'a>(fields: &mut Fields<'a>, length: usize) -> Result<Token<'a>, StructureError> {
    fields.bytes(length)?;
    Ok(Token::Scalar)
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StructureError {
    #[error("the manifest ends inside a value")]
    Short,
    #[error("the manifest is followed by other bytes")]
    Trailing,
    #[error("the manifest is not a map")]
    NotAMap,
    #[error("the manifest has a map key that is not text")]
    Key,
    #[error("the manifest has the key `{0}` twice in one map")]
    DuplicateKey(String),
    #[error("the manifest has a value of type {0:#04x}, which is not allowed")]
    Marker(u8),
}

impl From<Short> for StructureError {
    fn from(Short: Short) -> Self {
        Self::Short
    }
}

impl Classify for StructureError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::FixInput
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_source(bytes: &[u8]) -> Result<(), String> {
        check(bytes).map_err(|fault| {
            let error = fault.read(None);
            std::error::Error::source(&error)
                .map(ToString::to_string)
                .unwrap_or_default()
        })
    }

    /// Bytes, and what is wrong with them.
    const CASES: &[(&[u8], &str)] = &[
            (b"", "the manifest ends inside a value"),
            (b"\x80", "ok"),
            (b"\x80\x00", "the manifest is followed by other bytes"),
            (b"\x90", "the manifest is not a map"),
            (b"\xc0", "the manifest is not a map"),
            (b"\x81\xa1k", "the manifest ends inside a value"),
            (b"\x81\xa1k\x07", "ok"),
            (b"\x81\x01\x07", "the manifest has a map key that is not text"),
            (b"\x82\xa1k\x07\xa1k\x08", "the manifest has the key `k` twice in one map"),
            (b"\x82\xa1k\x81\xa1k\xc0\xa1l\xc3", "ok"),
            (b"\x81\xa1k\xc1", "the manifest has a value of type 0xc1, which is not allowed"),
            (b"\x81\xa1k\xd4\x01\x00", "the manifest has a value of type 0xd4, which is not allowed"),
            (b"\x81\xa1k\xdd\xff\xff\xff\xff", "the manifest ends inside a value"),
            (b"\xdf\xff\xff\xff\xff", "the manifest ends inside a value"),
            (b"\x81\xa1k\xdb\xff\xff\xff\xff", "a text in the manifest is 4294967295 bytes, over the limit of 65536"),
            (b"\x81\xa1k\xc6\xff\xff\xff\xff", "a text in the manifest is 4294967295 bytes, over the limit of 65536"),
            (b"\x81\xa1k\xd9\x02ab", "ok"),
            (b"\x81\xa1k\xda\x00\x02ab", "ok"),
            (b"\x81\xa1k\xc4\x02ab", "ok"),
            (b"\x81\xa1k\x98\xcc\x01\xcd\x01\x02\xce\x01\x02\x03\x04\xcf12345678\xd0\x01\xca1234\xcb12345678\xe0", "ok"),
            (b"\x81\xa1k\xde\x00\x01\xa1k\xdc\x00\x01\xc2", "ok"),
    ];

    #[test]
    fn structure() {
        for (bytes, expected) in CASES {
            let found = check_source(bytes).map_or_else(|message| message, |()| "ok".to_owned());
            assert_eq!(found, *expected, "{bytes:02x?}");
        }
    }

    #[test]
    fn depth_and_length_are_limited() {
        let deep = [&[0x81, 0xa1, b'k'][..], &[0x91; 200_000]].concat();
        let message = check_source(&deep).unwrap_err();
        assert_eq!(
            message,
            "the manifest's nesting is 17 levels, over the limit of 16"
        );
        // 64 KiB and a byte of text.
        let long = [&[0x81, 0xa1, b'k', 0xdb, 0, 1, 0, 1][..], &[b'x'; 65_537]].concat();
        let message = check_source(&long).unwrap_err();
        assert_eq!(
            message,
            "a text in the manifest is 65537 bytes, over the limit of 65536"
        );
    }

    #[test]
    fn the_number_of_values_is_limited() {
        let bytes = [&[0x81, 0xa1, b'k', 0xdd, 0, 0x20, 0, 0][..], &vec![0xc0; 1 << 21]].concat();
        let message = check_source(&bytes).unwrap_err();
        assert_eq!(
            message,
            "the number of values in the manifest is 1048577 values, over the limit of 1048576"
        );
    }
}
