//! The functions of `f32` that programs spend their time in, with instructions of AVX-512 that the compiler does not find: scaling
//! by powers of two, mantissa and exponent, approximate reciprocals, tables in registers.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use super::pieces::{ERF, Pieces, TANH};
use super::single::{EXP, LN_2};
use crate::tile::{Rectangle, Routine, Tile};

/// A function of 16 numbers.
///
/// # Safety
/// All of it takes a processor of level x86-64-v4.
pub(crate) trait Function16 {
    /// What is kept in registers.
    type Tables: Copy;

    unsafe fn tables() -> Self::Tables;

    unsafe fn apply(tables: Self::Tables, x: __m512) -> __m512;
}

/// `tiles[0][r][c] = apply(tiles[1][r][c])` in `f32`. The last numbers of a row are loaded and stored by a mask.
pub(crate) struct Block16<F>(PhantomData<F>);

impl<F: Function16> Routine for Block16<F> {
    #[inline(always)]
    unsafe fn run<const PLAIN: bool>(rows: usize, cols: usize, tiles: *const Tile) {
        // SAFETY: the caller's promise; loads and stores stay within `cols` numbers of a row.
        unsafe {
            let rectangle = Rectangle::new(rows, cols, tiles, [4; 2]);
            let tables = F::tables();
            for row in 0..rectangle.rows {
                let [to, from] = rectangle.row(row).map(|row| row.cast::<f32>());
                let full = rectangle.cols / 16 * 16;
                for col in (0..full).step_by(16) {
                    let y = F::apply(tables, _mm512_loadu_ps(from.add(col)));
                    _mm512_storeu_ps(to.add(col), y);
                }
                if full < rectangle.cols {
                    let mask = (1_u16 << (rectangle.cols - full)) - 1;
                    let y = F::apply(tables, _mm512_maskz_loadu_ps(mask, from.add(full)));
                    _mm512_mask_storeu_ps(to.add(full), mask, y);
                }
            }
        }
    }
}

/// A polynomial of vectors by Horner's rule, coefficients of low powers first.
macro_rules! horner {
    ($x:ident; $first:expr $(,)?) => { $first };
    ($x:ident; $first:expr, $($rest:expr),+ $(,)?) => {
        _mm512_fmadd_ps(horner!($x; $($rest),+), $x, $first)
    };
}

/// The same number 16 times.
///
/// # Safety
/// As [`Function16`], here and in what follows.
#[inline(always)]
unsafe fn all(x: f32) -> __m512 {
    // SAFETY: the caller's promise.
    unsafe { _mm512_set1_ps(x) }
}

/// `n`, and `x - n ln 2` next to 0.
#[inline(always)]
unsafe fn reduce(x: __m512) -> (__m512, __m512) {
    // SAFETY: the caller's promise.
    unsafe {
        let rounder = all(12_582_912.0);
        let n = _mm512_sub_ps(
            _mm512_fmadd_ps(x, all(std::f32::consts::LOG2_E), rounder),
            rounder,
        );
        (
            n,
            _mm512_fnmadd_ps(n, all(LN_2[1]), _mm512_fnmadd_ps(n, all(LN_2[0]), x)),
        )
    }
}

/// e^x.
pub(crate) struct Exp16;

impl Function16 for Exp16 {
    type Tables = ();

    #[inline(always)]
    unsafe fn tables() {}

    #[inline(always)]
    unsafe fn apply((): (), x: __m512) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe {
            // Beyond these the result is infinite or 0. What is not a number comes out, being the second operand.
            let x = _mm512_max_ps(all(-105.0), _mm512_min_ps(all(89.0), x));
            let (n, r) = reduce(x);
            let one = all(1.0);
            let [a, b, c, d, e] = EXP;
            let mantissa = horner!(r; one, one, all(a), all(b), all(c), all(d), all(e));
            _mm512_scalef_ps(mantissa, n)
        }
    }
}

/// The natural logarithm.
pub(crate) struct Ln16;

impl Function16 for Ln16 {
    type Tables = ();

    #[inline(always)]
    unsafe fn tables() {}

    #[inline(always)]
    unsafe fn apply((): (), x: __m512) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe {
            let one = all(1.0);
            // From 3/4 to 3/2, and the exponent that goes with it: infinite for 0 and infinity, so that the result is too.
            let mantissa = _mm512_getmant_ps::<_MM_MANT_NORM_P75_1P5, _MM_MANT_SIGN_NAN>(x);
            let exponent = _mm512_getexp_ps(x);
            let is_lowered = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(mantissa, one);
            let k = _mm512_mask_add_ps(exponent, is_lowered, exponent, one);
            let f = _mm512_sub_ps(mantissa, one);
            // (ln (1 + f) - f) / f^2; 2^-27.6
            let series = horner!(f;
                all(-0.5), all(0.333_334_45), all(-0.250_001_94), all(0.199_910_95), all(-0.166_437_4),
                all(0.144_676_31), all(-0.131_868_62), all(0.105_831_65), all(-0.046_172_27),
            );
            let logarithm = _mm512_fmadd_ps(_mm512_mul_ps(f, f), series, f);
            _mm512_fmadd_ps(k, all(LN_2[0]), logarithm)
        }
    }
}

