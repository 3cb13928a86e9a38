"""The mechanisms of the comparison: how they start, how fast they move, and what is known of their motions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanics.mechanism import Mechanism
from mechanics.systems import bricard, four_bar, n_four_bar, peaucellier, slider_crank

Array = NDArray[np.float64]


@dataclass(frozen=True)
class System:
    """A mechanism with its start."""

    name: str
    mechanism: Callable[[], Mechanism]
    rate: float
    """Angular rate of the fastest motion, 1/s: the scale of stabilising gains."""
    start: Mapping[str, Any] = field(default_factory=dict)
    turned: Callable[[Array], Array] | None = None
    """Exact angle through which the first body has turned at given times, if known."""


def _turned(exact: Callable[[], Any]) -> Callable[[Array], Array]:
    def angle(t: Array) -> Array:
        motion = exact()
        return np.asarray(motion.angle(t) - motion.angle(0.0))

    return angle


def double_four_bar(lengths: Any = None) -> System:
    """Two parallelograms; `lengths` of the horizontals other than 1 m make it imperfect."""
    return System(
        "double-four-bar",
        lambda: n_four_bar.mechanism(2, lengths),
        3.0,
        {"rates": {"V0_joint": -n_four_bar.SPEED}},
        lambda t: np.asarray(n_four_bar.angle(2, t)),
    )


SYSTEMS: dict[str, System] = {
    s.name: s
    for s in (
        System("four-bar", four_bar.mechanism, 6.0, {"rates": {"crank_joint": four_bar.SPEED}}, _turned(four_bar.exact)),
        System("slider-crank", slider_crank.mechanism, 8.0, {"rates": {"crank_joint": slider_crank.SPEED}}, _turned(slider_crank.exact)),
        double_four_bar(),
        System("peaucellier", peaucellier.mechanism, 3.0, {"rates": {"PC_joint": peaucellier.SPEED}}),
        System("bricard", bricard.mechanism, 3.0),
    )
}
