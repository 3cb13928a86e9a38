"""Runs as functions of JAX: `jax.jit`, `jax.vmap`, `jax.grad` around our own compiled steps."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from integrators.adapters.differentiable import FIRST_ALONE, Host

MODES = ("reverse", "forward")


def jax_function(
    run: Any, states: bool = False, mode: str = "reverse", at: ArrayLike | None = None
) -> Callable[..., Any]:  # fmt: skip
    """A run as a function that JAX differentiates, ``f(start, u)`` or ``f(start, u, x)``.

    Parameters
    ----------
    run : DifferentiableRun, or callable
        Of `integrators.adjoint`; or ``run(x)`` → the run of a model with the parameters x (k,), made with
        ``parameters=parameter_directions(make, x)``.
    states : bool
        Whether f returns all states, (steps + 1, n), or the last one, (n,).
    mode : {"reverse", "forward"}
        How f is differentiated: by ``jax.grad``, ``vjp``, ``jacrev``, or by ``jax.jvp``, ``jacfwd``.

    at : array (k,), optional
        With a function of x: some x, to know the sizes of a run.

    Returns
    -------
    callable
        f: start (n,); u (m,) or (steps, m), without one the inputs of the problem; x (k,), where run is a function.

    Raises
    ------
    ImportError
        JAX is not installed.
    ValueError
        Another mode; JAX computes in single precision: ``jax.config.update("jax_enable_x64", True)``.  When f is
        called: other shapes.
    NotImplementedError
        When a second derivative is asked for.

    Notes
    -----
    The steps run on the CPU, called back by JAX; `vmap` takes states one after the other.  Derivatives are those of
    `DifferentiableRun`, exact to rounding, first ones alone.

    Examples
    --------
    >>> from integrators.adapters.jax import jax_function
    >>> import jax, numpy as np  # doctest: +SKIP
    >>> jax.config.update("jax_enable_x64", True)  # doctest: +SKIP
    >>> jax.grad(lambda y: jax_function(run)(y, np.zeros(0))[0])(start)  # doctest: +SKIP
    """
    jax: Any = importlib.import_module("jax")
    if mode not in MODES:
        raise ValueError(f"mode: {mode!r}, expected one of {', '.join(map(repr, MODES))}")
    if not jax.config.jax_enable_x64:
        raise ValueError(
            'jax: single precision, in which steps lose what they keep; expected jax.config.update("jax_enable_x64", '
            "True) before anything else"
        )
    host = Host(run, states, at)
    out = jax.ShapeDtypeStruct(host.shape, np.float64)

    def called(function: Callable[..., Any], result: Any, *arguments: Any) -> Any:
        return jax.pure_callback(function, result, *arguments, vmap_method="sequential")

    def refused(given: Any, changes: Any) -> Any:
        raise NotImplementedError(FIRST_ALONE)

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def value(start: Any, u: Any, x: Any) -> Any:
        return called(host.value, out, start, u, x)

    value.defjvp(refused)
    if mode == "reverse":
        differentiated: Any = jax.custom_vjp(value)

        @jax.custom_jvp  # type: ignore[untyped-decorator]
        def pulled(given: Any, weights: Any) -> Any:
            like = tuple(jax.ShapeDtypeStruct(np.shape(a), np.float64) for a in given)
            return called(host.pulled, like, *given, weights)

        pulled.defjvp(refused)
        differentiated.defvjp(lambda *given: (value(*given), given), pulled)
    else:
        differentiated = jax.custom_jvp(value)
        differentiated.defjvp(lambda given, changes: (value(*given), called(host.pushed, out, *given, *changes)))

    def function(start: Any, u: Any = (), x: Any = ()) -> Any:
        host.check(start, u, x)
        return differentiated(*(jax.numpy.asarray(a, dtype=np.float64) for a in (start, u, x)))

    return function
