//! Factors and triangular systems.

use artifact_cpu_routine::linalg::{System, Transform, cholesky, triangular_solve};
use artifact_cpu_routine::workspace::Workspace;
use artifact_eval::comparison::Closeness;
use artifact_eval::scalar::Scalar;
use artifact_ir::types::ElementType;

use crate::harness::{Array, Random, compare, run};

const ELEMENTS: [ElementType; 4] = [
    ElementType::F32,
    ElementType::F64,
    ElementType::C64,
    ElementType::C128,
];

fn close(element: ElementType) -> Closeness {
    let unit = if element.part() == ElementType::F32 {
        2e-4
    } else {
        1e-11
    };
    Closeness::Relative {
        atol: unit,
        rtol: unit,
    }
}

/// Square matrices whose diagonal is larger than the rest of its row; the other triangle holds numbers that must not be read.
fn matrices(random: &mut Random, element: ElementType, shape: &[usize]) -> Array {
    let size = shape[shape.len() - 1];
    let order = random.permutation(shape.len());
    Array::filled(element, shape, &order, |position| {
        let (row, column) = (position / size % size, position % size);
        match random.scalar(element) {
            Scalar::Float(value) if row == column => Scalar::Float(size as f64 + value),
            Scalar::Complex(re, _) if row == column => Scalar::Complex(size as f64 + re, 0.0),
            other => other,
        }
    })
}

fn check_cholesky(random: &mut Random, element: ElementType, batch: &[usize], size: usize, lower: bool) {
    let a = matrices(random, element, &[batch, &[size, size]].concat());
    factor(random, &a, lower);
}

fn factor(random: &mut Random, a: &Array, lower: bool) {
    let order = random.permutation(a.shape.len());
    let results = run(&[Array::new(a.element, &a.shape, &order)], |parallel, to| {
        cholesky(parallel, &mut Workspace::new(), lower, &a.view(), &mut to[0])
    });
    let body = format!("%r = stablehlo.cholesky %0, lower = {lower} : {}", a.ty());
    compare(&body, &[a], &results, close(a.element));
}

#[test]
fn factors() {
    let mut random = Random::new(60);
    for case in 0..100 {
        let rank = random.below(3);
        let batch = random.shape(rank, 4);
        let size = random.size(14);
        check_cholesky(&mut random, ELEMENTS[case % 4], &batch, size, case % 8 < 4);
    }
    for case in 0..8 {
        check_cholesky(
            &mut random,
            ELEMENTS[case % 4],
            &[],
            90 + 50 * (case / 4),
            case < 4,
        );
    }
    check_cholesky(&mut random, ElementType::F32, &[], 300, true);
}

#[test]
fn matrices_without_a_factor() {
    let mut random = Random::new(61);
    for (size, bad) in [(1, 0), (5, 2), (100, 70)] {
        for lower in [true, false] {
            let a = Array::filled(ElementType::F64, &[size, size], &[0, 1], |position| {
                let (row, column) = (position / size, position % size);
                let value = if row == column {
                    if row == bad { -1.0 } else { 1.0 }
                } else {
                    0.0
                };
                Scalar::Float(value)
            });
            factor(&mut random, &a, lower);
        }
    }
}

fn check_solve(
    random: &mut Random,
    element: ElementType,
    batch: &[usize],
    [size, vectors]: [usize; 2],
    system: System,
) {
    let a = matrices(random, element, &[batch, &[size, size]].concat());
    let sides = if system.left_side {
        [size, vectors]
    } else {
        [vectors, size]
    };
    let b = Array::random(random, element, &[batch, &sides].concat());
    let order = random.permutation(b.shape.len());
    let results = run(&[Array::new(element, &b.shape, &order)], |parallel, to| {
        triangular_solve(
            parallel,
            &mut Workspace::new(),
            system,
            &a.view(),
            &b.view(),
            &mut to[0],
        )
    });
    let transform = match system.transform {
        Transform::Identity => "NO_TRANSPOSE",
        Transform::Transpose => "TRANSPOSE",
        Transform::Adjoint => "ADJOINT",
    };
    let body = format!(
        "%r = \"stablehlo.triangular_solve\"(%0, %1) {{left_side = {}, lower = {}, unit_diagonal = {}, \
         transpose_a = #stablehlo<transpose {transform}>}} : ({}, {}) -> {}",
        system.left_side,
        system.lower,
        system.unit_diagonal,
        a.ty(),
        b.ty(),
        b.ty()
    );
    // Without its diagonal a matrix may have solutions that grow beyond all bounds.
    let close = match close(element) {
        Closeness::Relative { atol, rtol } if system.unit_diagonal => Closeness::Relative {
            atol: 50.0 * atol,
            rtol: 50.0 * rtol,
        },
        other => other,
    };
    compare(&body, &[&a, &b], &results, close);
}

fn systems() -> impl Iterator<Item = System> {
    (0..24).map(|case| System {
        left_side: case % 2 == 0,
        lower: case / 2 % 2 == 0,
        unit_diagonal: case / 4 % 2 == 0,
        transform: [Transform::Identity, Transform::Transpose, Transform::Adjoint][case / 8],
    })
}

#[test]
fn solutions() {
    let mut random = Random::new(62);
    for element in ELEMENTS {
        for system in systems() {
            for _ in 0..2 {
                let rank = random.below(3);
                let batch = random.shape(rank, 3);
                let sizes = [random.size(7), random.size(9)];
                check_solve(&mut random, element, &batch, sizes, system);
            }
            let stable = System {
                unit_diagonal: false,
                ..system
            };
            check_solve(&mut random, element, &[], [75, 3], stable);
        }
    }
    let system = System {
        left_side: true,
        lower: true,
        unit_diagonal: false,
        transform: Transform::Identity,
    };
    check_solve(&mut random, ElementType::F32, &[2], [150, 140], system);
}
