"""Fields, invariants and whole steps in other languages repeat the kernels, bit by bit; their derivatives are those of
the step.
"""

import os
import shutil

import numpy as np
import pytest

import mechanics
from integrators import Problem, generate_code, integrate, stepper
from integrators.method import step_map
from integrators.method.step_map import SingleStep
from integrators.methods import METHODS
from integrators.problem.lagrangian import lagrangian_problem
from integrators.step_derivatives import linearised_step
from liegroup import product, rn, so3
from mechanics import Body, Frame, Inertia, Mechanism, Tree
from mechanics.forces import motor, servo, wrench
from mechanics.joints import Free, Motion, Revolute, Rheonomic, Slide, Spherical, Turn
from mechanics.systems import SYSTEMS, four_bar
from mechanics.testing import random_tree

COMPILER = os.environ.get("CC", "cc")
needs_c = pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"no C compiler {COMPILER!r}")
QUICK = ("-O1", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fPIC", "-shared")
H = 0.01


def tree_problem():
    generator = np.random.default_rng(3)
    tree = random_tree("chain", 2, generator, (Revolute, Spherical), Free())
    return mechanics.hamiltonian_problem(tree, tree.random_configuration(generator), generator.normal(size=tree.nv))


def closed_problem():
    return four_bar.mechanism().problem(rates={"crank_joint": four_bar.SPEED})


def pendulum():
    return lagrangian_problem(
        lambda t, q, v, p: 0.5 * p[0] * v[0] ** 2 + np.cos(q[0]) * (1.0 + 0.1 * np.sin(t)),
        [0.3],
        [0.1],
        parameters=[1.2],
    )


POSED = {"tree": tree_problem, "closed": closed_problem, "Lagrangian": pendulum}
STEPS = [
    ("tree", "RKMK4"), ("tree", "CF4"), ("tree", "TREE_VARIATIONAL"), ("closed", "RKMK4"),
    ("closed", "TREE_VARIATIONAL"), ("Lagrangian", "RKMK_GAUSS2"), ("Lagrangian", "DEL_GAUSS2"),
]  # fmt: skip


def reference(problem, method, t, h, y):
    """The compiled step, and the problem's projection after it."""
    end = step_map(problem, METHODS[method], t)(y, h)
    return end if problem.projection is None else problem.evaluate(problem.projection, t + h, end, problem.n)


@needs_c
@pytest.mark.parametrize(("of", "method"), STEPS, ids=[" ".join(both) for both in STEPS])
def test_c_repeats_the_kernels_to_the_last_bit(of, method):
    problem = POSED[of]()
    text = generate_code(problem, "c", method, H)
    found, t, y = text.load(flags=QUICK), 0.2, problem.y0
    for _ in range(3):
        assert np.array_equal(found.rhs(t, y), problem.evaluate(problem.field, t, y, problem.dimension))
        if problem.invariant_count:
            assert np.array_equal(found.invariants(t, y), problem.invariant_values(t, y))
        end, left = found.one_step(t, H, y)
        assert left == [0.0]
        assert np.array_equal(end, reference(problem, method, t, H, y))
        t, y = t + H, end


@needs_c
def test_the_rounds_of_an_iteration_are_those_of_the_samples():
    """Steps that need more rounds say so; with samples along the motion all are the method's."""
    problem = pendulum()
    run = integrate(problem, "RKMK_GAUSS2", (0.0, 2.0), step=H)
    rest = generate_code(problem, "c", "RKMK_GAUSS2", H, samples=[0.0, 0.0]).load(flags=QUICK)
    assert rest.one_step(0.0, H, run.y[50])[1] == [1.0]
    assert rest.many_steps(0.0, H, 10, run.y[50])[1] == 0
    found = generate_code(problem, "c", "RKMK_GAUSS2", H, samples=run.y[::20]).load(flags=QUICK)
    end, taken = found.many_steps(0.0, H, 200, problem.y0)
    assert taken == 200
    assert np.allclose(end, run.y[-1], rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("language", [pytest.param("c", marks=needs_c), "numpy", "jax", "casadi"])
@pytest.mark.parametrize("method", ["MIDPOINT", "RKMK_GAUSS2"])
def test_an_iteration_that_runs_away_has_left(method, language):
    """Beyond all numbers nothing changes any more, and nothing is above a limit: no iteration ends by that."""
    if language == "jax":
        pytest.importorskip("jax").config.update("jax_enable_x64", True)
    elif language == "casadi":
        pytest.importorskip("casadi")
    spring = Problem(rn(2), [0.1, 0.0], lambda t, y: [y[1], -1e4 * y[0] ** 3])
    found = generate_code(spring, language, method, 0.02).load()
    for q, expected in ((0.1, 0.0), (0.5, 1.0), (3.0, 1.0), (10.0, 1.0), (1e3, 1.0), (1e6, 1.0)):
        with np.errstate(all="ignore"):
            end, left = found.one_step(0.0, 0.02, np.array([q, 0.0]))
        end, left = (x.full() if language == "casadi" else x for x in (end, left))
        assert np.ravel(left).tolist() == [expected]
        assert expected or np.abs(np.ravel(end) - step_map(spring, METHODS[method])([q, 0.0], 0.02)).max() < 1e-14
    with pytest.raises(ArithmeticError, match=r"from the sample \[10.0, 0.0\] cannot be written .* runs away there"):
        generate_code(spring, language, method, 0.02, samples=[[0.1, 0.0], [10.0, 0.0]])


@pytest.mark.parametrize("method", ["MIDPOINT", "RKMK_GAUSS2", "VARIATIONAL_GAUSS2", "GAUSS8"])
def test_traced_at_twice_the_step_iterations_have_rounds_to_spare(method):
    problem, h = SYSTEMS["pendulum"].problem(), 0.02
    run = integrate(problem, method, (0.0, 100 * h), h)
    code = generate_code(problem, "numpy", method, 2.0 * h, samples=run.y[::10]).load()
    end, left = code.one_step(0.0, h, run.y)
    assert left.mean() < 0.05  # rounding decides when an iteration ends
    assert np.abs(end[:-1] - run.y[1:]).max() < 1e-14


def test_samples_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match=r"samples: number 1 is \[nan, 0.0\], expected finite numbers"):
        generate_code(pendulum(), "numpy", "GAUSS8", H, samples=[[0.1, 0.0], [np.nan, 0.0]])


def test_steps_that_gauss8_divides_have_left():
    """Of random states those that have not left are the method's."""
    problem, rng = SYSTEMS["pendulum"].problem(), np.random.default_rng(1)
    code = generate_code(problem, "numpy", "GAUSS8", 0.4).load()
    single, divided, whole = SingleStep(problem, METHODS["GAUSS8"]), 0, 0
    for h in (0.05, 0.2, 0.5):
        for y in rng.normal(size=(30, 2)) * (1.5, 4.0):
            taken = single(y, h, 0.0)
            end, left = code.one_step(0.0, h, y)
            if len(METHODS["GAUSS8"].stepper.report(taken.work).levels) > 1:
                assert left == [1.0]
                divided += 1
            elif not left[0]:
                assert np.abs(end - taken.y).max() < 1e-13
                whole += 1
    assert min(divided, whole) > 10


def test_numpy_repeats_the_kernels_on_batches():
    problem = tree_problem()
    found = generate_code(problem, "numpy", "RKMK4", H).load()
    states = np.array([problem.y0, reference(problem, "RKMK4", 0.0, H, problem.y0)])
    end, left = found.one_step(0.0, H, states)
    assert not left.any()
    for y, e, rate in zip(states, end, found.rhs(0.0, states), strict=True):
        assert np.array_equal(rate, problem.evaluate(problem.field, 0.0, y, problem.dimension))
        assert np.array_equal(e, reference(problem, "RKMK4", 0.0, H, y))


@pytest.mark.parametrize(
    ("of", "method"), [("Lagrangian", "DEL_GAUSS2"), pytest.param("closed", "TREE_VARIATIONAL", marks=pytest.mark.slow)]
)
def test_jax_has_the_step_and_its_derivatives(of, method):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    problem = POSED[of]()
    step = generate_code(problem, "jax", method, H).load().one_step
    found = jax.jit(jax.vmap(lambda y: step(0.0, H, y)[0]))(np.array([problem.y0, problem.y0]))
    assert np.allclose(found[1], reference(problem, method, 0.0, H, problem.y0), rtol=1e-12, atol=1e-13)
    _, pull = jax.vjp(lambda y: step(0.0, H, y)[0], problem.y0)  # not jitted: that takes XLA minutes
    back = jax.vmap(pull)(np.eye(problem.n))[0]
    assert np.allclose(back, linearised_step(problem, method, problem.y0, H).A, rtol=1e-9, atol=1e-9)


def test_casadi_has_the_step_and_its_derivatives():
    ca = pytest.importorskip("casadi")
    problem = pendulum()
    module = generate_code(problem, "casadi", "DEL_GAUSS2", H).load()
    end, left = module.one_step(0.0, H, problem.y0)
    assert float(left) == 0.0
    assert np.allclose(np.ravel(end.full()), reference(problem, "DEL_GAUSS2", 0.0, H, problem.y0), rtol=1e-14)
    y = ca.SX.sym("y", problem.n)
    J = ca.Function("J", [y], [ca.jacobian(module.one_step(0.0, H, y)[0], y)])(problem.y0).full()
    assert np.allclose(J, linearised_step(problem, "DEL_GAUSS2", problem.y0, H).A, rtol=1e-10, atol=1e-11)


@needs_c
def test_jacobians_of_field_and_step_are_written():
    problem = mechanics.hamiltonian_problem(mechanics.load_model("double_pendulum"), [0.4, -0.2], [1.0, 0.3])
    found = generate_code(problem, "c", "RKMK4", H, derivatives=True).load(flags=QUICK)
    true = linearised_step(problem, "RKMK4", problem.y0, H).A
    assert np.abs(found.step_jacobian(0.0, H, problem.y0).reshape(4, 4) - true).max() < 1e-14 * np.abs(true).max()
    J = found.jacobian(0.0, problem.y0).reshape(4, 4)
    steps = 1e-6 * np.eye(4)
    differences = [(found.rhs(0.0, problem.y0 + e) - found.rhs(0.0, problem.y0 - e)) / 2e-6 for e in steps]
    assert np.allclose(J.T, differences, rtol=1e-7, atol=1e-7)


@needs_c
def test_any_field_that_can_be_traced_has_code():
    """On a group, with its chart, from a function of NumPy."""
    inertia = np.array([1.0, 2.0, 3.0])

    def spinning(t, y):
        return np.concatenate([y[4:] / inertia, np.cross(y[4:], y[4:] / inertia)])

    problem = Problem(product(so3, rn(3)), [1.0, 0.0, 0.0, 0.0, 0.3, 1.0, 0.1], spinning)
    found = generate_code(problem, "c", "CF4", 0.1).load(flags=QUICK)
    assert np.allclose(
        found.one_step(0.0, 0.1, problem.y0)[0], reference(problem, "CF4", 0.0, 0.1, problem.y0), atol=1e-15
    )
    assert found.one_step(0.0, 40.0, problem.y0)[1] == [1.0]  # turns by more than its chart allows


@needs_c
@pytest.mark.parametrize(
    ("function", "arguments", "error", "words"),
    [
        ("one_step", (0.0, H, np.array([1.0 + 1e-30j, 0.0])), TypeError, "y: .*expected real numbers"),
        ("one_step", ("0.0", H, [1.0, 0.0]), TypeError, "t: '0.0', expected real numbers"),
        ("many_steps", (0.0, H, 2, np.array([1.0 + 1e-30j, 0.0])), TypeError, "y: .*expected real numbers"),
        ("many_steps", (0.0, H, -1, [1.0, 0.0]), ValueError, "steps: -1, expected how many"),
        ("many_steps", (0.0, H, 2.5, [1.0, 0.0]), ValueError, "steps: 2.5, expected how many"),
    ],
)
def test_what_code_in_c_does_not_take_is_named(function, arguments, error, words):
    """A derivative by complex steps was zero: NumPy left the imaginary parts out."""
    swing = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]])
    with pytest.raises(error, match=words):
        getattr(generate_code(swing, "c", "RKMK4", H).load(flags=QUICK), function)(*arguments)


