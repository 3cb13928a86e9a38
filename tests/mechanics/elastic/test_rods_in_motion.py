"""Rods in motion: flying spaghetti, swinging rubber rod, momenta, orders, supports that move, lanes."""

from __future__ import annotations

import numpy as np
import pytest

from integrators import Problem, Status, integrate
from liegroup import se3, so3
from mechanics import ModelError
from mechanics.elastic.rods import Load, Rod, Section, Stroke, equilibrium, step_limit, vibrations

SPAGHETTI = Section(1e4, 1e4, 1e4, 500.0, 500.0, 500.0, 1.0, (20.0, 10.0, 10.0))
SLENDER = Section(20.0, 8.0, 8.0, 0.3, 0.4, 0.4, 1.0, (0.06, 0.03, 0.03))


def spaghetti(n: int) -> Rod:
    """Simo and Vu-Quoc's: a force and a moment that rise until 2.5 s and end at 5 s."""
    course = {"times": (0.0, 2.5, 5.0), "factors": (0.0, 1.0, 0.0)}
    loads = [Load(0, force=(20.0, 0.0, 0.0), moment=(0.0, -100.0, -200.0), **course)]  # type: ignore[arg-type]
    return Rod.straight(10.0, n, SPAGHETTI, origin=(6.0, 0.0, 0.0), direction=(-6.0, 8.0, 0.0), loads=loads)


def thrown(n: int = 6, seed: int = 1) -> Problem:
    """A slender free rod with velocities at random."""
    rng = np.random.default_rng(seed)
    rod = Rod.arc(1.0, 1.0, n, SLENDER)
    return rod.problem(velocities=rng.normal(size=(n + 1, 6)) * [0.1, 0.1, 0.1, 0.5, 0.5, 0.5])


def test_the_flying_spaghetti() -> None:
    """Invariants after the load has ended, and the loaded end at 3 s."""
    problem = spaghetti(10).problem()
    solution = integrate(problem, "SPLIT_STRANG", (0.0, 10.0), 0.004)
    values, late = np.asarray(solution.invariants), solution.t > 5.0001
    momenta = values[late, 1:7]
    assert np.abs(momenta[:, :3] - [50.0, 0.0, 0.0]).max() < 1e-12
    assert np.abs(momenta[:, 3:] - [0.0, -308.2125, -532.0063]).max() < 1e-4
    assert np.ptp(momenta, axis=0).max() < 1e-11
    assert np.abs(values[late, 0] - 722.4354).max() < 2.5e-3
    end = solution.y[np.argmin(np.abs(solution.t - 3.0)), :3]
    assert np.abs(end - [4.04065, 0.79961, -1.62297]).max() < 2e-5


@pytest.mark.slow
def test_the_energy_of_the_spaghetti_stays_in_its_band_for_long() -> None:
    """A million steps."""
    late = integrate(spaghetti(10).problem(), "SPLIT_STRANG", (0.0, 6.0), 0.004).y[-1]
    rod = Rod(np.asarray(spaghetti(10).poses), SPAGHETTI)
    problem = rod.problem().with_start(late)
    solution = integrate(problem, "SPLIT_STRANG", (0.0, 4000.0), 0.004, save_every=1000)
    energy, parts = np.asarray(solution.invariants)[:, 0], 4
    bands = [np.ptp(part) for part in np.array_split(energy, parts)]
    assert max(bands) < 1e-5 * energy[0]
    assert bands[-1] < 2.0 * bands[0]
    past = np.linspace(0.0, 1.0, len(energy))
    assert abs(np.polyfit(past, energy / energy[0], 1)[0]) < 2e-6  # over the run, of the energy; 1.1e-6 seen
    assert solution.error("angular_momentum_z") < 1e-10


@pytest.mark.parametrize(
    ("method", "order", "steps"),
    [("SPLIT_STRANG", 2, (0.01, 0.005)), ("SPLIT_SRKN4_6B", 4, (0.02, 0.01)), ("SPLIT_SRKN6_11B", 6, (0.1, 0.05))],
)
def test_splittings_keep_their_order(method: str, order: int, steps: tuple[float, float]) -> None:
    problem = thrown()
    exact = integrate(problem, "SPLIT_SRKN6_11B", (0.0, 1.0), 0.005).y[-1]
    errors = [np.abs(integrate(problem, method, (0.0, 1.0), h).y[-1] - exact).max() for h in steps]
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.4


