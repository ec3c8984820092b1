//! How executables are called.

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_ir::types::{Dim, Type};

use super::programs::{ADD, CHAIN, ROWS};
use super::{Check, Checked, Suite, array, call, ensure, told};
use crate::buffer::Buffer;
use crate::executable::{Argument, Executable};
use crate::options::ExecuteOptions;
use crate::value::Value;

pub(super) const CHECKS: &[Check] = &[
    ("the signature is that of the program", signature),
    ("borrowed arguments stay as they are", borrowed),
    ("donated arguments are taken", donated),
    ("a value on the device is the same value", on_device),
    ("results are aligned", aligned),
    ("arguments need not be aligned", unaligned),
    ("memory of earlier results is used again", recycled),
    ("memory that somebody holds is left alone", held),
    ("the same arguments give the same bits", same_bits),
    ("one executable serves several threads", threads),
    ("an executable outlives its engine", outlives),
    ("a profile has times, and the operations where it can", profile),
];

fn add(suite: &Suite<'_>) -> Result<Arc<dyn Executable>, String> {
    suite.executable(&suite.program(ADD)?)
}

fn numbers(from: u8) -> Result<Value, String> {
    let numbers: Vec<f32> = (0..4)
        .map(|step| f32::from(from) + f32::from(step as u8))
        .collect();
    array(&[4], &numbers)
}

fn signature(suite: &Suite<'_>) -> Checked {
    let (executable, program) = (add(suite)?, suite.program(ADD)?);
    let ty = program.entry_function().ty();
    let signature = executable.signature();
    ensure(
        signature.arguments == ty.inputs && signature.results == ty.results,
        || format!("{signature:?}"),
    )?;
    // Where one executable serves every size, sizes of results follow or are unknown.
    let program = suite.symbolic(ROWS)?;
    let plan = told(suite.engine.plan(&program, &suite.options()))?;
    if !plan.is_complete() {
        return Ok(());
    }
    let executable = suite.executable(&program)?;
    let dims = |ty: Option<&Type>| ty.and_then(Type::as_tensor).map(|ty| ty.dims.clone());
    let signature = executable.signature();
    let (rows, sums) = (dims(signature.arguments.first()), dims(signature.results.first()));
    let follows = match (rows.as_deref(), sums.as_deref()) {
        (Some([rows, _]), Some([sums])) => *sums == Dim::Unknown || sums == rows,
        _ => false,
    };
    ensure(follows, || format!("{signature:?}"))
}

fn borrowed(suite: &Suite<'_>) -> Checked {
    let executable = add(suite)?;
    let (x, copy) = (numbers(1)?, numbers(1)?);
    let mut arguments = [Argument::from(&x), Argument::from(&x)];
    told(executable.call(&mut arguments, &ExecuteOptions::default()))?;
    ensure(x == copy, || format!("it became {x:?}"))
}

fn donated(suite: &Suite<'_>) -> Checked {
    let executable = add(suite)?;
    let (x, y) = (numbers(1)?, numbers(5)?);
    let kept = y.clone();
    // The second is held by somebody else, so that its memory is not the engine's to use.
    let mut arguments = [Argument::donate(x), Argument::donate(y)];
    let outcome = told(executable.call(&mut arguments, &ExecuteOptions::default()))?;
    let want = array(&[4], &[6.0_f32, 8.0, 10.0, 12.0])?;
    ensure(outcome.results == [want], || format!("{:?}", outcome.results))?;
    ensure(
        arguments.iter().all(|argument| argument.value().is_none()),
        || "a donated argument is still there".to_owned(),
    )?;
    ensure(kept == numbers(5)?, || {
        format!("an array that somebody holds became {kept:?}")
    })?;
    let again = executable.call(&mut arguments, &ExecuteOptions::default());
    ensure(again.is_err(), || "what was donated was used again".to_owned())
}

fn on_device(suite: &Suite<'_>) -> Checked {
    let executable = add(suite)?;
    let host = numbers(1)?;
    let kept = told(suite.engine.to_device(host.clone()))?;
    ensure(kept == host, || format!("{host:?} became {kept:?}"))?;
    let want = [array(&[4], &[2.0_f32, 4.0, 6.0, 8.0])?];
    for arguments in [[&kept, &kept], [&kept, &host]] {
        let mut borrowed = arguments.map(Argument::from);
        let results = told(executable.call(&mut borrowed, &ExecuteOptions::default()))?.results;
        ensure(results == want, || format!("{results:?}"))?;
    }
    // Given away, it is gone for the call and nobody else.
    let mut donated = [Argument::donate(kept.clone()), Argument::donate(kept.clone())];
    let results = told(executable.call(&mut donated, &ExecuteOptions::default()))?.results;
    ensure(results == want && kept == host, || {
        format!("{results:?}, of {kept:?}")
    })?;
    ensure(
        told(suite.engine.to_device(Value::Token))? == Value::Token,
        || "a token became something else".to_owned(),
    )
}

fn arrays(values: &[Value]) -> impl Iterator<Item = &Buffer> {
    values.iter().filter_map(Value::as_array)
}

fn aligned(suite: &Suite<'_>) -> Checked {
    let results = told(call(
        &*add(suite)?,
        &[numbers(0)?, numbers(0)?],
        &ExecuteOptions::default(),
    ))?
    .results;
    ensure(arrays(&results).all(Buffer::is_aligned), || {
        "a result is not".to_owned()
    })
}

