//! Functions that are staged, printed, read again, refined for the sizes of their inputs, and run.

#![expect(
    clippy::unwrap_used,
    reason = "a function that cannot be staged fails its test"
)]

use std::sync::Arc;

use artifact_dims::{Expr, Scope};
use artifact_eval::scalar::Scalar;
use artifact_eval::tensor::Tensor as Array;
use artifact_eval::{Options, Value, evaluate};
use artifact_ir::types::ElementType::{self, F32, I32};
use artifact_ir::types::TensorType;
use artifact_refine::{Fact, refine};
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::print::{PrintOptions, print_module};
use artifact_stage::{Stage, StageError, Staged, Tensor, function};

/// An input: shape and elements.
type Input<'a> = (&'a [u64], &'a [f64], ElementType);

fn f32s<'a>(shape: &'a [u64], elements: &'a [f64]) -> Input<'a> {
    (shape, elements, F32)
}

fn i32s<'a>(shape: &'a [u64], elements: &'a [f64]) -> Input<'a> {
    (shape, elements, I32)
}

/// The results for some inputs.
#[track_caller]
fn run(staged: &Staged, inputs: &[Input<'_>]) -> Vec<(Vec<u64>, Vec<f64>)> {
    let text = print_module(&staged.module, &PrintOptions::default());
    let module = parse_module(&text)
        .into_module()
        .unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let array = |(shape, elements, dtype): &Input<'_>| {
        let scalars = elements.iter().map(|element| match *dtype {
            I32 => Scalar::Int(*element as i128),
            _ => Scalar::Float(*element),
        });
        let ty = Arc::new(TensorType::of_static(shape, *dtype));
        Value::Tensor(Array::from_scalars(ty, &scalars.collect::<Vec<_>>()).unwrap())
    };
    let inputs: Vec<Value> = inputs.iter().map(array).collect();
    let facts: Vec<Fact> = inputs.iter().map(|input| Fact::of_type(input.ty())).collect();
    let entry = module.entry().unwrap();
    let refined =
        refine(&module, entry, &facts, &Scope::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(refined.unknown.is_empty(), "{:?}\n{text}", refined.unknown);
    let outcome = evaluate(&refined.module, refined.entry, inputs, &Options::default());
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let number = |scalar: Scalar| match scalar {
        Scalar::Bool(value) => f64::from(u8::from(value)),
        Scalar::Int(value) => value as f64,
        Scalar::Float(value) | Scalar::Complex(value, _) => value,
    };
    let result = |value: &Value| {
        let tensor = value.as_tensor().unwrap();
        let shape = tensor.shape().iter().map(|size| *size as u64).collect();
        (shape, tensor.scalars().map(number).collect())
    };
    outcome.results.iter().map(result).collect()
}

#[track_caller]
fn staged(build: impl FnOnce(&Stage) -> Result<Tensor, StageError>) -> Staged {
    function("f", |s| Ok(vec![("y", build(s)?)])).unwrap_or_else(|error| panic!("{error}"))
}

/// The only result for some inputs, which must be near what is expected.
#[track_caller]
fn check(
    build: impl FnOnce(&Stage) -> Result<Tensor, StageError>,
    inputs: &[Input<'_>],
    shape: &[u64],
    expected: &[f64],
) {
    let staged = staged(build);
    let results = run(&staged, inputs);
    assert_eq!(results[0].0, shape);
    let near = |(got, want): (&f64, &f64)| (got - want).abs() <= 1e-5 * (1.0 + want.abs());
    assert!(
        results[0].1.len() == expected.len() && results[0].1.iter().zip(expected).all(near),
        "{:?} and not {expected:?}",
        results[0].1
    );
}

/// The message of the mistake, which must be at a line of this file.
#[track_caller]
fn check_mistake(build: impl FnOnce(&Stage) -> Result<Tensor, StageError>, line: u32, parts: &[&str]) {
    let error = function("f", |s| Ok(vec![("y", build(s)?)])).unwrap_err();
    assert!(error.place().file().ends_with("stage.rs"), "{error}");
    assert_eq!(error.place().line(), line, "{error}");
    for part in parts {
        assert!(error.message().contains(part), "{error}");
    }
}

#[test]
fn quadratic() {
    check(
        |s| {
            let x = s.arg("x", F32, "n")?;
            Ok(3.0 * &x * &x + 2.0 * &x - 1.0)
        },
        &[f32s(&[3], &[0.0, 1.0, -2.0])],
        &[3],
        &[-1.0, 4.0, 7.0],
    );
}

#[test]
fn perceptron() {
    let staged = function("mlp", |s| {
        let x = s.arg("x", F32, "b, 2")?;
        let (w1, b1) = (s.arg("w1", F32, "2, 3")?, s.arg("b1", F32, "3")?);
        let w2 = s.arg("w2", F32, "3, 1")?;
        let hidden = (x.matmul(&w1) + b1).relu();
        Ok(vec![("y", hidden.matmul(&w2)), ("mean", hidden.mean(&[0, 1]))])
    })
    .unwrap();
    assert_eq!(staged.shapes[0], ("x".to_owned(), "(b, 2)".to_owned()));
    let weights = [
        f32s(&[2, 3], &[1.0, 0.0, -1.0, 0.0, 1.0, 1.0]),
        f32s(&[3], &[0.0, 0.5, 0.0]),
        f32s(&[3, 1], &[1.0, 2.0, 3.0]),
    ];
    for rows in [1, 4] {
        let x: Vec<f64> = (0..rows).flat_map(|row| [f64::from(row), 1.0]).collect();
        let shape = [u64::from(rows as u32), 2];
        let inputs = [&[f32s(&shape, &x)], weights.as_slice()].concat();
        let results = run(&staged, &inputs);
        assert_eq!(results[0].0, [shape[0], 1]);
        let expected: Vec<f64> = (0..rows)
            .map(|row| f64::from(row) + 3.0 + 3.0 * f64::from((1 - row).max(0)))
            .collect();
        assert_eq!(results[0].1, expected);
        assert_eq!(results[1].0, [0_u64; 0]);
    }
}

#[test]
fn attention() {
    let staged = staged(|s| {
        let q = s.arg("q", F32, "b, t, 2")?;
        let (k, v) = (s.arg("k", F32, "b, t, 2")?, s.arg("v", F32, "b, t, 2")?);
        let scores = q.einsum(&k, "bqd,bkd->bqk") * 0.5_f64.sqrt();
        let (row, column) = (scores.iota_like(1, I32), scores.iota_like(2, I32));
        let masked = scores.where_(&row.greater_equal(&column), &scores.full_like(f64::NEG_INFINITY));
        Ok(masked.softmax(-1).matmul(&v))
    });
    let zeros = [0.0; 6];
    let v = [1.0, 2.0, 3.0, 4.0, 8.0, 9.0];
    let results = run(
        &staged,
        &[
            f32s(&[1, 3, 2], &zeros),
            f32s(&[1, 3, 2], &zeros),
            f32s(&[1, 3, 2], &v),
        ],
    );
    assert_eq!(results[0].0, [1, 3, 2]);
    // With equal scores, each row is the mean of those up to it.
    let expected = [1.0, 2.0, 2.0, 3.0, 4.0, 5.0];
    assert!(
        results[0]
            .1
            .iter()
            .zip(expected)
            .all(|(got, want)| (got - want).abs() < 1e-5),
        "{results:?}"
    );
}

#[test]
fn norms() {
    check(
        |s| {
            let x = s.arg("x", F32, "b, n")?;
            let (scale, bias) = (s.arg("scale", F32, "n")?, s.arg("bias", F32, "n")?);
            Ok(x.layer_norm(&scale, &bias, 0.0))
        },
        &[
            f32s(&[1, 2], &[1.0, 3.0]),
            f32s(&[2], &[2.0, 2.0]),
            f32s(&[2], &[1.0, 0.0]),
        ],
        &[1, 2],
        &[-1.0, 2.0],
    );
    check(
        |s| Ok(s.arg("x", F32, "b, n")?.log_softmax(1)),
        &[f32s(&[1, 2], &[0.0, 0.0])],
        &[1, 2],
        &[-(2.0_f64.ln()); 2],
    );
}

#[test]
fn products() {
    let a = [1.0, 2.0, 3.0, 4.0];
    let b = [5.0, 6.0, 7.0, 8.0];
    let cases: [(&str, &[u64], &[f64]); 5] = [
        ("ij,jk->ik", &[2, 2], &[19.0, 22.0, 43.0, 50.0]),
        ("ij,jk->ki", &[2, 2], &[19.0, 43.0, 22.0, 50.0]),
        ("ij,ij->ij", &[2, 2], &[5.0, 12.0, 21.0, 32.0]),
        ("ij,kl->", &[], &[260.0]),
        ("ij,ji->", &[], &[69.0]),
    ];
    for (equation, shape, expected) in cases {
        check(
            |s| {
                let (a, b) = (s.arg("a", F32, "2, 2")?, s.arg("b", F32, "2, 2")?);
                Ok(a.einsum(&b, equation))
            },
            &[f32s(&[2, 2], &a), f32s(&[2, 2], &b)],
            shape,
            expected,
        );
    }
    check(
        |s| Ok(s.arg("a", F32, "2")?.matmul(&s.arg("b", F32, "b, 2, 1")?)),
        &[f32s(&[2], &[1.0, 2.0]), f32s(&[2, 2, 1], &b)],
        &[2, 1],
        &[17.0, 23.0],
    );
}

#[test]
fn shapes_and_sizes() {
    check(
        |s| {
            let x = s.arg("x", F32, "2*h, 3")?;
            let twice = x
                .concatenate(&[&x], 0)
                .reshape(&["2*h".parse().unwrap(), "6".parse().unwrap()]);
            Ok(twice.transpose(&[1, 0]).slice(0, 0, 2).sum(&[1]))
        },
        &[f32s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])],
        &[2],
        &[2.0, 4.0],
    );
    // A size that must be rounded down, of an argument that is shorter than the divisor.
    let size: Expr = "floordiv(n - 3, 2) + 2".parse().unwrap();
    let f = staged(|s| {
        let x = s.arg("x", F32, "n")?;
        Ok(x.sum(&[0]).broadcast_to(std::slice::from_ref(&size)))
    });
    for n in 1..8_u64 {
        let results = run(&f, &[f32s(&[n], &vec![1.0; n as usize])]);
        assert_eq!(results[0].0, [((n as i64 - 3).div_euclid(2) + 2) as u64], "{n}");
    }
}

