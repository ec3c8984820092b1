//! Lists, each once, by number in order of discovery.

use std::hash::{BuildHasher as _, Hash};
use std::ops::Range;

use super::tables::Map;

/// Lists of `T`, which lie one after the other, each with `H` at its head.
#[derive(Debug)]
pub(super) struct Interned<T, H = ()> {
    lists: Vec<Listed<H>>,
    items: Vec<T>,
    /// Numbers by hash; where two lists have one hash, the later has the next free one.
    numbers: Map<u64, u32>,
}

#[derive(Debug)]
struct Listed<H> {
    head: H,
    place: Range<usize>,
}

impl<T, H> Default for Interned<T, H> {
    fn default() -> Self {
        Self {
            lists: Vec::new(),
            items: Vec::new(),
            numbers: Map::default(),
        }
    }
}

impl<T: Copy + Eq + Hash, H: Eq + Hash> Interned<T, H> {
    /// Makes room for so many lists.
    pub(super) fn reserve(&mut self, lists: usize) {
        self.lists.reserve(lists);
        self.numbers.reserve(lists);
    }

    /// The number of a list.
    pub(super) fn number(&mut self, head: H, items: &[T]) -> u32 {
        let mut hash = self.numbers.hasher().hash_one((&head, items));
        while let Some(number) = self.numbers.get(&hash) {
            let (own, own_items) = self.get(*number);
            if *own == head && own_items == items {
                return *number;
            }
            hash = hash.wrapping_add(1);
        }
        let number = self.lists.len() as u32;
        let start = self.items.len();
        self.items.extend_from_slice(items);
        self.lists.push(Listed {
            head,
            place: start..self.items.len(),
        });
        self.numbers.insert(hash, number);
        number
    }

    fn get(&self, number: u32) -> (&H, &[T]) {
        let list = &self.lists[number as usize];
        (&list.head, &self.items[list.place.clone()])
    }

    pub(super) fn len(&self) -> usize {
        self.lists.len()
    }

    /// In order of their numbers.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (&H, &[T])> + ExactSizeIterator {
        self.lists
            .iter()
            .map(|list| (&list.head, &self.items[list.place.clone()]))
    }

    /// The items of all lists.
    pub(super) fn items(&self) -> &[T] {
        &self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lists_have_one_number() {
        let mut lists = Interned::<u8, bool>::default();
        assert_eq!(lists.number(true, b"ab"), 0);
        assert_eq!(lists.number(true, b""), 1);
        assert_eq!(lists.number(false, b"ab"), 2);
        assert_eq!(lists.number(true, b"ab"), 0);
        assert_eq!(lists.number(true, b""), 1);
        let all: Vec<_> = lists.iter().collect();
        assert_eq!(all, [(&true, &b"ab"[..]), (&true, b""), (&false, b"ab")]);
        assert_eq!(lists.items(), b"abab");
    }
}
