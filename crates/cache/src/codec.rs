//! Compression of payloads, with bounded decompression.

use crate::refusal::Refusal;

/// How the payload is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// As it is.
    Raw,
    /// A frame of zstd.
    Zstd,
}

impl Codec {
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Raw => 0,
            Self::Zstd => 1,
        }
    }

    pub(crate) const fn of_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Raw),
            1 => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// The compressed bytes; nothing where they stay as they are.
pub(crate) fn compress(raw: &[u8], codec: Codec) -> std::io::Result<Option<Vec<u8>>> {
    const LEVEL: i32 = 3;
    match codec {
        Codec::Raw => Ok(None),
        Codec::Zstd => zstd::bulk::compress(raw, LEVEL).map(Some),
    }
}

/// Raw bytes read at a time, whatever size is declared.
const STEP_BYTES: u64 = 1 << 20;
/// Largest window that a frame may ask memory for.
const WINDOW_LOG_MAX: u32 = 27;

/// Decompresses one frame of so many bytes. Memory grows with what comes out, never with what is declared.
pub(crate) fn decompress(stored: &[u8], raw_size: u64) -> Result<Vec<u8>, Refusal> {
    let damaged = || Refusal::Damaged("compression");
    let decoder = zstd::stream::read::Decoder::with_buffer(stored).map_err(|_| damaged())?;
    let mut decoder = decoder.single_frame();
    decoder.window_log_max(WINDOW_LOG_MAX).map_err(|_| damaged())?;
    let mut raw = Vec::new();
    let mut part = vec![0; raw_size.saturating_add(1).min(STEP_BYTES) as usize];
    loop {
        let read = std::io::Read::read(&mut decoder, &mut part).map_err(|_| damaged())?;
        if read == 0 {
            break;
        }
        if (raw.len() + read) as u64 > raw_size {
            return Err(damaged());
        }
        raw.try_reserve(read).map_err(|_| damaged())?;
        raw.extend_from_slice(&part[..read]);
    }
    match decoder.finish().is_empty() {
        true => Ok(raw),
        false => Err(damaged()),
    }
}
