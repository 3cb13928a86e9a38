"""Groups of installed packages are known in every process; what is wrong with one is said and stops nothing."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GROUP = """

from liegroup.formulas import so2

NAME = "Circle"
globals().update({name: getattr(so2, name) for name in dir(so2) if not name.startswith("__") and name != "NAME"})
"""
RUN = """
import warnings

import circles

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    from integrators import Problem
    from integrators.method import step_map
    from integrators.methods import METHODS
    from liegroup import Group, product, so3

    circle = Group(((circles, 1),))
    assert circle.table[0, 0] == 5
    assert "RKMK4" in METHODS.where(group="Circle", order=4)
    problem = Problem(product(so3, circle), [1.0, 0.0, 0.0, 0.0, 0.5], lambda t, y: [0.0, 0.0, 1.0, 2.0])
    end = step_map(problem, METHODS["RKMK4"], interpreted=True)(problem.y0, 0.25)
    assert abs(end[4] - 1.0) < 1e-15
messages = [str(w.message) for w in said]
assert len(messages) == 2, messages
assert any("'lost' of their-groups (no_such_module)" in m and "its group is left out" in m for m in messages), messages
assert any("'half' of their-groups (circles:half)" in m and "it lacks" in m for m in messages), messages
print("done")
"""


def test_installed_packages_add_groups(tmp_path: Path) -> None:
    (tmp_path / "circles.py").write_text(GROUP + "\nclass half:\n    NAME = 'half'\n", encoding="utf-8")
    info = tmp_path / "their_groups-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-groups\nVersion: 1.0\n", encoding="utf-8")
    named = "circle = circles\nhalf = circles:half\nlost = no_such_module\n"
    (info / "entry_points.txt").write_text(f"[liemech.groups]\n{named}", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"


COUNTED = """
import sys

from liegroup.compile.stages import KernelCompiler

compiled, original = [], KernelCompiler._compile_bytecode
KernelCompiler._compile_bytecode = lambda self: compiled.append(self.state.func_id.func_qualname) or original(self)

import circles

from integrators import Problem, integrate
from liegroup import Group, product, so2, so3, table


def run(group):
    problem = Problem(product(so3, group), [1.0, 0.0, 0.0, 0.0, 0.5], lambda t, y: [0.0, 0.0, 1.0, 2.0])
    before = len(compiled)
    solution = integrate(problem, "RKMK_DORMAND_PRINCE54", (0.0, 1.0), rtol=1e-6, progress=False)
    assert solution.success and abs(solution.y[-1, 4] - 2.5) < 1e-12
    return compiled[before:]


if sys.argv[1] == "later":
    run(so2)
table.register(circles)
print(*run(Group(((circles, 1),))))
"""


WRONG = """
import arcs
import circles
import spirals
from integrators import Problem, integrate
from liegroup import Group, table

for file in (circles, spirals, arcs):
    table.register(file)
    problem = Problem(Group(((file, 1),)), [0.5], lambda t, y: [2.0])
    for method in ("RKMK4", "GAUSS8"):
        try:
            print(file.NAME, integrate(problem, method, (0.0, 1.0), 0.1, progress=False).success)
        except ValueError as error:
            print(ascii(str(error)))
"""


def test_a_run_on_a_group_whose_formulas_contradict_one_another_is_refused(tmp_path: Path) -> None:
    (tmp_path / "circles.py").write_text(GROUP, encoding="utf-8")
    (tmp_path / "spirals.py").write_text(
        GROUP.replace("Circle", "Spiral") + "\n\ndef displace(q, d):\n    return (-d[0],)\n", encoding="utf-8"
    )
    (tmp_path / "arcs.py").write_text(
        GROUP.replace("Circle", "Arc") + "\n\ndef log(q):\n    return (1.01 * q[0],)\n", encoding="utf-8"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run([sys.executable, "-c", WRONG], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    right, wrong, logs = (done.stdout.splitlines()[k : k + 2] for k in (0, 2, 4))
    assert right == ["Circle True"] * 2
    assert len(wrong) == len(logs) == 2
    assert all("Arc: exp\\u207b\\xb9(exp(x)) = x" in line for line in logs), logs
    assert all("Spiral: displace(a, exp_difference(x)) = a exp(x)" in line for line in wrong), wrong


STARTS = """
import rotors
from integrators import Problem
from liegroup import Group, product, rn, table

table.register(rotors)
group = product(rn(1), Group(((rotors, 2),)))
starts = group.random(0, shape=(3,))
problem = Problem(group, starts, lambda t, y: [0.0] * 7)
assert (problem.y0 == starts).all()
starts[1, 5:9] *= 1.1
for start in (starts, starts[1], [0.0] * 9):
    for pose in (lambda y: Problem(group, y, lambda t, y: [0.0] * 7), problem.with_start):
        try:
            pose(start)
            print("taken")
        except ValueError as error:
            print(ascii(str(error)))
"""


def test_a_start_that_is_no_element_of_an_added_group_is_refused(tmp_path: Path) -> None:
    """Unit quaternions that the facts of the file do not tell: its `defect` does."""
    rotors = GROUP.replace("so2", "so3").replace("Circle", "Rotors") + "\nQUATERNIONS = ()\n"
    (tmp_path / "rotors.py").write_text(rotors, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run([sys.executable, "-c", STARTS], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    many, one, nothing = (done.stdout.splitlines()[k : k + 2] for k in (0, 2, 4))
    assert all("y0: components 5:9 of state 1, [" in line and "off Rotors, expected" in line for line in many), many
    assert all("y0: components 5:9, [" in line and "`project`" in line for line in one), one
    assert all("y0: components 1:5, [0.0, 0.0, 0.0, 0.0], are" in line for line in nothing), nothing


def test_an_added_group_costs_its_own_formulas_and_no_stepper_again(tmp_path: Path) -> None:
    (tmp_path / "circles.py").write_text(f"# {uuid.uuid4()}{GROUP}", encoding="utf-8")  # which no cache has seen
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}

    def compiled(when: str) -> list[str]:
        done = subprocess.run([sys.executable, "-c", COUNTED, when], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    own = compiled("later")  # after a first run, in the same process
    assert len(own) >= 4
    assert all(".Circle.exp." in name for name in own), own
    assert compiled("first") == []  # another process finds them all in the cache, and the steppers
