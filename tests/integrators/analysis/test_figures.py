"""Ready-made figures show what the solutions hold."""

from __future__ import annotations

import numpy as np
import pytest

from integrators import integrate
from integrators.analysis.figures import growth_figure, invariant_figure, scaled_energy_figure
from mechanics.systems.bodies.kepler import kepler


@pytest.fixture(scope="module")
def runs():
    return [integrate(kepler(0.4), "SPLIT_STRANG", (0, 20), h, save_every=k) for h, k in ((0.02, 4), (0.01, 8))]


def test_the_band_of_every_step_and_the_slope_are_drawn(runs):
    fig = invariant_figure(runs, ("energy", "angular_momentum"))
    energy, momentum = fig.axes
    assert [ax.get_title() for ax in fig.axes] == ["energy", "angular momentum"]
    assert "slope" in energy.get_legend().get_texts()[-1].get_text()
    drawn = energy.lines[0].get_ydata()
    assert np.array_equal(drawn, runs[0]["energy"] - runs[0]["energy"][0])
    assert np.abs(momentum.lines[0].get_ydata()).max() < 1e-13


def test_energy_errors_over_the_power_of_the_step_fall_on_one_another(runs):
    coarse, fine = (line.get_ydata() for line in scaled_energy_figure(runs, 2).axes[0].lines)
    assert np.abs(coarse - fine).max() < 0.02 * np.abs(fine).max()
    wrong, other = (line.get_ydata() for line in scaled_energy_figure(runs, 1).axes[0].lines)
    assert np.abs(wrong - other).max() > 0.4 * np.abs(wrong).max(), "with another order they do not"


def test_growth_never_falls(runs):
    for line in growth_figure(runs, ("energy", "angular_momentum")).axes[0].lines:
        assert (np.diff(line.get_ydata()) >= 0).all()


def test_what_cannot_be_drawn_is_named(runs):
    with pytest.raises(ValueError, match="invariants"):
        invariant_figure(runs, "spin")
    many = integrate(kepler(0.4), "SPLIT_STRANG", (0, 1), 0.1, y0=np.array([kepler(0.4).y0, kepler(0.3).y0]))
    with pytest.raises(ValueError, match="ensembles"):
        invariant_figure(many)
    variable = integrate(kepler(0.4), "RKMK_TSITOURAS54", (0, 5), rtol=1e-6)
    with pytest.raises(ValueError, match="fixed step"):
        scaled_energy_figure([variable], 5)
