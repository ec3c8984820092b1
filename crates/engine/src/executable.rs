//! The port of a loaded program.

use std::fmt;

use artifact_dims::solve::{Mismatch, Size, solve};
use artifact_dims::{Assignment, Expr, Range, Scope};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::types::{Dim, Type};

use crate::completion::{self, Completion};
use crate::error::EngineError;
use crate::options::ExecuteOptions;
use crate::profile::Profile;
use crate::program::may_be;
use crate::value::Value;

/// Types of what goes in and comes out. Sizes are numbers, expressions over dimension variables, or unknown where nothing follows
/// from the arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// Arguments in order, hoisted constants among them.
    pub arguments: Vec<Type>,
    /// Results in order.
    pub results: Vec<Type>,
}

impl Signature {
    /// Refuses arguments that do not fit: by their number, their types, or sizes that contradict each other. What comes back are the
    /// values of the dimension variables that follow from the arguments; there are none for a signature of numbers.
    ///
    /// # Errors
    /// Invalid input, with the first argument that does not fit.
    pub fn check(&self, arguments: &[Argument<'_>]) -> Result<Assignment, EngineError> {
        let (want, got) = (self.arguments.len(), arguments.len());
        if want != got {
            let what = format!("the program takes {want} arguments, {got} were given");
            return Err(EngineError::invalid_input(what));
        }
        for (index, (declared, argument)) in self.arguments.iter().zip(arguments).enumerate() {
            let Some(value) = argument.value() else {
                let what = format!("argument {index} was donated to an earlier call");
                return Err(EngineError::invalid_input(what));
            };
            if !fits(declared, value) {
                let what = format!("argument {index} is {declared}, {} was given", value.ty());
                return Err(EngineError::invalid_input(what));
            }
        }
        self.sizes(arguments)
    }

    /// The values of the dimension variables for arguments whose types fit.
    fn sizes(&self, arguments: &[Argument<'_>]) -> Result<Assignment, EngineError> {
        let mut sizes = Vec::new();
        for (index, (declared, argument)) in self.arguments.iter().zip(arguments).enumerate() {
            let array = argument.value().and_then(Value::as_array);
            let (Type::Tensor(declared), Some(array)) = (declared, array) else {
                continue;
            };
            for (dim, (declared, actual)) in declared.dims.iter().zip(array.shape()).enumerate() {
                if let (Dim::Symbolic(specification), Ok(actual)) = (declared, i64::try_from(actual)) {
                    sizes.push(Size {
                        place: format!("argument {index}, dimension {dim}"),
                        specification: specification.clone(),
                        actual: Expr::constant(actual),
                    });
                }
            }
        }
        if sizes.is_empty() {
            return Ok(Assignment::new());
        }
        let variables = sizes.iter().flat_map(|size| size.specification.variables());
        // What else is known of them is checked where they are bound; here they are sizes.
        let scope = variables.fold(Scope::builder(), |scope, variable| {
            scope.range(variable, Range::at_least(0))
        });
        let refuse = || EngineError::invalid_input("the sizes of the arguments do not fit");
        let scope = scope.build().map_err(|error| refuse().because(error))?;
        solve(&scope, &sizes, &Assignment::new()).or_else(|mismatches| {
            let is_open = |failure: &Mismatch| matches!(failure, Mismatch::Unsolved { .. });
            if !mismatches.failures.iter().all(is_open) {
                return Err(refuse().because(mismatches));
            }
            // What no argument tells, nobody can contradict.
            let found = mismatches.obtained.into_iter();
            let number = |(variable, value, _): (_, Expr, _)| Some((variable, value.as_constant()?));
            Ok(found.filter_map(number).collect())
        })
    }
}

fn fits(declared: &Type, value: &Value) -> bool {
    match (declared, value) {
        (Type::Token, Value::Token) => true,
        // Most arguments are arrays, for which no type need be made.
        (Type::Tensor(declared), Value::Array(buffer)) => {
            let same_shape =
                |(declared, actual): (&Dim, u64)| declared.as_static().is_none_or(|size| size == actual);
            declared.element == buffer.ty().element
                && declared.rank() == buffer.ty().rank()
                && declared.dims.iter().zip(buffer.shape()).all(same_shape)
                && (declared.encoding.is_none()
                    || may_be(
                        &Type::Tensor(declared.clone()),
                        &Type::Tensor(buffer.ty().clone()),
                    ))
        }
        (declared, value) => may_be(declared, &value.ty()),
    }
}

/// An argument of one call.
#[derive(Debug)]
pub enum Argument<'a> {
    /// Read only, and not after the call.
    Borrowed(&'a Value),
    /// Given away: the engine may put a result into its memory. It is `None` after the call.
    Donated(Option<Value>),
}

impl Argument<'_> {
    /// Gives a value away.
    #[must_use]
    pub const fn donate(value: Value) -> Self {
        Self::Donated(Some(value))
    }

    /// The value, unless it was given away already.
    #[must_use]
    pub const fn value(&self) -> Option<&Value> {
        match self {
            Self::Borrowed(value) => Some(value),
            Self::Donated(value) => value.as_ref(),
        }
    }

    /// Takes what was donated.
    pub const fn take(&mut self) -> Option<Value> {
        match self {
            Self::Borrowed(_) => None,
            Self::Donated(value) => value.take(),
        }
    }
}

impl<'a> From<&'a Value> for Argument<'a> {
    fn from(value: &'a Value) -> Self {
        Self::Borrowed(value)
    }
}

