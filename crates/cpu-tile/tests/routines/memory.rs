//! Memory that shows who touches what is beside it.

use memmap2::{MmapMut, MmapOptions};

/// Bytes of a page, or a multiple of it.
const PAGE: usize = 4096;

/// What bytes are that nobody has written.
const UNTOUCHED: u8 = 0xA5;

/// Some bytes that end where a page does. The next page is mapped beyond the end of a file, so that an access is a fault; the
/// bytes before and between what is written are watched.
#[derive(Debug)]
pub(crate) struct Memory {
    map: MmapMut,
    bytes: usize,
    from: usize,
}

impl Memory {
    /// So many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        let size = (bytes + 64).next_multiple_of(PAGE);
        let file = tempfile::tempfile().unwrap();
        file.set_len(size as u64).unwrap();
        // SAFETY: nobody else has the file.
        let mut map = unsafe { MmapOptions::new().len(size + PAGE).map_mut(&file).unwrap() };
        map[..size].fill(UNTOUCHED);
        Self {
            map,
            bytes,
            from: size - bytes,
        }
    }

    /// The first byte.
    pub(crate) fn data(&mut self) -> *mut u8 {
        self.map[self.from..].as_mut_ptr()
    }

    /// Writes bytes at an offset.
    pub(crate) fn write(&mut self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.bytes);
        self.map[self.from + offset..][..bytes.len()].copy_from_slice(bytes);
    }

    /// Reads bytes at an offset, and makes them untouched.
    pub(crate) fn take(&mut self, offset: usize, bytes: usize) -> Vec<u8> {
        assert!(offset + bytes <= self.bytes);
        let place = &mut self.map[self.from + offset..][..bytes];
        let taken = place.to_vec();
        place.fill(UNTOUCHED);
        taken
    }

    /// All bytes must be untouched.
    pub(crate) fn check(&self) {
        let size = self.from + self.bytes;
        let touched = self.map[..size].iter().position(|byte| *byte != UNTOUCHED);
        assert_eq!(
            touched, None,
            "a byte beside the rows was written; the rows begin at {}",
            self.from
        );
    }
}
