//! Compression of sections, with bounded decompression.

use std::io::{self, Read};

use artifact_core::digest::{Digest, Hasher};

use crate::limits;
use crate::table::Codec;

/// Fixed, so that equal input gives equal bytes. Above it, program text shrinks little and takes several times longer.
const LEVEL: i32 = 9;

/// Shorter content is stored as it is: a small example should be readable with a hex dump.
const COMPRESS_FROM_BYTES: usize = 1024;

/// Raw bytes read at a time, whatever length is declared.
const STEP_BYTES: u64 = 1 << 20;

/// Compresses where it saves at least an eighth.
pub(crate) fn encode(raw: &[u8]) -> io::Result<(Codec, Option<Vec<u8>>)> {
    if raw.len() < COMPRESS_FROM_BYTES {
        return Ok((Codec::None, None));
    }
    let stored = zstd::bulk::compress(raw, LEVEL)?;
    if stored.len() <= raw.len() - raw.len() / 8 {
        Ok((Codec::Zstd, Some(stored)))
    } else {
        Ok((Codec::None, None))
    }
}

/// Decompresses one zstd frame of exactly `raw_length` bytes. The caller has checked that length against a limit;
/// memory grows with what really comes out, never with what is declared.
pub(crate) fn decode_zstd(stored: &[u8], raw_length: u64) -> Result<Vec<u8>, CodecError> {
    let mut raw = Vec::new();
    decode_parts(stored, raw_length, |part| {
        raw.try_reserve(part.len())
            .map_err(|_| CodecError::Memory(raw_length))?;
        raw.extend_from_slice(part);
        Ok(())
    })?;
    Ok(raw)
}

/// The digest of what [`decode_zstd`] gives, which is never in memory as a whole.
pub(crate) fn digest_zstd(stored: &[u8], raw_length: u64) -> Result<Digest, CodecError> {
    let mut hasher = Hasher::content();
    decode_parts(stored, raw_length, |part| {
        hasher.update(part);
        Ok(())
    })?;
    Ok(hasher.finish())
}

/// Decompresses, and hands out what comes in order.
fn decode_parts(
    stored: &[u8],
    raw_length: u64,
    mut take: impl FnMut(&[u8]) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(stored)
        .map_err(CodecError::Zstd)?
        .single_frame();
    decoder
        .window_log_max(limits::ZSTD_WINDOW_LOG_MAX)
        .map_err(CodecError::Zstd)?;
    // One byte over the declared length is enough to show that it is a lie.
    let mut part = vec![0; raw_length.saturating_add(1).min(STEP_BYTES) as usize];
    let mut length = 0;
    loop {
        let read = decoder.read(&mut part).map_err(CodecError::Zstd)?;
        length += read as u64;
        if length > raw_length {
            return Err(CodecError::Length(raw_length));
        }
        if read == 0 {
            break;
        }
        take(&part[..read])?;
    }
    let rest = decoder.finish();
    if length != raw_length || !rest.is_empty() {
        return Err(CodecError::Length(raw_length));
    }
    Ok(())
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CodecError {
    #[error("zstd refuses it")]
    Zstd(#[source] io::Error),
    #[error("there is no memory for its {0} bytes")]
    Memory(u64),
    #[error("its zstd frame does not hold exactly the {0} bytes that the section table declares")]
    Length(u64),
}
