"""Every function of every map and group against 50 digits and more: error at most 10 ulp × condition.

The references are definitions, not the formulas of the package: power series of matrices, products of them, linear
systems, difference quotients in 60 digits.  An error is measured block by block (linear part, angular part, real and
vector part of a quaternion), relative to |f| + Σ |xᵢ ∂f/∂xᵢ|: the size of the block and what relative rounding of the
inputs does to it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from liegroup import rn, se2, se3, so2, so3
from liegroup.compile import entry, ld, matrix, nothing, st, vector
from liegroup.formulas import so3 as formulas

ULPS = 10
EPSILON = np.finfo(np.float64).eps
DIGITS = 60
PI = np.pi
ANGLES = (
    [0.0, 1e-300, 1e-200, 1e-160, 1e-100]
    + [10.0**-k for k in (16, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)]
    + [0.5, 1.0, 2.0, np.nextafter(3.0, 0), np.nextafter(3.0, 4)]
    + [PI - 10.0**-k for k in (3, 6, 9, 12, 15)]
    + [PI, np.nextafter(PI, 4), np.sqrt(10.0) * (1 - 4e-16), np.sqrt(10.0) * (1 + 4e-16), 3.5, 4.4934, 5.0, 6.0]
    + [2 * PI - 1e-3, 2 * PI + 1e-6, 7.0, 9.3, 12.0, 13.0, 20.0]
)
SELECTION = ["R", "SO(2)", "SO(3)", "SE(2)", "SE(3) thinned", pytest.param("SE(3)", marks=pytest.mark.slow)]
SELECTION_OF_FEWER = ["R", "SO(2)"] + [
    pytest.param(name + thinned, marks=() if thinned else pytest.mark.slow)
    for name in ("SO(3)", "SE(2)", "SE(3)")
    for thinned in (" thinned", "")
]
THINNED = {"SO(3)": 2, "SE(2)": 3, "SE(3)": 5}
GROUPS = {"R": rn(2), "SO(2)": so2, "SO(3)": so3, "SE(2)": se2, "SE(3)": se3}
VECTOR_BLOCKS = {"R": [0, 2], "SO(2)": [0, 1], "SO(3)": [0, 3], "SE(2)": [0, 2, 3], "SE(3)": [0, 3, 6]}
ELEMENT_BLOCKS = {"R": [0, 2], "SO(2)": [0, 1], "SO(3)": [0, 1, 4], "SE(2)": [0, 2, 3], "SE(3)": [0, 3, 4, 7]}


def arguments(selection: str) -> list[np.ndarray]:
    """Algebra elements at all angles, along an axis and obliquely, with translations of order 1 and 1e6."""
    name = selection.removesuffix(" thinned")
    rng = np.random.default_rng(7)
    found = []
    for k, angle in enumerate(ANGLES):
        for scale in (1.0, 1e6) if name in ("SE(2)", "SE(3)") else (1.0,):
            direction = np.eye(3)[k % 3] if k % 2 else rng.normal(size=3)
            w = angle * direction / np.linalg.norm(direction)
            v = scale * rng.normal(size=3)
            found.append({"R": v[:2], "SO(2)": [angle], "SO(3)": w, "SE(2)": [*v[:2], angle], "SE(3)": [*v, *w]}[name])
    return [np.array(x, dtype=float) for x in found[:: 1 if name == selection else THINNED[name]]]


# --- linear algebra with many digits ----------------------------------------------------------------------------------
# arrays stand to the left of numbers: a number of mpmath on the left writes out the array before it leaves the product
# to NumPy, which takes longer than the product


def big(a: Any) -> Any:
    """Array of mpmath numbers."""
    return np.vectorize(mp.mpf, otypes=[object])(np.asarray(a)) if np.size(a) else np.asarray(a, dtype=object)


def eye(n: int) -> Any:
    return big(np.eye(n))


def solve(a: Any, b: Any) -> Any:
    """a⁻¹ b by Gauss elimination with pivots."""
    a, b = a.copy(), b.copy()
    n = len(a)
    for k in range(n):
        p = k + int(np.argmax([abs(v) for v in a[k:, k]]))
        a[[k, p]], b[[k, p]] = a[[p, k]], b[[p, k]]
        for i in range(n):
            if i != k:
                f = a[i, k] / a[k, k]
                a[i], b[i] = a[i] - a[k] * f, b[i] - b[k] * f
    return b / (np.diag(a)[:, None] if b.ndim == 2 else np.diag(a))


def series(h: Any, shift: int) -> Any:
    """Σ hᵏ/(k + shift)!."""
    term = eye(len(h)) / mp.factorial(shift)
    total, k = term, shift
    size = max([abs(v) for v in h.flat] + [mp.mpf(1)])
    while max(abs(v) for v in term.flat) > size * mp.mpf(10) ** -mp.mp.dps or k < shift + 6:
        k += 1
        term = term @ h / k
        total = total + term
    return total


class Exact:
    """A group by its matrices, with 60 digits (30 more where series cancel)."""

    def __init__(self, name: str) -> None:
        self.name, self.group = name, GROUPS[name]
        self.basis = [big(self.group.hat(e)) for e in np.eye(self.group.n_v)]
        self.size = len(self.basis[0])

    def hat(self, x: Any) -> Any:
        return sum((e * v for v, e in zip(x, self.basis, strict=True)), big(np.zeros((self.size, self.size))))

    def coordinates(self, m: Any) -> Any:
        return np.array([(m * e).sum() / (e * e).sum() for e in self.basis], dtype=object)

    def adjoint(self, g: Any) -> Any:
        inverse = solve(g, eye(self.size))
        return np.stack([self.coordinates(g @ e @ inverse) for e in self.basis], axis=1)

    def ad(self, x: Any) -> Any:
        h = self.hat(x)
        return np.stack([self.coordinates(h @ e - e @ h) for e in self.basis], axis=1)

    # maps: x → matrix of the group, and right-trivialised tangent as a matrix

    def exp(self, x: Any) -> Any:
        return series(self.hat(x), 0)

    def exp_right(self, x: Any) -> Any:
        return series(self.ad(x), 1)

    def cay(self, x: Any) -> Any:
        h = self.hat(x) / 2
        return solve(eye(self.size) - h, eye(self.size) + h)

    def cay_right(self, x: Any) -> Any:
        h, one = self.hat(x) / 2, eye(self.size)
        before, behind = solve(one - h, one), solve(one + h, one)
        return np.stack([self.coordinates(before @ e @ behind) for e in self.basis], axis=1)

    def ccsk(self, x: Any) -> Any:
        g = eye(self.size)
        for v, e in zip(x, self.basis, strict=True):
            g = g @ series(e * v, 0)
        return g

    def ccsk_right(self, x: Any) -> Any:
        g, columns = eye(self.size), []
        for v, e in zip(x, self.basis, strict=True):
            columns.append(self.coordinates(g @ e @ solve(g, eye(self.size))))
            g = g @ series(e * v, 0)
        return np.stack(columns, axis=1)

    def tangents(self, kind: str, x: Any) -> dict[str, Any]:
        right = getattr(self, f"{kind}_right")(x)
        return {"left": solve(self.adjoint(getattr(self, kind)(x)), right), "right": right}

    # coordinates of elements

    def element(self, m: Any) -> Any:
        """Coordinates of a matrix; quaternions up to their sign."""
        if self.name == "R":
            return m[:-1, -1]
        if self.name == "SO(2)":
            return np.array([mp.atan2(m[1, 0], m[0, 0])], dtype=object)
        if self.name == "SE(2)":
            return np.array([m[0, 2], m[1, 2], mp.atan2(m[1, 0], m[0, 0])], dtype=object)
        # rows of 4 q qᵀ; the longest is 4 q times its diagonal root
        d, trace = np.diag(m)[:3], m[0, 0] + m[1, 1] + m[2, 2]
        outer = m[:3, :3] + m[:3, :3].T
        outer[np.diag_indices(3)] = 1 + 2 * d - trace
        skew = [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]
        rows = [np.array([1 + trace, *skew]), *(np.array([k, *r]) for k, r in zip(skew, outer, strict=True))]
        row = max(rows, key=norm)
        return np.array([*(m[:3, 3] if self.name == "SE(3)" else ()), *(row / norm(row))], dtype=object)

    def matrix(self, q: Any) -> Any:
        """Matrix of (nearly) an element of float64 coordinates; quaternions are normalised."""
        q = big(q)
        if self.name == "R":
            m = eye(self.size)
            m[:-1, -1] = q
            return m
        if self.name in ("SO(2)", "SE(2)"):
            c, s = mp.cos(q[-1]), mp.sin(q[-1])
            m = eye(self.size)
            m[:2, :2] = [[c, -s], [s, c]]
            m[:2, 2:] = q[:2, None] if self.name == "SE(2)" else m[:2, 2:]
            return m
        w, x, y, z = q[-4:] / mp.sqrt((q[-4:] * q[-4:]).sum())
        m = eye(self.size)
        m[:3, :3] = [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
        m[:3, 3:] = q[:3, None] if self.name == "SE(3)" else m[:3, 3:]
        return m

    def log(self, q: Any) -> Any:
        """The angle from the coordinates; the translation from the linear system exp(x)'s translation = p."""
        q = big(q)
        if self.name in ("R", "SO(2)"):
            return q if self.name == "R" else np.array([q[0] - whole_turns(q[0])], dtype=object)
        if self.name == "SE(2)":
            return self._with_translation(q[:2], [q[2] - whole_turns(q[2])])
        n = mp.sqrt((q[-3:] * q[-3:]).sum())
        if n == 0:
            w = 0 * q[-3:]
        else:
            w = q[-3:] * (2 * mp.atan2(n, abs(q[-4])) / n) * (1 if q[-4] >= 0 else -1)
        return w if self.name == "SO(3)" else self._with_translation(q[:3], w)

    def _with_translation(self, p: Any, w: Any) -> Any:
        n = len(p)
        columns = [self.exp(np.array([*e, *w], dtype=object))[:n, n] for e in big(np.eye(n))]
        return np.array([*solve(np.stack(columns, axis=1), p), *w], dtype=object)

    def cay_inverse(self, q: Any) -> Any:
        g, one = self.matrix(q), eye(self.size)
        return self.coordinates(solve((g + one).T, (2 * (g - one)).T).T)

    def ccsk_inverse(self, q: Any) -> Any:
        m = self.matrix(q)
        if self.name in ("R", "SO(2)", "SE(2)"):
            return self.element(m)
        a = mp.atan2(-m[1, 2], m[2, 2]), mp.atan2(m[0, 2], mp.hypot(m[0, 0], m[0, 1])), mp.atan2(-m[0, 1], m[0, 0])
        return np.array([*(m[:3, 3] if self.name == "SE(3)" else ()), *a], dtype=object)


