//! Eigenvalues and eigenvectors.

use artifact_eval::tensor::Tensor;

use super::matrix::{Complex, Matrix, matrices, vectors};
use super::{Run, Tolerance, in_batch, together};

/// *A V = V diag(w)*, *V* is unitary, and *w* is close to what is expected.
pub(super) fn hermitian(run: &Run<'_>, tolerance: Tolerance) -> Result<(), String> {
    let [v, w] = run.results()?;
    let [_, wanted] = run.wanted()?;
    let (a, v) = (matrices(run.operand()?, "the operand")?, matrices(v, "V")?);
    let (w, wanted) = (vectors(w, "w")?, vectors(wanted, "the expected w")?);
    let count = together([a.len(), v.len(), w.len(), wanted.len()])?;
    for (index, (((a, v), w), wanted)) in a.iter().zip(&v).zip(&w).zip(&wanted).enumerate() {
        let size = sizes(a, [v], [w, wanted]).map_err(in_batch(index, count))?;
        let judge = || {
            eigenvectors(a, v, w, tolerance, "A V is not V diag(w)")?;
            tolerance.unitary(v, "V")?;
            let row = |w: &[Complex]| Matrix::from_fn(1, size, |_, column| w[column]);
            let what = "w is not what is expected";
            row(w).near(&row(wanted), tolerance.at(a.norm()), what)
        };
        judge().map_err(in_batch(index, count))?;
    }
    Ok(())
}

/// *A R = R diag(w)* and *A^H L = L diag(w)^H* with columns of length 1, and *w* has the expected values in any order.
pub(super) fn general(run: &Run<'_>, tolerance: Tolerance) -> Result<(), String> {
    let [w, left, right] = run.results()?;
    let [wanted, ..]: &[Tensor; 3] = run.wanted()?;
    let a = matrices(run.operand()?, "the operand")?;
    let (left, right) = (matrices(left, "L")?, matrices(right, "R")?);
    let (w, wanted) = (vectors(w, "w")?, vectors(wanted, "the expected w")?);
    let count = together([a.len(), left.len(), right.len(), w.len(), wanted.len()])?;
    let problems = a.iter().zip(&left).zip(&right).zip(w.iter().zip(&wanted));
    for (index, (((a, left), right), (w, wanted))) in problems.enumerate() {
        let judge = || {
            sizes(a, [left, right], [w, wanted])?;
            eigenvectors(a, right, w, tolerance, "A R is not R diag(w)")?;
            let conjugate: Vec<Complex> = w.iter().map(|value| value.conjugate()).collect();
            let what = "A^H L is not L diag(w)^H";
            eigenvectors(&a.adjoint(), left, &conjugate, tolerance, what)?;
            columns_of_length_one(left, "L", tolerance)?;
            columns_of_length_one(right, "R", tolerance)?;
            same_values(w, wanted, tolerance.at(a.norm()))
        };
        judge().map_err(in_batch(index, count))?;
    }
    Ok(())
}

/// The size that all have in common.
fn sizes<const M: usize, const V: usize>(
    a: &Matrix,
    others: [&Matrix; M],
    values: [&Vec<Complex>; V],
) -> Result<usize, String> {
    let size = a.square("the operand")?;
    for other in others {
        other.expect("a matrix of eigenvectors", size, size)?;
    }
    match values.iter().find(|values| values.len() != size) {
        Some(values) => Err(format!("there are {} eigenvalues, expected {size}", values.len())),
        None => Ok(size),
    }
}

fn eigenvectors(
    a: &Matrix,
    v: &Matrix,
    w: &[Complex],
    tolerance: Tolerance,
    what: &str,
) -> Result<(), String> {
    a.product(v)
        .near(&v.scale_columns(w), tolerance.at(a.norm()), what)
}

/// A column of zeros would satisfy every equation.
fn columns_of_length_one(matrix: &Matrix, what: &str, tolerance: Tolerance) -> Result<(), String> {
    for column in 0..matrix.columns() {
        let length = matrix.column_length(column);
        let near = (length - 1.0).abs() <= tolerance.at(1.0);
        if !near {
            return Err(format!(
                "column {column} of {what} has the length {length}, expected 1"
            ));
        }
    }
    Ok(())
}

/// Each takes the nearest expected value that is left.
fn same_values(got: &[Complex], wanted: &[Complex], tolerance: f64) -> Result<(), String> {
    let mut left = wanted.to_vec();
    for (index, got) in got.iter().enumerate() {
        let distances = left.iter().map(|want| (*got - *want).modulus());
        let nearest = distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        match nearest {
            Some((place, distance)) if distance <= tolerance => {
                left.swap_remove(place);
            }
            _ => return Err(format!("eigenvalue {index} is none of those that are expected")),
        }
    }
    Ok(())
}
