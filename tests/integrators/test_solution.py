"""Solutions: parts by name, extremes over every step, data files that other programs read."""

from __future__ import annotations

import os
from dataclasses import replace

import h5py
import numpy as np
import pytest
import xarray

from integrators import Doubt, Problem, Solution, Status, integrate
from integrators.results.storage import StorageError, read
from liegroup.table import RN, table_of
from mechanics.systems import SYSTEMS

TABLES = ("t", "y", "invariants", "least", "greatest", "mean_since", "stretch")


@pytest.fixture(scope="module")
def solution(problems):
    return integrate(problems.heavy_top(), "RKMK4", (0, 10), 0.01, save_every=10)


@pytest.fixture(scope="module")
def ensemble(problems):
    problem = problems.heavy_top()
    return integrate(problem, "RKMK4", (0, 1), 0.01, y0=np.repeat(problem.y0[None], 3, axis=0))


def test_parts_and_invariants_have_names(solution):
    assert np.array_equal(solution["orientation"], solution.y[:, :4])
    assert np.array_equal(solution["momentum"], solution.y[:, 4:])
    assert np.array_equal(solution["energy"], solution.invariants[:, 0])
    with pytest.raises(KeyError, match="orientation"):
        solution["angle"]
    with pytest.raises(KeyError, match="energy"):
        solution.minimum("orientation")


def test_error_is_the_largest_deviation_from_the_start_over_every_step(solution):
    energy = solution["energy"][0]
    assert solution.error("energy", relative=False) == max(
        solution.maximum("energy") - energy, energy - solution.minimum("energy")
    )
    assert solution.error("energy") == solution.error("energy", relative=False) / abs(energy)
    assert 0 < solution.error("energy") < 1e-5


def test_the_message_of_a_trajectory_says_its_doubts(ensemble):
    whole = replace(ensemble, doubts=(Doubt("energy", 0.5, 2.0, 1.0, trajectory=1),))
    assert whole.trajectory(0).message == "reached the end"
    assert whole.trajectory(1).message == "reached the end; doubtful since t = 0.5, energy 2 is above 1"


def test_one_trajectory_of_an_ensemble_is_that_trajectory_alone(problems):
    starts = [[2.0, 0.0], [1.0, 0.0]]
    for options in ({"step": 0.01}, {"rtol": 1e-6}):
        method = "RKMK4" if "step" in options else "RKMK_DORMAND_PRINCE54"
        both = integrate(problems.pendulum(), method, (0, 2), y0=starts, **options)
        for k, start in enumerate(starts):
            alone, taken = integrate(problems.pendulum(), method, (0, 2), y0=start, **options), both.trajectory(k)
            for name in TABLES:
                assert np.array_equal(getattr(taken, name), getattr(alone, name)), name
            assert (taken.status, taken.message) == (alone.status, alone.message)
    with pytest.raises(IndexError, match="0 to 1"):
        both.trajectory(2)
    with pytest.raises(ValueError, match="single"):
        both.trajectory(0).trajectory(0)


@pytest.mark.parametrize("count", [1, 3])
def test_times_of_variable_steps_that_happen_to_be_the_same_are_those_of_each_trajectory(problems, count):
    problem = problems.heavy_top()
    starts = np.repeat(problem.y0[None], count, axis=0)
    each = integrate(problem, "RKMK_DOP853", (0, 1), rtol=1e-6, y0=starts)
    assert each.t.shape == each.stretch.shape == each.y.shape[:2] == (count, each.steps + 1)
    given = integrate(problem, "RKMK_DOP853", (0, 1), rtol=1e-6, y0=starts, t_eval=[0.5, 1.0])
    assert given.t.tolist() == [0.5, 1.0]


@pytest.mark.parametrize("mask", [0o022, 0o027])
def test_a_saved_solution_has_the_rights_of_any_new_file(solution, tmp_path, mask):
    before = os.umask(mask)
    try:
        path = solution.save(tmp_path / "run.h5")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("which", ["solution", "ensemble"])
def test_a_saved_solution_comes_back(request, tmp_path, which):
    before = request.getfixturevalue(which)
    after = Solution.load(before.save(tmp_path / "run.h5"))
    for name in TABLES:
        assert np.array_equal(getattr(before, name), getattr(after, name)), name
    for name in (
        "variables",
        "invariant_names",
        "invariant_units",
        "model",
        "method",
        "step",
        "status",
        "message",
        "steps",
        "evaluations",
    ):
        assert getattr(before, name) == getattr(after, name), name
    assert after.attributes["numpy_version"] == np.__version__


