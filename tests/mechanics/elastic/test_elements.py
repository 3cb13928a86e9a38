"""Elements: gradient and stiffness from the potential, in fifty digits; what a rigid motion and an affine map give."""

from __future__ import annotations

import itertools
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest

from liegroup.compile import helper, renew
from liegroup.compile.scalars import sqrt
from liegroup.compile.stages import KernelCompiler
from liegroup.formulas.vectors import subtract
from mechanics.elastic import (
    Bending,
    Cables,
    Hinges,
    NeoHookean,
    Network,
    Springs,
    StableNeoHookean,
    StVenantKirchhoff,
    Tetrahedra,
    Triangles,
    registry,
)
from mechanics.elastic.bending import dihedral_angle
from mechanics.elastic.elements import Elements
from mechanics.elastic.kind import Kind, potentials, stiffness
from mechanics.elastic.registry import KINDS
from mechanics.elastic.springs import SPRING
from mechanics.errors import ModelError

CORNERS = np.array(
    [[0.0, 0.0, 0.0], [1.1, 0.1, -0.1], [0.2, 0.9, 0.15], [0.45, -0.7, 0.8]],
)


def numbers_of(kind: Kind) -> tuple[float, ...]:
    """Numbers of an element that is strained at the corners, and at most half a turn bent."""
    if kind.nodes == 2:
        return 3.0, 0.8
    if kind.nodes == 3 and kind.size == 2:
        return 0.7, 1.3
    if kind.size == 2:
        return 0.9, 0.3
    rng = np.random.default_rng(5)
    size = 2 if kind.nodes == 3 else 3
    B = np.eye(size) + 0.2 * rng.normal(size=(size, size))
    return (*B.ravel(), 0.4, 1.7, 1.1)


def exact(kind: Kind, x: np.ndarray) -> tuple[Any, Any]:
    """The gradient and the stiffness by differences in sixty digits."""
    step = mpmath.mpf(10) ** -20
    numbers = [mpmath.mpf(a) for a in numbers_of(kind)]
    size = 3 * kind.nodes

    def law(moves: dict[int, int]) -> tuple[Any, Any]:
        flat = [mpmath.mpf(float(a)) + moves.get(i, 0) * step for i, a in enumerate(x.ravel())]
        V, g = kind.law(tuple(numbers), tuple(tuple(flat[3 * k : 3 * k + 3]) for k in range(kind.nodes)))
        return V, [c for node in g for c in node]

    ahead, behind = ([law({i: s}) for i in range(size)] for s in (1, -1))
    gradient = [(a[0] - b[0]) / (2 * step) for a, b in zip(ahead, behind, strict=True)]
    K = [[(a - b) / (2 * step) for a, b in zip(p[1], q[1], strict=True)] for p, q in zip(ahead, behind, strict=True)]
    return np.array(gradient, dtype=float), np.array(K, dtype=float)


@pytest.mark.parametrize("number", range(len(KINDS)), ids=lambda k: f"{k} {KINDS[k].name}")
def test_gradient_and_stiffness_are_the_derivatives_of_the_potential(number: int) -> None:
    kind = KINDS[number]
    x = CORNERS[None, : kind.nodes]
    numbers = np.array([numbers_of(kind)])
    with mpmath.workdps(60):
        gradient, K = exact(kind, x[0])
    _, g = potentials(kind, numbers, x)
    found = stiffness(kind, numbers, x)[0]
    assert np.abs(g[0].ravel() - gradient).max() < 2e-15 * np.abs(gradient).max()
    assert np.abs(found - K).max() < 1e-14 * np.abs(K).max()
    assert np.abs(found - found.T).max() < 1e-14 * np.abs(K).max()


@pytest.mark.parametrize("number", range(len(KINDS)), ids=lambda k: f"{k} {KINDS[k].name}")
def test_forces_of_an_element_balance_and_do_not_see_rigid_motions(number: int) -> None:
    kind = KINDS[number]
    numbers, x = np.array([numbers_of(kind)]), CORNERS[None, : kind.nodes]
    V, g = potentials(kind, numbers, x)
    largest = np.abs(g).max()
    assert largest > 0.1
    assert np.abs(g.sum(axis=1)).max() < 1e-15 * largest
    assert np.abs(np.cross(x, g).sum(axis=1)).max() < 2e-15 * largest
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    moved, turned = potentials(kind, numbers, x @ turn.T + [3.0, -2.0, 1.0])
    assert abs(moved - V).max() < 1e-13 * abs(V).max()
    assert np.abs(turned - g @ turn.T).max() < 1e-13 * largest


