"""Variable steps that keep structure, against fixed ones: an eccentric orbit and a whirling chain."""

from studies.study import Study
from studies.variable_steps.picture import figure, motion
from studies.variable_steps.question import QUESTION, VariableStepsConfig, data, records, remarks, run

VARIABLE_STEPS = Study(
    name="variable-steps",
    question=QUESTION,
    config=VariableStepsConfig,
    run=run,
    records=records,
    columns={
        "system": "system",
        "method": "method",
        "steering": "steps",
        "mean_step": "mean step",
        "steps_ratio": "longest/shortest",
        "energy_band": "max |ΔE|",
        "energy_slope": "slope",
        "energy_slope_sigma": "± sigma",
        "drifts": "drifts",
        "gap": "error at the end",
        "microseconds_per_step": "µs/step",
        "status": "status",
    },
    figure=figure,
    data=data,
    remarks=remarks,
    motion=motion,
)
