//! Writing: objects are made from the leaves up, and laid out from the root down, because offsets lead forward only.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use crate::fault::Fault;
use crate::field::{Field, FieldType, Nested, Stored, Table, Text, Vector};
use crate::read::{OBJECT_BYTES, Place, View};
use crate::scalar::Scalar;
use crate::{Bytes, field};

/// Every object starts at a multiple of this.
const ALIGNMENT_BYTES: usize = 4;

/// The largest offset that readers of other languages take: they have signed ones.
const FILE_BYTES_MAX: usize = i32::MAX as usize;

/// What a vector may hold.
pub trait Element: 'static {
    /// Width in the vector.
    const BYTES: usize;
    /// What one costs of a reader's budget.
    const COST: u64;
    /// What reading one gives.
    type Read<'a>;
    /// What writing one takes.
    type Write: Copy;

    /// Reads the element at a place.
    #[doc(hidden)]
    fn read(place: Place<'_>) -> Result<Self::Read<'_>, Fault>;

    /// What the vector stores.
    #[doc(hidden)]
    fn stored(value: Self::Write) -> Stored;
}

impl<S: Scalar> Element for S {
    const BYTES: usize = <S as Scalar>::BYTES;
    const COST: u64 = <S as Scalar>::BYTES as u64;
    type Read<'a> = S;
    type Write = S;

    fn read(place: Place<'_>) -> Result<S, Fault> {
        place.scalar()
    }

    fn stored(value: S) -> Stored {
        let mut bytes = Vec::with_capacity(<S as Scalar>::BYTES);
        value.encode(&mut bytes);
        Stored::Scalar(bytes)
    }
}

impl Element for Text {
    const BYTES: usize = 4;
    const COST: u64 = OBJECT_BYTES;
    type Read<'a> = &'a str;
    type Write = Reference<Self>;

    fn read(place: Place<'_>) -> Result<&str, Fault> {
        place.text()
    }

    fn stored(value: Reference<Self>) -> Stored {
        Stored::Object(value.object)
    }
}

impl<T: Table> Element for Nested<T> {
    const BYTES: usize = 4;
    const COST: u64 = OBJECT_BYTES;
    type Read<'a> = View<'a, T>;
    type Write = Reference<Self>;

    fn read(place: Place<'_>) -> Result<View<'_, T>, Fault> {
        place.table_element()
    }

    fn stored(value: Reference<Self>) -> Stored {
        Stored::Object(value.object)
    }
}

/// An object of a [`Writer`]. It may be referred to any number of times.
pub struct Reference<V> {
    object: usize,
    kind: PhantomData<fn() -> V>,
}

impl<V> Reference<V> {
    const fn new(object: usize) -> Self {
        Self {
            object,
            kind: PhantomData,
        }
    }

    pub(crate) const fn object(self) -> usize {
        self.object
    }
}

impl<V> Clone for Reference<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Reference<V> {}

impl<V> fmt::Debug for Reference<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reference({})", self.object)
    }
}

/// Bytes of an object and where they refer to others.
#[derive(Debug, Default)]
struct Object<'a> {
    /// Written by us: a length, a table, offsets to be filled in.
    head: Vec<u8>,
    /// Bytes that are copied once, into the file.
    payload: Cow<'a, [u8]>,
    /// Positions in `head` of offsets, with the object that each leads to.
    offsets: Vec<(usize, usize)>,
    /// The vtable, for a table.
    vtable: Option<usize>,
}

/// What is larger than a FlatBuffer can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file would have over {FILE_BYTES_MAX} bytes, which is what the offsets of a FlatBuffer reach")]
pub struct TooLarge;

/// Collects objects, and lays them out.
#[derive(Debug, Default)]
pub struct Writer<'a> {
    objects: Vec<Object<'a>>,
    vtables: BTreeMap<Vec<u8>, usize>,
}