@pytest.mark.parametrize("strain", ["exp", "cayley"])
def test_momenta_of_a_free_rod_are_exact(strain: str) -> None:
    rng = np.random.default_rng(2)
    rod = Rod.arc(1.0, 1.0, 5, SLENDER, strain=strain)
    problem = rod.problem(velocities=0.4 * rng.normal(size=(6, 6)))
    solution = integrate(problem, "SPLIT_STRANG", (0.0, 20.0), 0.02)
    assert solution.error("energy") < 0.1
    for name in problem.invariant_names[1:7]:
        assert solution.error(name) < 2e-13


def test_eight_rods_in_lanes_are_eight_rods() -> None:
    starts = np.array([thrown(3, seed).y0 for seed in range(8)])
    problem = thrown(3)
    together = integrate(problem.with_start(starts), "SPLIT_STRANG", (0.0, 0.2), 0.02)
    alone = integrate(problem.with_start(starts[5]), "SPLIT_STRANG", (0.0, 0.2), 0.02)
    assert (np.asarray(together.y)[-1, 5] == alone.y[-1]).all() or (np.asarray(together.y)[5, -1] == alone.y[-1]).all()


def test_the_field_is_hamiltons() -> None:
    """The force is minus the derivative of the energy along body increments, with every kind of node and dead loads."""
    n = 4
    rod = Rod.arc(2.0, 0.6, n, SLENDER, supports={0: "pinned", 4: "clamped"}, gravity=(0.3, -1.0, 2.0),
                  loads=[Load(2, force=(1.0, 2.0, -0.5))])  # fmt: skip
    rng = np.random.default_rng(5)
    poses = np.asarray(rod.poses).copy()
    poses[1:4] = se3.compose(poses[1:4], se3.exp(0.2 * rng.normal(size=(3, 6))))
    poses[0] = se3.compose(poses[0], se3.exp([0.0, 0.0, 0.0, 0.1, 0.2, -0.1]))
    problem = rod.problem(poses)
    m = problem.dimension // 2
    assert m == 3 + 18
    force, q = problem.velocity(0.0, problem.y0)[m:], np.asarray(problem.y0)
    for k in range(m):
        x, values = np.zeros(2 * m), []
        for s in (1e-5, -1e-5):
            x[k] = s
            moved = q.copy()
            moved[:4] = so3.compose(q[:4], so3.exp(x[:3]))
            for i in range(3):
                at = slice(4 + 7 * i, 11 + 7 * i)
                moved[at] = se3.compose(q[at], se3.exp(x[3 + 6 * i : 9 + 6 * i]))
            values.append(problem.invariant_values(0.0, moved)[0])
        assert abs((values[0] - values[1]) / 2e-5 + force[k]) < 1e-7


def test_the_field_and_the_statics_are_of_one_source() -> None:
    """A rod at equilibrium under its weight does not move."""
    rod = Rod.straight(1.0, 8, SLENDER, supports={0: "clamped", -1: "pinned"}, gravity=(0.0, 0.0, -1.0))
    problem = rod.problem(equilibrium(rod).poses)
    assert np.abs(problem.velocity(0.0, problem.y0)).max() < 1e-12


def test_the_swinging_rubber_rod() -> None:
    """A rod of rubber on a ball hinge, from rest: its tip at 0.1, 0.2 s of the finest mesh known, by n = 8 and 16."""
    errors = []
    for n in (4, 8):
        section = Section.round(0.005, 5e6, density=1100.0, poisson=0.5, shear_factor=0.9)
        rod = Rod.straight(1.0, n, section, supports={0: "pinned"}, gravity=(0.0, 0.0, -9.81))
        problem = rod.problem()
        solution = integrate(problem, "SPLIT_STRANG", (0.0, 0.2), 1e-4, save_every=1000)
        tips = solution.y[1:, 4 + 7 * (n - 1) : 4 + 7 * (n - 1) + 3]
        errors.append(np.abs(tips[:, [0, 2]] - [[0.99365, -0.0489], [0.94201, -0.19817]]).max())
        assert solution.error("energy") < 1e-6
    assert errors[1] < 2e-3
    assert errors[1] < 0.4 * errors[0]


