//! Shapes that a user gives: what they say in place of the sizes that a program's signature names.
//!
//! A signature has a name or an expression for each size that the program leaves open. A user's shape says the same sizes in
//! other words, and that is a substitution: where the program's size is a name, what the user says stands in its place, here
//! and wherever else the name is. What is no substitution becomes a constraint, or is refused.

use std::collections::{BTreeMap, BTreeSet};

use artifact_dims::{Assignment, Comparison, Constraint, Expr, Variable};
use artifact_ir::types::{TensorType, Type};

use super::opened::numbered;
use super::stated::Claims;
use super::substitution::Substitution;
use super::written::{Said, contradicts, numbers, said};
use super::{Shapes, parsed, variables};
use crate::error::ExportError;
use crate::signature::{Argument, Signature};

/// What shapes say of the sizes of a signature.
pub(crate) struct Given {
    /// What stands in place of names.
    pub(crate) substitution: Substitution,
    /// Numbers of names that stay until the program is specialised.
    pub(crate) values: Assignment,
    /// Sizes that are said in two ways, neither of which is a name, and what must divide.
    implied: Vec<Constraint>,
    /// Dimensions as they were written, by argument and position.
    written: BTreeMap<(usize, usize), Expr>,
    /// The variables that the user wrote.
    named: BTreeSet<Variable>,
    /// The constraints that the user wrote.
    constraints: Vec<Constraint>,
}

impl Given {
    /// Reads shapes for a signature in which every size has a name or an expression.
    ///
    /// # Errors
    /// A text that cannot be read, an argument that does not exist, a shape that contradicts the program or another one, and a
    /// name that is also that of a size which is not said.
    pub(crate) fn read(signature: &Signature, shapes: &Shapes) -> Result<Self, ExportError> {
        let numbers = numbers(signature, shapes)?;
        let mut said = said(signature, shapes)?;
        said.retain(|said| said.new.as_constant().is_none());
        let named = said.iter().flat_map(|said| said.new.variables()).collect();
        let numbered = apart(&numbers, &named, signature)?;
        let values = numbers.iter().zip(numbered.values());
        let values = values.map(|((_, number), name)| (name.clone(), number)).collect();
        let substitution = Substitution::solve(numbered, &said, &signature.inputs);
        let mut given = Self {
            implied: substitution.divisible()?,
            substitution,
            values,
            written: BTreeMap::new(),
            named,
            constraints: parsed(&shapes.constraints)?,
        };
        given.check_names(signature)?;
        for said in said {
            given.compare(signature, said)?;
        }
        Ok(given)
    }

    /// Whether nothing is said but what the signature says.
    pub(crate) fn is_empty(&self) -> bool {
        self.substitution.is_empty() && self.constraints.is_empty()
    }

