"""Inputs u of a problem: those of its parameters that are given from outside, by name.

A number holds until it is changed (`Problem.with_inputs`, `integrators.stepper`).  A function is a `Signal`: it is
evaluated where the field is (`integrators.problem.driven`).

==========================  ============================================================================================
what `with_inputs` takes    how it runs
==========================  ============================================================================================
a number, an array          held
`Sampled`                   compiled
a jitted function           compiled
``traced(f)``               compiled: straight-line code, kept on disk
any other function          plain Python, called back by the compiled field at every evaluation (some microseconds)
==========================  ============================================================================================

Functions are ``f(t)``, ``f(t, y)`` or, where the state has configurations and momenta or velocities, ``f(t, q, v)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem.fields import Field, as_field
from liegroup.arrays import integer, of_kind, reals, shown
from liegroup.compile import is_jitted, kernel

Array = NDArray[np.float64]
FORMS = "f(t), f(t, y) or f(t, q, v)"
_NONE = -1
FOLLOWED = ("rows", "value", "mass")
"""Functions whose changes methods with multipliers follow, some of them all of these."""


@dataclass(frozen=True)
class Inputs:
    """Which parameters of a problem are its inputs.

    Parameters
    ----------
    names : sequence of str
        One per input.
    places : sequence of int
        Where each stands among the parameters.
    units : sequence of str
        For tables; default none.
    power : callable, optional
        The power of every input, W, in the forms of a field: it reads the inputs among the parameters.  `with_work`
        integrates it.
    velocities : sequence of int
        Of inputs that are nothing but a force along a velocity: the number of that velocity; -1 of others.
    rates : mapping of str to str
        Of inputs on whose rates the motion depends: the function that they stand in, such as "rows" of constraints.
        The equations take these rates as zero; methods that do not follow such a function from step to step
        (`Stepper.follows`) are refused where the input changes.

    Attributes
    ----------
    signal : Signal or None
        What gives some of them as functions.
    worked : bool
        Whether the state ends with their work (`Problem.with_work`).

    Raises
    ------
    ValueError
        Names that are not all different, another number of places or units.

    Examples
    --------
    >>> from integrators.problem import Inputs
    >>> Inputs(("force",), (0,), ("N",))
    <Inputs: force (N)>
    """

    names: Sequence[str] = ()
    places: Sequence[int] = ()
    units: Sequence[str] = ()
    power: Any = None
    velocities: Sequence[int] = ()
    rates: Mapping[str, str] = field(default_factory=dict, compare=False)
    signal: Signal | None = field(default=None, compare=False)
    worked: bool = False

    def __post_init__(self) -> None:
        names = tuple(self.names)
        for name in names:
            of_kind(name, str, "inputs", "names of inputs")
        places = tuple(integer(k, f"inputs: place of {name!r}", 0) for k, name in zip(self.places, names, strict=False))
        put = object.__setattr__
        put(self, "names", names)
        put(self, "places", places)
        put(self, "units", tuple(self.units) or ("",) * len(names))
        put(self, "velocities", tuple(self.velocities) or (_NONE,) * len(names))
        put(self, "power", None if self.power is None else as_field(self.power, "inputs: power"))
        for what, values in (("names", set(names)), ("places", set(places)), ("units", self.units)):
            if len(values) != len(names):
                raise ValueError(
                    f"inputs: {what} {list(values)}, expected one per input of {list(names)}, all different"
                )

    def __len__(self) -> int:
        return len(self.names)

    @property
    def driven(self) -> tuple[int, ...]:
        """Numbers of the inputs that functions give."""
        return self.signal.which if self.signal else ()

    @property
    def free(self) -> tuple[int, ...]:
        """Numbers of the others, which are held."""
        return tuple(k for k in range(len(self)) if k not in self.driven)

    def numbers(self, names: Sequence[str], what: str) -> list[int]:
        """The numbers of inputs by name; ValueError for others.

        Parameters
        ----------
        names : sequence of str
            Of inputs.
        what : str
            What a message calls them.

        Returns
        -------
        list of int
            In the order of `names`.
        """
        if wrong := [name for name in names if name not in self.names]:
            known = ", ".join(map(repr, self.names)) or "none: give elements without a force, such as motor(joint)"
            raise ValueError(f"{what}: no input {wrong[0]!r}; the problem has {known}")
        return [list(self.names).index(name) for name in names]

    def __repr__(self) -> str:
        says = {k: self.signal.kinds[j] for j, k in enumerate(self.driven)} if self.signal else {}
        parts = [
            name + (f" ({unit})" if unit else "") + (f", {says[k]}" if k in says else "")
            for k, (name, unit) in enumerate(zip(self.names, self.units, strict=True))
        ]
        return f"<Inputs: {'; '.join(parts) or 'none'}>"


def check_rates(model: str, inputs: Inputs, which: Sequence[int], method: str, follows: Sequence[str]) -> None:
    """ValueError if inputs that change stand where the motion depends on their rates, which the method takes as zero.

    Parameters
    ----------
    model : str
        Of the problem.
    inputs : Inputs
        Of the problem.
    which : sequence of int
        Numbers of those that change.
    method : str
        Its name.
    follows : sequence of str
        Functions whose changes it follows from step to step.

    Raises
    ------
    ValueError
        The first of them, where it stands, and what to do.
    """
    for name in (inputs.names[k] for k in which):
        where = inputs.rates.get(name)
        if where is not None and where not in follows:
            raise ValueError(
                f"inputs: {name!r} of {model!r} changes and stands in {where}, on whose rate the motion depends, but "
                f"{method} takes that as zero; make it a coordinate with a row for its rate (value c(t, q)), write it "
                "into the functions as one of the time where they take it, or"
                + (
                    " hold it"
                    if where not in FOLLOWED
                    else " run a method that follows it, such as DLA4, on constrained_problem()"
                )
            )


def as_inputs(given: Any, parameters: int) -> Inputs:
    """What a problem was given as `inputs`, checked: `Inputs`, or names with their places among the parameters."""
    if given is None:
        return Inputs()
    if isinstance(given, Mapping):
        given = Inputs(tuple(given), tuple(given.values()))
    if not isinstance(given, Inputs):
        raise TypeError(
            f"inputs: {shown(given)}, expected a mapping of names to places among the parameters, or Inputs"
        )
    if wrong := [n for n, k in zip(given.names, given.places, strict=True) if k >= parameters]:
        raise ValueError(f"inputs: {wrong[0]!r} stands behind the {parameters} parameters of the problem")
    return given


# --- what gives inputs as functions -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sampled:
    """Values at given times, held (zero order) or joined by straight lines (first order); before and behind them the
    first and the last.

    Where steps end at the samples of a zero-order hold, take a method without stages at the ends of a step, such as
    GAUSS8 or MIDPOINT, or `integrators.stepper`: others read the next value at the end of a step.

    Parameters
    ----------
    times : array (k,)
        Increasing, s.
    values : array (k,) or (k, m)
        For one input, or for m.
    hold : {"zero", "linear"}
        Between the times.

    Raises
    ------
    ValueError
        Times that do not increase, other sizes, numbers that are not finite, another hold.

    Examples
    --------
    >>> from integrators.problem import Sampled
    >>> Sampled([0.0, 1.0], [2.0, 4.0], hold="linear")(0.5).tolist(), Sampled([0.0, 1.0], [2.0, 4.0])(0.5).tolist()
    ([3.0], [2.0])
    """

    times: ArrayLike
    values: ArrayLike
    hold: Literal["zero", "linear"] = "zero"

    def __post_init__(self) -> None:
        times, values = reals(self.times, "times"), reals(self.values, "values")
        if times.ndim != 1 or not len(times) or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
            bad = int(np.argmax(np.diff(times) <= 0)) if times.ndim == 1 and len(times) > 1 else 0
            raise ValueError(f"times: {shown(self.times)}, expected finite times that increase; look at number {bad}")
        if values.ndim not in (1, 2) or len(values) != len(times) or not np.isfinite(values).all():
            raise ValueError(
                f"values: shape {values.shape}, expected ({len(times)},) or ({len(times)}, m) finite numbers"
            )
        if self.hold not in ("zero", "linear"):
            raise ValueError(f"hold: {self.hold!r}, expected 'zero' or 'linear'")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values.reshape(len(times), -1))

    def __call__(self, t: float) -> Array:
        """The values at time t.

        Parameters
        ----------
        t : float
            s.

        Returns
        -------
        array (m,)
            One number per input.
        """
        out: Array = np.zeros(np.shape(self.values)[1])
        look_up(t, self.table, 0, len(np.asarray(self.times)), len(out), self.hold == "linear", out)
        return out

    @property
    def table(self) -> Array:
        """Times and values, one after the other."""
        return np.concatenate([np.asarray(self.times), np.ravel(self.values)])


@kernel
def look_up(t: Any, table: Any, at: Any, count: Any, m: Any, linear: Any, out: Any) -> None:
    """out = the values at time t of `count` samples of m numbers that stand at a place of a table."""
    low, high = 0, count  # the last time that is not after t
    while high - low > 1:
        middle = (low + high) // 2
        if table[at + middle] <= t:
            low = middle
        else:
            high = middle
    first, part = at + count + m * low, 0.0
    if linear and low + 1 < count and t > table[at + low]:
        part = (t - table[at + low]) / (table[at + low + 1] - table[at + low])
    for k in range(m):
        out[k] = table[first + k]
        if part > 0.0:
            out[k] += part * (table[first + m + k] - table[first + k])


@dataclass(frozen=True, eq=False)
class traced:
    """A function of inputs that is a formula, noted once and written down as compiled straight-line code.

    It may use arithmetic, NumPy's functions of numbers, loops and lists, but no `if` on a value and nothing that
    changes from call to call: what it reads from elsewhere is a constant from then on.

    Parameters
    ----------
    function : callable
        f(t), f(t, y) or f(t, q, v).

    Raises
    ------
    TypeError
        Not a function.

    Examples
    --------
    >>> import numpy as np
    >>> from integrators import Problem, traced
    >>> from liegroup import rn
    >>> cart = Problem(rn(2), [0.0, 0.0], lambda t, y, p: [y[1], p[0]], parameters=[0.0], inputs={"force": 0})
    >>> cart.with_inputs(traced(lambda t: np.sin(t))).inputs
    <Inputs: force, traced>
    """

    function: Callable[..., Any]

    def __post_init__(self) -> None:
        if not callable(self.function) or is_jitted(self.function):
            raise TypeError(f"traced: {shown(self.function)}, expected a plain Python function {FORMS}")


@dataclass(frozen=True, eq=False)
class Signal:
    """What gives inputs as functions.

    Attributes
    ----------
    field : Field
        Values from (t, z), z = (y, v): the state and the velocities of its first variable.
    which : tuple of int
        Numbers of the inputs.
    kinds : tuple of str
        How each runs: "jitted", "traced", "sampled", "plain Python".
    reads : {1, 2, 3}
        The time, the state, velocities besides.
    undriven : Problem
        The problem with all its inputs held.
    tables : tuple of array
        Of sampled data, behind the parameters.
    samples : tuple of Sampled
        These data.
    in_lanes : bool
        Whether the problem runs in lanes with them.

    Examples
    --------
    `Problem.with_inputs` makes them.
    """

    field: Field
    which: tuple[int, ...]
    kinds: tuple[str, ...]
    reads: int
    undriven: Any
    tables: tuple[Array, ...] = ()
    samples: tuple[Sampled, ...] = ()
    in_lanes: bool = False
