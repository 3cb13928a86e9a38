"""The walking mechanism of Ivanov (2022): its walk, and the deviations of its pins by formulation and step."""

from studies.study import Study
from studies.walking_mechanism.picture import extras, figure, motion
from studies.walking_mechanism.question import QUESTION, WalkingMechanismConfig, data, records, remarks, run

WALKING_MECHANISM = Study(
    name="walking-mechanism",
    question=QUESTION,
    config=WalkingMechanismConfig,
    run=run,
    records=records,
    columns={
        "formulation": "formulation",
        "method": "method",
        "size": "step",
        "ground": "ground",
        "period": "period",
        "pin_deviation": "pin deviation [m]",
        "gap": "gap",
        "distance": "y [m]",
        "hull_amplitude": "max |φ|",
        "microseconds_per_step": "µs/step",
        "evaluations": "evaluations",
        "status": "status",
    },
    figure=figure,
    data=data,
    remarks=remarks,
    extras=extras,
    motion=motion,
)
