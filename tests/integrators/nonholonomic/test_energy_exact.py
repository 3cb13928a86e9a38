"""The energy-exact step keeps its word, or says that it does not."""

from integrators import integrate
from mechanics.systems.rolling.driven_pair import driven_pair


def test_the_catalogue_keeps_the_energy_of_a_driven_pair_to_rounding():
    run = integrate(driven_pair("RVF").problem(), "ENERGY_EXACT", (0, 1000), 0.1)
    assert run.success
    assert run.error("energy", relative=False) < 2e-11  # 2e-10 and growing with four points


def test_steps_over_which_the_quadrature_is_not_exact_are_doubtful():
    run = integrate(driven_pair("RVF").problem(), "ENERGY_EXACT", (0, 1000), 0.8)
    assert run.error("energy", relative=False) > 1e-8
    assert [doubt.name for doubt in run.doubts] == ["energy"]
    assert not run.success
