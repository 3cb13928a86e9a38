"""Elementary functions of any scalar: float64, lanes, numpy batches, complex numbers, mpmath, SymPy.

float64, lanes and numpy batches share one polynomial source and agree bitwise in strict mode; the other scalar
types use their own library's functions.  Accuracy on float64: 2 ulp for sine and cosine relative to max(|value|,
1e-16·|x|), 2 ulp for atan2; over a turn the errors of sine and cosine have no mean, so that computed torques of weights
do no work around closed paths.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from liegroup.compile import absolute, any_, each_lane, helper, less, primitive, select, sqrt
from liegroup.compile.elementary_coefficients import ATAN, COS, HALF_PI_PARTS, PI_PARTS, SIN
from liegroup.compile.functions import continued

__all__ = [
    "FORMULAS",
    "absolute",
    "acosh",
    "any_",
    "arctan",
    "arctan2",
    "asinh",
    "atanh",
    "cosh",
    "exp",
    "expm1",
    "floor",
    "horner",
    "is_machine_real",
    "less",
    "log",
    "log1p",
    "maximum",
    "minimum",
    "select",
    "sincos",
    "sinh",
    "sqrt",
    "tanh",
]

_HIGH, _MIDDLE, _LOW = HALF_PI_PARTS
PI, PI_REST = PI_PARTS
_ROUND = 1.5 * 2.0**52  # adding and subtracting it rounds to the nearest integer
REDUCTION_LIMIT = 1.0e6  # k·π/2 stays exact below; beyond, the C library takes over
_TAN_PI_8 = math.sqrt(2.0) - 1.0
_INFINITY = math.inf
_WHOLE = 2.0**51
"""Where machine numbers are whole enough to be their own floor."""


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


# --- exponentials, and what is made of them ---------------------------------------------------------------------------

_exp_each, _log_each, _tanh_each = each_lane(math.exp), each_lane(math.log), each_lane(math.tanh)


@helper
def _exp_machine(x: Any) -> Any:
    return _exp_each(x)


@helper
def _log_machine(x: Any) -> Any:
    return _log_each(x)


@helper
def _tanh_machine(x: Any) -> Any:
    return _tanh_each(x)


@helper
def _exp_stepped(x: Any) -> Any:
    y = _exp_each(x.real)
    return complex(y, y * x.imag)


@helper
def _log_stepped(x: Any) -> Any:
    return complex(_log_each(x.real), x.imag / x.real)


@helper
def _tanh_stepped(x: Any) -> Any:
    y = _tanh_each(x.real)
    return complex(y, (1.0 - y * y) * x.imag)


@primitive(_exp_machine, _exp_stepped)
def exp(x: Any) -> Any:
    """eˣ of any scalar."""
    if is_machine_real(x):
        with np.errstate(all="ignore"):  # as in compiled code
            return np.exp(x)
    return np.exp(x) if np.iscomplexobj(x) else library_of(x).exp(x)


@primitive(_log_machine, _log_stepped)
def log(x: Any) -> Any:
    """Natural logarithm of any scalar."""
    if is_machine_real(x):
        with np.errstate(all="ignore"):
            return np.log(x)
    return continued(np.log(x), x, 0.0) if np.iscomplexobj(x) else library_of(x).log(x)


@primitive(_tanh_machine, _tanh_stepped)
def tanh(x: Any) -> Any:
    """Hyperbolic tangent of any scalar."""
    if is_machine_real(x):
        return _tanh_each(x)
    return np.tanh(x) if np.iscomplexobj(x) else library_of(x).tanh(x)


# Functions that are formulas of those, to some units in the last place also near their zeros.


@helper
def _signed_as(x: Any, size: Any) -> Any:
    return select(less(x, 0.0), -size, size)


@helper
def _log1p_formula(x: Any) -> Any:
    u = 1.0 + x
    rounded = less(0.0, absolute(u - 1.0))
    return select(rounded, log(u) * (x / select(rounded, u - 1.0, 1.0)), x)  # Kahan


@helper
def _expm1_formula(x: Any) -> Any:
    small = less(absolute(x), 1.0)
    t = tanh(select(small, 0.5 * x, 0.0))
    return select(small, (t + t) / (1.0 - t), exp(x) - 1.0)


@helper
def _sinh_formula(x: Any) -> Any:
    small = less(absolute(x), 1.0)
    t, e = tanh(select(small, 0.5 * x, 0.0)), exp(x)
    return select(small, (t + t) / (1.0 - t * t), 0.5 * (e - 1.0 / e))


@helper
def _cosh_formula(x: Any) -> Any:
    e = exp(x)
    return 0.5 * (e + 1.0 / e)


@helper
def _asinh_formula(x: Any) -> Any:
    size = absolute(x)
    return _signed_as(x, _log1p_formula(size + size * (size / (1.0 + sqrt(1.0 + size * size)))))


@helper
def _acosh_formula(x: Any) -> Any:
    t = x - 1.0
    return _log1p_formula(t + sqrt(t * (t + 2.0)))


@helper
def _atanh_formula(x: Any) -> Any:
    size = absolute(x)
    return _signed_as(x, 0.5 * _log1p_formula((size + size) / (1.0 - size)))


@helper
def _floor_formula(x: Any) -> Any:
    far = less(_WHOLE, absolute(x))
    nearest = (select(far, 0.0, x) + _ROUND) - _ROUND
    return select(far, x, select(less(x, nearest), nearest - 1.0, nearest))


@helper
def _floor_stepped(x: Any) -> Any:
    return complex(_floor_formula(x.real), 0.0)


def _of_any_scalar(
    name: str, formula: Any, numpy: Any, stepped: Any = None, within: tuple[float, float] = (-_INFINITY, _INFINITY)
) -> Callable[[Any], Any]:
    """The function of a formula, which other numbers than machine numbers take from their library; of complex ones it
    has values `within` two real parts.
    """

    @primitive(formula, stepped)
    def function(x: Any) -> Any:
        if is_machine_real(x):
            return formula(x)
        return continued(numpy(x), x, *within) if np.iscomplexobj(x) else getattr(library_of(x), name)(x)

    function.__name__ = function.__qualname__ = name
    return function


sinh = _of_any_scalar("sinh", _sinh_formula, np.sinh)
cosh = _of_any_scalar("cosh", _cosh_formula, np.cosh)
asinh = _of_any_scalar("asinh", _asinh_formula, np.arcsinh)
acosh = _of_any_scalar("acosh", _acosh_formula, np.arccosh, within=(1.0, _INFINITY))
atanh = _of_any_scalar("atanh", _atanh_formula, np.arctanh, within=(-1.0, 1.0))
expm1 = _of_any_scalar("expm1", _expm1_formula, np.expm1)
log1p = _of_any_scalar("log1p", _log1p_formula, np.log1p, within=(-1.0, _INFINITY))
floor = _of_any_scalar("floor", _floor_formula, lambda x: np.floor(np.real(x)), _floor_stepped)
FORMULAS: dict[str, Any] = {
    "sinh": _sinh_formula, "cosh": _cosh_formula, "asinh": _asinh_formula, "acosh": _acosh_formula,
    "atanh": _atanh_formula, "expm1": _expm1_formula, "log1p": _log1p_formula, "floor": _floor_formula,
}  # fmt: skip
"""Operations that are made of others; traced scalars take them, too."""
