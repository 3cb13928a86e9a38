"""Systems that are written once have the fields, invariants and parts of kernels that were written for them by hand.

The table was recorded from those kernels at random states (q, u) and (q, v), v not admissible, at the time 0.3.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from integrators.problem.multipliers import work_rows
from mechanics.systems import NONHOLONOMIC

RECORDED = json.loads(Path(__file__).with_name("recorded_values.json").read_text())


def values(system, function, y, size):
    """The interpreted function: the compiled one has the same bits."""
    out, work = np.zeros(size), np.zeros((work_rows(system.n, system.m) + system.scratch + 3, 600))
    function.python(0.3, np.array(y), system.parameters, system.structure, work, out)
    return out


@pytest.mark.parametrize("name", RECORDED)
def test_values_are_those_of_the_kernels_written_by_hand(name):
    system = NONHOLONOMIC[name]()
    for record in RECORDED[name]:
        states = {"reduced": [*record["q"], *record["u"]], "constrained": [*record["q"], *record["v"]]}
        for form, state in states.items():
            for what, function in getattr(system, form)._asdict().items():
                if function is not None:
                    known = np.array(record[f"{form}_{what}"])
                    edges = len(system.edges) if (form, what) == ("reduced", "invariants") else 0
                    found = values(system, function, state, len(known) + edges)[: len(known)]
                    np.testing.assert_allclose(found, known, rtol=0, atol=1e-13 * (1 + np.abs(known).max()))
