"""Every study by name; a new one is one file or folder plus one line here."""

from __future__ import annotations

from studies.convergence import CONVERGENCE
from studies.efficiency import EFFICIENCY
from studies.energy_drift import ENERGY_DRIFT
from studies.nonholonomic_truth import NONHOLONOMIC_TRUTH
from studies.rolling_disk import ROLLING_DISK
from studies.study import Study
from studies.work_precision import WORK_PRECISION

STUDIES: dict[str, Study] = {
    study.name: study for study in (ENERGY_DRIFT, ROLLING_DISK, NONHOLONOMIC_TRUTH, EFFICIENCY, CONVERGENCE, WORK_PRECISION)
}
