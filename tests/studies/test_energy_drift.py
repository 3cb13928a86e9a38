"""The main job: its command line, what it leaves behind, and that its verdicts can fail."""

import json
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray

import mechanics
from benchmarks.mujoco_trees import solution_of
from integrators.results.storage import read
from studies.energy_drift import ENERGY_DRIFT
from studies.energy_drift.picture import envelope
from studies.energy_drift.question import EnergyDriftConfig, _drift, cases, remarks, run
from studies.energy_drift.systems import sliding_joints, tree_of
from studies.registry import STUDIES
from studies.study import answer, command_line, table

ROOT = Path(__file__).resolve().parents[2]
CONFIG = EnergyDriftConfig(
    model="double_pendulum", steps=(5e-3, 2.5e-3, 1.25e-3), tolerances=(1e-8,), horizon=100.0, speed=1.0, progress=False
)


@pytest.fixture(scope="module")
def result():
    return run(CONFIG)


def test_a_run_is_judged_as_far_as_its_energy_is_a_number():
    t = np.arange(1000.0)
    energy = np.where(t < 900, 1e-6 * t, np.inf)
    assert _drift(t, energy).slope == pytest.approx(1e-6)
    assert np.isnan(_drift(t, np.full(1000, np.nan)).slope)


def test_another_program_has_failed_where_the_energy_of_its_states_is_no_number():
    tree = tree_of("chain-2")
    problem = mechanics.hamiltonian_problem(tree, tree.neutral(), np.zeros(2))
    q, v = np.zeros((4, 2)), np.outer([0.0, 1.0, 1e200, 1.0], [1.0, 1.0])
    found = solution_of(tree, problem, "MUJOCO_EULER", 0.1, 1, 3, q, v, 0.0)
    assert found.status.name == "NON_FINITE"
    assert found.t.tolist() == [0.0, 0.1]


def runs_of(result, method):
    return [r for r in result.runs if r.method == method]


def test_the_midpoint_rule_stays_in_a_band_that_shrinks_with_the_square_of_the_step(result):
    _, coarse, fine = runs_of(result, "MIDPOINT")  # with the largest step the motion, which whirls, is not resolved
    assert not coarse.drifts
    assert not fine.drifts
    assert 2.5 < coarse.band / fine.band < 6.0


def test_the_classical_method_drifts_one_way(result):
    coarse = runs_of(result, "RKMK4")[0]
    assert coarse.drifts
    late, early = coarse.deviation[-200:].mean(), coarse.deviation[200:400].mean()
    assert abs(late) > 2 * abs(early)


def test_bands_come_from_every_step_and_contain_the_saved_energies(result):
    for r in result.runs:
        assert (r.lower <= r.deviation).all()
        assert (r.deviation <= r.upper).all()
        assert r.band >= np.abs(r.deviation).max()
        t, size = envelope(r)
        assert size.max() == pytest.approx(r.band)
        assert (np.diff(t) > 0).all()


def test_every_case_is_run_from_the_same_start(result):
    assert [(r.method, r.step, r.tolerance) for r in result.runs] == cases(CONFIG)
    assert len({tuple(r.solution.y[0]) for r in result.runs}) == 1


def test_steps_are_named_as_they_are_taken_and_doubts_are_said():
    asked = EnergyDriftConfig(
        model="double_pendulum", methods=("GAUSS8", "RKMK4"), steps=(0.06,), horizon=2.0, speed=1.0, progress=False
    )
    answered = run(asked)
    sixteen, four = answered.runs
    assert (sixteen.step, four.step) == (0.5, 2.0 / 34)
    for r in answered.runs:
        assert r.solution.step == r.step
        assert r.solution.t[-1] == pytest.approx(asked.horizon, rel=1e-14)
    good, doubtful = ENERGY_DRIFT.records(answered)
    assert (good["status"], good["doubts"], doubtful["status"]) == ("OK", None, "OK")
    assert set(doubtful["doubts"].split(", ")) == {doubt.name for doubt in four.solution.doubts} != set()
    remarks = ENERGY_DRIFT.remarks(answered)
    assert remarks[-1].startswith("no doubt is no promise")
    said = [line for line in remarks if "doubtful" in line]
    assert len(said) == len(four.solution.doubts)
    assert all(line.startswith("RKMK4: ") and f"of 1 of 1 runs is doubtful ({four.label}: " in line for line in said)


