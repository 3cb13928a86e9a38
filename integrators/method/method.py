"""A method: a named row of numbers for one of the steppers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.layout import CANONICAL, COMPENSATION, OWN_OPTIONS, OWN_ROWS, POSITIONS, TAU
from integrators.method.growth import growing_modes
from integrators.method.own import check_step
from integrators.problem import Doubt, Guard, OwnStep, Problem
from integrators.problem.fields import NOTHING, Field
from integrators.problem.guards import tightened
from integrators.problem.inputs import check_rates
from integrators.problem.jacobian import check_differences, check_jacobian
from liegroup.arrays import integer, of_kind, positive
from liegroup.compile import Entry
from liegroup.display import card
from liegroup.maps import MissingMapError
from liegroup.table import KIND, SE3, check_maps, retract
from liegroup.tau import CAYLEY, CCSK, EXP, SPLIT, SPLITEXP

NEEDS = {
    "field": "any field on any group",
    "time": "a field that depends on the time alone: the linear equation g' = g A(t)",
    "canonical": "a canonical problem: state (q, p) on T*G",
    "lagrangian": "the derivatives of a Lagrangian (`integrators.problem.lagrangian_problem`)",
    "holonomic": "a Lagrangian and its constraints (`integrators.problem.holonomic_problem`)",
    "constraints": "the parts of a constrained motion (`constrained_problem` of a system, `in_velocities`)",
    "constant metric": "the same, with a kinetic energy that does not depend on q",
    "closures": "the same, every constraint the rate of a position",
    "quasi-velocities": "quasi-velocities of a constant metric (`problem` of a nonholonomic system)",
    "own step": "a problem that brings its own step, such as the motion of a tree of bodies",
}
"""What a stepper may need of a problem."""
MAPS = {"exp": EXP, "cayley": CAYLEY, "ccsk": CCSK, "split": SPLIT, "splitexp": SPLITEXP}
"""Coordinate maps τ by name, with their codes; the last two are maps of the bodies of a tree: positions and turns
apart.
"""


@dataclass(frozen=True)
class Report:
    """How a stepper that divides its steps by an estimate of their errors did so.

    Attributes
    ----------
    levels : tuple of int
        Accepted substeps of the step's size divided by 1, 2, 4, …
    rejected : int
        Substeps that were taken again, smaller.
    smallest_substep, smallest_at : float
        Size of the smallest substep, and the time of the first such.
    largest_estimate, estimate_sum : float
        Of the accepted substeps: energy for canonical problems, else the square of a relative error.
    tolerance : float
        The largest that a substep may have, at the end of the run.
    recommended_step : float
        The largest step that would hardly ever be divided.
    sweeps, most_sweeps : float
        Iterations per substep, in the mean and at most.
    jump, jump_at : float
        Largest jump of the field between two substeps, in units of what a smooth one allows; time of the first above 1.

    Examples
    --------
    What `Solution` shows as `levels`, `recommended_step` and so on; see `integrate`.
    """

    levels: tuple[int, ...]
    rejected: int
    smallest_substep: float
    smallest_at: float
    largest_estimate: float
    estimate_sum: float
    tolerance: float
    recommended_step: float
    sweeps: float
    most_sweeps: float
    jump: float
    jump_at: float


@dataclass(frozen=True)
class Stepper:
    """One kernel per family of methods.

    Attributes
    ----------
    name : str
        Of the family.
    step : Entry or None
        Advances a state by one step; signature `integrators.signatures.STEP_SIGNATURE`.  None: the problem brings its
        own step.
    rows : callable
        ``rows(options)`` → rows of its own that it needs in the workspace.
    maps : tuple of str
        Coordinate maps the theory of the family allows.
    groups : tuple of str
        Names of the only groups that it allows as configurations; empty: all.
    interpolant : Entry, optional
        Gives states within the last step, with the signature of a step: y is the state at its start, the step size the
        part of it to go, the workspace what the step left there.  Used by methods with a `dense_order`; others take a
        step of that part.
    needs_derivative : bool
        Whether the order is that of the derivative: differences of the field, where no Jacobian is given, have to be
        one.
    prepare : callable, optional
        ``prepare(problem)`` → (numbers, integers) that the stepper needs to know of a problem; they follow the method's
        own coefficients and options.  ValueError if the family cannot solve the problem.
    prepares_at : bool
        Whether it is ``prepare(problem, t)``, with the time at which the motion begins.
    evaluates : {"field", "linearised", "parts", "nothing"}
        What the stepper is handed in the place of the field; "linearised": the field, followed by the Jacobian of the
        problem, if it has one and ``out`` has room for it; "nothing": its formulas are those of the problem's own step.
    shape : callable, optional
        ``shape(problem, options)`` → shape of the whole workspace, if rows as long as the state are not enough.
    needs : str
        What a problem must have, one of `NEEDS`; `prepare` and `integrate` refuse others.
    follows : tuple of str
        Functions of a problem with constraints whose changes by inputs it follows from step to step, as it takes no
        rates of them (`Inputs.rates`).
    own : str
        Without `step`: the name of the problem's own step (`Problem.own_steps`), which takes the weights of a
        composition as the method's last coefficients.
    before_weights : int
        How many coefficients an own step has before these.
    step_of_time : Entry, optional
        A step that takes a given time, where the size of a step is not a time.
    explain : callable, optional
        ``explain(errors)`` → what the engine's row of errors says about a step that failed.
    composes : (function, Stepper), optional
        What makes this stepper of another one.
    in_parts : Entry, optional
        The step in substeps, which compositions take (`integrators.steppers.composition`): the methods of the stepper
        itself then take it, too, with one substep.
    stages_in_lanes : bool
        Its step is also compiled for a field in lanes, one stage in each; trajectories then run one by one.
    one_by_one : callable, optional
        ``one_by_one(method)`` → of such a method, the same with stages one after another, and undivided: what is
        differentiated, and written in other languages.
    unresolved : callable, optional
        ``unresolved(method, problem, h, y, slopes)`` → 1 where it would have divided that step, from the slopes of its
        stages (s, d), numbers of any kind; else 0.
    paced : Entry, optional
        The step in lanes with times and sizes of their own, `integrators.signatures.STEP_PACED_SIGNATURE`, for
        ensembles with variable steps; without one their trajectories run one by one.
    multistep : bool
        Whether a step depends on the states before its start.
    remembers : bool
        Whether a step takes values that the one before has left at its end (forces, accelerations), and not only a
        first guess: without it they are found anew.
    counts_jumps : bool
        Of a multistep one: whether it counts what a projection changes between steps (`Problem.re_bases`).
    starts : bool
        Whether its first step finds what later ones remember: from the midst of a motion it may fail where they go on.
    begins_with_field : bool
        Whether a step begins with the field at its start, in the engine's row `FIRST`: a projection that has told it
        (`Problem.projection_tells`) spares the evaluation.
    late : callable, optional
        ``late(options, problem)`` → kernels bound late (`liegroup.compile.rare`) that every run of the method with the
        problem calls.
    report : callable, optional
        ``report(work)`` → how steps were divided so far, from the workspace.
    tuned : callable, optional
        ``tuned(method, energy_tolerance, fast)`` → the method with another tolerance of its estimate.
    variable : callable, optional
        ``variable(method)`` → the method as it takes variable steps, where these are not its fixed ones.
    tolerances : callable, optional
        ``tolerances(relative, absolute, sizes)`` → what a stepper for variable steps needs to know of the tolerances,
        from these and the sizes of the state at the start (dimension,); it follows all other coefficients.
    controller : str
        Name of the controller of variable steps where none is asked for; empty: the usual one.
    form : callable, optional
        ``form(problem, t, y)`` → of states (rows, n) at times t how far the problem is from the form that the method
        goes by (rows, 3): |Δv| |p|, the power of forces that it does not feel, ½ |v| |p| (`steppers.kinetic`).
    growth : callable, optional
        ``growth(coefficients, z)`` → the spectral radius of the steps on ẋ = λ x, z = h λ, of multistep methods that
        are not A-stable; modes that grow are doubts.

    Raises
    ------
    ValueError
        An unknown need.

    Notes
    -----
    Copies and other processes know a stepper by its name in the module of its functions, or by what it is made of.

    Examples
    --------
    >>> from integrators.methods import METHODS
    >>> METHODS["RKMK4"].stepper.name, METHODS["RKMK4"].stepper.maps
    ('rkmk', ('exp', 'cayley', 'ccsk'))
    """

    name: str
    step: Entry | None
    rows: Callable[[NDArray[np.int64]], int]
    maps: tuple[str, ...] = ("exp", "cayley", "ccsk")
    groups: tuple[str, ...] = ()
    interpolant: Entry | None = None
    prepare: Callable[..., tuple[NDArray[np.float64], NDArray[np.int64]]] | None = None
    prepares_at: bool = False
    evaluates: str = "field"
    needs_derivative: bool = False
    follows: tuple[str, ...] = ()
    shape: Callable[[Problem, NDArray[np.int64]], tuple[int, int]] | None = None
    own: str = ""
    before_weights: int = 0
    step_of_time: Entry | None = None
    explain: Callable[[NDArray[np.float64]], str] | None = None
    needs: str = "field"
    composes: tuple[Callable[[Stepper], Stepper], Stepper] | None = None
    in_parts: Entry | None = None
    stages_in_lanes: bool = False
    one_by_one: Callable[[Method], Method] | None = None
    unresolved: Callable[[Method, Problem, Any, Any, Any], Any] | None = None
    paced: Entry | None = None
    multistep: bool = False
    remembers: bool = False
    counts_jumps: bool = False
    starts: bool = False
    begins_with_field: bool = False
    late: Callable[[NDArray[np.int64], Problem], Sequence[Any]] | None = None
    report: Callable[[NDArray[np.float64]], Report] | None = None
    tuned: Callable[[Method, float | None, bool], Method] | None = None
    variable: Callable[[Method], Method] | None = None
    tolerances: (
        Callable[[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]] | None
    ) = None
    controller: str = ""
    form: Callable[[Problem, NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]] | None = None
    growth: Callable[[NDArray[np.float64], complex], float] | None = None

    def __post_init__(self) -> None:
        if self.needs not in NEEDS:
            raise ValueError(f"stepper {self.name}: needs {self.needs!r}, expected one of {', '.join(NEEDS)}")

    def of_problem(self, problem: Problem, t: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """What `prepare` tells, or nothing.

        Parameters
        ----------
        problem : Problem
            What is to be integrated.
        t : float
            When it begins, s.

        Returns
        -------
        tuple of float64 array, int64 array
            Numbers and integers.
        """
        if self.prepare is None:
            return np.zeros(0), np.zeros(0, dtype=np.int64)
        return self.prepare(problem, t) if self.prepares_at else self.prepare(problem)

    def __deepcopy__(self, memo: Any) -> Stepper:
        return self

    def __reduce__(self) -> Any:
        if self.composes is not None:
            make, other = self.composes
            return make, (other,)
        for module in {f.__module__ for f in (self.rows, self.step, self.prepare) if f is not None}:
            for name, value in vars(sys.modules[module]).items():
                if value is self:
                    return _stepper_of, (module, name)
        return super().__reduce__()


def _stepper_of(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


_COUNTS = {
    "order": 1,
    "evaluations": 0,
    "embedded_order": 0,
    "embedded_order_low": 0,
    "dense_order": 0,
    "split_order": 1,
    "velocity_order": 1,
    "projection_every": 1,
}
"""What of a method is an integer, and the least."""


@dataclass(frozen=True, eq=False)
class Method:
    """A stepper with its coefficients, and what is claimed of it (every claim is measured by the tests).

    Parameters
    ----------
    name : str
        As in the catalogue `integrators.methods`.
    stepper : Stepper
        The kernel, one per family.
    coefficients : float64 array (k,)
        In the order the stepper documents.
    options : int64 array (l,)
        The stepper's own options.
    order : int
        Of the whole state, or of its positions where `velocity_order` is given.
    velocity_order : int or None
        Order of the velocities where it is lower; None: that of the positions.
    evaluations : int or None
        Evaluations of the field per step; None for implicit methods (until the iteration has converged).
    embedded_order : int or None
        Order of the error estimate's companion; None for methods that have none.
    embedded_order_low : int or None
        Order of a second, lower companion; the estimate is then |e|²/√(|e|² + 0.01 |e_low|²).
    dense_order : int or None
        Order of the stepper's own interpolant; None: states within a step are steps of a part of it, at the method's
        order.
    split_order : int or None
        Order as a splitting of any T and V, where `order` may owe something to a T quadratic in the momenta; None for
        other methods.
    symmetric : bool
        One step forward and one back return to the start.
    symplectic : bool
        On canonical problems (T*G) the canonical two-form is preserved.
    energy_kept : float or None
        Part of the energy at play by which the method itself lets a conserved energy change, where it promises more
        than its order: with a larger change a run is doubtful.
    source : str
        Author and year.
    map : {"exp", "cayley", "ccsk"}
        The coordinate map τ.
    compensated : bool
        Carry the low words of the state (compensated summation), so that round-off does not accumulate step by step.
    projection_every : int
        With fixed steps, the projection of a problem that has one is applied after so many; states that are shown
        (saved, at events) are projected in any case.

    Raises
    ------
    ValueError, TypeError
        No stepper; an order or a count that is none; a map that the stepper's theory does not allow.

    Examples
    --------
    >>> from integrators.methods import METHODS
    >>> METHODS["RKMK4"]
    <Method RKMK4: order 4, rkmk, for any field on any group>
    >>> METHODS["RKMK4"].with_map("cayley").name, METHODS["RKMK4"].plain().compensated
    ('RKMK4[cayley]', False)
    >>> METHODS["GAUSS8"].tuned(energy_tolerance=1e-12).name
    'GAUSS8[energy_tolerance=1e-12]'
    >>> METHODS["RKMK_DORMAND_PRINCE54"].is_adaptive, METHODS["RKMK_DORMAND_PRINCE54"].estimate_power
    (True, 5)
    """

    name: str
    stepper: Stepper
    order: int
    coefficients: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    options: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    evaluations: int | None = None
    embedded_order: int | None = None
    embedded_order_low: int | None = None
    dense_order: int | None = None
    split_order: int | None = None
    velocity_order: int | None = None
    symmetric: bool = False
    symplectic: bool = False
    energy_kept: float | None = None
    source: str = ""
    map: str = "exp"
    compensated: bool = True
    projection_every: int = 1

    def __post_init__(self) -> None:
        of_kind(self.name, str, "name", "a text")
        of_kind(self.stepper, Stepper, "stepper", "a Stepper")
        for count, least in _COUNTS.items():
            if (value := getattr(self, count)) is not None or count in ("order", "projection_every"):
                object.__setattr__(self, count, integer(value, f"{self.name}: {count}", least))
        if self.energy_kept is not None:
            positive(self.energy_kept, f"{self.name}: energy_kept")
        object.__setattr__(self, "coefficients", np.ascontiguousarray(self.coefficients, dtype=np.float64))
        object.__setattr__(self, "options", np.ascontiguousarray(self.options, dtype=np.int64))
        if self.map not in self.stepper.maps:
            raise ValueError(f"{self.name}: map {self.map!r}, expected one of {', '.join(self.stepper.maps)}")

    def with_map(self, name: str) -> Method:
        """The same method with another coordinate map τ.

        Parameters
        ----------
        name : {"exp", "cayley", "ccsk"}
            The map.

        Returns
        -------
        Method
            With the map's name behind its own.
        """
        return replace(self, map=name, name=self.name if name == self.map else f"{self.name}[{name}]")

    def plain(self) -> Method:
        """The same method with plain floating-point additions, for comparison."""
        return replace(self, compensated=False, name=f"{self.name}[plain]")

    def tuned(self, energy_tolerance: float | None = None, fast: bool = False) -> Method:
        """The same method with another tolerance of the estimate by which it divides its steps (`GAUSS8`).

        Parameters
        ----------
        energy_tolerance : float, optional
            Largest estimate of a substep: energy, in the units of the problem, where it is canonical; else the square
            of a relative error.  inf: steps are never divided.
        fast : bool
            End the iteration where rounding is predicted, rather than found: less time, and a drift of rounding in
            runs of more than 1e5 steps.

        Returns
        -------
        Method
            With the options behind its name.

        Raises
        ------
        TypeError
            A method that does not divide its steps by an estimate.
        """
        if energy_tolerance is None and not fast:
            return self
        if self.stepper.tuned is None:
            raise TypeError(
                f"energy_tolerance, fast: {self.name} does not divide its steps by an estimate; they are for GAUSS8"
            )
        return self.stepper.tuned(self, energy_tolerance, fast)

    def with_variable_steps(self) -> Method:
        """The method as it takes variable steps: itself, or one that solves the equations of a step no further than the
        tolerance asks.

        Returns
        -------
        Method
            Of the same name.
        """
        return self.stepper.variable(self) if self.is_adaptive and self.stepper.variable else self

    @property
    def is_adaptive(self) -> bool:
        """Whether it estimates its own error."""
        return self.embedded_order is not None

    @property
    def estimate_power(self) -> int:
        """The power of h in the error estimate."""
        if self.embedded_order is None:
            raise ValueError(f"{self.name} has no error estimate")
        power = self.embedded_order + 1
        return power if self.embedded_order_low is None else 2 * power - (self.embedded_order_low + 1)

    @property
    def needs(self) -> str:
        """What a problem must have, one of `NEEDS`."""
        return self.stepper.needs

    @property
    def family(self) -> str:
        """The name of its stepper."""
        return self.stepper.name

    @property
    def _order(self) -> str:
        low = self.velocity_order
        return f"{self.order}" if low is None else f"{self.order} in positions, {low} in velocities"

    def __repr__(self) -> str:
        return f"<Method {self.name}: order {self._order}, {self.family}, for {NEEDS[self.needs]}>"

    def _repr_html_(self) -> str:
        facts = [
            ("order", self._order),
            ("family", self.family),
            ("for", NEEDS[self.needs]),
            ("is", ", ".join(self.claims)),
            ("evaluations", "until the iteration has converged" if self.evaluations is None else self.evaluations),
            ("map", self.map),
            ("source", self.source),
        ]
        return card(self.name, facts)

    @property
    def claims(self) -> tuple[str, ...]:
        """What is claimed of it besides its order, in words."""
        said = {
            "symplectic": self.symplectic,
            "symmetric": self.symmetric,
            "energy-preserving": self.energy_kept is not None,
            "adaptive": self.is_adaptive,
            "dividing its steps": self.stepper.report is not None,
        }
        return tuple(word for word, holds in said.items() if holds)

    def check(self, problem: Problem, t: float = 0.0) -> None:
        """ValueError, with the method's name and the remedy, if the problem is not of the kind it needs.

        Parameters
        ----------
        problem : Problem
            What is to be integrated.
        t : float
            When.

        Raises
        ------
        ValueError
            The problem is not of the kind the method needs; the formulas of its group contradict one another; a stepper
            of one's own leaves its arrays, or is not consistent.
        MissingMapError
            A factor of the group has no such map.
        """
        if self.needs == "time" and _depends_on_state(problem, t):
            raise ValueError(
                f"{self.name} is for linear equations g' = g A(t), whose field depends on the time alone; that of "
                f"{problem.model!r} depends on the state, and the method would fall to order 1. Use a commutator-free "
                f"or RKMK method, such as CF4 or RKMK4"
            )
        if self.stepper.multistep and problem.re_bases and not self.stepper.counts_jumps:
            raise ValueError(
                f"{self.name} remembers steps, and the projection of {problem.model!r} re-bases its momenta after "
                "each of them, by which the method would fall to order 1. Use a method that remembers none, such as "
                'RKMK_RADAU_IIA5, or ADAMS_BASHFORTH2, or pose the problem with projection="none"'
            )
        check_rates(problem.model, problem.inputs, problem.inputs.driven, self.name, self.stepper.follows)
        try:
            check_maps(problem.table, MAPS[self.map])
        except MissingMapError as error:
            raise MissingMapError(f"{self.name}: {error}") from None
        if (problem.table[:, KIND] > SE3).any():
            from liegroup.testing import check_formulas  # what groups that others have registered need, alone

            check_formulas(problem.table)
        if self.stepper.evaluates == "linearised":
            check_jacobian(problem, t)
            if self.stepper.needs_derivative:
                check_differences(problem, t)
        try:
            self.kernel_options(problem, t)
            self.step(problem)
        except ValueError as error:
            raise error if self.name in str(error) else ValueError(f"{self.name}: {error}") from None
        check_step(self, problem, t)

    def step(self, problem: Problem) -> Entry:
        """The kernel that takes a step; ValueError if the problem would have to bring it and does not.

        Parameters
        ----------
        problem : Problem
            What is to be integrated.

        Returns
        -------
        Entry
            With the signature `integrators.signatures.STEP_SIGNATURE`.
        """
        return self.stepper.in_parts or self.stepper.step or self._own(problem).step

    def _own(self, problem: Problem) -> OwnStep:
        if self.stepper.own not in problem.own_steps:
            raise ValueError(
                f"{self.name}: the problem {problem.model!r} has no {self.stepper.own} step of its own; expected one "
                "that brings it (trees and mechanisms: variational; networks: asynchronous, and without bodies and "
                f"dampers asynchronous_free); it brings {sorted(problem.own_steps) or 'none'}"
            )
        return problem.own_steps[self.stepper.own]

    def interpolant(self, problem: Problem) -> Entry:
        """What gives states within a step: the stepper's interpolant, or a step of the part.

        Parameters
        ----------
        problem : Problem
            What is to be integrated.

        Returns
        -------
        Entry
            With the signature of a step.
        """
        own = self.stepper.interpolant if self.has_own_interpolant else self.stepper.step_of_time
        return own or self.step(problem)

    @property
    def has_own_interpolant(self) -> bool:
        """Whether states within a step cost no further steps."""
        return self.dense_order is not None and self.stepper.interpolant is not None

    @property
    def has_step_of_time(self) -> bool:
        """Whether steps take a time of their own, and others that of the clock."""
        return self.stepper.step_of_time is not None

    def report(self, work: NDArray[np.float64]) -> Report | None:
        """How the stepper has divided its steps, from its workspace; None if it does not.

        Parameters
        ----------
        work : array (rows, columns)
            The stepper's workspace after a run.

        Returns
        -------
        Report or None
            Levels, estimates, iterations.
        """
        return self.stepper.report(work) if self.stepper.report else None

    def explain(self, problem: Problem, errors: NDArray[np.float64]) -> str:
        """What the stepper or the problem's own step says of a step that failed, from the engine's row of errors; or
        nothing.

        Parameters
        ----------
        problem : Problem
            What is to be integrated.
        errors : array (columns,)
            The engine's row of errors.

        Returns
        -------
        str
            Half a sentence, or nothing.
        """
        explain = getattr(problem.own_steps.get(self.stepper.own, self.stepper), "explain", None)
        return explain(errors) if explain else ""

    def guards(self, problem: Problem) -> tuple[Guard, ...]:
        """The guards of a problem, that of the energy as tight as the method promises.

        Parameters
        ----------
        problem : Problem
            What is to be integrated.

        Returns
        -------
        tuple of Guard
            Those that a run watches.
        """
        if self.energy_kept is None:
            return tuple(problem.guards)
        return tuple(
            tightened(guard, self.energy_kept) if guard.name == "energy" else guard for guard in problem.guards
        )

    def doubts(self, problem: Problem, y: NDArray[np.float64], h: float, t: float = 0.0) -> Sequence[Doubt]:
        """What of the hypotheses of a step of size h from the state y (n,) at t does not hold.

        Parameters
        ----------
        problem : Problem
            What is to be integrated.
        y : array (n,)
            The state at the start.
        h : float
            Step, s; negative: backwards in time, where what decays grows.
        t : float
            When, s.

        Returns
        -------
        sequence of Doubt
            Empty where everything holds.
        """
        if not self.has_hypotheses(problem):
            return ()
        if self.stepper.growth is not None:
            return growing_modes(self.name, partial(self.stepper.growth, self.coefficients), problem, y, h, t)
        if self.stepper.own:
            asked = problem.own_steps[self.stepper.own].doubts
            return asked(y, abs(h)) if asked else ()
        assert problem.fastest is not None
        return self._unheld(problem.fastest, y, abs(h))

    def has_hypotheses(self, problem: Problem) -> bool:
        """Whether `doubts` asks anything of the steps of a problem.

        Parameters
        ----------
        problem : Problem
            What is to be integrated.

        Returns
        -------
        bool
            False: `doubts` is empty, whatever the state and the step.
        """
        if self.stepper.growth is not None:
            return True
        if self.stepper.own:
            return bool(getattr(problem.own_steps.get(self.stepper.own, None), "doubts", None))
        return bool(problem.fastest and self.evaluations)

    def _unheld(
        self, fastest: Callable[[NDArray[np.float64]], tuple[float, str]], y: NDArray[np.float64], h: float
    ) -> list[Doubt]:
        """A step of an explicit method that lets the fastest frequency of a problem grow."""
        from integrators.method.stability import held_part

        rate, what = fastest(y)
        z = h * rate
        part = held_part(self, z, 0.0)
        if part == 1.0:
            return []
        says = f"{what} has h ω = {z:.4g}, beyond the limit of {self.name}"
        implicit = "an implicit method such as MIDPOINT, for thin rods RKMK_RADAU_IIA3"
        remedy = f"use a step below {part * h:.4g} s, or {implicit}"
        return [Doubt("step", 0.0, z, part * z, says, remedy)]

    def kernel_options(self, problem: Problem, t: float = 0.0) -> NDArray[np.int64]:
        """The int64 vector the stepper gets: the common options, its own, and what it needs to know of the problem.

        Parameters
        ----------
        problem : Problem
            What is to be integrated.
        t : float
            When it begins, s.

        Returns
        -------
        int64 array (k,)
            As `integrators.layout` numbers them.
        """
        return self.kernel_numbers(problem, t)[1]

    def kernel_coefficients(self, problem: Problem, t: float = 0.0) -> NDArray[np.float64]:
        """The float64 vector the stepper gets: the method's coefficients, and what it needs to know of the problem.

        Parameters
        ----------
        problem : Problem
            What is to be integrated.
        t : float
            When it begins, s.

        Returns
        -------
        float64 array (k,)
            As the stepper documents them.
        """
        return self.kernel_numbers(problem, t)[0]

    def kernel_numbers(self, problem: Problem, t: float = 0.0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Both at once, for one look at the problem.

        Parameters
        ----------
        problem : Problem
            What is to be integrated.
        t : float
            When it begins, s.

        Returns
        -------
        float64 array (j,), int64 array (k,)
            `kernel_coefficients` and `kernel_options`.
        """
        common = np.zeros(OWN_OPTIONS, dtype=np.int64)
        common[TAU], common[COMPENSATION], common[CANONICAL] = MAPS[self.map], self.compensated, problem.canonical
        common[POSITIONS] = problem.positions
        in_parts = self.stepper.in_parts is not None
        numbers, integers = self.stepper.of_problem(problem, t)
        coefficients = np.concatenate([(1.0,) * in_parts, self.coefficients, numbers])
        options = np.concatenate([common, (1, *np.zeros(OWN_OPTIONS)) * in_parts, self.options, integers])
        return coefficients, options.astype(np.int64)

    def function(self, problem: Problem) -> Field:
        """What the stepper evaluates: the problem's field, with or without its Jacobian, its parts, or nothing.

        Parameters
        ----------
        problem : Problem
            What is to be integrated.

        Returns
        -------
        Field
            Of the problem.
        """
        evaluates = self.stepper.evaluates
        function: Field = NOTHING if evaluates == "nothing" else getattr(problem, evaluates)
        return function

    def work_shape(self, problem: Problem) -> tuple[int, int]:
        """Shape of the stepper's workspace for a problem.

        Parameters
        ----------
        problem : Problem
            What is to be integrated.

        Returns
        -------
        rows, columns : int
            Of float64 numbers, or of lanes.
        """
        if self.stepper.step is None:
            return self._own(problem).shape
        if self.stepper.shape is not None:
            return self.stepper.shape(problem, self.options)
        return OWN_ROWS + self.stepper.rows(self.options), max(problem.n, problem.dimension)