#[test]
fn rows() {
    check(
        |s| Ok(s.arg("x", F32, "n, m")?.take(&s.arg("i", I32, "k")?)),
        &[
            f32s(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            i32s(&[2], &[2.0, 0.0]),
        ],
        &[2, 2],
        &[5.0, 6.0, 1.0, 2.0],
    );
    check(
        |s| {
            let x = s.arg("x", F32, "n, 2")?;
            Ok(x.scatter_add(&s.arg("i", I32, "k")?, &s.arg("u", F32, "k, 2")?))
        },
        &[
            f32s(&[2, 2], &[0.0; 4]),
            i32s(&[3], &[1.0, 1.0, 7.0]),
            f32s(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        ],
        &[2, 2],
        &[0.0, 0.0, 4.0, 6.0],
    );
}

#[test]
fn control_flow() {
    for (x, expected) in [(3.0, 4.0), (-3.0, 9.0)] {
        check(
            |s| {
                let x = s.arg("x", F32, "")?;
                let positive = x.greater(&s.scalar(0.0, F32));
                Ok(s.cond(&positive, || vec![&x + 1.0], || vec![&x * &x]).remove(0))
            },
            &[f32s(&[], &[x])],
            &[],
            &[expected],
        );
    }
    // The square root of 2 by Newton's method.
    check(
        |s| {
            let start = s.arg("x", F32, "")?;
            let step = |x: &Tensor| (x + 2.0 / x) * 0.5;
            let found = s.while_loop(
                &[start],
                |x| (&x[0] * &x[0] - 2.0).abs().greater(&s.scalar(1e-5, F32)),
                |x| vec![step(&x[0])],
            );
            Ok(found[0].clone())
        },
        &[f32s(&[], &[1.0])],
        &[],
        &[2.0_f64.sqrt()],
    );
    check(
        |s| {
            let rows = s.arg("rows", F32, "t, b")?;
            let state = s.arg("state", F32, "b")?;
            Ok(s.scan(&[state], &rows, |state, row| vec![&state[0] * 2.0 + row])
                .remove(0))
        },
        &[
            f32s(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            f32s(&[2], &[0.0, 1.0]),
        ],
        &[2],
        &[15.0, 30.0],
    );
}

#[test]
fn mistakes_are_at_the_line_that_made_them() {
    check_mistake(
        |s| {
            let (x, w) = (s.arg("x", F32, "b, 3")?, s.arg("w", F32, "4, 5")?);
            Ok(x.matmul(&w) + 1.0)
        },
        line!() - 2,
        &["cannot be multiplied", "3 and 4"],
    );
    check_mistake(
        |s| Ok(s.arg("x", F32, "b")? + s.arg("y", F32, "c")?),
        line!() - 1,
        &[
            "(b,) and (c,) do not broadcast",
            "not known to be equal",
            "holds for",
            "fails for",
        ],
    );
    check_mistake(
        |s| {
            let x = s.arg("x", F32, "b")?;
            Ok(&x + s.arg("n", I32, "b")?)
        },
        line!() - 2,
        &["element types", "f32", "i32"],
    );
    check_mistake(|s| s.arg("x", F32, "b@"), line!(), &["`x`", "'@'", "^"]);
    check_mistake(
        |s| {
            let x = s.arg("x", F32, "n")?;
            s.constraint("n > n")?;
            Ok(x)
        },
        line!() - 3,
        &["n > n"],
    );
    check_mistake(
        |s| Ok(s.arg("x", F32, "n")?.slice(0, 0, 2)),
        line!() - 1,
        &["0..2 is not known to be within dimension 0 of (n,)"],
    );
}

#[test]
fn constraints_settle_what_is_equal() {
    let f = staged(|s| {
        let (x, y) = (s.arg("x", F32, "2*b")?, s.arg("y", F32, "c")?);
        s.constraint("c == 2*b")?;
        s.constraint("b >= 2")?;
        Ok((x + y).slice(0, 0, 4))
    });
    assert_eq!(f.constraints, ["c == 2*b", "b >= 2"]);
    assert_eq!(
        run(&f, &[f32s(&[4], &[1.0; 4]), f32s(&[4], &[2.0; 4])])[0].1,
        [3.0; 4]
    );
}

#[test]
fn a_tensor_of_another_function_is_refused() {
    let mut leaked = None;
    staged(|s| {
        let x = s.arg("x", F32, "2")?;
        let y = &x * 2.0 + 1.0;
        leaked = Some(y.clone());
        Ok(y)
    });
    let leaked = leaked.unwrap();
    let error = function("g", |s| Ok(vec![("y", s.arg("x", F32, "2")? + leaked)])).unwrap_err();
    assert!(error.message().contains("another function"), "{error}");
}