# --- the measure ------------------------------------------------------------------------------------------------------


def condition(function: Callable[..., Any], inputs: list[np.ndarray], which: int) -> np.ndarray:
    """Σᵢ |xᵢ ∂f/∂xᵢ| over the components of input `which`, by complex steps."""
    total = 0.0
    for i in np.ndindex(inputs[which].shape):
        if inputs[which][i] == 0.0:
            continue
        step = 1e-20 if abs(inputs[which][i]) > 1e-250 else 1e-6
        moved = [a.astype(complex) if k == which else a for k, a in enumerate(inputs)]
        moved[which][i] *= 1.0 + 1j * step
        total = total + np.abs(np.imag(function(*moved))) / step
    return np.asarray(total)


def ulps(value: Any, exact: Any, sensitivity: Any, blocks: list[Any], noise: Any = 0) -> float:
    """Largest error of a block in units of ulp × condition; what the reference cannot resolve (`noise`) counts as
    zero.
    """
    value, sensitivity = np.asarray(value, dtype=float), np.broadcast_to(sensitivity, np.shape(value))
    error, exact = np.abs(big(value) - exact), np.asarray(exact)
    resolved = max(noise, max(abs(v) for v in exact.flat) * mp.mpf(10) ** (20 - mp.mp.dps))
    worst = 0.0
    for block in blocks:
        e = norm(error[block])
        assert mp.isfinite(e)
        if e > max(resolved, mp.mpf(10) ** -320):
            worst = max(worst, float(e / (EPSILON * (norm(exact[block]) + norm(big(sensitivity[block]))))))
    return worst


