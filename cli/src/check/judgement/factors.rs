//! Factorizations and solutions of systems.

use artifact_eval::tensor::Tensor;

use super::matrix::{Complex, Matrix, matrices, vectors};
use super::selection::integers;
use super::{Run, Tolerance, in_batch, together};

/// *P A = L U*, and the permutation is what the pivots, counted from 0, make of the identity.
pub(super) fn lu(run: &Run<'_>, tolerance: Tolerance) -> Result<(), String> {
    let [packed, pivots, permutation] = run.results()?;
    let (a, packed) = (matrices(run.operand()?, "the operand")?, matrices(packed, "L U")?);
    let (pivots, permutation) = (
        integers(pivots, "the pivots")?,
        integers(permutation, "the permutation")?,
    );
    let count = together([a.len(), packed.len(), pivots.len(), permutation.len()])?;
    let problems = a.iter().zip(&packed).zip(pivots.iter().zip(&permutation));
    for (index, ((a, packed), (pivots, permutation))) in problems.enumerate() {
        let judge = || {
            let (rows, columns) = (a.rows(), a.columns());
            packed.expect("L U", rows, columns)?;
            let order = swapped(rows, rows.min(columns), pivots)?;
            if !permutation
                .iter()
                .map(|row| usize::try_from(*row).ok())
                .eq(order.iter().copied().map(Some))
            {
                return Err(format!(
                    "the permutation is {permutation:?}, and the pivots make {order:?}"
                ));
            }
            let (lower, upper) = triangles(packed);
            let permuted = Matrix::from_fn(rows, columns, |row, column| a.at(order[row], column));
            let what = "L U is not P A";
            lower
                .product(&upper)
                .near(&permuted, tolerance.at(a.norm()), what)
        };
        judge().map_err(in_batch(index, count))?;
    }
    Ok(())
}

/// The order of rows after each was exchanged with that of its pivot, which is itself or one below.
fn swapped(rows: usize, count: usize, pivots: &[i128]) -> Result<Vec<usize>, String> {
    if pivots.len() != count {
        return Err(format!("there are {} pivots, expected {count}", pivots.len()));
    }
    let mut order: Vec<usize> = (0..rows).collect();
    for (row, pivot) in pivots.iter().enumerate() {
        match usize::try_from(*pivot) {
            Ok(other) if (row..rows).contains(&other) => order.swap(row, other),
            _ => return Err(format!("pivot {row} is {pivot}, expected {row} to {}", rows - 1)),
        }
    }
    Ok(order)
}

/// The lower triangle with ones on its diagonal, and the upper one.
fn triangles(packed: &Matrix) -> (Matrix, Matrix) {
    let (rows, columns) = (packed.rows(), packed.columns());
    let inner = rows.min(columns);
    let lower = Matrix::from_fn(rows, inner, |row, column| match row.cmp(&column) {
        std::cmp::Ordering::Less => Complex::ZERO,
        std::cmp::Ordering::Equal => Complex::ONE,
        std::cmp::Ordering::Greater => packed.at(row, column),
    });
    let upper = Matrix::from_fn(inner, columns, |row, column| {
        if row <= column {
            packed.at(row, column)
        } else {
            Complex::ZERO
        }
    });
    (lower, upper)
}

