//! Each rule takes a right answer and refuses wrong ones. Answers are worked out by hand.

use std::sync::Arc;

use artifact_eval::scalar::Scalar;
use artifact_ir::types::{ElementType, TensorType};

use super::*;

fn tensor(element: ElementType, shape: &[u64], scalars: &[Scalar]) -> Tensor {
    Tensor::from_scalars(Arc::new(TensorType::of_static(shape, element)), scalars).unwrap()
}

fn floats(shape: &[u64], values: &[f64]) -> Tensor {
    let scalars: Vec<Scalar> = values.iter().map(|value| Scalar::Float(*value)).collect();
    tensor(ElementType::F64, shape, &scalars)
}

fn complex(shape: &[u64], values: &[(f64, f64)]) -> Tensor {
    let scalars: Vec<Scalar> = values.iter().map(|(re, im)| Scalar::Complex(*re, *im)).collect();
    tensor(ElementType::C64, shape, &scalars)
}

fn integers(shape: &[u64], values: &[i128]) -> Tensor {
    let scalars: Vec<Scalar> = values.iter().map(|value| Scalar::Int(*value)).collect();
    tensor(ElementType::I32, shape, &scalars)
}

const TOLERANCE: Tolerance = Tolerance {
    rtol: 1e-5,
    atol: 1e-6,
};

/// The verdict on results, where `wanted` is expected and the first input is the operand.
fn verdict(rule: Rule, inputs: &[Tensor], results: &[Tensor], wanted: &[Tensor]) -> Result<(), String> {
    let run = Run {
        operand: inputs.first(),
        inputs,
        results,
        wanted,
    };
    judge(rule, &run, TOLERANCE)
}

#[track_caller]
fn refused(rule: Rule, inputs: &[Tensor], results: &[Tensor], wanted: &[Tensor], says: &str) {
    let reason = verdict(rule, inputs, results, wanted).unwrap_err();
    assert!(reason.contains(says), "`{reason}` does not say `{says}`");
}

/// `[[0, -i], [i, 0]]` has the eigenvalues -1 and 1, with vectors `(i, 1)` and `(-i, 1)` over the root of 2.
#[test]
fn eigh() {
    let h = 0.5_f64.sqrt();
    let a = complex(&[2, 2], &[(0.0, 0.0), (0.0, -1.0), (0.0, 1.0), (0.0, 0.0)]);
    let v = complex(&[2, 2], &[(0.0, h), (0.0, -h), (h, 0.0), (h, 0.0)]);
    let real = |values: &[f64]| {
        let scalars: Vec<Scalar> = values.iter().map(|value| Scalar::Float(*value)).collect();
        tensor(ElementType::F32, &[2], &scalars)
    };
    let w = real(&[-1.0, 1.0]);
    let wanted = [v.clone(), w.clone()];
    let check = |results: [Tensor; 2], says: &str| {
        refused(Rule::Eigh, std::slice::from_ref(&a), &results, &wanted, says)
    };
    // Vectors are free up to a factor of modulus 1.
    let turned = complex(&[2, 2], &[(h, 0.0), (0.0, h), (0.0, -h), (-h, 0.0)]);
    for v in [&v, &turned] {
        verdict(
            Rule::Eigh,
            std::slice::from_ref(&a),
            &[v.clone(), w.clone()],
            &wanted,
        )
        .unwrap();
    }
    let doubled = complex(&[2, 2], &[(0.0, 2.0 * h), (0.0, -h), (2.0 * h, 0.0), (h, 0.0)]);
    check([doubled, w.clone()], "V is not unitary");
    let swapped = complex(&[2, 2], &[(0.0, -h), (0.0, h), (h, 0.0), (h, 0.0)]);
    check([swapped.clone(), w.clone()], "A V is not V diag(w)");
    // An eigenpair, in an order that is not the expected one.
    check([swapped, real(&[1.0, -1.0])], "w is not what is expected");
    check(
        [complex(&[2, 2], &[(f64::NAN, 0.0); 4]), w.clone()],
        "A V is not V diag(w)",
    );
    check([complex(&[1, 1], &[(1.0, 0.0)]), w], "is 1 by 1, expected 2 by 2");
}