def norm(a: Any) -> Any:
    return mp.sqrt((a * a).sum())


def whole_turns(angle: Any) -> Any:
    return 2 * mp.pi * mp.nint(angle / (2 * mp.pi))


def slices(edges: list[int], ndim: int) -> list[Any]:
    parts = [slice(a, b) for a, b in itertools.pairwise(edges)]
    return [(p,) for p in parts] if ndim == 1 else [(p, r) for p in parts for r in parts]


def digits(x: np.ndarray) -> Any:
    """Context with enough digits that 1 + x² still shows x², squared once more."""
    smallest = min((abs(v) for v in x if v != 0.0), default=1.0)
    return mp.workdps(DIGITS + 30 + int(2.2 * max(0.0, -np.log10(smallest))))


def regular(kind: str, name: str, x: np.ndarray) -> bool:
    """Whether the inverse tangents exist at x, to some digits."""
    return kind != "ccsk" or name not in ("SO(3)", "SE(3)") or abs(np.cos(x[-2])) > 1e-9


KINDS = ("exp", "cay", "ccsk")
Worst = dict[float, Any]


def same_sign(name: str, reference: Any, value: Any) -> Any:
    """The reference with the sign of its quaternion, or the whole turns of its angle, as in the value."""
    reference, value = reference.copy(), big(value)
    if name in ("SO(3)", "SE(3)") and (value[-4:] * reference[-4:]).sum() < 0:
        reference[-4:] = -reference[-4:]
    if name in ("SO(2)", "SE(2)"):
        reference[-1] += whole_turns(value[-1] - reference[-1])
    return reference


