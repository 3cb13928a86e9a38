"""The nonholonomic rows of the catalogue of methods, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from integrators.method import Method
from integrators.steppers.generalized_alpha import rolling_alpha
from integrators.steppers.nonholonomic.energy_exact import energy_exact
from integrators.steppers.nonholonomic.geometric import geometric
from integrators.steppers.nonholonomic.lagrange_dalembert import CONSTRAINTS, NULL_SPACE, lagrange_dalembert
from integrators.steppers.nonholonomic.mclachlan_perlmutter import mclachlan_perlmutter
from integrators.tableaus import COMPOSITIONS

COMPOSED = {4: "SUZUKI4", 6: "KAHANLI6"}
"""The composition used for each order."""


def rows() -> Iterator[tuple[str, Callable[[], Method]]]:
    """Name and builder of every nonholonomic method.

    ============================  ======================================================================================
    DLA, DLA4, DLA6               discrete Lagrange–d'Alembert, constraint at the midpoint: default for groups, trees
    DLA_TRAPEZOID, …              the same with another discrete constraint (AVERAGED; LEFT, RIGHT: order 1, to teach)
    NULL_SPACE, …4, …6            DLA without multipliers, on a basis of the distribution: where inertias are small or 0
    MP, MP4, MP6                  McLachlan and Perlmutter, for a constant kinetic metric: the cheapest symmetric one
    GNI                           geometric nonholonomic integrator, for comparison
    ROLLING_ALPHA                 index-2 generalised-α, damped by design
    ENERGY_EXACT, …4, …6          averaged gradient on quasi-velocities: where energy must stay, nothing is reversible
    ============================  ======================================================================================
    """
    families: dict[str, Callable[..., Method]] = {
        "DLA": lagrange_dalembert,
        "NULL_SPACE": partial(lagrange_dalembert, unknowns=NULL_SPACE),
        "MP": mclachlan_perlmutter,
        "ENERGY_EXACT": energy_exact,
    }
    for family, build in families.items():
        yield family, partial(build, family)
        for order, composition in COMPOSED.items():
            yield f"{family}{order}", partial(_composed, build, f"{family}{order}", order, composition)
    for constraint in CONSTRAINTS:
        if constraint != "midpoint":
            one_sided = constraint in ("left", "right")
            name = f"DLA_{constraint.upper()}"
            yield (
                name,
                partial(lagrange_dalembert, name, constraint=constraint, order=2 - one_sided, symmetric=not one_sided),
            )
    yield "GNI", partial(geometric, "GNI")
    yield "ROLLING_ALPHA", partial(rolling_alpha, "ROLLING_ALPHA")


def _composed(build: Callable[..., Method], name: str, order: int, composition: str) -> Method:
    return build(name, weights=[float(w) for w in COMPOSITIONS[composition].rounded], order=order)
