"""Exudyn's rolling-disc joint on the benchmark disk: errors and costs of its implicit solvers with constraints of index
2.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

SOLVERS = {"generalized alpha": ("GeneralizedAlpha", True), "index-3 generalized alpha": ("GeneralizedAlpha", False)}


def available() -> bool:
    try:
        import exudyn  # noqa: F401
    except ImportError:
        return False
    return True


def solve(solver: str, step: float, horizon: float, system: Any) -> tuple[np.ndarray[Any, Any], float]:
    """Position of the centre at the end, and seconds of the solver alone.

    Opponent at its best: no files, no output, modified Newton, one thread.  `system` is a `tilting_disk`.
    """
    import exudyn as exu
    from exudyn.utilities import MarkerBodyRigid, ObjectJointRollingDisc, RigidBodyInertia

    from liegroup.rotations import matrix_from_quaternion_wxyz

    mass, radius, gravity = system.parameters[0], system.parameters[7], system.parameters[13]
    q, v = system.q0, system.velocity(system.q0, system.u0)
    R = np.asarray(matrix_from_quaternion_wxyz(q[3:7]))
    kind, index_2 = SOLVERS[solver]
    mbs = exu.SystemContainer().AddSystem()
    body = mbs.CreateRigidBody(
        referencePosition=list(q[:3]), referenceRotationMatrix=R, initialVelocity=list(R @ v[:3]),
        initialAngularVelocity=list(R @ v[3:]),
        inertia=RigidBodyInertia(mass, np.diag(system.parameters[1:4])), gravity=[0.0, 0.0, -gravity],
    )  # fmt: skip
    markers = [
        mbs.AddMarker(MarkerBodyRigid(bodyNumber=b, localPosition=[0, 0, 0])) for b in (mbs.CreateGround(), body)
    ]
    disc = {"discRadius": radius, "discAxis": [0, 0, 1], "planeNormal": [0, 0, 1]}
    mbs.AddObject(ObjectJointRollingDisc(markerNumbers=markers, constrainedAxes=[1, 1, 1], **disc))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        settings.solutionSettings.writeSolutionToFile = False
    settings.timeIntegration.endTime, settings.timeIntegration.numberOfSteps = horizon, round(horizon / step)
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.generalizedAlpha.useIndex2Constraints = index_2
    settings.timeIntegration.generalizedAlpha.useNewmark = index_2
    settings.timeIntegration.newton.useModifiedNewton = True
    started = time.process_time()
    mbs.SolveDynamic(settings, solverType=getattr(exu.DynamicSolverType, kind))
    seconds = time.process_time() - started
    return np.array(mbs.GetObjectOutputBody(body, exu.OutputVariableType.Position, [0, 0, 0])), seconds
