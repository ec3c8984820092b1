//! Attributes and types that a dialect has written as text.

use artifact_ir::attribute::Attribute;
use artifact_ir::types::Type;

use super::cursor::{Cursor, Read};
use super::pool::{NODE_BYTES, Pool};
use crate::parse;

impl Pool<'_> {
    pub(super) fn attribute_text(&mut self, cursor: &Cursor<'_>) -> Read<Attribute> {
        let text = written(cursor)?;
        self.weigh(NODE_BYTES.saturating_mul(text.len() as u64));
        parse::attribute(text).ok_or_else(|| cursor.malformed(format!("`{}` is no attribute", shown(text))))
    }

    pub(super) fn type_text(&self, cursor: &Cursor<'_>) -> Read<Type> {
        let text = written(cursor)?;
        parse::ty(text).ok_or_else(|| cursor.malformed(format!("`{}` is no type", shown(text))))
    }
}

/// The text, which ends with a zero byte.
fn written<'a>(cursor: &Cursor<'a>) -> Read<&'a str> {
    let bytes = cursor.rest().strip_suffix(&[0]);
    bytes
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .ok_or_else(|| {
            cursor.malformed("an attribute or type in text is not UTF-8 that ends with a zero byte")
        })
}

/// The start of a text, for messages.
fn shown(text: &str) -> String {
    const SHOWN_MAX: usize = 60;
    text.chars().take(SHOWN_MAX).collect()
}