@pytest.mark.slow
def test_the_swinging_rubber_rod_through_half_a_second() -> None:
    """The tip (x, z) at 0.1 to 0.5 s of the finest mesh known, 32 elements, to its last digit; 16 come near."""
    known = [[0.99365, -0.0489], [0.94201, -0.19817], [0.79822, -0.42481], [0.47708, -0.84049], [-0.23225, -0.91968]]
    section = Section.round(0.005, 5e6, density=1100.0, poisson=0.5, shear_factor=0.9)
    for n, bound in ((16, 4e-3), (32, 6e-6)):
        rod = Rod.straight(1.0, n, section, supports={0: "pinned"}, gravity=(0.0, 0.0, -9.81))
        run = integrate(rod.problem(), "SPLIT_STRANG", (0.0, 0.5), 5e-5, save_every=2000)
        assert np.abs(rod.node_poses(run.t, run.y)[1:, -1][:, [0, 2]] - known).max() < bound
        assert run.error("energy") < 1e-7


def test_small_vibrations_have_the_frequencies_of_the_stiffness() -> None:
    section = Section(20.0, 8.0, 8.0, 0.3, 0.4, 0.4, 1.0, (0.06, 0.03, 0.03))
    rod = Rod.straight(1.0, 5, section, supports={0: "clamped"})
    modes = vibrations(rod, count=1)
    omega, shape = modes.angular_frequencies[0], modes.shapes[0]
    poses = se3.compose(np.asarray(rod.poses), se3.exp(1e-5 * shape))
    period = 2 * np.pi / omega
    solution = integrate(rod.problem(poses), "SPLIT_SRKN6_11B", (0.0, period), period / 100)
    assert np.abs(solution.y[-1] - solution.y[0]).max() < 1e-9


def test_a_stroke_moves_the_support_and_does_work() -> None:
    stroke = Stroke(0, displacement=(0.0, 0.0, 0.2), turn=(0.0, -0.5, 0.0), times=(0.0, 0.5, 1.0), factors=(0, 1, 0))
    rod = Rod.straight(1.0, 4, SLENDER, supports={0: "clamped"}, strokes=[stroke])
    problem = rod.problem()
    assert not problem.is_autonomous
    solution = integrate(problem, "SPLIT_SRKN4_6B", (0.0, 1.0), 0.01)
    halfway = rod.node_poses(solution.t[50], solution.y[50])
    assert np.abs(halfway[0, :3] - [0.0, 0.0, 0.2]).max() < 1e-15
    assert np.abs(so3.log(halfway[0, 3:]) - [0.0, -0.5, 0.0]).max() < 1e-15
    energy = np.asarray(solution.invariants)[:, 0]
    assert energy[-1] > 1e-3
    finer = integrate(problem, "SPLIT_SRKN4_6B", (0.0, 1.0), 0.005)
    finest = integrate(problem, "SPLIT_SRKN6_11B", (0.0, 1.0), 0.0025)
    errors = [np.abs(s.y[-1] - finest.y[-1]).max() for s in (solution, finer)]
    assert errors[0] / errors[1] > 8.0


def test_a_step_beyond_the_limit_ends_the_run_and_names_the_element() -> None:
    section = Section.round(0.01, 1e7, density=1000.0)
    rod = Rod.straight(1.0, 10, section, supports={0: "clamped"}, gravity=(0.0, 0.0, -9.81))
    limit = step_limit(rod)
    assert limit.cause == "thickness"
    failed = integrate(rod.problem(), "SPLIT_STRANG", (0.0, 1.0), 3.0 * limit.step)
    assert failed.status in (Status.DOUBTFUL, Status.NON_FINITE)
    assert f"below {limit.step:.4g} s, set by the thickness of element" in failed.message
    fine = integrate(rod.problem(), "SPLIT_STRANG", (0.0, 200 * limit.step), 0.9 * limit.step)
    assert fine.success
    assert not fine.doubts


@pytest.mark.parametrize("name", ["SPLIT_STRANG", "SPLIT_SRKN6_11B", "RKMK4"])
def test_explicit_steps_beyond_the_limit_are_doubted_by_element(name: str) -> None:
    """Whether the motion shows it or not; implicit ones are not."""
    rod = Rod.straight(1.0, 3, Section.round(0.001, 2.1e11, density=7850.0), supports={0: "clamped"})
    limit = step_limit(rod)
    h = 8.0 * limit.step
    (doubt,) = (d for d in integrate(rod.problem(), name, (0.0, h), h).doubts if d.name == "step")
    assert f"element {limit.element} of the rod (by its thickness) has h ω = 16" in str(doubt)
    remedy = float(str(doubt).split("below ")[1].split(" s")[0])
    assert 0.5 * limit.step < remedy < 4.0 * limit.step
    assert not integrate(rod.problem(), "MIDPOINT", (0.0, h), h).doubts


