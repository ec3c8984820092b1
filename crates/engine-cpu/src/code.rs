//! Executable memory.

use memmap2::{Mmap, MmapMut};

/// Alignment of each function.
pub(crate) const ALIGNMENT: usize = 64;

/// Machine code that can be run: anonymous memory, readable and executable, never writable again.
#[derive(Debug)]
pub(crate) struct Code {
    memory: Mmap,
}

impl Code {
    /// Copies code to memory of its own and makes that executable. The code must have been checked before: whoever runs it
    /// trusts it with the process.
    pub(crate) fn load(bytes: &[u8]) -> std::io::Result<Self> {
        let mut memory = MmapMut::map_anon(bytes.len().max(1))?;
        memory[..bytes.len()].copy_from_slice(bytes);
        Ok(Self {
            memory: memory.make_exec()?,
        })
    }

    /// How many bytes of it there are.
    pub(crate) fn bytes(&self) -> usize {
        self.memory.len()
    }

    /// The address of the function at an offset; `None` where the code ends before.
    pub(crate) fn function(&self, offset: usize) -> Option<*const u8> {
        self.memory
            .get(offset..)
            .filter(|rest| !rest.is_empty())
            .map(<[u8]>::as_ptr)
    }
}
