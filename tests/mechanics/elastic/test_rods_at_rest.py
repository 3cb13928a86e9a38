"""Rods: element against complex steps and rigid motions, and states of rest that are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize
import scipy.special

from liegroup import se3, so3
from mechanics import ModelError, ModelWarning
from mechanics.elastic.rods import Load, Rod, RodError, Section, assembly, element, equilibrium, step_limit, vibrations

SOFT = Section(1e4, 1e4, 1e4, 1.0, 2.0, 2.0, 1.0, (0.02, 0.01, 0.01))
C = (3.0, 2.0, 1.5, 0.7, 1.1, 0.4)
E0 = (1.02, 0.03, -0.01, 0.2, -0.1, 0.3)


def thin(radius: float) -> Section:
    """E = ρ = A = 1, ν such that GA = 0.3205."""
    i = radius * radius
    return Section(1.0, 0.3205, 0.3205, 0.641 * i, i, i, 1.0, (2 * i, i, i))


def pair(turn: float, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    a = np.concatenate([rng.normal(size=3), so3.random(rng=rng)])
    X = rng.normal(size=6)
    X[3:] *= turn / np.linalg.norm(X[3:])
    return a, se3.compose(a, se3.exp(X))


def energy(a: object, b: object, cayley: bool) -> complex:
    return element.wrenches(tuple(a), tuple(b), 0.8, C, E0, cayley)[2]  # type: ignore[call-overload]


def stiffness(a: np.ndarray, b: np.ndarray, cayley: bool) -> np.ndarray:
    band = np.zeros((2 * assembly.BAND + 1, 12))
    elements = np.array([[0.8, *C, *E0]])
    options = np.array([cayley, -1], dtype=np.int64)
    assembly.band_of_stiffness.python(np.stack([a, b]), elements, np.zeros((2, 12)), options, band)
    i, j = np.indices((12, 12))
    return band[assembly.BAND + i - j, j]


@pytest.mark.parametrize("cayley", [False, True])
@pytest.mark.parametrize("turn", [1e-9, 1e-3, 0.7, 2.4])
def test_wrenches_are_minus_the_gradient_and_the_stiffness_is_its_derivative(turn: float, cayley: bool) -> None:
    a, b = pair(turn)
    on_a, on_b, _, angle, stretch = element.wrenches(tuple(a), tuple(b), 0.8, C, E0, cayley)
    assert cayley or abs(angle - turn) < 1e-14
    relative = se3.compose(se3.inverse(a), b)
    assert abs(stretch * 0.8 - (se3.cay_inverse(relative) if cayley else se3.log(relative))[0]) < 1e-14
    K, size = stiffness(a, b, cayley), np.abs([*on_a, *on_b]).max()
    for k in range(12):
        x, h = np.zeros(12), 1e-5
        x[k] = h
        ends = [(se3.compose(a, se3.exp(s * x[:6])), se3.compose(b, se3.exp(s * x[6:]))) for s in (1.0, -1.0)]
        slope = (energy(*ends[0], cayley) - energy(*ends[1], cayley)) / (2 * h)
        assert abs(slope + (*on_a, *on_b)[k]) < 3e-8 * max(size, 1.0)
        f = [np.concatenate(element.wrenches(tuple(p), tuple(q), 0.8, C, E0, cayley)[:2]) for p, q in ends]
        assert np.abs((f[0] - f[1]) / (2 * h) + K[:, k]).max() < 3e-8 * max(np.abs(K).max(), 1.0)


@pytest.mark.parametrize("cayley", [False, True])
def test_a_rigid_motion_changes_nothing_and_the_wrenches_balance(cayley: bool) -> None:
    a, b = pair(1.1)
    first = element.wrenches(tuple(a), tuple(b), 0.8, C, E0, cayley)
    g = np.concatenate([[70.0, -50.0, 40.0], so3.exp([0.3, 2.0, -1.0])])
    moved = element.wrenches(tuple(se3.compose(g, a)), tuple(se3.compose(g, b)), 0.8, C, E0, cayley)
    assert np.abs(np.concatenate(first[:2]) - np.concatenate(moved[:2])).max() < 1e-12
    total = sum(np.asarray(se3.coadjoint(se3.inverse(q), np.array(w))) for q, w in zip((a, b), first[:2], strict=True))
    assert np.abs(total).max() < 5e-14


def test_the_stiffness_is_symmetric_but_for_the_gradient() -> None:
    a, b = pair(0.9)
    K = stiffness(a, b, False)
    on_a, on_b, *_ = element.wrenches(tuple(a), tuple(b), 0.8, C, E0, False)

    def transport(m: tuple[float, ...]) -> np.ndarray:
        """B with ad_Yᵀ m = B Y."""
        return np.array([np.asarray(element.se3.bracket_transpose(tuple(e), m)) for e in np.eye(6)]).T

    zero = np.zeros((6, 6))
    expected = -np.block([[transport(on_a), zero], [zero, transport(on_b)]])
    assert np.abs(K - K.T - expected).max() < 1e-13


@pytest.mark.parametrize("turns", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("n", [8, 16])
def test_pure_bending_is_exact_in_one_load_step(turns: float, n: int) -> None:
    a = 2 * np.pi * turns
    rod = Rod.straight(1.0, n, SOFT, supports={0: "clamped"}, loads=[Load(-1, moment=(0, 0, 2.0 * a), axes="body")])
    found = equilibrium(rod)
    assert np.abs(found.poses[-1, :2] - np.array([np.sin(a), 1 - np.cos(a)]) / a).max() < 1e-14
    assert found.load_steps == 1
    assert found.iterations <= 8
    assert np.abs(found.stresses - [0, 0, 0, 0, 0, 2.0 * a]).max() < 1e-9
    assert abs(found.energy - 0.5 * 2.0 * a * a) < 1e-9


def test_the_cayley_map_is_too_stiff_as_its_formula_says() -> None:
    """M = EI (2/l) tan(φ/2) (1 + tan²(φ/2)) for a turn φ per element."""
    n, phi = 8, 0.5
    l, c = 1.0 / n, np.tan(phi / 2)
    moment = 2.0 * (2.0 / l) * c * (1 + c * c)
    rod = Rod.straight(1.0, n, SOFT, supports={0: "clamped"}, strain="cayley",
                       loads=[Load(-1, moment=(0, 0, moment), axes="body")])  # fmt: skip
    found = equilibrium(rod)
    turned = so3.log(so3.compose(so3.inverse(found.poses[:-1, 3:]), found.poses[1:, 3:]))
    assert np.abs(turned - [0, 0, phi]).max() < 1e-12


@pytest.mark.parametrize("slenderness", [10.0, 1e2, 1e3, 1e4])
def test_thin_rods_do_not_lock(slenderness: float) -> None:
    """Tip of a cantilever under a small force: the error is −1/(4n²) of the bending, whatever the thickness."""
    section = thin(1.0 / slenderness)
    for n in (1, 4, 16):
        F = 1e-7 * section.EI2
        rod = Rod.straight(1.0, n, section, supports={0: "clamped"}, loads=[Load(-1, (0, 0, F))])
        bending = F / (3 * section.EI2)
        tip = equilibrium(rod).poses[-1, 2]
        assert abs((tip - F / section.GA3 - bending) / bending * 4 * n * n + 1.0) < 1e-9


def test_bathe_and_bolourchis_45_degree_bend() -> None:
    """Tip of the continuous rod by shooting: (47.1500962, 15.6846895, 53.4754780)."""
    E = 1e7
    section = Section(E, 5 / 12 * E, 5 / 12 * E, E / 12, E / 12, E / 12, 1.0, (1 / 6, 1 / 12, 1 / 12))
    exact, errors = np.array([47.1500962, 15.6846895, 53.4754780]), []
    for n in (8, 16, 32):
        rod = Rod.arc(100.0, np.pi / 4, n, section, supports={0: "clamped"}, loads=[Load(-1, (0, 0, 600.0))])
        found = equilibrium(rod)
        errors.append(np.linalg.norm(found.poses[-1, :3] - exact))
        assert found.load_steps == 1
    assert np.abs(equilibrium(rod.with_loads(Load(-1, (0, 0, 600.0)))).poses[-1, :3] - exact).max() < 1e-2
    assert np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - 2.0).max() < 0.05


def test_the_princeton_beam() -> None:
    """Tip deflections of a published beam element (stiff side, soft side), within what the torsion constant makes."""
    b, h, E, G = 0.0123777, 0.0032024, 71.7e9, 71.7e9 / 2.62
    I_soft, I_stiff = b * h**3 / 12, h * b**3 / 12
    section = Section(E * b * h, G * b * h, G * b * h, 0.198 * G * (I_soft + I_stiff), E * I_stiff, E * I_soft, 0.1,
                      (1e-6, 1e-6, 1e-6))  # fmt: skip
    published = {0: (0.010714, 0.0), 15: (None, 0.042082), 30: (None, 0.079395), 45: (None, 0.108988),
                 60: (None, 0.129888), 75: (None, 0.142194), 90: (0.0, 0.146246)}  # fmt: skip
    for beta, (stiff, soft) in published.items():
        c, s = np.cos(np.radians(beta)), np.sin(np.radians(beta))
        loads = [Load(-1, (0.0, 8.896 * s, 8.896 * c))]
        tip = equilibrium(Rod.straight(0.508, 32, section, supports={0: "clamped"}, loads=loads)).poses[-1]
        assert abs(tip[1] - soft) < 1.5e-4
        assert stiff is None or abs(tip[2] - stiff) < 1e-5


def test_the_elastica() -> None:
    """Bisshopp and Drucker's cantilever at P L²/EI = 10."""
    section = Section(1e8, 1e8, 1e8, 1.0, 1.0, 1.0, 1.0, (1e-3,) * 3)
    errors = []
    for n in (8, 16, 32, 64):
        rod = Rod.straight(1.0, n, section, supports={0: "clamped"}, loads=[Load(-1, (0.0, 10.0, 0.0))])
        found = equilibrium(rod)
        errors.append(np.abs(found.poses[-1, :2] - [0.4450044022, 0.8106090249]).max())
        assert found.iterations < 45
        assert found.load_steps <= 2
    assert np.abs(np.array(errors[:-1]) / errors[1:] - 4.0).max() < 0.1


