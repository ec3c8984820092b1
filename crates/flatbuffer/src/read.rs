//! Reading: every access is checked against the bytes and paid for.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use crate::fault::{Fault, Problem};
use crate::field::{Field, FieldType, Table, present};
use crate::scalar::Scalar;
use crate::write::Element;

/// What following one offset costs, in bytes of the budget, besides what it leads to: about what an object takes in memory.
pub const OBJECT_BYTES: u64 = 64;

/// Width of an offset and of a length.
const WORD_BYTES: usize = 4;

/// Bytes to read, and what reading may still cost.
#[derive(Debug)]
pub struct Buffer<'a> {
    bytes: &'a [u8],
    budget: u64,
    left: Cell<u64>,
}

impl<'a> Buffer<'a> {
    /// Bytes with a budget: each offset that is followed costs [`OBJECT_BYTES`], and numbers and strings their length.
    #[must_use]
    pub const fn new(bytes: &'a [u8], budget: u64) -> Self {
        Self {
            bytes,
            budget,
            left: Cell::new(budget),
        }
    }

    /// The table at the root.
    ///
    /// # Errors
    /// [`Fault`] when the bytes hold no table there.
    pub fn root<T: Table>(&self) -> Result<View<'_, T>, Fault> {
        let place = Place {
            buffer: self,
            position: 0,
            table: T::NAME,
            field: "",
        };
        place.table()
    }
}

/// Where something lies, and the field that led there.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    buffer: &'a Buffer<'a>,
    position: usize,
    table: &'static str,
    field: &'static str,
}

impl<'a> Place<'a> {
    fn fault(&self, problem: Problem) -> Fault {
        Fault {
            table: self.table,
            field: self.field,
            offset: self.position,
            problem,
        }
    }

    fn outside(&self, what: &'static str) -> Fault {
        let length = self.buffer.bytes.len();
        self.fault(Problem::Outside { what, length })
    }

    fn charge(&self, cost: u64) -> Result<(), Fault> {
        let left = self.buffer.left.get().checked_sub(cost);
        let budget = self.buffer.budget;
        let left = left.ok_or_else(|| self.fault(Problem::Budget { budget }))?;
        self.buffer.left.set(left);
        Ok(())
    }

    fn slice(&self, range: Range<usize>, what: &'static str) -> Result<&'a [u8], Fault> {
        self.buffer.bytes.get(range).ok_or_else(|| self.outside(what))
    }

    fn number<S: Scalar>(&self, position: usize, what: &'static str) -> Result<S, Fault> {
        let end = position.checked_add(S::BYTES).ok_or_else(|| self.outside(what))?;
        S::decode(self.slice(position..end, what)?).map_err(|problem| self.fault(problem))
    }

    /// The number that lies here.
    pub(crate) fn scalar<S: Scalar>(self) -> Result<S, Fault> {
        self.number(self.position, "a number")
    }

    /// The position that the offset here leads to.
    fn followed(&self) -> Result<usize, Fault> {
        let offset: u32 = self.number(self.position, "an offset")?;
        if offset == 0 {
            return Err(self.fault(Problem::OffsetZero));
        }
        let offset = usize::try_from(offset).map_err(|_| self.outside("an object"))?;
        self.position
            .checked_add(offset)
            .ok_or_else(|| self.outside("an object"))
    }

    /// The vector that the offset here leads to: the range of its bytes and its length.
    fn vector(&self, element_bytes: usize, what: &'static str) -> Result<(Range<usize>, usize), Fault> {
        let start = self.followed()?;
        let length: u32 = self.number(start, what)?;
        let length = usize::try_from(length).map_err(|_| self.outside(what))?;
        let first = start + WORD_BYTES;
        let end = length
            .checked_mul(element_bytes)
            .and_then(|bytes| first.checked_add(bytes));
        let end = end.ok_or_else(|| self.outside(what))?;
        self.slice(first..end, what)?;
        Ok((first..end, length))
    }

    /// The string that the offset here leads to.
    pub(crate) fn text(self) -> Result<&'a str, Fault> {
        let (range, length) = self.vector(1, "a string")?;
        self.charge(OBJECT_BYTES + length as u64)?;
        let bytes = self.slice(range, "a string")?;
        std::str::from_utf8(bytes).map_err(|_| self.fault(Problem::Utf8))
    }

