//! Named values: options of a client, attributes of a plugin.

use std::ffi::c_char;
use std::fmt;

use crate::api::{list, text};
use crate::sys::{self, named};

/// A value of an option or an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum NamedValue {
    /// A text.
    Text(String),
    /// A number.
    Number(i64),
    /// Several numbers, such as a version.
    Numbers(Vec<i64>),
    /// A number with a fraction.
    Float(f32),
    /// A truth value.
    Flag(bool),
}

impl fmt::Display for NamedValue {
    /// The value alone, numbers of a list apart by dots as in a version.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
            Self::Numbers(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
                f.write_str(&numbers.join("."))
            }
            Self::Float(number) => number.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
        }
    }
}

impl NamedValue {
    /// The name and value that a plugin gave; `None` for a kind that is not known here.
    ///
    /// # Safety
    /// It is one, and what it points to is there.
    pub(crate) unsafe fn read(raw: &sys::NamedValue) -> Option<(String, Self)> {
        let address = std::ptr::with_exposed_provenance::<u8>(usize::try_from(raw.value).ok()?);
        // SAFETY: the caller's promise.
        unsafe {
            let value = match raw.kind {
                named::STRING => Self::Text(text(address.cast::<c_char>(), raw.value_size)),
                named::INT64 => Self::Number(raw.value.cast_signed()),
                named::INT64_LIST => Self::Numbers(list(address.cast::<i64>(), raw.value_size).to_vec()),
                named::FLOAT => Self::Float(f32::from_bits(raw.value as u32)),
                named::BOOL => Self::Flag(raw.value & 0xFF != 0),
                _ => return None,
            };
            Some((text(raw.name, raw.name_size), value))
        }
    }

    /// The value as a plugin takes it. It points to the name and to the value.
    pub(crate) fn raw(name: &str, value: &Self) -> sys::NamedValue {
        let (kind, bits, size) = match value {
            Self::Text(text) => (
                named::STRING,
                text.as_ptr().expose_provenance() as u64,
                text.len(),
            ),
            Self::Number(number) => (named::INT64, number.cast_unsigned(), 1),
            Self::Numbers(numbers) => (
                named::INT64_LIST,
                numbers.as_ptr().expose_provenance() as u64,
                numbers.len(),
            ),
            Self::Float(number) => (named::FLOAT, u64::from(number.to_bits()), 1),
            Self::Flag(flag) => (named::BOOL, u64::from(*flag), 1),
        };
        sys::NamedValue {
            struct_size: size_of::<sys::NamedValue>(),
            extension_start: std::ptr::null_mut(),
            name: name.as_ptr().cast::<c_char>(),
            name_size: name.len(),
            kind,
            value: bits,
            value_size: size,
        }
    }
}
