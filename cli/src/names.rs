//! The names under which the arrays of arguments and results may stand in an archive.

use std::collections::HashSet;

use artifact_export::Argument;

use crate::archive::Archive;
use crate::failure::{Failure, Outcome};

/// The names of arguments, or of results.
///
/// Each has its own name, and two by its position: `arg3` or `result3` as the tool counts, `arr_3` as `numpy.savez` does. A
/// name that another one has for its own means that one.
pub(crate) struct Names<'a> {
    arguments: &'a [Argument],
    own: HashSet<&'a str>,
    /// `arg` or `result`.
    numbered: &'static str,
    /// How many of the first are nobody's arrays: NumPy counts from those after them.
    bound: usize,
}

impl<'a> Names<'a> {
    /// Of arguments, the first `bound` of which nobody gives.
    pub(crate) fn of_arguments(arguments: &'a [Argument], bound: usize) -> Self {
        Self::new(arguments, "arg", bound)
    }

    pub(crate) fn of_results(results: &'a [Argument]) -> Self {
        Self::new(results, "result", 0)
    }

    fn new(arguments: &'a [Argument], numbered: &'static str, bound: usize) -> Self {
        Self {
            arguments,
            own: arguments.iter().map(|argument| argument.name.as_str()).collect(),
            numbered,
            bound,
        }
    }

    /// The names of the one at a position, its own first.
    pub(crate) fn at(&self, index: usize) -> Vec<String> {
        let given = index.checked_sub(self.bound);
        let by_position = [
            Some(format!("{}{index}", self.numbered)),
            given.map(|given| format!("arr_{given}")),
        ];
        let by_position = by_position.into_iter().flatten();
        let mut names = vec![self.arguments[index].name.clone()];
        names.extend(by_position.filter(|name| !self.own.contains(name.as_str())));
        names
    }

    /// Every name of every one.
    pub(crate) fn all(&self) -> HashSet<String> {
        (0..self.arguments.len())
            .flat_map(|index| self.at(index))
            .collect()
    }

    /// The name among those at a position under which `given` has an array.
    ///
    /// # Errors
    /// When it has more than one: the others would be ignored.
    pub(crate) fn find(&self, index: usize, given: impl Fn(&str) -> bool) -> Outcome<Option<String>> {
        let mut found = self.at(index).into_iter().filter(|name| given(name));
        match (found.next(), found.next()) {
            (Some(first), Some(second)) => {
                let own = &self.arguments[index].name;
                let what = format!("`{own}` (number {index}) is given twice, as `{first}` and as `{second}`");
                Err(Failure::input(what).hint("give one of them"))
            }
            (found, _) => Ok(found),
        }
    }

    /// The name under which an archive has the array at a position.
    pub(crate) fn in_archive(&self, index: usize, archive: &Archive) -> Outcome<Option<String>> {
        self.find(index, |name| archive.has(name))
    }

    /// Names and types as a user may give them: `x: tensor<2xf32>, y: tensor<f32>`.
    pub(crate) fn listed(&self) -> String {
        const SHOWN_MAX: usize = 32;
        let arguments = &self.arguments[self.bound..];
        if arguments.is_empty() {
            return "none".to_owned();
        }
        let shown = arguments.iter().take(SHOWN_MAX);
        let mut text: Vec<String> = shown
            .map(|argument| format!("{}: {}", argument.name, argument.shape_text()))
            .collect();
        if arguments.len() > SHOWN_MAX {
            text.push(format!("and {} more", arguments.len() - SHOWN_MAX));
        }
        format!("{}; by position: {}N or arr_N", text.join(", "), self.numbered)
    }
}

#[cfg(test)]
mod tests {
    use artifact_ir::types::Type;

    use super::*;

    #[test]
    fn a_name_means_the_one_that_has_it() {
        let arguments = ["arg1", "x"].map(|name| Argument {
            name: name.to_owned(),
            ty: Type::Token,
        });
        let names = Names::of_arguments(&arguments, 0);
        assert_eq!(names.at(0), ["arg1", "arg0", "arr_0"]);
        assert_eq!(names.at(1), ["x", "arr_1"]);
        let after_the_first = Names::of_arguments(&arguments, 1);
        assert_eq!(after_the_first.at(0), ["arg1", "arg0"]);
        assert_eq!(after_the_first.at(1), ["x", "arr_0"]);
        assert_eq!(names.find(1, |name| name == "arg1").unwrap(), None);
        assert!(names.find(1, |name| name != "arg1").is_err());
    }
}
