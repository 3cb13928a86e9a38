"""Groups as objects: theorems on every one of them, products, orders of the basis, and what happens to bad input."""

from __future__ import annotations

import itertools
import math
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from liegroup import Group, product, rn, se2, se3, so2, so3, table
from liegroup.compile import helper
from liegroup.compile.origin import origin_of
from liegroup.formulas import FOR_KERNELS, MAPS, REQUIRED
from liegroup.formulas import rn as rn_formulas
from liegroup.formulas import se2 as se2_formulas
from liegroup.formulas import se3 as se3_formulas
from liegroup.formulas import so2 as so2_formulas
from liegroup.formulas import so3 as so3_formulas
from liegroup.formulas.facts import check_facts
from liegroup.matrices import polar
from liegroup.testing import check_group

GROUPS = [
    rn(1),
    rn(4),
    so2,
    so3,
    se2,
    se3,
    so3**3,
    product(so3, rn(3)),
    product(se2, so2, se3**2, rn(2), so3),
    so3.cotangent,
]


@pytest.mark.parametrize("group", GROUPS, ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_every_theorem_holds(group: Group, seed: int) -> None:
    check_group(group, seed)


# --- check_group can fail, and serves other groups --------------------------------------------------------------------


class Hashable(SimpleNamespace):
    __hash__ = object.__hash__


@pytest.mark.parametrize(
    ("name", "wrong", "theorem"),
    [
        ("compose", lambda a, b: so3_formulas.compose(b, a), "matrix(ab)"),
        ("bracket", lambda x, y: tuple(2.0 * v for v in so3_formulas.bracket(x, y)), "[x, y]^"),
        ("coadjoint", so3_formulas.adjoint, "⟨Ad_aᵀ μ, y⟩"),
        ("dexpinv_left", so3_formulas.dexpinv_right, "dexp⁻¹ dexp = 1 (left)"),
        ("dcay_right_transpose", so3_formulas.dcay_right, "cay: ⟨dtau_left"),
        ("dexpinv_left_derivative", so3_formulas.dcayinv_left_derivative, "exp: d/dx"),
        ("dccskinv_left_gradient", so3_formulas.dccskinv_right_gradient, "ccsk: ∇⟨μ"),
        ("act", so3_formulas.act_inverse, "(ab)·u"),
        ("log", so3_formulas.cay_inverse, "exp⁻¹"),
        (
            "coordinate_rate",
            lambda q, v: so3_formulas.multiply((0.0 * v[0], *(0.5 * x for x in v)), q),
            "coordinate_rate(a, x)",
        ),
        ("body_velocity", lambda q, rate: so3_formulas.body_velocity(so3_formulas.inverse(q), rate), "body_velocity(a"),
        ("ANGLES", (1,), "ANGLES"),
        ("COMMUTATIVE", True, "COMMUTATIVE"),
    ],
)
def test_check_group_names_the_theorem_that_fails(name: str, wrong: Any, theorem: str) -> None:
    file = Hashable(**{k: v for k, v in vars(so3_formulas).items() if not k.startswith("__")} | {name: wrong})
    with pytest.raises(AssertionError, match="SO\\(3\\)") as error:
        check_group(Group(((file, 1),)))
    assert theorem in str(error.value)


def flipped(values: Any) -> tuple[Any, bool]:
    """Numbers, alone or in tuples or rows of tuples, the first that is not zero with its sign changed; whether there
    was one.
    """
    if not isinstance(values, tuple):
        return -values, bool(np.any(np.asarray(values) != 0.0))
    for k, value in enumerate(values):
        wrong, found = flipped(value)
        if found:
            return (*values[:k], wrong, *values[k + 1 :]), True
    return values, False


FLAT = ("hat", "vee", "matrix", "from_matrix")
"""What is not asked of a file with VECTOR_SPACE, whose n copies have one matrix."""


@pytest.mark.parametrize(
    "file", [rn_formulas, so2_formulas, se2_formulas, so3_formulas, se3_formulas], ids=lambda file: file.NAME
)
def test_check_group_finds_a_wrong_sign_in_every_formula(file: Any) -> None:
    asked = [*REQUIRED, *FOR_KERNELS, *MAPS["cay"], *MAPS["ccsk"]]
    names = [name for name in dict.fromkeys(asked) if callable(getattr(file, name))]
    unseen = []
    for name in names:
        signs, calls = 0, 0

        def wrong(*arguments: Any, name: str = name) -> Any:
            nonlocal signs, calls
            values, found = flipped(getattr(file, name)(*arguments))
            signs, calls = signs + found, calls + 1
            return values

        formulas = Hashable(**{k: v for k, v in vars(file).items() if not k.startswith("__")} | {name: wrong})
        try:
            check_group(Group(((formulas, 1),)))
        except AssertionError:
            continue
        if signs or not calls:  # not one of those that are all zeros
            unseen.append(name)
    assert [name for name in unseen if not (hasattr(file, "VECTOR_SPACE") and name in FLAT)] == []


def test_check_group_finds_differences_that_lose_their_digits() -> None:
    def displace(q: Any, d: Any) -> Any:
        return tuple(a - b for a, b in zip(so3_formulas.advance(q, d), q, strict=True))

    file = Hashable(**{k: v for k, v in vars(so3_formulas).items() if not k.startswith("__")} | {"displace": displace})
    with pytest.raises(AssertionError, match="displace to relative precision"):
        check_group(Group(((file, 1),)))


def test_check_group_asks_for_as_many_elements_as_it_compares() -> None:
    with pytest.raises(ValueError, match="count: 2, expected an integer of at least 3"):
        check_group(so3, count=2)


def heisenberg() -> Any:
    """The Heisenberg group in exponential coordinates: a group of somebody else, without Cayley map and second-kind
    formulas.
    """

    def bracket(x: Any, y: Any) -> Any:
        return 0.0 * x[0], 0.0 * y[0], x[0] * y[1] - x[1] * y[0]

    def bracket_transpose(x: Any, mu: Any) -> Any:
        return -x[1] * mu[2], x[0] * mu[2], 0.0 * mu[2]

    def plus(a: Any, k: float, b: Any) -> Any:
        return tuple(u + k * v for u, v in zip(a, b, strict=True))

    def compose(a: Any, b: Any) -> Any:
        return plus(plus(a, 1.0, b), 0.5, bracket(a, b))

    def matrix(a: Any) -> Any:
        zero = 0.0 * a[0]
        return (zero + 1.0, a[0], a[2] + 0.5 * a[0] * a[1]), (zero, zero + 1.0, a[1]), (zero, zero, zero + 1.0)

    return Hashable(
        NAME="Heis", N_Q=3, N_V=3, N_POINT=3,
        identity=lambda zero: (zero, zero, zero), compose=compose, inverse=lambda a: tuple(-v for v in a),
        act=lambda a, u: (u[0] + a[0] * u[1] + (a[2] + 0.5 * a[0] * a[1]) * u[2], u[1] + a[1] * u[2], u[2]),
        adjoint=lambda a, y: plus(y, 1.0, bracket(a, y)), coadjoint=lambda a, mu: plus(mu, 1.0, bracket_transpose(a,
        mu)),
        bracket=bracket, bracket_transpose=bracket_transpose,
        hat=lambda x: ((0.0 * x[0], x[0], x[2]), (0.0 * x[0], 0.0 * x[0], x[1]), (0.0 * x[0],) * 3),
        vee=lambda m: (m[0][1], m[1][2], m[0][2]), matrix=matrix,
        from_matrix=lambda m: (m[0][1], m[1][2], m[0][2] - 0.5 * m[0][1] * m[1][2]),
        project=lambda a: a, defect=lambda a: 0.0 * abs(a[0]),
        exp=lambda x: x, exp_difference=lambda x: x, log=lambda a: a,
        dexp_right=lambda x, y: plus(y, 0.5, bracket(x, y)), dexpinv_right=lambda x, y: plus(y, -0.5, bracket(x, y)),
        dexp_right_transpose=lambda x, mu: plus(mu, 0.5, bracket_transpose(x, mu)),
        dexpinv_right_transpose=lambda x, mu: plus(mu, -0.5, bracket_transpose(x, mu)),
        dexpinv_left_derivative=lambda x, mu, d: tuple(0.5 * v for v in bracket_transpose(d, mu)),
        dexpinv_left_gradient=lambda x, xi, mu: tuple(-0.5 * v for v in bracket_transpose(xi, mu)),
    )  # fmt: skip


def test_a_group_of_somebody_else_passes_alone_and_in_products() -> None:
    group = Group(((heisenberg(), 1),))
    check_group(group)
    check_group(product(group**2, so3))
    with pytest.raises(ValueError, match="no Cayley map"):
        group.cay([0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="FACTORS"):
        _ = group.table


def test_a_file_without_the_required_formulas_is_refused() -> None:
    file = heisenberg()
    del file.log, file.dexp_right
    with pytest.raises(TypeError, match="lacks log, dexp_right"):
        Group(((file, 1),))


def test_facts_that_contradict_the_lengths_are_refused_by_name() -> None:
    for name, value in (
        ("COMPONENTS", ("w",)),
        ("QUATERNIONS", (1,)),
        ("SIZES", ((3, 2),) * 3),
        ("RIGID_BODY", (3, 3)),
    ):
        file = Hashable(**vars(so3_formulas) | {name: value})
        with pytest.raises(ValueError, match=rf"SO\(3\): {name} = "):
            check_facts(file)


def test_a_group_is_registered_once_with_all_its_facts_and_a_name_of_its_own() -> None:
    assert table.register(so3_formulas) == table.SO3
    file = Hashable(**{k: v for k, v in vars(so3_formulas).items() if k not in ("CHART", "body_velocity")})
    with pytest.raises(TypeError, match="lacks CHART, body_velocity"):
        table.register(file)
    with pytest.raises(ValueError, match=r"NAME = 'SO\(3\)' is another group's"):
        table.register(Hashable(**vars(so3_formulas)))
    assert len(table.FACTORS) == 5


def test_formulas_are_known_by_all_their_files_and_by_the_values_they_were_made_with(tmp_path: Path) -> None:
    (tmp_path / "their_sines.py").write_text(
        "from liegroup.compile import helper\n\n\n@helper\ndef wave(x):\n    return x + 1.0\n", encoding="utf-8"
    )
    sys.path.insert(0, str(tmp_path))
    try:
        wave = __import__("their_sines").wave
    finally:
        sys.path.remove(str(tmp_path))

    def made(radius: float) -> Any:
        @helper
        def exp(x: Any) -> Any:
            return (wave(x[0]) * radius,)

        return origin_of("mine", {"NAME": "mine", "N_Q": 1, "exp": exp})

    one = made(1.0)
    assert one == made(1.0)
    assert one.files == tuple(sorted([str(Path(__file__).resolve()), str((tmp_path / "their_sines.py").resolve())]))
    assert made(2.0).content != one.content
    assert made(2.0).files == one.files
    held = [np.array([1.0, 2.0]), np.array([1.0, 3.0]), np.int64(1), np.int64(2), np.sin, np.cos, (1, math.sin)]
    assert len({made(x).content for x in held}) == len(held)
    with pytest.raises(TypeError, match=r"prompt: functions from .*expected a source file"):
        origin_of("prompt", {"exp": eval("lambda x: x")})


# --- products ---------------------------------------------------------------------------------------------------------


def test_products_are_described_by_their_factors() -> None:
    assert repr(product(so3, rn(3))) == "SO(3) x R^3"
    assert repr(product(so3**4, se3)) == "SO(3)^4 x SE(3)"
    assert product(so3, so3, rn(1), rn(2)) == product(so3**2, rn(3))
    assert hash(product(so3, rn(3))) == hash(product(so3, rn(3)))
    assert product(so3, rn(3)) != se3
    assert product(rn(3), so3) != product(so3, rn(3))
    assert so3.cotangent == product(so3, rn(3))
    assert (se3.n_q, se3.n_v, se3.n_point) == (7, 6, 3)


def test_semidirect_and_direct_product_differ_by_the_turning_of_translations() -> None:
    g, h = se3.random(0), se3.random(1)
    direct = product(rn(3), so3)
    semi, plain = se3.compose(g, h), direct.compose(g, h)
    np.testing.assert_allclose(semi[3:], plain[3:], atol=1e-15)
    np.testing.assert_allclose(semi[:3], g[:3] + so3.act(g[3:], h[:3]), atol=1e-15)
    np.testing.assert_allclose(plain[:3], g[:3] + h[:3], atol=1e-15)


@pytest.mark.parametrize("group", [so3, se2, se3, product(so3, se2)], ids=repr)
def test_second_kind_coordinates_in_any_order(group: Group) -> None:
    rng = np.random.default_rng(0)
    orders = list(itertools.permutations(range(group.n_v)))
    for k in rng.choice(len(orders), min(len(orders), 12), replace=False):
        order = orders[k]
        x, y = 0.3 * rng.normal(size=(2, group.n_v))
        g = group.identity()
        for i in order:
            g = group.compose(g, group.exp(x * (np.arange(group.n_v) == i)))
        np.testing.assert_allclose(group.as_matrix(group.ccsk(x, order=order)), group.as_matrix(g), atol=1e-14)
        np.testing.assert_allclose(group.ccsk_inverse(g, order=order), x, atol=1e-13)
        change = np.imag(group.as_matrix(group.ccsk(x + 1e-30j * y, order=order))) / 1e-30
        left, right = group.dccsk_left(x, order=order), group.dccsk_right(x, order=order)
        np.testing.assert_allclose(group.hat(left @ y), np.linalg.inv(group.as_matrix(g)) @ change, atol=1e-13)
        np.testing.assert_allclose(group.hat(right @ y), change @ np.linalg.inv(group.as_matrix(g)), atol=1e-13)
        np.testing.assert_allclose(group.dccskinv_left(x, left @ y, order=order), y, atol=1e-12)
        np.testing.assert_allclose(group.dccskinv_right(x, right @ y, order=order), y, atol=1e-12)


@pytest.mark.parametrize("middle", [np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, np.pi / 2 - 1e-16])
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_second_kind_coordinates_exist_next_to_and_on_their_singular_set(middle: float, order: tuple[int, ...]) -> None:
    x = np.zeros(3)
    x[list(order)] = (0.7, middle, -0.4)
    g = so3.ccsk(x, order=order)
    back = so3.ccsk(so3.ccsk_inverse(g, order=order), order=order)
    assert so3.distance(g, back) < 2e-15


# --- arrays -----------------------------------------------------------------------------------------------------------


def test_random_rotations_are_uniform() -> None:
    q = so3.random(0, 40000)
    r = so3.as_matrix(q)
    np.testing.assert_allclose(r.mean(axis=0), 0.0, atol=0.02)
    np.testing.assert_allclose((r[:, 0, 0] ** 2).mean(), 1 / 3, atol=0.01)
    angle = so3.distance(q, so3.identity())
    np.testing.assert_allclose(angle.mean(), np.pi / 2 + 2 / np.pi, atol=0.02)  # density (1 − cos θ)/π
    theta = so2.random(0, 40000)[:, 0]
    np.testing.assert_allclose(np.histogram(theta, 8, (-np.pi, np.pi))[0] / 5000.0, 1.0, atol=0.06)
    near = se3.random(0, 1000, near=1e-3)
    np.testing.assert_allclose(se3.log(near).std(), 1e-3, rtol=0.05)
    np.testing.assert_array_equal(se3.random(5, (2, 3)), se3.random(5, (2, 3)))


def test_rotations_agree_with_scipy() -> None:
    q, p, u = so3.random(0, 50), so3.random(1, 50), np.random.default_rng(2).normal(size=(50, 3))
    r, s = (Rotation.from_quat(a, scalar_first=True) for a in (q, p))
    np.testing.assert_allclose(so3.log(q), r.as_rotvec(), atol=1e-14)
    np.testing.assert_allclose(so3.as_matrix(so3.compose(q, p)), (r * s).as_matrix(), atol=1e-14)
    np.testing.assert_allclose(so3.act(q, u), r.apply(u), atol=1e-14)
    np.testing.assert_allclose(so3.as_matrix(so3.from_matrix(r.as_matrix())), r.as_matrix(), atol=1e-15)


def test_batches_of_size_zero_and_of_one_keep_their_shape() -> None:
    for shape in ((0,), (1,), (2, 0), (1, 1)):
        assert se3.exp(np.zeros((*shape, 6))).shape == (*shape, 7)
        assert se3.dexp_left(np.zeros((*shape, 6))).shape == (*shape, 6, 6)
        assert product(so3, rn(2)).identity(shape).shape == (*shape, 6)


def test_numbers_of_many_digits_pass_through() -> None:
    with mp.workdps(50):
        x = np.array([[mp.mpf(1) / 3, mp.mpf(2) / 7, -mp.mpf(1) / 9]] * 2, dtype=object)
        back = so3.log(so3.exp(x))
        assert back.shape == (2, 3)
        assert max(abs(v) for v in (back - x).flat) < mp.mpf(10) ** -48
        a = so3.dexp_left(x[0]) @ so3.dexpinv_left(x[0]) - np.eye(3)
        assert max(abs(v) for v in a.flat) < mp.mpf(10) ** -48


def test_interpolation_runs_at_constant_speed() -> None:
    g, h = se3.random(0), se3.random(1)
    path = se3.interpolate(g, h, np.linspace(0.0, 1.0, 5))
    np.testing.assert_allclose(se3.distance(path[:-1], path[1:]), se3.distance(g, h) / 4, rtol=1e-13)


def test_nearest_rotation_matrix_is_the_polar_factor() -> None:
    m = so3.as_matrix(so3.random(0)) @ np.diag([1.0, 1.1, 0.9])
    r = so3.project_matrix(m)
    np.testing.assert_allclose(r.T @ r, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(r, m @ np.linalg.inv(np.diag([1.0, 1.1, 0.9])), atol=1e-14)
    assert np.linalg.det(so3.project_matrix(-np.eye(3) + 0.1)) > 0.99


@pytest.mark.parametrize("group", GROUPS, ids=repr)
def test_the_nearest_element_of_a_nearest_element_is_itself_to_the_last_bit(group: Group) -> None:
    rng = np.random.default_rng(0)
    q = group.random(rng, (3000,))
    nearest = group.project(q * (1.0 + 1e-3 * rng.normal(size=q.shape)) + 1e-4)
    assert np.array_equal(group.project(nearest), nearest)
    m = group.as_matrix(q)
    nearest = group.project_matrix(m + 1e-6 * rng.normal(size=m.shape))
    assert np.array_equal(group.project_matrix(nearest), nearest)


@pytest.mark.parametrize("size", [0.0, 1e-15, 1e-9, 1e-3, 0.3])
def test_the_nearest_rotation_is_a_rotation_to_rounding_and_its_own_nearest(size: float) -> None:
    rng = np.random.default_rng(0)
    turns = np.linalg.qr(rng.normal(size=(5000, 3, 3)))[0]
    turns *= np.sign(np.linalg.det(turns))[:, None, None]
    nearest = polar(turns + size * rng.normal(size=turns.shape), 3)
    assert np.abs(nearest @ nearest.swapaxes(1, 2) - np.eye(3)).max() < 4 * np.finfo(float).eps
    assert (np.linalg.det(nearest) > 0).all()
    assert np.array_equal(polar(nearest, 3), nearest)
    assert np.array_equal(np.array([polar(R, 3) for R in nearest]), nearest)


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: so3.log([2.0, 0.0, 0.0, 0.0]), r"g = \[2\.0, .*project\(g\)"),
        (lambda: so3.log([0.0, 0.0, 0.0, 0.0]), r"g = \[0\.0"),
        (lambda: so3.compose(so3.identity(3), [[1.0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0]]), r"h\[1\] = "),
        (lambda: so3.project([0.0, 0.0, 0.0, 0.0]), "zero quaternion"),
        (lambda: so3.log([np.nan, 0.0, 0.0, 0.0]), "finite"),
        (lambda: so3.exp([0.0, np.inf, 0.0]), "finite"),
        (lambda: so3.exp([0.0, 1e200, 0.0]), "below 1e[+]150"),
        (lambda: so3.exp([0.0, 1.0]), r"shape \(2,\): expected \(…, 3\) for SO\(3\)"),
        (lambda: so3.exp(1.0), r"shape \(\)"),
        (lambda: so3.exp(np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])), "x: 1 of 3 elements are masked"),
        (lambda: so3.exp([[1.0, 2.0], [3.0]]), "rectangular"),
        (lambda: so3.from_matrix(2 * np.eye(3)), "project_matrix"),
        (lambda: so3.from_matrix(np.diag([1.0, 1.0, -1.0])), "project_matrix"),
        (lambda: so3.from_matrix(np.eye(4)), r"expected \(…, 3, 3\)"),
        (lambda: se3.from_matrix(np.eye(4) + np.eye(4, k=-3)), "expected a matrix of SE"),
        (lambda: so3.vee(np.eye(3)), "algebra"),
        (lambda: so3.act(so3.identity(2), np.zeros((3, 3))), "broadcast"),
        (lambda: so3.dexpinv_left([2 * np.pi, 0.0, 0.0]), "pole"),
        (lambda: se3.dexpinv_right([1.0, 0.0, 0.0, 0.0, 4 * np.pi, 0.0]), "pole"),
        (lambda: se2.dexpinv_left([[0.0, 0.0, 1.0], [1.0, 0.0, -2 * np.pi]]), r"x\[1\]"),
        (lambda: so3.cay_inverse([0.0, 1.0, 0.0, 0.0]), "out of reach"),
        (lambda: so2.cay_inverse([np.pi]), "out of reach"),
        (lambda: so3.dccskinv_left([0.1, np.pi / 2, 0.3]), "singular"),
        (lambda: so3.dccskinv_left([np.pi / 2, 0.1, 0.3], order=(1, 0, 2)), "singular"),
        (lambda: se2.ccsk_inverse([1.0, 2.0, np.pi / 2], order=(0, 2, 1)), "singular"),
        (lambda: so3.ccsk([0.1, 0.2, 0.3], order=(0, 1, 1)), "permutation"),
        (lambda: rn(0), "positive integer"),
        (lambda: so3**0, "positive integer"),
        (lambda: product(), "empty"),
    ],
)
def test_bad_values_are_refused_with_argument_value_and_remedy(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: so3.exp("abc"),
        lambda: so3.exp([None, 1.0, 2.0]),
        lambda: so3.exp([True, False, True]),
        lambda: product(so3, 3),
        lambda: so3.dexp_left([0.1, 0.2, 0.3], order=(0, 1, 2)),
    ],
)
def test_wrong_types_are_refused(call: Any) -> None:
    with pytest.raises(TypeError):
        call()


