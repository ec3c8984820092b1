//! Whether a file is a whole shared object for this machine, before the system's loader is asked.
//!
//! The loader maps what the program headers name without a look at the file's size: a file that was cut off is a bus error later.
//! Layout: System V ABI, "Object Files" (`Elf64_Ehdr`, `Elf64_Phdr`).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// Bytes of the file header.
const HEADER: usize = 64;
/// Bytes of a program header.
const PROGRAM_HEADER: usize = 56;
/// A part of the file that is mapped.
const LOAD: u32 = 1;
/// A shared object.
const SHARED: u16 = 3;
/// `e_machine` of this machine.
const MACHINE: u16 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };

/// The reason why a file is none, as a lowercase fragment.
pub(crate) fn check(file: &File) -> io::Result<Result<(), String>> {
    let length = file.metadata()?.len();
    let mut header = [0; HEADER];
    if length < HEADER as u64 {
        return Ok(Err(format!("it has {length} bytes, which no shared object does")));
    }
    file.read_exact_at(&mut header, 0)?;
    if header[..4] != *b"\x7fELF" {
        return Ok(Err("it is no shared object (ELF)".to_owned()));
    }
    if header[4..6] != [2, 1] {
        return Ok(Err(
            "it is a shared object for machines of other words (not 64-bit, little-endian)".to_owned(),
        ));
    }
    if number::<2>(&header, 16) != u64::from(SHARED) {
        return Ok(Err("it is an ELF file, but no shared object".to_owned()));
    }
    let machine = number::<2>(&header, 18);
    if machine != u64::from(MACHINE) {
        return Ok(Err(format!(
            "it is for another architecture (ELF machine {machine}, this is {MACHINE})"
        )));
    }
    check_parts(file, length, &header)
}

/// Refuses parts that end beyond the file.
fn check_parts(file: &File, length: u64, header: &[u8; HEADER]) -> io::Result<Result<(), String>> {
    let (start, size, count) = (
        number::<8>(header, 32),
        number::<2>(header, 54),
        number::<2>(header, 56),
    );
    let cut = |end: Option<u64>| end.is_none_or(|end| end > length);
    if size != PROGRAM_HEADER as u64 || cut(start.checked_add(size * count)) {
        return Ok(Err("it is damaged: its program headers are not there".to_owned()));
    }
    for index in 0..count {
        let mut part = [0; PROGRAM_HEADER];
        file.read_exact_at(&mut part, start + index * size)?;
        let (offset, bytes) = (number::<8>(&part, 8), number::<8>(&part, 32));
        if number::<4>(&part, 0) == u64::from(LOAD) && cut(offset.checked_add(bytes)) {
            return Ok(Err(format!(
                "it was cut off: it has {length} bytes and says that there are more"
            )));
        }
    }
    Ok(Ok(()))
}

/// The little-endian number of `N` bytes at a place, which is there.
fn number<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + N]
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}
