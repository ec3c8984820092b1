//! The header of an entry.

use std::time::Duration;

use artifact_core::digest::{Digest, Domain, Hasher};
use artifact_core::limit::Limit;

use crate::codec::Codec;
use crate::entry::{FILES, PAYLOAD_BYTES, Signature, TEXT_BYTES};
use crate::record::{Key, KeyRecord, RECORD_BYTES};
use crate::refusal::Refusal;

const HEADER: Domain = Domain::new("artifact cache entry header v1");

/// The header, as it stands in bytes.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) key: Key,
    pub(crate) stored_digest: Digest,
    pub(crate) raw_digest: Digest,
    pub(crate) stored_size: u64,
    pub(crate) raw_size: u64,
    pub(crate) codec: Codec,
    pub(crate) namespace: String,
    pub(crate) producer: String,
    pub(crate) compile_time: Duration,
    pub(crate) record: KeyRecord,
    pub(crate) files: Vec<(String, u64)>,
    pub(crate) signature: Option<Signature>,
}

pub(crate) fn digest_of(header: &[u8]) -> Digest {
    let mut hasher = Hasher::in_domain(HEADER);
    hasher.update(header);
    hasher.finish()
}

impl Header {
    pub(crate) fn encode(&self, signature: Option<&Signature>) -> Vec<u8> {
        let mut bytes = Vec::new();
        for digest in [self.key.digest(), &self.stored_digest, &self.raw_digest] {
            bytes.extend_from_slice(digest.as_bytes());
        }
        bytes.extend_from_slice(&self.stored_size.to_le_bytes());
        bytes.extend_from_slice(&self.raw_size.to_le_bytes());
        bytes.push(self.codec.number());
        let sized = |part: &[u8], bytes: &mut Vec<u8>| {
            bytes.extend_from_slice(&(part.len() as u32).to_le_bytes());
            bytes.extend_from_slice(part);
        };
        sized(self.namespace.as_bytes(), &mut bytes);
        sized(self.producer.as_bytes(), &mut bytes);
        let time = u64::try_from(self.compile_time.as_nanos()).unwrap_or(u64::MAX);
        bytes.extend_from_slice(&time.to_le_bytes());
        sized(&self.record.encode(), &mut bytes);
        bytes.extend_from_slice(&(self.files.len() as u32).to_le_bytes());
        for (name, size) in &self.files {
            sized(name.as_bytes(), &mut bytes);
            bytes.extend_from_slice(&size.to_le_bytes());
        }
        bytes.push(u8::from(signature.is_some()));
        if let Some(signature) = signature {
            bytes.extend_from_slice(signature.key_id.as_bytes());
            bytes.extend_from_slice(&signature.bytes);
        }
        bytes
    }

    /// Of bytes that have the digest that was written with them; whoever wrote them may have written nonsense.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Refusal> {
        let mut reader = Reader(bytes);
        let key = Key::from(reader.digest()?);
        let (stored_digest, raw_digest) = (reader.digest()?, reader.digest()?);
        let (stored_size, raw_size) = (reader.u64()?, reader.u64()?);
        PAYLOAD_BYTES.check(stored_size)?;
        PAYLOAD_BYTES.check(raw_size)?;
        let codec = Codec::of_number(reader.u8()?).ok_or(Refusal::Malformed("codec"))?;
        let (namespace, producer) = (reader.text()?, reader.text()?);
        let compile_time = Duration::from_nanos(reader.u64()?);
        let record =
            KeyRecord::decode(reader.sized(&RECORD_BYTES)?).map_err(|_| Refusal::Malformed("record"))?;
        if record.key() != key {
            return Err(Refusal::Malformed("key"));
        }
        let files = reader.files(raw_size)?;
        let signature = match reader.u8()? {
            0 => None,
            1 => Some(Signature {
                key_id: reader.digest()?,
                bytes: reader.array()?,
            }),
            _ => return Err(Refusal::Malformed("signature")),
        };
        match reader.0.is_empty() {
            true => Ok(Self {
                key,
                stored_digest,
                raw_digest,
                stored_size,
                raw_size,
                codec,
                namespace,
                producer,
                compile_time,
                record,
                files,
                signature,
            }),
            false => Err(Refusal::Malformed("header")),
        }
    }
}

struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, size: usize) -> Result<&'b [u8], Refusal> {
        let (taken, rest) = self
            .0
            .split_at_checked(size)
            .ok_or(Refusal::Malformed("header"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn digest(&mut self) -> Result<Digest, Refusal> {
        self.array().map(Digest::from_bytes)
    }

    fn u8(&mut self) -> Result<u8, Refusal> {
        self.array().map(|[byte]: [u8; 1]| byte)
    }

    fn u64(&mut self) -> Result<u64, Refusal> {
        self.array().map(u64::from_le_bytes)
    }

    fn sized(&mut self, limit: &Limit) -> Result<&'b [u8], Refusal> {
        let size = u32::from_le_bytes(self.array()?);
        limit.check(u64::from(size))?;
        self.take(size as usize)
    }

    fn text(&mut self) -> Result<String, Refusal> {
        let text = std::str::from_utf8(self.sized(&TEXT_BYTES)?);
        text.map(str::to_owned).map_err(|_| Refusal::Malformed("text"))
    }

    /// Names, of which none is there twice, and sizes that make up the payload.
    fn files(&mut self, raw_size: u64) -> Result<Vec<(String, u64)>, Refusal> {
        let count = u64::from(u32::from_le_bytes(self.array()?));
        FILES.check(count)?;
        let mut files: Vec<(String, u64)> = Vec::new();
        for _ in 0..count {
            let name = self.text()?;
            if name.is_empty() || files.iter().any(|(known, _)| *known == name) {
                return Err(Refusal::Malformed("list of files"));
            }
            files.push((name, self.u64()?));
        }
        let sizes = files
            .iter()
            .try_fold(0_u64, |sum, (_, size)| sum.checked_add(*size));
        match sizes == Some(raw_size) && !files.is_empty() {
            true => Ok(files),
            false => Err(Refusal::Malformed("list of files")),
        }
    }
}
