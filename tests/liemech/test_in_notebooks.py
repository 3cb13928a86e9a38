"""What notebooks show, and solutions as tables and pictures of other packages."""

import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import numpy as np
import pandas
import pytest
import xarray

import mechanics
from integrators import Problem, integrate
from integrators.methods import METHODS
from liegroup import rn
from liegroup.display import bar, card, table
from mechanics.model.picture import SHOWN, svg
from mechanics.systems import SYSTEMS
from mechanics.testing import random_tree

EMPTY = {"input"}


class Balanced(HTMLParser):
    """Tags that are closed as they were opened."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.seen = [], [], set()

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def checked(text):
    parser = Balanced()
    parser.feed(text)
    assert (parser.open, parser.wrong) == ([], [])
    assert "<script" not in text
    return parser.seen


@pytest.fixture(scope="module")
def problem():
    return SYSTEMS["heavy-top"].problem()


@pytest.fixture(scope="module")
def solution(problem):
    return integrate(problem, "RKMK4", (0.0, 1.0), step=1e-2, save_every=5)


@pytest.fixture(scope="module")
def ensemble(problem):
    starts = np.tile(problem.y0, (3, 1))
    starts[:, 4:] *= [[1.0], [1.1], [1.2]]
    return integrate(problem.with_start(starts), "RKMK4", (0.0, 1.0), step=1e-2, save_every=5)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_every_object_of_a_first_hour_says_itself_shortly(problem, solution, ensemble):
    mechanism = SYSTEMS["four-bar"].mechanism()
    for thing in (problem, solution, ensemble, mechanism, mechanism.tree, METHODS["GAUSS8"], METHODS, SYSTEMS):
        assert 0 < len(repr(thing)) < 900
        assert repr(thing).count("\n") < 10
        assert repr(thing).startswith("<")
        checked(thing._repr_html_())


def test_the_card_of_a_solution_says_what_it_kept(solution):
    shown = solution._repr_html_()
    for word in ("heavy top by RKMK4", "reached the end", "vertical_momentum", f"{solution.error('energy'):.2g}"):
        assert word in shown


def test_a_solution_without_saved_states_has_a_card():
    """It was an error of NumPy's."""
    gone = Problem(rn(1), [1.0], lambda t, y: -y if t < 0.1 else [np.nan], invariants={"size": lambda t, y: y[0]})
    solution = integrate(gone, "RKMK4", (0.0, 1.0), 0.1, t_eval=[0.9])
    assert solution.t.shape == (0,)
    shown = solution._repr_html_()
    checked(shown)
    assert "0 saved states" in shown
    assert "not finite" in shown


def test_names_are_text_and_never_tags():
    shown = card("<b>", [("a&b", "<script>"), ("left out", "")], table(("<i>",), [("<u>",)], "<s>", filtered=True))
    assert not {"b", "script", "i", "u", "s"} & (checked(shown) - {"b"})
    assert "&lt;script&gt;" in shown
    assert "left out" not in shown


def test_catalogues_are_tables_with_a_filter():
    for catalogue in (METHODS, SYSTEMS):
        shown = catalogue._repr_html_()
        assert 'type="search"' in shown
        assert all(f">{name}<" in shown for name in catalogue)


def test_a_tree_is_drawn_with_all_its_bodies_and_joints():
    tree = random_tree("random", 9, np.random.default_rng(3))
    drawn = ElementTree.fromstring(svg(tree))
    texts = [x.text for x in drawn.iter() if x.tag.endswith("text")]
    titles = [x.text for x in drawn.iter() if x.tag.endswith("title")]
    assert {"base", *tree.body_names} <= set(texts)
    assert {f"{b.joint.kind} {b.joint_name}" for b in tree.bodies} <= set(titles)
    boxes = [(float(x.get("x")), float(x.get("y"))) for x in drawn.iter() if x.tag.endswith("rect")]
    assert len(set(boxes)) == len(boxes) == 10
    wide, high = (float(x) for x in drawn.get("viewBox").split()[2:])
    assert all(0 <= x < wide and 0 <= y < high for x, y in boxes)


def test_loops_are_drawn_as_arcs_between_their_bodies():
    mechanism = SYSTEMS["four-bar"].mechanism()
    (name,) = (c.name for c in mechanism.equations.closures)
    assert "stroke-dasharray" not in svg(mechanism.tree)
    shown = mechanism._repr_html_()
    assert shown.count("stroke-dasharray") == 1
    assert f"<title>{name}</title>" in shown