@pytest.mark.parametrize("direction", [(1.0, 0.0, 0.0), (1.0, 2.0, 3.0)])
def test_a_beam_on_two_pins_sags_though_nothing_holds_its_turn_about_them(direction: tuple[float, ...]) -> None:
    """5 m g L⁴/(384 EI); a torque about the line of the pins is balanced by nothing."""
    section = Section.round(0.002, 1e6, density=1100.0)
    sag = 1e-5
    g = sag * 384.0 * section.EI2 / (5.0 * section.mass)

    def beam(*loads: Load) -> Rod:
        return Rod.straight(1.0, 8, section, direction=direction, supports={0: "pinned", -1: "pinned"},
                            gravity=(0, 0, -g), loads=loads)  # fmt: skip

    found = equilibrium(beam())
    along = np.array(direction) / np.linalg.norm(direction)
    across = found.poses[4, :3] - 0.5 * along
    assert np.abs(across + sag * (np.array([0.0, 0.0, 1.0]) - along[2] * along)).max() < 0.03 * sag
    with pytest.raises(RodError, match="is not found beyond 0 of the load"):
        equilibrium(beam(Load(4, moment=1e-3 * section.mass * g * np.array(direction))))


def test_supports_at_both_ends_and_reactions() -> None:
    rod = Rod.straight(1.0, 20, Section.round(0.002, 1e9, density=1000.0), supports={0: "clamped", -1: "pinned"},
                       gravity=(0, 0, -9.81), loads=[Load(10, (0, 0, -3.0))])  # fmt: skip
    found = equilibrium(rod)
    assert found.residual < 1e-8
    assert np.abs(found.poses[[0, -1], :3] - np.asarray(rod.poses)[[0, -1], :3]).max() < 1e-15
    assert np.abs(found.reactions[20][3:]).max() == 0.0
    up = [so3.act(found.poses[k, 3:], found.reactions[k][:3]) for k in (0, 20)]
    assert np.abs(sum(up) - [0.0, 0.0, 3.0 + 9.81 * rod.inertia[:, 0].sum()]).max() < 1e-9


