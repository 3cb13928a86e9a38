"""Every study by name; a new one is one file or folder plus one line here."""

from __future__ import annotations

from studies.energy_drift import ENERGY_DRIFT
from studies.study import Study

STUDIES: dict[str, Study] = {study.name: study for study in (ENERGY_DRIFT,)}
