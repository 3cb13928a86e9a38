"""Trees with springs in Exudyn: its kinematic tree in minimal coordinates, solved by its implicit and explicit solvers.

Springs and dampers of joints are the joint's own in Exudyn (its P and D control), so that nothing goes through
connectors or Python; between points they are its spring-dampers.
"""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import numpy as np

from mechanics.forces.compliant import Compliant
from mechanics.forces.joint_spring import JointSpring
from mechanics.joints import Continuous, Prismatic, Revolute
from mechanics.mechanism import Mechanism

SOLVERS = {"generalised-α": 0.9, "Newmark": 1.0}
"""Name → spectral radius at infinity; one is the average constant acceleration, which damps nothing."""
AXES = "XYZ"


class Run(NamedTuple):
    """Seconds of the solver alone, and the last state; NaN where it has given up."""

    seconds: float
    q: Any
    v: Any


def available() -> bool:
    try:
        import exudyn  # noqa: F401
    except ImportError:
        return False
    return True


def _tree(mbs: Any, mechanism: Mechanism, q: Any, v: Any) -> tuple[int, int]:
    """Its node and its object, with the springs of joints."""
    import exudyn as exu
    from exudyn.itemInterface import NodeGenericODE2, ObjectKinematicTree

    tree = mechanism.tree
    n, names = tree.nv, [body.name for body in tree.bodies]
    node = mbs.AddNode(
        NodeGenericODE2(
            referenceCoordinates=np.zeros(n), initialCoordinates=q, initialCoordinates_t=v, numberOfODE2Coordinates=n
        )
    )
    kinds, stiffness, damping, rest = [], np.zeros(n), np.zeros(n), np.zeros(n)
    for body in tree.bodies:
        single = isinstance(body.joint, Revolute | Continuous | Prismatic) and max(body.joint.axis) == 1.0
        if not single or not np.array_equal(body.rotation, np.eye(3)):
            raise ValueError(f"joint of {body.name!r}: {body.joint}; expected one about or along an axis of its parent")
        of = "Prismatic" if isinstance(body.joint, Prismatic) else "Revolute"
        kinds.append(getattr(exu.JointType, of + AXES[int(np.argmax(body.joint.axis))]))
    for element in mechanism.elements:
        if isinstance(element, JointSpring):
            k = [body.joint_name for body in tree.bodies].index(str(element.joint))
            stiffness[k], damping[k], rest[k] = element.stiffness, element.damping, element.rest
    parents = [names.index(body.parent) if body.parent else -1 for body in tree.bodies]
    placed = mbs.AddObject(
        ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=kinds,
            linkParents=parents,
            jointTransformations=exu.Matrix3DList([np.eye(3)] * n),
            jointOffsets=exu.Vector3DList([list(body.position) for body in tree.bodies]),
            linkInertiasCOM=exu.Matrix3DList([body.inertia.tensor_about_com for body in tree.bodies]),
            linkCOMs=exu.Vector3DList([list(body.inertia.com) for body in tree.bodies]),
            linkMasses=[body.inertia.mass for body in tree.bodies],
            gravity=list(tree.gravity),
            jointPControlVector=stiffness,
            jointDControlVector=damping,
            jointPositionOffsetVector=rest,
            jointVelocityOffsetVector=np.zeros(n),
        )
    )
    return node, placed


def _struts(mbs: Any, mechanism: Mechanism, placed: int) -> None:
    """Springs between points."""
    from exudyn.itemInterface import MarkerKinematicTreeRigid, ObjectConnectorSpringDamper

    names = [body.name for body in mechanism.tree.bodies]
    for element in mechanism.elements:
        if isinstance(element, Compliant):
            ends = ((element.first, element.equation.p), (element.second, element.equation.q))
            markers = [
                mbs.AddMarker(
                    MarkerKinematicTreeRigid(
                        objectNumber=placed, linkNumber=names.index(str(name)), localPosition=list(place)
                    )
                )
                for name, place in ends
            ]
            mbs.AddObject(
                ObjectConnectorSpringDamper(
                    markerNumbers=markers,
                    referenceLength=element.equation.length,
                    stiffness=element.stiffness,
                    damping=element.damping,
                )
            )
        elif not isinstance(element, JointSpring):
            raise ValueError(f"{element}: expected springs of joints or between points")


def solve(mechanism: Mechanism, solver: str, step: float, horizon: float) -> Run:
    """One run from the start of a mechanism without closures, its joints about or along coordinate axes.

    Opponent at its best: no files, no output, modified Newton, one thread, tolerances of Newton's method below the
    errors of the steps.
    """
    import exudyn as exu

    q, v = mechanism.start(None, None, None)
    exu.SetWriteToConsole(False)
    mbs = exu.SystemContainer().AddSystem()
    node, placed = _tree(mbs, mechanism, q, v)
    _struts(mbs, mechanism, placed)
    mbs.Assemble()
    settings = exu.SimulationSettings()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        settings.solutionSettings.writeSolutionToFile = False
    timing = settings.timeIntegration
    timing.endTime, timing.numberOfSteps, timing.verboseMode = horizon, round(horizon / step), 0
    timing.adaptiveStep = False
    timing.generalizedAlpha.spectralRadius = SOLVERS[solver]
    timing.newton.useModifiedNewton = True
    timing.newton.relativeTolerance, timing.newton.absoluteTolerance = 1e-10, 1e-12
    started = time.process_time()
    try:
        mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.GeneralizedAlpha)
    except Exception:  # it raises nothing more special where Newton's method fails
        return Run(time.process_time() - started, np.full(len(q), np.nan), np.full(len(v), np.nan))
    seconds = time.process_time() - started
    kinds = exu.OutputVariableType
    return Run(
        seconds,
        np.array(mbs.GetNodeOutput(node, kinds.Coordinates)),
        np.array(mbs.GetNodeOutput(node, kinds.Coordinates_t)),
    )