def test_a_curved_rod_rests_where_it_was_made() -> None:
    rod = Rod.arc(1.0, 1.5, 5, SOFT, direction=(0.0, 1.0, 0.3), towards=(1.0, 0.0, 0.0), supports={0: "clamped"})
    found = equilibrium(rod)
    assert np.abs(found.poses - rod.poses).max() < 1e-14
    assert found.energy < 1e-24


def timoshenko(section: Section, count: int) -> np.ndarray:
    """Frequencies of a cantilever of length 1: zeros of the determinant of the boundary conditions."""
    from scipy.linalg import expm
    from scipy.optimize import brentq

    def determinant(omega: float) -> float:
        """State (w, φ, M, Q): w' = φ + Q/GA, φ' = M/EI, M' = −Q − ω² ρI φ, Q' = −ω² ρA w."""
        w2 = omega * omega
        A = np.array([[0, 1, 0, 1 / section.GA3], [0, 0, 1 / section.EI2, 0], [0, -w2 * section.inertia[1], 0, -1],
                      [-w2 * section.mass, 0, 0, 0]])  # fmt: skip
        return float(np.linalg.det(expm(A)[2:, 2:]))

    grid = np.linspace(1e-3, 1.0, 400)
    signs = [determinant(x) for x in grid]
    return np.array([brentq(determinant, x, y) for x, y, u, v in
                     zip(grid, grid[1:], signs, signs[1:], strict=False) if u * v < 0][:count])  # fmt: skip


