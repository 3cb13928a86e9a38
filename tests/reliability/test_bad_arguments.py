"""Bad arguments to everything public: right, or an error that names what is wrong, never one from deep inside."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import itertools
import pkgutil
import re
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import liegroup
from integrators import Problem, Solution, integrate
from integrators.adapters.scipy import lie_solver
from integrators.events import Event
from integrators.problem.holonomic import holonomic_problem
from integrators.problem.lagrangian import lagrangian_problem
from integrators.problem.mass_matrix import mass_matrix_problem
from integrators.results import StorageError
from liegroup.compile import is_formula
from mechanics import Frame, Inertia, Mechanism, ModelError, Tree
from mechanics.constraints import coupling, holonomic
from mechanics.joints import Motion
from mechanics.nonholonomic import NonholonomicSystem
from mechanics.systems import SYSTEMS

SPEC = importlib.util.spec_from_file_location("right_calls", Path(__file__).with_name("calls.py"))
calls = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(calls)

BAD: dict[str, Any] = {
    "None": None,
    "nan": np.nan,
    "inf": np.inf,
    "-inf": -np.inf,
    "text": "a",
    "no text": "",
    "bytes": b"x",
    "empty list": [],
    "empty mapping": {},
    "complex": 1j,
    "object": object(),
    "-1": -1,
    "0": 0,
    "2.7": 2.7,
    "True": True,
    "10^400": 10**400,
    "shape (0, 3)": np.zeros((0, 3)),
    "shape (2, 3, 5)": np.zeros((2, 3, 5)),
    "array of nan": np.full(3, np.nan),
    "complex array": np.ones(3, complex),
    "ragged": [[1.0], [2.0, 3.0]],
    "list of None": [None],
    "list of text": ["a"],
    "function": lambda: 0,
}
NOT_FOR_USERS = (
    "liegroup.compile",
    "liegroup.display",
    "liegroup.formulas",
    "liegroup.table",
    "liegroup.maps",
    "liegroup.testing",
    "integrators.layout",
    "integrators.scenes.standard",
    "integrators.signatures",
    "integrators.testing",
    "integrators.tableaus.numbers",
    "mechanics.scenes",
    "mechanics.testing",
    "mechanics.reference",
    "mechanics.nonholonomic.flat",
    "mechanics.adapters.reading",
    "mechanics.evaluation",
    "mechanics.states",
)
"""Formulas on scalars, kernels, parts of readers, pages and scenes, what only tests call: what calls them checks."""
DEEP = {
    "integrators.Status": "an enumeration of Python's",
    "mechanics.forces.not_negative": "a check itself: what it is called with is the name of an argument",
    "liegroup.elements.Element": "the base of elements, which has no group",
    "integrators.controllers.first_step": "arrays of the engine's",
    "integrators.scenes.of_group": "the table of a group of ours",
    "integrators.scenes.record": "what a solution has: `Solution.film` calls it",
}
"""Public, but not to be called with anything from outside."""
NAMED = (ValueError, TypeError, KeyError, IndexError, OSError)


def public() -> Iterator[tuple[str, Any]]:
    """Name and object of every function and class in `__all__` of every module, and every verb of the groups."""
    seen: set[int] = set()
    for root in ("liegroup", "integrators", "mechanics"):
        package = importlib.import_module(root)
        modules = [root, *(m.name for m in pkgutil.walk_packages(package.__path__, f"{root}."))]
        for module in (importlib.import_module(m) for m in modules if not m.startswith(NOT_FOR_USERS)):
            for name in vars(module).get("__all__", ()):
                thing = getattr(module, name)
                if id(thing) not in seen and isinstance(getattr(thing, "__module__", None), str):
                    seen.add(id(thing))
                    yield from _callables(f"{module.__name__}.{name}", thing)


def _callables(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    is_ours = thing.__module__.split(".")[0] in ("liegroup", "integrators", "mechanics")
    is_error = inspect.isclass(thing) and issubclass(thing, BaseException)
    if hasattr(thing, "table") and not inspect.isclass(thing):
        verbs = [verb for verb in dir(thing) if not verb.startswith("_") and callable(getattr(thing, verb))]
        yield from ((f"{name}.{verb}", getattr(thing, verb)) for verb in verbs)
    elif callable(thing) and is_ours:
        is_protocol = getattr(thing, "_is_protocol", False)
        yield from [] if is_error or is_protocol or is_formula(thing) or name in DEEP else [(name, thing)]


PUBLIC = dict(public())


def call(thing: Any, *args: Any, **options: Any) -> BaseException | None:
    """What a call raises, if it raises; two minutes of the processor, with what is to be compiled, are too long, and so
    is a quarter of an hour by the clock, where other programs may be using the processor.
    """

    def late(*_: Any) -> None:
        raise TimeoutError("still running")

    before = [(number, signal.signal(number, late)) for number in (signal.SIGALRM, signal.SIGPROF)]
    signal.setitimer(signal.ITIMER_PROF, 120.0)
    signal.alarm(900)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            thing(*args, **options)
    except Exception as error:
        return error
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        for number, handler in before:
            signal.signal(number, handler)
    return None


def is_named(error: BaseException | None) -> bool:
    """Nothing, or an error that is ours: no LinAlgError, TypingError, TimeoutError, and none without a word."""
    if error is None:
        return True
    from_deep = isinstance(error, (np.linalg.LinAlgError, TimeoutError)) or type(error).__module__.startswith("numba")
    too_large = isinstance(error, OverflowError) and "too large" in str(error)
    of_a_list = isinstance(error, IndexError) and "expected" not in str(error)
    return (isinstance(error, NAMED) or too_large) and not (from_deep or of_a_list) and bool(str(error))


def is_told(error: BaseException | None, names: Iterable[str]) -> bool:
    """Nothing, or an error that says which argument is wrong, or which file, element of a model or user's function."""
    told = "|".join(re.escape(name.removesuffix("s")) + "s?" for name in names)
    words = rf"(?<![A-Za-z0-9_])({told})(?![A-Za-z0-9_])|positional argument|takes \d+ arguments|too large"
    return error is None or isinstance(error, (ModelError, StorageError)) or bool(re.search(words, str(error)))


