//! Names that are eliminated one after the other, each by an expression in names that are left.
//!
//! Putting each expression into all before it would take a time quadratic in the names of a program. What was eliminated later
//! is put in only where a value is asked for, and stays there, as in the sets of a union-find; the rest is done at the end.

use std::collections::BTreeMap;

use artifact_dims::{Expr, Variable};

use super::stated::replaced;
use crate::error::ExportError;

/// Expressions by the names that they stand for.
#[derive(Debug, Default)]
pub(super) struct Elimination {
    /// An expression is in names that were not eliminated when it came; so no name leads back to itself.
    values: BTreeMap<Variable, Expr>,
    /// The names, first eliminated first.
    order: Vec<Variable>,
}

impl Elimination {
    /// Lets `value` stand for a name that it does not have. Neither has a name that was eliminated before.
    pub(super) fn eliminate(&mut self, name: Variable, value: Expr) {
        self.order.push(name.clone());
        self.values.insert(name, value);
    }

    /// The expression in names that are left.
    ///
    /// # Errors
    /// When it is larger than an expression may be.
    pub(super) fn applied(&mut self, size: &Expr) -> Result<Expr, ExportError> {
        for name in self.eliminated(size) {
            self.settle(name)?;
        }
        replaced(size, &self.values)
    }

    /// All values, in names that are left.
    ///
    /// # Errors
    /// When one is larger than an expression may be.
    pub(super) fn finish(mut self) -> Result<BTreeMap<Variable, Expr>, ExportError> {
        // A value has only names that were eliminated after its own, and those are settled by then.
        for name in self.order.iter().rev() {
            if let Some(value) = self.values.get(name) {
                let settled = replaced(value, &self.values)?;
                self.values.insert(name.clone(), settled);
            }
        }
        Ok(self.values)
    }

    /// Puts what was eliminated later into the value of a name, and into all values on the way. No recursion: the way is as
    /// long as the program makes it.
    fn settle(&mut self, name: Variable) -> Result<(), ExportError> {
        let mut pending = vec![name];
        while let Some(name) = pending.last() {
            let Some(value) = self.values.get(name) else {
                pending.pop();
                continue;
            };
            let later = self.eliminated(value);
            let open = later.iter().find(|later| {
                let value = self.values.get(*later);
                value.is_some_and(|value| !self.eliminated(value).is_empty())
            });
            if let Some(open) = open {
                pending.push(open.clone());
                continue;
            }
            let settled = replaced(value, &self.values)?;
            self.values.insert(name.clone(), settled);
            pending.pop();
        }
        Ok(())
    }

    /// The names in an expression that are eliminated.
    fn eliminated(&self, size: &Expr) -> Vec<Variable> {
        let names = size.variables().into_iter();
        names.filter(|name| self.values.contains_key(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(number: u32) -> Variable {
        Variable::new(&format!("d{number}")).unwrap()
    }

    /// Each name stands for the next, which is known only later; the first is asked for throughout.
    #[test]
    fn chains_of_names() {
        const LENGTH: u32 = 20_000;
        let mut names = Elimination::default();
        let first = Expr::from(name(0));
        for number in 0..LENGTH {
            let next = Expr::from(name(number + 1));
            names.eliminate(name(number), next.clone());
            assert_eq!(names.applied(&first).unwrap(), next);
            // One step leads from the first name to the last, however many there were.
            assert_eq!(names.values[&name(0)], next);
        }
        let all = names.finish().unwrap();
        assert!(all.values().all(|value| *value == Expr::from(name(LENGTH))));
    }

    #[test]
    fn sums_of_names() {
        let size = |text: &str| text.parse::<Expr>().unwrap();
        let mut names = Elimination::default();
        for (number, value) in [(0, "d1 + d2"), (1, "2*d3"), (3, "d4 + d2"), (2, "b")] {
            names.eliminate(name(number), size(value));
        }
        assert_eq!(names.applied(&size("d0 + d3")).unwrap(), size("3*d4 + 4*b"));
        let all = names.finish().unwrap();
        let expected = [(0, "2*d4 + 3*b"), (1, "2*d4 + 2*b"), (2, "b"), (3, "d4 + b")];
        assert_eq!(
            all,
            expected.map(|(number, value)| (name(number), size(value))).into()
        );
    }
}
