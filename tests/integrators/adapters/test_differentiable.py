"""Runs as functions of JAX and Torch: their derivatives are those of the run."""

from __future__ import annotations

import numpy as np
import pytest

from integrators import Problem
from integrators.adapters.jax import jax_function
from integrators.adapters.torch import torch_function
from integrators.adjoint import DifferentiableRun, parameter_directions
from liegroup import rn

START, U, X = np.array([0.4, -0.2]), np.linspace(-1.0, 1.0, 5).reshape(5, 1), np.array([1.3, 0.7])
WEIGHTS = np.random.default_rng(0).normal(size=(6, 2))


def make(x):
    """A pendulum of mass x₀ and length x₁ with a torque."""
    inertia = x[0] * x[1] ** 2
    return Problem(
        rn(2),
        START,
        lambda t, y, p: np.array([y[1], (p[0] - p[1] * np.sin(y[0])) / p[2]]),
        parameters=[0.0, 9.81 * x[0] * x[1], inertia],
        inputs={"torque": 0},
    )


def run(x=X):
    return DifferentiableRun(make(x), "RKMK4", 0.1, 5, parameters=parameter_directions(make, x))


@pytest.fixture
def jax():
    found = pytest.importorskip("jax")
    before = found.config.jax_enable_x64
    found.config.update("jax_enable_x64", True)
    yield found
    found.config.update("jax_enable_x64", before)


def test_jax_differentiates_backwards(jax):
    f = jax_function(run, states=True, at=X)
    loss = jax.jit(lambda y, u, x: (WEIGHTS * f(y, u, x)).sum())
    found, true = jax.grad(loss, (0, 1, 2))(START, U, X), run().vjp(START, WEIGHTS, U)
    for a, b in zip(found, (true.by_start, true.by_inputs, true.by_parameters), strict=True):
        assert np.allclose(a, b, rtol=1e-13, atol=1e-15)
    held = jax.grad(loss, 1)(START, U[0], X)
    assert np.allclose(held, run().vjp(START, WEIGHTS, U[0]).by_inputs.sum(axis=0), rtol=1e-13)


def test_jax_differentiates_forwards_and_maps(jax):
    f = jax_function(run(), mode="forward")
    _, found = jax.jvp(f, (START, U), (START + 1.0, U + 1.0))
    assert np.allclose(found, run().jvp(START, START + 1.0, U, U + 1.0)[1][-1], rtol=1e-13)
    many = jax.vmap(lambda y: jax_function(run())(y, U))(np.stack([START, -START]))
    assert np.array_equal(many[0], run()(START, U))
    assert np.array_equal(many[1], run()(-START, U))


def test_a_run_with_parameters_has_gradients_by_start_and_inputs_alone(jax):
    f = jax_function(run())
    found = jax.grad(lambda *given: f(*given)[0], (0, 1))(START, U)
    true = run().vjp(START, [1.0, 0.0], U)
    for a, b in zip(found, (true.by_start, true.by_inputs), strict=True):
        assert np.allclose(a, b, rtol=1e-13, atol=1e-15)
    assert np.array_equal(f(START), run()(START))  # the inputs of the problem
    assert np.allclose(jax.grad(lambda y: f(y)[0])(START), run().vjp(START, [1.0, 0.0]).by_start, rtol=1e-13)


@pytest.mark.parametrize(
    ("by_parameters", "given", "words"),
    [
        (False, (START[:1], U), r"start: shape \(1,\), expected \(2,\), one state"),
        (False, (START, U[:, 0]), r"u: shape \(5,\), expected \(1,\) or \(5, 1\), inputs \(torque\)"),
        (False, (START, U, X), r"x: shape \(2,\), expected none: the run is no function of parameters"),
        (True, (START, U), r"x: shape \(0,\), expected \(2,\), the parameters of the model"),
        (True, (START, U, X[:1]), r"x: shape \(1,\), expected \(2,\)"),
    ],
)
@pytest.mark.parametrize("library", ["jax", "torch"])
def test_arguments_of_other_shapes_are_named_before_anything_is_called_back(
    request, library, by_parameters, given, words
):
    of = (run, {"at": X}) if by_parameters else (run(), {})
    if library == "jax":
        request.getfixturevalue("jax")
        f = jax_function(of[0], **of[1])
    else:
        torch = pytest.importorskip("torch")
        f, given = torch_function(of[0], **of[1]), [torch.tensor(a, dtype=torch.float64) for a in given]
    with pytest.raises(ValueError, match=f"^{words}"):
        f(*given)


