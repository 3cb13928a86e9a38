"""The catalogue: nothing in it escapes the tests of orders, and what methods need is known before a run."""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liegroup
from integrators import Problem, integrate
from integrators.layout import OWN_ROWS
from integrators.method import Method, Stepper
from integrators.method.method import NEEDS
from integrators.methods import METHODS, catalogue, find
from integrators.methods.catalogue import ENTRY_POINTS, Catalogue
from integrators.signatures import FIELD_SIGNATURES, STEP_SIGNATURES
from integrators.status import OK
from integrators.testing import order_problem
from liegroup import rn
from liegroup.compile import entry, ld, st
from liegroup.table import RN, SO3, table_of

TESTS = Path(__file__).parents[1]
ORDERS = (
    "integrators/steppers/test_orders.py",
    "integrators/steppers/test_canonical_alpha.py",
    "integrators/steppers/test_composition.py",
    "integrators/steppers/test_splitting.py",
    "integrators/variational/test_lie_variational.py",
    "integrators/variational/test_variational_in_lanes.py",
    "integrators/variational/test_discrete_lagrangian.py",
    "integrators/variational/test_lgvi.py",
    "integrators/variational/test_energy_momentum.py",
    "integrators/variational/test_rattle.py",
    "integrators/nonholonomic/test_nonholonomic_methods.py",
    "mechanics/variational/test_tree_step.py",
    "mechanics/variational/test_elements_in_the_step.py",
    "mechanics/loops/test_dae_methods.py",
    "mechanics/elastic/test_asynchronous.py",
    "mechanics/elastic/test_rigid_rods.py",
)
"""Files whose tests named after orders measure the orders of the methods they are parametrised with."""
OURS = {name: method for name, method in METHODS.items() if isinstance(method, Method)}


def values_of(test: Any) -> Iterator[Any]:
    """All values a test is parametrised with."""
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            for case in mark.args[1]:
                case = getattr(case, "values", case)
                yield from case if isinstance(case, (tuple, list)) else (case,)


def compares(test: Any) -> bool:
    """Whether a test asserts something of an order, a slope or a series of errors."""
    return bool(re.search(r"^\s+assert .*(order|slope|errors|ratio|found)", inspect.getsource(test), flags=re.M))


