//! What programs give.

use super::programs::{ADD, ASSERTS, EXPECTS, LOOP, NARROW, PRODUCT, RESHAPE, ROWS, TOKEN};
use super::{Check, Checked, Suite, array, call, ensure, told};
use crate::error::ErrorKind;
use crate::options::ExecuteOptions;
use crate::value::Value;

pub(super) const CHECKS: &[Check] = &[
    ("arithmetic is that of the elements", arithmetic),
    ("tokens pass through", tokens),
    ("narrow elements take a byte each", narrow),
    ("loops run as often as they should", loops),
    ("a program runs at every size", sizes),
    ("the plan asks for what shapes come from", shapes_from_values),
    ("assertions on sizes hold or are errors", assertions),
    ("expectations are reported", expectations),
];

fn arithmetic(suite: &Suite<'_>) -> Checked {
    let program = suite.program(ADD)?;
    let x = array(&[4], &[1.0_f32, -0.0, f32::MAX, 1e-45])?;
    let y = array(&[4], &[0.5_f32, -0.0, f32::MAX, 1e-45])?;
    let denormal = match suite.engine.features().keeps_denormals {
        true => 3e-45,
        false => 0.0,
    };
    let sum = array(&[4], &[1.5_f32, -0.0, f32::INFINITY, denormal])?;
    suite.gives(&program, &[x, y], &[sum])?;
    let program = suite.program(PRODUCT)?;
    let x = array(&[2, 3], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let w = array(&[3, 2], &[1.0_f32, 0.0, 0.0, 1.0, 2.0, -1.0])?;
    let product = array(&[2, 2], &[7.0_f32, -1.0, 16.0, -1.0])?;
    suite.gives(&program, &[x, w], &[product, array(&[2], &[6.0_f32, 15.0])?])
}

fn tokens(suite: &Suite<'_>) -> Checked {
    let values = [Value::Token, array(&[2], &[7_u8, 255])?];
    suite.gives(&suite.program(TOKEN)?, &values, &values)
}

fn narrow(suite: &Suite<'_>) -> Checked {
    use artifact_ir::types::{ElementType, TensorType};
    let value = |element: ElementType, bytes: &[u8]| {
        let ty = TensorType::of_static(&[2], element);
        let buffer = crate::buffer::Buffer::copy_of(ty.into(), bytes);
        buffer.map(Value::Array).map_err(|error| error.to_string())
    };
    let (bits, nibbles) = (ElementType::I1, ElementType::I4);
    // 5 + 5 = 10, which wraps to -6; -1 + -1 = -2.
    let arguments = [value(bits, &[0, 1])?, value(nibbles, &[5, 0xFF])?];
    let results = [value(bits, &[1, 0])?, value(nibbles, &[0xFA, 0xFE])?];
    suite.gives(&suite.program(NARROW)?, &arguments, &results)
}

fn loops(suite: &Suite<'_>) -> Checked {
    let program = suite.program(LOOP)?;
    for (n, sum) in [(0, 0), (1, 1), (100, 5050), (-3, 0)] {
        suite.gives(&program, &[array(&[], &[n])?], &[array(&[], &[sum])?])?;
    }
    Ok(())
}

fn sizes(suite: &Suite<'_>) -> Checked {
    let program = suite.symbolic(ROWS)?;
    for (rows, columns) in [(1_u16, 1_u16), (2, 3), (0, 4), (3, 0), (17, 130)] {
        let shape = [u64::from(rows), u64::from(columns)];
        let count = usize::from(rows) * usize::from(columns);
        let x = array(&shape, &vec![0.25_f32; count])?;
        let sums = vec![0.5 * f32::from(columns); usize::from(rows)];
        suite.gives(&program, &[x], &[array(&shape[..1], &sums)?])?;
    }
    // Where nothing is left over, one executable serves all of them.
    let plan = told(suite.engine.plan(&program, &suite.options()))?;
    if plan.is_complete() {
        let executable = suite.executable(&program)?;
        for columns in [1, 5] {
            let x = array(&[1, columns], &vec![1.0_f32; columns as usize])?;
            told(call(&*executable, &[x], &ExecuteOptions::default()))?;
        }
    }
    Ok(())
}

fn shapes_from_values(suite: &Suite<'_>) -> Checked {
    let program = suite.symbolic(RESHAPE)?;
    let numbers: Vec<i32> = (0..6).collect();
    for shape in [[2_u8, 3], [6, 1]] {
        let [rows, columns] = shape.map(u64::from);
        let arguments = [array(&[6], &numbers)?, array(&[2], &shape.map(i32::from))?];
        suite.gives(&program, &arguments, &[array(&[rows, columns], &numbers)?])?;
    }
    Ok(())
}

fn assertions(suite: &Suite<'_>) -> Checked {
    let program = suite.symbolic(ASSERTS)?;
    let of_size = |size: usize| array(&[size as u64], &vec![1.0_f32; size]);
    suite.gives(&program, &[of_size(4)?], &[of_size(4)?])?;
    let arguments = [of_size(5)?];
    let plan = told(suite.engine.plan(&program, &suite.options()))?;
    let sizes = super::sizes(&program, &arguments);
    let outcome = plan.specialized(&program, &sizes, &[]).and_then(|program| {
        let module = suite.engine.compile(&program, &suite.options())?;
        call(
            &*suite.engine.load(&module)?,
            &arguments,
            &ExecuteOptions::default(),
        )
    });
    match outcome {
        Err(error) if error.kind() == ErrorKind::FailedCheck => {
            ensure(error.to_string().contains("at most four, not 5"), || {
                format!("the message is not the program's: {error}")
            })
        }
        other => Err(format!("five elements give {other:?}")),
    }
}

fn expectations(suite: &Suite<'_>) -> Checked {
    let program = suite.program(EXPECTS)?;
    let report = suite.outcome(&program, &[array(&[2], &[1, 3])?])?.report;
    let failed: Vec<&str> = report
        .failures
        .iter()
        .map(|failure| failure.check.as_str())
        .collect();
    ensure(report.checks == 2 && failed == ["check.expect_eq"], || {
        format!("{} expectations, of which failed: {failed:?}", report.checks)
    })?;
    let place = report.failures.first().and_then(|failure| failure.source.get());
    let want = EXPECTS.rfind("stablehlo.custom_call");
    ensure(place == want, || {
        format!("the failed expectation is at {place:?}, and stands at {want:?}")
    })
}
