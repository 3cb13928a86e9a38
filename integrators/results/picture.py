"""A solution as a picture, and as the card that notebooks show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from integrators.status import Status
from liegroup.display import card, table

if TYPE_CHECKING:
    from integrators.results.solution import Solution

MOST = 12
"""Lines that get a place in a legend, at most."""


def draw_change(ax: Any, solution: Solution, name: str, relative: bool = False, **style: Any) -> None:
    """The change of an invariant since the start, on matplotlib's axes: a line through the saved values, and a band
    between the least and the greatest value over **every** step.  For ensembles one line and band per trajectory.
    """
    k = solution._invariant(name)
    for t, now, least, greatest in _trajectories(solution, *(x[..., k] for x in _tables(solution))):
        start = now[0]
        unit = abs(start) if relative else 1.0
        (line,) = ax.plot(t, (now - start) / unit, linewidth=0.8, **style)
        style.pop("label", None)
        ax.fill_between(
            t, (least - start) / unit, (greatest - start) / unit, color=line.get_color(), alpha=0.35, linewidth=0
        )


def plot(solution: Solution, names: Sequence[str], axes: Any) -> Any:
    """See `Solution.plot`."""
    import matplotlib.pyplot as plt  # slow to import

    wanted = names or (*(v.name for v in solution.variables), *_conserved(solution))
    if axes is None:
        figure, grid = plt.subplots(
            len(wanted), 1, sharex=True, squeeze=False, figsize=(6.4, 1.2 + 1.7 * len(wanted)), layout="constrained"
        )
        figure.suptitle(f"{solution.model}, {solution.method}")
        axes = grid[:, 0]
    axes = np.atleast_1d(np.asarray(axes, dtype=object))
    if len(axes) != len(wanted):
        raise ValueError(f"axes: {len(axes)}, expected {len(wanted)}, one for each of {', '.join(wanted)}")
    for ax, name in zip(axes, wanted, strict=True):
        if name in solution.invariant_names:
            draw_change(ax, solution, name)
            units = solution.invariant_units[solution.invariant_names.index(name)]
            _label(ax, name.replace("_", " "), "change", units)
        else:
            _draw_part(ax, solution, name)
    axes[-1].set_xlabel("t [s]")
    return axes


def _conserved(solution: Solution) -> list[str]:
    """The invariants that begin with a scale: of a gap, which begins at rounding, the change says little."""
    return [name for name in solution.invariant_names if np.isfinite(solution[name]).any()]


def _draw_part(ax: Any, solution: Solution, name: str) -> None:
    """The components of a part of the state."""
    values = solution[name]
    part = next(v for v in solution.variables if v.name == name)
    ax.set_prop_cycle(None)
    for number, (t, y) in enumerate(_trajectories(solution, values)):
        for k, label in enumerate(part.labels):
            ax.plot(t, y[:, k], color=f"C{k % 10}", linewidth=0.9, label=label if number == 0 else None)
    if part.size <= MOST:
        ax.legend(fontsize="x-small", loc="upper right", ncols=min(part.size, 4))
    _label(ax, name, "", "" if "," in part.units else part.units)


def _label(ax: Any, title: str, what: str, units: str) -> None:
    ax.set_title(title, loc="left", fontsize="small")
    ax.set_ylabel(" ".join(filter(None, (what, f"[{units}]" if units else ""))))


def _tables(solution: Solution) -> tuple[Any, Any, Any]:
    return solution.invariants, solution.least, solution.greatest


def _trajectories(solution: Solution, *tables: Any) -> Any:
    """Times and tables of each trajectory."""
    if solution.y.ndim == 2:
        yield solution.t, *tables
        return
    for k in range(len(solution.y)):
        yield solution.t if solution.t.ndim == 1 else solution.t[k], *(x[k] for x in tables)


def as_card(solution: Solution) -> str:
    """What a notebook shows: how the run went, what it kept, what is doubtful."""
    ensemble = not isinstance(solution.status, Status)
    step = f"{solution.step:.6g} s" if solution.step else "chosen by the method"
    saved = solution.t.shape[-1]
    span = f"{np.nanmin(solution.t):.6g} … {np.nanmax(solution.t):.6g} s, " if saved else ""
    shape = f"{len(solution.y)} trajectories, " if ensemble else ""
    facts = [
        ("status", solution.message),
        (
            "time",
            f"{span}{shape}{saved} saved states",
        ),
        ("steps", f"{solution.steps}, step {step}" + (f", {solution.rejected} rejected" if solution.rejected else "")),
        ("cost", f"{solution.evaluations} evaluations of the field, {solution.seconds:.3g} s"),
        ("state", ", ".join(f"{v.name} ({v.size})" for v in solution.variables)),
        *(("doubtful", doubt) for doubt in solution.doubts),
    ]
    rows = []
    for name, units in zip(solution.invariant_names, solution.invariant_units, strict=True) if saved else ():
        first = solution.invariants[..., 0, solution._invariant(name)]
        numbers = (np.max(np.abs(first)), np.min(solution.minimum(name)), np.max(solution.maximum(name)))
        rows.append((name, units, *(f"{x:.6g}" for x in numbers), f"{np.max(solution.error(name)):.2g}"))
    heads = ("invariant", "units", "at the start", "least", "greatest", "error")
    return card(f"{solution.model} by {solution.method}", facts, table(heads, rows) if rows else "")
