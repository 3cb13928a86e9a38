"""A problem: a group, a field on it, a start, and what is known about its motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem.ambient import unit_sizes
from integrators.problem.fields import Field, as_field, joined, lane_work_shape, linearised, reads_time
from integrators.problem.guards import Doubt, Guard, checked, unknown
from integrators.problem.inputs import as_inputs
from integrators.problem.jitted import raise_raised
from integrators.problem.parts import constrained, lagrangian, quasi_velocity
from integrators.problem.sparsity import as_sparsity, pattern
from liegroup.arrays import call, check_function, integer, of_kind, real, reals, sequence, shown
from liegroup.compile import is_ours
from liegroup.display import card, table
from liegroup.group import TOLERANCE
from liegroup.table import FACTORS, quaternions

Array = NDArray[np.float64]
_COLUMNS = ("kind", "q_offset", "v_offset", "n_q", "n_v")
_UNIT_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Variable:
    """A named part of the state: its components in order, with their labels and units.

    Parameters
    ----------
    name : str
        For example ``"orientation"``.
    labels : sequence of str
        One per component, for example ``("qw", "qx", "qy", "qz")``.
    units : str
        Common unit; for mixed components one unit per component, separated by commas.
    description : str
        One sentence for the data file.

    Examples
    --------
    >>> from integrators import Variable
    >>> Variable("orientation", ("qw", "qx", "qy", "qz")).size
    4
    """

    name: str
    labels: tuple[str, ...]
    units: str = ""
    description: str = ""

    @property
    def size(self) -> int:
        """Number of components."""
        return len(self.labels)


@dataclass(frozen=True)
class OwnStep:
    """A step that only this kind of problem has, because its kernel knows the structure behind the field.

    Attributes
    ----------
    step : Entry
        Signature `integrators.signatures.STEP_SIGNATURE`.
    shape : (rows, columns)
        Its workspace, the engine's own rows (`integrators.layout.OWN_ROWS`) included.
    explain : callable, optional
        ``explain(errors)`` → what the engine's row of errors says about a step that failed.
    action : callable, optional
        ``action(q0, q1, h, map)`` → the discrete Lagrangian (k,) of steps of size h between configurations (k, n_q).
    doubts : callable, optional
        ``doubts(y, h)`` → what of the hypotheses of the step does not hold for steps of size h from the state y (n,).

    Examples
    --------
    `hamiltonian_problem` poses problems that bring one:

    >>> from integrators.problem import OwnStep
    >>> OwnStep(None, (4, 8)).shape
    (4, 8)
    """

    step: Any
    shape: tuple[int, int]
    explain: Callable[[Array], str] | None = None
    action: Callable[[Array, Array, float, str], Array] | None = None
    doubts: Callable[[Array, float], Sequence[Doubt]] | None = None


@dataclass(frozen=True, eq=False)
class Problem:
    """ẏ = y·f(t, y)^ on a product of groups: y(0) = y0, f the body (left-trivialised) velocity.

    Parameters
    ----------
    group : object with an attribute ``table``, or int64 array (factors, 5)
        The group; one row ``(kind, q_offset, v_offset, n_q, n_v)`` per factor.
    y0 : array (n,) or (m, n)
        The initial state, or m of them (an ensemble).
    field : callable
        f, in any form of `integrators.problem.fields`: ``f(t, y)``, ``f(t, y, params)`` returning the body velocity
        (one number per algebra component; on Rⁿ the ordinary derivative), ``f(t, y, params, out)``, or an `Entry`.
    parameters, structure : array
        Numbers (float64) and integers (int64) handed to the field.
    work_shape : (rows, columns)
        The workspace the field needs.
    variables : sequence of Variable
        Names, labels and units of the parts of the state, in order; default one part per factor of the group.
    invariants : callable or mapping name → callable
        Conserved quantities (or others to be watched at every step), in the same forms as the field.
    invariant_names, invariant_units : sequence of str
        One per value; the names may be left out if `invariants` is a mapping.
    guards : sequence of Guard
        Numbers with the limits within which a run can be trusted; see `Solution.doubts`.
    explain : callable, optional
        ``explain(t, y)`` → what can be said of a state at which a run failed or became doubtful, or an empty text.
        Where it begins with "near a singular position", variable steps that collapse there are a doubt.
    doubts : callable, optional
        ``doubts(t, y)`` → the `Doubt` s of states y (k, n) of a run at times t (k,), where the model no longer holds:
        asked once after a run, of the states it has saved.  One that takes ``doubts(t, y, u)`` is given the function
        ``u(k)`` → the inputs (m,) in state k, one that takes ``parameters`` those of the problem.
    directions : callable, optional
        ``directions(t, y)`` → the directions of the constraints (k, m, d), orthonormal rows, at states y (k, n) and
        times t (k,): asked after a run by fixed steps, one of which may lead past a narrow place to another branch of
        what the constraints allow.  Where that is so they turn over from one state to the next.
    fastest : callable, optional
        ``fastest(y)`` → (ω, what), the largest frequency of the linear motion about a state, or a bound of it, rad/s,
        and what in the model has it: before a run explicit methods compare it with their step.
    projection : callable, optional
        Applied to the state after every accepted step (by methods of high order after every so many:
        `Method.projection_every`), in the field's forms but with the new state (n,) as its value: brings it back to
        where the motion takes place (closes loops, re-bases momenta).  t is the time at the end of the step.
    projection_tells : tuple (projection, invariants, field), optional
        Entries of which the problem's are made, if a longer value of this projection has the invariants at the new
        state behind it, and one longer still the field there behind these.  Nothing is taken from it where one of the
        three is another one.
    canonical : bool
        The state is (q, p) on G × Rⁿ = T*G, left-trivialised: the last factor of the group is Rⁿ with n = dim G, and
        the field is (∂H/∂p, ṗ) with ṗ = ad_vᵀ p + force.
    angles : sequence of int
        Components of the state that are angles on the line R, rad (those of SO(2), SE(2) are known).  Where field and
        invariants have the period 2π in one, which is tried up to a thousand turns either way, and the field is
        autonomous, a run takes whole turns off it, and its results count them again: an angle of a thousand turns would
        be rounded a thousand times more coarsely.
    re_bases : bool
        Whether the projection changes momenta by what accumulates within a step, however small it is: methods that
        remember steps, and do not count that, would fall to order 1 and are refused.
    accumulates : bool
        Whether what follows the positions carries multipliers or gaps that accumulate, and differs with the size of the
        steps where the motion does not: steps are then compared by their positions.
    numerical : sequence of int
        Numbers among the parameters that say how steps are computed and nothing of the motion, such as a gap that
        counts as closed: derivatives by the parameters of a model leave them out
        (`integrators.adjoint.parameter_directions`).
    strikes : bool
        Whether there are forces in a small part of the states only, as where bodies touch: a run then looks for what
        its steps lead through (`pulse`).
    has_kinks : bool
        Whether forces, or their slopes, jump somewhere on the way: without a method it is not GAUSS8 that `integrate`
        takes.  What strikes has.
    autonomous : bool, optional
        Whether the field does not depend on the time.  Default: its source does not read it.  Where it is said of one
        whose source does, two times are compared before a run.
    vectorized : bool
        The field, a plain Python function, also takes many states at once: t (k,) and y (k, n), components last, to
        values (k, dimension).  Methods with stages in lanes (`GAUSS8`) then call it once where they would call it eight
        times.  That it does is looked at before a run.
    parts : callable, optional
        What a stepper of constrained motion evaluates instead of the field, in the field's forms (see
        `integrators.problem.parts`).
    parts_layout : {"", "constrained", "quasi_velocity", "lagrangian"}
        The layout of its values; with the first two `structure` begins with (n, m, k).
    jacobian : callable, optional
        ∂f/∂x (dimension, dimension), f(t, y τ(x)) at x = 0: the derivatives of the field along right increments, in the
        field's forms (returned as a matrix, or written into ``out`` by rows).  Methods for stiff problems use it in the
        place of differences, d + 1 evaluations of the field; what is to be solved stays the same.  It is compared with
        differences before a run.  Fields of trees, and of mechanisms with linear elements on joints, bring their own.
    jacobian_sparsity : matrix (dimension, dimension), optional
        Dense or sparse (SciPy's): not zero where a component of the field depends on a component of the state.  Where
        an order of the components makes it a narrow band (reverse Cuthill–McKee), Newton's method in implicit methods
        takes time and memory linear in the dimension, and its derivative few evaluations.  It is compared with
        differences before a run; not used beside a `jacobian`.  Rods, networks, and trees and mechanisms of parts that
        nothing joins say it themselves.
    row_names : sequence of str
        Of the constraint rows, for messages.
    scales : array (n,), optional
        What counts as one in each component of the state, positive: 1 for turns, a length of the model for lengths,
        both per second for velocities, and times a mass for momenta; default 1.  Variable steps take less than their
        usual absolute tolerance where it is less than 1; implicit methods, and those with multipliers, judge by it what
        rounding leaves, and how far a difference reaches: give it where lengths or masses are far from a metre and a
        kilogram.
    positions : int, optional
        How many components of the velocity, the first, are rates of positions that count as one in `scales`, while the
        rest are momenta or velocities: then what rests at zero is not taken for a motion in small units.  Half of them
        of a canonical problem; default 0, which says nothing.
    own_steps : mapping name → OwnStep
        Steps that the problem brings itself, for the methods that ask for them by name.
    exact : callable, optional
        ``exact(t)`` → the state at time t (any shape of t, components last).
    begins : float, optional
        Time at which y0 is the start that was meant, s, where that makes a difference (momenta of given velocities
        under a Lagrangian that depends on the time): a run from y0 at another time is refused.
    model : str
        Name for tables and files.
    scene : Scene or callable ``(t, y) → Scene``, optional
        How a motion is drawn (`integrators.scenes`); default boxes for the factors SE(3), SO(3) and SE(2) of the group,
        none for others: ``integrators.scenes.points(f)`` draws points f(y).  It has no part in the motion.
    joints : object with attributes nq and nv, optional
        Whose joints the state begins with, such as a tree: its first nq components are their configuration, the first
        nv of the field their velocity.  For `Solution.joint_states` and other projects' arrays.
    inputs : mapping name → place, or Inputs, optional
        Which of the parameters are given from outside: see `with_inputs` and `integrators.stepper`.

    Raises
    ------
    ValueError, TypeError
        With the argument, its value, what was expected and what to do.

    Examples
    --------
    >>> import numpy as np
    >>> from integrators import Problem, integrate
    >>> from liegroup import product, rn, so3
    >>> oscillator = Problem(
    ...     rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]],
    ...     invariants={"energy": lambda t, y: 0.5 * (y[0] ** 2 + y[1] ** 2)}, model="oscillator",
    ... )
    >>> oscillator
    <Problem 'oscillator': on R^2, watching energy>
    >>> oscillator.velocity(0.0, [1.0, 0.0]).tolist(), oscillator.invariant_values(0.0, [1.0, 0.0]).tolist()
    ([0.0, -1.0], [0.5])

    A body that turns steadily, q̇ = q ω̂: its field is the angular velocity in body axes.

    >>> spin = Problem(so3, so3.identity(), lambda t, q: [0.0, 0.0, 1.0])
    >>> bool(np.allclose(integrate(spin, "RKMK4", (0.0, 1.0), 0.25).y[-1], so3.exp([0.0, 0.0, 1.0])))
    True
    """

    group: Any
    y0: ArrayLike
    field: Any
    parameters: ArrayLike = ()
    structure: ArrayLike = ()
    work_shape: tuple[int, int] = (0, 0)
    variables: Sequence[Variable] = ()
    invariants: Any = None
    invariant_names: Sequence[str] = ()
    invariant_units: Sequence[str] = ()
    guards: Sequence[Guard] = ()
    explain: Callable[[float, Array], str] | None = None
    doubts: Callable[..., Sequence[Doubt]] | None = None
    directions: Callable[[Array, Array], Array] | None = None
    fastest: Callable[[Array], tuple[float, str]] | None = None
    projection: Any = None
    projection_tells: Any = None
    canonical: bool = False
    angles: Sequence[int] = ()
    autonomous: bool | None = None
    re_bases: bool = False
    accumulates: bool = False
    numerical: Sequence[int] = ()
    strikes: bool = False
    has_kinks: bool = False
    vectorized: bool = False
    parts: Any = None
    parts_layout: str = ""
    jacobian: Any = None
    jacobian_sparsity: Any = None
    row_names: Sequence[str] = ()
    scales: Any = None
    positions: int = 0
    own_steps: Mapping[str, OwnStep] = field(default_factory=dict)
    exact: Callable[[Any], Array] | None = None
    begins: float | None = None
    model: str = "problem"
    scene: Any = None
    joints: Any = None
    inputs: Any = None
    table: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._check_kinds()
        self._put("positions", integer(self.positions, "positions", 0))
        self._put("table", _table(self.group, self.canonical, self.positions))
        if self.canonical:
            self._put("positions", self.dimension // 2)
        self._put("y0", self.check_state(self.y0, "y0"))
        self._put("field", as_field(self.field))
        self._put("parameters", _vector(self.parameters, "parameters", np.float64))
        self._put("inputs", as_inputs(self.inputs, len(self.parameters)))  # type: ignore[arg-type]
        self._put("structure", _vector(self.structure, "structure", np.int64))
        self._put("invariant_names", sequence(self.invariant_names, "invariant_names", "a sequence of names"))
        if isinstance(self.invariants, Mapping):
            if self.invariant_names not in ((), tuple(self.invariants)):
                names = ", ".join(map(shown, self.invariants))
                raise ValueError(f"invariant_names: {self.invariant_names}, but invariants names {names}; leave it out")
            self._put("invariant_names", tuple(self.invariants))
        self._put("invariants", None if self.invariants is None else as_field(self.invariants, "invariants"))
        self._put("projection", None if self.projection is None else as_field(self.projection, "projection"))
        self._put("parts", None if self.parts is None else as_field(self.parts, "parts"))
        self._put("jacobian", None if self.jacobian is None else as_field(self.jacobian, "jacobian", matrix=True))
        self._put("scales", _scales(self.scales, self.n))
        self._put("begins", None if self.begins is None else real(self.begins, "begins"))
        self._put("jacobian_sparsity", as_sparsity(self.jacobian_sparsity, self.dimension))
        self._put("invariant_names", _names(self.invariant_names, "invariant_names"))
        units = sequence(self.invariant_units, "invariant_units", "a sequence of texts")
        self._put("invariant_units", units or ("",) * len(self.invariant_names))
        self._put("angles", _components(self.angles, self.n))
        self._put("guards", checked(self.guards))
        self._watch_guards()
        has_momenta = self.canonical or self.parts_layout == "lagrangian"
        self._put("variables", _listed(self.variables) or _default_variables(self.table, has_momenta))
        self._put("work_shape", self._work_shape())
        self._check()

    def _check_kinds(self) -> None:
        """TypeError for what would be true, or be called, whatever it is."""
        for name in ("canonical", "re_bases", "accumulates", "strikes", "has_kinks", "vectorized"):
            of_kind(getattr(self, name), (bool, np.bool_), name, "True or False")
        of_kind(self.autonomous, (bool, np.bool_, type(None)), "autonomous", "True, False or None")
        of_kind(self.model, str, "model", "a text")
        of_kind(self.own_steps, Mapping, "own_steps", "a mapping from names of methods to steps")
        for name in ("explain", "doubts", "directions", "fastest", "exact"):
            if (function := getattr(self, name)) is not None:
                check_function(function, name)

    def _put(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _watch_guards(self) -> None:
        """Guards with functions of their own are watched like invariants."""
        own = {g.name: g.function for g in self.guards if g.function and g.name not in self.invariant_names}
        if own:
            functions, count = as_field(own, "guards"), len(self.invariant_names)
            self._put("invariants", joined(self.invariants, count, functions) if self.invariants else functions)
            self._put("invariant_names", _names((*self.invariant_names, *own), "invariant_names"))
            self._put("invariant_units", (*self.invariant_units, *("" for _ in own)))

    @cached_property
    def n(self) -> int:
        """Components of the state."""
        return int(self.table[:, 3].sum())

    @cached_property
    def dimension(self) -> int:
        """Components of the velocity (the dimension of the group)."""
        return int(self.table[:, 4].sum())

    @cached_property
    def invariant_count(self) -> int:
        """How many invariants are watched, guards with functions of their own included."""
        return len(self.invariant_names)

    @property
    def tells(self) -> bool:
        """Whether the projection tells the invariants and the field at the state to which it leads."""
        own = self.projection, self.invariants, self.field
        told = self.projection_tells
        return told is not None and all(b is not None and a is b.source for a, b in zip(told, own, strict=True))

    @property
    def is_compiled(self) -> bool:
        """Whether the field, the invariants and the projection can be called by the compiled engine."""
        return all(f is None or f.is_compiled for f in (self.field, self.invariants, self.projection))

    @property
    def has_jacobian(self) -> bool:
        """Whether `linearised` gives derivatives: a Jacobian was given, or the field brings its own."""
        return self.jacobian is not None or self.field.differentiates

    @cached_property
    def derivative_pattern(self) -> NDArray[np.int64]:
        """How implicit methods store the derivative of the field (`integrators.problem.sparsity`)."""
        sparsity = None if self.jacobian is not None else self.jacobian_sparsity
        scales = unit_sizes(self.table, self.scales)
        if self.canonical:  # those of a body turn into each other where it turns, over what counts as one in places
            m = self.dimension // 2
            scales[m:] = (scales[:m] * scales[m:]).max(initial=0.0) / scales[:m]
        is_second_order = 2 * self.positions == self.dimension
        return pattern(self.has_jacobian, sparsity, scales, self.field.gives_entries, is_second_order)

    def work_shape_for(self, evaluates: str) -> tuple[int, int]:
        """The workspace of a run: where its method asks for no derivatives, without the room for these, which grows
        with the square of the velocities.

        Parameters
        ----------
        evaluates : {"field", "linearised", "parts", "nothing"}
            What the stepper of the method evaluates.

        Returns
        -------
        (rows, columns)
            At most `work_shape`.

        Examples
        --------
        >>> from mechanics.systems import SYSTEMS
        >>> problem = SYSTEMS["four-bar"].mechanism().problem()
        >>> problem.work_shape_for("field") < problem.work_shape == problem.work_shape_for("linearised")
        True
        """
        room = self.field.room
        if evaluates == "linearised" or room is None or room[0] != self.work_shape:
            return self.work_shape
        return self._with_registers(*room[1])

    @cached_property
    def linearised(self) -> Field:
        """The field, followed by its Jacobian by rows where there is one and `out` has room for both."""
        field: Field = self.field
        return field if self.jacobian is None else linearised(field, self.dimension, self.jacobian)

    @cached_property
    def is_autonomous(self) -> bool:
        """Whether the field can be evaluated at other times than its own."""
        return not reads_time(self.field) if self.autonomous is None else self.autonomous

    def __repr__(self) -> str:
        starts = "" if np.ndim(self.y0) == 1 else f", {len(np.asarray(self.y0))} initial states"
        watched = f", watching {', '.join(self.invariant_names)}" if self.invariant_names else ""
        kind = "canonical on" if self.canonical else "on"
        return f"<Problem {self.model!r}: {kind} {_describe(self.table)}{starts}{watched}>"

    def _repr_html_(self) -> str:
        starts = "" if np.ndim(self.y0) == 1 else f"{len(np.asarray(self.y0))} initial states"
        facts = [
            ("group", _describe(self.table)),
            ("kind", "canonical: (q, p) on T*G" if self.canonical else "a field on the group"),
            ("start", starts),
            ("field", "compiled" if self.is_compiled else "plain Python"),
            ("watched", ", ".join(self.invariant_names)),
            ("guards", ", ".join(guard.name for guard in self.guards)),
            ("inputs", str(self.inputs).removeprefix("<Inputs: ").removesuffix(">") if len(self.inputs) else ""),
        ]
        first = np.atleast_2d(self.y0)[0]
        parts = [(v.name, label) for v in self.variables for label in v.labels]
        rows = [(*part, f"{x:.6g}") for part, x in zip(parts, first, strict=True)]
        return card(self.model, facts, table(("part", "component", "at the start"), rows, f"{self.n} components"))

    def with_start(self, y0: ArrayLike) -> Problem:
        """The same problem from another initial state, or from many.

        Parameters
        ----------
        y0 : array (n,) or (m, n)
            The initial state, or m of them.

        Returns
        -------
        Problem
            Everything else is as it was, and may begin at any time.
        """
        return replace(self, y0=y0, begins=None)

    def with_inputs(self, u: Any) -> Problem:
        """The same problem with other inputs.

        Parameters
        ----------
        u : array (m,), mapping of str to number or function, or function
            Numbers are held.  Functions are ``f(t)``, ``f(t, y)`` or ``f(t, q, v)``, of one input or (not in a mapping)
            of all: jitted ones and ``integrators.traced(f)`` are compiled, `integrators.problem.Sampled` data, too;
            other functions are called back by the compiled field.  Inputs that are not named stay as they were, if they
            are held; functions given before are forgotten.

        Returns
        -------
        Problem
            Its `inputs` say how each runs.

        Raises
        ------
        ValueError, TypeError
            Unknown names, other sizes, numbers that are not finite, what is no such function; what a function returns
            wrongly, when it is called.

        Notes
        -----
        Where the field is evaluated, so are the functions.  Variational steps of trees and mechanisms hold their inputs
        over a step, of order 2: see `integrators.problem.driven`.

        Examples
        --------
        >>> import numpy as np
        >>> from integrators import Problem, integrate
        >>> from liegroup import rn
        >>> cart = Problem(rn(2), [0.0, 0.0], lambda t, y, p: [y[1], p[0]], parameters=[0.0], inputs={"force": 0})
        >>> pushed = cart.with_inputs({"force": lambda t, y: -y[0] - 2.0 * y[1] + 1.0})
        >>> pushed.inputs
        <Inputs: force, plain Python>
        >>> bool(abs(integrate(pushed, "RKMK4", (0.0, 20.0), 0.1).y[-1, 0] - 1.0) < 1e-6)
        True
        """
        from integrators.problem.driven import with_inputs  # it makes problems

        return with_inputs(self, u)

    def with_work(self) -> Problem:
        """The same problem with the work of its inputs, J, integrated beside the state.

        Returns
        -------
        Problem
            With a variable `work` behind the others, one number per input, and, where an energy is watched, with the
            invariant `balance`, the energy less all work: constant to the order of the method where nothing else takes
            or brings energy.  It is no longer canonical.

        Raises
        ------
        ValueError
            No inputs, or inputs whose power is not known.

        Examples
        --------
        >>> from integrators import Problem, integrate
        >>> from integrators.problem import Inputs
        >>> from liegroup import rn
        >>> cart = Problem(
        ...     rn(2), [0.0, 0.0], lambda t, y, p: [y[1], p[0]], parameters=[3.0],
        ...     invariants={"energy": lambda t, y: 0.5 * y[1] ** 2},
        ...     inputs=Inputs(("force",), (0,), power=lambda t, y, p: [p[0] * y[1]]),
        ... )
        >>> run = integrate(cart.with_work(), "RKMK4", (0.0, 2.0), 0.1)
        >>> round(float(run["work"][-1, 0]), 12), bool(run.error("balance") < 1e-12)
        (18.0, True)
        """
        from integrators.problem.work import with_work  # it makes problems

        return with_work(self)

    def input_powers(self, t: ArrayLike, y: ArrayLike) -> Array:
        """The power of every input at one state or along a run, W: for methods that take no `with_work`.

        Parameters
        ----------
        t : float or array (k,)
            Times, s: ``solution.t``.
        y : array (n,) or (k, n)
            States: ``solution.y``.

        Returns
        -------
        array (m,) or (k, m)
            One number per input, at what is held or given by functions at that time and state.

        Raises
        ------
        ValueError
            No inputs, or inputs whose power is not known; other shapes.

        Examples
        --------
        >>> from integrators import Problem
        >>> from integrators.problem import Inputs
        >>> from liegroup import rn
        >>> inputs = Inputs(("force",), (0,), power=lambda t, y, p: [p[0] * y[1]])
        >>> cart = Problem(rn(2), [0.0, 0.0], lambda t, y, p: [y[1], p[0]], parameters=[0.0], inputs=inputs)
        >>> cart.with_inputs(lambda t: 2.0 * t).input_powers([0.0, 3.0], [[0.0, 1.0], [0.0, 0.5]]).tolist()
        [[0.0], [3.0]]
        """
        from integrators.problem.driven import powers_at  # it makes problems

        times, states = reals(t, "t"), reals(y, "y")
        if times.ndim > 1 or states.shape != (*times.shape, self.n):
            raise ValueError(f"t, y: shapes {times.shape}, {states.shape}, expected (k,) and (k, {self.n})")
        if times.ndim == 0:
            return powers_at(self, float(times), states)
        return np.array([powers_at(self, s, x) for s, x in zip(times.tolist(), states, strict=True)])

    def own_parameters(self) -> Array:
        """The parameters, for a run: a copy, where functions write their inputs into them.

        Returns
        -------
        array
            float64.
        """
        parameters: Array = self.parameters  # type: ignore[assignment]
        return parameters if self.inputs.signal is None else parameters.copy()

    def velocity(self, t: float, y: ArrayLike) -> Array:
        """The field at one state: body velocity (dimension,).

        Parameters
        ----------
        t : float
            Time.
        y : array (n,)
            A state.

        Returns
        -------
        array (dimension,)
            f(t, y).
        """
        return self.evaluate(self.field, t, y, self.dimension)

    def invariant_values(self, t: float, y: ArrayLike) -> Array:
        """The invariants at one state.

        Parameters
        ----------
        t : float
            Time.
        y : array (n,)
            A state.

        Returns
        -------
        array (invariant_count,)
            In the order of `invariant_names`.
        """
        return self.evaluate(self.invariants, t, y, self.invariant_count) if self.invariant_count else np.zeros(0)

    def parts_values(self, t: float, y: ArrayLike) -> Array:
        """The parts at one state.

        Parameters
        ----------
        t : float
            Time.
        y : array (n,)
            A state.

        Returns
        -------
        array (parts_size,)
            In the order of `parts_layout`.
        """
        return self.evaluate(self.parts, t, y, self.parts_size)

    def evaluate(self, function: Field, t: float, y: ArrayLike, size: int) -> Array:
        """The `size` values of a function of the problem's kind at one state; ValueError for another shape.

        Parameters
        ----------
        function : Field
            One of the problem's own functions.
        t : float
            Time.
        y : array (n,)
            A state.
        size : int
            How many values it has.

        Returns
        -------
        array (size,)
            Its values.
        """
        y = reals(y, "y", f"{self.n} real numbers")
        if y.shape != (self.n,):  # compiled code would read beyond its end
            raise ValueError(f"y: shape {y.shape}, expected ({self.n},): {_describe(self.table)}")
        out = np.zeros(size)
        t = real(t, "t", "a number", lambda x: True)
        function.at_one_state(t, y, self.own_parameters(), self.structure, np.zeros(self.work_shape), out)
        raise_raised()
        return out

    def check_state(self, y: ArrayLike, name: str) -> Array:
        """A state or states as an array (…, n), or ValueError: wrong shape, not finite, not on the group.

        Parameters
        ----------
        y : array (n,) or (m, n)
            A state, or many.
        name : str
            What the message calls it.

        Returns
        -------
        array (n,) or (m, n)
            The same as float64.
        """
        y = reals(y, name, f"({self.n},) or (m, {self.n}) real numbers")
        if y.ndim == 2 and not len(y):
            raise ValueError(f"{name}: shape {y.shape}, expected at least one state")
        if y.ndim not in (1, 2) or y.shape[-1] != self.n:
            raise ValueError(f"{name}: shape {y.shape}, expected ({self.n},) or (m, {self.n}): {_describe(self.table)}")
        if not np.isfinite(y).all():
            where = tuple(int(k) for k in np.argwhere(~np.isfinite(y))[0])
            at = where[0] if len(where) == 1 else where
            raise ValueError(f"{name}: component {at} is {y[where]}, expected a finite number")
        for k in quaternions(self.table):
            _check_quaternion(y, k, name)
        for kind in sorted(set(self.table[:, 0].tolist())):
            if not is_ours(getattr(FACTORS[kind], "__name__", "")):  # of ours, quaternions are all that is to be asked
                _check_elements(y, kind, self.table, name)
        return y

    @property
    def sizes(self) -> tuple[int, int, int]:
        """(n, m, k) of a problem with parts: velocities, constraint rows, how many of these are integrable."""
        n, m, k = (int(x) for x in np.asarray(self.structure)[:3])
        return n, m, k

    @property
    def parts_size(self) -> int:
        """How many numbers `parts` writes."""
        if self.parts_layout == "lagrangian":
            return lagrangian(self.dimension // 2).SIZE
        n, m, k = self.sizes
        return constrained(n, m, k).SIZE if self.parts_layout == "constrained" else quasi_velocity(n, n - m).SIZE

    def _work_shape(self) -> tuple[int, int]:
        shape = sequence(self.work_shape, "work_shape", "two non-negative integers")
        if len(shape) != 2:
            raise ValueError(f"work_shape: {shown(self.work_shape)}, expected two non-negative integers")
        return self._with_registers(*(integer(x, "work_shape") for x in shape))

    def _with_registers(self, rows: int, columns: int) -> tuple[int, int]:
        values = self.dimension if self.jacobian is None else self.dimension**2
        lanes = lane_work_shape(max(self.n, values, len(self.invariant_names)))
        if rows * columns >= lanes[0] * lanes[1]:
            return rows, columns
        return max(rows, lanes[0]), max(columns, lanes[1])

    def _given_names(self) -> list[str]:
        """Names that data files give, besides those of variables and invariants."""
        given = [f"{v.name}_component" for v in self.variables]
        return given + [f"{name}_{of}" for name in self.invariant_names for of in ("least", "greatest", "mean")]

    @property
    def names_in_files(self) -> frozenset[str]:
        """The names of parts of the state and of invariants in data files, with those that are given for them."""
        return frozenset((*(v.name for v in self.variables), *self.invariant_names, *self._given_names()))

    def _check(self) -> None:
        if sum(v.size for v in self.variables) != self.n:
            sizes = ", ".join(f"{v.name} ({v.size})" for v in self.variables)
            raise ValueError(
                f"variables: {sizes} have {sum(v.size for v in self.variables)} components, the state has {self.n}"
            )
        names = [*(v.name for v in self.variables), *self.invariant_names]
        _names(names, "names of variables and invariants")
        if clash := sorted({*names} & {*self._given_names()}):
            raise ValueError(
                f"names of variables and invariants: {clash[0]!r} is a name that data files give; choose another"
            )
        if self.vectorized and self.field.is_compiled:
            raise ValueError("vectorized: for plain Python fields; a compiled one needs it not, leave it out")
        if (self.invariants is None) != (not self.invariant_names):
            raise ValueError("invariants and invariant_names: give both or none (or a mapping name -> function)")
        if wrong := unknown(self.guards, self.invariant_names):
            raise ValueError(wrong)
        if len(self.invariant_units) != len(self.invariant_names):
            raise ValueError(
                f"invariant_units: {len(self.invariant_units)} units for {len(self.invariant_names)} invariants"
            )
        if self.invariants is not None and self.field.is_compiled and not self.invariants.is_compiled:
            raise TypeError("invariants: plain Python functions beside a compiled field; decorate them with numba.njit")
        if self.jacobian is not None and self.field.is_compiled and not self.jacobian.is_compiled:
            raise TypeError("jacobian: a plain Python function beside a compiled field; decorate it with numba.njit")
        if self.projection is not None and self.field.is_compiled and not self.projection.is_compiled:
            raise TypeError("projection: a plain Python function beside a compiled field; decorate it with numba.njit")
        if (self.parts is None) != (self.parts_layout == "") or self.parts_layout not in ("", *_LAYOUTS):
            raise ValueError(f"parts_layout: {self.parts_layout!r}, expected one of {_LAYOUTS} with parts, '' without")
        if self.positions > self.dimension:
            raise ValueError(f"positions: {self.positions}, expected at most the dimension {self.dimension}")
        if self.canonical:
            kind, _, _, _, n_p = self.table[-1]
            if not _is_vector_space(kind) or 2 * n_p != self.dimension:
                raise ValueError(
                    "canonical: the state must be (q, p) on G × R^n with n = dim G and p the last factor of the "
                    "group; "
                    f"the group is {_describe(self.table)}"
                )


def group_table(group: Any) -> NDArray[np.int64]:
    """The table (factors, 5) of a group or of what has one; TypeError, ValueError if it is none."""
    table = reals(getattr(group, "table", group), "group", "a group of liegroup or its table")
    if table.ndim != 2 or table.shape[1] != len(_COLUMNS) or not len(table):
        raise ValueError(f"group: a table of shape {table.shape}, expected (factors, 5) with columns {_COLUMNS}")
    if not (np.abs(table) < 2**31).all() or (table != np.floor(table)).any():
        raise ValueError(f"group: {table.tolist()}, expected a table of integers")
    if not set(table[:, 0].tolist()) <= set(range(len(FACTORS))):
        raise ValueError(f"group: kinds {table[:, 0].tolist()}, expected those of liegroup.table.FACTORS")
    return np.array(table, dtype=np.int64)


def _table(group: Any, canonical: bool, positions: int) -> NDArray[np.int64]:
    """The group's table with one row per factor, the momenta of a canonical state, and what follows positions, in a row
    of their own.
    """
    table = group_table(group)
    for column, size in ((1, 3), (2, 4)):
        offsets = np.concatenate([[0], np.cumsum(table[:-1, size])])
        if (table[:, column] != offsets).any():
            raise ValueError(
                f"group: {_COLUMNS[column]} is {table[:, column].tolist()}, expected {offsets.tolist()} (factors in "
                "order)"
            )
    momenta = int(table[:, 4].sum()) // 2 if canonical else positions
    rows = [(row[0], *sizes) for row in table.tolist() for sizes in _factors(row, momenta)]
    q, v = (np.concatenate([[0], np.cumsum([row[k] for row in rows])]) for k in (1, 2))
    return np.array([(kind, q[k], v[k], n_q, n_v) for k, (kind, n_q, n_v) in enumerate(rows)], dtype=np.int64)


def _is_vector_space(kind: int) -> bool:
    """Whether copies of the group are one Rⁿ, such as momenta are in."""
    return getattr(FACTORS[kind], "VECTOR_SPACE", False)


def _factors(row: Sequence[int], momenta: int) -> list[tuple[int, int]]:
    """Sizes of the factors in a row: copies of a group one by one; of the last Rⁿ, the momenta (from that velocity on)
    apart.
    """
    kind, _, v, n_q, n_v = row
    if _is_vector_space(kind):
        before = momenta - v
        return [(before, before), (n_q - before, n_v - before)] if 0 < before < n_v else [(n_q, n_v)]
    size = FACTORS[kind].N_V
    return [(n_q * size // n_v, size)] * (n_v // size)


def _vector(values: ArrayLike, name: str, dtype: Any) -> NDArray[Any]:
    array: NDArray[Any] = reals(values, name, "a one-dimensional array of real numbers")
    if array.ndim != 1:
        raise ValueError(f"{name}: shape {array.shape}, expected a one-dimensional array; flatten it")
    if dtype is np.int64:
        if array.size and not (np.isfinite(array).all() and (array == np.floor(array)).all()):
            raise ValueError(f"{name}: {values!r}, expected integers")
        array = np.array(values, dtype=np.int64)
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: element {int(np.argwhere(~np.isfinite(array))[0, 0])} is not finite")
    return array.copy()


def _scales(values: Any, n: int) -> NDArray[np.float64]:
    """What counts as one in the components of a state."""
    scales = np.ones(n) if values is None else reals(values, "scales", f"{n} positive numbers, one per component")
    if scales.shape != (n,) or not (np.isfinite(scales).all() and (scales > 0.0).all()):
        raise ValueError(f"scales: {scales.tolist()}, expected {n} positive numbers, one per component of the state")
    return scales


def _components(places: Sequence[int], n: int) -> tuple[int, ...]:
    found = tuple(integer(k, "angles") for k in sequence(places, "angles", "components of the state"))
    if wrong := [k for k in found if not 0 <= k < n]:
        raise ValueError(f"angles: {wrong[0]}, expected components of the state, 0 to {n - 1}")
    return found


_RESERVED = ("t", "trajectory", "sample", "stretch", "status")


def _listed(variables: Any) -> tuple[Variable, ...]:
    wanted = "a sequence of integrators.Variable(name, labels, units)"
    listed = sequence(variables, "variables", wanted)
    for v in listed:
        of_kind(v, Variable, "variables", wanted)
    return listed


def _names(names: Sequence[str], what: str) -> tuple[str, ...]:
    for name in names:
        of_kind(name, str, what, "texts")
    if len(set(names)) != len(names):
        raise ValueError(f"{what}: {list(names)} are not all different")
    for name in names:
        if not name.isidentifier() or name in _RESERVED:
            raise ValueError(
                f"{what}: {name!r}, expected an identifier (letters, digits, _) other than {', '.join(_RESERVED)}"
            )
    return tuple(names)


def _check_quaternion(y: Array, start: int, name: str) -> None:
    defect = np.abs(np.linalg.norm(y[..., start : start + 4], axis=-1) - 1.0)
    if (defect > _UNIT_TOLERANCE).any():
        raise ValueError(
            f"{name}: the quaternion in components {start}:{start + 4} has norm off by {float(defect.max()):.2g}; "
            f"divide it by its norm (order w, x, y, z)"
        )


def _check_elements(y: Array, kind: int, table: NDArray[np.int64], name: str) -> None:
    """ValueError unless the parts of all factors of one kind are elements of the group."""
    group, places = FACTORS[kind], table[table[:, 0] == kind, 1]
    parts = y[..., places[:, None] + np.arange(group.N_Q)]  # the rows of a kind are copies, of one size
    with np.errstate(all="ignore"):
        defect = np.asarray(call(group.defect, [parts]), dtype=np.float64)
    off = np.argwhere(~(defect <= TOLERANCE))
    if len(off):
        (*one, factor), at = off[0].tolist(), tuple(off[0])
        start, whose = int(places[factor]), f" of state {one[0]}" if one else ""
        raise ValueError(
            f"{name}: components {start}:{start + group.N_Q}{whose}, {parts[at].tolist()}, are {defect[at]:.2g} off "
            f"{group.NAME}, expected a distance below {TOLERANCE:g}; `project` of the group gives the nearest element"
        )


_LAYOUTS = ("constrained", "quasi_velocity", "lagrangian")


def _describe(table: NDArray[np.int64]) -> str:
    def factor(kind: int, n_v: int) -> str:
        copies = n_v // FACTORS[kind].N_V
        return str(FACTORS[kind].NAME) + (f"^{copies}" if copies > 1 or _is_vector_space(kind) else "")

    return " × ".join(factor(kind, n_v) for kind, _, _, _, n_v in table.tolist())


def _default_variables(table: NDArray[np.int64], has_momenta: bool) -> tuple[Variable, ...]:
    def name(k: int) -> str:
        if has_momenta and k == len(table) - 1:
            return "p"
        return "q" if len(table) - has_momenta == 1 else f"q{k}"

    def labels(kind: int, n_q: int) -> tuple[str, ...]:
        one = FACTORS[kind].COMPONENTS
        return one if len(one) == n_q else tuple(str(i) for i in range(n_q))

    return tuple(Variable(name(k), labels(row[0], row[3])) for k, row in enumerate(table.tolist()))