impl<'a> Writer<'a> {
    /// A writer without objects.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn add<V>(&mut self, object: Object<'a>) -> Reference<V> {
        self.objects.push(object);
        Reference::new(self.objects.len() - 1)
    }

    /// A string.
    ///
    /// # Errors
    /// [`TooLarge`] when its length does not fit.
    pub fn text(&mut self, text: &str) -> Result<Reference<Text>, TooLarge> {
        // Readers of C ask for a zero after the text, which is not part of its length.
        let payload = [text.as_bytes(), &[0]].concat();
        let head = length(text.len())?;
        Ok(self.add(Object {
            head,
            payload: payload.into(),
            ..Object::default()
        }))
    }

    /// Bytes, which are copied only into the file.
    ///
    /// # Errors
    /// [`TooLarge`] when their length does not fit.
    pub fn bytes(&mut self, bytes: &'a [u8]) -> Result<Reference<Bytes>, TooLarge> {
        let head = length(bytes.len())?;
        Ok(self.add(Object {
            head,
            payload: bytes.into(),
            ..Object::default()
        }))
    }

    /// A vector.
    ///
    /// # Errors
    /// [`TooLarge`] when its length does not fit.
    pub fn vector<E: Element>(&mut self, elements: &[E::Write]) -> Result<Reference<Vector<E>>, TooLarge> {
        let mut object = Object {
            head: length(elements.len())?,
            ..Object::default()
        };
        for element in elements {
            object.push(E::stored(*element));
        }
        Ok(self.add(object))
    }

    /// A table of these fields.
    pub fn table<T: Table>(&mut self, table: TableBuilder<T>) -> Reference<Nested<T>> {
        let mut fields = table.fields;
        // Wide ones first, so that none needs padding.
        fields.sort_by_key(|(slot, stored)| (std::cmp::Reverse(stored.bytes()), *slot));
        let slots = fields.iter().map(|(slot, _)| slot + 1).max().unwrap_or(0);
        let mut vtable = vec![0; 4 + 2 * usize::from(slots)];
        let mut object = Object {
            head: vec![0; 4],
            ..Object::default()
        };
        for (slot, stored) in fields {
            let entry = 4 + 2 * usize::from(slot);
            put_u16(&mut vtable, entry, object.head.len());
            object.push(stored);
        }
        let (vtable_bytes, table_bytes) = (vtable.len(), object.head.len());
        put_u16(&mut vtable, 0, vtable_bytes);
        put_u16(&mut vtable, 2, table_bytes);
        object.vtable = Some(self.vtable(vtable));
        self.add(object)
    }

    fn vtable(&mut self, vtable: Vec<u8>) -> usize {
        if let Some(known) = self.vtables.get(&vtable) {
            return *known;
        }
        let object: Reference<()> = self.add(Object {
            head: vtable.clone(),
            ..Object::default()
        });
        self.vtables.insert(vtable, object.object);
        object.object
    }

    /// The file with this table at its root.
    ///
    /// # Errors
    /// [`TooLarge`] when it would have over 2^31 - 1 bytes.
    pub fn finish<T: Table>(self, root: Reference<Nested<T>>) -> Result<Vec<u8>, TooLarge> {
        let (positions, length) = self.positions()?;
        let mut file = Vec::with_capacity(length);
        file.resize(ALIGNMENT_BYTES, 0);
        put_distance(&mut file, 0, 0, position(&positions, root.object));
        for (index, object) in self.objects.into_iter().enumerate().rev() {
            let start = position(&positions, index);
            file.resize(start, 0);
            file.extend_from_slice(&object.head);
            file.extend_from_slice(&object.payload);
            for (within, target) in object.offsets {
                let from = start + within;
                put_distance(&mut file, from, from, position(&positions, target));
            }
            if let Some(vtable) = object.vtable {
                put_distance(&mut file, start, position(&positions, vtable), start);
            }
        }
        file.resize(length, 0);
        Ok(file)
    }

    /// Where each object goes: those that were made last come first.
    fn positions(&self) -> Result<(Vec<usize>, usize), TooLarge> {
        let mut positions = vec![0; self.objects.len()];
        let mut next = ALIGNMENT_BYTES;
        for (position, object) in positions.iter_mut().zip(&self.objects).rev() {
            *position = next;
            let bytes = object.head.len().saturating_add(object.payload.len());
            next = next
                .saturating_add(bytes)
                .checked_next_multiple_of(ALIGNMENT_BYTES)
                .ok_or(TooLarge)?;
        }
        if next > FILE_BYTES_MAX {
            return Err(TooLarge);
        }
        Ok((positions, next))
    }
}

impl Object<'_> {
    fn push(&mut self, stored: Stored) {
        match stored {
            Stored::Scalar(bytes) => self.head.extend_from_slice(&bytes),
            Stored::Object(object) => {
                self.offsets.push((self.head.len(), object));
                self.head.extend_from_slice(&[0; 4]);
            }
        }
    }
}

impl field::Stored {
    fn bytes(&self) -> usize {
        match self {
            Self::Scalar(bytes) => bytes.len(),
            Self::Object(_) => 4,
        }
    }
}

fn length(length: usize) -> Result<Vec<u8>, TooLarge> {
    let length = i32::try_from(length).map_err(|_| TooLarge)?;
    Ok(length.to_le_bytes().to_vec())
}

fn put_u16(bytes: &mut [u8], at: usize, value: usize) {
    // A table has as many fields as its schema, so that its length and that of its vtable are small.
    bytes[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes());
}

/// Stores at `at` how far it is from one position to another. Positions fit in 31 bits, so that the difference, which is
/// negative from a table to a vtable before it, is right in 32.
fn put_distance(bytes: &mut [u8], at: usize, from: usize, to: usize) {
    bytes[at..at + 4].copy_from_slice(&(to.wrapping_sub(from) as u32).to_le_bytes());
}

fn position(positions: &[usize], object: usize) -> usize {
    positions.get(object).copied().unwrap_or_default()
}

/// The fields of a table to be written.
pub struct TableBuilder<T> {
    fields: Vec<(u16, Stored)>,
    table: PhantomData<fn() -> T>,
}

impl<T: Table> fmt::Debug for TableBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TableBuilder({}, {} fields)", T::NAME, self.fields.len())
    }
}

impl<T: Table> Default for TableBuilder<T> {
    fn default() -> Self {
        Self {
            fields: Vec::new(),
            table: PhantomData,
        }
    }
}

impl<T: Table> TableBuilder<T> {
    /// Sets a field. A number that is the field's default is left out, as every writer of FlatBuffers does.
    #[must_use]
    pub fn set<V: FieldType>(mut self, field: Field<T, V>, value: V::Write) -> Self {
        self.fields.retain(|(slot, _)| *slot != field.slot);
        let stored = V::stored(value, field.default);
        self.fields.extend(stored.map(|stored| (field.slot, stored)));
        self
    }

    /// Sets a field if there is a value for it.
    #[must_use]
    pub fn set_some<V: FieldType>(self, field: Field<T, V>, value: Option<V::Write>) -> Self {
        match value {
            Some(value) => self.set(field, value),
            None => self,
        }
    }
}
