"""Energy drift of a mechanism over a long horizon, methods × steps."""

from studies.energy_drift.picture import figure, motion
from studies.energy_drift.question import QUESTION, EnergyDriftConfig, data, records, remarks, run
from studies.study import Study

ENERGY_DRIFT = Study(
    name="energy-drift",
    question=QUESTION,
    config=EnergyDriftConfig,
    run=run,
    records=records,
    columns={
        "method": "method",
        "size": "step",
        "energy_band": "max |ΔE|/T*",
        "energy_slope": "slope [1/s]",
        "energy_slope_sigma": "± sigma",
        "drifts": "drifts",
        "momentum_error": "momentum error",
        "microseconds_per_step": "µs/step",
        "microseconds_per_unit_time": "µs/s",
        "evaluations": "evaluations",
        "status": "status",
        "doubts": "doubtful",
    },
    figure=figure,
    data=data,
    remarks=remarks,
    motion=motion,
)