def test_frequencies_of_a_cantilever_are_timoshenkos() -> None:
    section = thin(0.02)
    exact, errors = timoshenko(section, 3), []
    for n in (10, 20, 40):
        found = vibrations(Rod.straight(1.0, n, section, supports={0: "clamped"}), count=10).angular_frequencies
        errors.append([np.abs(found / w - 1.0).min() for w in exact])
        assert np.abs(found - found[0]).argsort()[1] == 1  # in pairs: two planes
    assert np.max(errors[-1]) < 2.5e-3
    assert np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - 2.0).max() < 0.1


def test_a_free_rod_has_six_motions_without_stiffness_and_exact_axial_frequencies() -> None:
    n = 10
    found = vibrations(Rod.straight(1.0, n, thin(0.02)), count=30).angular_frequencies
    assert (found[:6] == 0.0).all()
    assert found[6] > 0.4
    for k in (1, 2):
        assert np.abs(found - 2 * n * np.sin(k * np.pi / (2 * n))).min() < 1e-9


def test_the_limit_of_explicit_steps_is_that_of_the_thickness() -> None:
    section = thin(0.003)
    rod = Rod.straight(1.0, 40, section)
    limit = step_limit(rod)
    highest = vibrations(rod, count=6 * 41).angular_frequencies[-1]
    assert limit.cause == "thickness"
    assert highest <= limit.angular_frequency < 1.05 * highest
    assert abs(highest - 189.07) < 0.01
    scaled = step_limit(Rod.straight(1.0, 40, section, scaled_inertia=True))
    assert scaled.step > 2.0 * limit.step
    with pytest.raises(ModelError, match=r"element \d+: a step of 0.1 s is beyond .* set by its thickness"):
        limit.check(0.1)
    limit.check(limit.step)


def test_what_is_wrong_with_a_rod_is_named_by_element() -> None:
    straight = np.asarray(Rod.straight(1.0, 4, SOFT).poses)
    twice = straight.copy()
    twice[2] = twice[1]
    with pytest.raises(ModelError, match="element 1: nodes 1 and 2 coincide"):
        Rod(twice, SOFT)
    turned = straight.copy()
    turned[2, 3:] = so3.exp([3.0, 0.0, 0.0])
    with pytest.raises(ModelError, match="element 1: its ends are turned by 3 rad"):
        Rod(turned, SOFT)
    across = straight.copy()
    across[:, 3:] = so3.exp([0.0, 0.0, np.pi / 2])
    with pytest.raises(ModelError, match=r"element .: the first axis of its sections is 90° off"):
        Rod(across, SOFT)
    with pytest.raises(ValueError, match=r"EI2: 0\.0, expected a positive number"):
        Section(1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, (1.0, 1.0, 1.0))
    with pytest.raises(ValueError, match="section: 3 sections, expected one, or 4"):
        Rod(straight, [SOFT] * 3)
    with pytest.raises(ValueError, match="supports: 'glued', expected"):
        Rod(straight, SOFT, supports={0: "glued"})
    with pytest.raises(ValueError, match=r"supports: .*'pinned'}, expected each node once; node −1 is node 4"):
        Rod(straight, SOFT, supports={4: "clamped", -1: "pinned"})
    with pytest.raises(ValueError, match="loads: node 7, expected 0 to 4"):
        Rod(straight, SOFT, loads=[Load(7)])
    with pytest.raises(TypeError, match=r"loads: .*, expected a sequence of loads .*, such as \[Load"):
        Rod.straight(1.0, 4, SOFT, loads=Load(-1, force=(0.0, 0.0, 1.0)))


