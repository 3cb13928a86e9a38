"""Polynomial coefficients of sin, cos and atan, and the parts of π, as `generate` computes them.

Run ``python -m liegroup.elementary_coefficients`` to print the table; a test compares it with the one below.
With r the reduced argument and z = r²:

    sin r = r + r z S(z),  cos r = 1 − z/2 + z² C(z)     |r| ≤ π/2
    atan r = r + r z A(z)                                |r| ≤ tan(π/8)

S, C, A interpolate at Chebyshev nodes of the z-interval in 60 digits; every coefficient is rounded once.
"""

# fmt: off
SIN = (
    -0.16666666666666666,
    0.008333333333333333,
    -0.00019841269841269806,
    2.7557319223971256e-06,
    -2.5052108382389887e-08,
    1.605904347927675e-10,
    -7.647139114646649e-13,
    2.810468581681568e-15,
    -8.006048703469621e-18,
)
COS = (
    0.041666666666666664,
    -0.001388888888888889,
    2.4801587301587285e-05,
    -2.755731922397923e-07,
    2.087675698647847e-09,
    -1.1470745434934599e-11,
    4.779466124963715e-14,
    -1.5614706630642758e-16,
    4.0126744864440344e-19,
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
PI_PARTS = (
    3.1415926534682512,
    1.2154201012607932e-10,
    4.044532497591901e-21,
    3.141592653589793,
    1.2246467991473532e-16,
)
# fmt: on


def generate() -> dict[str, tuple[float, ...]]:
    """The table above, computed with mpmath (needs the ``test`` extra)."""
    import mpmath as mp

    def interpolate(f, upper, n):  # type: ignore[no-untyped-def]
        nodes = [upper * (1 + mp.cos(mp.pi * (2 * k + 1) / (2 * n))) / 2 for k in range(n)]
        matrix = mp.matrix(n, n)
        for i, x in enumerate(nodes):
            for j in range(n):
                matrix[i, j] = x**j
        return tuple(float(c) for c in mp.lu_solve(matrix, mp.matrix([f(x) for x in nodes])))

    def leading_bits(x, bits):  # type: ignore[no-untyped-def]
        mantissa, exponent = mp.frexp(x)
        return mp.ldexp(mp.floor(mp.ldexp(mantissa, bits)), exponent - bits)

    with mp.workdps(60):
        quarter = (mp.pi / 2) ** 2 * mp.mpf("1.0001")
        tan8 = mp.tan(mp.pi / 8) ** 2 * mp.mpf("1.0001")
        high = leading_bits(mp.pi, 33)
        middle = leading_bits(mp.pi - high, 33)
        return {
            "SIN": interpolate(lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, quarter, 9),
            "COS": interpolate(lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, quarter, 9),
            "ATAN": interpolate(lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, tan8, 12),
            "PI_PARTS": (float(high), float(middle), float(mp.pi - high - middle), float(mp.pi), float(mp.pi - float(mp.pi))),
        }


if __name__ == "__main__":
    for name, values in generate().items():
        print(f"{name} = (")
        for value in values:
            print(f"    {value!r},")
        print(")")
