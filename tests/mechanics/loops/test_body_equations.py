"""Closure equations: their screws and rates are the derivatives of φ, and the two bodies feel opposite screws."""

import numpy as np
import pytest
import scipy.linalg

from mechanics.algebra.spatial import skew
from mechanics.constraints.body_equations import ALONG, DISTANCE, PARALLEL, rates_by_kind, screws_by_kind
from mechanics.constraints.wheel_equations import EDGE, HEIGHT, ROLL, SIDE

POSITIONS = {"parallel": PARALLEL, "along": ALONG, "distance": DISTANCE, "height": HEIGHT}
KINDS = {**POSITIONS, "roll": ROLL, "side": SIDE, "edge": EDGE}
"""Positions are the rates of a φ, the others of none."""


def moved(pose, twist, s):
    """g exp(s V^): the pose along a constant body twist, for any scalar s."""
    R, x = pose
    hat = np.zeros((4, 4), dtype=type(s))
    hat[:3, :3], hat[:3, 3] = skew(twist[3:]) * s, twist[:3] * s
    step = scipy.linalg.expm(hat)
    return R @ step[:3, :3], x + R @ step[:3, 3]


@pytest.fixture(params=range(3), ids=lambda k: f"sample{k}")
def sample(request):
    rng = np.random.default_rng(request.param)
    poses = [(scipy.linalg.expm(skew(rng.normal(size=3))), rng.normal(size=3)) for _ in range(2)]
    twists = rng.normal(size=(2, 6))
    a, p, b, q = rng.normal(size=(4, 3))
    return poses, twists, (a / np.linalg.norm(a), p, b / np.linalg.norm(b), q, 0.7)


def screws(kind, numbers, poses):
    (R_i, x_i), (R_j, x_j) = poses
    a, p, b, q, length = numbers
    phi, W_i, W_j = screws_by_kind(kind, a, p, b, q, length, R_i.ravel(), x_i, R_j.ravel(), x_j)
    return phi, np.array(W_i), np.array(W_j)


def rates(kind, numbers, poses, twists):
    (R_i, x_i), (R_j, x_j) = poses
    a, p, b, q, _ = numbers
    V_i, V_j = twists
    N_i, N_j = rates_by_kind(kind, a, p, b, q, R_i.ravel(), x_i, R_j.ravel(), x_j, V_i[:3], V_i[3:], V_j[:3], V_j[3:])
    return np.array(N_i), np.array(N_j)


@pytest.mark.parametrize("kind", POSITIONS.values(), ids=POSITIONS.keys())
def test_screws_give_the_rate_of_the_closure(kind, sample):
    poses, twists, numbers = sample
    _, W_i, W_j = screws(kind, numbers, poses)
    step = 1e-30j
    phi, _, _ = screws(kind, numbers, [moved(g, V, step) for g, V in zip(poses, twists, strict=True)])
    assert W_i @ twists[0] + W_j @ twists[1] == pytest.approx(phi.imag / 1e-30, abs=1e-13)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_rates_give_the_second_derivative_along_constant_twists(kind, sample):
    poses, twists, numbers = sample
    step = 1e-30j
    _, W_i, W_j = screws(kind, numbers, [moved(g, V, step) for g, V in zip(poses, twists, strict=True)])
    N_i, N_j = rates(kind, numbers, poses, twists)
    second = (W_i @ twists[0] + W_j @ twists[1]).imag / 1e-30
    assert N_i @ twists[0] + N_j @ twists[1] == pytest.approx(second, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_rates_are_the_rates_of_the_screws_seen_from_space(kind, sample):
    """N = Ẇ + Ω W in body axes: the screw of a body is carried by its own motion."""
    poses, twists, numbers = sample
    _, W_i, W_j = screws(kind, numbers, poses)
    step = 1e-30j
    _, moved_i, moved_j = screws(kind, numbers, [moved(g, V, step) for g, V in zip(poses, twists, strict=True)])
    for W, later, V, N in zip((W_i, W_j), (moved_i, moved_j), twists, rates(kind, numbers, poses, twists), strict=True):
        v, w = skew(V[:3]), skew(V[3:])
        omega = np.block([[w, np.zeros((3, 3))], [v, w]])
        assert np.abs(later.imag / 1e-30 + omega @ W - N).max() < 1e-12


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_the_two_bodies_feel_opposite_screws(kind, sample):
    poses, _, numbers = sample
    _, W_i, W_j = screws(kind, numbers, poses)

    def at_the_origin(pose, W):
        R, x = pose
        force = R @ W[:3]
        return np.concatenate([force, R @ W[3:] + np.cross(x, force)])

    assert np.abs(at_the_origin(poses[0], W_i) + at_the_origin(poses[1], W_j)).max() < 1e-14