@needs_c
@pytest.mark.parametrize("start", [1.0, -np.inf, np.nan])
def test_steps_to_what_is_no_number_are_not_valid(start):
    """x' = x² is infinite at t = 1."""
    found = generate_code(Problem(rn(1), [1.0], lambda t, y: [y[0] ** 2]), "c", "RKMK4", 0.1).load(flags=QUICK)
    end, taken = found.many_steps(0.0, 0.1, 100, [start])
    assert taken < 100
    assert np.array_equal(end, [start], equal_nan=True) if taken == 0 else np.isfinite(end).all()


@pytest.mark.parametrize("language", [pytest.param("c", marks=needs_c), "numpy"])
def test_a_name_of_a_model_is_no_code(language):
    problem = Problem(rn(1), [2.0], lambda t, y: [-y[0]], model='a */ b """ \\ \n int x; // \\N é')
    assert generate_code(problem, language).load().rhs(0.0, problem.y0) == [-2.0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"language": "pascal"}, "language: 'pascal'"),
        ({"step": 0.1}, "step and samples: they are those of a method"),
        ({"method": "RKMK4"}, "step: None, expected the step size"),
        ({"method": "RKMK4", "step": 0.0}, "step: 0.0, expected a finite number of seconds, not 0"),
        ({"method": "RKMK4", "step": 0.1, "samples": [1.0]}, r"samples: shape \(1, 1\), expected \(m, 2\)"),
        ({"method": "BDF2", "step": 0.1}, "method: BDF2, expected a one-step method"),
    ],
)
def test_what_is_wrong_is_named(given, said):
    with pytest.raises(ValueError, match=said):
        generate_code(pendulum(), **{"language": "c"} | given)