def test_events_and_the_times_of_each_trajectory_come_back(problems, tmp_path):
    def lowest(t, y):
        return y[0]

    source = problems.pendulum()
    plain = Problem(source.table, [[1.0, 0.0], [2.0, 0.0]], lambda t, y: np.array([y[1], -np.sin(y[0])]))
    before = integrate(
        plain, "RKMK_TSITOURAS54", (0, 4), rtol=1e-6, events={"bottom": lowest, "never": lambda t, y: y[0] + 9}
    )
    after = Solution.load(before.save(tmp_path / "run.h5"))
    assert before.t.shape == (2, before.y.shape[1])
    assert np.array_equal(after.t, before.t, equal_nan=True)
    assert np.array_equal(after.y, before.y, equal_nan=True)
    for k in (0, 1):
        for name in ("bottom", "never"):
            for part in (0, 1):
                assert np.array_equal(after.events[k][name][part], before.events[k][name][part])
    assert len(after.events[1]["bottom"][0]) == 1
    with xarray.open_dataset(tmp_path / "run.h5", engine="h5netcdf") as data:
        assert list(data["t"].dims) == ["trajectory", "sample"]
        assert data["bottom_t"].attrs["units"] == "s"


def test_a_failed_run_comes_back_too(tmp_path):
    failed = integrate(
        Problem(table_of([(RN, 1)]), [1.0], lambda t, y: [np.inf if t > 0.5 else 0.0]), "RKMK4", (0, 1), 0.1
    )
    back = Solution.load(failed.save(tmp_path / "failed.h5"))
    assert back.status is Status.NON_FINITE
    assert back.message == failed.message
    assert not back.success


def test_xarray_shows_names_labels_and_units(solution, tmp_path):
    with xarray.open_dataset(solution.save(tmp_path / "run.h5"), engine="h5netcdf") as data:
        assert list(data["orientation"].dims) == ["t", "orientation_component"]
        assert data["orientation_component"].values.tolist() == ["qw", "qx", "qy", "qz"]
        assert data["momentum"].attrs["units"] == "kg m2 s-1"
        assert data["energy"].attrs["units"] == "J"
        assert data["t"].attrs["units"] == "s"
        assert np.array_equal(data["momentum"].sel(momentum_component="pz"), solution["momentum"][:, 2])
        assert np.array_equal(data["energy_greatest"], solution.greatest[:, 0])
        assert float(data["energy"].sel(t=5.0, method="nearest")) == solution["energy"][50]
        for name in ("model", "method", "step", "conventions", "commit", "liemech_version", "status"):
            assert name in data.attrs, name
        assert data.attrs["model"] == "heavy top"
        assert data.attrs["step"] == 0.01


def test_xarray_shows_an_ensemble_by_trajectory(ensemble, tmp_path):
    with xarray.open_dataset(ensemble.save(tmp_path / "run.h5"), engine="h5netcdf") as data:
        assert list(data["momentum"].dims) == ["trajectory", "t", "momentum_component"]
        assert data["status"].values.tolist() == ["OK"] * 3


def test_files_of_others_are_refused_with_the_reason(tmp_path):
    text, other, empty = tmp_path / "text.h5", tmp_path / "other.h5", tmp_path / "empty.h5"
    text.write_text("not HDF5")
    with h5py.File(other, "w") as file:
        file["x"] = [1.0]
    empty.touch()
    for path, words in (
        (text, "not a readable"),
        (other, "no digest"),
        (empty, "not a readable"),
        (tmp_path / "none.h5", "no such file"),
    ):
        with pytest.raises(StorageError, match=words):
            Solution.load(path)


def test_a_truncated_file_is_refused(solution, tmp_path):
    path = solution.save(tmp_path / "run.h5")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(StorageError):
        Solution.load(path)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(StorageError, match="a folder, expected a file"):
        read(tmp_path)


def test_what_could_not_be_read_again_is_not_written(solution, tmp_path):
    with pytest.raises(ValueError, match=r"expected the name of an HDF5 file"):
        solution.save(tmp_path / "run.zarr")
    with pytest.raises(ValueError, match=r"run\.csv.*HDF5.*run\.h5"):
        solution.save(tmp_path / "run.csv")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        solution.save(tmp_path / "nowhere" / "run.h5")
    assert not list(tmp_path.iterdir())


def test_names_are_in_a_solution_and_nothing_is_iterated_over():
    run = integrate(SYSTEMS["pendulum"].problem(), "RKMK4", (0.0, 1.0), 0.1)
    assert "energy" in run
    assert "power" not in run
    with pytest.raises(TypeError, match="not iterable"):
        list(run)
