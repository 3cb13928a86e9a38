"""Statistics along the way: the numbers of NumPy on stored trajectories, the same bits however they are computed."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from numba import njit

from integrators import Problem, Solution, Status, integrate, resume
from integrators.analysis import energy_drift
from integrators.ensemble import joined, submit
from integrators.results import StorageError
from integrators.statistics import FirstPassage, Histogram, Moments, Section, Slope, Statistics
from liegroup.table import RN, table_of
from mechanics.systems import SYSTEMS

PENDULUM = SYSTEMS["pendulum"].problem()
MANY = PENDULUM.with_start(np.multiply.outer(np.linspace(0.2, 1.1, 10), PENDULUM.y0))
EDGES = np.linspace(-2.0, 2.0, 11)
GIVEN = ("MIDPOINT", (0.0, 30.0), 0.01)


def squared(t, y):
    return y[..., 0] ** 2


@njit
def momentum_squared(t, y):
    return y[1] ** 2


def lowest(t, y):
    return y[0]


def oscillation(t, y):
    return [y[1], -y[0]]


ASKED = [
    Moments("energy"), Moments("momentum", windows=7), Slope("energy"), Histogram("angle", EDGES),
    Moments(squared), Moments(momentum_squared),
]  # fmt: skip


def assert_same(one, other):
    assert list(one) == list(other)
    for name in one:
        for key, table in one[name].items():
            assert np.array_equal(table, other[name][key], equal_nan=True), (name, key)


@pytest.fixture(scope="module")
def gathered():
    return integrate(MANY, *GIVEN, statistics=ASKED, workers=1)


@pytest.fixture(scope="module")
def stored():
    return integrate(MANY, *GIVEN, save_every=1)


def test_moments_are_those_of_numpy(gathered, stored):
    energy, found = stored["energy"], gathered.statistics["energy_moments"]
    assert np.array_equal(found["least"], energy.min(axis=1))
    assert np.array_equal(found["greatest"], energy.max(axis=1))
    assert np.allclose(found["mean"], energy.mean(axis=1), rtol=1e-14)
    assert (found["count"] == 3001).all()
    for name, values in (
        ("squared", stored["angle"][..., 0] ** 2),
        ("momentum_squared", stored["momentum"][..., 0] ** 2),
    ):
        found = gathered.statistics[f"{name}_moments"]
        assert np.allclose(found["mean"], values.mean(axis=1), rtol=1e-13)
        assert np.allclose(found["variance"], values.var(axis=1), rtol=1e-12)


def test_windows_divide_the_samples_as_array_split(gathered, stored):
    found = gathered.statistics["momentum_moments"]
    parts = np.array_split(stored["momentum"][..., 0], 7, axis=1)
    assert np.allclose(found["mean"], np.stack([part.mean(axis=1) for part in parts], axis=1), atol=1e-14)
    assert np.allclose(found["variance"], np.stack([part.var(axis=1) for part in parts], axis=1), rtol=1e-12)
    assert np.allclose(found["time"][0], [part.mean() for part in np.array_split(stored.t, 7)])


def test_variance_of_small_differences_of_large_numbers():
    far = Problem(table_of([(RN, 2)]), [1.0, 0.0], oscillation)
    values = Moments(lambda t, y: 1e9 + y[..., 0], name="far")
    run = integrate(far, "RKMK4", (0.0, 50.0), 0.01, statistics=[values])
    exact = integrate(far, "RKMK4", (0.0, 50.0), 0.01, save_every=1)["q"][:, 0]
    assert np.isclose(run.statistics["far"]["variance"], exact.var(), rtol=1e-6)


def test_histograms_are_those_of_numpy(gathered, stored):
    found = gathered.statistics["angle_histogram"]
    for counts, angles in zip(found["counts"], stored["angle"][..., 0], strict=True):
        assert np.array_equal(counts, np.histogram(angles, EDGES)[0])
    assert np.array_equal(found["counts"].sum(axis=1) + found["below"] + found["above"], np.full(10, 3001))


def test_slopes_are_those_of_stored_energies():
    run = integrate(MANY, "RKMK4", (0.0, 100.0), 0.1, statistics=[Slope("energy")])
    stored = integrate(MANY, "RKMK4", (0.0, 100.0), 0.1, save_every=1)
    drifts = [energy_drift(stored.t, energy) for energy in stored["energy"]]
    found = run.statistics["energy_slope"]
    for name in ("slope", "sigma", "mean", "band"):
        assert np.allclose(found[name], [getattr(drift, name) for drift in drifts], rtol=1e-6), name


def test_a_slope_of_fewer_samples_than_windows_is_that_of_the_samples():
    few = integrate(SYSTEMS["pendulum"], "MIDPOINT", (0, 0.2), 0.01, statistics=[Slope("angle")])
    fitted = np.polyfit(0.01 * np.arange(21), integrate(SYSTEMS["pendulum"], "MIDPOINT", (0, 0.2), 0.01)["angle"], 1)
    assert few.statistics["angle_slope"]["slope"] == pytest.approx(fitted[0, 0], rel=1e-9)
    for end in (0.0, 0.05):
        none = integrate(SYSTEMS["pendulum"], "MIDPOINT", (0, end), 0.01, statistics=[Slope("angle")])
        assert np.isnan(none.statistics["angle_slope"]["slope"])


def test_over_the_ensemble(gathered, stored):
    energy, found = stored["energy"], gathered.statistics.pooled("energy_moments")
    assert found["count"] == energy.size
    assert np.isclose(found["mean"], energy.mean(), rtol=1e-14)
    assert np.isclose(found["variance"], energy.var(), rtol=1e-13)
    counts = gathered.statistics.pooled("angle_histogram", [0, 3])["counts"]
    assert np.array_equal(counts, np.histogram(stored["angle"][[0, 3]], EDGES)[0])


def test_same_bits_in_lanes_alone_in_threads_and_in_chunks(gathered):
    assert_same(integrate(MANY, *GIVEN, statistics=ASKED, workers=2).statistics, gathered.statistics)
    alone = integrate(MANY.with_start(MANY.y0[3]), *GIVEN, statistics=ASKED)
    assert_same(alone.statistics, gathered.trajectory(3).statistics)
    for none in (-1, 10):
        with pytest.raises(IndexError, match=f"trajectory.{none}.: expected a number from 0 to 9"):
            gathered.statistics.trajectory(none)
    with pytest.raises(ValueError, match="single trajectory"):
        alone.statistics.trajectory(0)
    with ThreadPoolExecutor(2) as pool:
        campaign = submit(MANY, MANY.y0, *GIVEN, client=pool, per_chunk=3, statistics=ASKED)
        assert_same(campaign.result(progress=False).statistics, gathered.statistics)


@pytest.mark.slow
def test_same_bits_in_processes():
    plain = Problem(table_of([(RN, 2)]), [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]], oscillation)
    asked = [Moments(squared), FirstPassage(lowest)]
    runs = [integrate(plain, "RKMK4", (0.0, 30.0), 0.01, statistics=asked, workers=k) for k in (1, 2)]
    assert_same(runs[0].statistics, runs[1].statistics)


def test_a_section_and_first_passages():
    asked = [Section(lowest, ["momentum", squared], direction=1), FirstPassage(lowest), FirstPassage(lowest, "up", 1)]
    run = integrate(MANY, *GIVEN, statistics=asked, events={"fast": lambda t, y: y[1] - 1.0})
    ref = integrate(MANY, *GIVEN, events={"lowest": lowest})
    found, passages = run.statistics["lowest_section"], run.statistics["lowest_passage"]
    for k, events in enumerate(ref.events):
        t, y = events["lowest"]
        mine = found["trajectory"] == k
        assert np.array_equal(found["t"][mine], t[y[:, 1] > 0])
        assert np.array_equal(found["points"][mine, 0], y[y[:, 1] > 0, 1])
        assert passages["time"][k] == t[0]
        assert run.statistics["up"]["time"][k] == t[y[:, 1] > 0][0]
        assert list(run.events[k]) == ["fast"]
    assert np.array_equal(run.statistics.pooled("lowest_passage")["times"], np.sort(passages["time"]))


def test_coordinates_of_a_section_without_a_name_are_counted():
    """A lambda was refused, with the name as the remedy that it had."""
    of = [lambda t, y: y[..., 1], "momentum", partial(squared), squared]
    section = Section(lowest, of, name="lowest")
    assert section.coordinates == ["coordinate_0", "momentum", "coordinate_2", "squared"]
    points = integrate(MANY, *GIVEN, statistics=[section]).statistics["lowest"]["points"]
    assert np.array_equal(points[:, 0], points[:, 1])
    assert np.array_equal(points[:, 2], points[:, 3])


def test_a_first_passage_may_end_the_trajectory():
    fast = FirstPassage(lambda t, y: y[1] - 2.0, "fast", terminal=True)
    run = integrate(MANY, *GIVEN, statistics=[fast, Moments("energy")])
    passed = ~np.isnan(run.statistics["fast"]["time"])
    assert passed.any()
    assert (~passed).any()
    assert [status is Status.EVENT for status in run.status] == passed.tolist()
    assert run.statistics.pooled("fast")["survivors"] == (~passed).sum()
    assert (run.statistics["energy_moments"]["count"][passed] < 3001).all()


@pytest.mark.slow
def test_a_trajectory_that_fails_counts_as_far_as_it_came():
    @njit
    def growing(t, y):
        return np.array([y[0] ** 2])

    many = Problem(table_of([(RN, 1)]), [[0.1]] * 4 + [[1.0]] + [[0.1]] * 3, growing)
    run = integrate(many, "RKMK4", (0.0, 2.0), 0.001, statistics=[Moments("q")])
    stored = integrate(many, "RKMK4", (0.0, 2.0), 0.001, save_every=1)
    came = np.isfinite(stored.y[4, :, 0])
    assert run.status[4] is not Status.OK
    assert run.status == stored.status
    found = run.statistics["q_moments"]
    assert found["count"].tolist() == [2001] * 4 + [came.sum()] + [2001] * 3
    assert found["greatest"][4] == stored.y[4, came, 0].max()
    good = [status is Status.OK for status in run.status]
    assert run.statistics.pooled("q_moments", good)["count"] == 7 * 2001


def test_stopped_and_resumed(tmp_path, gathered):
    path, looks, asked = tmp_path / "run.checkpoint", [], ASKED[:5]
    stopped = integrate(
        MANY, *GIVEN, statistics=asked, checkpoint=path, callback=lambda t, y: looks.append(t) or len(looks) > 1
    )
    assert not stopped.finished
    with pytest.raises(StorageError, match="statistics"):
        resume(path, MANY)
    again = resume(path, MANY, statistics=asked).statistics
    assert_same(again, Statistics(gathered.statistics.declared[:5], gathered.statistics.sums[:5]))


def test_files_and_copies_keep_them(tmp_path, gathered):
    asked, given = [Section(lowest, ["momentum"], direction=1), FirstPassage(lowest)], ("MIDPOINT", (0.0, 5.0), 0.01)
    whole = integrate(MANY, *given, statistics=asked)
    halves = [integrate(MANY.with_start(MANY.y0[rows]), *given, statistics=asked) for rows in (slice(4), slice(4, 10))]
    assert_same(joined(halves).statistics, whole.statistics)
    for run in (gathered, whole, whole.trajectory(2)):
        again = Solution.load(run.save(tmp_path / "run.h5"))
        assert_same(again.statistics, run.statistics)
        assert_same(pickle.loads(pickle.dumps(again)).statistics, run.statistics)
    data = gathered.statistics.to_xarray()
    assert data["energy_moments_mean"].dims == ("trajectory",)
    assert data["momentum_moments_mean"].dims == ("trajectory", "momentum_moments_window")


def test_memory_does_not_grow_with_the_steps():
    sizes = []
    for steps in (20_000, 200_000):
        run = integrate(PENDULUM, "MIDPOINT", (0.0, 0.01 * steps), 0.01, statistics=ASKED[:4])
        assert run.statistics["energy_moments"]["count"] == steps + 1
        sizes.append((len(pickle.dumps(run.statistics)), len(run.t) <= 1026))
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize(
    ("given", "error", "word"),
    [
        ({"statistics": [Moments("speed")]}, ValueError, "'speed'"),
        ({"statistics": ["energy"]}, TypeError, "statistics"),
        ({"statistics": [Moments("energy")] * 2}, ValueError, "two with the name 'energy_moments'"),
        ({"statistics": [Moments("energy", name="energy")]}, ValueError, "'energy' is .* but 'energy_greatest' is a"),
        ({"statistics": [Moments(lowest)]}, ValueError, "components last"),
        ({"statistics": [Moments(lambda t, y: 1j * t, name="turned")]}, TypeError, "complex128 values, expected real"),
        ({"statistics": [Moments("energy")], "t_eval": [1.0]}, TypeError, "t_eval"),
        ({"statistics": [Moments("energy")], "into": "run.h5"}, TypeError, "into"),
    ],
)
def test_what_cannot_be_gathered_is_refused(given, error, word):
    with pytest.raises(error, match=word):
        integrate(PENDULUM, *GIVEN, **given)
    with pytest.raises(TypeError, match="fixed steps"):
        integrate(PENDULUM, "RKMK_DOP853", (0.0, 1.0), rtol=1e-6, statistics=[Moments("energy")])


def test_names_of_others_are_refused_where_a_run_goes_on(tmp_path):
    integrate(PENDULUM, "MIDPOINT", (0.0, 0.1), 0.01, statistics=[Moments("energy")], checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match=r"statistics: 'energy' is written .* 'energy_greatest' is a variable"):
        resume(tmp_path / "run", PENDULUM, statistics=[Moments("energy", name="energy")])


@pytest.mark.parametrize(
    "make",
    [
        lambda: Moments(lambda t, y: 0.0),
        lambda: Moments("energy", windows=0),
        lambda: Slope("energy", windows=4),
        lambda: Histogram("energy", [1.0, 0.0]),
        lambda: Section(lowest, []),
        lambda: FirstPassage(lowest, direction=2),
    ],
)
def test_statistics_that_make_no_sense_are_refused(make):
    with pytest.raises(ValueError, match="expected"):
        make()


def test_names_that_files_need_are_said_to_be_taken():
    with pytest.raises(ValueError, match=r"name: 't', expected an identifier .* other than t, trajectory, sample"):
        Moments(lambda t, y: t, name="t")
