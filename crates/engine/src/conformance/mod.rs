//! The suite that every engine passes.
//!
//! Programs are StableHLO text, which the caller of the suite reads: the ports know no format. Expected values are worked out by
//! hand. A check says what the port promises, and nothing about how fast or how; an engine that refuses an operation fails it.

mod calls;
mod collectives;
mod limits;
mod modules;
mod programs;
mod refusals;
mod results;

use std::fmt;
use std::sync::Arc;

use artifact_dims::{Assignment, Expr, Range, Scope, Variable};
use artifact_ir::module::Module;
use artifact_ir::types::{Dim, TensorType, Type};

use crate::buffer::{Buffer, Number};
use crate::error::EngineError;
use crate::executable::{Argument, Executable, Outcome};
use crate::options::{CompileOptions, ExecuteOptions};
use crate::port::Engine;
use crate::program::{ArgumentFact, Program};
use crate::value::Value;

/// Makes an engine. The suite makes several, and drops some.
pub type MakeEngine<'a> = dyn Fn() -> Result<Arc<dyn Engine>, EngineError> + 'a;

/// Reads and verifies a program.
pub type ReadProgram<'a> = dyn Fn(&str) -> Result<Module, String> + 'a;

/// A promise of the port that an engine does not keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The check.
    pub check: &'static str,
    /// What came instead.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.check, self.message)
    }
}

/// Runs every check; nothing comes back for an engine that conforms.
pub fn run(make: &MakeEngine<'_>, read: &ReadProgram<'_>) -> Vec<Finding> {
    let lists = [
        results::CHECKS,
        calls::CHECKS,
        refusals::CHECKS,
        limits::CHECKS,
        modules::CHECKS,
        collectives::CHECKS,
    ];
    let suite = match make() {
        Ok(engine) => Suite { make, read, engine },
        Err(error) => {
            let message = chain(&error);
            return vec![Finding {
                check: "an engine can be made",
                message,
            }];
        }
    };
    let checks = lists.iter().copied().flatten();
    checks
        .filter_map(|(check, run)| {
            let message = run(&suite).err()?;
            Some(Finding { check, message })
        })
        .collect()
}

/// What a check finds, if it finds something.
type Checked = Result<(), String>;

/// A check and its name, which is the promise.
type Check = (&'static str, fn(&Suite<'_>) -> Checked);

struct Suite<'a> {
    make: &'a MakeEngine<'a>,
    read: &'a ReadProgram<'a>,
    engine: Arc<dyn Engine>,
}

fn chain(error: &dyn std::error::Error) -> String {
    let first = error.to_string();
    match error.source() {
        None => first,
        Some(source) => format!("{first}: {}", chain(source)),
    }
}

fn told<T>(result: Result<T, EngineError>) -> Result<T, String> {
    result.map_err(|error| format!("{:?}: {}", error.kind(), chain(&error)))
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn array<N: Number>(shape: &[u64], numbers: &[N]) -> Result<Value, String> {
    let buffer = Buffer::of_numbers(shape, numbers);
    buffer.map(Value::Array).map_err(|error| error.to_string())
}

impl Suite<'_> {
    fn program(&self, text: &str) -> Result<Program, String> {
        told(Program::of_module(Arc::new((self.read)(text)?)))
    }

    /// A program of which the open sizes of the arguments are `size0`, `size1` and so on, each at least 0.
    fn symbolic(&self, text: &str) -> Result<Program, String> {
        self.named(text, |number| format!("size{number}"))
    }

    /// A program of which the open sizes of the arguments have names by their position, each at least 0.
    fn named(&self, text: &str, name: impl Fn(usize) -> String) -> Result<Program, String> {
        let program = self.program(text)?;
        let mut scope = Scope::builder();
        let mut number = 0;
        let mut facts = Vec::new();
        for fact in program.arguments() {
            let mut ty = fact.ty.clone();
            if let Type::Tensor(tensor) = &fact.ty {
                let mut named = TensorType::clone(tensor);
                for dim in named.dims.iter_mut().filter(|dim| !dim.is_static()) {
                    let variable = Variable::new(&name(number)).map_err(|error| error.to_string())?;
                    number += 1;
                    scope = scope.range(variable.clone(), Range::at_least(0));
                    *dim = Dim::Symbolic(Expr::variable(variable));
                }
                ty = named.into();
            }
            facts.push(ArgumentFact::of_type(ty));
        }
        let scope = scope.build().map_err(|error| error.to_string())?;
        told(Program::new(
            Arc::clone(program.module()),
            program.entry(),
            facts,
            scope,
        ))
    }

    fn options(&self) -> CompileOptions {
        CompileOptions::for_engine(&*self.engine)
    }

    /// What loads and runs for these arguments.
    fn executable_for(&self, program: &Program, arguments: &[Value]) -> Result<Arc<dyn Executable>, String> {
        let plan = told(self.engine.plan(program, &self.options()))?;
        let borrowed: Vec<Argument<'_>> = arguments.iter().map(Argument::from).collect();
        let program = told(plan.specialized(program, &sizes(program, arguments), &borrowed))?;
        let plan = told(self.engine.plan(&program, &self.options()))?;
        ensure(plan.is_complete(), || {
            format!("it asks for more when it got what it asked for: {plan:?}")
        })?;
        self.executable(&program)
    }

    fn executable(&self, program: &Program) -> Result<Arc<dyn Executable>, String> {
        let module = told(self.engine.compile(program, &self.options()))?;
        told(self.engine.load(&module))
    }

    /// The outcome for borrowed arguments.
    fn outcome(&self, program: &Program, arguments: &[Value]) -> Result<Outcome, String> {
        let executable = self.executable_for(program, arguments)?;
        told(call(&*executable, arguments, &ExecuteOptions::default()))
    }

    /// Refuses other results than these.
    fn gives(&self, program: &Program, arguments: &[Value], want: &[Value]) -> Checked {
        let got = self.outcome(program, arguments)?.results;
        ensure(got == want, || {
            format!("{arguments:?} give {}, expected {}", shown(&got), shown(want))
        })
    }
}

/// Calls with borrowed arguments.
fn call(
    executable: &dyn Executable,
    arguments: &[Value],
    options: &ExecuteOptions,
) -> Result<Outcome, EngineError> {
    let mut borrowed: Vec<Argument<'_>> = arguments.iter().map(Argument::from).collect();
    executable.call(&mut borrowed, options)
}

fn shown(values: &[Value]) -> String {
    let values: Vec<String> = values
        .iter()
        .map(|value| match value {
            Value::Array(buffer) => format!("{} {:?}", buffer.ty(), buffer.bytes()),
            other => format!("{other:?}"),
        })
        .collect();
    values.join(", ")
}

/// The sizes of arguments by the variables of their facts, each of which is one size.
fn sizes(program: &Program, arguments: &[Value]) -> Assignment {
    let mut sizes = Assignment::new();
    for (fact, value) in program.arguments().iter().zip(arguments) {
        let (Some(declared), Some(actual)) = (fact.ty.as_tensor(), value.as_array()) else {
            continue;
        };
        for (dim, size) in declared.dims.iter().zip(actual.shape()) {
            if let (Dim::Symbolic(expression), Ok(size)) = (dim, i64::try_from(size))
                && let Some(variable) = expression.as_variable()
            {
                sizes.insert(variable.clone(), size);
            }
        }
    }
    sizes
}
