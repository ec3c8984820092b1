//! Shared, immutable bytes that may be a view into something larger, such as a mapped file.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A cheap-to-clone view of bytes. The owner lives as long as any view of it.
#[derive(Clone)]
pub struct Blob {
    owner: Arc<dyn AsRef<[u8]> + Send + Sync>,
    range: Range<usize>,
}

impl Blob {
    /// Takes over bytes without copying them.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self::of_owner(Arc::new(bytes))
    }

    /// Views all of an owner's bytes.
    #[must_use]
    pub fn of_owner(owner: Arc<dyn AsRef<[u8]> + Send + Sync>) -> Self {
        let range = 0..(*owner).as_ref().len();
        Self { owner, range }
    }

    /// A view of a part, or `None` if `range` is not within this view.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Option<Self> {
        if range.start > range.end || range.end > self.len() {
            return None;
        }
        let start = self.range.start;
        Some(Self {
            owner: Arc::clone(&self.owner),
            range: start + range.start..start + range.end,
        })
    }
}

impl Deref for Blob {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &(*self.owner).as_ref()[self.range.clone()]
    }
}

impl PartialEq for Blob {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Blob {}

impl std::hash::Hash for Blob {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blob({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views() {
        let blob = Blob::new(vec![1, 2, 3, 4]);
        let tail = blob.slice(2..4).unwrap();
        assert_eq!(*tail, [3, 4]);
        assert_eq!(*tail.slice(1..2).unwrap(), [4]);
        assert_eq!(tail.slice(1..3), None);
    }
}