def measured() -> set[str]:
    """Methods whose order some test measures."""
    names: set[str] = set()
    for file in ORDERS:
        spec = importlib.util.spec_from_file_location(f"orders_{Path(file).stem}", TESTS / file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        tests = [f for name, f in vars(module).items() if name.startswith("test_") and "order" in name and compares(f)]
        names |= {getattr(v, "name", v) for test in tests for v in values_of(test) if isinstance(v, (str, Method))}
    return names


def test_every_method_has_a_measured_order() -> None:
    missing = sorted(set(OURS) - measured())
    assert not missing, f"no test measures the order of {', '.join(missing)}"


def plain(kind: int = RN) -> Problem:
    table = table_of([(kind, 1)]) if kind == SO3 else table_of([(RN, 2)])
    return Problem(table, [1.0, 0, 0, 0] if kind == SO3 else [0.3, 0.1], lambda t, y: np.cos(y[: 3 - (kind == RN)]))


@pytest.mark.parametrize("name", [n for n, m in OURS.items() if m.needs != "field"])
def test_methods_that_need_more_than_a_field_refuse_problems_without_it_by_name(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        integrate(plain(), name, (0.0, 1.0), step=0.1)


@pytest.mark.parametrize("name", [n for n, m in OURS.items() if m.needs == "field" and m.order <= 4])
def test_methods_that_need_a_field_only_take_any(name: str) -> None:
    OURS[name].check(plain())
    OURS[name].check(order_problem("product"))


def test_what_steppers_need_has_a_name() -> None:
    assert {m.needs for m in OURS.values()} == set(NEEDS)


def test_the_catalogue_and_its_methods_print_in_a_line() -> None:
    assert repr(METHODS).startswith(f"<{len(METHODS)} methods by name; families: rkmk (")
    assert repr(METHODS["CF4"]) == "<Method CF4: order 4, exponential, for any field on any group>"
    assert "linear equation" in repr(METHODS["MAGNUS4"])
    assert repr(plain()) == "<Problem 'problem': on R^2>"
    solution = integrate(plain(), "RKMK4", (0.0, 1.0), step=0.1)
    assert repr(solution).startswith("<Solution of 'problem' by RKMK4: 11 saved states; reached the end")


def test_where_selects_by_claims_group_and_problem() -> None:
    fourth = METHODS.where(order=4, symplectic=True)
    assert fourth
    assert set(fourth) == {n for n, m in OURS.items() if m.order == 4 and m.symplectic}
    assert list(METHODS.where(order=range(9, 99))) == [n for n in METHODS if METHODS[n].order > 8]
    assert set(METHODS.where(explicit=True, adaptive=True)) == {
        n for n, m in OURS.items() if m.is_adaptive and m.evaluations is not None
    }
    on = METHODS.where(group="SE3")
    assert "RKMK4" in on
    assert not {"DEL_GAUSS2", "LGVI_MOSER_VESELOV", "ENERGY_MOMENTUM"} & set(on)
    assert {"LGVI_MOSER_VESELOV", "ENERGY_MOMENTUM"} <= set(METHODS.where(group=liegroup.so3))
    assert "DEL_GAUSS2" in METHODS.where(group="Rn")


def test_methods_where_a_problem_is_given_are_those_that_take_it() -> None:
    problem = plain()
    taken = METHODS.where(problem=problem)
    assert "RKMK4" in taken
    for name, method in OURS.items():
        if name not in taken:
            with pytest.raises(ValueError, match=re.escape(name)):
                method.check(problem)


def test_a_selection_prints_as_a_table() -> None:
    chosen = METHODS.where(order=16)
    head, *lines = repr(chosen).splitlines()
    assert head.split() == ["name", "order", "is", "family", "for"]
    assert [line.split()[:2] for line in lines] == [[name, "16"] for name in chosen]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"ordre": 4}, "ordre"),
        ({"group": "SU(2)"}, r"SU\(2\).*SE\(3\)"),
        ({"group": 3}, "group"),
        ({"problem": 3}, "problem"),
    ],
)
def test_where_names_what_it_does_not_know(asked: dict[str, Any], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        METHODS.where(**asked)


@pytest.mark.parametrize(
    "wrong",
    [
        {"order": 0},
        {"order": -1},
        {"order": 2.5},
        {"order": None},
        {"order": "4"},
        {"evaluations": -2},
        {"evaluations": float("nan")},
        {"embedded_order": -1},
        {"dense_order": 1.5},
        {"velocity_order": 0},
        {"energy_kept": -1.0},
        {"projection_every": 0},
        {"name": 4},
    ],
    ids=str,
)
def test_counts_of_a_method_that_are_none_are_refused_by_name(wrong: dict[str, Any]) -> None:
    ((field, value),) = wrong.items()
    with pytest.raises((TypeError, ValueError), match=rf"{field}: {re.escape(repr(value))}, expected"):
        replace(METHODS["RKMK4"], **wrong)


PLUGIN = """
from dataclasses import replace
from integrators.methods import METHODS, catalogue, find
from integrators.methods.catalogue import ENTRY_POINTS, Catalogue

def mine():
    return replace(METHODS["RKMK4"], name="MINE")

other = METHODS["RKMK4"]
"""


def test_installed_packages_add_methods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "their_methods.py").write_text(PLUGIN, encoding="utf-8")
    info = tmp_path / "their_methods-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-methods\nVersion: 1.0\n", encoding="utf-8")
    named = {"MINE": "mine", "OTHER": "other", "LOST": "lost", "RKMK4": "mine"}
    lines = [f"{name} = their_methods:{value}" for name, value in named.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{ENTRY_POINTS}]", *lines, ""]), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    catalogue = Catalogue(ENTRY_POINTS)
    catalogue.add("RKMK4", METHODS["RKMK4"])
    with pytest.warns(UserWarning, match=r"their-methods.*left out.*'RKMK4'"):
        assert list(catalogue) == ["RKMK4", "MINE", "OTHER", "LOST"]
    problem = plain()
    assert np.array_equal(
        integrate(problem, catalogue["MINE"], (0.0, 1.0), step=0.1).y[-1],
        integrate(problem, "RKMK4", (0.0, 1.0), step=0.1).y[-1],
    )
    with pytest.raises(ImportError, match=r"'OTHER' of their-methods.*expected a Method named 'OTHER'"):
        catalogue["OTHER"]
    with pytest.raises(ImportError, match="'LOST' of their-methods"):
        catalogue["LOST"]


