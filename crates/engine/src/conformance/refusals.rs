//! What is refused, and how.

use super::programs::{ADD, ROWS, TWO};
use super::{Check, Checked, Suite, array, call, ensure, told};
use crate::error::{EngineError, ErrorKind};
use crate::executable::{Argument, Outcome};
use crate::options::{CompileOptions, ExecuteOptions};
use crate::target::Target;
use crate::value::Value;

pub(super) const CHECKS: &[Check] = &[
    ("arguments that do not fit are refused", arguments),
    ("sizes that contradict each other are refused", sizes),
    ("an unknown target is refused", target),
    ("results are empty after an error", no_results),
];

fn refused(outcome: Result<Outcome, EngineError>, what: &str) -> Checked {
    match outcome {
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        Err(error) => Err(format!("{what}: {:?}: {error}", error.kind())),
        Ok(outcome) => Err(format!("{what} give {:?}", outcome.results)),
    }
}

fn arguments(suite: &Suite<'_>) -> Checked {
    let executable = suite.executable(&suite.program(ADD)?)?;
    let run = |arguments: &[Value]| call(&*executable, arguments, &ExecuteOptions::default());
    let good = array(&[4], &[1.0_f32; 4])?;
    refused(run(&[]), "no arguments")?;
    refused(
        run(&[good.clone(), good.clone(), good.clone()]),
        "three arguments",
    )?;
    let wrong = [
        ("another element type", array(&[4], &[1_i32; 4])?),
        ("another size", array(&[5], &[1.0_f32; 5])?),
        ("another rank", array(&[2, 2], &[1.0_f32; 4])?),
        ("a token", Value::Token),
        ("a tuple", Value::Tuple([good.clone()].into())),
    ];
    for (what, wrong) in wrong {
        refused(run(&[good.clone(), wrong]), what)?;
    }
    let open = suite.symbolic(ROWS)?;
    let fits = array(&[1, 2], &[1.0_f32; 2])?;
    let executable = suite.executable_for(&open, &[fits])?;
    let wrong = array(&[2], &[1.0_f32; 2])?;
    refused(
        call(&*executable, &[wrong], &ExecuteOptions::default()),
        "another rank",
    )
}

/// The program would not mind; what was said of it when it was compiled would be wrong.
fn sizes(suite: &Suite<'_>) -> Checked {
    let program = suite.named(TWO, |_| "size".to_owned())?;
    let of_size = |size: usize| array(&[size as u64], &vec![1.0_f32; size]);
    suite.gives(&program, &[of_size(2)?, of_size(2)?], &[of_size(2)?, of_size(2)?])?;
    let executable = suite.executable_for(&program, &[of_size(2)?, of_size(2)?])?;
    refused(
        call(
            &*executable,
            &[of_size(2)?, of_size(3)?],
            &ExecuteOptions::default(),
        ),
        "two sizes for one variable",
    )
}

fn target(suite: &Suite<'_>) -> Checked {
    let options = CompileOptions {
        target: told(Target::new("no-such-machine"))?,
        ..suite.options()
    };
    let compiled = suite.engine.compile(&suite.program(ADD)?, &options);
    ensure(compiled.is_err(), || {
        "a module was compiled for a machine that does not exist".to_owned()
    })
}

fn no_results(suite: &Suite<'_>) -> Checked {
    let executable = suite.executable(&suite.program(ADD)?)?;
    let x = array(&[4], &[1.0_f32; 4])?;
    let mut results = vec![x.clone()];
    let outcome = executable.run(
        &mut [Argument::from(&x)],
        &mut results,
        &ExecuteOptions::default(),
    );
    ensure(outcome.is_err() && results.is_empty(), || {
        format!("{outcome:?} and {results:?}")
    })
}