def test_a_rod_that_nothing_holds_has_no_equilibrium() -> None:
    with pytest.raises(RodError, match=r"not found beyond 0 of the load: 1 N .* at node 4") as caught:
        equilibrium(Rod.straight(1.0, 4, SOFT, loads=[Load(-1, force=(1.0, 0.0, 0.0))]))
    assert caught.value.load == 0.0
    assert caught.value.poses.shape == (5, 7)


def test_sections_of_the_literature() -> None:
    """Cowper's shear factors and Saint-Venant's torsion."""
    circle = Section.round(1.0, 2.6, density=1.0, poisson=0.3)
    assert abs(circle.GA2 / np.pi - 6 * 1.3 / (7 + 1.8)) < 1e-14
    assert abs(circle.GJ - np.pi / 2) < 1e-14
    square = Section.rectangle(1.0, 1.0, 2.0, density=1.0, poisson=0.0)
    assert abs(square.GJ - 0.14057701495515551) < 1e-12
    strip = Section.rectangle(100.0, 1.0, 2.0, density=1.0, poisson=0.0)
    assert abs(strip.GJ - (100 - 0.630248) / 3) < 1e-5
    assert abs(strip.EI2 / (2.0 * 100 / 12) - 1.0) < 1e-14
    assert strip.EI3 > strip.EI2


@pytest.mark.parametrize(
    ("supports", "roots", "rigid"),
    [
        ({0: "clamped"}, (1.875104, 4.694091), 0),
        ({}, (4.730041, 7.853205), 6),
        ({0: "pinned", 10: "pinned"}, (np.pi, 2 * np.pi), 1),
    ],
)
def test_slow_vibrations_of_thin_rods_are_not_lost_beside_the_stiffest(
    supports: dict[int, str], roots: tuple[float, float], rigid: int
) -> None:
    """ω = root² √(EI/ρA) of Euler and Bernoulli; beside 6e8 rad/s, 1e9 times as fast, with the shape's error of ten
    elements, which no longer depends on the thickness.
    """
    ratios = []
    for diameter in (1e-3, 1e-5):
        wire = Section.round(diameter, 2.1e11, density=7850.0)
        found = vibrations(Rod.straight(1.0, 10, wire, supports=supports), count=rigid + 4)
        assert np.all(found.angular_frequencies[:rigid] == 0.0)
        expected = np.repeat(np.square(roots), 2) * (wire.EI2 / wire.mass) ** 0.5
        ratios.append(found.angular_frequencies[rigid:] / expected)
    assert np.allclose(ratios, 1.0, rtol=0, atol=0.04)
    assert np.allclose(ratios[0], ratios[1], rtol=0, atol=1e-4)


def test_vibrations_that_rounding_hides_are_a_warning() -> None:
    wire = Section.round(1e-7, 2.1e11, density=7850.0)
    rod = Rod.straight(1.0, 40, wire, supports={0: "clamped"})
    with pytest.warns(ModelWarning, match=r"clamped at node 0>: 2 slow ones are lost in the rounding of the stiffest"):
        assert not vibrations(rod, count=2).angular_frequencies.any()


def test_motions_of_the_whole_rod_that_its_weight_holds_can_be_lost_as_well() -> None:
    """A hanging wire turns about itself without stiffness, but swings: these two were not counted."""
    wire = Section.round(1e-8, 2.1e11, density=7850.0)
    down = {"direction": (0.0, 0.0, -1.0), "gravity": (0.0, 0.0, -9.81)}
    hanging = Rod.straight(1.0, 10, wire, supports={0: "pinned"}, **down)
    with (
        pytest.warns(ModelWarning, match="3 slow ones are lost in the rounding of the stiffest"),
        pytest.warns(ModelWarning, match="poses that are not at rest: 1 of the loads is not balanced"),
    ):
        assert not vibrations(hanging, count=4).angular_frequencies.any()
    thick = Section.round(1e-2, 2.1e11, density=7850.0)
    rod = Rod.straight(1.0, 10, thick, supports={0: "pinned"}, **down)
    found = vibrations(rod, equilibrium(rod).poses, count=3).angular_frequencies
    assert found[0] == 0.0
    np.testing.assert_allclose(found[1:], np.sqrt(1.5 * 9.81), rtol=5e-3)  # of a stiff rod


