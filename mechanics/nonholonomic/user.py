"""A nonholonomic system from plain Python functions of your own: kinetic metric, constraint rows, potential, forces.

Derivatives (gradients, rates of M and A) come from complex steps through your functions, so they are exact; write the
functions with NumPy operations that accept complex numbers (no ``abs``, no ``np.linalg.norm``).  Everything runs
interpreted: for long runs write the parts as kernels (any file in `mechanics.systems` is an example).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Variable
from integrators.problem.parts import constrained
from mechanics.nonholonomic.flat import bracket_transpose, coordinate_rate
from mechanics.nonholonomic.forms import Forms
from mechanics.nonholonomic.system import ConstraintError, NonholonomicSystem

Array = NDArray[Any]
EPS = 1e-100
"""Complex step."""


def nonholonomic_system(
    group: Any,
    mass: Callable[[Array], ArrayLike],
    rows: Callable[[Array], ArrayLike],
    q0: ArrayLike,
    v0: ArrayLike,
    *,
    potential: Callable[[Array], Any] | None = None,
    force: Callable[[float, Array, Array], ArrayLike] | None = None,
    value: Callable[[Any, Array], ArrayLike] | None = None,
    position: Callable[[Array], ArrayLike] | None = None,
    model: str = "own-system",
) -> NonholonomicSystem:
    """The system with kinetic energy ½ vᵀM(q) v, rows A(q) v = c(t, q), potential V(q) and forces F(t, q, v).

    Parameters
    ----------
    group : object with an attribute ``table``, or int64 array (factors, 5)
        The configuration group.
    mass, rows : callable
        ``mass(q)`` → (n, n), ``rows(q)`` → (m, n), in body velocities.
    q0, v0 : array
        The start; v0 must satisfy the constraints.
    potential, force, value : callable, optional
        V(q); F(t, q, v) → (n,); c(t, q) → (m,).
    position : callable, optional
        φ(q) → (k,), zero where the integrable constraints hold; the last k rows must be its rate.

    Raises
    ------
    ConstraintError
        If v0 violates the constraints, φ(q0) ≠ 0, or the rows depend on each other at q0.
    """
    table = np.array(getattr(group, "table", group), dtype=np.int64)
    n = int(table[:, 4].sum())
    q0, v0 = np.array(q0, dtype=np.float64), np.array(v0, dtype=np.float64)
    a0 = np.atleast_2d(np.asarray(rows(q0), dtype=np.float64))
    m = len(a0)
    if a0.shape != (m, n):
        raise ValueError(f"rows: returned an array of shape {a0.shape}, expected (m, {n})")
    k = 0 if position is None else len(np.atleast_1d(position(q0)))
    functions = _Functions(table, n, m, k, mass, rows, potential, force, value, position)
    dependent = _pivots(a0, model)
    free = [i for i in range(n) if i not in dependent]
    labels = tuple(f"v{i}" for i in range(n))
    system = NonholonomicSystem(
        model=model,
        group=table,
        variables=(Variable("q", tuple(f"q{i}" for i in range(len(q0)))),),
        velocities=Variable("v", labels),
        quasi_velocities=Variable("u", tuple(labels[i] for i in free), description="independent components of v"),
        reduced=Forms(functions.reduced_field(dependent, free), functions.reduced_energy(dependent, free)),
        constrained=Forms(functions.constrained_field, functions.energy, functions.parts),
        parameters=[],
        q0=q0,
        u0=v0[free],
        positions=k,
        lift=lambda q, u: functions.lift(0.0, q, u, dependent, free),
    )
    system.check(q0, v0)
    return system


def _pivots(a: NDArray[np.float64], model: str) -> list[int]:
    """Columns whose velocities are expressed by the others: the largest pivots of a."""
    work, chosen = a.copy(), list[int]()
    scale = np.abs(a).max()
    for row in range(len(a)):
        free = [j for j in range(a.shape[1]) if j not in chosen]
        j = max(free, key=lambda c: np.abs(work[row:, c]).max())
        i = row + int(np.abs(work[row:, j]).argmax())
        if not abs(work[i, j]) > 1e-10 * scale:
            raise ConstraintError(f"{model}: constraint row {row} depends on the others at the start; leave it out")
        work[[row, i]] = work[[i, row]]
        work[row + 1 :] -= np.outer(work[row + 1 :, j] / work[row, j], work[row])
        chosen.append(j)
    return sorted(chosen)


def _imaginary(x: Any) -> Array:
    return np.asarray(np.imag(np.asarray(x)) / EPS)


def _eliminate(a: Array, b: Array) -> Array:
    """x with a x = b on numbers of any kind, by elimination with the largest pivot in each column."""
    work = np.concatenate([a, np.reshape(b, (-1, 1))], axis=1)
    m = len(work)
    for j in range(m):
        i = j + max(range(m - j), key=lambda r: abs(work[j + r, j]))
        work[[j, i]] = work[[i, j]]
        work[j] = work[j] / work[j, j]
        for r in range(m):
            if r != j:
                work[r] = work[r] - work[r, j] * work[j]
    return np.asarray(work[:, m])


class _Functions:
    """The user's functions brought to the engine's forms."""

    def __init__(
        self,
        table: NDArray[np.int64],
        n: int,
        m: int,
        k: int,
        mass: Any,
        rows: Any,
        potential: Any,
        force: Any,
        value: Any,
        position: Any,
    ) -> None:
        self.table, self.n, self.m, self.k = table, n, m, k
        self._mass, self._rows = mass, rows
        self.potential = potential or (lambda q: 0.0)
        self.force = force or (lambda t, q, v: np.zeros(n))
        self.value = value or (lambda t, q: np.zeros(m))
        self.position = position or (lambda q: np.zeros(k))

    def mass(self, q: Array) -> Array:
        return np.asarray(self._mass(q))

    def rows(self, q: Array) -> Array:
        return np.atleast_2d(np.asarray(self._rows(q)))

    def all_parts(self, t: float, q: Array, v: Array) -> dict[str, Any]:
        """The blocks of the layout `Constrained`, by name."""
        mass, rows = self.mass(q), self.rows(q)
        moved = [q + 1j * EPS * coordinate_rate(self.table, q, e) for e in np.eye(self.n)]
        along = q + 1j * EPS * coordinate_rate(self.table, q, v)
        later = _imaginary(self.value(t + 1j * EPS, along))
        return {
            "MASS": mass, "ROWS": rows, "POTENTIAL": self.potential(q), "POSITION": self.position(q),
            "VALUE": self.value(t, q),
            "FORCE": self.force(t, q, v),
            "GRADIENT": np.array([_imaginary(self.potential(x)) for x in moved]),
            "KINETIC": np.array([0.5 * v @ _imaginary(self.mass(x)) @ v for x in moved]),
            "RATE": _imaginary(self.mass(along)) @ v - bracket_transpose(self.table, v, mass @ v),
            "BIAS": _imaginary(self.rows(along)) @ v - later,
        }  # fmt: skip

    def parts(self, t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        """In the field's signature, for a state (q, v)."""
        at = constrained(self.n, self.m, self.k)
        for name, block in self.all_parts(t, y[: -self.n], y[-self.n :]).items():
            values = np.ravel(block)
            start = getattr(at, name)
            out[start : start + len(values)] = values

    def solve(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """v̇ and λ."""
        p = self.all_parts(t, q, v)
        right = np.concatenate([p["FORCE"] - p["GRADIENT"] + p["KINETIC"] - p["RATE"], -p["BIAS"]])
        matrix = np.block([[p["MASS"], -p["ROWS"].T], [p["ROWS"], np.zeros((self.m, self.m))]])
        x = np.linalg.solve(matrix, right)
        return x[: self.n], x[self.n :]

    def constrained_field(self, t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        q, v = y[: -self.n], y[-self.n :]
        out[: self.n], out[self.n :] = v, self.solve(t, q, v)[0]

    def energy(self, t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        q, v = y[: -self.n], y[-self.n :]
        out[0] = 0.5 * v @ self.mass(q) @ v + self.potential(q)

    def lift(self, t: float, q: Array, u: Array, dependent: list[int], free: list[int]) -> Array:
        """v with the free components u that satisfies the rows."""
        a = self.rows(q)
        v = np.zeros(self.n, dtype=np.result_type(a, u))
        v[free] = u
        v[dependent] = _eliminate(a[:, dependent], self.value(t, q) - a[:, free] @ u)
        return v

    def reduced_field(self, dependent: list[int], free: list[int]) -> Callable[..., None]:
        """The field on (q, u): u are the components `free` of v."""

        def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
            q, u = y[: -len(free)], y[-len(free) :]
            v = self.lift(t, q, u, dependent, free)
            out[: self.n], out[self.n :] = v, self.solve(t, q, v)[0][free]

        return field

    def reduced_energy(self, dependent: list[int], free: list[int]) -> Callable[..., None]:
        def energy(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
            q, u = y[: -len(free)], y[-len(free) :]
            self.energy(t, np.concatenate([q, self.lift(t, q, u, dependent, free)]), parameters, structure, work, out)

        return energy