def test_jax_in_single_precision_is_refused(jax):
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(ValueError, match="jax_enable_x64"):
        jax_function(run())
    jax.config.update("jax_enable_x64", True)
    with pytest.raises(ValueError, match="mode: 'both', expected one of 'reverse', 'forward'"):
        jax_function(run(), mode="both")
    with pytest.raises(ValueError, match="at: None"):
        jax_function(run)
    with pytest.raises(TypeError, match="run: 3, expected a DifferentiableRun"):
        jax_function(3)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")  # Torch of itself
@pytest.mark.parametrize("library", ["jax", "torch"])
def test_second_derivatives_are_refused(request, library):
    """Torch had taken the first derivative for a constant: a Hessian of zeros."""
    words = r"second derivatives of a run .*expected first ones alone, .* run.derivative.second"
    if library == "jax":
        jax = request.getfixturevalue("jax")
        back, forth = (jax_function(run(), mode=mode) for mode in ("reverse", "forward"))
        both = [
            lambda: jax.hessian(lambda y: back(y, U)[0])(START),
            lambda: jax.jacfwd(jax.jacfwd(lambda y: forth(y, U)[0]))(START),
        ]
    else:
        torch = pytest.importorskip("torch")
        f, u, start = torch_function(run()), torch.tensor(U), torch.tensor(START)
        last = lambda y: f(y, u)[0]  # noqa: E731
        both = [
            lambda: torch.autograd.functional.hessian(last, start),
            lambda: torch.func.hessian(last)(start),
            lambda: torch.func.jacfwd(torch.func.jacfwd(last))(start),
        ]
    for asked in both:
        with pytest.raises(NotImplementedError, match=words):
            asked()


def test_torch_sees_what_is_changed_before_the_derivative_is_asked_for():
    torch = pytest.importorskip("torch")
    start, u = (torch.tensor(a, requires_grad=True) for a in (START, U))
    end = torch_function(run())(start, u)[0]
    with torch.no_grad():
        u.mul_(0.9)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        end.backward()


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")  # Torch of itself
def test_torch_maps_and_differentiates_functions():
    torch = pytest.importorskip("torch")
    f, starts, x = torch_function(run, at=X), torch.tensor(np.stack([START, -START])), torch.tensor(X)
    us = torch.tensor(np.stack([U, 2.0 * U]), requires_grad=True)
    found = torch.vmap(torch.func.grad(lambda y, u: f(y, u, x)[0], argnums=(0, 1)))(starts, us)
    forwards = torch.vmap(torch.func.jacfwd(lambda u, y: f(y, u, x)), in_dims=(0, 0))(us, starts)
    (weighed,) = torch.autograd.grad(torch.vmap(lambda y, u: f(y, u, x), in_dims=(1, 0))(starts.T, us)[:, 0].sum(), us)
    for k, (start, u) in enumerate([(START, U), (-START, 2.0 * U)]):
        true = run().vjp(start, [1.0, 0.0], u)
        for a, b in zip((found[0][k], found[1][k], weighed[k]), (true.by_start, *2 * (true.by_inputs,)), strict=True):
            assert np.allclose(a.detach(), b, rtol=1e-13, atol=1e-15)
        assert np.allclose(forwards[k, 0].detach(), true.by_inputs, rtol=1e-12, atol=1e-15)


def test_torch_takes_tensors_of_any_stride_and_names_what_is_none():
    torch = pytest.importorskip("torch")
    f = torch_function(run())
    turned = torch.complex(torch.zeros(2, dtype=torch.float64), torch.tensor(-START)).conj().imag
    assert np.array_equal(f(turned, torch.tensor(np.hstack([U, U]))[:, :1]), run()(START, U))
    with pytest.raises(TypeError, match=r"start: array.*, expected a tensor: torch.tensor\(start, dtype=torch.float64"):
        f(START)
    with pytest.raises(TypeError, match=r"start: a tensor of the layout torch.sparse_coo, expected a dense one"):
        f(torch.tensor(START).to_sparse())


def test_torch_differentiates():
    torch = pytest.importorskip("torch")
    given = [torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in (START, U, X)]
    f = torch_function(run, states=True, at=X)
    (torch.tensor(WEIGHTS) * f(*given)).sum().backward()
    true = run().vjp(START, WEIGHTS, U)
    for a, b in zip(given, (true.by_start, true.by_inputs, true.by_parameters), strict=True):
        assert np.allclose(a.grad.numpy(), b, rtol=1e-13, atol=1e-15)
    assert torch.autograd.gradcheck(f, given, fast_mode=True)
    with pytest.raises(TypeError, match=r"start: torch.float32 on cpu, expected torch.float64"):
        f(given[0].float(), *given[1:])
