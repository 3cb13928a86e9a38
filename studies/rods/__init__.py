"""Geometrically exact rods in motion: what they keep and what they do."""

from studies.rods.picture import figure
from studies.rods.question import QUESTION, RodsConfig, data, motion, records, remarks, run
from studies.study import Study

RODS = Study(
    name="rods",
    question=QUESTION,
    config=RodsConfig,
    run=run,
    records=records,
    columns={
        "system": "rod",
        "elements": "elements",
        "method": "method",
        "step": "h [s]",
        "energy_relative": "energy band",
        "momentum_error": "momenta",
        "feature": "feature",
        "microseconds_per_step": "µs/step",
    },
    figure=figure,
    data=data,
    remarks=remarks,
    motion=motion,
)
