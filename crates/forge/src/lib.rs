//! Artifact files with forged versions, features, kinds, codecs and dates, so that tests reach what no release can write yet.
//!
//! A second reader and writer of the container, made from `schemas/artifact/FORMAT.md` alone: nothing of the crate that it
//! tests is used. Every digest of what it writes matches, so a reader believes the file and meets what was forged.
//!
//! Invariants:
//! * It is a crate and no feature: cargo unites features of everything that it builds at once, and a feature that tests switch
//!   on would be in the binary beside them. A crate that no product depends on cannot be. [`MARKER`] lets a test look.
//! * It trusts its input, which tests have made. What is not as the page says is a panic.
//!
//! Entry point: [`Forgery`].

use std::hint::black_box;

use artifact_core::digest::Digest;

/// A text that every program with this crate in it holds, since [`Forgery::write`] reads it.
pub const MARKER: &str = "artifact-forge: this program can write artifacts that lie about their version";

const MAGIC: &[u8; 8] = b"\x89ART\r\n\x1a\n";
const HEADER_BYTES: usize = 128;
const ROW_BYTES: usize = 96;
const MANIFEST: u16 = 1;

/// A file taken apart. Fields may be set to anything that fits their width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forgery {
    /// Container version: major, minor.
    pub written: [u16; 2],
    /// Oldest reader: major, minor.
    pub oldest_reader: [u16; 2],
    /// In the order of their rows.
    pub sections: Vec<Section>,
}

/// A section: its row without offset, lengths and digests of stored bytes, which follow from the content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What it holds.
    pub kind: u16,
    /// Bit 0: required.
    pub flags: u16,
    /// How stored bytes become raw bytes.
    pub codec: u8,
    /// Alignment as a power of two.
    pub alignment_log: u8,
    /// Its name.
    pub name: String,
    /// The bytes in the file.
    pub stored: Vec<u8>,
    /// Length and digest of the raw bytes, where `codec` is not 0.
    pub raw: Option<(u64, Digest)>,
}

impl Section {
    /// A section that is stored as it is.
    #[must_use]
    pub fn plain(kind: u16, flags: u16, name: &str, content: &[u8]) -> Self {
        Self {
            kind,
            flags,
            codec: 0,
            alignment_log: 6,
            name: name.to_owned(),
            stored: content.to_vec(),
            raw: None,
        }
    }
}

impl Forgery {
    /// Takes a sound file apart.
    ///
    /// # Panics
    /// When it is not as the page says.
    #[must_use]
    pub fn of(file: &[u8]) -> Self {
        assert_eq!(&file[..8], MAGIC);
        assert_eq!(file[96..128], *Digest::of(&file[..96]).as_bytes());
        let (table, count) = (number(file, 24, 8) as usize, number(file, 40, 4) as usize);
        assert_eq!(number(file, 16, 8) as usize, file.len());
        assert_eq!(table + number(file, 32, 8) as usize, file.len());
        assert_eq!(file[48..80], *Digest::of(&file[table..]).as_bytes());
        let mut name_at = table + ROW_BYTES * count;
        let mut sections = Vec::new();
        for row in file[table..name_at].chunks(ROW_BYTES) {
            let name = &file[name_at..name_at + number(row, 6, 2) as usize];
            name_at += name.len();
            sections.push(section(file, row, name));
        }
        assert_eq!(name_at, file.len());
        Self {
            written: [number(file, 8, 2) as u16, number(file, 10, 2) as u16],
            oldest_reader: [number(file, 12, 2) as u16, number(file, 14, 2) as u16],
            sections,
        }
    }

    /// The container version and the oldest reader, both `version`.
    #[must_use]
    pub fn version(mut self, version: [u16; 2]) -> Self {
        (self.written, self.oldest_reader) = (version, version);
        self
    }

    /// The section of that name.
    ///
    /// # Panics
    /// When there is none.
    pub fn section(&mut self, name: &str) -> &mut Section {
        let found = self.sections.iter_mut().find(|section| section.name == name);
        found.unwrap_or_else(|| panic!("there is no section `{name}`"))
    }