/// *U diag(s) V = A*; the columns of *U* and the rows of *V* are unitary; *s* is close to what is expected.
pub(super) fn svd(run: &Run<'_>, tolerance: Tolerance) -> Result<(), String> {
    let [u, s, v] = run.results()?;
    let [_, wanted, _] = run.wanted()?;
    let a = matrices(run.operand()?, "the operand")?;
    let (u, v) = (matrices(u, "U")?, matrices(v, "V")?);
    let (s, wanted) = (vectors(s, "s")?, vectors(wanted, "the expected s")?);
    let count = together([a.len(), u.len(), v.len(), s.len(), wanted.len()])?;
    let problems = a.iter().zip(u.iter().zip(&v)).zip(s.iter().zip(&wanted));
    for (index, ((a, (u, v)), (s, wanted))) in problems.enumerate() {
        let judge = || {
            let size = a.rows().min(a.columns());
            if s.len() != size || wanted.len() != size {
                return Err(format!("there are {} singular values, expected {size}", s.len()));
            }
            let at_least = |what, is: usize| match is < size {
                true => Err(format!("{what} has {is} vectors, expected {size} at least")),
                false => Ok(is),
            };
            u.expect("U", a.rows(), at_least("U", u.columns())?)?;
            v.expect("V", at_least("V", v.rows())?, a.columns())?;
            let scaled = u.first_columns(size).scale_columns(s);
            let what = "U diag(s) V is not A";
            let tolerated = tolerance.at(a.norm());
            scaled.product(&v.first_rows(size)).near(a, tolerated, what)?;
            tolerance.unitary(u, "U")?;
            tolerance.unitary(&v.adjoint(), "V")?;
            let row = |s: &[Complex]| Matrix::from_fn(1, size, |_, column| s[column]);
            row(s).near(&row(wanted), tolerated, "s is not what is expected")
        };
        judge().map_err(in_batch(index, count))?;
    }
    Ok(())
}

/// *Q T Q^H = A*; *Q* is unitary; *T* is upper triangular, for real matrices with blocks of two by two on its diagonal.
pub(super) fn schur(run: &Run<'_>, tolerance: Tolerance) -> Result<(), String> {
    let [t, q] = run.results()?;
    let blocks = !t.storage().is_complex();
    let a = matrices(run.operand()?, "the operand")?;
    let (t, q) = (matrices(t, "T")?, matrices(q, "Q")?);
    let count = together([a.len(), t.len(), q.len()])?;
    for (index, ((a, t), q)) in a.iter().zip(&t).zip(&q).enumerate() {
        let judge = || {
            let size = a.square("the operand")?;
            t.expect("T", size, size)?;
            q.expect("Q", size, size)?;
            let tolerated = tolerance.at(a.norm());
            let product = q.product(t).product(&q.adjoint());
            product.near(a, tolerated, "Q T Q^H is not A")?;
            tolerance.unitary(q, "Q")?;
            triangular(t, blocks, tolerated)
        };
        judge().map_err(in_batch(index, count))?;
    }
    Ok(())
}

/// Whether there is nothing below the diagonal, single elements of blocks apart.
fn triangular(t: &Matrix, blocks: bool, tolerance: f64) -> Result<(), String> {
    let is_zero = |row: usize, column: usize| t.at(row, column).modulus() <= tolerance;
    let below = (0..t.columns()).flat_map(|column| (column + 1..t.rows()).map(move |row| (row, column)));
    for (row, column) in below {
        // The block of this element, where the one above it is in none.
        let in_block = blocks && row == column + 1 && (column == 0 || is_zero(column, column - 1));
        if !in_block && !is_zero(row, column) {
            return Err(format!(
                "T is not triangular: element [{row}, {column}] is {:.3e}, over {tolerance:.3e}",
                t.at(row, column).modulus()
            ));
        }
    }
    Ok(())
}

/// *A X = B*, where *A* is triangular as it stands.
pub(super) fn triangular_solve(run: &Run<'_>, tolerance: Tolerance) -> Result<(), String> {
    let [x] = run.results()?;
    let b: Option<&Tensor> = run.inputs.get(1);
    let b = b.ok_or("it has no second input, which would be the right side")?;
    let (a, b) = (matrices(run.operand()?, "the operand")?, matrices(b, "B")?);
    let x = matrices(x, "X")?;
    let count = together([a.len(), b.len(), x.len()])?;
    for (index, ((a, b), x)) in a.iter().zip(&b).zip(&x).enumerate() {
        let judge = || {
            let size = a.square("the operand")?;
            b.expect("B", size, b.columns())?;
            x.expect("X", size, b.columns())?;
            let upper = triangular(a, false, 0.0).is_ok();
            if !upper && triangular(&a.adjoint(), false, 0.0).is_err() {
                return Err("the operand is not triangular: which part of it counts is not known".to_owned());
            }
            a.product(x).near(b, tolerance.at(b.norm()), "A X is not B")
        };
        judge().map_err(in_batch(index, count))?;
    }
    Ok(())
}