def test_names_of_other_libraries_lead_to_ours():
    for name, ours in catalogue.ELSEWHERE.items():
        assert set(ours) <= set(METHODS)
        if name not in {x.lower() for x in METHODS}:
            with pytest.raises(ValueError, match=f"did you mean {' or '.join(ours)}"):
                find(name)
    with pytest.raises(ValueError, match="did you mean RKMK_DORMAND_PRINCE54"):
        find("RK45")


@entry(*STEP_SIGNATURES)
def beyond_its_rows(
    field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
):  # fmt: skip
    field(t, y, parameters, structure, field_work, work[OWN_ROWS + 2])
    return OK


@entry(*STEP_SIGNATURES)
def too_short(
    field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
):  # fmt: skip
    v = work[OWN_ROWS]
    field(t, y, parameters, structure, field_work, v)
    for i in range(y.shape[0]):
        st(y, i, ld(y, i) + 0.9 * h * ld(v, i))
    return OK


@entry(*STEP_SIGNATURES)
def of_euler(
    field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
):  # fmt: skip
    v = work[OWN_ROWS]
    field(t, y, parameters, structure, field_work, v)
    for i in range(y.shape[0]):
        st(y, i, ld(y, i) + h * ld(v, i))
    return OK


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (beyond_its_rows, "OWN: index 6 is out of bounds .* a workspace of 6 rows"),
        (too_short, "OWN: a step of .* ends 10 % of its way beside .* not consistent"),
        (of_euler, ""),
    ],
)
def test_a_stepper_of_ones_own_keeps_to_its_rows_and_goes_where_the_field_points(step, message):
    method = Method("OWN", Stepper("own", step, lambda options: 2, maps=("exp",)), order=1, evaluations=1)
    problem = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]])
    with pytest.raises(ValueError, match=message) if message else nullcontext():
        assert abs(integrate(problem, method, (0.0, 1.0), 1e-3).y[-1, 0] - np.cos(1.0)) < 1e-3


@entry(*STEP_SIGNATURES)
def of_implicit_euler(
    field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
):  # fmt: skip
    """Exact for ẏᵢ = a(t) + b yᵢ."""
    v, x, w = work[OWN_ROWS], work[OWN_ROWS + 1], work[OWN_ROWS + 2]
    field(t + h, y, parameters, structure, field_work, v)
    for i in range(y.shape[0]):
        st(x, i, ld(y, i) + 1.0)
    field(t + h, x, parameters, structure, field_work, w)
    for i in range(y.shape[0]):
        st(y, i, ld(y, i) + h * ld(v, i) / (1.0 - h * (ld(w, i) - ld(v, i))))
    return OK


@entry(*FIELD_SIGNATURES)
def of_a_table(t, y, parameters, structure, work, out):
    st(out, 0, ld(y, 1))
    st(out, 1, -parameters[int(10.0 * t)] * ld(y, 0))


def near_a_slow_motion(t, y):
    return [1e9 * (np.cos(t) - y[0]), 1.0]


@pytest.mark.parametrize(
    ("field", "start", "step"),
    [
        (near_a_slow_motion, [1.0 + 1e-9, 0.0], of_implicit_euler),
        (of_a_table, [1e-7, 0.0], of_implicit_euler),
        (lambda t, y: [0.0, 0.0], [1.0, 2.0], of_euler),
        (lambda t, y: [1e-14, -1e-14], [1.0, 2.0], of_euler),
        (lambda t, y: [0.0 if t == 0.0 else 1.0, y[0]], [0.0, 0.0], of_implicit_euler),
    ],
)
def test_a_right_step_of_ones_own_is_taken_whatever_the_field(field, start, step):
    """Stiff, a table that ends soon, at rest, slow, or with a jump at the start."""
    method = Method("OWN", Stepper("own", step, lambda options: 3, maps=("exp",)), order=1, evaluations=0)
    method.check(Problem(rn(2), start, field, parameters=[4.0] * 30), 0.0)
