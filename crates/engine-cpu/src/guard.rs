//! Memory between pages that nobody may touch, for tests: what reads or writes beyond its end or before its beginning stops the
//! process at that instruction.
//!
//! Memory ends at the page behind it but for alignment. What is left free there and at its beginning is filled with a pattern, which
//! shows whether it was written to.

use std::io;

use memmap2::MmapMut;

use crate::error::CpuError;
use crate::memory::ALIGNMENT;

/// What free bytes hold.
const FREE: u8 = 0xA5;
/// What memory holds that nobody has written yet: a NaN as a float, and no boolean.
const UNWRITTEN: u8 = 0xFF;

/// Memory with a page on either side that can be neither read nor written.
#[derive(Debug)]
pub(crate) struct Guarded {
    map: MmapMut,
    page: usize,
    start: usize,
    bytes: usize,
}

impl Guarded {
    pub(crate) fn new(bytes: usize) -> io::Result<Self> {
        let page = page_bytes()?;
        let too_large = || io::Error::from(io::ErrorKind::OutOfMemory);
        let room = bytes
            .max(1)
            .checked_next_multiple_of(ALIGNMENT)
            .ok_or_else(too_large)?;
        let pages = room.checked_next_multiple_of(page).ok_or_else(too_large)?;
        let all = pages.checked_add(2 * page).ok_or_else(too_large)?;
        let mut map = MmapMut::map_anon(all)?;
        map[page..page + pages].fill(FREE);
        let start = page + pages - room;
        map[start..start + bytes].fill(UNWRITTEN);
        protect(&mut map[..page], Access::None)?;
        protect(&mut map[page + pages..], Access::None)?;
        Ok(Self {
            map,
            page,
            start,
            bytes,
        })
    }

    /// Its first byte.
    pub(crate) fn data(&mut self) -> *mut u8 {
        self.map.as_mut_ptr().wrapping_add(self.start)
    }

    /// Forgets what was written to it.
    pub(crate) fn forget(&mut self) {
        self.map[self.start..self.start + self.bytes].fill(UNWRITTEN);
    }

    /// Makes it readable only.
    pub(crate) fn seal(&mut self) -> io::Result<()> {
        let inside = self.page..self.map.len() - self.page;
        protect(&mut self.map[inside], Access::Read)
    }

    /// Refuses memory around which somebody wrote.
    pub(crate) fn check(&self) -> Result<(), CpuError> {
        let before = &self.map[self.page..self.start];
        let behind = &self.map[self.start + self.bytes..self.map.len() - self.page];
        match before.iter().chain(behind).all(|byte| *byte == FREE) {
            true => Ok(()),
            false => Err(CpuError::bounds("something was written beside a buffer")),
        }
    }
}

/// What may be done with pages.
#[derive(Clone, Copy)]
enum Access {
    None,
    Read,
}

#[cfg(unix)]
fn page_bytes() -> io::Result<usize> {
    // SAFETY: it asks for a number.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).map_err(|_| io::Error::last_os_error())
}

/// Restricts whole pages.
#[cfg(unix)]
fn protect(pages: &mut [u8], access: Access) -> io::Result<()> {
    let allowed = match access {
        Access::None => libc::PROT_NONE,
        Access::Read => libc::PROT_READ,
    };
    // SAFETY: the pages are whole ones of a mapping of our own, and nobody refers to what is in them.
    match unsafe { libc::mprotect(pages.as_mut_ptr().cast(), pages.len(), allowed) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(unix))]
fn page_bytes() -> io::Result<usize> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

#[cfg(not(unix))]
fn protect(_pages: &mut [u8], _access: Access) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_beside_it_shows() {
        for bytes in [0, 1, 64, 100, 4096, 5000] {
            let mut guarded = Guarded::new(bytes).unwrap();
            assert!((guarded.data() as usize).is_multiple_of(ALIGNMENT), "{bytes}");
            let end = guarded.start + bytes;
            guarded.map[guarded.start..end].fill(7);
            assert!(guarded.check().is_ok(), "{bytes}");
            // Behind it, where alignment leaves room, and before it, where pages do.
            if bytes % ALIGNMENT != 0 {
                guarded.map[end] = 0;
                assert!(guarded.check().is_err(), "{bytes}");
                guarded.map[end] = FREE;
            }
            if guarded.start > guarded.page {
                guarded.map[guarded.start - 1] = 0;
                assert!(guarded.check().is_err(), "{bytes}");
            }
        }
    }

    /// Whether a byte can be read: the system is asked, which answers where the process would be stopped.
    #[cfg(unix)]
    fn is_readable(address: *const u8) -> bool {
        let mut ends = [0; 2];
        // SAFETY: two ends are written, one byte goes in where there is one, and both ends are closed.
        unsafe {
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            let written = libc::write(ends[1], address.cast(), 1);
            assert_eq!(ends.map(|end| libc::close(end)), [0, 0]);
            written == 1
        }
    }

    #[cfg(unix)]
    #[test]
    fn nothing_beside_it_can_be_read() {
        let bytes = 4096 + 64;
        let mut guarded = Guarded::new(bytes).unwrap();
        let data = guarded.data();
        assert!(is_readable(data) && is_readable(data.wrapping_add(bytes - 1)));
        assert!(!is_readable(data.wrapping_add(bytes)));
        let before = guarded.map.as_ptr().wrapping_add(guarded.page - 1);
        assert!(!is_readable(before) && is_readable(before.wrapping_add(1)));
    }
}