@pytest.mark.parametrize("diameter", [1e-2, 2e-4, 1e-4])
def test_falls_of_a_pressed_rod_come_first_and_are_right_beside_the_stiffest(diameter: float) -> None:
    """Pinned and shortened for twice Euler's load, free to turn about itself: ω² = (n⁴ − 2 n²) π⁴ EI/ρA, in two planes,
    and 0.
    """
    wire = Section.round(diameter, 2.1e11, density=7850.0)
    rod = Rod.straight(1.0, 16, wire, supports={0: "pinned", 16: "pinned"})
    poses = np.array(rod.poses)
    poses[:, :3] *= 1.0 - 2.0 * np.pi**2 * wire.EI2 / wire.EA
    found = vibrations(rod, poses, count=6).angular_frequencies
    squares = np.sign(found) * found**2 * wire.mass / wire.EI2 / np.pi**4
    np.testing.assert_allclose(squares, [-1.0, -1.0, 0.0, 8.0, 8.0, 63.0], rtol=0.05)
    np.testing.assert_allclose(found[[1, 4]], found[[0, 3]], rtol=1e-10)


@pytest.mark.parametrize("load", [0.5, 1.5])
def test_a_thin_column_swings_or_falls_as_a_beam_under_its_load(load: float) -> None:
    """EI w⁗ + P w″ = ρA ω² w, clamped and free under a load that stays vertical, ω² negative beyond π² EI/4 L²; beside
    6e8 rad/s.
    """
    wire = Section.round(5e-5, 2.1e11, density=7850.0)
    push = load * np.pi**2 / 4
    rod = Rod.straight(1.0, 20, wire, supports={0: "clamped"}, loads=[Load(-1, (-push * wire.EI2, 0.0, 0.0))])
    found = vibrations(rod, equilibrium(rod).poses, count=2).angular_frequencies
    assert found[0] == pytest.approx(found[1], rel=1e-6)
    square = np.sign(found[0]) * found[0] ** 2 * wire.mass / wire.EI2
    assert (square < 0.0) == (load > 1.0)

    def determinant(w: float) -> float:
        root = np.sqrt(complex(push * push / 4 + w))
        a, b = np.sqrt(root + push / 2), np.sqrt(root - push / 2)
        c, s, ch, sh = np.cos(a), np.sin(a) / a, np.cosh(b), np.sinh(b) / b
        bent = -(a**2) * c - b**2 * ch, -(a**2) * s - b**2 * sh
        sheared = a**4 * s - b**4 * sh + push * (-(a**2) * s - b**2 * sh), -(a**2) * c - b**2 * ch + push * (c - ch)
        return float((bent[0] * sheared[1] - bent[1] * sheared[0]).real)

    assert determinant(0.97 * square) * determinant(1.03 * square) < 0.0


def _becks(omega: complex, p: float) -> complex:
    """0 at the frequencies of a cantilever under a force p EI/L² that follows its tip, in √(EI/ρA)/L²."""
    r = np.sqrt(0.25 * p * p + omega * omega)
    a, b = np.sqrt(r - 0.5 * p), np.sqrt(r + 0.5 * p)
    return p * p + 2.0 * omega**2 * (1.0 + np.cosh(a) * np.cos(b)) + p * omega * np.sinh(a) * np.sin(b)


@pytest.mark.parametrize("p", [5.0, 10.0, 19.0, 20.2, 30.0])
def test_a_column_under_a_force_that_follows_it_swings_and_flutters_as_becks(p: float) -> None:
    """Its stiffness is not symmetric; the symmetric part of it would fall from p = 10 on, and never flutter."""
    section, length = Section.rectangle(width=0.02, height=0.001, young=2.1e11, density=7850.0), 0.5
    unit = np.sqrt(section.EI2 / section.mass) / length**2
    push = Load(-1, force=(-p * section.EI2 / length**2, 0.0, 0.0), axes="body")
    rod = Rod.straight(length, 60, section, supports={0: "clamped"}, loads=[push])
    found = vibrations(rod, equilibrium(rod).poses, count=2)
    assert found.flutters == (p > 20.05)
    omega = (found.angular_frequencies + 1j * found.growth) / unit
    true = [scipy.optimize.newton(_becks, complex(w), args=(p,)) for w in omega]
    np.testing.assert_allclose(omega, true, rtol=2e-3)


