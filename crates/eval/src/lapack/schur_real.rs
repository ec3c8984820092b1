//! The real Schur form: Francis's double shift, and blocks of two rows in standard form.

use super::householder::Reflector;
use super::matrix::Matrix;
use super::schur::{Converged, deflate, iterations_max};
use crate::algebra::number::Complex;

/// Takes a Hessenberg matrix to its real Schur form and applies every transformation to the columns of `z`.
pub(super) fn iterate(h: &mut Matrix<f64>, z: &mut Matrix<f64>) -> Converged<Vec<Complex>> {
    let size = h.rows();
    let mut eigenvalues = vec![Complex::new(0.0, 0.0); size];
    // Rows that have not converged.
    let mut active = size;
    let (mut iterations, mut left) = (0, iterations_max(size));
    while active > 0 {
        let high = active - 1;
        let low = deflate(h, high);
        if low == high {
            eigenvalues[high] = Complex::new(h[(high, high)], 0.0);
        } else if low + 1 == high {
            let pair = standardise(h, z, low);
            eigenvalues[low..=high].copy_from_slice(&pair);
        } else if left == 0 {
            return Err(active as i128);
        } else {
            left -= 1;
            iterations += 1;
            francis_step(h, z, low, high, iterations);
            continue;
        }
        active = low;
        iterations = 0;
    }
    Ok(eigenvalues)
}

/// Both shifts, as the eigenvalues of `[[x, w], [1, y]]`.
struct Shifts {
    x: f64,
    y: f64,
    w: f64,
}

impl Shifts {
    /// The eigenvalues of the last block of two rows; now and then others, out of a cycle.
    fn of(h: &Matrix<f64>, low: usize, high: usize, iterations: usize) -> Self {
        let exceptional = |corner: f64, size: f64| {
            let diagonal = 0.75 * size + corner;
            Self {
                x: diagonal,
                y: diagonal,
                w: -0.4375 * size * size,
            }
        };
        match iterations % 20 {
            10 => {
                let size = h[(low + 1, low)].abs() + h[(low + 2, low + 1)].abs();
                exceptional(h[(low, low)], size)
            }
            0 => {
                let size = h[(high, high - 1)].abs() + h[(high - 1, high - 2)].abs();
                exceptional(h[(high, high)], size)
            }
            _ => Self {
                x: h[(high, high)],
                y: h[(high - 1, high - 1)],
                w: h[(high, high - 1)] * h[(high - 1, high)],
            }
            .aligned(),
        }
    }

    /// Two real eigenvalues are replaced by the one that is closer to the last element, twice.
    fn aligned(self) -> Self {
        let half = (self.y - self.x) / 2.0;
        let discriminant = half * half + self.w;
        if discriminant < 0.0 {
            return self;
        }
        let denominator = half + discriminant.sqrt().copysign(half);
        let shift = if denominator == 0.0 {
            self.x
        } else {
            self.x - self.w / denominator
        };
        Self {
            x: shift,
            y: shift,
            w: 0.0,
        }
    }
}

/// One double step for rows `low` to `high`, three at least.
fn francis_step(h: &mut Matrix<f64>, z: &mut Matrix<f64>, low: usize, high: usize, iterations: usize) {
    let size = h.rows();
    let shifts = Shifts::of(h, low, high, iterations);
    // The first column of (H - s1)(H - s2), without a common factor.
    let (a, c) = (h[(low, low)], h[(low + 1, low)]);
    let (to_x, to_y) = (shifts.x - a, shifts.y - a);
    let mut bulge = vec![
        (to_x * to_y - shifts.w) / c + h[(low, low + 1)],
        h[(low + 1, low + 1)] - a - to_x - to_y,
        h[(low + 2, low + 1)],
    ];
    for row in low..high {
        let width = bulge.len();
        let reflector = Reflector::of(std::mem::take(&mut bulge));
        let tau = reflector.tau;
        if row > low {
            h[(row, row - 1)] = reflector.beta;
            for below in row + 1..row + width {
                h[(below, row - 1)] = 0.0;
            }
        }
        reflector.apply_left(tau, h, row, row..size);
        reflector.apply_right(tau, h, 0..(row + width).min(high) + 1, row);
        reflector.apply_right(tau, z, 0..size, row);
        let end = (row + 4).min(high + 1);
        bulge = (row + 1..end).map(|below| h[(below, row)]).collect();
    }
}

