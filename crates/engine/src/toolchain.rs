//! What compiled a module, as precisely as it changes what comes out.

use std::collections::BTreeMap;
use std::fmt;

use artifact_core::canonical::Encoder;
use artifact_core::digest::{Digest, Domain};

const DOMAIN: Domain = Domain::new("artifact toolchain v1");

/// One part of a toolchain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Component {
    /// A version, for what is released under one: that of an interface, a platform, a driver.
    Version(String),
    /// The digest of what it consists of: sources of our own, libraries of others.
    Digest(Digest),
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => f.write_str(version),
            Self::Digest(digest) => write!(f, "{digest}"),
        }
    }
}

/// The identity of a toolchain: named parts. Two that differ in one of them do not share compiled modules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toolchain {
    components: BTreeMap<String, Component>,
}

impl Toolchain {
    /// The same with another part. A name stands for one part: a later one replaces an earlier one.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, component: Component) -> Self {
        self.components.insert(name.into(), component);
        self
    }

    /// The parts in order of their names.
    pub fn components(&self) -> impl ExactSizeIterator<Item = (&str, &Component)> {
        self.components
            .iter()
            .map(|(name, component)| (name.as_str(), component))
    }

    /// The digest of all parts.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut encoder = Encoder::new(DOMAIN);
        encoder.sequence(self.components.iter(), |encoder, (name, component)| {
            encoder.text(name);
            match component {
                Component::Version(version) => {
                    encoder.text("version");
                    encoder.text(version);
                }
                Component::Digest(digest) => {
                    encoder.text("digest");
                    encoder.digest(digest);
                }
            }
        });
        encoder.finish()
    }

    /// The parts in which another differs, with both values; `None` where one lacks it.
    pub fn differences<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (&'a str, Option<&'a Component>, Option<&'a Component>)> {
        let own = self.components.keys();
        let others = other.components.keys();
        let names: std::collections::BTreeSet<&String> = own.chain(others).collect();
        names.into_iter().filter_map(move |name| {
            let (own, other) = (self.components.get(name), other.components.get(name));
            (own != other).then_some((name.as_str(), own, other))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_counts() {
        let version = |text: &str| Component::Version(text.to_owned());
        let base = Toolchain::default().with("a", version("1"));
        let check = |other: Toolchain, differing: &[&str]| {
            assert_ne!(base.digest(), other.digest(), "{other:?}");
            let names: Vec<&str> = base.differences(&other).map(|(name, _, _)| name).collect();
            assert_eq!(names, differing);
        };
        check(base.clone().with("a", version("2")), &["a"]);
        check(base.clone().with("b", version("1")), &["b"]);
        check(Toolchain::default(), &["a"]);
        check(
            base.clone().with("a", Component::Digest(Digest::of(b"1"))),
            &["a"],
        );
        assert_eq!(base.differences(&base).count(), 0);
    }
}
