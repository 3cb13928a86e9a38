"""`pydy.system.System` runs on our solvers."""

import numpy as np
import pytest
import sympy
from sympy.physics.mechanics import KanesMethod, Particle, Point, ReferenceFrame, dynamicsymbols

import mechanics
from integrators import integrate
from integrators.adapters.scipy import odeint


def test_a_system_of_pydy_takes_our_solver():
    System = pytest.importorskip("pydy.system").System
    q, u = dynamicsymbols("q u")
    m, g, r = sympy.symbols("m g r")
    N = ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    O = Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", r * A.x)
    P.v2pt_theory(O, N, A)
    kane = KanesMethod(N, q_ind=[q], u_ind=[u], kd_eqs=[q.diff() - u])
    kane.kanes_equations([Particle("bob", P, m)], [(P, m * g * N.x)])
    values, start, times = {m: 1.0, g: 9.81, r: 0.5}, {q: 1.0, u: 0.0}, np.linspace(0.0, 2.0, 21)
    theirs = System(kane, constants=values, initial_conditions=start, times=times, ode_solver=odeint).integrate()
    ours = integrate(mechanics.from_kanes_method(kane, values, start), "GAUSS8", (0.0, 2.0), 0.05, save_every=2)
    assert np.abs(theirs - ours.y).max() < 1e-8
