//! Values of dimension variables.

use std::collections::BTreeMap;
use std::fmt;

use crate::variable::Variable;

/// A value for each of some variables. Prints as `a = 1, b = 2`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Assignment(BTreeMap<Variable, i64>);

impl Assignment {
    /// No values.
    #[must_use]
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Sets a value and returns the one it replaces.
    pub fn insert(&mut self, variable: Variable, value: i64) -> Option<i64> {
        self.0.insert(variable, value)
    }

    /// The value of a variable, if it has one.
    #[must_use]
    pub fn get(&self, variable: &Variable) -> Option<i64> {
        self.0.get(variable).copied()
    }

    /// The values in order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&Variable, i64)> {
        self.0.iter().map(|(variable, value)| (variable, *value))
    }
}

impl FromIterator<(Variable, i64)> for Assignment {
    fn from_iter<T: IntoIterator<Item = (Variable, i64)>>(values: T) -> Self {
        Self(values.into_iter().collect())
    }
}

impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (variable, value)) in self.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            write!(f, "{separator}{variable} = {value}")?;
        }
        Ok(())
    }
}