def test_the_stiffness_of_a_spring_is_the_known_one() -> None:
    """k u uᵀ + k (1 − l0/l)(E − u uᵀ)."""
    k, rest = 3.0, 0.8
    d = CORNERS[1]
    length = np.linalg.norm(d)
    u = np.outer(d, d) / length**2
    H = k * u + k * (1 - rest / length) * (np.eye(3) - u)
    found = stiffness(KINDS[0], np.array([[k, rest]]), CORNERS[None, :2])[0]
    assert np.abs(found - np.block([[H, -H], [-H, H]])).max() < 1e-15


def test_cables_only_pull() -> None:
    slack = Network([[0, 0, 0], [1, 0, 0]], 1.0, [Cables([[0, 1]], 10.0, 1.5)])
    assert slack.problem().has_kinks  # which GAUSS8 is not for
    assert not Network([[0, 0, 0], [1, 0, 0]], 1.0, [Springs([[0, 1]], 10.0)]).problem().has_kinks
    assert np.array_equal(slack.forces(slack.points), np.zeros((2, 3)))
    assert slack.forces([[0, 0, 0], [2.0, 0, 0]])[1].tolist() == [-5.0, 0.0, 0.0]
    assert slack.steps().verlet_step < np.inf  # as if it were taut


# --- continua ---------------------------------------------------------------------------------------------------------


def block(cells: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """A cube of cells, each in six tetrahedra."""
    line = np.arange(cells + 1)
    points = np.array(list(itertools.product(line, line, line)), dtype=float) / cells
    number = {tuple(p): k for k, p in enumerate(itertools.product(line, line, line))}
    tetrahedra = []
    for corner in itertools.product(range(cells), repeat=3):
        for axes in itertools.permutations(range(3)):
            path = [np.array(corner)]
            for axis in axes:
                path.append(path[-1] + np.eye(3, dtype=int)[axis])
            tetrahedra.append([number[tuple(p)] for p in path])
    return points, np.array(tetrahedra)


AFFINE = np.array([[1.1, 0.2, 0.0], [-0.1, 0.9, 0.3], [0.05, 0.0, 1.2]])


@pytest.mark.parametrize("material", [StVenantKirchhoff, NeoHookean, StableNeoHookean])
def test_the_patch_test_of_tetrahedra(material: Any) -> None:
    """An affine map gives no force at inner nodes, and the energy density of the material."""
    points, tetrahedra = block()
    points = points + 0.05 * np.random.default_rng(1).normal(size=points.shape)
    network = Network(points, 1.0, [Tetrahedra(tetrahedra, material(10.0, 0.3))])
    forces = network.forces(points @ AFFINE.T + 1.0)
    inner = 13
    assert np.abs(forces[inner]).max() < 1e-14 * np.abs(forces).max()
    assert np.abs(forces.sum(axis=0)).max() < 1e-13
    V, volumes = network.potentials(points @ AFFINE.T)[0], network.elements[0].content(points)
    assert np.ptp(V / volumes) < 1e-13 * (V / volumes).max()


@pytest.mark.parametrize("material", [StVenantKirchhoff, NeoHookean])
def test_the_patch_test_of_membranes_in_space(material: Any) -> None:
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.45, 0.6, 0]], dtype=float)
    triangles = [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]
    network = Network(points, 1.0, [Triangles(triangles, material(10.0, 0.3), 0.1)])
    forces = network.forces(points @ AFFINE.T)
    assert np.abs(forces[4]).max() < 1e-15
    assert np.abs(network.forces(points)).max() < 1e-15


