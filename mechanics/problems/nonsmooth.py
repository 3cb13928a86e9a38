"""Hard stops and exact dry friction in the joints of a tree: impacts with restitution, rest, stick and slip.

Between events the motion is smooth: a joint that slips feels the constant torque ∓F, one that sticks, or rests on a
stop, is held by a closure q_j = const with the multiplier λ.  With E the rows of the held joints and v̇₀ the
acceleration without holding them,

    λ = −(E M⁻¹ Eᵀ)⁻¹ E v̇₀,      stick: |λ_j| ≤ F_j,      rest: λ_j pushes off the stop, or pulls no more than F_j,

and which of several joints at rest start to move says the λ that minimises

    ½ λᵀ (E M⁻¹ Eᵀ) λ + λᵀ E v̇₀      within all bounds:

it is unique, and joints at their bounds are let go.  An impact of joint j with the restitution e is the impulse along
the joint, and along those that are held,

    M (v⁺ − v⁻) = Eᵀ Λ,      v_j⁺ = −e v_j⁻,      v_held⁺ = 0,

which takes the energy ½ (1 − e²) m v_j⁻² with the effective mass 1/m = E M⁻¹ Eᵀ of the joint among the held ones: e = 1
keeps it.  Where impacts accumulate, the joint rests.

Sources: Moreau 1966 (the convex problem); Pfeiffer and Glocker 1996 (stick and slip with multipliers); Brogliato 2016
(impacts).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.events import Event
from integrators.modes import Next
from integrators.problem import Problem
from liegroup.arrays import of_kind, positive, real
from liegroup.formulas import so2
from mechanics import dynamics
from mechanics.closed_trees.field import closed
from mechanics.constraints.couplings import coupling
from mechanics.errors import ModelError
from mechanics.forces import motor, not_negative
from mechanics.joints import Motion
from mechanics.mechanism import Mechanism
from mechanics.model.tree import Tree

Array = NDArray[np.float64]
AT_ONCE = 1e-13
"""Part of its place and of its way so far by which a joint may be off a stop to which another comes at that time."""
_ENDS = "lower", "upper"
MOST_AT_ONCE = 10_000
"""Impacts at one instant, at most."""
AT_REST = 1e-9
"""Part of the fastest joint, of rad/s and m/s, or of what one gains in a step, below which speeds are none."""
SHORTEST = 1e-4
"""Part of a step within which the next impact follows, where a joint rests."""


class Mode(NamedTuple):
    """What the joints do.

    Attributes
    ----------
    held : tuple of (str, str, float)
        Joint, "sticks" or the stop it rests on, and the coordinate that is kept, rad or m.
    slips : tuple of (str, float)
        Joint with dry friction and the sign of its velocity.

    Examples
    --------
    >>> Mode((("elbow", "upper", 2.0),), (("hinge", 1.0),)).held[0][1]
    'upper'
    """

    held: tuple[tuple[str, str, float], ...] = ()
    slips: tuple[tuple[str, float], ...] = ()


class Nonsmooth:
    """A tree whose joints end at hard stops and have exact dry friction, for `integrators.integrate_modes`.

    Parameters
    ----------
    model : Tree or Mechanism
        With any force elements, without closures, prescribed motions and inputs.
    stops : mapping of str to (lower, upper)
        Joints of one coordinate; None where there is no stop, rad or m.
    restitution : float or mapping of str to float
        e of the stops, 0 ≤ e ≤ 1 (dimensionless).
    friction : mapping of str to float
        F of joints of one coordinate, N·m or N, set-valued: sticks up to F, slips with F.
    shortest : float, optional
        Where an impact would be followed by the next one within this time, s, the joint rests instead; default 1e-4 of
        the step of `integrate_modes`.

    Raises
    ------
    ModelError
        A joint of several coordinates, stops that are none, a restitution outside 0 … 1, closures, inputs; KeyError for
        an unknown joint.

    Notes
    -----
    One impact after another, each with Newton's restitution; several at the same instant are taken in the order of the
    joints, again and again while one throws another against its stop.  Friction acts along the joint with an F of its
    own, not in proportion to a load, and not within an impact.
    Events are plain functions of Python: about a millisecond a step.

    References
    ----------
    Moreau 1966; Pfeiffer and Glocker 1996; Brogliato 2016.

    Examples
    --------
    A block on a slope whose friction holds it, and one whose friction does not:

    >>> from integrators import integrate_modes
    >>> from mechanics import Body, Inertia, joints
    >>> block = Tree([Body("block", joints.Prismatic((1, 0, 0)), inertia=Inertia.point(2.0))], gravity=(3.0, 0, -9.0))
    >>> for force in (7.0, 5.0):
    ...     slope = Nonsmooth(block, friction={"block_joint": force})
    ...     run = integrate_modes(slope, slope.state([0.0], [0.0]), "RKMK4", (0.0, 1.0), step=0.01)
    ...     print(run.modes[0].held, round(run["q"][-1, 0], 12) + 0.0)
    (('block_joint', 'sticks', 0.0),) 0.0
    () 0.25
    """

    def __init__(
        self,
        model: Tree | Mechanism,
        *,
        stops: Mapping[str, tuple[float | None, float | None]] | None = None,
        restitution: float | Mapping[str, float] = 0.0,
        friction: Mapping[str, float] | None = None,
        shortest: float | None = None,
    ) -> None:
        of_kind(model, (Tree, Mechanism), "model", "a Tree or a Mechanism")
        self.mechanism = Mechanism(model) if isinstance(model, Tree) else model
        self.tree = self.mechanism.tree
        if len(self.mechanism.equations) or self.tree.is_rheonomic:
            what = "closures" if len(self.mechanism.equations) else "prescribed motions"
            raise ModelError("Nonsmooth", f"{self.tree.name!r} has {what}", "give a tree without them")
        if inputs := [e.input_name for e in self.mechanism.elements if e.is_input]:
            remedy = "give each a Motion of time, or a command: Mechanism.with_commands({name: …})"
            raise ModelError("Nonsmooth", f"{self.tree.name!r} has inputs, {inputs}, which nothing gives here", remedy)
        self.shortest = None if shortest is None else positive(shortest, "shortest")
        self.step = 0.0
        self.stops = {joint: self._stop(joint, ends) for joint, ends in _mapping(stops, "stops").items()}
        self.friction = {
            joint: not_negative(force, f"friction of {joint!r}")
            for joint, force in _mapping(friction, "friction").items()
        }
        per_joint = restitution if isinstance(restitution, Mapping) else dict.fromkeys(self.stops, restitution)
        if unknown := set(per_joint) - set(self.stops):
            raise ModelError("restitution", f"names {sorted(unknown)}", f"name joints with stops: {sorted(self.stops)}")
        self.restitution = {j: real(e, f"restitution of {j!r}", "0 <= e <= 1", _is_part) for j, e in per_joint.items()}
        if missing := set(self.stops) - set(self.restitution):
            raise ModelError("restitution", f"leaves out {sorted(missing)}", "give one number, or one for every stop")
        self.places = {j: self._place(j) for j in (*self.stops, *self.friction)}
        self._packed, self._bare = self.mechanism.packed(), Mechanism(self.tree).packed()

    def _stop(self, joint: str, ends: Any) -> tuple[float, float]:
        if not isinstance(ends, Sequence) or len(ends) != 2 or (ends[0] is None and ends[1] is None):
            raise ModelError(f"stops of {joint!r}", f"are {ends!r}", "give (lower, upper), one of them may be None")
        self._place(joint)
        if self.tree.joint(joint).elements[0].factor is so2:
            raise ModelError(f"stops of {joint!r}", "the joint counts no turns", "make the joint Revolute")
        lower = -np.inf if ends[0] is None else real(ends[0], f"lower stop of {joint!r}")
        upper = np.inf if ends[1] is None else real(ends[1], f"upper stop of {joint!r}")
        if not lower < upper:
            raise ModelError(f"stops of {joint!r}", f"are {lower} and {upper}", "the lower stop is below the upper one")
        return lower, upper

    def _place(self, joint: str) -> tuple[int, int]:
        """Places of its coordinate and its velocity."""
        found = self.tree.joint(joint)
        if found.n_q != 1 or found.n_v != 1:
            raise ModelError(f"joint {joint!r}", f"has {found.n_v} degrees of freedom", "name a joint of one")
        return self.tree.q_slice(joint).start, self.tree.v_slice(joint).start

    # --- states -------------------------------------------------------------------------------------------------------

    def state(self, q: ArrayLike, v: ArrayLike | None = None) -> Array:
        """The state (q, p) of a start.

        Parameters
        ----------
        q : array (nq,)
            Configuration, rad and m; quaternions of unit norm.
        v : array (nv,), optional
            Velocities, rad/s and m/s; default rest.

        Returns
        -------
        array (nq + nv,)
            y.

        Raises
        ------
        ValueError
            Wrong sizes, numbers that are not finite.
        """
        q, v = self.mechanism.start(q, v, None)
        return np.concatenate([q, self.mechanism.momentum(q, v)])

    def _velocity(self, y: Array) -> tuple[Array, Array]:
        q, p = y[: self.tree.nq], y[self.tree.nq :]
        return q, dynamics.closed_rates(self.tree, self._bare, closed, q, p)[0]

    def _acceleration(self, t: float, y: Array, slips: Sequence[tuple[str, float]]) -> tuple[Array, Array, Array]:
        """v, v̇ without what holds joints, and M⁻¹."""
        q, p = y[: self.tree.nq], y[self.tree.nq :]
        v, loaded = dynamics.closed_rates(self.tree, self._packed, closed, q, p, t)
        force = loaded - dynamics.closed_rates(self.tree, self._bare, closed, q, p, t)[1]
        for joint, sign in slips:
            force[self.places[joint][1]] -= sign * self.friction[joint]
        damped = dynamics.forward_dynamics(self.tree, q, v, force)
        return v, damped, self._inverse(q)

    def _inverse(self, q: Array) -> Array:
        """M⁻¹."""
        return np.asarray(np.linalg.inv(dynamics.mass_matrix(self.tree, q)), dtype=np.float64)

    def _multipliers(self, t: float, y: Array, mode: Mode) -> Array:
        """λ of the held joints, N·m and N."""
        if not mode.held:
            return np.zeros(0)
        _, a, W = self._acceleration(t, y, mode.slips)
        at = [self.places[joint][1] for joint, _, _ in mode.held]
        return np.asarray(-np.linalg.solve(W[np.ix_(at, at)], a[at]), dtype=np.float64)

    def _margins(self, held: Sequence[tuple[str, str, float]], multipliers: Array) -> Array:
        """What is left to the bound of every held joint; negative where it is broken."""
        push = {"lower": 1.0, "upper": -1.0}
        return np.array([
            self.friction.get(joint, 0.0) + (push[how] * x if how in push else -abs(x))
            for (joint, how, _), x in zip(held, multipliers, strict=True)
        ], dtype=np.float64)  # fmt: skip

    # --- what `integrate_modes` asks for ------------------------------------------------------------------------------

    def for_step(self, step: float) -> Nonsmooth:
        """The same for a run whose steps are known: what is short and slow goes by them.

        Parameters
        ----------
        step : float
            The largest, s.

        Returns
        -------
        Nonsmooth
            For one run.
        """
        found = copy(self)
        found.step = step
        return found

    def start(self, t: float, y: Array) -> Next:
        """The mode of a first state, and the state in it; what starts on a stop and comes to it strikes it first.

        Parameters
        ----------
        t : float
            Time, s.
        y : array (nq + nv,)
            State (q, p), SI units.

        Returns
        -------
        Next
            Mode, state, and the words and the energy lost of an impact.

        Raises
        ------
        ModelError
            A joint beyond its stops; ValueError for a state of another size.
        """
        if y.shape != (self.tree.nq + self.tree.nv,):
            raise ValueError(f"y0: shape {y.shape}, expected ({self.tree.nq + self.tree.nv},): (q, p), from `state`")
        q, v = self._velocity(y)
        for joint, (lower, upper) in self.stops.items():
            x = q[self.places[joint][0]]
            if not lower <= x <= upper:
                raise ModelError(f"joint {joint!r}", f"starts at {x}, beyond its stops", f"start in {lower} … {upper}")
        slow = self._slow(t, y)
        mode, settled = self._settled(t, q, v, slow)
        held = {joint for joint, _, _ in mode.held}
        strikes = tuple(
            f"{which}{n}"
            for n, joint in enumerate(self.stops)
            for end, which in enumerate(_ENDS)
            if joint not in held and self._touches(t, q, v, joint, end, slow)
        )
        return self.after(mode, strikes, t, settled) if strikes else Next(mode, settled)

    def problem(self, mode: Mode, t: float, y: Array) -> Problem:
        """The motion of a mode: slipping joints with constant torques, held ones with closures.

        Parameters
        ----------
        mode : Mode
            What the joints do.
        t : float
            Time, s.
        y : array (nq + nv,)
            State (q, p), SI units.

        Returns
        -------
        Problem
            From y on.
        """
        slips = [motor(joint, force=Motion((-sign * self.friction[joint],))) for joint, sign in mode.slips]
        holds = [coupling([joint], _held_at(x), f"{joint} held") for joint, _, x in mode.held]
        q, v = self._velocity(y)
        made = Mechanism(self.tree, holds, q, [self.mechanism.elements, *slips])
        return made.problem(q, made.projected_velocity(q, v)[0] if holds else v)

    def events(self, mode: Mode) -> list[Event]:
        """Stops that are reached, slips that end, bounds of multipliers.

        Parameters
        ----------
        mode : Mode
            What the joints do.

        Returns
        -------
        list of Event
            Their names begin with "lower", "upper", "stops" (a slip ends), or are "free".
        """
        held, found = {joint for joint, _, _ in mode.held}, []
        for n, (joint, (lower, upper)) in enumerate(self.stops.items()):
            if joint not in held:
                at = self.places[joint][0]
                if np.isfinite(lower):
                    found.append(Event(_distance(at, lower, 1.0), f"lower{n}", -1))
                if np.isfinite(upper):
                    found.append(Event(_distance(at, upper, -1.0), f"upper{n}", -1))
        for n, (joint, sign) in enumerate(mode.slips):
            found.append(Event(self._speed(joint, sign), f"stops{n}", -1))
        if mode.held:
            found.append(Event(lambda t, y: self._margins(mode.held, self._multipliers(t, y, mode)).min(), "free", -1))
        return found

    def _speed(self, joint: str, sign: float) -> Any:
        return lambda t, y: sign * self._velocity(y)[1][self.places[joint][1]]

    def soon(self, mode: Mode, t: float, y: Array) -> float:
        """About how long until a joint comes to a stop, or its slip to an end: exactly so if accelerations stayed.

        Parameters
        ----------
        mode : Mode
            What the joints do.
        t : float
            Time, s.
        y : array (nq + nv,)
            State (q, p), SI units.

        Returns
        -------
        float
            s; infinite if accelerations lead to neither.
        """
        v, a, W = self._acceleration(t, y, mode.slips)
        v = np.where(np.abs(v) <= self._slow(t, y), 0.0, v)
        q, held, times = y[: self.tree.nq], [joint for joint, _, _ in mode.held], [np.inf]
        a = a + W[:, [self.places[joint][1] for joint in held]] @ self._multipliers(t, y, mode)
        for joint, ends in self.stops.items():
            if joint not in held:
                i, j = self.places[joint]
                for stop, n in zip(ends, (1.0, -1.0), strict=True):
                    times.append(_first_zero(n * (q[i] - stop), n * v[j], n * a[j]))
        for joint, sign in mode.slips:
            j = self.places[joint][1]
            if sign * v[j] > 0.0 > sign * a[j]:
                times.append(-v[j] / a[j])
        return float(min(times))

    def after(self, mode: Mode, events: tuple[str, ...], t: float, y: Array) -> Next:
        """The impulse of an impact, and what sticks, rests, slips and flies behind it.

        Parameters
        ----------
        mode : Mode
            What the joints do.
        events : tuple of str
            Names of `events` that have happened.
        t : float
            Time, s.
        y : array (nq + nv,)
            State (q, p), SI units.

        Returns
        -------
        Next
            Mode, state, words, and the energy lost, J.
        """
        q, v = self._velocity(y)
        q, says, lost, slow = q.copy(), [], 0.0, self._slow(t, y)
        for joint, _, x in mode.held:  # closures keep it to rounding
            q[self.places[joint][0]] = x
        before = 0.5 * float(v @ dynamics.mass_matrix(self.tree, q) @ v)
        held = {joint for joint, _, _ in mode.held}
        ends = [(n, joint, which, end) for n, joint in enumerate(self.stops) for end, which in enumerate(_ENDS)]
        waiting, count, goes_on = set(events), 0, bool(events)
        while goes_on and count < MOST_AT_ONCE:  # each may throw the others against their stops again
            goes_on = False
            for n, joint, which, end in ends:
                comes = joint not in held and self._touches(t, q, v, joint, end, slow)
                if comes or f"{which}{n}" in waiting:
                    q[self.places[joint][0]] = self.stops[joint][end]
                    v, words = self._impact(t, q, v, mode, joint, which)
                    says += [words] if count < len(ends) else []
                    goes_on, count = True, count + 1
            waiting.clear()
        if count > len(ends):
            says.append(f"{count} impacts at the same instant")
        if says:
            lost = before - 0.5 * float(v @ dynamics.mass_matrix(self.tree, q) @ v)
        stopped = {joint for n, (joint, _) in enumerate(mode.slips) if f"stops{n}" in events}
        kept = set() if says else {joint for joint, _, _ in mode.held}
        found, y = self._settled(t, q, v, slow, stopped | kept, "free" in events)
        was, now = {(j, how) for j, how, _ in mode.held}, {(j, how) for j, how, _ in found.held}
        says += [f"joint {j!r} {'slips' if how == 'sticks' else 'leaves its ' + how + ' stop'}" for j, how in was - now]
        says += [f"joint {j!r} sticks" for j, how in now - was if how == "sticks"]
        return Next(found, y, "; ".join(says) or "joints slip the other way", lost)

    def _touches(self, t: float, q: Array, v: Array, joint: str, end: int, slow: float) -> bool:
        """Whether a joint comes to a stop at the same time, up to rounding, as where two things fall alike."""
        (i, j), stop, n = self.places[joint], self.stops[joint][end], (1.0, -1.0)[end]
        near = AT_ONCE * (abs(q[i]) + abs(stop) + abs(v[j]) * (self.step + abs(t)))
        return bool(np.isfinite(stop) and n * v[j] < -slow and abs(q[i] - stop) <= near)

    # --- jumps --------------------------------------------------------------------------------------------------------

    def _impact(self, t: float, q: Array, v: Array, mode: Mode, joint: str, which: str) -> tuple[Array, str]:
        """Velocities after the impact of a joint on a stop, and what is said of it."""
        j, n = self.places[joint][1], 1.0 if which == "lower" else -1.0
        speed = -n * v[j]  # of steps that are too long it may be on its way back already
        struck = v if speed <= 0.0 else self._struck(q, v, mode, joint, self.restitution[joint] * speed * n)
        y = np.concatenate([q, dynamics.mass_matrix(self.tree, q) @ struck])
        slips = [(k, s) for k, s in mode.slips if k != joint]
        if joint in self.friction and struck[j] != 0.0:
            slips.append((joint, float(np.sign(struck[j]))))
        a, short = n * self._acceleration(t, y, slips)[1][j], self._short()
        where = f"joint {joint!r} on its {which} stop"
        if a < 0.0 and 2.0 * n * struck[j] < -a * short:
            return self._struck(q, v, mode, joint, 0.0), where.replace(" on", " rests on") + ": impacts accumulate"
        if corner := self._corner(t, q, struck, mode, joint, slips):
            for k, stop in corner.items():
                q[self.places[k][0]] = stop
            words = f"joints {', '.join(map(repr, corner))} rest on their stops: impacts accumulate"
            return self._at_rest(q, struck, [*corner, *(k for k, _, _ in mode.held if k not in corner)]), words
        if speed <= 0.0:
            return struck, where.replace(" on", " touches")
        return struck, f"impact of {where} with {speed:.3g}"

    def _short(self) -> float:
        """The time within which the next impact follows, where a joint rests, s."""
        return SHORTEST * self.step if self.shortest is None else self.shortest

    def _corner(
        self, t: float, q: Array, v: Array, mode: Mode, joint: str, slips: Sequence[tuple[str, float]]
    ) -> dict[str, float]:
        """Joints whose impacts feed each other, with their stops: one that has been struck, and those that come to
        theirs within what is short; none unless they are so slow that their forces would give them that within half of
        it, from rest: with W = E M⁻¹ Eᵀ and a = E v̇, those at rest already held,

            v · W⁻¹ v < (τ/2)² a · W⁻¹ a,      of one joint 2 |v|/|a| < τ, the flight up to the next impact.
        """
        short, near = self._short(), dict[str, float]()
        for k, ends in self.stops.items():
            i, j = self.places[k]
            for stop, n in zip(ends, (1.0, -1.0), strict=True):
                if (k == joint and q[i] == stop) or 0.0 <= n * (q[i] - stop) <= abs(v[j]) * short:
                    near[k] = float(stop)
        if len(near) < 2 or joint not in near:
            return {}
        y = np.concatenate([q, dynamics.mass_matrix(self.tree, q) @ v])
        _, a, W = self._acceleration(t, y, [(k, sign) for k, sign in slips if k not in near])
        held = [self.places[k][1] for k, _, _ in mode.held if k not in near]
        if held:
            by = np.linalg.solve(W[np.ix_(held, held)], W[held]).T
            a, W = a - by @ a[held], W - by @ W[held]
        at = [self.places[k][1] for k in near]
        weighed = np.linalg.solve(W[np.ix_(at, at)], np.stack([v[at], a[at]], axis=1))
        return near if 4.0 * v[at] @ weighed[:, 0] < short**2 * a[at] @ weighed[:, 1] else {}

    def _at_rest(self, q: Array, v: Array, joints: Sequence[str]) -> Array:
        """v + M⁻¹ Eᵀ Λ with these joints at rest, to the last bit where nothing else moves."""
        at = [self.places[joint][1] for joint in joints]
        if not at:
            return v.copy()
        W = self._inverse(q)
        found = v - W[:, at] @ np.linalg.solve(W[np.ix_(at, at)], v[at])
        found[at] = 0.0
        return np.asarray(found)

    def _slow(self, t: float, y: Array) -> float:
        """A speed that is none, beside those of a state and what its forces give in a step where nothing holds them."""
        v, a, _ = self._acceleration(t, y, ())
        return AT_REST * max(float(np.abs(v).max(initial=0.0)), self.step * float(np.abs(a).max(initial=0.0)))

    def _struck(self, q: Array, v: Array, mode: Mode, joint: str, target: float) -> Array:
        """v + M⁻¹ Eᵀ Λ with the target for the joint, and held joints that are pressed kept at rest."""
        W, j = self._inverse(q), self.places[joint][1]
        pressed = [held for held in mode.held if held[0] != joint and held[1] != "sticks"]
        while True:
            at = [j, *(self.places[k][1] for k, _, _ in pressed)]
            aim = np.array([target, *np.zeros(len(pressed))])
            impulse = np.linalg.solve(W[np.ix_(at, at)], aim - v[at])
            pulls = [
                held for held, x in zip(pressed, impulse[1:], strict=True) if (x if held[1] == "lower" else -x) < 0
            ]
            if not pulls:
                return np.asarray(v + W[:, at] @ impulse)
            pressed = [held for held in pressed if held not in pulls]

    def _settled(
        self, t: float, q: Array, v: Array, slow: float, still: Collection[str] = (), frees: bool = False
    ) -> tuple[Mode, Array]:
        """The mode of a state, and the state with held joints at rest: those no faster than `slow`, and those of
        `still`; one has reached the bound of its multiplier if something `frees`.
        """
        held: list[tuple[str, str, float]] = []
        slips: list[tuple[str, float]] = []
        for joint, ends in self.stops.items():
            i, j = self.places[joint]
            for stop, which in zip(ends, _ENDS, strict=True):
                if q[i] == stop and (joint in still or abs(v[j]) <= slow):
                    held.append((joint, which, float(stop)))
        for joint in self.friction:
            i, j = self.places[joint]
            if abs(v[j]) > slow and joint not in still:
                slips.append((joint, float(np.sign(v[j]))))
            elif joint not in {k for k, _, _ in held}:
                held.append((joint, "sticks", float(q[i])))
        v = self._at_rest(q, v, [joint for joint, _, _ in held])
        y = np.concatenate([q, dynamics.mass_matrix(self.tree, q) @ v])
        broken = self._broken(t, y, held, slips, frees)
        slips += [(held[k][0], sign) for k, sign in broken.items() if held[k][0] in self.friction]
        return Mode(tuple(h for k, h in enumerate(held) if k not in broken), tuple(slips)), y

    def _broken(
        self,
        t: float,
        y: Array,
        held: Sequence[tuple[str, str, float]],
        slips: Sequence[tuple[str, float]],
        frees: bool,
    ) -> dict[int, float]:
        """Which of the joints at rest start to move, with the signs of their velocities: where λ of the convex problem
        is at a bound.
        """
        if not held:
            return {}
        from scipy.optimize import lsq_linear  # slow to import

        _, a, W = self._acceleration(t, y, slips)
        at = [self.places[joint][1] for joint, _, _ in held]
        bound = np.array([self.friction.get(joint, 0.0) for joint, _, _ in held])
        low = np.where([how == "upper" for _, how, _ in held], -np.inf, -bound)
        up = np.where([how == "lower" for _, how, _ in held], np.inf, bound)
        up = np.maximum(up, np.nextafter(low, np.inf))  # a friction of nothing
        L = np.linalg.cholesky(W[np.ix_(at, at)])
        solved = lsq_linear(L.T, -np.linalg.solve(L, a[at]), (low, up), method="bvls", tol=1e-14)
        broken = {k: -float(side) for k, side in enumerate(solved.active_mask) if side}
        if frees and not broken:
            left = np.stack([solved.x - low, up - solved.x])
            k = int(np.argmin(left.min(axis=0)))
            broken[k] = 1.0 if left[0, k] < left[1, k] else -1.0
        return broken


def _mapping(given: Any, name: str) -> dict[str, Any]:
    of_kind(given, (Mapping, type(None)), name, "a mapping from names of joints")
    return dict(given or {})


def _is_part(x: float) -> bool:
    return 0.0 <= x <= 1.0


def _held_at(x: float) -> Any:
    return lambda coordinate: coordinate - x


def _distance(at: int, stop: float, sign: float) -> Any:
    return lambda t, y: sign * (y[at] - stop)


def _first_zero(g: float, rate: float, curvature: float) -> float:
    """The first positive time at which g + rate τ + curvature τ²/2 comes down to zero."""
    if not np.isfinite(g) or g == rate == 0.0:
        return np.inf
    g = max(g, 0.0)
    inside = rate * rate - 2.0 * g * curvature
    if inside < 0.0 or (rate >= 0.0 and curvature >= 0.0):
        return np.inf
    if rate < 0.0:  # without a difference: the curvature may be rounding, of either sign
        return float(2.0 * g / (np.sqrt(inside) - rate))
    return float((rate + np.sqrt(inside)) / -curvature)
