//! Memory of a run: the arena that buffers lie in, and scratch memory of threads.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use memmap2::MmapMut;

use crate::error::CpuError;

/// Alignment of every buffer.
pub(crate) const ALIGNMENT: usize = 64;
/// From this size on memory is mapped in pages as large as the system has.
const MAPPED_BYTES: usize = 1 << 20;

/// A block of memory, zeroed when it is made.
#[derive(Debug)]
pub(crate) struct Block {
    data: NonNull<u8>,
    bytes: usize,
    memory: Memory,
}

/// What a block lies in.
#[derive(Debug)]
enum Memory {
    Heap(Layout),
    /// Pages of its own, as large as the system has.
    Mapped(#[expect(dead_code, reason = "it is held for its pages, which `data` points to")] MmapMut),
}

// SAFETY: a block is plain memory that its owner has alone.
unsafe impl Send for Block {}
// SAFETY: as above; nothing is reached through a shared block but its address.
unsafe impl Sync for Block {}

impl Block {
    /// Memory of so many bytes.
    pub(crate) fn new(bytes: usize) -> Result<Self, CpuError> {
        let refused = || CpuError::memory(bytes as u64);
        let bytes = bytes.max(1);
        if bytes >= MAPPED_BYTES {
            let mut map = MmapMut::map_anon(bytes).map_err(|_| refused())?;
            // A system without large pages serves with others.
            #[cfg(target_os = "linux")]
            let _ = map.advise(memmap2::Advice::HugePage);
            let data = NonNull::new(map.as_mut_ptr()).ok_or_else(refused)?;
            return Ok(Self {
                data,
                bytes,
                memory: Memory::Mapped(map),
            });
        }
        let layout = Layout::from_size_align(bytes, ALIGNMENT).map_err(|_| refused())?;
        // SAFETY: the layout has a size.
        let data = unsafe { alloc_zeroed(layout) };
        let data = NonNull::new(data).ok_or_else(refused)?;
        Ok(Self {
            data,
            bytes,
            memory: Memory::Heap(layout),
        })
    }

    /// Its first byte.
    pub(crate) const fn data(&self) -> *mut u8 {
        self.data.as_ptr()
    }

    /// How many bytes it has.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Memory::Heap(layout) = self.memory {
            // SAFETY: it was allocated with this layout.
            unsafe { dealloc(self.data.as_ptr(), layout) }
        }
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
