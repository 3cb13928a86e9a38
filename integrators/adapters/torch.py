"""Runs as functions of Torch: gradients through our own compiled steps."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from integrators.adapters.differentiable import Host


def torch_function(run: Any, states: bool = False, at: ArrayLike | None = None) -> Callable[..., Any]:
    """A run as a function that Torch differentiates, ``f(start, u)`` or ``f(start, u, x)``.

    Parameters
    ----------
    run : DifferentiableRun, or callable
        Of `integrators.adjoint`; or ``run(x)`` → the run of a model with the parameters x (k,), made with
        ``parameters=parameter_directions(make, x)``.
    states : bool
        Whether f returns all states, (steps + 1, n), or the last one, (n,).
    at : array (k,), optional
        With a function of x: some x, to know the sizes of a run.

    Returns
    -------
    callable
        f of tensors of float64 on the CPU: start (n,); u (m,) or (steps, m), without one the inputs of the problem;
        x (k,), where run is a function.

    Raises
    ------
    ImportError
        Torch is not installed.
    TypeError
        When f is called: a tensor of another precision or on another device.
    ValueError
        When f is called: other shapes.

    Notes
    -----
    An `autograd.Function` with `backward` and, for forward mode, `jvp`.  Derivatives are those of `DifferentiableRun`,
    exact to rounding, first ones alone.

    Examples
    --------
    >>> from integrators.adapters.torch import torch_function
    >>> import torch  # doctest: +SKIP
    >>> start = torch.tensor([1.0, 0.0], dtype=torch.float64, requires_grad=True)  # doctest: +SKIP
    >>> torch_function(run)(start).sum().backward()  # doctest: +SKIP
    """
    torch: Any = importlib.import_module("torch")
    host = Host(run, states, at)

    class Run(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, start: Any, u: Any, x: Any) -> Any:
            ctx.given = tuple(a.detach().numpy() for a in (start, u, x))
            return torch.from_numpy(np.array(host.value(*ctx.given)))

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, weights: Any) -> Any:
            start, u, x = ctx.given
            return tuple(torch.from_numpy(np.array(a)) for a in host.pulled(start, u, x, weights.numpy()))

        @staticmethod
        def jvp(ctx: Any, *changes: Any) -> Any:
            known = (np.zeros_like(a) if d is None else d.numpy() for a, d in zip(ctx.given, changes, strict=True))
            return torch.from_numpy(np.array(host.pushed(*ctx.given, *known)))

    def function(start: Any, u: Any = None, x: Any = None) -> Any:
        none = torch.zeros(0, dtype=torch.float64)
        given = [none if a is None else a for a in (start, u, x)]
        for name, a in zip(("start", "u", "x"), given, strict=True):
            if a.dtype != torch.float64 or a.device.type != "cpu":
                raise TypeError(f"{name}: {a.dtype} on {a.device}, expected torch.float64 on the CPU: {name}.double()")
        host.check(*given)
        return Run.apply(*given)

    return function