def test_all_materials_are_the_same_linear_solid_and_shear_and_pull_as_they_should() -> None:
    points, tetrahedra = block(1)
    K = [
        stiffness(elements.kind, elements.numbers_at(points), points[elements.nodes])
        for elements in (
            Tetrahedra(tetrahedra, m(10.0, 0.3)) for m in (StVenantKirchhoff, NeoHookean, StableNeoHookean)
        )
    ]
    assert max(np.abs(K[0] - other).max() for other in K[1:]) < 1e-14 * np.abs(K[0]).max()
    E, nu, strain = 10.0, 0.3, 1e-6
    stretched = points * [1 + strain, 1 - nu * strain, 1 - nu * strain]
    network = Network(points, 1.0, [Tetrahedra(tetrahedra, StVenantKirchhoff(E, nu))])
    pull = network.forces(stretched)[points[:, 0] == 1.0, 0].sum()
    assert pull == pytest.approx(-E * strain, rel=1e-5)


def test_a_membrane_stretches_with_youngs_modulus_in_plane_stress() -> None:
    E, nu, strain, thickness = 10.0, 0.3, 1e-6, 0.1
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    network = Network(points, 1.0, [Triangles([[0, 1, 2], [0, 2, 3]], NeoHookean(E, nu), thickness)])
    pull = network.forces(points * [1 + strain, 1 - nu * strain, 1.0])[[1, 2], 0].sum()
    assert pull == pytest.approx(-E * strain * thickness, rel=1e-5)


def test_a_hinge_measures_the_angle_between_two_triangles() -> None:
    for angle in (-2.0, -0.1, 0.0, 1.0, 3.0):
        x = [(0, 0, 0), (1, 0, 0), (0.5, 1, 0), (0.5, -np.cos(angle), np.sin(angle))]
        assert abs(abs(dihedral_angle(np.array(x, dtype=float))) - abs(angle)) < 1e-15


def test_a_polygon_bends_as_a_beam() -> None:
    """A hinged beam of EI under end moments: the energy of small bends is ½ EI κ² L."""
    n, rigidity, angle = 40, 0.7, 1e-3
    points = np.array([[k / n, 0.0, 0.0] for k in range(n + 1)])
    bent = np.array([[np.sin(angle * k / n) / angle, 0.0, (1 - np.cos(angle * k / n)) / angle] for k in range(n + 1)])
    network = Network(points, 1.0, [Bending([[k - 1, k, k + 1] for k in range(1, n)], rigidity)])
    assert network.potentials(bent)[0].sum() == pytest.approx(0.5 * rigidity * angle**2 * (n - 1) / n, rel=1e-5)


# --- bad input --------------------------------------------------------------------------------------------------------


def test_what_is_wrong_with_a_network_is_named_by_element_and_node() -> None:
    square = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 0, 1.0]]
    flat = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    line = [*square[:3], [2, 0, 0]]
    spring, rubber = Springs([[0, 1], [1, 2]], 1.0, 1.0), NeoHookean(1.0, 0.3)
    solid, sheet = Tetrahedra([[0, 1, 2, 3]], rubber), Triangles([[0, 1, 2], [0, 1, 3]], rubber, 0.1)
    cases: list[tuple[Any, str]] = [
        (lambda: Network(square, 1.0, [spring]), "node 3: is joined by no element"),
        (lambda: Network(square, [1, 0, 1, 1], [Springs([[0, 1], [2, 3]], 1.0)]), "node 1: has the mass 0 kg"),
        (lambda: Network(flat, 1.0, [solid]), r"tetrahedron 0 .nodes 0, 1, 2, 3.: has no volume"),
        (lambda: Network(line, 1.0, [sheet]), "triangle 1 .nodes 0, 1, 3.: has no area"),
        (lambda: Springs([[0, 0]], 1.0), "spring 0: joins the nodes"),
        (lambda: Springs([[0, 1], [1, 2]], [1.0, -2.0]), "spring 1 .nodes 1, 2.: stiffness is -2"),
        (lambda: Network(square, 1.0, [Springs([[0, 1], [2, 9]], 1.0)]), "spring 1 .nodes 2, 9.: joins nodes that"),
        (lambda: Network([[0, 0, 0], [0, 0, 0]], 1.0, [Springs([[0, 1]], 1.0)]), "two nodes at one place"),
        (lambda: Hinges([[0, 1, 2]], 1.0), "shape .elements, 4."),
        (lambda: Network(square, 1.0, [Hinges([[0, 1, 2, 3]], 1.0)], fixed=[7]), "names the node 7"),
    ]
    for wrong, message in cases:
        with pytest.raises(ModelError, match=message):
            wrong()


