//! Memory of a run: the arena that buffers lie in, and scratch memory of threads.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use memmap2::MmapMut;

use crate::error::CpuError;
use crate::guard::Guarded;

/// Alignment of every buffer.
pub(crate) const ALIGNMENT: usize = 64;
/// From this size on memory is mapped in pages as large as the system has.
const MAPPED_BYTES: usize = 1 << 20;

/// What surrounds memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fencing {
    /// Whatever is there.
    None,
    /// Pages that nobody may touch.
    Pages,
}

/// A block of memory, zeroed when it is made, but for one between pages.
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
    Guarded(Guarded),
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

    /// Memory of so many bytes with something around it.
    pub(crate) fn fenced(bytes: usize, fencing: Fencing) -> Result<Self, CpuError> {
        if fencing == Fencing::None {
            return Self::new(bytes);
        }
        let refused = || CpuError::memory(bytes as u64);
        let mut guarded = Guarded::new(bytes).map_err(|_| refused())?;
        let data = NonNull::new(guarded.data()).ok_or_else(refused)?;
        Ok(Self {
            data,
            bytes,
            memory: Memory::Guarded(guarded),
        })
    }

    /// Memory that holds these bytes and cannot be written, between pages.
    pub(crate) fn sealed(bytes: &[u8]) -> Result<Self, CpuError> {
        let mut block = Self::fenced(bytes.len(), Fencing::Pages)?;
        // SAFETY: the block is as large, and new.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), block.data(), bytes.len()) };
        if let Memory::Guarded(guarded) = &mut block.memory {
            guarded.seal()?;
        }
        Ok(block)
    }

    /// Forgets what was written to it, where it is between pages.
    pub(crate) fn forget(&mut self) {
        if let Memory::Guarded(guarded) = &mut self.memory {
            guarded.forget();
        }
    }

    /// Refuses memory between pages around which somebody wrote.
    pub(crate) fn check(&self) -> Result<(), CpuError> {
        match &self.memory {
            Memory::Guarded(guarded) => guarded.check(),
            Memory::Heap(_) | Memory::Mapped(_) => Ok(()),
        }
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
    /// All in one, or each part between pages.
    blocks: Vec<Block>,
    per_thread: usize,
    threads: usize,
}

impl Scratch {
    pub(crate) fn new(
        threads: usize,
        per_thread: usize,
        shared: usize,
        fencing: Fencing,
    ) -> Result<Self, CpuError> {
        let rounded = per_thread.next_multiple_of(ALIGNMENT);
        let blocks = match fencing {
            Fencing::None => vec![Block::new(threads * rounded + shared)?],
            Fencing::Pages => {
                let parts = std::iter::repeat_n(per_thread, threads).chain([shared]);
                parts
                    .map(|bytes| Block::fenced(bytes, fencing))
                    .collect::<Result<_, _>>()?
            }
        };
        Ok(Self {
            blocks,
            per_thread: rounded,
            threads,
        })
    }

    /// The part of a thread.
    pub(crate) fn of(&self, thread: usize) -> *mut u8 {
        self.part(thread.min(self.threads.saturating_sub(1)))
    }

    /// The shared part.
    pub(crate) fn shared(&self) -> *mut u8 {
        self.part(self.threads)
    }

    fn part(&self, index: usize) -> *mut u8 {
        match self.blocks.as_slice() {
            [all] => all.data().wrapping_add(index * self.per_thread),
            parts => parts[index].data(),
        }
    }

    /// The blocks that it lies in.
    pub(crate) fn blocks_mut(&mut self) -> &mut [Block] {
        &mut self.blocks
    }
}