def wire(support: str, n: int = 8) -> Rod:
    """Steel, 1 m by 2 mm, horizontal at the start: explicit steps must be below a third of a microsecond."""
    section = Section.round(0.001, 2.1e11, density=7850.0)
    return Rod.straight(1.0, n, section, supports={0: support}, gravity=(0.0, 0.0, -9.81))


@pytest.mark.parametrize("support", ["clamped", "pinned"])
def test_long_steps_of_a_thin_rod_that_swings_far(support: str) -> None:
    """What they do not follow is damped: a second of swinging, by steps of fifteen thousand explicit ones."""
    rod = wire(support)
    loose, tight = (integrate(rod.problem(), "RKMK_RADAU_IIA3", (0.0, 1.0), h) for h in (5e-3, 2.5e-3))
    for run in (loose, tight):
        assert run.success
        assert not run.doubts
        assert run.error("energy") < 1e-6
    assert np.abs(rod.node_poses(1.0, loose.y[-1]) - rod.node_poses(1.0, tight.y[-1])).max() < 1e-3


def test_methods_that_remember_are_not_doubted_for_starts_that_the_run_did_not_have() -> None:
    """`ALPHA` from the midst of a swing without its acceleration: not all such starts are found, none was needed."""
    rod = wire("pinned", 12)
    loose, tight = (integrate(rod.problem(), "ALPHA", (0.0, 1.0), h) for h in (2e-3, 1e-3))
    for run in (loose, tight):
        assert run.success
        assert not run.doubts
        assert run.error("energy") < 2e-6
    assert np.abs(rod.node_poses(1.0, loose.y[-1]) - rod.node_poses(1.0, tight.y[-1])).max() < 2e-3


@pytest.mark.parametrize(("name", "h"), [("MIDPOINT", 2e-3), ("RKMK_GAUSS2", 1e-3)])
def test_symmetric_implicit_steps_feed_the_fast_waves_of_a_thin_rod_and_say_so(name: str, h: float) -> None:
    """Simo and Tarnow's: energy creeps into what the step does not follow, and the run is doubted or fails."""
    run = integrate(wire("pinned", 6).problem(), name, (0.0, 1.0), h)
    assert run.doubts or run.status.is_failure


def test_the_energy_of_a_rod_is_judged_by_what_its_motion_exchanges() -> None:
    """Not by what a stiff rod would store if it were drawn out by a metre."""
    rod = wire("clamped")
    (guard,) = (g for g in rod.problem().guards if g.name == "energy")
    weight = rod.inertia[:, 0].sum() * 9.81
    assert guard.change == pytest.approx(0.05 * weight * rod.length)


@pytest.mark.parametrize("name", ["SPLIT_STRANG", "MIDPOINT"])
def test_an_element_pressed_through_itself_ends_the_run_by_name(name: str) -> None:
    """The energy of a strain is finite where an element has no length; its end would come out on the other side."""
    rod = Rod.straight(1.0, 4, Section.round(0.02, 1e6, density=1100.0, poisson=0.5))
    velocities = np.zeros((5, 6))
    velocities[[0, 4], 0] = 60.0, -60.0
    run = integrate(rod.problem(velocities=velocities), name, (0.0, 0.2), 0.3 * step_limit(rod).step)
    assert run.status is Status.DOUBTFUL
    assert "is pressed through itself: its stretch is -" in run.message
    poses = np.asarray(rod.poses)[::-1].copy()
    with pytest.raises(ModelError, match=r"element 0: its ends have changed places: its stretch is -1"):
        rod.problem(poses)


@pytest.mark.parametrize("method", ["RKMK_RADAU_IIA5", "BDF5"])
def test_small_first_steps_of_what_decays_fast_are_no_doubt(method: str) -> None:
    """The steps grow 1e5 times while the stretching dies; what a rod says of explicit steps is no reason for it."""
    rubber = Section.round(0.02, 1e6, density=1100.0, poisson=0.5)
    rod = Rod.straight(1.0, 4, rubber, supports={0: "clamped"}, damping=0.5, gravity=(0.0, 0.0, -9.81))
    run = integrate(rod.problem(), method, (0.0, 2.0), rtol=1e-8, atol=1e-11)
    assert np.diff(run.t).min() < 1e-3 * np.diff(run.t).mean()
    assert run.success, run.message


