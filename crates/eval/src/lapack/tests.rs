//! What the fixtures of `tests/linalg.rs`, which jaxlib judges, leave out: larger matrices, extreme and hostile numbers.

use super::eigenvectors;
use super::entry::Entry;
use super::hermitian;
use super::householder::{factorise_qr, product_of_reflectors};
use super::matrix::Matrix;
use super::schur::{Spectral, schur};
use super::svd::svd;
use crate::algebra::number::{Complex, Field, Number};

/// A number made of a seed, between -1 and 1 (Knuth's MMIX generator).
fn noise(seed: &mut u64) -> f64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn random<T: Entry>(rows: usize, columns: usize, number: impl Fn(&mut u64) -> T) -> Matrix<T> {
    let mut seed = (rows * 1000 + columns) as u64;
    Matrix::from_fn(rows, columns, |_, _| number(&mut seed)).unwrap()
}

fn complex(seed: &mut u64) -> Complex {
    Complex::new(noise(seed), noise(seed))
}

/// Both are equal within `tolerance`, which NaN never is.
fn assert_close<T: Entry>(got: &Matrix<T>, want: &Matrix<T>, tolerance: f64, what: &str) {
    assert_eq!(
        (got.rows(), got.columns()),
        (want.rows(), want.columns()),
        "{what}"
    );
    for (got, want) in got.values().iter().zip(want.values()) {
        assert!(
            (*got - *want).modulus() <= tolerance,
            "{what}: {:?} is not {:?}",
            got.to_scalar(),
            want.to_scalar()
        );
    }
}

fn assert_unitary<T: Entry>(q: &Matrix<T>, what: &str) {
    let product = q.adjoint().unwrap().product(q).unwrap();
    let identity = Matrix::identity(q.columns(), q.columns()).unwrap();
    assert_close(&product, &identity, 1e-12, what);
}

/// The columns of a matrix times numbers.
fn scaled_columns<T: Entry>(a: &Matrix<T>, factors: &[T]) -> Matrix<T> {
    Matrix::from_fn(a.rows(), a.columns(), |row, column| {
        a[(row, column)] * factors[column]
    })
    .unwrap()
}

fn check_svd<T: Entry>(a: &Matrix<T>, scale: f64) {
    let what = format!("svd of {} x {}, {scale:e}", a.rows(), a.columns());
    let full = svd(a, true).unwrap().expect(&what);
    assert_unitary(&full.u, &what);
    assert_unitary(&full.v_adjoint, &what);
    assert!(
        full.values.is_sorted_by(|a, b| a >= b),
        "{what}: {:?}",
        full.values
    );
    let thin = svd(a, false).unwrap().expect(&what);
    assert_eq!(thin.values, full.values, "{what}");
    let values: Vec<T> = thin.values.iter().map(|value| T::from_real(*value)).collect();
    let product = scaled_columns(&thin.u, &values).product(&thin.v_adjoint).unwrap();
    assert_close(&product, a, 1e-13 * scale * values.len() as f64, &what);
}

fn check_schur<T: Spectral>(a: &Matrix<T>, scale: f64) {
    let what = format!("schur of {} rows, {scale:e}", a.rows());
    let found = schur(a.clone()).unwrap().expect(&what);
    assert_unitary(&found.vectors, &what);
    let product = found.vectors.product(&found.form).unwrap();
    let product = product.product(&found.vectors.adjoint().unwrap()).unwrap();
    assert_close(&product, a, 1e-13 * scale * a.rows() as f64, &what);
    for row in 2..a.rows() {
        assert!(
            found.form.row(row)[..row - 1]
                .iter()
                .all(|value| *value == T::ZERO),
            "{what}"
        );
    }
}