def test_a_start_that_turns_a_tetrahedron_inside_out_is_named() -> None:
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    network = Network(points, 1.0, [Tetrahedra([[0, 1, 2, 3]], NeoHookean(1.0, 0.3))])
    with pytest.raises(ModelError, match=r"tetrahedron 0 .nodes 0, 1, 2, 3. is turned inside out: J = -0.5"):
        network.problem(positions=[*points[:3], [0, 0, -0.5]])


def test_a_kind_that_a_user_adds_is_known_to_loops_that_were_compiled_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """A spring with the law of ours, added behind the first run: the same rates and energy, bit by bit, and no loop is
    compiled again.
    """
    compiled: list[str] = []

    def found(*elements: Any) -> np.ndarray:
        problem = Network(CORNERS, 1.0, list(elements)).problem()
        compiled.clear()
        return np.concatenate([problem.velocity(0.0, problem.y0), problem.invariant_values(0.0, problem.y0)])

    def noting(self: Any) -> Any:
        if not self.state.flags.forceinline:
            compiled.append(self.state.func_id.func_qualname)
        return original(self)

    original = KernelCompiler._compile_bytecode
    monkeypatch.setattr(KernelCompiler, "_compile_bytecode", noting)
    monkeypatch.setattr(registry, "KINDS", [*KINDS])
    monkeypatch.setattr(registry, "_origins", {})
    kind, nodes, numbers = replace(SPRING, name="their spring"), [[0, 1], [1, 2], [0, 3]], [[3.0, 0.8]] * 3
    bent = Bending([[0, 1, 2]], 0.7)
    expected = found(Elements(SPRING, nodes, numbers), bent)
    registry.register(kind)
    try:
        assert np.array_equal(
            found(bent, Elements(kind, nodes, numbers)), found(bent, Elements(SPRING, nodes, numbers))
        )
        assert np.array_equal(found(Elements(kind, nodes, numbers), bent), expected)
        assert all("added_" in name or "their_spring" in name for name in compiled), compiled
    finally:
        renew(registry._added_forces)
        renew(registry._added_potentials)


@helper
def attraction(numbers: Any, x: Any) -> Any:
    """V = −G m₁m₂/r, with functions that run in lanes."""
    (strength,) = numbers
    d = subtract(x[1], x[0])
    r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    g = strength / (r * r * r)
    pull = g * d[0], g * d[1], g * d[2]
    return -strength / r, ((-pull[0], -pull[1], -pull[2]), pull)


@helper
def forces_for_gradients(numbers: Any, x: Any) -> Any:
    V, (a, b) = attraction(numbers, x)
    return V, (b, a)


@helper
def by_a_power(numbers: Any, x: Any) -> Any:
    (k,) = numbers
    d = subtract(x[1], x[0])
    g = 2.0 * k * d[0], 2.0 * k * d[1], 2.0 * k * d[2]
    return k * (d[0] ** 2 + d[1] ** 2 + d[2] ** 2), ((-g[0], -g[1], -g[2]), g)


@helper
def of_two_numbers(numbers: Any, x: Any) -> Any:
    k, _ = numbers
    return k * x[0][0], ((k, 0.0, 0.0), (0.0, 0.0, 0.0))


@helper
def one_gradient(numbers: Any, x: Any) -> Any:
    return x[0][0], ((1.0, 0.0, 0.0),)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (attraction, ""),
        (forces_for_gradients, "element own: has a law whose potential changes by .*, and its gradients say"),
        (by_a_power, r"own: law: does not run in lanes \(pow\(Lanes"),
        (of_two_numbers, "own: law: .* not enough values to unpack .* it is called with 1 numbers and 2 places"),
        (one_gradient, "own: law: gave .* expected .V, 2 gradients"),
    ],
)
def test_laws_of_ones_own_are_asked_whether_they_are_right(law: Any, message: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(registry, "KINDS", [*KINDS])
    monkeypatch.setattr(registry, "_origins", {})
    kind = Kind("own", 2, ("strength",), law)
    try:
        with pytest.raises((TypeError, ModelError), match=message) if message else nullcontext():
            registry.register(kind)
            Network(CORNERS, 1.0, [Elements(kind, [[0, 1], [1, 2], [2, 3]], 0.3)]).problem()
    finally:
        renew(registry._added_forces)
        renew(registry._added_potentials)
