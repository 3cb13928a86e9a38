"""Loop closures over long horizons: mechanisms × formulations × steps."""

from studies.constraint_drift.picture import extras, figure, motion
from studies.constraint_drift.question import QUESTION, ConstraintDriftConfig, data, records, remarks, run
from studies.study import Study

CONSTRAINT_DRIFT = Study(
    name="constraint-drift",
    question=QUESTION,
    config=ConstraintDriftConfig,
    run=run,
    records=records,
    columns={
        "system": "system",
        "imperfection": "off by",
        "formulation": "formulation",
        "coordinates": "coord.",
        "step": "step",
        "gap": "gap",
        "velocity_gap": "vel. gap",
        "energy_band": "max |ΔE| [J]",
        "energy_slope": "slope [W]",
        "energy_slope_sigma": "± sigma",
        "angle_error": "angle error",
        "microseconds_per_step": "µs/step",
        "reached": "reached [s]",
        "status": "status",
    },
    figure=figure,
    data=data,
    remarks=remarks,
    extras=extras,
    motion=motion,
)