def test_results_next_to_a_pole_are_large_and_right() -> None:
    for distance in (1e-3, 1e-6, 1e-9, 1e-12):
        angle = 2 * np.pi - distance
        a = so3.dexpinv_left([angle, 0.0, 0.0])
        exact = 0.5 * mp.mpf(angle) * mp.cot(mp.mpf(angle) / 2)
        np.testing.assert_allclose(a[1, 1], float(exact), rtol=1e-15 * 2 * np.pi / distance)


def test_membership() -> None:
    assert so3.is_element([1.0, 0.0, 0.0, 0.0])
    assert not so3.is_element([1.0, 0.1, 0.0, 0.0])
    assert not so3.is_element([1.0, 0.0, 0.0])
    assert not so3.is_element("abc")
    assert so3.is_element([[1.0, 0.0, 0.0, 0.0], [np.nan, 0.0, 0.0, 0.0]]).tolist() == [True, False]


@pytest.mark.parametrize("group", [se2, se3])
def test_a_block_that_is_no_rotation_is_none_however_long_the_way(group):
    m = np.eye(4 if group is se3 else 3)
    m[0, -1] = 1e7
    assert group.from_matrix(m) is not None
    m[:-1, :-1] *= 1.01
    with pytest.raises(ValueError, match="matrix"):
        group.from_matrix(m)
