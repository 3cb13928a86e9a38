"""Ready-made figures of solutions: energy, momenta and other invariants, the energy error in powers of the step, the
modified energy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from integrators.analysis.modified_energy import modified_energy
from integrators.problem import Problem
from integrators.results.picture import draw_change
from integrators.results.solution import Solution
from integrators.statistics.drift import LEAST_SAMPLES, energy_drift

Array = NDArray[np.float64]
SMALLEST = 1e-17


def invariant_figure(
    solutions: Solution | Sequence[Solution], names: str | Sequence[str] = "energy", relative: bool = False
) -> Any:
    """How far invariants go from their start: least and greatest value over every step, one panel per name.

    Parameters
    ----------
    solutions : Solution or sequence of Solution
        One trajectory each; they are told apart by method and step.
    names : str or sequence of str
        Invariants; a momentum of three components by its names, such as ``("angular_momentum_x", …)``.
    relative : bool
        In units of the value at the start.

    Returns
    -------
    matplotlib.figure.Figure
        Of the first solution of the panel "energy" also the straight line of `energy_drift`, with its slope.

    Raises
    ------
    ValueError
        An ensemble; no such invariant.
    """
    runs, wanted = _runs(solutions), [names] if isinstance(names, str) else list(names)
    fig = Figure(figsize=(3.6 * len(wanted), 3.0), layout="constrained")
    for ax, name in zip(fig.subplots(1, len(wanted), squeeze=False)[0], wanted, strict=True):
        for k, s in enumerate(runs):
            _index(s, name)
            draw_change(ax, s, name, relative, color=f"C{k}", label=_label(s))
        if name == "energy" and len(runs[0].t) >= LEAST_SAMPLES:
            _line(ax, runs[0], relative)
        ax.set_title(name.replace("_", " "))
        ax.set_xlabel("t")
        ax.set_ylabel("relative change" if relative else f"change [{runs[0].invariant_units[_index(runs[0], name)]}]")
        ax.legend(fontsize="small")
    return fig


def scaled_energy_figure(solutions: Sequence[Solution], order: int) -> Any:
    """(E − E₀)/hᵖ of runs with several steps: by how much the energy differs from the modified one that the method
    keeps.

    A symplectic method of order p solves, to all orders, the equations of H̃ = H + hᵖ H_{p+1} + …; H̃ being constant,
    the curves are H_{p+1} at the start minus H_{p+1} along the motion and fall on one another as long as the
    trajectories do.  Where they do not, the step is not yet small; a curve that leaves is a drift.

    Parameters
    ----------
    solutions : sequence of Solution
        Of one problem by one method with different fixed steps.
    order : int
        p.

    Raises
    ------
    ValueError
        Ensembles, variable steps.
    """
    runs = _runs(solutions)
    if any(not s.step for s in runs):
        raise ValueError("solutions: variable steps; the modified energy belongs to a fixed step")
    fig = Figure(figsize=(6.0, 3.2), layout="constrained")
    ax = fig.subplots()
    for k, s in enumerate(sorted(runs, key=lambda s: -float(s.step or 0.0))):
        h = float(s.step or 1.0)
        ax.plot(s.t, (s["energy"] - s["energy"][0]) / h**order, color=f"C{k}", linewidth=0.8, label=f"h = {h:g}")
    ax.set_title(f"{runs[0].model}, {runs[0].method}: energy error over h^{order}")
    ax.set_xlabel("t")
    ax.set_ylabel(f"(E − E₀)/h^{order}")
    ax.legend(fontsize="small")
    return fig


def modified_energy_figure(
    problem: Problem, solutions: Solution | Sequence[Solution], orders: Sequence[int] = (4, 8, 12)
) -> Any:
    """Largest |change| so far of the energy and of modified energies, one panel per run.

    What only oscillates falls with the order, a drift stays.  In the legend the slope of the modified energy of the
    highest order (`energy_drift`).

    Parameters
    ----------
    problem : Problem
        What was integrated.
    solutions : Solution or sequence of Solution
        Fixed steps, every step saved, as for `modified_energy`.
    orders : sequence of int
        Even numbers.
    """
    runs = _runs(solutions)
    fig = Figure(figsize=(4.2 * len(runs), 3.4), layout="constrained")
    for ax, s in zip(fig.subplots(1, len(runs), squeeze=False, sharey=True)[0], runs, strict=True):
        curves = [
            ("energy", s.t, s["energy"]),
            *((f"modified, order {k}", *modified_energy(problem, s, k)) for k in orders),
        ]
        for name, t, values in curves:
            so_far = np.maximum(np.maximum.accumulate(np.abs(values - values[0]))[1:], SMALLEST)
            ax.loglog(t[1:] - s.t[0], so_far, linewidth=1.0, label=name)
        _, t, values = curves[-1]
        if len(t) >= LEAST_SAMPLES:
            drift = energy_drift(t, values)
            ax.plot([], [], " ", label=f"slope ({drift.slope:.1e} ± {drift.sigma:.0e})/s")
        ax.set_title(_label(s))
        ax.set_xlabel("t")
        ax.legend(fontsize="small")
        ax.label_outer()
    fig.axes[0].set_ylabel(f"largest change so far [{runs[0].invariant_units[_index(runs[0], 'energy')]}]")
    fig.suptitle(runs[0].model)
    return fig


def growth_figure(solutions: Solution | Sequence[Solution], names: Sequence[str] = ("energy",)) -> Any:
    """Largest |change| so far of invariants against time, on logarithmic axes: rounding grows like √t, a drift like
    t.
    """
    fig = Figure(figsize=(6.0, 3.2), layout="constrained")
    ax = fig.subplots()
    for s in _runs(solutions):
        for name in names:
            at = _index(s, name)
            size = np.maximum(
                np.abs(s.least[:, at] - s.invariants[0, at]), np.abs(s.greatest[:, at] - s.invariants[0, at])
            )
            so_far = np.maximum(np.maximum.accumulate(size)[1:], SMALLEST)
            ax.loglog(s.t[1:] - s.t[0], so_far, label=f"{name.replace('_', ' ')}, {_label(s)}")
    ax.set_xlabel("t")
    ax.set_ylabel("largest change so far")
    ax.legend(fontsize="small")
    return fig


def _line(ax: Any, s: Solution, relative: bool) -> None:
    values = s["energy"] - s["energy"][0]
    t = np.asarray(s.t)
    drift = energy_drift(t, values / abs(s["energy"][0]) if relative else values)
    ax.plot(
        t, drift.mean + drift.slope * (t - t.mean()), "k--", linewidth=0.8,
        label=f"slope ({drift.slope:.1e} ± {drift.sigma:.0e})/s"
    )  # fmt: skip


def _runs(solutions: Solution | Sequence[Solution]) -> list[Solution]:
    runs = [solutions] if isinstance(solutions, Solution) else list(solutions)
    if not runs or any(s.y.ndim != 2 for s in runs):
        raise ValueError(
            "solutions: expected single trajectories, not ensembles; solution.trajectory(k) is one of them"
        )
    return runs


def _index(s: Solution, name: str) -> int:
    if name not in s.invariant_names:
        raise ValueError(f"{name!r}: expected one of the invariants {list(s.invariant_names)} of {s.model}")
    return s.invariant_names.index(name)


def _label(s: Solution) -> str:
    return f"{s.method}, h = {s.step:g}" if s.step else s.method
