//! Dictionaries of attributes.

use std::sync::Arc;

use super::Attribute;

/// Attributes by name, sorted by name, each name once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NamedAttributes(Vec<(Arc<str>, Attribute)>);

impl NamedAttributes {
    /// An empty dictionary.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Whether there is no attribute.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of attributes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// The attribute called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.position(name).ok().map(|index| &self.0[index].1)
    }

    /// Adds an attribute, or replaces the one of that name and returns it.
    pub fn insert(&mut self, name: impl Into<Arc<str>>, attribute: Attribute) -> Option<Attribute> {
        let name = name.into();
        match self.position(&name) {
            Ok(index) => Some(std::mem::replace(&mut self.0[index].1, attribute)),
            Err(index) => {
                self.0.insert(index, (name, attribute));
                None
            }
        }
    }

    /// Takes the attribute called `name` out.
    pub fn remove(&mut self, name: &str) -> Option<Attribute> {
        self.position(name).ok().map(|index| self.0.remove(index).1)
    }

    /// Names and attributes in order of name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Attribute)> {
        self.0.iter().map(|(name, attribute)| (name, attribute))
    }

    fn position(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| (**other).cmp(name))
    }
}

impl FromIterator<(Arc<str>, Attribute)> for NamedAttributes {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Attribute)>>(items: I) -> Self {
        let mut all = Self::new();
        for (name, attribute) in items {
            all.insert(name, attribute);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_and_unique() {
        let mut all = NamedAttributes::new();
        assert_eq!(all.insert("b", Attribute::Unit), None);
        assert_eq!(all.insert("a", Attribute::Bool(true)), None);
        assert_eq!(all.insert("b", Attribute::i64(1)), Some(Attribute::Unit));
        let names: Vec<&str> = all.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(all.remove("a"), Some(Attribute::Bool(true)));
        assert_eq!(all.get("a"), None);
    }
}
