"""Writes special.txt and complex.txt: function values computed with mpmath 1.3.0, every number as the bits of an f64.

    pip install mpmath==1.3.0 && python reference.py
"""

import struct

from mpmath import mp

# Enough for the square of the smallest number beside 1, which arc functions and logarithms need; others need less.
SQUARES = 2300
MODERATE = 500
mp.prec = MODERATE


def bits(value):
    return format(struct.unpack("<Q", struct.pack("<d", float(value)))[0], "016x")


def ln_gamma(x):
    return mp.re(mp.loggamma(x))


def zeta(x, q):
    return mp.zeta(x, q)


def polygamma(n, x):
    return mp.psi(int(n), x)


REAL = {
    "erf": (mp.erf, [1e-300, 1e-9, 0.1, -0.5, 0.9, 1.5, 2.4999, 2.5, -3.0, 5.5]),
    "erfc": (mp.erfc, [-5.0, -0.5, 1e-9, 0.3, 1.0, 2.4, 2.6, 6.0, 15.0, 26.0, 26.6]),
    "erf_inv": (mp.erfinv, [1e-300, 1e-8, 0.01, -0.3, 0.5, 0.75, -0.9, 0.999, 0.999999999999, -0.9999999999999999]),
    "ln_gamma": (ln_gamma, [1e-200, -1e-40, 1e-9, 0.3, 0.9999999, 1.0000000000000002, 1.3, 1.9999999999, 2.0000001, 3.7,
                            29.9, 171.5, 1e10, 1e305, -0.5, -1.5, -2.457024738220797, -3.7, -99.1]),
    "digamma": (mp.digamma, [1e-250, 1e-9, 0.3, 1.0, 1.4616321449683622, 1.4616321449683624, 5.5, 1e6, 1e300, -0.5,
                             -0.504083008264455, -7.3, -1000.25, -1e-9]),
    "bessel_i1e": (lambda x: mp.exp(-abs(x)) * mp.besseli(1, x), [1e-300, 1e-9, 0.5, -1.0, 7.7, 24.9, 25.0, 300.0]),
    "acosh": (mp.acosh, [1.0000000000000002, 1.001, 1.5, 2.0, 1e5, 1e9, 1e308]),
    "asinh": (mp.asinh, [5e-324, 1e-9, 0.1, -0.5, 1.0, 1e5, 1e308]),
    "atanh": (mp.atanh, [5e-324, 1e-9, 0.1, -0.4, 0.5, 0.9, 0.9999999999999999]),
}

REAL_2 = {
    "zeta": (zeta, [(1.0000001, 1.0), (2.0, 1.0), (3.5, 0.1), (2.0, 1e-9), (10.0, 40.0), (50.0, 3.0), (3.0, -2.5), (4.0, -7.25)]),
    "polygamma": (polygamma, [(0.0, 2.5), (1.0, 1.0), (1.0, 0.01), (2.0, 3.5), (5.0, 0.7), (20.0, 9.0), (1.0, -1.5), (2.0, -3.3)]),
}

COMPLEX = {
    "acos": mp.acos,
    "acosh": mp.acosh,
    "asin": mp.asin,
    "asinh": mp.asinh,
    "atan": mp.atan,
    "atanh": mp.atanh,
    "exp": mp.exp,
    # Not exp(z) - 1, of which nothing is left near 0 in any precision.
    "exp_m1": lambda z: mp.mpc(
        mp.expm1(z.real) * mp.cos(z.imag) - 2 * mp.sin(z.imag / 2) ** 2, mp.exp(z.real) * mp.sin(z.imag)
    ),
    "ln": mp.log,
    "ln_1p": lambda z: mp.log(1 + z),
    "sqrt": mp.sqrt,
    "rsqrt": lambda z: 1 / mp.sqrt(z),
    "square": lambda z: z * z,
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
    "logistic": lambda z: 1 / (1 + mp.exp(-z)),
    "cbrt": lambda z: mp.exp(mp.log(z) / 3),
}

PARTS = [5e-324, 1e-160, 1e-9, 0.7, 1.0, 1.0000000000000002, 3.0, 1e170]
POINTS = [(x, y) for x in PARTS for y in PARTS]
POINTS += [(-0.7, 3.0), (0.7, -3.0), (-3.0, -1e-9), (-1.0, 1e-160), (0.6, 0.8), (-1e-17, 1e-9), (-0.5, 0.8660254037844386)]
# Exponentials of large numbers take mpmath too long, and are infinite or zero all the same.
GROWING = {"exp", "exp_m1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "logistic"}
GROWING_POINTS = [(x, y) for x, y in POINTS if abs(x) < 1e100 and abs(y) < 1e100]
GROWING_POINTS += [(709.9, 1.5), (-709.9, 1.5), (1.5, 710.1), (710.4, 1e-9), (25.0, 2.0), (-19.0, 2.0)]

with open("special.txt", "w") as out:
    for name, (function, points) in REAL.items():
        for x in points:
            out.write(f"{name} {bits(x)} {bits(function(mp.mpf(x)))}\n")
    for name, (function, points) in REAL_2.items():
        for a, b in points:
            out.write(f"{name} {bits(a)} {bits(b)} {bits(function(mp.mpf(a), mp.mpf(b)))}\n")

with open("complex.txt", "w") as out:
    for name, function in COMPLEX.items():
        mp.prec = MODERATE if name in GROWING else SQUARES
        for x, y in GROWING_POINTS if name in GROWING else POINTS:
            value = mp.mpc(function(mp.mpc(x, y)))
            out.write(f"{name} {bits(x)} {bits(y)} {bits(value.real)} {bits(value.imag)}\n")
