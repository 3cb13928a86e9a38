"""Steps that vary reversibly keep the energy of an eccentric orbit, and the wished step knows its own rate."""

import numpy as np
import pytest

import mechanics
from studies.energy_drift.systems import start_of, tree_of
from studies.registry import STUDIES
from studies.variable_steps.question import VariableStepsConfig, chain_step, records, run


@pytest.fixture(scope="module")
def runs():
    return run(VariableStepsConfig(quick=True))


def of(runs, steering):
    return [r for r in runs if r.system == "Kepler" and r.steering == steering]


def test_every_way_gets_the_same_number_of_steps(runs):
    for n, fixed, integrating, logarithmic in zip(
        (250, 500), of(runs, "fixed"), of(runs, "integrating"), of(runs, "logarithmic"), strict=True
    ):
        for r in (fixed, integrating, logarithmic):
            assert abs(r.mean_step * n - 1) < 0.03


def test_reversible_steps_gain_on_the_orbit(runs):
    for fixed, integrating, logarithmic in zip(
        of(runs, "fixed"), of(runs, "integrating"), of(runs, "logarithmic"), strict=True
    ):
        assert integrating.band < 0.1 * fixed.band
        assert logarithmic.band < 1e-12
        assert not integrating.drifts
    assert all(r.drifts for r in of(runs, "error")), "the ruler sees a drift where there is one"


def test_the_wished_step_of_the_chain_knows_its_rate():
    """G = −d ln Q/dt along the motion, by differences."""
    tree = tree_of("chain-3")
    problem = mechanics.hamiltonian_problem(tree, *start_of(tree, "chain-3", 0.5, 1))
    y, scale = np.array(problem.y0), 2.0
    parameters, work = np.append(problem.parameters, scale), np.zeros((tree.work_shape[0] + 3, 38))

    def size(state):
        out = np.zeros(2)
        chain_step.compiled(0.0, state, parameters, problem.structure, work, out)
        return out

    rate, d = problem.velocity(0.0, y), 1e-5
    q, p = np.split(y, 2)
    kinetic = 0.5 * p @ mechanics.hamiltonian_rhs(tree, q, p)[0]
    assert abs(size(y)[0] - (1 + kinetic / scale) ** -0.5) < 1e-14
    expected = -(np.log(size(y + d * rate)[0]) - np.log(size(y - d * rate)[0])) / (2 * d)
    assert abs(size(y)[1] - expected) < 1e-8 * max(1.0, abs(expected))


def test_the_answer_has_its_records_and_its_picture(runs):
    study = STUDIES["variable-steps"]
    assert {r["steering"] for r in records(runs)} == {"fixed", "integrating", "logarithmic", "divided", "error"}
    assert len(study.figure(runs).axes) == 3
    assert len(study.data(runs).variables["run"].values) == len(runs)
    assert study.remarks(runs)