def test_what_cannot_be_traced_is_named():
    problem = Problem(rn(1), [1.0], lambda t, y: [-y[0] if y[0] > 0.0 else y[0]])
    with pytest.raises(TypeError, match=r"an `if` on a value cannot be traced"):
        generate_code(problem, "c")


@pytest.mark.parametrize("method", ["RKMK_RADAU_IIA3", "RKMK_SDIRK3_ALEXANDER", "RODAS4"])
def test_exact_derivatives_of_mechanisms_are_not_written(method):
    said = (
        f"{method} cannot be traced.*exact derivatives.*those of mechanisms are not written: choose .*GAUSS8, MIDPOINT"
    )
    with pytest.raises(TypeError, match=said):
        generate_code(closed_problem(), "numpy", method, H)
    assert "one_step" in generate_code(tree_problem(), "numpy", method, H)  # those of trees are


@pytest.mark.parametrize("method", ["MIDPOINT", "RKMK_GAUSS2", pytest.param("GAUSS8", marks=pytest.mark.slow)])
def test_methods_that_are_written_for_mechanisms(method):
    """Those that the message names; explicit and variational ones are above."""
    problem = closed_problem()
    end, left = generate_code(problem, "numpy", method, H).load().one_step(0.0, H, problem.y0)
    assert np.allclose(end, reference(problem, method, 0.0, H, problem.y0), rtol=1e-12, atol=1e-12)
    assert left == [0.0]