_MOVED = (0.1, -0.07, 0.13)
"""How far the states lie from the start at which a field is asked whether it depends on the state."""


def _depends_on_state(problem: Problem, t: float) -> bool:
    """Whether the field changes where the state alone is moved."""
    start = np.atleast_2d(problem.y0)[0]
    here = problem.velocity(t, start)
    for size in _MOVED:
        moved = start.copy()
        retract(problem.table, EXP, start, size * np.cos(np.arange(1.0, problem.dimension + 1.0)), moved)
        if not np.array_equal(problem.velocity(t, moved), here):
            return True
    return False


@dataclass(frozen=True)
class Reference:
    """A solver of another library, for comparison: ``solve(problem, t_span, …) -> Solution``; nothing is claimed of
    it.

    Parameters
    ----------
    name : str
        As in the catalogue.
    order : int
        As its authors say.
    solve : callable
        ``solve(problem, t_span, …) → Solution``.
    source : str
        Author, year, library.

    Examples
    --------
    >>> from integrators.methods import METHODS
    >>> METHODS["SCIPY_DOP853"].order
    8
    """

    name: str
    order: int
    solve: Callable[..., Any]
    source: str = ""

    def tuned(self, energy_tolerance: float | None = None, fast: bool = False) -> Reference:
        """TypeError: it has no estimate of ours.

        Parameters
        ----------
        energy_tolerance, fast
            As in `Method.tuned`.

        Returns
        -------
        Reference
            Never.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError(f"energy_tolerance, fast: not for {self.name}, which is here for comparison")