    /// Replaces bytes of the manifest, which must be there once and must not be compressed.
    ///
    /// # Panics
    /// When they are not there, or more than once.
    #[must_use]
    pub fn manifest(mut self, from: &[u8], to: &[u8]) -> Self {
        let manifest = self.sections.iter_mut().find(|section| section.kind == MANIFEST);
        let manifest = manifest.unwrap_or_else(|| panic!("there is no manifest"));
        assert_eq!(manifest.codec, 0, "the manifest is compressed");
        let bytes = &manifest.stored;
        let places: Vec<usize> = bytes
            .windows(from.len())
            .enumerate()
            .filter(|(_, window)| *window == from)
            .map(|(at, _)| at)
            .collect();
        let [at] = places[..] else {
            panic!(
                "`{}` is in the manifest {} times",
                from.escape_ascii(),
                places.len()
            )
        };
        manifest.stored = [&bytes[..at], to, &bytes[at + from.len()..]].concat();
        self
    }

    /// The file, every digest matching.
    ///
    /// # Panics
    /// When a name is longer than 65,535 bytes.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        assert!(!black_box(MARKER).is_empty());
        let (mut file, mut rows, mut names) = (vec![0; HEADER_BYTES], Vec::new(), Vec::new());
        for section in &self.sections {
            file.resize(file.len().next_multiple_of(1 << section.alignment_log), 0);
            rows.extend(row(section, file.len()));
            names.extend_from_slice(section.name.as_bytes());
            file.extend_from_slice(&section.stored);
        }
        file.resize(file.len().next_multiple_of(64), 0);
        let table = [rows, names].concat();
        let offset = file.len();
        file.extend_from_slice(&table);
        let mut header = MAGIC.to_vec();
        for number in [self.written, self.oldest_reader].concat() {
            header.extend_from_slice(&number.to_le_bytes());
        }
        for number in [file.len(), offset, table.len(), self.sections.len()] {
            header.extend_from_slice(&(number as u64).to_le_bytes());
        }
        header.extend_from_slice(Digest::of(&table).as_bytes());
        header.resize(96, 0);
        let checksum = Digest::of(&header);
        header.extend_from_slice(checksum.as_bytes());
        file[..HEADER_BYTES].copy_from_slice(&header);
        file
    }
}

/// A MessagePack text of at most 31 bytes.
///
/// # Panics
/// When it is longer.
#[must_use]
pub fn text(text: &str) -> Vec<u8> {
    assert!(text.len() < 32, "`{text}` is no short text");
    [&[0xa0 | text.len() as u8], text.as_bytes()].concat()
}

fn section(file: &[u8], row: &[u8], name: &[u8]) -> Section {
    let stored = file[number(row, 8, 8) as usize..][..number(row, 16, 8) as usize].to_vec();
    assert_eq!(row[32..64], *Digest::of(&stored).as_bytes());
    let raw_digest = <[u8; 32]>::try_from(&row[64..96]).unwrap_or_else(|_| panic!("a row has 96 bytes"));
    let codec = row[4];
    Section {
        kind: number(row, 0, 2) as u16,
        flags: number(row, 2, 2) as u16,
        codec,
        alignment_log: row[5],
        name: String::from_utf8(name.to_vec()).unwrap_or_else(|_| panic!("a name is ASCII")),
        stored,
        raw: (codec != 0).then(|| (number(row, 24, 8), Digest::from_bytes(raw_digest))),
    }
}

fn row(section: &Section, offset: usize) -> Vec<u8> {
    let stored = Digest::of(&section.stored);
    let (raw_length, raw) = section.raw.unwrap_or((section.stored.len() as u64, stored));
    let name_length = u16::try_from(section.name.len()).unwrap_or_else(|_| panic!("a long name"));
    let mut row = Vec::with_capacity(ROW_BYTES);
    row.extend_from_slice(&section.kind.to_le_bytes());
    row.extend_from_slice(&section.flags.to_le_bytes());
    row.extend_from_slice(&[section.codec, section.alignment_log]);
    row.extend_from_slice(&name_length.to_le_bytes());
    for number in [offset as u64, section.stored.len() as u64, raw_length] {
        row.extend_from_slice(&number.to_le_bytes());
    }
    row.extend_from_slice(stored.as_bytes());
    row.extend_from_slice(raw.as_bytes());
    row
}

/// A little-endian number of `width` bytes.
fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    bytes[at..at + width]
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}