def parameters_of(thing: Any) -> list[inspect.Parameter]:
    """Those that have names."""
    known = inspect.signature(thing).parameters.values()
    return [p for p in known if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]


def test_the_list_of_what_is_public_is_long() -> None:
    assert len(PUBLIC) > 250


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_function_takes_or_names_what_is_bad(name: str) -> None:
    """Every argument that must be given is the same bad value."""
    try:
        parameters = inspect.signature(PUBLIC[name]).parameters.values()
    except ValueError:
        pytest.skip("made in C")
    required = [p for p in parameters if p.default is p.empty]
    places = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in required)
    words = [p.name for p in required if p.kind is p.KEYWORD_ONLY]
    found = {}
    for label, bad in BAD.items():
        error = call(PUBLIC[name], *[bad] * places, **dict.fromkeys(words, bad))
        if not (is_named(error) and is_told(error, [p.name for p in parameters])):
            found[label] = repr(error)
    assert not found


OBJECTS: dict[type, Callable[[], Any]] = {
    Tree: calls.pendulum,
    Mechanism: lambda: SYSTEMS["four-bar"].mechanism(),
    NonholonomicSystem: lambda: SYSTEMS["vertical-disk"].make(),
    Problem: calls.posed,
    Solution: calls.solution,
    Inertia: lambda: calls.pendulum().bodies[0].inertia,
}
"""Made by the tests that ask them: nothing is compiled while tests are collected."""
OF_THE_ENGINE = {
    *("energy_guards", "explain", "check_state", "parts_values", "evaluate", "trajectory", "work_shape_for"),
}
"""Methods that are called with what was checked; and `trajectory`, which has nothing to say of a single one."""
METHODS = {
    f"{made.__name__}.{method}": (made, method)
    for made in OBJECTS
    for method, kind in inspect.getmembers_static(made)
    if isinstance(kind, (FunctionType, staticmethod, classmethod))
    and not (method.startswith("_") or method in OF_THE_ENGINE)
}