def test_of_a_large_tree_the_rest_is_counted():
    link = mechanics.Inertia.about_com(1.0, (0.0, 0.0, 0.5), np.eye(3))
    names = [f"link{k}" for k in range(SHOWN + 5)]
    hinge = mechanics.joints.Revolute((1.0, 0.0, 0.0))
    bodies = [mechanics.Body(n, hinge, above, inertia=link) for n, above in zip(names, [None, *names], strict=False)]
    drawn = svg(mechanics.Tree(bodies))
    assert "and 5 more bodies" in drawn
    assert names[SHOWN] not in drawn


def test_the_dataset_is_that_of_the_file(solution, ensemble, tmp_path):
    for each in (solution, ensemble):
        with xarray.open_dataset(each.save(tmp_path / "run.h5"), engine="h5netcdf") as stored:
            made = each.to_xarray()
            xarray.testing.assert_identical(made, stored.load())
            assert made.attrs["method"] == "RKMK4"
            assert each.to_pandas().attrs == made.attrs


def test_the_table_has_a_row_for_every_saved_state(solution, ensemble):
    one = solution.to_pandas()
    assert list(one.columns[:4]) == [f"orientation.{x}" for x in ("qw", "qx", "qy", "qz")]
    np.testing.assert_array_equal(one["energy"], solution["energy"])
    np.testing.assert_array_equal(one.index, solution.t)
    many = ensemble.to_pandas()
    assert many.index.names == ["trajectory", "t"]
    np.testing.assert_array_equal(many.loc[2]["momentum.pz"], ensemble["momentum"][2, :, 2])
    assert isinstance(many, pandas.DataFrame)


def test_rows_that_a_trajectory_did_not_reach_are_left_out(ensemble):
    from dataclasses import replace

    y = ensemble.y.copy()
    y[1, 4:] = np.nan
    assert len(replace(ensemble, y=y).to_pandas().loc[1]) == 4


@pytest.mark.parametrize(("package", "call"), [("xarray", "to_xarray"), ("pandas", "to_pandas")])
def test_what_is_not_installed_is_named_with_the_command(package, call, solution, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=rf"Solution.{call} needs {package}.*pip install 'liemech\[xarray\]'"):
        getattr(solution, call)()


def test_the_picture_has_states_and_the_change_of_invariants(solution):
    axes = solution.plot()
    assert [ax.get_title(loc="left") for ax in axes] == ["orientation", "momentum", "energy", "vertical momentum"]
    np.testing.assert_array_equal(axes[0].lines[2].get_ydata(), solution["orientation"][:, 2])
    np.testing.assert_array_equal(axes[2].lines[0].get_ydata(), solution["energy"] - solution["energy"][0])
    band = axes[2].collections[0].get_datalim(axes[2].transData)
    assert band.y1 - band.y0 == pytest.approx(solution.maximum("energy") - solution.minimum("energy"), rel=1e-6)


def test_a_picture_goes_into_given_axes_and_has_one_line_per_trajectory(ensemble):
    _, ax = plt.subplots()
    assert ensemble.plot("energy", axes=ax)[0] is ax
    assert len(ax.lines) == 3
    with pytest.raises(ValueError, match="axes: 1, expected 2, one for each of energy, momentum"):
        ensemble.plot("energy", "momentum", axes=ax)
    with pytest.raises(KeyError, match="expected one of"):
        ensemble.plot("speed")


def test_progress_is_shown_on_terminals_and_in_notebooks(monkeypatch, capsys):
    """The output of a notebook is no terminal."""
    import tqdm.autonotebook
    from tqdm import tqdm as usual

    with bar(total=2) as here:
        assert here.disable  # tests run without a terminal
        here.update(2)
        assert (here.n, here.total) == (2, 2)
    monkeypatch.setitem(sys.modules, "IPython", sys)
    monkeypatch.setattr(tqdm.autonotebook, "tqdm", type("Bar", (usual,), {"__module__": "tqdm.notebook"}))
    with bar(total=2) as there:
        assert not there.disable
        there.update(2)
    with bar(total=2, shown=False) as unwanted:
        assert unwanted.disable
