//! When results are right though their numbers differ: factorizations that are not unique are judged by what they must
//! satisfy.
//!
//! Every rule holds for `f32`, `f64`, `complex<f32>` and `complex<f64>`, and for batches: the last dimensions are those of one
//! problem. An element of a residual may be at most *atol + rtol * norm*, where the norm is that of the right side as
//! docs/checking.md states each equation. What is not a number is near to nothing.

mod eigen;
mod factors;
mod matrix;
mod selection;
#[cfg(test)]
mod tests;

use artifact_eval::comparison::{Closeness, difference};
use artifact_eval::tensor::Tensor;
use serde::Deserialize;

use self::matrix::Matrix;
use crate::arguments::{ATOL, RTOL};

/// How the results of a program are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rule {
    /// Each is close to the expected one.
    #[default]
    Allclose,
    /// Vectors and values of a Hermitian matrix.
    Eigh,
    /// Values, left vectors and right vectors of a square matrix.
    Eig,
    /// Both triangles in one matrix, pivots, and the permutation that they make.
    Lu,
    /// Left vectors, singular values, and right vectors as rows.
    Svd,
    /// The triangular factor and the vectors.
    Schur,
    /// The solution for the second input as right side.
    TriangularSolve,
    /// Values and their places in the last dimension.
    TopK,
}

impl Rule {
    /// Whether the rule asks for the matrix that was factorized, or the tensor that was searched.
    pub(crate) const fn needs_operand(self) -> bool {
        !matches!(self, Self::Allclose)
    }
}

/// The tolerances of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerance {
    pub(crate) rtol: f64,
    pub(crate) atol: f64,
}

impl Tolerance {
    /// Where nobody says another: that of `artifact run --expect`.
    pub(crate) const DEFAULT: Self = Self {
        rtol: RTOL,
        atol: ATOL,
    };

    pub(crate) const fn closeness(self) -> Closeness {
        Closeness::Relative {
            atol: self.atol,
            rtol: self.rtol,
        }
    }

    /// What may be missing where numbers of this size were computed with. Nothing grows with a size that is not finite: it
    /// would allow everything.
    fn at(self, norm: f64) -> f64 {
        let relative = self.rtol * norm;
        if relative.is_finite() {
            self.atol + relative
        } else {
            self.atol
        }
    }

    /// Whether columns are orthogonal to each other and of length 1.
    fn unitary(self, columns: &Matrix, what: &str) -> Result<(), String> {
        let wanted = Matrix::identity(columns.columns());
        let product = columns.adjoint().product(columns);
        product.near(&wanted, self.at(1.0), &format!("{what} is not unitary"))
    }
}

/// A finished run, and what is known of it.
pub(crate) struct Run<'a> {
    /// What was factorized or searched, where the rule needs it.
    pub(crate) operand: Option<&'a Tensor>,
    /// The arguments of the program.
    pub(crate) inputs: &'a [Tensor],
    pub(crate) results: &'a [Tensor],
    /// The expected results: as many, and of the same types.
    pub(crate) wanted: &'a [Tensor],
}

/// Judges the results of a run.
///
/// # Errors
/// What is wrong with them.
pub(crate) fn judge(rule: Rule, run: &Run<'_>, tolerance: Tolerance) -> Result<(), String> {
    match rule {
        Rule::Allclose => all_close(run, tolerance),
        Rule::Eigh => eigen::hermitian(run, tolerance),
        Rule::Eig => eigen::general(run, tolerance),
        Rule::Lu => factors::lu(run, tolerance),
        Rule::Svd => factors::svd(run, tolerance),
        Rule::Schur => factors::schur(run, tolerance),
        Rule::TriangularSolve => factors::triangular_solve(run, tolerance),
        Rule::TopK => selection::top_k(run),
    }
}

fn all_close(run: &Run<'_>, tolerance: Tolerance) -> Result<(), String> {
    for (index, (got, want)) in run.results.iter().zip(run.wanted).enumerate() {
        if let Some(difference) = difference(got, want, tolerance.closeness()) {
            return Err(format!("result {index}: {difference}"));
        }
    }
    Ok(())
}

impl<'a> Run<'a> {
    fn operand(&self) -> Result<&'a Tensor, String> {
        let missing = "its list names no `operand`, and it has no input that could be it";
        self.operand.ok_or_else(|| missing.to_owned())
    }

    /// The results, where there are as many as the rule judges.
    fn results<const N: usize>(&self) -> Result<&'a [Tensor; N], String> {
        let count = self.results.len();
        let results = self.results.try_into();
        results.map_err(|_| format!("it has {count} results, and its `check` judges {N}"))
    }

    /// The expected results, likewise.
    fn wanted<const N: usize>(&self) -> Result<&'a [Tensor; N], String> {
        let count = self.wanted.len();
        let wanted = self.wanted.try_into();
        wanted.map_err(|_| format!("its list expects {count} results, and its `check` judges {N}"))
    }
}

/// The problems of batches, one of each batch at a time; all batches must have as many.
fn together<const N: usize>(batches: [usize; N]) -> Result<usize, String> {
    let [first, ..] = batches.as_slice() else {
        return Ok(0);
    };
    if batches.iter().all(|count| count == first) {
        Ok(*first)
    } else {
        Err(format!(
            "operand and results are batches of different sizes: {batches:?}"
        ))
    }
}

/// The place in a batch, where there is more than one.
fn in_batch(index: usize, count: usize) -> impl Fn(String) -> String {
    move |reason| {
        if count == 1 {
            reason
        } else {
            format!("matrix {index} of {count}: {reason}")
        }
    }
}