@needs_c
def test_a_compiled_model_leaves_as_c():
    model = mechanics.compile_model(mechanics.load_model("double_pendulum"))
    q, p = np.array([0.4, -0.2]), np.array([0.1, 0.3])
    found = model.export("c", "RKMK4", H).load(flags=QUICK)
    y = np.concatenate([q, p])
    assert np.array_equal(found.rhs(0.0, y), np.concatenate(model.rhs(q, p)))
    assert np.array_equal(found.one_step(0.0, H, y)[0], step_map(model.problem(q, p=p), METHODS["RKMK4"])(y, H))


def driven_arm():
    """Two links, one with a motor, one with a servo, pushed at its end."""
    bar = Inertia.about_com(1.0, (0, 0, -0.5), np.diag([0.1, 0.1, 0.01]))
    upper = Body("upper", Revolute((0, 1, 0)), inertia=bar, joint_name="shoulder")
    lower = Body("lower", Revolute((0, 1, 0)), "upper", (0, 0, -1.0), inertia=bar, joint_name="elbow")
    hand = wrench(Frame("lower", (0, 0, -1.0)), axes="world", name="hand")
    return Mechanism(
        Tree([upper, lower]), elements=[motor("shoulder"), servo("elbow", stiffness=20.0, damping=2.0), hand]
    )


