//! Factorisations by elimination: Cholesky (`potrf`), LU (`getrf`) and tridiagonal systems (`gtsv`).

use super::entry::Entry;
use super::matrix::Matrix;

/// `potrf`: the Cholesky factor in one triangle, the other triangle as it was. `info` is 0, or the order of the first leading
/// minor that is not positive; a NaN is passed on and not reported, as jaxlib's LAPACK does.
pub(super) fn factorise_cholesky<T: Entry>(a: &mut Matrix<T>, lower: bool) -> i128 {
    let size = a.rows();
    // The upper factor is the adjoint of the lower one, of the adjoint matrix.
    let at = |row: usize, column: usize| if lower { (row, column) } else { (column, row) };
    for column in 0..size {
        for row in column..size {
            let mut rest = a[at(row, column)];
            for k in 0..column {
                rest = rest - a[at(row, k)] * a[at(column, k)].conjugate();
            }
            if row > column {
                a[at(row, column)] = rest / a[at(column, column)];
                continue;
            }
            let pivot = rest.real();
            if pivot <= 0.0 {
                a[at(row, column)] = T::from_real(pivot);
                return column as i128 + 1;
            }
            a[at(row, column)] = T::from_real(pivot.sqrt());
        }
    }
    0
}

/// `getrf`: L without its diagonal of ones and U in one matrix; the row, from 1, that each row was exchanged with; `info` is 0,
/// or the number of the first pivot that is zero.
pub(super) fn factorise_lu<T: Entry>(a: &mut Matrix<T>) -> (Vec<i128>, i128) {
    let mut info = 0;
    let mut exchanges = Vec::with_capacity(a.rows().min(a.columns()));
    for step in 0..a.rows().min(a.columns()) {
        let mut pivot = step;
        for row in step + 1..a.rows() {
            if a[(row, step)].magnitude() > a[(pivot, step)].magnitude() {
                pivot = row;
            }
        }
        exchanges.push(pivot as i128 + 1);
        if a[(pivot, step)] == T::ZERO {
            if info == 0 {
                info = step as i128 + 1;
            }
            continue;
        }
        a.swap_rows(step, pivot);
        for row in step + 1..a.rows() {
            let (upper, current) = a.two_rows_mut(step, row);
            let factor = current[step] / upper[step];
            current[step] = factor;
            for (value, above) in current[step + 1..].iter_mut().zip(&upper[step + 1..]) {
                *value = *value - factor * *above;
            }
        }
    }
    (exchanges, info)
}

/// A tridiagonal system: `lower[k]` stands left of `diagonal[k + 1]`, `upper[k]` right of `diagonal[k]`.
pub(super) struct Tridiagonal<T> {
    pub(super) lower: Vec<T>,
    pub(super) diagonal: Vec<T>,
    pub(super) upper: Vec<T>,
}

impl<T: Entry> Tridiagonal<T> {
    /// `gtsv`: replaces the right-hand sides by the solutions and the matrix by U, whose second superdiagonal lies in `lower`.
    /// `info` is 0, or the number of the first pivot that is zero, where it stops.
    pub(super) fn solve(&mut self, b: &mut Matrix<T>) -> i128 {
        let size = self.diagonal.len();
        for step in 0..size.saturating_sub(1) {
            if self.diagonal[step].magnitude() < self.lower[step].magnitude() {
                self.exchange(step, b);
            } else if self.diagonal[step] == T::ZERO {
                return step as i128 + 1;
            } else {
                self.eliminate(step, b);
            }
        }
        match self.diagonal.last() {
            None => return 0,
            Some(last) if *last == T::ZERO => return size as i128,
            Some(_) => {}
        }
        for row in (0..size).rev() {
            for column in 0..b.columns() {
                let mut rest = b[(row, column)];
                if row + 1 < size {
                    rest = rest - self.upper[row] * b[(row + 1, column)];
                }
                if row + 2 < size {
                    rest = rest - self.lower[row] * b[(row + 2, column)];
                }
                b[(row, column)] = rest / self.diagonal[row];
            }
        }
        0
    }

    /// Takes a multiple of row `step` from the next one.
    fn eliminate(&mut self, step: usize, b: &mut Matrix<T>) {
        let factor = self.lower[step] / self.diagonal[step];
        self.diagonal[step + 1] = self.diagonal[step + 1] - factor * self.upper[step];
        let (row, next) = b.two_rows_mut(step, step + 1);
        for (value, above) in next.iter_mut().zip(row) {
            *value = *value - factor * *above;
        }
        if step + 2 < self.diagonal.len() {
            self.lower[step] = T::ZERO;
        }
    }

    /// The same after an exchange of both rows.
    fn exchange(&mut self, step: usize, b: &mut Matrix<T>) {
        let factor = self.diagonal[step] / self.lower[step];
        self.diagonal[step] = self.lower[step];
        let below = self.diagonal[step + 1];
        self.diagonal[step + 1] = self.upper[step] - factor * below;
        if step + 2 < self.diagonal.len() {
            self.lower[step] = self.upper[step + 1];
            self.upper[step + 1] = -(factor * self.lower[step]);
        }
        self.upper[step] = below;
        b.swap_rows(step, step + 1);
        let (row, next) = b.two_rows_mut(step, step + 1);
        for (value, above) in next.iter_mut().zip(row) {
            *value = *value - factor * *above;
        }
    }
}
