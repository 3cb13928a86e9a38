"""Runs as functions of Torch: gradients through our own compiled steps."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from integrators.adapters.differentiable import FIRST_ALONE, Host
from liegroup.arrays import shown

REFUSED = f"{FIRST_ALONE} (torch.autograd.functional.jvp asks for second ones, torch.func.jvp does not)"


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
        When f is called: what is no tensor, a sparse one, one of another precision or on another device.
    ValueError
        When f is called: other shapes.
    NotImplementedError
        When a second derivative is asked for.

    Notes
    -----
    Backwards, forwards, by ``torch.func.grad``, ``jacrev``, ``jacfwd``, ``vmap``, which takes states one after the
    other.  Derivatives are those of `DifferentiableRun`, exact to rounding, first ones alone.

    Examples
    --------
    >>> from integrators.adapters.torch import torch_function
    >>> import torch  # doctest: +SKIP
    >>> start = torch.tensor([1.0, 0.0], dtype=torch.float64, requires_grad=True)  # doctest: +SKIP
    >>> torch_function(run)(start).sum().backward()  # doctest: +SKIP
    """
    torch: Any = importlib.import_module("torch")
    host = Host(run, states, at)

    def called(function: Callable[..., Any], given: Any) -> Any:
        found = function(*(a.detach().resolve_neg().numpy() for a in given))
        return tuple(map(tensor, found)) if isinstance(found, tuple) else tensor(found)

    def tensor(a: Any) -> Any:
        return torch.from_numpy(np.array(a, dtype=np.float64))

    def mapped(apply: Callable[..., Any], info: Any, axes: Any, given: Any) -> Any:
        """One after the other, for `vmap`."""
        rows = [
            apply(*(a if axis is None else a.select(axis, k) for a, axis in zip(given, axes, strict=True)))
            for k in range(info.batch_size)
        ]
        if isinstance(rows[0], tuple):
            return tuple(map(torch.stack, zip(*rows, strict=True))), (0,) * len(rows[0])
        return torch.stack(rows), 0

    class Differentiated(torch.autograd.Function):  # type: ignore[misc]
        """A function of tensors whose derivative is another one; kept are the tensors themselves, so that Torch sees
        where they are changed before they are asked for.
        """

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

    def of(function: Callable[..., Any], differentiated: Any) -> Any:
        """A function of the host, with the derivatives of a class."""

        class Called(differentiated):  # type: ignore[misc]
            @staticmethod
            def forward(*given: Any) -> Any:
                return called(function, given)

            @staticmethod
            def vmap(info: Any, axes: Any, *given: Any) -> Any:
                return mapped(Called.apply, info, axes, given)

        return Called

    class Second(Differentiated):
        @staticmethod
        def backward(ctx: Any, *weights: Any) -> Any:
            raise NotImplementedError(REFUSED)

        @staticmethod
        def jvp(ctx: Any, *changes: Any) -> Any:
            raise NotImplementedError(REFUSED)

    pulled, pushed = of(host.pulled, Second), of(host.pushed, Second)

    class First(Differentiated):
        @staticmethod
        def backward(ctx: Any, weights: Any) -> Any:
            return pulled.apply(*ctx.saved_tensors, weights)

        @staticmethod
        def jvp(ctx: Any, *changes: Any) -> Any:
            given = ctx.saved_tensors
            known = (torch.zeros_like(a) if d is None else d for a, d in zip(given, changes, strict=True))
            return pushed.apply(*given, *known)

    value = of(host.value, First)

    def function(start: Any, u: Any = None, x: Any = None) -> Any:
        none = torch.zeros(0, dtype=torch.float64)
        given = [none if a is None else a for a in (start, u, x)]
        for name, a in zip(("start", "u", "x"), given, strict=True):
            if not isinstance(a, torch.Tensor):
                raise TypeError(f"{name}: {shown(a)}, expected a tensor: torch.tensor({name}, dtype=torch.float64)")
            if a.dtype != torch.float64 or a.device.type != "cpu":
                raise TypeError(f"{name}: {a.dtype} on {a.device}, expected torch.float64 on the CPU: {name}.double()")
            if a.layout != torch.strided:
                raise TypeError(f"{name}: a tensor of the layout {a.layout}, expected a dense one: {name}.to_dense()")
        host.check(*given)
        return value.apply(*given)

    return function