/// `1 / (1 + e^-x)`: with `e^-|x|` as `2^n + 2^n p`, in which only sums are rounded.
pub(crate) struct Logistic16;

impl Function16 for Logistic16 {
    type Tables = ();

    #[inline(always)]
    unsafe fn tables() {}

    #[inline(always)]
    unsafe fn apply((): (), x: __m512) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe {
            let one = all(1.0);
            let magnitude = _mm512_max_ps(all(-105.0), _mm512_or_ps(x, all(-0.0)));
            let (n, r) = reduce(magnitude);
            let [a, b, c, d, e] = EXP;
            let p = _mm512_mul_ps(r, horner!(r; one, all(a), all(b), all(c), all(d), all(e)));
            let power = _mm512_scalef_ps(one, n);
            let divisor = _mm512_fmadd_ps(power, p, _mm512_add_ps(one, power));
            let estimate = _mm512_rcp14_ps(divisor);
            let error = _mm512_fnmadd_ps(divisor, estimate, one);
            let inverse = _mm512_fmadd_ps(estimate, error, estimate);
            let is_negative = _mm512_movepi32_mask(_mm512_castps_si512(x));
            let below = _mm512_scalef_ps(_mm512_fmadd_ps(p, inverse, inverse), n);
            _mm512_mask_mov_ps(inverse, is_negative, below)
        }
    }
}

/// The rows of a table of pieces, as two vectors each.
#[inline(always)]
unsafe fn rows<const N: usize>(pieces: &Pieces<N>) -> [[__m512; 2]; N] {
    // SAFETY: the caller's promise; a row has 32 numbers, and lies where a vector may.
    unsafe {
        let mut rows = [[_mm512_setzero_ps(); 2]; N];
        for (row, numbers) in rows.iter_mut().zip(&pieces.0) {
            let numbers = numbers.as_ptr();
            *row = [_mm512_load_ps(numbers), _mm512_load_ps(numbers.add(16))];
        }
        rows
    }
}

/// An odd function by the polynomials of a table; beyond `last` it is what it is there. The polynomial of the first piece is
/// that of the function less `x` if `IS_STEEP`: a slope over 1 would be rounded.
#[inline(always)]
unsafe fn by_pieces<const N: usize, const IS_STEEP: bool>(
    rows: [[__m512; 2]; N],
    last: f32,
    x: __m512,
) -> __m512 {
    // SAFETY: the caller's promise.
    unsafe {
        // What is not a number comes out, being the second operand.
        let magnitude = _mm512_min_ps(all(last), _mm512_abs_ps(x));
        let least = _mm512_castps_si512(all(0.0625));
        let piece = _mm512_srli_epi32::<21>(_mm512_max_epi32(_mm512_castps_si512(magnitude), least));
        let of = |row: [__m512; 2]| _mm512_permutex2var_ps(row[0], piece, row[1]);
        let t = _mm512_sub_ps(magnitude, of(rows[0]));
        let mut value = of(rows[N - 1]);
        for index in (2..N - 1).rev() {
            value = _mm512_fmadd_ps(value, t, of(rows[index]));
        }
        let mut first = of(rows[1]);
        if IS_STEEP {
            // The end of the first piece.
            let is_first = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(magnitude, all(0.078_125));
            first = _mm512_mask_mov_ps(first, is_first, t);
        }
        value = _mm512_fmadd_ps(value, t, first);
        // Bits of the value, and of the sign of x.
        let sign = _mm512_castps_si512(all(-0.0));
        let (value, x) = (_mm512_castps_si512(value), _mm512_castps_si512(x));
        _mm512_castsi512_ps(_mm512_ternarylogic_epi32::<0xD8>(value, x, sign))
    }
}

/// The hyperbolic tangent.
pub(crate) struct Tanh16;

impl Function16 for Tanh16 {
    type Tables = [[__m512; 2]; 7];

    #[inline(always)]
    unsafe fn tables() -> Self::Tables {
        // SAFETY: the caller's promise.
        unsafe { rows(&TANH) }
    }

    #[inline(always)]
    unsafe fn apply(tables: Self::Tables, x: __m512) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { by_pieces::<7, false>(tables, 9.5, x) }
    }
}

/// The error function.
pub(crate) struct Erf16;

impl Function16 for Erf16 {
    type Tables = [[__m512; 2]; 8];

    #[inline(always)]
    unsafe fn tables() -> Self::Tables {
        // SAFETY: the caller's promise.
        unsafe { rows(&ERF) }
    }

    #[inline(always)]
    unsafe fn apply(tables: Self::Tables, x: __m512) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { by_pieces::<8, true>(tables, 3.99, x) }
    }
}
