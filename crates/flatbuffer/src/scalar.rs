//! Numbers that lie in a table or a vector themselves.

use crate::fault::Problem;

/// A number of a fixed width, little-endian.
pub trait Scalar: Copy + PartialEq + 'static {
    /// Its width.
    const BYTES: usize;

    /// Reads [`Scalar::BYTES`] bytes.
    ///
    /// # Errors
    /// A value that the type does not have.
    fn decode(bytes: &[u8]) -> Result<Self, Problem>;

    /// Appends [`Scalar::BYTES`] bytes.
    fn encode(self, bytes: &mut Vec<u8>);
}

macro_rules! integers {
    ($($integer:ident)*) => { $(
        impl Scalar for $integer {
            const BYTES: usize = size_of::<Self>();

            fn decode(bytes: &[u8]) -> Result<Self, Problem> {
                let outside = Problem::Outside { what: "a number", length: bytes.len() };
                bytes.try_into().map(Self::from_le_bytes).map_err(|_| outside)
            }

            fn encode(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
    )* };
}

integers! { u8 u16 u32 i8 i16 i32 }

impl Scalar for bool {
    const BYTES: usize = 1;

    fn decode(bytes: &[u8]) -> Result<Self, Problem> {
        match u8::decode(bytes)? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(Problem::Boolean { value }),
        }
    }

    fn encode(self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self));
    }
}

/// An enumeration of a byte. Implemented by generated types.
pub trait Enumeration: Copy + PartialEq + 'static {
    /// Its name in the schema.
    const NAME: &'static str;
    /// Each value with its number and its name in the schema.
    const VALUES: &'static [(Self, i8, &'static str)];

    /// The name in the schema.
    #[must_use]
    fn name(self) -> &'static str {
        let found = Self::VALUES.iter().find(|(value, ..)| *value == self);
        found.map_or("", |(.., name)| name)
    }
}

impl<E: Enumeration> Scalar for E {
    const BYTES: usize = 1;

    fn decode(bytes: &[u8]) -> Result<Self, Problem> {
        let number = i8::decode(bytes)?;
        let found = Self::VALUES.iter().find(|(_, known, _)| *known == number);
        found.map(|(value, ..)| *value).ok_or(Problem::Unknown {
            enumeration: Self::NAME,
            value: number,
        })
    }

    fn encode(self, bytes: &mut Vec<u8>) {
        let found = Self::VALUES.iter().find(|(value, ..)| *value == self);
        found.map_or(0, |(_, number, _)| *number).encode(bytes);
    }
}