/// `[[2, 1], [0, 3]]`: right vectors `(1, 0)` and `(1, 1)`, left ones `(1, -1)` and `(0, 1)`.
#[test]
fn eig() {
    let h = 0.5_f64.sqrt();
    let a = floats(&[2, 2], &[2.0, 1.0, 0.0, 3.0]);
    let pairs = |values: &[f64]| values.iter().map(|value| (*value, 0.0)).collect::<Vec<_>>();
    let matrix = |values: [f64; 4]| complex(&[2, 2], &pairs(&values));
    let values = |values: [f64; 2]| complex(&[2], &pairs(&values));
    let (w, left, right) = (values([2.0, 3.0]), [h, 0.0, -h, 1.0], [1.0, h, 0.0, h]);
    let wanted = [w.clone(), matrix(left), matrix(right)];
    let inputs = std::slice::from_ref(&a);
    verdict(Rule::Eig, inputs, &wanted, &wanted).unwrap();
    // Another order of values is as good, where the vectors have it too.
    let other = [
        values([3.0, 2.0]),
        matrix([0.0, h, 1.0, -h]),
        matrix([h, 1.0, h, 0.0]),
    ];
    verdict(Rule::Eig, inputs, &other, &wanted).unwrap();
    let check = |w: &Tensor, left: [f64; 4], right: [f64; 4], says: &str| {
        refused(
            Rule::Eig,
            inputs,
            &[w.clone(), matrix(left), matrix(right)],
            &wanted,
            says,
        );
    };
    check(&w, right, right, "A^H L is not");
    check(&w, left, left, "A R is not");
    check(&w, [0.0; 4], right, "column 0 of L has the length 0");
    check(&w, left, [0.0; 4], "column 0 of R has the length 0");
    check(
        &values([2.0, 2.0]),
        [h, h, -h, -h],
        [1.0, 1.0, 0.0, 0.0],
        "eigenvalue 1 is none of those",
    );
}

