//! Values of a program that is being made, and constants for it.

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_ir::float;
use artifact_ir::literal::Literal;
use artifact_ir::module::ValueId;
use artifact_ir::types::{ElementType, TensorType};

use super::facts::Facts;
use crate::choices::{Choices, SplitMix};

/// A value that later operations may use.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) id: ValueId,
    pub(super) ty: Arc<TensorType>,
    pub(super) facts: Facts,
}

impl Known {
    pub(super) fn element(&self) -> ElementType {
        self.ty.element.storage()
    }

    pub(super) fn rank(&self) -> usize {
        self.ty.rank()
    }

    /// The sizes, of a value of static shape.
    pub(super) fn shape(&self) -> Vec<u64> {
        self.ty.static_shape().unwrap_or_default()
    }

    /// The size of a dimension that is a number.
    pub(super) fn size(&self, dim: usize) -> Option<u64> {
        self.ty.dims.get(dim).and_then(|size| size.as_static())
    }
}

/// Where the elements of an array come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Zeros.
    Zeros,
    /// Whole numbers between -4 and 4, or 0 and 4.
    Small,
    /// Between -2 and 2.
    Ordinary,
    /// Between 1/2 and 4.
    Positive,
    /// Some of the numbers that are edges of the type.
    Edges,
    /// Any bits.
    Bits,
}

impl Pattern {
    pub(super) fn draw(choices: &Choices) -> Self {
        *choices.weighted(&[
            (1, Self::Zeros),
            (8, Self::Small),
            (6, Self::Ordinary),
            (3, Self::Positive),
            (3, Self::Edges),
            (1, Self::Bits),
        ])
    }

    /// What is known of elements of this pattern.
    pub(super) fn facts(self, element: ElementType) -> Facts {
        if !(element.is_float() || element.is_complex()) {
            return match self {
                Self::Zeros => Facts::whole(0.0, 0.0),
                Self::Small if element.bits() >= 4 => Facts::whole(-4.0, 4.0),
                _ => Facts::of(element),
            };
        }
        match self {
            Self::Zeros => Facts::whole(0.0, 0.0),
            Self::Small => Facts::whole(-4.0, 4.0),
            Self::Ordinary => Facts::between(-2.0, 2.0),
            Self::Positive => Facts::between(0.5, 4.0),
            Self::Edges | Self::Bits => Facts::ANY,
        }
    }

    fn float(self, element: ElementType, random: &mut SplitMix) -> u64 {
        let encode = |number: f64| float::encode(element, number).unwrap_or_default();
        match self {
            Self::Zeros => 0,
            Self::Small => encode((random.next() % 9) as f64 - 4.0),
            Self::Ordinary => encode(random.fraction() * 4.0 - 2.0),
            Self::Positive => encode(random.fraction() * 3.5 + 0.5),
            Self::Edges => edge(element, random),
            Self::Bits => random.next(),
        }
    }

    fn integer(self, element: ElementType, random: &mut SplitMix) -> u64 {
        let mut small = |count: u64| random_below(random, count);
        if element.is_boolean() {
            return match self {
                Self::Zeros => 0,
                _ => small(2),
            };
        }
        let lowest = if element.is_signed_integer() { 4 } else { 0 };
        match self {
            Self::Zeros => 0,
            _ if element.bits() < 4 => random.next(),
            Self::Small => small(5 + lowest).wrapping_sub(lowest),
            Self::Positive => 1 + small(7),
            Self::Ordinary => small(100).wrapping_sub(10 * lowest),
            Self::Edges => match small(4) {
                0 => 1 << (element.bits() - 1),
                1 => (1 << (element.bits() - 1)) - 1,
                2 => u64::MAX,
                _ => small_edge(random),
            },
            Self::Bits => random.next(),
        }
    }
}

fn random_below(random: &mut SplitMix, count: u64) -> u64 {
    random.next() % count
}

fn small_edge(random: &mut SplitMix) -> u64 {
    [0, 1, 2, 31, 32, 33, 63, 64][(random.next() % 8) as usize]
}

/// Infinities, NaN, zeros of both signs, and what lies at the ends of the format.
fn edge(element: ElementType, random: &mut SplitMix) -> u64 {
    let encode = |number: f64| float::encode(element, number).unwrap_or_default();
    let bits = element.bits();
    let sign = (random.next() & 1) << (bits - 1);
    let infinity = encode(f64::INFINITY);
    match random.next() % 12 {
        0 => infinity | sign,
        1 => encode(f64::NAN),
        2 => sign,
        // The largest finite number, the smallest of all, the smallest normal one.
        3 => (infinity.wrapping_sub(1)) | sign,
        4 => 1 | sign,
        5 => encode(super::facts::smallest(element)) | sign,
        6 => encode(0.5) | sign,
        7 => encode(2.5) | sign,
        8 => encode(1e9) | sign,
        9 => encode(2_147_483_648.0) | sign,
        _ => encode(random.fraction() * 16.0 - 8.0),
    }
}

/// The bytes of an element: of so many bits, extended to whole bytes as its type is.
fn bytes_of(element: ElementType, bits: u64) -> Vec<u8> {
    let width = element.bits();
    let unused = 64 - width.min(64);
    let bits = match element.is_signed_integer() {
        true => (((bits << unused) as i64) >> unused) as u64,
        false => (bits << unused) >> unused,
    };
    bits.to_le_bytes()[..element.bytes()].to_vec()
}

/// The bytes of one element.
pub(super) fn element_bytes(element: ElementType, pattern: Pattern, random: &mut SplitMix) -> Vec<u8> {
    let part = element.part();
    let mut one = || {
        let bits = match part.is_float() {
            true => pattern.float(part, random),
            false => pattern.integer(part, random),
        };
        bytes_of(part, bits)
    };
    let mut bytes = one();
    if element.is_complex() {
        bytes.extend(one());
    }
    bytes
}

/// The bytes of an element that is this number.
pub(super) fn number_bytes(element: ElementType, number: f64) -> Vec<u8> {
    let part = element.part();
    let bits = match part.is_float() {
        true => float::encode(part, number).unwrap_or_default(),
        false => number as i64 as u64,
    };
    let mut bytes = bytes_of(part, bits);
    if element.is_complex() {
        bytes.extend(bytes_of(part, 0));
    }
    bytes
}

/// An array of a pattern.
///
/// # Panics
/// When the type is not static.
#[expect(clippy::expect_used, reason = "the bytes are made for the type")]
#[must_use]
pub fn array(ty: &Arc<TensorType>, pattern: Pattern, seed: u64) -> Literal {
    let element = ty.element.storage();
    let mut random = SplitMix::new(seed);
    let count = ty.element_count().expect("a static type");
    let bytes = (0..count).flat_map(|_| element_bytes(element, pattern, &mut random));
    Literal::dense(Arc::clone(ty), Blob::new(bytes.collect())).expect("as many bytes as the type has")
}

/// An array of which every element is this number.
///
/// # Panics
/// When the type is not static.
#[expect(clippy::expect_used, reason = "the bytes are made for the type")]
pub(super) fn splat(ty: TensorType, number: f64) -> Literal {
    let bytes = number_bytes(ty.element.storage(), number);
    Literal::splat(Arc::new(ty), &bytes).expect("an element of the type")
}