@cache
def an(made: type) -> Any:
    """An object that users make."""
    thing = OBJECTS[made]()
    assert type(thing) is made
    return thing


@pytest.mark.parametrize("name", METHODS)
def test_every_method_of_what_users_make_takes_or_names_what_is_bad(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made, method = METHODS[name]
    function = getattr(an(made), method)
    required, found = [p for p in parameters_of(function) if p.default is p.empty], {}
    for label, bad in BAD.items():
        error = call(function, **dict.fromkeys((p.name for p in required), bad)) if required else None
        if not (is_named(error) and is_told(error, [p.name for p in required])):
            found[label] = repr(error)
    assert not found


@pytest.mark.parametrize("size", [0, 1, 3])
@pytest.mark.parametrize("of", ["velocity", "invariant_values"])
def test_states_of_another_size_are_refused_before_compiled_code_reads_beyond_them(of: str, size: int) -> None:
    problem = SYSTEMS["heavy-top"].problem()
    with pytest.raises(ValueError, match=rf"y: shape \({size},\), expected \({problem.n},\)"):
        getattr(problem, of)(0.0, np.ones(size))


# --- one argument at a time -------------------------------------------------------------------------------------------

NEVER = (
    "nan", "object", "bytes", "complex", "list of None", "ragged", "array of nan", "shape (2, 3, 5)", "list of text",
)  # fmt: skip
"""What no argument takes, but for those in `TAKEN`."""
TAKEN = {
    "so3.interpolate s": {"complex", "shape (2, 3, 5)"},  # derivatives by complex steps; s broadcasts
    "JointData": set(NEVER),  # checked by the body that has it: its joint says how many numbers there are
    "Tree notes": set(NEVER),
}
CALLS = calls.calls()


@pytest.mark.parametrize("name", CALLS)
def test_each_argument_is_right_or_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some bad values are names of files
    function, given = CALLS[name]
    found = {}
    assert call(function, **given) is None
    for argument, (label, bad) in itertools.product(given, BAD.items()):
        error = call(function, **given | {argument: bad})
        taken = error is None and label in NEVER
        taken = taken and not any(label in TAKEN.get(key, ()) for key in (name, f"{name} {argument}"))
        if taken or not (is_named(error) and is_told(error, [argument])):
            found[argument, label] = repr(error)
    assert not found


GIVEN: dict[str, dict[str, Any]] = {
    "fixed": {"problem": calls.posed(), "method": "RKMK4", "t_span": (0.0, 1.0), "step": 0.1},
    "variable": {"problem": calls.posed(), "method": "RKMK_DORMAND_PRINCE54", "t_span": (0.0, 1.0), "rtol": 1e-3},
}
ARGUMENTS = (
    "problem", "method", "t_span", "step", "y0", "rtol", "atol", "controller", "max_step", "max_steps", "save_every",
    "t_eval", "events", "callback",
)  # fmt: skip
RIGHT = {  # bad elsewhere, right here
    "method": {"None"},
    "step": {"None", "2.7", "True"},
    "rtol": {"None", "2.7", "True", "0"},
    "atol": {"None", "2.7", "True", "0"},
    "max_step": {"inf", "2.7", "True", "10^400"},
    "max_steps": {"None", "10^400", "True", "0"},
    "save_every": {"None", "10^400", "True"},
    "y0": {"None"},
    "controller": {"None"},
    "t_eval": {"None"},
    "events": {"None", "empty list", "empty mapping"},
    "callback": {"None"},
}


@pytest.mark.parametrize("kind", GIVEN)
@pytest.mark.parametrize("argument", ARGUMENTS)
def test_integrate_names_its_bad_arguments(kind: str, argument: str) -> None:
    found = {}
    for label, bad in BAD.items():
        error = call(integrate, **(GIVEN[kind] | {argument: bad}))
        right = label in RIGHT.get(argument, ())
        told = is_told(error, [argument])
        if not (is_named(error) and told) or (error is None and not right):
            found[label] = repr(error)
    assert not found


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"y0": np.zeros((0, 2))}, r"y0: shape \(0, 2\), expected at least one state"),
        ({"save_every": np.inf}, "save_every: inf, expected a positive integer"),
        ({"max_steps": -5}, "max_steps: -5, expected an integer of at least 0"),
        ({"max_steps": 2.7}, r"max_steps: 2\.7, expected an integer"),
        ({"max_steps": np.inf}, "max_steps: inf, expected an integer"),
        ({"problem": None}, "problem: None, expected a Problem"),
        ({"step": "a"}, "step: 'a', expected a positive number"),
        ({"step": [0.1]}, r"step: \[0.1\], expected a positive number"),
        ({"step": np.array([0.1, 0.2])}, "step: .*expected a positive number"),
        ({"t_span": "ab"}, "t_span: 'ab', expected two finite numbers"),
        ({"t_eval": [0.1, 1j]}, "t_eval: complex numbers"),
        ({"callback": 3}, "callback: 3, expected a function"),
    ],
)
def test_messages_name_argument_value_and_what_was_expected(changes: dict[str, Any], says: str) -> None:
    with pytest.raises((TypeError, ValueError), match=says):
        integrate(**(GIVEN["variable" if "max_steps" in changes else "fixed"] | changes))


