"""Which nonholonomic methods keep the energy, and of which problems."""

from studies.nonholonomic_truth.picture import figure, motion
from studies.nonholonomic_truth.question import QUESTION, TruthConfig, data, records, remarks, run
from studies.study import Study

NONHOLONOMIC_TRUTH = Study(
    name="nonholonomic-truth",
    question=QUESTION,
    config=TruthConfig,
    run=run,
    records=records,
    columns={
        "system": "problem",
        "method": "method",
        "step": "h",
        "verdict": "verdict",
        "energy_error": "max |ΔE|",
        "driver_energy_error": "max |ΔE driver|",
        "growth_rate": "growth rate",
        "growth_rate_sigma": "± sigma",
        "parasitic_velocity": "half-step |A v|",
        "microseconds_per_step": "µs/step",
    },
    figure=figure,
    data=data,
    remarks=remarks,
    motion=motion,
)
