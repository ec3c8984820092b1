//! The vocabulary of a schema: tables, their fields, and the types that fields may have.

use std::fmt;
use std::marker::PhantomData;

use crate::fault::{Fault, Problem};
use crate::read::{ByteRange, Elements, Place, View};
use crate::scalar::Scalar;
use crate::write::{Element, Reference};

/// A table of a schema. Implemented by generated types, which have no values.
pub trait Table: 'static {
    /// Its name in the schema.
    const NAME: &'static str;
}

/// One field of a table: where it is, and what is read and written there.
pub struct Field<T, V: FieldType> {
    pub(crate) slot: u16,
    pub(crate) name: &'static str,
    pub(crate) default: V::Default,
    table: PhantomData<fn() -> T>,
}

impl<T: Table, V: FieldType> Field<T, V> {
    /// Declares the field at a position of the table's declaration, from 0; what an absent scalar means.
    #[must_use]
    pub const fn new(slot: u16, name: &'static str, default: V::Default) -> Self {
        Self {
            slot,
            name,
            default,
            table: PhantomData,
        }
    }

    /// Its name in the schema.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl<T, V: FieldType> Clone for Field<T, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, V: FieldType> Copy for Field<T, V> {}

impl<T: Table, V: FieldType> fmt::Debug for Field<T, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Field({}.{}, slot {})", T::NAME, self.name, self.slot)
    }
}

/// A type that a field may have. The schema's notation is in the documentation of each.
pub trait FieldType: 'static {
    /// What the schema says of an absent field.
    type Default: Copy;
    /// What reading gives.
    type Read<'a>;
    /// What writing takes.
    type Write: Copy;

    /// Reads the field, which is absent when there is no place.
    #[doc(hidden)]
    fn read(place: Option<Place<'_>>, default: Self::Default) -> Result<Self::Read<'_>, Fault>;

    /// What a table stores; none when the field is to be absent.
    #[doc(hidden)]
    fn stored(value: Self::Write, default: Self::Default) -> Option<Stored>;
}

/// What a table stores for one field.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum Stored {
    /// A number of 1, 2 or 4 bytes.
    Scalar(Vec<u8>),
    /// The position of another object.
    Object(usize),
}

/// `name: uint32 = 0`: a number that is never absent.
impl<S: Scalar> FieldType for S {
    type Default = S;
    type Read<'a> = S;
    type Write = S;

    fn read(place: Option<Place<'_>>, default: S) -> Result<S, Fault> {
        place.map_or(Ok(default), |place| place.scalar())
    }

    fn stored(value: S, default: S) -> Option<Stored> {
        let mut bytes = Vec::with_capacity(S::BYTES);
        value.encode(&mut bytes);
        (value != default).then_some(Stored::Scalar(bytes))
    }
}

/// `name: uint32 = null`: a number that may be absent.
#[derive(Debug)]
pub struct Optional<S>(PhantomData<S>);

impl<S: Scalar> FieldType for Optional<S> {
    type Default = ();
    type Read<'a> = Option<S>;
    type Write = S;

    fn read(place: Option<Place<'_>>, (): ()) -> Result<Option<S>, Fault> {
        place.map(|place| place.scalar()).transpose()
    }

    fn stored(value: S, (): ()) -> Option<Stored> {
        let mut bytes = Vec::with_capacity(S::BYTES);
        value.encode(&mut bytes);
        Some(Stored::Scalar(bytes))
    }
}

macro_rules! object {
    ([$($parameter:tt)*] $object:ty, $read:ty, $follow:ident) => {
        impl<$($parameter)*> FieldType for $object {
            type Default = ();
            type Read<'a> = Option<$read>;
            type Write = Reference<Self>;

            fn read(place: Option<Place<'_>>, (): ()) -> Result<Self::Read<'_>, Fault> {
                place.map(|place| place.$follow()).transpose()
            }

            fn stored(value: Reference<Self>, (): ()) -> Option<Stored> {
                Some(Stored::Object(value.object()))
            }
        }
    };
}

/// `name: string`: UTF-8.
#[derive(Debug)]
pub struct Text;
object!([] Text, &'a str, text);

/// `name: [ubyte]` or `name: [byte]`: bytes that are not looked into, and cost nothing of the budget.
#[derive(Debug)]
pub struct Bytes;
object!([] Bytes, ByteRange<'a>, bytes);

/// `name: OtherTable`.
#[derive(Debug)]
pub struct Nested<T>(PhantomData<fn() -> T>);
object!([T: Table] Nested<T>, View<'a, T>, table);

/// `name: [TYPE]`.
#[derive(Debug)]
pub struct Vector<E>(PhantomData<fn() -> E>);
object!([E: Element] Vector<E>, Elements<'a, E>, elements);

/// What is read of a field that a table must have.
#[doc(hidden)]
pub(crate) fn present<T: Table, V, R>(
    value: Option<R>,
    field: &Field<T, V>,
    offset: usize,
) -> Result<R, Fault>
where
    V: FieldType,
{
    value.ok_or(Fault {
        table: T::NAME,
        field: field.name,
        offset,
        problem: Problem::Absent,
    })
}
