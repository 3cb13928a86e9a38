"""The rolling-disk experiment: its parts, the event that ends a fall, and what the command line leaves behind."""

import json
import math

import numpy as np
import pytest

from integrators import integrate
from integrators.events import Event
from integrators.results.storage import read
from integrators.status import Status
from mechanics.systems.rolling import rolling_disk as in_angles
from mechanics.systems.rolling import tilting_disk as in_space
from studies.records import runs_of
from studies.rolling_disk import ROLLING_DISK
from studies.rolling_disk.coin import coin, fit
from studies.rolling_disk.question import RollingDiskConfig, angle, disks
from studies.rolling_disk.scene import rim
from studies.rolling_disk.stability import boundary
from studies.study import answer


def test_angles_are_read_with_their_unit():
    assert angle("15deg") == pytest.approx(math.radians(15))
    assert angle(" -0.3 ") == -0.3
    assert angle("0.3rad") == 0.3
    with pytest.raises(ValueError, match="as in 15deg"):
        angle("15 degrees")


def test_both_disks_start_in_the_same_state():
    space, angles = disks(RollingDiskConfig(tilt="20deg", spin=3.0, roll=4.0, rock=0.5))
    energies = [s.problem().invariant_values(0.0, s.problem().y0) for s in (space, angles)]
    np.testing.assert_allclose(energies[0], energies[1], rtol=1e-12)


@pytest.mark.parametrize("method", ["DLA", "RKMK4", "ENERGY_EXACT"])
def test_a_disk_that_falls_flat_ends_with_an_event(method):
    """From rest at 60° the time of the fall is a quadrature: θ̇² = 2 m g r (sin θ₀ − sin θ)/(I₁ + m r²)."""
    space, angles = disks(RollingDiskConfig(tilt="30deg", spin=0.0, roll=0.0))
    system, module = (angles, in_angles) if method == "ENERGY_EXACT" else (space, in_space)
    full = method == "DLA"
    problem = system.constrained_problem() if full else system.problem()
    event = Event(
        module.constrained_falls_flat if full else module.falls_flat, "fallen_flat", direction=-1, terminal=True
    )
    solution = integrate(problem, method, (0.0, 3.0), step=0.002, events=event)
    assert solution.status is Status.EVENT
    assert "fallen_flat" in solution.message
    start, end = np.deg2rad(60.0), float(np.arcsin(_sine(solution.y[-1], full, method)))
    s = np.linspace(0.0, np.sqrt(start - end), 20001)  # θ = θ₀ − s² takes the root at the start away
    theta = start - s**2
    with np.errstate(invalid="ignore"):
        speed = np.sqrt(2 * 9.81 * (np.sin(start) - np.sin(theta)) / 1.25)
    integrand = np.where(s == 0, 2 / np.sqrt(2 * 9.81 * np.cos(start) / 1.25), 2 * s / np.where(s == 0, 1.0, speed))
    assert solution.t[-1] == pytest.approx(np.trapezoid(integrand, s), abs=2e-5)
    assert 0.0 < end < 0.3


def _sine(y, full, method):
    if method == "ENERGY_EXACT":
        return np.sin(y[3])
    w, x, yy, z = y[3:7]
    return np.hypot(2 * (x * z - w * yy), 2 * (yy * z + w * x))


def test_a_spinning_coin_is_not_taken_for_a_falling_one():
    """Nutating between 0.01 and 0.2 rad it comes near the plane, and its turning keeps it from it."""
    space, _ = disks(RollingDiskConfig(tilt="78deg", spin=0.5, roll=0.0, rock=0.3))
    event = Event(in_space.falls_flat, "fallen_flat", direction=-1, terminal=True)
    solution = integrate(space.problem(), "RKMK4", (0.0, 3.0), step=0.0005, events=event, save_every=1)
    assert solution.status is Status.OK
    sine = np.array([_sine(y, False, "RKMK4") for y in solution.y])
    assert sine.min() < 0.05
    assert sine.max() > 0.15


def test_the_limit_of_upright_spinning_is_that_of_theory():
    _, angles = disks(RollingDiskConfig())
    found = boundary("spinning", angles)
    assert found.theory == pytest.approx(np.sqrt(4 * 9.81 / 5))
    assert found.found == pytest.approx(found.theory, rel=1e-3)
    assert found.largest[0] > 1e6
    assert found.largest[-1] < 100


def test_the_fit_of_the_coin_finds_exponent_and_end():
    t = np.linspace(0.0, 0.98, 300)
    exponent, end = fit(t, 0.1 * (1.0 - t) ** 0.37)
    assert exponent == pytest.approx(0.37, abs=2e-3)
    assert end == pytest.approx(1.0, abs=2e-3)


def test_the_coin_is_the_disk_of_the_options():
    """m, r, I₁, I₃ and g of a hoop, on its steady motion: ψ̇² = m g r/(I₁ sin α)."""
    system = coin(2.0, 0.3, "hoop", 1.62, 0.1)
    assert system.parameters[:5] == pytest.approx([2.0, 0.3, 0.09, 0.18, 1.62])
    spin = system.problem().y0[6] / np.sin(0.1)
    assert spin**2 == pytest.approx(2.0 * 1.62 * 0.3 / (0.09 * np.sin(0.1)))


def test_what_a_formulation_has_by_construction_is_not_recorded_as_measured():
    """Angles have no height to lose, and quasi-velocities no velocity off the rows."""
    runs = [r for r in runs_of("rolling_disk") if r["part"] in ("sweep", "long run")]
    assert {r["method"] for r in runs if r["gap"] is None} == {"ENERGY_EXACT"}
    multipliers = {"DLA", "DLA4", "DLA_TRAPEZOID", "MP", "GNI", "ROLLING_ALPHA"}
    assert {r["method"] for r in runs if r["constraint_residual"] is not None} == multipliers


def test_the_rim_is_a_circle_that_touches_the_plane():
    space, _ = disks(RollingDiskConfig())
    points = rim(space.problem().y0, 1.0)
    np.testing.assert_allclose(np.linalg.norm(points - space.problem().y0[:3], axis=1), 1.0, rtol=1e-12)
    assert abs(points[:, 2].min()) < 2e-3


def test_an_experiment_leaves_table_data_picture_and_animation(tmp_path, capsys, films):
    out = tmp_path / "disk"
    config = RollingDiskConfig(
        tilt="20deg",
        spin=4.0,
        roll=6.0,
        methods=("DLA", "RKMK4"),
        horizon=1.0,
        quick=True,
        stability=False,
        progress=False,
        out=out,
    )
    answer(ROLLING_DISK, config)
    printed = capsys.readouterr().out
    assert "rolling-disk.gif" in printed
    summary = json.loads((out / "summary.json").read_text())
    sweep = [r for r in summary["runs"] if r["part"] == "sweep"]
    orders = {r["method"]: r["measured_order"] for r in sweep}
    assert orders["DLA"] == pytest.approx(2, abs=0.1)
    assert orders["RKMK4"] == pytest.approx(4, abs=0.2)
    for record in sweep:
        assert {
            "system",
            "method",
            "step",
            "horizon",
            "energy_band",
            "energy_slope",
            "gap",
            "constraint_residual",
        } <= set(record)
    stored = read(out / "rolling-disk.h5")
    assert stored.variables["contact"].values.shape[1] == 2
    assert (out / "rolling-disk.gif").read_bytes().startswith(b"GIF89a")
    assert films(out / "motion.html") > 0
    for suffix in ("png", "pdf"):
        assert (out / f"rolling-disk.{suffix}").stat().st_size > 10_000