@pytest.mark.parametrize(
    "argument", ["group", "y0", "field", "parameters", "structure", "work_shape", "invariants", "projection", "parts"]
)
def test_problems_name_their_bad_arguments(argument: str) -> None:
    found = {}
    for label, bad in BAD.items():
        error = call(calls.posed, **{argument: bad})
        if not (is_named(error) and is_told(error, [argument])):
            found[label] = repr(error)
    assert not found


ENDS = Frame(None), Frame("body")
OF_ANOTHER_NUMBER: dict[str, Any] = {
    "lagrangian: a function of 4 arguments": lambda f: lagrangian_problem(f, [0.0]),
    "force: a function of 4 arguments": lambda f: lagrangian_problem(
        lambda t, q, v, p: v[0] ** 2, [0.0], [1.0], force=f
    ),
    "constraints: a function of 3 arguments": lambda f: holonomic_problem(lambda t, q, v, p: v[0] ** 2, f, [0.0]),
    "mass: a function of 3 arguments": lambda f: mass_matrix_problem(f, calls.decay, [0.0]),
    "closure 'bowl': a function of 2 arguments": lambda f: holonomic(*ENDS, f, "bowl"),
    "closure 'coupling a–b': a function of 2 arguments": lambda f: coupling(["a", "b"], f),
    "callback: a function of 2 arguments": lambda f: integrate(**GIVEN["fixed"], callback=f),
    "function: a function of 1 argument is": lambda f: Motion.from_function(f, (0.0, 1.0)),
}


@pytest.mark.parametrize("says", OF_ANOTHER_NUMBER)
def test_functions_of_another_number_of_arguments_are_named_with_their_arguments(says: str) -> None:
    with pytest.raises(TypeError, match=f"^{re.escape(says)}.*this one has \\(a, b, c, d, e\\); expected a function"):
        OF_ANOTHER_NUMBER[says](lambda a, b, c, d, e: 0.0)


