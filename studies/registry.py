"""Every study by name; a new one is one file or folder plus one line here."""

from __future__ import annotations

from studies.asynchronous import ASYNCHRONOUS
from studies.constraint_drift import CONSTRAINT_DRIFT
from studies.convergence import CONVERGENCE
from studies.efficiency import EFFICIENCY
from studies.energy_drift import ENERGY_DRIFT
from studies.energy_table import ENERGY_TABLE
from studies.nonholonomic_truth import NONHOLONOMIC_TRUTH
from studies.rods import RODS
from studies.rolling_disk import ROLLING_DISK
from studies.round_off import ROUND_OFF
from studies.stiff import STIFF
from studies.study import Study
from studies.variable_steps import VARIABLE_STEPS
from studies.variants import VARIANTS
from studies.walking_mechanism import WALKING_MECHANISM
from studies.work_precision import WORK_PRECISION

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        ASYNCHRONOUS,
        CONSTRAINT_DRIFT,
        CONVERGENCE,
        EFFICIENCY,
        ENERGY_DRIFT,
        ENERGY_TABLE,
        NONHOLONOMIC_TRUTH,
        RODS,
        ROLLING_DISK,
        ROUND_OFF,
        STIFF,
        VARIABLE_STEPS,
        VARIANTS,
        WALKING_MECHANISM,
        WORK_PRECISION,
    )
}