def test_the_answer_is_a_table_a_picture_a_data_file_and_a_summary(tmp_path, capsys, monkeypatch, films):
    out = tmp_path / "answer"
    quick = EnergyDriftConfig(model="double_pendulum", out=out, quick=True, progress=False)
    assert answer(ENERGY_DRIFT, quick) == out
    printed = capsys.readouterr().out
    assert "max |ΔE|/T*" in printed
    assert "MIDPOINT" in printed
    summary = json.loads((out / "summary.json").read_text())
    assert summary["config"]["model"] == "double_pendulum"
    for record in summary["runs"]:
        assert {
            "system",
            "method",
            "step",
            "horizon",
            "energy_band",
            "energy_slope",
            "energy_slope_sigma",
            "microseconds_per_step",
        } <= set(record)
    with xarray.open_dataset(out / "energy-drift.h5", engine="h5netcdf") as opened:
        assert opened["deviation"].dims == ("run", "sample")
        assert opened["time"].attrs["units"] == "s"
    assert read(out / "energy-drift.h5").attributes["model"] == summary["runs"][0]["system"]
    assert films(out / "motion.html") > 0
    assert (out / "energy-drift.png").read_bytes().startswith(b"\x89PNG")
    assert (out / "energy-drift.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("model", ["chain-4", "floating-chain-3", "ball-chain-2"])
def test_mujoco_moves_the_same_mechanism(model):
    """By the same method, to its truncation error; before version 4 MuJoCo's RK4 has the order 2 where there are
    quaternions.
    """
    mujoco = pytest.importorskip("mujoco")
    second_order = int(mujoco.__version__.partition(".")[0]) < 4 and model != "chain-4"
    config = EnergyDriftConfig(model=model, methods=("RKMK4", "MUJOCO_RK4"), steps=(1e-3,), horizon=0.5, progress=False)
    ours, other = run(config).runs
    assert np.abs(ours.solution.y[-1] - ours.solution.y[0]).max() > 0.05
    assert np.abs(ours.solution.y[-1] - other.solution.y[-1]).max() < (1e-5 if second_order else 1e-8)
    if model == "floating-chain-3":
        assert ours.momentum_error < 1e-12
        assert other.momentum_error < (1e-8 if second_order else 1e-12)


def test_chains_tops_and_hanging_robots_have_their_freedoms():
    assert [tree_of(name).nv for name in ("chain-20", "ball-chain-5", "floating-chain-3", "heavy-top")] == [
        20,
        15,
        8,
        3,
    ]
    assert tree_of("anymal").nv == 12


def test_grippers_of_the_panda_are_held():
    import mechanics

    with pytest.warns(mechanics.ModelWarning, match="mimic"):
        tree = mechanics.load_model("panda", damping=False)
    assert sliding_joints(tree) == ["panda_finger_joint1", "panda_finger_joint2"]
    assert tree.with_locked(sliding_joints(tree)).nv == 7


ONE = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
LIMITS = '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
GANTRY = f"""<robot name="gantry"><link name="world"/><link name="bridge">{ONE}</link><link name="hook">{ONE}</link>
<joint name="rail" type="prismatic"><parent link="world"/><child link="bridge"/>{LIMITS}
<joint name="rope" type="revolute"><parent link="bridge"/><child link="hook"/>{LIMITS}</robot>"""


def test_what_is_held_of_a_robot_is_said(tmp_path):
    path = tmp_path / "gantry.urdf"
    path.write_text(GANTRY)
    config = replace(CONFIG, model=str(path), methods=("RKMK4",), horizon=0.1)
    assert remarks(run(config))[1].startswith("held: rail (--no-lock-slides lets")
    assert not any("held" in said for said in remarks(run(replace(config, lock_slides=False))))
    path.write_text(GANTRY.replace("revolute", "prismatic"))
    with pytest.raises(mechanics.ModelError, match=r"nothing moves where rail, rope are held; .* --no-lock-slides"):
        run(config)


def test_only_what_a_file_says_of_joints_that_move_is_told():
    import mechanics

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree_of("panda")
    with pytest.warns(mechanics.ModelWarning, match="panda: the motion differs from the file:\n  <mimic>"):
        tree_of("panda", lock_slides=False)


def test_holding_joints_leaves_the_dynamics_of_the_others():
    import mechanics

    tree = mechanics.load_model("ur5")
    q = tree.random_configuration(np.random.default_rng(3))
    held = tree.with_locked(["elbow_joint", "wrist_3_joint"], q)
    free = [k for k in range(6) if k not in (2, 5)]
    np.testing.assert_allclose(
        mechanics.mass_matrix(held, q[free]), mechanics.mass_matrix(tree, q)[np.ix_(free, free)], atol=1e-14
    )


def test_the_command_line_explains_itself(capsys):
    with pytest.raises(SystemExit) as done:
        command_line(STUDIES, ["energy-drift", "--help"])
    assert done.value.code == 0
    said = capsys.readouterr().out
    for option in ("--model", "--methods", "--steps", "--horizon", "--quick", "--out"):
        assert option in said
    wrong = subprocess.run([sys.executable, "-m", "studies", "energy-drif"], cwd=ROOT, capture_output=True, text=True)
    assert wrong.returncode != 0
    assert "energy-drift" in wrong.stdout + wrong.stderr


def test_a_folder_that_takes_no_files_is_named_before_the_run(tmp_path):
    def never(config):
        raise AssertionError("the run began")

    place = tmp_path / "taken"
    place.write_text("a file")
    for out in (place, place / "below"):
        with pytest.raises(SystemExit, match=r"taken.* takes no files"):
            answer(replace(ENERGY_DRIFT, run=never), EnergyDriftConfig(out=out))


def test_options_that_make_no_sense_end_with_a_sentence(tmp_path):
    for value, words in (
        ("/no/such.urdf", "cannot be read"),
        ("ur9", "expected the path of a .urdf, .sdf or .xml file"),
    ):
        with pytest.raises(SystemExit, match=f"energy-drift: .*{value}.*{words}"):
            command_line(STUDIES, ["energy-drift", "--quick", "--out", str(tmp_path), "--robot", value])


def test_every_study_has_its_page_and_its_own_config():
    assert len({study.config for study in STUDIES.values()}) == len(STUDIES)
    for name, study in STUDIES.items():
        folder = ROOT / "studies" / name.replace("-", "_")
        assert study.question.endswith("?")
        assert (folder / "README.md").is_file() or folder.with_suffix(".md").is_file()


def test_tables_align():
    text = table([{"a": 1.23456, "b": "x"}, {"a": None, "b": "long"}], {"a": "A", "b": "B"})
    assert len({len(line) for line in text.splitlines()}) == 1


@pytest.mark.parametrize(
    ("given", "says"), [
        ({"steps": (0.0,)}, "--steps: 0.0, expected a positive number"),
        ({"steps": (-0.1,)}, "--steps: -0.1, expected a positive number"),
        ({"horizon": float("nan")}, "--horizon: nan, expected a number"),
        ({"horizon": -5.0}, "--horizon: -5.0, expected a positive number"),
        ({"tolerances": (0.0,)}, "--tolerances: 0.0, expected a positive number"),
        ({"methods": ()}, "--methods: nothing given, expected one at least"),
        ({"steps": (3.0, 1.0), "horizon": 2.0}, "--steps: 3 s, expected no more than --horizon, 2 s"),
    ],
)  # fmt: skip
def test_options_that_are_no_sizes_are_named(given, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        EnergyDriftConfig(**given)
