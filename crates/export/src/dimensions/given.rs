//! Shapes that a user gives: what they say in place of the sizes that a program's signature names.
//!
//! A signature has a name or an expression for each size that the program leaves open. A user's shape says the same sizes in
//! other words, and that is a substitution: where the program's size is a name, what the user says stands in its place, here
//! and wherever else the name is. What is no substitution becomes a constraint, or is refused.

use std::collections::{BTreeMap, BTreeSet};

use artifact_dims::{Assignment, Comparison, Constraint, Expr, Variable, parse_shape};
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::{Dim, TensorType, Type};

use super::required::completed;
use super::stated::{Claims, replaced, substituted};
use super::{Shapes, parsed, scope, variables};
use crate::error::ExportError;
use crate::signature::{Argument, Signature};

/// What shapes say of the sizes of a signature.
pub(crate) struct Given {
    /// What stands in place of names; those of `values` are not among them.
    pub(crate) substitution: BTreeMap<Variable, Expr>,
    /// Names for which numbers are given.
    pub(crate) values: Assignment,
    /// Sizes that are said in two ways, neither of which is a name.
    equal: Vec<Constraint>,
    /// Dimensions as they were written, by argument and position.
    written: BTreeMap<(usize, usize), Expr>,
    /// The variables that the user wrote.
    named: BTreeSet<Variable>,
    /// The constraints that the user wrote.
    constraints: Vec<Constraint>,
}

/// One dimension: where it is, what the signature says, and what the user says.
struct Said {
    place: (usize, usize),
    old: Expr,
    new: Expr,
}

impl Given {
    /// Reads shapes for a signature in which every size has a name or an expression.
    ///
    /// # Errors
    /// A text that cannot be read, an argument that does not exist, and a shape that contradicts the program or another one.
    pub(crate) fn read(signature: &Signature, shapes: &Shapes) -> Result<Self, ExportError> {
        let mut said = Vec::new();
        for (name, text) in &shapes.arguments {
            let index = position(&signature.inputs, name)?;
            said.extend(dims_said(index, &signature.inputs[index], text)?);
        }
        let mut given = Self {
            substitution: BTreeMap::new(),
            values: Assignment::new(),
            equal: Vec::new(),
            written: BTreeMap::new(),
            named: said.iter().flat_map(|said| said.new.variables()).collect(),
            constraints: parsed(&shapes.constraints)?,
        };
        given.take_numbers(signature, &said)?;
        given.take_names(&said);
        for said in &said {
            given.compare(signature, said)?;
        }
        Ok(given)
    }