/// An expectation of the program (`check.*`) that was not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFailure {
    /// The operation or custom call.
    pub check: String,
    /// Where in the file that the program was read from.
    pub source: SourceOffset,
    /// How the values differ, as a lowercase fragment.
    pub message: String,
}

/// What came of a call besides its results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Expectations that were not met, in the order in which they were found.
    pub failures: Vec<CheckFailure>,
    /// Number of expectations, met or not.
    pub checks: u64,
    /// What the program printed.
    pub printed: Vec<String>,
    /// What `outfeed` wrote.
    pub outfeed: Vec<Vec<Value>>,
    /// What the engine could not check, as lowercase fragments.
    pub notes: Vec<String>,
    /// Where the time went, when that was asked for.
    pub profile: Option<Profile>,
}

/// What came of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The results in order.
    pub results: Vec<Value>,
    /// What else came of it.
    pub report: Report,
}

/// A compiled program that can be called, by several threads at once.
pub trait Executable: fmt::Debug + Send + Sync {
    /// How it is called.
    fn signature(&self) -> &Signature;

    /// Calls it.
    ///
    /// `results` takes the results. What it holds before is memory that may be used for them: an array of which nobody else holds
    /// the memory, at the position of a result of as many bytes, becomes that result, so that repeated calls allocate nothing.
    /// After an error it is empty.
    ///
    /// Borrowed arguments are not used after the completion is done or dropped; an engine that reads them on other threads waits
    /// for these. Donated ones are taken, whether the call succeeds or not.
    ///
    /// # Errors
    /// Those of [`crate::ErrorKind`] that a caller can meet: wrong arguments, limits, assertions of the program.
    fn execute<'a, 'b: 'a>(
        &'a self,
        arguments: &'a mut [Argument<'b>],
        results: &'a mut Vec<Value>,
        options: &'a ExecuteOptions,
    ) -> Completion<'a>;
}

impl dyn Executable + '_ {
    /// Calls it and waits for the end.
    ///
    /// # Errors
    /// See [`Executable::execute`].
    pub fn run(
        &self,
        arguments: &mut [Argument<'_>],
        results: &mut Vec<Value>,
        options: &ExecuteOptions,
    ) -> Result<Report, EngineError> {
        completion::wait(self.execute(arguments, results, options))
    }

    /// Calls it with new memory for its results, and waits for the end.
    ///
    /// # Errors
    /// See [`Executable::execute`].
    pub fn call(
        &self,
        arguments: &mut [Argument<'_>],
        options: &ExecuteOptions,
    ) -> Result<Outcome, EngineError> {
        let mut results = Vec::new();
        let report = self.run(arguments, &mut results, options)?;
        Ok(Outcome { results, report })
    }
}

#[cfg(test)]
mod tests {
    use artifact_ir::types::{ElementType, TensorType};

    use super::*;
    use crate::buffer::Buffer;

    fn check(sizes: &[&str], actual: &[u64], want: Result<&str, &str>) {
        let symbolic = |size: &&str| {
            let size: Expr = size.parse().unwrap();
            TensorType::new([Dim::from(size)], ElementType::I8).into()
        };
        let signature = Signature {
            arguments: sizes.iter().map(symbolic).collect(),
            results: Vec::new(),
        };
        let values: Vec<Value> = actual
            .iter()
            .map(|size| {
                Buffer::of_numbers(&[*size], &vec![0_i8; *size as usize])
                    .unwrap()
                    .into()
            })
            .collect();
        let arguments: Vec<Argument<'_>> = values.iter().map(Argument::from).collect();
        let got = signature.check(&arguments);
        match (&got, want) {
            (Ok(got), Ok(want)) => assert_eq!(got.to_string(), want),
            (Err(got), Err(want)) => assert!(got.to_string().contains(want), "{got}"),
            _ => panic!("{sizes:?} of {actual:?} give {got:?}"),
        }
    }

    #[test]
    fn sizes() {
        check(&["3", "3"], &[3, 3], Ok(""));
        check(
            &["3"],
            &[4],
            Err("argument 0 is tensor<3xi8>, tensor<4xi8> was given"),
        );
        check(&["b", "2*b"], &[2, 4], Ok("b = 2"));
        check(&["b", "2*b"], &[2, 5], Err("sizes of the arguments do not fit"));
        check(&["b", "b"], &[0, 0], Ok("b = 0"));
        check(&["b", "b"], &[2, 3], Err("sizes of the arguments do not fit"));
        check(&["2*b"], &[3], Err("sizes of the arguments do not fit"));
        // Neither follows from the product alone; whoever binds it knows more.
        check(&["a*b", "c"], &[6, 2], Ok("c = 2"));
        check(&["b"], &[], Err("takes 1 arguments, 0 were given"));
    }
}
