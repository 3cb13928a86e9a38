"""Asynchronous steps on a graded bar, and the map of their resonances."""

from studies.asynchronous.picture import figure
from studies.asynchronous.question import QUESTION, AsynchronousConfig, data, records, run
from studies.study import Study

ASYNCHRONOUS = Study(
    name="asynchronous",
    question=QUESTION,
    config=AsynchronousConfig,
    run=run,
    records=records,
    columns={
        "system": "system",
        "method": "method",
        "safety": "safety",
        "step": "step",
        "kicks_per_time": "kicks/time",
        "energy_band": "max |ΔE|/E",
        "later_band": "second half",
        "microseconds_per_time": "µs/time",
        "momentum_error": "momenta",
        "status": "status",
    },
    figure=figure,
    data=data,
)
