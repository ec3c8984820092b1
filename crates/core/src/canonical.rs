//! The canonical encoding that persistent digests are computed over.
//!
//! Byte rules, permanent for every scheme that uses them:
//!
//! | value | bytes |
//! | --- | --- |
//! | `u8`, `bool` | one byte; `true` is 1 |
//! | `u32`, `u64`, `i64` | little-endian, full width |
//! | `f64` | its bit pattern, little-endian |
//! | byte string, text | length as `u64`, then the bytes |
//! | sequence | count as `u64`, then the items |
//! | optional | 0, or 1 and the value |
//! | variant | a tag: its name as text |
//!
//! Every field is either of fixed width or length-prefixed, so no two different sequences of calls produce the same bytes.

use crate::digest::{Digest, Domain, Hasher};

/// Feeds canonical bytes into a digest.
#[derive(Clone, Debug)]
pub struct Encoder {
    hasher: Hasher,
}

impl Encoder {
    /// Starts an encoding within `domain`.
    #[must_use]
    pub fn new(domain: Domain) -> Self {
        Self {
            hasher: Hasher::in_domain(domain),
        }
    }

    /// One byte.
    pub fn u8(&mut self, value: u8) {
        self.hasher.update(&[value]);
    }

    /// A boolean, as one byte.
    pub fn bool(&mut self, value: bool) {
        self.u8(u8::from(value));
    }

    /// A `u32`, little-endian.
    pub fn u32(&mut self, value: u32) {
        self.hasher.update(&value.to_le_bytes());
    }

    /// A `u64`, little-endian.
    pub fn u64(&mut self, value: u64) {
        self.hasher.update(&value.to_le_bytes());
    }

    /// An `i64`, little-endian two's complement.
    pub fn i64(&mut self, value: i64) {
        self.hasher.update(&value.to_le_bytes());
    }

    /// An `f64` by bit pattern: -0 and 0 differ, NaNs differ by payload.
    pub fn f64(&mut self, value: f64) {
        self.u64(value.to_bits());
    }

    /// A count of items that follow.
    pub fn count(&mut self, count: usize) {
        self.u64(count as u64);
    }

    /// A byte string, length first.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.hasher.update(bytes);
    }

    /// Text, length in bytes first. Also the tag of a variant.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// A sequence: its count, then each item through `item`.
    pub fn sequence<T>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
        mut item: impl FnMut(&mut Self, T),
    ) {
        self.count(items.len());
        items.for_each(|value| item(self, value));
    }

    /// An optional value: presence, then the value through `some`.
    pub fn option<T>(&mut self, value: Option<T>, some: impl FnOnce(&mut Self, T)) {
        self.bool(value.is_some());
        if let Some(value) = value {
            some(self, value);
        }
    }

    /// A digest, as its 32 bytes.
    pub fn digest(&mut self, digest: &Digest) {
        self.hasher.update(digest.as_bytes());
    }

    /// The digest of all that was encoded.
    #[must_use]
    pub fn finish(&self) -> Digest {
        self.hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAIN: Domain = Domain::new("artifact canonical-test v1");

    fn digest(encode: impl FnOnce(&mut Encoder)) -> Digest {
        let mut encoder = Encoder::new(DOMAIN);
        encode(&mut encoder);
        encoder.finish()
    }

    #[test]
    fn fields_do_not_run_into_each_other() {
        let split = |a: &'static str, b: &'static str| {
            digest(|e| {
                e.text(a);
                e.text(b);
            })
        };
        assert_ne!(split("ab", "c"), split("a", "bc"));
        assert_ne!(
            digest(|e| e.option(Some(0_u64), Encoder::u64)),
            digest(|e| e.option(None::<u64>, Encoder::u64))
        );
        assert_ne!(digest(|e| e.f64(0.0)), digest(|e| e.f64(-0.0)));
    }

    #[test]
    fn bytes_are_pinned() {
        let got = digest(|e| {
            e.u8(1);
            e.bool(true);
            e.u32(2);
            e.i64(-3);
            e.f64(1.5);
            e.text("x");
            e.sequence([7_u64, 8].iter(), |e, v| e.u64(*v));
            e.option(None::<u64>, Encoder::u64);
        });
        let mut by_hand = Hasher::in_domain(DOMAIN);
        by_hand.update(&[1, 1, 2, 0, 0, 0]);
        by_hand.update(&(-3_i64).to_le_bytes());
        by_hand.update(&1.5_f64.to_bits().to_le_bytes());
        by_hand.update(&[1, 0, 0, 0, 0, 0, 0, 0, b'x']);
        for value in [2_u64, 7, 8] {
            by_hand.update(&value.to_le_bytes());
        }
        by_hand.update(&[0]);
        assert_eq!(got, by_hand.finish());
    }
}
