"""Brouwer's law: how rounding errors of the energy add up."""

from studies.round_off.picture import figure, motion
from studies.round_off.question import QUESTION, RoundOffConfig, data, records, remarks, run
from studies.study import Study

ROUND_OFF = Study(
    name="round-off",
    question=QUESTION,
    config=RoundOffConfig,
    run=run,
    records=records,
    columns={
        "system": "system",
        "method": "method",
        "additions": "additions",
        "step": "step",
        "steps": "steps",
        "exponent": "exponent",
        "exponent_sigma": "± sigma",
        "energy_error_rms": "rms error",
        "mean_over_error": "mean/sem",
        "energy_slope_per_step": "slope/step",
        "energy_ripple": "ripple",
        "microseconds_per_step": "µs/step",
    },
    figure=figure,
    data=data,
    remarks=remarks,
    motion=motion,
)
