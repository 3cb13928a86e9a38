"""The closure equations of a tree with loops at one configuration: φ(q), G(q) with φ̇ = G v, and the bias Ġ v.

Readable reference on NumPy arrays of any scalar type; the kernels of `mechanics.closed_trees.field` follow it row by
row.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from liegroup.arrays import of_kind, sequence
from liegroup.table import angles
from mechanics.algebra.spatial import Array, motion_cross, shift
from mechanics.constraints.coupling_equations import coupling
from mechanics.constraints.given_equations import rates_of_equation, screws_of_equation
from mechanics.constraints.loops import Closure, Equation, JointFreedom
from mechanics.errors import ModelError
from mechanics.model.frames import Frame
from mechanics.model.links import armature_rate
from mechanics.model.tree import Tree

BASE = -1
"""Number of the fixed base among the bodies of an equation."""


class Geometry(NamedTuple):
    """Where the bodies of a tree are and how they depend on its velocities; lists over the bodies."""

    R: list[Array]
    """(3, 3): body → world components."""
    x: list[Array]
    """(3,): body origin, world axes."""
    J: list[Array]
    """(6, nv): V_i = J_i v + drift_i, body axes (the rows of B = T A)."""
    drift: list[Array]
    """(6,): twist of the prescribed motions, body axes."""
    V: list[Array]
    """(6,): twist, body axes."""
    bias: list[Array]
    """(6,): V̇_i at v̇ = 0 and with the rates of prescribed motions frozen, body axes."""
    q: Array
    v: Array

    def mass_matrix(self, tree: Tree) -> Array:
        """M = Σ J_iᵀ M_i J_i + diag(a), (nv, nv), in numbers of any kind: the reference of
        `mechanics.dynamics.mass_matrix`.
        """
        bodies = sum(J.T @ body.inertia.matrix() @ J for J, body in zip(self.J, tree.bodies, strict=True))
        return np.asarray(bodies + np.diag(tree.armature))

    def momentum(self, tree: Tree) -> Array:
        """p = Σ J_iᵀ M_i V_i + a v, (nv,): the reference beside `mechanics.dynamics.momentum`."""
        bodies = sum(J.T @ (b.inertia.matrix() @ V) for J, V, b in zip(self.J, self.V, tree.bodies, strict=True))
        return np.asarray(bodies + tree.armature * self.v)

    def forces(self, tree: Tree) -> Array:
        """f of M(q) v̇ = f, (nv,): Σ J_iᵀ (weight − V_i ×* M_i V_i − M_i bias_i) and what turns armature, force
        elements apart.
        """
        each = enumerate(tree.bodies)
        f = np.concatenate([armature_rate(b, self.q[tree.q_slice(i)], self.v[tree.v_slice(i)]) for i, b in each])
        for J, V, bias, R, body in zip(self.J, self.V, self.bias, self.R, tree.bodies, strict=True):
            M, weight = body.inertia.matrix(), body.inertia.mass * (R.T @ tree.gravity)
            l, k = np.split(M @ V, 2)
            gyro = np.concatenate([np.cross(V[3:], l), np.cross(V[:3], l) + np.cross(V[3:], k)])
            f += J.T @ (np.concatenate([weight, np.cross(body.inertia.com, weight)]) - gyro - M @ bias)
        return f


def geometry(tree: Tree, q: Any, v: Any = None, t: Any = 0.0) -> Geometry:
    """Poses, Jacobians, twists and bias accelerations of all bodies at (q, v, t); v default zero."""
    s = np.zeros(tree.nv) if v is None else np.asarray(v)
    R, x, J, drift, V, bias, _, _ = found = Geometry([], [], [], [], [], [], np.asarray(q), s)
    for i, body in enumerate(tree.bodies):
        k = tree.parents[i]
        place, origin = np.asarray(body.rotation), np.asarray(body.position)
        columns = slice(int(tree.v_offsets[i]), int(tree.v_offsets[i + 1]))
        state = body.joint.state(q[tree.q_offsets[i] : tree.q_offsets[i + 1]], s[columns], t)
        G, rho = state.G @ place.T, origin + place @ state.rho
        C, still = shift(G, rho), np.zeros(6)
        parent = (
            (np.eye(3), np.zeros(3), np.zeros((6, tree.nv)), still, still, still)
            if k < 0
            else [field[k] for field in found[:6]]
        )
        R_k, x_k, J_k, drift_k, V_k, bias_k = parent
        own = C @ J_k
        own[:, columns] = own[:, columns] + state.A
        R.append(R_k @ G.T)
        x.append(x_k + R_k @ rho)
        J.append(own)
        drift.append(C @ drift_k + state.drift)
        if v is None and not (V_k.any() or state.drift.any()):  # at rest
            V.append(still)
            bias.append(still)
            continue
        turn = state.A @ s[columns] + state.drift
        V.append(C @ V_k + turn)
        bias.append(C @ bias_k + state.A_dot @ s[columns] - motion_cross(turn) @ (C @ V_k))
    return found


class LoopEquations:
    """All equations of the closures of a tree.

    Parameters
    ----------
    tree : Tree
    closures : iterable of Closure
        Kept in their order, but those that couple joints (`mechanics.constraints.couplings`) after the others.

    Attributes
    ----------
    equations : tuple of Equation
    bodies : int64 array (m, 2)
        First and second body of every equation; −1 is the base (and both of equations that couple joints).
    joints : tuple
        Places in q and in v of the joints that an equation couples.
    closure_of : int64 array (m,)
        Number of the closure of every equation.
    names : tuple of str
        "closure: what the equation holds", one per equation.

    Raises
    ------
    ModelError
        A closure names a body or joint the tree does not have or that cannot serve, or two closures have the same name.

    Examples
    --------
    >>> from mechanics.systems import SYSTEMS
    >>> loops = SYSTEMS["four-bar"].mechanism().equations
    >>> len(loops), loops.matrix(loops.tree.neutral()).shape
    (5, (5, 3))
    """

    def __init__(self, tree: Tree, closures: Iterable[Closure]) -> None:
        of_kind(tree, Tree, "tree", "a Tree")
        closures = sequence(closures, "closures", "closures, such as revolute(first, second)")
        for closure in closures:
            of_kind(closure, Closure, "closures", "closures, such as revolute(first, second)")
        self.tree, self.closures = tree, tuple(sorted(closures, key=lambda c: c.couples))
        names = [c.name for c in self.closures]
        for name in names:
            if names.count(name) > 1:
                raise ModelError(
                    f"closure {name!r}", "there are two closures of this name", "give every one its own name"
                )
        self._latest: tuple[Any, Geometry | None] = None, None
        self.equations: tuple[Equation, ...] = tuple(equation for c in self.closures for equation in c.equations)
        self.closure_of = np.array([k for k, c in enumerate(self.closures) for _ in c.equations], dtype=np.int64)
        self.bodies = np.array([self._bodies(c) for c in self.closures for _ in c.equations], dtype=np.int64).reshape(
            -1, 2
        )
        self.joints = tuple(
            tuple(freedom_of(tree, f"closure {c.name!r}", "couples", j) for j in equation.joints)
            for c in self.closures
            for equation in c.equations
        )
        self.names = tuple(f"{c.name}: {equation.label}" for c in self.closures for equation in c.equations)
        for c, equation in enumerate(self.equations):
            if equation.joints:
                self._check_turns(c)

    def _bodies(self, closure: Closure) -> tuple[int, int]:
        def number(frame: Frame) -> int:
            if frame.body is None:
                return BASE
            if frame.body not in self.tree.body_names:
                known = ", ".join(self.tree.body_names[:12])
                raise ModelError(
                    f"closure {closure.name!r}",
                    f"joins an unknown body {frame.body!r}",
                    f"name one of {known}, or None",
                )
            return self.tree.body_index(frame.body)

        return number(closure.first), number(closure.second)

    def _check_turns(self, c: int) -> None:
        """ModelError if equation c changes over a whole turn of a joint whose turns do not count."""
        circles = set(angles(self.tree.group.table).tolist())
        samples, still = (
            np.random.default_rng(0).uniform(-1.0, 1.0, (3, len(self.joints[c]))),
            np.zeros(len(self.joints[c])),
        )
        for j, (q, _) in enumerate(self.joints[c]):
            turn = 2.0 * np.pi * (np.arange(len(still)) == j)
            pairs = [[coupling(self.equations[c], x, still)[0] for x in (sample, sample + turn)] for sample in samples]
            if q in circles and not all(np.isclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True) for a, b in pairs):
                closure, joint = self.closures[self.closure_of[c]], self.equations[c].joints[j]
                what = f"changes over a whole turn of joint {joint!r}, and turns do not count on a circle"
                raise ModelError(f"closure {closure.name!r}", what, "make the joint Revolute")

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_latest": (None, None)}

    def __len__(self) -> int:
        """Number of equations."""
        return len(self.equations)

    def _poses(self, g: Geometry, c: int) -> list[Any]:
        return [
            z for i in self.bodies[c] for z in ((np.eye(3).ravel(), np.zeros(3)) if i < 0 else (g.R[i].ravel(), g.x[i]))
        ]

    def at(self, q: Any, t: Any = 0.0) -> Geometry:
        """What `geometry` finds at rest; that of the configuration asked last is kept, as gaps, their derivative and
        the mass matrix ask for the same.

        Parameters
        ----------
        q : array (nq,)
            Configuration, rad and m, in numbers of any kind.
        t : float
            Time, s.

        Returns
        -------
        Geometry
            Poses, Jacobians, drifts; to be read only.
        """
        if not (isinstance(q, np.ndarray) and q.dtype == np.float64):
            return geometry(self.tree, q, None, t)
        key, (latest, found) = (q.tobytes(), t), self._latest
        if found is None or key != latest:
            found = geometry(self.tree, q.copy(), None, t)
            self._latest = key, found
        return found

    def gap(self, q: Any, t: Any = 0.0, at: Geometry | None = None) -> Array:
        """φ (m,): metres for equations of shifts and distances, cosines for equations of turns.

        Parameters
        ----------
        q : array (nq,)
            Configuration, rad and m, in numbers of any kind.
        t : float
            Time, s.
        at : Geometry, optional
            What `geometry` found there, instead of q and t.

        Returns
        -------
        array (m,)
            φ.
        """
        g = at or self.at(q, t)
        return np.array(
            [self._coupling(g, c)[0] if r.joints else self._screws(g, c)[0] for c, r in enumerate(self.equations)]
        )

    def matrix(self, q: Any, t: Any = 0.0, at: Geometry | None = None) -> Array:
        """G (m, nv): φ̇ = G v for motions without drift.

        Parameters
        ----------
        q : array (nq,)
            Configuration, rad and m, in numbers of any kind.
        t : float
            Time, s.
        at : Geometry, optional
            What `geometry` found there, instead of q and t.

        Returns
        -------
        array (m, nv)
            G.
        """
        g = at or self.at(q, t)
        G = np.zeros((len(self), self.tree.nv), np.result_type(g.q, *g.J))  # J of what does not move is real
        for c, r in enumerate(self.equations):
            if r.joints:
                G[c, [v for _, v in self.joints[c]]] = self._coupling(g, c)[1]
                continue
            for i, W in zip(self.bodies[c], self._screws(g, c)[1:], strict=True):
                if i >= 0:
                    G[c] = G[c] + np.array(W) @ g.J[i]
        return G

    def rate(self, at: Geometry) -> Array:
        """φ̇ (m,) of the geometry's twists (drift included).

        Parameters
        ----------
        at : Geometry
            Of a configuration and velocities.

        Returns
        -------
        array (m,)
            φ̇, m/s and 1/s.
        """
        rates = self._along(at, at.V)
        for c, r in enumerate(self.equations):
            if r.joints:
                rates[c] = sum(g * at.v[v] for g, (_, v) in zip(self._coupling(at, c)[1], self.joints[c], strict=True))
        return np.array(rates)

    def drift(self, at: Geometry) -> Array:
        """φ_t (m,): φ̇ at v = 0.

        Parameters
        ----------
        at : Geometry
            Of a configuration and velocities.

        Returns
        -------
        array (m,)
            φ_t, m/s and 1/s.
        """
        return np.array(self._along(at, at.drift))

    def _screws(self, at: Geometry, c: int) -> tuple[Any, Any, Any]:
        """φ, W_i, W_j of equation c."""
        try:
            phi, first, second = screws_of_equation(self.equations[c], *self._poses(at, c))
        except ZeroDivisionError:
            raise ModelError(
                f"closure {self.closures[self.closure_of[c]].name!r}",
                "has no direction in this position: its points coincide, or its axis is the normal of the plane",
                "give another position (home, or the guess of Mechanism.assembled), or other frames",
            ) from None
        return phi, first, second

    def _coupling(self, at: Geometry, c: int) -> tuple[Any, list[Any], list[Any]]:
        """φ, g, ġ of equation c, which couples joints."""
        q, v = (np.array([x[place[k]] for place in self.joints[c]]) for k, x in enumerate((at.q, at.v)))
        return coupling(self.equations[c], q, v)

    def _along(self, at: Geometry, twists: list[Array]) -> list[Any]:
        """W_i·twist_i + W_j·twist_j of every equation, zero of those that couple joints."""
        values = []
        for c, r in enumerate(self.equations):
            screws = () if r.joints else zip(self.bodies[c], self._screws(at, c)[1:], strict=True)
            values.append(sum((np.array(W) @ twists[i] for i, W in screws if i >= 0), 0.0))
        return values

    def rate_screws(self, at: Geometry, c: int) -> list[Array]:
        """N_i, N_j of equation c: the rates of its screws, seen from space, in body axes.

        Parameters
        ----------
        at : Geometry
            Of a configuration and velocities.
        c : int
            Number of the equation.

        Returns
        -------
        list of array (6,)
            N_i and N_j, on the first and the second body.
        """
        r = self.equations[c]
        twists = [
            z for i in self.bodies[c] for z in ((np.zeros(3), np.zeros(3)) if i < 0 else (at.V[i][:3], at.V[i][3:]))
        ]
        return [np.array(N) for N in rates_of_equation(r, *self._poses(at, c), *twists)]

    def bias(self, at: Geometry) -> Array:
        """φ̈ (m,) at v̇ = 0 (Ġ v for motions without drift).

        Parameters
        ----------
        at : Geometry
            Of a configuration and velocities.

        Returns
        -------
        array (m,)
            m/s² and 1/s².
        """
        values = self._along(at, at.bias)
        for c, r in enumerate(self.equations):
            if r.joints:
                terms = [x * at.v[v] for x, (_, v) in zip(self._coupling(at, c)[2], self.joints[c], strict=True)]
            else:
                terms = [N @ at.V[i] for i, N in zip(self.bodies[c], self.rate_screws(at, c), strict=True) if i >= 0]
            values[c] = values[c] + sum(terms, 0.0)
        return np.array(values)


def freedom_of(tree: Tree, where: str, acts: str, place: JointFreedom) -> tuple[int, int]:
    """Where q and v have the freedom of a joint that something (`where`) couples or acts on."""
    name, number = place if isinstance(place, tuple) else (place, None)
    if name not in tree.joint_names:
        known = f"name one of {', '.join(tree.joint_names[:12])}"
        if name not in [body.joint_name for body in tree.bodies]:
            raise ModelError(where, f"{acts} an unknown joint {name!r}", known)
        if not tree.joint(name).is_rheonomic:
            raise ModelError(where, f"{acts} joint {name!r}, which is fixed", known)
        remedy = "give what follows it a Motion too, or leave the joint free and drive it by a servo"
        raise ModelError(where, f"{acts} joint {name!r}, which moves as told and has no coordinate", remedy)
    q, v, joint, found = tree.q_slice(name).start, tree.v_slice(name).start, tree.joint(name), {}
    for element in joint.elements:
        if element.n_v == 1:
            found[v - tree.v_slice(name).start] = q, v
        q, v = q + element.n_q, v + element.n_v
    if number is None and joint.n_v == 1:
        number = 0
    if number not in found:
        what = f"joint {name!r}" if number is None else f"freedom {number} of joint {name!r}"
        known = (
            f"give ({name!r}, k) with k one of {', '.join(map(str, found))}"
            if found
            else "couple turns, slides or screws, or act on them"
        )
        raise ModelError(where, f"{acts} {what}, which is {joint.kind} with {joint.n_v} degrees of freedom", known)
    return found[number]
