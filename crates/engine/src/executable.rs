//! The port of a loaded program.

use std::fmt;

use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::types::Type;

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
    /// Refuses arguments whose number, element types, ranks or numbers of sizes do not fit.
    ///
    /// # Errors
    /// Invalid input, with the first argument that does not fit.
    pub fn check(&self, arguments: &[Argument<'_>]) -> Result<(), EngineError> {
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
        Ok(())
    }
}

fn fits(declared: &Type, value: &Value) -> bool {
    match (declared, value) {
        (Type::Token, Value::Token) => true,
        // Most arguments are arrays, for which no type need be made.
        (Type::Tensor(declared), Value::Array(buffer)) => {
            let same_shape = |(declared, actual): (&artifact_ir::types::Dim, u64)| {
                declared.as_static().is_none_or(|size| size == actual)
            };
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