def test_solvers_and_events_name_their_bad_arguments() -> None:
    def solver(**options: Any) -> Any:
        return lie_solver("RKMK_DORMAND_PRINCE54", 2)(calls.decay, 0.0, [1.0, 2.0], 1.0, **options)

    for option in ("rtol", "atol", "first_step", "max_step", "controller", "step"):
        found = {label: error for label, bad in BAD.items() if not is_named(error := call(solver, **{option: bad}))}
        assert not found, option
    for option in ("direction", "terminal", "name"):
        given = {"function": calls.decay}
        found = {label: e for label, bad in BAD.items() if not is_named(e := call(Event, **given, **{option: bad}))}
        assert not found, option


# --- batches ----------------------------------------------------------------------------------------------------------

GROUPS = {
    "so2": liegroup.so2,
    "so3": liegroup.so3,
    "se2": liegroup.se2,
    "se3": liegroup.se3,
    "rn": liegroup.rn(3),
    "product": liegroup.product(liegroup.so3, liegroup.rn(2), liegroup.se3),
}
VERBS = {
    name: [p.name for p in inspect.signature(getattr(liegroup.so3, name)).parameters.values() if p.default is p.empty]
    for name in dir(liegroup.so3)
    if not name.startswith("_") and callable(getattr(liegroup.so3, name)) and name not in ("random", "identity")
}


@pytest.mark.parametrize("name", GROUPS)
def test_membership_of_batches_is_asked_element_by_element(name: str) -> None:
    group = GROUPS[name]
    q = group.random(0, 4)
    assert group.is_element(q).tolist() == [True] * 4
    q[2] = np.nan
    assert group.is_element(q).tolist() == [True, True, False, True]
    assert group.is_element(q[:0]).shape == (0,)
    assert group.is_element(q[:, :-1]).tolist() == [False] * 4
    assert group.is_element(q.reshape(2, 2, -1)).tolist() == [[True, True], [False, True]]
    assert not group.is_element([[1.0], [2.0, 3.0]])


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", GROUPS)
def test_batches_of_none_give_batches_of_none(name: str, verb: str) -> None:
    """The shape of what every verb of a group returns for k = 0 elements is that for k = 1, but for the 0."""
    group = GROUPS[name]
    q, x = group.random(0, 1), np.full((1, group.n_v), 0.1)
    try:
        known = {
            "g": q,
            "h": q,
            "q": q,
            "x": x,
            "y": x,
            "mu": x,
            "point": np.ones((1, group.n_point)),
            "s": np.full(1, 0.5),
            "m": group.hat(x) if verb == "vee" else group.as_matrix(q),
        }
        given = [known[parameter] for parameter in VERBS[verb]]
    except (KeyError, ValueError) as error:
        pytest.skip(str(error))
    if isinstance(error := call(getattr(group, verb), *given), (ValueError, TypeError)):
        pytest.skip(f"not of {name}: {error}")
    one, none = getattr(group, verb)(*given), getattr(group, verb)(*(a[:0] for a in given))
    assert np.shape(none) == (0, *np.shape(one)[1:])


STATES = ("q", "v", "p", "a", "tau", "wrenches")
OF_TREES = {name: given for name, (_, given) in CALLS.items() if given.keys() >= {"tree", "q"} and name != "Mechanism"}


@pytest.mark.parametrize("name", OF_TREES)
def test_dynamics_of_no_states_are_none(name: str) -> None:
    function, given = CALLS[name]

    def shapes(count: int) -> list[tuple[int, ...]]:
        batches = {k: np.repeat(np.asarray(given[k])[None], count, 0) for k in STATES if k in given}
        found = function(**given | batches)
        return [np.shape(part) for part in (found if isinstance(found, tuple) else (found,))]

    assert shapes(0) == [(0, *shape[1:]) for shape in shapes(1)]


def test_ensembles_of_none_are_refused() -> None:
    with pytest.raises(ValueError, match="expected at least one state"):
        calls.posed(y0=np.zeros((0, 2)))
