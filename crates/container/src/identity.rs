//! The digests that name a file, its content, and its sections.

use artifact_core::canonical::Encoder;
use artifact_core::digest::{Domain, Hasher};
use artifact_core::digest_newtype;

use crate::header::Header;
use crate::table::{SectionKind, SectionTable};

digest_newtype! {
    /// BLAKE3 of a section as it lies in the file.
    pub struct StoredDigest;
}

digest_newtype! {
    /// BLAKE3 of a section after decoding.
    pub struct RawDigest;
}

digest_newtype! {
    /// Names a file byte for byte: header and section table, in which every other byte is covered by a digest.
    ///
    /// Domain `artifact file v1`; the header's bytes, then the table's.
    pub struct FileDigest;
}

digest_newtype! {
    /// Names what a file contains, whatever its codecs, its layout and the versions in its header: recompression does not change
    /// it, another manifest does.
    ///
    /// Domain `artifact content v1`; canonical encoding of the number of sections and, in the order of their names, each
    /// section's kind (`u32`), required flag, name, raw length and raw digest. Chunk digests are left out: they follow
    /// from the constants.
    pub struct ContentDigest;
}

const FILE: Domain = Domain::new("artifact file v1");
const CONTENT: Domain = Domain::new("artifact content v1");

pub(crate) fn file_digest(header: &Header, table: &[u8]) -> FileDigest {
    let mut hasher = Hasher::in_domain(FILE);
    hasher.update(&header.to_bytes());
    hasher.update(table);
    FileDigest::new(hasher.finish())
}

pub(crate) fn content_digest(table: &SectionTable) -> ContentDigest {
    let mut sections: Vec<_> = table
        .iter()
        .map(|(_, section)| section)
        .filter(|section| section.kind != SectionKind::CHUNK_DIGESTS)
        .collect();
    sections.sort_by(|a, b| a.name.cmp(&b.name));
    let mut encoder = Encoder::new(CONTENT);
    encoder.sequence(sections.into_iter(), |encoder, section| {
        encoder.u32(section.kind.number().into());
        encoder.bool(section.required);
        encoder.text(&section.name);
        encoder.u64(section.raw_length);
        encoder.digest(section.raw_digest.digest());
    });
    ContentDigest::new(encoder.finish())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::writer::{Writer, Written};

    /// A file of a program, which `compress` may compress, and a manifest, which is not looked into here.
    fn write(program: &[u8], compress: bool, optional_name: &str) -> Written {
        let mut output = Cursor::new(Vec::new());
        let mut writer = Writer::begin(&mut output).unwrap();
        writer
            .section(SectionKind::PROGRAM, true, "program".into(), program, compress)
            .unwrap();
        writer
            .section(SectionKind::new(0x8000), false, optional_name.into(), b"x", false)
            .unwrap();
        writer
            .section(SectionKind::MANIFEST, true, "manifest".into(), b"\x80", false)
            .unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn recompression_changes_the_file_and_not_its_content() {
        let program = b"stablehlo.add ".repeat(1000);
        let (compressed, plain) = (write(&program, true, "x"), write(&program, false, "x"));
        assert!(compressed.file_length < plain.file_length);
        assert_ne!(compressed.file_digest, plain.file_digest);
        assert_eq!(compressed.content_digest, plain.content_digest);
        assert_ne!(plain.content_digest, write(b"other", false, "x").content_digest);
        assert_ne!(plain.content_digest, write(&program, false, "y").content_digest);
    }
}
