//! Memory of a run: the arena that buffers lie in, and scratch memory of threads.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use crate::error::CpuError;

/// Alignment of every buffer.
pub(crate) const ALIGNMENT: usize = 64;
/// From this size on memory is aligned to huge pages, which the system then may use.
const HUGE_PAGE: usize = 2 << 20;

/// A block of memory, zeroed when it is made.
#[derive(Debug)]
pub(crate) struct Block {
    data: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a block is plain memory that its owner has alone.
unsafe impl Send for Block {}
// SAFETY: as above; nothing is reached through a shared block but its address.
unsafe impl Sync for Block {}

impl Block {
    /// Memory of so many bytes.
    pub(crate) fn new(bytes: usize) -> Result<Self, CpuError> {
        let alignment = if bytes >= HUGE_PAGE { HUGE_PAGE } else { ALIGNMENT };
        let refused = || CpuError::memory(bytes as u64);
        let layout = Layout::from_size_align(bytes.max(1), alignment).map_err(|_| refused())?;
        // SAFETY: the layout has a size.
        let data = unsafe { alloc_zeroed(layout) };
        let data = NonNull::new(data).ok_or_else(refused)?;
        Ok(Self { data, layout })
    }

    /// Its first byte.
    pub(crate) const fn data(&self) -> *mut u8 {
        self.data.as_ptr()
    }

    /// How many bytes it has.
    pub(crate) const fn bytes(&self) -> usize {
        self.layout.size()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.data.as_ptr(), self.layout) }
    }
}

/// Scratch memory: a part for each thread, and one that threads share.
#[derive(Debug)]
pub(crate) struct Scratch {
    block: Block,
    per_thread: usize,
    threads: usize,
}

impl Scratch {
    pub(crate) fn new(threads: usize, per_thread: usize, shared: usize) -> Result<Self, CpuError> {
        let per_thread = per_thread.next_multiple_of(ALIGNMENT);
        let block = Block::new(threads * per_thread + shared)?;
        Ok(Self {
            block,
            per_thread,
            threads,
        })
    }

    /// The part of a thread.
    pub(crate) fn of(&self, thread: usize) -> *mut u8 {
        self.block
            .data()
            .wrapping_add(thread.min(self.threads.saturating_sub(1)) * self.per_thread)
    }

    /// The shared part.
    pub(crate) fn shared(&self) -> *mut u8 {
        self.block.data().wrapping_add(self.threads * self.per_thread)
    }
}
