"""Every theorem a Lie group must satisfy, as checks on one group: for the groups here and for those of others.

>>> from liegroup import product, rn, so3
>>> from liegroup.testing import check_group
>>> check_group(product(so3, rn(2)))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liegroup import matrices as blocks
from liegroup.arrays import Array, call, integer
from liegroup.formulas.facts import FACTS, check_facts
from liegroup.group import Group
from liegroup.group_maps import GroupMap
from liegroup.leaves import Leaf, named, vectors
from liegroup.maps import maps_of
from liegroup.modules import listing
from liegroup.table import FACTORS, KIND, SE3
from liegroup.tau import NAMES

__all__ = [
    "STEP",
    "Sample",
    "action",
    "adjoint_representation",
    "algebra",
    "available_maps",
    "check_formulas",
    "check_group",
    "exponential",
    "facts",
    "group_axioms",
    "inverse_of_map",
    "matrices",
    "moves",
    "near_identity",
    "pairing",
    "projection",
    "second_derivatives",
    "shapes",
    "tangents",
    "transposes",
]
__dir__ = listing(__all__)

STEP = 1e-30
"""Length of complex steps: derivatives without cancellation."""
_ROUGHLY = 1e-6
"""What runs ask of formulas: mistakes are larger, and rounding is the business of those who wrote them."""


def check_group(group: Group, seed: int = 0, count: int = 10, tolerance: float = 1e-12) -> None:
    """Check all theorems on random elements.

    Parameters
    ----------
    group : Group
        Also of a formula file of one's own, and products.
    seed : int
        Of the random elements.
    count : int
        Random elements per theorem (all in one batch), at least three.
    tolerance : float
        Largest error, relative to 1 + the size of what is compared.

    Raises
    ------
    AssertionError
        Naming the group, the theorem, the error, and the arguments.
    ValueError, TypeError
        Fewer than three elements; not a number.

    Examples
    --------
    >>> from liegroup import product, rn, se2
    >>> check_group(product(se2, rn(1)))
    """
    sample = Sample(group, np.random.default_rng(seed), integer(count, "count", 3), tolerance)
    for theorem in (*_algebraic(group), *_of_logarithms(group)):
        sample.hold(*theorem)


def check_formulas(table: Any) -> None:
    """What of `check_group` holds for every group, for those of a table that others have registered: once per process.

    A run asks it; 20 ms or so.  Logarithms are asked near the identity: not every element of every group has one.

    Parameters
    ----------
    table : int64 array (factors, 5)
        The product.

    Raises
    ------
    ValueError
        Formulas that contradict one another: the group, the theorem, the error.

    Examples
    --------
    >>> from liegroup import so3
    >>> check_formulas(so3.table)
    """
    for kind in sorted({int(kind) for kind in table[:, KIND]}):
        if kind > SE3 and (said := _contradiction(kind)):
            raise ValueError(f"{said}: its formulas contradict one another; correct them, and ask check_group")


@cache
def _contradiction(kind: int) -> str:
    """The first theorem that does not hold for a registered group, or nothing."""
    group = Group(((FACTORS[kind], 1),))
    sample = Sample(group, np.random.default_rng(0), 3, _ROUGHLY)
    try:
        for theorem in _algebraic(group):
            sample.hold(*theorem)
    except AssertionError as error:
        return str(error).partition("; left")[0]
    return ""


def _algebraic(group: Group) -> Iterator[tuple[Any, ...]]:
    """The theorems that hold wherever formulas do, each with the map it is about."""
    yield from ((t,) for t in (group_axioms, matrices, action, algebra, adjoint_representation, projection, shapes))
    if _have(group, *FACTS):
        yield (facts,)
    for m in available_maps(group):
        yield from ((theorem, m) for theorem in (near_identity, tangents, transposes, second_derivatives))
        if _have(group, f"{m.name}_difference", "displace", "advance"):
            yield moves, m


def _of_logarithms(group: Group) -> Iterator[tuple[Any, ...]]:
    """Those that want every element to have coordinates."""
    yield from ((inverse_of_map, m) for m in available_maps(group))
    yield (exponential,)


def _have(group: Group, *names: str) -> bool:
    """Whether all files of a group have these formulas."""
    return all(hasattr(f, name) for f, _ in group.factors for name in names)


def available_maps(group: Group) -> Iterator[GroupMap]:
    """The maps of a group; the Cayley map only if all its factors have one.

    Parameters
    ----------
    group : Group
        Of which.

    Yields
    ------
    GroupMap
        exp, the Cayley map if there is one, the second kind.

    Examples
    --------
    >>> from liegroup import so3
    >>> [m.name for m in available_maps(so3)]
    ['exp', 'cay', 'ccsk']
    """
    for name, m in group.maps.items():
        if name != "cay" or _have(group, "cay"):
            yield m


class Sample:
    """Random elements of a group, and the comparison of two sides of an equation.

    Parameters
    ----------
    group : Group
        Of which.
    rng : numpy.random.Generator
        Where the numbers come from.
    count : int
        Elements of a batch.
    tolerance : float
        Largest error, relative to 1 + the size of what is compared.

    Examples
    --------
    >>> from liegroup import so3
    >>> Sample(so3, np.random.default_rng(0), 4, 1e-12).group
    SO(3)
    """

    def __init__(self, group: Group, rng: np.random.Generator, count: int, tolerance: float) -> None:
        self.group, self.rng, self.count, self.tolerance = group, rng, count, tolerance

    def elements(self, n: int) -> list[Array]:
        """Random group elements, several batches.

        Parameters
        ----------
        n : int
            How many batches.

        Returns
        -------
        list of array (count, n_q)
            Uniform.
        """
        return [self.group.random(self.rng, self.count) for _ in range(n)]

    def vectors(self, n: int, scale: float = 0.6) -> list[Array]:
        """Random algebra elements, several batches.

        Parameters
        ----------
        n : int
            How many batches.
        scale : float
            Standard deviation of the components.

        Returns
        -------
        list of array (count, n_v)
            Normal.
        """
        return [scale * self.rng.normal(size=(self.count, self.group.n_v)) for _ in range(n)]

    def hold(self, theorem: Callable[..., None], *of: GroupMap) -> None:
        """Check one of the theorems of this module.

        Parameters
        ----------
        theorem : callable
            ``theorem(sample, *of)``.
        of : GroupMap
            Of which map, if it is a theorem of maps.

        Raises
        ------
        AssertionError
            It does not hold, or a formula in it leads off the group.
        """
        try:
            theorem(self, *of)
        except ValueError as error:
            where = ", ".join([theorem.__name__, *(m.name for m in of)])
            raise AssertionError(f"{self.group}: {where}: a formula does not give what it should: {error}") from error

    def equal(self, theorem: str, left: Any, right: Any) -> None:
        """Compare the two sides of an equation.

        Parameters
        ----------
        theorem : str
            For the message.
        left, right : array
            The sides.

        Raises
        ------
        AssertionError
            They differ.
        """
        left, right = (np.asarray(a) + 0.0 for a in (left, right))
        if left.shape != right.shape:
            raise AssertionError(f"{self.group}: {theorem}: shapes {left.shape} and {right.shape}")
        error = np.abs(left - right)
        limit = self.tolerance * (1.0 + np.abs(right).max(initial=0.0))
        if not np.all(error <= limit):
            raise AssertionError(
                f"{self.group}: {theorem}: error {np.max(error):.3g} > {limit:.3g}; left\n{left}\nright\n{right}"
            )

    def same(self, theorem: str, g: Array, h: Array) -> None:
        """Compare two group elements, as matrices: coordinates may be redundant.

        Parameters
        ----------
        theorem : str
            For the message.
        g, h : array (…, n_q)
            The elements.

        Raises
        ------
        AssertionError
            They differ.
        """
        self.equal(theorem, self.group.as_matrix(g), self.group.as_matrix(h))

    def derivative(self, function: Callable[[Array], Array], x: Array, direction: Array) -> Array:
        """d/ds function(x + s direction) at s = 0.

        Parameters
        ----------
        function : callable
            Of an array like x, analytic.
        x : array (…, n)
            Where.
        direction : array (…, n)
            Along which.

        Returns
        -------
        array
            By a complex step, to rounding.
        """
        return np.imag(function(x + 1j * STEP * direction)) / STEP


def pairing(mu: ArrayLike, y: ArrayLike) -> Array:
    """⟨μ, y⟩ over a batch.

    Parameters
    ----------
    mu : array (…, n)
        Covectors.
    y : array (…, n)
        Vectors.

    Returns
    -------
    array (…)
        Σ μₖ yₖ.

    Raises
    ------
    ValueError
        Arrays that do not broadcast.

    Examples
    --------
    >>> pairing([1.0, 2.0], [3.0, 4.0]).tolist()
    11.0
    """
    return np.asarray((np.asarray(mu) * np.asarray(y)).sum(axis=-1))


# --- the group ------------------------------------------------------------------------------------------------------


def group_axioms(s: Sample) -> None:
    """Associativity, unit, inverses.

    Parameters
    ----------
    s : Sample
        Random elements of the group.

    Raises
    ------
    AssertionError
        Naming the group, the theorem, the error, and the arguments.

    Examples
    --------
    >>> from liegroup import so3
    >>> group_axioms(Sample(so3, np.random.default_rng(0), 4, 1e-12))
    """
    group, (a, b, c), e = s.group, s.elements(3), s.group.identity()
    s.same("(ab)c = a(bc)", group.compose(group.compose(a, b), c), group.compose(a, group.compose(b, c)))
    s.same("ea = a", group.compose(e, a), a)
    s.same("ae = a", group.compose(a, e), a)
    s.same("a a⁻¹ = e", group.compose(a, group.inverse(a)), group.identity(s.count))
    s.same("(ab)⁻¹ = b⁻¹a⁻¹", group.inverse(group.compose(a, b)), group.compose(group.inverse(b), group.inverse(a)))
    s.same("a between(a, b) = b", group.compose(a, group.between(a, b)), b)


def matrices(s: Sample) -> None:
    """as_matrix is a homomorphism, and from_matrix its inverse.

    Parameters
    ----------
    s : Sample
        Random elements of the group.

    Raises
    ------
    AssertionError
        Naming the group, the theorem, the error, and the arguments.

    Examples
    --------
    >>> from liegroup import so3
    >>> matrices(Sample(so3, np.random.default_rng(0), 4, 1e-12))
    """
    group, (a, b) = s.group, s.elements(2)
    s.equal(
        "matrix(ab) = matrix(a) matrix(b)",
        group.as_matrix(group.compose(a, b)),
        group.as_matrix(a) @ group.as_matrix(b),
    )
    s.same("from_matrix(matrix(a)) = a", group.from_matrix(group.as_matrix(a)), a)
    (x,) = s.vectors(1)
    s.equal("vee(hat(x)) = x", group.vee(group.hat(x)), x)


def action(s: Sample) -> None:
    """(ab)·u = a·(b·u) and e·u = u.

    Parameters
    ----------
    s : Sample
        Random elements of the group.

    Raises
    ------
    AssertionError
        Naming the group, the theorem, the error, and the arguments.

    Examples
    --------
    >>> from liegroup import so3
    >>> action(Sample(so3, np.random.default_rng(0), 4, 1e-12))
    """
    group, (a, b) = s.group, s.elements(2)
    u = s.rng.normal(size=(s.count, group.n_point))
    s.equal("(ab)·u = a·(b·u)", group.act(group.compose(a, b), u), group.act(a, group.act(b, u)))
    s.equal("e·u = u", group.act(group.identity(), u), u)


def projection(s: Sample) -> None:
    """project leaves elements alone and moves what is near to the group.

    Parameters
    ----------
    s : Sample
        Random elements of the group.

    Raises
    ------
    AssertionError
        Naming the group, the theorem, the error, and the arguments.

    Examples
    --------
    >>> from liegroup import so3
    >>> projection(Sample(so3, np.random.default_rng(0), 4, 1e-12))
    """
    group, (a,) = s.group, s.elements(1)
    s.same("project(a) = a", group.project(a), a)
    near = a + 1e-3 * s.rng.normal(size=a.shape)
    off = group.project(near)
    s.equal("project(q) is an element", group.is_element(off), np.ones(s.count, dtype=bool))
    s.equal("random elements are elements", group.is_element(a), np.ones(s.count, dtype=bool))
    s.equal("NaN is not an element", group.is_element(np.full(a.shape, np.nan)), np.zeros(s.count, dtype=bool))
    moved = np.abs(blocks.write(group.leaves, "matrix", "q", near) - group.as_matrix(off)).max(axis=(-2, -1)) > 1e-6
    s.equal("what project moves is not an element", group.is_element(near) & moved, np.zeros(s.count, dtype=bool))


def facts(s: Sample) -> None:
    """What formula files say of themselves: lengths, rates of the coordinates, quaternions, angles, commutativity.

    Parameters
    ----------
    s : Sample
        Random elements of the group.

    Raises
    ------
    AssertionError
        Naming the group, the theorem, the error, and the arguments.

    Examples
    --------
    >>> from liegroup import so3
    >>> facts(Sample(so3, np.random.default_rng(0), 4, 1e-12))
    """
    group, (a,), (x, y) = s.group, s.elements(1), s.vectors(2)
    for f, _ in group.factors:
        check_facts(f)
    rate = vectors(group.leaves, named("coordinate_rate"), "qv", a, x)
    moved = s.derivative(lambda t: group.compose(a, group.exp(t)), np.zeros_like(x), x)
    s.equal("coordinate_rate(a, x) = d/ds a exp(sx)", rate, moved)
    s.equal(
        "body_velocity(a, coordinate_rate(a, x)) = x", vectors(group.leaves, named("body_velocity"), "qq", a, rate), x
    )
    for leaf in (one for several in group.leaves for one in several.split()):
        part, f = leaf.part(a, "q"), leaf.formulas
        for k in f.QUATERNIONS:
            s.equal("QUATERNIONS are of unit norm", np.linalg.norm(part[:, k : k + 4], axis=-1), np.ones(s.count))
        turned = part + 2.0 * np.pi * np.isin(np.arange(f.N_Q), f.ANGLES)
        s.equal("ANGLES: the same after a turn", call(f.matrix, [turned]), call(f.matrix, [part]))
        if f.COMMUTATIVE:
            s.equal("COMMUTATIVE: q̇ = v", leaf.part(rate, "q"), leaf.part(x, "v"))
            s.equal("COMMUTATIVE: [x, y] = 0", leaf.part(group.ad(x, y), "v"), np.zeros_like(leaf.part(x, "v")))


def shapes(s: Sample) -> None:
    """A batch is its elements one by one, and leading axes broadcast.

    Parameters
    ----------
    s : Sample
        Random elements of the group.

    Raises
    ------
    AssertionError
        Naming the group, the theorem, the error, and the arguments.

    Examples
    --------
    >>> from liegroup import so3
    >>> shapes(Sample(so3, np.random.default_rng(0), 4, 1e-12))
    """
    group, (a, b), (x, y) = s.group, s.elements(2), s.vectors(2)
    s.equal("compose in batches", group.compose(a, b), [group.compose(g, h) for g, h in zip(a, b, strict=True)])
    s.equal("compose broadcasts", group.compose(a[:, None], b)[1, 2], group.compose(a[1], b[2]))
    s.equal("ad in batches", group.ad(x), [group.ad(v) for v in x])
    for m in available_maps(group):
        s.equal(f"{m.name} in batches", m(x), [m(v) for v in x])
        s.equal(f"{m.name}⁻¹ in batches", m.inverse(m(x)), [m.inverse(m(v)) for v in x])
        s.equal(f"d{m.name} broadcasts", m.dtau_left(x[:, None], y)[1, 2], m.dtau_left(x[1], y[2]))
        s.equal(f"d{m.name} as matrices", m.dtau_left(x) @ y[..., None], m.dtau_left(x, y)[..., None])


# --- the algebra ----------------------------------------------------------------------------------------------------


def algebra(s: Sample) -> None:
    """The bracket is the commutator of matrices: antisymmetric, Jacobi; ad* is its transpose.

    Parameters
    ----------
    s : Sample
        Random elements of the group.

    Raises
    ------
    AssertionError
        Naming the group, the theorem, the error, and the arguments.

    Examples
    --------
    >>> from liegroup import so3
    >>> algebra(Sample(so3, np.random.default_rng(0), 4, 1e-12))
    """
    group, (x, y, z) = s.group, s.vectors(3)
    ad = group.ad
    s.equal("[x, y]^ = x̂ŷ − ŷx̂", group.hat(ad(x, y)), group.hat(x) @ group.hat(y) - group.hat(y) @ group.hat(x))
    s.equal("[x, y] = −[y, x]", ad(x, y), -ad(y, x))
    s.equal("Jacobi", ad(x, ad(y, z)) + ad(y, ad(z, x)) + ad(z, ad(x, y)), np.zeros_like(x))
    s.equal("⟨ad_xᵀ μ, y⟩ = ⟨μ, [x, y]⟩", pairing(group.ad_star(x, z), y), pairing(z, ad(x, y)))


def adjoint_representation(s: Sample) -> None:
    """Ad is conjugation, a homomorphism, preserves brackets; its derivative at e is ad; coadjoint is its transpose.

    Parameters
    ----------
    s : Sample
        Random elements of the group.

    Raises
    ------
    AssertionError
        Naming the group, the theorem, the error, and the arguments.

    Examples
    --------
    >>> from liegroup import so3
    >>> adjoint_representation(Sample(so3, np.random.default_rng(0), 4, 1e-12))
    """
    group, (a, b), (x, y, mu) = s.group, s.elements(2), s.vectors(3)
    m = group.as_matrix(a)
    s.equal("(Ad_a y)^ = a ŷ a⁻¹", group.hat(group.adjoint(a, y)), m @ group.hat(y) @ np.linalg.inv(m))
    s.equal("Ad_ab = Ad_a Ad_b", group.adjoint(group.compose(a, b)), group.adjoint(a) @ group.adjoint(b))
    s.equal(
        "Ad_a [x, y] = [Ad_a x, Ad_a y]",
        group.adjoint(a, group.ad(x, y)),
        group.ad(group.adjoint(a, x), group.adjoint(a, y)),
    )
    s.equal("⟨Ad_aᵀ μ, y⟩ = ⟨μ, Ad_a y⟩", pairing(group.coadjoint(a, mu), y), pairing(mu, group.adjoint(a, y)))
    moved = s.derivative(lambda t: group.adjoint(group.exp(t), y), np.zeros_like(x), x)
    s.equal("d/ds Ad_exp(sx) y = [x, y]", moved, group.ad(x, y))


# --- maps -----------------------------------------------------------------------------------------------------------


def exponential(s: Sample) -> None:
    """exp x is the sum of powers; one-parameter subgroups; conjugation; geodesics and distance.

    Parameters
    ----------
    s : Sample
        Random elements of the group.

    Raises
    ------
    AssertionError
        Naming the group, the theorem, the error, and the arguments.

    Examples
    --------
    >>> from liegroup import so3
    >>> exponential(Sample(so3, np.random.default_rng(0), 4, 1e-12))
    """
    group, (a, b), (x,) = s.group, s.elements(2), s.vectors(1, 0.3)
    power, total = np.eye(group.matrix_size), np.eye(group.matrix_size)
    for k in range(1, 40):
        power = power @ group.hat(x) / k
        total = total + power
    s.equal("exp x = Σ x̂ᵏ/k!", group.as_matrix(group.exp(x)), total)
    s.same("exp(2x) = exp(x) exp(x)", group.exp(2.0 * x), group.compose(group.exp(x), group.exp(x)))
    moved = group.compose(group.compose(a, group.exp(x)), group.inverse(a))
    s.same("a exp(x) a⁻¹ = exp(Ad_a x)", moved, group.exp(group.adjoint(a, x)))
    s.same("interpolate from", group.interpolate(a, b, 0.0), a)
    s.same("interpolate to", group.interpolate(a, b, 1.0), b)
    s.equal("distance is left-invariant", group.distance(group.compose(b, group.exp(x)), b), np.linalg.norm(x, axis=-1))


def inverse_of_map(s: Sample, m: GroupMap) -> None:
    """τ⁻¹(τ(x)) = x, τ(τ⁻¹(g)) = g, τ(0) = e, dτ(0) = 1.

    Parameters
    ----------
    s : Sample
        Random elements of the group.
    m : GroupMap
        Of the same group.

    Raises
    ------
    AssertionError
        Naming the group, the theorem, the error, and the arguments.

    Examples
    --------
    >>> from liegroup import so3
    >>> inverse_of_map(Sample(so3, np.random.default_rng(0), 4, 1e-12), so3.maps["cay"])
    """
    (x,), (a,) = s.vectors(1, 0.4), s.elements(1)
    s.equal(f"{m.name}⁻¹({m.name}(x)) = x", m.inverse(m(x)), x)
    s.same(f"{m.name}({m.name}⁻¹(a)) = a", m(m.inverse(a)), a)
    near_identity(s, m)


def near_identity(s: Sample, m: GroupMap) -> None:
    """τ⁻¹(τ(x)) = x of small x, τ(0) = e, dτ(0) = 1: of every group, also where not every element has coordinates.

    Parameters
    ----------
    s : Sample
        Random elements of the group.
    m : GroupMap
        Of the same group.

    Raises
    ------
    AssertionError
        Naming the group, the theorem, the error, and the arguments.

    Examples
    --------
    >>> from liegroup import so3
    >>> near_identity(Sample(so3, np.random.default_rng(0), 4, 1e-12), so3.maps["exp"])
    """
    (x,), n = s.vectors(1, 0.05), s.group.n_v
    s.equal(f"{m.name}⁻¹({m.name}(x)) = x", m.inverse(m(x)), x)
    s.same(f"{m.name}(0) = e", m(np.zeros(n)), s.group.identity())
    s.equal(f"d{m.name}(0) = 1", m.dtau_left(np.zeros(n)), np.eye(n))


def tangents(s: Sample, m: GroupMap) -> None:
    """dτ is the derivative of τ; the left and right forms differ by Ad; dτ⁻¹ is the inverse.

    Parameters
    ----------
    s : Sample
        Random elements of the group.
    m : GroupMap
        Of the same group.

    Raises
    ------
    AssertionError
        Naming the group, the theorem, the error, and the arguments.

    Examples
    --------
    >>> from liegroup import so3
    >>> tangents(Sample(so3, np.random.default_rng(0), 4, 1e-12), so3.maps["cay"])
    """
    group, (x, y) = s.group, s.vectors(2)
    change = s.derivative(lambda t: group.as_matrix(m(t)), x, y)
    g = group.as_matrix(m(x))
    s.equal(f"d{m.name}_left: τ⁻¹ dτ", group.hat(m.dtau_left(x, y)), np.linalg.inv(g) @ change)
    s.equal(f"d{m.name}_right: dτ τ⁻¹", group.hat(m.dtau_right(x, y)), change @ np.linalg.inv(g))
    s.equal(f"d{m.name}_right = Ad d{m.name}_left", m.dtau_right(x), group.adjoint(m(x)) @ m.dtau_left(x))
    for side in ("left", "right"):
        forward, inverse = getattr(m, f"dtau_{side}"), getattr(m, f"dtau_inverse_{side}")
        s.equal(f"d{m.name}⁻¹ d{m.name} = 1 ({side})", inverse(x, forward(x, y)), y)


def transposes(s: Sample, m: GroupMap) -> None:
    """⟨Aᵀ μ, y⟩ = ⟨μ, A y⟩ for the four tangents.

    Parameters
    ----------
    s : Sample
        Random elements of the group.
    m : GroupMap
        Of the same group.

    Raises
    ------
    AssertionError
        Naming the group, the theorem, the error, and the arguments.

    Examples
    --------
    >>> from liegroup import so3
    >>> transposes(Sample(so3, np.random.default_rng(0), 4, 1e-12), so3.maps["cay"])
    """
    x, y, mu = s.vectors(3)
    for name in ("dtau_left", "dtau_right", "dtau_inverse_left", "dtau_inverse_right"):
        transposed = getattr(m, f"{name}_transpose")(x, mu)
        s.equal(
            f"{m.name}: ⟨{name}ᵀ μ, y⟩ = ⟨μ, {name} y⟩", pairing(transposed, y), pairing(mu, getattr(m, name)(x, y))
        )


def moves(s: Sample, m: GroupMap) -> None:
    """How compiled loops move elements and momenta: by d = τ(x) − e, q τ − q, q τ; by Ad_τᵀ.

    Parameters
    ----------
    s : Sample
        Random elements of the group.
    m : GroupMap
        Of the same group, whose files have `displace`, `advance` and the difference of this map.

    Raises
    ------
    AssertionError
        Naming the group, the theorem, the error, and the arguments.

    Examples
    --------
    >>> from liegroup import so3
    >>> moves(Sample(so3, np.random.default_rng(0), 4, 1e-12), so3.maps["cay"])
    """
    group, (a,), (x, mu), zero = s.group, s.elements(1), s.vectors(2), np.zeros((s.count, s.group.n_v))

    def of_map(function: str) -> Callable[[Leaf], Any]:
        return lambda leaf: getattr(maps_of(leaf.formulas)[NAMES.index(m.name)], function)

    def difference(x: Array) -> Array:
        return vectors(group.leaves, of_map("difference"), "v", x)

    def change(function: str, d: Array) -> Array:
        return vectors(group.leaves, named(function), "qq", a, d)

    d, tiny = difference(x), 1e-20
    s.same(f"{m.name}_difference(x) = {m.name}(x) − e", group.identity() + d, m(x))
    s.same(f"advance(a, {m.name}_difference(x)) = a {m.name}(x)", change("advance", d), group.compose(a, m(x)))
    s.same(
        f"displace(a, {m.name}_difference(x)) = a {m.name}(x) − a", a + change("displace", d), group.compose(a, m(x))
    )
    small = difference(tiny * x)
    s.equal(f"{m.name}_difference to relative precision", small / tiny, s.derivative(m, zero, x))
    moved = s.derivative(lambda t: group.compose(a, m(t)), zero, x)
    s.equal("displace to relative precision", change("displace", small) / tiny, moved)
    turned = group.coadjoint(m(x), mu)
    s.equal(f"Ad_{m.name}ᵀ μ", vectors(group.leaves, of_map("coadjoint"), "vv", x, mu), turned)
    s.equal(f"Ad_{m.name}ᵀ μ − μ", vectors(group.leaves, of_map("coadjoint_difference"), "vv", x, mu), turned - mu)


def second_derivatives(s: Sample, m: GroupMap) -> None:
    """The derivative of dτ⁻ᵀ(x) μ by x, and its transpose.

    Parameters
    ----------
    s : Sample
        Random elements of the group.
    m : GroupMap
        Of the same group.

    Raises
    ------
    AssertionError
        Naming the group, the theorem, the error, and the arguments.

    Examples
    --------
    >>> from liegroup import so3
    >>> second_derivatives(Sample(so3, np.random.default_rng(0), 4, 1e-12), so3.maps["cay"])
    """
    x, xi, mu, delta = s.vectors(4, 0.4)
    for side in ("left", "right"):
        covector = getattr(m, f"dtau_inverse_{side}_transpose")
        change = s.derivative(lambda t, covector=covector: covector(t, mu), x, delta)  # type: ignore[misc]
        derivative, gradient = getattr(m, f"derivative_{side}"), getattr(m, f"gradient_{side}")
        s.equal(f"{m.name}: d/dx (dτ_{side}⁻ᵀ μ) δ", derivative(x, mu, delta), change)
        s.equal(f"{m.name}: d/dx (dτ_{side}⁻ᵀ μ) as a matrix", derivative(x, mu) @ delta[..., None], change[..., None])
        s.equal(f"{m.name}: ∇⟨μ, dτ_{side}⁻¹ ξ⟩", pairing(gradient(x, xi, mu), delta), pairing(change, xi))
