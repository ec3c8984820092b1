"""Prints src/decompose/coefficients.rs: polynomials for special functions, found with mpmath 1.4.1 alone.

    python coefficients.py > ../src/decompose/coefficients.rs

Each one interpolates its function at Chebyshev nodes in 50 digits, with the fewest coefficients whose error is below a quarter of the
precision; that is within a small factor of the best polynomial. The error of every table, as it is written, is in its comment.
"""

import mpmath as mp

mp.mp.dps = 50

FORMATS = {"F32": 24, "F64": 53}


def chebyshev(f, count):
    """Coefficients of the interpolant of f on [-1, 1]."""
    angles = [mp.pi * (k + mp.mpf(1) / 2) / count for k in range(count)]
    values = [f(mp.cos(a)) for a in angles]
    result = [2 * mp.fsum(v * mp.cos(j * a) for v, a in zip(values, angles)) / count for j in range(count)]
    result[0] /= 2
    return result


def clenshaw(c, t):
    b1 = b2 = mp.mpf(0)
    for a in reversed(c[1:]):
        b1, b2 = 2 * t * b1 - b2 + a, b1
    return t * b1 - b2 + c[0]


def monomials(c):
    """The same polynomial in powers of t."""
    before, now = [mp.mpf(1)], [mp.mpf(0), mp.mpf(1)]
    total = [c[0]] + [mp.mpf(0)] * (len(c) - 1)
    for a in c[1:]:
        for power, x in enumerate(now):
            total[power] += a * x
        following = [mp.mpf(0)] + [2 * x for x in now]
        for power, x in enumerate(before):
            following[power] -= x
        before, now = now, following
    return total


def fit(f, bits):
    """Fewest coefficients, and the largest relative error at points between the nodes."""
    for count in range(6 if bits < 30 else 11, 60):
        c = chebyshev(f, count)
        points = [mp.cos(mp.pi * k / (2 * count + 1)) for k in range(1, 2 * count + 1)]
        error = max(abs(clenshaw(c, t) / f(t) - 1) for t in points)
        if error < mp.mpf(2) ** (-bits - 2):
            return c, error
    raise SystemExit("no fit")


def interval(f, low, high):
    """f on [low, high] as a function on [-1, 1]."""
    low, high = mp.mpf(low), mp.mpf(high)
    return lambda t: f((high - low) / 2 * t + (high + low) / 2)


def erf_over_x(s):
    x = mp.sqrt(s)
    return mp.erf(x) / x if x else 2 / mp.sqrt(mp.pi)


# t = (x - 1/2 - K) / (x - 1/2 + K) takes x from 1/2 to infinity to t from -1 to 1.
ERFC_MIDDLE = mp.mpf("2.5")


def erfc_scaled(t):
    x = mp.mpf(1) / 2 + ERFC_MIDDLE * (1 + t) / (1 - t)
    if x > 1e6:
        return (1 + 2 * x) / (x * mp.sqrt(mp.pi)) * (1 - 1 / (2 * x * x))
    return mp.exp(x * x) * mp.erfc(x) * (1 + 2 * x)


def erf_inv_over_x(w):
    if w < mp.mpf(10) ** -30:
        return mp.sqrt(mp.pi) / 2
    x = mp.sqrt(-mp.expm1(-w))
    complement = mp.exp(-w) / (1 + x)
    # Newton's method on the logarithm of the complementary function, which is nearly a parabola.
    y = mp.sqrt(w) if w > 1 else x * mp.sqrt(mp.pi) / 2
    for _ in range(60):
        value = mp.erfc(y)
        step = mp.log(value / complement) * value * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
        y += step
        if abs(step) < mp.mpf(10) ** -45 * y:
            break
    return y / x


def ln_gamma_reduced(u):
    return mp.loggamma(1 + u).real / (u * (u - 1))


ROOT = mp.findroot(mp.digamma, 1.4616) - 1


def digamma_reduced(u):
    return mp.digamma(1 + u) / (u - ROOT)


def bessel_small(x):
    return mp.exp(-x) * mp.besseli(1, x) * (1 + x) / x if x else mp.mpf(1) / 2


