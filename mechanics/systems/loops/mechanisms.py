"""Every mechanism with loops by name, in its default form and at its default start; a new one is one file and one line
here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from integrators.problem import Problem
from mechanics.systems.loops import (
    andrews_squeezer,
    bricard,
    flyball_governor,
    four_bar,
    n_four_bar,
    peaucellier,
    rssr,
    slider_crank,
    strandbeest_leg,
    walking_mechanism,
)

MECHANISMS: dict[str, Callable[..., Problem]] = {
    "four-bar": four_bar.problem,
    "swinging-four-bar": partial(four_bar.problem, 0.0),
    "double-four-bar": partial(n_four_bar.problem, 2),
    "ten-four-bar": partial(n_four_bar.problem, 10),
    "slider-crank": slider_crank.problem,
    "squeezer": andrews_squeezer.problem,
    "bricard": bricard.problem,
    "rssr": rssr.problem,
    "governor": flyball_governor.problem,
    "rigid-governor": partial(flyball_governor.problem, True),
    "strandbeest-leg": strandbeest_leg.problem,
    "peaucellier": peaucellier.problem,
    "walking-mechanism": walking_mechanism.problem,
}
"""Each takes `projection`, as `Mechanism.problem` does."""
