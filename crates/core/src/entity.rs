//! Typed ids and the arenas that they index.
//!
//! An id is a `u32` of its own type: a value id cannot index the operations. Ids are dense, start at 0 and are never reused.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An index into an [`Arena`]. Declared with [`crate::entity_id!`].
pub trait EntityId: Copy + Eq + fmt::Debug {
    /// The id of the `index`-th item.
    fn from_index(index: u32) -> Self;
    /// The position in its arena.
    fn index(self) -> usize;
}

/// Declares an id type.
#[macro_export]
macro_rules! entity_id {
    ($(#[$meta:meta])* $vis:vis struct $name:ident($prefix:literal);) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $name(u32);

        impl $crate::entity::EntityId for $name {
            fn from_index(index: u32) -> Self {
                Self(index)
            }

            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

/// A growable table of `T` indexed by `K`.
#[derive(Clone)]
pub struct Arena<K, T> {
    items: Vec<T>,
    key: PhantomData<fn() -> K>,
}

impl<K: EntityId, T> Arena<K, T> {
    /// An empty arena.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            items: Vec::new(),
            key: PhantomData,
        }
    }

    /// Makes room for more items at once.
    pub fn reserve(&mut self, count: usize) {
        self.items.reserve(count);
    }

    /// Adds an item and returns its id.
    ///
    /// # Panics
    /// After 2^32 items; every input is limited to far fewer bytes than that.
    #[inline]
    pub fn push(&mut self, item: T) -> K {
        let id = self.next_id();
        self.items.push(item);
        id
    }

    /// The id that the next [`Arena::push`] will return.
    ///
    /// # Panics
    /// After 2^32 items.
    #[must_use]
    pub fn next_id(&self) -> K {
        assert!(
            self.items.len() < u32::MAX as usize,
            "an arena holds at most 2^32 - 1 items"
        );
        K::from_index(self.items.len() as u32)
    }

    /// The item, or `None` if `id` is of another arena.
    #[must_use]
    pub fn get(&self, id: K) -> Option<&T> {
        self.items.get(id.index())
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Ids and items in order of creation.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (K, &T)> {
        self.items
            .iter()
            .enumerate()
            .map(|(index, item)| (K::from_index(index as u32), item))
    }
}

impl<K: EntityId, T> Default for Arena<K, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: EntityId, T: fmt::Debug> fmt::Debug for Arena<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: EntityId, T> Index<K> for Arena<K, T> {
    type Output = T;

    fn index(&self, id: K) -> &T {
        &self.items[id.index()]
    }
}

impl<K: EntityId, T> IndexMut<K> for Arena<K, T> {
    fn index_mut(&mut self, id: K) -> &mut T {
        &mut self.items[id.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    entity_id! {
        /// For the test.
        struct TestId("t");
    }

    #[test]
    fn ids_are_dense() {
        let mut arena: Arena<TestId, &str> = Arena::new();
        let (a, b) = (arena.push("a"), arena.push("b"));
        assert_eq!((arena[a], arena[b], arena.len()), ("a", "b", 2));
        assert_eq!(format!("{arena:?}"), r#"{t0: "a", t1: "b"}"#);
        assert_eq!(arena.get(arena.next_id()), None);
    }
}