/// As a file maps them, or a caller has them.
fn unaligned(suite: &Suite<'_>) -> Checked {
    let x = numbers(1)?;
    let array = x.as_array().ok_or("an array is none")?;
    let shifted = |by: usize| -> Result<Value, String> {
        // Zeros before the elements, so that these begin anywhere.
        let memory = Blob::new([vec![0; by], array.bytes().to_vec()].concat());
        let elements = memory
            .slice(by..memory.len())
            .ok_or("a view is outside its memory")?;
        let buffer = Buffer::of_blob(array.ty().clone(), elements);
        buffer.map(Value::Array).map_err(|error| error.to_string())
    };
    let want = told(call(
        &*add(suite)?,
        &[x.clone(), x.clone()],
        &ExecuteOptions::default(),
    ))?
    .results;
    for by in [0, 1, 4, 17] {
        suite.gives(&suite.program(ADD)?, &[shifted(by)?, x.clone()], &want)?;
    }
    Ok(())
}

fn recycled(suite: &Suite<'_>) -> Checked {
    let executable = add(suite)?;
    let (x, y) = (numbers(1)?, numbers(2)?);
    let mut results = Vec::new();
    let mut places = Vec::new();
    for _ in 0..3 {
        let mut arguments = [Argument::from(&x), Argument::from(&y)];
        told(executable.run(&mut arguments, &mut results, &ExecuteOptions::default()))?;
        places.extend(arrays(&results).map(|array| array.bytes().as_ptr() as usize));
    }
    ensure(places.windows(2).all(|pair| pair[0] == pair[1]), || {
        format!("results lie at {places:?}")
    })?;
    // Memory of another size, and more of it than there are results, is no obstacle.
    results = vec![array(&[3], &[1_u8, 2, 3])?, Value::Token];
    let mut arguments = [Argument::from(&x), Argument::from(&y)];
    told(executable.run(&mut arguments, &mut results, &ExecuteOptions::default()))?;
    let want = [array(&[4], &[3.0_f32, 5.0, 7.0, 9.0])?];
    ensure(results == want, || format!("{results:?}"))
}

fn held(suite: &Suite<'_>) -> Checked {
    let executable = add(suite)?;
    let x = numbers(1)?;
    let mut results = Vec::new();
    let mut run = |x: &Value| -> Result<Vec<Value>, String> {
        let mut arguments = [Argument::from(x), Argument::from(x)];
        told(executable.run(&mut arguments, &mut results, &ExecuteOptions::default()))?;
        Ok(results.clone())
    };
    let first = run(&x)?;
    run(&numbers(9)?)?;
    let want = [array(&[4], &[2.0_f32, 4.0, 6.0, 8.0])?];
    ensure(first == want, || {
        format!("results that are held became {first:?}")
    })
}

fn chain_argument() -> Result<Value, String> {
    array(&[5], &[0.1_f32, -1.5, 3.25, 0.0, 1e-3])
}

fn same_bits(suite: &Suite<'_>) -> Checked {
    let program = suite.program(CHAIN)?;
    let arguments = [chain_argument()?];
    let first = suite.outcome(&program, &arguments)?.results;
    let executable = suite.executable(&program)?;
    for _ in 0..3 {
        let again = told(call(&*executable, &arguments, &ExecuteOptions::default()))?.results;
        ensure(again == first, || format!("{first:?} at first, {again:?} later"))?;
    }
    Ok(())
}

fn threads(suite: &Suite<'_>) -> Checked {
    let executable = add(suite)?;
    let work = |thread: u8| -> Checked {
        for round in 0..20 {
            let (x, y) = (numbers(thread)?, numbers(round)?);
            let results = told(call(&*executable, &[x, y], &ExecuteOptions::default()))?.results;
            let sum = |step: u8| f32::from(thread) + f32::from(round) + 2.0 * f32::from(step);
            let want = [array(&[4], &[0, 1, 2, 3].map(sum))?];
            ensure(results == want, || {
                format!("thread {thread}, round {round}: {results:?}")
            })?;
        }
        Ok(())
    };
    let work = &work;
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..4).map(|thread| scope.spawn(move || work(thread))).collect();
        let mut ended = started.into_iter().map(|thread| thread.join());
        ended.try_for_each(|ended| ended.unwrap_or_else(|_| Err("a call panicked".to_owned())))
    })
}

fn outlives(suite: &Suite<'_>) -> Checked {
    let engine = told((suite.make)())?;
    let program = suite.program(ADD)?;
    let module = told(engine.compile(&program, &suite.options()))?;
    let executable = told(engine.load(&module))?;
    // One that is unloaded takes nothing from another.
    drop(told(engine.load(&module))?);
    drop(engine);
    let results = told(call(
        &*executable,
        &[numbers(0)?, numbers(1)?],
        &ExecuteOptions::default(),
    ))?
    .results;
    let want = [array(&[4], &[1.0_f32, 3.0, 5.0, 7.0])?];
    ensure(results == want, || format!("{results:?}"))
}

fn profile(suite: &Suite<'_>) -> Checked {
    let executable = suite.executable(&suite.program(CHAIN)?)?;
    let options = ExecuteOptions {
        profile: true,
        ..ExecuteOptions::default()
    };
    let report = told(call(&*executable, &[chain_argument()?], &options))?.report;
    let profile = report.profile.ok_or("there is none")?;
    let inside = profile.steps.iter().map(|step| step.time).sum();
    ensure(profile.total >= inside, || {
        format!("the steps take {inside:?} of {:?}", profile.total)
    })?;
    let is_named = |step: &crate::profile::ProfileStep| step.name.contains("tanh") && step.calls > 0;
    let has_operations = suite.engine.features().profiles_operations;
    ensure(!has_operations || profile.steps.iter().any(is_named), || {
        format!("no step has the tanh: {:?}", profile.steps)
    })?;
    let plain = told(call(
        &*executable,
        &[chain_argument()?],
        &ExecuteOptions::default(),
    ))?;
    ensure(plain.report.profile.is_none(), || {
        "one came that nobody asked for".to_owned()
    })
}
