"""What the drives of the prescribed motions of a mechanism do at one state.

They are let go, as in `mechanics.drives`: the forces that keep them on their way are those of inverse
dynamics less what elements and closures do along them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind, real
from mechanics import dynamics
from mechanics.constraints.equations import LoopEquations
from mechanics.derivatives import generalised_forces
from mechanics.drives import released
from mechanics.forces import OnBodies, OnEquation, OnScrew
from mechanics.formulations.reactions import acceleration, reactions, with_held_inputs
from mechanics.mechanism import Mechanism

Array = NDArray[np.float64]


def driving_forces(
    mechanism: Mechanism, q: ArrayLike | None = None, v: ArrayLike | None = None, t: float = 0.0, u: Any = None
) -> tuple[dict[str, float], dict[str, float]]:
    """Force f and power f ẋ of every prescribed motion x(t) of a mechanism, with its closures and force elements.

    The balance of energy is

        d(T + V + ΣU)/dt = Σ powers of drives + Σ powers of elements − damping,

    with U and powers of the elements from `mechanics.element_accounts`.

    Parameters
    ----------
    mechanism : Mechanism
        With loops, couplings, wheels or none.
    q : array (nq,), optional
        Configuration, rad and m, closed at time t; default that of `Mechanism.start`.
    v : array (nv,), optional
        Velocities, rad/s and m/s, that keep it closed; default those of `Mechanism.start`.
    t : float
        Time, s.
    u : array (m,), or mapping of str to float, optional
        Inputs of the mechanism's problem at that time; default 0.

    Returns
    -------
    forces, powers : dict of str to float
        N or N·m, and W, by the name of the joint; of a joint of several elements with the number of the one that is
        moved, "joint.0".

    Raises
    ------
    ModelError
        q is open at that time, or v opens the loops.
    TypeError, ValueError
        What is no Mechanism, a time at which a motion is not known, inputs that are no numbers.

    Notes
    -----
    Some milliseconds: the interpreted formulas, at one state.

    Examples
    --------
    A load on a lift at 0.5 m/s, which a spring pulls up:

    >>> from mechanics import Body, Frame, Inertia, Tree
    >>> from mechanics.forces import spring_damper
    >>> from mechanics.joints import Motion, Rheonomic, Slide
    >>> lift = Rheonomic((Slide((0.0, 0.0, 1.0), Motion((0.0, 0.5))),))
    >>> tree = Tree([Body("load", lift, inertia=Inertia.point(2.0))])
    >>> rope = spring_damper(Frame("load"), Frame(None, (0.0, 0.0, 3.0)), 10.0, length=1.0)
    >>> forces, powers = driving_forces(Mechanism(tree, elements=[rope]))
    >>> {name: round(f, 9) for name, f in forces.items()}
    {'load_joint': -0.38}
    """
    of_kind(mechanism, Mechanism, "mechanism", "a Mechanism; of a Tree: mechanics.drive_forces")
    now, held = real(t, "t"), with_held_inputs(mechanism, u)
    q0, v0 = mechanism.start(q, v, None, now)
    at = released(held.tree, q0, v0, acceleration(held, q0, v0, now), now)
    force = dynamics.inverse_dynamics(at.tree, at.q, at.v, at.a)
    acting = [e for e in held.elements if isinstance(e, OnBodies | OnEquation | OnScrew)]
    if acting:  # others, and couplings, act along coordinates that are not prescribed
        force = force - generalised_forces(Mechanism(at.tree, (), at.q, [acting]), at.q, at.v, now).force
    loops = LoopEquations(at.tree, [c for c in held.equations.closures if not c.equations[0].joints])
    if len(loops):
        closing = reactions(held, q0, v0, now)
        force = force - loops.matrix(at.q, now).T @ [closing[name] for name in loops.names]
    f, powers = force[at.driven].tolist(), (force * at.v)[at.driven].tolist()
    return dict(zip(at.names, f, strict=True)), dict(zip(at.names, powers, strict=True))