U = np.array([0.7, -0.4, 1.2, 0.0, -2.0, 0.1, 0.2, 0.3])


@needs_c
@pytest.mark.parametrize("method", ["RKMK4", "TREE_VARIATIONAL", pytest.param("RKMK_GAUSS2", marks=pytest.mark.slow)])
def test_inputs_are_an_argument(method):
    problem = driven_arm().problem([0.3, 0.1])
    found = generate_code(problem, "c", method, 2 * H, derivatives=True, inputs=True).load(flags=QUICK)
    step, held = stepper(problem, method, H), problem.with_inputs(U)
    assert np.array_equal(found.rhs(0.0, problem.y0, U), held.velocity(0.0, problem.y0))
    assert np.array_equal(found.invariants(0.0, problem.y0, U), held.invariant_values(0.0, problem.y0))
    end, left = found.one_step(0.0, H, problem.y0, U)
    assert left == [0.0]
    assert np.array_equal(end, step(problem.y0, U))
    true = step.linearised(problem.y0, U)
    A, B = (f(0.0, H, problem.y0, U).reshape(4, -1) for f in (found.step_jacobian, found.step_input_jacobian))
    assert np.abs(A - true.A).max() < 1e-14
    assert np.abs(B - true.B).max() < 1e-15
    turns = [found.rhs(0.0, problem.y0, U + e) - found.rhs(0.0, problem.y0, U - e) for e in np.eye(8)]  # linear in u
    assert np.allclose(found.input_jacobian(0.0, problem.y0, U).reshape(4, 8).T, np.array(turns) / 2, atol=1e-13)
    ends, taken = found.many_steps(0.0, H, 5, problem.y0, U)
    run = integrate(held.with_start(problem.y0), method, (0.0, 5 * H), H)
    assert taken == 5
    assert np.allclose(ends, run.y[-1], rtol=0.0, atol=1e-14)


def test_inputs_of_a_compiled_model_are_an_argument_in_all_languages():
    ca, arm = pytest.importorskip("casadi"), driven_arm()
    y = np.array([0.3, 0.1, 0.5, -0.2])
    expected, model = stepper(arm.problem(), "CF4", H)(y, U), mechanics.compile_model(arm)
    one_step = model.export("casadi", "CF4", H, inputs=True).load().one_step
    assert np.allclose(np.ravel(one_step(0.0, H, y, U)[0].full()), expected, rtol=1e-13, atol=1e-14)
    u = ca.SX.sym("u", 8)
    B = ca.Function("B", [u], [ca.jacobian(one_step(0.0, H, y, u)[0], u)])(U).full()
    assert np.allclose(B, stepper(arm.problem(), "CF4", H).linearised(y, U).B, rtol=1e-12, atol=1e-14)
    many = model.export("numpy", "CF4", H, inputs=True).load().one_step(0.0, H, [y, y], [U, 0.0 * U])[0]
    assert np.array_equal(many[0], expected)
    assert np.array_equal(many[1], stepper(arm.problem(), "CF4", H)(y, 0.0 * U))
    text = model.export("cuda", "CF4", H, inputs=True)
    assert "double *all_y, long long *taken, const double *all_u)" in text
    assert "one_step(t + done * h, h, y, u, end, &left);" in text


