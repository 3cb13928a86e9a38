"""The records of the packed arrays: every accessor reads the fields of its record in the order in which they stand."""

from types import SimpleNamespace

import numpy as np
import pytest

from mechanics.closed_trees import layout as closed
from mechanics.constraints.body_equations import EQUATION_NUMBERS, equation_numbers
from mechanics.model import layout
from mechanics.systems.loops import four_bar
from mechanics.testing import EXAMPLES, random_tree

HERE = SimpleNamespace(numbers=0, equations=0, elements=0)
COUNT = np.arange(100)
FLOATS = np.arange(100.0)


@pytest.mark.parametrize(
    ("record", "size"),
    [
        (layout.header_of(COUNT), layout.HEADER),
        (layout.link_of(COUNT - layout.HEADER, 0), layout.LINK),
        (closed.equation_of(COUNT, HERE, 0), closed.EQUATION),
        (closed.element_of(COUNT, HERE, 0), closed.ELEMENT),
        (layout.numbers_of(FLOATS, HERE), layout.NUMBERS),
        (equation_numbers(FLOATS, 0), EQUATION_NUMBERS),
    ],
    ids=["header", "link", "equation", "element", "numbers", "equation numbers"],
)
def test_fields_stand_in_their_order(record, size):
    np.testing.assert_array_equal(np.hstack(record), np.arange(size))


def test_the_section_of_closures_is_read_in_order():
    structure = np.concatenate([np.zeros(layout.HEADER, dtype=int), COUNT])
    structure[7] = layout.HEADER
    assert layout.header_of(structure).extension == layout.HEADER
    np.testing.assert_array_equal(closed.closures_of(structure), np.arange(closed.CLOSURES))


def test_a_pass_is_read_as_it_was_written():
    for written in [(3, False, False), (0, True, False), (7, False, True)]:
        read = closed.pass_at([closed.packed_pass(*written)], 0)
        assert (read.equation, bool(read.second), bool(read.meet)) == written


@pytest.mark.parametrize("seed", range(3))
def test_a_packed_tree_says_what_the_tree_is(seed):
    tree = random_tree("random", 9, np.random.default_rng(seed), list(EXAMPLES), damping=0.1)
    header = layout.header_of(tree.structure)
    links = [layout.link_of(tree.structure, i) for i in range(header.links)]
    assert layout.end_of_tree(tree.structure) == len(tree.structure)
    assert (header.n_q, header.n_v, header.bodies) == (tree.nq, tree.nv, len(tree))
    assert all(link.parent < i or link.parent == header.links for i, link in enumerate(links))
    assert sum(layout.numbers_of(tree.parameters, link).mass for link in links) == pytest.approx(
        sum(body.inertia.mass for body, k in zip(tree.bodies, range(len(tree)), strict=True) if _moves(tree, k))
    )
    assert [layout.damping_of(tree.parameters, tree.structure, k) for k in range(tree.nv)] == list(tree.damping)
    np.testing.assert_array_equal(layout.gravity_of(tree.parameters), tree.gravity)


def _moves(tree, body):
    return layout.place_of(tree.parameters, tree.structure, body).link < layout.header_of(tree.structure).links


def test_lines_of_a_mechanism_fill_its_workspace():
    packed = four_bar.mechanism().packed()
    closures = closed.closures_of(packed.structure)
    assert 2 * (closures.registers + 1) == packed.work_shape[0]  # once more for positions that are projected
    assert closures.poses == layout.header_of(packed.structure).links + 1
    path = [closed.on_path(packed.structure, closures, r) for r in range(closures.path_length)]
    assert path == sorted(path)
    assert path[::-1] == [closed.on_path_up(packed.structure, closures, r) for r in range(len(path))]