    /// Refuses names that would mean two things: what the user says, and a size that stays as the program says it.
    fn check_names(&self, signature: &Signature) -> Result<(), ExportError> {
        for argument in &signature.inputs {
            let dims = argument.ty.as_tensor().into_iter().flat_map(|ty| &ty.dims);
            let sizes = dims
                .enumerate()
                .filter_map(|(dimension, dim)| Some((dimension, dim.expression()?)));
            for (dimension, size) in sizes {
                let names = size.variables();
                let stays = |name: &&Variable| self.named.contains(name) && !self.substitution.settles(name);
                if let Some(name) = names.iter().find(stays) {
                    let argument = &argument.name;
                    return Err(ExportError::input(format!(
                        "the shapes have the name '{name}', which is also in '{size}', dimension {dimension} of `{argument}` \
                         in the program; choose another name, or, if the same size is meant, write the shapes of all \
                         arguments with '{name}'"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Refuses shapes in which a name of the program is lost: its caller's interface has it.
    pub(crate) fn check_kept(&self, inputs: &[Argument]) -> Result<(), ExportError> {
        let known = variables(inputs);
        match self.substitution.kept().difference(&known).next() {
            None => Ok(()),
            Some(lost) => Err(ExportError::input(format!(
                "the shapes do not tell '{lost}' of the program any more, which is no sum of their sizes; write the \
                 expressions that the program has, with names of yours: `artifact inspect --dims` shows them"
            ))),
        }
    }

    /// What is not settled by the substitution: it must agree with it.
    fn compare(&mut self, signature: &Signature, said: Said) -> Result<(), ExportError> {
        let is = self.substitution.of(&said.old)?;
        if is != said.new {
            let difference = is.sub(&said.new).ok();
            let difference = difference.and_then(|difference| difference.as_constant());
            if is.as_constant().is_some() || difference.is_some() {
                return Err(contradicts(signature, &said, &is));
            }
            let equal = Constraint::new(is, Comparison::Eq, said.new.clone());
            self.implied.push(equal);
        }
        self.written.insert(said.place, said.new);
        Ok(())
    }

    /// The inputs of the signature as the user says them.
    pub(crate) fn inputs(&self, signature: &Signature) -> Result<Vec<Argument>, ExportError> {
        let mut inputs = self.renamed(&signature.inputs)?;
        for ((argument, dimension), size) in &self.written {
            let Some(Type::Tensor(ty)) = inputs.get(*argument).map(|input| &input.ty) else {
                continue;
            };
            let mut ty = TensorType::clone(ty);
            if let Some(dim) = ty.dims.get_mut(*dimension) {
                *dim = size.clone().into();
            }
            inputs[*argument].ty = ty.into();
        }
        Ok(inputs)
    }

    /// Arguments with what stands in place of the names in their shapes.
    pub(crate) fn renamed(&self, arguments: &[Argument]) -> Result<Vec<Argument>, ExportError> {
        let renamed = |argument: &Argument| {
            Ok(Argument {
                name: argument.name.clone(),
                ty: self.substitution.of_type(&argument.ty)?,
            })
        };
        arguments.iter().map(renamed).collect()
    }

    /// What is claimed of the variables of `inputs`, which `signature` had before: what it said, and what the user says.
    /// `fresh` are names that no one but this release gave. A variable is at least 1, unless a constraint of the user lets it be
    /// 0 or it is a fresh name; those of an interface are always.
    pub(crate) fn claims(
        &self,
        signature: &Signature,
        inputs: &[Argument],
        fresh: &BTreeSet<Variable>,
        of_interface: bool,
    ) -> Result<Claims, ExportError> {
        let variables = variables(inputs);
        let before = Claims::of(&signature.dimensions);
        let mut constraints = Vec::new();
        for constraint in &before.constraints {
            constraints.push(Constraint {
                left: self.substitution.of(&constraint.left)?,
                comparison: constraint.comparison,
                right: self.substitution.of(&constraint.right)?,
            });
        }
        constraints.extend(self.implied.iter().chain(&self.constraints).cloned());
        // A function of gradients need not take every size.
        constraints.retain(|constraint| constraint.variables().is_subset(&variables));
        let may_be_empty = |variable: &Variable| {
            let unnamed = fresh.contains(variable) || before.may_be_empty.contains(variable);
            let asked = self
                .constraints
                .iter()
                .any(|constraint| lets_be_empty(constraint, variable));
            !of_interface && (asked || unnamed && !self.named.contains(variable))
        };
        let may_be_empty = variables
            .iter()
            .filter(|variable| may_be_empty(variable))
            .cloned()
            .collect();
        Ok(Claims {
            constraints,
            may_be_empty,
        })
    }

    /// Refuses constraints on what is no size.
    pub(crate) fn check_constraints(&self, inputs: &[Argument]) -> Result<(), ExportError> {
        let known = variables(inputs);
        for constraint in &self.constraints {
            if let Some(stray) = constraint.variables().difference(&known).next() {
                let names: Vec<&str> = known.iter().map(Variable::name).collect();
                let known = match names.is_empty() {
                    true => "there are no variables".to_owned(),
                    false => format!("the variables are {}", names.join(", ")),
                };
                return Err(ExportError::input(format!(
                    "the constraint `{constraint}` names '{stray}', which is in no shape of an argument; {known}"
                )));
            }
        }
        Ok(())
    }
}

/// Whether a constraint is a lower bound of the variable that allows 0, such as `b >= 0` or `0 <= b`.
fn lets_be_empty(constraint: &Constraint, variable: &Variable) -> bool {
    let Constraint {
        left,
        comparison,
        right,
    } = constraint;
    let bound = match (left.as_variable(), comparison, right.as_variable()) {
        (Some(found), Comparison::Ge, _) if found == variable => right.as_constant(),
        (Some(found), Comparison::Gt, _) if found == variable => {
            right.as_constant().map(|bound| bound.saturating_add(1))
        }
        (_, Comparison::Le, Some(found)) if found == variable => left.as_constant(),
        (_, Comparison::Lt, Some(found)) if found == variable => {
            left.as_constant().map(|bound| bound.saturating_add(1))
        }
        _ => None,
    };
    bound.is_some_and(|bound| bound <= 0)
}

/// For each name that has a number, one that is no other: mostly itself.
fn apart(
    numbers: &Assignment,
    named: &BTreeSet<Variable>,
    signature: &Signature,
) -> Result<BTreeMap<Variable, Variable>, ExportError> {
    let taken = named | &variables(&signature.inputs);
    let mut free = 0..;
    let apart = |(name, _): (&Variable, i64)| {
        let other = match named.contains(name) {
            true => numbered(&mut free, |name| taken.contains(name))?,
            false => name.clone(),
        };
        Ok((name.clone(), other))
    };
    numbers.iter().map(apart).collect()
}

#[cfg(test)]
mod tests {
    use artifact_dims::Scope;
    use artifact_ir::types::{Dim, ElementType};

    use super::*;

    /// Two arguments of these sizes, `x` and `y`.
    fn signature(sizes: [&str; 2]) -> Signature {
        let argument = |(name, size): (&str, &str)| Argument {
            name: name.to_owned(),
            ty: TensorType::new([Dim::from(size.parse::<Expr>().unwrap())], ElementType::F32).into(),
        };
        Signature {
            function: "main".to_owned(),
            inputs: ["x", "y"].into_iter().zip(sizes).map(argument).collect(),
            outputs: Vec::new(),
            dimensions: Scope::default(),
        }
    }

    fn shapes(written: [&str; 2]) -> Shapes {
        let arguments = [("x", written[0]), ("y", written[1])];
        let arguments = arguments.map(|(name, text)| (name.to_owned(), text.to_owned()));
        Shapes {
            arguments: arguments.to_vec(),
            constraints: Vec::new(),
        }
    }

    fn read(sizes: [&str; 2], written: [&str; 2]) -> Result<Given, ExportError> {
        Given::read(&signature(sizes), &shapes(written))
    }

    /// What an expression of the names of the program becomes, and what is implied.
    fn said(sizes: [&str; 2], written: [&str; 2], size: &str) -> String {
        let given = read(sizes, written).unwrap();
        let size = given.substitution.of(&size.parse().unwrap()).unwrap();
        let implied: String = given.implied.iter().map(|one| format!(" if {one}")).collect();
        format!("{size}{implied}")
    }

    #[test]
    fn sizes_that_cannot_be_one_are_refused_where_they_stand() {
        for (sizes, written, said) in [
            (
                ["b", "b"],
                ["(n,)", "(n + 1,)"],
                "the shape of `y` gives 'n + 1' for dimension 0, which is 'b' in the program and so 'n' after what other \
                 shapes say",
            ),
            (
                ["b", "b"],
                ["(3,)", "(n,)"],
                "the shape of `y` gives 'n' for dimension 0, which is 'b' in the program and so '3' after what other shapes \
                 say; give the names of sizes here, and numbers to `artifact specialize --dim`",
            ),
            (
                ["b", "b"],
                ["(3,)", "(4,)"],
                "the numbers in the shapes do not give the sizes of the program: found inconsistency between dimension size \
                 y.shape[0] (= 4) and the specification 'b' (= 3)",
            ),
            (
                ["2*m", "b"],
                ["(7,)", "_"],
                "the numbers in the shapes do not give the sizes of the program: division had remainder 1 when computing the \
                 value of 'm' from specification '2*m' for dimension x.shape[0] (= 7)",
            ),
            (
                ["2*m", "b"],
                ["(2*n + 1,)", "_"],
                "the shapes say that 2*m of the program is '2*n + 1', which is no multiple of 2 for any sizes",
            ),
            (
                ["a", "b"],
                ["(b,)", "_"],
                "the shapes have the name 'b', which is also in 'b', dimension 0 of `y` in the program; choose another name, \
                 or, if the same size is meant, write the shapes of all arguments with 'b'",
            ),
            (
                ["k + m", "m"],
                ["(m,)", "_"],
                "the shapes have the name 'm', which is also in 'm + k', dimension 0 of `x` in the program; choose another \
                 name, or, if the same size is meant, write the shapes of all arguments with 'm'",
            ),
        ] {
            let Err(error) = read(sizes, written) else {
                panic!("{written:?} is taken for {sizes:?}");
            };
            assert_eq!(error.to_string(), said);
        }
        let error = read(["a + b", "c"], ["(8,)", "_"])
            .map(|_| ())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("'a'") && error.contains("specialize --dim"),
            "{error}"
        );
    }

    #[test]
    fn sizes_that_may_be_one_are_constraints() {
        let said = |x: &str, y: &str| said(["b", "b"], [x, y], "b");
        assert_eq!(said("(n,)", "(n,)"), "n");
        assert_eq!(said("(n,)", "_"), "n");
        assert_eq!(said("(n,)", "(m,)"), "n if n == m");
        assert_eq!(said("(n,)", "(2*m + 1,)"), "n if n == 2*m + 1");
    }

    /// The names of the user are others than those of the program that are spelled so.
    #[test]
    fn names_in_expressions_are_solved_for() {
        for (sizes, written, size, expected) in [
            (["2*m", "b"], ["(2*n,)", "_"], "m*b", "b*n"),
            (["2*m", "b"], ["(2*m + 2,)", "_"], "m", "m + 1"),
            (["m + 1", "b"], ["(2*m,)", "_"], "m + 1", "2*m"),
            (["8 - m", "b"], ["(n,)", "_"], "m", "8 - n"),
            (["k + m", "m"], ["(a + b,)", "(b,)"], "k*m", "a*b"),
            (["k + m", "m"], ["(m + k,)", "(k,)"], "k", "m"),
            (["k + m", "m"], ["(n,)", "_"], "k", "n - m"),
            (["k + m", "b"], ["(k + m,)", "_"], "k", "k"),
            (["a", "b"], ["(b,)", "(a,)"], "a + 2*b", "2*a + b"),
            (["a", "b"], ["(8,)", "(a,)"], "a*b", "a*d0"),
            (["k + m", "m"], ["(n,)", "(3,)"], "k", "n - m"),
            (["2*m", "m"], ["(n,)", "(k,)"], "m", "k if 2*k == n"),
            (
                ["2*m", "m"],
                ["(n,)", "_"],
                "4*m + m^2",
                "4*floordiv(n, 2) + floordiv(n, 2)^2 if mod(n, 2) == 0",
            ),
            (
                ["2*m", "m"],
                ["(n,)", "_"],
                "4*m + 1",
                "2*n + 1 if mod(n, 2) == 0",
            ),
            (
                ["3*m + b", "b"],
                ["(n,)", "(m,)"],
                "3*m",
                "n - m if mod(n - m, 3) == 0",
            ),
        ] {
            let expected: Vec<&str> = expected.split(" if ").collect();
            let (size, given) = (said(sizes, written, size), format!("{sizes:?} as {written:?}"));
            let got: Vec<&str> = size.split(" if ").collect();
            assert_eq!(got[0].parse::<Expr>(), expected[0].parse(), "{given}: {size}");
            assert_eq!(got[1..].len(), expected[1..].len(), "{given}: {size}");
            for (got, expected) in got[1..].iter().zip(&expected[1..]) {
                assert_eq!(
                    Constraint::parse(got),
                    Constraint::parse(expected),
                    "{given}: {size}"
                );
            }
        }
    }
}
