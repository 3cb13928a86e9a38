"""Elementary functions of any scalar: float64, lanes, numpy batches, complex numbers, mpmath, SymPy.

float64, lanes and numpy batches share one polynomial source and agree bitwise in strict mode; the other scalar
types use their own library's functions.  Accuracy on float64: 2 ulp for sine and cosine relative to max(|value|,
1e-16·|x|), 2 ulp for atan2; over a turn the errors of sine and cosine have no mean, so that computed torques of weights
do no work around closed paths.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from liegroup.compile import absolute, any_, each_lane, helper, less, primitive, select, sqrt
from liegroup.compile.elementary_coefficients import ATAN, COS, HALF_PI_PARTS, PI_PARTS, SIN

__all__ = [
    "absolute",
    "any_",
    "arctan",
    "arctan2",
    "horner",
    "is_machine_real",
    "less",
    "maximum",
    "minimum",
    "select",
    "sincos",
    "sqrt",
]

_HIGH, _MIDDLE, _LOW = HALF_PI_PARTS
PI, PI_REST = PI_PARTS
_ROUND = 1.5 * 2.0**52  # adding and subtracting it rounds to the nearest integer
REDUCTION_LIMIT = 1.0e6  # k·π/2 stays exact below; beyond, the C library takes over
_TAN_PI_8 = math.sqrt(2.0) - 1.0
_INFINITY = math.inf


def _sin_libm(x: float) -> float:
    return math.sin(x) if abs(x) < _INFINITY else math.nan


def _cos_libm(x: float) -> float:
    return math.cos(x) if abs(x) < _INFINITY else math.nan


_sin_each = each_lane(_sin_libm)
_cos_each = each_lane(_cos_libm)


def is_machine_real(x: Any) -> bool:
    """True for a float64 number or array: what the polynomial source serves."""
    return isinstance(x, (float, int, np.floating)) or (isinstance(x, np.ndarray) and x.dtype.kind in "fiu")


@helper
def horner(coefficients: Any, z: Any) -> Any:
    """Σ cₖ zᵏ for a tuple of numbers."""
    s = z * coefficients[len(coefficients) - 1] + coefficients[len(coefficients) - 2]
    for k in range(len(coefficients) - 3, -1, -1):
        s = s * z + coefficients[k]
    return s


@helper
def _round(x: Any) -> Any:
    return (x + _ROUND) - _ROUND


@helper
def sincos_reduced(x: Any) -> Any:
    k = _round(x * (2.0 / PI))
    t = x - k * _HIGH
    r = t - k * _MIDDLE
    rest = ((t - r) - k * _MIDDLE) - k * _LOW  # of one sign for most x: without it sine and cosine have a bias
    z = r * r
    c = 1.0 - (z * 0.5 - ((z * z) * horner(COS, z) - r * rest))
    s = r + (rest * c + r * (z * horner(SIN, z)))
    half = 0.5 * k
    odd = less(0.25, absolute(half - _round(half)))  # sine and cosine change places
    quarter = 0.5 * _round(half - 0.25)
    sign = 1.0 - 4.0 * absolute(quarter - _round(quarter))  # −1 in every other half turn
    return sign * select(odd, c, s), sign * select(odd, -s, c)


@helper
def _sincos_machine(x: Any) -> Any:
    far = less(REDUCTION_LIMIT, absolute(x))
    s, c = sincos_reduced(select(far, 0.0, x))
    if any_(far):
        s = select(far, _sin_each(x), s)
        c = select(far, _cos_each(x), c)
    return s, c


@helper
def _sincos_stepped(x: Any) -> Any:
    s, c = _sincos_machine(x.real)
    return complex(s, c * x.imag), complex(c, -s * x.imag)


@primitive(_sincos_machine, _sincos_stepped)
def sincos(x: Any) -> Any:
    """``(sin x, cos x)``, branch-free for |x| < 1e6 (reduction by k·π/2 in three parts, then polynomials)."""
    if is_machine_real(x):
        return _sincos_machine(x)
    if np.iscomplexobj(x):
        return np.sin(x), np.cos(x)
    library = library_of(x)
    return library.sin(x), library.cos(x)


@helper
def _arctan_polynomial(z: Any) -> Any:
    """A(z) of atan r = r + r z A(z), in pairs: sums that do not wait for each other."""
    c, zz = ATAN, z * z
    low = (c[0] + c[1] * z) + (c[2] + c[3] * z) * zz
    middle = (c[4] + c[5] * z) + (c[6] + c[7] * z) * zz
    high = (c[8] + c[9] * z) + (c[10] + c[11] * z) * zz
    return low + (zz * zz) * (middle + (zz * zz) * high)


@helper
def arctan2_machine(y: Any, x: Any) -> Any:
    ay, ax = absolute(y), absolute(x)
    steep = less(ax, ay)
    small, large = select(steep, ax, ay), select(steep, ay, ax)
    wide = less(_TAN_PI_8 * large, small)
    numerator = select(wide, small - large, small)
    denominator = select(wide, small + large, large)
    r = numerator / select(denominator == 0.0, 1.0, denominator)
    z = r * r
    correction = r * (z * _arctan_polynomial(z))
    angle = select(wide, (0.25 * PI) + (r + (correction + 0.25 * PI_REST)), r + correction)
    angle = select(steep, (0.5 * PI) - (angle - 0.5 * PI_REST), angle)
    angle = select(less(x, 0.0), PI - (angle - PI_REST), angle)
    return select(less(y, 0.0), -angle, angle)


@helper
def _arctan2_stepped(y: Any, x: Any) -> Any:
    y, x = y + 0j, x + 0j
    n = x.real * x.real + y.real * y.real
    turned = x.real * y.imag - y.real * x.imag
    return complex(arctan2_machine(y.real, x.real), turned / (n if n > 0.0 else 1.0))


@primitive(arctan2_machine, _arctan2_stepped)
def arctan2(y: Any, x: Any) -> Any:
    """Angle of the point (x, y) in (−π, π]; 0 at the origin."""
    if is_machine_real(x) and is_machine_real(y):
        return arctan2_machine(y, x)
    if np.iscomplexobj(x) or np.iscomplexobj(y):
        # analytic continuation for complex steps: d atan2 = (x dy − y dx)/(x² + y²)
        yr, xr = np.real(y), np.real(x)
        n = xr * xr + yr * yr
        return arctan2_machine(yr, xr) + 1j * (xr * np.imag(y) - yr * np.imag(x)) / np.where(n == 0, 1.0, n)
    library = library_of(x + y)
    return library.atan2(y, x)


@helper
def _arctan_machine(x: Any) -> Any:
    far = less(_TAN_PI_8, absolute(x))
    r = select(far, 0.0, x)
    z = r * r
    angle = r + r * (z * _arctan_polynomial(z))
    if any_(far):
        angle = select(far, arctan2_machine(x, 1.0 + 0.0 * r), angle)
    return angle


@helper
def _arctan_stepped(x: Any) -> Any:
    return _arctan2_stepped(x, 1.0)


@primitive(_arctan_machine, _arctan_stepped)
def arctan(x: Any) -> Any:
    """``arctan2(x, 1)``, without a division where all |x| are below tan π/8."""
    return _arctan_machine(x) if is_machine_real(x) else arctan2(x, 1.0 + 0.0 * x)


@helper
def maximum(a: Any, b: Any) -> Any:
    """The larger of two numbers."""
    return select(less(a, b), b, a)


@helper
def minimum(a: Any, b: Any) -> Any:
    """The smaller of two numbers."""
    return select(less(b, a), b, a)


def library_of(x: Any) -> Any:
    """The module (mpmath or SymPy) whose functions serve a number that is not a machine number; scalars may bring their
    own.
    """
    if hasattr(x, "library"):
        return x.library
    if type(x).__module__.startswith("sympy"):
        import sympy

        return sympy
    import mpmath

    return mpmath