/// Takes the block of rows `row` and `row + 1` to standard form: triangular, or with equal elements on the diagonal and others
/// of opposite signs beside it. Returns its eigenvalues.
fn standardise(h: &mut Matrix<f64>, z: &mut Matrix<f64>, row: usize) -> [Complex; 2] {
    let (next, size) = (row + 1, h.rows());
    let block = Block {
        a: h[(row, row)],
        b: h[(row, next)],
        c: h[(next, row)],
        d: h[(next, next)],
    };
    let (Block { a, b, c, d }, Rotation { cosine, sine }) = block.standard_form();
    let (upper, lower) = h.two_rows_mut(row, next);
    for (upper, lower) in upper.iter_mut().zip(lower).skip(next + 1) {
        let first = *upper;
        *upper = cosine * first + sine * *lower;
        *lower = cosine * *lower - sine * first;
    }
    let rotate_columns = |matrix: &mut Matrix<f64>, rows: usize| {
        for index in 0..rows {
            let values = &mut matrix.row_mut(index)[row..row + 2];
            let [first, second] = [values[0], values[1]];
            values[0] = cosine * first + sine * second;
            values[1] = cosine * second - sine * first;
        }
    };
    rotate_columns(h, row);
    rotate_columns(z, size);
    (h[(row, row)], h[(row, next)]) = (a, b);
    (h[(next, row)], h[(next, next)]) = (c, d);
    if c == 0.0 {
        return [Complex::new(a, 0.0), Complex::new(d, 0.0)];
    }
    let imaginary = b.abs().sqrt() * c.abs().sqrt();
    [Complex::new(a, imaginary), Complex::new(d, -imaginary)]
}

/// `[[a, b], [c, d]]`.
#[derive(Clone, Copy)]
struct Block {
    a: f64,
    b: f64,
    c: f64,
    d: f64,
}

/// `[[cosine, sine], [-sine, cosine]]`, applied from the left, and its transpose from the right.
#[derive(Clone, Copy)]
struct Rotation {
    cosine: f64,
    sine: f64,
}

impl Block {
    /// The standard form and what leads to it (`lanv2`).
    fn standard_form(self) -> (Self, Rotation) {
        let Self { a, b, c, d } = self;
        let rotation = |cosine: f64, sine: f64| Rotation { cosine, sine };
        if c == 0.0 || (a == d && b != 0.0 && (b > 0.0) != (c > 0.0)) {
            return (self, rotation(1.0, 0.0));
        }
        if b == 0.0 {
            let exchanged = Self {
                a: d,
                b: -c,
                c: 0.0,
                d: a,
            };
            return (exchanged, rotation(0.0, 1.0));
        }
        let half = (a - d) / 2.0;
        let scale = half.abs().max(b.abs()).max(c.abs());
        let discriminant = (half / scale).powi(2) + (b / scale) * (c / scale);
        if discriminant < 4.0 * f64::EPSILON {
            return self.equal_diagonal();
        }
        // Two real eigenvalues: the first column becomes the eigenvector of one.
        let root = half + (discriminant.sqrt() * scale).copysign(half);
        let length = c.hypot(root);
        let triangular = Self {
            a: d + root,
            b: b - c,
            c: 0.0,
            d: d - (b / root) * c,
        };
        (triangular, rotation(root / length, c / length))
    }

    /// The form of a block whose eigenvalues are complex, or real and almost equal.
    fn equal_diagonal(self) -> (Self, Rotation) {
        let Self { a, b, c, d } = self;
        let (sum, difference) = (b + c, a - d);
        let length = sum.hypot(difference);
        let cosine = (0.5 * (1.0 + sum.abs() / length)).sqrt();
        let sine = -0.5 * difference / (length * cosine) * 1.0_f64.copysign(sum);
        let rotation = Rotation { cosine, sine };
        let mut block = self.rotated(rotation);
        let mean = 0.5 * (block.a + block.d);
        (block.a, block.d) = (mean, mean);
        if block.c == 0.0 {
            return (block, rotation);
        }
        if block.b == 0.0 {
            let exchanged = Self {
                b: -block.c,
                c: 0.0,
                ..block
            };
            let sine = rotation.cosine;
            return (
                exchanged,
                Rotation {
                    cosine: -rotation.sine,
                    sine,
                },
            );
        }
        if (block.b > 0.0) != (block.c > 0.0) {
            return (block, rotation);
        }
        // Real after all.
        let [root_b, root_c] = [block.b.abs().sqrt(), block.c.abs().sqrt()];
        let offset = (root_b * root_c).copysign(block.c);
        let length = (block.b + block.c).abs().sqrt();
        let [cosine, sine] = [root_b / length, root_c / length];
        let triangular = Self {
            a: mean + offset,
            b: block.b - block.c,
            c: 0.0,
            d: mean - offset,
        };
        let both = Rotation {
            cosine: rotation.cosine * cosine - rotation.sine * sine,
            sine: rotation.cosine * sine + rotation.sine * cosine,
        };
        (triangular, both)
    }

    fn rotated(self, Rotation { cosine, sine }: Rotation) -> Self {
        let Self { a, b, c, d } = self;
        let [aa, bb] = [a * cosine + b * sine, b * cosine - a * sine];
        let [cc, dd] = [c * cosine + d * sine, d * cosine - c * sine];
        Self {
            a: aa * cosine + cc * sine,
            b: bb * cosine + dd * sine,
            c: cc * cosine - aa * sine,
            d: dd * cosine - bb * sine,
        }
    }
}