    /// The bytes that the offset here leads to.
    pub(crate) fn bytes(self) -> Result<ByteRange<'a>, Fault> {
        let (range, _) = self.vector(1, "a vector of bytes")?;
        self.charge(OBJECT_BYTES)?;
        let bytes = self.slice(range.clone(), "a vector of bytes")?;
        Ok(ByteRange { bytes, range })
    }

    /// The vector that the offset here leads to. All its elements are paid for at once.
    pub(crate) fn elements<E: Element>(self) -> Result<Elements<'a, E>, Fault> {
        let (range, length) = self.vector(E::BYTES, "a vector")?;
        self.charge(OBJECT_BYTES.saturating_add(E::COST.saturating_mul(length as u64)))?;
        Ok(Elements {
            place: self,
            next: range.start,
            length,
            element: PhantomData,
        })
    }

    /// The table that the offset here leads to.
    pub(crate) fn table<T: Table>(self) -> Result<View<'a, T>, Fault> {
        self.charge(OBJECT_BYTES)?;
        self.table_element()
    }

    /// As [`Place::table`], for an element of a vector that is paid for.
    pub(crate) fn table_element<T: Table>(self) -> Result<View<'a, T>, Fault> {
        let position = self.followed()?;
        let here = Place {
            position,
            table: T::NAME,
            field: "",
            ..self
        };
        let back: i32 = here.number(position, "a table")?;
        let vtable = i64::try_from(position)
            .ok()
            .and_then(|position| position.checked_sub(i64::from(back)))
            .and_then(|vtable| usize::try_from(vtable).ok())
            .ok_or_else(|| here.outside("a vtable"))?;
        let vtable_bytes: u16 = here.number(vtable, "a vtable")?;
        if vtable_bytes < 4 || vtable_bytes % 2 == 1 {
            return Err(here.fault(Problem::VtableSize { bytes: vtable_bytes }));
        }
        here.slice(vtable..vtable + usize::from(vtable_bytes), "a vtable")?;
        let table_bytes: u16 = here.number(vtable + 2, "a vtable")?;
        here.slice(position..position + usize::from(table_bytes), "a table")?;
        Ok(View {
            here,
            vtable,
            vtable_bytes,
            table_bytes,
            table: PhantomData,
        })
    }
}

/// A table in its bytes.
pub struct View<'a, T> {
    here: Place<'a>,
    vtable: usize,
    vtable_bytes: u16,
    table_bytes: u16,
    table: PhantomData<fn() -> T>,
}

impl<T> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for View<'_, T> {}

impl<T: Table> fmt::Debug for View<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View({} at byte {})", T::NAME, self.here.position)
    }
}

impl<'a, T: Table> View<'a, T> {
    /// Reads a field.
    ///
    /// # Errors
    /// [`Fault`] when the bytes there are not what the schema says.
    pub fn get<V: FieldType>(&self, field: Field<T, V>) -> Result<V::Read<'a>, Fault> {
        V::read(self.place(&field)?, field.default)
    }

    /// Reads a field that must not be absent.
    ///
    /// # Errors
    /// As [`View::get`], and [`Problem::Absent`].
    pub fn required<V, R>(&self, field: Field<T, V>) -> Result<R, Fault>
    where
        V: FieldType<Read<'a> = Option<R>>,
    {
        present(
            V::read(self.place(&field)?, field.default)?,
            &field,
            self.here.position,
        )
    }

    /// Whether the table has the field, whatever it holds.
    ///
    /// # Errors
    /// [`Fault`] when the table's own bytes are not sound.
    pub fn has<V: FieldType>(&self, field: Field<T, V>) -> Result<bool, Fault> {
        Ok(self.place(&field)?.is_some())
    }

    /// Where the table lies, in bytes.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.here.position
    }

    /// Where a field lies, unless it is absent.
    fn place<V: FieldType>(&self, field: &Field<T, V>) -> Result<Option<Place<'a>>, Fault> {
        let entry = 4 + 2 * field.slot;
        if entry + 2 > self.vtable_bytes {
            return Ok(None);
        }
        let named = Place {
            field: field.name,
            ..self.here
        };
        let within: u16 = named.number(self.vtable + usize::from(entry), "a vtable")?;
        if within == 0 {
            return Ok(None);
        }
        if within < 4 || within >= self.table_bytes {
            let bytes = self.table_bytes;
            return Err(named.fault(Problem::OutsideTable { bytes }));
        }
        Ok(Some(Place {
            position: self.here.position + usize::from(within),
            ..named
        }))
    }
}

/// The elements of a vector, in order.
pub struct Elements<'a, E> {
    place: Place<'a>,
    next: usize,
    length: usize,
    element: PhantomData<fn() -> E>,
}

impl<E> fmt::Debug for Elements<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Elements({} at byte {})", self.length, self.next)
    }
}

impl<'a, E: Element> Iterator for Elements<'a, E> {
    type Item = Result<E::Read<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        self.length = self.length.checked_sub(1)?;
        let place = Place {
            position: self.next,
            ..self.place
        };
        self.next += E::BYTES;
        Some(E::read(place))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.length, Some(self.length))
    }
}

impl<E: Element> ExactSizeIterator for Elements<'_, E> {}

/// Bytes within the buffer, and where they lie.
#[derive(Clone, Debug)]
pub struct ByteRange<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Their place in the buffer.
    pub range: Range<usize>,
}
