//! Entry points for fuzz targets and tests of damaged files. Not for readers of artifacts.
//!
//! Every byte of an artifact is behind a digest, so a mutated file seldom gets past the door. [`reseal`] computes the
//! digests anew, as a malicious writer would, and lets the mutation reach the checks behind.

use artifact_core::digest::Digest;

use crate::container::{Container, ReadOptions};
use crate::error::Error;
use crate::fields::Fields;
use crate::header::HEADER_BYTES;
use crate::manifest::Manifest;
use crate::seal::SealBlock;
use crate::table::{ROW_BYTES, SectionKind};
use crate::trust::{Timestamp, TrustPolicy};

/// Opens `bytes`, reads everything in every way, and decodes them as a manifest too. Must return, whatever they are.
///
/// # Errors
/// The first thing that is wrong with `bytes` as an artifact.
pub fn read_everything(bytes: &[u8]) -> Result<(), Error> {
    // Alone, because a manifest inside a file is behind two digests. Its result is of no interest.
    drop(Manifest::decode(bytes));
    let container = Container::from_bytes_with(bytes.to_vec(), &ReadOptions::describe_only())?;
    for (id, section) in container.sections().iter() {
        if section.kind == SectionKind::CONSTANT {
            container.constant_bytes(id)?;
            // The length of a section that was just read in place is that of memory.
            container.read_constant(id, &mut vec![0; section.raw_length as usize])?;
        } else {
            // An unknown codec cannot be read, and need not be.
            drop(container.section_bytes(id));
        }
    }
    container.verify_all()?;
    let assessment = TrustPolicy::nobody().assess(&container, Timestamp::from_unix_seconds(0))?;
    drop(assessment.to_string());
    Ok(())
}

/// Takes what stands before the first zero byte as a trust file, and the rest as seals: a block without its first 16 bytes and
/// its checksum. Whatever a policy says of them, it must return.
pub fn judge_seals(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (text, records) = bytes.split_at(end);
    let policy = std::str::from_utf8(text)
        .ok()
        .and_then(|text| TrustPolicy::parse(text).ok())
        .unwrap_or_else(TrustPolicy::nobody);
    let [_, count, records @ ..] = records else {
        return;
    };
    let block = SealBlock::of_records((*count).into(), records);
    drop(policy.judge(&block, Timestamp::from_unix_seconds(0)));
}

/// Recomputes, where the places that `bytes` name exist, the digests of the sections (the raw ones too of sections that
/// are not compressed), of the section table, of the header, and of the seal block. Chunk digests and signatures stay as they
/// are.
pub fn reseal(bytes: &mut [u8]) {
    if let Some((table, rows)) = table_of(bytes) {
        for row in 0..rows {
            reseal_row(bytes, table.start + row * ROW_BYTES as usize);
        }
        reseal_block(bytes, table.end);
        let digest = Digest::of(&bytes[table]);
        bytes[48..80].copy_from_slice(digest.as_bytes());
    }
    if let Some((checked, rest)) = bytes.split_at_mut_checked(96)
        && let Some(checksum) = rest.get_mut(..Digest::BYTES)
    {
        checksum.copy_from_slice(Digest::of(checked).as_bytes());
    }
}

/// What follows the table, where it is long enough to be a seal block.
fn reseal_block(bytes: &mut [u8], start: usize) {
    let end = bytes.len().saturating_sub(Digest::BYTES);
    if start < end
        && let Some((checked, checksum)) = bytes.split_at_mut_checked(end)
    {
        checksum.copy_from_slice(Digest::of(&checked[start..]).as_bytes());
    }
}

/// Where the header places the table, and how many of its rows lie within.
fn table_of(bytes: &[u8]) -> Option<(std::ops::Range<usize>, usize)> {
    bytes.get(..HEADER_BYTES as usize)?;
    let mut fields = Fields::new(bytes.get(24..)?);
    let (offset, length, rows) = (fields.u64().ok()?, fields.u64().ok()?, fields.u32().ok()?);
    let start = usize::try_from(offset).ok()?;
    let end = start.checked_add(usize::try_from(length).ok()?)?;
    let table = bytes.get(start..end)?;
    Some((start..end, (rows as usize).min(table.len() / ROW_BYTES as usize)))
}

fn reseal_row(bytes: &mut [u8], row: usize) {
    let fields = Fields::new(&bytes[row + 8..row + 24]);
    let place = |mut fields: Fields<'_>| {
        let start = usize::try_from(fields.u64().ok()?).ok()?;
        Some(start..start.checked_add(usize::try_from(fields.u64().ok()?).ok()?)?)
    };
    let Some(digest) = place(fields).and_then(|place| bytes.get(place)).map(Digest::of) else {
        return;
    };
    bytes[row + 32..row + 64].copy_from_slice(digest.as_bytes());
    if bytes[row + 4] == 0 {
        bytes[row + 64..row + 96].copy_from_slice(digest.as_bytes());
    }
}
