"""Polynomial coefficients of the elementary functions, and π in parts, as `generate` computes them.

Run ``python -m liegroup.compile.elementary_coefficients`` to print the table; a test compares it with the one below.
With r the reduced argument and z = r²:

    sin r = r + r z S(z),  cos r = 1 − z/2 + z² C(z)     |r| ≤ π/4
    atan r = r + r z A(z)                                |r| ≤ tan(π/8)

and, for the coefficients of the exponential map (`liegroup.formulas.series`), 0 ≤ z ≤ `SERIES_LIMIT`:

    HALF_COSINE = (1 − cos(√z/2))/z,  HALF_SINE = sin(√z/2)/√z
    STUMPFF4 = Σ (−z)ⁿ/(4+2n)!,  STUMPFF5 = Σ (−z)ⁿ/(5+2n)!
    TANGENT = Σ_{m≥2} 2/(4π²m² − z),  with its derivatives TANGENT1, TANGENT2

They interpolate at Chebyshev nodes of the z-interval in 60 digits; every coefficient is rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SERIES_LIMIT = 10.0
"""The series serve θ² up to here: a little more than π², so that a logarithm never leaves them."""

# fmt: off
SIN = (
    -0.16666666666666666,
    0.008333333333330948,
    -0.00019841269836756774,
    2.7557316101617874e-06,
    -2.505113165023518e-08,
    1.5918115263265974e-10,
)
COS = (
    0.041666666666666664,
    -0.0013888888888887398,
    2.480158729876456e-05,
    -2.7557317271145144e-07,
    2.087614614655861e-09,
    -1.1382623647474604e-11,
)
ATAN = (
    -0.3333333333333333,
    0.19999999999999804,
    -0.14285714285659779,
    0.11111111105150588,
    -0.09090908753259112,
    0.07692296368042296,
    -0.0666642476020052,
    0.05878927554473807,
    -0.05230443640686948,
    0.045515447340221615,
    -0.03456931506332609,
    0.016284375050043393,
)
HALF_PI_PARTS = (
    1.5707963267341256,
    6.077100506303966e-11,
    2.0222662487959506e-21,
)
PI_PARTS = (
    3.141592653589793,
    1.2246467991473532e-16,
)
HALF_COSINE = (
    0.125,
    -0.0026041666666666665,
    2.1701388888888764e-05,
    -9.68812003966958e-08,
    2.6911444548005966e-10,
    -5.096864306227611e-13,
    7.001154747245104e-16,
    -7.289657391167702e-19,
    5.784324753907086e-22,
)
HALF_SINE = (
    0.5,
    -0.020833333333333332,
    0.0002604166666666616,
    -1.5500992063440348e-06,
    5.382288908273858e-09,
    -1.2232474028257723e-11,
    1.960319426775511e-14,
    -2.3324331128832973e-17,
    2.075498156372705e-20,
)
STUMPFF4 = (
    0.041666666666666664,
    -0.0013888888888888883,
    2.480158730158542e-05,
    -2.7557319223744966e-07,
    2.0876756972190976e-09,
    -1.1470745011470247e-11,
    4.779463973906707e-14,
    -1.5617320222241708e-16,
    4.0941653163471157e-19,
    -8.125489270608254e-22,
)
STUMPFF5 = (
    0.008333333333333333,
    -0.00019841269841269839,
    2.7557319223985134e-06,
    -2.5052108385344804e-08,
    1.6059043830515946e-10,
    -7.647163496045284e-13,
    2.8114518830793028e-15,
    -8.219876851484395e-18,
    1.9508050668743886e-20,
    -3.558647918695298e-23,
)
TANGENT = (
    0.03267274151216445,
    0.00010564110705331264,
    5.637370283790976e-07,
    3.3571418331715564e-09,
    2.0742920683534754e-11,
    1.299911513788998e-13,
    8.21889510807624e-16,
    4.960124501092181e-18,
    4.388560051853852e-20,
)
TANGENT1 = (
    0.00010564110705334698,
    1.1274740565754188e-06,
    1.0071425779808422e-08,
    8.297149182578623e-11,
    6.500239717261223e-13,
    4.917681312490826e-15,
    3.624958029418332e-17,
    2.637560045984967e-19,
    1.739401265465462e-21,
    1.877489985473294e-23,
)
TANGENT2 = (
    1.1274740565753689e-06,
    2.0142851559948606e-08,
    2.4891447483716045e-10,
    2.6000964441047918e-12,
    2.4588145590659923e-14,
    2.1756887909395105e-16,
    1.8345435471788596e-18,
    1.5059228147412376e-20,
    1.0828003621936504e-22,
    1.351300875866411e-24,
)
# fmt: on


def generate() -> dict[str, tuple[float, ...]]:
    """The table above, computed with mpmath (needs the ``test`` extra)."""
    import mpmath as mp

    def interpolate(f: Callable[[Any], Any], upper: Any, n: int) -> tuple[float, ...]:
        nodes = [upper * (1 + mp.cos(mp.pi * (2 * k + 1) / (2 * n))) / 2 for k in range(n)]
        matrix = mp.matrix(n, n)
        for i, x in enumerate(nodes):
            for j in range(n):
                matrix[i, j] = x**j
        return tuple(float(c) for c in mp.lu_solve(matrix, mp.matrix([f(x) for x in nodes])))

    def leading_bits(x: Any, bits: int) -> Any:
        mantissa, exponent = mp.frexp(x)
        return mp.ldexp(mp.floor(mp.ldexp(mantissa, bits)), exponent - bits)

    def stumpff(k: int) -> Callable[[Any], Any]:
        return lambda z: sum((-z) ** n / mp.factorial(k + 2 * n) for n in range(40))

    def tangent(k: int) -> Callable[[Any], Any]:
        # Σ 2 k!/(a − z)^(k+1) over a = 4π²m², m ≥ 2, as a power series in z: Hurwitz zeta functions
        return lambda z: sum(
            2 * mp.rf(n + 1, k) * z**n * mp.zeta(2 * (n + k + 1), 2) / (2 * mp.pi) ** (2 * (n + k + 1))
            for n in range(60)
        )

    with mp.workdps(60):
        eighth = (mp.pi / 4) ** 2 * mp.mpf("1.0001")
        tan8 = mp.tan(mp.pi / 8) ** 2 * mp.mpf("1.0001")
        limit = SERIES_LIMIT * mp.mpf("1.0001")
        high = leading_bits(mp.pi / 2, 33)
        middle = leading_bits(mp.pi / 2 - high, 33)
        return {
            "SIN": interpolate(lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, eighth, 6),
            "COS": interpolate(lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, eighth, 6),
            "ATAN": interpolate(lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, tan8, 12),
            "HALF_PI_PARTS": (float(high), float(middle), float(mp.pi / 2 - high - middle)),
            "PI_PARTS": (float(mp.pi), float(mp.pi - float(mp.pi))),
            "HALF_COSINE": interpolate(lambda z: stumpff(2)(z / 4) / 4, limit, 9),
            "HALF_SINE": interpolate(lambda z: stumpff(1)(z / 4) / 2, limit, 9),
            "STUMPFF4": interpolate(stumpff(4), limit, 10),
            "STUMPFF5": interpolate(stumpff(5), limit, 10),
            "TANGENT": interpolate(tangent(0), limit, 9),
            "TANGENT1": interpolate(tangent(1), limit, 10),
            "TANGENT2": interpolate(tangent(2), limit, 10),
        }


if __name__ == "__main__":
    for name, values in generate().items():
        print(f"{name} = (")
        for value in values:
            print(f"    {value!r},")
        print(")")