def test_of_a_force_that_keeps_its_direction_all_vibrations_are_those_of_the_symmetric_stiffness() -> None:
    """A moment of nothing beside it takes the other way."""
    section = Section.rectangle(width=0.02, height=0.001, young=2.1e11, density=7850.0)
    dead = Load(-1, force=(-0.9 * np.pi**2 * section.EI2, 0.0, 0.0))
    one, other = (
        Rod.straight(0.5, 20, section, supports={0: "clamped"}, loads=loads)
        for loads in ([dead], [dead, Load(-1, moment=(1e-30, 0.0, 0.0))])
    )
    poses = equilibrium(one).poses
    true, found = vibrations(one, poses), vibrations(other, poses)
    np.testing.assert_allclose(found.angular_frequencies, true.angular_frequencies, rtol=1e-6)
    assert not found.growth.any()
    for a, b in zip(found.shapes, true.shapes, strict=True):
        assert min(np.abs(a - b).max(), np.abs(a + b).max()) < 1e-6 * np.abs(b).max()


@pytest.mark.parametrize("moment", [0.0, 1e-300], ids=["symmetric", "not"])
@pytest.mark.parametrize(("alpha", "n"), [(0.5, 40), (1.5, 20), (2.5, 40)])
def test_a_round_column_that_has_buckled_turns_the_plane_of_its_bend_freely_and_no_more(
    alpha: float, n: int, moment: float
) -> None:
    """Euler's elastica, K(sin α/2)² EI/L², is stable: one motion without stiffness, and beside it the vibrations of a
    column that is stiffer by a thousandth across the plane.
    """
    section = Section.round(0.0005, 2.1e11, density=7850.0)
    load = scipy.special.ellipk(np.sin(alpha / 2) ** 2) ** 2 * section.EI2
    loads = [Load(-1, (-load, 0.0, 0.0)), Load(-1, moment=(0.0, 0.0, moment))]
    bent = Rod.arc(1.0 / alpha, alpha, n, section).poses
    held = {"supports": {0: "clamped"}, "loads": loads}
    column = Rod.straight(1.0, n, section, **held)
    poses = equilibrium(column, bent).poses
    with pytest.warns(ModelWarning, match="1 slow ones are lost"):
        found = vibrations(column, poses, count=8).angular_frequencies
    stiffer = Rod.straight(1.0, n, replace(section, EI2=1.001 * section.EI2), **held)
    true = vibrations(stiffer, equilibrium(stiffer, bent).poses, count=8).angular_frequencies
    assert found[0] == 0.0
    assert 0.0 < true[0] < 0.3
    np.testing.assert_allclose(found[1:], true[1:], rtol=1e-3)


def test_vibrations_about_poses_that_are_not_at_rest_are_a_warning() -> None:
    section = Section.rectangle(width=0.02, height=0.001, young=2.1e11, density=7850.0)
    pushed = Rod.straight(0.5, 20, section, supports={0: "clamped"}, loads=[Load(-1, force=(-1.0, 0.0, 0.0))])
    with pytest.warns(ModelWarning, match="not at rest: 1 of the loads is not balanced"):
        vibrations(pushed)
    bent = equilibrium(Rod.straight(0.5, 20, section, supports={0: "clamped"}, loads=[Load(-1, (0.0, 0.0, 0.1))]))
    with pytest.warns(ModelWarning, match="not at rest: rest is .* away"):
        vibrations(Rod.straight(0.5, 20, section, supports={0: "clamped"}), bent.poses)


def test_motions_without_stiffness_stay_so_under_a_thrust_that_turns_with_the_rod() -> None:
    """Its stiffness has no inverse: a rod that flies, and one on a hinge."""
    section = Section.rectangle(width=0.02, height=0.01, young=2.1e11, density=7850.0)
    thrust = [Load(0, force=(1e-6, 0.0, 0.0), axes="body")]
    for supports, load in (({}, thrust), ({0: "pinned"}, [Load(-1, force=(-1e-6, 0.0, 0.0), axes="body")])):
        still = vibrations(Rod.straight(1.0, 20, section, supports=supports), count=9)
        with pytest.warns(ModelWarning, match="not at rest"):
            pushed = vibrations(Rod.straight(1.0, 20, section, supports=supports, loads=load), count=9)
        assert (still.angular_frequencies == 0.0).sum() == (6 if not supports else 3)
        np.testing.assert_allclose(pushed.angular_frequencies, still.angular_frequencies, rtol=1e-5)
        assert not pushed.flutters
