//! The bytes of a file, large constants still being views of the module's.

use std::io::{self, Write};

use artifact_core::blob::Blob;

/// A file that was written: its parts in order. Large constants are not copied into it.
#[derive(Clone, Debug, Default)]
pub struct Encoded {
    parts: Vec<Part>,
    length: usize,
}

#[derive(Clone, Debug)]
enum Part {
    Own(Vec<u8>),
    View(Blob),
}

/// From this length on, bytes are kept as a view.
const VIEW_BYTES_MIN: usize = 4096;

impl Encoded {
    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length + self.open_length()
    }

    /// Whether there is no byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All bytes in one piece.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        for part in self.parts() {
            bytes.extend_from_slice(part);
        }
        bytes
    }

    /// Writes all bytes.
    ///
    /// # Errors
    /// What `output` says.
    pub fn write_to(&self, output: &mut impl Write) -> io::Result<()> {
        self.parts().try_for_each(|part| output.write_all(part))
    }

    /// The pieces in order.
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.parts.iter().map(|part| match part {
            Part::Own(bytes) => bytes.as_slice(),
            Part::View(blob) => blob,
        })
    }

    /// Bytes of the last piece, which may still grow and is not counted yet.
    fn open_length(&self) -> usize {
        match self.parts.last() {
            Some(Part::Own(bytes)) => bytes.len(),
            _ => 0,
        }
    }

    /// The piece that grows.
    pub(super) fn bytes(&mut self) -> &mut Vec<u8> {
        if !matches!(self.parts.last(), Some(Part::Own(_))) {
            self.parts.push(Part::Own(Vec::new()));
        }
        match self.parts.last_mut() {
            Some(Part::Own(bytes)) => bytes,
            // One was added if there was none.
            _ => unreachable!("the last piece grows"),
        }
    }

    /// Adds bytes, as a view if they are many.
    pub(super) fn push(&mut self, blob: &Blob) {
        if blob.len() < VIEW_BYTES_MIN {
            self.bytes().extend_from_slice(blob);
            return;
        }
        self.length += self.open_length() + blob.len();
        self.parts.push(Part::View(blob.clone()));
    }

    /// Adds all of another one.
    pub(super) fn append(&mut self, other: Self) {
        for part in other.parts {
            match part {
                Part::Own(bytes) => self.bytes().extend_from_slice(&bytes),
                Part::View(blob) => self.push(&blob),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up() {
        let large = Blob::new((0..=255).cycle().take(VIEW_BYTES_MIN).collect());
        let mut inner = Encoded::default();
        inner.bytes().push(1);
        inner.push(&large);
        inner.bytes().push(2);
        let mut file = Encoded::default();
        assert!(file.is_empty());
        file.bytes().extend_from_slice(&[7, 7]);
        file.append(inner);
        file.push(&Blob::new(vec![9]));
        let expected = [&[7, 7, 1], &*large, &[2, 9]].concat();
        assert_eq!(file.to_vec(), expected);
        assert_eq!(file.len(), expected.len());
        assert_eq!(file.parts().count(), 3);
        let mut written = Vec::new();
        file.write_to(&mut written).unwrap();
        assert_eq!(written, expected);
    }
}