fn check_eigen<T: Spectral>(a: &Matrix<T>, scale: f64) {
    let what = format!("eigenvectors of {} rows, {scale:e}", a.rows());
    let found = eigenvectors::eigen(a.clone(), true, true).unwrap().expect(&what);
    let a = a.to_complex().unwrap();
    let (left, right) = (found.left.expect(&what), found.right.expect(&what));
    let tolerance = 1e-13 * scale * a.rows() as f64;
    let product = a.product(&right).unwrap();
    assert_close(&product, &scaled_columns(&right, &found.values), tolerance, &what);
    let conjugates: Vec<Complex> = found.values.iter().map(|value| value.conjugate()).collect();
    let product = a.adjoint().unwrap().product(&left).unwrap();
    assert_close(&product, &scaled_columns(&left, &conjugates), tolerance, &what);
}

fn check_hermitian<T: Entry>(a: &Matrix<T>, scale: f64) {
    let adjoint = a.adjoint().unwrap();
    let a = Matrix::from_fn(a.rows(), a.rows(), |row, column| {
        (a[(row, column)] + adjoint[(row, column)]).times(0.5)
    })
    .unwrap();
    for lower in [true, false] {
        let what = format!("{} rows, {scale:e}, lower: {lower}", a.rows());
        let found = hermitian::eigen(a.clone(), lower).unwrap().expect(&what);
        assert_unitary(&found.vectors, &what);
        assert!(found.values.is_sorted(), "{what}: {:?}", found.values);
        let values: Vec<T> = found.values.iter().map(|value| T::from_real(*value)).collect();
        let product = a.product(&found.vectors).unwrap();
        let expected = scaled_columns(&found.vectors, &values);
        assert_close(&product, &expected, 1e-13 * scale * a.rows() as f64, &what);
    }
}

#[test]
fn decompositions_recompose() {
    for scale in [1.0, 1e-290, 1e290] {
        let scaled_real = |seed: &mut u64| noise(seed) * scale;
        let scaled_complex = |seed: &mut u64| complex(seed).times(scale);
        for size in [3, 40] {
            check_schur(&random(size, size, scaled_real), scale);
            check_schur(&random(size, size, scaled_complex), scale);
            check_eigen(&random(size, size, scaled_real), scale);
            check_eigen(&random(size, size, scaled_complex), scale);
            check_hermitian(&random(size, size, scaled_real), scale);
            check_hermitian(&random(size, size, scaled_complex), scale);
        }
        for (rows, columns) in [(30, 30), (25, 40), (40, 7)] {
            check_svd(&random(rows, columns, scaled_real), scale);
            check_svd(&random(rows, columns, scaled_complex), scale);
        }
    }
}

/// Of the rank 3, with rows and columns of zeros, and with elements of very different sizes.
#[test]
fn decompositions_of_matrices_that_are_nearly_singular() {
    let low_rank = random(20, 3, complex).product(&random(3, 30, complex)).unwrap();
    check_svd(&low_rank, 3.0);
    check_svd(
        &random(12, 12, |seed| if noise(seed) < 0.7 { 0.0 } else { 1.0 }),
        1.0,
    );
    let graded = Matrix::from_fn(8, 8, |row, column| 10.0_f64.powi(-((row * column) as i32))).unwrap();
    check_svd(&graded, 1.0);
    check_hermitian(&graded, 1.0);
    check_schur(&graded, 1.0);
    check_eigen(&graded, 1.0);
    // One Jordan block: all eigenvectors are one.
    let jordan = Matrix::from_fn(30, 30, |row, column| match column.wrapping_sub(row) {
        0 => 0.5,
        1 => 1.0,
        _ => 0.0,
    });
    check_eigen(&jordan.unwrap(), 1.0);
}

/// Of the rank 1 and 2: what rounding leaves of the rest is smaller from step to step, down to subnormal numbers.
#[test]
fn decompositions_of_large_matrices_of_low_rank() {
    for size in [20, 51, 100, 200] {
        let ones = Matrix::from_fn(size, size, |_, _| 1.0).unwrap();
        let waves = random(size, 2, complex)
            .product(&random(2, size, complex))
            .unwrap();
        check_hermitian(&ones, 1.0);
        check_hermitian(&ones.to_complex().unwrap(), 1.0);
        check_schur(&ones, 1.0);
        check_schur(&waves, 1.0);
        check_eigen(&ones, 1.0);
        check_svd(&ones, 1.0);
        check_svd(&waves, 1.0);
        let checks = Matrix::from_fn(size, size, |row, column| ((row + column) % 2) as f64).unwrap();
        check_hermitian(&checks, 1.0);
        check_schur(&checks, 1.0);
        check_eigen(&checks, 1.0);
        check_svd(&checks, 1.0);
    }
}