    /// Numbers in place of names. They come first: they say most.
    fn take_numbers(&mut self, signature: &Signature, said: &[Said]) -> Result<(), ExportError> {
        for Said { place, old, new } in said {
            let (Some(name), Some(number)) = (old.as_variable(), new.as_constant()) else {
                continue;
            };
            match self.values.insert(name.clone(), number) {
                Some(other) if other != number => {
                    return Err(ExportError::input(format!(
                        "the size '{name}' is given as {other} and, in the shape of `{}`, as {number}",
                        signature.inputs[place.0].name
                    )));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn take_names(&mut self, said: &[Said]) {
        for Said { old, new, .. } in said {
            if let Some(name) = old.as_variable()
                && new.as_constant().is_none()
                && self.values.get(name).is_none()
            {
                self.substitution
                    .entry(name.clone())
                    .or_insert_with(|| new.clone());
            }
        }
    }

    /// What is not settled by the substitution: it must agree with it.
    fn compare(&mut self, signature: &Signature, said: &Said) -> Result<(), ExportError> {
        let Said { place, old, new } = said;
        let is = replaced(&old_with_values(old, &self.values)?, &self.substitution)?;
        if is == *new {
            // Where a number stands for a name, the name stays until the program is specialised.
            let names = old.variables();
            if !names.iter().any(|name| self.values.get(name).is_some()) {
                self.written.insert(*place, new.clone());
            }
            return Ok(());
        }
        let by_number = is.as_constant().is_some() || new.as_constant().is_some();
        let difference = is.sub(new).ok().and_then(|difference| difference.as_constant());
        if by_number || difference.is_some() {
            let (argument, dimension) = (&signature.inputs[place.0].name, place.1);
            let so = match is == *old {
                true => String::new(),
                false => format!(" and so '{is}' after what other shapes say"),
            };
            let advice = match by_number {
                true => "; give the names of sizes here, and numbers to `artifact specialize --dim`",
                false => "",
            };
            return Err(ExportError::input(format!(
                "the shape of `{argument}` gives '{new}' for dimension {dimension}, which is '{old}' in the program{so}{advice}"
            )));
        }
        let equal = Constraint::new(is, Comparison::Eq, new.clone());
        self.equal.push(equal);
        self.written.insert(*place, new.clone());
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
                ty: substituted(&argument.ty, &self.substitution)?,
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
                left: replaced(&constraint.left, &self.substitution)?,
                comparison: constraint.comparison,
                right: replaced(&constraint.right, &self.substitution)?,
            });
        }
        constraints.extend(self.equal.iter().chain(&self.constraints).cloned());
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

fn old_with_values(old: &Expr, values: &Assignment) -> Result<Expr, ExportError> {
    let numbers = old.variables().into_iter().filter_map(|name| {
        let number = values.get(&name)?;
        Some((name, Expr::constant(number)))
    });
    replaced(old, &numbers.collect())
}

/// The words of texts that could be names.
pub(crate) fn words(shapes: &Shapes) -> BTreeSet<Variable> {
    let texts = shapes.arguments.iter().map(|(_, text)| text.as_str());
    let words = texts.flat_map(|text| text.split(|c: char| !(c.is_alphanumeric() || c == '_')));
    words.filter_map(|word| Variable::new(word).ok()).collect()
}

fn position(inputs: &[Argument], name: &str) -> Result<usize, ExportError> {
    let by_name = inputs.iter().position(|input| input.name == name);
    let by_number = || {
        name.strip_prefix("arg")?
            .parse()
            .ok()
            .filter(|index| *index < inputs.len())
    };
    by_name.or_else(by_number).ok_or_else(|| {
        let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
        ExportError::input(format!(
            "a shape is given for `{name}`, which is no argument; the arguments are {}",
            names.join(", ")
        ))
    })
}

/// Checks that the program takes shapes as they were written, of arguments whose sizes have no names yet.
///
/// # Errors
/// An operation or an assertion of the program fails for every size that the shapes and the constraints allow.
pub(crate) fn check_written(
    module: &Module,
    entry: FunctionId,
    mut signature: Signature,
    shapes: &Shapes,
) -> Result<(), ExportError> {
    for (name, text) in &shapes.arguments {
        let index = position(&signature.inputs, name)?;
        let argument = &signature.inputs[index];
        let (ty, dims) = dims_read(argument, text)?;
        let mut ty = ty.clone();
        ty.dims = dims.into_iter().map(Dim::from).collect();
        signature.inputs[index].ty = ty.into();
    }
    let known = variables(&signature.inputs);
    let mut constraints = parsed(&shapes.constraints)?;
    // Others are of names that are found later.
    constraints.retain(|constraint| constraint.variables().is_subset(&known));
    let Ok(dimensions) = scope(&known, &known, constraints) else {
        // The program has no part in that.
        return Ok(());
    };
    signature.dimensions = dimensions;
    completed(module, entry, signature).map(|_| ())
}

/// The type of an argument, and the dimensions that a text gives it, as many.
fn dims_read<'a>(argument: &'a Argument, text: &str) -> Result<(&'a TensorType, Vec<Expr>), ExportError> {
    let Type::Tensor(ty) = &argument.ty else {
        return Err(ExportError::input(format!(
            "a shape is given for `{}`, which is a {}",
            argument.name, argument.ty
        )));
    };
    let like: Vec<Option<Expr>> = ty.dims.iter().map(Dim::expression).collect();
    let dims = parse_shape(text, Some(&like)).map_err(|error| {
        ExportError::input(format!(
            "the shape of `{}`: {error}\n{}",
            argument.name,
            error.snippet()
        ))
    })?;
    Ok((ty, dims))
}

/// What a text says of the dimensions of an argument that the program leaves open.
fn dims_said(index: usize, argument: &Argument, text: &str) -> Result<Vec<Said>, ExportError> {
    let (ty, dims) = dims_read(argument, text)?;
    let mut said = Vec::new();
    for (dimension, (old, new)) in ty.dims.iter().map(Dim::expression).zip(dims).enumerate() {
        // A size has an expression in every signature that is given here.
        let Some(old) = old else { continue };
        match (old.as_constant(), new.as_constant()) {
            (Some(size), None) => {
                return Err(ExportError::input(format!(
                    "the shape of `{}` names a dimension '{new}' that is {size} in the program",
                    argument.name
                )));
            }
            // Equal, which the reader of shapes has seen to.
            (Some(_), Some(_)) => {}
            (None, _) => said.push(Said {
                place: (index, dimension),
                old,
                new,
            }),
        }
    }
    Ok(said)
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

#[cfg(test)]
mod tests {
    use artifact_dims::Scope;
    use artifact_ir::types::ElementType;

    use super::*;

    /// Two arguments of one size, as an export of JAX names it.
    fn signature() -> Signature {
        let size = Dim::from("b".parse::<Expr>().unwrap());
        let ty = TensorType::new([size], ElementType::F32);
        let argument = |name: &str| Argument {
            name: name.to_owned(),
            ty: ty.clone().into(),
        };
        Signature {
            function: "main".to_owned(),
            inputs: vec![argument("x"), argument("y")],
            outputs: Vec::new(),
            dimensions: Scope::default(),
        }
    }

    fn read(x: &str, y: &str) -> Result<Given, ExportError> {
        let arguments = [("x", x), ("y", y)];
        Given::read(
            &signature(),
            &Shapes {
                arguments: arguments
                    .map(|(name, text)| (name.to_owned(), text.to_owned()))
                    .to_vec(),
                constraints: Vec::new(),
            },
        )
    }

    #[test]
    fn sizes_that_cannot_be_one_are_refused_where_they_stand() {
        for (x, y, said) in [
            (
                "(n,)",
                "(n + 1,)",
                "the shape of `y` gives 'n + 1' for dimension 0, which is 'b' in the program and so 'n' after what other \
                 shapes say",
            ),
            (
                "(3,)",
                "(n,)",
                "the shape of `y` gives 'n' for dimension 0, which is 'b' in the program and so '3' after what other shapes \
                 say; give the names of sizes here, and numbers to `artifact specialize --dim`",
            ),
            (
                "(3,)",
                "(4,)",
                "the size 'b' is given as 3 and, in the shape of `y`, as 4",
            ),
        ] {
            let Err(error) = read(x, y) else {
                panic!("{x} and {y} are taken");
            };
            assert_eq!(error.to_string(), said);
        }
    }

    #[test]
    fn sizes_that_may_be_one_are_constraints() {
        let constraints = |x: &str, y: &str| {
            let given = read(x, y).unwrap();
            let texts = given.equal.iter().map(ToString::to_string);
            texts.collect::<Vec<_>>()
        };
        assert_eq!(constraints("(n,)", "(n,)"), [""; 0]);
        assert_eq!(constraints("(n,)", "(m,)"), ["n == m"]);
        assert_eq!(constraints("(n,)", "(2*m + 1,)"), ["n == 2*m + 1"]);
    }
}