def bessel_large(reciprocal):
    x = 1 / reciprocal if reciprocal > mp.mpf(10) ** -8 else None
    if x is None:
        return (1 - 3 * reciprocal / 8) / mp.sqrt(2 * mp.pi)
    return mp.sqrt(x) * mp.exp(-x) * mp.besseli(1, x)


# Name, comment, function on [-1, 1], whether powers or Chebyshev coefficients are kept, formats.
TABLES = [
    ("ERF", "`erf(x) / x` for `x^2` from 0 to 1/4, in powers of `8 x^2 - 1`.", interval(erf_over_x, 0, "0.25"), True, FORMATS),
    ("ERFC", "`e^(x^2) erfc(x) (1 + 2 x)` from 1/2 on, in powers of `(x - 3) / (x + 2)`.", erfc_scaled, True, FORMATS),
    ("ERF_INV_NEAR", "`erf_inv(x) / x` for `w = -ln(1 - x^2)` from 0 to 5, in powers of `w / 2.5 - 1`.", interval(erf_inv_over_x, 0, 5), True, {"F32": 24}),
    ("ERF_INV_FAR", "`erf_inv(x) / x` for `sqrt(w)` from 2.2 to 4.2, in powers of `sqrt(w) - 3.2`.", interval(lambda r: erf_inv_over_x(r * r), "2.2", "4.2"), True, {"F32": 24}),
    ("ERF_INV_NEAR", "`erf_inv(x) / x` for `w = -ln(1 - x^2)` from 0 to 6, in powers of `w / 3 - 1`.", interval(erf_inv_over_x, 0, 6), True, {"F64": 53}),
    ("ERF_INV_MIDDLE", "`erf_inv(x) / x` for `sqrt(w)` from 2.4 to 4.2, in powers of `(sqrt(w) - 3.3) / 0.9`.", interval(lambda r: erf_inv_over_x(r * r), "2.4", "4.2"), True, {"F64": 53}),
    ("ERF_INV_FAR", "`erf_inv(x) / x` for `sqrt(w)` from 4.2 to 6.2, in powers of `sqrt(w) - 5.2`.", interval(lambda r: erf_inv_over_x(r * r), "4.2", "6.2"), True, {"F64": 53}),
    ("LN_GAMMA", "`ln_gamma(1 + u) / (u (u - 1))` for `u` from 0 to 1, in powers of `2 u - 1`.", interval(ln_gamma_reduced, 0, 1), True, FORMATS),
    ("DIGAMMA", "`digamma(1 + u) / (u - u0)` for `u` from 0 to 1, in powers of `2 u - 1`; `u0` is the root.", interval(digamma_reduced, 0, 1), True, FORMATS),
    ("BESSEL_SMALL", "`e^-x I1(x) (1 + x) / x` for `x` from 0 to 8, in Chebyshev polynomials of `x / 4 - 1`.", interval(bessel_small, 0, 8), False, FORMATS),
    ("BESSEL_LARGE", "`sqrt(x) e^-x I1(x)` for `x` from 8 on, in Chebyshev polynomials of `16 / x - 1`.", interval(bessel_large, 0, "0.125"), False, FORMATS),
]


def literal(value):
    text = repr(float(value))
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    groups = [fraction[i : i + 3] for i in range(0, len(fraction), 3)]
    mantissa = f"{whole}.{'_'.join(groups) or '0'}"
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def main():
    print("//! Polynomials for special functions. Written by `testdata/coefficients.py`.")
    print("//!")
    print("//! Coefficients of the lowest power, or of the polynomial of the lowest degree, come first.")
    for name, comment, f, powers, formats in TABLES:
        for format, bits in formats.items():
            c, error = fit(f, bits)
            c = monomials(c) if powers else c
            print(f"\n/// {comment} Relative error {mp.nstr(error, 2)}.")
            print(f"pub(super) const {name}_{format}: &[f64] = &[")
            for value in c:
                print(f"    {literal(value)},")
            print("];")
    high = mp.mpf(float(ROOT))
    print("\n/// One less than the positive root of digamma, and what rounding it to `f64` left over.")
    print(f"pub(super) const DIGAMMA_ROOT: [f64; 2] = [{literal(high)}, {literal(ROOT - high)}];")


main()
