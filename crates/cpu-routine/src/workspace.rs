//! Memory that routines need while they run.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use crate::error::RoutineError;
use crate::view::Target;

/// Alignment of a workspace in bytes: a cache line, and the widest vector.
pub const ALIGNMENT: usize = 64;

/// Memory of one call site, which grows to what its routine asks for and is kept for the next call: a routine that has run once
/// with sizes finds room for all that grows with them. The `gemm` crate packs into memory of its own.
#[derive(Debug, Default)]
pub struct Workspace {
    memory: Option<(NonNull<u8>, Layout)>,
    bytes_max: Option<usize>,
}

// SAFETY: the memory belongs to the workspace alone.
unsafe impl Send for Workspace {}
// SAFETY: a shared reference gives nothing but its length.
unsafe impl Sync for Workspace {}

impl Workspace {
    /// A workspace without memory.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            memory: None,
            bytes_max: None,
        }
    }

    /// Lets no routine have more bytes than that from now on; `None` for any number.
    pub const fn limit(&mut self, bytes_max: Option<usize>) {
        self.bytes_max = bytes_max;
    }

    /// Bytes that are held.
    #[must_use]
    pub fn capacity_bytes(&self) -> usize {
        self.memory.map_or(0, |(_, layout)| layout.size())
    }

    /// At least so many bytes, aligned to [`ALIGNMENT`]: initialised, but with anything.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<Target, RoutineError> {
        if self.bytes_max.is_some_and(|most| bytes > most) {
            return Err(RoutineError::Memory(bytes));
        }
        if bytes > self.capacity_bytes() || self.memory.is_none() {
            self.release();
            let rounded = bytes.max(1).checked_next_multiple_of(ALIGNMENT);
            let layout = rounded.and_then(|rounded| Layout::from_size_align(rounded, ALIGNMENT).ok());
            let layout = layout.ok_or(RoutineError::Memory(bytes))?;
            // SAFETY: the layout is not empty.
            let memory = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(RoutineError::Memory(bytes))?;
            self.memory = Some((memory, layout));
        }
        let base = self
            .memory
            .map_or(std::ptr::null_mut(), |(base, _)| base.as_ptr());
        Ok(Target::new(base))
    }

    fn release(&mut self) {
        if let Some((memory, layout)) = self.memory.take() {
            // SAFETY: `reserve` allocated it with this layout.
            unsafe { dealloc(memory.as_ptr(), layout) };
        }
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.release();
    }
}

/// Lays parts one after the other into a workspace, each aligned.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    bytes: Option<usize>,
    started: bool,
}

impl Parts {
    /// The offset of a part of `count` elements of `width` bytes. What does not fit shows in [`Self::bytes`].
    pub(crate) fn add(&mut self, count: usize, width: usize) -> usize {
        let start = if self.started { self.bytes } else { Some(0) };
        self.started = true;
        self.bytes = start.and_then(|start| {
            let part = count.checked_mul(width)?.checked_next_multiple_of(ALIGNMENT)?;
            start.checked_add(part)
        });
        start.unwrap_or(0)
    }

    /// Bytes of all parts.
    pub(crate) fn bytes(&self) -> Result<usize, RoutineError> {
        if self.started {
            self.bytes.ok_or(RoutineError::Memory(usize::MAX))
        } else {
            Ok(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_and_is_kept() {
        let mut workspace = Workspace::new();
        assert_eq!(workspace.capacity_bytes(), 0);
        let first = workspace.reserve(100).unwrap().at(0);
        assert!(first.addr().is_multiple_of(ALIGNMENT));
        assert_eq!(workspace.capacity_bytes(), 128);
        assert_eq!(workspace.reserve(10).unwrap().at(0), first);
        assert!(workspace.reserve(usize::MAX).is_err());
        workspace.limit(Some(99));
        assert!(workspace.reserve(100).is_err() && workspace.reserve(99).is_ok());
        let mut parts = Parts::default();
        assert_eq!([parts.add(3, 4), parts.add(1, 1), parts.add(0, 8)], [0, 64, 128]);
        assert_eq!(parts.bytes(), Ok(128));
        parts.add(usize::MAX, 2);
        assert!(parts.bytes().is_err());
    }
}
