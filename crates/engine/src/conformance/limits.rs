//! Limits of calls.

use std::time::Duration;

use super::programs::{ADD, FOREVER, FOREVER_INSIDE, FOREVER_SIZED, LARGE, LOOP};
use super::{Check, Checked, Suite, array, call, ensure, told};
use crate::error::ErrorKind;
use crate::limits::Cancellation;
use crate::options::ExecuteOptions;
use crate::value::Value;

pub(super) const CHECKS: &[Check] = &[
    ("a limit of time ends a loop without end, or is refused", time),
    ("a cancelled call ends", cancelled),
    ("a limit of time ends what an operation applies", time_inside),
    ("a limit of time ends a loop that a size depends on", time_sized),
    ("a limit of memory is kept", memory),
    ("a limit of steps is kept, or refused", steps),
    ("limits that are not reached change nothing", unreached),
];

fn ends(
    suite: &Suite<'_>,
    text: &str,
    arguments: &[Value],
    options: &ExecuteOptions,
    want: ErrorKind,
) -> Checked {
    let executable = suite.executable_for(&suite.program(text)?, arguments)?;
    match call(&*executable, arguments, options) {
        Err(error) if error.kind() == want => Ok(()),
        Err(error) => Err(format!("{:?} instead of {want:?}: {error}", error.kind())),
        Ok(outcome) => Err(format!("it ended: {:?}", outcome.results)),
    }
}

fn soon() -> ExecuteOptions {
    ExecuteOptions {
        time_limit: Some(Duration::from_millis(20)),
        ..ExecuteOptions::default()
    }
}

/// How a call ends that would take too long.
fn late(suite: &Suite<'_>) -> ErrorKind {
    match suite.engine.features().stops_calls {
        true => ErrorKind::TimeLimit,
        false => ErrorKind::Unsupported,
    }
}

fn time(suite: &Suite<'_>) -> Checked {
    ends(suite, FOREVER, &[array(&[], &[0])?], &soon(), late(suite))
}

fn time_inside(suite: &Suite<'_>) -> Checked {
    if !suite.engine.features().stops_calls {
        return Ok(());
    }
    let arguments = [array(&[4], &[1, 2, 3, 4])?, array(&[], &[0])?];
    ends(suite, FOREVER_INSIDE, &arguments, &soon(), ErrorKind::TimeLimit)
}

fn time_sized(suite: &Suite<'_>) -> Checked {
    if !suite.engine.features().stops_calls {
        return Ok(());
    }
    ends(
        suite,
        FOREVER_SIZED,
        &[array(&[1], &[3])?],
        &soon(),
        ErrorKind::TimeLimit,
    )
}

fn cancelled(suite: &Suite<'_>) -> Checked {
    let cancellation = Cancellation::new();
    let options = ExecuteOptions {
        cancellation: Some(cancellation.clone()),
        ..ExecuteOptions::default()
    };
    let argument = [array(&[], &[0])?];
    if !suite.engine.features().stops_calls {
        cancellation.cancel();
        return ends(suite, FOREVER, &argument, &options, ErrorKind::Cancelled);
    }
    std::thread::scope(|scope| {
        // Before the call or while it runs, whichever it happens to be.
        scope.spawn(|| cancellation.cancel());
        ends(suite, FOREVER, &argument, &options, ErrorKind::Cancelled)
    })?;
    ends(suite, FOREVER, &argument, &options, ErrorKind::Cancelled)
}

fn memory(suite: &Suite<'_>) -> Checked {
    let limited = |bytes: u64| ExecuteOptions {
        memory_limit_bytes: Some(bytes),
        ..ExecuteOptions::default()
    };
    // An engine may need less than the program seems to; results are never less than they are.
    let x = array(&[4], &[1.0_f32; 4])?;
    ends(suite, ADD, &[x.clone(), x], &limited(3), ErrorKind::MemoryLimit)?;
    let outcome = call(
        &*suite.executable(&suite.program(LARGE)?)?,
        &[],
        &limited(64 << 20),
    );
    let results = told(outcome)?.results;
    let want = [array(&[], &[(1 << 20) - 1])?];
    ensure(results == want, || format!("within 64 MiB: {results:?}"))
}

fn steps(suite: &Suite<'_>) -> Checked {
    let options = ExecuteOptions {
        step_limit: Some(100),
        ..ExecuteOptions::default()
    };
    let want = match suite.engine.features().counts_steps {
        true => ErrorKind::StepLimit,
        false => ErrorKind::Unsupported,
    };
    ends(suite, LOOP, &[array(&[], &[1_000_000])?], &options, want)
}

fn unreached(suite: &Suite<'_>) -> Checked {
    let hour = Duration::from_secs(3600);
    let options = ExecuteOptions {
        memory_limit_bytes: Some(1 << 30),
        time_limit: suite.engine.features().stops_calls.then_some(hour),
        cancellation: Some(Cancellation::new()),
        ..ExecuteOptions::default()
    };
    let executable = suite.executable(&suite.program(LOOP)?)?;
    let results = told(call(&*executable, &[array(&[], &[10])?], &options))?.results;
    let want = [array(&[], &[55])?];
    ensure(results == want, || format!("{results:?}"))
}