/// Real and complex matrices of all ranks, whose columns differ in size by up to `10^80` each.
#[test]
fn decompositions_of_graded_matrices() {
    let mut seed = 1;
    for trial in 0..60 {
        let (size, rank) = (2 + trial % 20, 1 + trial % 5);
        let steepness = ((noise(&mut seed) + 1.0) * 40.0).floor();
        let mut number = |_: usize, column: usize| {
            let size = 10_f64.powf(-steepness * column as f64);
            complex(&mut seed).times(size)
        };
        let a = if trial % 2 == 0 {
            let left = Matrix::from_fn(size, rank, &mut number).unwrap();
            let right = Matrix::from_fn(size, rank, &mut number).unwrap();
            left.product(&right.adjoint().unwrap()).unwrap()
        } else {
            Matrix::from_fn(size, size, &mut number).unwrap()
        };
        let real = Matrix::from_fn(size, size, |row, column| a[(row, column)].re).unwrap();
        check_hermitian(&a, 1.0);
        check_hermitian(&real, 1.0);
        check_schur(&a, 1.0);
        check_schur(&real, 1.0);
        check_svd(&a, 1.0);
        check_svd(&real, 1.0);
        check_eigen(&a, 1.0);
        check_eigen(&real, 1.0);
    }
}

/// Cyclic permutations, which a QR step without an exceptional shift leaves as they are.
#[test]
fn cycles_are_left() {
    for size in 2..=24 {
        let cycle = Matrix::from_fn(size, size, |row, column| {
            f64::from(u8::from((column + 1) % size == row))
        })
        .unwrap();
        check_schur(&cycle, 1.0);
        check_eigen(&cycle, 1.0);
        check_schur(&cycle.to_complex().unwrap(), 1.0);
        check_eigen(&cycle.to_complex().unwrap(), 1.0);
    }
}

#[test]
fn q_and_r() {
    for (rows, columns) in [(40, 40), (40, 7)] {
        let a = random(rows, columns, complex);
        let mut factors = a.clone();
        let taus = factorise_qr(&mut factors);
        let q = product_of_reflectors(&factors, &taus, columns).unwrap();
        assert_unitary(&q, "q");
        let r = Matrix::from_fn(columns, columns, |row, column| {
            if column < row {
                Complex::ZERO
            } else {
                factors[(row, column)]
            }
        });
        assert_close(&q.product(&r.unwrap()).unwrap(), &a, 1e-13, "q r");
    }
}

/// Nothing panics and nothing goes on for ever, whatever the numbers are.
#[test]
fn hostile_numbers_end() {
    let special = [
        f64::NAN,
        f64::INFINITY,
        -f64::INFINITY,
        f64::MAX,
        5e-324,
        0.0,
        -0.0,
        1.0,
    ];
    for seed in 0..200_u64 {
        let mut state = seed;
        let mut number = || {
            let choice = (noise(&mut state) + 1.0) * 8.0;
            special.get(choice as usize).copied().unwrap_or(choice)
        };
        let a = Matrix::from_fn(4, 4, |_, _| Complex::new(number(), number())).unwrap();
        let reals = Matrix::from_fn(4, 4, |row, column| a[(row, column)].re).unwrap();
        let _ = (svd(&a, true).unwrap(), svd(&reals, true).unwrap());
        let _ = (schur(a.clone()).unwrap(), schur(reals.clone()).unwrap());
        let _ = (
            hermitian::eigen(a.clone(), true).unwrap(),
            hermitian::eigen(reals.clone(), false).unwrap(),
        );
        let _ = eigenvectors::eigen(a.clone(), true, true).unwrap();
        let _ = eigenvectors::eigen(reals, true, true).unwrap();
        let mut factors = a;
        let taus = factorise_qr(&mut factors);
        let _ = product_of_reflectors(&factors, &taus, 4).unwrap();
    }
}
