"""The mechanisms of the comparison: how they start, how fast they move, and what is known of their motions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanics.mechanism import Mechanism
from mechanics.models import load_mechanism
from mechanics.systems.loops import andrews_squeezer, bricard, four_bar, n_four_bar, peaucellier, rssr, slider_crank

Array = NDArray[np.float64]


@dataclass(frozen=True)
class System:
    """A mechanism with its start."""

    name: str
    mechanism: Callable[[], Mechanism]
    rate: float
    """Angular rate of the fastest motion, 1/s: the scale of stabilising gains."""
    start: Callable[[], Mapping[str, Any]] = dict
    turned: Callable[[Array], Array] | None = None
    """Exact angle through which the first body has turned at given times, if known."""
    pace: float = 1.0
    """Steps are this part of those of the study: fast mechanisms need short ones."""
    span: float = 1.0
    """The horizon is this part of that of the study."""
    work: Callable[[Array], Array] | None = None
    """Work of motors at coordinates (…, nq), J, where the energy is not constant; energies are then compared at saved
    states only.
    """
    in_bodies: bool = True
    """Whether body coordinates are compared, too."""


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
        lambda: {"rates": {"V0_joint": -n_four_bar.SPEED}},
        lambda t: np.asarray(n_four_bar.angle(2, t)),
    )


def _cassie() -> Mechanism:
    return load_mechanism("cassie", damping=False, springs=False)


SYSTEMS: dict[str, System] = {
    s.name: s
    for s in (
        System(
            "four-bar",
            four_bar.mechanism,
            6.0,
            lambda: {"rates": {"crank_joint": four_bar.SPEED}},
            _turned(four_bar.exact),
        ),
        System(
            "slider-crank",
            slider_crank.mechanism,
            8.0,
            lambda: {"rates": {"crank_joint": slider_crank.SPEED}},
            _turned(slider_crank.exact),
        ),
        double_four_bar(),
        System(
            "10-four-bar",
            partial(n_four_bar.mechanism, 10),
            3.0,
            lambda: {"rates": {"V0_joint": -n_four_bar.SPEED}},
            lambda t: np.asarray(n_four_bar.angle(10, t)),
            in_bodies=False,
        ),
        System("peaucellier", peaucellier.mechanism, 3.0, lambda: {"rates": {"PC_joint": peaucellier.SPEED}}),
        System("bricard", bricard.mechanism, 3.0),
        System("rssr", rssr.mechanism, 8.0, lambda: dict(zip("qv", rssr.start(), strict=True))),
        System(
            "squeezer",
            andrews_squeezer.mechanism,
            300.0,
            pace=0.01,
            span=0.01,
            work=lambda q: andrews_squeezer.TORQUE * q[..., 0],
            in_bodies=False,
        ),
        System("cassie", _cassie, 10.0, pace=0.05, span=0.01, in_bodies=False),
    )
}
