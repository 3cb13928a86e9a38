"""The mechanisms of the study: robots from their files, and chains and tops of any size by name."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

import mechanics
from mechanics import Body, Inertia, ModelError, Tree
from mechanics.joints import Free, Joint, Prismatic, Revolute, Spherical

Array = NDArray[np.float64]
LINK = Inertia.about_com(
    1.0, (0.02, 0.03, 0.15), [[0.02, 0.001, 0.002], [0.001, 0.025, 0.0015], [0.002, 0.0015, 0.015]]
)
OFFSET = (0.1, 0.05, 0.3)
GENERATED = re.compile(r"(chain|ball-chain|floating-chain)-(\d+)")


def tree_of(model: str, lock_slides: bool = True, hang: bool = True) -> Tree:
    """The mechanism of `tree_and_held`."""
    return tree_and_held(model, lock_slides, hang)[0]


def tree_and_held(model: str, lock_slides: bool = True, hang: bool = True) -> tuple[Tree, tuple[str, ...]]:
    """A mechanism by name: ``chain-20`` (hinges about x, y, z, x, …), ``ball-chain-10``, ``floating-chain-5``
    (weightless), ``heavy-top``, a built-in model, or the path of a model file.

    Robots are taken without damping; with `hang` their floating base is held, with `lock_slides` joints that slide
    within limits: these joints come beside it.  What their files say otherwise of joints that move is a
    `mechanics.ModelWarning`.
    """
    found = GENERATED.fullmatch(model)
    if found:
        return _chain(found[1], int(found[2])), ()
    if model == "heavy-top":
        top = Inertia.about_com(2.0, (0.1, 0.2, 0.9), np.diag([0.3, 0.45, 0.2]))
        return Tree([Body("top", Spherical(), inertia=top)], "heavy top"), ()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        tree = mechanics.load_model(model, damping=False)
    held = sliding_joints(tree) if lock_slides else []
    if hang:
        held = held + [b.joint_name for b in tree.bodies if isinstance(b.joint, Free)]
    _warn(model, told, held)
    made = tree.with_locked(held) if held else tree
    if held and not made.nv:
        problem = f"nothing moves where {', '.join(held)} are held"
        raise ModelError(model, problem, "let them move: --no-lock-slides for joints that slide, --no-hang for a base")
    return made, tuple(held)


def _warn(model: str, told: Iterable[warnings.WarningMessage], held: Iterable[str]) -> None:
    """Say what the reader of the file has warned of, apart from what is about joints that are held."""
    for each in told:
        changes = each.message.changes if isinstance(each.message, mechanics.ModelWarning) else ()
        kept = [text for text, joints in changes if not joints or not set(joints) <= set(held)]
        if not changes:
            warnings.warn(each.message, stacklevel=3)
        elif kept:
            text = "\n  ".join([f"{model}: the motion differs from the file:", *kept])
            warnings.warn(mechanics.ModelWarning(text, changes), stacklevel=3)


def _chain(kind: str, n: int) -> Tree:
    axes = np.eye(3)

    def joint(i: int) -> Joint:
        if kind == "floating-chain" and i == 0:
            return Free()
        return Spherical() if kind == "ball-chain" else Revolute(tuple(axes[i % 3]))

    bodies = [
        Body(f"link{i}", joint(i), f"link{i - 1}" if i else None, OFFSET if i else (0.0, 0.0, 0.0), inertia=LINK)
        for i in range(n)
    ]
    return Tree(bodies, f"{kind} of {n}", gravity=(0.0, 0.0, 0.0) if kind == "floating-chain" else (-9.81, 0.0, 0.0))


def sliding_joints(tree: Tree) -> list[str]:
    """Prismatic joints with a finite travel."""
    found = [b for b in tree.bodies if isinstance(b.joint, Prismatic) and b.data.upper is not None]
    return [b.joint_name for b in found if np.isfinite(b.data.upper).all()]


def start_of(tree: Tree, model: str, speed: float, seed: int) -> tuple[Array, Array]:
    """Robots and tops: the neutral configuration with random velocities.  Chains of hinges: q = 0.4 sin(1 + i), v = 0.2
    cos(0.7 i).
    """
    if model.startswith("chain-"):
        i = np.arange(tree.nv)
        return 0.4 * np.sin(1 + i), 0.2 * np.cos(0.7 * i)
    return tree.neutral(), speed * np.random.default_rng(seed).normal(size=tree.nv)