@needs_c
def test_inputs_that_functions_give_stay_functions_and_samples_may_say_the_others():
    """With the inputs that the problem holds the iteration needs fewer rounds."""
    spring = Problem(
        rn(2), [1.0, 0.0], lambda t, y, p: [y[1], p[0] - p[1] * y[0] ** 3],
        parameters=[0.0, 0.0], inputs={"force": 0, "stiffness": 1},
    ).with_inputs({"force": lambda t: np.sin(t)})  # fmt: skip
    u, truth = [30.0], stepper(spring, "RKMK_GAUSS2", 0.1)(spring.y0, [30.0], 0.3)
    few = generate_code(spring, "c", "RKMK_GAUSS2", 0.1, inputs=True).load(flags=QUICK)
    assert few.one_step(0.3, 0.1, spring.y0, u)[1] == [1.0]
    found = generate_code(spring, "c", "RKMK_GAUSS2", 0.1, samples=[[1.0, 0.0, 60.0]], inputs=True).load(flags=QUICK)
    end, left = found.one_step(0.3, 0.1, spring.y0, u)
    assert left == [0.0]
    assert np.allclose(end, truth, rtol=0.0, atol=1e-15)


@pytest.mark.parametrize(
    ("problem", "given", "error", "said"),
    [
        (pendulum, {"inputs": True}, ValueError, "inputs: .* has none, expected numbers that are held"),
        (pendulum, {"inputs": 1}, TypeError, "inputs: 1, expected True or False"),
        (
            lambda: Problem(rn(1), [1.0], lambda t, y, p: [p[0]], parameters=[0.0], inputs={"force": 0}).with_inputs(
                {"force": np.sin}
            ),
            {"inputs": True}, ValueError, "are given by functions, expected numbers",
        ),
        (
            lambda: driven_arm().problem([0.3, 0.1]),
            {"inputs": True, "method": "RKMK4", "step": H, "samples": [1.0, 2.0]},
            ValueError, r"samples: shape \(1, 2\), expected \(m, 4\), or with inputs \(m, 12\)",
        ),
    ],
)  # fmt: skip
def test_inputs_that_are_none_are_named(problem, given, error, said):
    with pytest.raises(error, match=said):
        generate_code(problem(), "numpy", **given)


@needs_c
def test_how_many_arguments_code_in_c_takes_is_said():
    found = generate_code(driven_arm().problem([0.3, 0.1]), "c", "LIE_EULER", H, inputs=True).load(flags=QUICK)
    with pytest.raises(TypeError, match="one_step: 3 arguments, expected 4: t, h, y, u"):
        found.one_step(0.0, H, np.zeros(4))
    with pytest.raises(TypeError, match="many_steps: 4 arguments, expected 5: t, h, steps, y, u"):
        found.many_steps(0.0, H, 1, np.zeros(4))
    with pytest.raises(ValueError, match=r"u: shape \(2,\), expected \(8,\)"):
        found.many_steps(0.0, H, 1, np.zeros(4), [1.0, 2.0])


def moved_problem():
    """A pendulum on a slide that moves by samples."""
    motion = Motion.from_function(lambda t: 0.3 * np.sin(2.0 * t + 0.4), (0.0, 2.0))
    body = Body("a", Rheonomic((Slide((1, 0, 0), motion), Turn((0, 1, 0)))), inertia=BOB)
    return Tree([body], name="moved").problem([0.4])


BOB = Inertia.about_com(1.0, (0.1, 0.2, -0.5), np.diag([0.1, 0.2, 0.15]))


@needs_c
def test_motions_by_samples_are_tables_of_the_code():
    problem = moved_problem()
    texts = {language: generate_code(problem, language, "RKMK4", H) for language in ("c", "numpy", "cuda")}
    loaded = {"c": texts["c"].load(flags=QUICK), "numpy": texts["numpy"].load()}
    assert "static __device__ const double lm_table[" in texts["cuda"]
    for t in (0.0, 0.73, 1.9):
        for found in loaded.values():
            assert np.array_equal(found.rhs(t, problem.y0), problem.evaluate(problem.field, t, problem.y0, 2))
            end, left = found.one_step(t, H, problem.y0)
            assert np.array_equal(end, reference(problem, "RKMK4", t, H, problem.y0))
            assert left == [0.0]


def test_motions_by_samples_in_jax_and_casadi():
    problem = moved_problem()
    with pytest.raises(TypeError, match="have no code for CasADi: give the motion as an input"):
        generate_code(problem, "casadi")
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    rhs = jax.jit(generate_code(problem, "jax").load().rhs)
    assert np.allclose(rhs(0.73, problem.y0), problem.evaluate(problem.field, 0.73, problem.y0, 2), rtol=1e-12)
