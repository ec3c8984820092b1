//! What is lost when a file is written anew.

use std::fmt;

use crate::container::Container;
use crate::identity::FileDigest;
use crate::seal::key::KeyId;
use crate::seal::record::Seal;

/// Seals that do not hold for a file that is made of a sealed one: they sign the old bytes. Who rewrites a file says so, and
/// records which file it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedSeals {
    /// The file that they seal.
    pub file_digest: FileDigest,
    /// Who sealed it, as the seals say; none where they cannot be read.
    pub signers: Vec<KeyId>,
}

impl DroppedSeals {
    /// The metadata of a rewritten file that says from which sealed file it was made, by the file digest. It is a claim of
    /// the writer and no seal.
    pub const METADATA_KEY: &'static str = "sealed-original";

    /// The seals of `container` that a file made of it does not have; `None` where it has none.
    #[must_use]
    pub fn of(container: &Container) -> Option<Self> {
        if !container.is_sealed() {
            return None;
        }
        let signers = container.seals().map_or_else(
            |_| Vec::new(),
            |seals| {
                let signer = |seal: &Seal| match seal {
                    Seal::Ed25519(seal) => Some(seal.key_id()),
                    Seal::Unknown { .. } => None,
                };
                seals.iter().filter_map(signer).collect()
            },
        );
        Some(Self {
            file_digest: container.file_digest(),
            signers,
        })
    }
}

impl fmt::Display for DroppedSeals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signers: Vec<_> = self.signers.iter().map(ToString::to_string).collect();
        let signers = if signers.is_empty() {
            "whose keys this tool cannot read".to_owned()
        } else {
            format!("of {}", signers.join(", "))
        };
        write!(
            f,
            "the seals {signers} are not carried over: they seal the file {}, and what is written is another",
            self.file_digest
        )
    }
}