/// `[[0, 1], [2, 3], [4, 5]]`, of which the third row is the first pivot.
#[test]
fn lu() {
    let a = floats(&[3, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let packed = [4.0, 5.0, 0.0, 1.0, 0.5, 0.5];
    let results = |packed: &[f64], pivots: &[i128], order: &[i128]| {
        [
            floats(&[3, 2], packed),
            integers(&[2], pivots),
            integers(&[3], order),
        ]
    };
    // Rows 0 and 2 are exchanged, then rows 1 and 2: 2, 0, 1.
    let wanted = results(&packed, &[2, 2], &[2, 0, 1]);
    let inputs = std::slice::from_ref(&a);
    verdict(Rule::Lu, inputs, &wanted, &wanted).unwrap();
    let check = |packed: &[f64], pivots: &[i128], order: &[i128], says: &str| {
        refused(Rule::Lu, inputs, &results(packed, pivots, order), &wanted, says);
    };
    check(&packed, &[2, 1], &[2, 1, 0], "L U is not P A");
    check(&packed, &[2, 2], &[2, 1, 0], "the pivots make [2, 0, 1]");
    check(&packed, &[3, 2], &[2, 0, 1], "pivot 0 is 3, expected 0 to 2");
    check(&packed, &[2, 0], &[2, 0, 1], "pivot 1 is 0, expected 1 to 2");
    check(
        &[4.0, 5.0, 0.0, 1.0, 0.5, 0.6],
        &[2, 2],
        &[2, 0, 1],
        "L U is not P A",
    );
}

/// `[[0, 2, 0], [3, 0, 0]]`, full and reduced.
#[test]
fn svd() {
    let a = floats(&[2, 3], &[0.0, 2.0, 0.0, 3.0, 0.0, 0.0]);
    let inputs = std::slice::from_ref(&a);
    let u = floats(&[2, 2], &[0.0, 1.0, 1.0, 0.0]);
    let s = floats(&[2], &[3.0, 2.0]);
    let full = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let wanted = [u.clone(), s.clone(), floats(&[3, 3], &full)];
    verdict(Rule::Svd, inputs, &wanted, &wanted).unwrap();
    let reduced = [u.clone(), s.clone(), floats(&[2, 3], &full[..6])];
    verdict(Rule::Svd, inputs, &reduced, &reduced).unwrap();
    let check = |u: &Tensor, s: &Tensor, v: &[f64], says: &str| {
        refused(
            Rule::Svd,
            inputs,
            &[u.clone(), s.clone(), floats(&[3, 3], v)],
            &wanted,
            says,
        );
    };
    check(
        &floats(&[2, 2], &[1.0, 0.0, 0.0, 1.0]),
        &s,
        &full,
        "U diag(s) V is not A",
    );
    // What the equation does not see: the last row of V.
    let unseen = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0];
    check(&u, &s, &unseen, "V is not unitary");
    let scaled = floats(&[2, 2], &[0.0, 0.5, 0.5, 0.0]);
    check(&scaled, &floats(&[2], &[6.0, 4.0]), &full, "U is not unitary");
    let negative = floats(&[2, 2], &[0.0, -1.0, 1.0, 0.0]);
    check(
        &negative,
        &floats(&[2], &[3.0, -2.0]),
        &full,
        "s is not what is expected",
    );
}

/// A rotation has no real triangular form, and a complex one with `i` and `-i` on its diagonal.
#[test]
fn schur() {
    let a = floats(&[2, 2], &[0.0, -1.0, 1.0, 0.0]);
    let identity = floats(&[2, 2], &[1.0, 0.0, 0.0, 1.0]);
    let inputs = std::slice::from_ref(&a);
    let results = [a.clone(), identity.clone()];
    verdict(Rule::Schur, inputs, &results, &results).unwrap();
    let wrong = [identity.clone(), identity.clone()];
    refused(Rule::Schur, inputs, &wrong, &results, "Q T Q^H is not A");
    let doubled = [
        floats(&[2, 2], &[0.0, -0.25, 0.25, 0.0]),
        floats(&[2, 2], &[2.0, 0.0, 0.0, 2.0]),
    ];
    refused(Rule::Schur, inputs, &doubled, &results, "Q is not unitary");
    let a = complex(&[2, 2], &[(0.0, 0.0), (-1.0, 0.0), (1.0, 0.0), (0.0, 0.0)]);
    let q = complex(&[2, 2], &[(1.0, 0.0), (0.0, 0.0), (0.0, 0.0), (1.0, 0.0)]);
    let untouched = [a.clone(), q];
    refused(
        Rule::Schur,
        std::slice::from_ref(&a),
        &untouched,
        &untouched,
        "T is not triangular",
    );
    // A permutation of three is no block of two.
    let a = floats(&[3, 3], &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let q = floats(&[3, 3], &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    let untouched = [a.clone(), q];
    refused(
        Rule::Schur,
        std::slice::from_ref(&a),
        &untouched,
        &untouched,
        "element [2, 1]",
    );
}

#[test]
fn triangular_solve() {
    let inputs = |a: &[f64]| [floats(&[2, 2], a), floats(&[2, 1], &[2.0, 5.0])];
    let x = |values: &[f64]| [floats(&[2, 1], values)];
    let lower = inputs(&[1.0, 0.0, 1.0, 3.0]);
    verdict(Rule::TriangularSolve, &lower, &x(&[2.0, 1.0]), &x(&[2.0, 1.0])).unwrap();
    refused(
        Rule::TriangularSolve,
        &lower,
        &x(&[2.0, 1.1]),
        &x(&[2.0, 1.0]),
        "A X is not B",
    );
    let upper = inputs(&[1.0, 1.0, 0.0, 5.0]);
    verdict(Rule::TriangularSolve, &upper, &x(&[1.0, 1.0]), &x(&[1.0, 1.0])).unwrap();
    let full = inputs(&[1.0, 1.0, 1.0, 5.0]);
    refused(
        Rule::TriangularSolve,
        &full,
        &x(&[1.0, 1.0]),
        &x(&[1.0, 1.0]),
        "not triangular",
    );
    refused(
        Rule::TriangularSolve,
        &lower[..1],
        &x(&[2.0, 1.0]),
        &x(&[2.0, 1.0]),
        "no second input",
    );
}

#[test]
fn top_k() {
    let operand = floats(&[2, 4], &[1.0, 3.0, 3.0, 2.0, 0.0, -1.0, f64::NAN, -0.0]);
    let results = |values: &[f64], indices: &[i128]| [floats(&[2, 2], values), integers(&[2, 2], indices)];
    let nan = f64::NAN;
    let wanted = results(&[3.0, 3.0, nan, 0.0], &[1, 2, 2, 0]);
    let inputs = std::slice::from_ref(&operand);
    // Equal elements may be taken in any order.
    for indices in [[1, 2, 2, 0], [2, 1, 2, 3]] {
        verdict(
            Rule::TopK,
            inputs,
            &results(&[3.0, 3.0, nan, 0.0], &indices),
            &wanted,
        )
        .unwrap();
    }
    let check = |values: &[f64], indices: &[i128], says: &str| {
        refused(Rule::TopK, inputs, &results(values, indices), &wanted, says);
    };
    check(
        &[3.0, 2.0, nan, 0.0],
        &[1, 3, 2, 0],
        "row 0: the values are not those that are expected",
    );
    check(&[3.0, 3.0, nan, 0.0], &[1, 1, 2, 0], "row 0: index 1 comes twice");
    check(
        &[3.0, 3.0, nan, 0.0],
        &[1, 3, 2, 0],
        "row 0: index 3 stands for 2.0, and the value is 3.0",
    );
    check(
        &[3.0, 3.0, nan, 0.0],
        &[1, 2, 2, 4],
        "row 1: index 4 is outside of 4 elements",
    );
    check(
        &[3.0, 3.0, nan, 0.0],
        &[1, 2, 2, -1],
        "row 1: index -1 is outside",
    );
}

#[test]
fn batches_and_sizes() {
    let identity = [1.0, 0.0, 0.0, 1.0];
    let a = floats(&[2, 2, 2], &[1.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 2.0]);
    let v = floats(&[2, 2, 2], &[identity, identity].concat());
    let w = |values: &[f64]| floats(&[2, 2], values);
    let wanted = [v.clone(), w(&[1.0, 1.0, 2.0, 2.0])];
    verdict(Rule::Eigh, std::slice::from_ref(&a), &wanted, &wanted).unwrap();
    let wrong = [v.clone(), w(&[1.0, 1.0, 2.0, 2.1])];
    refused(
        Rule::Eigh,
        std::slice::from_ref(&a),
        &wrong,
        &wanted,
        "matrix 1 of 2: A V is not V diag(w)",
    );
    let single = floats(&[2, 2], &identity);
    refused(
        Rule::Eigh,
        &[single],
        &wanted,
        &wanted,
        "batches of different sizes",
    );
    refused(Rule::Eigh, &[], &wanted, &wanted, "no `operand`");
    refused(
        Rule::Eigh,
        std::slice::from_ref(&a),
        &wanted[..1],
        &wanted,
        "has 1 results",
    );
    refused(
        Rule::Eigh,
        &[integers(&[2, 2], &[1; 4])],
        &wanted,
        &wanted,
        "must have floats",
    );
    refused(
        Rule::Eigh,
        &[floats(&[2], &[1.0; 2])],
        &wanted,
        &wanted,
        "two dimensions at least",
    );
    for nothing in [f64::NAN, f64::INFINITY] {
        let a = floats(&[2, 2, 2], &[nothing; 8]);
        refused(Rule::Eigh, &[a], &wanted, &wanted, "A V is not V diag(w)");
    }
    let endless = floats(&[1 << 40, 0, 0], &[]);
    refused(
        Rule::Eigh,
        &[endless],
        &wanted,
        &wanted,
        "over the limit of 1048576",
    );
    let empty = [floats(&[0, 0], &[]), floats(&[0], &[])];
    verdict(Rule::Eigh, &[floats(&[0, 0], &[])], &empty, &empty).unwrap();
}