def test_what_is_wrong_with_a_start_is_named() -> None:
    rod = Rod.straight(1.0, 3, SLENDER, supports={0: "clamped"})
    poses = np.asarray(rod.poses).copy()
    poses[2, 3:] = so3.exp([2.8, 0.0, 0.0])
    with pytest.raises(ModelError, match=r"element 1: its ends are turned by 2\.8 rad"):
        rod.problem(poses)
    with pytest.raises(ValueError, match=r"velocities: node 0 is clamped and moves"):
        rod.problem(velocities=np.ones((4, 6)))
    with pytest.raises(ValueError, match="every node is clamped"):
        Rod(rod.poses, SLENDER, supports=dict.fromkeys(range(4), "clamped")).problem()
    with pytest.raises(ValueError, match="strokes: node 2 is free"):
        Rod(rod.poses, SLENDER, strokes=[Stroke(2)])
    with pytest.raises(ValueError, match=r"strokes: a turn by .* of node -1, which is pinned .*; clamp it"):
        Rod(rod.poses, SLENDER, supports={3: "pinned"}, strokes=[Stroke(-1, turn=(0.0, 0.0, 1.0))])


@pytest.mark.parametrize("name", ["exp", "cayley"])
def test_lanes_and_interpreted_kernels_agree_bit_by_bit(name: str) -> None:
    from liegroup.compile import WIDTH, lane_array

    rod = Rod.arc(2.0, 0.6, 3, SLENDER, supports={0: "pinned", 3: "clamped"}, gravity=(0.3, -1.0, 2.0), strain=name,
                  loads=[Load(1, force=(1.0, 2.0, -0.5), times=(0.0, 1.0), factors=(0.5, 1.0)),
                         Load(2, moment=(0.1, 0.2, 0.3), axes="body")])  # fmt: skip
    problem, rng = rod.problem(), np.random.default_rng(4)
    start = np.asarray(problem.y0)
    states = np.array([start + 0.3 * rng.normal(size=start.size) * (np.arange(start.size) >= 18) for _ in range(WIDTH)])
    for entry, size in ((problem.field, problem.dimension), (problem.invariants, problem.invariant_count)):
        y, out = lane_array(problem.n), lane_array(size)
        y[:] = states.T
        entry.compiled_lanes(0.3, y, problem.parameters, problem.structure, lane_array(0, 0), out)
        for lane in (0, 5):
            alone = np.zeros(size)
            entry.python(0.3, states[lane].copy(), problem.parameters, problem.structure, np.zeros((0, 0)), alone)
            assert (out[:, lane] == alone).all()


@pytest.mark.parametrize("name", ["SPLIT_STRANG", "RKMK4", "AVI"])
def test_a_bent_rod_at_rest_is_no_doubt(name: str) -> None:
    """Its energy is what rounding makes of the strains, 1e-28 J; one that hardly moves is looked at as others."""
    rod = Rod.arc(1.0, 1.0, 5, SLENDER)
    assert integrate(rod.problem(), name, (0.0, 1.0), 0.01).success
    slow = np.zeros((6, 6))
    slow[:, 5] = 1e-6
    assert [guard.name for guard in rod.problem(velocities=slow).guards].count("energy") == 1
    assert [guard.name for guard in rod.problem().guards].count("energy") == 0


@pytest.mark.parametrize("size", [1e-2, 1e-3, 1e-6])
@pytest.mark.parametrize("method", ["SPLIT_STRANG", "RKMK_RADAU_IIA3", "ALPHA_0"])
def test_a_small_rod_moves_like_a_large_one(method, size):
    """All lengths and times smaller by one factor, forces by its square: the same motion, and nothing else is said."""

    def tip(s):
        section = Section.round(0.02 * s, 1e6, density=1100.0, poisson=0.5)
        rod = Rod.straight(s, 6, section, supports={0: "clamped"}, gravity=(0.0, 0.0, -9.81 / s))
        step = 0.3 * step_limit(rod).step if method == "SPLIT_STRANG" else 1e-3 * s
        run = integrate(rod.problem(), method, (0.0, 0.05 * s), step)
        assert run.success, run.message
        return rod.node_poses(run.t, run.y)[-1, -1, :3] / s

    np.testing.assert_allclose(tip(size), tip(1.0), atol=1e-9)