def assert_small(worst: Worst) -> None:
    assert max(worst) <= ULPS, (max(worst), worst[max(worst)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("selection", SELECTION)
def test_map_is_exact_to_rounding(selection: str, kind: str) -> None:
    name = selection.removesuffix(" thinned")
    exact, f = Exact(name), GROUPS[name].maps[kind]
    worst: Worst = {}
    for x in arguments(selection):
        with digits(x):
            value = f(x)
            reference = same_sign(name, exact.element(getattr(exact, kind)(big(x))), value)
            worst[ulps(value, reference, condition(f, [x], 0), slices(ELEMENT_BLOCKS[name], 1))] = x
    assert_small(worst)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("selection", SELECTION)
def test_inverse_map_is_exact_to_rounding(selection: str, kind: str) -> None:
    name = selection.removesuffix(" thinned")
    exact, group = Exact(name), GROUPS[name]
    f, angles = group.maps[kind].inverse, {"SO(3)": slice(0, 3), "SE(3)": slice(3, 6)}.get(name)
    worst: Worst = {}
    for x in arguments(selection):
        g = group.exp(x)
        if kind == "cay" and name != "R" and abs(g[-4] if angles else np.cos(0.5 * g[-1])) < 1e-15:
            continue  # rotations by π
        with digits(x):
            reference, value = getattr(exact, {"exp": "log"}.get(kind, f"{kind}_inverse"))(g), f(g)
            if kind == "ccsk" and angles:
                reference[angles] = [
                    r + whole_turns(v - r) for r, v in zip(reference[angles], value[angles], strict=True)
                ]
            worst[ulps(value, reference, condition(f, [g], 0), slices(VECTOR_BLOCKS[name], 1))] = x
    assert_small(worst)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("selection", SELECTION)
def test_tangents_and_their_transposes_are_exact_to_rounding(selection: str, kind: str) -> None:
    name = selection.removesuffix(" thinned")
    exact, m = Exact(name), GROUPS[name].maps[kind]
    blocks = slices(VECTOR_BLOCKS[name], 2)
    worst: Worst = {}
    for x in arguments(selection):
        with digits(x):
            for side, forward in exact.tangents(kind, big(x)).items():
                for inverse in (False, True) if regular(kind, name, x) else (False,):
                    reference = solve(forward, eye(len(forward))) if inverse else forward
                    function = f"dtau_{'inverse_' if inverse else ''}{side}"
                    f, transposed = getattr(m, function), getattr(m, f"{function}_transpose")
                    sensitivity = condition(f, [x], 0)
                    worst[ulps(f(x), reference, sensitivity, blocks)] = (x, function)
                    worst[ulps(transposed(x), reference.T, np.transpose(sensitivity), blocks)] = (
                        x,
                        function,
                        "transpose",
                    )
    assert_small(worst)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("selection", SELECTION_OF_FEWER)
def test_second_derivatives_are_exact_to_rounding(selection: str, kind: str) -> None:
    name = selection.removesuffix(" thinned")
    exact, m, n = Exact(name), GROUPS[name].maps[kind], GROUPS[name].n_v
    rng, blocks = np.random.default_rng(1), slices(VECTOR_BLOCKS[name], 1)
    worst: Worst = {}
    for x in arguments(selection):
        if not regular(kind, name, x):
            continue
        mu, delta, xi = rng.normal(size=(3, n))
        with digits(x):
            h = mp.mpf(10) ** (-mp.mp.dps // 3)
            tangents = [exact.tangents(kind, big(x) + big(delta) * (s * h)) for s in (1, -1)]
            for side in ("left", "right"):
                f, g = getattr(m, f"derivative_{side}"), getattr(m, f"gradient_{side}")

                def pairing(x: Any, xi: Any, mu: Any, delta: Any, g: Any = g) -> Any:
                    return np.atleast_1d((g(x, xi, mu) * delta).sum())

                ends = [solve(tangent[side].T, big(mu)) for tangent in tangents]
                reference = (ends[0] - ends[1]) / (2 * h)
                sensitivity = sum(condition(f, [x, mu, delta], k) for k in range(3))
                noise = norm(ends[0]) / h * mp.mpf(10) ** (20 - mp.mp.dps)
                worst[ulps(f(x, mu, delta), reference, sensitivity, blocks, noise)] = (x, side)
                against = np.atleast_1d((reference * big(xi)).sum())
                sensitivity = sum(condition(pairing, [x, xi, mu, delta], k) for k in range(4))
                worst[ulps(pairing(x, xi, mu, delta), against, sensitivity, slices([0, 1], 1), noise)] = (
                    x,
                    side,
                    "gradient",
                )
    assert_small(worst)


@pytest.mark.parametrize("selection", SELECTION)
def test_verbs_of_the_group_are_exact_to_rounding(selection: str) -> None:
    name = selection.removesuffix(" thinned")
    exact, group = Exact(name), GROUPS[name]
    rng = np.random.default_rng(2)
    elements, vectors = slices(ELEMENT_BLOCKS[name], 1), slices(VECTOR_BLOCKS[name], 1)
    operators, whole = slices(VECTOR_BLOCKS[name], 2), [(slice(None),)]
    worst: Worst = {}

    def measure(label: str, f: Any, inputs: list[Any], reference: Any, blocks: Any) -> None:
        value = f(*inputs)
        reference = same_sign(name, reference, value) if blocks is elements else reference
        sensitivity = sum(condition(f, inputs, k) for k in range(len(inputs)))
        worst[ulps(value, reference, sensitivity, blocks)] = (label, inputs)

    for x, y in zip(arguments(selection), arguments(selection)[::-1], strict=True):
        with digits(np.concatenate([x, y])):
            g, h, v, u = group.exp(x), group.exp(y), rng.normal(size=group.n_v), rng.normal(size=group.n_point)
            a, b = exact.matrix(g), exact.matrix(h)
            one = eye(len(a))
            measure("compose", group.compose, [g, h], exact.element(a @ b), elements)
            measure("inverse", group.inverse, [g], exact.element(solve(a, one)), elements)
            measure("between", group.between, [g, h], exact.element(solve(a, b)), elements)
            measure("act", group.act, [g, u], (a @ big([*u, 1.0] if len(a) > len(u) else u))[: len(u)], whole)
            measure("Ad", group.adjoint, [g], exact.adjoint(a), operators)
            measure("Adᵀ", lambda q: group.coadjoint(q).T, [g], exact.adjoint(a), operators)
            measure("ad", group.ad, [x], exact.ad(big(x)), operators)
            measure("ad*", group.ad_star, [x, v], exact.ad(big(x)).T @ big(v), vectors)
            parts = slices([0, len(a) - 1, len(a)], 2) if name in ("SE(2)", "SE(3)") else [(slice(None), slice(None))]
            measure("as_matrix", group.as_matrix, [g], a, parts)
            back = group.from_matrix(group.as_matrix(g))
            worst[ulps(back, same_sign(name, exact.element(a), back), 1.0, elements)] = ("from_matrix", x)
    assert_small(worst)


@pytest.mark.parametrize("size", [1e2, 1e5, 1e6, np.nextafter(1e6, 2e6), 1e9, 1e15, 1e100])
def test_exponential_takes_angles_of_any_size(size: float) -> None:
    x = size * np.array([0.36, -0.48, 0.8])
    with mp.workdps(200):
        w = big(x)
        t = norm(w)
        reference = np.array([mp.cos(t / 2), *(mp.sin(t / 2) / t * w)])
    error = np.abs(big(so3.exp(x)) - reference).max()
    assert float(error) <= 2 * EPSILON * (1 + size)
    assert so3.is_element(so3.exp(x))
    assert se3.is_element(se3.exp([1.0, 2.0, 3.0, *x]))


@entry(nothing(vector, matrix))
def multiply(q: Any, factors: Any) -> None:
    """q <- q times all factors, one after the other."""
    product = ld(q, 0), ld(q, 1), ld(q, 2), ld(q, 3)
    for k in range(len(factors)):
        product = formulas.compose(product, (factors[k, 0], factors[k, 1], factors[k, 2], factors[k, 3]))
    for i in range(4):
        st(q, i, product[i])


def test_a_million_products_stay_on_the_group_without_projection() -> None:
    q = so3.identity()
    multiply(q, so3.random(np.random.default_rng(0), 1_000_000))
    assert abs(np.linalg.norm(q) - 1.0) < 1e-13


@pytest.mark.parametrize("angle", [np.pi - 1e-16, np.pi - 1e-15, np.pi - 1e-12, np.pi - 1e-8, np.pi - 1e-3, np.pi])
def test_logarithm_next_to_half_turns_loses_no_digits(angle: float) -> None:
    x = angle * np.array([2.0, -3.0, 6.0]) / 7.0
    np.testing.assert_allclose(so3.log(so3.exp(x)), x, rtol=4 * EPSILON)


@pytest.mark.parametrize("angle", [5e-324, -5e-324, 1.5e-323, 1e-310])
def test_se2_keeps_translations_at_angles_whose_halves_round(angle):
    x = np.array([1.0, -2.0, angle])
    assert se2.exp(x).tolist() == x.tolist()
    assert se2.log(x).tolist() == x.tolist()
